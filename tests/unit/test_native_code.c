/* uses: src/sample/native_code.c src/sample/insn.c src/sample/insn_step.c src/sample/insn_known.c src/jvm/os/peek.c -lZydis */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_native_code.c - looks up functions of this program, of libc, and of an object that comes and
 * goes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dlfcn.h>

#include "src/sample/insn.h"
#include "src/sample/native_code.h"

#define COMES_AND_GOES "libJudy.so.1" /* this program is not linked with it */

/* One that an assembler describes, as compilers do, and one that nothing describes. */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl described\n"
        "described:\n"
        ".cfi_startproc\n"
        "	movq (%rdi), %rax\n"
        "	addq $8, %rdi\n"
        "	ret\n"
        ".cfi_endproc\n"
        ".p2align 4\n"
        ".globl bare\n"
        "bare:\n"
        "	movl %edi, %eax\n"
        "	movq %rax, 0x1234567(%rsi)\n"
        "	ret\n"
        ".p2align 4\n"
        ".globl described_end\n"
        "described_end:\n"
        ".cfi_startproc\n"
        "	ret\n"
        ".cfi_endproc\n");
extern const char described[], bare[], described_end[];

static uint64_t address(const void *p)
{
	return (uintptr_t)p;
}

static bool piece(uint64_t pc, struct lc_native_piece *out)
{
	struct lc_native_library library;

	return lc_native_code_library(pc, &library) && lc_native_code_piece(&library, pc, out);
}

static int look(void **state)
{
	lc_native_code_refresh();
	return 0;
}

static void a_function_is_found_from_its_start_to_its_end(void **state)
{
	struct lc_native_piece p;

	for (unsigned i = 0; i < 8; i++) { /* mov: 3, add: 4, ret: 1 */
		assert_true(piece(address(described) + i, &p));
		assert_int_equal(p.start, address(described));
		assert_int_equal(p.end, address(described) + 8);
	}
}

static void decoding_from_the_piece_arrives_at_code_that_nothing_describes(void **state)
{
	struct lc_native_piece p;
	uint64_t at;

	assert_true(piece(address(bare) + 2, &p));
	assert_int_equal(p.start, address(described) + 8);
	assert_int_equal(p.end, address(described_end));
	for (at = p.start; at < address(bare);) {
		const size_t length =
		    lc_insn_length((const uint8_t *)(uintptr_t)at, p.end - at); /* NOLINT */

		assert_true(length);
		at += length;
	}
	assert_int_equal(at, address(bare));
}

static void functions_of_libc_are_found(void **state)
{
	void *const functions[] = { dlsym(RTLD_DEFAULT, "qsort"), dlsym(RTLD_DEFAULT, "strtol"),
		                    dlsym(RTLD_DEFAULT, "fopen") };
	struct lc_native_piece p;

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		assert_non_null(functions[i]);
		assert_true(piece(address(functions[i]), &p));
		assert_int_equal(p.start, address(functions[i]));
		assert_true(p.end > p.start);
	}
}

static void what_is_no_code_is_unknown(void **state)
{
	struct lc_native_library library;
	int on_stack = 0;

	assert_false(lc_native_code_library(address(&on_stack), &library));
	assert_false(lc_native_code_library(0, &library));
	assert_false(lc_native_code_library(UINT64_MAX, &library));
}

static void objects_come_and_go(void **state)
{
	struct lc_native_library first, second;
	void *object = dlopen(COMES_AND_GOES, RTLD_NOW);
	uint64_t pc;

	if (!object)
		skip();
	pc = address(dlsym(object, "JudyLIns"));
	assert_false(lc_native_code_library(pc, &first));
	lc_native_code_refresh();
	assert_true(lc_native_code_library(pc, &first));
	assert_int_equal(first.life >> 63, 1);
	dlclose(object);
	/* Nobody has looked since: its code is still on the list, and is not there. */
	assert_true(lc_native_code_library(pc, &first));
	assert_false(lc_native_code_piece(&first, pc, &(struct lc_native_piece){ 0 }));
	lc_native_code_refresh();
	assert_false(lc_native_code_library(pc, &second));
	object = dlopen(COMES_AND_GOES, RTLD_NOW);
	lc_native_code_refresh();
	pc = address(dlsym(object, "JudyLIns"));
	assert_true(lc_native_code_library(pc, &second));
	assert_int_not_equal(first.life, second.life);
	dlclose(object);
	lc_native_code_refresh();
	assert_true(lc_native_code_library(address(described), &first)); /* others stay */
}

static void a_table_that_makes_no_sense_tells_nothing(void **state)
{
	static const uint32_t wrong[64] = { 1, 2, 3 };
	struct lc_native_library library;
	struct lc_native_piece p;
	const uint64_t pc = address(described);

	assert_true(lc_native_code_library(pc, &library));
	library.table = address(wrong);
	library.entries = 8;
	assert_false(lc_native_code_piece(&library, pc, &p));
	library.entries = UINT32_MAX; /* the table would reach beyond this program */
	assert_false(lc_native_code_piece(&library, pc, &p));
	library.table = 0x1000;
	assert_false(lc_native_code_piece(&library, pc, &p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_is_found_from_its_start_to_its_end),
		cmocka_unit_test(decoding_from_the_piece_arrives_at_code_that_nothing_describes),
		cmocka_unit_test(functions_of_libc_are_found),
		cmocka_unit_test(what_is_no_code_is_unknown),
		cmocka_unit_test(objects_come_and_go),
		cmocka_unit_test(a_table_that_makes_no_sense_tells_nothing),
	};

	return cmocka_run_group_tests(tests, look, NULL);
}
