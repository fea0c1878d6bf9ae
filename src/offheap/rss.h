/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offheap/rss.h - takes snapshots of the process's resident memory, and writes them.
 *
 * A division reads /proc/self/smaps, for which the kernel looks at each resident page: 9 ms of CPU
 * time for 340 MB. If 1 GB or more is resident, it reads /proc/self/maps, and asks
 * /proc/self/pagemap for all pages but those of the Java heap, which has the rest. It is made when
 * the recording ends or the profile is asked for; and, if the last one cost little, when the
 * process has a tenth more than ever before.
 */
#ifndef LC_OFFHEAP_RSS_H
#define LC_OFFHEAP_RSS_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/format/rows.h"

enum lc_rss_why {
	LC_RSS_LOOK,  /* take a snapshot if one is due */
	LC_RSS_ASKED, /* the profile was asked for */
	LC_RSS_END    /* the recording ends */
};

/* Snapshots of a profile at most, and s between two of them. */
enum { LC_RSS_SNAPSHOTS = 64, LC_RSS_SECONDS = 10 };

/* Ask the JVM for its ranges. Context: [attach]; lc_ranges_init() first. */
void lc_rss_begin(void);

/* Take a snapshot if `why` and the time are a reason. Context: [writer]. */
void lc_rss_look(JNIEnv *jni, uint64_t now_ns, enum lc_rss_why why);

/*
 * Put the rows of the snapshots into the block of a thread that has something else to write
 * (`any`), or after lc_rss_left() into any block. They are valid until lc_rss_clear(). Returns
 * whether there are rows. Context: [writer].
 */
bool lc_rss_block(struct lc_block_input *in, bool any);

/* All threads' last blocks are written. Are there rows that none has? Context: [writer]. */
bool lc_rss_left(void);

/* The block is written. Context: [writer]. */
void lc_rss_clear(const struct lc_block_input *in);

/* Another profile begins. Context: [writer]. */
void lc_rss_again(void);

/* The resident memory, and the most that ever was; 0: unknown. Context: any thread that may open
 * files. */
void lc_rss_now(uint64_t *bytes, uint64_t *peak_bytes);

#endif
