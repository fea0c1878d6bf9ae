/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offheap/nmt.h - reads what the JVM counts of its own memory (-XX:NativeMemoryTracking).
 *
 * The answer is that of `jcmd PID VM.native_memory`. It is asked for only if the JVM counts.
 */
#ifndef LC_OFFHEAP_NMT_H
#define LC_OFFHEAP_NMT_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LC_NMT_NAME_LEN = 48, LC_NMT_ROWS = 64 };

struct lc_nmt_row {
	char name[LC_NMT_NAME_LEN]; /* the JVM's word for a category; "": all of them */
	uint64_t reserved_bytes, committed_bytes;
	uint64_t malloc_bytes; /* part of both: the JVM has them from malloc() */
};

/*
 * Read the JVM's text. The first row is that of all categories. Returns how many rows there are;
 * 0: the text has no such counts. Pure.
 */
size_t lc_nmt_parse(const char *text, struct lc_nmt_row *out, size_t cap);

/*
 * Has a heap of `max_bytes`, of which `used_bytes` are in use, room for the answer? When the JVM
 * ends, ZGC and Shenandoah collect no more: a thread that finds no room waits for ever, or gets an
 * OutOfMemoryError, at which the JVM may exit (-XX:+ExitOnOutOfMemoryError). Pure.
 */
bool lc_nmt_has_room(uint64_t max_bytes, uint64_t used_bytes);

/* Does this JVM count? Context: [attach]; lc_ranges_init() first. */
void lc_nmt_begin(void);

/*
 * Ask the JVM. No Java code runs; the answer is a string in the Java heap, so nothing is asked if
 * the heap is nearly full. Returns how many rows there are; 0: it does not count, or does not
 * answer. Context: [writer].
 */
size_t lc_nmt_ask(JNIEnv *jni, struct lc_nmt_row *out, size_t cap);

#endif
