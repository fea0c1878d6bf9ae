/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/calibration.c - runs loops of empty spans in the profiled JVM: see calibration.h.
 *
 * A batch is LC_CALIBRATION_PAIRS begins and ends in compiled Java. The cycles that its slot has
 * counted are the inner cost. The rest of the batch's time, less that of a loop without spans, is
 * the outer cost. First the loops run until the JIT has compiled them. A JVM that only interprets
 * gets fewer batches, as many as CPU_MS allows.
 *
 * On a CPU that shares its core with other work, outer costs are up to twice as high, and so is the
 * time of a fixed piece of work, lc_probe_yardstick(). So each batch has its loop without spans
 * beside it, and its outer cost is scaled to one time of the yardstick. All loops run in two
 * passes, of which the lower cost counts: in the first one the JIT may still be compiling.
 *
 * Each task is new: it is created, submitted and executed once, as in programs. Only one of these
 * steps is timed. Tasks come in parts of TASKS, since few wait in most programs.
 */
#include "src/span/calibration.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/options.h"
#include "src/base/say.h"
#include "src/base/time.h"
#include "src/core/stages.h"
#include "src/span/calibration_impl.h"
#include "src/span/frames/stack.h"
#include "src/span/frames/trace.h"
#include "src/span/span.h"

#define MS UINT64_C(1000000)
#define CLASS "java/lang/LocusCalibrate"

enum {
	PASSES = 2,
	BATCHES = 125, /* of a pass: 2.5 million pairs of each kind */
	BATCHES_MIN = 20,
	BATCHES_TASKS = 40, /* each has all steps of its tasks */
	YARDSTICKS = 100,
	STEPS_MAX = 3,
	TASKS = 1000, /* in a part; divides LC_CALIBRATION_PAIRS */
	CPU_MS = 400, /* of a kind, where pairs are slow */
	WARM_MS = 100,
	WARM_CALLS = 1000,   /* the JIT compiles a method that was called often as a whole */
	WARM_CALLS_MS = 500, /* for so many calls: each may wait for a collection */
	LATE_MS = 30000,     /* by then the JIT has compiled the loops: one pass will do */
	WARM_PAIRS = 100,
};

static const unsigned char class_bytes[] = {
#include "calibrate_class_bytes.inc"
};

/* Loops without hooks. */
enum bare { BUSY = 0, BUSY_MADE, BUSY_PARTS /* from here for tasks alone */, MADE, BARE_LOOPS };

/* Methods that are called in turn, and which of them is timed. */
struct steps {
	const char *methods[STEPS_MAX]; /* NULL: no more */
	unsigned timed;
	jint part; /* pairs of a call */
};

static const struct steps bare_loops[BARE_LOOPS] = {
	[BUSY] = { { "busy" }, 0, LC_CALIBRATION_PAIRS },
	[BUSY_MADE] = { { "busyMade" }, 0, LC_CALIBRATION_PAIRS },
	[BUSY_PARTS] = { { "busy" }, 0, TASKS },
	[MADE] = { { "make" }, 0, TASKS },
};

struct loop {
	struct steps steps;
	bool task;
	uint8_t kind; /* of the spans; LC_SPAN_KINDS: hooks that begin none */
	enum lc_cost outer;
	enum lc_cost inner; /* LC_COSTS: not taken from this loop */
	enum bare bare;
};

#define STREAMS(method)                                                                            \
	{                                                                                          \
		{ method }, 0, LC_CALIBRATION_PAIRS                                                \
	}
#define LIVES(timed)                                                                               \
	{                                                                                          \
		{ "create", "submit", "task" }, timed, TASKS                                       \
	}

static const struct loop loops[] = {
	{ STREAMS("anonymous"), false, LC_SPAN_ANONYMOUS, LC_COST_ANONYMOUS, LC_COST_INNER, BUSY },
	{ STREAMS("primordial"), false, LC_SPAN_PRIMORDIAL, LC_COST_PRIMORDIAL, LC_COSTS, BUSY },
	{ STREAMS("support"), false, LC_SPAN_SUPPORT, LC_COST_SUPPORT, LC_COSTS, BUSY_MADE },
	{ STREAMS("flat"), false, LC_SPAN_KINDS, LC_COST_FLAT, LC_COSTS, BUSY },
	{ STREAMS("pull"), false, LC_SPAN_KINDS, LC_COST_PULLED, LC_COSTS, BUSY },
	{ LIVES(0), true, LC_SPAN_KINDS, LC_COST_CREATED, LC_COSTS, MADE },
	{ LIVES(1), true, LC_SPAN_KINDS, LC_COST_SUBMITTED, LC_COSTS, BUSY_PARTS },
	{ LIVES(2), true, LC_SPAN_TASK, LC_COST_TASK, LC_COST_TASK_INNER, BUSY_PARTS },
	{ { { "enter" }, 0, TASKS }, true, LC_SPAN_KINDS, LC_COST_ENTERED, LC_COSTS, BUSY_PARTS },
	{ STREAMS("anonymous"), false, LC_SPAN_ANONYMOUS, LC_COST_COUNTED, LC_COSTS, BUSY },
};
enum { LOOPS = sizeof(loops) / sizeof(loops[0]) };

struct config {
	bool streams, tasks; /* what is recorded, and thus measured */
	bool anew;           /* measure even where it is known */
	const char *variant; /* options that change what a span costs; part of the name. "" */
};

struct run {
	const struct config *config;
	JNIEnv *jni;
	jclass class;
	struct lc_cycle_clock clock;
	uint32_t done, parts; /* parts of LC_STAGE_COSTS */
	jmethodID bare[BARE_LOOPS][STEPS_MAX], methods[LOOPS][STEPS_MAX];
	double yardstick;      /* to which outer costs are scaled */
	double *inner, *outer; /* BATCHES of each, cycles of a pair */
};

static const struct lc_span_slot *slot_at(uint32_t i)
{
	const struct lc_span_thread *s = lc_span_known();

	return s ? lc_span_stack_slot(s, i) : NULL;
}

/* With --trace a span costs a row in the log too, as long as that has room. */
static void drain(void)
{
	struct lc_span_thread *s = lc_span_known();
	struct lc_block_trace row;

	while (s && s->traces && lc_trace_log_take(s->traces, &row))
		;
}

static bool wanted(const struct config *config, const struct loop *loop)
{
	return loop->task ? config->tasks : config->streams;
}

/* -- measuring ------------------------------------------------------------------------------ */

struct counted {
	uint64_t executions, cycles;
};

/* Sum of all slots of that kind so far. */
static struct counted count(uint8_t kind)
{
	struct counted sum = { 0 };
	const struct lc_span_slot *s;

	for (uint32_t i = 0; (s = slot_at(i)); i++) {
		if (s->key.kind != kind)
			continue;
		/* Relaxed: the owner is this thread. */
		sum.executions += atomic_load_explicit(&s->counts.executions, memory_order_relaxed);
		sum.cycles += atomic_load_explicit(&s->counts.cycles, memory_order_relaxed);
	}
	return sum;
}

/*
 * Returns the cycles that the call took, -EIO where it threw, or -ECANCELED: a detach has come.
 * Says first how far the measurement is, since a busy machine makes it long.
 */
static int64_t call(struct run *r, jmethodID method, jint pairs)
{
	uint64_t begin, end;

	lc_stages_parts(LC_STAGE_COSTS, r->done, r->parts);
	if (lc_stages_stopped())
		return -ECANCELED;
	begin = lc_cycles_now(&r->clock);
	(void)(*r->jni)->CallStaticIntMethod(r->jni, r->class, method, pairs);
	end = lc_cycles_now(&r->clock);
	if (!(*r->jni)->ExceptionCheck(r->jni))
		return end - begin < INT64_MAX ? (int64_t)(end - begin) : 0;
	(*r->jni)->ExceptionClear(r->jni);
	return -EIO;
}

static jmethodID find(struct run *r, const char *name, const char *signature)
{
	jmethodID method = (*r->jni)->GetStaticMethodID(r->jni, r->class, name, signature);

	if ((*r->jni)->ExceptionCheck(r->jni))
		(*r->jni)->ExceptionClear(r->jni);
	return method;
}

/* The methods of the steps; returns 0, or -EIO if one is missing. */
static int find_steps(struct run *r, const struct steps *s, jmethodID *out)
{
	for (unsigned i = 0; i < STEPS_MAX; i++) {
		out[i] = s->methods[i] ? find(r, s->methods[i], "(I)I") : NULL;
		if (s->methods[i] && !out[i])
			return -EIO;
	}
	return 0;
}

/* Call the steps for `pairs` in parts. Returns the cycles of the timed step, or as call() does. */
static int64_t call_steps(struct run *r, const struct steps *s, const jmethodID *methods,
                          jint pairs)
{
	int64_t cycles = 0;

	for (jint done = 0; done < pairs; done += s->part) {
		const jint part = pairs - done < s->part ? pairs - done : s->part;

		for (unsigned i = 0; i < STEPS_MAX && methods[i]; i++) {
			const int64_t took = call(r, methods[i], part);

			if (took < 0)
				return took;
			cycles += i == s->timed ? took : 0;
		}
	}
	return cycles;
}

static int warm_up(struct run *r, const struct steps *s, const jmethodID *methods)
{
	int64_t cycles = 0;
	uint64_t end_ns = lc_time_now_ns() + WARM_CALLS_MS * MS;

	for (unsigned i = 0; i < WARM_CALLS && lc_time_now_ns() < end_ns && cycles >= 0; i++)
		cycles = call_steps(r, s, methods, WARM_PAIRS);
	end_ns = lc_time_now_ns() + WARM_MS * MS;
	while (lc_time_now_ns() < end_ns && cycles >= 0) {
		cycles = call_steps(r, s, methods, LC_CALIBRATION_PAIRS);
		drain();
	}
	return cycles < 0 ? (int)cycles : 0;
}

/* Find the methods of a loop, and call them until they are compiled. */
static int prepare(struct run *r, const struct steps *s, jmethodID *methods)
{
	int err = find_steps(r, s, methods);

	if (!err)
		err = warm_up(r, s, methods);
	r->done += !err;
	return err;
}

/* Costs that are kept from an earlier measurement are scaled to the yardstick of then. */
static int measure_yardstick(struct run *r, struct lc_cost_value *out)
{
	double cycles[YARDSTICKS];

	r->yardstick = out->mean;
	if (out->known)
		return 0;
	for (unsigned i = 0; i < YARDSTICKS; i++) {
		const int64_t took =
		    call_steps(r, &bare_loops[BUSY], r->bare[BUSY], LC_CALIBRATION_PAIRS);

		if (took < 0)
			return (int)took;
		cycles[i] = (double)lc_probe_yardstick();
	}
	*out = lc_calibration_summarize(cycles, YARDSTICKS);
	r->yardstick = out->mean;
	return 0;
}

/*
 * One batch: a pair's costs. Returns the cycles of its loop, -EIO or -ECANCELED.
 */
static int64_t measure_batch(struct run *r, const struct loop *loop, const jmethodID *methods,
                             double *inner, double *outer)
{
	const double pairs = LC_CALIBRATION_PAIRS;
	const uint64_t spans = loop->kind == LC_SPAN_KINDS ? 0 : LC_CALIBRATION_PAIRS;
	const uint64_t yardstick = lc_probe_yardstick();
	const int64_t bare =
	    call_steps(r, &bare_loops[loop->bare], r->bare[loop->bare], LC_CALIBRATION_PAIRS);
	const struct counted before = count(loop->kind);
	const int64_t cycles = call_steps(r, &loop->steps, methods, LC_CALIBRATION_PAIRS);
	const struct counted after = count(loop->kind);
	const double speed = 2 * r->yardstick / (double)(yardstick + lc_probe_yardstick());

	if (bare < 0 || cycles < 0)
		return bare < 0 ? bare : cycles;
	if (after.executions - before.executions != spans)
		return -EIO;
	*inner = (double)(int64_t)(after.cycles - before.cycles) / pairs;
	*outer = ((double)(cycles - bare) / pairs - *inner) * speed;
	return cycles;
}

/* One attempt. Returns how many batches were measured, -EIO or -ECANCELED. */
static int measure_batches(struct run *r, const struct loop *loop, const jmethodID *methods)
{
	const int most = loop->steps.methods[1] ? BATCHES_TASKS : BATCHES;
	int64_t left = (int64_t)lc_cycles_of_ns(CPU_MS * MS);
	int n = 0;

	while (n < most && (n < BATCHES_MIN || left > 0)) {
		const int64_t cycles = measure_batch(r, loop, methods, &r->inner[n], &r->outer[n]);

		if (cycles < 0)
			return (int)cycles;
		left -= cycles;
		n++;
		drain();
	}
	return n;
}

/* Worse than nothing: an outer cost is part of what was measured. */
static struct lc_cost_value not_negative(struct lc_cost_value v)
{
	v.mean = fmax(v.mean, 0);
	return v;
}

struct attempt {
	struct run *run;
	const struct loop *loop;
	const jmethodID *methods;
};

static int attempt(void *context, struct lc_cost_value *inner, struct lc_cost_value *outer)
{
	const struct attempt *a = context;
	int n = measure_batches(a->run, a->loop, a->methods);

	if (n < 0)
		return n;
	*inner = lc_calibration_summarize(a->run->inner, (size_t)n);
	*outer = not_negative(lc_calibration_summarize(a->run->outer, (size_t)n));
	return 0;
}

static int measure_loop(struct run *r, size_t i, struct lc_calibration *c)
{
	const struct loop *loop = &loops[i];
	const bool counted = loop->outer == LC_COST_COUNTED;
	struct attempt a = { .run = r, .loop = loop, .methods = r->methods[i] };
	struct lc_cost_value inner, outer;
	int err;

	if (counted)
		lc_probe_force(lc_span_known(), true);
	err = lc_calibration_repeat(attempt, &a, &inner, &outer);
	if (counted)
		lc_probe_force(lc_span_known(), false);
	if (err)
		return err;
	r->done++;
	if (c->costs[loop->outer].known && c->costs[loop->outer].mean <= outer.mean)
		return 0;
	c->costs[loop->outer] = outer;
	if (loop->inner != LC_COSTS)
		c->costs[loop->inner] = inner;
	return 0;
}

/* The class that has the loops, linked. Returns NULL when it cannot be had. */
static jclass define(JNIEnv *jni)
{
	jclass class = (*jni)->FindClass(jni, CLASS); /* measured before in this JVM */

	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	if (!class)
		class = (*jni)->DefineClass(jni, CLASS, NULL, (const jbyte *)class_bytes,
		                            (jsize)sizeof(class_bytes));
	if ((*jni)->ExceptionCheck(jni)) {
		(*jni)->ExceptionClear(jni);
		return NULL;
	}
	return class;
}

static int measure_pass(struct run *r, struct lc_calibration *c)
{
	int err = 0;

	for (size_t i = 0; !err && i < LOOPS; i++)
		if (wanted(r->config, &loops[i]))
			err = measure_loop(r, i, c);
	return err;
}

static int measure_all(struct run *r, struct lc_calibration *c)
{
	const enum bare bare = r->config->tasks ? BARE_LOOPS : BUSY_PARTS;
	const uint64_t late_ns = lc_time_now_ns() + LATE_MS * MS;
	int err = 0;

	r->parts = bare;
	for (size_t i = 0; i < LOOPS; i++)
		r->parts += wanted(r->config, &loops[i]) * (1 + PASSES);
	for (enum bare i = 0; !err && i < bare; i++)
		err = prepare(r, &bare_loops[i], r->bare[i]);
	for (size_t i = 0; !err && i < LOOPS; i++)
		if (wanted(r->config, &loops[i]))
			err = prepare(r, &loops[i].steps, r->methods[i]);
	if (!err)
		err = measure_yardstick(r, &c->costs[LC_COST_YARDSTICK]);
	for (unsigned pass = 0; !err && pass < PASSES; pass++)
		if (!pass || lc_time_now_ns() < late_ns)
			err = measure_pass(r, c);
	return err;
}

static int measure(const struct config *config, JNIEnv *jni, struct lc_calibration *c)
{
	struct run r = { .config = config, .jni = jni, .class = define(jni) };
	int err = -EIO;

	if (!r.class)
		return err;
	r.inner = calloc(2 * (size_t)BATCHES, sizeof(*r.inner));
	r.outer = r.inner ? r.inner + BATCHES : NULL;
	err = r.inner ? lc_cycles_open(&r.clock) : -ENOMEM;
	if (!err)
		err = measure_all(&r, c);
	lc_cycles_close(&r.clock);
	free(r.inner);
	(*jni)->DeleteLocalRef(jni, r.class);
	if (err)
		memset(c->costs, 0, sizeof(c->costs));
	return err;
}

/* -- the whole ------------------------------------------------------------------------------ */

static bool complete(const struct config *config, const struct lc_calibration *c)
{
	for (size_t i = 0; i < LOOPS; i++)
		if (wanted(config, &loops[i]) &&
		    (!c->costs[loops[i].outer].known ||
		     (loops[i].inner != LC_COSTS && !c->costs[loops[i].inner].known)))
			return false;
	return true;
}

/* Keep the known costs of kinds that are not recorded. */
static void keep_others(struct lc_calibration *c, const struct lc_calibration *before)
{
	for (unsigned i = 0; i < LC_COSTS; i++)
		if (!c->costs[i].known)
			c->costs[i] = before->costs[i];
}

/*
 * Get the costs: from the file, else by measuring (some seconds), and then keep them. Returns 0;
 * -ENOMEM, -ECANCELED if a detach has come, or -EIO where the loops could not be run or their spans
 * were not counted (then *out has no known costs).
 */
static int calibrate(const struct config *config, JNIEnv *jni, struct lc_calibration *out)
{
	struct lc_calibration before = { 0 };
	struct lc_calibration_key key;
	char path[PATH_MAX];
	int err, no_path;

	memset(out, 0, sizeof(*out));
	lc_calibration_key(config->variant, &key);
	no_path = lc_calibration_path(&key, path, sizeof(path));
	if (!no_path && !lc_calibration_load(path, &key, &before) && !config->anew &&
	    complete(config, &before)) {
		*out = before;
		out->how = "cached";
		lc_calibration_judge(out);
		return 0;
	}
	out->costs[LC_COST_YARDSTICK] = before.costs[LC_COST_YARDSTICK];
	lc_say("measuring the cost of a span once: the recording begins in some seconds (run "
	       "'locus calibrate' to measure in advance)");
	lc_stages_begin(LC_STAGE_COSTS);
	err = measure(config, jni, out);
	if (err)
		return err;
	out->how = "measured";
	lc_calibration_judge(out);
	keep_others(out, &before);
	err = no_path ? no_path : lc_calibration_save(path, &key, out);
	if (no_path)
		lc_calibration_warn(out, "not kept: neither XDG_CACHE_HOME nor HOME is set");
	else if (err)
		lc_calibration_warn(out, "not kept in %s: %s", path, strerror(-err));
	return 0;
}

static uint32_t rounded(const struct lc_calibration *c, enum lc_cost cost)
{
	double mean = c->costs[cost].known ? c->costs[cost].mean : 0;

	return mean <= 0 ? 0 : mean >= UINT32_MAX ? UINT32_MAX : (uint32_t)(mean + 0.5);
}

void lc_calibration_costs(const struct lc_calibration *c, struct lc_span_costs *out)
{
	*out = (struct lc_span_costs){
		.inner = rounded(c, LC_COST_INNER),
		.anonymous = rounded(c, LC_COST_ANONYMOUS),
		.primordial = rounded(c, LC_COST_PRIMORDIAL),
		.support = rounded(c, LC_COST_SUPPORT),
		.task = rounded(c, LC_COST_TASK),
		.task_inner = rounded(c, LC_COST_TASK_INNER),
		.counted = rounded(c, LC_COST_COUNTED),
		.yardstick = rounded(c, LC_COST_YARDSTICK),
		.hooks = { [LC_SPAN_HOOK_FLAT] = rounded(c, LC_COST_FLAT),
		           [LC_SPAN_HOOK_PULLED] = rounded(c, LC_COST_PULLED),
		           [LC_SPAN_HOOK_CREATED] = rounded(c, LC_COST_CREATED),
		           [LC_SPAN_HOOK_SUBMITTED] = rounded(c, LC_COST_SUBMITTED),
		           /* It is both for a method that is entered, and for the same one left. */
		           [LC_SPAN_HOOK_ENTERED] = rounded(c, LC_COST_ENTERED) / 2 },
	};
}

size_t lc_calibration_rows(const struct lc_calibration *c, struct lc_manifest_cost *out)
{
	size_t n = 0;

	for (unsigned i = 0; i < LC_COSTS; i++)
		if (c->costs[i].known)
			out[n++] =
			    (struct lc_manifest_cost){ lc_calibration_cost_name(i),
				                       c->costs[i].mean, c->costs[i].variation };
	return n;
}

/* -- the calibration of a run ---------------------------------------------------------------- */

static struct {
	struct lc_calibration result;
	struct lc_manifest_cost rows[LC_COSTS];
} kept; /* for the manifest, which points into it; written by lc_calibration_start() */

void lc_calibration_start(JNIEnv *jni, const struct lc_options *options,
                          struct lc_span_costs *costs, struct lc_manifest_spans *manifest)
{
	char variant[64];
	struct config config = {
		.streams = lc_span_streams(),
		.tasks = lc_span_tasks(),
		.anew = options->calibrate,
		.variant = variant,
	};
	int err;

	snprintf(variant, sizeof(variant), "%s%s", options->trace ? "trace" : "",
	         options->span_paths ? " paths" : "");
	if (lc_span_enter(jni))
		err = calibrate(&config, jni, &kept.result);
	else
		err = lc_span_thread_error() ? lc_span_thread_error() : -ENOMEM;
	if (err) {
		kept.result.how = "none";
		snprintf(kept.result.warning, sizeof(kept.result.warning),
		         "the costs could not be measured: %s", strerror(-err));
	}
	lc_calibration_costs(&kept.result, costs);
	manifest->calibration = kept.result.how;
	manifest->calibration_warning = kept.result.warning[0] ? kept.result.warning : NULL;
	manifest->costs = kept.rows;
	manifest->costs_len = lc_calibration_rows(&kept.result, kept.rows);
}
