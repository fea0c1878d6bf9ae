/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/ways.h - the branches by which control may have come to a place in code, and which
 * registers hold the same on all of those ways.
 */
#ifndef LC_SAMPLE_WAYS_H
#define LC_SAMPLE_WAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/sample/decode.h"

enum { LC_WAYS_MAX = 192 };

/* Direct branches from or to the code near a sample. All offsets are those of the code's bytes. */
struct lc_ways {
	size_t near_from, near_to; /* the code near the sample */
	bool full;                 /* there are more branches than these */
	size_t len;
	struct {
		uint32_t at, to;
	} of[LC_WAYS_MAX];
};

/* A stretch of code; from > to: none. Start with LC_WAYS_NO_SPAN. */
struct lc_ways_span {
	size_t from, to;
};

#define LC_WAYS_NO_SPAN ((struct lc_ways_span){ .from = SIZE_MAX })

/*
 * Find the branches for a sample at bytes[pc_at]; bytes[from] is an instruction boundary near it,
 * and so is bytes[0] unless the code is native. In native code only branches near the sample are
 * looked at. Context: any.
 */
void lc_ways_find(const struct lc_code_bytes *code, size_t from, size_t pc_at, struct lc_ways *out);

/*
 * Find the branch near the sample by which control came to `at`: the only one there, or the only
 * one from further down, which is a loop's (`loop` asks for a loop's branch alone). Returns false
 * if there is no such branch, or a choice.
 */
bool lc_ways_came_by(const struct lc_ways *ways, size_t at, bool loop, size_t *source);

/* Does a branch lead to `at`, or perhaps one that is not known? */
bool lc_ways_lead_to(const struct lc_ways *ways, size_t at);

/*
 * If control may have come to `at` by more than one way, stretch *span over the code from which it
 * came. `falls`: control may have come from the instruction before it in memory, too.
 */
void lc_ways_meet(const struct lc_ways *ways, size_t at, bool falls, struct lc_ways_span *span);

/*
 * The registers that may be written between `at` and the places at which ways meet, on any way. All
 * others hold the same whichever way control came. 0 where no ways meet.
 */
uint16_t lc_ways_written(const struct lc_code_bytes *code, struct lc_ways_span span, size_t at);

#endif
