/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/tasks/link.h - follows an object from its creation to its executions.
 *
 * The key of an object is its identity hash, and for tasks also its class. A hash has 31 bits, so
 * some of a million objects have the same one. If two objects may still be executed and cannot be
 * told apart, the answer for either is "unknown", and counted. It is never the other one's.
 *
 * The table has room for LC_LINK_ENTRIES objects. If it is full, an executed entry goes first, or
 * else the oldest, which is counted: later executions of that object are of unknown origin. An
 * entry stays after an execution, since an object may be executed again. Executions of a forgotten
 * or ambiguous object are not known: see lc_link_forgotten().
 */
#ifndef LC_SPAN_TASKS_LINK_H
#define LC_SPAN_TASKS_LINK_H

#include <stdbool.h>
#include <stdint.h>

enum {
	LC_LINK_WAYS = 8,
	LC_LINK_NEAR_SETS = 1 << 10, /* fits a CPU's cache; enough for most programs */
	LC_LINK_FAR_SETS = 1 << 17,
	LC_LINK_ENTRIES = (LC_LINK_NEAR_SETS + LC_LINK_FAR_SETS) * LC_LINK_WAYS
};

/*
 * LocusSpan gives an object without an identity hash the next number times this, modulo 2^31: such
 * hashes are spread like the JVM's own. Tables here use the numbers, so that objects that one
 * thread makes in a row are neighbours. Hashes that the JVM chose have random numbers.
 */
enum {
	LC_LINK_HASH_FACTOR = 0x1e3779b1,
	LC_LINK_HASH_INVERSE = 0x0e8b2f51,
	LC_LINK_HASH_MASK = 0x7fffffff
};

static inline uint32_t lc_link_number(uint32_t hash)
{
	return hash * (uint32_t)LC_LINK_HASH_INVERSE & (uint32_t)LC_LINK_HASH_MASK;
}

/* The key of a task object. */
struct lc_link_key {
	uint32_t hash;  /* System.identityHashCode() */
	uint32_t class; /* number of the object's class (task.c) */
};

/* A task's creation. */
struct lc_link_creation {
	uint64_t object;  /* its number */
	uint64_t tsc;     /* when */
	uint32_t site;    /* class and creation path */
	uint32_t creator; /* lc_thread.index of the creating thread + 1 */
	uint32_t maker;   /* the task that made it, see span/tasks/task_parts.h */
	bool again;  /* the thread may have reported the object a moment ago, since a superclass's
	                constructor has a hook, too */
	bool single; /* the class has one object, which is reported at each evaluation of its
	                expression */
};

/* The history of a task, for its execution. */
struct lc_link_task {
	uint64_t object;      /* its number, from its creation; 0 unknown */
	uint64_t submit_tsc;  /* when it was submitted for this execution; 0 unknown or not */
	uint64_t created_tsc; /* when it was made; 0 unknown */
	uint32_t site;        /* class and creation path; 0 unknown */
	uint32_t creator;     /* lc_thread.index of the creating thread + 1; 0 unknown */
	uint32_t maker;       /* see lc_link_creation */
	uint32_t submit_path; /* 0 unknown or not */
	uint8_t submit_kind;  /* enum lc_submit_kind; NONE: not submitted, or unknown */
	bool submitted;       /* ever */
	bool first;           /* its creation was counted, and this is its first execution */
};

/* The parallel stream that a ForkJoin task works for. */
struct lc_link_stream {
	uint64_t id;
	uint32_t path; /* location */
	uint8_t level;
};

/* Reserve memory, once; pages are used on demand. Returns 0 or -ENOMEM. Context: [attach]. */
int lc_link_init(void);
void lc_link_free(void); /* for tests; no call may follow */

/* Prefetch the entry of an object. Context: any. */
void lc_link_prefetch(uint32_t hash);

/*
 * An object of class `key.class` was made. Returns whether it is new: a creation to be counted.
 * Context: [hook].
 */
bool lc_link_created(struct lc_link_key key, const struct lc_link_creation *x);

/*
 * Get created objects of a site whose execution will stay unknown. Returns false if the calling
 * thread's calls since the last one have met none. Context: [hook].
 */
struct lc_link_forgotten {
	uint32_t site, count;
};
bool lc_link_forgotten_slowly(struct lc_link_forgotten *out);
extern _Thread_local uint32_t lc_link_forgot __attribute__((tls_model("initial-exec")));

static inline bool lc_link_forgotten(struct lc_link_forgotten *out)
{
	return __builtin_expect(lc_link_forgot != 0, 0) && lc_link_forgotten_slowly(out);
}

/* The object was submitted. Returns its creation site; 0: unknown. Context: [hook]. */
uint32_t lc_link_submitted(struct lc_link_key key, uint8_t kind, uint32_t path, uint64_t tsc);

/* May the object be submitted and wait to be executed? Context: [hook]. */
bool lc_link_pending(struct lc_link_key key);

/*
 * The object is about to be executed. Returns whether its history is known, and fills or zeroes
 * *out. Context: [hook].
 */
bool lc_link_executed(struct lc_link_key key, struct lc_link_task *out);

/*
 * The execution of a parallel stream begins, and ends. In between the entries of its tasks stay:
 * half of all tasks never compute, and some compute again. Entries of ended streams are the first
 * to give way, and do not count as dropped. Context: [hook].
 */
void lc_link_stream_begins(uint64_t id);
void lc_link_stream_ends(uint64_t id);

/* A task was made for the stream. Context: [hook]. */
void lc_link_stream_put(uint32_t hash, const struct lc_link_stream *stream);

/*
 * A ForkJoin task starts to compute: which stream does it belong to? Returns false, and leaves *out
 * alone, if that is unknown. Context: [hook].
 */
bool lc_link_stream_take(uint32_t hash, struct lc_link_stream *out);

#endif
