/* uses: src/jvm/peek.c */
/* test_peek.c - checks that memory is copied where it exists, and that elsewhere nothing faults. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "src/jvm/handle.h"
#include "src/jvm/peek.h"

enum { PAGE = 4096 };

static unsigned char *memory; /* two pages, the second without access */

static uint64_t at(size_t offset)
{
	return (uintptr_t)memory + offset;
}

static int map(void **state)
{
	(void)state;
	memory = mmap(NULL, 2 * (size_t)PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
	              -1, 0);
	if (memory == MAP_FAILED)
		return -1;
	for (size_t i = 0; i < PAGE; i++)
		memory[i] = (unsigned char)i;
	return mprotect(memory + PAGE, PAGE, PROT_NONE);
}

static int unmap(void **state)
{
	(void)state;
	return munmap(memory, 2 * (size_t)PAGE);
}

static void memory_that_is_there_is_copied(void **state)
{
	unsigned char out[16];

	(void)state;
	assert_true(lc_peek(at(PAGE - 16), out, sizeof(out)));
	assert_memory_equal(out, memory + PAGE - 16, sizeof(out));
	assert_int_equal(lc_peek_get64(out), 0xf7f6f5f4f3f2f1f0);
	assert_int_equal(lc_peek_get32(out + 1), 0xf4f3f2f1);
}

static void memory_that_ends_too_early_is_refused_and_errno_kept(void **state)
{
	unsigned char out[16];

	(void)state;
	errno = ERANGE;
	assert_false(lc_peek(at(PAGE - 15), out, sizeof(out)));
	assert_false(lc_peek(at(PAGE), out, sizeof(out)));
	assert_false(lc_peek(0, out, sizeof(out)));
	assert_int_equal(errno, ERANGE);
}

static void parts_come_up_to_the_first_that_is_not_there(void **state)
{
	unsigned char out[24] = { 0 };
	const struct iovec into = { out, sizeof(out) };
	const struct iovec from[] = { lc_peek_part(at(8), 8), lc_peek_part(at(PAGE), 8),
		                      lc_peek_part(at(16), 8) };

	(void)state;
	assert_int_equal(lc_peek_parts(&into, 1, from, 3), 8);
	assert_memory_equal(out, memory + 8, 8);
	assert_int_equal(out[8], 0);
	assert_int_equal(lc_peek_parts(&into, 1, from + 1, 2), 0);
}

static void all_parts_are_copied_or_it_is_said(void **state)
{
	uint64_t a = 0;
	uint32_t b = 0;
	const struct iovec into[] = { { &a, sizeof(a) }, { &b, sizeof(b) } };
	const struct iovec from[] = { lc_peek_part(at(0), sizeof(a)),
		                      lc_peek_part(at(32), sizeof(b)) };
	const struct iovec half[] = { from[0], lc_peek_part(at(PAGE - 2), sizeof(b)) };

	(void)state;
	assert_true(lc_peek_all(into, from, 2));
	assert_int_equal(a, 0x0706050403020100);
	assert_int_equal(b, 0x23222120);
	assert_false(lc_peek_all(into, half, 2));
}

static void a_handle_leads_to_its_object_whatever_its_tag(void **state)
{
	uint64_t slot = UINT64_C(0x7f0012345678);

	(void)state;
	for (uintptr_t tag = 0; tag < 8; tag++)
		assert_int_equal(lc_handle_address((jobject)((uintptr_t)&slot | tag)), slot);
	slot = 0;
	assert_int_equal(lc_handle_address((jobject)&slot), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, map, unmap)
	const struct CMUnitTest tests[] = {
		TEST(memory_that_is_there_is_copied),
		TEST(memory_that_ends_too_early_is_refused_and_errno_kept),
		TEST(parts_come_up_to_the_first_that_is_not_there),
		TEST(all_parts_are_copied_or_it_is_said),
		TEST(a_handle_leads_to_its_object_whatever_its_tag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
