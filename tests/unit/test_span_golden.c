/* uses: analyzer/spans/span_rows.c analyzer/spans/span_running.c analyzer/model/tree_spans.c analyzer/model/load.c analyzer/model/load_groups.c analyzer/model/groups.c analyzer/model/facts.c analyzer/model/program_name.c analyzer/model/load_process.c analyzer/model/redacted.c analyzer/model/load_range.c analyzer/model/periods.c analyzer/model/manifest_file.c analyzer/model/blockfile.c analyzer/base/file.c analyzer/model/frame_filter.c analyzer/model/block_decoder.c analyzer/model/block_decoder_definitions.c analyzer/model/block_decoder_rows.c analyzer/model/group_filter.c analyzer/model/where.c analyzer/model/slices.c analyzer/model/block_decoder_spans.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/plain.c analyzer/base/progress.c src/format/section.c src/base/options.c src/base/nearest.c src/base/redact.c -lzstd -ljansson */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_span_golden.c - checks that the kept profile with spans, which was made from docs/FORMAT.md
 * alone, is read as it was meant. The numbers are those of tests/data/golden-v1-spans/make.py,
 * added up by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/base/fail.h"
#include "analyzer/spans/span_rows.h"

#define GOLDEN "tests/data/golden-v1-spans/profile"
#define SECOND UINT64_C(1000000000)

static struct lc_tree tree;
static struct lc_load load;
static struct lc_span_rows rows;

static int read_golden(void **state)
{
	lc_tree_init(&tree);
	lc_load_init(&load);
	load.tree = &tree;
	if (access(GOLDEN, R_OK)) {
		print_message("must run in the root of the source\n");
		return -1;
	}
	if (lc_load_profile(&load, GOLDEN) || lc_load_damaged(&load))
		return -1;
	lc_span_rows_build(&rows, &load);
	return 0;
}

static int free_golden(void **state)
{
	lc_span_rows_free(&rows);
	lc_load_free(&load);
	lc_tree_free(&tree);
	return 0;
}

static bool text_is(struct lc_text text, const char *expected)
{
	return text.len == strlen(expected) && !memcmp(text.bytes, expected, text.len);
}

static bool place_is(const struct lc_span_place *p, const char *method, int line)
{
	return text_is(p->method_name, method) && p->line == line;
}

static const struct lc_span_row *find(unsigned kind, unsigned level, unsigned thread)
{
	for (size_t i = 0; i < rows.rows_len; i++)
		if (rows.rows[i].kind == kind && rows.rows[i].level == level &&
		    rows.threads[rows.rows[i].thread].index == thread)
			return &rows.rows[i];
	fail_msg("no row of kind %u, level %u, thread %u", kind, level, thread);
	return NULL;
}

static void streams_are_as_they_were_written(void **state)
{
	const struct lc_span_row *r;

	assert_int_equal(rows.rows_len, 11);
	for (unsigned thread = 0; thread < 2; thread++) {
		r = find(LC_SPAN_ANONYMOUS, 0, thread);
		assert_true(text_is(r->place->class_name, "com.acme.Query"));
		assert_true(text_is(r->place->file, "Query.java"));
		assert_true(place_is(r->place, "run", 20));
		assert_int_equal(lc_tree_depth(&tree, r->path), 2);
		assert_int_equal(r->type.len, 0);
		assert_int_equal(r->executions, 4);
		assert_int_equal(r->cycles, 8000);
		assert_int_equal(r->compensated, 8000 - 4 * 37);
		assert_int_equal(r->switches, 2);
		assert_int_equal(r->nested[0], 12);
		assert_int_equal(r->histogram_len, 2); /* of 963 and 2963 */
		assert_int_equal(r->histogram[0].bucket, lc_span_bucket(963));
		assert_int_equal(r->histogram[1].bucket, lc_span_bucket(2963));
		assert_int_equal(r->histogram[1].count, 2);
		assert_int_equal(r->intervals_len, 2);
		assert_int_equal(r->intervals[0].first_ns, 2 * SECOND + 10);
		assert_int_equal(r->intervals[1].last_ns, 3 * SECOND + 50000000);
		r = find(LC_SPAN_ANONYMOUS, 1, thread);
		assert_true(place_is(r->place, "lambda$run$0", 21));
		assert_int_equal(r->executions, 12);
		assert_int_equal(r->compensated, 2 * (1030 - 6 * 37));
		assert_int_equal(r->negative, 2);
		assert_int_equal(r->histogram[0].bucket, 0);
		assert_int_equal(find(LC_SPAN_PULLED, 1, thread)->executions, 4);
	}
	r = find(LC_SPAN_PRIMORDIAL, 0, 0);
	assert_true(place_is(r->place, "all", 30));
	assert_int_equal(r->gc_count, 2);
	assert_int_equal(r->gc_ns, 8000000);
	assert_int_equal(r->wall_ns, 14000000);
	assert_int_equal(r->nested[2], 2);
	assert_int_equal(find(LC_SPAN_FOREIGN, 0, 0)->executions, 2);
	r = find(LC_SPAN_SUPPORT, 0, 1);
	assert_int_equal(r->executions, 4);
	assert_int_equal(r->compensated, 2 * (799890 - 10));
}

static void tasks_are_as_they_were_written(void **state)
{
	const struct lc_span_row *r = find(LC_SPAN_TASK, 0, 1);

	assert_true(text_is(r->type, "com.acme.Jobs$Job"));
	assert_true(place_is(r->place, "make", 40));
	assert_true(place_is(r->submitted, "start", 41));
	assert_int_equal(r->submit_kind, LC_SUBMIT_SUBMIT);
	assert_int_equal(r->executions, 10);
	assert_int_equal(r->folded, 2);
	assert_int_equal(r->compensated, 10 * 99940);
	assert_int_equal(r->waits, 10);
	assert_int_equal(r->wait_ns, 500000);
	assert_int_equal(r->histogram[0].count, 10);
	r = find(LC_SPAN_THREAD, 0, 1);
	assert_int_equal(r->cycles, INT64_C(1) << 41);
	assert_int_equal(r->histogram[0].bucket, 156); /* 4 * (40 - 1) */
	assert_int_equal(r->nested[3], 10);
	assert_int_equal(rows.made_len, 2);
	for (unsigned i = 0; i < 2; i++) {
		const struct lc_span_made *m = &rows.made[i];

		assert_true(text_is(m->type, "com.acme.Jobs$Job"));
		assert_int_equal(m->count, m->submit_kind == LC_SUBMIT_SUBMIT ? 20 : 24);
		assert_true(place_is(m->submitted, m->submit_kind ? "start" : "",
		                     m->submit_kind ? 41 : -1));
	}
}

static void times_and_samples_are_as_they_were_written(void **state)
{
	assert_int_equal(rows.slices_len, 40);
	assert_int_equal(rows.slices[39].start_ns, 3 * SECOND + 9 * LC_TIMELINE_NS);
	assert_int_equal(rows.slices[39].cpu_ns, 50000001);
	assert_int_equal(rows.slices[39].voluntary, 9);
	assert_int_equal(rows.slices[39].involuntary, 2);
	assert_int_equal(rows.pauses_len, 2);
	assert_int_equal(rows.pauses[1].start_ns, 3 * SECOND + 300000000);
	assert_int_equal(rows.pauses[1].duration_ns, 4000000);
	assert_int_equal(rows.accesses_len, 2);
	assert_int_equal(rows.accesses[0].samples, 14);
	assert_true(text_is(rows.accesses[0].object, "com.acme.Row"));
	assert_true(place_is(rows.accesses[0].allocated, "load", 60));
	assert_true(place_is(rows.accesses[0].place, "run", 20));
	assert_true(text_is(rows.accesses[1].type, "com.acme.Jobs$Job"));
	assert_int_equal(rows.accesses[1].bucket, LC_BUCKET_NO_ADDRESS);
}

static void traces_are_as_they_were_written(void **state)
{
	static const unsigned ids[] = { 1, 2, 4, 11, 12, 14 };

	assert_int_equal(rows.traces_len, 6);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(rows.traces[i].id, ids[i]);
	assert_int_equal(rows.traces[4].start_ns, 3 * SECOND + 100000000);
	assert_int_equal(rows.traces[4].outer, 13);
	assert_int_equal(rows.traces[4].logical, 77);
	assert_int_equal(rows.traces[4].flags, LC_TRACE_SUBMITTED);
	assert_int_equal(rows.traces[4].wait_ns, 50000);
	assert_int_equal(rows.threads[rows.traces[4].creator].index, 0);
	assert_int_equal(rows.traces[5].start_ns, 3 * SECOND + 100010000);
	assert_int_equal(rows.traces[5].compensated, -10);
	assert_int_equal(rows.traces[5].flags,
	                 LC_TRACE_FOLDED | LC_TRACE_SAME_THREAD | LC_TRACE_FORK_JOIN);
	assert_int_equal(rows.traces[5].submit_kind, LC_SUBMIT_FORK);
}

static void the_manifest_is_as_it_was_written(void **state)
{
	const struct lc_span_info *info = &rows.infos[0];

	assert_int_equal(load.processes_len, 1);
	assert_true(info->recorded && info->streams && info->tasks);
	assert_string_equal(info->clock, "tsc_switches");
	assert_string_equal(info->clock_reason, "no rdpmc");
	assert_string_equal(info->calibration_warning, "measured under load");
	assert_int_equal(info->clock_hz, 2500000000);
	assert_int_equal(info->costs_len, 6);
	assert_string_equal(info->costs[3].name, "support");
	assert_true(info->costs[3].mean_cycles == 70.0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(streams_are_as_they_were_written),
		cmocka_unit_test(tasks_are_as_they_were_written),
		cmocka_unit_test(times_and_samples_are_as_they_were_written),
		cmocka_unit_test(traces_are_as_they_were_written),
		cmocka_unit_test(the_manifest_is_as_it_was_written),
	};

	return cmocka_run_group_tests(tests, read_golden, free_golden);
}
