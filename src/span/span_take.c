/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/span_take.c - takes what the slots of threads have counted, on the attribution thread: see
 * span.h.
 */
#include "src/span/span.h"

#include <errno.h>

#include "src/base/spin.h"
#include "src/core/counters.h"
#include "src/core/thread.h"
#include "src/profile/profile_writer.h"
#include "src/profile/tally.h"
#include "src/span/frames/repeated.h"
#include "src/span/frames/stack.h"
#include "src/span/frames/trace.h"
#include "src/span/running.h"
#include "src/span/streams/location.h"
#include "src/span/tasks/task.h"

struct stats {
	uint64_t executions[LC_SPAN_KINDS]; /* written so far */
	uint64_t negative;
	uint64_t walks, walk_errors; /* walks of stacks to find locations */
	uint64_t stale, unmatched;   /* begins without end, ends without begin */
	uint64_t too_deep;
	uint64_t other_place; /* executions at places without a slot, written so far */
	uint64_t traces_lost;
	uint64_t rows_lost; /* rows that a block cannot hold: numbers out of range, or no memory */
	uint64_t running_lost; /* open spans, or their ends, that found no room */
};

static struct stats stats; /* of threads that are gone, and what was written */

static struct lc_span_thread *spans_of(const struct lc_thread *t)
{
	return atomic_load_explicit(&t->spans, memory_order_acquire); /* S0 of span.c */
}

/* Take the growth of a counter that only grows. */
static uint64_t take(_Atomic uint64_t *counter, _Atomic uint64_t *taken)
{
	uint64_t now = atomic_load_explicit(counter, memory_order_relaxed);  /* on its own */
	uint64_t before = atomic_load_explicit(taken, memory_order_relaxed); /* ours */

	atomic_store_explicit(taken, now, memory_order_relaxed);
	return now - before;
}

/* The same for a counter that may go back a little: a negative growth waits for the next call. */
static uint64_t take_growth(_Atomic uint64_t *counter, _Atomic uint64_t *taken)
{
	uint64_t now = atomic_load_explicit(counter, memory_order_relaxed);
	uint64_t before = atomic_load_explicit(taken, memory_order_relaxed);

	if ((int64_t)(now - before) < 0)
		return 0;
	atomic_store_explicit(taken, now, memory_order_relaxed);
	return now - before;
}

/* 0 where CPUs' counters differ so that an end came before its begin. */
static uint64_t duration_ns(uint64_t tsc, uint64_t ticks)
{
	return lc_cycles_tsc_between_ns(tsc, tsc + ticks);
}

static void fill(struct lc_span_slot *slot, struct lc_block_span *row)
{
	struct lc_span_counts *c = &slot->counts, *taken = &slot->taken;
	uint64_t first = atomic_load_explicit(&slot->first_tsc, memory_order_relaxed);
	uint64_t last = atomic_load_explicit(&slot->last_tsc, memory_order_relaxed);
	int64_t compensated;

	*row = (struct lc_block_span){
		.kind = slot->key.kind,
		.level = slot->key.level,
		.submit_kind = slot->key.submit_kind,
		.site = slot->key.site,
		.submit_path = slot->key.submit_path,
		.path = slot->key.path,
		.executions = take(&c->executions, &taken->executions),
		.folded = take(&c->folded, &taken->folded),
		.cycles = take_growth(&c->cycles, &taken->cycles),
		.negative = take(&c->negative, &taken->negative),
		.switches = take(&c->switches, &taken->switches),
		.gc_count = take(&c->gc_count, &taken->gc_count),
		.gc_ns = take(&c->gc_ns, &taken->gc_ns),
		.wait_ns = take(&c->wait_ns, &taken->wait_ns),
		.waits = take(&c->waits, &taken->waits),
		.wall_ns = duration_ns(first, take_growth(&c->wall_tsc, &taken->wall_tsc)),
	};
	/* Both are 0 if all were folded. `last` is stored first: `first` implies it. */
	if (first && last) {
		row->first_ns = lc_cycles_tsc_to_ns(first);
		row->last_ns = row->first_ns + duration_ns(first, last - first);
	}
	compensated = atomic_load_explicit(&c->compensated, memory_order_relaxed);
	row->compensated =
	    compensated - atomic_load_explicit(&taken->compensated, memory_order_relaxed);
	atomic_store_explicit(&taken->compensated, compensated, memory_order_relaxed);
	for (unsigned i = 0; i < LC_SPAN_NESTED; i++)
		row->nested[i] = take(&c->nested[i], &taken->nested[i]);
	for (unsigned i = 0; i < LC_SPAN_BUCKETS; i++) {
		uint32_t now = atomic_load_explicit(&c->histogram[i], memory_order_relaxed);

		row->histogram[i] =
		    now - atomic_load_explicit(&taken->histogram[i], memory_order_relaxed);
		atomic_store_explicit(&taken->histogram[i], now, memory_order_relaxed);
	}
}

static bool changed(const struct lc_span_slot *slot)
{
	const struct lc_span_counts *c = &slot->counts, *taken = &slot->taken;

	return atomic_load_explicit(&c->inside, memory_order_relaxed) !=
	           atomic_load_explicit(&taken->inside, memory_order_relaxed) ||
	       atomic_load_explicit(&c->compensated, memory_order_relaxed) !=
	           atomic_load_explicit(&taken->compensated, memory_order_relaxed) ||
	       atomic_load_explicit(&c->executions, memory_order_relaxed) !=
	           atomic_load_explicit(&taken->executions, memory_order_relaxed) ||
	       atomic_load_explicit(&c->folded, memory_order_relaxed) !=
	           atomic_load_explicit(&taken->folded, memory_order_relaxed) ||
	       atomic_load_explicit(&c->cycles, memory_order_relaxed) !=
	           atomic_load_explicit(&taken->cycles, memory_order_relaxed);
}

/* Add what the slot's spans have inside, since the last time. Returns 0 or -errno. */
static int take_nested(struct lc_thread *t, struct lc_span_slot *slot)
{
	struct lc_block_nested row = {
		.kind = slot->key.kind,
		.level = slot->key.level,
		.submit_kind = slot->key.submit_kind,
		.site = slot->key.site,
		.submit_path = slot->key.submit_path,
		.path = slot->key.path,
		.cycles = take_growth(&slot->counts.inside, &slot->taken.inside),
	};

	return row.cycles ? lc_tally_nested(t->tally, &row) : 0;
}

void lc_span_mark_running(bool all)
{
	if (lc_span_what())
		lc_running_mark(all);
}

static void take_slots(struct lc_thread *t, struct lc_span_thread *s)
{
	struct lc_span_slot *slot;

	for (uint32_t i = 0; (slot = lc_span_stack_slot(s, i)); i++) {
		struct lc_span_counts before;
		struct lc_block_span row;
		int err;

		if (!changed(slot) ||
		    !(lc_span_what() & (slot->key.kind >= LC_SPAN_TASK ? 2u : 1u)))
			continue;
		before = slot->taken;
		fill(slot, &row);
		err = lc_tally_span(t->tally, &row);
		if (!err && take_nested(t, slot))
			stats.rows_lost++;
		if (err == -ENOMEM)
			slot->taken = before; /* the next time */
		stats.rows_lost += err && err != -ENOMEM;
		if (err)
			continue;
		stats.executions[slot->key.kind] += row.executions;
		if (lc_span_slot_is_other(slot))
			stats.other_place += row.executions + row.folded;
		stats.negative += row.negative;
	}
}

void lc_span_take(struct lc_thread *t)
{
	struct lc_span_thread *s = spans_of(t);
	/* If the thread has ended, its frames do not change any more. */
	const bool ended = atomic_load_explicit(&t->ended, memory_order_acquire);
	struct lc_block_task_made made;

	if (!s || !t->tally)
		return;
	lc_spin_lock(&s->lock);
	take_slots(t, s);
	lc_running_take(t, s, ended);
	lc_spin_unlock(&s->lock);
	for (uint32_t i = 0; s->tasks && lc_task_made_take(s->tasks, i, &made); i++)
		if (made.count && lc_tally_task_made(t->tally, &made))
			stats.rows_lost++;
}

void lc_span_take_looks(struct lc_tally *tally)
{
	if (lc_span_streams())
		lc_repeated_take(tally);
}

bool lc_span_take_traces(struct lc_thread *t)
{
	struct lc_span_thread *s = spans_of(t);
	struct lc_block_trace row;

	if (!s || !s->traces)
		return false;
	if (!lc_tally_made(&t->tally))
		return false; /* the next time */
	while (lc_tally_traces(t->tally) < LC_SPAN_TRACES_MAX &&
	       lc_trace_log_take(s->traces, &row)) {
		row.duration_ns = duration_ns(row.start_ns, row.duration_ns);
		row.start_ns = lc_cycles_tsc_to_ns(row.start_ns);
		if (lc_tally_trace(t->tally, &row))
			stats.traces_lost++;
	}
	return lc_tally_traces(t->tally) >= LC_SPAN_TRACES_MAX;
}

void lc_span_give_up_traces(const struct lc_thread *t)
{
	const struct lc_span_thread *s = spans_of(t);

	if (!s || !s->traces)
		return;
	stats.traces_lost += lc_trace_log_left(s->traces);
	if (t->tally)
		stats.traces_lost += lc_tally_traces(t->tally);
}

static void add_thread(struct stats *to, const struct lc_span_thread *s)
{
	to->walks += atomic_load_explicit(&s->locations->walks, memory_order_relaxed);
	to->walk_errors += atomic_load_explicit(&s->locations->errors, memory_order_relaxed);
	to->stale += atomic_load_explicit(&s->stale, memory_order_relaxed);
	to->unmatched += atomic_load_explicit(&s->unmatched, memory_order_relaxed);
	to->too_deep += atomic_load_explicit(&s->too_deep, memory_order_relaxed);
	to->running_lost += atomic_load_explicit(&s->unsettled, memory_order_relaxed);
	if (s->traces)
		to->traces_lost += lc_trace_log_lost(s->traces);
}

void lc_span_forget(struct lc_thread *t)
{
	const struct lc_span_thread *s = spans_of(t);

	if (s)
		add_thread(&stats, s);
	lc_span_thread_free(t);
}

static struct stats counted; /* what the rows point to */

static bool read_counters(const struct lc_options *options)
{
	if (!options->spans)
		return false;
	counted = stats;
	lc_threads_lock();
	for (const struct lc_thread *t = lc_threads_first(); t; t = t->next)
		if (spans_of(t))
			add_thread(&counted, spans_of(t));
	lc_threads_unlock();
	counted.running_lost += lc_running_lost();
	return true;
}

static void put_executions(struct lc_counters *out)
{
	for (unsigned i = 0; i < LC_SPAN_KINDS; i++) {
		char name[LC_COUNTER_NAME_MAX];

		snprintf(name, sizeof(name), "spans_%s", lc_span_kind_name(i));
		lc_counters_put(out, name, counted.executions[i]);
	}
}

static const struct lc_counter counters[] = {
	LC_COUNTER("spans_negative", &counted.negative),
	LC_COUNTER("spans_walks", &counted.walks),
	LC_COUNTER("spans_walk_errors", &counted.walk_errors),
	LC_COUNTER("spans_not_ended", &counted.stale),
	LC_COUNTER("spans_not_begun", &counted.unmatched),
	LC_COUNTER("spans_too_deep", &counted.too_deep),
	LC_COUNTER("spans_other_place", &counted.other_place),
	LC_COUNTER("spans_trace_lost", &counted.traces_lost),
	LC_COUNTER("spans_rows_lost", &counted.rows_lost, .limit = "spans_lost",
	           .text = "there was no memory for some streams and tasks: they are not counted"),
	LC_COUNTER("spans_running_lost", &counted.running_lost, .limit = "spans_lost",
	           .text = "there was no room for some streams and tasks that were still running"),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters), .begin = read_counters, .put = put_executions);
