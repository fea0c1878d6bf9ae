/* SPDX-License-Identifier: Apache-2.0 */
/* core/epoch.h - is the clock of the address map: addresses are true within one epoch. */
#ifndef LC_CORE_EPOCH_H
#define LC_CORE_EPOCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The GC sequence is even while the program runs and odd while a stop-the-world collection may
 * move objects. Epoch = sequence / 2. Loads acquire.
 * Context: any, signal handlers included.
 */
uint32_t lc_epoch_gc_sequence(void);

/* The sequence's address, a constant, for code that cannot call: a uint32_t. Context: [attach]. */
const void *lc_epoch_gc_sequence_address(void);

static inline bool lc_epoch_gc_sequence_moving(uint32_t sequence)
{
	return sequence & 1;
}

static inline uint32_t lc_epoch_now(void)
{
	return lc_epoch_gc_sequence() >> 1;
}

/*
 * GC start and finish. Enter runs a process-wide barrier (membarrier), so that every thread's
 * log appends made before it are visible to the thread that seals the logs after it.
 * Context: [gc], the thread that JVMTI posts the event on; never concurrently.
 */
void lc_epoch_enter_gc(void);
void lc_epoch_leave_gc(void);

/* Ticks of the TSC between all enters and leaves; it never moves. Context: any. */
const _Atomic uint64_t *lc_epoch_stopped(void);

/* Prepare the barrier. Returns 0, or -errno where membarrier is missing (then fences pay). */
int lc_epoch_init(void);

#endif
