/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/layout/collector.h - tells which garbage collector this JVM runs, and what follows from it.
 *
 * Context: any, after lc_collector_init(); nothing changes then.
 */
#ifndef LC_JVM_LAYOUT_COLLECTOR_H
#define LC_JVM_LAYOUT_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

enum lc_collector {
	LC_GC_UNKNOWN,
	LC_GC_SERIAL,
	LC_GC_PARALLEL,
	LC_GC_G1,
	LC_GC_EPSILON,
	LC_GC_SHENANDOAH,
	LC_GC_Z
};

/* Ask the JVM. Context: [attach], after VMInit; lc_vm_init() first. */
void lc_collector_init(void);

enum lc_collector lc_collector(void);
const char *lc_collector_name(void); /* "Serial", "Parallel", "G1", ...; "unknown" */

/*
 * Are classes unloaded while the program runs? The other collectors unload a class only while the
 * world is stopped, so that what is known of a class holds until the GC sequence changes.
 */
bool lc_collector_unloads_while_running(void);

/* Are objects moved while the program runs, by collector and program alike (ZGC, Shenandoah)? */
bool lc_collector_moves_while_running(void);

/*
 * log2 of the bytes that it frees at once at least, where it moves objects while the program runs:
 * ZGC's smallest page, a region of Shenandoah.
 */
unsigned lc_collector_granule_shift(void);

/* Address of HotSpot's CollectedHeap; 0 where this JVM does not export it. */
uint64_t lc_collector_heap(void);

/*
 * How many collections the JVM has counted; pauses that only mark are none. NULL: not exported.
 * Shenandoah's stays where it is.
 */
const volatile uint32_t *lc_collector_count(void);

#endif
