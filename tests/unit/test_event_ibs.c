/* uses: src/perf/event.c src/perf/event_sysfs.c src/perf/event_ibs.c src/perf/event_watch.c src/perf/event_names.c src/perf/event_pmu.c src/base/options.c src/base/nearest.c tests/unit/event_root.c -lpfm */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_event_ibs.c - checks AMD's IBS on made-up sysfs trees: Zen 2, Zen 4, Zen 5, and machines
 * without it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/perf/event.h"
#include "tests/unit/event_root.h"

#define IBS "sys/bus/event_source/devices/ibs_op/"

static struct lc_event_machine machine;
static struct lc_events events;
static char error[256];

static int parse(const char *text)
{
	memset(&events, 0x5a, sizeof(events));
	error[0] = '\0';
	return lc_event_parse(text, &machine, &events, error, sizeof(error));
}

static int setup(void **state)
{
	machine = (struct lc_event_machine){ .root = root_make() };
	root_put_cpu("AuthenticAMD", 0x17, 0x31, 0);
	return 0;
}

static int teardown(void **state)
{
	root_remove();
	return 0;
}

/* The files of Linux 5.10. */
static void lay_out_zen2(void)
{
	root_put(IBS "type", "9");
	root_put(IBS "format/cnt_ctl", "config:19");
	root_put(IBS "format/rand_en", "config:57");
}

/* The files of Linux 6.14. */
static void lay_out_zen4(void)
{
	root_put_cpu("AuthenticAMD", 0x19, 0x11, 1);
	root_put(IBS "type", "11");
	root_put(IBS "format/cnt_ctl", "config:19");
	root_put(IBS "format/l3missonly", "config:16");
	root_put(IBS "format/swfilt", "config2:0");
	root_put(IBS "caps/zen4_ibs_extensions", "1");
}

/* The files of Linux 6.15. */
static void lay_out_zen5(void)
{
	lay_out_zen4();
	root_put_cpu("AuthenticAMD", 0x1a, 0x02, 1);
	root_put(IBS "type", "12");
	root_put(IBS "format/ldlat", "config1:0-11");
	root_put(IBS "caps/ldlat", "1");
}

static void zen2_counts_ops_and_cannot_leave_the_kernel_out(void **state)
{
	const struct lc_event *e = &events.event[0];

	lay_out_zen2();
	assert_int_equal(parse("ibs"), 0);
	assert_int_equal(events.len, 1);
	assert_int_equal(e->kind, LC_KIND_IBS);
	assert_string_equal(e->text, "ibs:ops");
	assert_string_equal(e->event, "ibs_op:ops");
	assert_string_equal(e->unit, "ops");
	assert_int_equal(e->attr.type, 9);
	assert_int_equal(e->attr.config, 1 << 19);
	assert_int_equal(e->attr.config1, 0);
	assert_int_equal(e->attr.config2, 0);
	assert_int_equal(e->attr.exclude_kernel, 0); /* the kernel would say EINVAL */
	assert_int_equal(e->attr.exclude_hv, 0);
	assert_int_equal(e->attr.precise_ip, 0);
	assert_int_equal(e->attr.size, sizeof(e->attr));
	assert_int_equal(e->attr.disabled, 1);
	assert_int_equal(e->attr.sample_period, e->period);
	assert_int_equal(e->period % 16, 0);
	assert_true(e->period >= 0x90);
	assert_int_equal(e->attr.sample_type & (PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC |
	                                        PERF_SAMPLE_WEIGHT | PERF_SAMPLE_REGS_INTR),
	                 PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT |
	                     PERF_SAMPLE_REGS_INTR);
	assert_false(e->has_aux);
	assert_int_equal(parse("ibs:cycles@160000"), 0);
	assert_int_equal(e->attr.config, 0);
	assert_int_equal(e->attr.sample_period, 160000);
	assert_string_equal(e->text, "ibs:cycles@160000");
	assert_string_equal(e->unit, "cycles");
}

static void zen2_says_which_fields_it_lacks(void **state)
{
	static const struct {
		const char *text, *field;
	} cases[] = { { "ibs:l3missonly", "'l3missonly' (it needs Zen 4" },
		      { "ibs:ldlat=128", "'ldlat' (it needs Zen 5" },
		      { "ibs:swfilt", "'swfilt' (it needs Linux 6.14" } };

	lay_out_zen2();
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(parse(cases[i].text), -EINVAL);
		assert_non_null(strstr(error, cases[i].field));
		assert_non_null(strstr(error, "ibs_op has no"));
	}
}

static void without_cnt_ctl_cycles_are_counted(void **state)
{
	root_put(IBS "type", "9");
	assert_int_equal(parse("ibs"), 0);
	assert_string_equal(events.event[0].text, "ibs:cycles");
	assert_int_equal(events.event[0].attr.config, 0);
	assert_int_equal(parse("ibs:ops"), -EINVAL);
	assert_non_null(strstr(error, "no 'cnt_ctl'"));
}

static void zen4_leaves_the_kernel_out_and_filters_l3_misses(void **state)
{
	const struct lc_event *e = &events.event[0];

	lay_out_zen4();
	assert_int_equal(parse("ibs:l3missonly"), 0);
	assert_int_equal(e->attr.type, 11);
	assert_int_equal(e->attr.config, 1 << 19 | 1 << 16);
	assert_int_equal(e->attr.config2, 1);
	assert_int_equal(e->attr.exclude_kernel, 1);
	assert_int_equal(e->attr.exclude_hv, 1);
	assert_string_equal(e->text, "ibs:ops:l3missonly");
	assert_string_equal(e->event, "ibs_op:ops:l3missonly:swfilt");
	assert_string_equal(e->unit, "ops (filtered)");
	assert_int_equal(parse("ibs:swfilt"), 0);
	assert_string_equal(e->text, "ibs:ops:swfilt");
	assert_int_equal(parse("ibs:ldlat=128"), -EINVAL);
}

static void zen5_takes_a_latency_threshold(void **state)
{
	const struct lc_event *e = &events.event[0];

	lay_out_zen5();
	assert_int_equal(parse("ibs:cycles:ldlat=2048:l3missonly@144"), 0);
	assert_int_equal(e->attr.type, 12);
	assert_int_equal(e->attr.config, 1 << 16);
	assert_int_equal(e->attr.config1, 2048);
	assert_int_equal(e->attr.config2, 1);
	assert_string_equal(e->text, "ibs:cycles:l3missonly:ldlat=2048@144");
	assert_string_equal(e->unit, "cycles (filtered)");
	assert_int_equal(parse("ibs:ldlat=128"), 0);
	assert_int_equal(e->attr.config1, 128);
}

/* The format files count, not where the fields are today. */
static void fields_that_moved_are_put_where_the_format_says(void **state)
{
	const struct lc_event *e = &events.event[0];

	lay_out_zen5();
	root_put(IBS "format/cnt_ctl", "config1:63");
	root_put(IBS "format/ldlat", "config2:4-7,20-23,40-43");
	root_put(IBS "format/swfilt", "config:0");
	assert_int_equal(parse("ibs:ldlat=1929"), 0); /* 0x789 */
	assert_int_equal(e->attr.config, 1);
	assert_int_equal(e->attr.config1, UINT64_C(1) << 63);
	assert_int_equal(e->attr.config2, UINT64_C(0x70000800090));
	root_put(IBS "format/ldlat", "config1:0-9");
	assert_int_equal(parse("ibs:ldlat=1024"), -EINVAL); /* needs 11 bits */
	assert_int_equal(parse("ibs:ldlat=1023"), 0);
	for (size_t i = 0; i < 6; i++) {
		static const char *const bad[] = {
			"config1:0-64", "config1:7-3",   "config1:",
			"config3:0-11", "config1:0-11,", "config1:0-11x"
		};

		root_put(IBS "format/ldlat", bad[i]);
		assert_int_equal(parse("ibs:ldlat=128"), -EINVAL);
		assert_non_null(strstr(error, "does not take 128"));
	}
}

static void what_is_out_of_range_names_the_nearest(void **state)
{
	static const struct {
		const char *text, *part;
	} cases[] = {
		{ "ibs@100003", "did you mean @100000?" },
		{ "ibs@128", "did you mean @144?" },
		{ "ibs@0", "the period in 'ibs@0' is 0" },
		{ "ibs:ldlat=127", "out of range: ldlat=128 to ldlat=2048" },
		{ "ibs:ldlat=2049", "out of range" },
		{ "ibs:ldlat=", "out of range" },
		{ "ibs:ldlat=99999999999999999999", "out of range" },
		{ "ibs:l3miss", "did you mean 'l3missonly'?" },
		{ "ibs:op", "did you mean 'ops'?" },
		{ "ibs:ops:cycles", "either cycles or ops" },
		{ "ibs:ops:ops", "'ops' is given twice" },
		{ "ibs:ldlat=128:ldlat=256", "'ldlat' is given twice" },
		{ "ibs:", "nothing follows" },
		{ "ibs::ops", "is not cycles" },
		{ "ibs;ibs:cycles", "'ibs' is given twice" },
	};

	lay_out_zen5();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse(cases[i].text), -EINVAL);
		if (!strstr(error, cases[i].part))
			fail_msg("%s: %s", cases[i].text, error);
	}
}

static void a_guest_without_ibs_says_so_unless_the_text_is_wrong(void **state)
{
	assert_int_equal(parse("ibs"), -ENODEV);
	assert_int_equal(events.len, 0);
	assert_non_null(strstr(error, "no ibs_op PMU below /sys/bus/event_source/devices"));
	assert_int_equal(parse("ibs:ldlat=1"), -EINVAL);
	assert_int_equal(parse("ibs@7"), -EINVAL);
}

static void intel_is_told_what_to_use(void **state)
{
	root_put_cpu("GenuineIntel", 6, 85, 4);
	assert_int_equal(parse("ibs"), -EINVAL);
	assert_string_equal(error,
	                    "'ibs' needs an AMD CPU, but this CPU is Intel's; use 'timer' here");
	root_put("sys/bus/event_source/devices/cpu/type", "4");
	assert_int_equal(parse("ibs"), -EINVAL);
	assert_string_equal(error,
	                    "'ibs' needs an AMD CPU, but this CPU is Intel's; use 'pebs' here");
}

static void auto_tries_ibs_and_then_the_timer(void **state)
{
	char reasons[4][160];
	size_t len;

	lay_out_zen4();
	assert_int_equal(lc_event_candidates(&machine, &events, reasons, 4, &len), 2);
	assert_int_equal(events.event[0].kind, LC_KIND_IBS);
	assert_int_equal(events.event[1].kind, LC_KIND_TIMER);
	assert_int_equal(len, 1);
	assert_string_equal(reasons[0],
	                    "'pebs' needs an Intel CPU, but this CPU is AMD's; use 'ibs' here");
}

static void auto_says_why_only_the_timer_is_left(void **state)
{
	char reasons[4][160];
	size_t len;

	assert_int_equal(lc_event_candidates(&machine, &events, reasons, 4, &len), 1);
	assert_int_equal(events.event[0].kind, LC_KIND_TIMER);
	assert_int_equal(len, 2);
	assert_non_null(strstr(reasons[0], "this CPU is AMD's"));
	assert_non_null(strstr(reasons[1], "no ibs_op PMU"));
	assert_int_equal(lc_event_candidates(&machine, &events, reasons, 1, &len), 1);
	assert_int_equal(len, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(zen2_counts_ops_and_cannot_leave_the_kernel_out),
		TEST(zen2_says_which_fields_it_lacks),
		TEST(without_cnt_ctl_cycles_are_counted),
		TEST(zen4_leaves_the_kernel_out_and_filters_l3_misses),
		TEST(zen5_takes_a_latency_threshold),
		TEST(fields_that_moved_are_put_where_the_format_says),
		TEST(what_is_out_of_range_names_the_nearest),
		TEST(a_guest_without_ibs_says_so_unless_the_text_is_wrong),
		TEST(intel_is_told_what_to_use),
		TEST(auto_tries_ibs_and_then_the_timer),
		TEST(auto_says_why_only_the_timer_is_left),
	};

	return cmocka_run_group_tests_name("event_ibs", tests, NULL, NULL);
}
