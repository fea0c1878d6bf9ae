/* SPDX-License-Identifier: Apache-2.0 */
/* core/thread.h - describes what the agent keeps for each Java thread, and lists all of them. */
#ifndef LC_CORE_THREAD_H
#define LC_CORE_THREAD_H

#include <jni.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct lc_alloc_log;       /* heap/alloc_log.h */
struct lc_sample_log;      /* sample/sample_log.h */
struct lc_sampler;         /* sample/sampler.h, private to the engines */
struct lc_contexts;        /* heap/context.h */
struct lc_walker;          /* stack/walker.h */
struct lc_numa_thread;     /* numa/numa.h: the attribution thread's */
struct lc_timeline_thread; /* span/clock/timeline.h */
struct lc_tally;           /* profile/tally.h: the attribution thread's counts for this thread */

enum { LC_THREAD_NAME_MAX = 128 };

struct lc_thread {
	/* Set before the thread is published, constant afterwards. */
	int32_t tid;
	uint32_t index; /* dense, from 0, never reused */
	uint64_t start_ns;
	char name[LC_THREAD_NAME_MAX]; /* modified UTF-8; the name when it was first seen */
	bool sampled;                  /* passes --include and --exclude */

	/* Owned by the modules named above; created at registration, freed by the attribution
	 * thread after it has seen `ended` and taken the last record. */
	struct lc_alloc_log *allocs;
	struct lc_sample_log *samples;
	struct lc_sampler *sampler;
	struct lc_contexts *contexts;
	struct lc_walker *walker;
	/* heap/estimate.h: of the next sampled allocation; 0 before the first. The thread's. */
	uint64_t estimate_interval;
	/*
	 * With concurrent collectors: the earliest time of the record that is being made. 0: none
	 * is. Written by: the thread.
	 */
	_Atomic uint64_t records_ns;
	uint32_t renewed; /* heap/alloc_path.h: lc_alloc_place(). The thread's. */
	/*
	 * The node below which the thread's call paths begin: its request context
	 * (core/request.h). 0: it has none. Written by: the thread, whose handlers read it.
	 */
	_Atomic uint32_t root;
	/*
	 * Made with the thread's first span. Written by: the thread; by the attribution thread at
	 * the end.
	 */
	_Atomic(struct lc_span_thread *) spans;

	struct lc_timeline_thread *timeline; /* NULL: no spans */

	/* Attribution thread only. */
	struct lc_tally *tally;
	struct lc_numa_thread *numa; /* NULL until it is needed */
	uint64_t sealed;             /* position in `allocs` where the open epoch begins */
	uint64_t looked;     /* ... up to which samples were looked up; UINT64_MAX: to its end */
	uint64_t unresolved; /* samples taken from the log that wait for their object */

	_Atomic bool ended;     /* written by: the thread itself, last of all */
	struct lc_thread *next; /* list, newest first; changed under the list's lock */
};

/*
 * The calling thread's record, or NULL when it has none (not a Java thread, or not yet known).
 * Context: any, signal handlers included. One load of an initial-exec thread-local.
 */
struct lc_thread *lc_thread_self(void);

/*
 * Make `t` the calling thread's record (NULL: none any more). A thread that was registered by
 * another one becomes its own with the first signal or hook. Context: [java] [signal].
 */
void lc_thread_bind(struct lc_thread *t);

/*
 * The calling thread is the agent's own: it gets no record. Eight at a time, until
 * lc_thread_ours_ends(). Context: threads of ours.
 */
void lc_thread_set_ours(void);
void lc_thread_ours_ends(void);
bool lc_thread_is_ours(void);
bool lc_thread_tid_is_ours(int32_t tid); /* is a thread the agent's own? Any context */

/*
 * Make a record that is not on the list yet; its logs are the caller's to set. Returns it, or
 * NULL without memory; owner: the caller until lc_thread_publish(). Context: [attach] [java].
 */
struct lc_thread *lc_thread_create(int32_t tid, const char *name, bool sampled);

/*
 * The calling thread's record, made where it has none: for a hook that found none. NULL for our own
 * threads, without memory, and before lc_thread_enter_with(). Slow, once a thread. Context: [java]
 * [hook].
 */
struct lc_thread *lc_thread_enter(JNIEnv *jni);

/* Set what makes the records for lc_thread_enter(). Context: [attach], before there are hooks. */
void lc_thread_enter_with(struct lc_thread *(*enter)(JNIEnv *jni));

/* Put `t` on the list, complete. Context: [attach] [java]. */
void lc_thread_publish(struct lc_thread *t);

/*
 * The list. Walking it, and what it leads to, needs the lock, which is held for short walks only
 * and never across a call into the JVM. Context: [attach] [gc] [writer].
 */
void lc_threads_lock(void);
void lc_threads_unlock(void);
struct lc_thread *lc_threads_first(void);

/*
 * The first of the list for a walk without the lock: records are added in front, and only the
 * attribution thread takes them off. Context: [writer].
 */
struct lc_thread *lc_threads_walk(void);

/* The live record of a kernel thread, or NULL. Takes the lock. Context: [java]. */
struct lc_thread *lc_threads_find(int32_t tid);

/* Take `t` off the list; the caller frees it. Under the lock. Context: [writer]. */
void lc_threads_unlink(struct lc_thread *t);

uint32_t lc_thread_take_index(void);  /* an index for rows of no thread; context: [attach] */
uint32_t lc_threads_registered(void); /* ever; context: any */

#endif
