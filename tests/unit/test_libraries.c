/* uses: src/jvm/os/libraries.c src/jvm/os/imports.c -ldl */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_libraries.c - checks that calls of the program's libraries are redirected, and of no others.
 * The program's library is libzstd, which is loaded while the test runs.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/jvm/os/libraries.h"

#define LIBRARY "libzstd.so.1"

static unsigned allocations, frees;

static void *counted_malloc(size_t n);
static void counted_free(void *p);

static struct lc_swap swaps[] = {
	{ .name = "malloc", .ours = (void *)(uintptr_t)counted_malloc },
	{ .name = "free", .ours = (void *)(uintptr_t)counted_free },
	{ .name = "a function of nobody", .ours = (void *)(uintptr_t)counted_free },
};
static struct lc_program program = { .home = "" };

typedef void *malloc_fn(size_t);
typedef void free_fn(void *);

static void *counted_malloc(size_t n)
{
	allocations++;
	return ((malloc_fn *)(uintptr_t)swaps[0].theirs)(n);
}

static void counted_free(void *p)
{
	frees++;
	((free_fn *)(uintptr_t)swaps[1].theirs)(p);
}

static int setup(void **state)
{
	swaps[0].theirs = dlsym(RTLD_DEFAULT, "malloc");
	swaps[1].theirs = dlsym(RTLD_DEFAULT, "free");
	*state = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
	return !*state || !swaps[0].theirs || !swaps[1].theirs;
}

static int teardown(void **state)
{
	return *state ? dlclose(*state) : 0;
}

/* Have the library allocate and free. Returns how many of its calls went through this file. */
static unsigned use_library(void *library)
{
	void *(*create)(void) = (void *(*)(void))(uintptr_t)dlsym(library, "ZSTD_createCCtx");
	size_t (*end)(void *) = (size_t(*)(void *))(uintptr_t)dlsym(library, "ZSTD_freeCCtx");
	void *context;

	assert_true(create && end);
	allocations = frees = 0;
	context = create();
	assert_non_null(context);
	assert_int_equal(end(context), 0);
	assert_int_equal(allocations, frees);
	return allocations;
}

static size_t redirect(void)
{
	return lc_libraries_redirect(swaps, 3, &program);
}

static size_t restore(void)
{
	return lc_libraries_restore(swaps, 3);
}

static uint64_t inside(void *library)
{
	return (uint64_t)(uintptr_t)dlsym(library, "ZSTD_createCCtx");
}

/* The page may be sealed or not, and the slot used before or not: libzstd's are what they are. */
static void its_calls_are_redirected_and_restored(void **state)
{
	assert_int_equal(use_library(*state), 0);
	assert_true(redirect() > 0);
	assert_int_not_equal(use_library(*state), 0);
	assert_true(redirect() > 0); /* again: nothing leads in a circle */
	assert_int_not_equal(use_library(*state), 0);
	assert_int_equal(restore(), 0);
	assert_int_equal(use_library(*state), 0);
	assert_int_equal(restore(), 0);
}

static void a_library_that_is_unloaded_leaves_nothing_behind(void **state)
{
	struct lc_libraries_seen seen = { 0 };

	assert_true(lc_libraries_changed(&seen));
	assert_false(lc_libraries_changed(&seen));
	assert_true(redirect() > 0);
	assert_int_equal(dlclose(*state), 0);
	*state = NULL;
	assert_true(lc_libraries_changed(&seen));
	(void)redirect();
	*state = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
	assert_non_null(*state);
	assert_true(lc_libraries_changed(&seen));
	assert_int_equal(use_library(*state), 0); /* it is a new one */
	assert_true(redirect() > 0);
	assert_int_not_equal(use_library(*state), 0);
	assert_int_equal(restore(), 0);
}

/* libjvm, and all that was loaded before it; the JDK's; and ours. */
static void libraries_that_are_not_the_programs_are_left_alone(void **state)
{
	Dl_info info;

	assert_true(dladdr((void *)(uintptr_t)inside(*state), &info));
	program.jvm = inside(*state);
	assert_int_equal(redirect(), 0);
	program = (struct lc_program){ .own = inside(*state), .home = "" };
	(void)redirect();
	assert_int_equal(use_library(*state), 0);
	program = (struct lc_program){ .home = info.dli_fname };
	(void)redirect();
	assert_int_equal(use_library(*state), 0);
	program = (struct lc_program){ .home = "" };
	assert_int_equal(restore(), 0);
}

/* Another tool may have redirected a slot before. */
static void a_slot_that_leads_elsewhere_stays(void **state)
{
	struct lc_swap other[] = { { .name = "malloc",
		                     .theirs = (void *)(uintptr_t)use_library,
		                     .ours = (void *)(uintptr_t)setup } };

	assert_true(redirect() > 0);
	assert_int_equal(lc_libraries_redirect(other, 1, &program), 0);
	assert_int_equal(lc_libraries_restore(other, 1), 0);
	assert_int_not_equal(use_library(*state), 0);
	assert_int_equal(restore(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(its_calls_are_redirected_and_restored, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(a_library_that_is_unloaded_leaves_nothing_behind,
		                                setup, teardown),
		cmocka_unit_test_setup_teardown(libraries_that_are_not_the_programs_are_left_alone,
		                                setup, teardown),
		cmocka_unit_test_setup_teardown(a_slot_that_leads_elsewhere_stays, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
