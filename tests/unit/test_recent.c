/* uses: src/heap/recent.c src/stack/place.c src/stack/words.c src/stack/walker.c src/stack/walk_credit.c src/stack/generated.c src/core/own_cost.c src/core/jvmti.c src/core/jitter.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_recent.c - checks which allocations are counted without a look at the stack, and for whom.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/core/path.h"
#include "src/heap/recent.h"
#include "src/heap/site_counters.h"
#include "src/stack/shadow.h"
#include "src/stack/walker.h"
#include "tests/unit/counter.h"

#define KEY (UINT64_C(7) << 32)
#define LONG (UINT64_C(1) << 40) /* ticks, which the frames of a look bound */

enum { PPM = 20000, WORDS = 256, FRAMES = 6, NATIVE = 4, STEP = 3 };

static uint64_t stack[WORDS];
static struct lc_walker walker;
static struct lc_recent recent;

/* The frames of the stack, nearest first: numbers of methods. Numbers below 10 are the JDK's. */
static uint64_t methods[FRAMES];

static const struct lc_method jdk = { .class_name = "java.util.Arrays" },
                              program = { .class_name = "com.acme.Main" };

const struct lc_method *lc_path_version(JNIEnv *jni, uint64_t version)
{
	return version < 10 ? &jdk : &program;
}

size_t lc_shadow_nearest(const struct lc_shadow *s, uint64_t *frames, size_t max)
{
	assert_true(max >= FRAMES);
	memcpy(frames, methods, sizeof(methods));
	return FRAMES;
}

static unsigned word_of(unsigned frame)
{
	return NATIVE + 1 + frame * STEP;
}

struct lc_frame_words lc_frames_words(const struct lc_native_frame *at, uint64_t end,
                                      unsigned frames_max, unsigned words_max, uint64_t *value,
                                      uint16_t *offset)
{
	struct lc_frame_words w = { .frames = frames_max, .whole = true };

	for (; w.len < frames_max; w.len++) {
		offset[w.len] = (uint16_t)word_of(w.len);
		value[w.len] = stack[offset[w.len]];
	}
	return w;
}

static uint64_t address(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* The thread is where these methods have called one another. */
static void go(uint64_t nearest, uint64_t next, uint64_t far)
{
	for (unsigned i = 0; i < FRAMES; i++) {
		methods[i] = i == 0 ? nearest : i == 1 ? next : far;
		stack[word_of(i)] = 1000 + methods[i];
	}
}

static int begin(void **state)
{
	memset(stack, 0, sizeof(stack));
	stack[0] = address(&stack[NATIVE]);
	walker.stack_end = address(stack + WORDS);
	walker.shadow = (struct lc_shadow *)stack; /* not NULL */
	lc_walk_credit_limit(PPM);
	lc_recent_init(&recent);
	return 0;
}

static int end(void **state)
{
	lc_recent_free(&recent);
	return 0;
}

static struct lc_site_counter *find(void)
{
	return lc_recent_find(&recent, &walker, address(stack), KEY);
}

static void learn(struct lc_site_counter *counter)
{
	lc_recent_learn(&recent, NULL, &walker, address(stack), KEY, counter);
}

/* Look until there is no credit, and the next allocation needs no look. */
static void spend(void)
{
	while (!lc_recent_looked(&recent, LONG, 10) || !recent.skip)
		;
}

static void each_allocation_is_looked_at_while_there_is_credit(void **state)
{
	go(1, 20, 30);
	for (int i = 0; i < LC_RECENT_FREE + 1000; i++) {
		assert_null(find());
		assert_false(lc_recent_looked(&recent, 1000, 2));
	}
}

static void the_first_looks_of_a_thread_are_free(void **state)
{
	struct lc_recent young;
	unsigned i = 0;

	spend();
	lc_recent_init(&young);
	while (!lc_recent_looked(&young, LONG, 10))
		i++;
	assert_int_equal(i, LC_RECENT_FREE);
	lc_recent_free(&young);
}

static void without_a_limit_each_is_looked_at(void **state)
{
	lc_walk_credit_limit(0);
	for (int i = 0; i < 100000; i++)
		assert_false(lc_recent_looked(&recent, LONG, 100));
}

/* Two callers far out; the frames up to the program's line are the same. */
static void a_path_gets_as_many_as_its_share_of_the_looks(void **state)
{
	const uint64_t before = counter("alloc_believed");
	struct lc_site_counter counters[2] = { { 0 } };
	uint64_t random = 1, looks = 0, n = 400000, believed;

	spend();
	for (uint64_t i = 0; i < n; i++) {
		struct lc_site_counter *c;
		unsigned which;

		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		which = random >> 33 & 3 ? 1 : 0;
		go(1, 20, 30 + which);
		c = find();
		if (!c) {
			c = &counters[which];
			looks++;
			if (lc_recent_looked(&recent, LONG, 10))
				learn(c);
		}
		c->allocations++;
	}
	believed = counters[0].believed + counters[1].believed;
	assert_int_equal(counters[0].allocations + counters[1].allocations, n);
	assert_int_equal(believed + looks, n);
	assert_in_range(looks, n / 20, n / 2);
	assert_in_range(counters[0].allocations, n * 23 / 100, n * 27 / 100);
	assert_in_range(counter("alloc_believed") - before, believed - 64, believed);
}

static void another_line_of_the_program_is_looked_at(void **state)
{
	struct lc_site_counter first = { 0 };

	go(1, 20, 30);
	spend();
	learn(&first);
	go(1, 21, 30); /* the same bytecode of the JDK */
	assert_null(find());
	go(1, 20, 31);
	assert_ptr_equal(find(), &first);
}

static void another_bytecode_is_looked_at(void **state)
{
	struct lc_site_counter first = { 0 };

	go(20, 21, 30);
	spend();
	learn(&first);
	assert_null(lc_recent_find(&recent, &walker, address(stack), KEY + 1));
	assert_ptr_equal(find(), &first);
}

static void what_the_jdk_alone_has_called_is_looked_at(void **state)
{
	struct lc_site_counter first = { 0 };

	go(1, 2, 3);
	spend();
	learn(&first);
	assert_null(find());
}

static void what_is_forgotten_is_looked_at(void **state)
{
	struct lc_site_counter first = { 0 };

	go(1, 20, 30);
	spend();
	learn(&first);
	lc_recent_forget(&recent);
	assert_null(find());
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(each_allocation_is_looked_at_while_there_is_credit),
		TEST(the_first_looks_of_a_thread_are_free),
		TEST(without_a_limit_each_is_looked_at),
		TEST(a_path_gets_as_many_as_its_share_of_the_looks),
		TEST(another_line_of_the_program_is_looked_at),
		TEST(another_bytecode_is_looked_at),
		TEST(what_the_jdk_alone_has_called_is_looked_at),
		TEST(what_is_forgotten_is_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
