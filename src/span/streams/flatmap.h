/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/streams/flatmap.h - finds the place of a stream that java.util.stream executes itself, as
 * flatMap() does: the first line of the function that made the stream.
 *
 * The function has returned when its stream begins. So LocusSpan.flat() reports each function that
 * has returned a stream, and the library's next begin is of that stream. The class of a function's
 * object tells the function's method, and is asked once.
 *
 * Owner of a struct lc_flatmap: the thread.
 */
#ifndef LC_SPAN_STREAMS_FLATMAP_H
#define LC_SPAN_STREAMS_FLATMAP_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/core/epoch.h"

enum { LC_FLATMAP_FUNCTIONS = 64 };

/* A function, by its class's word in the headers of its objects. */
struct lc_flatmap_function {
	uint32_t word;
	uint32_t sequence; /* GC sequence: classes are unloaded only when it changes */
	uint32_t path;     /* for lc_path_get(), one frame; 0: no method of the program */
};

struct lc_flatmap {
	uint32_t made; /* path of the function that has just made a stream; 0: none or unknown */
	struct lc_flatmap_function functions[LC_FLATMAP_FUNCTIONS];
};

/* The function's path, new or from the table of all threads. Context: [hook], owner; slow. */
uint32_t lc_flatmap_slowly(struct lc_flatmap_function *known, JNIEnv *jni, jobject function,
                           uint32_t word);

/* The function, of a class with that word, has returned a stream. Context: [hook], owner. */
static inline void lc_flatmap_made(struct lc_flatmap *flat, JNIEnv *jni, jobject function,
                                   uint32_t word)
{
	struct lc_flatmap_function *known = &flat->functions[(word >> 3) % LC_FLATMAP_FUNCTIONS];

	if (__builtin_expect(known->word == word && known->sequence == lc_epoch_gc_sequence(), 1))
		flat->made = known->path;
	else
		flat->made = lc_flatmap_slowly(known, jni, function, word);
}

#endif
