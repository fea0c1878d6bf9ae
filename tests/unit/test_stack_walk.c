/* uses: src/jvm/stack/stack_walk.c src/jvm/stack/walk_proof.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stack_walk.c - checks which frames a walk from an interrupted thread finds, and where it
 * refuses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/core/record.h"
#include "src/jvm/code/blob.h"
#include "src/jvm/code/code_frames.h"
#include "src/jvm/code/scopes.h"
#include "src/jvm/stack/frame_step.h"
#include "src/jvm/stack/frames.h"
#include "src/jvm/stack/stack_walk.h"
#include "src/jvm/stack/walk_proof.h"

/* Compiled methods A and B, a native one, a stub that calls the JVM, and one that unpacks frames.
 */
#define A UINT64_C(0x1000)
#define B UINT64_C(0x2000)
#define NATIVE UINT64_C(0x3000)
#define STUB UINT64_C(0x4000)
#define UNPACKER UINT64_C(0x5000)
#define INTERPRETER UINT64_C(0x6000)
#define ENTRY UINT64_C(0x7000)
#define DEOPT (A + 0xf0) /* where a frame of A returns to whose code was given up */

enum {
	WORDS = 128,
	DEPTH = 16,
	WHOLE = 0x10, /* from here on a method's frame is whole */
	RANGE = 0x10, /* so far apart are the addresses at which the JVM says where it is */
	A_WORDS = 4,
	B_WORDS = 6,
	METHOD = 77,
	BYTECODE = 5,
};

static struct {
	struct lc_code_frames head;
	uint64_t frames[2];
} a, b, native, interpreted;

/* At these addresses only the JVM knows the frames of A and B. */
const struct lc_code_frames *lc_code_frames_compiled(uint64_t pc)
{
	if (pc >> 12 == NATIVE >> 12)
		return &native.head;
	if (pc % RANGE || pc == DEOPT)
		return NULL;
	return pc >> 12 == A >> 12 ? &a.head : pc >> 12 == B >> 12 ? &b.head : NULL;
}

const struct lc_code_frames *lc_code_frames_interpreted(uint64_t method, uint64_t bcp)
{
	return method == METHOD && bcp == BYTECODE ? &interpreted.head : NULL;
}

bool lc_code_frames_known(void)
{
	return true;
}

uint64_t lc_scopes_near(uint64_t blob, uint64_t pc)
{
	return blob == A || blob == B ? (pc + RANGE - 1) / RANGE * RANGE : 0;
}

bool lc_frames_interpreted(uint64_t pc)
{
	return pc >> 12 == INTERPRETER >> 12;
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
	const uint64_t at = pc & ~UINT64_C(0xfff);

	*out =
	    (struct lc_blob){ .at = at, .code = at, .whole = at + WHOLE, .frame_words = A_WORDS };
	out->kind = at == STUB || at == UNPACKER ? LC_BLOB_OTHER : LC_BLOB_METHOD;
	out->frame_words = at == B ? B_WORDS : A_WORDS;
	return at >= A && at <= UNPACKER;
}

bool lc_blob_unpacks(const struct lc_blob *blob)
{
	return blob->at == UNPACKER;
}

uint64_t lc_blob_original_pc_at(const struct lc_blob *blob, uint64_t pc, uint64_t sp)
{
	return pc == DEOPT ? sp : 0;
}

static void fill(void *code, uint64_t blob, int words, uint32_t len, uint64_t first)
{
	struct lc_code_frames *c = code;

	c->blob = blob;
	c->frame_words = words;
	c->len = len;
	for (uint32_t i = 0; i < len; i++)
		c->frames[i] = first + i;
}

static uint64_t stack[WORDS], frames[DEPTH];

static uint64_t address(unsigned word)
{
	return (uint64_t)(uintptr_t)&stack[word];
}

/* A word of the interpreted frame. */
static uint64_t *word_of(unsigned rbp, int which)
{
	return &stack[(int)rbp + which];
}

/*
 * From word 8: a frame of A, one of B behind it, an interpreted one, and the JVM's entry, with
 * nothing before. Returns where the interpreted frame's rbp stands.
 */
static unsigned build(void)
{
	const unsigned second = 8 + A_WORDS, third = second + B_WORDS, rbp = third + 10,
	               entry = rbp + 20;

	memset(stack, 0, sizeof(stack));
	fill(&a, A, A_WORDS, 2, 1);
	fill(&b, B, B_WORDS, 1, 3);
	fill(&native, NATIVE, A_WORDS, 1, (uint64_t)LC_BCI_NONE << LC_ADDR_BITS);
	fill(&interpreted, 0, 0, 1, 4);
	stack[second - 1] = B + 0x20;
	stack[third - 1] = INTERPRETER + 3;
	stack[third - 2] = address(rbp);
	*word_of(rbp, LC_INTERPRETED_METHOD) = METHOD;
	*word_of(rbp, LC_INTERPRETED_BYTECODE) = BYTECODE;
	*word_of(rbp, LC_INTERPRETED_SENDER_SP) = address(rbp + 2);
	stack[rbp] = address(entry);
	stack[rbp + 1] = ENTRY;
	return rbp;
}

static int walk(uint64_t pc, uint64_t rbp, bool anchor, bool framed, int depth)
{
	const struct lc_stack_at at = { pc, address(8), rbp, anchor, framed, NULL };

	memset(frames, 0, sizeof(frames));
	return lc_stack_walk(&at, address(WORDS), frames, depth);
}

static int refusal(enum lc_stack_refusal why)
{
	return -1 - (int)why;
}

static void check_all(void)
{
	for (uint64_t i = 0; i < 4; i++)
		assert_int_equal(frames[i], i + 1);
}

static void running_code_is_where_the_next_record_says(void **state)
{
	build();
	assert_int_equal(walk(A + 0x15, 0, false, false, DEPTH), 4);
	check_all();
	/* Behind the instruction that ends at a record, another range begins. */
	assert_int_equal(walk(A + 0x20, 0, false, false, DEPTH), 4);
	assert_int_equal(walk(A + 0x15, 0, false, false, 3), 3);
	assert_int_equal(frames[3], 0);
}

static void code_without_a_whole_frame_is_refused(void **state)
{
	build();
	assert_int_equal(walk(A + WHOLE - 1, 0, false, false, DEPTH), refusal(LC_STACK_NOT_WHOLE));
	assert_int_equal(walk(STUB + 0x20, 0, false, false, DEPTH), refusal(LC_STACK_NOT_WHOLE));
	assert_int_equal(walk(NATIVE + 0x20, 0, false, false, DEPTH), refusal(LC_STACK_NO_SCOPE));
}

static void a_native_method_is_left_where_the_thread_left_java_code(void **state)
{
	build();
	assert_int_equal(walk(NATIVE + 0x21, 0, true, false, DEPTH), 3);
	assert_int_equal(frames[1], 3);
	/* One that Java code seems to have called is where a virtual thread begins. */
	stack[8 + A_WORDS - 1] = NATIVE + 0x21;
	assert_int_equal(walk(A + 0x15, 0, false, false, DEPTH), refusal(LC_STACK_UNKNOWN));
}

static void a_word_that_is_no_return_address_is_refused(void **state)
{
	build();
	stack[8 + A_WORDS - 1] = B + 0x21;
	assert_int_equal(walk(A + 0x15, 0, false, false, DEPTH), refusal(LC_STACK_UNKNOWN));
	stack[8 + A_WORDS - 1] = 12345;
	assert_int_equal(walk(A + 0x15, 0, false, false, DEPTH), refusal(LC_STACK_UNKNOWN));
}

static void interpreted_frames_are_read_by_rbp(void **state)
{
	const unsigned rbp = build();

	assert_int_equal(walk(INTERPRETER, address(rbp), false, false, DEPTH), 1);
	assert_int_equal(frames[0], 4);
	/* There rbp may be anything else, but where it is certain. */
	assert_int_equal(walk(INTERPRETER, address(9), false, false, DEPTH),
	                 refusal(LC_STACK_INTERPRETED));
	++*word_of(rbp, LC_INTERPRETED_BYTECODE);
	assert_int_equal(walk(INTERPRETER, address(rbp), false, true, DEPTH),
	                 refusal(LC_STACK_NO_METHOD));
	assert_int_equal(walk(INTERPRETER, address(WORDS), false, true, DEPTH),
	                 refusal(LC_STACK_BEYOND));
}

static void frames_whose_code_was_given_up_are_found(void **state)
{
	build();
	/* B is a frame of A now, of B's size, and its lowest word is where it returned to. */
	a.head.frame_words = A_WORDS;
	stack[8 + A_WORDS - 1] = DEOPT;
	stack[8 + A_WORDS] = A + 0x30;
	stack[8 + 2 * A_WORDS - 1] = B + 0x20;
	stack[8 + 2 * A_WORDS + B_WORDS - 1] = INTERPRETER + 3;
	stack[8 + 2 * A_WORDS + B_WORDS - 2] = stack[8 + A_WORDS + B_WORDS - 2];
	assert_int_equal(walk(A + 0x15, 0, false, false, 5), 5);
	assert_int_equal(frames[2], 1);
	assert_int_equal(frames[4], 3);
	stack[8 + A_WORDS] = B + 0x30; /* other code than the frame's */
	assert_int_equal(walk(A + 0x15, 0, false, false, 5), refusal(LC_STACK_UNKNOWN));
}

static void a_walk_goes_on_before_the_jvm_called_java_code(void **state)
{
	const unsigned rbp = build(), entry = rbp + 20, low = entry + 4;

	/* It left Java code by way of a stub, which A called. */
	stack[entry - 2] = address(low);
	stack[low - 1] = STUB + 0x30;
	stack[entry - 3] = 0;
	stack[low + A_WORDS - 1] = A + 0x20;
	stack[low + 2 * A_WORDS - 1] = ENTRY;
	stack[low + 2 * A_WORDS - 2] = address(WORDS - 8);
	assert_int_equal(walk(A + 0x15, 0, false, false, DEPTH), 6);
	check_all();
	assert_int_equal(frames[4], 1);
	assert_int_equal(frames[5], 2);
	stack[low - 1] = UNPACKER + 0x30;
	assert_int_equal(walk(A + 0x15, 0, false, false, DEPTH), refusal(LC_STACK_UNKNOWN));
	stack[entry - 2] = address(entry) - 8; /* further down */
	assert_int_equal(walk(A + 0x15, 0, false, false, DEPTH), refusal(LC_STACK_ENTRY));
}

static void a_walk_that_proves_notes_its_steps(void **state)
{
	struct lc_walk_steps steps = { 0 };
	const struct lc_stack_at at = { A + 0x15, address(8), build(), false, false, &steps };
	uint32_t kinds = 0;
	int len;

	len = lc_stack_walk(&at, address(WORDS), frames, DEPTH);
	assert_true(len > 0);
	assert_int_equal(steps.step[0].at, 0);
	assert_int_equal(steps.step[steps.len - 1].kind, LC_FRAME_ENTRY);
	assert_int_equal(steps.step[steps.len - 1].at, len);
	for (uint32_t i = 0; i < steps.len; i++)
		kinds |= steps.step[i].kind;
	assert_int_equal(kinds, LC_FRAME_COMPILED | LC_FRAME_INTERPRETED | LC_FRAME_ENTRY);
}

static void a_frame_that_leads_off_the_stack_is_refused(void **state)
{
	build();
	for (unsigned end = 8; end < 8 + A_WORDS; end++) {
		const struct lc_stack_at at = { A + 0x15, address(8), 0, false, false, NULL };

		assert_int_equal(lc_stack_walk(&at, address(end), frames, DEPTH),
		                 refusal(LC_STACK_BEYOND));
	}
}

int main(void)
{
	enum { ALL_KINDS = (1 << LC_FRAME_KINDS) - 1, WALKS = 8 };

	for (unsigned i = 0; i < WALKS; i++)
		lc_walk_proof_take(lc_walk_proof_signal(), ALL_KINDS, true);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(running_code_is_where_the_next_record_says),
		cmocka_unit_test(code_without_a_whole_frame_is_refused),
		cmocka_unit_test(a_native_method_is_left_where_the_thread_left_java_code),
		cmocka_unit_test(a_word_that_is_no_return_address_is_refused),
		cmocka_unit_test(interpreted_frames_are_read_by_rbp),
		cmocka_unit_test(frames_whose_code_was_given_up_are_found),
		cmocka_unit_test(a_walk_goes_on_before_the_jvm_called_java_code),
		cmocka_unit_test(a_walk_that_proves_notes_its_steps),
		cmocka_unit_test(a_frame_that_leads_off_the_stack_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
