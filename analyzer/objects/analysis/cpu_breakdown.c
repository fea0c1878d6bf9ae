/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/cpu_breakdown.c - breaks down CPU time, from the counters of the profiles. */
#include "analyzer/objects/analysis/cpu_breakdown.h"

#include <inttypes.h>
#include <jansson.h>
#include <stddef.h>

#include "analyzer/model/load.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/json.h"
#include "analyzer/out/own.h"

enum { WARM_JIT_PERCENT = 30 }; /* more for the JIT: much of the code is new */

static uint64_t counter(const struct lc_load_process *p, const char *name)
{
	const json_int_t n = json_integer_value(json_object_get(p->counters, name));

	return n > 0 ? (uint64_t)n : 0;
}

/* Take a part of what is left, at most all of it. */
static uint64_t take(uint64_t *left, uint64_t part)
{
	if (part > *left)
		part = *left;
	*left -= part;
	return part;
}

/*
 * No part becomes negative: parts are measured at slightly different times, and hooks by samples.
 */
static void add_process(struct lc_cpu_breakdown *b, const struct lc_load_process *p)
{
	static const char *const own[] = { "own_hooks_ns",  "own_samples_ns", "own_events_ns",
		                           "own_thread_ns", "own_pauses_ns",  "own_walks_ns",
		                           "own_startup_ns" };
	const uint64_t process = counter(p, "cpu_process_ns");
	uint64_t left = process;

	b->process_ns += process;
	b->gc_ns += take(&left, counter(p, "cpu_gc_ns"));
	b->jit_ns += take(&left, counter(p, "cpu_jit_ns"));
	b->jvm_ns += take(&left, counter(p, "cpu_jvm_ns"));
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		b->locus_ns += take(&left, counter(p, own[i]));
	b->startup_ns += counter(p, "own_startup_ns");
	b->application_ns += left;
	b->pauses += counter(p, "gc_pauses");
	b->pauses_ns += counter(p, "gc_pauses_ns");
}

bool lc_cpu_breakdown_read(struct lc_cpu_breakdown *b, const struct lc_load *l)
{
	*b = (struct lc_cpu_breakdown){ 0 };
	for (size_t i = 0; i < l->processes_len; i++)
		if (!counter(&l->processes[i], "cpu_process_ns"))
			return false; /* an older Locus, or killed early */
	for (size_t i = 0; i < l->processes_len; i++)
		add_process(b, &l->processes[i]);
	return b->process_ns != 0;
}

/* "9%", "0.9%" below one percent, and "0%". */
static const char *percent(char *out, size_t len, uint64_t part, uint64_t whole)
{
	const double share = 100 * (double)part / (double)whole;

	snprintf(out, len, share >= 0.95 || share < 0.05 ? "%.0f%%" : "%.1f%%", share);
	return out;
}

void lc_cpu_breakdown_text(FILE *out, const struct lc_load *l, enum lc_cpu_breakdown_form form)
{
	struct lc_cpu_breakdown b;
	char text[32];

	if (!lc_cpu_breakdown_read(&b, l))
		return;
	fprintf(out, "CPU %s: program %s", lc_emit_duration(text, sizeof(text), b.process_ns),
	        percent((char[16]){ 0 }, 16, b.application_ns, b.process_ns));
	fprintf(out, ", GC %s", percent(text, sizeof(text), b.gc_ns, b.process_ns));
	if (b.pauses)
		fprintf(out, " (%" PRIu64 " pause%s, %s)", b.pauses, b.pauses == 1 ? "" : "s",
		        lc_emit_duration(text, sizeof(text), b.pauses_ns));
	fprintf(out, ", JIT %s%s", percent(text, sizeof(text), b.jit_ns, b.process_ns),
	        100 * b.jit_ns > WARM_JIT_PERCENT * b.process_ns ? " (not warmed up)" : "");
	fprintf(out, ", JVM %s", percent(text, sizeof(text), b.jvm_ns, b.process_ns));
	fprintf(out, ", Locus %s", percent(text, sizeof(text), b.locus_ns, b.process_ns));
	if (form == LC_CPU_BREAKDOWN_NARROW) {
		fputs(" or more\n", out);
		return;
	}
	fputs(" (", out);
	if (form == LC_CPU_BREAKDOWN_FULL)
		fprintf(out, "%s of it for start-up; ",
		        lc_emit_duration(text, sizeof(text), b.startup_ns));
	fputs(LC_OWN_NOT_INCLUDED " not included)\n", out);
}

static void begin_part(struct lc_json *j, const char *name, uint64_t ns, uint64_t whole)
{
	lc_json_object(j, name);
	lc_json_u64(j, "ns", ns);
	lc_json_real(j, "share", (double)ns / (double)whole);
}

static void part(struct lc_json *j, const char *name, uint64_t ns, uint64_t whole)
{
	begin_part(j, name, ns, whole);
	lc_json_end_object(j);
}

void lc_cpu_breakdown_json(struct lc_json *j, const struct lc_load *l)
{
	struct lc_cpu_breakdown b;

	if (!lc_cpu_breakdown_read(&b, l))
		return;
	lc_json_line(j, 0);
	lc_json_object(j, "bill");
	lc_json_u64(j, "process_ns", b.process_ns);
	part(j, "application", b.application_ns, b.process_ns);
	part(j, "gc", b.gc_ns, b.process_ns);
	part(j, "jit", b.jit_ns, b.process_ns);
	part(j, "jvm", b.jvm_ns, b.process_ns);
	begin_part(j, "locus", b.locus_ns, b.process_ns);
	lc_json_string(j, "not_included", LC_OWN_NOT_INCLUDED);
	lc_json_end_object(j);
	lc_json_u64(j, "gc_pauses", b.pauses);
	lc_json_u64(j, "gc_pauses_ns", b.pauses_ns);
	lc_json_end_object(j);
}
