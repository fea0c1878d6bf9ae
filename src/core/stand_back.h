/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/stand_back.h - lets the attribution thread stand back while the collector has the CPUs.
 *
 * The attribution thread resolves a collection when the next may already be under way. On a machine
 * whose CPUs the collector's threads all use, it would take one of them for a time slice, and the
 * pause would be longer by as much; and it would fill the caches. So its long loops ask here.
 */
#ifndef LC_CORE_STAND_BACK_H
#define LC_CORE_STAND_BACK_H

#include "src/core/epoch.h"

/* lc_stand_back() for the collection with the number `sequence` (odd). */
void lc_stand_back_wait(uint32_t sequence);

/*
 * Wait until no collection is under way, at most a quarter of a second for each: meanwhile threads
 * in native code fill their logs. Context: [writer], without a lock.
 */
static inline void lc_stand_back(void)
{
	const uint32_t sequence = lc_epoch_gc_sequence();

	if (__builtin_expect(lc_epoch_gc_sequence_moving(sequence), 0))
		lc_stand_back_wait(sequence);
}

#endif
