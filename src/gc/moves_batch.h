/* gc/moves_batch.h - a sealed window of the log: chunks, and the moves that they amount to. */
#ifndef LC_GC_MOVES_BATCH_H
#define LC_GC_MOVES_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/core/record.h"

struct lc_preload; /* preload/abi.h */

struct lc_move_batch {
	struct lc_preload *preload;
	uint32_t head; /* its chunks: index + 1 */
	bool ordered;  /* the order of the copies matters */
	bool many;     /* more than one collection */
	bool replayed;
	size_t copies;
	uint64_t lost;
	struct lc_move *moves; /* malloc; after replay */
	size_t moves_len;
	struct lc_move *added; /* malloc; found otherwise */
	size_t added_len;
};

/*
 * Turn the chunks into moves. What cannot be used, for want of memory or because a chunk was
 * scribbled over, is added to `lost`. Context: [writer].
 */
void lc_move_batch_replay(struct lc_move_batch *b);

#endif
