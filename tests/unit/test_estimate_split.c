/* uses: src/heap/split.c src/heap/estimate_sums.c -lm */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_estimate_split.c - checks that estimates have no bias, and that their intervals hold the
 * truth as often as they say.
 *
 * The file is longer than 600 lines since its simulations share one model of a program.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/heap/estimate_sums.h"
#include "src/heap/split.h"

enum { DRAWS = 400, SITES = 4, CLASS = 100, OBJECTS_MAX = 4096 };
#define COVERED_LEAST 0.90 /* of intervals that are to hold the truth in 95% of all draws */

static uint64_t seed = 20240229;

/* Uniform in (0, 1). */
static double uniform(void)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return ((double)(seed >> 11) + 0.5) * 0x1p-53;
}

/* The results of lc_split_settle(), by site. */
static struct {
	double samples[SITES], variance[SITES];
} told[LC_SPLIT_LIVE_WHOLE];
static double whole[LC_SPLIT_COUNT];
static double by_thread[3];
static bool from_start = true;
static size_t rows;

static void take(void *user, uint32_t thread, const struct lc_block_split *row)
{
	assert_ptr_equal(user, told);
	assert_true(row->method < LC_SPLIT_COUNT);
	assert_int_equal(row->class_site, CLASS);
	if (row->method >= LC_SPLIT_LIVE_WHOLE) {
		assert_int_equal(row->site, CLASS);
		assert_int_equal(row->variance_milli, 0);
		whole[row->method] += (double)row->samples_milli / 1000;
		return;
	}
	assert_true(row->site >= 1 && row->site <= SITES);
	told[row->method].samples[row->site - 1] += (double)row->samples_milli / 1000;
	told[row->method].variance[row->site - 1] += (double)row->variance_milli / 1000;
	if (row->method == LC_SPLIT_LIVE)
		by_thread[thread] += (double)row->samples_milli / 1000;
	rows++;
}

static uint64_t settle(struct lc_split *s, struct lc_split_object *objects, size_t len)
{
	return lc_split_settle(s, objects, len, from_start, take, told);
}

static void forget(void)
{
	memset(told, 0, sizeof(told));
	memset(whole, 0, sizeof(whole));
	memset(by_thread, 0, sizeof(by_thread));
	rows = 0;
}

static void access_object(struct lc_split *s, uint32_t epoch, uint64_t start, uint8_t age,
                          uint64_t samples)
{
	assert_int_equal(lc_split_note(s, &(struct lc_split_access){ .class_site = CLASS,
	                                                             .epoch = epoch,
	                                                             .start = start,
	                                                             .age = age,
	                                                             .samples = samples }),
	                 0);
}

/* Sites and how many objects of each live: what is drawn from. */
struct population {
	unsigned sites;
	unsigned objects[SITES];
	double chance[SITES];
};

static struct lc_split_object drawn[OBJECTS_MAX];

/* A sample of a population whose object number i lies at address 8 + 8 * i. Returns its size. */
static size_t draw(const struct population *p, uint32_t born)
{
	uint64_t address = 0;
	size_t len = 0;

	for (unsigned site = 0; site < p->sites; site++) {
		for (unsigned i = 0; i < p->objects[site]; i++) {
			address += 8;
			if (uniform() >= p->chance[site])
				continue;
			assert_true(len < OBJECTS_MAX);
			drawn[len++] = (struct lc_split_object){
				.class_site = CLASS,
				.site = site + 1,
				.born = born,
				.died = LC_SPLIT_ALIVE,
				.last = born,
				.address = { address },
				.chance = p->chance[site],
			};
		}
	}
	return len;
}

static double part_of(const struct population *p, unsigned site)
{
	double all = 0;

	for (unsigned i = 0; i < p->sites; i++)
		all += p->objects[i];
	return p->objects[site] / all;
}

/* Is the truth in the 95% interval around the estimate? */
static bool covers(double estimate, double variance, double truth)
{
	return fabs(estimate - truth) <= 1.96 * sqrt(variance) + 1e-9;
}

/*
 * A site's share of the class with its 95% interval, as a reader of the rows finds it: Wilson's,
 * with as many observations as the share's variance is worth (heap/split.h has that
 * variance).
 */
struct share {
	double r, low, high;
};

static struct share share_of(unsigned method, unsigned site, unsigned sites)
{
	const double z = 1.96;
	struct share x = { 0 };
	double sum = 0, all = 0, v = told[method].variance[site], n, of_share, centre, half;

	for (unsigned i = 0; i < sites; i++) {
		sum += told[method].samples[i];
		all += told[method].variance[i];
	}
	x.r = x.low = x.high = told[method].samples[site] / sum;
	if (all <= 0)
		return x;
	of_share = ((1 - x.r) * (1 - x.r) * v + x.r * x.r * (all - v)) / (sum * sum);
	n = sum * sum / all;
	if (of_share > 0)
		n = fmin(n, x.r * (1 - x.r) / of_share);
	if (n <= 0)
		n = sum * sum / all;
	centre = (x.r + z * z / (2 * n)) / (1 + z * z / n);
	half = z / (1 + z * z / n) * sqrt(x.r * (1 - x.r) / n + z * z / (4 * n * n));
	x.low = fmin(x.r, centre - half);
	x.high = fmax(x.r, centre + half);
	return x;
}

static bool share_covers(unsigned method, const struct population *p, unsigned site)
{
	struct share x = share_of(method, site, p->sites);
	double truth = part_of(p, site);

	return x.low - 1e-9 <= truth && truth <= x.high + 1e-9;
}

/*
 * Draws in which LIVE's interval holds the true share, least of the sites. The accesses come in
 * `batches` calls, all of one population, or of a new one each time.
 */
static double live_coverage(const struct population *p, unsigned batches, bool renewed)
{
	unsigned covered[SITES] = { 0 };
	double least = 1;

	for (unsigned n = 0; n < DRAWS; n++) {
		struct lc_split *s = lc_split_create();
		size_t len = draw(p, 0);

		assert_non_null(s);
		forget();
		for (unsigned b = 0; b < batches; b++) {
			if (b && renewed)
				len = draw(p, b);
			access_object(s, renewed ? b : 0, 1, renewed ? LC_SPLIT_NEW : LC_SPLIT_ANY,
			              100);
			assert_int_equal(settle(s, drawn, len), 0);
		}
		for (unsigned i = 0; i < p->sites; i++)
			covered[i] += share_covers(LC_SPLIT_LIVE, p, i);
		lc_split_destroy(s);
	}
	for (unsigned i = 0; i < p->sites; i++)
		least = fmin(least, (double)covered[i] / DRAWS);
	return least;
}

static const struct population plenty = { 3, { 20000, 10000, 2000 }, { 0.02, 0.02, 0.02 } };
static const struct population sizes = { 3, { 20000, 20000, 400 }, { 0.01, 0.03, 0.2 } };
static const struct population few = { 3, { 600, 300, 300 }, { 0.02, 0.02, 0.02 } };
static const struct population nearly_all = { 3, { 600, 300, 300 }, { 0.9, 0.9, 0.9 } };

static void interval_of_live_holds_the_truth(void **state)
{
	assert_true(live_coverage(&plenty, 1, false) >= COVERED_LEAST);
	assert_true(live_coverage(&sizes, 1, false) >= COVERED_LEAST);
	assert_true(live_coverage(&nearly_all, 1, false) >= COVERED_LEAST);
}

static void interval_of_live_holds_the_truth_with_few_objects(void **state)
{
	assert_true(live_coverage(&few, 1, false) >= COVERED_LEAST);
}

/* The same objects split it all: adding variances would hold the truth in 40% of the draws. */
static void interval_of_live_holds_over_many_batches_of_the_same_objects(void **state)
{
	assert_true(live_coverage(&plenty, 16, false) >= COVERED_LEAST);
}

static void interval_of_live_holds_over_epochs_of_new_objects(void **state)
{
	assert_true(live_coverage(&plenty, 16, true) >= COVERED_LEAST);
}

static double width(void)
{
	struct share x = share_of(LC_SPLIT_LIVE, 0, plenty.sites);

	return x.high - x.low;
}

static void interval_of_new_objects_shrinks_with_epochs(void **state)
{
	double one;

	live_coverage(&plenty, 1, true);
	one = width();
	assert_true(one < 0.1);
	live_coverage(&plenty, 16, true);
	assert_true(width() < one / 3);
}

static void interval_is_not_empty_when_all_objects_seen_are_of_one_site(void **state)
{
	static const struct population one = { 1, { 1000 }, { 0.02 } };
	struct lc_split *s = lc_split_create();
	size_t len = draw(&one, 0);

	forget();
	access_object(s, 0, 1, LC_SPLIT_ANY, 100);
	assert_int_equal(settle(s, drawn, len), 0);
	assert_true(told[LC_SPLIT_LIVE].samples[0] > 99.9);
	assert_true(share_of(LC_SPLIT_LIVE, 0, 1).low < 0.9);
	lc_split_destroy(s);
}

static void hits_have_no_bias_and_their_interval_holds_the_truth(void **state)
{
	static const struct population p = { 3, { 300, 200, 100 }, { 0.2, 0.5, 0.3 } };
	unsigned covered[SITES] = { 0 }, shares[SITES] = { 0 };
	double sum[SITES] = { 0 };

	for (unsigned n = 0; n < DRAWS; n++) {
		struct lc_split *s = lc_split_create();
		size_t len = draw(&p, 0);

		forget();
		/* Each object is accessed five times, in two batches. */
		for (unsigned i = 0; i < 600; i++)
			access_object(s, 0, 8 + 8 * i, LC_SPLIT_ANY, 2);
		settle(s, drawn, len);
		for (unsigned i = 0; i < 600; i++)
			access_object(s, 0, 8 + 8 * i, LC_SPLIT_ANY, 3);
		settle(s, drawn, len);
		for (unsigned i = 0; i < p.sites; i++) {
			sum[i] += told[LC_SPLIT_HITS].samples[i];
			covered[i] += covers(told[LC_SPLIT_HITS].samples[i],
			                     told[LC_SPLIT_HITS].variance[i], 5.0 * p.objects[i]);
			shares[i] += share_covers(LC_SPLIT_HITS, &p, i);
		}
		lc_split_destroy(s);
	}
	for (unsigned i = 0; i < p.sites; i++) {
		double truth = 5.0 * p.objects[i], c = p.chance[i];
		double error = 5 * sqrt(p.objects[i] * (1 - c) / c / DRAWS);

		assert_true(fabs(sum[i] / DRAWS - truth) < 4 * error);
		assert_true((double)covered[i] / DRAWS >= COVERED_LEAST);
		assert_true((double)shares[i] / DRAWS >= COVERED_LEAST);
	}
}

enum {
	PROGRAMS = 100,
	INTERVAL_POINTS = 25
}; /* as analyzer/objects/analysis/view_rows.c prints them */

/* Accesses to an object: most are cold, or garbage that nobody touches; a few are hot. */
static uint64_t accesses_of_object(double garbage, double hot)
{
	if (uniform() < garbage)
		return 0;
	return uniform() < hot ? 20 + (uint64_t)(uniform() * 200) : 1 + (uint64_t)(uniform() * 3);
}

/*
 * A program: sites of one class, whose objects are of different number, temperature and liveness.
 * Adds to *held and *printed the intervals of HITS that a report shows, and to *wrong those that
 * LIVE had when its sampling error was taken for the whole error.
 */
static void run_program(unsigned *held, unsigned *printed, unsigned *wrong)
{
	struct population p = { .sites = 2 + (unsigned)(uniform() * 3) };
	double truth[SITES] = { 0 }, all = 0;
	struct lc_split *s = lc_split_create();
	uint64_t address = 0;
	size_t len;

	for (unsigned i = 0; i < p.sites; i++) {
		p.objects[i] = 200 + (unsigned)(uniform() * 3000);
		p.chance[i] = 0.05 + 0.25 * uniform();
	}
	len = draw(&p, 0);
	forget();
	for (unsigned site = 0; site < p.sites; site++) {
		double garbage = uniform(), hot = 0.1 * uniform();

		for (unsigned i = 0; i < p.objects[site]; i++) {
			uint64_t n = accesses_of_object(garbage, hot);

			address += 8;
			if (n)
				access_object(s, 0, address, LC_SPLIT_NEW, n);
			truth[site] += (double)n;
			all += (double)n;
		}
	}
	settle(s, drawn, len);
	for (unsigned site = 0; site < p.sites; site++) {
		struct share hits = share_of(LC_SPLIT_HITS, site, p.sites);
		struct share live = share_of(LC_SPLIT_LIVE, site, p.sites);
		double r = truth[site] / all;

		*wrong += r < live.low || r > live.high;
		if ((hits.high - hits.low) / 2 > INTERVAL_POINTS / 100.0)
			continue;
		++*printed;
		*held += hits.low - 1e-9 <= r && r <= hits.high + 1e-9;
	}
	lc_split_destroy(s);
}

/* An interval of LIVE holds no such truth, and so none is printed. */
static void printed_intervals_hold_the_truth_in_seeded_programs(void **state)
{
	unsigned held = 0, printed = 0, wrong = 0;

	for (unsigned i = 0; i < PROGRAMS; i++) {
		seed = i * UINT64_C(7919) + 1;
		run_program(&held, &printed, &wrong);
	}
	print_message("%u of %u intervals of hits hold the truth; %u of live ones do not\n", held,
	              printed, wrong);
	assert_true(printed >= PROGRAMS / 2);
	assert_true(held >= 0.93 * printed);
	assert_true(wrong > PROGRAMS);
}

static void hits_follow_an_object_through_its_epochs(void **state)
{
	struct lc_split_object o[] = {
		{ CLASS, 1, 5, LC_SPLIT_ALIVE, 7, { 0x300, 0x200, 0x100, 0 }, 0.5, 0, NULL, 0 },
		{ CLASS, 2, 5, 6, 6, { 0x900, 0x800, 0, 0 }, 0.5, 0, NULL, 0 },
	};
	static const struct {
		uint32_t epoch;
		uint64_t start;
		unsigned site; /* 0: nobody's */
	} cases[] = {
		{ 5, 0x100, 1 }, { 6, 0x200, 1 }, { 7, 0x300, 1 }, { 7, 0x200, 0 }, { 4, 0x100, 0 },
		{ 5, 0x800, 2 }, { 6, 0x900, 2 }, { 7, 0x900, 0 }, { 5, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lc_split *s = lc_split_create();
		struct lc_split_object copy[2] = { o[0], o[1] };

		forget();
		access_object(s, cases[i].epoch, cases[i].start, LC_SPLIT_ANY, 1);
		settle(s, copy, 2);
		for (unsigned site = 1; site <= 2; site++)
			assert_true(told[LC_SPLIT_HITS].samples[site - 1] ==
			            (cases[i].site == site ? 2 : 0));
		lc_split_destroy(s);
	}
}

/* Variance of two hits of one object is that of their sum, not the sum of theirs. */
static void hits_of_one_object_are_not_independent(void **state)
{
	struct lc_split_object o = { CLASS, 1, 0, LC_SPLIT_ALIVE, 0, { 8 }, 0.25, 0, NULL, 0 };
	struct lc_split *s = lc_split_create();

	forget();
	access_object(s, 0, 8, LC_SPLIT_ANY, 1);
	settle(s, &o, 1);
	assert_true(told[LC_SPLIT_HITS].variance[0] == 12); /* (1 - p) / p^2 */
	access_object(s, 0, 8, LC_SPLIT_ANY, 2);
	settle(s, &o, 1);
	assert_true(told[LC_SPLIT_HITS].variance[0] == 12 * 9);
	assert_true(o.hits == 3);
	lc_split_destroy(s);
}

static void access_is_split_over_objects_of_its_age_and_epoch(void **state)
{
	struct lc_split_object o[] = {
		{ CLASS, 1, 4, LC_SPLIT_ALIVE, 9, { 0 }, 0.01, 0, NULL, 0 }, /* old */
		{ CLASS, 2, 9, LC_SPLIT_ALIVE, 9, { 0 }, 0.01, 0, NULL, 0 }, /* new */
		{ CLASS, 3, 4, 8, 8, { 0 }, 0.01, 0, NULL, 0 },              /* dead */
		{ CLASS + 1, 4, 4, LC_SPLIT_ALIVE, 9, { 0 }, 0.01, 0, NULL, 0 },
	};
	static const struct {
		uint32_t epoch;
		uint8_t age;
		double parts[SITES];
	} cases[] = {
		{ 9, LC_SPLIT_ANY, { 5, 5, 0, 0 } },  { 9, LC_SPLIT_NEW, { 0, 10, 0, 0 } },
		{ 9, LC_SPLIT_OLD, { 10, 0, 0, 0 } }, { 8, LC_SPLIT_ANY, { 5, 0, 5, 0 } },
		{ 4, LC_SPLIT_NEW, { 5, 0, 5, 0 } },  { 3, LC_SPLIT_ANY, { 0, 0, 0, 0 } },
		{ 4, LC_SPLIT_OLD, { 0, 0, 0, 0 } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lc_split *s = lc_split_create();
		struct lc_split_object copy[4];
		double sum = 0;
		uint64_t unsplit;

		memcpy(copy, o, sizeof(o));
		forget();
		access_object(s, cases[i].epoch, 0x10, cases[i].age, 10);
		unsplit = settle(s, copy, 4);
		for (unsigned site = 0; site < SITES; site++) {
			assert_true(told[LC_SPLIT_LIVE].samples[site] == cases[i].parts[site]);
			sum += cases[i].parts[site];
		}
		assert_true(sum + (double)unsplit == 10);
		assert_true(whole[LC_SPLIT_LIVE_WHOLE] == 10);
		lc_split_destroy(s);
	}
}

/* One sampled object of each site is new, one is old; others are older than the sample. */
static void objects_older_than_the_sample_have_no_site(void **state)
{
	static const struct {
		uint64_t start;
		uint8_t age;
		bool from_start;
		double live, hits, whole_of_hits;
	} cases[] = {
		{ 0x10, LC_SPLIT_NEW, false, 6, 600, 6 }, { 0x10, LC_SPLIT_NEW, true, 6, 600, 600 },
		{ 0x18, LC_SPLIT_NEW, false, 6, 0, 6 },   { 0x18, LC_SPLIT_NEW, true, 6, 0, 0 },
		{ 0x20, LC_SPLIT_OLD, false, 0, 600, 6 }, { 0x20, LC_SPLIT_OLD, true, 6, 600, 600 },
		{ 0x28, LC_SPLIT_OLD, false, 0, 0, 6 },   { 0x28, LC_SPLIT_ANY, false, 0, 0, 6 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lc_split_object o[] = {
			{ CLASS, 1, 9, LC_SPLIT_ALIVE, 9, { 0x10 }, 0.01, 0, NULL, 0 },
			{ CLASS, 1, 4, LC_SPLIT_ALIVE, 9, { 0x20 }, 0.01, 0, NULL, 0 },
		};
		struct lc_split *s = lc_split_create();
		uint64_t unsplit;

		forget();
		from_start = cases[i].from_start;
		access_object(s, 9, cases[i].start, cases[i].age, 6);
		unsplit = settle(s, o, 2);
		from_start = true;
		assert_true(told[LC_SPLIT_LIVE].samples[0] == cases[i].live);
		assert_true((double)unsplit == 6 - cases[i].live);
		assert_true(whole[LC_SPLIT_LIVE_WHOLE] == 6);
		assert_true(told[LC_SPLIT_HITS].samples[0] == cases[i].hits);
		assert_true(whole[LC_SPLIT_HITS_WHOLE] == cases[i].whole_of_hits);
		lc_split_destroy(s);
	}
}

/* Its site is known. Only what lies in no object of the sample is split, and only where the sample
 * leaves room for other objects. */
static void access_to_an_object_of_the_sample_is_its_sites(void **state)
{
	static const struct {
		double other_chance; /* of an object of site 2 that is not accessed */
		double parts[2];
		uint64_t unsplit;
	} cases[] = {
		{ 0.01, { 6, 4 }, 0 },
		{ 1, { 6, 0 }, 4 },       /* there is no other object */
		{ 0.5, { 6, 2.528 }, 1 }, /* 4 (1 - exp(-1)): perhaps there is one */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lc_split_object o[] = {
			{ CLASS, 1, 0, LC_SPLIT_ALIVE, 0, { 0x10 }, 1, 0, NULL, 0 },
			{ CLASS,
			  2,
			  0,
			  LC_SPLIT_ALIVE,
			  0,
			  { 0x20 },
			  cases[i].other_chance,
			  0,
			  NULL,
			  0 },
		};
		struct lc_split *s = lc_split_create();

		forget();
		access_object(s, 0, 0x10, LC_SPLIT_ANY, 6);
		access_object(s, 0, 0x30, LC_SPLIT_ANY, 4);
		assert_int_equal(settle(s, o, 2), cases[i].unsplit);
		assert_true(told[LC_SPLIT_LIVE].samples[0] == cases[i].parts[0]);
		assert_true(told[LC_SPLIT_LIVE].variance[0] == 0);
		assert_true(told[LC_SPLIT_LIVE].samples[1] == cases[i].parts[1]);
		assert_true(whole[LC_SPLIT_LIVE_WHOLE] == 10);
		lc_split_destroy(s);
	}
}

static void nothing_is_lost_to_rounding(void **state)
{
	static struct lc_split_object o[3];
	struct lc_split *s = lc_split_create();
	double sum = 0;

	forget();
	for (unsigned i = 0; i < 3; i++)
		o[i] = (struct lc_split_object){ CLASS, i + 1, 0, LC_SPLIT_ALIVE, 0,
			                         { 0 }, 0.01,  0, NULL,           0 };
	for (unsigned i = 0; i < 3000; i++) {
		access_object(s, 0, 1, LC_SPLIT_ANY, 1);
		assert_int_equal(settle(s, o, 3), 0);
	}
	for (unsigned i = 0; i < 3; i++) {
		assert_true(fabs(told[LC_SPLIT_LIVE].samples[i] - 1000) < 0.002);
		sum += told[LC_SPLIT_LIVE].samples[i];
	}
	assert_true(sum <= 3000.001);
	lc_split_destroy(s);
}

static void samples_stay_with_their_threads(void **state)
{
	struct lc_split_object o[] = {
		{ CLASS, 1, 0, LC_SPLIT_ALIVE, 0, { 0 }, 0.01, 0, NULL, 0 },
		{ CLASS, 2, 0, LC_SPLIT_ALIVE, 0, { 0 }, 0.01, 0, NULL, 0 },
	};
	struct lc_split *s = lc_split_create();
	double variance;

	forget();
	for (uint32_t i = 0; i < 30; i++)
		lc_split_note(s, &(struct lc_split_access){
		                     .class_site = CLASS, .thread = i % 3, .samples = i % 3 + 1 });
	settle(s, o, 2);
	for (unsigned i = 0; i < 3; i++)
		assert_true(fabs(by_thread[i] - 10 * (i + 1)) < 0.01);
	variance = told[LC_SPLIT_LIVE].variance[0];
	lc_split_destroy(s);
	/* The variance is that of all threads' samples together. */
	s = lc_split_create();
	forget();
	access_object(s, 0, 0, LC_SPLIT_ANY, 60);
	settle(s, o, 2);
	assert_true(fabs(told[LC_SPLIT_LIVE].variance[0] - variance) < 0.01);
	lc_split_destroy(s);
}

static void without_accesses_or_objects_nothing_is_said(void **state)
{
	struct lc_split *s = lc_split_create();

	forget();
	assert_int_equal(settle(s, NULL, 0), 0);
	assert_int_equal(lc_split_noted(s), 0);
	access_object(s, 0, 1, LC_SPLIT_ANY, 7);
	assert_int_equal(lc_split_noted(s), 1);
	assert_int_equal(settle(s, NULL, 0), 7);
	assert_int_equal(lc_split_noted(s), 0);
	assert_int_equal(settle(s, NULL, 0), 0); /* and it is not noted any more */
	assert_int_equal(rows, 0);
	lc_split_destroy(s);
}

/* Allocate `count` objects of each size in turn, with sample points as HotSpot sets them. */
static void sample_stream(struct lc_estimate_sum *x, const unsigned *bytes, unsigned sizes_len,
                          unsigned count, double interval)
{
	double next = -log(uniform()) * interval, at = 0;

	for (unsigned i = 0; i < count * sizes_len; i++) {
		unsigned size = bytes[i % sizes_len];

		at += size;
		if (at <= next)
			continue;
		lc_estimate_sum_add(&x[i % sizes_len], size,
		                    lc_estimate_chance(size, (uint64_t)interval));
		while (next < at)
			next += -log(uniform()) * interval;
	}
}

static void counts_and_bytes_have_no_bias_and_their_intervals_hold_the_truth(void **state)
{
	static const unsigned bytes[] = { 16, 64, 912 };
	enum { KINDS = 3, COUNT = 2000 };
	unsigned objects_covered[KINDS] = { 0 }, bytes_covered[KINDS] = { 0 };
	double sum[KINDS] = { 0 }, variance[KINDS] = { 0 };

	for (unsigned n = 0; n < DRAWS; n++) {
		struct lc_estimate_sum x[KINDS] = { 0 };

		sample_stream(x, bytes, KINDS, COUNT, 1024);
		for (unsigned k = 0; k < KINDS; k++) {
			struct lc_block_estimate row = lc_estimate_sum_row(&x[k]);
			double objects = (double)row.objects_milli / 1000;

			sum[k] += objects;
			variance[k] += (double)row.objects_variance_milli / 1000;
			objects_covered[k] +=
			    covers(objects, (double)row.objects_variance_milli / 1000, COUNT);
			bytes_covered[k] +=
			    covers((double)row.bytes, ldexp((double)row.bytes_variance_mib, 20),
			           (double)COUNT * bytes[k]);
		}
	}
	for (unsigned k = 0; k < KINDS; k++) {
		assert_true(fabs(sum[k] / DRAWS - COUNT) < 4 * sqrt(variance[k]) / DRAWS);
		assert_true((double)objects_covered[k] / DRAWS >= COVERED_LEAST);
		assert_true((double)bytes_covered[k] / DRAWS >= COVERED_LEAST);
	}
}

static void sums_are_kept_apart_by_thread_and_site(void **state)
{
	struct lc_estimate_sums s = { 0 };

	for (uint32_t thread = 0; thread < 20; thread++)
		for (uint32_t site = 1; site <= 100; site++)
			for (uint32_t i = 0; i < thread + site; i++)
				lc_estimate_sum_add(lc_estimate_sum_of(&s, thread, site), 16, 1);
	assert_int_equal(s.len, 2000);
	for (uint32_t thread = 0; thread < 20; thread++)
		for (uint32_t site = 1; site <= 100; site++)
			assert_int_equal(lc_estimate_sum_of(&s, thread, site)->sampled,
			                 thread + site);
	lc_estimate_sums_free(&s);
	assert_int_equal(s.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interval_of_live_holds_the_truth),
		cmocka_unit_test(interval_of_live_holds_the_truth_with_few_objects),
		cmocka_unit_test(interval_of_live_holds_over_many_batches_of_the_same_objects),
		cmocka_unit_test(interval_of_live_holds_over_epochs_of_new_objects),
		cmocka_unit_test(interval_of_new_objects_shrinks_with_epochs),
		cmocka_unit_test(interval_is_not_empty_when_all_objects_seen_are_of_one_site),
		cmocka_unit_test(hits_have_no_bias_and_their_interval_holds_the_truth),
		cmocka_unit_test(hits_follow_an_object_through_its_epochs),
		cmocka_unit_test(printed_intervals_hold_the_truth_in_seeded_programs),
		cmocka_unit_test(hits_of_one_object_are_not_independent),
		cmocka_unit_test(access_is_split_over_objects_of_its_age_and_epoch),
		cmocka_unit_test(objects_older_than_the_sample_have_no_site),
		cmocka_unit_test(access_to_an_object_of_the_sample_is_its_sites),
		cmocka_unit_test(nothing_is_lost_to_rounding),
		cmocka_unit_test(samples_stay_with_their_threads),
		cmocka_unit_test(without_accesses_or_objects_nothing_is_said),
		cmocka_unit_test(counts_and_bytes_have_no_bias_and_their_intervals_hold_the_truth),
		cmocka_unit_test(sums_are_kept_apart_by_thread_and_site),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
