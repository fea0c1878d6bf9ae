/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/stand_back.c - waits for the end of a collection: see stand_back.h.
 *
 * Order: none. Only the attribution thread comes here; the sequence is the collector's.
 */
#include "src/core/stand_back.h"

#include "src/base/time.h"
#include "src/core/wake.h"

#define LONGEST_NS UINT64_C(250000000)

static uint32_t given_up; /* the collection that was too long to be waited for */

void lc_stand_back_wait(uint32_t sequence)
{
	const uint64_t until = lc_time_now_ns() + LONGEST_NS;
	uint64_t now;

	if (sequence == given_up)
		return;
	while (lc_epoch_gc_sequence() == sequence) {
		now = lc_time_now_ns();
		if (now >= until) {
			given_up = sequence;
			break;
		}
		(void)lc_wake_wait(until - now);
	}
	lc_wake(); /* those that were taken here were for whom waits outside */
}
