/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/frames/stack.h - keeps the stack of spans of one thread, and adds ended spans to their
 * slots.
 *
 * Each begin of LocusSpan pushes one frame and end() pops one. A frame without a slot is
 * transparent: work inside it belongs to the frame below. Frame 0 is always there and stands for
 * the thread. This file knows no JVM: the caller passes the time.
 *
 * Owner: the thread itself. Its signal handlers read `top` and the slots of frames; a frame is
 * complete before `top` moves (compiler fence: same thread). The attribution thread reads slots,
 * and under `lock` frames: see span/running.h.
 */
#ifndef LC_SPAN_FRAMES_STACK_H
#define LC_SPAN_FRAMES_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/slab.h"
#include "src/base/vector.h"
#include "src/span/clock/cycle_clock.h"
#include "src/span/frames/interrupt.h"
#include "src/span/frames/probe.h"
#include "src/span/frames/repeated.h"
#include "src/span/frames/slot.h"

enum {
	LC_SPAN_DEPTH_MAX = 1 << 16, /* deeper spans are only counted, as too deep */
	/* In the process, 120 MB; more places share slots, see lc_span_slots_name_other() */
	LC_SPAN_SLOTS_MAX = 1 << 16,
	/* The end of a stack: the JVM's reserve on Linux (24 pages), and the growth of frames when
	 * compiled code is left for the interpreter. */
	LC_SPAN_LOW_BYTES = (24 + 12) << 12,
	LC_SPAN_LAST_BYTES = (24 + 1) << 12, /* reserve for an end that needs a little more stack */
	LC_SPAN_SHRINK_BYTES = 1 << 16,      /* more than any frame shrinks by */
	LC_SPAN_SLACK_BYTES = 2048           /* more than most frames shrink by */
};

struct lc_locations;   /* span/streams/location.h */
struct lc_trace_log;   /* span/frames/trace.h */
struct lc_task_thread; /* span/tasks/task.c */

/* Hooks inside spans that begin and end none. */
enum lc_span_hook {
	LC_SPAN_HOOK_FLAT = 0, /* a function has made a stream, see span/streams/flatmap.h */
	LC_SPAN_HOOK_PULLED,   /* a stream was asked for its iterator */
	LC_SPAN_HOOK_CREATED,  /* a task */
	LC_SPAN_HOOK_SUBMITTED,
	LC_SPAN_HOOK_ENTERED, /* a method that submits is entered, or left */
	LC_SPAN_HOOKS
};

/* Costs of a begin and an end, and of other hooks, in cycles of the clock. */
struct lc_span_costs {
	uint32_t inner;     /* inner cost: the part of its own begin and end inside a span */
	uint32_t anonymous; /* outer costs: the rest, inside the outer span, by kind */
	uint32_t primordial;
	uint32_t support;
	uint32_t task;
	uint32_t task_inner;
	uint32_t counted;   /* a stream that is counted, not timed: span/frames/probe.h */
	uint32_t yardstick; /* time of lc_probe_yardstick() then; 0: unknown */
	uint32_t hooks[LC_SPAN_HOOKS];
};

/* The stream that a frame is part of: the outer stream of a stream inside the frame. */
struct lc_stream_context {
	uint64_t id;   /* number of the anonymous or primordial span that executes it; 0: none */
	uint32_t path; /* its location */
	uint32_t level;
};

/* Further members of a task's frame; private to span/tasks/task.c. */
struct lc_task_frame {
	uint64_t object;      /* number of the task object; 0 unknown */
	uint64_t compensated; /* sum of the executions that were folded into it */
	uint64_t cycles;
	uint64_t submit_tsc;  /* when it was submitted; 0 unknown */
	uint64_t created_tsc; /* when it was made; 0 unknown */
	uint32_t hash;        /* identity hash of the object */
	uint32_t creator;     /* lc_thread.index of the creating thread + 1; 0 unknown */
	uint32_t traits;      /* LC_TASK_ */
	uint32_t flags;       /* LC_TRACE_ and LC_NEST_ */
	uint32_t root;  /* maker of tasks that are made inside it, see span/tasks/task_parts.h */
	uint32_t below; /* index of the next lower frame with the same end of its hash; 0: none */
};

/* Ended spans at any depth inside another one. Sums are modulo 2^64. */
struct lc_span_inside {
	uint64_t cycles;  /* compensated; a task's include those of its parts */
	uint64_t streams; /* sequential ones among them */
};

struct lc_span_frame {
	uint64_t begin;            /* cycles of the thread's clock */
	uint64_t begin_tsc;        /* the TSC at that time */
	uint64_t inside;           /* cycles of ended spans directly inside, and of other work */
	uint64_t costs;            /* outer costs of these spans */
	uint64_t switches;         /* the clock's at begin */
	uint64_t gc_count, gc_ns;  /* pauses of the process, at begin */
	struct lc_span_slot *slot; /* NULL: transparent */
	uint64_t stack_pointer;    /* of the hook that pushed it; UINT64_MAX: unknown */
	uint64_t return_address;   /* of that hook, in bytecode */
	uint32_t nested[LC_SPAN_NESTED];
	struct lc_span_inside within; /* all ended spans inside, but parts of the task itself */
	struct lc_span_inside again;  /* those at the same place; if it is the outermost there */
	struct lc_stream_context stream;
	uint64_t number; /* of the span, see lc_span_number() */
	uint32_t kind;   /* enum lc_span_kind; LC_SPAN_KINDS: transparent */
	bool bottom;     /* frame 0 */
	/* Not 0: the attribution thread watches the span, see running.h. Written under lock by the
	 * attribution thread, and by the owner when the span ends. */
	_Atomic uint32_t watched;
	/* `number` from lc_span_start() on; 0: the frame is incomplete. Written by: owner. */
	_Atomic uint64_t open;
	struct lc_task_frame task;
};

/* Stop-the-world pauses of the process so far. Written at safepoints only. */
struct lc_span_pauses {
	_Atomic uint64_t count, ns;
};

struct lc_span_thread {
	struct lc_span_frame *top;
	struct lc_span_frame *limit;  /* end of `frames` */
	struct lc_span_frame *frames; /* replaced under lock */
	struct lc_cycle_clock clock;
	const struct lc_span_pauses *pauses;
	struct lc_span_costs base; /* costs at the speed of the calibration */
	double slowness;           /* times that the yardstick takes as long as then */
	/* Costs at that speed: only outer costs depend on it. */
	uint32_t outer_cost[LC_SPAN_NESTED];
	uint32_t inner_cost, task_inner_cost, counted_cost;
	uint32_t hook_cost[LC_SPAN_HOOKS];
	uint64_t last_number; /* the last one given out */
	uint64_t excess;      /* open spans beyond the bound */
	uint64_t low;         /* open spans at the end of the stack, inside all frames */
	uint64_t low_end;     /* upper limit of that end of the stack; 0: unknown */
	uint64_t last_end;    /* upper limit of the part where no span may begin; 0: unknown */
	bool full;            /* the current begin must push no frame */
	bool lossy;           /* ends are missing */
	uint64_t worked;      /* cycles of the agent that were taken off spans */
	uint32_t work;        /* nesting depth of the agent's work, see interrupt.c */
	struct lc_locations *locations;
	struct lc_trace_log *traces; /* NULL: no --trace */
	struct lc_task_thread *tasks;
	struct lc_thread *thread;
	struct lc_repeated looks;
	struct lc_probe probe;

	struct lc_slab slots;  /* struct lc_span_slot by its key */
	struct lc_slab places; /* struct lc_open_spans by its number */

	_Atomic uint32_t lock;  /* base/spin.h, see running.h */
	struct lc_vector ended; /* under lock: uint64_t numbers of watched spans that have ended */
	uint64_t rows_cpu_ns;   /* attribution thread only: CPU time at the rows of running.c */

	/* Irregular spans; written by the owner, relaxed. */
	_Atomic uint64_t stale;     /* begun and never ended */
	_Atomic uint64_t unmatched; /* ends without a begin */
	/* begun beyond LC_SPAN_DEPTH_MAX, at the end of the stack, or without memory */
	_Atomic uint64_t too_deep;
	_Atomic uint64_t unsettled; /* watched ends without memory: they stay "still running" */
};

/* Results of an ended span. */
struct lc_span_ended {
	uint64_t total;  /* cycles, nested spans included */
	uint64_t cycles; /* without */
	int64_t compensated;
	uint64_t switches, gc_count, gc_ns;
	uint64_t end_tsc;
	struct lc_span_inside inside; /* what its slot gets; of tasks from lc_task_end() */
};

/* Returns 0 or -ENOMEM. The caller sets the clock and the pointers to other modules. */
int lc_span_stack_init(struct lc_span_thread *s, const struct lc_span_costs *costs,
                       const struct lc_span_pauses *pauses);
void lc_span_stack_destroy(struct lc_span_thread *s);

/*
 * From now on the CPU takes `slowness` times as long as at the calibration: a core that other work
 * shares is slow. Spans that have ended keep their compensation. Context: [hook], owner.
 */
void lc_span_costs_at(struct lc_span_thread *s, double slowness);

/*
 * The slot of `key`, made if it is new. Beyond LC_SPAN_SLOTS_MAX it is the slot of the kind's other
 * places. NULL without memory, which counts as too deep. Context: [hook], owner.
 */
struct lc_span_slot *lc_span_slot_find(struct lc_span_thread *s, const struct lc_span_key *key);

/*
 * Let `number` name the places of spans, for lc_span_place_number(); until then each site and path
 * is a place. Context: [attach], once, before there are slots.
 */
void lc_span_places_by(uint64_t (*number)(const struct lc_span_key *key));

/*
 * Set the names of places that have no slot: `path` for streams, `site` for tasks. Context:
 * [attach], once, before there are slots.
 */
void lc_span_slots_name_other(uint32_t path, uint32_t site);

/* The site of those tasks. Context: any. */
uint32_t lc_span_slots_other_site(void);

/* Is it a slot of other places? Context: any. */
bool lc_span_slot_is_other(const struct lc_span_slot *slot);

/* Make room for one more frame. Returns 0; -ENOSPC at the bound, or -ENOMEM. Takes `lock`. [hook]
 */
int lc_span_stack_grow(struct lc_span_thread *s);

/*
 * Is the frame, which was popped, watched? If so, its end is counted under lock, followed by
 * lc_span_watched_ended(). Order: W1 of running.h. Context: [hook], owner.
 */
static inline bool lc_span_is_watched(const struct lc_span_frame *f)
{
	atomic_signal_fence(memory_order_seq_cst); /* W1 */
	return __builtin_expect(atomic_load_explicit(&f->watched, memory_order_relaxed) != 0, 0);
}

/* Tell the attribution thread that a watched span has ended. Context: [hook], owner, under lock. */
void lc_span_watched_ended(struct lc_span_thread *s, struct lc_span_frame *f);

/* Slot number `i`, or NULL after the last. Context: [writer] [signal] [hook]. */
struct lc_span_slot *lc_span_stack_slot(const struct lc_span_thread *s, uint32_t i);

/* Slots in the process. Context: any. */
uint32_t lc_span_slots_count(void);

static inline void lc_span_add(_Atomic uint64_t *counter, uint64_t n)
{
	/* One writer: plain additions that the attribution thread may read at any time. */
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
	                      memory_order_relaxed);
}

/* Index in `nested`: the kinds that are counted apart inside another span. */
static inline unsigned lc_span_nested_kind(unsigned kind)
{
	return kind == LC_SPAN_PRIMORDIAL ? 1u
	       : kind == LC_SPAN_SUPPORT  ? 2u
	       : kind >= LC_SPAN_TASK     ? 3u
	                                  : 0u;
}

enum {
	LC_SPAN_NUMBER_BITS = 40, /* of a thread's count, below the bits of its index + 1 */
	LC_SPAN_NO_NUMBER = 1     /* of most transparent frames */
};

/* A number for a span, unique in the process, never 0. */
static inline uint64_t lc_span_number(struct lc_span_thread *s)
{
	return ++s->last_number;
}

static inline bool lc_span_empty(const struct lc_span_thread *s)
{
	return s->top == s->frames;
}

/*
 * A hook that begins and ends no span has run: the span around it does not count what the hook
 * costs on average. Context: [hook], owner.
 */
static inline void lc_span_hook_ran(struct lc_span_thread *s, enum lc_span_hook hook)
{
	s->top->inside += s->hook_cost[hook];
}

static inline void lc_span_inside_add(struct lc_span_inside *to, uint64_t cycles, uint64_t streams)
{
	to->cycles += cycles;
	to->streams += streams;
}

/* The span of this frame opens its place. Context: [hook], owner. */
static inline void lc_span_place_open(const struct lc_span_thread *s, const struct lc_span_frame *f)
{
	struct lc_open_spans *p = f->slot->place;

	if (!p->open++)
		p->outermost = (uint32_t)(f - s->frames);
}

/*
 * Spans at this place ended inside a frame above `around`. If the outermost frame of the place is
 * `around` or one below, it does not count them once more. Context: [hook], owner.
 */
static inline void lc_span_place_again(const struct lc_span_thread *s,
                                       const struct lc_open_spans *p, struct lc_span_frame *around,
                                       uint64_t cycles, uint64_t streams)
{
	/* Frames from there to `around`. */
	const ptrdiff_t below = around - s->frames - p->outermost;

	if (p->open && below >= 0)
		lc_span_inside_add(&around[-below].again, cycles, streams);
}

/*
 * The span of `f`, the innermost frame, closes its place and has used `cycles` itself. The frame
 * below gets all of it. Returns what the span's slot gets. Context: [hook], owner.
 */
static inline struct lc_span_inside lc_span_place_close(struct lc_span_frame *f, uint64_t cycles)
{
	struct lc_span_inside none = { 0, 0 };

	lc_span_inside_add(&f[-1].within, f->within.cycles + cycles,
	                   f->within.streams + !lc_span_nested_kind(f->kind));
	if (--f->slot->place->open)
		return none;
	return (struct lc_span_inside){ f->within.cycles - f->again.cycles,
		                        f->within.streams - f->again.streams };
}

/*
 * Push a frame, transparent if `slot` is NULL. Its stream is that of the frame below. The caller
 * sets the other members, and calls lc_span_start() last. Returns NULL at the bound, which is
 * counted: the matching end() pops nothing. Context: [hook], owner thread.
 */
static inline struct lc_span_frame *lc_span_push(struct lc_span_thread *s, unsigned kind,
                                                 struct lc_span_slot *slot)
{
	struct lc_span_frame *f = s->top + 1;

	if (__builtin_expect((f == s->limit) | s->full, 0)) {
		if (s->full || lc_span_stack_grow(s)) {
			s->low += s->full;
			s->excess += !s->full;
			lc_span_add(&s->too_deep, 1);
			return NULL;
		}
		f = s->top + 1;
	}
	atomic_store_explicit(&f->open, 0, memory_order_relaxed);
	atomic_signal_fence(memory_order_release); /* W2 */
	f->inside = f->costs = 0;
	f->slot = slot;
	for (unsigned i = 0; i < LC_SPAN_NESTED; i++)
		f->nested[i] = 0;
	f->within = f->again = (struct lc_span_inside){ 0, 0 };
	f->stream = f[-1].stream;
	f->kind = slot ? kind : LC_SPAN_KINDS;
	if (slot)
		lc_span_place_open(s, f);
	else
		f->number = LC_SPAN_NO_NUMBER;
	f->gc_count = atomic_load_explicit(&s->pauses->count, memory_order_relaxed);
	f->gc_ns = atomic_load_explicit(&s->pauses->ns, memory_order_relaxed);
	atomic_signal_fence(memory_order_release);
	s->top = f;
	return f;
}

/* The span of this frame begins at `now`. */
static inline void lc_span_start(struct lc_span_thread *s, struct lc_span_frame *f, uint64_t now,
                                 uint64_t tsc)
{
	f->switches = s->clock.switches; /* at the reading of `now` */
	f->begin_tsc = tsc;
	f->begin = now;
	atomic_store_explicit(&f->open, f->number, memory_order_release); /* W2 */
}

static inline bool lc_span_has_nested(const struct lc_span_frame *f)
{
	return f->nested[0] | f->nested[1] | f->nested[2] | f->nested[3];
}

/* Pop the innermost frame, which is not frame 0. Returns it: valid until the next push. */
static inline struct lc_span_frame *lc_span_pop(struct lc_span_thread *s, uint64_t now,
                                                uint64_t tsc, struct lc_span_ended *e)
{
	struct lc_span_frame *f = s->top, *below = f - 1;
	const int64_t inner = f->kind >= LC_SPAN_TASK ? s->task_inner_cost : s->inner_cost;
	const unsigned nested = lc_span_nested_kind(f->kind);
	uint64_t total = now - f->begin;

	s->top = below;
	if (__builtin_expect(!f->slot, 0)) {
		below->inside += f->inside;
		below->costs += f->costs;
		lc_span_inside_add(&below->within, f->within.cycles, f->within.streams);
		for (unsigned i = 0; i < LC_SPAN_NESTED; i++)
			below->nested[i] += f->nested[i];
		return f;
	}
	below->inside += total;
	below->costs += s->outer_cost[nested];
	below->nested[nested]++;
	e->total = total;
	e->cycles = total - f->inside; /* clocks may go back a little: modulo 2^64, like all sums */
	e->compensated = (int64_t)(e->cycles - f->costs) - inner;
	e->switches = s->clock.switches - f->switches;
	e->gc_count = atomic_load_explicit(&s->pauses->count, memory_order_relaxed) - f->gc_count;
	e->gc_ns = atomic_load_explicit(&s->pauses->ns, memory_order_relaxed) - f->gc_ns;
	e->end_tsc = tsc;
	e->inside = (struct lc_span_inside){ 0, 0 };
	if (f->kind < LC_SPAN_TASK) {
		e->inside = lc_span_place_close(f, (uint64_t)e->compensated);
		lc_span_place_again(s, f->slot->place, below, (uint64_t)e->compensated, !nested);
	}
	return f;
}

/* Count one execution that has ended. Context: [hook], owner thread. */
static inline void lc_span_slot_add(struct lc_span_slot *slot, const struct lc_span_frame *f,
                                    const struct lc_span_ended *e)
{
	struct lc_span_counts *c = &slot->counts;
	const uint32_t number = lc_span_bucket(e->compensated);
	_Atomic uint32_t *bucket = &c->histogram[number];

	slot->last_cycles = e->cycles;
	slot->last_compensated = e->compensated;
	slot->last_bucket = number;
	lc_span_add(&c->executions, 1);
	lc_span_add(&c->cycles, e->cycles);
	lc_span_add(&c->wall_tsc, e->end_tsc - f->begin_tsc);
	atomic_store_explicit(&c->compensated,
	                      atomic_load_explicit(&c->compensated, memory_order_relaxed) +
	                          e->compensated,
	                      memory_order_relaxed);
	atomic_store_explicit(bucket, atomic_load_explicit(bucket, memory_order_relaxed) + 1,
	                      memory_order_relaxed);
	atomic_store_explicit(&slot->last_tsc, e->end_tsc, memory_order_relaxed);
	if (__builtin_expect(!atomic_load_explicit(&slot->first_tsc, memory_order_relaxed), 0))
		atomic_store_explicit(&slot->first_tsc, f->begin_tsc, memory_order_relaxed);
	if (__builtin_expect(e->compensated < 0, 0))
		lc_span_add(&c->negative, 1);
	if (__builtin_expect((e->switches | e->gc_count) != 0, 0)) {
		lc_span_add(&c->switches, e->switches);
		lc_span_add(&c->gc_count, e->gc_count);
		lc_span_add(&c->gc_ns, e->gc_ns);
	}
	if (lc_span_has_nested(f)) {
		for (unsigned i = 0; i < LC_SPAN_NESTED; i++)
			lc_span_add(&c->nested[i], f->nested[i]);
		lc_span_add(&c->inside, e->inside.cycles);
		lc_span_add(&c->inside_streams, e->inside.streams);
	}
}

/*
 * Did the method whose hook has its frame at `stack_pointer` begin at the end of the stack? If so,
 * its begin pushes no frame, and its end pops none.
 *
 * Ends are lost only at the end of a stack: the code that calls end() may throw when the stack
 * overflows. A method that begins further up has room for its end. So spans that begin at the end
 * of the stack are only counted (`low`). They are all over when a hook runs so far up that no
 * shrinking frame explains it. No other addresses are compared: compiled code has one frame for all
 * inlined methods, and another one after it is left for the interpreter. Context: [hook], owner
 * thread.
 */
bool lc_span_is_low_slowly(struct lc_span_thread *s, uint64_t stack_pointer);

static inline bool lc_span_is_low(struct lc_span_thread *s, uint64_t stack_pointer)
{
	return __builtin_expect((stack_pointer < s->low_end) | (s->low != 0), 0) &&
	       lc_span_is_low_slowly(s, stack_pointer);
}

/*
 * After lost ends: drop the frames of methods that have returned. Hooks further down pushed these
 * frames, by more than most frames shrink. Or a begin is at the place where one of them was pushed,
 * in the next round of a loop. `return_address` is 0 for an end. Context: [hook], owner thread.
 */
void lc_span_drop(struct lc_span_thread *s, uint64_t stack_pointer, uint64_t return_address);

/* Prepare a begin, whose hook has this stack pointer and return address. */
static inline void lc_span_arrive(struct lc_span_thread *s, uint64_t stack_pointer,
                                  uint64_t return_address)
{
	s->full = lc_span_is_low(s, stack_pointer);
	if (__builtin_expect(s->lossy, 0))
		lc_span_drop(s, stack_pointer, return_address);
}

/*
 * Is so little stack left that the span's end could overflow it, while its begin does not? If so,
 * the begin throws the error (lc_span_overflow()), as it does by itself a little further down: a
 * lost end looks like one that comes later. Context: [hook], owner thread, after lc_span_arrive().
 */
static inline bool lc_span_is_last(const struct lc_span_thread *s, uint64_t stack_pointer)
{
	return __builtin_expect(s->full, 0) && stack_pointer < s->last_end;
}

/* Prepare an end. Returns false if its span has no frame. Context: [hook], owner thread. */
static inline bool lc_span_leave(struct lc_span_thread *s, uint64_t stack_pointer)
{
	if (__builtin_expect((s->low | s->excess | s->lossy) == 0, 1))
		return true;
	if (s->low && lc_span_is_low(s, stack_pointer)) {
		s->low--;
		return false;
	}
	if (s->lossy)
		lc_span_drop(s, stack_pointer, 0);
	if (!s->excess)
		return true;
	s->excess--;
	return false;
}

#endif
