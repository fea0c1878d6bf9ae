/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gc/landmarks.h - finds objects of any class that a full collection will slide, by their headers.
 *
 * A look ahead of a slide (gc/small.h) may find no tracked object that will move. It may have come
 * too early, or they all stay. Landmarks tell: untracked objects with a new address in their
 * headers. A landmark is proved if the log of copies shows afterwards that it went there.
 *
 * All functions run on the thread that posts the GC events. Context: [gc].
 */
#ifndef LC_GC_LANDMARKS_H
#define LC_GC_LANDMARKS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Look for landmarks in the upper part of each area, in at most 2 MiB together. They replace those
 * of the last look. Returns a hash of them; 0: there are none.
 */
uint64_t lc_landmarks_look(void);

/* Is there a landmark at `src` that will go to `dst`? */
bool lc_landmarks_has(uint64_t src, uint64_t dst);

void lc_landmarks_forget(void);

#endif
