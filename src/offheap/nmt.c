/* SPDX-License-Identifier: Apache-2.0 */
/* offheap/nmt.c - takes the JVM's text of its own memory apart, line by line. */
#include "src/offheap/nmt.h"

#include <ctype.h>
#include <string.h>

#define RESERVED "(reserved="
#define ROOM_BYTES (UINT64_C(16) << 20) /* for what other threads allocate meanwhile */
#define ROOM_PART 8 /* of the heap: Shenandoah keeps one part in 20 from the program */

/* The bytes after `name` in the line: "malloc=94KB"; units are KB, MB, GB, or none. */
static bool bytes_after(const char *line, size_t len, const char *name, uint64_t *out)
{
	static const char units[] = "KMG";
	const char *end = line + len, *at = memmem(line, len, name, strlen(name)), *unit;
	uint64_t n = 0;

	if (!at)
		return false;
	at += strlen(name);
	if (at == end || !isdigit((unsigned char)*at))
		return false;
	for (; at < end && isdigit((unsigned char)*at); at++) {
		if (n > UINT64_MAX / 100)
			return false;
		n = n * 10 + (uint64_t)(*at - '0');
	}
	unit = at < end && *at ? strchr(units, *at) : NULL;
	for (; unit && unit >= units; unit--) {
		if (n > UINT64_MAX / 1024)
			return false;
		n *= 1024;
	}
	*out = n;
	return true;
}

/* "reserved=8192KB, committed=192KB". Returns whether it is a pair that can be. */
static bool take_pair(const char *line, size_t len, struct lc_nmt_row *out)
{
	return bytes_after(line, len, "reserved=", &out->reserved_bytes) &&
	       bytes_after(line, len, "committed=", &out->committed_bytes) &&
	       out->committed_bytes <= out->reserved_bytes;
}

/* "-                    Thread (reserved=12625KB, committed=575KB)" */
static bool take_category(const char *line, size_t len, struct lc_nmt_row *out)
{
	const char *end = memmem(line, len, " " RESERVED, strlen(" " RESERVED));

	*out = (struct lc_nmt_row){ "", 0, 0, 0 };
	for (line++, len--; len && *line == ' '; line++, len--)
		;
	if (!end || end <= line || (size_t)(end - line) >= sizeof(out->name))
		return false;
	for (const char *c = line; c < end; c++)
		if (!isprint((unsigned char)*c))
			return false;
	memcpy(out->name, line, (size_t)(end - line));
	return take_pair(line, len, out);
}

/* A line below a category's: what of it is from malloc(), by itself or in pieces of an arena. */
static void take_malloc(const char *line, size_t len, struct lc_nmt_row *all,
                        struct lc_nmt_row *row)
{
	uint64_t bytes;

	if (!bytes_after(line, len, "(malloc=", &bytes) &&
	    !bytes_after(line, len, "(arena=", &bytes))
		return;
	if (bytes > row->committed_bytes - row->malloc_bytes ||
	    bytes > UINT64_MAX - all->malloc_bytes)
		return;
	row->malloc_bytes += bytes;
	all->malloc_bytes += bytes;
}

size_t lc_nmt_parse(const char *text, struct lc_nmt_row *out, size_t cap)
{
	static const char total[] = "Total: ";
	struct lc_nmt_row *row = NULL;
	size_t rows = 0;

	for (size_t len; *text && rows < cap; text += len + (text[len] != '\0')) {
		len = strcspn(text, "\n");
		if (!rows) {
			struct lc_nmt_row all = { "", 0, 0, 0 };

			if (!strncmp(text, total, sizeof(total) - 1) && take_pair(text, len, &all))
				out[rows++] = all;
		} else if (*text == '-') {
			row = take_category(text, len, &out[rows]) ? &out[rows++] : NULL;
		} else if (row) {
			take_malloc(text, len, out, row);
		}
	}
	return rows;
}

bool lc_nmt_has_room(uint64_t max_bytes, uint64_t used_bytes)
{
	return used_bytes <= max_bytes &&
	       max_bytes - used_bytes >= ROOM_BYTES + max_bytes / ROOM_PART;
}
