/* SPDX-License-Identifier: Apache-2.0 */
/* core/recursion.h - finds where frames of a call path follow themselves: recursion. */
#ifndef LC_CORE_RECURSION_H
#define LC_CORE_RECURSION_H

#include <stdbool.h>
#include <stdint.h>

/* Find cycles from now on (--recursion=fold), or none, as before the first call. Context: [attach].
 */
void lc_recursion_fold(bool on);

enum { LC_RECURSION_MAX = 64 }; /* frames of a cycle */

/*
 * `frames` is a path from the root, `next` the frame that the last one calls. Returns the length of
 * the shortest cycle that `next` completes for the second time, one right behind the other: the
 * path may then do without the last length - 1 frames and `next`. 0 where there is none, or none
 * of LC_RECURSION_MAX frames or less. Context: any.
 */
uint32_t lc_recursion_cycle(const uint64_t *frames, uint32_t len, uint64_t next);

#endif
