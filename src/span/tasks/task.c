/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/tasks/task.c - follows tasks from creation through submission to execution. Counts have one
 * writer, the owner; relaxed.
 */
#include "src/span/tasks/task.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/classfile/span_rewrite.h" /* LC_TASK_ */
#include "src/core/counters.h"
#include "src/core/thread.h"
#include "src/format/fold.h"
#include "src/profile/profile_writer.h"
#include "src/span/tasks/submitting.h"
#include "src/span/tasks/task_parts.h"
#include "src/span/tasks/task_place.h"
#include "src/span/tasks/virtual.h"

enum {
	RECENT = 256, /* creations remembered, see lc_link_created() */
	RUNNING = 256,
	LAST_ROWS = 32, /* a power of two */
	LAST_SLOTS = 8, /* likewise */
	CLASS_SHIFT = 8 /* in lc_task_frame.traits, above the LC_TASK_ bits */
};

struct row {
	uint32_t site, submit_path;
	uint8_t submit_kind;
	_Atomic uint64_t count; /* written by: owner */
	uint64_t taken;         /* attribution thread only */
};

static const struct lc_slab_kind rows = { sizeof(struct row), 16, 10 };
enum { ROWS_MAX = 16 * ((1 << 10) - 1) - 32 }; /* and the rest for other places */

/* A slot that was asked for; NULL: none was. */
struct last_slot {
	uint32_t kinds, site, path; /* see kinds_of() */
	struct lc_span_slot *slot;
};

struct lc_task_thread {
	struct lc_task_places *places;
	uint64_t objects;        /* created by this thread: their numbers */
	uint32_t recent[RECENT]; /* hashes */
	/* By the end of the object's hash, the topmost task's frame: its index; 0: none. */
	uint32_t running[RUNNING];
	uint64_t stale; /* frames that nobody had ended, as they were when `running` was made */
	struct lc_submitting_stack entered;
	struct lc_task_parts nest;

	/* The innermost wrapper that is a ForkJoin task: what it wraps is one as well. */
	ptrdiff_t wrapper; /* index of its frame */
	uint64_t wrapper_number;

	/* The latest look-ups, by site and kind: the sites of a program take turns. */
	struct last_slot last_slots[LAST_SLOTS];
	struct row *last_rows[LAST_ROWS];
	struct lc_slab rows; /* struct row by site, way and path of submission */
};

static _Atomic uint64_t nested_submissions;

int lc_task_thread_create(struct lc_task_thread **out)
{
	struct lc_task_thread *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	if (lc_task_places_create(&t->places)) {
		free(t);
		return -ENOMEM;
	}
	t->wrapper = -1;
	*out = t;
	return 0;
}

void lc_task_thread_destroy(struct lc_task_thread *t)
{
	if (!t)
		return;
	lc_task_places_destroy(t->places);
	lc_slab_free(&t->rows);
	lc_submitting_free(&t->entered);
	lc_task_parts_free(&t->nest);
	free(t);
}

struct lc_task_places *lc_task_thread_places(struct lc_task_thread *t)
{
	return t->places;
}

/* -- rows ------------------------------------------------------------------------------------ */

static uint32_t row_hash(const struct row *r)
{
	uint64_t place = (uint64_t)r->site << 32 | r->submit_path;

	return (uint32_t)(lc_hash_add(place, r->submit_kind) >> 32);
}

static bool same_row(const void *element, const void *key)
{
	const struct row *a = element, *b = key;

	return a->site == b->site && a->submit_path == b->submit_path &&
	       a->submit_kind == b->submit_kind;
}

/*
 * The row of this site, kind and path. If there are too many rows, it is that of the kind's other
 * places. NULL without memory.
 */
static struct row *find_row(struct lc_task_thread *t, uint32_t site, uint8_t kind, uint32_t path)
{
	const struct row key = { .site = site, .submit_path = path, .submit_kind = kind };
	struct row *r = lc_slab_find(&t->rows, &rows, row_hash(&key), same_row, &key);

	if (r)
		return r;
	if (atomic_load_explicit(&t->rows.len, memory_order_relaxed) >= ROWS_MAX && /* ours */
	    (site != lc_span_slots_other_site() || path))
		return find_row(t, lc_span_slots_other_site(), kind, 0);
	r = lc_slab_add(&t->rows, &rows, row_hash(&key));
	if (!r)
		return NULL;
	*r = key;
	lc_slab_publish(&t->rows);
	return r;
}

/* Spreads a site's kinds, and sites and paths with neighbouring numbers, over a table. */
static uint32_t last_of(uint32_t site, uint32_t kind, uint32_t path)
{
	return kind + 3 * site + 7 * path;
}

/* Count one. */
static void count_row(struct lc_task_thread *t, uint32_t site, uint8_t kind, uint32_t path)
{
	struct row **last = &t->last_rows[last_of(site, kind, path) % LAST_ROWS];
	struct row *r = *last;

	if (!r || r->site != site || r->submit_kind != kind || r->submit_path != path)
		*last = r = find_row(t, site, kind, path);
	if (r)
		lc_span_add(&r->count, 1);
}

bool lc_task_made_take(struct lc_task_thread *t, uint32_t i, struct lc_block_task_made *row)
{
	struct row *r = t ? lc_slab_get(&t->rows, &rows, i) : NULL;
	uint64_t count;

	if (!r)
		return false;
	count = atomic_load_explicit(&r->count, memory_order_relaxed);
	*row = (struct lc_block_task_made){ .site = r->site,
		                            .submit_kind = r->submit_kind,
		                            .submit_path = r->submit_path,
		                            .count = count - r->taken };
	r->taken = count;
	return true;
}

/* -- creation and submission ----------------------------------------------------------------- */

uint32_t lc_task_creator(const struct lc_span_thread *s)
{
	uint64_t id = lc_virtual_mounted();

	if (__builtin_expect(id != 0, 0))
		return LC_TASK_CREATOR_VIRTUAL | (uint32_t)id;
	return s->thread->index + 1;
}

/* Count them as executed, so that "never executed" is a lower bound. */
static void count_forgotten(struct lc_task_thread *t)
{
	struct lc_link_forgotten of;

	while (lc_link_forgotten(&of))
		for (uint32_t i = 0; i < of.count; i++)
			count_row(t, of.site, LC_SUBMIT_FIRST, 0);
}

void lc_task_created(struct lc_span_thread *s, const struct lc_task_class *class, uint32_t hash,
                     uint32_t site, uint64_t tsc)
{
	struct lc_task_thread *t = s->tasks;
	uint32_t *recent = &t->recent[hash % RECENT];
	bool again = *recent == hash && !(class->flags & LC_CLASS_LAMBDA);

	*recent = hash;
	t->objects++;
	if (lc_link_created((struct lc_link_key){ .hash = hash, .class = class->id },
	                    &(struct lc_link_creation){
	                        .object = ((uint64_t)s->thread->index + 1) << 40 | t->objects,
	                        .tsc = tsc,
	                        .site = site,
	                        .creator = lc_task_creator(s),
	                        .maker = lc_task_parts_maker(s),
	                        .again = again,
	                        .single = class->flags & LC_CLASS_SINGLE }) &&
	    !(class->flags & LC_CLASS_LIBRARY))
		count_row(t, site, LC_SUBMIT_NONE, 0);
	count_forgotten(t);
}

void lc_task_entered(struct lc_span_thread *s, struct lc_link_key key, bool all)
{
	lc_submitting_push(&s->tasks->entered, s, key, all);
}

bool lc_task_repeats(struct lc_span_thread *s, struct lc_link_key key)
{
	if (!lc_submitting_repeats(&s->tasks->entered, s, key))
		return false;
	lc_count(&nested_submissions);
	return true;
}

void lc_task_left(struct lc_span_thread *s, bool refused)
{
	lc_submitting_pop(&s->tasks->entered, s, refused);
}

struct lc_submitting_stack *lc_task_entered_stack(struct lc_task_thread *t)
{
	return &t->entered;
}

struct lc_task_parts *lc_task_nest(struct lc_task_thread *t)
{
	return &t->nest;
}

void lc_task_submitted(struct lc_span_thread *s, const struct lc_task_class *class, uint32_t hash,
                       const struct lc_task_submission *x)
{
	struct lc_link_key key = { .hash = hash, .class = class->id };
	uint8_t kind = class->flags & LC_CLASS_ASYNC ? (uint8_t)LC_SUBMIT_ASYNC : x->kind;
	uint32_t site;

	site = lc_link_submitted(key, kind, x->path, x->tsc);
	count_row(s->tasks, site ? site : class->site, kind, x->path);
	count_forgotten(s->tasks);
}

void lc_task_counted_in_part(struct lc_span_thread *s, const struct lc_task_class *class)
{
	count_row(s->tasks, class->site, LC_SUBMIT_PART, 0);
}

/* -- executions ------------------------------------------------------------------------------ */

static void add_running(struct lc_span_thread *s, struct lc_span_frame *f)
{
	uint32_t *topmost = &s->tasks->running[f->task.hash % RUNNING];

	f->task.below = *topmost;
	*topmost = (uint32_t)(f - s->frames);
}

static void make_running(struct lc_span_thread *s)
{
	struct lc_task_thread *t = s->tasks;

	memset(t->running, 0, sizeof(t->running));
	t->stale = atomic_load_explicit(&s->stale, memory_order_relaxed); /* ours */
	for (struct lc_span_frame *f = s->frames + 1; f <= s->top; f++)
		if (lc_task_parts_is_task(f))
			add_running(s, f);
}

/* Is a frame of the object on the stack? */
static bool running(struct lc_span_thread *s, struct lc_link_key key)
{
	const struct lc_task_thread *t = s->tasks;
	const struct lc_span_frame *f;

	if (__builtin_expect(t->stale != atomic_load_explicit(&s->stale, memory_order_relaxed), 0))
		make_running(s);
	for (uint32_t i = t->running[key.hash % RUNNING]; i; i = f->task.below) {
		f = s->frames + i;
		if (f->task.hash == key.hash && f->task.traits >> CLASS_SHIFT == key.class)
			return true;
	}
	return false;
}

static uint32_t kinds_of(unsigned kind, unsigned submit_kind)
{
	return kind << 8 | submit_kind;
}

/*
 * The key is given as numbers: what was just stored byte by byte is read as one word only once all
 * stores before it are done.
 */
static struct lc_span_slot *find_slot(struct lc_span_thread *s, unsigned kind, unsigned submit_kind,
                                      uint32_t site, uint32_t path)
{
	const uint32_t kinds = kinds_of(kind, submit_kind);
	struct last_slot *last =
	    &s->tasks->last_slots[last_of(site, submit_kind, path) % LAST_SLOTS];

	if (last->slot && last->site == site && last->path == path && last->kinds == kinds)
		return last->slot;
	last->kinds = kinds;
	last->site = site;
	last->path = path;
	last->slot =
	    lc_span_slot_find(s, &(struct lc_span_key){ .kind = (uint8_t)kind,
	                                                .submit_kind = (uint8_t)submit_kind,
	                                                .site = site,
	                                                .submit_path = path });
	return last->slot;
}

uint64_t lc_task_wait_ns(const struct lc_span_frame *f)
{
	if (!f->task.submit_tsc)
		return 0;
	/* 0 if the begin comes first: the CPUs' counters may differ by a little. */
	return lc_cycles_tsc_between_ns(f->task.submit_tsc, f->begin_tsc);
}

/* Is what begins now executed as a ForkJoin task: is it one, or does one wrap it? */
static bool is_fork_join(const struct lc_span_thread *s, uint32_t traits)
{
	const struct lc_task_thread *t = s->tasks;

	return traits & LC_TASK_FORK_JOIN ||
	       (t->wrapper == s->top - s->frames && !s->top->slot &&
	        s->top->kind == LC_SPAN_KINDS && s->top->number == t->wrapper_number);
}

static struct lc_span_frame *begin_transparent(struct lc_span_thread *s, uint32_t traits)
{
	struct lc_task_thread *t = s->tasks;
	bool fork_join = is_fork_join(s, traits);
	struct lc_span_frame *f = lc_span_push(s, LC_SPAN_KINDS, NULL);

	if (f && fork_join) {
		f->number = lc_span_number(s);
		t->wrapper = f - s->frames;
		t->wrapper_number = f->number;
	}
	return f;
}

/*
 * LC_TRACE_LOOP or _IN_LOOP, of a task with these flags. The loop of a worker may be several tasks
 * in each other; then each is the first one that is executed in the one around it.
 */
static uint32_t loop_flags(const struct lc_span_thread *s, const struct lc_span_frame *f,
                           uint32_t flags)
{
	const struct lc_span_frame *outer = f - 1;

	while (outer > s->frames && !lc_task_parts_is_task(outer))
		outer--;
	if (outer == s->frames || f->kind != LC_SPAN_TASK)
		return 0;
	if (outer->kind == LC_SPAN_THREAD)
		return outer->task.traits & LC_TASK_TARGETED && !(flags & LC_TRACE_SUBMITTED)
		           ? LC_TRACE_LOOP
		           : 0;
	if (!(outer->task.flags & (LC_TRACE_LOOP | LC_TRACE_IN_LOOP)))
		return 0;
	return !(flags & LC_TRACE_SUBMITTED) || !outer->nested[lc_span_nested_kind(LC_SPAN_TASK)]
	           ? LC_TRACE_IN_LOOP
	           : 0;
}

struct lc_span_frame *lc_task_begin(struct lc_span_thread *s, const struct lc_task_class *class,
                                    uint32_t hash, uint32_t traits)
{
	struct lc_link_key key = { .hash = hash, .class = class ? class->id : 0 };
	bool wrapper = !class || traits & LC_TASK_WRAPPER || class->flags & LC_CLASS_WRAPPER;
	struct lc_task_thread *t = s->tasks;
	struct lc_span_frame *f;
	struct lc_link_task link;
	struct lc_span_slot *slot;
	const unsigned kind = traits & LC_TASK_THREAD ? LC_SPAN_THREAD : LC_SPAN_TASK;
	uint32_t flags = 0;

	if (lc_fold_transparent(wrapper, !wrapper && running(s, key)))
		return begin_transparent(s, wrapper ? traits : 0);
	if (is_fork_join(s, traits))
		flags |= LC_TRACE_FORK_JOIN;
	lc_link_executed(key, &link);
	slot = find_slot(s, kind, link.submit_kind, link.site ? link.site : class->site,
	                 link.submit_path);
	f = lc_span_push(s, kind, slot);
	if (link.first && !(class->flags & LC_CLASS_LIBRARY))
		count_row(t, link.site, LC_SUBMIT_FIRST, 0);
	if (!f || !slot)
		return f;
	if (link.submitted)
		flags |= LC_TRACE_SUBMITTED;
	flags |= loop_flags(s, f, flags);
	if (link.creator && link.creator == lc_task_creator(s))
		flags |= LC_TRACE_SAME_THREAD;
	if (lc_virtual_mounted())
		flags |= LC_TRACE_VIRTUAL;
	f->number = lc_span_number(s);
	f->task = (struct lc_task_frame){ .object = link.object,
		                          .submit_tsc = link.submit_tsc,
		                          .created_tsc = link.created_tsc,
		                          .hash = hash,
		                          .creator = link.creator,
		                          .traits = traits | key.class << CLASS_SHIFT,
		                          .flags = flags };
	lc_task_parts_begin(s, &t->nest, f, link.maker);
	add_running(s, f);
	return f;
}

struct lc_span_frame *lc_task_folds_into(struct lc_span_frame *frames, struct lc_span_frame *f)
{
	struct lc_span_frame *outer = lc_task_parts_outer(frames, f);
	unsigned kind = outer == frames
	                    ? (unsigned)LC_SPAN_THREAD
	                    : lc_fold_outer(outer->kind, outer->task.flags, f->task.flags);

	return lc_fold_into_outer(f->kind, kind, f->task.flags, f->task.creator != 0) ? outer
	                                                                              : NULL;
}

void lc_task_end(struct lc_span_thread *s, struct lc_span_frame *f, const struct lc_span_ended *e)
{
	uint32_t *topmost = &s->tasks->running[f->task.hash % RUNNING];
	struct lc_task_parts *nest = &s->tasks->nest;
	struct lc_span_ended whole = *e;
	struct lc_span_frame *outer;

	if (*topmost == (uint32_t)(f - s->frames)) /* else it is made anew, see running() */
		*topmost = f->task.below;
	if (f->task.submit_tsc) {
		lc_span_add(&f->slot->counts.waits, 1);
		lc_span_add(&f->slot->counts.wait_ns, lc_task_wait_ns(f));
	}
	lc_task_parts_settle(s, nest, f);
	whole.cycles += f->task.cycles;
	whole.compensated += (int64_t)f->task.compensated;
	whole.inside = lc_span_place_close(f, (uint64_t)whole.compensated);
	if (lc_task_parts_hold(s, nest, f, e, &whole))
		return;
	outer = lc_task_folds_into(s->frames, f);
	if (outer) {
		f->task.flags |= LC_TRACE_FOLDED;
		lc_task_parts_add(outer, &whole);
		lc_span_add(&f->slot->counts.folded, 1);
	} else {
		lc_span_place_again(s, f->slot->place, f - 1, (uint64_t)whole.compensated, 0);
		lc_span_slot_add(f->slot, f, &whole);
	}
	if (__builtin_expect(s->traces != NULL, 0))
		lc_task_trace(s, f, lc_task_parts_around(s, f), e);
}

void lc_task_frames_changed(struct lc_span_thread *s)
{
	struct lc_task_thread *t = s->tasks;

	if (!t)
		return;
	t->wrapper = -1;
	make_running(s);
}

static const struct lc_counter counters[] = {
	/* Inside another one of the same object: not counted. */
	LC_COUNTER("spans_submissions_nested", &nested_submissions),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters), .begin = lc_counters_with_spans);
