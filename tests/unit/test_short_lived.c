/* uses: analyzer/objects/analysis/findings.c analyzer/objects/analysis/gc_model.c analyzer/objects/analysis/cpu_breakdown.c analyzer/objects/analysis/headers.c analyzer/base/plain.c analyzer/objects/analysis/object_names.c analyzer/objects/analysis/deal.c analyzer/objects/analysis/ranking.c analyzer/objects/analysis/known_lines.c analyzer/objects/analysis/touch.c analyzer/model/group_filter.c analyzer/model/where.c src/base/options.c src/base/nearest.c analyzer/model/groups.c analyzer/model/facts.c analyzer/model/program_name.c analyzer/objects/analysis/roll_up.c analyzer/objects/analysis/view.c analyzer/objects/analysis/view_rows.c analyzer/out/json.c analyzer/out/screen.c analyzer/out/emit.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/arena.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/progress.c src/format/section.c analyzer/objects/analysis/findings_rows.c analyzer/objects/analysis/advice.c analyzer/objects/analysis/advice_calls.c analyzer/objects/analysis/advice_users.c analyzer/objects/analysis/own_code.c analyzer/objects/analysis/reaches.c analyzer/objects/analysis/findings_rules.c analyzer/objects/analysis/saving.c analyzer/objects/analysis/row_set.c analyzer/objects/analysis/sharing.c analyzer/objects/analysis/offheap.c analyzer/objects/analysis/advice_block.c analyzer/objects/analysis/findings_offheap.c analyzer/objects/analysis/findings_paths.c analyzer/objects/analysis/findings_calls.c analyzer/objects/analysis/findings_again.c analyzer/objects/analysis/findings_grows.c analyzer/objects/analysis/findings_contents.c analyzer/objects/analysis/contents.c -lm -ljansson */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_short_lived.c - checks when a line is said to make arrays of which nothing lives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>

#include "analyzer/objects/analysis/findings_impl.h"
#include "src/format/kinds.h"

/* Nothing else is looked for. */
void lc_finding_sharing(struct lc_finding_search *s)
{
}

void lc_finding_remote(struct lc_finding_search *s)
{
}

void lc_finding_spans(struct lc_finding_search *s)
{
}

uint64_t lc_load_counter(const struct lc_load *l, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(l->processes->counters, name));
}

static struct lc_tree tree;
static struct lc_load_process process;
static struct lc_load load;

static uint32_t text(const char *s)
{
	return lc_tree_string(&tree, s, strlen(s));
}

/* A profile in which one line makes 100 arrays of 2,000 bytes; none outlives a collection. */
static int a_line_that_makes_arrays(void **state)
{
	uint32_t method[LC_METHOD_KEY], frame[LC_FRAME_KEY], path[LC_PATH_KEY], site[LC_SITE_KEY];
	uint64_t *values;

	lc_tree_init(&tree);
	method[LC_METHOD_CLASS] = text("A");
	method[LC_METHOD_NAME] = text("a");
	method[LC_METHOD_SIGNATURE] = text("()V");
	method[LC_METHOD_FILE] = text("A.java");
	frame[LC_FRAME_METHOD] = lc_table_put(&tree.methods, method);
	frame[LC_FRAME_BCI1] = frame[LC_FRAME_LINE1] = 8;
	path[LC_PATH_PARENT] = 0;
	path[LC_PATH_FRAME] = lc_table_put(&tree.frames, frame);
	site[LC_SITE_CLASS] = text("byte[]");
	site[LC_SITE_PATH] = lc_table_put(&tree.paths, path);
	values = lc_table_values(&tree.sites, lc_table_put(&tree.sites, site));
	values[LC_SITE_ALLOCATIONS] = 100;
	values[LC_SITE_BYTES] = 200000;
	process = (struct lc_load_process){ 0 };
	load = (struct lc_load){
		.tree = &tree, .engines_len = 1, .processes = &process, .processes_len = 1
	};
	load.engines[0] = (struct lc_load_engine){ .name = (char *)"timer",
		                                   .unit = (char *)"ns of CPU time",
		                                   .interval_ns = 5000000 };
	return 0;
}

static int nothing(void **state)
{
	lc_tree_free(&tree);
	return 0;
}

/* The number of findings after so many collections, which so many bytes outlived. */
static size_t found(int followed, int incomplete, uint64_t outlived_bytes)
{
	const uint32_t key[LC_COPY_KEY] = { [LC_COPY_SITE] = 1 };
	struct lc_view view = { 0 };
	struct lc_ranking ranking = { 0 };
	const struct lc_findings_of of = { .ranking = &ranking };
	struct lc_findings f;
	size_t len;

	process.counters = json_pack("{s:i,s:i,s:i,s:i}", "cpu_process_ns", 1000000, "cpu_gc_ns",
	                             500000, "gc_collected", followed, "gc_incomplete", incomplete);
	lc_table_values(&tree.copies, lc_table_put(&tree.copies, key))[LC_COPY_OUTLIVED_BYTES] =
	    outlived_bytes;
	lc_view_build(&view, &load, 0, LC_SORT_SAMPLES);
	lc_ranking_build(&ranking, &view, LC_GROUP_LINE, NULL);
	lc_findings_find(&f, &of);
	len = f.len;
	if (len)
		assert_int_equal(f.list->kind, LC_FINDING_SHORT_LIVED);
	lc_findings_free(&f);
	lc_ranking_free(&ranking);
	lc_view_free(&view);
	json_decref(process.counters);
	return len;
}

static void arrays_of_which_nothing_lives_are_found(void **state)
{
	assert_int_equal(found(100, 0, 0), 1);
	assert_int_equal(found(LC_FINDING_COLLECTIONS_MIN, 0, 0), 1);
	assert_int_equal(found(LC_FINDING_COLLECTIONS_MIN - 1, 0, 0), 0);
}

static void arrays_of_which_some_live_are_not(void **state)
{
	assert_int_equal(found(100, 0, 10000), 1); /* 5% */
	assert_int_equal(found(100, 0, 10001), 0);
}

/* Objects that such a collection has made unknown may live. */
static void nothing_is_said_where_collections_could_not_be_followed(void **state)
{
	assert_int_equal(found(100, 2, 0), 1);
	assert_int_equal(found(100, 3, 0), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, a_line_that_makes_arrays, nothing)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(arrays_of_which_nothing_lives_are_found),
		TEST(arrays_of_which_some_live_are_not),
		TEST(nothing_is_said_where_collections_could_not_be_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
