/* uses: src/sample/insn.c src/sample/insn_step.c src/sample/insn_known.c -lZydis */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_insn_step.c - compares the tables by which instructions are stepped over with Zydis. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <Zydis/Zydis.h>
#include <cmocka.h>

#include "src/sample/insn.h"

enum { LONGEST = 15, OPERANDS = 256 };

static uint64_t compared, known, failed;

/* The length by Zydis, or 0; *target: that of a direct branch that is no call. */
static size_t wanted(const uint8_t *bytes, size_t len, int64_t *target)
{
	struct lc_insn in;

	if (!lc_insn_zydis_decode(bytes, len, false, &in))
		return 0;
	*target = in.target;
	return in.length;
}

/* Sanitizers look for other mistakes, and are slow: they see each eleventh operand. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STEP = 11 };
#else
enum { STEP = 1 };
#endif

/* Returns the length by the tables, which must be Zydis's where they know the instruction. */
static size_t check(const uint8_t *bytes, size_t len)
{
	int64_t target, same = 0;
	const size_t length = lc_insn_known_step(bytes, len, &target);
	const size_t zydis = length ? wanted(bytes, len, &same) : 0;

	compared++;
	known += length > 0;
	if (length && (length != zydis || target != same)) {
		for (size_t i = 0; i < len; i++)
			fprintf(stderr, "%02x ", bytes[i]);
		fprintf(stderr, ": %zu for %zu\n", length, zydis);
		fail();
	}
	return length;
}

/* All that is decoded of the instruction must be what Zydis says, where it is known. */
static void check_whole(const uint8_t *bytes, bool native)
{
	struct lc_insn in, same;

	compared++;
	if (!lc_insn_known_decode(bytes, LONGEST, native, &in))
		return;
	known++;
	if (!lc_insn_zydis_decode(bytes, LONGEST, native, &same))
		memset(&same, 0, sizeof(same));
#define CHECK(field)                                                                               \
	do {                                                                                       \
		if (in.field == same.field)                                                        \
			break;                                                                     \
		for (size_t i_ = 0; i_ < LONGEST; i_++)                                            \
			fprintf(stderr, "%02x ", bytes[i_]);                                       \
		fprintf(stderr, ": %s %llx for %llx\n", #field, (unsigned long long)in.field,      \
		        (unsigned long long)same.field);                                           \
		failed++;                                                                          \
	} while (0)
	CHECK(length);
	CHECK(control);
	CHECK(calls);
	CHECK(falls);
	CHECK(repeats);
	CHECK(memory);
	CHECK(fence);
	CHECK(own);
	CHECK(moves);
	CHECK(vector);
	CHECK(base);
	CHECK(index);
	CHECK(scale);
	CHECK(access);
	CHECK(step);
	CHECK(polls);
	CHECK(written);
	CHECK(copy_to);
	CHECK(copy_from);
	CHECK(address_to);
	CHECK(store_from);
	CHECK(constant_to);
	CHECK(constant);
	CHECK(add_to);
	CHECK(add_from);
	CHECK(sub_to);
	CHECK(sub_from);
	CHECK(shr_to);
	CHECK(value);
	CHECK(from_thread);
	CHECK(disp);
	CHECK(target);
#undef CHECK
}

/* Operands behind these `n` bytes, and two that may stand behind an operand. */
static void check_operands(uint8_t *bytes, size_t n)
{
	static const uint8_t behind[] = { 0x25, 0x9a };

	for (unsigned operand = bytes[n - 1] % STEP; operand < OPERANDS; operand += STEP)
		for (size_t i = 0; i < sizeof(behind); i++) {
			bytes[n] = (uint8_t)operand;
			memset(bytes + n + 1, behind[i], LONGEST - n);
			(void)check(bytes, LONGEST);
		}
}

static void check_opcodes(const char *prefixes, size_t n)
{
	uint8_t bytes[LONGEST + 1];

	memcpy(bytes, prefixes, n);
	for (unsigned opcode = 0; opcode < OPERANDS; opcode++) {
		bytes[n] = (uint8_t)opcode;
		check_operands(bytes, n + 1);
	}
}

static void each_instruction_of_one_or_two_bytes_is_as_long_as_zydis_says(void **state)
{
	static const char *const first[] = {
		"",         "\x66",     "\xf3", "\xf2",     "\xf0",
		"\x66\xf3", "\xf2\x66", "\x2e", "\x66\x66", "\x66\x66\x66\x66",
		"\xf0\x66"
	};

	compared = known = 0;
	for (size_t i = 0; i < sizeof(first) / sizeof(*first); i++)
		for (unsigned rex = 0x3f; rex < 0x50; rex++)
			for (unsigned two = 0; two < 2; two++) {
				char prefixes[8];
				size_t n = strlen(first[i]);

				memcpy(prefixes, first[i], n);
				if (rex >= 0x40)
					prefixes[n++] = (char)rex;
				if (two)
					prefixes[n++] = '\x0f';
				check_opcodes(prefixes, n);
			}
	assert_true(known > compared / 10); /* else it compares nothing */
}

static void each_instruction_that_is_decoded_is_what_zydis_says(void **state)
{
	static const char *const first[] = { "", "\x66", "\xf3", "\xf2", "\xf0", "\x2e" };
	static const uint8_t behind[] = { 0x00, 0x25, 0xbc, 0x67, 0x05 };

	compared = known = failed = 0;
	for (size_t i = 0; i < sizeof(first) / sizeof(*first); i++)
		for (unsigned rex = 0x3f; rex < 0x50; rex++)
			for (unsigned rest = 0; rest < 2 * OPERANDS * OPERANDS; rest += STEP) {
				uint8_t bytes[LONGEST];
				size_t n = strlen(first[i]);

				memcpy(bytes, first[i], n);
				if (rex >= 0x40)
					bytes[n++] = (uint8_t)rex;
				if (rest >= OPERANDS * OPERANDS)
					bytes[n++] = 0x0f;
				bytes[n++] = (uint8_t)(rest >> 8);
				bytes[n++] = (uint8_t)rest;
				for (size_t k = 0; k < sizeof(behind); k++) {
					memset(bytes + n, behind[k], sizeof(bytes) - n);
					check_whole(bytes, k & 1);
				}
			}
	assert_int_equal(failed, 0);
	assert_true(known > compared / 20);
}

static void each_vector_instruction_is_as_long_as_zydis_says(void **state)
{
	/* Registers, and which table of opcodes. */
	static const char first[] = { '\xe1', '\x41', '\xe0', '\xe2', '\x42', '\xe3' };

	compared = known = 0;
	for (unsigned b = 0; b < OPERANDS; b++)
		check_opcodes((const char[]){ '\xc5', (char)b }, 2);
	for (size_t i = 0; i < sizeof(first); i++)
		for (unsigned b = 0; b < OPERANDS; b++)
			check_opcodes((const char[]){ '\xc4', first[i], (char)b }, 3);
	assert_true(known > compared / 100);
}

static void each_vector_instruction_with_a_mask_is_as_long_as_zydis_says(void **state)
{
	static const uint8_t first[] = { 0xf1, 0x61, 0x91, 0xe1, 0xc1, 0xf9, 0xf5, 0xf0, 0xf2 };
	uint8_t bytes[LONGEST] = { 0x62 };

	compared = known = 0;
	for (size_t i = 0; i < sizeof(first); i++)
		for (unsigned rest = 0; rest < OPERANDS * OPERANDS; rest += STEP)
			for (unsigned opcode = 0; opcode < OPERANDS; opcode++) {
				bytes[1] = first[i];
				bytes[2] = (uint8_t)rest;
				bytes[3] = (uint8_t)(rest >> 8);
				bytes[4] = (uint8_t)opcode;
				for (unsigned mode = 0; mode < 4; mode++) {
					bytes[5] = (uint8_t)(mode << 6 | (rest & 7));
					(void)check(bytes, sizeof(bytes));
				}
			}
	assert_true(known > compared / 100000);
}

static void an_instruction_that_is_cut_off_has_no_length(void **state)
{
	static const uint8_t bytes[] = { 0x48, 0x81, 0x84, 0x8e, 0x10, 0, 0, 0, 1, 2, 3, 4 };
	int64_t target;

	for (size_t len = 0; len < sizeof(bytes); len++)
		assert_int_equal(lc_insn_known_step(bytes, len, &target), 0);
	assert_int_equal(lc_insn_known_step(bytes, sizeof(bytes), &target), sizeof(bytes));
}

static void a_branch_tells_its_target(void **state)
{
	int64_t target;

	assert_int_equal(lc_insn_step((const uint8_t *)"\x75\x0e", 2, &target), 2);
	assert_int_equal(target, 16);
	assert_int_equal(lc_insn_step((const uint8_t *)"\x0f\x84\xf0\xff\xff\xff", 6, &target), 6);
	assert_int_equal(target, -10);
	assert_int_equal(lc_insn_step((const uint8_t *)"\xe8\x10\x00\x00\x00", 5, &target), 5);
	assert_int_equal(target, 0); /* a call */
	assert_int_equal(lc_insn_step((const uint8_t *)"\xc7\xf8\x10\x00\x00\x00", 6, &target), 6);
	assert_int_equal(target, 22); /* xbegin, by Zydis */
	assert_int_equal(lc_insn_step((const uint8_t *)"\x06", 1, &target), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_instruction_of_one_or_two_bytes_is_as_long_as_zydis_says),
		cmocka_unit_test(each_instruction_that_is_decoded_is_what_zydis_says),
		cmocka_unit_test(each_vector_instruction_is_as_long_as_zydis_says),
		cmocka_unit_test(each_vector_instruction_with_a_mask_is_as_long_as_zydis_says),
		cmocka_unit_test(an_instruction_that_is_cut_off_has_no_length),
		cmocka_unit_test(a_branch_tells_its_target),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
