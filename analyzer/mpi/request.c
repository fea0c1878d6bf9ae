/* SPDX-License-Identifier: Apache-2.0 */
/* mpi/request.c - sends rank 0's request to all other ranks. */
#include "analyzer/mpi/request.h"

#include <stdlib.h>

#include "analyzer/merge/pack.h"
#include "analyzer/mpi/wire.h"

static void pack(struct lc_bytes *b, const struct lc_load_range *range,
                 const struct lc_operands *found)
{
	lc_pack_number(b, range->since_wall_ns);
	lc_pack_number(b, range->until_wall_ns);
	lc_pack_number(b, found->len);
	for (size_t i = 0; i < found->len; i++)
		lc_pack_text(b, found->paths[i]);
}

static void unpack(const struct lc_bytes *b, struct lc_load_range *range, struct lc_operands *found)
{
	struct lc_unpack u = { b->data, b->data + b->len };

	range->since_wall_ns = lc_unpack_number(&u);
	range->until_wall_ns = lc_unpack_number(&u);
	for (size_t left = lc_unpack_count(&u); left; left--) {
		char *path = lc_unpack_text(&u);

		lc_operands_add(found, path);
		free(path);
	}
}

void lc_request_share(int rank, char **operands, size_t count, struct lc_load_range *range,
                      struct lc_operands *found)
{
	struct lc_bytes b = { 0 };

	*found = (struct lc_operands){ .paths = NULL };
	if (!rank) {
		lc_operands_find(found, operands, count);
		pack(&b, range, found);
		if (b.failed)
			lc_no_memory();
	}
	lc_wire_share(0, &b);
	if (rank)
		unpack(&b, range, found);
	free(b.data);
}
