/* uses: src/attribute/contents.c src/jvm/layout/array.c src/jvm/os/peek.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_contents.c - checks what a look into arrays finds in the pause of a collection: a model of a
 * heap in which a collector has left dead arrays, and copied live ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
/* cmocka.h wants the above first. */
#include <cmocka.h>

#include "src/attribute/contents.h"
#include "src/core/own_cost.h"
#include "src/core/record.h"
#include "src/core/thread.h"
#include "src/format/rows.h"
#include "src/heap/estimate.h"
#include "src/jvm/layout/array.h"
#include "src/jvm/layout/klass.h"
#include "src/jvm/layout/layout.h"
#include "src/profile/tally.h"
#include "tests/unit/counter.h"

enum { OLD = 0, EDEN = 4 << 20, HEAP_BYTES = 12 << 20, TAG = 5, UNLOCKED = 1, FORWARDED = 3 };
enum { BYTE = 8, CHAR = 5, INT = 10, DOUBLE = 7, LONG = 11, BOOLEAN = 4, BASE = 16 };

static unsigned char *heap;
static size_t next, next_old;
static struct lc_layout layout;
static struct lc_area areas[1];
static uint32_t klasses[16][4];          /* the layout helper is the second number */
static struct lc_block_content sums[16]; /* by site */
static struct lc_alloc records[4096];
static size_t records_len;
static uint64_t process_ns, process_reads, pass_clock;

const struct lc_layout *lc_layout(void)
{
	return &layout;
}

uint64_t lc_klass_of_word(uint64_t class_word)
{
	return class_word < 16 ? (uintptr_t)klasses[class_word] : 0;
}

uint64_t lc_own_cost_process(void)
{
	process_reads++;
	return process_ns;
}

/* So much passes from one reading to the next. */
static uint64_t reading_ns = 1000;

uint64_t lc_own_cost_clock(void)
{
	return pass_clock += reading_ns;
}

void lc_threads_lock(void)
{
}

void lc_threads_unlock(void)
{
}

int lc_tally_content(struct lc_tally *t, const struct lc_block_content *row)
{
	uint64_t *to = &sums[row->site].dead;
	const uint64_t *from = &row->dead;

	sums[row->site].site = row->site;
	for (size_t i = 0; i < (sizeof(*row) - offsetof(struct lc_block_content, dead)) / 8; i++)
		to[i] += from[i];
	return 0;
}

static unsigned shift_of(unsigned type)
{
	return type == BYTE || type == BOOLEAN ? 0 : type == CHAR ? 1 : type == INT ? 2 : 3;
}

/* An object's header; returns the address of its first element. */
static unsigned char *put(size_t at, unsigned type, uint32_t length)
{
	const uint64_t mark = UNLOCKED;
	const uint32_t class = type;

	memcpy(heap + at, &mark, 8);
	memcpy(heap + at + 8, &class, 4);
	memcpy(heap + at + 12, &length, 4);
	return heap + at + BASE;
}

static size_t size_of(unsigned type, uint32_t length)
{
	return (BASE + ((size_t)length << shift_of(type)) + 7) & ~(size_t)7;
}

/* The program allocates an array at the end of eden. Returns its elements. */
static unsigned char *allocate(uint32_t site, unsigned type, uint32_t length)
{
	const size_t at = next, bytes = size_of(type, length);

	next += bytes;
	assert_true(next < HEAP_BYTES);
	records[records_len++] = (struct lc_alloc){
		.tagged_addr = ((uintptr_t)heap + at) | (uint64_t)TAG << LC_ADDR_BITS,
		.size_words = (uint32_t)(bytes / 8),
		.site = site,
	};
	return put(at, type, length);
}

/* The collection copies the array to old memory, and leaves the new address. */
static void copy(unsigned char *elements, unsigned type, uint32_t length)
{
	const size_t bytes = size_of(type, length);
	uint64_t mark;

	memcpy(heap + next_old, elements - BASE, bytes);
	mark = ((uintptr_t)heap + next_old) | FORWARDED;
	memcpy(elements - BASE, &mark, 8);
	next_old += (bytes + 7) & ~(size_t)7;
	areas[0].top = (uintptr_t)heap + next_old;
}

static bool pass(bool collected, bool slid)
{
	const struct lc_contents_pause pause = {
		.areas = areas, .areas_len = 1, .tag = TAG, .collected = collected, .slid = slid
	};

	if (!lc_contents_begin(&pause))
		return false;
	lc_contents_choose(records, records_len);
	lc_contents_end();
	lc_contents_take((struct lc_thread[]){ { 0 } });
	return true;
}

/* Eden is empty, and the program runs on. */
static void run_on(void)
{
	next = EDEN;
	records_len = 0;
	memset(heap + EDEN, 0, HEAP_BYTES - EDEN);
}

static int begin(void **state)
{
	static const unsigned types[] = { BYTE, CHAR, INT, DOUBLE, LONG, BOOLEAN };

	heap = mmap(NULL, HEAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(heap, MAP_FAILED);
	layout = (struct lc_layout){ .byte_base = BASE,
		                     .long_base = BASE,
		                     .length_offset = 12,
		                     .object_alignment = 8,
		                     .klass_layout_helper = 4 };
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		klasses[types[i]][1] = 3u << 30 | BASE << 16 | types[i] << 8 | shift_of(types[i]);
	klasses[1][1] = 2u << 30 | BASE << 16 | 12 << 8 | 2; /* of an array of references */
	klasses[2][1] = 24;                                  /* of an object that is no array */
	next_old = OLD;
	areas[0] = (struct lc_area){ .bottom = (uintptr_t)heap,
		                     .top = (uintptr_t)heap,
		                     .end = (uintptr_t)heap + EDEN,
		                     .kind = LC_AREA_OLD };
	process_ns = UINT64_MAX;
	memset(sums, 0, sizeof(sums));
	run_on();
	assert_int_equal(lc_contents_open(), 0);
	/* Forget what an earlier test has left. */
	(void)pass(true, true);
	return 0;
}

static int end(void **state)
{
	return munmap(heap, HEAP_BYTES);
}

/* ---- one look ---- */

static uint64_t used_at(unsigned char *elements, unsigned type, uint32_t length)
{
	struct lc_array a;
	struct lc_array_use use, all;

	assert_true(lc_array_at(&layout, (uintptr_t)elements - BASE, size_of(type, length), &a));
	assert_int_equal(a.data, (uintptr_t)elements);
	assert_int_equal(a.bytes, (uint64_t)length << shift_of(type));
	assert_true(lc_array_look(&a, false, 1, &use));
	assert_true(lc_array_look(&a, true, 1, &all));
	assert_int_equal(use.used_bytes, all.used_bytes);
	assert_int_equal(all.whole, a.bytes <= LC_ARRAY_WHOLE_BYTES);
	assert_true(use.looked_bytes <= LC_ARRAY_WHOLE_BYTES);
	return use.used_bytes;
}

/* Every last element of arrays of some lengths, against the element that was written. */
static void the_last_element_that_is_not_zero_is_found(void **state)
{
	static const struct {
		unsigned type;
		uint32_t length;
	} arrays[] = { { BYTE, 1 },    { BYTE, 7 },   { BYTE, 2048 }, { BYTE, 2049 },
		       { BYTE, 5001 }, { CHAR, 777 }, { INT, 1025 },  { DOUBLE, 300 } };

	for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++) {
		const unsigned shift = shift_of(arrays[i].type);
		unsigned char *a = allocate(1, arrays[i].type, arrays[i].length);

		assert_int_equal(used_at(a, arrays[i].type, arrays[i].length), 0);
		for (uint32_t k = 0; k < arrays[i].length; k++) {
			a[k << shift] = 1; /* the lowest byte of the element */
			assert_int_equal(used_at(a, arrays[i].type, arrays[i].length),
			                 (uint64_t)(k + 1) << shift);
		}
	}
}

/* Only places of a large one are looked at: one that is full up to a point is found up to there. */
static void large_arrays_are_looked_at_in_places(void **state)
{
	enum { LENGTH = 1 << 20 };
	unsigned char *a = allocate(1, BYTE, LENGTH);

	assert_int_equal(used_at(a, BYTE, LENGTH), 0);
	for (uint32_t full = 1; full < LENGTH; full += 1 + full / 7) {
		memset(a, 1, full);
		assert_int_equal(used_at(a, BYTE, LENGTH), full);
	}
	a[LENGTH - 1] = 1;
	assert_int_equal(used_at(a, BYTE, LENGTH), LENGTH);
}

static void no_other_object_is_taken_for_an_array(void **state)
{
	unsigned char *a = allocate(1, BYTE, 100);
	const uint64_t at = (uintptr_t)a - BASE;
	struct lc_array out;
	uint64_t mark = (uintptr_t)heap | FORWARDED;

	assert_true(lc_array_at(&layout, at, 120, &out));
	assert_false(lc_array_at(&layout, at, 128, &out)); /* another size */
	assert_false(lc_array_at(&layout, at, 112, &out));
	put(at - (uintptr_t)heap, 1, 25); /* references */
	assert_false(lc_array_at(&layout, at, 120, &out));
	put(at - (uintptr_t)heap, 2, 0); /* an object */
	assert_false(lc_array_at(&layout, at, 24, &out));
	put(at - (uintptr_t)heap, BOOLEAN, 100); /* false is no absence of content */
	assert_false(lc_array_at(&layout, at, 120, &out));
	put(at - (uintptr_t)heap, 15, 100); /* a class that there is not */
	assert_false(lc_array_at(&layout, at, 120, &out));
	put(at - (uintptr_t)heap, BYTE, 100);
	memcpy(a - BASE, &mark, 8);
	assert_false(lc_array_at(&layout, at, 120, &out));
	memset(a - BASE, 0, BASE); /* memory that was given back, and is new */
	assert_false(lc_array_at(&layout, at, 120, &out));
	assert_false(lc_array_at(&layout, 8, 120, &out)); /* none */
}

/* The header is there, the elements are not any more. */
static void memory_that_is_gone_is_not_read(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct lc_array a = { .bytes = 2 * page, .element_bytes = 1 };
	struct lc_array_use use;

	a.data = (uintptr_t)heap + 2 * page;
	memset(heap + 2 * page, 1, 2 * page);
	assert_true(lc_array_look(&a, true, 1, &use));
	assert_int_equal(mprotect(heap + 3 * page, page, PROT_NONE), 0);
	assert_false(lc_array_look(&a, true, 1, &use));
	assert_false(lc_array_look(&a, false, 1, &use));
	a.bytes = 1 << 20;
	assert_int_equal(mprotect(heap + 64 * page, 64 * page, PROT_NONE), 0);
	assert_false(lc_array_look(&a, false, 1, &use));
}

/* ---- passes ---- */

/* Enough passes over arrays that each pass makes anew. */
static void passes(void (*make)(unsigned i), unsigned count)
{
	unsigned made = 0;

	for (unsigned i = 0; i < count; i++) {
		for (unsigned k = 0; k < 64; k++)
			make(made++);
		assert_true(pass(true, false));
		run_on();
	}
}

static void make_little_and_full(unsigned i)
{
	memset(allocate(1, BYTE, 8192), 1, 90);
	memset(allocate(2, BYTE, 8192), 1, 8192);
	allocate(3, INT, 2048);
	/* Numbers here and there. */
	allocate(4, DOUBLE, 1024)[(900 + i % 124) * 8] = 1;
}

static void dead_arrays_are_looked_at(void **state)
{
	passes(make_little_and_full, 40);
	assert_true(sums[1].dead >= 20 && sums[2].dead >= 20);
	assert_true(sums[3].dead >= 20 && sums[4].dead >= 20);
	assert_int_equal(sums[1].to_64th, sums[1].dead);
	assert_int_equal(sums[1].used_bytes, 90 * sums[1].dead);
	assert_int_equal(sums[1].bytes, 8192 * sums[1].dead);
	assert_int_equal(sums[2].used_bytes, sums[2].bytes);
	assert_int_equal(sums[3].zero, sums[3].dead);
	assert_int_equal(sums[3].bytes, 0);
	assert_int_equal(sums[4].to_64th + sums[4].to_16th + sums[4].to_8th + sums[4].to_4th +
	                     sums[4].to_half,
	                 0);
	for (uint32_t site = 1; site <= 4; site++)
		assert_int_equal(sums[site].outlived, 0);
}

/* Site 1: one of two contents, site 2: its own contents, site 3: those of site 1, site 4: zeros. */
static void make_live(unsigned i)
{
	const unsigned char same = (unsigned char)(1 + i % 2);
	unsigned char *a;

	if (i % 64 >= 8)
		return;
	if (i % 64 == 0) {
		next_old = OLD; /* room: what was copied there is dead */
	}
	a = allocate(1, BYTE, 1000);
	memset(a, same, 1000);
	copy(a, BYTE, 1000);
	a = allocate(2, BYTE, 1000);
	memset(a, 1, 1000);
	memcpy(a, &i, sizeof(i));
	copy(a, BYTE, 1000);
	a = allocate(3, BYTE, 1000);
	memset(a, same, 1000);
	copy(a, BYTE, 1000);
	copy(allocate(4, BYTE, 1000), BYTE, 1000);
}

static void live_arrays_are_compared(void **state)
{
	uint64_t all;

	passes(make_live, 40);
	assert_true(sums[1].outlived >= 20 && sums[2].outlived >= 20 && sums[3].outlived >= 20);
	/*
	 * All but the first of each content are equal to another, of either site. Few are not
	 * found: others have taken the place of their hash.
	 */
	all = sums[1].outlived + sums[3].outlived - 2;
	assert_in_range(sums[1].same + sums[1].other + sums[3].same + sums[3].other, all - all / 4,
	                all);
	assert_true(sums[1].other || sums[3].other);
	assert_int_equal(sums[2].same + sums[2].other, 0);
	assert_int_equal(sums[4].outlived, 0);
	for (uint32_t site = 1; site <= 4; site++)
		assert_int_equal(sums[site].dead, 0);
}

/* Small arrays are sampled: three in four of site 5 are equal to others, of site 6 none. */
static void sampled_arrays_are_compared(void **state)
{
	static struct lc_estimate_survivor survivors[64];

	for (unsigned k = 0; k < 8; k++) {
		struct lc_contents_pause pause = { .areas = areas,
			                           .areas_len = 1,
			                           .tag = TAG,
			                           .collected = true,
			                           .survivors = survivors,
			                           .survivors_len = 64 };

		for (unsigned i = 0; i < 64; i++) {
			const unsigned number = 64 * k + i;
			unsigned char *a = put(OLD + (size_t)i * 64, BYTE, 24);

			memset(a, 1 + (int)i % 4, 24);
			if (i % 2 || i % 8 == 0)
				memcpy(a, &number, sizeof(number));
			survivors[i] =
			    (struct lc_estimate_survivor){ (uintptr_t)a - BASE, size_of(BYTE, 24),
				                           5 + i % 2 };
		}
		areas[0].top = (uintptr_t)heap + OLD + (uintptr_t)64 * 64;
		survivors[63].site = 0; /* unknown */
		survivors[62].address = 8;
		assert_true(lc_contents_begin(&pause));
		lc_contents_end();
		lc_contents_take((struct lc_thread[]){ { 0 } });
	}
	assert_int_equal(sums[5].outlived, 8 * 31);
	assert_in_range(sums[5].same, 8 * 23 - 8, 8 * 23);
	assert_int_equal(sums[6].outlived, 8 * 31);
	assert_int_equal(sums[6].same + sums[6].other + sums[5].other, 0);
}

/* A live array is not final: it is looked at in the pause after its death, with what it has then.
 */
static void an_array_is_followed_until_it_dies(void **state)
{
	unsigned char *a;

	assert_true(pass(true, false)); /* nothing was allocated: the next arrays are all chosen */
	a = allocate(1, LONG, 100);
	a[0] = 1;
	copy(a, LONG, 100);
	assert_true(pass(true, false));
	assert_int_equal(sums[1].outlived, 1);
	run_on();
	heap[OLD + BASE + 40 * 8] = 1;   /* the program writes into it */
	assert_true(pass(true, false));  /* it stays where it is, */
	assert_true(pass(false, false)); /* also where a pause collects nothing */
	assert_int_equal(sums[1].dead, 0);
	areas[0].top = areas[0].bottom; /* its memory is free, and it was not copied from there */
	assert_true(pass(true, false));
	assert_int_equal(sums[1].dead, 1);
	assert_int_equal(sums[1].used_bytes, 41 * 8);
	assert_true(pass(true, false));
	assert_int_equal(sums[1].dead, 1);
}

static void after_a_slide_nothing_is_looked_at(void **state)
{
	for (unsigned i = 0; i < 64; i++)
		make_little_and_full(i);
	assert_false(pass(true, true));
	assert_int_equal(sums[1].dead, 0);
}

/* Records of an earlier epoch: their memory may have been used since. */
static void only_records_of_the_epoch_count(void **state)
{
	for (unsigned i = 0; i < 64; i++)
		make_little_and_full(i);
	for (size_t i = 0; i < records_len; i++)
		records[i].tagged_addr -= UINT64_C(1) << LC_ADDR_BITS;
	assert_true(pass(true, false));
	assert_int_equal(sums[1].dead + sums[2].dead + sums[3].dead, 0);
}

/* Arrays in memory that the collection left alone may live: their headers do not tell. */
static void arrays_that_may_live_are_not_looked_at(void **state)
{
	for (unsigned i = 0; i < 64; i++)
		make_little_and_full(i);
	areas[0].end = areas[0].top = (uintptr_t)heap + HEAP_BYTES;
	assert_true(pass(true, false));
	assert_int_equal(sums[1].dead + sums[2].dead + sums[3].dead, 0);
}

static void a_pause_reads_little(void **state)
{
	const uint64_t before = counter("contents_bytes");

	for (unsigned i = 0; i < 64; i++)
		make_little_and_full(i);
	assert_true(pass(true, false));
	assert_in_range(counter("contents_bytes") - before, 1, LC_CONTENTS_PAUSE_BYTES);
}

static void passes_keep_to_their_share_of_the_time(void **state)
{
	const uint64_t paused = counter("contents_paused");
	uint64_t reads;

	process_ns = counter("contents_us") * 1000 * 1000; /* a thousand times */
	reading_ns =
	    UINT64_C(1000000000); /* the next pass takes a second, which is worth a thousand */
	assert_true(pass(true, false));
	assert_int_equal(counter("contents_paused"), paused);
	process_ns = 0;
	assert_false(pass(true, false));
	assert_int_equal(counter("contents_paused"), paused + 1);
	/* Pauses may follow each other closely: to read the clock in each would cost more than
	 * looks. */
	reads = process_reads;
	assert_false(pass(true, false));
	assert_int_equal(counter("contents_paused"), paused + 2);
	assert_int_equal(process_reads, reads);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_last_element_that_is_not_zero_is_found),
		TEST(large_arrays_are_looked_at_in_places),
		TEST(no_other_object_is_taken_for_an_array),
		TEST(memory_that_is_gone_is_not_read),
		TEST(dead_arrays_are_looked_at),
		TEST(live_arrays_are_compared),
		TEST(sampled_arrays_are_compared),
		TEST(an_array_is_followed_until_it_dies),
		TEST(after_a_slide_nothing_is_looked_at),
		TEST(only_records_of_the_epoch_count),
		TEST(arrays_that_may_live_are_not_looked_at),
		TEST(a_pause_reads_little),
		TEST(passes_keep_to_their_share_of_the_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
