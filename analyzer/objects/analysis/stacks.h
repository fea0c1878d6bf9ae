/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/stacks.h - makes the stacks of a report, each with one number, for the tools
 * that draw stacks: samples by access, bytes or objects by allocation, samples by code.
 */
#ifndef LC_OBJECTS_ANALYSIS_STACKS_H
#define LC_OBJECTS_ANALYSIS_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/base/table.h"

struct lc_report;
struct lc_tree;

/* In the order of --stacks. */
enum lc_stacks_kind {
	LC_STACKS_ACCESS,      /* access path, then the class or bucket; samples */
	LC_STACKS_ALLOC_BYTES, /* allocation path, then the class; bytes */
	LC_STACKS_ALLOC_COUNT, /* the same; objects */
	LC_STACKS_CODE,        /* access path; samples */
	LC_STACKS_OBJECTS,     /* allocation path, class, access path; samples */
	/* allocation path, then the class, of blocks outside the heap; bytes allocated, or live */
	LC_STACKS_OFFHEAP_BYTES,
	LC_STACKS_OFFHEAP_LIVE,
	LC_STACKS_LIVE_BYTES, /* the same, of objects; bytes after the last collection */
	LC_STACKS_KINDS
};

/* The kinds of frames. */
enum lc_stack_what {
	LC_STACK_METHOD, /* `row` of tree.methods, and `line1` */
	LC_STACK_CLASS,  /* string `row` */
	LC_STACK_BUCKET, /* enum lc_bucket `row` */
	LC_STACK_NONE,   /* samples without a call path */
};

/* Words of a frame, which a table can have as its key. */
enum { LC_STACK_WHAT, LC_STACK_ROW, LC_STACK_LINE1, LC_STACK_FRAME };

struct lc_stack {
	const uint32_t *frames; /* from the root, LC_STACK_FRAME words each; of the next call */
	size_t len;             /* frames, 1 or more */
	uint64_t value;
};

/* The members are the module's own. */
struct lc_stacks {
	const struct lc_tree *tree;
	bool between;         /* the object stands between the two paths */
	struct lc_table rows; /* allocation path, what and row of the object, access path; value */
	uint32_t *frames;
	size_t frames_cap;
	uint32_t next;
};

/*
 * Equal stacks are one. Samples without an access path, and of LC_STACKS_ACCESS those of which the
 * bucket alone is known, have a stack too, but not in LC_STACKS_OBJECTS. Allocations are those that
 * were counted and those that were estimated. Free with lc_stacks_free().
 */
void lc_stacks_build(struct lc_stacks *s, const struct lc_report *r, enum lc_stacks_kind kind);
void lc_stacks_free(struct lc_stacks *s);

/* The next stack whose number is not 0. Returns 0, or -ENOENT behind the last one. */
int lc_stacks_next(struct lc_stacks *s, struct lc_stack *out);

/*
 * "com.acme.Main.main" of a frame, without the line; "[byte[]]", "[jvm]", "[no call path]". The
 * caller frees it.
 */
char *lc_stack_name(const struct lc_tree *t, const uint32_t *frame);

/* Samples of a bucket that have no row of accesses: nothing more is known of them. */
uint64_t lc_stacks_bare(const struct lc_report *r, unsigned bucket);

/* An estimated number of objects or bytes as a whole one. */
uint64_t lc_stacks_whole(double estimated);

#endif
