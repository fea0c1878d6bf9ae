/* SPDX-License-Identifier: Apache-2.0 */
/* span/running.c - finds open spans and makes their rows: see running.h. */
#include "src/span/running.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "src/base/hash.h"
#include "src/base/spin.h"
#include "src/base/vector.h"
#include "src/core/thread.h"
#include "src/profile/tally.h"
#include "src/span/clock/timeline.h"
#include "src/span/frames/stack.h"
#include "src/span/span.h"
#include "src/span/tasks/task.h"
#include "src/span/tasks/virtual.h"

enum { COPIES = 2 * LC_RUNNING_DEPTH, KNOWN_MIN = 256 };

/* A span that has a row and has not ended. */
struct known {
	uint64_t number;         /* 0: none */
	uint64_t cycles, inside; /* as the last row says */
	struct lc_span_key key;
};

/* An open span: its row, and the compensated cycles of spans at other places inside it. */
struct open {
	struct lc_block_running row;
	uint64_t inside;
};

struct waiting {
	struct open of;
	bool taken;
};

/* All of it is the attribution thread's. */
static struct {
	struct known *known; /* open addressing by number */
	size_t len, cap;     /* cap: a power of two, or 0 */
	uint64_t lost;
	struct lc_vector waiting; /* struct waiting, by number; of virtual threads that wait */
	uint32_t inner_cost, task_inner_cost;

	/* Frames as they were, and the keys of their slots. Frame 0 stands for the thread. */
	struct lc_span_frame copies[COPIES];
	struct lc_span_key keys[COPIES];
	uint64_t places[COPIES]; /* numbers of the places of those with a slot */
} running = { .waiting = { .element_bytes = sizeof(struct waiting) } };

uint64_t lc_running_lost(void)
{
	return running.lost;
}

/* -- spans with a row ------------------------------------------------------------------------ */

static size_t place_of(uint64_t number)
{
	return (size_t)(lc_hash(number) >> 32) & (running.cap - 1);
}

static struct known *find(uint64_t number)
{
	size_t i;

	if (!running.cap)
		return NULL;
	for (i = place_of(number); running.known[i].number; i = (i + 1) & (running.cap - 1))
		if (running.known[i].number == number)
			return &running.known[i];
	return NULL;
}

static struct known *free_place(uint64_t number)
{
	size_t i = place_of(number);

	while (running.known[i].number)
		i = (i + 1) & (running.cap - 1);
	return &running.known[i];
}

static bool grow(void)
{
	struct known *old = running.known;
	size_t cap = running.cap;
	struct known *bigger = calloc(cap ? 2 * cap : KNOWN_MIN, sizeof(*bigger));

	if (!bigger)
		return false;
	running.known = bigger;
	running.cap = cap ? 2 * cap : KNOWN_MIN;
	for (size_t i = 0; i < cap; i++)
		if (old[i].number)
			*free_place(old[i].number) = old[i];
	free(old);
	return true;
}

static bool add(const struct known *k)
{
	if (running.len >= LC_RUNNING_MAX || (running.len >= running.cap / 2 && !grow())) {
		running.lost++;
		return false;
	}
	*free_place(k->number) = *k;
	running.len++;
	return true;
}

/* Remove an entry, and put in the entries after it again, so that they are found. */
static void forget(struct known *k)
{
	size_t i = (size_t)(k - running.known);

	k->number = 0;
	running.len--;
	for (i = (i + 1) & (running.cap - 1); running.known[i].number;
	     i = (i + 1) & (running.cap - 1)) {
		struct known moved = running.known[i];

		running.known[i].number = 0;
		*free_place(moved.number) = moved;
	}
}

/* -- rows ------------------------------------------------------------------------------------ */

static bool recorded(unsigned kind)
{
	return lc_span_what() & (kind >= LC_SPAN_TASK ? 2u : 1u);
}

static struct lc_block_running row_of(uint64_t number, const struct lc_span_key *key)
{
	return (struct lc_block_running){
		.number = number,
		.kind = key->kind,
		.level = key->level,
		.submit_kind = key->submit_kind,
		.site = key->site,
		.submit_path = key->submit_path,
		.path = key->path,
	};
}

static struct lc_span_key key_of(const struct lc_block_running *row)
{
	return (struct lc_span_key){ .kind = row->kind,
		                     .level = row->level,
		                     .submit_kind = row->submit_kind,
		                     .path = row->path,
		                     .site = row->site,
		                     .submit_path = row->submit_path };
}

/* Put the span's rows, unless the last ones are the same. */
static void put(struct lc_tally *tally, const struct open *span)
{
	const struct lc_block_running *row = &span->row;
	const struct lc_block_running_nested nested = { row->number, span->inside };
	const struct known now = { row->number, row->cycles, span->inside, key_of(row) };
	struct known *k = find(row->number);

	if (!recorded(row->kind) || (k && row->cycles <= k->cycles && span->inside <= k->inside))
		return;
	if (!k && !add(&now))
		return;
	if (!lc_tally_running(tally, row)) {
		if (nested.cycles && lc_tally_running_nested(tally, &nested))
			running.lost++;
		if (k)
			*k = now;
	} else if (!k) {
		forget(find(row->number)); /* the next time */
	}
}

/* It is counted in its slot, or nothing is known of it. */
static void put_end(struct lc_tally *tally, uint64_t number)
{
	struct known *k = find(number);
	struct lc_block_running row;

	if (!k)
		return; /* it never had a row */
	row = row_of(number, &k->key);
	row.ended = 1;
	if (lc_tally_running(tally, &row))
		running.lost++;
	forget(k);
}

static void take_ended(struct lc_tally *tally, struct lc_span_thread *s)
{
	const uint64_t *numbers = s->ended.data;

	for (size_t i = 0; i < s->ended.len; i++)
		put_end(tally, numbers[i]);
	s->ended.len = 0;
}

/* -- frames ---------------------------------------------------------------------------------- */

/* The owner writes these with plain stores. */
#define RACY __attribute__((no_sanitize("thread")))

static RACY struct lc_span_frame *top_of(struct lc_span_thread *s)
{
	return __atomic_load_n(&s->top, __ATOMIC_ACQUIRE); /* W1 */
}

static bool is_watched(const struct lc_span_frame *f)
{
	return atomic_load_explicit(&f->watched, memory_order_relaxed) != 0; /* under lock */
}

/* A watched span's number; 0: the frame is none. Under lock, so that it stays what it is. */
static RACY uint64_t watched_number(const struct lc_span_frame *f)
{
	return is_watched(f) && f->slot ? f->number : 0;
}

/*
 * Copy a frame that its thread may be writing. Returns whether the copy is of one span, W2; if not,
 * it is that of a transparent frame in which nothing was.
 */
static RACY bool copy(struct lc_span_frame *to, const struct lc_span_frame *from)
{
	typedef uint64_t __attribute__((may_alias)) word;
	const volatile word *source = (const volatile word *)from;
	word *target = (word *)to;
	uint64_t open = atomic_load_explicit(&from->open, memory_order_acquire); /* W2 */

	_Static_assert(sizeof(*to) % sizeof(word) == 0, "it is copied by words");
	for (size_t i = 0; i < sizeof(*to) / sizeof(word); i++)
		target[i] = source[i];
	atomic_signal_fence(memory_order_acquire); /* loads of an x86 CPU stay in order */
	if (open && atomic_load_explicit(&from->open, memory_order_relaxed) == open) /* W2 */
		return true;
	memset(to, 0, sizeof(*to));
	to->kind = LC_SPAN_KINDS;
	return false;
}

/* It was written before the frame was open, W2. */
static RACY struct lc_span_key key_of_slot(const struct lc_span_slot *slot)
{
	return slot->key;
}

static bool is_young(const struct lc_span_frame *f, uint64_t now_tsc, uint64_t age)
{
	return age && (int64_t)(now_tsc - f->begin_tsc) < (int64_t)age;
}

/* Returns whether a frame is watched now that was not. Under lock. */
static bool mark(struct lc_span_thread *s, uint64_t now_tsc, uint64_t age)
{
	struct lc_span_frame *top = top_of(s), seen;
	bool any = false;

	for (struct lc_span_frame *f = s->frames + 1;
	     f <= top && f <= s->frames + LC_RUNNING_DEPTH && copy(&seen, f); f++) {
		if (!seen.slot)
			continue;
		if (is_young(&seen, now_tsc, age))
			break; /* and so is what is inside */
		if (is_watched(f))
			continue;
		atomic_store_explicit(&f->watched, 1,
		                      memory_order_seq_cst); /* W1, with the barrier */
		any = true;
	}
	return any;
}

/* Without the kernel's barrier, wait: all threads see the stores long before the wait is over. */
static void pass_barrier(void)
{
	static bool registered;
	const struct timespec moment = { .tv_nsec = 1000000 };

	if (!registered)
		registered = !syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0);
	if (!registered || syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0))
		nanosleep(&moment, NULL);
}

/* -- what open spans have used --------------------------------------------------------------- */

static uint64_t not_negative(uint64_t n)
{
	return (int64_t)n < 0 ? 0 : n;
}

static uint64_t inner_cost(unsigned kind)
{
	return kind >= LC_SPAN_TASK ? running.task_inner_cost : running.inner_cost;
}

/* Index of the outermost copy at the place of copy `i`, whose place is open. */
static size_t outermost(size_t i)
{
	size_t k = 1;

	while (k < i && (!running.copies[k].slot || running.places[k] != running.places[i]))
		k++;
	return k;
}

/* The cycles inside copy `i`, which has `own` ones; adds all to those *above of copies above it. */
static uint64_t take_inside(size_t i, uint64_t own, bool folded, uint64_t *above)
{
	struct lc_span_frame *f = &running.copies[i];
	const size_t first = outermost(i);
	const uint64_t inside = f->within.cycles + *above - f->again.cycles;

	*above += f->within.cycles + own;
	if (!folded && first < i)
		running.copies[first].again.cycles += own;
	return folded || first < i ? 0 : inside;
}

/*
 * The row of copy `i`, with its own cycles; `costs` are the outer costs of spans inside. A part of
 * a task is added to the task; but a short one, which gets no row, counts nowhere until it is over.
 */
static struct open make_row(size_t i, bool is_short, uint64_t cycles, uint64_t costs,
                            uint64_t *above)
{
	struct lc_span_frame *f = &running.copies[i], *outer = NULL;
	struct lc_block_running row = row_of(f->number, &running.keys[i]);
	uint64_t rest = cycles - costs - inner_cost(f->kind);

	row.begin_ns = lc_cycles_tsc_to_ns(f->begin_tsc);
	if (f->kind >= LC_SPAN_TASK) {
		cycles += f->task.cycles;
		rest += f->task.compensated;
		outer = lc_task_folds_into(running.copies, f);
	}
	if (outer && is_short) {
		rest = 0;
	} else if (outer) {
		outer->task.cycles += cycles;
		outer->task.compensated += rest;
		outer->within.cycles -= rest;
		row.folded = 1;
	} else {
		row.cycles = not_negative(cycles);
		row.compensated = not_negative(rest);
	}
	return (struct open){ row, not_negative(take_inside(i, rest, row.folded, above)) };
}

/*
 * Hand the rows of the copies 1 to `last` to put_row(), innermost first. Behind them are `len` in
 * all, of which at most the last one is a span. `now` is what the clock says.
 */
static void make_rows(size_t last, size_t len, uint64_t now,
                      void (*put_row)(void *of, const struct open *span, size_t i), void *of)
{
	uint64_t above = 0, costs = 0, inside = 0;

	for (size_t i = len; i > 0; i--) {
		const struct lc_span_frame *f = &running.copies[i];
		struct open span;

		above += f->inside;
		costs += f->costs;
		if (!f->slot) {
			inside += f->within.cycles;
			continue;
		}
		span = make_row(i, i > last, now - f->begin - above, costs, &inside);
		if (i <= last)
			put_row(of, &span, i);
		above = now - f->begin;
		costs = 0;
	}
}

/* -- virtual threads that wait --------------------------------------------------------------- */

struct looking {
	uint64_t now_tsc, age;
};

static void keep_waiting(void *frames, const struct open *span, size_t i)
{
	struct lc_span_frame *f = (struct lc_span_frame *)frames + i - 1;
	struct waiting w = { .of = *span };

	if (lc_vector_push(&running.waiting, &w))
		running.lost++;
	else
		atomic_store_explicit(&f->watched, LC_VIRTUAL_TOLD,
		                      memory_order_relaxed); /* under the shard's lock */
}

/* `begin` of a waiting frame is the time that it ran, see virtual.c. */
static void look_at_waiting(void *of, struct lc_span_frame *frames, const struct lc_span_key *keys,
                            uint32_t len)
{
	static struct lc_span_slot some;
	const struct looking *l = of;
	size_t last = 0;
	bool news = false;

	if (len >= COPIES)
		return;
	for (uint32_t i = 0; i < len; i++) {
		const bool is_span = keys[i].kind != LC_SPAN_KINDS;
		uint32_t watched = atomic_load_explicit(&frames[i].watched, memory_order_relaxed);

		running.copies[i + 1] = frames[i];
		running.copies[i + 1].slot = is_span ? &some : NULL;
		running.copies[i + 1].begin = 0 - frames[i].begin;
		running.keys[i + 1] = keys[i];
		running.places[i + 1] = is_span ? lc_span_place_number(&keys[i]) : 0;
		if (!is_span || is_young(&frames[i], l->now_tsc, l->age))
			continue;
		last = i + 1;
		news |= watched != LC_VIRTUAL_TOLD;
	}
	if (news)
		make_rows(last, len, 0, keep_waiting, frames);
}

static int by_number(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	return x->of.row.number < y->of.row.number ? -1 : x->of.row.number > y->of.row.number;
}

static void find_waiting(struct looking *l)
{
	lc_virtual_each(look_at_waiting, l);
	if (running.waiting.len)
		qsort(running.waiting.data, running.waiting.len, sizeof(struct waiting), by_number);
}

/* A span's number says on which thread it began: that one's block has its row, if it can. */
static void take_waiting(struct lc_tally *tally, uint32_t index)
{
	struct waiting *all = running.waiting.data;
	size_t low = 0, high = running.waiting.len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (all[middle].of.row.number >> LC_SPAN_NUMBER_BITS < (uint64_t)index + 1)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < running.waiting.len &&
	       all[low].of.row.number >> LC_SPAN_NUMBER_BITS == (uint64_t)index + 1;
	     low++) {
		if (!all[low].taken)
			put(tally, &all[low].of);
		all[low].taken = true;
	}
}

/* Put the rows of threads that have no more blocks. */
static void take_orphans(struct lc_tally *tally)
{
	struct waiting *all = running.waiting.data;

	for (size_t i = 0; i < running.waiting.len; i++)
		if (!all[i].taken)
			put(tally, &all[i].of);
	running.waiting.len = 0;
}

/* -- rounds ---------------------------------------------------------------------------------- */

static struct lc_span_thread *spans_of(const struct lc_thread *t)
{
	return atomic_load_explicit(&t->spans, memory_order_acquire); /* S0 of span.c */
}

static void learn_costs(const struct lc_span_thread *s)
{
	running.inner_cost = s->inner_cost;
	running.task_inner_cost = s->task_inner_cost;
}

void lc_running_mark(bool all)
{
	struct looking l = { __rdtsc(), all ? 0 : lc_cycles_of_ns(LC_RUNNING_AGE_NS) };
	struct lc_tally *some = NULL;
	bool any = false;

	for (struct lc_thread *t = lc_threads_walk(); t; t = t->next) {
		struct lc_span_thread *s = spans_of(t);

		some = some ? some : t->tally;
		if (!s)
			continue;
		learn_costs(s);
		lc_spin_lock(&s->lock);
		any |= mark(s, l.now_tsc, l.age);
		lc_spin_unlock(&s->lock);
	}
	if (any)
		pass_barrier();
	if (some)
		take_orphans(some);
	find_waiting(&l);
}

/* A carrier's frames may be younger than those of the virtual thread above them. */
static void put_copied(void *tally, const struct open *span, size_t i)
{
	if (is_watched(&running.copies[i]))
		put(tally, span);
}

/* Do all frames up to this one have rows? Rows do not change while the thread rests. */
static bool all_known(const struct lc_span_thread *s, size_t last)
{
	for (size_t i = 1; i <= last; i++) {
		const uint64_t number = watched_number(&s->frames[i]);

		if (number && !find(number))
			return false;
	}
	return true;
}

/* Index of the outermost frame beyond `last` that is a span's, or else of the topmost frame. */
static size_t end_of(struct lc_span_thread *s, size_t last)
{
	const struct lc_span_frame *top = top_of(s);
	size_t i = last + 1;

	for (; s->frames + i <= top && i < COPIES; i++)
		if (copy(&running.copies[0], s->frames + i) && running.copies[0].slot)
			return i;
	return i - 1;
}

void lc_running_take(struct lc_thread *t, struct lc_span_thread *s, bool thread_ended)
{
	const struct lc_span_frame *top = top_of(s);
	const uint64_t cpu_ns = lc_timeline_cpu_ns(t->timeline);
	size_t last = 0, len;
	uint64_t now;

	take_waiting(t->tally, t->index);
	take_ended(t->tally, s);
	for (size_t i = 1; s->frames + i <= top && i <= LC_RUNNING_DEPTH; i++)
		if (watched_number(&s->frames[i]))
			last = i;
	if (thread_ended) {
		for (size_t i = 1; i <= last; i++)
			if (watched_number(&s->frames[i]))
				put_end(t->tally, watched_number(&s->frames[i]));
		return;
	}
	if (!last || (cpu_ns == s->rows_cpu_ns && cpu_ns != UINT64_MAX && all_known(s, last)) ||
	    !lc_cycles_of_other(&s->clock, t->tid, &now))
		return;
	s->rows_cpu_ns = cpu_ns;
	/* From the top: who ends meanwhile is in `inside` of the frame below, which is read later.
	 */
	len = end_of(s, last);
	if (len >= COPIES)
		return;
	for (size_t i = len; i > 0; i--) {
		if (!copy(&running.copies[i], &s->frames[i]) || !running.copies[i].slot)
			continue;
		running.keys[i] = key_of_slot(running.copies[i].slot);
		running.places[i] = lc_span_place_number(&running.keys[i]);
	}
	make_rows(last, len, now, put_copied, t->tally);
}
