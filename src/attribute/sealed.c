/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/sealed.c - seals epochs in the collection's pause and queues them.
 *
 * The queue is under the thread list's lock, which a GC callback holds for as long as it takes to
 * read one position per thread.
 */
#include "src/attribute/sealed.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "src/attribute/contents.h"
#include "src/base/limit.h"
#include "src/base/time.h"
#include "src/base/vector.h"
#include "src/core/counters.h"
#include "src/core/epoch.h"
#include "src/core/memory.h"
#include "src/core/record.h"
#include "src/core/thread.h"
#include "src/core/wake.h"
#include "src/gc/moves.h"
#include "src/gc/small.h"
#include "src/heap/alloc_log.h"
#include "src/heap/audit.h"
#include "src/heap/estimate.h"
#include "src/heap/tracked.h"
#include "src/jvm/layout/areas.h"
#include "src/jvm/layout/collector.h"
#include "src/jvm/layout/mark_tables.h"
#include "src/jvm/layout/ranges.h"

enum { AREAS_AT_FIRST = 64 };

/* Limits of the queue, in case a disk that does not answer blocks the attribution thread. */
enum { QUEUE_EPOCHS_MAX = 4096, QUEUE_BYTES_MAX = 32 << 20 };

static struct {
	struct lc_sealed_config config; /* set before `open` */
	_Atomic bool open;
	/* Under the thread list's lock. */
	struct lc_epoch *first, **last;
	size_t queued, queued_bytes;
	/* Small objects of threads that have ended, which no collection has swept. */
	struct lc_alloc *left;
	size_t left_len, left_cap;

	/* Written by GC callbacks, which never overlap. */
	size_t areas_cap;
	pthread_t pauses; /* the thread that posts the events */
	bool looking;     /* it is in look_ahead() */
	bool logs;        /* the collection that is under way is logged */
	uint32_t swept;   /* first epoch whose records were not swept */
	bool unsealed;    /* the last collection found no memory for its epoch */
	_Atomic uint64_t collections, seal_ns, dropped;
} sealed;

/* Are small objects followed? */
static bool follows_small(void)
{
	return sealed.config.copies_seen &&
	       (lc_tracked_any() || sealed.config.min_size_bytes <= LC_MOVE_INLINE_BYTES);
}

void lc_sealed_open(const struct lc_sealed_config *config)
{
	sealed.config = *config;
	sealed.last = &sealed.first;
	sealed.left_len = 0;
	sealed.areas_cap = AREAS_AT_FIRST;
	/* Without them the headers tell, or nothing does. */
	if (follows_small() && lc_collector() == LC_GC_PARALLEL)
		(void)lc_mark_tables_init();
	atomic_store_explicit(&sealed.open, true, memory_order_release);
}

void lc_sealed_close(void)
{
	atomic_store_explicit(&sealed.open, false, memory_order_release);
}

/* Give the records that no collection has swept yet to `use`. Under the list's lock. */
static void each_ahead(void (*use)(const struct lc_alloc *, size_t, uint16_t, uint16_t))
{
	const uint32_t now = lc_epoch_now();

	for (struct lc_thread *t = lc_threads_first(); t; t = t->next) {
		struct lc_alloc_cursor at = { 0 };
		const struct lc_alloc *run;
		size_t n;

		while (t->allocs && (n = lc_alloc_log_ahead(t->allocs, &at, &run)) > 0)
			use(run, n, (uint16_t)now, (uint16_t)(now - sealed.swept));
	}
	if (sealed.left_len)
		use(sealed.left, sealed.left_len, (uint16_t)now, (uint16_t)(now - sealed.swept));
}

void lc_sealed_adopt(const struct lc_alloc_log *log)
{
	const uint32_t now = lc_epoch_now();
	struct lc_alloc_cursor at = { 0 };
	const struct lc_alloc *run;
	struct lc_alloc *left;
	size_t n;

	while (follows_small() && (n = lc_alloc_log_ahead(log, &at, &run)) > 0)
		for (size_t i = 0; i < n; i++) {
			if (run[i].size_words > LC_MOVE_INLINE_BYTES / 8 || !run[i].site)
				continue;
			left = NULL;
			if (sealed.left_len < sealed.left_cap ||
			    lc_memory_room(LC_MEMORY_SMALL) > sealed.left_cap * sizeof(*left))
				left = lc_vector_reserve_array(sealed.left, &sealed.left_cap,
				                               sealed.left_len + 1, sizeof(*left));
			if (!left) {
				lc_small_forget_new(&run[i], 1, (uint16_t)now,
				                    (uint16_t)(now - sealed.swept));
				continue;
			}
			sealed.left = left;
			sealed.left[sealed.left_len++] = run[i];
		}
}

static void drop_left(void)
{
	free(sealed.left);
	sealed.left = NULL;
	sealed.left_len = sealed.left_cap = 0;
}

/* The same during an evacuation, which may have to leave some objects where they are. */
static void look_at_stuck(void)
{
	if (!lc_small_stuck(sealed.config.small_class_word))
		return;
	lc_threads_lock();
	if (lc_small_stuck_begin())
		each_ahead(lc_small_stuck_sample);
	if (lc_small_stuck_changed())
		each_ahead(lc_small_stuck_look);
	lc_threads_unlock();
}

/*
 * A thread reads a clock in the pause. It may be the collector, between two phases of a full
 * collection before it slides objects: if so, headers may tell where objects will go.
 */
static void look_ahead(void)
{
	struct lc_area areas[AREAS_AT_FIRST];
	bool emptied;
	size_t len;

	if (!pthread_equal(sealed.pauses, pthread_self()) || sealed.looking)
		return;
	if (!lc_areas_full()) {
		sealed.looking = true;
		look_at_stuck();
		sealed.looking = false;
		return;
	}
	if (lc_moves_slid() || lc_areas_full() != 1)
		return;
	sealed.looking = true;
	emptied = lc_areas_emptied();
	len = emptied ? lc_areas_take(areas, AREAS_AT_FIRST, false) : 0;
	lc_threads_lock();
	if (lc_small_ahead_begin(areas, len, emptied))
		each_ahead(lc_small_ahead_sample);
	if (lc_small_ahead_changed())
		each_ahead(lc_small_ahead_look);
	lc_threads_unlock();
	sealed.looking = false;
}

/*
 * Memory is about to be mapped over [low, high). If the collector gives memory of young spaces back
 * that it has evacuated, GC finish is too late to tell what went from there.
 */
static void look_at_given(uint64_t low, uint64_t high)
{
	const struct lc_range heap = lc_ranges_heap();
	struct lc_area areas[AREAS_AT_FIRST];
	size_t len;

	if (!pthread_equal(sealed.pauses, pthread_self()) || sealed.looking || low >= heap.high ||
	    high <= heap.low || lc_areas_full())
		return;
	sealed.looking = true;
	len = lc_areas_look(areas, AREAS_AT_FIRST);
	lc_threads_lock();
	if (len <= AREAS_AT_FIRST &&
	    lc_small_given_begin(areas, len, sealed.config.small_class_word, low, high))
		each_ahead(lc_small_given_look);
	lc_threads_unlock();
	sealed.looking = false;
}

void lc_sealed_gc_start(void)
{
	const struct lc_range heap = lc_ranges_heap();

	lc_epoch_enter_gc();
	if (!atomic_load_explicit(&sealed.open, memory_order_acquire))
		return;
	sealed.logs = true;
	lc_areas_begin();
	lc_moves_open(heap.low, heap.high, lc_tracked_least_bytes(sealed.config.min_size_bytes));
	if (follows_small()) {
		lc_small_ahead_forget();
		sealed.pauses = pthread_self();
		lc_moves_on_clock(look_ahead);
		lc_moves_on_map(look_at_given);
	}
}

void lc_sealed_free(struct lc_epoch *e)
{
	if (!e)
		return;
	lc_moves_release(e->moves);
	free(e->areas);
	free(e->marks);
	free(e);
}

/* The heap's layout as it is now. Returns false without memory. */
static bool take_areas(struct lc_epoch *e)
{
	for (;;) {
		size_t len;

		e->areas = malloc(sealed.areas_cap * sizeof(*e->areas) + 1);
		if (!e->areas)
			return false;
		/* Small objects slide without a memmove. */
		len = lc_areas_take(e->areas, sealed.areas_cap,
		                    lc_moves_slid() || lc_small_ahead_found());
		if (len <= sealed.areas_cap) {
			e->areas_len = len;
			return true;
		}
		free(e->areas);
		sealed.areas_cap = len + len / 4;
	}
}

/* Note the position of each thread's log. Under the list's lock. Returns false without memory. */
static bool take_marks(struct lc_epoch *e)
{
	size_t len = 0;

	for (struct lc_thread *t = lc_threads_first(); t; t = t->next)
		len++;
	e->marks = malloc(len * sizeof(*e->marks) + 1);
	if (!e->marks)
		return false;
	for (struct lc_thread *t = lc_threads_first(); t && e->marks_len < len; t = t->next)
		if (t->allocs)
			e->marks[e->marks_len++] =
			    (struct lc_mark){ t, lc_alloc_log_position(t->allocs) };
	return true;
}

/*
 * Learn where the collection moved objects that are too small for the log. In a pause that
 * collected nothing, these objects and their records stay. Under the list's lock.
 */
static void take_small(struct lc_epoch *e)
{
	struct lc_move *moves;
	size_t len = 0;
	bool look;

	if (e->complete && !e->forget && !lc_areas_collections()) {
		for (struct lc_thread *t = lc_threads_first(); t; t = t->next)
			if (t->allocs)
				lc_alloc_log_keep(t->allocs);
		lc_small_sweep(e->areas, e->areas_len);
		return;
	}
	if (!e->complete || e->forget)
		lc_small_forget();
	if (e->forget)
		sealed.swept = e->number;
	lc_small_prove(e->moves);
	look =
	    e->complete && lc_small_begin(e->areas, e->areas_len, sealed.config.small_class_word);
	for (struct lc_thread *t = lc_threads_first(); t; t = t->next) {
		const struct lc_alloc *run;
		size_t n;

		while (t->allocs && (n = lc_alloc_log_sweep(t->allocs, &run)) > 0)
			(look ? lc_small_look : lc_small_forget_new)(
			    run, n, (uint16_t)e->number, (uint16_t)(e->number - sealed.swept));
	}
	if (sealed.left_len)
		(look ? lc_small_look : lc_small_forget_new)(sealed.left, sealed.left_len,
		                                             (uint16_t)e->number,
		                                             (uint16_t)(e->number - sealed.swept));
	drop_left();
	sealed.swept = e->number + 1;
	if (!look)
		return;
	moves = lc_small_end(&len);
	e->small_known = lc_small_slid();
	e->stuck_known = lc_small_stuck_known();
	lc_moves_add(&e->moves, moves, len);
}

static void choose(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span)
{
	(void)tag;
	(void)span;
	lc_contents_choose(records, len);
}

/* Look into some arrays. Before take_small(), under the list's lock. */
static void look_into_arrays(const struct lc_epoch *e)
{
	struct lc_contents_pause pause = {
		.areas = e->areas,
		.areas_len = e->areas_len,
		.tag = (uint16_t)e->number,
		.collected = e->collected,
		.slid = !e->complete || e->forget || e->full || lc_moves_slid() ||
		        lc_areas_collections() > 1,
	};

	pause.survivors = lc_estimate_survivors(&pause.survivors_len);
	for (size_t i = 0; i < e->areas_len; i++)
		pause.slid |= (e->areas[i].flags & LC_AREA_COMPACTED) != 0;
	if (lc_contents_begin(&pause)) {
		each_ahead(choose);
		lc_contents_end();
	}
}

/* All records were seen that were made so far. Under the list's lock. */
static void sweep(const struct lc_epoch *e)
{
	const struct lc_alloc *run;

	for (struct lc_thread *t = lc_threads_first(); t; t = t->next)
		while (t->allocs && lc_alloc_log_sweep(t->allocs, &run) > 0)
			;
	sealed.swept = e->number + 1;
}

static size_t bytes_of(const struct lc_epoch *e)
{
	return sizeof(*e) + e->areas_len * sizeof(*e->areas) + e->marks_len * sizeof(*e->marks);
}

/* Returns whether there was room. Under the list's lock. */
static bool queue(struct lc_epoch *e)
{
	const size_t bytes = bytes_of(e);

	if (sealed.queued >= QUEUE_EPOCHS_MAX || sealed.queued_bytes + bytes > QUEUE_BYTES_MAX) {
		atomic_fetch_add_explicit(&sealed.dropped, 1, memory_order_relaxed);
		return false;
	}
	*sealed.last = e;
	sealed.last = &e->next;
	sealed.queued++;
	sealed.queued_bytes += bytes;
	return true;
}

void lc_sealed_note_no_memory(void)
{
	(void)lc_limit_note("collections_lost", "there was no memory to track the moves of a "
	                                        "collection: the objects that it moved are lost");
}

void lc_sealed_gc_finish(struct lc_move *moves, size_t moves_len)
{
	uint64_t begin = lc_time_now_ns();
	bool queued = false, marked, full;
	struct lc_epoch *e;

	lc_moves_on_clock(NULL);
	lc_moves_on_map(NULL);
	if (!lc_epoch_gc_sequence_moving(lc_epoch_gc_sequence()))
		goto free_moves;
	if (!atomic_load_explicit(&sealed.open, memory_order_acquire)) {
		if (sealed.logs) /* closed meanwhile */
			lc_moves_release(lc_moves_seal());
		sealed.logs = false;
		lc_epoch_leave_gc(); /* a hook may be waiting */
		lc_wake();           /* and the attribution thread (core/stand_back.h) */
		goto free_moves;
	}
	sealed.logs = false;
	e = calloc(1, sizeof(*e));
	if (!e) {
		lc_sealed_note_no_memory();
		goto out; /* nothing is known of this collection */
	}
	e->number = lc_epoch_now();
	e->moves = lc_moves_seal();
	e->complete = sealed.config.copies_seen;
	e->forget = sealed.unsealed;
	e->collected = lc_areas_collections() != 0;
	e->full = lc_areas_full() != 0;
	/* No small ones are looked at where there are any of these: a batch takes one array. */
	if (moves_len)
		lc_moves_add(&e->moves, moves, moves_len);
	moves = NULL;
	if (!take_areas(e)) {
		e->complete = false;
		lc_sealed_note_no_memory();
	}
	if (sealed.config.audit)
		lc_audit_snapshot(e->number);
	lc_threads_lock();
	if (lc_contents_on())
		look_into_arrays(e);
	if (follows_small())
		take_small(e);
	else if (lc_contents_on())
		sweep(e);
	lc_small_ahead_forget();
	marked = take_marks(e);
	queued = marked && queue(e);
	full = marked && !queued;
	if (queued)
		e = NULL;
	lc_threads_unlock();
	if (!marked)
		lc_sealed_note_no_memory();
	if (full)
		lc_limit_note(
		    "epoch_queue",
		    "the moves of some collections could not be tracked while Locus's thread was "
		    "blocked (a slow disk?): the objects that they moved are lost");
	lc_sealed_free(e);
out:
	sealed.unsealed = !queued;
	lc_epoch_leave_gc();
	atomic_fetch_add_explicit(&sealed.collections, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&sealed.seal_ns, lc_time_now_ns() - begin, memory_order_relaxed);
	lc_wake();
free_moves:
	free(moves);
}

struct lc_epoch *lc_sealed_take(void)
{
	struct lc_epoch *e;

	lc_threads_lock();
	e = sealed.first;
	if (e) {
		sealed.first = e->next;
		sealed.queued--;
		sealed.queued_bytes -= bytes_of(e);
		if (!sealed.first)
			sealed.last = &sealed.first;
	}
	lc_threads_unlock();
	return e;
}

bool lc_sealed_none(void)
{
	return !sealed.first;
}

uint64_t lc_sealed_collections(void)
{
	return atomic_load_explicit(&sealed.collections, memory_order_relaxed); /* a count */
}

static const struct lc_counter counters[] = {
	/* Found the queue full: their collections are as those without memory. */
	LC_COUNTER("gc_epochs_dropped", &sealed.dropped),
	LC_COUNTER("gc_callback_us", &sealed.seal_ns, .unit = 1000),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
