/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/code/code_headers.h - finds compiled methods in the JVM's own tables, so that nobody has to
 * be told of each.
 *
 * An event for each compiled method costs the JVM more than a profiler wants to know: a compiler
 * thread wakes another thread, which lists all places and inlined methods of the code. Few of them
 * are ever sampled.
 */
#ifndef LC_JVM_CODE_CODE_HEADERS_H
#define LC_JVM_CODE_CODE_HEADERS_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Find the tables, and compare them with JVMTI from now on. `stub` is as in lc_blob_watch_freed().
 * Returns 0; -ENOENT where this JVM does not export them: then nothing is found. Context: [attach];
 * lc_frames_init() and lc_scopes_init() first.
 */
int lc_code_headers_init(uint64_t stub);

/* Are the tables compared? Context: any. */
bool lc_code_headers_proving(void);

/*
 * A compiled method, by the event that JVMTI has for it. Returns whether the tables say the same of
 * it; always false while they are not compared. Context: any; the method must not be unloaded
 * meanwhile.
 */
bool lc_code_headers_specimen(uint64_t start, uint64_t bytes, jmethodID method);

/*
 * If the tables have been compared with a method or more, compare them no longer, and use them
 * from now on if each was right. Returns 1 where they are used; 0 where no method has appeared yet;
 * -EIO where one was not as its event says: then they are never used. Context: any, one thread at a
 * time.
 */
int lc_code_headers_judge(void);

/* Are they used? Context: any. */
bool lc_code_headers_known(void);

/* A compiled method. */
struct lc_code_header {
	uint64_t blob;
	uint64_t start, end; /* of its instructions */
	uint64_t life;       /* differs for whatever is compiled to the same place later; never 0 */
};

/*
 * Find the compiled method around `pc`. Returns false if there is none. Code without a frame on the
 * own stack may be freed at any time. Context: any, signal handlers included. Bounded.
 */
bool lc_code_headers_find(uint64_t pc, struct lc_code_header *out);

/* The number of that method (core/method_number.h), or 0. Context: as above; 1 us. */
uint64_t lc_code_headers_method(uint64_t pc);

/*
 * The last address up to `limit` that the debug information of the method around `pc` names; 0
 * where there is none. Context: as above, for code that has a frame on the own stack.
 */
uint64_t lc_code_headers_boundary(uint64_t pc, uint64_t limit);

#endif
