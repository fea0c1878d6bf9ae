/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/calibration.c - runs loops of empty spans in the profiled JVM: see calibration.h.
 *
 * A batch is LC_CALIBRATION_PAIRS begins and ends in compiled Java. The cycles that its slot has
 * counted are the inner cost. The rest of the batch's time, less that of a loop without spans, is
 * the outer cost. First the loops run until the JIT has compiled them. A JVM that only interprets
 * gets fewer batches, as many as CPU_MS allows.
 */
#include "src/span/calibration.h"

#include <cpuid.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/options.h"
#include "src/base/say.h"
#include "src/base/time.h"
#include "src/core/jvmti.h"
#include "src/core/stages.h"
#include "src/span/calibration_impl.h"
#include "src/span/frames/stack.h"
#include "src/span/frames/trace.h"
#include "src/span/span.h"

#define MS UINT64_C(1000000)
#define CLASS "java/lang/LocusCalibrate"

enum {
	BATCHES = 250, /* 2.5 million pairs of each kind */
	BATCHES_MIN = 20,
	EMPTY_BATCHES = 100,
	BARE_LOOPS = 2, /* without spans */
	CPU_MS = 400,   /* of a kind, where pairs are slow */
	WARM_MS = 100,
	WARM_CALLS = 1000, /* the JIT compiles a method that was called often as a whole */
	WARM_PAIRS = 100,
};

static const unsigned char class_bytes[] = {
#include "calibrate_class_bytes.inc"
};

struct loop {
	const char *method;
	bool task;
	uint8_t kind; /* of the spans */
	enum lc_cost outer;
	enum lc_cost inner; /* LC_COSTS: not taken from this loop */
};

static const struct loop loops[] = {
	{ "anonymous", false, LC_SPAN_ANONYMOUS, LC_COST_ANONYMOUS, LC_COST_INNER },
	{ "primordial", false, LC_SPAN_PRIMORDIAL, LC_COST_PRIMORDIAL, LC_COSTS },
	{ "support", false, LC_SPAN_SUPPORT, LC_COST_SUPPORT, LC_COSTS },
	{ "task", true, LC_SPAN_TASK, LC_COST_TASK, LC_COST_TASK_INNER },
	{ "anonymous", false, LC_SPAN_ANONYMOUS, LC_COST_COUNTED, LC_COST_YARDSTICK },
};

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
	uint32_t done, loops;  /* parts of LC_STAGE_COSTS */
	double empty, busy;    /* cycles that a loop without spans takes for one round */
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

/* -- which one ------------------------------------------------------------------------------ */

static void cpu_name(char *out, size_t out_len)
{
	unsigned words[12] = { 0 };
	char brand[sizeof(words) + 1] = "";

	for (unsigned i = 0; i < 3; i++)
		if (!__get_cpuid(0x80000002 + i, &words[4 * i], &words[4 * i + 1],
		                 &words[4 * i + 2], &words[4 * i + 3]))
			break;
	memcpy(brand, words, sizeof(words));
	snprintf(out, out_len, "%s", brand[0] ? brand : "unknown");
}

static void property(const char *name, char *out, size_t out_len)
{
	jvmtiEnv *jvmti = lc_jvmti();
	char *text = NULL;

	snprintf(out, out_len, "?");
	if ((*jvmti)->GetSystemProperty(jvmti, name, &text) || !text)
		return;
	snprintf(out, out_len, "%s", text);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)text);
}

/* A library that was built anew may cost something else, though its version is the same. */
static void agent_name(char *out, size_t out_len)
{
	struct stat s = { 0 };
	Dl_info info;

	if (dladdr(class_bytes, &info) && info.dli_fname)
		stat(info.dli_fname, &s);
	snprintf(out, out_len, "%s %lld %lld.%09ld", LC_VERSION, (long long)s.st_size,
	         (long long)s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
}

static void one_line(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ')
			*text = ' ';
}

static void make_key(const struct config *config, struct lc_calibration_key *key)
{
	char version[100], name[64], mode[64], *sharing;

	cpu_name(key->cpu, sizeof(key->cpu));
	property("java.vm.version", version, sizeof(version));
	property("java.vm.name", name, sizeof(name));
	property("java.vm.info", mode, sizeof(mode));
	sharing = strstr(mode, ", sharing"); /* "mixed mode, emulated-client, sharing" */
	if (sharing)
		*sharing = '\0'; /* some of the classes come from a file: no matter */
	snprintf(key->jdk, sizeof(key->jdk), "%s %s %s", name, version, mode);
	agent_name(key->agent, sizeof(key->agent));
	snprintf(key->variant, sizeof(key->variant), "%s %.200s", lc_cycles_name(lc_cycles_kind()),
	         config->variant);
	key->hz = lc_cycles_hz();
	one_line(key->cpu);
	one_line(key->jdk);
	one_line(key->variant);
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

	lc_stages_parts(LC_STAGE_COSTS, r->done, r->loops);
	if (lc_stages_stopped())
		return -ECANCELED;
	begin = lc_cycles_now(&r->clock);
	(*r->jni)->CallStaticVoidMethod(r->jni, r->class, method, pairs);
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

static int warm_up(struct run *r, jmethodID method)
{
	int64_t cycles = 0;
	uint64_t end_ns;

	for (unsigned i = 0; i < WARM_CALLS && cycles >= 0; i++)
		cycles = call(r, method, WARM_PAIRS);
	end_ns = lc_time_now_ns() + WARM_MS * MS;
	while (lc_time_now_ns() < end_ns && cycles >= 0) {
		cycles = call(r, method, LC_CALIBRATION_PAIRS);
		drain();
	}
	return cycles < 0 ? (int)cycles : 0;
}

static int measure_bare(struct run *r, const char *name, double *mean)
{
	jmethodID method = find(r, name, "(I)I");
	double cycles[EMPTY_BATCHES];
	int err = method ? warm_up(r, method) : -EIO;

	for (unsigned i = 0; i < EMPTY_BATCHES && !err; i++) {
		const int64_t took = call(r, method, LC_CALIBRATION_PAIRS);

		cycles[i] = (double)took / LC_CALIBRATION_PAIRS;
		err = took < 0 ? (int)took : 0;
	}
	if (err)
		return err;
	*mean = lc_calibration_summarize(cycles, EMPTY_BATCHES).mean;
	r->done++;
	return 0;
}

/* One attempt. Returns how many batches were measured, -EIO or -ECANCELED. */
static int measure_batches(struct run *r, const struct loop *loop, jmethodID method)
{
	const double pairs = LC_CALIBRATION_PAIRS, bare = loop->task ? r->empty : r->busy;
	int64_t left = (int64_t)lc_cycles_of_ns(CPU_MS * MS);
	int n = 0;

	while (n < BATCHES && (n < BATCHES_MIN || left > 0)) {
		struct counted before = count(loop->kind), after;
		int64_t cycles = call(r, method, LC_CALIBRATION_PAIRS);

		after = count(loop->kind);
		if (cycles < 0)
			return (int)cycles;
		if (after.executions - before.executions != LC_CALIBRATION_PAIRS)
			return -EIO;
		left -= cycles;
		r->inner[n] = (double)(int64_t)(after.cycles - before.cycles) / pairs;
		r->outer[n] = (double)cycles / pairs - r->inner[n] - bare;
		if (loop->inner == LC_COST_YARDSTICK)
			r->inner[n] = (double)lc_probe_yardstick();
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
	jmethodID method;
};

static int attempt(void *context, struct lc_cost_value *inner, struct lc_cost_value *outer)
{
	const struct attempt *a = context;
	int n = measure_batches(a->run, a->loop, a->method);

	if (n < 0)
		return n;
	*inner = lc_calibration_summarize(a->run->inner, (size_t)n);
	*outer = not_negative(lc_calibration_summarize(a->run->outer, (size_t)n));
	return 0;
}

static int measure_loop(struct run *r, const struct loop *loop, struct lc_calibration *c)
{
	const bool counted = loop->outer == LC_COST_COUNTED;
	struct attempt a = { .run = r,
		             .loop = loop,
		             .method = find(r, loop->method, loop->task ? "(I)V" : "(I)I") };
	struct lc_cost_value inner, outer;
	int err = a.method ? warm_up(r, a.method) : -EIO;

	if (err)
		return err;
	if (counted)
		lc_probe_force(lc_span_known(), true);
	err = lc_calibration_repeat(attempt, &a, &inner, &outer);
	if (counted)
		lc_probe_force(lc_span_known(), false);
	if (err)
		return err;
	c->costs[loop->outer] = outer;
	if (loop->inner != LC_COSTS)
		c->costs[loop->inner] = inner;
	r->done++;
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

static int measure_all(struct run *r, struct lc_calibration *c)
{
	jmethodID prepare = find(r, "prepareTask", "()V");
	int err;

	r->loops = BARE_LOOPS;
	for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++)
		r->loops += wanted(r->config, &loops[i]);
	err = measure_bare(r, "empty", &r->empty);
	if (!err)
		err = measure_bare(r, "busy", &r->busy);

	if (!err && r->config->tasks) {
		if (!prepare)
			return -EIO;
		(*r->jni)->CallStaticVoidMethod(r->jni, r->class, prepare);
		if ((*r->jni)->ExceptionCheck(r->jni)) {
			(*r->jni)->ExceptionClear(r->jni);
			return -EIO;
		}
	}
	for (size_t i = 0; !err && i < sizeof(loops) / sizeof(loops[0]); i++)
		if (wanted(r->config, &loops[i]))
			err = measure_loop(r, &loops[i], c);
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
	for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++)
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
	make_key(config, &key);
	no_path = lc_calibration_path(&key, path, sizeof(path));
	if (!no_path && !lc_calibration_load(path, &key, &before) && !config->anew &&
	    complete(config, &before)) {
		*out = before;
		out->how = "cached";
		lc_calibration_judge(out);
		return 0;
	}
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
