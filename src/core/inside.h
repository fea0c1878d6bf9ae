/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/inside.h - says whether the calling thread is in code of the agent that may hold a lock.
 *
 * A signal handler of the program may call malloc(), although it should not, and so a hook of
 * offheap/native.h, while its thread is in such code. The hook then records nothing. It needs no
 * mark in code that is only run by threads of ours, which take no signals.
 */
#ifndef LC_CORE_INSIDE_H
#define LC_CORE_INSIDE_H

#include <stdatomic.h>

/* How many of such sections the thread is in. Weak: all files share one variable. */
__attribute__((weak, visibility("hidden"),
               tls_model("initial-exec"))) _Thread_local unsigned lc_inside;

/* Context: any; the section ends in the same thread. */
static inline void lc_inside_begin(void)
{
	lc_inside++;
	atomic_signal_fence(memory_order_seq_cst); /* before any lock is taken */
}

static inline void lc_inside_end(void)
{
	atomic_signal_fence(memory_order_seq_cst);
	lc_inside--;
}

#endif
