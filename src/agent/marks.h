/* SPDX-License-Identifier: Apache-2.0 */
/* agent/marks.h - keeps the points in time that the program has marked in the recording. */
#ifndef LC_AGENT_MARKS_H
#define LC_AGENT_MARKS_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LC_MARKS_MAX = 500, LC_MARK_NAME_MAX = 121 /* with its zero */ };

struct lc_program_mark {
	uint64_t time_ns;            /* CLOCK_MONOTONIC */
	char name[LC_MARK_NAME_MAX]; /* UTF-8 as JNI has it */
};

/*
 * Mark the present moment, and wait until all blocks have ended there, a second at most. Returns
 * false where nothing is recorded, or there are LC_MARKS_MAX marks already. Context: [java]. Takes
 * a lock.
 */
bool lc_marks_add(const char *name);
bool lc_marks_add_string(JNIEnv *jni, jstring name);

/*
 * Blocks end at `now_ns`, which becomes the time of the marks that have none yet. Returns whether
 * there are some: then lc_marks_divided() follows when the blocks are written. Context: [writer].
 * Takes the lock.
 */
bool lc_marks_place(uint64_t now_ns);
void lc_marks_divided(void); /* Context: [writer]. Takes the lock. */

/*
 * Copy the marks of this recording that have a time, in the order in which they were made, to `out`
 * with room for `max`. Returns how many. Context: [writer]. Takes the lock.
 */
size_t lc_marks_copy(struct lc_program_mark *out, size_t max);

#endif
