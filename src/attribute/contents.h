/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/contents.h - looks into a few arrays of numbers in a collection's pause: how much of
 * each is in use, and which are equal. Rows of the section CONTENTS.
 *
 * An array's use is final when it is dead. A collection that copies live objects leaves the memory
 * of dead ones as it was until the program runs again. So a pass in the pause chooses some arrays
 * that were allocated since the last collection, by bytes. The header at the old address tells
 * whether the array was copied: if not, it is dead, and the pass looks at it. If it was, the pass
 * compares its contents with those of other copied arrays, and holds the array, to look at it in
 * the pause that follows its death.
 *
 * Small arrays, such as those of strings, have no records. Sampled ones are compared in the same
 * way when they have outlived their first collection; how they were used is not looked at.
 *
 * Collections that slide objects overwrite dead ones: nothing is looked at, and the held arrays are
 * forgotten. Collectors that move objects while the program runs have no such pauses.
 *
 * A pass reads at most LC_CONTENTS_PAUSE_BYTES of elements. There is no pass while all of them have
 * used more than a thousandth of the process's CPU time. Contents stay in the process: a table has
 * salted hashes, and rows have counts.
 *
 * Functions with context [gc] run on the thread that posts the GC events, under the lock of the
 * thread list.
 */
#ifndef LC_ATTRIBUTE_CONTENTS_H
#define LC_ATTRIBUTE_CONTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lc_alloc;
struct lc_area;
struct lc_estimate_survivor;
struct lc_thread;

enum { LC_CONTENTS_PAUSE_BYTES = 64 << 10 };

/* Make the tables. Returns 0 or -ENOMEM: nothing is looked at. Context: [attach]. */
int lc_contents_open(void);

/* Are arrays looked at? If so, lc_alloc_log_sweep() must come to all logs. Context: [gc]. */
bool lc_contents_on(void);

/* How the collection went. */
struct lc_contents_pause {
	const struct lc_area *areas; /* as they are at its end */
	size_t areas_len;
	uint16_t tag;   /* epoch tag of the records to choose from */
	bool collected; /* objects were copied */
	bool slid;      /* or slid, or what happened is unknown */
	/* Sampled objects that it was the first to leave: heap/estimate.h. */
	const struct lc_estimate_survivor *survivors;
	size_t survivors_len;
};

/*
 * Begin a pass. Returns whether lc_contents_choose() must follow for the records of the epoch; and
 * lc_contents_end(), if so.
 */
bool lc_contents_begin(const struct lc_contents_pause *pause);
void lc_contents_choose(const struct lc_alloc *records, size_t len);
void lc_contents_end(void);

/* Put the rows into the thread's tally. Takes the lock of the thread list. Context: [writer]. */
void lc_contents_take(struct lc_thread *t);

#endif
