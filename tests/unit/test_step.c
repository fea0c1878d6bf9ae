/* uses: src/sample/step.c src/sample/insn.c src/sample/insn_step.c src/sample/insn_known.c src/jvm/os/peek.c -lZydis -lpthread */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_step.c - finds the steps of hand-written loops, in the shapes that HotSpot's C2 gives them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/sample/decode.h"
#include "src/sample/step.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };

/* add [rsi+rcx*8+16]; add [rsi+rcx*8+24]; rcx += 2 */
static const char rows[] =
    "\xc5\xfb\x58\x44\xce\x10\xc5\xfb\x58\x44\xce\x18\x83\xc1\x02\x39\xd1\x7c"
    "\xed\xc3";
/* add [rsi+(rcx*rdx+rbp)*8+16] behind a check of the index; rcx++ */
static const char columns[] =
    "\x89\xcf\x0f\xaf\xfa\x4c\x63\xd7\x49\x01\xea\x41\x39\xda\x73\x0d\xf2\x42"
    "\x0f\x58\x44\xd6\x10\xff\xc1\x39\xc1\x7c\xe3\xc3";
/* add [rsi+rbp*8+16]; add [rsi+(rcx+1)*rdx*8+16]; rcx += 2; rbp = rcx*rdx, for the next round */
static const char computed[] =
    "\x44\x8d\x51\x01\x41\x89\xd6\x45\x0f\xaf\xf2\x4c\x63\xc5\xf2\x42\x0f\x58"
    "\x44\xc6\x10\x4d\x63\xc6\xf2\x42\x0f\x58\x44\xc6\x10\x83\xc1\x02\x89\xd5"
    "\x0f\xaf\xe9\x39\xc1\x7c\xd5\xc3";
/* r10 = [r8+rcx*4+16]; add [rsi+r10*8+16]; rcx++ */
static const char reference[] =
    "\x45\x8b\x54\x88\x10\xf2\x42\x0f\x58\x44\xd6\x10\xff\xc1\x39\xc1\x7c\xee"
    "\xc3";
/* rcx += 3 where it is even; rcx++; add [rsi+rcx*8+16] */
static const char skips[] =
    "\xf7\xc1\x01\x00\x00\x00\x75\x03\x83\xc1\x03\xff\xc1\xf2\x0f\x58\x44\xce"
    "\x10\x39\xc1\x7c\xe9\xc3";
/* r10 = [rsp+8]; add [rsi+r10*8+16]; r10 += [rsp+16]; [rsp+8] = r10; rsi goes through xmm1 */
static const char spilled[] =
    "\x44\x8b\x54\x24\x08\xf2\x42\x0f\x58\x44\xd6\x10\x44\x03\x54\x24\x10\x44"
    "\x89\x54\x24\x08\xc4\xe1\xf9\x7e\xce\xc4\xe1\xf9\x6e\xce\x41\x39\xc2\x7c"
    "\xdb\xc3";

/* add ebx,[rsi+rcx*4+16]; rcx += 16 */
static const char records[] = "\x03\x5c\x8e\x10\x83\xc1\x10\x39\xc1\x7c\xf5\xc3";
/* add rbx,[rsi+rcx*8+16]; add rbx,[rsi+rcx*8+24]; rcx += 8 */
static const char pairs[] =
    "\x48\x03\x5c\xce\x10\x48\x03\x5c\xce\x18\x83\xc1\x08\x39\xc1\x7c\xef\xc3";
/* vaddps zmm0,zmm0,[rsi+rcx*4+64]; rcx += 16 */
static const char vectors[] = "\x62\xf1\x7c\x48\x58\x44\x8e\x01\x83\xc1\x10\x39\xc1\x7c\xf1\xc3";

static uint64_t frame[4];
static struct lc_registers regs;

/* The step of the access at code[at]; 0: unknown. The string's end is code too, as far as decoding
 * goes. */
static uint32_t step_of(const char *code, size_t len, size_t at)
{
	uint8_t bytes[128];
	const struct lc_code_bytes all = { .bytes = bytes,
		                           .len = sizeof(bytes),
		                           .address = 0x10000 };
	struct lc_step step;

	memset(bytes, 0x90, sizeof(bytes));
	memcpy(bytes + 16, code, len);
	lc_step_find(&all, 0, 16 + at, &regs, true, &step);
	assert_int_not_equal(step.kind, LC_STEP_NOT_SOUGHT);
	return lc_step_bytes(&step, &regs, true);
}

#define STEP(code, at) step_of(code, sizeof(code) - 1, at)

static int set_up(void **state)
{
	regs = (struct lc_registers){ .r[RDX] = 1000, .r[RSP] = (uint64_t)(uintptr_t)frame };
	frame[2] = 250;
	return 0;
}

static void copies_of_an_unrolled_loop_are_one_step(void **state)
{
	assert_int_equal(STEP(rows, 0), 8);
	assert_int_equal(STEP(rows, 6), 8);
}

static void the_length_of_a_row_is_taken_from_its_register(void **state)
{
	assert_int_equal(STEP(columns, 0x10), 8000);
	regs.r[RDX] = (uint32_t)-3; /* backwards */
	assert_int_equal(STEP(columns, 0x10), 24);
}

static void an_index_computed_in_the_round_before_is_followed(void **state)
{
	assert_int_equal(STEP(computed, 0xe), 8000);
	assert_int_equal(STEP(computed, 0x18), 8000);
}

static void a_step_in_the_frame_is_read_there(void **state)
{
	assert_int_equal(STEP(spilled, 5), 2000);
	frame[2] = 4;
	assert_int_equal(STEP(spilled, 5), 32);
}

static void what_is_loaded_or_depends_on_a_branch_has_no_step(void **state)
{
	assert_int_equal(STEP(reference, 5), 0);
	assert_int_equal(STEP(reference, 0), 4); /* of the indices themselves it is known */
	assert_int_equal(STEP(skips, 0xd), 0);
}

static void a_step_of_a_cache_line_passes_over_some_of_it(void **state)
{
	assert_int_equal(STEP(records, 0), 64);
	assert_int_equal(STEP(pairs, 0), 0); /* a quarter of a line, in pieces of 8 and 56 bytes */
	assert_int_equal(STEP(vectors, 0), 32); /* all of it */
}

static void code_without_a_loop_has_no_step(void **state)
{
	assert_int_equal(step_of(rows, 0x11, 0), 0); /* less the branch */
	assert_int_equal(step_of(rows, 0x11, 200), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(copies_of_an_unrolled_loop_are_one_step, set_up),
		cmocka_unit_test_setup(the_length_of_a_row_is_taken_from_its_register, set_up),
		cmocka_unit_test_setup(an_index_computed_in_the_round_before_is_followed, set_up),
		cmocka_unit_test_setup(a_step_in_the_frame_is_read_there, set_up),
		cmocka_unit_test_setup(what_is_loaded_or_depends_on_a_branch_has_no_step, set_up),
		cmocka_unit_test_setup(a_step_of_a_cache_line_passes_over_some_of_it, set_up),
		cmocka_unit_test_setup(code_without_a_loop_has_no_step, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
