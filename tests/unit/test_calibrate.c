/* uses: src/span/calibration_file.c -lm */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_calibrate.c - checks what costs the batches of a calibration yield, and the file that keeps
 * the costs.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/span/calibration_impl.h"

static void near(double got, double want)
{
	if (fabs(got - want) > 1e-6)
		fail_msg("%.9f is not %.9f", got, want);
}

/* -- statistics ----------------------------------------------------------------------------- */

static void the_mean_is_of_what_is_near_the_median(void **state)
{
	/* Median 12, distances 2 1 1 0 0 1 2 3 988: their median is 1, so what is further than 3
	 * goes. */
	double values[] = { 1000, 10, 12, 11, 13, 12, 14, 11, 15 };
	struct lc_cost_value v = lc_calibration_summarize(values, 9);

	assert_true(v.known);
	assert_int_equal(v.removed, 1);
	assert_int_equal(v.batches, 8);
	near(v.mean, 98.0 / 8); /* 12.25 */
	/* Squares of the distances to 12.25 add up to 19.5. */
	near(v.variation, sqrt(19.5 / 7) / 12.25);
}

static void the_limit_is_three_deviations(void **state)
{
	/* Median 10, median distance 1: 7 and 13 stay, 6.9 and 13.1 go. */
	double values[] = { 13.1, 9, 10, 11, 7, 13, 6.9, 10, 10, 9, 11, 10 };
	struct lc_cost_value v = lc_calibration_summarize(values, 12);

	assert_int_equal(v.removed, 2);
	assert_int_equal(v.batches, 10);
	near(v.mean, 10);
	near(v.variation, sqrt(22.0 / 9) / 10);
}

static void values_that_hardly_differ_are_all_kept(void **state)
{
	double same[] = { 50, 50, 50, 50, 50.4, 49.6, 51 };
	struct lc_cost_value v = lc_calibration_summarize(same, 7);

	assert_int_equal(v.removed, 1);
	near(v.mean, 50);
	assert_true(v.variation < 0.01);
}

static void scattered_values_vary_too_much(void **state)
{
	double values[] = { 1, 100, 3, 250, 2, 180, 4, 90, 5, 160 };
	struct lc_cost_value v = lc_calibration_summarize(values, 10);

	assert_true(v.variation > LC_CALIBRATION_VARIATION_MAX);
}

static void few_and_none(void **state)
{
	double one[] = { -3 }, two[] = { 2, 4 };
	struct lc_cost_value v = lc_calibration_summarize(one, 1);

	assert_true(v.known);
	near(v.mean, -3);
	near(v.variation, 0);
	v = lc_calibration_summarize(two, 2);
	near(v.mean, 3);
	near(v.variation, sqrt(2) / 3);
	v = lc_calibration_summarize(two, 0);
	assert_false(v.known);
}

/* -- attempts ------------------------------------------------------------------------------- */

struct series {
	double inner[4], outer[4]; /* variations of each attempt */
	int fails_at;              /* 0: never */
	int calls;
};

static int attempt(void *context, struct lc_cost_value *inner, struct lc_cost_value *outer)
{
	struct series *s = context;

	assert_true(s->calls < LC_CALIBRATION_ATTEMPTS);
	*inner = (struct lc_cost_value){ true, 100 + s->calls, s->inner[s->calls], 10, 0 };
	*outer = (struct lc_cost_value){ true, 200 + s->calls, s->outer[s->calls], 10, 0 };
	s->calls++;
	return s->calls == s->fails_at ? -EIO : 0;
}

static void check_series(struct series s, int calls, double inner_mean, const char *warning)
{
	struct lc_calibration c = { 0 };

	assert_int_equal(lc_calibration_repeat(attempt, &s, &c.costs[LC_COST_INNER],
	                                       &c.costs[LC_COST_ANONYMOUS]),
	                 0);
	assert_int_equal(s.calls, calls);
	near(c.costs[LC_COST_INNER].mean, inner_mean);
	near(c.costs[LC_COST_ANONYMOUS].mean, inner_mean + 100);
	lc_calibration_judge(&c);
	assert_string_equal(c.warning, warning);
}

static void what_varies_is_measured_again_then_used_with_a_warning(void **state)
{
	struct lc_cost_value inner = { 0 }, outer = { 0 };
	struct series failing = { { 0.9, 0.9 }, { 0 }, 2, 0 };

	check_series((struct series){ { 0.5 }, { 0.1 }, 0, 0 }, 1, 100, "");
	check_series((struct series){ { 0.1, 0.2 }, { 0.6, 0.3 }, 0, 0 }, 2, 101, "");
	check_series((struct series){ { 0.7, 0.1, 0.4 }, { 0.2, 0.6, 0.4 }, 0, 0 }, 3, 102, "");
	check_series((struct series){ { 0.9, 0.6, 0.8 }, { 0.2, 0.7, 0.9 }, 0, 0 }, 3, 101,
	             "the cost 'inner' varied by 60% between batches, as on a busy machine; "
	             "the cost 'anonymous' varied by 70% between batches, as on a busy machine");
	assert_int_equal(lc_calibration_repeat(attempt, &failing, &inner, &outer), -EIO);
	assert_int_equal(failing.calls, 2);
	assert_false(inner.known);
}

static void more_left_out_than_kept_is_not_steady(void **state)
{
	struct lc_cost_value v = { true, 10, 0.01, 50, 50 };

	assert_true(lc_calibration_steady(&v));
	v.removed = 51;
	assert_false(lc_calibration_steady(&v));
}

static void a_long_warning_is_cut(void **state)
{
	struct lc_calibration c = { 0 };

	for (unsigned i = 0; i < 100; i++)
		lc_calibration_warn(&c, "warning number %u", i);
	assert_int_equal(strlen(c.warning), sizeof(c.warning) - 1);
	assert_int_equal(strncmp(c.warning, "warning number 0; warning number 1; ", 36), 0);
}

/* -- file ----------------------------------------------------------------------------------- */

static char dir[64];

static int make_dir(void **state)
{
	snprintf(dir, sizeof(dir), "/tmp/locus-test-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	setenv("XDG_CACHE_HOME", dir, 1);
	return 0;
}

static int remove_dir(void **state)
{
	char command[128];

	chmod(dir, 0700);
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

static const struct lc_calibration_key key = {
	.cpu = "A CPU @ 3 GHz  ",
	.jdk = "A VM 17.0.1+2 mixed mode",
	.agent = "0.1.0 12345",
	.variant = "tsc_switches streams tasks ",
	.hz = UINT64_C(2500000000),
};

static const struct lc_calibration costs = {
	.costs = { [LC_COST_INNER] = { true, 41.123456, 0.012345, 990, 10 },
	           [LC_COST_ANONYMOUS] = { true, 30.5, 0.5, 1000, 0 },
	           [LC_COST_TASK] = { true, 0, 0, 20, 3 } },
};

static void path_of(const struct lc_calibration_key *k, char *path)
{
	assert_int_equal(lc_calibration_path(k, path, 4096), 0);
}

static void check_costs(const struct lc_calibration *got)
{
	for (unsigned i = 0; i < LC_COSTS; i++) {
		assert_int_equal(got->costs[i].known, costs.costs[i].known);
		near(got->costs[i].mean, costs.costs[i].mean);
		near(got->costs[i].variation, costs.costs[i].variation);
		assert_int_equal(got->costs[i].batches, costs.costs[i].batches);
		assert_int_equal(got->costs[i].removed, costs.costs[i].removed);
	}
}

static void what_is_saved_is_loaded(void **state)
{
	struct lc_calibration got = { 0 };
	char path[4096];

	path_of(&key, path);
	assert_int_equal(strncmp(path, dir, strlen(dir)), 0);
	assert_int_equal(lc_calibration_load(path, &key, &got), -ENOENT);
	assert_int_equal(lc_calibration_save(path, &key, &costs), 0);
	assert_int_equal(lc_calibration_load(path, &key, &got), 0);
	check_costs(&got);
	/* Again, over the old one. */
	assert_int_equal(lc_calibration_save(path, &key, &costs), 0);
	assert_int_equal(lc_calibration_load(path, &key, &got), 0);
}

static void another_key_has_another_file(void **state)
{
	struct lc_calibration_key other[4] = { key, key, key, key };
	struct lc_calibration got = costs;
	char path[4096], second[4096];

	path_of(&key, path);
	assert_int_equal(lc_calibration_save(path, &key, &costs), 0);
	snprintf(other[0].cpu, sizeof(other[0].cpu), "B");
	snprintf(other[1].jdk, sizeof(other[1].jdk), "B");
	snprintf(other[2].agent, sizeof(other[2].agent), "B");
	snprintf(other[3].variant, sizeof(other[3].variant), "tsc_switches streams tasks trace");
	for (unsigned i = 0; i < 4; i++) {
		path_of(&other[i], second);
		assert_string_not_equal(path, second);
		/* And should names collide, what is in it tells. */
		assert_int_equal(lc_calibration_load(path, &other[i], &got), -ESTALE);
	}
	check_costs(&got); /* untouched */
}

static void the_rate_may_differ_by_a_hundredth(void **state)
{
	struct lc_calibration_key other = key;
	struct lc_calibration got;
	char path[4096];

	path_of(&key, path);
	assert_int_equal(lc_calibration_save(path, &key, &costs), 0);
	other.hz = key.hz + key.hz / 200;
	path_of(&other, path);
	assert_int_equal(lc_calibration_load(path, &other, &got), 0);
	other.hz = key.hz + key.hz / 50;
	assert_int_equal(lc_calibration_load(path, &other, &got), -ESTALE);
	other.hz = key.hz - key.hz / 50;
	assert_int_equal(lc_calibration_load(path, &other, &got), -ESTALE);
}

static void write_file(const char *path, const char *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	close(fd);
}

static void each_damaged_byte_and_length_is_found(void **state)
{
	struct lc_calibration got = costs;
	char path[4096], bytes[8192], damaged[8192];
	ssize_t len;
	int fd, err;

	path_of(&key, path);
	assert_int_equal(lc_calibration_save(path, &key, &costs), 0);
	fd = open(path, O_RDONLY);
	len = read(fd, bytes, sizeof(bytes));
	close(fd);
	assert_true(len > 100);
	for (ssize_t i = 0; i < len - 1; i++) {
		memcpy(damaged, bytes, (size_t)len);
		damaged[i] ^= 1;
		write_file(path, damaged, (size_t)len);
		err = lc_calibration_load(path, &key, &got);
		assert_true(err == -EBADMSG || err == -ESTALE);
		write_file(path, bytes, (size_t)i);
		assert_int_not_equal(lc_calibration_load(path, &key, &got), 0);
	}
	check_costs(&got); /* untouched */
	write_file(path, bytes, (size_t)len);
	assert_int_equal(lc_calibration_load(path, &key, &got), 0);
	memset(bytes, 'x', sizeof(bytes));
	write_file(path, bytes, sizeof(bytes));
	assert_int_equal(lc_calibration_load(path, &key, &got), -EBADMSG);
}

static void where_nothing_can_be_written_it_says_so(void **state)
{
	char path[4096];

	setenv("XDG_CACHE_HOME", "/proc/self", 1);
	path_of(&key, path);
	assert_true(lc_calibration_save(path, &key, &costs) < 0);
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", dir, 1);
	path_of(&key, path);
	assert_non_null(strstr(path, "/.cache/locus/"));
	assert_int_equal(lc_calibration_save(path, &key, &costs), 0);
	setenv("XDG_CACHE_HOME", "relative", 1);
	path_of(&key, path);
	assert_non_null(strstr(path, "/.cache/locus/"));
	assert_int_equal(lc_calibration_path(&key, path, 10), -ENAMETOOLONG);
	unsetenv("HOME");
	assert_int_equal(lc_calibration_path(&key, path, sizeof(path)), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_mean_is_of_what_is_near_the_median),
		cmocka_unit_test(the_limit_is_three_deviations),
		cmocka_unit_test(values_that_hardly_differ_are_all_kept),
		cmocka_unit_test(scattered_values_vary_too_much),
		cmocka_unit_test(few_and_none),
		cmocka_unit_test(what_varies_is_measured_again_then_used_with_a_warning),
		cmocka_unit_test(more_left_out_than_kept_is_not_steady),
		cmocka_unit_test(a_long_warning_is_cut),
		cmocka_unit_test_setup_teardown(what_is_saved_is_loaded, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(another_key_has_another_file, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(the_rate_may_differ_by_a_hundredth, make_dir,
		                                remove_dir),
		cmocka_unit_test_setup_teardown(each_damaged_byte_and_length_is_found, make_dir,
		                                remove_dir),
		cmocka_unit_test_setup_teardown(where_nothing_can_be_written_it_says_so, make_dir,
		                                remove_dir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
