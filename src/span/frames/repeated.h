/*
 * span/frames/repeated.h - looks at the source and the result of some executions of streams, to
 * find those that compute the same again and again.
 *
 * Of each place one execution in some is looked at, at random, so that looking takes about a
 * hundredth of the time that the place's streams take. LocusSpan.print() makes a number of the
 * source and one of the result, from their contents, which are compared with those of the execution
 * at the place that was looked at before, on whichever thread.
 * Owner of a struct lc_repeated: the thread.
 */
#ifndef LC_SPAN_FRAMES_REPEATED_H
#define LC_SPAN_FRAMES_REPEATED_H

#include <jni.h>
#include <stdint.h>

struct lc_span_thread;
struct lc_tally;

enum { LC_REPEATED_MAX = 8 }; /* that lie in each other */

/* An execution that is looked at, while it runs. */
struct lc_repeated_run {
	uint64_t number; /* of the span */
	uint64_t source; /* print of it; 0: it has none */
	uint64_t cost;   /* cycles of looking so far */
	uint32_t path;
};

struct lc_repeated {
	uint64_t innermost; /* number of the span looked at last that runs; 0: none */
	uint32_t len;
	uint32_t random;
	struct lc_repeated_run looks[LC_REPEATED_MAX];
};

/* After how many executions at `path` the thread shall look at one. Context: [hook]; slow. */
uint32_t lc_repeated_next(struct lc_repeated *l, uint32_t path);

/*
 * Look at the stream that begins at `path` and is the span of that number, before its frame is
 * pushed. Context: [hook], owner; slow, calls Java.
 */
void lc_repeated_begin(struct lc_span_thread *s, JNIEnv *jni, jobject stream, uint32_t path,
                       uint64_t number);

/*
 * The span that is `innermost` has ended, and its frame was popped. `result`: NULL where it has
 * none, or threw. `total`: its cycles. Context: [hook], owner; slow, calls Java.
 */
void lc_repeated_end(struct lc_span_thread *s, JNIEnv *jni, jobject result, uint64_t total);

/* Add to the tally, of whichever thread, what was seen since the last time. Context: [writer]. */
void lc_repeated_take(struct lc_tally *tally);

#endif
