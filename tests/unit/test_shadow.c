/* uses: src/core/memory.c src/core/epoch.c src/stack/walk_credit.c src/core/own_cost.c src/stack/shadow.c src/stack/call_tree.c src/stack/common_tree.c src/core/recursion.c src/stack/generated.c src/base/slab.c src/jvm/stack/walk_proof.c src/jvm/os/guard.c src/jvm/os/peek.c src/core/version.c src/core/method_number.c src/core/jvmti.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_shadow.c - checks that the walks of a shadow find the frames that are on the stack.
 *
 * A stack is built of compiled frames of all sizes, interpreted ones, and calls by the JVM; it
 * grows and shrinks at random, and what a walk finds is compared with what was put there. The file
 * is longer than 600 lines: all cases share the model of that stack.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/hash.h"
#include "src/core/memory.h"
#include "src/core/own.h"
#include "src/core/path.h"
#include "src/core/record.h"
#include "src/core/recursion.h"
#include "src/jvm/code/blob.h"
#include "src/jvm/code/code_frames.h"
#include "src/jvm/stack/frame_step.h"
#include "src/jvm/stack/frames.h"
#include "src/jvm/stack/walk_proof.h"
#include "src/stack/common_tree.h"
#include "src/stack/generated.h"
#include "src/stack/shadow.h"
#include "src/stack/walk_credit.h"

#define COMPILED(n) (UINT64_C(0x1000) + (n))
#define INTERPRETED UINT64_C(0x2000)
#define ENTRY UINT64_C(0x3000)
#define UNKNOWN UINT64_C(0x4000)
#define DEOPT(n) (UINT64_C(0x6000) + (n)) /* to which a frame returns whose code was given up */
#define STUB UINT64_C(0x5000)             /* through which compiled code calls the JVM */

enum {
	WORDS = 1 << 14,
	METHODS = 24, /* compiled; method n has n + 2 words of frame, and n % 3 + 1 Java frames */
	BYTECODES = 8,
	DEPTH_MAX = 300,
	JAVA_MAX = DEPTH_MAX * 3,
	ENTRY_WORDS = 8,
	INTERPRETED_WORDS = 14,
	STUB_WORDS = 7,
};

/* The JVM's answer about the code. */
static struct lc_code_frames *compiled[METHODS], *interpreted[BYTECODES];

static struct lc_code_frames *code(uint64_t key, uint64_t blob, int words, uint32_t len,
                                   uint64_t first)
{
	struct lc_code_frames *c = calloc(1, sizeof(*c) + len * sizeof(c->frames[0]));

	assert_non_null(c);
	c->key = key;
	c->blob = blob;
	c->frame_words = words;
	c->len = len;
	for (uint32_t i = 0; i < len; i++)
		c->frames[i] = first + i;
	return c;
}

/* Two bytecodes are of one method, and two methods have one bytecode each. */
static uint64_t method_of(uint64_t bytecode)
{
	return 100 + bytecode / 2;
}

const struct lc_code_frames *lc_code_frames_compiled(uint64_t pc)
{
	return pc >= COMPILED(0) && pc < COMPILED(METHODS) ? compiled[pc - COMPILED(0)] : NULL;
}

const struct lc_code_frames *lc_code_frames_interpreted(uint64_t method, uint64_t bcp)
{
	return bcp < BYTECODES && method == method_of(bcp) ? interpreted[bcp] : NULL;
}

bool lc_frames_interpreted(uint64_t pc)
{
	return pc == INTERPRETED;
}

bool lc_frames_entry(uint64_t pc)
{
	return pc == ENTRY;
}

/* The wrapper's words stand below the stub's rbp here. */
bool lc_frames_entry_frame(uint64_t rbp, uint64_t low, uint64_t high, struct lc_entry_frame *out)
{
	*out = (struct lc_entry_frame){ rbp - 8, rbp - 16, rbp - 24, rbp - 32 };
	return out->rbp_at > low && rbp <= high;
}

bool lc_blob_find(uint64_t pc, struct lc_blob *out)
{
	const uint64_t n = pc - DEOPT(0);

	*out = (struct lc_blob){ .kind = LC_BLOB_OTHER, .frame_words = STUB_WORDS };
	if (n < METHODS)
		*out = (struct lc_blob){ .at = compiled[n]->blob,
			                 .kind = LC_BLOB_METHOD,
			                 .frame_words = (int)n + 2 };
	return pc == STUB || n < METHODS;
}

/* It is the lowest word of the frame. */
uint64_t lc_blob_original_pc_at(const struct lc_blob *blob, uint64_t pc, uint64_t sp)
{
	return blob->kind == LC_BLOB_METHOD && pc - DEOPT(0) < METHODS ? sp : 0;
}

static uint64_t stack[WORDS];

static struct lc_walk_credit credit;
static uint32_t root; /* for lc_shadow_set_root() */

/* No method is the agent's own. */
size_t lc_own_frames(const uint64_t *frames, size_t len)
{
	return 0;
}

static uint64_t address(unsigned word)
{
	return (uint64_t)(uintptr_t)&stack[word];
}

/* A frame of the model, outermost first. */
struct model_frame {
	enum { IS_COMPILED, IS_INTERPRETED, IS_ENTRY } kind;
	unsigned n; /* of the method or the bytecode */
	unsigned words;
	unsigned first;  /* its lowest word */
	unsigned sender; /* its caller's lowest word */
};

static struct model {
	struct model_frame frames[DEPTH_MAX];
	unsigned depth;
	unsigned low; /* lowest word in use */
	uint64_t rbp; /* of the innermost frame */
	uint64_t pc;  /* where it goes on */
	uint64_t random;
} m;

static unsigned any(unsigned below)
{
	m.random++;
	return (unsigned)(lc_hash_add(lc_hash(m.random), 1) >> 33) % below;
}

/* A word below the rbp that was pushed last. */
static uint64_t *word(int offset)
{
	return &stack[m.low] + offset;
}

/*
 * Put a frame on the stack. Its return address and the rbp of its caller are its upper words, as
 * calls push them.
 */
static void call(unsigned kind, unsigned n)
{
	const unsigned words = kind == IS_COMPILED      ? n + 2
	                       : kind == IS_INTERPRETED ? INTERPRETED_WORDS + any(4)
	                                                : ENTRY_WORDS;
	const unsigned sender = m.low;
	struct model_frame *f = &m.frames[m.depth++];

	/* Compiled code hands over arguments in registers, which are put on the stack then. */
	m.low -= kind == IS_INTERPRETED ? any(4) : 0;
	stack[--m.low] = m.pc;
	stack[--m.low] = m.rbp;
	*f = (struct model_frame){ kind, n, words, m.low + 2 - words, sender };
	switch (f->kind) {
	case IS_COMPILED:
		/* A compiler may use rbp for what it likes. */
		m.rbp = any(2) ? m.rbp : any(1000);
		m.pc = COMPILED(n);
		break;
	case IS_INTERPRETED:
		m.rbp = address(m.low);
		*word(LC_INTERPRETED_SENDER_SP) = address(sender);
		*word(LC_INTERPRETED_METHOD) = method_of(n);
		*word(LC_INTERPRETED_BYTECODE) = n;
		m.pc = INTERPRETED;
		break;
	default:
		/* The thread's last place in Java code: the caller, if there is one. */
		stack[m.low - 1] = 77; /* the wrapper */
		stack[m.low - 2] = m.depth > 1 ? address(sender) : 0;
		stack[m.low - 3] = m.depth > 1 ? m.pc : 0;
		stack[m.low - 4] = m.rbp;
		m.rbp = address(m.low);
		m.pc = ENTRY;
	}
	m.low = f->first;
}

static void leave(void)
{
	const struct model_frame f = m.frames[--m.depth];
	const unsigned saved = f.first + f.words - 2;

	m.rbp = stack[saved];
	m.pc = stack[saved + 1];
	m.low = f.sender;
	if (m.pc - DEOPT(0) < METHODS)
		m.pc = COMPILED(m.pc - DEOPT(0));
}

/* Give up the code of a frame that waits for its callee, if that is compiled and has room. */
static void deoptimize(unsigned i)
{
	const struct model_frame *f = &m.frames[i], *callee = f + 1;
	uint64_t *pc = &stack[callee->first + callee->words - 1];

	if (f->kind != IS_COMPILED || !f->n || callee->kind == IS_ENTRY || *pc != COMPILED(f->n))
		return;
	stack[f->first] = *pc;
	*pc = DEOPT(f->n);
}

/* The Java frames that are there, innermost first. */
static size_t expected(uint64_t *frames)
{
	size_t len = 0;

	for (unsigned i = m.depth; i--;) {
		const struct model_frame *f = &m.frames[i];
		const struct lc_code_frames *c = f->kind == IS_COMPILED      ? compiled[f->n]
		                                 : f->kind == IS_INTERPRETED ? interpreted[f->n]
		                                                             : NULL;

		for (uint32_t j = 0; c && j < c->len; j++)
			frames[len++] = c->frames[j];
	}
	return len;
}

/* A native method is called: its own frame, with the JVM's around it. */
static struct lc_native_frame hook(void)
{
	stack[m.low - 1] = m.pc;
	stack[m.low - 2] = m.rbp;
	stack[m.low - 6] = address(m.low - 2);
	stack[m.low - 5] = 0;
	return lc_frame_native(&stack[m.low - 6]);
}

static uint32_t walk(struct lc_shadow *s)
{
	const struct lc_native_frame at = hook();

	return lc_shadow_walk(s, &at, address(WORDS));
}

/* A number for what is on the stack. */
static uint64_t number(const uint64_t *frames, size_t len)
{
	uint64_t h = 1;

	for (size_t i = 0; i < len; i++)
		h = lc_hash_add(h, frames[i]);
	return h | 1;
}

static void check(struct lc_shadow *s)
{
	uint64_t want[JAVA_MAX], got[JAVA_MAX], *note;
	const size_t len = expected(want);
	const struct lc_native_frame at = hook();
	const uint64_t mine = number(want, len) + root, key = 5,
	               again = lc_shadow_again(lc_shadow_last(s), at.frame, key);
	uint32_t node;

	assert_true(!again || again == mine);
	if (again && any(4))
		return;
	node = walk(s);
	assert_int_not_equal(node, 0);
	assert_int_equal(lc_shadow_frames(s, node, got, JAVA_MAX), len);
	assert_memory_equal(got, want, len * sizeof(want[0]));
	note = lc_shadow_note(s, node, key);
	assert_non_null(note);
	assert_true(!*note || *note == mine);
	*note = mine;
	lc_shadow_remember(s, at.frame, key, mine);
	lc_shadow_remember(s, at.frame, key, mine); /* once is not enough */
	assert_int_equal(lc_shadow_again(lc_shadow_last(s), at.frame, key), mine);
	assert_int_equal(lc_shadow_again(lc_shadow_last(s), at.frame, key + 1), 0);
}

/* The thread has left Java code for the JVM: by a stub, or at once. */
static struct lc_last_java leave_java(bool by_stub)
{
	if (!by_stub) {
		stack[m.low - 1] = any(2) ? m.pc : COMPILED(any(METHODS));
		return (struct lc_last_java){ address(m.low), m.pc, m.rbp };
	}
	stack[m.low - 1] = m.pc;
	stack[m.low - 2] = m.rbp;
	return (struct lc_last_java){ address(m.low - STUB_WORDS), STUB, any(1000) };
}

static void check_last(struct lc_shadow *s)
{
	uint64_t want[JAVA_MAX], got[JAVA_MAX];
	const size_t len = expected(want);
	const bool by_stub = m.frames[m.depth - 1].kind == IS_COMPILED && any(2);
	const struct lc_last_java at = leave_java(by_stub);
	const uint32_t node = lc_shadow_walk_last(s, &at, at.sp - 64, address(WORDS));

	assert_int_not_equal(node, 0);
	assert_int_equal(lc_shadow_frames(s, node, got, JAVA_MAX), len);
	assert_memory_equal(got, want, len * sizeof(want[0]));
}

static void call_any(void)
{
	const unsigned kind = any(8);

	if (kind == 0)
		call(IS_ENTRY, 0);
	else if (kind < 3)
		call(IS_INTERPRETED, any(BYTECODES));
	else
		call(IS_COMPILED, any(METHODS));
}

/* Some frames go, and others come. */
static void move_on(void)
{
	unsigned n = any(4);

	for (; n && m.depth > 1; n--)
		leave();
	for (n = any(4); n && m.depth < DEPTH_MAX / 4; n--)
		call_any();
}

static void frames_are_those_of_the_stack(void **state)
{
	for (unsigned step = 0; step < 200000; step++) {
		move_on();
		if (m.depth > 2 && !any(4))
			deoptimize(any(m.depth - 1));
		/* The JVM does not call native methods. */
		if (m.frames[m.depth - 1].kind != IS_ENTRY)
			check(*state);
	}
}

/* The thread does something else now and then: the same frames are other nodes. */
static void roots_tell_the_same_frames_apart(void **state)
{
	for (unsigned step = 0; step < 200000; step++) {
		if (any(2))
			move_on();
		root = any(3) ? root : any(3) * 1000;
		lc_shadow_set_root(*state, root);
		if (m.frames[m.depth - 1].kind != IS_ENTRY)
			check(*state);
	}
}

/* Without room for nodes the common tree tells paths apart, and the thread's own again later. */
static void paths_without_room_are_told_apart_in_the_common_tree(void **state)
{
	uint64_t want[JAVA_MAX];
	unsigned own = 0, beyond = 0, again = 0;

	lc_memory_limit(0);
	for (unsigned step = 0; step < 60000; step++) {
		struct lc_common_walk w = { .key = 5 };
		uint64_t note, *own_note;
		uint32_t node;
		size_t len;

		if (step == 40000)
			lc_memory_limit(64 << 20); /* the common tree has a share as well */
		move_on();
		if (m.frames[m.depth - 1].kind == IS_ENTRY)
			continue;
		len = expected(want);
		node = walk(*state);
		w.len = lc_shadow_beyond(*state, &w.frames);
		assert_true(node ? !w.len : w.len > 0);
		if (node) {
			own++;
			own_note = lc_shadow_note(*state, node, 5);
			if (!own_note)
				continue; /* no room for the note either */
			assert_true(!*own_note || *own_note == number(want, len));
			*own_note = number(want, len);
			continue;
		}
		beyond++;
		note = lc_common_tree_note(&w);
		assert_true(!note || note == number(want, len));
		again += note != 0;
		lc_common_tree_set(&w, number(want, len));
	}
	assert_true(own > 1000 && beyond > 1000);
	assert_true(again > 0);
	lc_memory_limit(UINT64_MAX);
}

/* The frames as core/recursion.h folds them; innermost first, as they came. Returns how many. */
static size_t fold(uint64_t *frames, size_t len)
{
	uint64_t out[JAVA_MAX];
	uint32_t n = 0;

	for (size_t i = len; i--;) {
		const uint32_t cycle = lc_recursion_cycle(out, n, frames[i]);

		if (cycle)
			n -= cycle - 1;
		else
			out[n++] = frames[i];
	}
	for (uint32_t i = 0; i < n; i++)
		frames[i] = out[n - 1 - i];
	return n;
}

/* Few methods, so that cycles of all lengths come about; many stacks share a node then. */
static void recursion_is_folded_as_paths_fold_it(void **state)
{
	uint64_t want[JAVA_MAX], got[JAVA_MAX], *note;
	size_t folded = 0, twice = 0;

	lc_recursion_fold(true);
	for (unsigned step = 0; step < 100000; step++) {
		size_t len, got_len;
		uint32_t node;

		for (unsigned n = any(4); n && m.depth > 1; n--)
			leave();
		for (unsigned n = any(5); n && m.depth < 60; n--)
			call(any(8) ? IS_COMPILED : IS_INTERPRETED, any(2));
		if (m.frames[m.depth - 1].kind == IS_ENTRY)
			continue;
		len = expected(want);
		node = walk(*state);
		assert_int_not_equal(node, 0);
		got_len = lc_shadow_frames(*state, node, got, JAVA_MAX);
		note = lc_shadow_note(*state, node, 5);
		/* A cycle that was folded is there twice: folded again, it is the path. */
		twice += got_len;
		got_len = fold(got, got_len);
		twice -= got_len;
		folded += len;
		len = fold(want, len);
		folded -= len;
		assert_int_equal(got_len, len);
		assert_memory_equal(got, want, len * sizeof(want[0]));
		assert_true(!*note || *note == number(want, len));
		*note = number(want, len);
	}
	assert_true(folded > 1000 && twice > 1000);
	lc_recursion_fold(false);
}

static void frames_are_found_from_where_java_code_was_left(void **state)
{
	for (unsigned step = 0; step < 200000; step++) {
		move_on();
		if (m.frames[m.depth - 1].kind == IS_ENTRY)
			continue;
		if (any(2))
			check(*state);
		else
			check_last(*state);
	}
}

static void stub_that_is_too_large_is_not_left(void **state)
{
	struct lc_last_java at;

	call(IS_COMPILED, 3);
	at = leave_java(true);
	assert_int_equal(lc_shadow_walk_last(*state, &at, at.sp - 64, at.sp + 8), 0);
	check_last(*state);
}

static void deep_recursion_is_walked(void **state)
{
	for (unsigned round = 0; round < 20; round++) {
		while (m.depth < DEPTH_MAX) {
			call(IS_COMPILED, m.depth % 3);
			check(*state);
		}
		while (m.depth > 1 + round) {
			check(*state);
			leave();
		}
	}
}

static void places_alternate_without_a_walk(void **state)
{
	uint64_t frame;

	for (unsigned i = 0; i < 5; i++)
		call(IS_COMPILED, i);
	for (unsigned round = 0; round < 2; round++)
		for (unsigned method = 5; method < 8; method++) {
			call(IS_COMPILED, method);
			frame = hook().frame;
			assert_int_equal(lc_shadow_again(lc_shadow_last(*state), frame, 5) != 0,
			                 round);
			check(*state);
			leave();
		}
}

/* The two callers' frames take the same room, so the hook's frame is the same. */
static void callers_alternate_without_a_walk(void **state)
{
	for (unsigned inner = 0; inner <= 8; inner += 8)
		for (unsigned round = 0; round < 6; round++) {
			call(IS_COMPILED, round % 2 ? 3 : 5);
			call(IS_COMPILED, round % 2 ? 5 : 3);
			for (unsigned i = 0; i < inner; i++)
				call(IS_COMPILED, 4);
			call(IS_COMPILED, 7);
			assert_int_equal(lc_shadow_again(lc_shadow_last(*state), hook().frame, 5) !=
			                     0,
			                 round >= 2);
			if (round < 2)
				check(*state);
			while (m.depth > 1)
				leave();
		}
}

static void a_callee_that_differs_far_out_is_another_place(void **state)
{
	for (unsigned way = 0; way < 2; way++) {
		call(IS_INTERPRETED, way);
		for (unsigned i = 0; i < 30; i++)
			call(IS_COMPILED, 3);
		assert_int_equal(lc_shadow_again(lc_shadow_last(*state), hook().frame, 5), 0);
		check(*state);
		while (m.depth > 1)
			leave();
	}
}

static bool is_cut(uint64_t frame)
{
	return (frame & LC_ADDR_MASK) == LC_PATH_CUT && frame >> LC_ADDR_BITS == LC_BCI_NONE;
}

/* The path has the frames of the compiled method `n`, and then those that are cut. */
static uint32_t check_open(struct lc_shadow *s, unsigned n)
{
	const uint32_t node = walk(s);
	uint64_t got[JAVA_MAX];
	size_t len;

	assert_int_not_equal(node, 0);
	assert_true(lc_shadow_open(s));
	len = lc_shadow_frames(s, node, got, JAVA_MAX);
	assert_true(len > compiled[n]->len && is_cut(got[len - 1]));
	assert_memory_equal(got, compiled[n]->frames, compiled[n]->len * sizeof(got[0]));
	return node;
}

/* Frames that an unknown one has called are found once, as others are. */
static void recursion_behind_unknown_code_is_walked_frame_by_frame(void **state)
{
	enum { FRAMES = 250 };

	m.pc = UNKNOWN;
	for (unsigned i = 0; i < FRAMES; i++) {
		call(IS_COMPILED, 3);
		check_open(*state, 3);
	}
	assert_true(lc_shadow_looked(*state) <= 2 * FRAMES + 1);
	while (m.depth > 1)
		leave();
	m.pc = ENTRY;
	call(IS_COMPILED, 3);
	check(*state);
	assert_false(lc_shadow_open(*state));
}

/* Whatever the depth, an event looks at the frames that are new. */
static void recursion_is_walked_frame_by_frame(void **state)
{
	enum { ROUNDS = 20 };
	unsigned called = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		while (m.depth < DEPTH_MAX) {
			call(IS_INTERPRETED, m.depth % BYTECODES);
			called++;
			assert_int_not_equal(walk(*state), 0);
			lc_shadow_stand(*state);
		}
		check(*state);
		while (m.depth > 1 + round)
			leave();
	}
	assert_true(lc_shadow_looked(*state) <= 2 * called + ROUNDS);
}

/* All credit is spent. */
static void spend(void)
{
	lc_walk_credit_limit(1);
	while (lc_walk_credit_left(&credit))
		lc_walk_credit_pay(&credit, LC_WALK_JVM, LC_WALK_SLICE_NS);
}

static void a_long_walk_without_credit_is_cut_until_there_is_credit(void **state)
{
	uint64_t looked;

	for (unsigned i = 0; i < 200; i++)
		call(IS_COMPILED, 4);
	call(IS_COMPILED, 5);
	spend();
	check_open(*state, 5);
	assert_false(lc_shadow_unknown(*state));
	looked = lc_shadow_looked(*state);
	assert_true(looked <= 32);
	/* The known part of a path that was cut serves the next walk. */
	for (unsigned i = 0; i < 50; i++) {
		call(IS_COMPILED, 5);
		check_open(*state, 5);
	}
	assert_true(lc_shadow_looked(*state) - looked <= 2 * 50);
	lc_walk_credit_limit(0);
	check(*state);
	assert_false(lc_shadow_open(*state));
}

static void a_short_walk_needs_no_credit(void **state)
{
	spend();
	for (unsigned i = 0; i < 20; i++) {
		call(IS_COMPILED, i);
		check(*state);
		assert_false(lc_shadow_open(*state));
	}
}

static void unknown_code_ends_a_walk(void **state)
{
	call(IS_COMPILED, 3);
	check(*state);
	m.pc = UNKNOWN;
	assert_int_equal(walk(*state), 0);
	call(IS_COMPILED, 4);
	check_open(*state, 4);
	assert_true(lc_shadow_unknown(*state));
	assert_int_equal(lc_shadow_again(lc_shadow_last(*state), hook().frame, 5), 0);
	leave();
	m.pc = COMPILED(3);
	check(*state);
}

static void nodes_are_forgotten_when_there_are_too_many(void **state)
{
	const uint32_t round = lc_shadow_round(*state);
	unsigned step = 0;

	for (; lc_shadow_round(*state) == round && step < 1000000; step++) {
		while (m.depth > 1)
			leave();
		for (unsigned n = 0, bits = step; n < 10; n++, bits /= METHODS)
			call(IS_COMPILED, bits % METHODS);
		check(*state);
	}
	assert_int_not_equal(lc_shadow_round(*state), round);
	check(*state);
}

static void freed_code_makes_every_place_new(void **state)
{
	struct lc_code_frames *before = compiled[3];

	call(IS_COMPILED, 3);
	check(*state);
	lc_generated_freed();
	assert_int_equal(lc_shadow_again(lc_shadow_last(*state), hook().frame, 5), 0);
	compiled[3] = code(COMPILED(3), 1, 5, 1, 9999); /* other code lies there now */
	check(*state);
	free(before);
}

static void a_stack_that_is_too_short_is_not_walked(void **state)
{
	struct lc_native_frame at;

	call(IS_COMPILED, 10);
	at = hook();
	for (uint64_t end = at.frame; end < address(WORDS) - 8 * 4; end += 8)
		assert_true(!lc_shadow_walk(*state, &at, end) || lc_shadow_unknown(*state));
	lc_shadow_try_again(*state);
	check(*state);
}

static int setup(void **state)
{
	struct lc_shadow *s = NULL;

	memset(stack, 0, sizeof(stack));
	m = (struct model){ .low = WORDS - 2, .random = 1 };
	for (unsigned i = 0; i < METHODS; i++)
		compiled[i] = code(COMPILED(i), 1, (int)i + 2, i % 3 + 1, 1000 + i * 10);
	for (unsigned i = 0; i < BYTECODES; i++)
		interpreted[i] = code(i, 0, 0, 1, 5000 + i);
	credit = (struct lc_walk_credit){ 0 };
	root = 0;
	lc_walk_credit_limit(0);
	call(IS_ENTRY, 0);
	assert_int_equal(lc_shadow_create(&credit, &s), 0);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	lc_shadow_destroy(*state);
	for (unsigned i = 0; i < METHODS; i++)
		free(compiled[i]);
	for (unsigned i = 0; i < BYTECODES; i++)
		free(interpreted[i]);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	enum { ALL_KINDS = (1 << LC_FRAME_KINDS) - 1, WALKS = 8 };

	for (unsigned i = 0; i < WALKS; i++)
		lc_walk_proof_take(lc_walk_proof_hook(), ALL_KINDS, true);
	const struct CMUnitTest tests[] = {
		TEST(frames_are_those_of_the_stack),
		TEST(roots_tell_the_same_frames_apart),
		TEST(frames_are_found_from_where_java_code_was_left),
		TEST(stub_that_is_too_large_is_not_left),
		TEST(deep_recursion_is_walked),
		TEST(recursion_is_folded_as_paths_fold_it),
		TEST(paths_without_room_are_told_apart_in_the_common_tree),
		TEST(places_alternate_without_a_walk),
		TEST(callers_alternate_without_a_walk),
		TEST(a_callee_that_differs_far_out_is_another_place),
		TEST(unknown_code_ends_a_walk),
		TEST(recursion_behind_unknown_code_is_walked_frame_by_frame),
		TEST(recursion_is_walked_frame_by_frame),
		TEST(a_long_walk_without_credit_is_cut_until_there_is_credit),
		TEST(a_short_walk_needs_no_credit),
		TEST(nodes_are_forgotten_when_there_are_too_many),
		TEST(freed_code_makes_every_place_new),
		TEST(a_stack_that_is_too_short_is_not_walked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
