/* agent_counters.c - see agent_counters.h. */
#include "src/agent_counters.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/agent_classes.h"
#include "src/attribute/attribution.h"
#include "src/attribute/lines.h"
#include "src/attribute/resolve.h"
#include "src/base/options.h"
#include "src/core/jvmti.h"
#include "src/core/path.h"
#include "src/core/thread.h"
#include "src/gc/small.h"
#include "src/heap/alloc_log.h"
#include "src/heap/audit.h"
#include "src/heap/estimate.h"
#include "src/heap/hook.h"
#include "src/jvm/collector.h"
#include "src/jvm/klass.h"
#include "src/numa/numa.h"
#include "src/profile/writer.h"
#include "src/sample/engine.h"
#include "src/sample/watch.h"
#include "src/span/span.h"
#include "src/span/span_classes.h"
#include "src/span/task.h"
#include "src/span/timeline.h"
#include "src/span/virtual.h"

enum { COMMAND_MAX = 64 << 10, COUNTERS_MAX = 256, NAME_MAX_LEN = 48, VALUE_MAX = 1100 };

static struct {
	const struct lc_options *options;
	struct lc_profile *profile;
	char *command;
	char jdk[256];
	struct timespec start_wall, start_monotonic;
} summary;

/* The counters of one manifest, with room for the names that are made up as they are added. */
struct counters {
	struct lc_manifest_counter rows[COUNTERS_MAX];
	char names[COUNTERS_MAX][NAME_MAX_LEN];
	size_t len;
};

static void put(struct counters *c, const char *name, uint64_t value)
{
	if (c->len == COUNTERS_MAX)
		return;
	snprintf(c->names[c->len], NAME_MAX_LEN, "%s", name);
	c->rows[c->len] = (struct lc_manifest_counter){ c->names[c->len], value };
	c->len++;
}

/* The command line, arguments separated by spaces, without the one that loads this agent. */
static char *read_command(void)
{
	char *raw = malloc(COMMAND_MAX), *text = calloc(1, COMMAND_MAX + 1);
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd >= 0 && raw ? read(fd, raw, COMMAND_MAX) : 0;
	size_t out = 0;

	for (ssize_t at = 0; text && at < len;) {
		size_t arg = strnlen(raw + at, (size_t)(len - at));

		if (!memmem(raw + at, arg, "liblocus.so", strlen("liblocus.so"))) {
			if (out)
				text[out++] = ' ';
			memcpy(text + out, raw + at, arg);
			out += arg;
		}
		at += (ssize_t)arg + 1;
	}
	if (fd >= 0)
		close(fd);
	free(raw);
	return text;
}

static void read_property(const char *name, char *out, size_t out_len)
{
	jvmtiEnv *jvmti = lc_jvmti();
	char *value = NULL;

	out[0] = '\0';
	if ((*jvmti)->GetSystemProperty(jvmti, name, &value) || !value)
		return;
	snprintf(out, out_len, "%s", value);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)value);
}

int lc_summary_init(const struct lc_options *options, struct lc_profile *profile)
{
	char vm[96], version[96];

	summary.options = options;
	summary.profile = profile;
	summary.command = read_command();
	if (!summary.command)
		return -ENOMEM;
	read_property("java.vm.name", vm, sizeof(vm));
	read_property("java.vm.version", version, sizeof(version));
	snprintf(summary.jdk, sizeof(summary.jdk), "%s %s", vm, version);
	clock_gettime(CLOCK_REALTIME, &summary.start_wall);
	clock_gettime(CLOCK_MONOTONIC, &summary.start_monotonic);
	return 0;
}

/* Two engines of one kind are told apart by number: "engine_pebs_", "engine_pebs_2_". */
static void put_engine(struct counters *c, size_t engine)
{
	const char *kind = lc_engines_info(engine)->name;
	struct lc_engine_stats s = { 0 };
	struct lc_watch_stats w = { 0 };
	const bool watch = lc_watch_stats(engine, &w);
	char name[NAME_MAX_LEN];
	unsigned number = 1;

	lc_engines_stats(engine, &s);
	const struct {
		const char *what;
		uint64_t value;
		bool always;
	} rows[] = {
		{ "samples", s.samples, true },      { "lost", s.lost, true },
		{ "overruns", s.overruns, false },   { "ring_lost", s.ring_lost, false },
		{ "throttled", s.throttled, false }, { "counted", s.counted, false },
		{ "no_thread", s.no_thread, false }, { "found", w.found, watch },
		{ "moved", w.moved, watch },         { "died", w.died, false },
		{ "objects_seen", w.seen, watch },   { "unaimed", w.unaimed, false },
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
		put(c, name, rows[i].value);
	}
}

static void put_engines(struct counters *c)
{
	struct lc_sampler_stats s;

	for (size_t i = 0; i < lc_engines_count(); i++)
		put_engine(c, i);
	lc_sampler_stats(&s);
	put(c, "engine_handler_us", s.handler_ns / 1000);
	put(c, "engine_traps_armed", s.traps_armed);
	put(c, "engine_traps_hit", s.traps_hit);
	put(c, "engine_traps_missed", s.traps_missed);
	put(c, "engine_trap_errors", s.trap_errors);
	put(c, "engine_foreign_signals", s.foreign_signals);
	for (unsigned i = 0; i < sizeof(s.walk_errors) / sizeof(s.walk_errors[0]); i++) {
		char name[NAME_MAX_LEN];

		if (!s.walk_errors[i])
			continue;
		snprintf(name, sizeof(name), "engine_walk_error_%s%u", i ? "minus_" : "", i);
		put(c, name, s.walk_errors[i]);
	}
}

static void put_classes(struct counters *c)
{
	struct lc_classes_stats s;

	lc_classes_stats(&s);
	for (unsigned i = 0; i < LC_REWRITE_STATUS_COUNT; i++) {
		char name[NAME_MAX_LEN];

		snprintf(name, sizeof(name), "classes_%s",
		         lc_rewrite_status_name((enum lc_rewrite_status)i));
		for (char *at = name; *at; at++)
			if (*at == ' ')
				*at = '_';
		put(c, name, s.seen[i]);
	}
	put(c, "class_hooks", s.sites);
	put(c, "class_constant_sites_skipped", s.skipped_constant);
	put(c, "class_methods_left", s.methods_left);
	put(c, "classes_retransformed", s.retransformed);
	put(c, "classes_retransform_failed", s.retransform_failures);
	put(c, "class_rewrite_us", s.rewrite_ns / 1000);
}

static void put_heap(struct counters *c)
{
	struct lc_attribution_stats a;
	struct lc_small_stats small;
	struct lc_hook_stats h;

	lc_small_stats(&small);
	lc_attribution_stats(&a);
	lc_hook_stats(&h);
	put(c, "gc_collections", a.collections);
	put(c, "gc_moves", a.moves);
	put(c, "gc_moves_lost", a.moves_lost);
	put(c, "gc_incomplete", a.epochs_incomplete);
	put(c, "gc_callback_us", a.seal_ns / 1000);
	put(c, "map_survivors", a.survivors);
	put(c, "map_survivors_peak", a.survivors_peak);
	put(c, "map_bytes", a.map_bytes);
	put(c, "map_in_doubt", a.map_in_doubt);
	put(c, "alloc_records", a.records);
	put(c, "alloc_records_lost", a.records_lost);
	put(c, "alloc_log_bytes", lc_alloc_pool_used_bytes());
	put(c, "alloc_corrections", h.corrections);
	put(c, "alloc_duplicates", h.duplicates);
	put(c, "alloc_unrecorded", h.unrecorded);
	put(c, "alloc_unplaced", h.unplaced);
	put(c, "alloc_unproved", h.unproved);
	put(c, "alloc_walk_errors", h.walk_errors);
	put(c, "small_moves", small.moved);
	put(c, "small_forgotten", small.forgotten);
	put(c, "small_held", small.held);
	put(c, "small_pass_us", small.pass_ns / 1000);
	put(c, "alloc_walks", a.walks);
	put(c, "paths", lc_path_count());
	put(c, "paths_overflow", lc_path_overflow());
	put(c, "sites", lc_site_count());
	put(c, "threads", lc_threads_registered());
}

static void put_resolve(struct counters *c)
{
	struct lc_resolve_stats r;
	struct lc_klass_stats k;
	struct lc_lines_stats l;

	lc_resolve_stats(&r);
	lc_klass_stats(&k);
	lc_lines_stats(&l);
	put(c, "samples_unresolved", r.unresolved);
	put(c, "classes_checked", r.classes_checked);
	put(c, "class_disagreements", r.class_disagreements);
	put(c, "classes_named", k.classes);
	put(c, "classes_reused", k.reused);
	put(c, "classes_unnamed", k.lost);
	put(c, "lines_dropped", l.dropped);
}

static void put_alloc_sample(struct counters *c)
{
	struct lc_alloc_sample_stats s;

	if (!lc_alloc_sample_enabled())
		return;
	lc_alloc_sample_stats(&s);
	put(c, "estimate_sampled", s.sampled);
	put(c, "estimate_tracked", s.tracked);
	put(c, "estimate_lost", s.lost);
	put(c, "estimate_unheld", s.unheld);
	put(c, "estimate_live", s.live);
	put(c, "estimate_live_peak", s.live_peak);
	put(c, "estimate_thinned", s.thinned);
	put(c, "estimate_unsplit", s.unsplit);
	put(c, "estimate_gc_us", s.gc_ns / 1000);
	put(c, "estimate_gc_references", s.gc_slots);
}

static void put_span_kinds(struct counters *c, const struct lc_span_stats *s)
{
	char name[NAME_MAX_LEN];

	for (unsigned i = 0; i < LC_SPAN_KINDS; i++) {
		snprintf(name, sizeof(name), "spans_%s", lc_span_kind_name(i));
		put(c, name, s->executions[i]);
	}
}

static void put_spans(struct counters *c)
{
	struct lc_span_stats s;
	struct lc_span_classes_stats k;
	struct lc_clock_stats clock;
	struct lc_task_stats tasks;
	struct lc_link_stats links;
	struct lc_timeline_stats timeline;
	struct lc_virtual_stats virtual;

	if (!summary.options->spans)
		return;
	lc_span_stats(&s);
	lc_span_classes_stats(&k);
	lc_clock_stats(&clock);
	lc_task_stats(&tasks);
	lc_link_stats(&links);
	lc_timeline_stats(&timeline);
	lc_virtual_stats(&virtual);
	put_span_kinds(c, &s);
	put(c, "spans_negative", s.negative);
	put(c, "spans_slots", s.slots);
	put(c, "spans_walks", s.walks);
	put(c, "spans_walk_errors", s.walk_errors);
	put(c, "spans_not_ended", s.stale);
	put(c, "spans_not_begun", s.unmatched);
	put(c, "spans_too_deep", s.too_deep);
	put(c, "spans_other_place", s.other_place);
	put(c, "spans_trace_lost", s.traces_lost);
	put(c, "spans_rows_lost", s.rows_lost);
	put(c, "spans_pauses_lost", s.pauses_lost);
	put(c, "spans_links_dropped", links.dropped);
	put(c, "spans_links_ambiguous", links.ambiguous);
	put(c, "spans_links_unknown", links.unknown);
	put(c, "spans_submissions_nested", tasks.nested);
	put(c, "spans_virtual_moved", virtual.moved);
	put(c, "spans_virtual_lost", virtual.lost);
	put(c, "spans_task_classes_unknown", tasks.unknown_classes);
	put(c, "spans_task_walks", tasks.walks);
	put(c, "spans_task_walk_errors", tasks.walk_errors);
	put(c, "span_clocks", clock.threads);
	put(c, "span_clocks_coarse", clock.coarse);
	put(c, "span_clock_wrapped", clock.wrapped);
	put(c, "span_class_hooks", k.sites);
	put(c, "span_classes_asked", k.asked);
	put(c, "span_classes_again", k.again);
	put(c, "span_classes_failed", k.seen[LC_REWRITE_MALFORMED] + k.seen[LC_REWRITE_NO_MEMORY]);
	put(c, "span_timeline_lost", timeline.lost);
	put(c, "span_timeline_us", timeline.ns / 1000);
}

static void put_audit(struct counters *c)
{
	struct lc_audit_totals t = { 0 };
	struct lc_hook_stats h;

	if (!summary.options->audit)
		return;
	lc_audit_totals(&t);
	lc_hook_stats(&h);
	put(c, "audit_unaudited", h.unaudited);
	put(c, "audit_misplaced", h.misplaced);
	put(c, "audit_gcs", t.gcs);
	put(c, "audit_checks", t.checks);
	put(c, "audit_survivors", t.survivors);
	put(c, "audit_wrong_missing", t.wrong_missing);
	put(c, "audit_forgotten", t.forgotten);
	put(c, "audit_wrong_moved", t.wrong_moved);
	put(c, "audit_wrong_overlap", t.wrong_overlap);
	put(c, "audit_stale", t.stale);
	put(c, "audit_skipped", t.skipped);
	put(c, "audit_unheld", t.unheld);
}

static size_t describe_engines(struct lc_manifest_engine *out)
{
	const size_t len =
	    lc_engines_count() < LC_ENGINES_MAX ? lc_engines_count() : LC_ENGINES_MAX;

	for (size_t i = 0; i < len; i++) {
		const struct lc_engine_info *info = lc_engines_info(i);

		out[i] = (struct lc_manifest_engine){
			.name = info->name,
			.event = info->event,
			.interval_ns = info->interval,
			.unit = info->unit,
			.reason = info->reason,
		};
	}
	return len;
}

static uint64_t nanoseconds(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

void lc_summary_write(bool final)
{
	const struct lc_option_info *table;
	struct lc_manifest_option *options;
	struct lc_manifest_engine engines[LC_ENGINES_MAX];
	struct lc_manifest m = {
		.command = summary.command,
		.jdk = summary.jdk,
		.gc = lc_collector_name(),
		.pid = getpid(),
		.complete = final,
		.engines = engines,
	};
	struct counters *counters = calloc(1, sizeof(*counters));
	struct timespec wall, monotonic;
	size_t len = 0;
	char *texts;

	m.engines_len = describe_engines(engines);
	table = lc_option_table(&len);
	options = calloc(len, sizeof(*options));
	texts = calloc(len, VALUE_MAX);
	if (!counters || !options || !texts)
		goto out; /* the manifest of last time stays */
	for (size_t i = 0; i < len; i++) {
		char *text = texts + i * VALUE_MAX;

		lc_options_value(summary.options, i, text, VALUE_MAX);
		options[i] = (struct lc_manifest_option){ table[i].name, text };
	}
	put_engines(counters);
	put_classes(counters);
	put_heap(counters);
	put_resolve(counters);
	put_alloc_sample(counters);
	put_spans(counters);
	put_audit(counters);
	clock_gettime(CLOCK_REALTIME, &wall);
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	m.start_wall_ns = nanoseconds(&summary.start_wall);
	m.start_monotonic_ns = nanoseconds(&summary.start_monotonic);
	m.end_wall_ns = nanoseconds(&wall);
	m.end_monotonic_ns = nanoseconds(&monotonic);
	m.options = options;
	m.options_len = len;
	m.counters = counters->rows;
	m.counters_len = counters->len;
	m.numa = lc_numa_manifest();
	m.spans = lc_span_manifest();
	lc_profile_manifest(summary.profile, &m);
out:
	free(counters);
	free(options);
	free(texts);
}
