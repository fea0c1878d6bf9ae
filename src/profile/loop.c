/* SPDX-License-Identifier: Apache-2.0 */
/* profile/loop.c - makes the directories of a loop one after the other, and removes old ones. */
#include "src/profile/loop.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/vector.h"
#include "src/format/block.h"
#include "src/profile/directory.h"
#include "src/profile/profile_writer.h"

/* A profile that the loop has made; only where old ones are removed. */
struct part {
	uint32_t number;
	struct stat made; /* which directory it is */
	uint64_t bytes;   /* when it is whole */
};

struct lc_loop {
	int fd;
	uint32_t keep;
	uint32_t number;        /* of the last one that was begun; 0: none */
	struct lc_vector parts; /* oldest first */
	uint64_t bytes;         /* of those that are whole and there */
};

static void name_of(uint32_t number, char out[LC_LOOP_NAME_MAX])
{
	snprintf(out, LC_LOOP_NAME_MAX, "%0*" PRIu32, LC_LOOP_DIGITS, number);
}

void lc_loop_name(const struct lc_loop *l, char out[LC_LOOP_NAME_MAX])
{
	name_of(l->number, out);
}

int lc_loop_create(const char *dir, uint32_t keep, struct lc_loop **out, char *error,
                   size_t error_len)
{
	struct lc_loop *l = calloc(1, sizeof(*l));
	int err = l ? 0 : -ENOMEM;

	if (l) {
		l->keep = keep;
		l->parts.element_bytes = sizeof(struct part);
		l->fd = lc_directory_make(dir);
		err = l->fd < 0 ? l->fd : lc_directory_holds_profile(l->fd);
	}
	if (!err) {
		*out = l;
		return 0;
	}
	lc_loop_free(l);
	err = err < 0 ? err : -EEXIST;
	lc_directory_tell(dir, err, error, error_len);
	return err;
}

int lc_loop_next(struct lc_loop *l, struct lc_profile **out)
{
	struct part part = { .number = l->number + 1 };
	char name[LC_LOOP_NAME_MAX];
	int fd, err;

	name_of(part.number, name);
	fd = lc_directory_make_in(l->fd, name, &part.made);
	if (fd < 0)
		return fd;
	err = lc_profile_create_in(fd, out);
	if (!err && l->keep && lc_vector_push(&l->parts, &part)) {
		lc_profile_close(*out);
		err = -ENOMEM;
	}
	if (err)
		(void)lc_directory_remove(l->fd, name, &part.made);
	else
		l->number = part.number;
	return err;
}

/* A profile that cannot be removed is left and forgotten: a second try would fail, too. */
static void remove_oldest(struct lc_loop *l)
{
	struct part *parts = l->parts.data;
	char name[LC_LOOP_NAME_MAX];

	name_of(parts[0].number, name);
	if (!lc_directory_remove(l->fd, name, &parts[0].made))
		l->bytes -= parts[0].bytes;
	memmove(parts, parts + 1, --l->parts.len * sizeof(*parts));
}

void lc_loop_closed(struct lc_loop *l, uint64_t bytes, uint64_t max_bytes)
{
	l->bytes += bytes;
	if (!l->keep)
		return;
	((struct part *)l->parts.data)[l->parts.len - 2].bytes = bytes;
	while (l->parts.len > l->keep || (l->parts.len > 1 && max_bytes && l->bytes >= max_bytes))
		remove_oldest(l);
}

uint64_t lc_loop_bytes(const struct lc_loop *l)
{
	return l->bytes;
}

void lc_loop_free(struct lc_loop *l)
{
	if (!l)
		return;
	if (l->fd >= 0)
		close(l->fd);
	free(l->parts.data);
	free(l);
}
