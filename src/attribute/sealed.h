/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/sealed.h - hands epochs that a collection has ended from the GC callbacks to the
 * attribution thread.
 *
 * An epoch holds all that is known of its end: where each thread's allocation log stood, what the
 * collector copied, and the layout that it left. Epochs are taken in the order of their numbers.
 */
#ifndef LC_ATTRIBUTE_SEALED_H
#define LC_ATTRIBUTE_SEALED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lc_area;
struct lc_move;
struct lc_move_batch;
struct lc_thread;

/* Position of one thread's allocation log when an epoch ended. */
struct lc_mark {
	struct lc_thread *thread; /* not freed while an epoch that names it is queued */
	uint64_t position;
};

struct lc_epoch {
	struct lc_epoch *next;
	uint32_t number;
	bool complete;    /* all moves could be logged */
	bool collected;   /* something was; G1's remark and cleanup collect nothing */
	bool full;        /* the old generation was, as a whole */
	bool stuck_known; /* lc_small_stuck_known() */
	bool small_known; /* where objects slid that are too small for the log: in `moves` */
	bool forget;      /* the collection before was not sealed: what survived that is unknown */
	struct lc_move_batch *moves;
	struct lc_area *areas;
	size_t areas_len;
	struct lc_mark *marks;
	size_t marks_len;
};

struct lc_sealed_config {
	uint64_t min_size_bytes;
	bool copies_seen; /* by gc/copy_log.h */
	bool audit;
	bool small_class_word; /* as lc_small_begin() has it */
};

/* From now on collections seal epochs. Context: [attach]. */
void lc_sealed_open(const struct lc_sealed_config *config);

/* No collection seals any more. Context: [attach]. */
void lc_sealed_close(void);

/*
 * JVMTI's GC events. The GC sequence tells hooks of each collection, also when it is not sealed any
 * more: a thread may still be in a hook. `moves`: of objects whose places somebody else knows,
 * which are smaller than the threshold and that above LC_MOVE_INLINE_BYTES; malloc'ed, taken over.
 * Context: [gc].
 */
void lc_sealed_gc_start(void);
void lc_sealed_gc_finish(struct lc_move *moves, size_t moves_len);

/* The oldest epoch, off the queue, or NULL. Owner: the caller. Context: [writer]. */
struct lc_epoch *lc_sealed_take(void);

/*
 * Keep the records of small objects that no collection has swept, from the log of a thread that has
 * ended. Without memory they are counted as forgotten. Under the thread list's lock. Context:
 * [writer].
 */
struct lc_alloc_log;
void lc_sealed_adopt(const struct lc_alloc_log *log);
void lc_sealed_free(struct lc_epoch *e); /* NULL is fine. Context: [gc] [writer]. */

/* Is no epoch queued? Under the lock of the thread list. Context: [writer]. */
bool lc_sealed_none(void);

/* Moves of a collection were lost without memory: note the limit. Context: [gc] [writer]. */
void lc_sealed_note_no_memory(void);

/* Collections seen. Context: any. */
uint64_t lc_sealed_collections(void);

#endif
