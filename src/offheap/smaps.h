/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offheap/smaps.h - reads the text of /proc/PID/smaps: what is mapped, and how much is resident.
 *
 * Owner: one thread. Context of all functions: any thread that may call malloc().
 */
#ifndef LC_OFFHEAP_SMAPS_H
#define LC_OFFHEAP_SMAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/vector.h"

/* Areas beyond so many are not kept. */
enum { LC_SMAPS_AREAS_MAX = 1 << 16, LC_SMAPS_LINE_MAX = 4608 };

struct lc_smaps_area {
	uint64_t low, high;
	uint64_t resident_bytes; /* with huge pages, which Rss leaves out */
	uint32_t name;           /* for lc_smaps_name() */
	bool reserved;           /* nobody may access it */
	bool is_file;            /* or shared memory that has a file's name */
};

struct lc_smaps {
	struct lc_vector areas; /* struct lc_smaps_area, as in the text: by address */
	struct lc_vector names; /* char */
	uint64_t beyond_bytes;  /* resident, of areas that are not kept */
	bool broken;            /* without memory */
	bool open;              /* a line that describes an area was read */
	bool kept;              /* the area is in `areas` */
	bool skipped;           /* the line is too long; what is left of it is skipped */
	char line[LC_SMAPS_LINE_MAX];
	size_t line_len;
};

void lc_smaps_init(struct lc_smaps *s);
void lc_smaps_free(struct lc_smaps *s);

/* The next bytes of the text; they may end anywhere. */
void lc_smaps_feed(struct lc_smaps *s, const char *text, size_t len);

static inline const struct lc_smaps_area *lc_smaps_areas(const struct lc_smaps *s)
{
	return s->areas.data;
}

/* The area's path or the kernel's word ("[heap]"); "": none. */
static inline const char *lc_smaps_name(const struct lc_smaps *s, const struct lc_smaps_area *a)
{
	return a->name ? (const char *)s->names.data + a->name : "";
}

#endif
