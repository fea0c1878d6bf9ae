/* SPDX-License-Identifier: Apache-2.0 */
/* core/own_thread.h - starts threads of Locus in the program's process. */
#ifndef LC_CORE_OWN_THREAD_H
#define LC_CORE_OWN_THREAD_H

#include <pthread.h>

/*
 * Start a thread that takes none of the program's signals, but for faults: ours are caught, and
 * other agents may have changed the classes that it calls. `name` has 15 bytes at most. The thread
 * calls lc_thread_set_ours() first. Returns 0 or a negative errno. Context: any but [signal].
 */
int lc_own_thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *arg);

#endif
