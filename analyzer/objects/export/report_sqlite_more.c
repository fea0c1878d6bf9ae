/* SPDX-License-Identifier: Apache-2.0 */
/* objects/export/report_sqlite_more.c - writes the tables of threads, time, NUMA nodes and spans.
 */
#include "analyzer/objects/export/report_sqlite.h"

#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/model/tree_spans.h"
#include "src/format/kinds.h"

/* ns since the start of the thread's process. */
static int64_t since_start(const struct lc_sqlite *s, uint32_t thread, uint64_t ns)
{
	const uint32_t process = lc_table_key(&s->tree->threads, thread)[LC_THREAD_PROCESS];
	const struct lc_load *l = s->r->view->load;

	return (int64_t)(ns - (process < l->processes_len ? l->processes[process].start_monotonic_ns
	                                                  : 0));
}

static void threads(struct lc_sqlite *s)
{
	const struct lc_view *v = s->r->view;

	lc_database_table(&s->db, "threads",
	                  "id INTEGER PRIMARY KEY, process INTEGER, tid INTEGER, name TEXT, "
	                  "samples INTEGER, allocations INTEGER, bytes INTEGER");
	for (size_t i = 0; i < v->threads_len; i++) {
		const struct lc_view_thread *t = &v->threads[i];

		lc_sqlite_thread(s, t->row);
		lc_database_u64(&s->db, t->process);
		lc_database_u64(&s->db, t->tid);
		lc_database_text(&s->db, lc_tree_text(s->tree, t->name));
		lc_database_u64(&s->db, t->samples);
		lc_database_u64(&s->db, t->allocations);
		lc_database_u64(&s->db, t->bytes);
		lc_database_row(&s->db);
	}
}

/* Samples of the report's engine in each stretch. */
static uint64_t *stretch_samples(const struct lc_sqlite *s)
{
	const struct lc_table *t = &s->tree->stretch_samples;
	uint64_t *samples = lc_mem_zeroed(s->tree->stretches_len + 1, sizeof(*samples));

	for (uint32_t i = 0; i < t->count; i++) {
		const uint32_t *key = lc_table_key(t, i);

		if (key[LC_STRETCH_SAMPLES_ENGINE] == s->r->view->engine)
			samples[key[LC_STRETCH_SAMPLES_ROW]] += *lc_table_values(t, i);
	}
	return samples;
}

static void stretches(struct lc_sqlite *s)
{
	uint64_t *samples = stretch_samples(s);

	lc_database_table(&s->db, "stretches",
	                  "thread INTEGER REFERENCES threads, start_ns INTEGER, end_ns INTEGER, "
	                  "samples INTEGER, allocations INTEGER, bytes INTEGER");
	for (size_t i = 0; i < s->tree->stretches_len; i++) {
		const struct lc_tree_stretch *t = &s->tree->stretches[i];

		lc_sqlite_thread(s, t->thread);
		lc_database_i64(&s->db, since_start(s, t->thread, t->begin_ns));
		lc_database_i64(&s->db, since_start(s, t->thread, t->end_ns));
		lc_database_u64(&s->db, samples[i]);
		lc_database_u64(&s->db, t->allocations);
		lc_database_u64(&s->db, t->bytes);
		lc_database_row(&s->db);
	}
	free(samples);
}

void lc_sqlite_threads(struct lc_sqlite *s)
{
	const struct lc_table *slices = &s->tree->timeline, *pauses = &s->tree->pauses;

	threads(s);
	stretches(s);
	lc_database_table(&s->db, "time",
	                  "thread INTEGER REFERENCES threads, start_ns INTEGER, cpu_ns INTEGER, "
	                  "voluntary INTEGER, involuntary INTEGER");
	for (uint32_t i = 0; i < slices->count; i++) {
		const uint32_t *key = lc_table_key(slices, i);
		const uint64_t *values = lc_table_values(slices, i);

		lc_sqlite_thread(s, key[LC_SLICE_THREAD]);
		lc_database_i64(&s->db,
		                since_start(s, key[LC_SLICE_THREAD],
		                            lc_tree_wide(key + LC_SLICE_NUMBER) * LC_TIMELINE_NS));
		lc_database_u64(&s->db, values[LC_SLICE_CPU_NS]);
		lc_database_u64(&s->db, values[LC_SLICE_VOLUNTARY]);
		lc_database_u64(&s->db, values[LC_SLICE_INVOLUNTARY]);
		lc_database_row(&s->db);
	}
	/* A pause stands in the blocks of several threads. */
	lc_database_table(&s->db, "pauses",
	                  "process INTEGER, start_ns INTEGER, duration_ns INTEGER, "
	                  "PRIMARY KEY (process, start_ns) ON CONFLICT IGNORE");
	for (uint32_t i = 0; i < pauses->count; i++) {
		const uint32_t *key = lc_table_key(pauses, i);
		const uint32_t thread = key[LC_PAUSE_THREAD];

		lc_database_u64(&s->db, lc_table_key(&s->tree->threads, thread)[LC_THREAD_PROCESS]);
		lc_database_i64(&s->db, since_start(s, thread, lc_tree_wide(key + LC_PAUSE_START)));
		lc_database_u64(&s->db, lc_table_values(pauses, i)[LC_PAUSE_DURATION]);
		lc_database_row(&s->db);
	}
}

static void placements(struct lc_sqlite *s)
{
	const struct lc_table *t = &s->tree->placements;

	lc_database_table(&s->db, "placements",
	                  "thread INTEGER REFERENCES threads, bucket TEXT, "
	                  "site INTEGER REFERENCES sites, path INTEGER REFERENCES paths, "
	                  "cpu_node INTEGER, page_node INTEGER, source TEXT, samples INTEGER");
	for (uint32_t i = 0; i < t->count; i++) {
		const uint32_t *key = lc_table_key(t, i);

		if (key[LC_PLACEMENT_ENGINE] != s->r->view->engine)
			continue;
		lc_sqlite_thread(s, key[LC_PLACEMENT_THREAD]);
		lc_database_string(&s->db, lc_bucket_name(key[LC_PLACEMENT_BUCKET]));
		lc_sqlite_site(s, key[LC_PLACEMENT_SITE]);
		lc_sqlite_path(s, key[LC_PLACEMENT_PATH]);
		lc_sqlite_known(s, key[LC_PLACEMENT_ACCESSING]);
		lc_sqlite_known(s, key[LC_PLACEMENT_OWNING]);
		lc_database_string(&s->db, lc_data_source_name(key[LC_PLACEMENT_SOURCE]));
		lc_database_u64(&s->db, lc_table_values(t, i)[LC_PLACEMENT_SAMPLES]);
		lc_database_row(&s->db);
	}
}

void lc_sqlite_nodes(struct lc_sqlite *s)
{
	const struct lc_table *nodes = &s->tree->nodes, *homes = &s->tree->homes;

	lc_database_table(&s->db, "nodes",
	                  "thread INTEGER REFERENCES threads, node INTEGER, samples INTEGER, "
	                  "migrations INTEGER");
	for (uint32_t i = 0; i < nodes->count; i++) {
		const uint32_t *key = lc_table_key(nodes, i);
		const uint64_t *values = lc_table_values(nodes, i);

		if (key[LC_NODE_ENGINE] != s->r->view->engine)
			continue;
		lc_sqlite_thread(s, key[LC_NODE_THREAD]);
		lc_sqlite_known(s, key[LC_NODE_NODE]);
		lc_database_u64(&s->db, values[LC_NODE_SAMPLES]);
		lc_database_u64(&s->db, values[LC_NODE_MIGRATIONS]);
		lc_database_row(&s->db);
	}
	placements(s);
	lc_database_table(&s->db, "homes",
	                  "thread INTEGER REFERENCES threads, site INTEGER REFERENCES sites, "
	                  "node INTEGER, objects INTEGER, bytes INTEGER");
	for (uint32_t i = 0; i < homes->count; i++) {
		const uint32_t *key = lc_table_key(homes, i);
		const uint64_t *values = lc_table_values(homes, i);

		lc_sqlite_thread(s, key[LC_HOME_THREAD]);
		lc_sqlite_site(s, key[LC_HOME_SITE]);
		lc_sqlite_known(s, key[LC_HOME_NODE]);
		lc_database_u64(&s->db, values[LC_HOME_OBJECTS]);
		lc_database_u64(&s->db, values[LC_HOME_BYTES]);
		lc_database_row(&s->db);
	}
}

static void trace(struct lc_sqlite *s)
{
	lc_database_table(
	    &s->db, "trace",
	    "id INTEGER, outer INTEGER, thread INTEGER REFERENCES threads, kind TEXT, "
	    "level INTEGER, submit TEXT, site INTEGER REFERENCES sites, "
	    "submit_path INTEGER REFERENCES paths, path INTEGER REFERENCES paths, "
	    "start_ns INTEGER, duration_ns INTEGER, cycles INTEGER, "
	    "compensated_cycles INTEGER, context_switches INTEGER, wait_ns INTEGER");
	for (size_t i = 0; i < s->tree->traces_len; i++) {
		const uint32_t thread = s->tree->traces[i].thread;
		const struct lc_block_trace *t = &s->tree->traces[i].row;

		lc_database_u64(&s->db, t->id);
		lc_database_reference(&s->db, t->outer);
		lc_sqlite_thread(s, thread);
		lc_database_string(&s->db, lc_span_kind_name(t->kind));
		lc_database_u64(&s->db, t->level);
		lc_database_string(&s->db, lc_submit_kind_name(t->submit_kind));
		lc_sqlite_site(s, t->site);
		lc_sqlite_path(s, t->submit_path);
		lc_sqlite_path(s, t->path);
		lc_database_i64(&s->db, since_start(s, thread, t->start_ns));
		lc_database_u64(&s->db, t->duration_ns);
		lc_database_u64(&s->db, t->cycles);
		lc_database_i64(&s->db, t->compensated);
		lc_database_u64(&s->db, t->switches);
		lc_database_u64(&s->db, t->wait_ns);
		lc_database_row(&s->db);
	}
}

/* Write the cycles of a row of executions with spans inside; NULL if unknown. */
static void total(struct lc_sqlite *s, uint32_t row)
{
	const uint32_t thread = lc_table_key(&s->tree->executions, row)[LC_EXECUTION_THREAD];
	const uint32_t process = lc_table_key(&s->tree->threads, thread)[LC_THREAD_PROCESS];
	const json_t *spans = s->r->view->load->processes[process].spans;
	int64_t cycles;

	if (lc_tree_spans_total(s->tree, row, json_is_true(json_object_get(spans, "nested")),
	                        &cycles))
		lc_database_i64(&s->db, cycles);
	else
		lc_database_null(&s->db);
}

void lc_sqlite_spans(struct lc_sqlite *s)
{
	const struct lc_table *t = &s->tree->executions;

	lc_database_table(
	    &s->db, "spans",
	    "thread INTEGER REFERENCES threads, kind TEXT, level INTEGER, submit TEXT, "
	    "site INTEGER REFERENCES sites, submit_path INTEGER REFERENCES paths, "
	    "path INTEGER REFERENCES paths, executions INTEGER, folded INTEGER, "
	    "cycles INTEGER, compensated_cycles INTEGER, total_cycles INTEGER, "
	    "context_switches INTEGER, gc_pauses INTEGER, gc_ns INTEGER, waits INTEGER, wait_ns "
	    "INTEGER, "
	    "wall_ns INTEGER");
	for (uint32_t i = 0; i < t->count; i++) {
		const uint32_t *key = lc_table_key(t, i);
		const uint64_t *v = lc_table_values(t, i);

		lc_sqlite_thread(s, key[LC_EXECUTION_THREAD]);
		lc_database_string(&s->db, lc_span_kind_name(key[LC_EXECUTION_KIND]));
		lc_database_u64(&s->db, key[LC_EXECUTION_LEVEL]);
		lc_database_string(&s->db, lc_submit_kind_name(key[LC_EXECUTION_SUBMIT]));
		lc_sqlite_site(s, key[LC_EXECUTION_SITE]);
		lc_sqlite_path(s, key[LC_EXECUTION_SUBMIT_PATH]);
		lc_sqlite_path(s, key[LC_EXECUTION_PATH]);
		lc_database_u64(&s->db, v[LC_EXECUTION_COUNT]);
		lc_database_u64(&s->db, v[LC_EXECUTION_FOLDED]);
		lc_database_u64(&s->db, v[LC_EXECUTION_CYCLES]);
		lc_database_i64(&s->db, (int64_t)v[LC_EXECUTION_COMPENSATED]);
		total(s, i);
		lc_database_u64(&s->db, v[LC_EXECUTION_SWITCHES]);
		lc_database_u64(&s->db, v[LC_EXECUTION_GC_COUNT]);
		lc_database_u64(&s->db, v[LC_EXECUTION_GC_NS]);
		lc_database_u64(&s->db, v[LC_EXECUTION_WAITS]);
		lc_database_u64(&s->db, v[LC_EXECUTION_WAIT_NS]);
		lc_database_u64(&s->db, v[LC_EXECUTION_WALL_NS]);
		lc_database_row(&s->db);
	}
	trace(s);
}
