/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/report_facts.c - computes the facts that several formats of the report state. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/base/wilson.h"
#include "analyzer/objects/analysis/report.h"
#include "analyzer/objects/analysis/sharing.h"

uint64_t lc_report_engine_samples(const struct lc_tree *t, uint32_t engine)
{
	uint64_t sum = 0;

	for (unsigned b = 0; b < LC_BUCKET_COUNT; b++)
		sum += t->buckets[engine][b];
	return sum;
}

uint32_t lc_report_busiest_engine(const struct lc_load *l)
{
	uint32_t busiest = 0;

	for (uint32_t i = 1; i < l->engines_len; i++)
		if (lc_report_engine_samples(l->tree, i) >
		    lc_report_engine_samples(l->tree, busiest))
			busiest = i;
	return busiest;
}

void lc_report_spans(const struct lc_tree *t, uint64_t *streams, uint64_t *tasks)
{
	*streams = *tasks = 0;
	for (uint32_t i = 0; i < t->executions.count; i++) {
		const uint64_t *values = lc_table_values(&t->executions, i);
		uint32_t kind = lc_table_key(&t->executions, i)[LC_EXECUTION_KIND];

		if (kind == LC_SPAN_TASK || kind == LC_SPAN_THREAD)
			*tasks += values[LC_EXECUTION_COUNT] + values[LC_EXECUTION_FOLDED];
		else if (kind != LC_SPAN_SUPPORT)
			*streams += values[LC_EXECUTION_COUNT];
	}
}

uint64_t lc_report_counted(const struct lc_load *l, const struct lc_load_engine *e)
{
	unsigned number = 0, watches = 0;
	char name[64];

	if (strcmp(e->name, "watch") != 0)
		return 0;
	for (uint32_t i = 0; i < l->engines_len; i++) {
		watches += strcmp(l->engines[i].name, "watch") == 0;
		if (&l->engines[i] == e)
			number = watches;
	}
	/* Counters are numbered within a process: with several, which is whose is not known. */
	if (watches > 1 && l->processes_len > 1)
		return 0;
	snprintf(name, sizeof(name),
	         number == 1 ? "engine_watch_counted" : "engine_watch_%u_counted", number);
	return lc_load_counter(l, name);
}

uint64_t lc_report_causeless(const struct lc_load *l)
{
	return lc_load_counter(l, "engine_traps_causeless");
}

void lc_report_weights(FILE *out, const struct lc_view *v)
{
	if (v->heaviest > v->lightest)
		fprintf(out, " by %" PRIu64 " interrupts, weights %" PRIu64 " to %" PRIu64,
		        v->interrupts, v->lightest, v->heaviest);
	else if (v->heaviest > 1)
		fprintf(out, " by %" PRIu64 " interrupts of weight %" PRIu64, v->interrupts,
		        v->heaviest);
	else if (v->pairs)
		fprintf(out, " (as good as %.0f independent ones)",
		        lc_wilson_effective(lc_view_all(v)));
}

bool lc_report_tick_limits(const struct lc_load_engine *e)
{
	return e->tick_ns > e->interval_ns && e->interval_ns;
}

uint64_t lc_report_cpu_ns(const struct lc_load *l, const struct lc_load_engine *e)
{
	static const char name[] = "engine_timer_counted";
	unsigned timers = 0;

	for (uint32_t i = 0; i < l->engines_len; i++)
		timers += strcmp(l->engines[i].name, "timer") == 0;
	/* With several timers, chosen threads or a part of the time, the CPU time is unknown. */
	if (strcmp(e->name, "timer") != 0 || timers != 1 || l->filter || l->frames ||
	    lc_load_range_on(l->range))
		return 0;
	for (size_t i = 0; i < l->processes_len; i++)
		if (!l->processes[i].complete || !json_object_get(l->processes[i].counters, name))
			return 0;
	return lc_load_counter(l, name);
}

const char *lc_report_advice(const struct lc_view *v, const struct lc_sharing_finding *f)
{
	struct lc_text name = { "", 0 };

	if (f->sides[0].site)
		name = lc_tree_text(v->tree,
		                    lc_table_key(&v->tree->sites, f->sides[0].site)[LC_SITE_CLASS]);
	if (f->sides[0].site != f->sides[1].site || f->sides[0].bucket != f->sides[1].bucket)
		return "allocate the two objects apart, pad the one that is written to 128 bytes "
		       "or mark it @Contended, or give each thread a copy";
	if (name.len > 2 && memcmp(name.bytes + name.len - 2, "[]", 2) == 0)
		return "use elements 128 bytes apart for different threads, or let each thread "
		       "count in a local copy and add up at the end";
	return "put 128 bytes of padding between the fields or mark one of them @Contended "
	       "(-XX:-RestrictContended), or move what one thread writes to an object of its own";
}

const char *lc_report_assumption(enum lc_split_method method)
{
	return method == LC_SPLIT_HITS
	           ? "from accesses to objects whose allocation was sampled"
	           : "assuming that all uncollected objects of the class are accessed alike, "
	             "wherever they were allocated; the error is unknown";
}
