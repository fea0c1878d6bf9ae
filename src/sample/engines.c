/*
 * sample/engines.c - see engine.h: which engines run, and what they do with each thread.
 *
 * The table of engines is written by lc_engines_start() and constant afterwards. `lock` guards
 * the arena, the slots of samplers (but for what handlers do with them), and `running`; it is
 * never taken in a handler.
 */
#include "sample/engine.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "options.h"
#include "sample/sampler.h"
#include "thread.h"

struct engine {
	struct lc_engine_info info;
	const struct lc_backend *backend;
	struct lc_event event;
};

static struct {
	struct engine row[LC_EVENTS_MAX];
	size_t len;
	pthread_mutex_t lock;
	bool running;
} engines = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* -- choice ------------------------------------------------------------------------------ */

static void describe_timer(struct lc_event *event)
{
	memset(event, 0, sizeof(*event));
	event->kind = LC_KIND_TIMER;
	strcpy(event->event, "thread-cpu-time");
	event->unit = "ns of thread CPU time";
}

static int add(const struct lc_event *event, const struct lc_options *options)
{
	struct engine *e = &engines.row[engines.len];
	int err;

	e->event = *event;
	e->backend = lc_backend_timer();
	e->info.name = "timer";
	e->info.event = e->event.event;
	e->info.unit = e->event.unit;
	e->info.interval = event->period ? event->period : options->interval_ns;
	err = e->backend->start(engines.len, &e->event, options);
	if (!err)
		engines.len++;
	return err;
}

int lc_engines_start(const struct lc_options *options)
{
	struct lc_event timer;
	int err = lc_sampler_init(options);

	describe_timer(&timer);
	if (!err)
		err = add(&timer, options);
	pthread_mutex_lock(&engines.lock);
	engines.running = !err;
	pthread_mutex_unlock(&engines.lock);
	return err;
}

size_t lc_engines_count(void)
{
	return engines.len;
}

const struct lc_engine_info *lc_engines_info(size_t engine)
{
	return &engines.row[engine].info;
}

/* -- threads ----------------------------------------------------------------------------- */

/* With the lock held, `t->sampler` shut and no handler in it. */
static void finish(struct lc_sampler *s)
{
	for (size_t i = 0; i < engines.len; i++)
		engines.row[i].backend->thread_finish(s, i);
}

static void pause_all(struct lc_sampler *s)
{
	lc_sampler_shut(s);
	for (size_t i = 0; i < engines.len; i++)
		engines.row[i].backend->thread_pause(s, i);
}

/* With the lock held. A thread that some engine cannot sample is still worth the others. */
static int begin(struct lc_thread *t)
{
	int err = lc_sampler_create(t), first = 0;
	size_t begun = 0;

	if (err)
		return err;
	for (size_t i = 0; i < engines.len; i++) {
		err = engines.row[i].backend->thread_start(t->sampler, i);
		begun += !err;
		if (err && err != -ESRCH)
			lc_engine_add(i, LC_ENGINE_NO_THREAD, 1);
		if (err && !first)
			first = err;
	}
	if (begun)
		return 0;
	pause_all(t->sampler);
	lc_sampler_wait(t->sampler);
	finish(t->sampler);
	lc_sampler_destroy(t);
	return first;
}

int lc_engines_thread_start(struct lc_thread *t)
{
	int err = -ECANCELED;

	pthread_mutex_lock(&engines.lock);
	if (engines.running)
		err = begin(t);
	pthread_mutex_unlock(&engines.lock);
	return err;
}

void lc_engines_thread_stop(struct lc_thread *t)
{
	if (!t->sampler)
		return;
	pthread_mutex_lock(&engines.lock);
	pause_all(t->sampler); /* from here on our handlers return at once on this thread */
	finish(t->sampler);
	pthread_mutex_unlock(&engines.lock);
}

void lc_engines_thread_free(struct lc_thread *t)
{
	pthread_mutex_lock(&engines.lock);
	if (t->sampler) {
		pause_all(t->sampler);
		finish(t->sampler);
	}
	lc_sampler_destroy(t);
	pthread_mutex_unlock(&engines.lock);
}

uint64_t lc_engines_thread_take_lost(struct lc_thread *t, size_t engine)
{
	struct lc_sampler_slot *slot = t->sampler ? &t->sampler->slot[engine] : NULL;
	uint64_t lost = slot ? atomic_load_explicit(&slot->lost, memory_order_relaxed) : 0;
	uint64_t fresh = slot ? lost - slot->lost_taken : 0;

	if (slot)
		slot->lost_taken = lost;
	return fresh;
}

void lc_engines_stop(void)
{
	pthread_mutex_lock(&engines.lock);
	engines.running = false;
	for (uint32_t i = 0; i < lc_samplers_used(); i++)
		if (atomic_load(&lc_samplers_at(i)->state) == LC_SAMPLER_ACTIVE)
			pause_all(lc_samplers_at(i));
	for (uint32_t i = 0; i < lc_samplers_used(); i++) {
		struct lc_sampler *s = lc_samplers_at(i);

		lc_sampler_wait(s);
		if (atomic_load(&s->state) == LC_SAMPLER_STOPPED)
			finish(s);
	}
	pthread_mutex_unlock(&engines.lock);
}

void lc_engines_stats(size_t engine, struct lc_engine_stats *out)
{
	out->samples = lc_engine_counted(engine, LC_ENGINE_SAMPLES);
	out->lost = lc_engine_counted(engine, LC_ENGINE_LOST);
	out->overruns = lc_engine_counted(engine, LC_ENGINE_OVERRUNS);
	out->ring_lost = lc_engine_counted(engine, LC_ENGINE_RING_LOST);
	out->throttled = lc_engine_counted(engine, LC_ENGINE_THROTTLED);
	out->counted = lc_engine_counted(engine, LC_ENGINE_COUNTED);
	out->no_thread = lc_engine_counted(engine, LC_ENGINE_NO_THREAD);
}
