/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/frames/interrupt.c - keeps the agent's own work on a thread out of the spans around it.
 *
 * A span's own cycles exclude those inside it. So the cycles of the agent's work are added to the
 * inside of the innermost frame, like those of a nested span. Work may nest: a handler interrupts
 * an event, or an event comes while a class is rewritten. `work` counts the depth, and only the
 * outermost work adds cycles. A handler between the count and the clock's reading, some ten cycles,
 * is counted by neither.
 *
 * Owner: the thread. A handler of it leaves `work` as it found it.
 */
#include "src/span/frames/interrupt.h"

#include <stddef.h>
#include <sys/resource.h>

#include "src/core/own_work.h"
#include "src/core/thread.h"
#include "src/span/frames/stack.h"

static struct lc_span_thread *spans_of(const struct lc_thread *t)
{
	return atomic_load_explicit(&t->spans, memory_order_relaxed); /* own thread */
}

/*
 * A number that changes when the thread is switched. A young clock is told by no records; and a
 * system call that cannot fail leaves errno alone.
 */
static uint64_t switch_mark(const struct lc_cycle_clock *c)
{
	struct rusage r = { 0 };

	if (c->check)
		return atomic_load_explicit(c->head, memory_order_relaxed); /* own thread */
	getrusage(RUSAGE_THREAD, &r);
	return (uint64_t)r.ru_nvcsw + (uint64_t)r.ru_nivcsw;
}

static void take_off(struct lc_span_thread *s, uint64_t cycles)
{
	s->top->inside += cycles;
	s->worked += cycles;
}

void lc_span_interrupted(const struct lc_thread *t, struct lc_span_interrupt *i)
{
	struct lc_span_thread *s = spans_of(t);

	i->spans = NULL;
	if (!s || !s->clock.head)
		return;
	i->spans = s;
	i->tsc = 0;
	if (s->work++)
		return;
	i->head = switch_mark(&s->clock);
	i->tsc = __rdtsc();
}

/*
 * The interrupted code may just be adding to the same frame: by one instruction, or this is lost.
 */
void lc_span_resumed(const struct lc_thread *t, const struct lc_span_interrupt *i)
{
	struct lc_span_thread *s = spans_of(t);

	if (!s || i->spans != s)
		return;
	if (i->tsc && switch_mark(&s->clock) == i->head)
		take_off(s, __rdtsc() - i->tsc);
	s->work--;
}

void lc_span_work_begin(const struct lc_thread *t, struct lc_own_work *w)
{
	struct lc_span_thread *s = spans_of(t);

	if (!s || !s->clock.head)
		return;
	w->owner = s;
	s->work++;
	atomic_signal_fence(memory_order_seq_cst);
	if (s->work == 1)
		w->begin = lc_cycles_now(&s->clock);
}

void lc_span_work_end(const struct lc_thread *t, const struct lc_own_work *w)
{
	struct lc_span_thread *s = spans_of(t);

	if (!s || w->owner != s)
		return;
	if (s->work == 1)
		take_off(s, lc_cycles_now(&s->clock) - w->begin);
	atomic_signal_fence(memory_order_seq_cst);
	s->work--;
}
