/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offheap/before.h - finds the blocks outside the heap that were there before the recording: direct
 * buffers, and mapped files.
 *
 * Direct buffers are in the JDK's list of cleaners. Memory segments and memory of
 * Unsafe.allocateMemory() are in no list, and stay unknown.
 */
#ifndef LC_OFFHEAP_BEFORE_H
#define LC_OFFHEAP_BEFORE_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LC_BEFORE_FILE_MAX = 128 };

/* A mapped file. */
struct lc_before_file {
	uint64_t addr, size_bytes;
	char name[LC_BEFORE_FILE_MAX]; /* without its directories */
};

/*
 * Does the line of /proc/self/maps tell of a file whose data the program has mapped? Such a mapping
 * is shared, not executable, and neither the JVM's nor libc's. Its size is that of whole pages.
 * Pure.
 */
bool lc_before_file_of_line(const char *line, struct lc_before_file *out);

/*
 * Hooks are in: tell lc_blocks_before() of all that is there. `path` is that of their sites.
 * Direct buffers are neither made nor freed meanwhile: 100,000 take 30 ms (JDK 17). Context:
 * [attach].
 */
void lc_before_find(JNIEnv *jni, uint32_t path);

#endif
