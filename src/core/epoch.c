/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/epoch.c - counts the collections, and tells hooks whether one is under way.
 *
 * The GC sequence is written by the thread that posts JVMTI's GC events, one at a time; read by
 * anyone.
 *
 * Order:  E1  enter stores odd, then runs the barrier. A log append that loaded an even sequence
 *             before the barrier is visible to the sealing thread after it: the barrier orders
 *             both threads fully, so that the appending side needs only a compiler fence.
 *         E2  leave stores even (release) -> a load (acquire) that sees it also sees what was
 *             sealed.
 */
#include "src/core/epoch.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

static _Atomic uint32_t sequence;
static _Atomic bool have_membarrier; /* written by: lc_epoch_init() */
static uint64_t entered;             /* ticks; of the thread that posts the events */
static _Atomic uint64_t stopped;     /* written by: that thread */

static int membarrier(int command)
{
	return (int)syscall(SYS_membarrier, command, 0, 0);
}

/*
 * Registration takes 5 to 15 ms in a process with several threads. The launcher has registered
 * already (preload/launch.c), and to register again takes no time.
 */
int lc_epoch_init(void)
{
	if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED))
		return -errno;
	/* Relaxed: read by the same thread, or by one that HotSpot started later. */
	atomic_store_explicit(&have_membarrier, true, memory_order_relaxed);
	return 0;
}

uint32_t lc_epoch_gc_sequence(void)
{
	return atomic_load_explicit(&sequence, memory_order_acquire); /* E2 */
}

const void *lc_epoch_gc_sequence_address(void)
{
	return &sequence;
}

void lc_epoch_enter_gc(void)
{
	uint32_t s = atomic_load_explicit(&sequence, memory_order_relaxed); /* ours */

	if (!lc_epoch_gc_sequence_moving(s)) {
		entered = __rdtsc();
		atomic_store_explicit(&sequence, s + 1, memory_order_seq_cst); /* E1 */
	}
	if (!atomic_load_explicit(&have_membarrier, memory_order_relaxed) ||
	    membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED))
		atomic_thread_fence(memory_order_seq_cst);
}

void lc_epoch_leave_gc(void)
{
	uint32_t s = atomic_load_explicit(&sequence, memory_order_relaxed); /* ours */

	if (lc_epoch_gc_sequence_moving(s)) {
		atomic_fetch_add_explicit(&stopped, __rdtsc() - entered, memory_order_release);
		atomic_store_explicit(&sequence, s + 1, memory_order_release); /* E2 */
	}
}

const _Atomic uint64_t *lc_epoch_stopped(void)
{
	return &stopped;
}
