/* SPDX-License-Identifier: Apache-2.0 */
/* merge/output.c - writes files beside their names, and renames them when all are whole. */
#include "analyzer/merge/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/base/new_directory.h"

static struct lc_merge_output *open_output; /* that an exit() removes; NULL: there is none */

static char *name_of(const struct lc_merge_output *o, const char *name, bool part)
{
	return lc_mem_text("%s/%s%s", o->dir, name, part ? ".part" : "");
}

static void remove_all(struct lc_merge_output *o)
{
	for (size_t i = 0; i < o->names_len; i++) {
		char *part = name_of(o, o->names[i], true), *whole = name_of(o, o->names[i], false);

		unlink(part);
		unlink(whole);
		free(part);
		free(whole);
	}
	if (o->made)
		rmdir(o->dir);
}

static void remove_at_exit(void)
{
	struct lc_merge_output *o = open_output;

	open_output = NULL;
	if (o)
		remove_all(o);
}

int lc_merge_output_begin(struct lc_merge_output *o, const char *dir)
{
	static bool registered;

	*o = (struct lc_merge_output){ .dir = dir };
	if (lc_new_directory(dir, &o->made))
		return 1;
	if (!registered)
		registered = !atexit(remove_at_exit);
	open_output = o;
	return 0;
}

FILE *lc_merge_output_file(struct lc_merge_output *o, const char *name)
{
	char *part = name_of(o, name, true);
	/* The owner's alone, as the profiles: the directory may have been there before. */
	const int fd = open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w+");

	if (out) {
		o->names =
		    lc_mem_grow(o->names, &o->names_cap, o->names_len + 1, sizeof(*o->names));
		o->names[o->names_len++] = lc_mem_text("%s", name);
	} else {
		lc_fail("cannot write '%s': %s", part, strerror(errno));
		if (fd >= 0)
			close(fd);
	}
	free(part);
	return out;
}

int lc_merge_output_close(struct lc_merge_output *o, const char *name, FILE *out)
{
	int err = 0;

	errno = 0;
	if (fflush(out) || ferror(out))
		err = errno ? errno : EIO;
	if (fclose(out) && !err)
		err = errno;
	return err ? lc_fail("cannot write '%s/%s': %s", o->dir, name, strerror(err)) : 0;
}

void lc_merge_output_remove(struct lc_merge_output *o, const char *name)
{
	char *part = name_of(o, name, true);

	unlink(part);
	free(part);
	for (size_t i = 0; i < o->names_len; i++) {
		if (strcmp(o->names[i], name) != 0)
			continue;
		free(o->names[i]);
		memmove(o->names + i, o->names + i + 1, (--o->names_len - i) * sizeof(*o->names));
		return;
	}
}

static int rename_all(struct lc_merge_output *o)
{
	int status = 0;

	for (size_t i = 0; i < o->names_len && !status; i++) {
		char *part = name_of(o, o->names[i], true), *whole = name_of(o, o->names[i], false);

		if (rename(part, whole))
			status = lc_fail("cannot write '%s': %s", whole, strerror(errno));
		free(part);
		free(whole);
	}
	return status;
}

int lc_merge_output_end(struct lc_merge_output *o, bool whole)
{
	int status = whole ? rename_all(o) : 0;

	if (!whole || status)
		remove_all(o);
	open_output = NULL;
	for (size_t i = 0; i < o->names_len; i++)
		free(o->names[i]);
	free(o->names);
	o->names = NULL;
	o->names_len = o->names_cap = 0;
	return status;
}
