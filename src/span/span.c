/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/span.c - starts and stops spans, for the process and for threads: see span.h.
 *
 * Order:     P1  a pause is written before `pauses_head` is stored (release) -> the attribution
 *                thread loads it (acquire).
 *            P2  it stores `pauses_tail` when it has read (release) -> the next
 *                pause loads it (acquire).
 */
#include "src/span/span.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/ends.h"
#include "src/base/hash.h"
#include "src/base/limit.h"
#include "src/base/options.h"
#include "src/base/say.h"
#include "src/base/spin.h"
#include "src/base/time.h"
#include "src/classfile/span_rewrite.h"
#include "src/core/counters.h"
#include "src/core/jvmti.h"
#include "src/core/own.h"
#include "src/core/own_work.h"
#include "src/core/path.h"
#include "src/core/record.h"
#include "src/core/refs.h"
#include "src/core/thread.h"
#include "src/profile/profile_writer.h"
#include "src/profile/tally.h"
#include "src/span/calibration.h"
#include "src/span/clock/timeline.h"
#include "src/span/frames/interrupt.h"
#include "src/span/frames/stack.h"
#include "src/span/frames/trace.h"
#include "src/span/streams/location.h"
#include "src/span/tasks/link.h"
#include "src/span/tasks/task.h"
#include "src/stack/walker.h"

_Static_assert((int)LC_SPANS_STREAMS == (int)LC_SPAN_STREAMS, "one set of bits");
_Static_assert((int)LC_SPANS_TASKS == (int)LC_SPAN_TASKS, "one set of bits");
_Static_assert((int)LC_CLOCK_WANTED_COARSE == (int)LC_CYCLES_TSC_COARSE + 1, "auto comes first");

enum { PAUSES_MAX = 4096 };

static const uint8_t class_file[] = {
#include "span_class_bytes.inc"
};

static struct {
	unsigned wanted;       /* LC_SPAN_, as asked for */
	_Atomic unsigned what; /* what is recorded */
	_Atomic bool enabled;
	bool trace;
	struct lc_span_costs costs;
	struct lc_manifest_spans manifest;
	jclass overflow_error;           /* java.lang.StackOverflowError */
	_Atomic(const char *) errors[2]; /* why streams, tasks are not recorded */

	_Atomic int thread_error; /* why the last thread without spans has none, -errno; 0 */

	struct lc_span_pauses pauses;
	uint64_t pause_start_ns; /* between a start and its finish */
	struct lc_block_pause pause_ring[PAUSES_MAX];
	_Atomic uint64_t pauses_head, pauses_tail, pauses_lost;
} span;

unsigned lc_span_what(void)
{
	return atomic_load_explicit(&span.what, memory_order_relaxed); /* on its own */
}

bool lc_span_streams(void)
{
	return lc_span_what() & LC_SPAN_STREAMS;
}

bool lc_span_tasks(void)
{
	return lc_span_what() & LC_SPAN_TASKS;
}

void lc_span_give_up(unsigned what, const char *reason)
{
	unsigned before = atomic_fetch_and_explicit(&span.what, ~what, memory_order_relaxed) & what;

	for (unsigned i = 0; i < 2; i++)
		if (before >> i & 1)
			atomic_store_explicit(&span.errors[i], reason, memory_order_release);
	if (before)
		lc_say("%s are not recorded: %s",
		       before == LC_SPAN_STREAMS ? "streams"
		       : before == LC_SPAN_TASKS ? "tasks"
		                                 : "streams and tasks",
		       reason);
}

/* Start */

static int define_class(JNIEnv *jni)
{
	jclass class = (*jni)->FindClass(jni, LC_SPAN_CLASS); /* of an earlier recording */

	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	if (!class)
		class = (*jni)->DefineClass(jni, LC_SPAN_CLASS, NULL, (const jbyte *)class_file,
		                            (jsize)sizeof(class_file));
	/* Asking for a method links and initialises the class, so that a hook never has to. */
	if (class && !(*jni)->GetStaticMethodID(jni, class, "end", "()V"))
		class = NULL;
	if (class && lc_own_class(class))
		class = NULL;
	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	return class ? 0 : -EIO;
}

/* Asked for at the start: a thread that has no stack left is to call as little as possible. */
static int find_overflow_error(JNIEnv *jni)
{
	jclass class = (*jni)->FindClass(jni, "java/lang/StackOverflowError");

	span.overflow_error = class ? lc_ref_new(jni, class) : NULL;
	if (!class)
		(*jni)->ExceptionClear(jni);
	return span.overflow_error ? 0 : -EIO;
}

void lc_span_overflow(JNIEnv *jni)
{
	(*jni)->ThrowNew(jni, span.overflow_error, NULL);
}

/* The calibration's own spans. */
static void throw_away(void)
{
	struct lc_thread *t = lc_thread_self();

	lc_span_thread_close(false);
	if (t)
		lc_span_thread_free(t);
}

/* Places for which there will be no slot are told apart from those that are not known. */
static int name_other_places(JNIEnv *jni)
{
	const uint64_t id = LC_PATH_OTHER_PLACES;
	uint64_t frame = lc_frame_pack((const void *)(uintptr_t)id, -1); /* NOLINT */
	int err = lc_path_define(id, LC_SPAN_OTHER_CLASS, "", "()V");
	uint32_t path = err ? 0 : lc_path_intern(jni, &frame, 1);

	lc_span_slots_name_other(path, lc_site_intern("L" LC_SPAN_OTHER_CLASS ";", 0, path));
	return err;
}

/*
 * A stream's place is its line, whatever the callers; a task's is its class, and of lambda
 * expressions also the line of the creation. The report groups spans in the same way.
 */
static uint64_t number_of_place(const struct lc_span_key *key)
{
	const struct lc_site *site = key->site ? lc_site_get(key->site) : NULL;
	const struct lc_path_node *leaf;
	const struct lc_method *method;
	uint64_t number = 0;
	uint32_t path = key->path;

	if (site) {
		number = lc_hash_text(1, site->class_name);
		path =
		    lc_ends_with(site->class_name, strlen(site->class_name), LC_SPAN_LAMBDAS_SUFFIX)
		        ? site->path
		        : 0;
	}
	leaf = path ? lc_path_get(path) : NULL;
	method = leaf ? lc_method_get(leaf->method) : NULL;
	if (!method)
		return number;
	number = lc_hash_add(number, leaf->method);
	return lc_hash_add(number, (uint64_t)(int64_t)lc_method_line(method, leaf->bci));
}

/* And links, which streams need as well. */
static int init_tasks(JNIEnv *jni, const struct lc_task_config *config)
{
	const char *why = lc_span_tasks() ? lc_task_mismatch(jni) : NULL;

	if (why)
		lc_span_give_up(LC_SPAN_TASKS, why);
	return lc_span_tasks() ? lc_task_init(config) : lc_link_init();
}

int lc_span_init(JNIEnv *jni, const struct lc_options *options)
{
	static const struct lc_own_work_clock work = { lc_span_work_begin, lc_span_work_end };
	unsigned clock = options->clock ? (unsigned)options->clock - 1 : (unsigned)LC_CYCLES_KINDS;
	const struct lc_task_config tasks = {
		.enter = lc_span_enter,
		.depth = options->span_paths ? (uint32_t)options->depth : 1,
	};
	int err;

	span.wanted = options->spans;
	if (!span.wanted)
		return 0;
	span.trace = options->trace;
	atomic_store_explicit(&span.what, span.wanted, memory_order_relaxed);
	lc_span_places_by(number_of_place);
	lc_locations_init(options->span_paths, (uint32_t)options->depth);
	err = lc_cycles_init(clock);
	if (!err)
		err = define_class(jni);
	if (!err)
		err = find_overflow_error(jni);
	if (!err)
		err = name_other_places(jni);
	if (!err)
		err = init_tasks(jni, &tasks);
	if (err) {
		lc_span_give_up(span.wanted, strerror(-err));
		return err;
	}
	lc_timeline_init(lc_thread_take_index());
	lc_own_work_keep(&work);
	lc_span_enable(true);
	lc_calibration_start(jni, options, &span.costs, &span.manifest);
	throw_away();
	lc_probe_enable(lc_span_streams() && !span.trace);
	lc_timeline_begin();
	return 0;
}

void lc_span_enable(bool on)
{
	atomic_store_explicit(&span.enabled, on, memory_order_release);
}

/* Threads */

/* Create the parts of a thread's spans, the clock last. Returns 0 or -errno. */
static int create_parts(struct lc_span_thread *s, struct lc_thread *t)
{
	int err = lc_locations_create(t->walker, &s->locations);

	if (!err && lc_span_tasks())
		err = lc_task_thread_create(&s->tasks);
	if (!err && span.trace)
		err = lc_trace_log_create(&s->traces);
	return err ? err : lc_cycles_open_young(&s->clock);
}

static int create(struct lc_thread *t, struct lc_span_thread **out)
{
	struct lc_span_thread *s = calloc(1, sizeof(*s));
	int err = s ? lc_span_stack_init(s, &span.costs, &span.pauses) : -ENOMEM;

	if (err) {
		free(s);
		return err;
	}
	lc_probe_init(s);
	s->thread = t;
	if (lc_walker_end(t->walker)) {
		s->low_end = t->walker->stack_low + LC_SPAN_LOW_BYTES;
		s->last_end = t->walker->stack_low + LC_SPAN_LAST_BYTES;
	}
	s->last_number = (uint64_t)(t->index + 1) << LC_SPAN_NUMBER_BITS;
	err = create_parts(s, t);
	if (err) {
		lc_task_thread_destroy(s->tasks);
		lc_trace_log_destroy(s->traces);
		lc_locations_destroy(s->locations);
		lc_span_stack_destroy(s);
		free(s);
		return err;
	}
	*out = s;
	return 0;
}

int lc_span_thread_error(void)
{
	return atomic_load_explicit(&span.thread_error, memory_order_relaxed); /* on its own */
}

struct lc_span_thread *lc_span_thread_open(JNIEnv *jni)
{
	struct lc_thread *t = lc_thread_self();
	struct lc_span_thread *s;
	int err;

	if (!atomic_load_explicit(&span.enabled, memory_order_acquire))
		return NULL;
	if (!t)
		t = lc_thread_enter(jni);
	if (!t)
		return NULL;
	s = atomic_load_explicit(&t->spans, memory_order_relaxed); /* ours */
	if (!s) {
		err = create(t, &s);
		if (err) {
			atomic_store_explicit(&span.thread_error, err, memory_order_relaxed);
			(void)lc_limit_note("spans_lost",
			                    "the streams and tasks of some threads are not "
			                    "counted: %s",
			                    strerror(-err));
		}
		atomic_store_explicit(&t->spans, s, memory_order_release); /* S0: complete */
	}
	return s;
}

void lc_span_thread_end(struct lc_thread *t)
{
	struct lc_span_thread *s =
	    t ? atomic_load_explicit(&t->spans, memory_order_relaxed) : NULL; /* ours */

	lc_span_thread_close(true);
	if (!s)
		return;
	lc_probe_stop(s);
	lc_spin_lock(&s->lock); /* the attribution thread may be reading it */
	lc_cycles_close(&s->clock);
	lc_spin_unlock(&s->lock);
}

void lc_span_thread_free(struct lc_thread *t)
{
	struct lc_span_thread *s = atomic_load_explicit(&t->spans, memory_order_acquire);

	if (!s)
		return;
	atomic_store_explicit(&t->spans, NULL, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst); /* the thread's own samples look at them */
	lc_cycles_close(&s->clock);
	lc_task_thread_destroy(s->tasks);
	lc_trace_log_destroy(s->traces);
	lc_locations_destroy(s->locations);
	lc_span_stack_destroy(s);
	free(s);
}

/* Pauses */

void lc_span_gc_start(void)
{
	span.pause_start_ns = lc_time_now_ns();
}

void lc_span_gc_finish(void)
{
	uint64_t head = atomic_load_explicit(&span.pauses_head, memory_order_relaxed); /* ours */
	uint64_t ns;

	if (!span.pause_start_ns)
		return;
	ns = lc_time_now_ns() - span.pause_start_ns;
	lc_span_add(&span.pauses.ns, ns);
	lc_span_add(&span.pauses.count, 1);
	if (head - atomic_load_explicit(&span.pauses_tail, memory_order_acquire) < /* P2 */
	    PAUSES_MAX) {
		span.pause_ring[head % PAUSES_MAX] =
		    (struct lc_block_pause){ span.pause_start_ns, ns };
		atomic_store_explicit(&span.pauses_head, head + 1, memory_order_release); /* P1 */
	} else {
		lc_span_add(&span.pauses_lost, 1);
	}
	span.pause_start_ns = 0;
}

void lc_span_take_pauses(struct lc_tally *tally)
{
	uint64_t tail = atomic_load_explicit(&span.pauses_tail, memory_order_relaxed); /* ours */
	uint64_t head = atomic_load_explicit(&span.pauses_head, memory_order_acquire); /* P1 */

	for (; tail != head; tail++)
		if (lc_tally_pause(tally, &span.pause_ring[tail % PAUSES_MAX]) == -ENOMEM)
			break;                                                /* the next time */
	atomic_store_explicit(&span.pauses_tail, tail, memory_order_release); /* P2 */
}

/* The manifest */

const struct lc_manifest_spans *lc_span_manifest(void)
{
	struct lc_manifest_spans *m = &span.manifest;

	if (!span.wanted)
		return NULL;
	m->streams = lc_span_streams();
	m->tasks = lc_span_tasks();
	m->streams_error = atomic_load_explicit(&span.errors[0], memory_order_acquire);
	m->tasks_error = atomic_load_explicit(&span.errors[1], memory_order_acquire);
	m->clock = lc_cycles_name(lc_cycles_kind());
	m->clock_reason = lc_cycles_reason();
	m->clock_hz = lc_cycles_hz();
	return m;
}

static const struct lc_counter counters[] = {
	LC_COUNTER("spans_pauses_lost", &span.pauses_lost), /* found no room */
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters), .begin = lc_counters_with_spans);
