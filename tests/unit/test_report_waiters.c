/* uses: analyzer/objects/text/report_waiters.c analyzer/objects/analysis/object_names.c analyzer/objects/analysis/own_code.c analyzer/objects/analysis/ranking.c analyzer/objects/analysis/known_lines.c analyzer/objects/analysis/roll_up.c analyzer/objects/analysis/deal.c analyzer/objects/analysis/touch.c analyzer/objects/analysis/view.c analyzer/objects/analysis/view_rows.c analyzer/out/json.c analyzer/out/screen.c analyzer/out/emit.c analyzer/model/load.c analyzer/model/load_groups.c analyzer/model/load_process.c analyzer/model/redacted.c analyzer/model/load_range.c analyzer/model/periods.c analyzer/model/manifest_file.c analyzer/model/blockfile.c analyzer/base/file.c analyzer/model/frame_filter.c analyzer/model/block_decoder.c analyzer/model/block_decoder_definitions.c analyzer/model/block_decoder_rows.c analyzer/model/slices.c analyzer/model/block_decoder_spans.c analyzer/model/tree_spans.c analyzer/model/group_filter.c analyzer/model/where.c analyzer/model/groups.c analyzer/model/facts.c analyzer/model/program_name.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/arena.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/plain.c analyzer/base/progress.c src/base/options.c src/base/nearest.c src/format/section.c analyzer/objects/analysis/offheap.c src/base/redact.c analyzer/objects/analysis/own_choice.c analyzer/model/tree_names.c analyzer/model/tree_lines.c -lm -lzstd -ljansson */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_report_waiters.c - checks which own methods the first screen names where room is short. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/analysis.h"
#include "analyzer/objects/text/report_waiters.h"

static struct lc_tree tree;
static struct lc_analysis analysis;
static struct lc_view view;

static struct lc_waiter waiter(const char *name, uint64_t samples)
{
	const uint32_t method[LC_METHOD_KEY] = { lc_tree_string(&tree, "a.Main", 6),
		                                 lc_tree_string(&tree, name, strlen(name)) };

	return (struct lc_waiter){ .method = lc_table_put(&tree.methods, method),
		                   .samples = samples };
}

/* The text of a main() that calls a library, and of a method beside it, in three lines at most. */
static char *text_of(uint64_t main, uint64_t call, uint64_t other)
{
	const struct lc_report r = { .view = &view, .analysis = &analysis };
	const struct lc_waiter below = waiter("call", call);
	struct lc_waiter list[] = { waiter("main", main), waiter("other", other) };
	struct lc_screen s = { .width = 80 };
	unsigned lines = 0;
	char *text;
	size_t len;

	list[0].below = &below;
	list[0].below_len = 1;
	analysis.waiters = (struct lc_waiters){ .list = list, .len = 2 };
	view = (struct lc_view){ .tree = &tree, .total = 1000 };
	s.out = lc_text_open(&text, &len);
	lc_report_waiters(&s, &r, 1);
	lc_mem_close_text(s.out);
	for (const char *p = text; (p = strchr(p, '\n')); p++)
		lines++;
	assert_int_equal(lines, lc_report_waiters_lines(&r, 1));
	return text;
}

static int begin(void **state)
{
	lc_tree_init(&tree);
	return 0;
}

static int end(void **state)
{
	lc_tree_free(&tree);
	return 0;
}

static void the_second_method_stands_before_calls_with_fewer_samples(void **state)
{
	char *text = text_of(520, 310, 470);

	assert_non_null(strstr(text, "52.0%"));
	assert_non_null(strstr(text, "47.0%"));
	assert_null(strstr(text, "31.0%"));
	free(text);
}

static void calls_with_more_samples_stand_before_the_second_method(void **state)
{
	char *text = text_of(900, 800, 90);

	assert_non_null(strstr(text, "80.0%"));
	assert_null(strstr(text, "9.0% ")); /* 10.0% are the rest */
	assert_non_null(strstr(text, "the rest: 1 method"));
	free(text);
}

/* A second method with hardly any samples is not shown, however few a call has. */
static void a_second_method_below_a_percent_is_not_shown(void **state)
{
	char *text = text_of(992, 4, 8);

	assert_non_null(strstr(text, "0.4%"));
	assert_non_null(strstr(text, "the rest: 1 method"));
	free(text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(the_second_method_stands_before_calls_with_fewer_samples),
		TEST(calls_with_more_samples_stand_before_the_second_method),
		TEST(a_second_method_below_a_percent_is_not_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
