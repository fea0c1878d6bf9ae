/* uses: src/attribute/live_objects.c src/heap/map.c src/heap/map_store.c src/heap/map_order.c -lJudy */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_live_objects.c - checks which sites and objects are chosen for a walk of the heap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/attribute/live_objects.h"
#include "src/attribute/live_series.h"
#include "src/core/path.h"
#include "src/heap/estimate.h"
#include "src/heap/map.h"

#define HEAP UINT64_C(0x700000000)

enum { FILL = 1, RUN, JDK, SITE = 5, OTHER, HELD, SITES_END };

static struct lc_estimate_held held = { .site = HELD, .address = HEAP + 8, .survived = 1 };

/* The path of SITE is RUN -> FILL, that of OTHER is RUN -> JDK; HELD has none. */
static const struct lc_method methods[] = { [FILL] = { .class_name = "Leak", .name = "fill" },
	                                    [RUN] = { .class_name = "Main", .name = "run" },
	                                    [JDK] = { .class_name = "j.Arrays", .name = "copy" } };
static const struct lc_path_node nodes[] = {
	[RUN] = { 0, RUN, 7, 1, 0 }, [FILL] = { RUN, FILL, 42, 2, 0 }, [JDK] = { RUN, JDK, 0, 2, 0 }
};
static const struct lc_site sites[] = {
	[SITE] = { "byte[]", 0, FILL }, [OTHER] = { "byte[]", 0, JDK }, [HELD] = { "Small", 0, 0 }
};

const struct lc_method *lc_method_get(uint32_t method)
{
	return &methods[method];
}

int lc_method_line(const struct lc_method *m, unsigned bci)
{
	return m == &methods[JDK] ? -1 : (int)bci;
}

const struct lc_path_node *lc_path_get(uint32_t node)
{
	return &nodes[node];
}

const struct lc_site *lc_site_get(uint32_t site)
{
	return site < SITES_END ? &sites[site] : NULL;
}

size_t lc_live_series_most(lc_live_series_wants *wants, const void *context, uint32_t *out,
                           size_t max)
{
	size_t len = 0;

	for (uint32_t site = SITE; site <= SITES_END && len < max; site++)
		if (wants(context, site))
			out[len++] = site;
	return len;
}

void lc_estimate_live(lc_estimate_live_fn *add, void *user)
{
	add(user, &held);
}

/* ---- tests ---- */

static void frames_choose_sites(void **state)
{
	static const struct {
		const char *pattern;
		size_t len;
		uint32_t first;
	} cases[] = {
		{ "", 3, SITE },           { "Leak.fill:42", 1, SITE },   { "Leak.fill", 0, 0 },
		{ "Main.run:*", 2, SITE }, { "j.Arrays.copy", 1, OTHER }, { "*:42", 1, SITE },
	};
	struct lc_live_objects o;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		lc_live_objects_sites(&o, cases[i].pattern);
		assert_int_equal(o.len, cases[i].len);
		assert_int_equal(o.sites[0].site, cases[i].first);
	}
}

/* 1000 objects of one site, one of another; and one that a reference holds. */
static void objects_are_chosen_evenly(void **state)
{
	struct lc_live_objects o;
	struct lc_map *map;
	uint64_t before = 0;

	assert_int_equal(lc_map_create(&map), 0);
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(lc_map_allocated(map, HEAP + 1024 + i * 64, 4, SITE), 0);
	assert_int_equal(lc_map_allocated(map, HEAP + (1 << 20), 4, OTHER), 0);
	lc_live_objects_sites(&o, "");
	for (unsigned again = 0; again < 2; again++) {
		lc_live_objects_find(&o, map);
		assert_int_equal(o.sites[0].seen, 1000);
		assert_in_range(o.sites[0].len, LC_LIVE_OBJECTS_OF_SITE / 2,
		                LC_LIVE_OBJECTS_OF_SITE);
		for (uint32_t i = 1; i < o.sites[0].len; i++) {
			const uint64_t step =
			    o.sites[0].objects[i].address - o.sites[0].objects[i - 1].address;

			assert_true(!before || step == before);
			before = step;
		}
		assert_int_equal(o.sites[1].len, 1);
		assert_int_equal(o.sites[1].objects[0].address, HEAP + (1 << 20));
		assert_int_equal(o.sites[2].len, 1);
		assert_int_equal(o.sites[2].objects[0].address, HEAP + 8);
	}
	held.address = 0; /* its place is not known yet */
	lc_live_objects_find(&o, map);
	assert_int_equal(o.sites[2].len, 0);
	held.address = HEAP + 8;
	held.survived = 0; /* no collection has told whether it is live */
	lc_live_objects_find(&o, map);
	assert_int_equal(o.sites[2].len, 0);
	held.ref = (jweak)&held;
	lc_live_objects_find(&o, NULL); /* objects are not followed */
	assert_false(o.by_address);
	assert_int_equal(o.sites[0].len, 0);
	assert_int_equal(o.sites[2].len, 1);
	assert_ptr_equal(o.sites[2].objects[0].ref, &held);
	lc_map_destroy(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_choose_sites),
		cmocka_unit_test(objects_are_chosen_evenly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
