/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/audit.h - compares the object map with the JVM's own knowledge, for --audit.
 *
 * A JNI weak global reference is held to every tracked object. When a collection has finished, the
 * JVM has put each object's new address, or 0, in the reference's slot; a snapshot of the addresses
 * is taken in the pause. When the attribution thread has closed that epoch, the map is compared
 * with it.
 *
 * An object is live as long as its reference is not cleared. G1 clears those of old objects
 * only at the end of a marking, so an object may count as live for some collections after
 * the program let go of it; its slot follows its moves all the same.
 */
#ifndef LC_HEAP_AUDIT_H
#define LC_HEAP_AUDIT_H

#include <jni.h>
#include <stdint.h>

struct lc_map;

struct lc_audit_totals {
	uint64_t gcs;       /* collections compared */
	uint64_t checks;    /* live objects compared, summed over collections */
	uint64_t survivors; /* different objects that were live after a collection */
	uint64_t objects;   /* references made */
	/* live small objects (map_close.c, rule 5) that are not in the map: unknown, not wrong */
	uint64_t forgotten;
	uint64_t wrong_missing; /* live objects without an interval at their address */
	uint64_t wrong_moved;   /* live objects whose interval is where they were before */
	uint64_t wrong_overlap; /* intervals of dead objects that lie over a live one */
	uint64_t stale;         /* intervals of dead objects that do not: allowed */
	uint64_t skipped;       /* collections not compared: no memory, or nobody asked */
	uint64_t unheld;        /* objects whose reference could not be made */
};

/* Once per process. Returns 0, -EALREADY or -ENOMEM. [attach] */
int lc_audit_init(void);

/*
 * Undo lc_audit_init(); references are left to the JVM. Context: tests, no other call is running.
 */
void lc_audit_destroy(void);

/*
 * Hold a reference to a tracked object. To be called when its record is in the allocation log and
 * has been corrected if need be: an object that a snapshot shows is then in the logs sealed after
 * the snapshot. Clears an exception that it causes. Context: [java], from the hook.
 */
void lc_audit_add(JNIEnv *env, jobject object, uint64_t addr, uint64_t size_bytes, uint32_t site);

/*
 * Note where every object is, before the logs are sealed. Context: [gc] finish; reads slots,
 * calls malloc, no JVM.
 */
void lc_audit_snapshot(uint32_t epoch);

/*
 * Compare the map, which has just closed `epoch`, with the snapshot of that epoch; older snapshots
 * are skipped. Deletes references to dead objects if the calling thread is attached to the JVM, and
 * keeps them for a later call if it is not. Context: [writer].
 */
void lc_audit_compare(struct lc_map *map, uint32_t epoch);

/*
 * For collectors that move objects while the program runs: nothing stands still, so each object is
 * asked for its place at a moment of its own. lc_audit_ask() gives to `use` each object that is
 * live, and the time; at most `max` of these, from *at on, which it sets behind them, or to 0 after
 * the last. The map as it was then is compared by lc_audit_look(). A round of questions is ended by
 * lc_audit_asked(). Context: [writer].
 */
struct lc_audit_question {
	uint64_t time_ns, addr;
	uint32_t number;
};
void lc_audit_ask(JNIEnv *env, uint32_t *at, size_t max,
                  void (*use)(void *user, const struct lc_audit_question *q), void *user);
void lc_audit_look(struct lc_map *map, const struct lc_audit_question *q);
void lc_audit_asked(void);

void lc_audit_totals(struct lc_audit_totals *out); /* Context: any but signal handlers. */

#endif
