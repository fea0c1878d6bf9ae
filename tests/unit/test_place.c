/* uses: src/stack/place.c src/stack/words.c src/stack/walker.c src/stack/walk_credit.c src/core/own_cost.c src/stack/generated.c src/core/jvmti.c -Wl,--wrap=calloc -Wl,--wrap=malloc */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_place.c - checks that a place that is recognised is the place that a walk of the whole stack
 * would find.
 *
 * The program is a model: functions with frames of various sizes, whose calls have return
 * addresses. Its stack is laid out in an array, with other values between the return addresses.
 *
 * The address of a place tells where the table keeps it, and so which places get into each other's
 * way. The array therefore lies at the same address in each run, and tests of places that may get
 * into each other's way are repeated with the array at many addresses.
 *
 * It is longer than 600 lines because the three kinds of places stand the same tests of one model.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "src/base/hash.h"
#include "src/stack/generated.h"
#include "src/stack/place.h"
#include "src/stack/walker.h"

/* Generated code lies behind the interpreter. */
#define CODE_HIGH UINT64_C(0x7f0000100000)
#define INTERPRETER_HIGH UINT64_C(0x7f0000010000)

enum {
	STACK_WORDS = 2048,
	STACKS = 256,     /* addresses of the array that tests are repeated at */
	STACK_STEP = 514, /* words from one to the next */
	FUNCTIONS = 24,
	LIBRARY =
	    12,    /* functions below are a library's: a walk goes on to the first that is none */
	CALLS = 4, /* of a function */
	PATHS = 300,
	KEYS = 40,
	PATH_MAX_FRAMES = 60,
	STEPS = 60000
};

/* Which call each frame is at, the nearest first: function * CALLS + number. */
struct path {
	unsigned len;
	uint16_t call[PATH_MAX_FRAMES];
	uint64_t key;
};

struct entry {
	struct lc_place place;
	uint64_t answer; /* what the walk has found */
};

static const struct lc_place_kind few_ways = { .entry_bytes = sizeof(struct entry), .ways = 4 };
static const struct lc_place_kind with_far = { sizeof(struct entry), 4, .far = true };
static const struct lc_place_kind any_depth = { sizeof(struct entry), 64, .any_depth = true };
LC_PLACE_KIND_FITS(struct entry, 64);

static uint64_t *stacks;           /* STACK_WORDS, and room to move them to all addresses */
static uint64_t *stack;            /* STACK_WORDS within */
static const struct path *current; /* what lies on the stack */
static uint64_t frame;             /* of the hook */
static uint32_t code_moved;        /* times that calls got other return addresses */
static uint64_t random_state;
static bool no_memory;
static struct lc_walker *walker;

void *__real_calloc(size_t n, size_t size);
void *__real_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
	return no_memory ? NULL : __real_calloc(n, size);
}

void *__wrap_malloc(size_t size)
{
	return no_memory ? NULL : __real_malloc(size);
}

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % n;
}

static uint64_t stack_end(void)
{
	return (uint64_t)(uintptr_t)(stack + STACK_WORDS);
}

/* Lay out the stack at another address from now on: `n` below STACKS. */
static void move_stack(unsigned n)
{
	stack = stacks + (size_t)n * STACK_STEP;
}

/* The return address of a call. After code was freed the same address means another call. */
static uint64_t return_address(unsigned call)
{
	return INTERPRETER_HIGH + (call * 7 + code_moved * 5) % (FUNCTIONS * CALLS) * 16;
}

static unsigned frame_words(unsigned call)
{
	return 2 + call / CALLS % 5;
}

/* Put the path on the stack: the hook is called by its first frame. */
static void lay_out(const struct path *path)
{
	unsigned words = 1, at;

	for (unsigned i = 0; i < path->len; i++)
		words += frame_words(path->call[i]);
	assert_true(words < STACK_WORDS);
	at = STACK_WORDS - words;
	frame = (uint64_t)(uintptr_t)(stack + at);
	for (unsigned i = at; i < STACK_WORDS; i++)
		stack[i] = random_below(1000000);
	at++;
	for (unsigned i = 0; i < path->len; i++) {
		stack[at] = return_address(path->call[i]);
		at += frame_words(path->call[i]);
	}
	current = path;
}

/* The frames that tell a place: up to the first outside the library. */
static unsigned frames_of(const struct path *path)
{
	unsigned i = 0;

	while (i < path->len && path->call[i] / CALLS < LIBRARY)
		i++;
	assert_true(i < path->len);
	return i + 1;
}

/* The result of a stack walk: which calls the nearest `frames` are at. */
static uint64_t walk(const struct path *path, unsigned frames)
{
	uint64_t h = 1;

	for (unsigned i = 0; i < path->len && i < frames; i++)
		h = lc_hash_add(h, path->call[i]);
	return h;
}

/* The JVM's frames are the model's. */
struct lc_frame_words
lc_frames_words(const struct lc_native_frame *at, uint64_t end, unsigned frames_max,
                unsigned words_max, uint64_t *value, /* NOLINT(readability-non-const-parameter) */
                uint16_t *offset)                    /* NOLINT(readability-non-const-parameter) */
{
	struct lc_frame_words w = { 0 };
	unsigned word = 1;

	assert_true(at->frame == frame);
	for (unsigned i = 0; i < current->len && i < frames_max; i++) {
		if (w.len == words_max)
			return w;
		value[w.len] = ((const uint64_t *)(uintptr_t)frame)[word]; /* NOLINT */
		offset[w.len++] = (uint16_t)word;
		word += frame_words(current->call[i]);
		w.frames++;
	}
	w.whole = w.complete = true;
	return w;
}

static bool same_answer(const struct lc_place *a, const struct lc_place *b)
{
	return ((const struct entry *)a)->answer == ((const struct entry *)b)->answer;
}

static struct entry *find(const struct lc_places *p, const struct lc_place_kind *kind, uint64_t key)
{
	return (struct entry *)lc_places_find(p, kind, frame, key, stack_end());
}

static struct entry *learn(struct lc_places *p, const struct lc_place_kind *kind, uint64_t key)
{
	const unsigned frames = frames_of(current);
	const struct lc_native_frame at = { .frame = frame };
	struct entry new = { .place = { .frame = kind->any_depth ? 0 : frame, .key = key },
		             .answer = walk(current, frames) };

	assert_true(lc_words_find(&new.place.words, walker, &at, frames));
	return (struct entry *)lc_places_keep(p, &new.place);
}

static void make_paths(struct path *paths)
{
	for (unsigned i = 0; i < PATHS; i++) {
		/* Most differ from another one in a single frame, near or far. */
		const bool copy = i && random_below(4);

		if (copy)
			paths[i] = paths[random_below(i)];
		else
			paths[i] = (struct path){ .len = 1 + random_below(PATH_MAX_FRAMES) };
		for (unsigned f = 0; !copy && f < paths[i].len; f++)
			paths[i].call[f] =
			    (uint16_t)random_below((f < 25 && i % 3 ? LIBRARY : FUNCTIONS) * CALLS);
		paths[i].call[random_below(paths[i].len)] =
		    (uint16_t)random_below(FUNCTIONS * CALLS);
		/* The outermost frame is the program's: each walk finds one. */
		paths[i].call[paths[i].len - 1] =
		    (uint16_t)((LIBRARY + random_below(FUNCTIONS - LIBRARY)) * CALLS);
		paths[i].key = 1 + random_below(KEYS);
	}
}

/* Some paths far more often than others, as in programs. */
static const struct path *any_path(const struct path *paths)
{
	return &paths[random_below(1 + random_below(PATHS))];
}

static void model(const struct lc_place_kind *kind, uint64_t seed)
{
	static struct path paths[PATHS];
	struct lc_places p;
	unsigned known = 0, other_code = 0;

	random_state = seed;
	make_paths(paths);
	lc_places_init(&p, kind, kind->far ? NULL : same_answer);
	for (unsigned step = 0; step < STEPS; step++) {
		struct entry *x;

		if (!random_below(STEPS / 4)) {
			lc_generated_freed();
			code_moved++;
			other_code++;
		}
		lay_out(any_path(paths));
		x = find(&p, kind, current->key);
		known += x != NULL;
		if (!x) {
			assert_non_null(learn(&p, kind, current->key));
			x = find(&p, kind, current->key);
		}
		assert_non_null(x);
		assert_true(x->answer == walk(current, frames_of(current)));
	}
	assert_true(known > STEPS * 9 / 10);
	assert_true(other_code > 0);
	lc_places_free(&p);
}

static void what_is_recognised_among_far_places_is_what_a_walk_finds(void **state)
{
	for (uint64_t seed = 1; seed <= 4; seed++)
		model(&with_far, seed);
}

static void what_is_recognised_at_any_depth_is_what_a_walk_finds(void **state)
{
	for (uint64_t seed = 1; seed <= 4; seed++)
		model(&any_depth, seed);
}

/* A path of three frames of one size each: places that differ in words alone. */
static const struct path *variant(unsigned i)
{
	static struct path path;

	path = (struct path){ .len = 3, .key = 9 };
	path.call[0] = (uint16_t)(i % 2);
	path.call[1] = (uint16_t)(5 * CALLS + i / 2 % CALLS);
	path.call[2] = (uint16_t)(LIBRARY * CALLS + i / (2 * CALLS) % CALLS);
	return &path;
}

enum { VARIANTS = 2 * CALLS * CALLS };

static unsigned known_variants(const struct lc_places *p, const struct lc_place_kind *kind)
{
	unsigned known = 0;

	for (unsigned i = 0; i < VARIANTS; i++) {
		const struct entry *x;

		lay_out(variant(i));
		x = find(p, kind, 9);
		known += x != NULL;
		assert_true(!x || x->answer == walk(current, frames_of(current)));
	}
	return known;
}

/* Ask for each of them once, as a hook does. Returns how many were not known and so were learnt. */
static unsigned learn_variants(struct lc_places *p, const struct lc_place_kind *kind)
{
	unsigned learnt = 0;

	for (unsigned i = 0; i < VARIANTS; i++) {
		lay_out(variant(i));
		if (find(p, kind, 9))
			continue;
		assert_non_null(learn(p, kind, 9));
		learnt++;
	}
	return learnt;
}

/*
 * Ask until all of them are known. A table grows once places have pushed each other out half as
 * often as it has entries. If few places meet, this takes many rounds, and in the larger table
 * places may meet again.
 */
static void learn_all_variants(struct lc_places *p, const struct lc_place_kind *kind)
{
	unsigned rounds = 0;

	while (learn_variants(p, kind))
		assert_true(++rounds < 1000);
	assert_int_equal(known_variants(p, kind), VARIANTS);
}

static void any_number_of_places_with_one_frame_and_key_are_known_by_their_words(void **state)
{
	for (unsigned n = 0; n < STACKS; n++) {
		struct lc_places near, far;

		move_stack(n);
		lc_places_init(&near, &few_ways, same_answer);
		lc_places_init(&far, &with_far, NULL);
		for (unsigned round = 0; round < 20; round++)
			learn_variants(&near, &few_ways);
		learn_all_variants(&far, &with_far);
		assert_int_equal(known_variants(&near, &few_ways), 4); /* its ways */
		lc_places_free(&near);
		lc_places_free(&far);
	}
}

static void a_place_pushes_out_the_one_that_means_the_same(void **state)
{
	struct lc_places p;
	struct entry *x;

	lc_places_init(&p, &few_ways, same_answer);
	for (unsigned i = 0; i < 4; i++) {
		lay_out(variant(i));
		assert_non_null(learn(&p, &few_ways, 9));
	}
	/* The second one's method was compiled again: other words, and the walk finds the same. */
	lay_out(variant(1));
	((uint64_t *)(uintptr_t)frame)[1] = CODE_HIGH - 16; /* NOLINT */
	x = learn(&p, &few_ways, 9);
	assert_non_null(x);
	assert_ptr_equal(find(&p, &few_ways, 9), x);
	assert_int_equal(known_variants(&p, &few_ways), 3);
	lay_out(variant(1));
	assert_null(find(&p, &few_ways, 9));
	lc_places_free(&p);
}

static void a_place_is_recognised_at_another_depth_if_its_kind_says_so(void **state)
{
	struct path shallow = { .len = 4, .call = { 1, 2, LIBRARY * CALLS, 7 }, .key = 9 };
	struct path deep = shallow;
	struct lc_places here, anywhere;

	deep.len = 20;
	for (unsigned i = 4; i < deep.len; i++)
		deep.call[i] = 3;
	lc_places_init(&here, &with_far, NULL);
	lc_places_init(&anywhere, &any_depth, same_answer);
	lay_out(&shallow);
	assert_non_null(learn(&here, &with_far, 9));
	assert_non_null(learn(&anywhere, &any_depth, 9));
	lay_out(&deep);
	assert_null(find(&here, &with_far, 9));
	assert_non_null(find(&anywhere, &any_depth, 9));
	deep.call[1] = 3;
	lay_out(&deep);
	assert_null(find(&anywhere, &any_depth, 9));
	lc_places_free(&here);
	lc_places_free(&anywhere);
}

static struct lc_place *find_again(struct lc_places *p, const struct path *path)
{
	lay_out(path);
	return lc_places_find_again(p, &any_depth, frame, path->key, stack_end());
}

/* Without the table, the places that were found last are all that is known. */
static void two_places_in_turn_are_found_without_a_search_whatever_their_keys_are(void **state)
{
	struct path to = { .len = 3, .call = { 1, 2, LIBRARY * CALLS }, .key = 9 }, fro = to;
	struct lc_places p, blind;
	struct lc_place *a, *b;

	fro.call[0] = 3;
	do
		fro.key++;
	while ((lc_place_hash(0, to.key) ^ lc_place_hash(0, fro.key)) % LC_PLACES_LAST);
	lc_places_init(&p, &any_depth, same_answer);
	lc_places_init(&blind, &any_depth, same_answer);
	lay_out(&to);
	assert_non_null(learn(&p, &any_depth, to.key));
	lay_out(&fro);
	assert_non_null(learn(&p, &any_depth, fro.key));
	a = find_again(&p, &to);
	b = find_again(&p, &fro);
	assert_true(a && b && a != b);
	memcpy(blind.last, p.last, sizeof(p.last));
	for (unsigned i = 0; i < 3; i++) {
		assert_ptr_equal(find_again(&blind, &to), a);
		assert_ptr_equal(find_again(&blind, &fro), b);
	}
	lc_places_free(&p);
}

static void the_end_of_the_stack_is_not_read_at_any_depth(void **state)
{
	struct path path = { .len = 30, .key = 9 };
	uint64_t *near_end = __real_malloc(4 * sizeof(*near_end));
	struct lc_places p;

	assert_non_null(near_end);
	for (unsigned i = 0; i < 4; i++)
		near_end[i] = i;
	for (unsigned i = 0; i < path.len; i++)
		path.call[i] = 1;
	path.call[29] = LIBRARY * CALLS;
	lc_places_init(&p, &any_depth, same_answer);
	lay_out(&path);
	assert_non_null(learn(&p, &any_depth, 9));
	assert_non_null(find(&p, &any_depth, 9));
	assert_null(lc_places_find(&p, &any_depth, frame, 9, frame + 58 * 8));
	assert_null(lc_places_find(&p, &any_depth, frame, 9, frame + 59 * 8));
	assert_non_null(lc_places_find(&p, &any_depth, frame, 9, frame + 60 * 8));
	assert_null(lc_places_find(&p, &any_depth, (uint64_t)(uintptr_t)near_end, 9,
	                           (uint64_t)(uintptr_t)(near_end + 4)));
	free(near_end);
	lc_places_free(&p);
}

/* Grow a table until none of the variants pushes another one out when they are learnt in order. */
static void make_room_for_variants(struct lc_places *p)
{
	unsigned rounds = 0;
	uint32_t evictions;

	do {
		assert_true(++rounds < 1000);
		learn_all_variants(p, &with_far);
		lc_generated_freed();
		evictions = p->evictions;
		learn_variants(p, &with_far);
	} while (p->evictions != evictions);
	assert_int_equal(known_variants(p, &with_far), VARIANTS);
}

static void freed_code_makes_every_place_new_and_its_room_free(void **state)
{
	for (unsigned n = 0; n < STACKS; n++) {
		struct lc_places p;
		uint32_t mask, evictions;

		move_stack(n);
		lc_places_init(&p, &with_far, NULL);
		make_room_for_variants(&p);
		mask = p.mask;
		evictions = p.evictions;
		for (unsigned round = 0; round < 50; round++) {
			lc_generated_freed();
			assert_int_equal(known_variants(&p, &with_far), 0);
			lay_out(variant(0));
			assert_non_null(learn(&p, &with_far, 9));
			assert_int_equal(known_variants(&p, &with_far), 1);
			assert_int_equal(learn_variants(&p, &with_far), VARIANTS - 1);
			assert_int_equal(known_variants(&p, &with_far), VARIANTS);
		}
		assert_int_equal(p.mask, mask);
		assert_int_equal(p.evictions, evictions);
		lc_places_free(&p);
	}
}

static void keep_many(const struct lc_place_kind *kind, uint64_t many, bool all)
{
	struct lc_places p;
	uint64_t known = 0;

	lc_places_init(&p, kind, kind->far ? NULL : same_answer);
	lay_out(variant(0));
	assert_null(find(&p, kind, 9));
	for (unsigned round = 0; round < 2; round++)
		for (uint64_t key = 1; key <= many; key++) {
			const struct entry *x = find(&p, kind, key);

			x = x ? x : learn(&p, kind, key);
			assert_ptr_equal(find(&p, kind, key), x);
		}
	for (uint64_t key = 1; key <= many; key++)
		known += find(&p, kind, key) != NULL;
	assert_true(!all || known > many * 9 / 10);
	assert_true(known <= (uint64_t)(p.mask + 1) * (kind->far ? 2 : 1));
	assert_int_equal(p.mask + 1, all ? p.mask + 1 : 4096);
	lc_places_free(&p);
}

static void the_table_grows_until_all_places_are_known_but_not_without_end(void **state)
{
	keep_many(&few_ways, 1000, true);
	keep_many(&with_far, 1000, true);
	keep_many(&any_depth, 1000, true);
	keep_many(&few_ways, 20000, false);
	keep_many(&with_far, 20000, false);
	keep_many(&any_depth, 20000, false);
}

static void without_memory_nothing_is_kept_and_the_old_table_still_serves(void **state)
{
	struct lc_places p;
	unsigned known = 0;

	lc_places_init(&p, &few_ways, same_answer);
	lay_out(variant(0));
	no_memory = true;
	assert_null(learn(&p, &few_ways, 1));
	assert_null(find(&p, &few_ways, 1));
	no_memory = false;
	assert_non_null(learn(&p, &few_ways, 1));
	no_memory = true;
	for (uint64_t key = 2; key < 200; key++)
		assert_non_null(learn(&p, &few_ways, key));
	assert_int_equal(p.mask + 1, 16);
	for (uint64_t key = 1; key < 200; key++)
		known += find(&p, &few_ways, key) != NULL;
	assert_int_equal(known, 16);
	no_memory = false;
	lc_places_free(&p);
}

static void words_beyond_the_nearest_need_memory_and_tell_places_apart(void **state)
{
	struct path path = { .len = 50, .key = 9 };
	const struct lc_native_frame *at;
	struct lc_words words;
	struct lc_places p;

	for (unsigned i = 0; i < path.len; i++)
		path.call[i] = 1;
	path.call[49] = LIBRARY * CALLS;
	lc_places_init(&p, &with_far, NULL);
	lay_out(&path);
	at = &(struct lc_native_frame){ .frame = frame };
	assert_true(lc_words_find(&words, walker, at, 50));
	assert_int_equal(words.len, LC_WORDS_MAX);
	assert_int_equal(words.more->len, 50 - LC_WORDS_MAX);
	assert_int_equal(words.reach, 1 + 49 * 2);
	free(words.more);
	no_memory = true;
	assert_false(lc_words_find(&words, walker, at, 50));
	no_memory = false;
	assert_int_equal(words.len, 0);
	assert_null(words.more);
	assert_non_null(learn(&p, &with_far, 9));
	path.call[48] = 2;
	lay_out(&path);
	assert_null(find(&p, &with_far, 9));
	path.call[48] = 1;
	lay_out(&path);
	assert_non_null(find(&p, &with_far, 9));
	lc_places_free(&p);
}

static int setup(void **state)
{
	no_memory = false;
	random_state = 1;
	code_moved = 0;
	move_stack(0);
	return lc_walker_create(&walker);
}

static int teardown(void **state)
{
	lc_walker_destroy(walker);
	return 0;
}

/* The address is free: programs lie far above, with the sanitizers too. */
static int map_stacks(void **state)
{
	void *const address = (void *)(uintptr_t)0x10000000; /* NOLINT */

	stacks =
	    mmap(address, (STACK_WORDS + STACKS * STACK_STEP) * sizeof(*stacks),
	         PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	return stacks == address ? 0 : -1;
}

static int unmap_stacks(void **state)
{
	return munmap(stacks, (STACK_WORDS + STACKS * STACK_STEP) * sizeof(*stacks));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_recognised_among_far_places_is_what_a_walk_finds),
		TEST(what_is_recognised_at_any_depth_is_what_a_walk_finds),
		TEST(any_number_of_places_with_one_frame_and_key_are_known_by_their_words),
		TEST(a_place_pushes_out_the_one_that_means_the_same),
		TEST(a_place_is_recognised_at_another_depth_if_its_kind_says_so),
		TEST(two_places_in_turn_are_found_without_a_search_whatever_their_keys_are),
		TEST(the_end_of_the_stack_is_not_read_at_any_depth),
		TEST(freed_code_makes_every_place_new_and_its_room_free),
		TEST(the_table_grows_until_all_places_are_known_but_not_without_end),
		TEST(without_memory_nothing_is_kept_and_the_old_table_still_serves),
		TEST(words_beyond_the_nearest_need_memory_and_tell_places_apart),
	};

	return cmocka_run_group_tests(tests, map_stacks, unmap_stacks);
}
