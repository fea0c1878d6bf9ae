/* uses: src/base/options.c src/base/nearest.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_options.c - checks that texts become options, and options become texts again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/base/options.h"

static char error[256];

static int set(struct lc_options *o, const char *name, const char *value)
{
	error[0] = '\0';
	return lc_options_set(o, name, value, error, sizeof(error));
}

static int parse(struct lc_options *o, const char *text)
{
	error[0] = '\0';
	return lc_options_parse(o, text, error, sizeof(error));
}

static void defaults_are_those_of_the_table(void **state)
{
	struct lc_options o;
	char value[LC_OPTION_TEXT_MAX];
	size_t count;
	const struct lc_option_info *table = lc_option_table(&count);

	lc_options_init(&o);
	assert_string_equal(o.event, "auto");
	assert_int_equal(o.interval_ns, 5000000);
	assert_int_equal(o.min_size_bytes, 1024);
	assert_true(o.alloc_interval_bytes == LC_SAMPLE_INTERVAL_AUTO);
	assert_string_equal(o.output, "locus-%p");
	assert_int_equal(o.depth, 256);
	assert_int_equal(o.paths, LC_PATHS_ADAPTIVE);
	assert_string_equal(o.include, "");
	assert_false(o.audit);
	for (size_t i = 0; i < count; i++) {
		assert_true(lc_options_value(&o, i, value, sizeof(value)) >= 0);
		assert_string_equal(value, table[i].default_text);
	}
}

static void labels_are_keys_and_values(void **state)
{
	static const struct {
		const char *text, *says;
	} wrong[] = {
		{ "team", "'team' has no '='" },
		{ "=core", "needs a key" },
		{ "team=", "has no value" },
		{ "a b=c", "needs a key" },
		{ "1a=c", "needs a key" },
		{ "host=web1", "has a reserved key" },
		{ "start=now", "has a reserved key" },
		{ "team=a\nb", "contains a control character" },
		{ "team=\033[1m", "contains a control character" },
		{ "team=\xc2\x85", "contains a control character" },
		{ "team=a;team=b", "'team=b' repeats the key of another label" },
		{ "teams=a;team=b;teams=c", "'teams=c' repeats the key of another label" },
		{ "a=1;b", "'b' has no '='" },
	};
	char text[256], longest[80] = "";
	struct lc_options o, again;

	lc_options_init(&o);
	lc_options_init(&again);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(set(&o, "label", wrong[i].text), -EINVAL);
		assert_non_null(strstr(error, wrong[i].says));
		assert_string_equal(o.label, "");
	}
	assert_int_equal(set(&o, "label", "team=core"), 0);
	assert_int_equal(set(&o, "label", "app.kubernetes.io/name=a,b=c d\xc3\xa9"), 0);
	assert_int_equal(set(&o, "label", "team=other"), -EINVAL);
	assert_string_equal(o.label, "team=core;app.kubernetes.io/name=a,b=c d\xc3\xa9");
	assert_true(lc_options_format(&o, text, sizeof(text)) > 0);
	assert_int_equal(parse(&again, text), 0);
	assert_string_equal(again.label, o.label);
	assert_int_equal(parse(&again, "label=team=core,label=teams=core"), -EINVAL);
	memset(longest, 'k', 63);
	memcpy(longest + 63, "=v", 3);
	lc_options_init(&o);
	assert_int_equal(set(&o, "label", longest), 0);
	memmove(longest + 1, longest, 66);
	assert_int_equal(set(&o, "label", longest), -EINVAL);
}

static void a_loop_is_a_time_or_a_size(void **state)
{
	static const struct {
		const char *text, *written;
		uint64_t loop;
	} cases[] = {
		{ "none", "none", 0 },
		{ "300ms", "300ms", 300 * UINT64_C(1000000) },
		{ "60min", "1h", UINT64_C(3600) * 1000000000 },
		{ "1h", "1h", UINT64_C(3600) * 1000000000 },
		{ "36h", "36h", UINT64_C(36) * 3600 * 1000000000 },
		{ "2d", "2d", UINT64_C(2) * 86400 * 1000000000 },
		{ "100mb", "100mb", LC_LOOP_BYTES | 100 << 20 },
		{ "1024MB", "1gb", LC_LOOP_BYTES | UINT64_C(1) << 30 },
		{ "64k", "64kb", LC_LOOP_BYTES | 64 << 10 },
	};
	static const char *const wrong[] = { "10m",     "1",      "99ms", "63kb",
		                             "100001d", "1025gb", "x",    "" };
	char text[256];
	struct lc_options o, again;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		lc_options_init(&o);
		lc_options_init(&again);
		assert_int_equal(set(&o, "loop", cases[i].text), 0);
		assert_true(o.loop == cases[i].loop);
		assert_true(lc_options_format(&o, text, sizeof(text)) >= 0);
		assert_int_equal(parse(&again, text), 0);
		assert_true(again.loop == o.loop);
		if (o.loop)
			assert_string_equal(text + strlen("loop="), cases[i].written);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(set(&o, "loop", wrong[i]), -EINVAL);
}

static void sizes_take_k_m_g_in_either_case(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} cases[] = { { "1", 1 },     { "64", 64 },      { "2k", 2048 },
		      { "2K", 2048 }, { "3m", 3 << 20 }, { "32g", UINT64_C(32) << 30 } };
	struct lc_options o;

	lc_options_init(&o);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(set(&o, "min-size", cases[i].text), 0);
		assert_int_equal(o.min_size_bytes, cases[i].bytes);
	}
}

static void times_need_a_unit(void **state)
{
	struct lc_options o;

	lc_options_init(&o);
	assert_int_equal(set(&o, "interval", "200us"), 0);
	assert_int_equal(o.interval_ns, 200000);
	assert_int_equal(set(&o, "interval", "1s"), 0);
	assert_int_equal(o.interval_ns, 1000000000);
	assert_int_equal(set(&o, "interval", "500000ns"), 0);
	assert_int_equal(o.interval_ns, 500000);
	assert_int_equal(set(&o, "interval", "5"), -EINVAL);
	assert_string_equal(error, "interval: '5' must end in ns, us, ms or s");
	assert_int_equal(o.interval_ns, 500000);
}

static void bad_values_are_refused_and_change_nothing(void **state)
{
	static const struct {
		const char *name, *value, *message;
	} cases[] = {
		{ "min-size", "big", "min-size: 'big' is not a size, such as 1k" },
		{ "min-size", "", "min-size: '' is not a size, such as 1k" },
		{ "min-size", "-1", "min-size: '-1' is not a size, such as 1k" },
		{ "min-size", "1x", "min-size: '1x' must end in k, m or g" },
		{ "min-size", "1kk", "min-size: '1kk' must end in k, m or g" },
		{ "min-size", "33g", "min-size: '33g' is out of range: 0 to 32g" },
		{ "sample-interval", "1023",
		  "sample-interval: '1023' is out of range: auto, 0, or 1k to 1g" },
		{ "sample-interval", "1025m",
		  "sample-interval: '1025m' is out of range: auto, 0, or 1k to 1g" },
		{ "min-size", "18446744073709551616",
		  "min-size: '18446744073709551616' is too large" },
		{ "min-size", "18014398509481985k", "min-size: '18014398509481985k' is too large" },
		{ "interval", "99us", "interval: '99us' is out of range: 100us to 3600s" },
		{ "interval", "1h", "interval: '1h' must end in ns, us, ms or s" },
		{ "depth", "0", "depth: '0' is out of range: 1 to 2048" },
		{ "depth", "2049", "depth: '2049' is out of range: 1 to 2048" },
		{ "depth", "1k", "depth: '1k' is not a number" },
		{ "depth", NULL, "depth needs a value: N" },
		{ "event", "", "event: the EVENT is empty" },
		{ "event", NULL, "event needs a value: EVENT" },
		{ "paths", "exac", "paths: 'exac' is not one of adaptive|exact" },
		{ "paths", "", "paths: '' is not one of adaptive|exact" },
		{ "paths", "adaptive|exact",
		  "paths: 'adaptive|exact' is not one of adaptive|exact" },
		{ "audit", "maybe", "audit: 'maybe' is neither on nor off" },
		{ "output", "", "output: the DIR is empty" },
	};
	struct lc_options o, before;

	lc_options_init(&o);
	before = o;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(set(&o, cases[i].name, cases[i].value), -EINVAL);
		assert_string_equal(error, cases[i].message);
		assert_memory_equal(&o, &before, sizeof(o));
	}
}

static void zero_stands_for_all_or_none(void **state)
{
	struct lc_options o;

	lc_options_init(&o);
	assert_int_equal(set(&o, "min-size", "0"), 0);
	assert_int_equal(o.min_size_bytes, 0);
	assert_int_equal(set(&o, "sample-interval", "1k"), 0);
	assert_int_equal(o.alloc_interval_bytes, 1024);
	assert_int_equal(set(&o, "sample-interval", "0"), 0);
	assert_int_equal(o.alloc_interval_bytes, 0);
}

static void events_are_joined_in_their_order(void **state)
{
	static char text[LC_OPTION_TEXT_MAX + 1];
	struct lc_options o, before;

	lc_options_init(&o);
	assert_int_equal(set(&o, "event", "fault"), 0);
	assert_string_equal(o.event, "fault"); /* the default is gone */
	assert_int_equal(set(&o, "event", "pebs:l2-miss"), 0);
	assert_int_equal(set(&o, "event", "timer"), 0);
	assert_string_equal(o.event, "fault;pebs:l2-miss;timer");
	before = o;
	assert_int_equal(set(&o, "event", ""), -EINVAL);
	memset(text, 'x', LC_OPTION_TEXT_MAX - 1);
	assert_int_equal(set(&o, "event", text), -EINVAL);
	assert_string_equal(error, "event: the EVENT is longer than 1023 bytes");
	assert_memory_equal(&o, &before, sizeof(o));
	/* One that was set to what is the default as well. */
	lc_options_init(&o);
	assert_int_equal(parse(&o, "event=auto,event=fault"), 0);
	assert_string_equal(o.event, "auto;fault");
	/* Other texts are replaced. */
	assert_int_equal(parse(&o, "output=a,output=b"), 0);
	assert_string_equal(o.output, "b");
}

static void unknown_option_names_the_nearest(void **state)
{
	static const struct {
		const char *name, *near;
	} cases[] = { { "min-sise", "min-size" }, { "intreval", "interval" }, { "ouput", "output" },
		      { "inter", "interval" },    { "exlude", "exclude" },    { "path", "paths" } };
	struct lc_options o;

	lc_options_init(&o);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(set(&o, cases[i].name, "1"), -ENOENT);
		assert_non_null(strstr(error, cases[i].near));
	}
	assert_int_equal(set(&o, "zzzzzzzz", "1"), -ENOENT);
	assert_string_equal(error, "unknown option 'zzzzzzzz'");
	assert_int_equal(set(&o, "", "1"), -ENOENT);
	assert_string_equal(error, "unknown option ''");
}

static void very_long_names_and_values_are_refused_in_one_short_line(void **state)
{
	static char text[2 * LC_TRACK_TEXT_MAX];
	struct lc_options o;

	lc_options_init(&o);
	memset(text, 'x', LC_OPTION_TEXT_MAX);
	assert_int_equal(set(&o, text, "1"), -ENOENT);
	assert_true(strlen(error) < 128);
	assert_int_equal(set(&o, "output", text), -EINVAL);
	assert_string_equal(error, "output: the DIR is longer than 1023 bytes");
	text[LC_OPTION_TEXT_MAX - 1] = '\0';
	assert_int_equal(set(&o, "output", text), 0);
	assert_string_equal(o.output, text);
	memset(text, 'x', sizeof(text) - 1);
	assert_int_equal(parse(&o, text), -EINVAL);
	assert_true(strlen(error) < 128);
}

static void patterns_of_64_long_names_fit(void **state)
{
	static char text[LC_OPTIONS_TEXT_MAX], name[128];
	struct lc_options o, back, before;

	lc_options_init(&o);
	memset(name, 'a', sizeof(name) - 1);
	for (int i = 0; i < 64; i++)
		assert_int_equal(set(&o, "track", name), 0);
	assert_int_equal(strlen(o.track), 64 * 127 + 63);
	assert_int_equal(strlen(o.track), LC_TRACK_TEXT_MAX - 1);
	before = o;
	assert_int_equal(set(&o, "track", "b"), -EINVAL);
	assert_string_equal(error, "track: the PATTERN is longer than 8191 bytes");
	assert_memory_equal(&o, &before, sizeof(o));
	assert_true(lc_options_format(&o, text, sizeof(text)) > 0);
	lc_options_init(&back);
	assert_int_equal(parse(&back, text), 0);
	assert_string_equal(back.track, o.track);
	/* The longest options, all of which are escaped, fit too. */
	memset(o.track, ',', LC_TRACK_TEXT_MAX - 1);
	memset(o.event, ',', LC_OPTION_TEXT_MAX - 1);
	memset(o.output, ',', LC_OPTION_TEXT_MAX - 1);
	memset(o.label, ',', LC_OPTION_TEXT_MAX - 1);
	memset(o.include, ',', LC_OPTION_TEXT_MAX - 1);
	memset(o.exclude, ',', LC_OPTION_TEXT_MAX - 1);
	assert_true(lc_options_format(&o, text, sizeof(text)) > 26000);
}

static void error_fits_any_buffer(void **state)
{
	struct lc_options o;
	char tiny[8];

	lc_options_init(&o);
	assert_int_equal(lc_options_set(&o, "min-sise", "1", tiny, sizeof(tiny)), -ENOENT);
	assert_string_equal(tiny, "unknown");
}

static void agent_string_sets_several(void **state)
{
	struct lc_options o;

	lc_options_init(&o);
	assert_int_equal(parse(&o, "output=prof,min-size=64,audit,event=timer,,paths=exact,"), 0);
	assert_string_equal(o.output, "prof");
	assert_int_equal(o.min_size_bytes, 64);
	assert_true(o.audit);
	assert_string_equal(o.event, "timer");
	assert_int_equal(o.paths, LC_PATHS_EXACT);
	assert_int_equal(parse(&o, "audit=off"), 0);
	assert_false(o.audit);
	assert_int_equal(parse(&o, ""), 0);
	assert_int_equal(parse(&o, NULL), 0);
}

static void words_are_bits_however_they_are_separated(void **state)
{
	struct lc_options o;
	char text[64];

	lc_options_init(&o);
	assert_int_equal(o.spans, 0);
	assert_int_equal(set(&o, "spans", "tasks,streams"), 0);
	assert_int_equal(o.spans, LC_SPANS_STREAMS | LC_SPANS_TASKS);
	assert_true(lc_options_format(&o, text, sizeof(text)) > 0);
	assert_string_equal(text, "spans=streams;tasks");
	assert_int_equal(parse(&o, "spans=tasks;"), 0);
	assert_int_equal(o.spans, LC_SPANS_TASKS);
	assert_int_equal(parse(&o, "spans=tasks\\,streams"), 0);
	assert_int_equal(o.spans, LC_SPANS_STREAMS | LC_SPANS_TASKS);
	assert_int_equal(set(&o, "spans", "tasks,strems"), -EINVAL);
	assert_string_equal(error, "spans: 'strems' is not one of streams|tasks");
	assert_int_equal(set(&o, "spans", ""), 0);
	assert_int_equal(o.spans, 0);
}

static void agent_string_with_one_error_sets_nothing(void **state)
{
	struct lc_options o, before;

	lc_options_init(&o);
	before = o;
	assert_int_equal(parse(&o, "min-size=64,depth=x"), -EINVAL);
	assert_memory_equal(&o, &before, sizeof(o));
	assert_int_equal(parse(&o, "min-size=64,=1"), -ENOENT);
	assert_int_equal(parse(&o, "output"), -EINVAL);
	assert_string_equal(error, "output needs a value: DIR");
	assert_memory_equal(&o, &before, sizeof(o));
}

static void an_option_that_does_nothing_alone_is_refused(void **state)
{
	static const char *const alone[] = { "trace", "span-paths", "calibrate", "clock=tsc" };
	struct lc_options o, before;
	char text[64];

	lc_options_init(&o);
	before = o;
	for (size_t i = 0; i < sizeof(alone) / sizeof(alone[0]); i++) {
		assert_int_equal(parse(&o, alone[i]), -EINVAL);
		assert_non_null(strstr(error, " does nothing without spans; add spans="));
		assert_memory_equal(&o, &before, sizeof(o));
		/* In either order, and where it has its default. */
		snprintf(text, sizeof(text), "%s,spans=tasks", alone[i]);
		assert_int_equal(parse(&o, text), 0);
		o = before;
	}
	assert_int_equal(parse(&o, "trace=off,clock=auto"), 0);
}

static void hot_classes_need_samples(void **state)
{
	struct lc_options o;

	lc_options_init(&o);
	assert_int_equal(parse(&o, "event=alloc,track=A,track=hot"), -EINVAL);
	assert_string_equal(error, "track: 'hot' chooses classes by samples; omit event=alloc");
	assert_int_equal(parse(&o, "no-hooks,track=hot"), -EINVAL);
	assert_string_equal(error, "track needs hooks in classes; omit no-hooks");
	assert_int_equal(parse(&o, "event=alloc,track=A"), 0);
	lc_options_init(&o);
	assert_int_equal(parse(&o, "event=timer,track=hot,track=A,min-size=64"), 0);
	assert_string_equal(o.track, "hot;A");
}

static void format_reads_back_to_the_same(void **state)
{
	struct lc_options o, back;
	char text[8 * LC_OPTION_TEXT_MAX];
	int len;

	lc_options_init(&o);
	assert_int_equal(lc_options_format(&o, text, sizeof(text)), 0);
	assert_string_equal(text, "");

	assert_int_equal(set(&o, "output", "a,b\\,c\\\\=d\\"), 0);
	assert_int_equal(set(&o, "include", "main;pool-*,x"), 0);
	assert_int_equal(set(&o, "min-size", "1500"), 0);
	assert_int_equal(set(&o, "interval", "1500us"), 0);
	assert_int_equal(set(&o, "event", "watch:long[]#3[17]:w@1"), 0);
	assert_int_equal(set(&o, "event", "fault"), 0);
	assert_int_equal(set(&o, "audit", NULL), 0);
	assert_int_equal(set(&o, "paths", "exact"), 0);
	len = lc_options_format(&o, text, sizeof(text));
	assert_int_equal(len, strlen(text));
	assert_non_null(strstr(text, "interval=1500us,min-size=1500,"));
	lc_options_init(&back);
	assert_int_equal(parse(&back, text), 0);
	assert_memory_equal(&o, &back, sizeof(o));
	for (int cut = 0; cut <= len; cut++)
		assert_int_equal(lc_options_format(&o, text, (size_t)cut), -ENOSPC);
	assert_int_equal(lc_options_format(&o, text, (size_t)len + 1), len);
}

static void values_use_the_largest_unit_that_divides(void **state)
{
	struct lc_options o;
	char value[16];
	size_t count, row = 0;
	const struct lc_option_info *table = lc_option_table(&count);

	while (strcmp(table[row].name, "min-size") != 0)
		row++;
	lc_options_init(&o);
	assert_int_equal(set(&o, "min-size", "2048k"), 0);
	assert_int_equal(lc_options_value(&o, row, value, sizeof(value)), 2);
	assert_string_equal(value, "2m");
	assert_int_equal(lc_options_value(&o, row, value, 2), -ENOSPC);
}

static void a_share_has_decimals(void **state)
{
	static const struct {
		const char *text, *again;
		uint64_t ppm;
	} good[] = {
		{ "0.1%", "0.1%", 1000 },      { "2%", "2%", 20000 },
		{ "2.50%", "2.5%", 25000 },    { "0.1001%", "0.1001%", 1001 },
		{ "100.0%", "100%", 1000000 }, { "10.05%", "10.05%", 100500 },
	};
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "0.1", "must end in %, such as 2%" },
		{ "2.%", "is not a percentage" },
		{ ".5%", "is not a percentage" },
		{ "0.10001%", "more than four decimals" },
		{ "0.0999%", "0.1% to 100%" },
		{ "100.01%", "0.1% to 100%" },
		{ "99999999999999999999%", "is too large" },
	};
	struct lc_options o;
	char text[LC_OPTION_TEXT_MAX], wanted[64];

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		lc_options_init(&o);
		assert_int_equal(set(&o, "budget", good[i].text), 0);
		assert_true(o.budget_ppm == good[i].ppm);
		assert_true(lc_options_format(&o, text, sizeof(text)) >= 0);
		snprintf(wanted, sizeof(wanted), "budget=%s", good[i].again);
		assert_true(good[i].ppm == 20000 ? !strstr(text, "budget")
		                                 : strstr(text, wanted) != NULL);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(set(&o, "budget", bad[i].text), -EINVAL);
		assert_non_null(strstr(error, bad[i].says));
	}
}

static void patterns_match_whole_names(void **state)
{
	assert_true(lc_options_match("main", "main"));
	assert_false(lc_options_match("main", "main2"));
	assert_false(lc_options_match("main", "Main"));
	assert_true(lc_options_match("pool-*-thread-?", "pool-12-thread-3"));
	assert_false(lc_options_match("pool-*-thread-?", "pool-12-thread-"));
	assert_true(lc_options_match("a;b;c*", "cde"));
	assert_true(lc_options_match(";;b", "b"));
	assert_true(lc_options_match("*", ""));
	assert_true(lc_options_match("*ab*ab", "xababab"));
	assert_true(lc_options_match("**x**", "x"));
	assert_false(lc_options_match("", "main"));
	assert_false(lc_options_match("", ""));
	assert_false(lc_options_match("a*b", "acbd"));
}

/* A pattern of many stars must not take exponential time. */
static void hostile_pattern_ends_soon(void **state)
{
	static char name[4096], pattern[1024];

	memset(name, 'a', sizeof(name) - 1);
	for (size_t i = 0; i + 2 < sizeof(pattern); i += 2)
		memcpy(pattern + i, "a*", 2);
	pattern[sizeof(pattern) - 2] = 'b';
	assert_false(lc_options_match(pattern, name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_those_of_the_table),
		cmocka_unit_test(labels_are_keys_and_values),
		cmocka_unit_test(a_loop_is_a_time_or_a_size),
		cmocka_unit_test(sizes_take_k_m_g_in_either_case),
		cmocka_unit_test(times_need_a_unit),
		cmocka_unit_test(bad_values_are_refused_and_change_nothing),
		cmocka_unit_test(zero_stands_for_all_or_none),
		cmocka_unit_test(events_are_joined_in_their_order),
		cmocka_unit_test(unknown_option_names_the_nearest),
		cmocka_unit_test(very_long_names_and_values_are_refused_in_one_short_line),
		cmocka_unit_test(patterns_of_64_long_names_fit),
		cmocka_unit_test(error_fits_any_buffer),
		cmocka_unit_test(agent_string_sets_several),
		cmocka_unit_test(words_are_bits_however_they_are_separated),
		cmocka_unit_test(agent_string_with_one_error_sets_nothing),
		cmocka_unit_test(an_option_that_does_nothing_alone_is_refused),
		cmocka_unit_test(hot_classes_need_samples),
		cmocka_unit_test(format_reads_back_to_the_same),
		cmocka_unit_test(values_use_the_largest_unit_that_divides),
		cmocka_unit_test(a_share_has_decimals),
		cmocka_unit_test(patterns_match_whole_names),
		cmocka_unit_test(hostile_pattern_ends_soon),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
