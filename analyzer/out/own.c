/* SPDX-License-Identifier: Apache-2.0 */
/* out/own.c - reads Locus's own CPU time and memory from the counters of the profiles. */
#include "analyzer/out/own.h"

#include <jansson.h>
#include <stddef.h>

#include "analyzer/model/load.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/json.h"

bool lc_own_read(const struct lc_load *l, struct lc_own *out)
{
	const uint64_t process_ns = lc_load_counter(l, "own_process_ns");
	static const struct {
		const char *counter;
		size_t at;
	} parts[] = {
		{ "own_hooks_ns", offsetof(struct lc_own, hooks) },
		{ "own_walks_ns", offsetof(struct lc_own, hooks) },
		{ "own_samples_ns", offsetof(struct lc_own, samples) },
		{ "own_events_ns", offsetof(struct lc_own, events) },
		{ "own_thread_ns", offsetof(struct lc_own, thread) },
		{ "own_pauses_ns", offsetof(struct lc_own, pauses) },
	};

	*out = (struct lc_own){ 0 };
	for (size_t i = 0; i < l->processes_len; i++)
		if (!json_object_get(l->processes[i].counters, "own_process_ns"))
			return false; /* of an older Locus */
	if (!process_ns)
		return false;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const double share =
		    (double)lc_load_counter(l, parts[i].counter) / (double)process_ns;

		*(double *)(void *)((char *)out + parts[i].at) += share;
		out->total += share;
	}
	out->startup_ns = lc_load_counter(l, "own_startup_ns");
	out->memory_bytes = lc_load_counter(l, "own_memory_bytes");
	out->over_budget = lc_load_counter(l, "budget_exceeded");
	out->changes = lc_load_counter(l, "budget_changes");
	return true;
}

void lc_own_text(FILE *out, const struct lc_load *l)
{
	struct lc_own o;
	char startup[32], memory[32];

	if (!lc_own_read(l, &o))
		return;
	fprintf(
	    out,
	    "Locus itself: %.1f%% of CPU time (hooks %.1f, samples %.1f, events %.1f, own thread "
	    "%.1f, pauses %.1f; " LC_OWN_NOT_INCLUDED " not included), start-up %s",
	    100 * o.total, 100 * o.hooks, 100 * o.samples, 100 * o.events, 100 * o.thread,
	    100 * o.pauses, lc_emit_duration(startup, sizeof(startup), o.startup_ns));
	if (o.memory_bytes)
		fprintf(out, ", %s", lc_emit_bytes(memory, sizeof(memory), o.memory_bytes));
	putc('\n', out);
}

void lc_own_json(struct lc_json *j, const struct lc_load *l)
{
	struct lc_own o;

	if (!lc_own_read(l, &o))
		return;
	lc_json_line(j, 0);
	lc_json_object(j, "locus_itself");
	lc_json_real(j, "share", o.total);
	lc_json_real(j, "hooks", o.hooks);
	lc_json_real(j, "samples", o.samples);
	lc_json_real(j, "events", o.events);
	lc_json_real(j, "own_thread", o.thread);
	lc_json_real(j, "pauses", o.pauses);
	lc_json_string(j, "not_included", LC_OWN_NOT_INCLUDED);
	lc_json_u64(j, "startup_ns", o.startup_ns);
	if (o.memory_bytes)
		lc_json_u64(j, "memory_bytes", o.memory_bytes);
	lc_json_u64(j, "interval_changes", o.changes);
	lc_json_u64(j, "over_budget", o.over_budget);
	lc_json_end_object(j);
}
