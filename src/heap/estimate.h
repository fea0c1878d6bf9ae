/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/estimate.h - samples the allocations of objects without hooks, most of which are small.
 *
 * JVMTI's SampledObjectAlloc picks bytes of a thread's allocations at random, on average one every
 * `interval` bytes, so an object of s bytes is picked with probability p = 1 - exp(-s / interval)
 * and stands for 1 / p objects like it. Each picked object is held by a weak reference. After each
 * collection the agent reads the reference's slot, which has the object's new address, or 0 if it
 * is dead. docs/engines/estimates.md has the formulas.
 *
 * Source: JEP 331; the weight is Horvitz and Thompson's (1952).
 */
#ifndef LC_HEAP_ESTIMATE_H
#define LC_HEAP_ESTIMATE_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lc_area;
struct lc_thread;

struct lc_estimate_config {
	uint64_t interval_bytes; /* 0: nothing is sampled */
	uint64_t least_bytes;    /* least interval; 0: the interval is constant */
	bool jitter;             /* draw each distance with an interval near the chosen one */
	uint64_t min_size_bytes; /* objects of this size and more are left to the hooks */
	bool exact;     /* every large object has a hook; else see lc_estimate_path_unhooked() */
	uint64_t depth; /* frames of an allocation path */
	/* Epochs exist, and slots hold plain addresses: Serial, Parallel, G1. */
	bool follow;
	bool from_start; /* sampled since the JVM's start: no object is older */
	bool audit;      /* compare paths with the JVM's */
};

/*
 * Begin, once. Afterwards the caller enables the event if lc_estimate_enabled(). Returns 0,
 * -ENOMEM, -ERANGE if the JVM cannot sample at this interval, or -ENOTSUP if it does not sample.
 * Context: [attach].
 */
int lc_estimate_init(const struct lc_estimate_config *config);

/*
 * Are allocations sampled? Not with an interval of 0, or if every object is tracked. Context: any.
 */
bool lc_estimate_enabled(void);

/* Make the interval `stretch` (1 or more) times as long. Context: [writer]. */
void lc_estimate_stretch(uint32_t stretch);

/* Undo lc_estimate_init(); references are left to the JVM. [attach], no other call runs. */
void lc_estimate_destroy(void);

/*
 * End for good: events do nothing any more, and references are deleted. Sums since the last
 * lc_estimate_flush() are lost. Context: [java], after the attribution thread's end.
 */
void lc_estimate_stop(JNIEnv *jni);

/* The JVMTI event. Context: [java]. */
void JNICALL lc_estimate_event(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                               jclass class, jlong size);

/*
 * Read every reference: the collection that ends `epoch` has finished and the world is stopped.
 * Comes before lc_epoch_leave_gc(). Context: [gc].
 */
void lc_estimate_gc_finish(uint32_t epoch);

/* A sampled object that has outlived its first collection. */
struct lc_estimate_survivor {
	uint64_t address; /* after the collection */
	uint64_t size_bytes;
	uint32_t site;
};

enum { LC_ESTIMATE_SURVIVORS = 256 };

/*
 * Objects that the last lc_estimate_gc_finish() has found to have outlived their first collection:
 * *len of them, at most LC_ESTIMATE_SURVIVORS, chosen at random. Valid in the same pause. Context:
 * [gc].
 */
const struct lc_estimate_survivor *lc_estimate_survivors(size_t *len);

/*
 * Note that a sample of `engine` on `t`, in `epoch`, fell into an object of class `class_site`
 * (lc_klass_site()) that starts at `start` and was not tracked. The next lc_estimate_flush()
 * splits it over the sites of the class. Context: [writer].
 */
void lc_estimate_access(struct lc_thread *t, uint16_t engine, uint32_t class_site, uint64_t start,
                        uint32_t epoch, uint64_t samples);

/*
 * Close `epoch`: all its samples were given to lc_estimate_access(). The collection at its end left
 * `areas`, which tell old objects from new ones in the next epoch. Context: [writer].
 */
void lc_estimate_close(uint32_t epoch, const struct lc_area *areas, size_t len);

/*
 * Move the sums of samples and splits since the last call to the tallies of the threads (ESTIMATES
 * and SPLITS), and delete references to dead objects of closed epochs. The sums of a thread whose
 * record is gone go to the oldest thread. Context: [writer].
 */
void lc_estimate_flush(JNIEnv *jni);

/* A sampled object that is not known to be dead. */
struct lc_estimate_held {
	uint32_t site;
	uint64_t size_bytes;
	double chance;     /* of being sampled and held: the object stands for 1 / chance objects */
	uint32_t survived; /* collections that it is known to have outlived */
	uint32_t of;       /* those that were counted */
	uint64_t address;  /* in this GC sequence; 0 if objects are not followed */
	jweak ref;         /* good if lc_estimate_keep() was called before */
};
typedef void lc_estimate_live_fn(void *user, const struct lc_estimate_held *object);

/*
 * Give each held object to `add`, which is called under the table's lock: it may not wait for
 * anything. If objects are not followed, tracked ones are among them. Context: [writer].
 */
void lc_estimate_live(lc_estimate_live_fn *add, void *user);

/*
 * From now on, or no longer: no other thread deletes the references that are given out. Context:
 * [writer].
 */
void lc_estimate_keep(bool keep);

/*
 * A concurrent collection was seen. If the JVM counts none itself (Shenandoah), sampled objects are
 * older by it. Context: [writer].
 */
void lc_estimate_collected(void);

#endif
