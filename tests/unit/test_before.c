/* uses: src/attribute/preexisting.c src/heap/map.c src/heap/map_store.c src/heap/map_close.c src/heap/map_resolve.c src/heap/map_order.c src/core/stand_back.c src/core/epoch.c src/core/wake.c -lJudy -lpthread */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_before.c - checks that objects from before the attach, and only those, are put into the map
 * when they move.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/attribute/preexisting.h"
#include "src/base/time.h"
#include "src/core/epoch.h"
#include "src/core/path.h"
#include "src/heap/map.h"
#include "src/jvm/layout/areas.h"
#include "src/jvm/layout/collector.h"
#include "src/jvm/layout/klass.h"
#include "tests/unit/counter.h"

/* Old memory, and eden above it. */
#define OLD UINT64_C(0x700000000)
#define EDEN UINT64_C(0x700100000)
#define END UINT64_C(0x700200000)

enum { BYTES = 1600, MIN_BYTES = 1024, PATH = 3, UNREAD = 5, SITE = 7, KLASS = 0x8000 };

static struct lc_map *map;
static struct lc_area look[2];
static bool readable;             /* headers can be read */
static unsigned collections_more; /* before the moves of one are looked at */
static uint64_t klass_bytes;      /* of the object whose header is read */
static uint64_t objects, unread;  /* the counters at the attach */

/* -- the rest of the agent ------------------------------------------------------------------- */

size_t lc_areas_look(struct lc_area *out, size_t cap)
{
	assert_true(cap >= 2);
	memcpy(out, look, sizeof(look));
	return 2;
}

bool lc_klass_object(uint64_t start, uint64_t addr, struct lc_object_seen *out)
{
	assert_int_equal(start, addr);
	*out = (struct lc_object_seen){ .start = start, .klass = KLASS, .size_bytes = klass_bytes };
	return readable;
}

uint32_t lc_klass_site_at(uint64_t klass, uint32_t path)
{
	assert_int_equal(klass, KLASS);
	assert_int_equal(path, PATH);
	return SITE;
}

int lc_path_define(uint64_t id, const char *class_name, const char *name, const char *signature)
{
	assert_true(id < LC_PATH_DEFINED_MAX);
	assert_string_equal(class_name, "(before the attach)");
	assert_string_equal(name, "");
	assert_non_null(signature);
	return 0;
}

uint32_t lc_path_intern(JNIEnv *jni, const uint64_t *frames, size_t frames_len)
{
	assert_int_equal(frames_len, 1);
	return PATH;
}

uint32_t lc_site_intern(const char *class_signature, uint64_t class_word, uint32_t path)
{
	assert_string_equal(class_signature, "L(before the attach);");
	assert_int_equal(class_word, 0);
	assert_int_equal(path, PATH);
	return UNREAD;
}

unsigned lc_collector_granule_shift(void)
{
	return 16;
}

/* -- helpers --------------------------------------------------------------------------------- */

static void counted(uint64_t *all, uint64_t *without_class)
{
	*all = counter("before_attach_objects");
	*without_class = counter("before_attach_unread");
}

/* Each test begins at an attach, of its own epoch; the counters go on. */
static void attach(bool ordered)
{
	look[0] = (struct lc_area){ OLD, OLD + 0x80000, EDEN, LC_AREA_OLD, 0 };
	look[1] = (struct lc_area){ EDEN, EDEN + 0x40000, END, LC_AREA_EDEN, 0 };
	lc_map_forget_all(map);
	lc_preexisting_begin(NULL, MIN_BYTES, ordered);
	readable = true;
	collections_more = 0;
	klass_bytes = BYTES;
	counted(&objects, &unread);
}

/* A young collection with these moves: eden is empty, old memory in use up to `top`. */
static void collect_to(const struct lc_move *moves, size_t len, uint64_t top, bool complete)
{
	const struct lc_nursery nursery = { .epoch_tag = (uint16_t)lc_epoch_now() };
	const struct lc_area areas[2] = { { OLD, top, EDEN, LC_AREA_OLD, 0 },
		                          { EDEN, EDEN, END, LC_AREA_EDEN, 0 } };
	const struct lc_map_close close = { .nursery = &nursery,
		                            .moves = moves,
		                            .moves_len = len,
		                            .areas = areas,
		                            .areas_len = 2,
		                            .heap_low = OLD,
		                            .complete = complete,
		                            .collected = true };
	const uint32_t epoch = lc_epoch_now();

	for (unsigned i = 0; i <= collections_more; i++) {
		lc_epoch_enter_gc();
		lc_epoch_leave_gc();
	}
	assert_int_equal(lc_map_close_epoch(map, &close), 0);
	lc_preexisting_close(map, epoch, &close);
}

static void collect(const struct lc_move *moves, size_t len)
{
	collect_to(moves, len, OLD + 0xc0000, true);
}

static uint32_t site_at(uint64_t addr)
{
	struct lc_object o;

	return lc_map_find(map, addr, &o) && o.addr == addr ? o.site : 0;
}

/* Counted since attach(). */
static void assert_counted(uint64_t more_objects, uint64_t more_unread)
{
	uint64_t all, without_class;

	counted(&all, &without_class);
	assert_int_equal(all - objects, more_objects);
	assert_int_equal(without_class - unread, more_unread);
}

/* -- tests ----------------------------------------------------------------------------------- */

static void test_what_moves_is_followed(void **unused)
{
	struct lc_object o;

	attach(false);
	collect(&(struct lc_move){ EDEN + 0x1000, OLD + 0x81000, BYTES }, 1);
	assert_int_equal(site_at(OLD + 0x81000), SITE);
	assert_true(lc_map_find(map, OLD + 0x81000 + BYTES - 1, &o));
	assert_int_equal(o.size_bytes, BYTES);
	assert_counted(1, 0);
	/* It is an object of the map now, like any other. */
	readable = false;
	collect(&(struct lc_move){ OLD + 0x81000, OLD + 0x90000, BYTES }, 1);
	assert_int_equal(site_at(OLD + 0x81000), 0);
	assert_int_equal(site_at(OLD + 0x90000), SITE);
	assert_counted(1, 0);
}

static void test_what_was_recorded_keeps_its_site(void **unused)
{
	attach(false);
	collect(NULL, 0);
	assert_int_equal(lc_map_allocated(map, OLD + 0x1000, BYTES / 8, 9), 0);
	collect(&(struct lc_move){ OLD + 0x1000, OLD + 0x81000, BYTES }, 1);
	assert_int_equal(site_at(OLD + 0x81000), 9);
	assert_counted(0, 0);
}

static void test_what_came_later_is_unknown(void **unused)
{
	const struct lc_move moves[] = {
		{ EDEN + 0x40000, OLD + 0x81000, BYTES }, /* above eden's top at the attach */
		{ EDEN + 0x1000, OLD + 0x82000, MIN_BYTES - 8 },
		{ EDEN + 0x2000, EDEN + 0x3000, BYTES }, /* to where nothing is left */
		{ 0, OLD + 0x83000, BYTES },             /* a copy that lost */
	};

	attach(false);
	klass_bytes = MIN_BYTES - 8;
	collect(moves + 1, 1);
	attach(false);
	collect(moves, 4);
	assert_int_equal(lc_map_count(map), 0);
	assert_counted(0, 0);
	/* Eden was emptied, and is filled anew. */
	collect(&(struct lc_move){ EDEN + 0x1000, OLD + 0x81000, BYTES }, 1);
	assert_int_equal(lc_map_count(map), 0);
	/* Old memory was not. */
	collect(&(struct lc_move){ OLD + 0x1000, OLD + 0x82000, BYTES }, 1);
	assert_int_equal(site_at(OLD + 0x82000), SITE);
}

static void test_what_is_written_to_is_kept_no_more(void **unused)
{
	attach(false);
	collect(&(struct lc_move){ OLD + 0x8000, OLD + 0x4000, BYTES }, 1);
	assert_int_equal(site_at(OLD + 0x4000), SITE);
	collect(&(struct lc_move){ OLD + 0x8000, OLD + 0x81000, BYTES }, 1);
	assert_int_equal(site_at(OLD + 0x81000), 0);
	collect(&(struct lc_move){ OLD + 0x2000, OLD + 0x82000, BYTES }, 1);
	assert_int_equal(site_at(OLD + 0x82000), SITE);
	/* Memory that a collection left empty is used again. */
	collect_to(NULL, 0, OLD + 0x1000, true);
	collect(&(struct lc_move){ OLD + 0x2000, OLD + 0x83000, BYTES }, 1);
	assert_int_equal(site_at(OLD + 0x83000), 0);
	collect(&(struct lc_move){ OLD + 0x800, OLD + 0x84000, BYTES }, 1);
	assert_int_equal(site_at(OLD + 0x84000), SITE);
}

static void test_after_lost_moves_nothing_is_kept(void **unused)
{
	attach(false);
	collect_to(NULL, 0, OLD + 0xc0000, false);
	collect(&(struct lc_move){ OLD + 0x1000, OLD + 0x81000, BYTES }, 1);
	assert_int_equal(lc_map_count(map), 0);
}

static void test_a_header_that_is_read_later(void **unused)
{
	struct lc_object o;

	attach(false);
	readable = false;
	collect(&(struct lc_move){ OLD + 0x1000, OLD + 0x81000, BYTES }, 1);
	assert_int_equal(lc_map_count(map), 0); /* no object is there */
	collections_more = 1;                   /* another one has moved on what is here */
	readable = true;
	collect(&(struct lc_move){ OLD + 0x2000, OLD + 0x82000, BYTES }, 1);
	assert_int_equal(site_at(OLD + 0x82000), UNREAD);
	assert_counted(1, 1);
	assert_true(lc_map_find(map, OLD + 0x82000, &o));
	assert_int_equal(lc_preexisting_site(&o, 0), UNREAD);
	collections_more = 0;
	assert_int_equal(lc_preexisting_site(&o, KLASS), SITE);
	assert_int_equal(site_at(OLD + 0x82000), SITE);
	assert_true(lc_map_find(map, OLD + 0x82000, &o));
	assert_int_equal(lc_preexisting_site(&o, 0), SITE);
}

static void test_pieces_are_believed_by_their_header(void **unused)
{
	const struct lc_move moves[] = {
		{ OLD + 0x1000, OLD + 0x8f000, 0x1000 }, /* ends at a boundary */
		{ OLD + 0x2000, OLD + 0x90000, 0x600 },  /* begins at it */
	};

	attach(false);
	klass_bytes = 0x1600;
	collect(moves, 1);
	assert_int_equal(site_at(OLD + 0x8f000), SITE);
	attach(false);
	klass_bytes = 0x1600; /* longer than a whole copy */
	collect(&(struct lc_move){ OLD + 0x1000, OLD + 0x81000, BYTES }, 1);
	assert_int_equal(lc_map_count(map), 0);
	attach(false);
	klass_bytes = 0x5f8; /* another than the move's: no header */
	collect(moves + 1, 1);
	assert_int_equal(lc_map_count(map), 0);
	attach(false);
	collections_more = 1; /* no header can be read in time */
	collect(moves, 2);
	assert_int_equal(lc_map_count(map), 0);
}

static void copied(uint64_t src, uint64_t dst, uint32_t cycle)
{
	const uint64_t now = lc_time_now_ns();
	const struct lc_move move = { src, dst, BYTES };

	lc_preexisting_copied(map, cycle, lc_map_moved(map, src, dst, BYTES) == 1, now, &move);
	lc_preexisting_used(now, dst, BYTES);
}

static void test_in_order_of_time(void **unused)
{
	attach(true);
	copied(OLD + 0x1000, OLD + 0x80000, 1);
	assert_int_equal(site_at(OLD + 0x80000), SITE);
	copied(OLD + 0x2000, OLD + 0x81000, 1);
	assert_int_equal(site_at(OLD + 0x81000), SITE);
	copied(OLD + 0x80000, OLD + 0xa0000, 2); /* known */
	assert_int_equal(site_at(OLD + 0xa0000), SITE);
	copied(OLD + 0x3000, OLD + 0xa1000, 2); /* out of memory that was given back */
	assert_int_equal(site_at(OLD + 0xa1000), 0);
	lc_preexisting_used(lc_time_now_ns(), OLD + 0x30000, BYTES); /* an allocation */
	copied(OLD + 0x31000, OLD + 0xa2000, 2);
	assert_int_equal(site_at(OLD + 0xa2000), 0);
	copied(OLD + 0x82000, OLD + 0xa3000, 2); /* others were copied to there */
	assert_int_equal(site_at(OLD + 0xa3000), 0);
	klass_bytes = BYTES + 8;
	copied(OLD + 0x40000, OLD + 0xa4000, 2);
	assert_int_equal(site_at(OLD + 0xa4000), 0);
	assert_counted(2, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_moves_is_followed),
		cmocka_unit_test(test_what_was_recorded_keeps_its_site),
		cmocka_unit_test(test_what_came_later_is_unknown),
		cmocka_unit_test(test_what_is_written_to_is_kept_no_more),
		cmocka_unit_test(test_after_lost_moves_nothing_is_kept),
		cmocka_unit_test(test_a_header_that_is_read_later),
		cmocka_unit_test(test_pieces_are_believed_by_their_header),
		cmocka_unit_test(test_in_order_of_time),
	};

	assert_int_equal(lc_map_create(&map), 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
