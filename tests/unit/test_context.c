/* uses: src/heap/context.c src/heap/site_counters.c src/base/slab.c src/stack/place.c src/stack/words.c src/stack/walker.c src/core/jvmti.c src/stack/generated.c */
/* test_context.c - checks that an allocation context is recognised by its stack, and only by it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/heap/context.h"
#include "src/stack/generated.h"

/* Generated code lies here, the interpreter at its start. */
#define CODE_LOW UINT64_C(0x7f0000000000)
#define CODE_HIGH UINT64_C(0x7f0000100000)
#define INTERPRETER_HIGH UINT64_C(0x7f0000010000)
#define COMPILED(n) (INTERPRETER_HIGH + (n))

enum { WORDS = 256, SITE = 7 };

static uint64_t stack[WORDS];

/* Contexts are told by guessed words: nobody walks from frame to frame. */
struct lc_frame_words lc_frames_words(const struct lc_native_frame *at, uint64_t end,
                                      unsigned frames_max, unsigned words_max, uint64_t *value,
                                      uint16_t *offset)
{
	(void)at;
	(void)end;
	(void)frames_max;
	(void)words_max;
	(void)value;
	(void)offset;
	fail();
	return (struct lc_frame_words){ 0 };
}

static uint64_t sp(void)
{
	return (uint64_t)(uintptr_t)stack;
}

static uint64_t stack_end(void)
{
	return (uint64_t)(uintptr_t)(stack + WORDS);
}

static int setup(void **state)
{
	struct lc_contexts *c = NULL;

	memset(stack, 0, sizeof(stack));
	lc_generated_init(
	    &(struct lc_generated){ CODE_LOW, CODE_HIGH, CODE_LOW, INTERPRETER_HIGH });
	assert_int_equal(lc_contexts_create(&c), 0);
	*state = c;
	return 0;
}

static int teardown(void **state)
{
	lc_contexts_destroy(*state);
	return 0;
}

static struct lc_context *learn(struct lc_contexts *c, uint32_t site)
{
	return lc_contexts_learn(c, sp(), stack_end(), SITE, 0, site);
}

static struct lc_context *find(struct lc_contexts *c)
{
	return lc_contexts_find(c, sp(), SITE, 0);
}

static void an_empty_memory_knows_no_context(void **state)
{
	assert_null(find(*state));
}

static void the_same_return_addresses_are_the_same_context(void **state)
{
	stack[3] = COMPILED(0x100);
	stack[9] = COMPILED(0x200);
	assert_non_null(learn(*state, 1));
	stack[5] = 12345; /* a local variable */
	assert_non_null(find(*state));
	assert_int_equal(find(*state)->site, 1);
}

static void another_return_address_at_the_same_depth_is_another_context(void **state)
{
	stack[3] = COMPILED(0x100);
	stack[9] = COMPILED(0x200);
	learn(*state, 1);
	stack[9] = COMPILED(0x300);
	assert_null(find(*state));
	learn(*state, 2);
	assert_int_equal(find(*state)->site, 2);
	stack[9] = COMPILED(0x200);
	assert_int_equal(find(*state)->site, 1);
}

static void a_caller_compiled_again_does_not_blur_its_neighbour(void **state)
{
	stack[9] = COMPILED(0x200);
	learn(*state, 1);
	stack[9] = COMPILED(0x900); /* the same caller, elsewhere now */
	learn(*state, 1);
	stack[9] = COMPILED(0x300);
	assert_null(find(*state));
}

static void interpreted_callers_are_told_apart_by_their_bytecode(void **state)
{
	/* Word 20: return address into the interpreter; 19: rbp of the interpreted frame. */
	stack[20] = CODE_LOW + 0x40;
	stack[19] = (uint64_t)(uintptr_t)&stack[40];
	stack[40 - 8] = 0x1111; /* bytecode pointer */
	learn(*state, 1);
	assert_non_null(find(*state));
	stack[40 - 8] = 0x2222;
	assert_null(find(*state));
	learn(*state, 2);
	assert_int_equal(find(*state)->site, 2);
}

static void a_word_that_keeps_changing_is_dropped_in_the_end(void **state)
{
	unsigned walks = 0;

	stack[3] = COMPILED(0x100);
	for (unsigned i = 0; i < 200; i++) {
		stack[7] = COMPILED(0x1000 + i); /* garbage that looks like a return address */
		if (!find(*state)) {
			learn(*state, 1);
			walks++;
		}
	}
	assert_true(walks < 64);
	assert_int_equal(lc_contexts_walks(*state), walks);
	stack[3] = COMPILED(0x104);
	assert_null(find(*state));
}

static void freed_code_makes_every_context_new(void **state)
{
	stack[3] = COMPILED(0x100);
	learn(*state, 1);
	lc_generated_freed();
	assert_null(find(*state));
	learn(*state, 2); /* other code lies there now */
	assert_int_equal(find(*state)->site, 2);
}

static void class_and_bytecode_are_part_of_the_context(void **state)
{
	lc_contexts_learn(*state, sp(), stack_end(), SITE, 5, 1);
	assert_non_null(lc_contexts_find(*state, sp(), SITE, 5));
	assert_null(lc_contexts_find(*state, sp(), SITE, 6));
	assert_null(lc_contexts_find(*state, sp(), SITE + 1, 5));
	assert_null(lc_contexts_find(*state, sp() + 8, SITE, 5));
}

static void a_context_that_is_not_recorded_has_no_counter(void **state)
{
	struct lc_context *x = learn(*state, 0);

	assert_non_null(x);
	assert_null(x->counter);
	assert_ptr_equal(find(*state), x);
}

static void the_end_of_the_stack_is_never_read(void **state)
{
	uint64_t *end = malloc(4 * sizeof(*end));

	assert_non_null(end);
	for (unsigned i = 0; i < 4; i++)
		end[i] = COMPILED(i);
	assert_non_null(lc_contexts_learn(*state, (uint64_t)(uintptr_t)end,
	                                  (uint64_t)(uintptr_t)(end + 4), SITE, 0, 1));
	free(end);
}

static void many_contexts_are_all_remembered(void **state)
{
	enum { MANY = 1000 };
	unsigned known = 0;

	for (uint32_t i = 1; i <= MANY; i++)
		lc_contexts_learn(*state, sp(), sp(), i, 0, i);
	for (uint32_t i = 1; i <= MANY; i++)
		lc_contexts_learn(*state, sp(), sp(), i, 0, i);
	for (uint32_t i = 1; i <= MANY; i++) {
		struct lc_context *x = lc_contexts_find(*state, sp(), i, 0);

		known += x && x->site == i;
	}
	assert_true(known > MANY * 9 / 10);
}

static void counters_are_one_per_site_and_never_move(void **state)
{
	enum { MANY = 5000 };
	struct lc_site_counters *c = &((struct lc_contexts *)*state)->counters;
	struct lc_site_counter **first = calloc(MANY + 1, sizeof(struct lc_site_counter *));

	assert_non_null(first);
	for (uint32_t site = 1; site <= MANY; site++) {
		first[site] = lc_site_counters_of(c, site);
		assert_non_null(first[site]);
		atomic_fetch_add(&first[site]->allocations, site);
	}
	for (uint32_t site = 1; site <= MANY; site++) {
		assert_ptr_equal(lc_site_counters_of(c, site), first[site]);
		assert_int_equal(lc_site_counters_at(c, site - 1)->site, site);
		assert_int_equal(atomic_load(&first[site]->allocations), site);
	}
	assert_null(lc_site_counters_at(c, MANY));
	free(first);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_empty_memory_knows_no_context),
		TEST(the_same_return_addresses_are_the_same_context),
		TEST(another_return_address_at_the_same_depth_is_another_context),
		TEST(a_caller_compiled_again_does_not_blur_its_neighbour),
		TEST(interpreted_callers_are_told_apart_by_their_bytecode),
		TEST(a_word_that_keeps_changing_is_dropped_in_the_end),
		TEST(freed_code_makes_every_context_new),
		TEST(class_and_bytecode_are_part_of_the_context),
		TEST(a_context_that_is_not_recorded_has_no_counter),
		TEST(the_end_of_the_stack_is_never_read),
		TEST(many_contexts_are_all_remembered),
		TEST(counters_are_one_per_site_and_never_move),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
