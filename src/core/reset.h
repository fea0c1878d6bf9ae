/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/reset.h - restores the agent's static variables and memory when a recording is over.
 *
 * A recording begins with all static variables of the library as they were when it was loaded. At
 * the end core/reset.c sets the variables back and gives back all that the agent has allocated or
 * mapped. So no module has code to begin again or to free memory. Data of the process rather than
 * of a recording is marked LC_KEPT: the number of the recording, data that a late caller may still
 * read, and state that the JVM remembers.
 *
 * Thread-local variables are not set back. A thread-local pointer to a recording's memory stands
 * beside the number of that recording.
 */
#ifndef LC_CORE_RESET_H
#define LC_CORE_RESET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define LC_KEPT __attribute__((section("lc_kept")))

/* Number of this recording, from 1; 0: none is under way. Weak: all files share one variable. */
__attribute__((weak, visibility("hidden"))) LC_KEPT _Atomic uint32_t lc_reset_recording = 1;

/* Context: any. */
static inline uint32_t lc_recording(void)
{
	return atomic_load_explicit(&lc_reset_recording, memory_order_relaxed);
}

/* A recording begins. Context: [attach]. */
void lc_reset_begin(void);

/* The recording is over: no thread begins to use its data. Context: as below. */
void lc_reset_over(void);

/* Was there memory for the copy that lc_reset_end() needs? Else no second recording is possible. */
bool lc_reset_can_end(void);

/*
 * The recording is over, and no thread is in code of the agent but the caller: set all back.
 * Context: a thread of ours.
 */
void lc_reset_end(void);

#endif
