/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/frames/repeated.h - finds streams that compute the same result from the same source again
 * and again.
 *
 * At each place, a random execution now and then is looked at, so that looking takes about a
 * hundredth of the time of the place's streams. LocusSpan.print() makes a number from the contents
 * of the source, and one from the result. Both are compared with those of the last execution at the
 * place that was looked at, on any thread.
 *
 * Owner of a struct lc_repeated: the thread.
 */
#ifndef LC_SPAN_FRAMES_REPEATED_H
#define LC_SPAN_FRAMES_REPEATED_H

#include <jni.h>
#include <stdint.h>

struct lc_span_thread;
struct lc_tally;

enum { LC_REPEATED_MAX = 8 }; /* nested looks */

/* A running execution that is looked at. */
struct lc_repeated_run {
	uint64_t number; /* of the span */
	uint64_t source; /* print of the source; 0: none */
	uint64_t cost;   /* cycles of looking so far */
	uint32_t path;
};

struct lc_repeated {
	uint64_t innermost; /* number of the innermost span that is looked at; 0: none */
	uint32_t len;
	uint32_t random;
	struct lc_repeated_run looks[LC_REPEATED_MAX];
};

/* The number of executions at `path` until the thread looks at one. Context: [hook]; slow. */
uint32_t lc_repeated_next(struct lc_repeated *l, uint32_t path);

/*
 * Look at the stream that begins at `path` as span `number`, before its frame is pushed. Context:
 * [hook], owner; slow, calls Java.
 */
void lc_repeated_begin(struct lc_span_thread *s, JNIEnv *jni, jobject stream, uint32_t path,
                       uint64_t number);

/*
 * The span `innermost` has ended, and its frame was popped. `result`: NULL without a result, or
 * after an exception. `total`: the span's cycles. Context: [hook], owner; slow, calls Java.
 */
void lc_repeated_end(struct lc_span_thread *s, JNIEnv *jni, jobject result, uint64_t total);

/* Add the new results to the tally, of any thread. Context: [writer]. */
void lc_repeated_take(struct lc_tally *tally);

#endif
