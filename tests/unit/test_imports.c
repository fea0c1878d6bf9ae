/* uses: src/jvm/os/imports.c -lzstd */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_imports.c - checks that a library calls what stands in its import slots. It is libzstd. */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
/* cmocka.h wants the above first. */
#include <cmocka.h>
#include <zstd.h>

#include "src/jvm/os/imports.h"

enum { BYTES = 100000, PERMISSIONS = 5 };

static unsigned copies, moves;

static void *counted_copy(void *dst, const void *src, size_t n);
static void *counted_move(void *dst, const void *src, size_t n);

static struct lc_import list[] = {
	{ .name = "memcpy", .ours = (void *)(uintptr_t)counted_copy },
	{ .name = "memmove", .ours = (void *)(uintptr_t)counted_move },
};
static struct lc_imports imports = { .list = list, .len = 2 };

typedef void *copy_fn(void *, const void *, size_t);

static void *counted_copy(void *dst, const void *src, size_t n)
{
	copies++;
	return ((copy_fn *)(uintptr_t)list[0].before)(dst, src, n);
}

static void *counted_move(void *dst, const void *src, size_t n)
{
	moves++;
	return ((copy_fn *)(uintptr_t)list[1].before)(dst, src, n);
}

static uint64_t inside(void)
{
	return (uint64_t)(uintptr_t)ZSTD_compress;
}

/* Compress, and look whether all of it comes back. */
static void use_library(void)
{
	static uint8_t text[BYTES], packed[2 * BYTES], back[BYTES];
	size_t len;

	for (size_t i = 0; i < BYTES; i++)
		text[i] = (uint8_t)(i * i >> 7);
	copies = moves = 0;
	len = ZSTD_compress(packed, sizeof(packed), text, BYTES, 3);
	assert_false(ZSTD_isError(len));
	assert_int_equal(ZSTD_decompress(back, BYTES, packed, len), BYTES);
	assert_memory_equal(back, text, BYTES);
}

/* "r--p" of the page that the address lies in. */
static void permissions(const void *at, char out[PERMISSIONS])
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uint64_t low, high;
	char line[512];

	assert_non_null(maps);
	out[0] = '\0';
	while (fgets(line, sizeof(line), maps)) {
		char found[PERMISSIONS];

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &low, &high, found) == 3 &&
		    (uintptr_t)at >= low && (uintptr_t)at < high)
			memcpy(out, found, sizeof(found));
	}
	assert_int_equal(fclose(maps), 0);
	assert_int_not_equal(out[0], '\0');
}

static void its_calls_are_redirected_and_restored(void **state)
{
	char before[PERMISSIONS], during[PERMISSIONS], after[PERMISSIONS];

	assert_int_equal(lc_imports_find(inside(), &imports), 0);
	assert_false(lc_imports_ours(&imports));
	permissions(list[0].slots[0], before);
	assert_int_equal(lc_imports_redirect(&imports), 0);
	assert_true(lc_imports_ours(&imports));
	permissions(list[0].slots[0], during);
	use_library();
	assert_int_not_equal(copies, 0);
	assert_int_equal(lc_imports_restore(&imports), 0);
	permissions(list[0].slots[0], after);
	use_library();
	assert_int_equal(copies + moves, 0);
	assert_string_equal(before, during);
	assert_string_equal(before, after);
}

static void what_somebody_else_has_redirected_since_stays(void **state)
{
	struct lc_import other_list[] = { { .name = "memcpy",
		                            .ours = (void *)(uintptr_t)counted_move } };
	struct lc_imports other = { .list = other_list, .len = 1 };

	assert_int_equal(lc_imports_find(inside(), &imports), 0);
	assert_int_equal(lc_imports_redirect(&imports), 0);
	assert_int_equal(lc_imports_find(inside(), &other), 0);
	assert_ptr_equal(other_list[0].before, list[0].ours);
	assert_int_equal(lc_imports_redirect(&other), 0);
	assert_false(lc_imports_ours(&imports));
	assert_int_equal(lc_imports_restore(&imports), -EBUSY);
	assert_true(lc_imports_ours(&other));
	assert_int_equal(lc_imports_restore(&other), 0);
	assert_true(*list[0].slots[0] == (uintptr_t)list[0].ours);
	assert_int_equal(lc_imports_restore(&imports), 0);
	use_library();
	assert_int_equal(copies + moves, 0);
}

/* The state after a recording whose end could not write to them. */
static void slots_that_lead_to_ours_already_do_not_lead_there_twice(void **state)
{
	void *before;

	assert_int_equal(lc_imports_find(inside(), &imports), 0);
	before = list[0].before;
	assert_int_equal(lc_imports_redirect(&imports), 0);
	assert_int_equal(lc_imports_find(inside(), &imports), 0);
	assert_ptr_equal(list[0].before, before);
	assert_int_equal(lc_imports_redirect(&imports), 0);
	use_library();
	assert_int_not_equal(copies, 0);
	assert_int_equal(lc_imports_restore(&imports), 0);
	use_library();
	assert_int_equal(copies + moves, 0);
}

/* Another tool that redirects slots may have made their page writable, and count on it. */
static void a_page_that_is_writable_stays_so(void **state)
{
	const uintptr_t page = 4096;
	char after[PERMISSIONS];
	void *at;

	assert_int_equal(lc_imports_find(inside(), &imports), 0);
	at = (void *)((uintptr_t)list[0].slots[0] & ~(page - 1));
	assert_int_equal(mprotect(at, page, PROT_READ | PROT_WRITE), 0);
	assert_int_equal(lc_imports_redirect(&imports), 0);
	permissions(list[0].slots[0], after);
	assert_string_equal(after, "rw-p");
	assert_int_equal(lc_imports_restore(&imports), 0);
	permissions(list[0].slots[0], after);
	assert_string_equal(after, "rw-p");
	assert_int_equal(mprotect(at, page, PROT_READ), 0);
}

static void what_is_not_imported_is_not_found(void **state)
{
	struct lc_import none[] = { { .name = "memcpy" }, { .name = "a function of nobody" } };
	struct lc_imports with_none = { .list = none, .len = 2 };

	assert_int_equal(lc_imports_find(inside(), &with_none), -ENOENT);
	assert_int_equal(lc_imports_find((uint64_t)(uintptr_t)none, &imports), -ENOENT); /* stack */
	assert_int_equal(lc_imports_find(0, &imports), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_calls_are_redirected_and_restored),
		cmocka_unit_test(what_somebody_else_has_redirected_since_stays),
		cmocka_unit_test(slots_that_lead_to_ours_already_do_not_lead_there_twice),
		cmocka_unit_test(a_page_that_is_writable_stays_so),
		cmocka_unit_test(what_is_not_imported_is_not_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
