/*
 * span/tasks/link.h - remembers what is known of an object from its creation to its executions.
 *
 * Objects are known by their identity hash, tasks by their class too: it has 31 bits, so that of a
 * million objects some have the same. Where two objects that may both still be executed cannot be
 * told apart, what is asked of either is unknown, and counted; it is never that of the other one.
 *
 * The table has room for LC_LINK_ENTRIES objects. When it is full, an entry that was executed goes
 * first, then the oldest, which is counted: what that object executes later is of unknown origin.
 * An entry stays after an execution, since an object may be executed again. Of an object that is
 * forgotten, or that cannot be told from another one, nobody will say that it was executed: see
 * lc_link_forgotten().
 */
#ifndef LC_SPAN_TASKS_LINK_H
#define LC_SPAN_TASKS_LINK_H

#include <stdbool.h>
#include <stdint.h>

struct lc_counters;

enum {
	LC_LINK_WAYS = 8,
	LC_LINK_NEAR_SETS = 1 << 10, /* what is in flight in most programs stays in a CPU's cache */
	LC_LINK_FAR_SETS = 1 << 17,
	LC_LINK_ENTRIES = (LC_LINK_NEAR_SETS + LC_LINK_FAR_SETS) * LC_LINK_WAYS
};

/*
 * LocusSpan gives objects that have no identity hash yet consecutive numbers, times this, modulo
 * 2^31: hashes that are spread as the JVM's own. Tables here go by the numbers, so that what one
 * thread makes in a row lies side by side. Hashes that the JVM chose have random numbers.
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

/* Who a task object is. */
struct lc_link_key {
	uint32_t hash;  /* System.identityHashCode() */
	uint32_t class; /* the same for objects of one class (task.c) */
};

/* Where and when a task was made. */
struct lc_link_creation {
	uint64_t object;  /* its number */
	uint64_t tsc;     /* when */
	uint32_t site;    /* class and creation path */
	uint32_t creator; /* lc_thread.index of the creating thread + 1 */
	uint32_t maker;   /* the task that it was made in, see span/tasks/task_parts.h */
	bool again;       /* this may be an object that the same thread reported a moment ago: a
	                     constructor of a superclass was hooked too */
	bool single;      /* its class has one object, which is reported each time its expression is
	                     evaluated */
};

/* What a task's execution learns. */
struct lc_link_task {
	uint64_t object;      /* its number, as given with its creation; 0 unknown */
	uint64_t submit_tsc;  /* when it was submitted for this execution; 0 unknown or not */
	uint64_t created_tsc; /* when it was made; 0 unknown */
	uint32_t site;        /* class and creation path; 0 unknown */
	uint32_t creator;     /* lc_thread.index of the creating thread + 1; 0 unknown */
	uint32_t maker;       /* as in lc_link_creation */
	uint32_t submit_path; /* 0 unknown or not */
	uint8_t submit_kind;  /* enum lc_submit_kind; NONE: not submitted, or it is unknown how */
	bool submitted;       /* ever */
	bool first;           /* a creation was counted for it, and this is its first execution */
};

/* A parallel stream that a ForkJoin task works for. */
struct lc_link_stream {
	uint64_t id;
	uint32_t path; /* location */
	uint8_t level;
};

/* Reserve memory, once; it is used as it is needed. Returns 0 or -ENOMEM. Context: [attach]. */
int lc_link_init(void);
void lc_link_free(void); /* for tests; nobody may use it any more */

/* The object of that hash will be asked for soon. Context: any. */
void lc_link_prefetch(uint32_t hash);

/*
 * An object of class `key.class` was made. Returns whether it is new: a creation to be counted.
 * Context: [hook].
 */
bool lc_link_created(struct lc_link_key key, const struct lc_link_creation *x);

/*
 * Objects of a site that were created and of which it will not be known whether they are executed.
 * Returns false where the calling thread's calls since the last one have met none. Context: [hook].
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

/* The object was submitted. Returns its creation site; 0: it is unknown. Context: [hook]. */
uint32_t lc_link_submitted(struct lc_link_key key, uint8_t kind, uint32_t path, uint64_t tsc);

/* May the object have been submitted, and still wait to be executed? Context: [hook]. */
bool lc_link_pending(struct lc_link_key key);

/*
 * The object is about to be executed. Returns whether anything is known of it, and then fills *out,
 * which is otherwise zeroed. Context: [hook].
 */
bool lc_link_executed(struct lc_link_key key, struct lc_link_task *out);

/*
 * The execution of a parallel stream begins, and ends. In between the entries of its tasks stay,
 * since half of all tasks never compute, and some compute again. Entries of streams that have ended
 * are the first to give way, and are not counted as dropped. Context: [hook].
 */
void lc_link_stream_begins(uint64_t id);
void lc_link_stream_ends(uint64_t id);

/* A task was made for the stream. Context: [hook]. */
void lc_link_stream_put(uint32_t hash, const struct lc_link_stream *stream);

/*
 * A ForkJoin task starts computing: which stream does it belong to? Returns false, and leaves *out
 * alone, where that is unknown. Context: [hook].
 */
bool lc_link_stream_take(uint32_t hash, struct lc_link_stream *out);

struct lc_link_stats {
	uint64_t dropped;   /* entries that gave way before they were executed */
	uint64_t ambiguous; /* objects that could not be told from another one */
	uint64_t unknown;   /* executions, and stream tasks, that found nothing */
	uint64_t
	    forgotten; /* created objects of which it is not known whether they were executed */
};
void lc_link_stats(struct lc_link_stats *out);  /* Context: any. */
void lc_link_counters(struct lc_counters *out); /* Context: [writer]. */

#endif
