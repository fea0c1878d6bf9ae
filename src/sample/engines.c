/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/engines.c - chooses which engines run, and starts and stops them for each thread.
 *
 * The table of engines is written by lc_engines_start() and constant afterwards. `lock` guards
 * the arena, the slots of samplers (but for what handlers do with them), and `running`; it is
 * never taken in a handler.
 */
#include "src/sample/engine.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "src/base/limit.h"
#include "src/base/options.h"
#include "src/base/say.h"
#include "src/core/counters.h"
#include "src/core/thread.h"
#include "src/sample/sampler.h"
#include "src/sample/watch.h"

struct engine {
	struct lc_engine_info info;
	const struct lc_backend *backend;
	struct lc_event event;
	bool begun; /* for a thread; under the lock */
};

static struct {
	struct engine row[LC_EVENTS_MAX];
	size_t len;
	char reason[512]; /* why engines run that nobody asked for by name */
	pthread_mutex_t lock;
	bool running;
} engines = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* -- choice ------------------------------------------------------------------------------ */

enum { PROBE_MS = 200, REASON_MAX = 512, CANDIDATE_REASONS = 4 };

static const struct lc_event_machine this_machine;

/* The backend of events of that kind; NULL if this build has none. */
static const struct lc_backend *backend_of(enum lc_event_kind kind)
{
	switch (kind) {
	case LC_KIND_TIMER:
		return lc_backend_timer();
	case LC_KIND_PEBS:
	case LC_KIND_IBS:
	case LC_KIND_FAULT:
		return lc_backend_perf();
	case LC_KIND_WATCH:
		return lc_backend_watch();
	default:
		return NULL;
	}
}

/* Append to the reason, which lives as long as the engines. */
static void add_reason(const char *text)
{
	const size_t len = strlen(engines.reason);

	snprintf(engines.reason + len, sizeof(engines.reason) - len, "%s%s", len ? "; " : "", text);
}

static int add(const struct lc_event *event, const char *reason, const struct lc_options *options)
{
	struct engine *e = &engines.row[engines.len];
	int err;

	e->event = *event;
	e->backend = backend_of(event->kind);
	e->info = (struct lc_engine_info){
		.name = lc_event_kind_name(event->kind),
		.event = e->event.event,
		.unit = e->event.unit,
		.reason = reason,
		.interval = event->period ? event->period : options->interval_ns,
	};
	err = e->backend->start(engines.len, &e->event, options);
	if (!err && event->kind == LC_KIND_TIMER)
		e->info.tick_ns = lc_timer_account_tick_ns();
	if (!err)
		engines.len++;
	return err;
}

static int add_timer(const char *reason, const struct lc_options *options)
{
	struct lc_events timer;
	char error[64];
	int err;

	for (size_t i = 0; i < engines.len; i++)
		if (engines.row[i].event.kind == LC_KIND_TIMER)
			return 0;
	err = lc_event_parse("timer", &this_machine, &timer, error, sizeof(error));
	return err ? err : add(&timer.event[0], reason, options);
}

/*
 * Does the kernel accept the event? No samples may come all the same: the program may cause none.
 */
static int try_event(const struct lc_event *event, char *why, size_t why_len)
{
	struct lc_perf perf = LC_PERF_NONE;
	int err;

	if (!backend_of(event->kind)) {
		snprintf(why, why_len, "this build has no engine for it");
		return -ENOTSUP;
	}
	if (event->kind == LC_KIND_TIMER)
		return 0;
	err = lc_perf_engine_open(&perf, event, 0, 0);
	if (err)
		lc_perf_explain(err, "", why, why_len);
	else
		lc_perf_close(&perf);
	return err;
}

/*
 * Choose the best event that delivers: it was opened, a sample came, and the sample has an address.
 */
static int choose(const struct lc_options *options)
{
	char reasons[CANDIDATE_REASONS][160], why[REASON_MAX], line[REASON_MAX];
	struct lc_events found;
	size_t reasons_len = 0;

	lc_event_candidates(&this_machine, &found, reasons, CANDIDATE_REASONS, &reasons_len);
	for (size_t i = 0; i < reasons_len; i++)
		add_reason(reasons[i]);
	for (size_t i = 0; i < found.len; i++) {
		const struct lc_event *event = &found.event[i];
		const struct lc_perf_config config = {
			.attr = &event->attr,
			.aux = event->has_aux ? &event->aux : NULL,
		};
		int err;

		if (event->kind == LC_KIND_TIMER)
			break;
		err = lc_perf_probe(&config, PROBE_MS);
		if (!err) {
			add_reason("it samples addresses");
			return add(event, engines.reason, options);
		}
		lc_perf_explain(err, "", why, sizeof(why));
		snprintf(line, sizeof(line), "%s: %.400s", event->text, why);
		add_reason(line);
	}
	return add_timer(engines.reason, options);
}

/* Take the events that -e names. The timer stands in for those that machine or kernel refuse. */
static int take_named(const struct lc_options *options)
{
	char why[REASON_MAX];
	struct lc_events asked = { .len = 0 };
	bool refused = false;
	int err = lc_event_parse(options->event, &this_machine, &asked, why, sizeof(why));

	if (err == -ENODEV) {
		refused = true;
		lc_say("%s; the timer samples instead", why);
		add_reason(why);
	} else if (err) {
		lc_say("%s", why);
		return err;
	}
	for (size_t i = 0; i < asked.len; i++) {
		const struct lc_event *event = &asked.event[i];

		if (try_event(event, why, sizeof(why))) {
			refused = true;
			lc_say("%s: %s; the timer samples instead", event->text, why);
			add_reason(event->text);
			add_reason(why);
			continue;
		}
		err = add(event, NULL, options);
		if (err)
			return err;
	}
	return refused || !engines.len ? add_timer(engines.reason, options) : 0;
}

int lc_engines_start(JNIEnv *jni, const struct lc_options *options)
{
	int err = lc_sampler_init(jni, options);

	if (err)
		return err;
	if (strcmp(options->event, "auto") == 0)
		err = choose(options);
	else if (strcmp(options->event, LC_EVENT_NONE) != 0)
		err = take_named(options);
	pthread_mutex_lock(&engines.lock);
	engines.running = !err && engines.len;
	pthread_mutex_unlock(&engines.lock);
	return err;
}

void lc_engines_stretch(uint32_t stretch)
{
	lc_timer_account_stretch(stretch);
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
	if (s->audit)
		lc_walk_audit_close(s->audit);
}

static void pause_all(struct lc_sampler *s)
{
	lc_sampler_shut(s);
	for (size_t i = 0; i < engines.len; i++)
		engines.row[i].backend->thread_pause(s, i);
}

/* Say, once in a recording, that an engine does not get what it needs for a thread. */
static void tell_refused(size_t engine, int err)
{
	const bool timer = engines.row[engine].event.kind == LC_KIND_TIMER;
	const bool forbidden = err == -EPERM || err == -ENOSYS || err == -EACCES;

	if (!err || err == -ESRCH ||
	    (err == -EMFILE && !timer)) /* it has ended; or core/fds.h tells */
		return;
	lc_engine_add(engine, LC_ENGINE_NO_THREAD, 1);
	/* A filter that forbids the call to the first thread forbids it to all. */
	(void)lc_limit_reached(
	    "threads_not_sampled", "%s by %s: %s%s",
	    forbidden && !engines.row[engine].begun ? "no thread is sampled"
	                                            : "some threads are not sampled",
	    engines.row[engine].info.name, timer ? "timer_create: " : "perf_event_open: ",
	    timer && err == -EAGAIN ? "the limit of pending signals (ulimit -i) "
	                              "is used up"
	    : forbidden             ? "forbidden here (by a seccomp filter?)"
	                            : strerror(-err));
}

/* With the lock held. A thread that one engine cannot sample is sampled by the others. */
static int begin(struct lc_thread *t)
{
	int err = lc_sampler_create(t), first = 0;
	size_t begun = 0;

	if (err) {
		(void)lc_limit_reached("threads_not_sampled", "some threads are not sampled: %s",
		                       err == -EAGAIN
		                           ? "there are more than 65,536 threads at a time"
		                           : strerror(-err));
		return err;
	}
	for (size_t i = 0; i < engines.len; i++) {
		err = engines.row[i].backend->thread_open(t->sampler, i);
		tell_refused(i, err);
		if (err && !first)
			first = err;
	}
	lc_sampler_activate(t->sampler);
	for (size_t i = 0; i < engines.len; i++) {
		if (!t->sampler->slot[i].open)
			continue;
		err = engines.row[i].backend->thread_begin(t->sampler, i);
		begun += !err;
		engines.row[i].begun |= !err;
		tell_refused(i, err);
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

void lc_engines_close_idle(void)
{
	pthread_mutex_lock(&engines.lock);
	for (uint32_t i = 0; i < lc_samplers_used(); i++)
		if (atomic_load(&lc_samplers_at(i)->state) == LC_SAMPLER_ACTIVE)
			lc_trap_close_idle(&lc_samplers_at(i)->trap);
	pthread_mutex_unlock(&engines.lock);
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

/* The counts of threads that have not stopped; the others have added theirs to the sums. */
static uint64_t counted_now(size_t engine)
{
	const struct lc_backend *backend = engines.row[engine].backend;
	uint64_t n = 0;

	if (!backend->thread_counted)
		return 0;
	pthread_mutex_lock(&engines.lock);
	for (uint32_t i = 0; i < lc_samplers_used(); i++)
		if (atomic_load(&lc_samplers_at(i)->state) == LC_SAMPLER_ACTIVE)
			n += backend->thread_counted(lc_samplers_at(i), engine);
	pthread_mutex_unlock(&engines.lock);
	return n;
}

void lc_engines_samples(uint64_t *taken, uint64_t *lost)
{
	*taken = *lost = 0;
	for (size_t i = 0; i < lc_engines_count(); i++) {
		*taken += lc_engine_counted(i, LC_ENGINE_SAMPLES);
		*lost += lc_engine_counted(i, LC_ENGINE_LOST);
	}
}

/* Two engines of one kind are told apart by number: "engine_pebs_", "engine_pebs_2_". */
static void put_engine(struct lc_counters *out, size_t engine)
{
	const char *kind = lc_engines_info(engine)->name;
	struct lc_watch_stats w = { 0 };
	const bool watch = lc_watch_stats(engine, &w);
	char name[LC_COUNTER_NAME_MAX];
	unsigned number = 1;

	const struct {
		const char *what;
		uint64_t value;
		bool always;
	} rows[] = {
		{ "samples", lc_engine_counted(engine, LC_ENGINE_SAMPLES), true },
		{ "lost", lc_engine_counted(engine, LC_ENGINE_LOST), true },
		{ "overruns", lc_engine_counted(engine, LC_ENGINE_OVERRUNS), false },
		{ "ring_lost", lc_engine_counted(engine, LC_ENGINE_RING_LOST), false },
		{ "throttled", lc_engine_counted(engine, LC_ENGINE_THROTTLED), false },
		{ "counted", lc_engine_counted(engine, LC_ENGINE_COUNTED) + counted_now(engine),
		  false },
		{ "own", lc_engine_counted(engine, LC_ENGINE_OWN), false },
		{ "no_thread", lc_engine_counted(engine, LC_ENGINE_NO_THREAD), false },
		{ "found", w.found, watch },
		{ "moved", w.moved, watch },
		{ "died", w.died, false },
		{ "objects_seen", w.seen, watch },
		{ "unaimed", w.unaimed, false },
	};

	for (size_t i = 0; i < engine; i++)
		number += !strcmp(lc_engines_info(i)->name, kind);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!rows[i].value && !rows[i].always)
			continue;
		if (number == 1)
			snprintf(name, sizeof(name), "engine_%s_%s", kind, rows[i].what);
		else
			snprintf(name, sizeof(name), "engine_%s_%u_%s", kind, number, rows[i].what);
		lc_counters_put(out, name, rows[i].value);
	}
}

static void put_counters(struct lc_counters *out)
{
	for (size_t i = 0; i < lc_engines_count(); i++)
		put_engine(out, i);
}

LC_COUNTER_TABLE(.put = put_counters);
