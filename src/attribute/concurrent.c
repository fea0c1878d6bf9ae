/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/concurrent.c - merges the logs by time, and updates the map event by event.
 *
 * A record may be seen later than its time, since its thread may be stopped before it logs the
 * record. Copies are noted before they are made (gc/move_log.h). Consequences of a copy, above all
 * the reuse of its source's memory, are never seen before the copy, so a copy is put in when it
 * comes. The record of an allocation may come after the object has moved, when other objects are in
 * its place. So the map stays behind the records that threads are about to make (logged_until()),
 * and a record from before the map's time is dropped.
 */
#include "src/attribute/concurrent.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "src/attribute/attribution.h"
#include "src/attribute/event_order.h"
#include "src/attribute/lines.h"
#include "src/attribute/preexisting.h"
#include "src/attribute/resolve.h"
#include "src/attribute/sealed.h"
#include "src/attribute/still_there.h"
#include "src/base/time.h"
#include "src/base/vector.h"
#include "src/core/record.h"
#include "src/core/thread.h"
#include "src/core/wake.h"
#include "src/gc/move_log.h"
#include "src/heap/alloc_log.h"
#include "src/heap/audit.h"
#include "src/heap/map.h"
#include "src/jvm/layout/collector.h"
#include "src/jvm/layout/ranges.h"

#define LAG_NS UINT64_C(20000000)
#define HELD_NS UINT64_C(10000000000)        /* the map waits for a thread no longer */
#define LOOK_NS UINT64_C(1000000000)         /* between two looks at all headers, at least */
#define LOOK_LATEST_NS UINT64_C(10000000000) /* ... and at most */

enum {
	HELD_EVENTS = 1 << 20, /* the map waits for no thread when so many wait: 32 MiB */
	/*
	 * Questions in one round. To ask for an object while the collector marks keeps it alive for
	 * that cycle, so a round that asked for all would fill the heap with what is dead.
	 */
	ASK = 1 << 14,
	LOOKS = 1 << 14,           /* headers in one pass */
	LOOK_FULL_LEAST = 1 << 16, /* objects: some 2 MB of map */
};

static struct {
	struct lc_map *map;
	bool audit;
	struct lc_vector events;      /* in order, but for those of this pass */
	uint64_t until_ns;            /* the map's time */
	uint32_t counted;             /* collections */
	_Atomic uint32_t evacuations; /* pauses before which something was copied */
	uint64_t lost;
	uint64_t look_at, look_ns; /* headers: where, and since when */
	size_t look_full;          /* objects in the map at which all are looked at again */
	bool look_again;           /* the next look is the one that drops */
	bool no_memory;

	/* State of --audit. */
	uint32_t ask_at;
	size_t asked; /* questions on their way */
	bool asking;  /* a round has begun */
	uint64_t round;

	struct {
		/* Collections that the JVM has counted; with Shenandoah, which counts none, those
		 * that have copied something. */
		uint64_t cycles;
		uint64_t moves;      /* copies of tracked objects */
		uint64_t late;       /* records of before the map's time */
		uint64_t incomplete; /* times that the map was forgotten, since copies were lost, or
		                      * memory */
		uint64_t records;
		uint64_t survivors_peak;
	} stats;
} order = { .events = { .element_bytes = sizeof(struct lc_concurrent_event) },
	    .look_full = LOOK_FULL_LEAST };

/* Shenandoah evacuates between two pauses. */
void lc_concurrent_pause(void)
{
	if (!order.map)
		return;
	if (lc_move_log_any())
		atomic_fetch_add_explicit(&order.evacuations, 1, memory_order_relaxed);
	if (order.audit)
		lc_wake();
}

static uint32_t collections(void)
{
	const volatile uint32_t *count = lc_collector_count();

	return lc_collector() != LC_GC_SHENANDOAH && count
	           ? *count
	           : atomic_load_explicit(&order.evacuations, memory_order_relaxed);
}

void lc_concurrent_init(struct lc_map *map, bool audit)
{
	order.map = map;
	order.audit = audit;
	order.counted = collections();
}

/* Room for as many events behind the others; NULL: there is no memory. */
static struct lc_concurrent_event *room(size_t len)
{
	void *data =
	    lc_vector_reserve_array(order.events.data, &order.events.cap, order.events.len + len,
	                            sizeof(struct lc_concurrent_event));

	if (!data) {
		order.no_memory = true;
		return NULL;
	}
	order.events.data = data;
	return (struct lc_concurrent_event *)data + order.events.len;
}

static void push(const struct lc_concurrent_event *e)
{
	struct lc_concurrent_event *at = room(1);

	if (!at)
		return;
	*at = *e;
	order.events.len++;
}

/* -- taking the logs ------------------------------------------------------------------------- */

static void take_copy(void *unused, const struct lc_timed_move *m)
{
	push(&(struct lc_concurrent_event){ .kind = LC_CONCURRENT_COPIED,
	                                    .time_ns = m->time_ns,
	                                    .addr = lc_ranges_plain(m->src),
	                                    .to = lc_ranges_plain(m->dst),
	                                    .size_words = (uint32_t)(m->size_bytes / 8) });
}

/* A record of the time and the one behind it belong together, unless one of them is missing. */
static void take_records(struct lc_thread *t)
{
	const uint64_t to = lc_alloc_log_position(t->allocs);
	const struct lc_alloc *run;
	uint64_t time_ns = 0;
	uint64_t at = t->sealed;
	size_t len;

	while (at < to && (len = lc_alloc_log_run(t->allocs, at, to, &run)) > 0) {
		struct lc_concurrent_event *events = room(len);
		size_t taken = 0;

		for (size_t i = 0; i < len; i++) {
			const struct lc_alloc *a = &run[i];

			if (lc_alloc_is_time(a)) {
				time_ns = a->tagged_addr;
				continue;
			}
			if (time_ns && events)
				events[taken++] =
				    (struct lc_concurrent_event){ .kind = LC_CONCURRENT_ALLOCATED,
					                          .time_ns = time_ns,
					                          .addr = a->tagged_addr,
					                          .size_words = a->size_words,
					                          .site = a->site,
					                          .number = t->index };
			time_ns = 0;
			order.stats.records++;
			t->sealed = at + i + 1;
		}
		order.events.len += taken;
		at += len;
	}
	t->looked = t->sealed;
	lc_alloc_log_trim(t->allocs, t->sealed);
}

void lc_concurrent_take(struct lc_thread *t)
{
	if (t->allocs)
		take_records(t);
}

static void take_question(void *unused, const struct lc_audit_question *q)
{
	order.asked++;
	push(&(struct lc_concurrent_event){ .kind = LC_CONCURRENT_AUDITED,
	                                    .time_ns = q->time_ns,
	                                    .addr = q->addr,
	                                    .number = q->number });
}

static void audit(JNIEnv *jni)
{
	if (order.asking && !order.asked) {
		order.asking = false;
		lc_audit_asked();
	}
	if (order.asking || order.round == order.stats.cycles)
		return;
	order.round = order.stats.cycles;
	order.asking = true;
	lc_audit_ask(jni, &order.ask_at, ASK, take_question, NULL);
}

/* -- the map --------------------------------------------------------------------------------- */

static int apply(const struct lc_concurrent_event *e)
{
	const struct lc_move move = { e->addr, e->to, (uint64_t)e->size_words * 8 };
	int done = 0;

	switch ((enum lc_concurrent_kind)e->kind) {
	case LC_CONCURRENT_ALLOCATED:
		lc_preexisting_used(e->time_ns, e->addr, (uint64_t)e->size_words * 8);
		if (e->time_ns > order.until_ns)
			return lc_map_allocated(order.map, e->addr, e->size_words, e->site);
		order.stats.late++;
		break;
	case LC_CONCURRENT_COPIED:
		done = lc_map_moved(order.map, move.src, move.dst, move.size_bytes);
		lc_preexisting_copied(order.map, (uint32_t)order.stats.cycles, done, e->time_ns,
		                      &move);
		lc_preexisting_used(e->time_ns, move.dst, move.size_bytes);
		order.stats.moves += done > 0;
		break;
	case LC_CONCURRENT_AUDITED:
		lc_audit_look(order.map,
		              &(struct lc_audit_question){ e->time_ns, e->addr, e->number });
		order.asked--;
		break;
	}
	return done < 0 ? done : 0;
}

/* It is better to know nothing than something wrong. */
static void forget(void)
{
	lc_map_forget_all(order.map);
	order.stats.incomplete++;
}

/* Bring the map to `until_ns`, and look samples up on the way. */
static void advance(uint64_t until_ns)
{
	struct lc_concurrent_event *events = order.events.data;
	const size_t len = order.events.len;
	size_t i = 0;

	for (; i < len && events[i].time_ns <= until_ns; i++) {
		lc_resolve_until(order.map, events[i].time_ns);
		if (apply(&events[i])) {
			lc_sealed_note_no_memory();
			forget();
		}
	}
	lc_resolve_until(order.map, until_ns);
	if (i)
		memmove(events, events + i, (len - i) * sizeof(*events));
	order.events.len = len - i;
}

static void count_cycles(void)
{
	const uint32_t now = collections();

	for (; order.counted != now; order.counted++) {
		order.stats.cycles++;
		lc_map_cycle(order.map);
	}
}

static enum lc_map_header look(void *unused, const struct lc_object *object)
{
	return lc_still_there(object);
}

/*
 * Each look reads memory that no cache holds, so it must pay. Dead objects do no harm but take
 * memory, since a sample's object is looked at for itself (attribute/resolve_order.c): all are
 * looked at, twice, when the map has doubled, and else every LOOK_LATEST_NS.
 */
static bool look_is_due(uint64_t now)
{
	const uint64_t since_ns = now - order.look_ns;

	if (since_ns < LOOK_NS)
		return false;
	return order.look_again || lc_map_count(order.map) >= order.look_full ||
	       since_ns >= LOOK_LATEST_NS;
}

static void look_at_headers(uint64_t now)
{
	if (!order.look_at && !look_is_due(now))
		return;
	(void)lc_map_look(order.map, &order.look_at, look, NULL, LOOKS);
	if (order.look_at)
		return;
	order.look_ns = lc_time_now_ns(); /* what this look saw is in the map at the next */
	order.look_again = !order.look_again;
	order.look_full = 2 * lc_map_count(order.map);
	if (order.look_full < LOOK_FULL_LEAST)
		order.look_full = LOOK_FULL_LEAST;
}

/*
 * Until when each record is logged, if the logs are read afterwards: what a thread begins from now
 * on is of a later time. A thread that was stopped while it made a record holds the map back, but
 * not for good: a debugger may have stopped it.
 */
static uint64_t logged_until(uint64_t now)
{
	const uint64_t held_ns = order.events.len < HELD_EVENTS ? HELD_NS : 0;
	uint64_t until_ns = now - LAG_NS;

	for (const struct lc_thread *t = lc_threads_walk(); t; t = t->next) {
		/* Acquire: where none is being made, the last one is in the log. */
		const uint64_t at = atomic_load_explicit(&t->records_ns, memory_order_acquire);

		if (at && at - 1 < until_ns && now - at < held_ns)
			until_ns = at - 1;
	}
	return until_ns > order.until_ns ? until_ns : order.until_ns;
}

void lc_concurrent_pass(JNIEnv *jni, bool last)
{
	const uint64_t now = lc_time_now_ns(), moves = order.stats.moves;
	const uint64_t until_ns = logged_until(now);

	count_cycles();
	lc_resolve_take(jni, UINT32_MAX);
	lc_move_log_take(take_copy, NULL);
	for (struct lc_thread *t = lc_threads_walk(); t; t = t->next)
		if (t->allocs)
			take_records(t);
	if (order.audit && !last)
		audit(jni);
	lc_event_order_sort(&order.events);
	lc_resolve_order(order.events.data, order.events.len);
	if (order.no_memory || lc_move_log_lost() != order.lost) {
		if (order.no_memory)
			lc_sealed_note_no_memory();
		order.lost = lc_move_log_lost();
		order.no_memory = false;
		forget();
	}
	advance(last ? UINT64_MAX : until_ns);
	order.until_ns = until_ns;
	lc_resolve_ordered(jni, last);
	if (order.stats.moves != moves)
		lc_lines_close_epoch();
	if (until_ns == now - LAG_NS) /* else the map may be too far behind to be compared */
		look_at_headers(now);
	if (lc_map_count(order.map) > order.stats.survivors_peak)
		order.stats.survivors_peak = lc_map_count(order.map);
}

void lc_concurrent_stats(struct lc_attribution_stats *out)
{
	out->collections = out->epochs_collected = order.stats.cycles;
	out->moves = order.stats.moves;
	out->moves_lost = lc_move_log_lost();
	out->epochs_incomplete = order.stats.incomplete;
	out->records = order.stats.records;
	out->records_late = order.stats.late;
	out->survivors_peak = order.stats.survivors_peak;
}
