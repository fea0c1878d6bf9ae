/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/tasks/virtual.h - moves the spans of virtual threads (JDK 21 and newer) between carriers.
 *
 * A virtual thread runs on one carrier after another. Its frames leave the carrier's stack of spans
 * when it is unmounted, and come back on the stack of the carrier that mounts it; the carrier's own
 * frames, below, stay. Between the two no cycles, switches or pauses count for them.
 */
#ifndef LC_SPAN_TASKS_VIRTUAL_H
#define LC_SPAN_TASKS_VIRTUAL_H

#include <stdint.h>

#include "src/span/frames/stack.h"

/* ID of the virtual thread on the calling thread; 0: none. Context: any. */
uint64_t lc_virtual_mounted(void);

/*
 * Virtual thread `id` gets this carrier, or leaves it. `s` is the carrier's, or NULL; `now` is its
 * clock's reading. Context: [hook], the carrier. Must not call the JVM.
 */
void lc_virtual_mount(struct lc_span_thread *s, uint64_t id, uint64_t now);
void lc_virtual_unmount(struct lc_span_thread *s, uint64_t id, uint64_t now);

/* Does thread `id` have frames that wait for a carrier? Context: [hook]. */
bool lc_virtual_has_frames(uint64_t id);

enum { LC_VIRTUAL_TOLD = 2 }; /* `watched` of a waiting frame whose row is made */

/*
 * Show the frames of each waiting virtual thread, with the keys of their slots (kind LC_SPAN_KINDS:
 * transparent). `begin`, `switches`, `gc_count` and `gc_ns` are the sums since the frame began,
 * `slot` is NULL. visit() runs under a lock. Context: [writer].
 */
void lc_virtual_each(void (*visit)(void *of, struct lc_span_frame *frames,
                                   const struct lc_span_key *keys, uint32_t len),
                     void *of);

#endif
