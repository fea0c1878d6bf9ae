/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/hook.h - declares the native side of java.lang.LocusHook, which an instrumented allocation
 * calls.
 */
#ifndef LC_HEAP_HOOK_H
#define LC_HEAP_HOOK_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lc_counters;
struct lc_options;
struct lc_thread;

struct lc_hook_stats {
	uint64_t corrections; /* records made again because a GC ran during the first */
	uint64_t duplicates;  /* reported by the body of an intrinsic and by its caller */
	uint64_t unrecorded;  /* no memory, no thread record, or a full log */
	uint64_t unplaced;    /* counted, but where the object is is not known */
	uint64_t unproved;    /* not known whether `new` made an object: not counted */
	uint64_t jvm_walks;   /* stacks that the JVM was asked to walk */
	uint64_t walk_errors; /* stack could not be walked: allocation path empty */
};

/*
 * Prepare, after the hook class was defined. Without `follow` allocations are counted and not
 * logged, since their addresses will not stay known. Hooks record nothing before
 * lc_hook_enable(true).
 * Returns 0 or -errno. Context: [attach].
 */
int lc_hook_init(jclass hook_class, const struct lc_options *options, bool follow);

/*
 * Objects move while the program runs: they are logged with the time (core/record.h). `audit`: hold
 * a reference to each. After lc_hook_init() without `follow`. Context: [attach].
 */
void lc_hook_order(bool audit);

void lc_hook_enable(bool on);

/* Objects of at least so many bytes are counted; 0: all. Context: any. */
uint64_t lc_hook_min_size_bytes(void);

void lc_hook_stats(struct lc_hook_stats *out);  /* Context: [java] [writer]. */
void lc_hook_counters(struct lc_counters *out); /* Context: [writer]. */

#endif
