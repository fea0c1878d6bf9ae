/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/os/signal_frame.h - tells whether the calling thread runs a signal handler.
 *
 * The kernel pushes a frame (`struct rt_sigframe` of Linux on x86-64) before it calls a handler. A
 * handler that has returned may leave its frame in memory that no function has written since. Such
 * a frame differs: the thread blocks the same signals now as when it was interrupted. A handler
 * that blocks nothing, not even its own signal (SA_NODEFER), cannot be told from that.
 */
#ifndef LC_JVM_OS_SIGNAL_FRAME_H
#define LC_JVM_OS_SIGNAL_FRAME_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Does the calling thread run a handler that interrupted it between these addresses of its stack?
 * `low` is the caller's frame; all that lies between is the thread's stack. True, too, if that is
 * too much to search. Context: any, signal handlers included.
 */
bool lc_signal_frame_between(uint64_t low, uint64_t high);

#endif
