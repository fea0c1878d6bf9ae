/* uses: analyzer/spans/spans.c analyzer/spans/spans_sort.c analyzer/spans/spans_math.c analyzer/spans/spans_paths.c analyzer/spans/spans_time.c analyzer/spans/spans_trace.c analyzer/spans/spans_diagnose.c analyzer/objects/analysis/view.c analyzer/objects/analysis/view_rows.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/model/tree_spans.c analyzer/base/table.c analyzer/base/arena.c analyzer/base/memory.c src/format/section.c -ljansson -lm */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_spans.c - checks sums, quantiles, heat maps and diagnoses of spans against numbers worked
 * out by hand. It is longer than 600 lines since all tests build their rows with the same helpers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/spans/spans_diagnose.h"
#include "analyzer/spans/spans_impl.h"

enum { ROWS = 64, THREADS = 8, PLACES = 8, BUCKETS = 4096, SLICES = 256, TRACES = 16, WAITS = 16 };

#define START UINT64_C(5000000000) /* of the process */
#define MS UINT64_C(1000000)

static struct lc_tree tree;
static struct lc_load load;
static struct lc_load_process process;
static struct lc_span_rows in;
static struct lc_spans s;

static struct lc_span_info info;
static struct lc_span_thread_row threads[THREADS];
static struct lc_span_place places[PLACES], *place_list[PLACES];
static struct lc_span_row rows[ROWS];
static struct lc_span_bucket buckets[BUCKETS];
static struct lc_span_interval intervals[ROWS];
static struct lc_span_look looks[PLACES];
static struct lc_span_made made[ROWS];
static struct lc_span_slice slices[SLICES];
static struct lc_span_trace traces[TRACES];
static struct lc_span_access waits[WAITS];
static size_t buckets_len;

static struct lc_text text(const char *t)
{
	return (struct lc_text){ t, (uint32_t)strlen(t) };
}

static int setup(void **state)
{
	static char names[THREADS][32];

	memset(&load, 0, sizeof(load));
	memset(&in, 0, sizeof(in));
	memset(rows, 0, sizeof(rows));
	memset(made, 0, sizeof(made));
	memset(traces, 0, sizeof(traces));
	memset(waits, 0, sizeof(waits));
	lc_tree_init(&tree);
	process.start_monotonic_ns = START;
	process.numa = json_loads("{\"nodes\":[{\"cpus\":\"0-2,7\"}]}", 0, NULL);
	load = (struct lc_load){ .tree = &tree, .processes = &process, .processes_len = 1 };
	info = (struct lc_span_info){ .recorded = true, .clock_hz = 1000000000 };
	for (uint32_t i = 0; i < THREADS; i++) {
		snprintf(names[i], sizeof(names[i]), i ? "pool-1-thread-%u" : "main", i);
		threads[i] = (struct lc_span_thread_row){ .tid = 100 + i, .name = text(names[i]) };
	}
	for (uint32_t i = 0; i < PLACES; i++) {
		place_list[i] = &places[i];
		places[i] = (struct lc_span_place){ .number = i,
			                            .line = i ? (int32_t)i : -1,
			                            .class_name = text(i ? "Main" : ""),
			                            .method_name = text(i ? "go" : ""),
			                            .signature = text(""),
			                            .file = text("") };
	}
	buckets_len = 0;
	memset(looks, 0, sizeof(looks));
	in = (struct lc_span_rows){ .load = &load,
		                    .tree = &tree,
		                    .infos = &info,
		                    .threads = threads,
		                    .threads_len = THREADS,
		                    .rows = rows,
		                    .made = made,
		                    .accesses = waits,
		                    .looks = looks,
		                    .slices = slices,
		                    .traces = traces,
		                    .places = place_list,
		                    .places_len = PLACES };
	return 0;
}

static int teardown(void **state)
{
	lc_spans_free(&s);
	json_decref(process.numa);
	lc_tree_free(&tree);
	return 0;
}

static const struct lc_spans *analyse(void)
{
	lc_spans_free(&s);
	lc_spans_build(&s, &load, &in, UINT32_MAX, LC_SPANS_BY_CYCLES);
	return &s;
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9 * fmax(1, fabs(b));
}

/* A row of `n` executions whose compensated cycles are first, first + step, first + 2 * step .. */
static struct lc_span_row *add(unsigned kind, unsigned of, unsigned place, uint64_t n,
                               int64_t first, int64_t step)
{
	struct lc_span_row *r = &rows[in.rows_len++];
	uint64_t counts[LC_SPAN_BUCKETS] = { 0 };

	assert_true(in.rows_len <= ROWS);
	*r = (struct lc_span_row){ .thread = of,
		                   .kind = (uint8_t)kind,
		                   .place = &places[place],
		                   .submitted = &places[0],
		                   .type = text(""),
		                   .executions = n,
		                   .histogram = &buckets[buckets_len] };
	for (uint64_t i = 0; i < n; i++) {
		int64_t cycles = first + (int64_t)i * step;

		r->compensated += cycles;
		r->cycles += (uint64_t)(cycles + 100);
		r->negative += cycles < 0;
		counts[lc_span_bucket(cycles)]++;
	}
	r->total = r->compensated;
	for (unsigned b = 0; b < LC_SPAN_BUCKETS; b++)
		if (counts[b]) {
			assert_true(buckets_len < BUCKETS);
			buckets[buckets_len++] = (struct lc_span_bucket){ b, counts[b] };
			r->histogram_len++;
		}
	return r;
}

static uint32_t site(const char *class, uint32_t path)
{
	const uint32_t key[LC_SITE_KEY] = { lc_tree_string(&tree, class, strlen(class)), path };

	return lc_table_put(&tree.sites, key);
}

static struct lc_span_row *task(const char *class, unsigned of, uint64_t n, int64_t first,
                                int64_t step)
{
	struct lc_span_row *r = add(LC_SPAN_TASK, of, 1, n, first, step);

	r->type = text(class);
	r->site = site(class, 1);
	return r;
}

static void active(struct lc_span_row *r, uint64_t from_ms, uint64_t to_ms)
{
	struct lc_span_interval *i = &intervals[r - rows];

	*i = (struct lc_span_interval){ START + from_ms * MS, START + to_ms * MS };
	r->intervals = i;
	r->intervals_len = 1;
}

/* Every 100 ms in [from, to): so much CPU time and so many switches, on one thread. */
static void busy(unsigned of, unsigned from_ms, unsigned to_ms, uint64_t cpu_ns, uint64_t switches)
{
	for (unsigned at = from_ms; at < to_ms; at += 100) {
		assert_true(in.slices_len < SLICES);
		slices[in.slices_len++] = (struct lc_span_slice){
			.thread = of,
			.start_ns = START + at * MS,
			.cpu_ns = cpu_ns,
			.voluntary = switches,
		};
	}
}

static const struct lc_spans_diagnosis *diagnosis(enum lc_spans_pattern p)
{
	const struct lc_spans_diagnosis *found = NULL;

	analyse();
	for (size_t i = 0; i < s.diagnoses_len; i++)
		if (s.diagnoses[i].pattern == p && !found)
			found = &s.diagnoses[i];
	return found;
}

static void verdict(enum lc_spans_pattern p, enum lc_spans_verdict expected)
{
	const struct lc_spans_diagnosis *d = diagnosis(p);

	assert_non_null(d);
	assert_int_equal(d->verdict, expected);
	assert_true(d->evidence_len > 0 && d->summary && d->advice);
	assert_true(!d->why == (expected != LC_SPANS_NO_VERDICT));
}

/* ---- sums ---- */

static void sums_are_signed_and_shares_add_up(void **state)
{
	double cycles = 0, streams = 0;

	add(LC_SPAN_ANONYMOUS, 0, 1, 4, 1000, 0);           /* 4000 */
	add(LC_SPAN_ANONYMOUS, 1, 1, 2, 500, 0);            /* 1000 */
	add(LC_SPAN_ANONYMOUS, 0, 2, 3, -10, 0)->level = 1; /* -30 */
	add(LC_SPAN_PRIMORDIAL, 0, 3, 1, 30, 0);
	add(LC_SPAN_SUPPORT, 1, 3, 2, 2000, 0);
	add(LC_SPAN_PULLED, 0, 2, 0, 0, 0)->executions = 5;
	analyse();
	assert_int_equal(s.streams_len, 5);
	assert_int_equal(s.streams[0].sum.executions, 6); /* both threads */
	assert_int_equal(s.streams[0].sum.cycles, 5000);
	assert_int_equal(s.streams[0].sum.measured, 5600);
	assert_int_equal(s.streams[4].sum.cycles, -30);
	assert_int_equal(s.streams[4].sum.negative, 3);
	assert_int_equal(s.streams_sum.cycles + s.support_sum.cycles, 5000 - 30 + 30 + 4000);
	assert_int_equal(s.streams_sum.executions, 4 + 2 + 3 + 1 + 5);
	assert_int_equal(s.kinds[LC_SPAN_PULLED], 5);
	assert_int_equal(s.locations_len, 3);
	assert_int_equal(s.locations[0].place->number, 1);
	assert_int_equal(s.locations[1].streams, 1); /* two tasks of it are none */
	assert_int_equal(s.locations[1].sum.cycles, 4030);
	assert_int_equal(s.locations[2].streams, 8);
	assert_int_equal(s.locations[2].levels, 2);
	for (size_t i = 0; i < s.locations_len; i++) {
		cycles += lc_spans_share((double)s.locations[i].sum.cycles, 9000);
		streams += lc_spans_share((double)s.locations[i].streams, 15);
	}
	assert_true(near(cycles, 1));
	assert_true(near(streams, 1));
}

static void order_by_what_was_asked_for(void **state)
{
	add(LC_SPAN_ANONYMOUS, 0, 1, 1, 9000, 0)->switches = 1;
	add(LC_SPAN_ANONYMOUS, 0, 2, 5, 10, 0);
	add(LC_SPAN_ANONYMOUS, 0, 3, 2, 10, 0)->switches = 7;
	for (int sort = 0; sort < 3; sort++) {
		static const uint32_t first[] = { 1, 2, 3 };

		lc_spans_free(&s);
		lc_spans_build(&s, &load, &in, UINT32_MAX, (enum lc_spans_sort)sort);
		assert_int_equal(s.locations[0].place->number, first[sort]);
		assert_int_equal(s.streams[0].place->number, first[sort]);
	}
}

static void variation_of_workers(void **state)
{
	add(LC_SPAN_SUPPORT, 1, 1, 1, 10, 0);
	add(LC_SPAN_SUPPORT, 2, 1, 1, 20, 0);
	add(LC_SPAN_PRIMORDIAL, 0, 1, 1, 25, 0);
	add(LC_SPAN_SUPPORT, 0, 1, 1, 5, 0); /* the caller helps: it is one worker with 30 */
	add(LC_SPAN_ANONYMOUS, 3, 1, 1, 999, 0);
	analyse();
	assert_int_equal(s.locations[0].shared.workers_len, 3);
	assert_int_equal(s.locations[0].shared.workers[0].thread, 0);
	assert_int_equal(s.locations[0].shared.workers[0].cycles, 30);
	assert_int_equal(s.locations[0].shared.workers[0].executions, 2);
	assert_true(near(s.locations[0].shared.mean, 20));
	assert_true(near(s.locations[0].shared.variation, sqrt(200.0 / 3) / 20));
	assert_int_equal(s.balance.workers_len, 4);
	assert_int_equal(s.threads_len, 4);
	assert_int_equal(s.threads[0].cycles, 999);
}

static void one_worker_has_no_variation(void **state)
{
	task("A", 1, 3, 10, 0);
	analyse();
	assert_true(s.types[0].shared.variation < 0);
	assert_int_equal(s.types[0].shared.workers_len, 1);
}

static void quantiles_are_within_an_eighth(void **state)
{
	uint64_t h[LC_SPAN_BUCKETS] = { 0 };

	assert_true(lc_spans_quantile(h, 0.5) < 0);
	for (int64_t v = 1; v <= 10000; v++)
		h[lc_span_bucket(v)]++;
	for (unsigned i = 1; i <= 100; i++) {
		double truth = 100.0 * i, found = lc_spans_quantile(h, i / 100.0);

		assert_true(fabs(found - truth) <= 0.125 * truth + 0.5);
	}
	for (int64_t v = 1; v < INT64_C(1) << 40; v += v / 7 + 1)
		assert_true(fabs(lc_spans_middle(lc_span_bucket(v)) - (double)v) <=
		            0.125 * (double)v + 0.5);
	for (unsigned b = 0; b + 1 < LC_SPAN_BUCKETS; b++) {
		assert_int_equal(lc_span_bucket((int64_t)lc_spans_bucket_end(b) - 1), b);
		assert_true(lc_spans_column_low(lc_spans_column(b)) <=
		            (double)lc_span_bucket_low(b));
	}
	memset(h, 0, sizeof(h));
	h[0] = 1; /* one in a hundred is negative or 0 */
	h[lc_span_bucket(1000)] = 99;
	assert_true(near(lc_spans_quantile(h, 0.01), 0));
	assert_true(near(lc_spans_quantile(h, 0.011), 959.5)); /* of 896 to 1023 */
}

static void heat_map_cells(void **state)
{
	struct lc_span_row *r;
	double sum = 0;

	add(LC_SPAN_ANONYMOUS, 0, 1, 3, 5, 0);    /* bucket of 5 alone, column from 4 */
	add(LC_SPAN_ANONYMOUS, 1, 1, 1, 1000, 0); /* bucket 896 to 1023, column from 512 */
	r = add(LC_SPAN_ANONYMOUS, 0, 2, 2, -15, 0);
	r->level = 2;
	add(LC_SPAN_SUPPORT, 0, 1, 7, 64, 0)->level = 0;
	analyse();
	assert_int_equal(s.heat.levels, 3);
	assert_int_equal(s.heat.cells[3].count, 3);
	assert_int_equal(s.heat.cells[10].count, 1);
	assert_true(near(lc_spans_column_low(3), 4) && near(lc_spans_column_low(10), 512));
	/* The row's 1015 cycles by the middles 3 * 5 and 959.5. */
	assert_true(near(s.heat.cells[3].cycles, 1015 * 15 / 974.5));
	assert_true(near(s.heat.cells[10].cycles, 1015 * 959.5 / 974.5));
	assert_int_equal(s.heat.cells[2 * LC_SPANS_COLUMNS].count, 2);
	assert_true(near(s.heat.cells[2 * LC_SPANS_COLUMNS].cycles, -30));
	for (size_t i = 0; i < (size_t)s.heat.levels * LC_SPANS_COLUMNS; i++)
		sum += s.heat.cells[i].cycles;
	assert_true(near(sum, (double)s.streams_sum.cycles));
	assert_int_equal(s.support.cells[7].count, 7);
	assert_true(near(s.support.cells[7].cycles, 448));
}

/* ---- tasks ---- */

static void add_made(const char *class, uint32_t path, unsigned submit, uint64_t count)
{
	made[in.made_len++] = (struct lc_span_made){ .submit_kind = (uint8_t)submit,
		                                     .site = site(class, path),
		                                     .type = text(class),
		                                     .place = &places[path ? 1 : 0],
		                                     .submitted = &places[submit ? 2 : 0],
		                                     .count = count };
}

/* The path of `depth` frames whose root is in `line` and whose others are all in line 1. */
static uint32_t path_of(uint32_t line, unsigned depth)
{
	const uint32_t method[LC_METHOD_KEY] = { lc_tree_string(&tree, "Main", 4),
		                                 lc_tree_string(&tree, "go", 2) };
	uint32_t path = 0;

	for (unsigned i = 0; i < depth; i++) {
		const uint32_t frame[LC_FRAME_KEY] = {
			[LC_FRAME_METHOD] = lc_table_put(&tree.methods, method),
			[LC_FRAME_LINE1] = i ? 2 : line + 1,
		};
		const uint32_t node[LC_PATH_KEY] = {
			[LC_PATH_PARENT] = path,
			[LC_PATH_FRAME] = lc_table_put(&tree.frames, frame),
		};

		path = lc_table_put(&tree.paths, node);
	}
	return path;
}

static void check_path(const struct lc_spans_path *p, uint32_t path, unsigned kind, unsigned level,
                       uint64_t executions, int64_t cycles)
{
	assert_int_equal(p->path, path);
	assert_int_equal(p->kind, kind);
	assert_int_equal(p->level, level);
	assert_int_equal(p->executions, executions);
	assert_int_equal(p->cycles, cycles);
	assert_int_equal(p->measured, (uint64_t)cycles + 100 * executions); /* as add() has it */
}

/*
 * One place from two callers on two threads, of two kinds: rows stay one location, and their paths
 * sum to it.
 */
static void call_paths_of_a_location(void **state)
{
	const uint32_t a = path_of(7, 3), b = path_of(8, 3);
	const struct lc_spans_location *l;
	struct lc_spans_paths joined;

	add(LC_SPAN_ANONYMOUS, 0, 1, 2, 1000, 0)->place_path = a; /* 2,000 */
	add(LC_SPAN_ANONYMOUS, 1, 1, 3, 200, 0)->place_path = a;  /* 600 */
	add(LC_SPAN_ANONYMOUS, 0, 1, 5, 100, 0)->place_path = b;  /* 500 */
	add(LC_SPAN_SUPPORT, 1, 1, 4, 1500, 0)->place_path = b;   /* 6,000 */
	rows[in.rows_len - 1].level = 1;
	analyse();
	assert_int_equal(s.locations[0].paths.len, 0); /* only lines were recorded */
	in.whole_paths = true;
	analyse();
	assert_int_equal(s.locations_len, 1);
	l = &s.locations[0];
	assert_int_equal(l->streams, 10);
	assert_int_equal(l->sum.executions, 14);
	assert_int_equal(l->sum.cycles, 9100);
	assert_int_equal(l->paths.len, 3);
	check_path(&l->paths.rows[0], b, LC_SPAN_SUPPORT, 1, 4, 6000);
	check_path(&l->paths.rows[1], a, LC_SPAN_ANONYMOUS, 0, 5, 2600);
	check_path(&l->paths.rows[2], b, LC_SPAN_ANONYMOUS, 0, 5, 500);
	joined = lc_spans_join_paths(&s, &l->paths);
	assert_int_equal(joined.len, 2);
	assert_int_equal(joined.rows[0].path, b);
	assert_int_equal(joined.rows[0].executions, 5); /* of streams */
	assert_int_equal(joined.rows[0].cycles, 6500);
	assert_int_equal(joined.rows[1].cycles, 2600);
	free(joined.rows);
}

static void call_paths_of_tasks(void **state)
{
	const uint32_t a = path_of(7, 2), b = path_of(8, 2), from = path_of(9, 4);
	const struct lc_spans_task *t;

	task("Job", 0, 1, 300, 0)->place_path = a;
	task("Job", 1, 2, 300, 0)->place_path = a;
	task("Job", 0, 4, 50, 0)->place_path = b;
	rows[in.rows_len - 1].submit_path = from;
	rows[in.rows_len - 1].folded = 3;
	in.whole_paths = true;
	analyse();
	assert_int_equal(s.tasks_len, 1);
	t = &s.tasks[0];
	assert_int_equal(t->paths.len, 2);
	check_path(&t->paths.rows[0], a, LC_SPAN_TASK, 0, 3, 900);
	assert_int_equal(t->paths.rows[0].submit_path, 0);
	check_path(&t->paths.rows[1], b, LC_SPAN_TASK, 0, 4, 200);
	assert_int_equal(t->paths.rows[1].submit_path, from);
	assert_int_equal(t->paths.rows[1].folded, 3);
	assert_int_equal(t->sum.cycles, 1100);
	assert_int_equal(s.types[0].paths.len, 2);
}

static void created_submitted_executed_dropped(void **state)
{
	struct lc_span_row *r;

	r = task("A", 1, 7, 10, 0);
	r->submit_kind = LC_SUBMIT_EXECUTE;
	r->submitted = &places[2];
	r->folded = 1;
	r = task("A", 1, 2, 10, 0); /* creation unknown */
	r->site = site("A", 0);
	r->place = &places[0];
	add_made("A", 1, LC_SUBMIT_NONE, 12);
	add_made("A", 1, LC_SUBMIT_EXECUTE, 9);
	add_made("B", 1, LC_SUBMIT_NONE, 4); /* never executed, never submitted */
	analyse();
	assert_int_equal(s.types_len, 2);
	assert_string_equal(s.types[0].name.bytes, "A");
	assert_int_equal(s.types[0].created, 12);
	assert_int_equal(s.types[0].submitted, 9);
	/* 12 less 8 executed there, less the 2 that may be of them. */
	assert_int_equal(s.types[0].dropped, 2);
	assert_int_equal(s.types[1].dropped, 4);
	assert_int_equal(s.types[0].creation->number, 1);
	assert_int_equal(s.types[0].submission->number, 2);
	assert_int_equal(s.types[0].submit_kind, LC_SUBMIT_EXECUTE);
	assert_int_equal(s.tasks_len, 2);
	assert_int_equal(s.tasks[0].submitted, 9);
	assert_int_equal(s.tasks[0].sum.executions, 7);
	assert_int_equal(s.tasks[1].sum.executions, 2);
	assert_int_equal(s.dropped, 6);
	add_made("A", 1, LC_SUBMIT_FIRST, 5); /* counted: 5 of the 12 */
	analyse();
	assert_int_equal(s.types[0].dropped, 7);
	add_made("B", 1, LC_SUBMIT_PART, 1); /* more than 4 were made */
	analyse();
	assert_false(s.types[0].part);
	assert_true(s.types[1].part);
	assert_int_equal(s.types[1].dropped, 0);
	assert_int_equal(s.part, 1);
	assert_int_equal(s.tasks_len, 2);
	assert_int_equal(s.tasks_len, 2);
}

static void submitted_but_not_executed_has_a_row(void **state)
{
	add_made("A", 1, LC_SUBMIT_SUBMIT, 3);
	analyse();
	assert_int_equal(s.tasks_len, 1);
	assert_int_equal(s.tasks[0].submitted, 3);
	assert_int_equal(s.tasks[0].sum.executions, 0);
	assert_int_equal(s.tasks[0].kind, LC_SPAN_TASK);
}

static void threads_are_kept_apart_from_tasks(void **state)
{
	task("A", 1, 2, 10, 0);
	task("A", 2, 1, 500, 0)->kind = LC_SPAN_THREAD;
	analyse();
	task("B", 1, 1, 400, 0);
	analyse();
	assert_int_equal(s.types_len, 2);
	assert_int_equal(s.types[0].sum.executions, 2); /* 20 + 500 are more than 400 */
	assert_int_equal(s.types[0].threads.cycles, 500);
	assert_int_equal(s.types[0].shared.workers_len, 1);
	assert_int_equal(s.tasks_len, 3);
}

static void add_trace(uint64_t id, unsigned kind, uint64_t outer, unsigned flags, uint64_t object,
                      uint32_t creator)
{
	traces[in.traces_len++] = (struct lc_span_trace){ .id = id,
		                                          .outer = outer,
		                                          .kind = (uint8_t)kind,
		                                          .flags = (uint8_t)flags,
		                                          .logical = object,
		                                          .creator = creator,
		                                          .type = text("A"),
		                                          .place = &places[0],
		                                          .submitted = &places[0] };
}

static void single_spans_fold_by_the_rules(void **state)
{
	const uint32_t unknown = LC_SPAN_NO_THREAD;

	add_trace(1, LC_SPAN_THREAD, 0, 0, 0, unknown);
	add_trace(2, LC_SPAN_TASK, 1, LC_TRACE_SUBMITTED, 7, 1); /* own: outer is a thread */
	add_trace(3, LC_SPAN_ANONYMOUS, 2, 0, 0, unknown);
	add_trace(4, LC_SPAN_TASK, 3, 0, 8, 1); /* folded: in a task, a stream between */
	add_trace(5, LC_SPAN_TASK, 4, 0, 8, 1); /* folded, the same object again */
	add_trace(6, LC_SPAN_TASK, 1, LC_TRACE_SAME_THREAD, 9, 0); /* folded: the thread's own */
	add_trace(7, LC_SPAN_TASK, 1, LC_TRACE_SAME_THREAD, 10, unknown); /* own: not known */
	add_trace(8, LC_SPAN_TASK, 2, LC_TRACE_FORK_JOIN | LC_TRACE_SUBMITTED, 11,
	          1);                           /* own: helped */
	add_trace(9, LC_SPAN_TASK, 9, 0, 0, 1); /* a ring: nothing is around it */
	add_trace(10, LC_SPAN_TASK, 99, LC_TRACE_FOLDED, 12,
	          1); /* 99 has not ended: as the agent said */
	add_trace(11, LC_SPAN_TASK, 99, 0, 13, 1);
	task("A", 1, 5, 10, 0)->folded = 5;
	analyse();
	assert_int_equal(s.trace.rows, 11);
	assert_int_equal(s.trace.tasks, 10);
	assert_int_equal(s.trace.tasks_online, 10);
	assert_int_equal(s.trace.folded_online, 5);
	/* 4, 5, 6, 10, and 9, which is inside a task as its row says. */
	assert_int_equal(s.trace.folded, 5);
	assert_int_equal(s.trace.objects, 7);
}

/* ---- time ---- */

static void timelines_are_on_the_programs_clock(void **state)
{
	struct lc_spans_mean m;

	busy(0, 0, 300, 50 * MS, 2);
	busy(1, 100, 200, 100 * MS, 6);
	analyse();
	assert_int_equal(s.timeline_len, 3);
	assert_int_equal(s.points_len, 4);
	assert_int_equal(s.timeline[1].start_ns, 100 * MS);
	assert_int_equal(s.timeline[1].cpu_ns, 150 * MS);
	assert_int_equal(s.timeline[1].voluntary, 8);
	assert_int_equal(s.threads[0].cpu_ns, 150 * MS);
	assert_int_equal(s.threads[0].points_len, 3);
	m = lc_spans_mean(&s, 100 * MS, 200 * MS, false, 0);
	assert_int_equal(m.points, 1);
	assert_true(near(m.cores, 1.5) && near(m.switches, 8));
	m = lc_spans_mean(&s, 100 * MS, 200 * MS, true, 0);
	assert_int_equal(m.points, 2);
	assert_true(near(m.cores, 0.5) && near(m.switches, 2));
	assert_int_equal(lc_spans_mean(&s, 100 * MS, 200 * MS, true, 0.6).points, 0);
}

static void active_time_is_joined(void **state)
{
	active(add(LC_SPAN_ANONYMOUS, 0, 1, 1, 10, 0), 500, 900);
	active(add(LC_SPAN_ANONYMOUS, 1, 1, 1, 10, 0), 100, 200);
	active(add(LC_SPAN_ANONYMOUS, 2, 1, 1, 10, 0), 200, 300);
	active(add(LC_SPAN_ANONYMOUS, 3, 1, 1, 10, 0), 600, 700);
	analyse();
	assert_int_equal(s.locations[0].active.len, 2);
	assert_int_equal(s.locations[0].active.intervals[0].first_ns, 100 * MS);
	assert_int_equal(s.locations[0].active.intervals[0].last_ns, 300 * MS);
	assert_int_equal(s.locations[0].active.intervals[1].last_ns, 900 * MS);
	assert_int_equal(s.locations[0].sum.first_ns, 100 * MS);
	assert_int_equal(s.locations[0].sum.last_ns, 900 * MS);
}

static void pools_by_name(void **state)
{
	add(LC_SPAN_ANONYMOUS, 0, 1, 1, 10, 0);
	threads[3].name = text("pool-2-thread-1");
	threads[4].name = text("main");
	analyse();
	assert_true(lc_spans_same_pool(&s, 1, 2));
	assert_false(lc_spans_same_pool(&s, 1, 3));
	assert_false(lc_spans_same_pool(&s, 0, 4)); /* no numbers: two programs' main threads */
	assert_false(lc_spans_same_pool(&s, 0, 1));
	assert_int_equal(s.cpus, 4);
	assert_true(near(s.hz, 1e9));
}

static void add_wait(unsigned kind, unsigned place, const char *type, uint32_t object,
                     uint32_t engine, uint64_t samples)
{
	waits[in.accesses_len++] =
	    (struct lc_span_access){ .kind = (uint8_t)kind,
		                     .type = text(type),
		                     .place = &places[place],
		                     .engine = engine,
		                     .bucket = object ? LC_BUCKET_OBJECT : LC_BUCKET_NATIVE,
		                     .site = object,
		                     .allocated = &places[0],
		                     .object = text(""),
		                     .samples = samples };
}

static void objects_waited_for(void **state)
{
	uint32_t a, b;

	add(LC_SPAN_ANONYMOUS, 0, 1, 1, 10, 0);
	task("A", 0, 1, 10, 0);
	a = site("long[]", 0);
	b = site("byte[]", 0);
	add_wait(LC_SPAN_ANONYMOUS, 1, "", a, 0, 3);
	add_wait(LC_SPAN_SUPPORT, 1, "", b, 0, 5);
	add_wait(LC_SPAN_SUPPORT, 1, "", a, 0, 4);
	add_wait(LC_SPAN_ANONYMOUS, 1, "", 0, 0, 8); /* no object */
	add_wait(LC_SPAN_TASK, 0, "A", b, 0, 2);
	add_wait(LC_SPAN_TASK, 0, "Z", b, 0, 1); /* none of these has ended */
	add_wait(LC_SPAN_TASK, 0, "A", b, 1, 9); /* another engine: never added up */
	analyse();
	assert_int_equal(s.engine, 0);
	assert_int_equal(s.span_samples, 23);
	assert_int_equal(s.locations[0].waits.samples, 20);
	assert_int_equal(s.locations[0].waits.rows_len, 2);
	assert_int_equal(s.locations[0].waits.rows[0].site, a);
	assert_int_equal(s.locations[0].waits.rows[0].samples, 7);
	assert_int_equal(s.types[0].waits.samples, 2);
	assert_int_equal(s.unfinished_len, 1);
	assert_int_equal(s.unfinished[0].waits.samples, 1);
	assert_null(s.unfinished[0].place);
}

/* ---- diagnoses ---- */

static void many_small_tasks_with_more_switches(void **state)
{
	active(task("A", 1, 2000, 5000, 1), 1000, 2000);
	busy(1, 0, 1000, 50 * MS, 5);
	busy(1, 1000, 2000, 90 * MS, 200);
	verdict(LC_SPANS_FINE, LC_SPANS_FINDING);
	assert_string_equal(diagnosis(LC_SPANS_FINE)->type->name.bytes, "A");
}

static void many_small_tasks_without_more_switches(void **state)
{
	active(task("A", 1, 2000, 5000, 1), 1000, 2000);
	busy(1, 0, 2000, 50 * MS, 200);
	verdict(LC_SPANS_FINE, LC_SPANS_NO_VERDICT);
	assert_non_null(strstr(diagnosis(LC_SPANS_FINE)->why, "do not rise"));
}

/* An idle program has few switches, which says nothing. */
static void many_small_tasks_and_idle_time(void **state)
{
	active(task("A", 1, 2000, 5000, 1), 1000, 2000);
	busy(1, 0, 1000, 5 * MS, 5);
	busy(1, 1000, 2000, 90 * MS, 30);
	verdict(LC_SPANS_FINE,
	        LC_SPANS_SUSPICION); /* 300 switches for 2000, but nothing to compare */
}

static void small_tasks_of_the_stream_library(void **state)
{
	active(task("java.util.stream.ReduceOps$ReduceTask", 1, 2000, 5000, 1), 1000, 2000);
	busy(1, 0, 1000, 50 * MS, 5);
	busy(1, 1000, 2000, 90 * MS, 200);
	assert_null(diagnosis(LC_SPANS_FINE)); /* their support spans are judged */
}

static void time_that_cannot_be_is_not_believed(void **state)
{
	struct lc_span_row *r = task("A", 1, 5, 10, 0);

	process.last_block_ns = START + 1000 * MS;
	active(r, 100, 200);
	active(task("A", 2, 5, 10, 0), 5000, 5000);
	analyse();
	process.last_block_ns = 0;
	assert_int_equal(s.types[0].sum.last_ns, 200 * MS);
	assert_int_equal(s.types[0].active.len, 1);
}

static void many_small_tasks_all_the_time(void **state)
{
	active(task("A", 1, 2000, 5000, 1), 0, 2000);
	busy(1, 0, 2000, 50 * MS, 20); /* 400 switches: one for 5 tasks */
	verdict(LC_SPANS_FINE, LC_SPANS_SUSPICION);
	in.slices_len = 0;
	busy(1, 0, 2000, 50 * MS, 2);
	verdict(LC_SPANS_FINE, LC_SPANS_NO_VERDICT);
}

static void small_tasks_without_a_timeline(void **state)
{
	active(task("A", 1, 2000, 5000, 1), 0, 2000);
	verdict(LC_SPANS_FINE, LC_SPANS_NO_VERDICT);
	assert_non_null(strstr(diagnosis(LC_SPANS_FINE)->why, "too few"));
}

static void small_tasks_of_all_sizes(void **state)
{
	active(task("A", 1, 2000, 10, 0), 1000, 2000);
	active(task("A", 2, 2000, 50000, 0), 1000, 2000);
	busy(1, 0, 1000, 50 * MS, 5);
	busy(1, 1000, 2000, 90 * MS, 200);
	verdict(LC_SPANS_FINE, LC_SPANS_NO_VERDICT);
	assert_non_null(strstr(diagnosis(LC_SPANS_FINE)->why, "not similar"));
}

static void few_or_large_tasks_are_not_fine_grained(void **state)
{
	task("A", 1, LC_SPANS_FINE_COUNT - 1, 5000, 0);
	task("B", 1, 2000, 10000000, 0);
	assert_null(diagnosis(LC_SPANS_FINE));
}

static void tasks_of_a_parallel_stream_may_be_too_small(void **state)
{
	active(add(LC_SPAN_SUPPORT, 1, 2, 4000, 3000, 0), 1000, 2000);
	busy(1, 0, 1000, 50 * MS, 5);
	busy(1, 1000, 2000, 90 * MS, 200);
	verdict(LC_SPANS_FINE, LC_SPANS_FINDING);
	assert_int_equal(diagnosis(LC_SPANS_FINE)->location->place->number, 2);
}

static void coarse_tasks(void)
{
	active(task("Large", 1, 3, 900000000, 0), 1000, 2000);
	active(task("Other", 2, 200, 1000000, 0), 0, 1000);
}

static void a_few_huge_tasks_on_idle_cpus(void **state)
{
	coarse_tasks();
	busy(1, 0, 1000, 99 * MS, 50);
	busy(1, 1000, 2000, 99 * MS, 3); /* one of 4 CPUs */
	verdict(LC_SPANS_COARSE, LC_SPANS_FINDING);
	assert_string_equal(diagnosis(LC_SPANS_COARSE)->type->name.bytes, "Large");
}

static void the_largest_of_a_type(void **state)
{
	active(task("A", 1, 2, 900000000, 0), 1000, 2000);
	active(task("A", 2, 400, 1000000, 0), 1000, 2000);
	busy(1, 1000, 2000, 99 * MS, 3);
	verdict(LC_SPANS_COARSE, LC_SPANS_FINDING);
	/* The two have 1800 of 2200 million; reckoned from middles of buckets. */
	assert_true(fabs((double)diagnosis(LC_SPANS_COARSE)->cycles / 1.8e9 - 1) < 0.05);
}

static void huge_tasks_on_busy_cpus(void **state)
{
	coarse_tasks();
	for (unsigned t = 1; t < 5; t++)
		busy(t, 1000, 2000, 99 * MS, 1);
	verdict(LC_SPANS_COARSE, LC_SPANS_NO_VERDICT);
	assert_non_null(strstr(diagnosis(LC_SPANS_COARSE)->why, "busy"));
}

static void huge_tasks_among_switches(void **state)
{
	coarse_tasks();
	busy(1, 1000, 2000, 99 * MS, 1000);
	verdict(LC_SPANS_COARSE, LC_SPANS_NO_VERDICT);
	assert_non_null(strstr(diagnosis(LC_SPANS_COARSE)->why, "context switches"));
}

static void huge_tasks_on_an_unknown_machine(void **state)
{
	coarse_tasks();
	busy(1, 1000, 2000, 99 * MS, 3);
	json_decref(process.numa);
	process.numa = NULL;
	verdict(LC_SPANS_COARSE, LC_SPANS_NO_VERDICT);
	assert_non_null(strstr(diagnosis(LC_SPANS_COARSE)->why, "number of CPUs"));
}

/* A hundredth of the small tasks met an interrupt. */
static void small_tasks_that_were_interrupted_are_not_coarse(void **state)
{
	process.last_block_ns = 0;
	active(task("A", 1, 20000, 1000, 0), 0, 1000);
	active(task("A", 1, 200, 500000, 0), 0, 1000);
	busy(1, 0, 1000, 5 * MS, 1);
	assert_null(diagnosis(LC_SPANS_COARSE));
}

/* A cycle is a nanosecond: 3000 cycles each, and 9000 outside; with 12000 other cycles for each
 * they are other work. */
static void small_tasks_that_take_longer_to_hand_over(void **state)
{
	const struct lc_spans_diagnosis *d;

	active(task("A", 1, 100000, 3000, 0), 0, 1000);
	busy(1, 0, 1000, 120 * MS, 1);
	verdict(LC_SPANS_FINE, LC_SPANS_FINDING);
	d = diagnosis(LC_SPANS_FINE);
	assert_non_null(strstr(d->evidence[d->evidence_len - 1], "outside, there are 9000 cycles"));
	busy(1, 0, 1000, 120 * MS, 1);
	verdict(LC_SPANS_FINE, LC_SPANS_NO_VERDICT);
	in.slices_len = 0;
	busy(1, 0, 1000, 50 * MS, 1); /* most is in them */
	verdict(LC_SPANS_FINE, LC_SPANS_NO_VERDICT);
}

static void tasks_of_one_size_are_not_coarse(void **state)
{
	task("A", 1, 200, 900000000, 0);
	task("B", 1, 10, 950000000, 0);
	assert_null(diagnosis(LC_SPANS_COARSE));
}

static void one_worker_does_most(void **state)
{
	task("A", 1, 100, 1000000, 0);
	task("A", 2, 20, 1000000, 0);
	task("A", 3, 20, 1000000, 0);
	task("A", 0, 1, 500, 0); /* main is in no pool: not compared */
	verdict(LC_SPANS_UNBALANCED, LC_SPANS_FINDING);
	/* 100, 20, 20: mean 46.67, variation 37.71 / 46.67 = 0.81; four more of the pool did
	 * nothing. */
	assert_non_null(strstr(diagnosis(LC_SPANS_UNBALANCED)->evidence[0], "3 workers: 0.81"));
	assert_non_null(strstr(diagnosis(LC_SPANS_UNBALANCED)->evidence[4], "4 more threads"));
}

/*
 * Two of three workers do the same by themselves; but one has nearly all that is inside. The inner
 * streams are sequential: of their line alone nobody knows who shares what.
 */
static void what_is_inside_counts_for_the_balance(void **state)
{
	const struct lc_spans_diagnosis *d;

	for (unsigned t = 1; t <= 3; t++)
		add(LC_SPAN_SUPPORT, t, 1, 100, 1000, 0);
	rows[0].total = INT64_C(73000000);
	rows[1].total = INT64_C(26000000);
	add(LC_SPAN_ANONYMOUS, 1, 2, 100, 729000, 0)->level = 1;
	add(LC_SPAN_ANONYMOUS, 2, 2, 100, 259000, 0)->level = 1;
	verdict(LC_SPANS_UNBALANCED, LC_SPANS_FINDING);
	d = diagnosis(LC_SPANS_UNBALANCED);
	assert_int_equal(d->location->place->number, 1);
	assert_int_equal(d->cycles, 99100000);
	assert_non_null(strstr(d->evidence[0], "3 workers: 0.91"));
	assert_non_null(strstr(d->evidence[1], "73 M cycles, the mean is 33 M (2.2 times)"));
	assert_non_null(strstr(d->evidence[3], "with the spans inside (0.3% without)"));
	assert_int_equal(s.locations[1].sum.total, 99100000);
	assert_false(s.locations[1].sum.total_unknown);
	rows[1].total_unknown = true;
	assert_true(analyse()->locations[1].sum.total_unknown);
	rows[0].total = rows[1].total = rows[2].total = INT64_C(33000000);
	assert_null(diagnosis(LC_SPANS_UNBALANCED));
}

static void few_executions_may_be_uneven_by_chance(void **state)
{
	add(LC_SPAN_SUPPORT, 1, 1, 9, 90000000, 0);
	add(LC_SPAN_SUPPORT, 2, 1, 2, 10000000, 0);
	verdict(LC_SPANS_UNBALANCED, LC_SPANS_NO_VERDICT);
	assert_non_null(strstr(diagnosis(LC_SPANS_UNBALANCED)->why, "chance"));
}

static void even_workers_are_balanced(void **state)
{
	for (unsigned t = 1; t < 5; t++)
		add(LC_SPAN_SUPPORT, t, 1, 100, 1000000 + 1000 * (int64_t)t, 0);
	assert_null(diagnosis(LC_SPANS_UNBALANCED));
}

static void tiny_inner_streams(void **state)
{
	add(LC_SPAN_ANONYMOUS, 0, 1, 10, 100000, 0);
	add(LC_SPAN_ANONYMOUS, 0, 2, 5000, 700, 0)->level = 1;
	verdict(LC_SPANS_TINY, LC_SPANS_FINDING);
	assert_int_equal(diagnosis(LC_SPANS_TINY)->location->place->number, 2);
	assert_null(diagnosis(LC_SPANS_INVARIANT));
	rows[0].compensated = INT64_C(1000000000); /* now they are next to nothing */
	verdict(LC_SPANS_TINY, LC_SPANS_NO_VERDICT);
	rows[1].level = 0; /* not inside a stream */
	assert_null(diagnosis(LC_SPANS_TINY));
}

/* The median is tiny in both; the time is in a few large ones in the first. */
static void inner_streams_are_tiny_by_the_cycles_of_the_tiny_ones(void **state)
{
	const struct lc_spans_diagnosis *d;

	add(LC_SPAN_ANONYMOUS, 0, 1, 10, 100000, 0);
	add(LC_SPAN_ANONYMOUS, 0, 2, 5000, 100, 0)->level = 1;
	add(LC_SPAN_ANONYMOUS, 0, 2, 500, 100000, 0)->level = 1;
	verdict(LC_SPANS_TINY, LC_SPANS_NO_VERDICT);
	d = diagnosis(LC_SPANS_TINY);
	assert_non_null(strstr(d->why, "less than 5%"));
	/* 1% of 50,000,000 and 500,000 cycles, by buckets that are an eighth wide. */
	assert_in_range(d->cycles, 400000, 700000);
	/* The median is large: the time is in the small ones all the same. */
	in.rows_len = 0;
	add(LC_SPAN_ANONYMOUS, 0, 1, 10, 100000, 0);
	add(LC_SPAN_ANONYMOUS, 0, 2, 5000, 900, 0)->level = 1;
	add(LC_SPAN_ANONYMOUS, 0, 2, 5001, 1200, 0)->level = 1;
	verdict(LC_SPANS_TINY, LC_SPANS_FINDING);
	d = diagnosis(LC_SPANS_TINY);
	assert_in_range(d->cycles, 4000000, 5500000);
	assert_non_null(strstr(d->evidence[0], "5000 of 10001 executions"));
	/* 999 of them are too few. */
	in.rows_len = 0;
	add(LC_SPAN_ANONYMOUS, 0, 2, 999, 900, 0)->level = 1;
	add(LC_SPAN_ANONYMOUS, 0, 2, 5001, 1200, 0)->level = 1;
	assert_null(diagnosis(LC_SPANS_TINY));
}

static void streams_that_compute_the_same(void **state)
{
	const struct lc_spans_diagnosis *d;

	add(LC_SPAN_ANONYMOUS, 0, 1, 10, 100000, 0);
	add(LC_SPAN_ANONYMOUS, 0, 2, 500, 40000, 2);
	looks[2] = (struct lc_span_look){ .looked = 40, .comparable = 40, .repeated = 39 };
	verdict(LC_SPANS_INVARIANT, LC_SPANS_FINDING);
	d = diagnosis(LC_SPANS_INVARIANT);
	assert_int_equal(d->location->place->number, 2);
	assert_non_null(strstr(d->evidence[0], "39 of 40"));
	assert_non_null(strstr(d->evidence[0], "97.5% (95% interval 87.1% to 99.6%)"));
	/* To hoist it saves what is inside, too. */
	add(LC_SPAN_ANONYMOUS, 0, 3, 500, 40000, 0)->level = 1;
	rows[1].total = rows[1].compensated + rows[2].compensated;
	d = diagnosis(LC_SPANS_INVARIANT);
	assert_true(near((double)d->cycles, floor(0.975 * (double)rows[1].total)));
	assert_non_null(strstr(d->evidence[2], "95.1% of the cycles of all spans, with the spans "
	                                       "inside (47.9% without)"));
	in.rows_len = 2;
	rows[1].total = rows[1].compensated;
	/* Two contents in turn; another result; few results; too few to compare. */
	looks[2].repeated = 20;
	assert_null(diagnosis(LC_SPANS_INVARIANT));
	looks[2] = (struct lc_span_look){ 40, 40, 38, 1, 0 };
	assert_null(diagnosis(LC_SPANS_INVARIANT));
	looks[2] = (struct lc_span_look){ 40, 40, 39, 0, 30 };
	assert_null(diagnosis(LC_SPANS_INVARIANT));
	looks[2] = (struct lc_span_look){ 40, 19, 18, 0, 0 };
	assert_null(diagnosis(LC_SPANS_INVARIANT));
	/* Sizes alone are believed only where data could not be compared. */
	rows[1].level = 1;
	verdict(LC_SPANS_INVARIANT, LC_SPANS_SUSPICION);
	looks[2] = (struct lc_span_look){ 40, 40, 3, 0, 0 };
	assert_null(diagnosis(LC_SPANS_INVARIANT));
}

static void inner_streams_that_are_always_the_same(void **state)
{
	add(LC_SPAN_ANONYMOUS, 0, 1, 10, 100000, 0);
	add(LC_SPAN_ANONYMOUS, 0, 2, 500, 40000, 2)->level = 1;
	verdict(LC_SPANS_INVARIANT, LC_SPANS_SUSPICION); /* data are not known */
	assert_null(diagnosis(LC_SPANS_TINY));
	in.rows_len = 1;
	add(LC_SPAN_ANONYMOUS, 0, 2, 500, 10000, 400)->level = 1; /* 10,000 to 209,600 */
	assert_null(diagnosis(LC_SPANS_INVARIANT));
}

static void nothing_at_all(void **state)
{
	analyse();
	assert_int_equal(s.streams_len + s.tasks_len + s.diagnoses_len + s.threads_len, 0);
	assert_int_equal(s.engine, UINT32_MAX);
	assert_true(near(lc_spans_share(0, 0), 0));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sums_are_signed_and_shares_add_up),
		TEST(order_by_what_was_asked_for),
		TEST(variation_of_workers),
		TEST(one_worker_has_no_variation),
		TEST(quantiles_are_within_an_eighth),
		TEST(heat_map_cells),
		TEST(call_paths_of_a_location),
		TEST(call_paths_of_tasks),
		TEST(created_submitted_executed_dropped),
		TEST(submitted_but_not_executed_has_a_row),
		TEST(threads_are_kept_apart_from_tasks),
		TEST(single_spans_fold_by_the_rules),
		TEST(timelines_are_on_the_programs_clock),
		TEST(active_time_is_joined),
		TEST(pools_by_name),
		TEST(objects_waited_for),
		TEST(many_small_tasks_with_more_switches),
		TEST(many_small_tasks_without_more_switches),
		TEST(many_small_tasks_and_idle_time),
		TEST(small_tasks_of_the_stream_library),
		TEST(time_that_cannot_be_is_not_believed),
		TEST(many_small_tasks_all_the_time),
		TEST(small_tasks_without_a_timeline),
		TEST(small_tasks_of_all_sizes),
		TEST(few_or_large_tasks_are_not_fine_grained),
		TEST(tasks_of_a_parallel_stream_may_be_too_small),
		TEST(a_few_huge_tasks_on_idle_cpus),
		TEST(the_largest_of_a_type),
		TEST(huge_tasks_on_busy_cpus),
		TEST(huge_tasks_among_switches),
		TEST(huge_tasks_on_an_unknown_machine),
		TEST(small_tasks_that_were_interrupted_are_not_coarse),
		TEST(small_tasks_that_take_longer_to_hand_over),
		TEST(tasks_of_one_size_are_not_coarse),
		TEST(one_worker_does_most),
		TEST(what_is_inside_counts_for_the_balance),
		TEST(few_executions_may_be_uneven_by_chance),
		TEST(even_workers_are_balanced),
		TEST(tiny_inner_streams),
		TEST(inner_streams_are_tiny_by_the_cycles_of_the_tiny_ones),
		TEST(streams_that_compute_the_same),
		TEST(inner_streams_that_are_always_the_same),
		TEST(nothing_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
