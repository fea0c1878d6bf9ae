/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/thread.c - keeps the list of Java threads.
 *
 * Invariant: a record stays allocated while it is on the list; it leaves it only after `ended`,
 *            which its thread stores (release) after its last append to any log.
 */
#include "src/core/thread.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "src/core/counters.h"
#include "src/core/reset.h"

enum { OURS_MAX = 8 };

/* Initial-exec: reading it in a signal handler or hook never allocates. */
static _Thread_local struct {
	struct lc_thread *thread;
	uint32_t recording; /* that it is of */
} self __attribute__((tls_model("initial-exec")));

static _Thread_local bool ours __attribute__((tls_model("initial-exec")));
/* Ids of our running threads, and of some that ended; 0: free. Each thread writes its own. */
static LC_KEPT _Atomic int32_t ours_tids[OURS_MAX] = { 0 };

static struct lc_thread *(*enter)(JNIEnv *jni); /* set before there are hooks */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct lc_thread *first;     /* under lock */
static _Atomic uint32_t registered; /* index of the next record */

struct lc_thread *lc_thread_self(void)
{
	return __builtin_expect(self.recording == lc_recording(), 1) ? self.thread : NULL;
}

void lc_thread_bind(struct lc_thread *t)
{
	self.thread = t;
	self.recording = lc_recording();
}

void lc_thread_set_ours(void)
{
	ours = true;
	for (size_t i = 0; i < OURS_MAX; i++) {
		int32_t none = 0;

		if (atomic_compare_exchange_strong(&ours_tids[i], &none,
		                                   (int32_t)syscall(SYS_gettid)))
			return;
	}
}

void lc_thread_ours_ends(void)
{
	const int32_t tid = (int32_t)syscall(SYS_gettid);

	for (size_t i = 0; i < OURS_MAX; i++)
		if (atomic_load(&ours_tids[i]) == tid)
			atomic_store(&ours_tids[i], 0);
}

bool lc_thread_is_ours(void)
{
	return ours;
}

bool lc_thread_tid_is_ours(int32_t tid)
{
	for (size_t i = 0; i < OURS_MAX; i++)
		if (tid == atomic_load_explicit(&ours_tids[i], memory_order_acquire))
			return true;
	return false;
}

struct lc_thread *lc_thread_enter(JNIEnv *jni)
{
	return enter ? enter(jni) : NULL;
}

void lc_thread_enter_with(struct lc_thread *(*new_enter)(JNIEnv *jni))
{
	enter = new_enter;
}

uint32_t lc_thread_take_index(void)
{
	return atomic_fetch_add_explicit(&registered, 1, memory_order_relaxed); /* a ticket */
}

struct lc_thread *lc_thread_create(int32_t tid, const char *name, bool sampled)
{
	struct lc_thread *t = calloc(1, sizeof(*t));
	struct timespec now;

	if (!t)
		return NULL;
	clock_gettime(CLOCK_MONOTONIC, &now);
	t->tid = tid;
	t->start_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	t->sampled = sampled;
	snprintf(t->name, sizeof(t->name), "%s", name);
	t->index = lc_thread_take_index();
	return t;
}

void lc_thread_publish(struct lc_thread *t)
{
	pthread_mutex_lock(&lock);
	t->next = first;
	first = t;
	pthread_mutex_unlock(&lock);
}

void lc_threads_lock(void)
{
	pthread_mutex_lock(&lock);
}

void lc_threads_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

struct lc_thread *lc_threads_first(void)
{
	return first;
}

struct lc_thread *lc_threads_walk(void)
{
	struct lc_thread *t;

	lc_threads_lock();
	t = first;
	lc_threads_unlock();
	return t;
}

struct lc_thread *lc_threads_find(int32_t tid)
{
	struct lc_thread *t;

	pthread_mutex_lock(&lock);
	for (t = first; t; t = t->next)
		if (t->tid == tid && !atomic_load_explicit(&t->ended, memory_order_acquire))
			break;
	pthread_mutex_unlock(&lock);
	return t;
}

void lc_threads_unlink(struct lc_thread *t)
{
	struct lc_thread **at = &first;

	while (*at && *at != t)
		at = &(*at)->next;
	if (*at)
		*at = t->next;
	t->next = NULL;
}

uint32_t lc_threads_registered(void)
{
	return atomic_load_explicit(&registered, memory_order_relaxed); /* a count */
}

static const struct lc_counter counters[] = {
	LC_COUNTER("threads", &registered),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
