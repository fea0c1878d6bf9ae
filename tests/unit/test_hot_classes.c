/* uses: src/attribute/hot_classes.c src/base/track.c -lJudy */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_hot_classes.c - checks which classes --track hot chooses, and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/attribute/hot_classes.h"
#include "src/core/path.h"
#include "src/heap/tracked.h"

enum { MIN_SIZE = 1024, SMALL = 24, LONG = 1, LAMBDA, OTHER_LAMBDA, BYTES, NODE };

static struct lc_track track;
static uint64_t now_ns;

/* -- the rest of the agent ------------------------------------------------------------------- */

const struct lc_site *lc_site_get(uint32_t site)
{
	static const struct lc_site sites[] = {
		[LONG] = { .class_name = "java.lang.Long" },
		[LAMBDA] = { .class_name = "a.B$$Lambda/0x00007f0123456789" },
		[OTHER_LAMBDA] = { .class_name = "a.B$$Lambda/0x00007f0abcdef012" },
		[BYTES] = { .class_name = "byte[]" },
		[NODE] = { .class_name = "a.Node" },
	};

	return site && site < sizeof(sites) / sizeof(sites[0]) ? &sites[site] : NULL;
}

const struct lc_track *lc_tracked(void)
{
	return &track;
}

bool lc_tracked_hot(void)
{
	return true;
}

/* -------------------------------------------------------------------------------------------- */

static void sample(uint32_t site, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		lc_hot_classes_sample();
		if (site)
			lc_hot_classes_no_line(site, SMALL);
	}
}

/* The names of the classes that are to be tracked; "" for none. */
static const char *due(void)
{
	static char names[256];
	const struct lc_hot_choice *choice = lc_hot_classes_due();

	names[0] = '\0';
	for (size_t i = 0; choice && i < choice->len; i++) {
		strcat(names, i ? " " : "");
		strcat(names, choice->names[i]);
	}
	return names;
}

static const char *look(void)
{
	lc_hot_classes_look(now_ns);
	return due();
}

/* Forget earlier tests: a look takes all samples. */
static int setup(void **state)
{
	lc_hot_classes_begin(MIN_SIZE);
	if (lc_hot_classes_due())
		lc_hot_classes_done(0, now_ns);
	now_ns += LC_HOT_AGAIN_NS;
	sample(0, LC_HOT_SAMPLES);
	assert_string_equal(look(), "");
	now_ns += LC_HOT_AGAIN_NS;
	lc_track_parse("", &track);
	return 0;
}

static void classes_with_two_percent_are_chosen_most_samples_first(void **state)
{
	sample(NODE, LC_HOT_SAMPLES * 2 / 100);
	sample(LONG, 40);
	sample(BYTES, LC_HOT_SAMPLES * 2 / 100 - 1);
	sample(0, 400);
	assert_string_equal(look(), "");
	sample(0, 41);
	assert_string_equal(look(), "java.lang.Long a.Node");
	assert_int_equal(lc_hot_classes_due()->samples, 50);
	assert_int_equal(lc_hot_classes_due()->of, 500);
}

static void fewer_samples_choose_none(void **state)
{
	sample(LONG, LC_HOT_SAMPLES - 1);
	assert_string_equal(look(), "");
	sample(LONG, 1);
	assert_string_equal(look(), "java.lang.Long");
}

static void objects_with_lines_and_large_ones_do_not_count(void **state)
{
	for (int i = 0; i < LC_HOT_SAMPLES; i++) {
		lc_hot_classes_sample();
		lc_hot_classes_no_line(BYTES, MIN_SIZE);
		lc_hot_classes_no_line(0, SMALL);
	}
	assert_string_equal(look(), "");
}

static void classes_of_one_name_are_one_without_address(void **state)
{
	sample(LAMBDA, 5);
	sample(OTHER_LAMBDA, 5);
	sample(0, 490);
	assert_string_equal(look(), "a.B$$Lambda");
}

static void what_is_tracked_is_not_chosen_again(void **state)
{
	lc_track_parse("hot;java.lang.*", &track);
	sample(LONG, 400);
	sample(BYTES, 100);
	assert_string_equal(look(), "byte[]");
}

static void the_next_look_comes_after_five_minutes_and_counts_from_anew(void **state)
{
	struct lc_hot_class all[LC_TRACK_MAX];
	const size_t before = lc_hot_classes_all(all);

	sample(LONG, 500);
	assert_string_equal(look(), "java.lang.Long");
	sample(NODE, 500); /* the choice is being tracked: these are not counted */
	lc_hot_classes_done(1, now_ns);
	assert_int_equal(lc_hot_classes_all(all), before + 1);
	assert_string_equal(all[before].name, "java.lang.Long");
	assert_int_equal(all[before].tracked_ns, now_ns);
	sample(BYTES, 10);
	sample(0, 490);
	now_ns += LC_HOT_AGAIN_NS - 1;
	assert_string_equal(look(), "");
	now_ns++;
	assert_string_equal(look(), "byte[]");
}

static void classes_without_room_are_not_listed(void **state)
{
	struct lc_hot_class all[LC_TRACK_MAX];
	const size_t before = lc_hot_classes_all(all);

	sample(LONG, 250);
	sample(NODE, 250);
	assert_string_equal(look(), "a.Node java.lang.Long");
	lc_hot_classes_done(1, now_ns);
	assert_int_equal(lc_hot_classes_all(all), before + 1);
	assert_string_equal(all[before].name, "a.Node");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(classes_with_two_percent_are_chosen_most_samples_first,
		                       setup),
		cmocka_unit_test_setup(fewer_samples_choose_none, setup),
		cmocka_unit_test_setup(objects_with_lines_and_large_ones_do_not_count, setup),
		cmocka_unit_test_setup(classes_of_one_name_are_one_without_address, setup),
		cmocka_unit_test_setup(what_is_tracked_is_not_chosen_again, setup),
		cmocka_unit_test_setup(the_next_look_comes_after_five_minutes_and_counts_from_anew,
		                       setup),
		cmocka_unit_test_setup(classes_without_room_are_not_listed, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
