/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/ending.h - waits for the end of the attribution thread while it makes progress.
 *
 * The thread may be blocked on its output: a hung network file system, a full pipe. The program
 * must be able to end without the thread.
 */
#ifndef LC_ATTRIBUTE_ENDING_H
#define LC_ATTRIBUTE_ENDING_H

#include <pthread.h>
#include <stdbool.h>

enum { LC_ENDING_MS = 3000 }; /* without progress, when the thread is left behind */

/* The thread has done all that it does, and returns. Context: [writer]. */
void lc_ending_done(void);

/*
 * Wait for the thread that was told to end, and join it. Returns false when it has used hardly
 * any CPU time for LC_ENDING_MS: it is blocked, and is left behind, detached. Context: [attach].
 */
bool lc_ending_wait(pthread_t thread);

#endif
