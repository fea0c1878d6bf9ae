/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/own.h - tells which methods and frames are the agent's own.
 *
 * The agent defines java.lang.LocusHook and java.lang.LocusSpan in the program, and rewritten code
 * calls them. Samples and allocations in their methods count for the program's calling line.
 */
#ifndef LC_CORE_OWN_H
#define LC_CORE_OWN_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The methods of `class` are the agent's own. Returns 0, or -EIO when the JVM does not name them or
 * there are more than there is room for. Context: [attach].
 */
int lc_own_class(jclass class);

/* Is the method the agent's own? Context: any, after [attach]. */
bool lc_own_method(jmethodID method);

/* The same by the method's number (core/method_number.h). Context: any. */
bool lc_own_number(uint64_t number);

/*
 * How many of the leading frames (lc_frame_pack(), leaf first) are the agent's own: a sample
 * taken in a hook belongs to the line that allocates. Context: any, after [attach].
 */
size_t lc_own_frames(const uint64_t *frames, size_t len);

/*
 * Does the class of this name (with dots) call methods of the program? Its frames, between two of
 * the program's, are left out of call paths. Context: any.
 */
bool lc_own_calls_program(const char *class_name);

#endif
