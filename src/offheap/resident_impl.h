/* SPDX-License-Identifier: Apache-2.0 */
/* offheap/resident_impl.h - declares what the files of the division share. */
#ifndef LC_OFFHEAP_RESIDENT_IMPL_H
#define LC_OFFHEAP_RESIDENT_IMPL_H

#include "src/base/vector.h"
#include "src/offheap/resident.h"

enum { LC_RESIDENT_WINDOW = 1024 }; /* pages that are asked for at once */

/* A part of an area, with one owner. */
struct lc_resident_piece {
	uint64_t low, high;
	uint64_t resident_bytes;
	uint32_t area;
	uint8_t part;
	bool reserved;
	bool is_file;
};

struct lc_resident_division {
	const struct lc_resident_given *given;
	struct lc_vector pieces; /* struct lc_resident_piece, by address */
	struct lc_range class_space;
	/* Memory up to here belongs to what was found below. */
	struct lc_resident_range cover;
	uint64_t pages_left; /* that may be looked into */
	/* Resident pages, as they were asked for last. */
	uint64_t window;
	size_t window_len;
	bool resident[LC_RESIDENT_WINDOW];
};

static inline struct lc_resident_piece *lc_resident_pieces(struct lc_resident_division *d)
{
	return d->pieces.data;
}

/* Is the page that begins at `at` resident? */
bool lc_resident_page(struct lc_resident_division *d, uint64_t at);

/* Find the owners of anonymous memory that nobody knows, and add its pieces. */
int lc_resident_add_anonymous(struct lc_resident_division *d, struct lc_resident_piece p);

/* Find the collector's structures among the pieces. */
void lc_resident_find_gc(struct lc_resident_division *d);

#endif
