/* uses: src/core/version.c src/core/memory.c src/jvm/layout/metaspace.c src/jvm/os/peek.c src/core/method_number.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_metaspace.c - checks which addresses methods lead to. The JVM's structures are laid out in
 * an arena of four blocks here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <sys/mman.h>

#include "src/core/record.h"
#include "src/jvm/layout/metaspace.h"
#include "src/jvm/layout/method_ids.h"
#include "src/jvm/layout/ranges.h"
#include "src/jvm/layout/vmstructs.h"
#include "src/jvm/os/peek.h"

enum { BLOCK = 4 << 20, ARENA = 5 * BLOCK, LIBRARY = 0x5000, ARCHIVE = 0x9000 };
enum { CONST_METHOD = 8, METHOD_DATA = 24 };

static unsigned char *arena; /* begins where a block does */
static uint64_t archived;    /* [archived, archived + BLOCK) is the archive of classes */
static int32_t version;

static uint64_t at(unsigned block, uint64_t offset)
{
	return (uintptr_t)arena + (uint64_t)block * BLOCK + offset;
}

static void put(uint64_t to, uint64_t word)
{
	memcpy((void *)(uintptr_t)to, &word, sizeof(word)); /* NOLINT */
}

/* -- the rest of the agent ------------------------------------------------------------------- */

struct lc_range lc_ranges_library(void)
{
	return (struct lc_range){ LIBRARY, LIBRARY + 0x1000 };
}

enum lc_range_owner lc_ranges_owner(uint64_t addr)
{
	if (archived && addr - archived < BLOCK)
		return LC_RANGE_JVM;
	return addr - ARCHIVE < 0x1000 ? LC_RANGE_JVM : LC_RANGE_NOBODY;
}

long lc_vm_offset(const char *type, const char *field)
{
	assert_string_equal(type, "Method");
	if (!strcmp(field, "_constMethod"))
		return CONST_METHOD;
	return strcmp(field, "_method_data") ? -2 : METHOD_DATA;
}

void *lc_vm_static(const char *type, const char *field)
{
	assert_string_equal(type, "Abstract_VM_Version");
	assert_string_equal(field, "_vm_major_version");
	return version ? &version : NULL;
}

uint64_t lc_method_ids_method(JNIEnv *jni, uint64_t number)
{
	uint64_t method = 0;

	return lc_peek(number, &method, sizeof(method)) ? method : 0;
}

/* -- the tests ------------------------------------------------------------------------------- */

/* A method in block 0, its profile in block 2, and an ID of it outside. */
static uint64_t frame(uint64_t table)
{
	static uint64_t id;

	put(at(0, 0x100), table);
	put(at(0, 0x100) + METHOD_DATA, at(2, 0x5000));
	id = at(0, 0x100);
	return lc_frame_pack(&id, 7);
}

static int setup(void **state)
{
	void *p = mmap(NULL, ARENA, PROT_READ | PROT_WRITE,
	               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return -1;
	arena =
	    (unsigned char *)(((uintptr_t)p + BLOCK - 1) & ~(uintptr_t)(BLOCK - 1)); /* NOLINT */
	archived = 0;
	version = 17;
	lc_metaspace_init();
	return 0;
}

static void a_method_leads_to_its_block_and_to_that_of_its_profile(void **state)
{
	const uint64_t of = frame(LIBRARY + 8);

	assert_false(lc_metaspace_holds(at(0, 0)));
	lc_metaspace_learn(NULL, at(3, 0), &of, 1);
	assert_true(lc_metaspace_holds(at(0, 0)));
	assert_true(lc_metaspace_holds(at(0, BLOCK - 1)));
	assert_false(lc_metaspace_holds(at(1, 0)));
	assert_true(lc_metaspace_holds(at(2, 0)));
	assert_false(lc_metaspace_holds(at(3, 0)));
	assert_false(lc_metaspace_holds(at(0, 0) - 1));
}

static void callers_lead_there_too(void **state)
{
	const uint64_t frames[] = { lc_frame_pack(NULL, 1), frame(LIBRARY) };

	lc_metaspace_learn(NULL, at(3, 0), frames, 1);
	assert_false(lc_metaspace_holds(at(0, 0)));
	lc_metaspace_learn(NULL, at(3, 0), frames, 2);
	assert_true(lc_metaspace_holds(at(0, 0)));
}

static void what_has_no_table_of_functions_is_no_method(void **state)
{
	const uint64_t of = frame(LIBRARY - 8);

	lc_metaspace_learn(NULL, at(3, 0), &of, 1);
	assert_false(lc_metaspace_holds(at(0, 0)));
	assert_false(lc_metaspace_holds(at(2, 0)));
}

static void a_method_of_the_archive_has_its_profile_elsewhere(void **state)
{
	const uint64_t of = frame(ARCHIVE + 16);

	archived = at(0, 0);
	lc_metaspace_learn(NULL, at(3, 0), &of, 1);
	assert_false(lc_metaspace_holds(at(0, 0)));
	assert_true(lc_metaspace_holds(at(2, 0)));
}

static void nothing_is_learnt_of_an_address_that_is_known(void **state)
{
	const uint64_t of = frame(LIBRARY);

	lc_metaspace_learn(NULL, ARCHIVE, &of, 1);
	assert_false(lc_metaspace_holds(at(0, 0)));
}

static void a_jvm_without_such_blocks_has_none(void **state)
{
	static const int32_t others[] = { 0, 11, 15 };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		const uint64_t of = frame(LIBRARY);

		version = others[i];
		lc_metaspace_init();
		lc_metaspace_learn(NULL, at(3, 0), &of, 1);
		assert_false(lc_metaspace_holds(at(0, 0)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_method_leads_to_its_block_and_to_that_of_its_profile,
		                       setup),
		cmocka_unit_test_setup(callers_lead_there_too, setup),
		cmocka_unit_test_setup(what_has_no_table_of_functions_is_no_method, setup),
		cmocka_unit_test_setup(a_method_of_the_archive_has_its_profile_elsewhere, setup),
		cmocka_unit_test_setup(nothing_is_learnt_of_an_address_that_is_known, setup),
		cmocka_unit_test_setup(a_jvm_without_such_blocks_has_none, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
