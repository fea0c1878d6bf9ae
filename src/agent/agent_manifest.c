/* SPDX-License-Identifier: Apache-2.0 */
/* agent/agent_manifest.c - fills the manifest from all modules. */
#include "src/agent/agent_manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "src/agent/agent_profile.h"
#include "src/agent/marks.h"
#include "src/attribute/attribution.h"
#include "src/attribute/budget.h"
#include "src/attribute/hot_classes.h"
#include "src/attribute/lines.h"
#include "src/attribute/preexisting.h"
#include "src/attribute/resolve.h"
#include "src/base/bytes.h"
#include "src/base/limit.h"
#include "src/base/options.h"
#include "src/base/redact.h"
#include "src/base/say.h"
#include "src/base/time.h"
#include "src/core/counters.h"
#include "src/core/fds.h"
#include "src/core/jvmti.h"
#include "src/core/memory.h"
#include "src/core/own_cost.h"
#include "src/core/own_memory.h"
#include "src/core/path.h"
#include "src/core/thread.h"
#include "src/format/levels.h"
#include "src/heap/audit.h"
#include "src/heap/estimate.h"
#include "src/heap/hook.h"
#include "src/heap/hook_audit.h"
#include "src/hooks/classes.h"
#include "src/hooks/loaders.h"
#include "src/jvm/layout/collector.h"
#include "src/jvm/layout/klass.h"
#include "src/jvm/os/thread_cpu.h"
#include "src/jvm/stack/call_trace.h"
#include "src/numa/numa.h"
#include "src/profile/profile_writer.h"
#include "src/sample/engine.h"
#include "src/sample/watch.h"
#include "src/span/clock/cycle_clock.h"
#include "src/span/clock/timeline.h"
#include "src/span/span.h"
#include "src/span/tasks/link.h"
#include "src/span/tasks/span_classes.h"
#include "src/span/tasks/task.h"
#include "src/stack/generated.h"
#include "src/stack/walk_credit.h"

enum { COMMAND_MAX = 64 << 10 };

static struct {
	const struct lc_options *options;
	bool attached;
	char *command;
	char *words; /* of it; NULL: not all are known */
	size_t words_len;
	char *directory; /* the current one when the recording began; NULL: not known */
	char host[sizeof(((struct utsname *)NULL)->nodename)]; /* "": not known */
	unsigned cpus; /* [writer]: the most that the process might run on so far; 0: not known */
	char jdk[256];
	struct timespec start_wall, start_monotonic;
	struct timespec end_wall, end_monotonic; /* where `limited` */
	_Atomic bool limited;
	/* [writer]: as the last manifest had them, and where the profile began. */
	struct lc_counters counters, begin; /* `begin`: empty in the first profile */
	struct lc_manifest_numa numa, numa_begin;
	struct timespec last_wall, last_monotonic;
} summary;

/*
 * The words of the command line as they may be shown, each ended by a NUL, without the one that
 * loads this agent; --no-arguments leaves the first. *whole: there are no more. NULL without
 * memory.
 */
static char *read_words(const struct lc_options *options, size_t *words_len, bool *whole)
{
	char *raw = malloc(COMMAND_MAX);
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd >= 0 && raw ? read(fd, raw, COMMAND_MAX) : 0;
	struct lc_redact redact = { .patterns = options->redact };
	struct lc_bytes words = { 0 };

	for (ssize_t at = 0; at < len && !(options->no_arguments && at);) {
		size_t arg = strnlen(raw + at, (size_t)(len - at));

		if (!memmem(raw + at, arg, "liblocus.so", strlen("liblocus.so"))) {
			lc_redact_word(&redact, raw + at, arg, &words);
			lc_bytes_add(&words, "", 1);
		}
		at += (ssize_t)arg + 1;
	}
	*words_len = words.len;
	*whole = len > 0 && len < COMMAND_MAX && !raw[len - 1] && !options->no_arguments;
	lc_bytes_add(&words, "", 1);
	if (fd >= 0)
		close(fd);
	free(raw);
	if (words.failed) {
		free(words.data);
		return NULL;
	}
	return (char *)words.data;
}

/* The same as one text, with spaces between the words. */
static char *joined(const char *words, size_t len)
{
	char *text = calloc(1, len + 1);

	for (size_t i = 0; text && i + 1 < len; i++)
		text[i] = words[i] ? words[i] : ' ';
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

/* A container has a name of its own, which an inherited HOSTNAME need not be. */
static void read_host(void)
{
	struct utsname machine;

	if (!uname(&machine))
		memcpy(summary.host, machine.nodename, sizeof(summary.host));
}

/*
 * The process's first thread has the mask that the process was started with, or that taskset or the
 * kernel has given it since: a program that binds threads binds others.
 */
static unsigned allowed_cpus(void)
{
	cpu_set_t sets[8]; /* 8,192 CPUs, as many as Linux can be built for */
	unsigned cpus;

	if (sched_getaffinity(getpid(), sizeof(sets), sets))
		return summary.cpus;
	cpus = (unsigned)CPU_COUNT_S(sizeof(sets), sets);
	if (cpus > summary.cpus)
		summary.cpus = cpus;
	return summary.cpus;
}

int lc_agent_manifest_init(const struct lc_options *options, bool attached)
{
	char vm[96], version[96];
	bool whole;

	summary.options = options;
	summary.attached = attached;
	summary.words = read_words(options, &summary.words_len, &whole);
	if (!summary.words)
		return -ENOMEM;
	summary.command = joined(summary.words, summary.words_len);
	if (!summary.command)
		return -ENOMEM;
	if (!whole) {
		free(summary.words);
		summary.words = NULL;
	}
	summary.directory = getcwd(NULL, 0);
	read_host();
	read_property("java.vm.name", vm, sizeof(vm));
	read_property("java.vm.version", version, sizeof(version));
	snprintf(summary.jdk, sizeof(summary.jdk), "%s %s", vm, version);
	clock_gettime(CLOCK_REALTIME, &summary.start_wall);
	clock_gettime(CLOCK_MONOTONIC, &summary.start_monotonic);
	return 0;
}

static uint64_t since(uint64_t now, uint64_t begin)
{
	return now > begin ? now - begin : 0;
}

/* The part of a counter that belongs to this profile. */
static uint64_t counted(const struct lc_counters *c, size_t row)
{
	const char *name = c->rows[row].name;
	const struct lc_counters *begin = &summary.begin;

	for (size_t i = 0; i < begin->len; i++)
		if (!strcmp(begin->rows[i].name, name))
			return lc_level_is(name) ? c->rows[row].value
			                         : since(c->rows[row].value, begin->rows[i].value);
	return c->rows[row].value;
}

static const struct lc_manifest_numa *take_numa(struct lc_manifest_numa *out)
{
	const struct lc_manifest_numa *begin = &summary.numa_begin;

	*out = summary.numa = *lc_numa_manifest();
	out->pages_migrated = since(out->pages_migrated, begin->pages_migrated);
	out->pages_asked = since(out->pages_asked, begin->pages_asked);
	out->pages_unknown = since(out->pages_unknown, begin->pages_unknown);
	out->owner_changes = since(out->owner_changes, begin->owner_changes);
	out->dropped = since(out->dropped, begin->dropped);
	return out;
}

void lc_agent_manifest_next(void)
{
	free(summary.begin.rows);
	summary.begin = summary.counters;
	summary.counters = (struct lc_counters){ 0 };
	summary.numa_begin = summary.numa;
	summary.start_wall = summary.last_wall;
	summary.start_monotonic = summary.last_monotonic;
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
			.tick_ns = info->tick_ns,
			.unit = info->unit,
			.reason = info->reason ? info->reason : lc_watch_why_not(i),
		};
	}
	return len;
}

/* When the budget has made the intervals longer, and shorter again. Returns how many times. */
static size_t describe_intervals(struct lc_manifest_interval *out)
{
	const struct lc_budget_change *changes;
	const size_t len = lc_budget_changes(&changes);

	for (size_t i = 0; i < len; i++)
		out[i] = (struct lc_manifest_interval){ changes[i].time_ns, changes[i].stretch };
	return len;
}

static uint64_t nanoseconds(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

/* The classes that --track hot has chosen. Returns how many. */
static size_t describe_hot(struct lc_manifest_mark out[LC_TRACK_MAX])
{
	struct lc_hot_class hot[LC_TRACK_MAX];
	const size_t len = lc_hot_classes_all(hot);

	for (size_t i = 0; i < len; i++)
		out[i] = (struct lc_manifest_mark){ hot[i].name, hot[i].tracked_ns };
	return len;
}

/* The marks of this profile's time, up to `end_ns`. Returns how many. */
static size_t describe_marks(struct lc_program_mark *marks, struct lc_manifest_mark *out,
                             uint64_t end_ns)
{
	const uint64_t begin_ns = summary.begin.len ? nanoseconds(&summary.start_monotonic) : 0;
	const size_t all = lc_marks_copy(marks, LC_MARKS_MAX);
	size_t len = 0;

	for (size_t i = 0; i < all; i++)
		if (marks[i].time_ns >= begin_ns && marks[i].time_ns < end_ns)
			out[len++] = (struct lc_manifest_mark){ marks[i].name, marks[i].time_ns };
	return len;
}

void lc_agent_manifest_limited(void)
{
	clock_gettime(CLOCK_REALTIME, &summary.end_wall);
	clock_gettime(CLOCK_MONOTONIC, &summary.end_monotonic);
	atomic_store(&summary.limited, true);
}

/* Returns 0 or -errno: the manifest of last time stays. */
static int write_manifest(bool final)
{
	const struct lc_option_info *table;
	struct lc_manifest_option *options;
	struct lc_manifest_engine engines[LC_ENGINES_MAX];
	struct lc_manifest_interval intervals[LC_BUDGET_CHANGES_MAX];
	struct lc_limit limits[LC_LIMITS_MAX];
	struct lc_manifest_mark hot[LC_TRACK_MAX];
	struct lc_manifest_numa numa;
	struct lc_manifest m = {
		.command = summary.command,
		.words = summary.words,
		.words_len = summary.words_len,
		.directory = summary.directory,
		.host = *summary.host ? summary.host : NULL,
		.cpus = allowed_cpus(),
		.labels = summary.options->label,
		.jdk = summary.jdk,
		.gc = lc_collector_name(),
		.pid = getpid(),
		.complete = final,
		.limited = atomic_load(&summary.limited),
		.attached = summary.attached,
		.engines = engines,
	};
	struct lc_counters counters = { 0 };
	struct lc_manifest_counter *rows = NULL;
	struct lc_program_mark *marks = calloc(LC_MARKS_MAX, sizeof(*marks));
	struct lc_manifest_mark *mark_rows = calloc(LC_MARKS_MAX, sizeof(*mark_rows));
	struct timespec wall, monotonic;
	size_t len = 0;
	char *texts;
	int err = -ENOMEM;

	clock_gettime(CLOCK_REALTIME, &wall);
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	if (m.limited) {
		wall = summary.end_wall;
		monotonic = summary.end_monotonic;
	}
	lc_call_trace_tell();
	m.engines_len = describe_engines(engines);
	m.intervals = intervals;
	m.intervals_len = describe_intervals(intervals);
	lc_engines_close_idle();
	lc_fds_look();
	table = lc_option_table(&len);
	options = calloc(len, sizeof(*options));
	texts = calloc(len, LC_TRACK_TEXT_MAX);
	if (!marks || !mark_rows || !options || !texts)
		goto out;
	for (size_t i = 0; i < len; i++) {
		char *text = texts + i * LC_TRACK_TEXT_MAX;

		lc_options_value(summary.options, i, text, LC_TRACK_TEXT_MAX);
		options[i] = (struct lc_manifest_option){ table[i].name, text };
	}
	if (lc_counters_take(summary.options, &counters))
		goto out;
	rows = calloc(counters.len, sizeof(*rows));
	if (!rows)
		goto out;
	lc_memory_tell();
	lc_sampler_tell();
	lc_fds_tell();
	m.marks = mark_rows;
	m.marks_len = describe_marks(marks, mark_rows, nanoseconds(&monotonic));
	lc_limits_say();
	m.limits = limits;
	m.limits_len = lc_limits(limits);
	m.tracked_hot = hot;
	m.tracked_hot_len = describe_hot(hot);
	for (size_t i = 0; i < counters.len; i++)
		rows[i] =
		    (struct lc_manifest_counter){ counters.rows[i].name, counted(&counters, i) };
	m.start_wall_ns = nanoseconds(&summary.start_wall);
	m.start_monotonic_ns = nanoseconds(&summary.start_monotonic);
	m.end_wall_ns = nanoseconds(&wall);
	m.end_monotonic_ns = nanoseconds(&monotonic);
	m.options = options;
	m.options_len = len;
	m.counters = rows;
	m.counters_len = counters.len;
	m.numa = take_numa(&numa);
	m.spans = lc_span_manifest();
	err = lc_profile_manifest(lc_agent_profile(), &m);
	free(summary.counters.rows);
	summary.counters = counters;
	summary.last_wall = wall;
	summary.last_monotonic = monotonic;
	counters.rows = NULL;
out:
	free(counters.rows);
	free(rows);
	free(marks);
	free(mark_rows);
	free(options);
	free(texts);
	return err;
}

void lc_agent_manifest_write(bool final)
{
	int err = write_manifest(final);

	if (!err || !final)
		return; /* the next one has all that this one has */
	err = write_manifest(final);
	if (err == -ENOSPC || err == -EDQUOT)
		lc_profile_disk_full(lc_agent_profile());
	/* A write error of the blocks was already reported. */
	if (err && !lc_attribution_write_error())
		lc_say("cannot write the profile's manifest: %s; its counters and its list of "
		       "losses are out of date",
		       strerror(-err));
}
