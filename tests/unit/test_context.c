/* uses: src/core/memory.c src/stack/walk_credit.c src/core/own_cost.c src/heap/context.c src/heap/site_counters.c src/base/slab.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_context.c - checks that an allocation context is recognised as the shadow says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/core/memory.h"
#include "src/heap/context.h"
#include "src/jvm/code/code_frames.h"
#include "src/stack/walker.h"

enum { WORDS = 256, SITE = 7 };

static uint64_t stack[WORDS];

/* The shadow is this test: where it says that the thread is; 0: it cannot read the stack. */
enum { NOTES = 128 };
static uint32_t node;
static struct {
	uint32_t node;
	uint64_t key, note;
} notes[NOTES];
static uint64_t remembered;
static unsigned walks;

/* If the shadow has no room, the common tree has one note. */
static uint32_t beyond;
static uint64_t common_note;

uint32_t lc_shadow_beyond(const struct lc_shadow *s, const struct lc_shadow_frame **frames)
{
	*frames = NULL;
	return beyond;
}

uint64_t lc_common_tree_note(const struct lc_common_walk *w)
{
	assert_int_equal(w->len, beyond);
	return common_note;
}

void lc_common_tree_set(const struct lc_common_walk *w, uint64_t note)
{
	assert_int_equal(w->len, beyond);
	common_note = note;
}

/* Each allocation is looked at. */
void lc_recent_init(struct lc_recent *r)
{
	memset(r, 0, sizeof(*r));
}

void lc_recent_free(struct lc_recent *r)
{
	assert_non_null(r);
}

void lc_recent_forget(struct lc_recent *r)
{
	assert_non_null(r);
}

/* Is the path of the node open? */
static bool is_open;

bool lc_shadow_open(const struct lc_shadow *s)
{
	return is_open;
}

uint64_t lc_shadow_looked(const struct lc_shadow *s)
{
	return walks;
}

bool lc_code_frames_known(void)
{
	return true;
}

int lc_shadow_create(struct lc_walk_credit *credit, struct lc_shadow **out)
{
	*out = (struct lc_shadow *)notes;
	return 0;
}

void lc_shadow_destroy(struct lc_shadow *s)
{
}

void lc_shadow_set_root(struct lc_shadow *s, uint32_t root)
{
}

uint64_t lc_walker_ask_end(struct lc_walker *w)
{
	return w->stack_end;
}

uint32_t lc_shadow_walk(struct lc_shadow *s, const struct lc_native_frame *at, uint64_t stack_end)
{
	walks++;
	return node;
}

uint64_t *lc_shadow_note(struct lc_shadow *s, uint32_t at, uint64_t key)
{
	assert_true(at && key);
	for (unsigned i = 0; i < NOTES; i++) {
		if (!notes[i].node) {
			notes[i].node = at;
			notes[i].key = key;
		}
		if (notes[i].node == at && notes[i].key == key)
			return &notes[i].note;
	}
	return NULL;
}

void lc_shadow_remember(struct lc_shadow *s, uint64_t frame, uint64_t key, uint64_t note)
{
	remembered = note;
}

const struct lc_shadow_last *lc_shadow_last(const struct lc_shadow *s)
{
	static const struct lc_shadow_last none;

	return &none;
}

static uint64_t sp(void)
{
	return (uint64_t)(uintptr_t)stack;
}

static struct lc_walker walker = { .stack_end = UINT64_MAX };

static int setup(void **state)
{
	struct lc_contexts *c = NULL;

	memset(stack, 0, sizeof(stack));
	memset(notes, 0, sizeof(notes));
	node = 0;
	walks = 0;
	remembered = 0;
	beyond = 0;
	common_note = 0;
	is_open = false;
	walker.cut = false;
	walker.credit = (struct lc_walk_credit){ 0 };
	lc_walk_credit_limit(0);
	lc_memory_limit(UINT64_MAX);
	walker.stack_end = (uint64_t)(uintptr_t)(stack + WORDS);
	assert_int_equal(lc_contexts_create(&c), 0);
	*state = c;
	return 0;
}

static int teardown(void **state)
{
	lc_contexts_destroy(*state);
	return 0;
}

static struct lc_context_look look_at(struct lc_contexts *c, uint64_t frame, uint32_t bytecode_site,
                                      uint32_t class_key)
{
	const struct lc_context_hook h = { frame, bytecode_site, class_key };

	return lc_contexts_look(c, &walker, &h, false);
}

static struct lc_site_counter *learn_at(struct lc_contexts *c, uint64_t frame,
                                        uint32_t bytecode_site, uint32_t class_key, uint32_t site)
{
	const struct lc_context_hook h = { frame, bytecode_site, class_key };
	const struct lc_context_look look = lc_contexts_look(c, &walker, &h, false);

	return lc_contexts_learn(c, &walker, &h, &look, site);
}

static struct lc_site_counter *learn(struct lc_contexts *c, uint32_t site)
{
	return learn_at(c, sp(), SITE, 0, site);
}

static bool known(struct lc_contexts *c)
{
	return look_at(c, sp(), SITE, 0).known;
}

static uint32_t site(struct lc_contexts *c)
{
	const struct lc_context_look look = look_at(c, sp(), SITE, 0);

	assert_true(look.known);
	return look.counter ? look.counter->site : 0;
}

static void a_new_thread_knows_no_context(void **state)
{
	assert_false(known(*state));
	node = 1;
	assert_false(known(*state));
}

static void the_shadow_tells_contexts_apart(void **state)
{
	for (uint32_t round = 0; round < 3; round++)
		for (node = 1; node < 4; node++) {
			assert_int_equal(known(*state), round > 0);
			if (!round)
				assert_int_equal(learn(*state, node * 10)->site, node * 10);
			assert_int_equal(site(*state), node * 10);
			assert_ptr_equal(lc_context_counter(remembered),
			                 look_at(*state, sp(), SITE, 0).counter);
		}
	node = 2;
	assert_false(look_at(*state, sp(), SITE + 1, 0).known);
	assert_false(look_at(*state, sp(), SITE, 1).known);
}

static void the_shadow_knows_what_is_not_recorded(void **state)
{
	node = 1;
	assert_null(learn(*state, 0));
	assert_int_equal(site(*state), 0);
	assert_null(lc_context_counter(remembered));
}

/* An open path is told by the frames that are known, but not where only exact ones will do. */
static void an_open_path_is_a_context_unless_all_must_be_exact(void **state)
{
	const struct lc_context_hook h = { sp(), SITE, 0 };
	struct lc_context_look look;

	node = 1;
	is_open = true;
	learn(*state, 1);
	assert_int_equal(site(*state), 1);
	look = lc_contexts_look(*state, &walker, &h, true);
	assert_false(look.known);
	assert_int_equal(look.node, 1);
	assert_null(look.note);
}

/* Counts go on at the path that was cut as long as there is no credit for all of it. */
static void a_path_that_was_cut_is_looked_for_again_when_there_is_credit(void **state)
{
	node = 1;
	lc_walk_credit_limit(1);
	while (lc_walk_credit_left(&walker.credit))
		lc_walk_credit_pay(&walker.credit, LC_WALK_JVM, LC_WALK_SLICE_NS);
	walker.cut = true;
	assert_int_equal(learn(*state, 1)->site, 1);
	assert_int_equal(site(*state), 1);
	assert_int_equal(remembered, 0);
	lc_walk_credit_limit(0);
	assert_false(known(*state));
	walker.cut = false;
	assert_int_equal(learn(*state, 2)->site, 2);
	assert_int_equal(site(*state), 2);
	assert_int_not_equal(remembered, 0);
}

/* The JVM walks each time, and the counts are right. */
static void a_context_that_the_shadow_cannot_read_is_not_remembered(void **state)
{
	for (unsigned i = 1; i <= 3; i++) {
		assert_false(known(*state));
		assert_int_equal(learn(*state, 1)->site, 1);
		assert_int_equal(walks, 2 * i);
	}
	assert_int_equal(lc_contexts_walks(*state), walks);
	node = 1;
	assert_false(known(*state));
	learn(*state, 3);
	assert_int_equal(site(*state), 3);
}

static void class_and_bytecode_are_part_of_the_context(void **state)
{
	node = 1;
	learn_at(*state, sp(), SITE, 5, 1);
	assert_true(look_at(*state, sp(), SITE, 5).known);
	assert_false(look_at(*state, sp(), SITE, 6).known);
	assert_false(look_at(*state, sp(), SITE + 1, 5).known);
}

static void counters_are_one_per_site_and_never_move(void **state)
{
	enum { MANY = 5000 };
	struct lc_site_counters *c = &((struct lc_contexts *)*state)->counters;
	struct lc_site_counter **first = calloc(MANY + 1, sizeof(struct lc_site_counter *));

	assert_non_null(first);
	for (uint32_t n = 1; n <= MANY; n++) {
		first[n] = lc_site_counters_of(c, n);
		assert_non_null(first[n]);
		atomic_fetch_add(&first[n]->allocations, n);
	}
	for (uint32_t n = 1; n <= MANY; n++) {
		assert_ptr_equal(lc_site_counters_of(c, n), first[n]);
		assert_int_equal(lc_site_counters_at(c, n - 1)->site, n);
		assert_int_equal(atomic_load(&first[n]->allocations), n);
	}
	assert_null(lc_site_counters_at(c, MANY));
	free(first);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* A new thread without room for a node still counts for itself while it has room for counters. */
static void a_context_beyond_the_shadow_is_known_by_the_common_tree(void **state)
{
	beyond = 5;
	assert_false(known(*state));
	assert_int_equal(learn(*state, 9)->site, 9);
	assert_int_equal(site(*state), 9);
	assert_int_equal(remembered, 0);
	common_note = 0;
	assert_null(learn(*state, 0));
	assert_int_equal(site(*state), 0);
}

static void without_room_for_a_counter_the_site_is_told(void **state)
{
	struct lc_context_look look;

	node = 1;
	for (uint32_t s = 1; s <= 64; s++) /* every thread has so many */
		assert_non_null(learn_at(*state, sp(), s, 0, s));
	lc_memory_limit(0);
	assert_null(learn_at(*state, sp(), 65, 0, 65));
	look = look_at(*state, sp(), 65, 0);
	assert_true(look.known);
	assert_null(look.counter);
	assert_int_equal(look.common, 65);
	assert_int_equal(lc_memory_refused(LC_MEMORY_COUNTERS), 2);
	assert_int_equal(look_at(*state, sp(), 64, 0).counter->site, 64);
	node = 0;
	beyond = 3;
	assert_null(learn(*state, 66));
	assert_int_equal(look_at(*state, sp(), SITE, 0).common, 66);
	lc_memory_limit(UINT64_MAX); /* there is room again */
	assert_int_equal(site(*state), 66);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_new_thread_knows_no_context),
		TEST(the_shadow_tells_contexts_apart),
		TEST(the_shadow_knows_what_is_not_recorded),
		TEST(an_open_path_is_a_context_unless_all_must_be_exact),
		TEST(a_path_that_was_cut_is_looked_for_again_when_there_is_credit),
		TEST(a_context_that_the_shadow_cannot_read_is_not_remembered),
		TEST(class_and_bytecode_are_part_of_the_context),
		TEST(counters_are_one_per_site_and_never_move),
		TEST(a_context_beyond_the_shadow_is_known_by_the_common_tree),
		TEST(without_room_for_a_counter_the_site_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
