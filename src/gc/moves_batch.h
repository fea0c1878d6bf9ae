/* SPDX-License-Identifier: Apache-2.0 */
/* gc/moves_batch.h - holds a sealed window of the log: its chunks, and the moves made from them. */
#ifndef LC_GC_MOVES_BATCH_H
#define LC_GC_MOVES_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/core/record.h"

struct lc_copy_log; /* gc/copy_log.h */

struct lc_move_batch {
	struct lc_copy_log *log;
	uint32_t head; /* its chunks: index + 1 */
	bool ordered;  /* the order of the copies matters */
	bool many;     /* several collections ran in the window */
	bool replayed;
	size_t copies;
	uint64_t lost;
	struct lc_move *moves; /* malloc; after replay */
	size_t moves_len;
	struct lc_move *added; /* malloc; moves that lc_moves_add() was given */
	size_t added_len;
};

/*
 * Turn the chunks into moves. Copies that cannot be used, for lack of memory or because another
 * thread wrote over a chunk, are added to `lost`. Context: [writer].
 */
void lc_move_batch_replay(struct lc_move_batch *b);

#endif
