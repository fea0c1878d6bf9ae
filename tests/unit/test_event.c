/* uses: src/perf/event.c src/perf/event_sysfs.c src/perf/event_ibs.c src/perf/event_watch.c src/perf/event_names.c src/perf/event_pmu.c src/base/options.c src/base/nearest.c tests/unit/event_root.c -lpfm */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_event.c - checks how lists of events, periods, and engines that need no PMU are parsed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "src/core/record.h"
#include "src/format/kinds.h"
#include "src/perf/event.h"
#include "tests/unit/event_root.h"

static struct lc_event_machine machine;
static struct lc_events events;
static char error[256];

static int setup(void **state)
{
	machine = (struct lc_event_machine){ .root = root_make() };
	root_put_cpu("AuthenticAMD", 0x1a, 2, 1);
	return 0;
}

static int teardown(void **state)
{
	root_remove();
	return 0;
}

static int parse(const char *text)
{
	error[0] = '\0';
	return lc_event_parse(text, &machine, &events, error, sizeof(error));
}

static const struct lc_event *one(const char *text)
{
	memset(&events, 0x5a, sizeof(events));
	if (parse(text) != 0)
		fail_msg("%s: %s", text, error);
	assert_int_equal(events.len, 1);
	return &events.event[0];
}

static const struct lc_watch_spec *watch(const char *text)
{
	const struct lc_event *e = one(text);

	assert_int_equal(e->kind, LC_KIND_WATCH);
	return &e->watch;
}

static void auto_is_no_event(void **state)
{
	events.len = 77;
	assert_int_equal(parse("auto"), 0);
	assert_int_equal(events.len, 0);
	assert_int_equal(parse("auto;fault"), -EINVAL);
	assert_non_null(strstr(error, "auto cannot be combined"));
	assert_int_equal(parse("fault;auto"), -EINVAL);
	assert_int_equal(parse("auto@5"), -EINVAL);
	assert_int_equal(parse("auto:x"), -EINVAL);
}

static void alloc_is_no_event_and_stands_alone(void **state)
{
	events.len = 7;
	assert_int_equal(parse("alloc"), 0);
	assert_int_equal(events.len, 0);
	assert_int_equal(parse("timer;alloc"), -EINVAL);
	assert_non_null(strstr(error, "alloc cannot be combined"));
	assert_int_equal(parse("alloc@5"), -EINVAL);
}

static void cpu_is_the_timer(void **state)
{
	assert_int_equal(one("cpu")->kind, LC_KIND_TIMER);
	assert_string_equal(events.event[0].text, "timer");
	assert_int_equal(parse("cpu;timer"), -EINVAL);
	assert_int_equal(parse("cpu@7"), -EINVAL);
}

static void cache_misses_are_what_has_addresses_here(void **state)
{
	assert_int_equal(parse("cache-misses"), -ENODEV); /* AMD without ibs */
	assert_non_null(strstr(error, "ibs"));
	root_put_cpu("GenuineIntel", 6, 0x55, 4);
	assert_int_equal(parse("cache-misses"), -ENODEV); /* no cpu PMU */
	assert_non_null(strstr(error, "pebs"));
}

static void words_of_other_profilers_say_what_there_is(void **state)
{
	static const char *const words[] = {
		"wall", "lock", "itimer", "ctimer", "nativemem", "live"
	};
	char start[32];

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		snprintf(start, sizeof(start), "'%s': ", words[i]);
		assert_int_equal(parse(words[i]), -EINVAL);
		assert_memory_equal(error, start, strlen(start));
		assert_null(strchr(error, '\n'));
	}
}

static void names_are_those_of_the_grammar(void **state)
{
	assert_string_equal(lc_event_kind_name(LC_KIND_TIMER), "timer");
	assert_string_equal(lc_event_kind_name(LC_KIND_PEBS), "pebs");
	assert_string_equal(lc_event_kind_name(LC_KIND_IBS), "ibs");
	assert_string_equal(lc_event_kind_name(LC_KIND_FAULT), "fault");
	assert_string_equal(lc_event_kind_name(LC_KIND_WATCH), "watch");
}

static void timer_has_no_period_of_its_own(void **state)
{
	const struct lc_event *e = one("timer");

	assert_int_equal(e->kind, LC_KIND_TIMER);
	assert_string_equal(e->text, "timer");
	assert_string_equal(e->event, "thread-cpu-time");
	assert_string_equal(e->unit, "ns of thread CPU time");
	assert_int_equal(e->period, 0);
	assert_int_equal(parse("timer@5"), -EINVAL);
	assert_non_null(strstr(error, "--interval"));
	assert_int_equal(parse("timer:5ms"), -EINVAL);
}

static void fault_counts_each_page_fault(void **state)
{
	const struct lc_event *e = one("fault");

	assert_int_equal(e->kind, LC_KIND_FAULT);
	assert_string_equal(e->event, "page-faults");
	assert_string_equal(e->unit, "page faults");
	assert_int_equal(e->attr.type, PERF_TYPE_SOFTWARE);
	assert_int_equal(e->attr.config, PERF_COUNT_SW_PAGE_FAULTS);
	assert_int_equal(e->attr.sample_period, 1);
	assert_int_equal(e->attr.size, sizeof(e->attr));
	assert_int_equal(e->attr.exclude_kernel, 1);
	assert_int_equal(e->attr.precise_ip, 0);
	assert_int_equal(e->attr.use_clockid, 1);
	assert_int_equal(e->attr.clockid, CLOCK_MONOTONIC);
	assert_int_equal(e->attr.sample_type, PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
	                                          PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU |
	                                          PERF_SAMPLE_REGS_INTR);
	assert_int_equal(e->attr.sample_regs_intr, 0xff01ff);
	assert_string_equal(one("fault@1")->text, "fault");
	assert_string_equal(one("fault@10")->text, "fault@10");
	assert_int_equal(events.event[0].attr.sample_period, 10);
	assert_int_equal(parse("fault:major"), -EINVAL);
	/* By libpfm4's names. */
	assert_string_equal(one("PAGE-FAULTS")->text, "fault");
	assert_int_equal(one("major-faults")->attr.config, PERF_COUNT_SW_PAGE_FAULTS_MAJ);
	assert_string_equal(events.event[0].event, "major-faults");
	assert_int_equal(one("perf::MINOR-FAULTS@3")->attr.config, PERF_COUNT_SW_PAGE_FAULTS_MIN);
	assert_int_equal(events.event[0].kind, LC_KIND_FAULT);
	assert_string_equal(events.event[0].text, "perf::MINOR-FAULTS@3");
}

static void watch_takes_classes_as_reports_show_them(void **state)
{
	static const struct {
		const char *text, *class_name;
		uint64_t ordinal;
	} cases[] = {
		{ "watch:Node", "Node", 1 },
		{ "watch:com.acme.Node#3", "com.acme.Node", 3 },
		{ "watch:com.acme.Outer$Inner$1#12", "com.acme.Outer$Inner$1", 12 },
		{ "watch:java.lang.String[][]#2", "java.lang.String[][]", 2 },
		{ "watch:long[]", "long[]", 1 },
		{ "watch:Main$$Lambda/0x00007f3c#1", "Main$$Lambda/0x00007f3c", 1 },
		{ "watch:Main$$Lambda$14/0x0000000800c03000", "Main$$Lambda$14/0x0000000800c03000",
		  1 },
		{ "watch:caf\303\251.Stra\303\237e#1", "caf\303\251.Stra\303\237e", 1 },
		{ "watch:odd.lower.name#1", "odd.lower.name", 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lc_watch_spec *w = watch(cases[i].text);

		assert_string_equal(w->class_name, cases[i].class_name);
		assert_int_equal(w->ordinal, cases[i].ordinal);
		assert_string_equal(w->field, "");
		assert_false(w->has_index);
		assert_false(w->has_offset);
		assert_int_equal(w->access, LC_TOUCH_LOAD | LC_TOUCH_STORE);
		assert_int_equal(w->bytes, 0);
	}
}

static void watch_takes_a_field_an_element_or_an_offset(void **state)
{
	static const struct {
		const char *type;
		unsigned bytes;
	} elements[] = { { "boolean[]", 1 }, { "byte[]", 1 },         { "char[]", 2 },
		         { "short[]", 2 },   { "int[]", 4 },          { "float[]", 4 },
		         { "long[]", 8 },    { "double[]", 8 },       { "java.lang.String[]", 0 },
		         { "long[][]", 0 },  { "com.acme.long[]", 0 } };
	const struct lc_watch_spec *w;
	char text[64];

	w = watch("watch:com.acme.Node#3.next");
	assert_string_equal(w->class_name, "com.acme.Node");
	assert_int_equal(w->ordinal, 3);
	assert_string_equal(w->field, "next");
	w = watch("watch:long[]#3[17]:w@1");
	assert_true(w->has_index);
	assert_int_equal(w->index, 17);
	assert_int_equal(w->bytes, 8);
	assert_int_equal(w->access, LC_TOUCH_STORE);
	assert_string_equal(events.event[0].text, "watch:long[]#3[17]:w@1");
	assert_string_equal(events.event[0].event, "long[]#3[17]:w");
	assert_int_equal(watch("watch:long[][0]")->index, 0);
	assert_int_equal(events.event[0].watch.ordinal, 1);
	w = watch("watch:Node#2+24:r@100");
	assert_true(w->has_offset);
	assert_int_equal(w->offset, 24);
	assert_int_equal(w->access, LC_TOUCH_LOAD);
	assert_string_equal(events.event[0].text, "watch:Node#2+24:r@100");
	assert_int_equal(watch("watch:Node+0x10")->offset, 16);
	assert_string_equal(events.event[0].text, "watch:Node#1+16:rw");
	for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++) {
		snprintf(text, sizeof(text), "watch:%s[5]", elements[i].type);
		assert_int_equal(watch(text)->bytes, elements[i].bytes);
		assert_int_equal(events.event[0].attr.bp_len,
		                 elements[i].bytes ? elements[i].bytes : 8);
	}
}

static void watch_is_a_breakpoint_with_a_sample_now_and_then(void **state)
{
	const struct lc_event *e = one("watch:int[]#1[0]:w");

	assert_int_equal(e->attr.type, PERF_TYPE_BREAKPOINT);
	assert_int_equal(e->attr.bp_type, HW_BREAKPOINT_W);
	assert_int_equal(e->attr.bp_len, HW_BREAKPOINT_LEN_4);
	assert_int_equal(e->attr.bp_addr, 0);
	assert_int_equal(e->attr.sample_period, 101);
	assert_int_equal(e->attr.exclude_kernel, 1);
	assert_true(e->attr.sample_type & PERF_SAMPLE_ADDR);
	assert_string_equal(e->unit, "writes");
	/* x86 has none for loads alone. */
	assert_int_equal(one("watch:int[]#1[0]:r")->attr.bp_type, HW_BREAKPOINT_RW);
	assert_int_equal(one("watch:int[]#1[0]:rw")->attr.bp_type, HW_BREAKPOINT_RW);
	assert_string_equal(events.event[0].unit, "accesses");
}

static void what_is_wrong_is_told_in_one_line(void **state)
{
	static char longer[LC_EVENT_TEXT_MAX];
	static const struct {
		const char *text, *part;
	} cases[] = {
		{ "", "an event is empty" },
		{ ";", "an event is empty" },
		{ "fault;", "an event is empty" },
		{ "fault;;timer", "an event is empty" },
		{ "@5", "an event is empty" },
		{ "fault@", "is not a number of events" },
		{ "fault@0", "the period in 'fault@0' is 0" },
		{ "fault@-1", "is not a number of events" },
		{ "fault@1k", "is not a number of events" },
		{ "fault@0x10", "is not a number of events" },
		{ "fault@1@2", "'fault@1@2' has two periods" },
		{ "fault@99999999999999999999", "is not a number of events" },
		{ "fault:", "nothing follows the ':'" },
		{ "fault,timer", "a comma after 'fault' cannot be part of an event" },
		{ "fault timer", "a blank or control character after 'fault'" },
		{ "fault\ntimer", "a blank or control character after 'fault'" },
		{ "tim", "unknown event 'tim'; did you mean 'timer'?" },
		{ "falt", "did you mean 'fault'?" },
		{ "wach:Node#1", "did you mean 'watch:Node#1'?" },
		{ "timer;timer", "'timer' is given twice" },
		{ "fault;fault@7", "'fault' is given twice" },
		{ "watch:A#1;watch:A#1", "'watch:A#1:rw' is given twice" },
		{ "watch:A#1;watch:A#2;watch:A#3;watch:A#4;watch:A#5", "more than 4 watches" },
		{ "watch", "needs a class" },
		{ "watch:", "nothing follows" },
		{ "watch:#1", "needs a class" },
		{ "watch:Node#0", "'#0' is not an object's number" },
		{ "watch:Node#", "'#' is not an object's number" },
		{ "watch:Node#x", "'#x' is not an object's number" },
		{ "watch:Node#99999999999999999999", "is not an object's number" },
		{ "watch:Node:x", "':x' is not :r, :w or :rw" },
		{ "watch:Node:r:w", "is not a class name" },
		{ "watch:com.acme.Node.next", "did you mean 'com.acme.Node#1.next'?" },
		{ "watch:java/util/HashMap#1", "did you mean 'java.util.HashMap'?" },
		{ "watch:[J#1", "needs a class" },
		{ "watch:long#1", "did you mean 'long[]'?" },
		{ "watch:Node[3]", "'Node' is not an array; did you mean 'Node[]'?" },
		{ "watch:long[]#1.length", "has elements, not fields" },
		{ "watch:long[]#1[x]", "is not an index" },
		{ "watch:long[]#1[-1]", "is not an index" },
		{ "watch:long[]#1[2147483648]", "is not an index" },
		{ "watch:long[]#1[1", "is not an index" },
		{ "watch:long[]#1[1]x", "is not an index" },
		{ "watch:Node#1+", "is not an offset" },
		{ "watch:Node#1+8x", "is not an offset" },
		{ "watch:Node#1.", "is not a field name" },
		{ "watch:Node#1.a.b", "is not a field name" },
		{ "watch:.Node#1", "is not a class name" },
		{ "watch:a..Node#1", "is not a class name" },
		{ "watch:Node.#1", "is not a class name" },
		{ "watch:Node[]x#1", "is not a class name" },
	};
	static const struct lc_events none;

	memset(&events, 0, sizeof(events));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (parse(cases[i].text) != -EINVAL || !strstr(error, cases[i].part) ||
		    strchr(error, '\n'))
			fail_msg("'%s': '%s' has no '%s'", cases[i].text, error, cases[i].part);
		assert_memory_equal(&events, &none, sizeof(events));
	}
	memset(longer, 'x', sizeof(longer) - 1);
	assert_int_equal(parse(longer), -EINVAL);
	assert_non_null(strstr(error, "is longer than 223 bytes"));
	longer[223] = '\0';
	assert_int_equal(parse(longer), -EINVAL);
	assert_non_null(strstr(error, "unknown event"));
	memcpy(longer, "watch:", 6);
	assert_string_equal(watch(longer)->class_name, longer + 6);
}

static void several_are_in_their_order(void **state)
{
	assert_int_equal(parse("timer;fault@3;watch:A#1;watch:A#2:w"), 0);
	assert_int_equal(events.len, 4);
	assert_int_equal(events.event[0].kind, LC_KIND_TIMER);
	assert_int_equal(events.event[1].period, 3);
	assert_int_equal(events.event[2].watch.ordinal, 1);
	assert_int_equal(events.event[3].watch.access, LC_TOUCH_STORE);
}

static void no_more_events_than_there_is_room_for(void **state)
{
	char text[256] = "";

	machine.pmu = "skx";
	for (int i = 0; i < LC_EVENTS_MAX + 1; i++) {
		snprintf(text + strlen(text), 32, "%sr%dd1", i ? ";" : "", i + 1);
		root_put("sys/bus/event_source/devices/cpu/type", "4");
		if (i < LC_EVENTS_MAX) {
			assert_int_equal(parse(text), 0);
			assert_int_equal(events.len, i + 1);
		}
	}
	assert_int_equal(parse(text), -EINVAL);
	assert_string_equal(error, "more than 8 events");
}

/* The canonical spelling means the same. */
static void canonical_text_parses_to_itself(void **state)
{
	static const char *const texts[] = { "timer",
		                             "fault@10",
		                             "fault",
		                             "major-faults@5",
		                             "watch:long[]#3[17]:w@1",
		                             "watch:long[][17]:rw@2",
		                             "watch:com.acme.Node#0x10.next",
		                             "watch:Node+0x10:r" };
	struct lc_events first;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		memset(&events, 0, sizeof(events));
		assert_int_equal(parse(texts[i]), 0);
		first = events;
		assert_int_equal(parse(first.event[0].text), 0);
		assert_memory_equal(&events, &first, sizeof(first));
	}
}

static void error_fits_any_buffer(void **state)
{
	char tiny[8];

	assert_int_equal(lc_event_parse("tim", &machine, &events, tiny, sizeof(tiny)), -EINVAL);
	assert_string_equal(tiny, "unknown");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(auto_is_no_event),
		TEST(alloc_is_no_event_and_stands_alone),
		TEST(cpu_is_the_timer),
		TEST(cache_misses_are_what_has_addresses_here),
		TEST(words_of_other_profilers_say_what_there_is),
		TEST(names_are_those_of_the_grammar),
		TEST(timer_has_no_period_of_its_own),
		TEST(fault_counts_each_page_fault),
		TEST(watch_takes_classes_as_reports_show_them),
		TEST(watch_takes_a_field_an_element_or_an_offset),
		TEST(watch_is_a_breakpoint_with_a_sample_now_and_then),
		TEST(what_is_wrong_is_told_in_one_line),
		TEST(several_are_in_their_order),
		TEST(no_more_events_than_there_is_room_for),
		TEST(canonical_text_parses_to_itself),
		TEST(error_fits_any_buffer),
	};

	return cmocka_run_group_tests_name("event", tests, NULL, NULL);
}
