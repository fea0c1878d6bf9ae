/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/spin.h - a lock for a few instructions, which a thread waits for on the CPU.
 *
 * It is for tables that many threads change all the time, one lock for each part of the table. It
 * is never held across a call into the JVM, nor taken in a signal handler. 0 is unlocked.
 *
 * Order:  L1  unlock (release) -> lock (acquire).
 */
#ifndef LC_BASE_SPIN_H
#define LC_BASE_SPIN_H

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

enum { LC_SPINS = 64 }; /* looks at the lock between two yields */

static inline void lc_spin_lock(_Atomic uint32_t *lock)
{
	for (unsigned i = 1; atomic_exchange_explicit(lock, 1, memory_order_acquire);
	     i++) { /* L1 */
		if (i % LC_SPINS)
			__builtin_ia32_pause();
		else
			sched_yield();
	}
}

static inline void lc_spin_unlock(_Atomic uint32_t *lock)
{
	atomic_store_explicit(lock, 0, memory_order_release); /* L1 */
}

#endif
