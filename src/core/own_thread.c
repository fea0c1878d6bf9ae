/* SPDX-License-Identifier: Apache-2.0 */
/* core/own_thread.c - masks signals around the start of a thread. */
#include "src/core/own_thread.h"

#include <signal.h>
#include <stddef.h>

enum { STACK_BYTES = 1 << 20 }; /* musl gives a thread 128 KB unless told otherwise */

/* Start a thread with the attributes that pthread_create() gives it, but with STACK_BYTES at least.
 */
static int start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	pthread_attr_t attr;
	size_t bytes = 0;
	int err = pthread_attr_init(&attr);

	if (err)
		return err;
	(void)pthread_attr_getstacksize(&attr, &bytes);
	if (bytes < STACK_BYTES)
		(void)pthread_attr_setstacksize(&attr, STACK_BYTES);
	err = pthread_create(thread, &attr, run, arg);
	pthread_attr_destroy(&attr);
	return err;
}

int lc_own_thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *arg)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = start(thread, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!err)
		pthread_setname_np(*thread, name);
	return -err;
}
