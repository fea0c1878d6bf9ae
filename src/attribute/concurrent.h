/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/concurrent.h - puts allocations, copies and samples in order of time, for collectors
 * that move objects while the program runs.
 *
 * Each log is in order by itself, or knows the time of each record. All that has happened until a
 * moment shortly before now is brought to the map in order, and each sample is looked up in the map
 * as it was at the sample's time.
 */
#ifndef LC_ATTRIBUTE_CONCURRENT_H
#define LC_ATTRIBUTE_CONCURRENT_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lc_attribution_stats;
struct lc_map;
struct lc_thread;

enum lc_concurrent_kind {
	LC_CONCURRENT_ALLOCATED,
	LC_CONCURRENT_COPIED,
	LC_CONCURRENT_AUDITED, /* --audit: a live object was seen there */
};

struct lc_concurrent_event {
	uint64_t time_ns;
	uint64_t addr; /* plain; of a copy its source */
	union {
		uint64_t to; /* of a copy */
		struct {
			uint32_t site;   /* of an allocation */
			uint32_t number; /* the thread's index; or as lc_audit_question has it */
		};
	};
	uint32_t size_words;
	uint32_t kind; /* enum lc_concurrent_kind */
};

/* `audit`: ask for all live objects in each cycle. Context: [attach]. */
void lc_concurrent_init(struct lc_map *map, bool audit);

/* Take what a thread has logged that has ended, and will be freed. Context: [writer]. */
void lc_concurrent_take(struct lc_thread *t);

/* A pause of the collector ends. Context: [gc]. */
void lc_concurrent_pause(void);

/*
 * Take all logs, bring the map to a moment before now, and count the samples up to then; with
 * `last`, all there is. Context: [writer].
 */
void lc_concurrent_pass(JNIEnv *jni, bool last);

/* Set what this file counts, in place of the epochs. Context: [writer]. */
void lc_concurrent_stats(struct lc_attribution_stats *out);

#endif
