/* SPDX-License-Identifier: Apache-2.0 */
/* classfile/reached_impl.h - declares the state of an analysis, shared by reached.c and
 * reached_asks.c. */
#ifndef LC_CLASSFILE_REACHED_IMPL_H
#define LC_CLASSFILE_REACHED_IMPL_H

#include "src/classfile/method_code.h"
#include "src/classfile/reached.h"

#define LC_REACHED_NOT_KNOWN UINT32_MAX

/*
 * A word: its sources in ascending order, each packed, and 0 behind the last one. The first is
 * LC_REACHED_NOT_KNOWN if they are not.
 */
struct lc_reached_words {
	uint32_t of[LC_REACHED_SOURCES];
};

struct lc_reached_block {
	uint32_t at;
	uint32_t depth; /* words on its stack */
	bool reached, changed;
	bool handler; /* of an exception table that is missing */
};

/* Words while instructions are looked at: max_locals of local variables, and the stack behind. */
struct lc_reached_state {
	struct lc_reached_words *words;
	uint32_t depth;
	bool locals_changed; /* since handlers were told */
};

struct lc_reached {
	const struct lc_class *cls;
	struct lc_member method;
	struct lc_method_code code;
	uint32_t frame; /* words of a block: local variables and the deepest stack */
	struct lc_reached_block *blocks;
	uint32_t blocks_len;
	struct lc_reached_words
	    *words; /* `frame` for each block, then those of `now`, then `ever` */
	struct lc_reached_state now;
	struct lc_reached_words *ever; /* by local variable: all that it may be anywhere */
	uint32_t steps;
	bool bad;
};

static inline uint32_t lc_reached_pack(enum lc_reached_kind kind, unsigned elements, uint32_t index)
{
	return (uint32_t)kind << 24 | elements << 16 | index;
}

static inline struct lc_reached_words lc_reached_word(enum lc_reached_kind kind, uint32_t index)
{
	return (struct lc_reached_words){ { lc_reached_pack(kind, 0, index) } };
}

static inline struct lc_reached_words *lc_reached_stack(struct lc_reached *r)
{
	return r->now.words + r->code.max_locals;
}

/* The instruction at `at` changes `now`. */
void lc_reached_visit(struct lc_reached *r, uint32_t at);

/* Set `now` to the words with which a block begins. */
void lc_reached_begin(struct lc_reached *r, uint32_t number);

struct lc_reached_sources lc_reached_sources_of(const struct lc_reached_words *w);

#endif
