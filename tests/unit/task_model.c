/* SPDX-License-Identifier: Apache-2.0 */
/* task_model.c - plays threads and tasks against span/tasks/task.c, with a clock of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/task_model.h"

#include "src/core/thread.h"
#include "src/span/tasks/task_place.h"

uint64_t model_now;
struct lc_block_trace model_rows[MODEL_ROWS];
size_t model_rows_len;

static struct lc_span_thread threads[MODEL_THREADS];
static struct lc_thread records[MODEL_THREADS];
static struct lc_span_pauses pauses;
static struct lc_task_class classes[64];

enum { MADE_MAX = 1 << 15 };

static struct lc_block_task_made made[MADE_MAX];
static size_t made_len;

/* Functions of other parts that the core calls. */

uint64_t lc_cycles_tsc_to_ns(uint64_t tsc)
{
	return tsc;
}

uint64_t lc_cycles_tsc_between_ns(uint64_t from, uint64_t to)
{
	return (int64_t)(to - from) > 0 ? lc_cycles_tsc_to_ns(to) - lc_cycles_tsc_to_ns(from) : 0;
}

int lc_task_places_create(struct lc_task_places **out)
{
	*out = calloc(1, sizeof(**out));
	return 0;
}

void lc_task_places_destroy(struct lc_task_places *p)
{
	free(p);
}

void lc_task_trace(struct lc_span_thread *s, const struct lc_span_frame *f, uint64_t outer,
                   const struct lc_span_ended *e)
{
	assert_true(model_rows_len < MODEL_ROWS);
	model_rows[model_rows_len++] =
	    (struct lc_block_trace){ .id = f->number,
		                     .outer = outer,
		                     .logical = f->task.object,
		                     .kind = (uint8_t)f->kind,
		                     .flags = (uint16_t)(f->task.flags & (LC_TRACE_FLAGS_END - 1)),
		                     .site = f->slot->key.site,
		                     .creator = f->task.creator,
		                     .start_ns = f->begin_tsc,
		                     .duration_ns = e->end_tsc - f->begin_tsc,
		                     .cycles = e->cycles,
		                     .compensated = e->compensated };
}

void model_setup(void)
{
	static const struct lc_span_costs none;

	model_now = 1000;
	model_rows_len = 0;
	made_len = 0;
	memset(classes, 0, sizeof(classes));
	assert_int_equal(lc_link_init(), 0);
	for (unsigned i = 0; i < MODEL_THREADS; i++) {
		assert_int_equal(lc_span_stack_init(&threads[i], &none, &pauses), 0);
		records[i].index = i;
		threads[i].thread = &records[i];
		threads[i].last_number = (uint64_t)(i + 1) << LC_SPAN_NUMBER_BITS;
		threads[i].traces = (struct lc_trace_log *)&threads[i]; /* not NULL */
		assert_int_equal(lc_task_thread_create(&threads[i].tasks), 0);
	}
}

void model_teardown(void)
{
	for (unsigned i = 0; i < MODEL_THREADS; i++) {
		lc_task_thread_destroy(threads[i].tasks);
		lc_span_stack_destroy(&threads[i]);
	}
	lc_link_free();
}

struct lc_span_thread *model_thread(unsigned i)
{
	return &threads[i];
}

const struct lc_task_class *model_class(uint32_t class)
{
	classes[class].id = class;
	classes[class].site = class * 100;
	return &classes[class];
}

struct lc_span_frame *model_begin(struct lc_span_thread *s, uint32_t class, uint32_t hash,
                                  uint32_t traits)
{
	struct lc_span_frame *f = lc_task_begin(s, class ? model_class(class) : NULL, hash, traits);

	if (f) {
		f->stack_pointer = UINT64_MAX;
		lc_span_start(s, f, model_now, model_now);
	}
	return f;
}

void model_end(struct lc_span_thread *s)
{
	struct lc_span_ended e;
	struct lc_span_frame *f;

	if (s->excess) {
		s->excess--;
		return;
	}
	assert_false(lc_span_empty(s));
	f = lc_span_pop(s, model_now, model_now, &e);
	if (f->slot)
		lc_task_end(s, f, &e);
}

void model_created(struct lc_span_thread *s, uint32_t class, uint32_t hash, uint32_t site)
{
	lc_task_created(s, model_class(class), hash, site, model_now);
}

void model_submitted(struct lc_span_thread *s, uint32_t class, uint32_t hash, uint8_t kind,
                     uint32_t path)
{
	const struct lc_task_submission x = { .tsc = model_now, .path = path, .kind = kind };
	struct lc_link_key key = { .hash = hash, .class = class };

	if (!lc_task_repeats(s, key))
		lc_task_submitted(s, model_class(class), hash, &x);
}

void model_enter(struct lc_span_thread *s, uint32_t class, uint32_t hash, uint8_t kind)
{
	model_submitted(s, class, hash, kind, kind);
	lc_task_entered(s, (struct lc_link_key){ .hash = hash, .class = class }, false);
}

uint64_t model_sum(unsigned kind, uint32_t site, size_t field)
{
	const struct lc_span_slot *slot;
	uint64_t sum = 0;

	for (unsigned i = 0; i < MODEL_THREADS; i++)
		for (uint32_t n = 0; (slot = lc_span_stack_slot(&threads[i], n)); n++)
			if (slot->key.kind == kind && (!site || slot->key.site == site))
				sum += *(const uint64_t *)((const char *)&slot->counts + field);
	return sum;
}

uint64_t model_made(uint32_t site, uint8_t submit_kind)
{
	struct lc_block_task_made row;
	uint64_t sum = 0;

	/* Counts are given once. */
	for (unsigned i = 0; i < MODEL_THREADS; i++)
		for (uint32_t n = 0; lc_task_made_take(threads[i].tasks, n, &row); n++) {
			assert_in_range(made_len, 0, MADE_MAX - 1);
			if (row.count)
				made[made_len++] = row;
		}
	for (size_t i = 0; i < made_len; i++)
		if (made[i].submit_kind == submit_kind && (!site || made[i].site == site))
			sum += made[i].count;
	return sum;
}
