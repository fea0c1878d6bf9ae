/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offheap/native.h - records the blocks that the program's native libraries allocate and map
 * (--offheap=native).
 *
 * The libraries' import slots lead to functions of ours (jvm/os/libraries.h), which call on.
 */
#ifndef LC_OFFHEAP_NATIVE_H
#define LC_OFFHEAP_NATIVE_H

#include <stdbool.h>

struct lc_options;

/* Record from now on, if the options say so. Returns 0 or -errno. Context: [attach]. */
int lc_native_begin(const struct lc_options *options);

/* Libraries may have been loaded. Context: [writer]. */
void lc_native_look(void);

/* Record no more. Context: any. */
void lc_native_stop(void);

/* Give the libraries their slots back, after lc_native_stop(). Context: a thread of ours. */
void lc_native_end(void);

/* Is a thread in a function of ours, so that it may use data of the recording? Context: any. */
bool lc_native_inside(void);

#endif
