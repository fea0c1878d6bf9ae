/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/clock/timeline.c - reads CPU time and context switches of the threads, stretch by stretch.
 *
 * Order: T1  an ending thread stores what it used, then `told` (release) -> the attribution thread
 *            loads `told` (acquire). Everything else of a thread is written at its creation, before
 *            it is published, and then by the attribution thread alone.
 */
#include "src/span/clock/timeline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "src/base/time.h"
#include "src/core/counters.h"
#include "src/core/thread.h"
#include "src/span/clock/timeline_impl.h"

enum { STATUS_BYTES = 4096, NO_FILE = -1 };

struct lc_timeline_thread {
	int32_t tid;
	int file;                           /* /proc/self/task/TID/status, or NO_FILE */
	bool resting;                       /* it did not run before the last look */
	bool moved;                         /* it has run since its switches were read */
	bool over;                          /* what it told is counted */
	uint64_t cpu_at_ns, switches_at_ns; /* when they were looked at */
	struct lc_timeline_amount seen;     /* and what they were */
	struct lc_vector rows;              /* of struct lc_block_timeline */
	struct lc_timeline_amount last;     /* written by: the thread at its end, with last_ns */
	uint64_t last_ns;
	_Atomic bool told;
};

static struct {
	_Atomic bool on;
	uint32_t jvm_index;
	/* Attribution thread only. */
	uint64_t looked_ns, next_ns;
	uint32_t turn, threads, active, was_active, files;
	struct lc_timeline_amount process, java, debt;
	struct lc_vector jvm_rows;
	struct {
		uint64_t looks;    /* readings of a thread's CPU clock */
		uint64_t reads;    /* readings of a thread's switches */
		uint64_t deferred; /* looks and reads that waited for their turn */
		uint64_t lost;     /* rows without memory */
		uint64_t ns;       /* CPU time of timelines */
	} stats;
} timeline = { .jvm_rows = { .element_bytes = sizeof(struct lc_block_timeline) } };

/* -- what a thread has used ----------------------------------------------------------------- */

static uint64_t ns_of(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

static bool read_cpu(int32_t tid, uint64_t *out)
{
	struct timespec t;

	if (clock_gettime(lc_time_thread_clock(tid), &t))
		return false;
	*out = ns_of(&t);
	return true;
}

static void read_own(int who, struct lc_timeline_amount *out)
{
	struct timespec t = { 0 };
	struct rusage r = { 0 };

	getrusage(who, &r);
	clock_gettime(who == RUSAGE_SELF ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_THREAD_CPUTIME_ID, &t);
	*out =
	    (struct lc_timeline_amount){ ns_of(&t), (uint64_t)r.ru_nvcsw, (uint64_t)r.ru_nivcsw };
}

/* Files are kept for the threads that were active first; for others it is opened each time. */
static bool read_switches(struct lc_timeline_thread *t, uint64_t *voluntary, uint64_t *involuntary)
{
	char text[STATUS_BYTES], path[64];
	int file = t->file;
	ssize_t n;

	if (file == NO_FILE) {
		snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)t->tid);
		file = open(path, O_RDONLY | O_CLOEXEC);
		if (file < 0)
			return false;
	}
	n = pread(file, text, sizeof(text) - 1, 0);
	if (t->file == NO_FILE && n > 0 && timeline.files < LC_TIMELINE_FILES) {
		t->file = file;
		timeline.files++;
	} else if (t->file == NO_FILE) {
		close(file);
	}
	if (n <= 0)
		return false;
	text[n] = '\0';
	return lc_timeline_parse(text, voluntary, involuntary);
}

/* -- rows ----------------------------------------------------------------------------------- */

static void spread(struct lc_vector *rows, uint64_t from, uint64_t to,
                   const struct lc_timeline_amount *a)
{
	if (lc_timeline_spread(rows, from, to, a))
		timeline.stats.lost++;
}

/* It never counts down: a smaller number is one read too early. */
static uint64_t difference(uint64_t now, uint64_t *seen)
{
	uint64_t d = now > *seen ? now - *seen : 0;

	*seen += d;
	return d;
}

static void count_cpu(struct lc_timeline_thread *t, uint64_t now_ns, uint64_t cpu_ns)
{
	struct lc_timeline_amount a = { .cpu_ns = difference(cpu_ns, &t->seen.cpu_ns) };

	spread(&t->rows, t->cpu_at_ns, now_ns, &a);
	timeline.java.cpu_ns += a.cpu_ns;
	t->cpu_at_ns = now_ns;
}

static void count_switches(struct lc_timeline_thread *t, uint64_t now_ns, uint64_t voluntary,
                           uint64_t involuntary)
{
	struct lc_timeline_amount a = {
		.voluntary = difference(voluntary, &t->seen.voluntary),
		.involuntary = difference(involuntary, &t->seen.involuntary),
	};

	spread(&t->rows, t->switches_at_ns, now_ns, &a);
	timeline.java.voluntary += a.voluntary;
	timeline.java.involuntary += a.involuntary;
	t->switches_at_ns = now_ns;
}

/* Where there are more of a kind than `each`, is it this one's turn? */
static bool has_turn(const struct lc_timeline_thread *t, uint32_t of, uint32_t each)
{
	uint32_t turns = of ? (of - 1) / each + 1 : 1;

	if (turns > LC_TIMELINE_TURNS)
		turns = LC_TIMELINE_TURNS;
	if ((uint32_t)t->tid % turns == timeline.turn % turns)
		return true;
	timeline.stats.deferred++;
	return false;
}

static void look_at(struct lc_timeline_thread *t, uint64_t now_ns, bool all)
{
	uint64_t cpu, voluntary, involuntary;

	if (t->resting && !all && !has_turn(t, timeline.threads, LC_TIMELINE_EACH))
		return;
	timeline.stats.looks++;
	if (!read_cpu(t->tid, &cpu))
		return; /* it has ended, and told */
	t->resting = cpu <= t->seen.cpu_ns;
	if (!t->resting) {
		timeline.active++;
		t->moved = true;
	}
	count_cpu(t, now_ns, cpu);
	if (!t->moved) {
		t->switches_at_ns = now_ns; /* who does not run is not switched */
		return;
	}
	if (!all && !has_turn(t, timeline.was_active, LC_TIMELINE_READS))
		return;
	timeline.stats.reads++;
	if (!read_switches(t, &voluntary, &involuntary))
		return;
	t->moved = false;
	count_switches(t, now_ns, voluntary, involuntary);
}

/* Read the time of the process that is none of its Java threads'. */
static void look_at_jvm(uint64_t now_ns)
{
	struct lc_timeline_amount now, rest;

	read_own(RUSAGE_SELF, &now);
	rest = (struct lc_timeline_amount){
		.cpu_ns = lc_timeline_rest(difference(now.cpu_ns, &timeline.process.cpu_ns),
		                           timeline.java.cpu_ns, &timeline.debt.cpu_ns),
		.voluntary =
		    lc_timeline_rest(difference(now.voluntary, &timeline.process.voluntary),
		                     timeline.java.voluntary, &timeline.debt.voluntary),
		.involuntary =
		    lc_timeline_rest(difference(now.involuntary, &timeline.process.involuntary),
		                     timeline.java.involuntary, &timeline.debt.involuntary),
	};
	timeline.java = (struct lc_timeline_amount){ 0 };
	spread(&timeline.jvm_rows, timeline.looked_ns, now_ns, &rest);
}

/* -- life ----------------------------------------------------------------------------------- */

void lc_timeline_init(uint32_t jvm_index)
{
	timeline.jvm_index = jvm_index;
	timeline.looked_ns = lc_time_now_ns();
	timeline.next_ns = lc_timeline_next_ns(timeline.looked_ns);
	read_own(RUSAGE_SELF, &timeline.process);
	atomic_store_explicit(&timeline.on, true, memory_order_release);
}

bool lc_timeline_on(void)
{
	return atomic_load_explicit(&timeline.on, memory_order_acquire);
}

/* All that it has used so far. */
static void read_first(struct lc_timeline_thread *t)
{
	char text[STATUS_BYTES], path[64];
	ssize_t n = 0;
	int file;

	if (t->tid == (int32_t)syscall(SYS_gettid)) {
		read_own(RUSAGE_THREAD, &t->seen);
	} else {
		snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)t->tid);
		file = open(path, O_RDONLY | O_CLOEXEC);
		if (file >= 0)
			n = pread(file, text, sizeof(text) - 1, 0);
		text[n > 0 ? n : 0] = '\0';
		lc_timeline_parse(text, &t->seen.voluntary, &t->seen.involuntary);
		if (file >= 0)
			close(file);
		read_cpu(t->tid, &t->seen.cpu_ns);
	}
	t->cpu_at_ns = t->switches_at_ns = lc_time_now_ns();
}

struct lc_timeline_thread *lc_timeline_thread_create(int32_t tid)
{
	struct lc_timeline_thread *t = lc_timeline_on() ? calloc(1, sizeof(*t)) : NULL;

	if (!t)
		return NULL;
	t->tid = tid;
	t->file = NO_FILE;
	t->rows.element_bytes = sizeof(struct lc_block_timeline);
	read_first(t);
	return t;
}

void lc_timeline_begin(void)
{
	lc_threads_lock();
	for (struct lc_thread *t = lc_threads_first(); t; t = t->next)
		if (t->timeline)
			read_first(t->timeline);
	lc_threads_unlock();
	timeline.looked_ns = lc_time_now_ns();
	timeline.next_ns = lc_timeline_next_ns(timeline.looked_ns);
	read_own(RUSAGE_SELF, &timeline.process);
}

void lc_timeline_thread_ends(struct lc_timeline_thread *t)
{
	if (!t)
		return;
	read_own(RUSAGE_THREAD, &t->last);
	t->last_ns = lc_time_now_ns();
	atomic_store_explicit(&t->told, true, memory_order_release); /* T1 */
}

void lc_timeline_thread_last(struct lc_timeline_thread *t)
{
	if (!t || t->over || !atomic_load_explicit(&t->told, memory_order_acquire)) /* T1 */
		return;
	t->over = true;
	count_cpu(t, t->last_ns, t->last.cpu_ns);
	count_switches(t, t->last_ns, t->last.voluntary, t->last.involuntary);
}

void lc_timeline_thread_free(struct lc_timeline_thread *t)
{
	if (!t)
		return;
	if (t->file != NO_FILE) {
		close(t->file);
		timeline.files--;
	}
	free(t->rows.data);
	free(t);
}

/* -- the attribution thread ----------------------------------------------------------------- */

uint64_t lc_timeline_next_ns(uint64_t now_ns)
{
	return (now_ns / LC_TIMELINE_NS + 1) * LC_TIMELINE_NS;
}

void lc_timeline_tick(uint64_t now_ns, bool last)
{
	uint32_t threads = 0;
	uint64_t begin_ns = 0, end_ns;

	if (!lc_timeline_on() || (now_ns < timeline.next_ns && !last))
		return;
	read_cpu((int32_t)syscall(SYS_gettid), &begin_ns);
	timeline.turn++;
	timeline.was_active = timeline.active;
	timeline.active = 0;
	for (struct lc_thread *t = lc_threads_walk(); t; t = t->next) {
		threads++;
		if (!t->timeline)
			continue;
		lc_timeline_thread_last(t->timeline);
		if (!t->timeline->over)
			look_at(t->timeline, now_ns, last);
	}
	timeline.threads = threads;
	look_at_jvm(now_ns);
	timeline.looked_ns = now_ns;
	timeline.next_ns = lc_timeline_next_ns(now_ns);
	end_ns = begin_ns;
	read_cpu((int32_t)syscall(SYS_gettid), &end_ns);
	timeline.stats.ns += end_ns - begin_ns;
}

uint64_t lc_timeline_cpu_ns(const struct lc_timeline_thread *t)
{
	return t ? t->seen.cpu_ns : UINT64_MAX;
}

bool lc_timeline_block(const struct lc_timeline_thread *t, struct lc_block_input *in)
{
	if (!t || !t->rows.len)
		return false;
	in->timeline = t->rows.data;
	in->timeline_len = t->rows.len;
	return true;
}

void lc_timeline_clear(struct lc_timeline_thread *t)
{
	if (t)
		t->rows.len = 0;
}

bool lc_timeline_jvm_block(struct lc_block_input *in)
{
	if (!timeline.jvm_rows.len)
		return false;
	in->tid = (uint32_t)getpid();
	in->index = timeline.jvm_index;
	in->name = "(JVM)";
	in->timeline = timeline.jvm_rows.data;
	in->timeline_len = timeline.jvm_rows.len;
	return true;
}

void lc_timeline_jvm_clear(void)
{
	timeline.jvm_rows.len = 0;
}

static const struct lc_counter counters[] = {
	LC_COUNTER("span_timeline_lost", &timeline.stats.lost, .limit = "timelines_lost",
	           .text = "there was no memory for some parts of the timelines"),
	LC_COUNTER("span_timeline_looks", &timeline.stats.looks),
	LC_COUNTER("span_timeline_reads", &timeline.stats.reads),
	LC_COUNTER("span_timeline_deferred", &timeline.stats.deferred),
	LC_COUNTER("span_timeline_us", &timeline.stats.ns, .unit = 1000),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters), .begin = lc_counters_with_spans);
