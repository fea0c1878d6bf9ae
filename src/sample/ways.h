/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/ways.h - the branches by which control may have come to a place in code, and whether a
 * register holds the same on all of those ways.
 */
#ifndef LC_SAMPLE_WAYS_H
#define LC_SAMPLE_WAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/sample/decode.h"

enum {
	LC_WAYS_MAX = 192,
	LC_WAYS_BYTES = 3072, /* of code around the sample whose instructions are noted */
};

/* Direct branches to or from the code near a sample. All offsets are those of the code's bytes. */
struct lc_ways {
	size_t near; /* branches that lie near the sample; those that lie far away come behind */
	size_t len;
	bool full; /* there are more branches than these */
	struct {
		uint32_t at, to;
	} of[LC_WAYS_MAX];
	size_t from;                       /* of the code whose instructions are noted */
	uint8_t starts[LC_WAYS_BYTES / 8]; /* one bit a byte: does an instruction begin there? */
};

/*
 * Find the branches for a sample at bytes[pc_at]; bytes[from] is an instruction boundary near it.
 * In native code only branches near the sample are looked for. Context: any.
 */
void lc_ways_find(const struct lc_code_bytes *code, size_t from, size_t pc_at, struct lc_ways *out);

/*
 * Find the branch near the sample by which control came to `at`: the only one there, or the only
 * one from further down, which is a loop's (`loop` asks for a loop's branch alone, which one back
 * from a slow path is not). Returns false if there is no such branch, or a choice. Context: any.
 */
bool lc_ways_came_by(const struct lc_code_bytes *code, const struct lc_ways *ways, size_t at,
                     bool loop, size_t *source);

/*
 * Find the last branch near the sample that lies before `at` and leads past it, to pc_at at most.
 * Returns false if there is none.
 */
bool lc_ways_around(const struct lc_ways *ways, size_t at, size_t pc_at, size_t *source);

/* Does a branch lead to `at`, or perhaps one that is not known? */
bool lc_ways_lead_to(const struct lc_ways *ways, size_t at);

/*
 * Does the register hold at pc_at what it held at access_at, whichever way control came to pc_at?
 * It is known that it does on one way, which leads by access_at. On a way that does not lead there,
 * the answer is about what it would have held. Says false where that cannot be found out.
 */
bool lc_ways_agree(const struct lc_code_bytes *code, const struct lc_ways *ways, size_t access_at,
                   size_t pc_at, uint8_t reg);

/*
 * Find the one instruction that has written what the register holds at `at`, on all ways that lead
 * there. Returns false where there are several, or a way on which that is not known.
 */
bool lc_ways_written(const struct lc_code_bytes *code, const struct lc_ways *ways, size_t at,
                     uint8_t reg, size_t *by);

/*
 * The same for a register that points into an object and may move on within the object: constants
 * are added to it. *moved: there may have been such additions since.
 */
bool lc_ways_pointed(const struct lc_code_bytes *code, const struct lc_ways *ways, size_t at,
                     uint8_t reg, size_t *by, bool *moved);

#endif
