/* SPDX-License-Identifier: Apache-2.0 */
/* attribute/copies.c - makes rows of the section COPIES of the map's sums. */
#include "src/attribute/copies.h"

#include "src/core/record.h"
#include "src/core/thread.h"
#include "src/heap/map.h"
#include "src/profile/tally.h"

uint64_t lc_copies_take(struct lc_thread *t, struct lc_map *m)
{
	const struct lc_map_copied *c;
	uint64_t bytes = 0;

	while ((c = lc_map_copied(m))) {
		const struct lc_block_copy row = {
			.site = c->site,
			.objects = c->objects,
			.bytes = c->bytes,
			.outlived = c->outlived,
			.outlived_bytes = c->outlived_bytes,
		};

		if (!lc_tally_made(&t->tally) || lc_tally_copy(t->tally, &row))
			break;
		bytes += c->bytes;
		lc_map_copied_taken(m);
	}
	return bytes;
}
