/*
 * core/reset.h - says what outlives a recording.
 *
 * A recording begins with all static variables of the library as they were when it was loaded, and
 * in the end they are set back, and all that the agent has allocated or mapped is given back
 * (kept.c). So no module has to know how to begin again, nor to free what it has allocated. What is
 * of the process and not of a recording is LC_KEPT: the number of the recording, what a late caller
 * may still read, what the JVM remembers of us.
 *
 * Thread-local variables are not set back. One that points to something of a recording goes with
 * the number of the recording that it is of.
 */
#ifndef LC_CORE_RESET_H
#define LC_CORE_RESET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define LC_KEPT __attribute__((section("lc_kept")))

/* Of this recording, from 1; 0: it is over, and the next has not begun. Weak: one for all files. */
__attribute__((weak, visibility("hidden"))) LC_KEPT _Atomic uint32_t lc_reset_recording = 1;

/* Context: any. */
static inline uint32_t lc_recording(void)
{
	return atomic_load_explicit(&lc_reset_recording, memory_order_relaxed);
}

/* A recording begins. Context: [attach]. */
void lc_reset_begin(void);

/* There is no recording from now on: nobody begins to use anything of it. Context: as below. */
void lc_reset_over(void);

/* Was there memory for what lc_reset_end() needs? Else there is no second recording. */
bool lc_reset_can_end(void);

/*
 * The recording is over, and no thread is in code of the agent but the caller: set all back.
 * Context: a thread of ours.
 */
void lc_reset_end(void);

#endif
