/* uses: src/core/stand_back.c src/core/epoch.c src/core/wake.c src/heap/audit.c src/heap/map.c src/heap/map_store.c src/heap/map_close.c src/heap/map_resolve.c src/heap/map_order.c -lJudy -Wl,--wrap=malloc,--wrap=calloc */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_audit.c - checks that the audit says wrong where map and JVM differ, and only there. The JVM
 * is a fake.
 */
#include <errno.h>
#include <jni.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/heap/audit.h"
#include "src/heap/map.h"
#include "src/jvm/layout/ranges.h"

#define LOW UINT64_C(0x700000000)
#define EDEN (LOW + 0x100000)
#define HIGH (LOW + 0x200000)

enum { REFS = 10000 };

/* The fake JVM: weak references are slots, handed out with a tag in the low bits. */
static uint64_t slots[REFS];
static size_t refs_len, deleted, exceptions_cleared;
static bool no_refs, attached, no_memory;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *__wrap_malloc(size_t size)
{
	return no_memory ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return no_memory ? NULL : __real_calloc(n, size);
}

static jweak JNICALL new_ref(JNIEnv *env, jobject o)
{
	if (no_refs)
		return NULL;
	slots[refs_len] = *(uint64_t *)o;
	return (jweak)((uintptr_t)&slots[refs_len++] | 1);
}

static void JNICALL delete_ref(JNIEnv *env, jweak ref)
{
	assert_non_null(ref);
	deleted++;
}

static void JNICALL clear_exception(JNIEnv *env)
{
	exceptions_cleared++;
}

uint64_t lc_ranges_plain(uint64_t addr)
{
	return addr;
}

static JNIEnv *the_env(void);
static JavaVM *the_vm(void);

static jint JNICALL get_vm(JNIEnv *env, JavaVM **out)
{
	*out = the_vm();
	return JNI_OK;
}

static jint JNICALL get_env(JavaVM *vm, void **out, jint version)
{
	*out = the_env();
	return attached ? JNI_OK : JNI_EDETACHED;
}

/* A local reference is a slot without a tag. */
static jobject JNICALL new_local(JNIEnv *env, jobject ref)
{
	uint64_t *slot = (uint64_t *)((uintptr_t)ref & ~(uintptr_t)7);

	return *slot ? (jobject)slot : NULL;
}

static void JNICALL delete_local(JNIEnv *env, jobject ref)
{
	assert_non_null(ref);
}

static JNIEnv *the_env(void)
{
	static const struct JNINativeInterface_ functions = {
		.NewLocalRef = new_local,
		.DeleteLocalRef = delete_local,
		.NewWeakGlobalRef = new_ref,
		.DeleteWeakGlobalRef = delete_ref,
		.ExceptionClear = clear_exception,
		.GetJavaVM = get_vm,
	};
	static JNIEnv env = &functions;

	return &env;
}

static JavaVM *the_vm(void)
{
	static const struct JNIInvokeInterface_ functions = { .GetEnv = get_env };
	static JavaVM vm = &functions;

	return &vm;
}

static struct lc_map *map;
static struct lc_alloc records[16];
static size_t records_len;
static struct lc_move moves[16];
static size_t moves_len;
static uint32_t epoch;

static int open_audit(void **state)
{
	memset(slots, 0, sizeof(slots));
	refs_len = deleted = exceptions_cleared = records_len = moves_len = 0;
	no_refs = no_memory = false;
	attached = true;
	epoch = 65534;
	return lc_audit_init() || lc_map_create(&map);
}

static int close_audit(void **state)
{
	no_memory = false;
	lc_audit_destroy();
	lc_map_destroy(map);
	return 0;
}

/* The program allocates: the map hears of it if `known`, the audit always. Returns the slot. */
static size_t allocate(uint64_t addr, uint32_t size_bytes, uint32_t site, bool known)
{
	uint64_t handle = addr;

	if (known)
		records[records_len++] =
		    (struct lc_alloc){ addr | (uint64_t)(uint16_t)epoch << LC_ADDR_BITS,
			               size_bytes / 8, site };
	lc_audit_add(the_env(), (jobject)&handle, addr, size_bytes, site);
	return refs_len - 1;
}

/* The collector moves: the JVM knows, the map if `known`. */
static void move(size_t slot, uint64_t dst, uint64_t size_bytes, bool known)
{
	if (known)
		moves[moves_len++] = (struct lc_move){ slots[slot], dst, size_bytes };
	slots[slot] = dst;
}

static void close_epoch(void)
{
	struct lc_nursery_run run = { records, records_len };
	struct lc_nursery nursery = { &run, 1, (uint16_t)epoch };
	struct lc_area areas[] = { { LOW, EDEN, EDEN, LC_AREA_OLD, 0 },
		                   { EDEN, EDEN, HIGH, LC_AREA_EDEN, 0 } };
	struct lc_map_close c = { &nursery, moves, moves_len, areas, 2,    LOW,
		                  false,    false, true,      true,  false };

	assert_int_equal(lc_map_close_epoch(map, &c), 0);
	records_len = moves_len = 0;
}

static struct lc_audit_totals totals(void)
{
	struct lc_audit_totals t;

	lc_audit_totals(&t);
	return t;
}

static uint64_t wrong(void)
{
	struct lc_audit_totals t = totals();

	return t.wrong_missing + t.wrong_moved + t.wrong_overlap;
}

/* A collection ends and the attribution thread catches up. */
static struct lc_audit_totals collected(void)
{
	lc_audit_snapshot(epoch);
	close_epoch();
	lc_audit_compare(map, epoch++);
	return totals();
}

static void agreement_is_counted_as_checks_and_nothing_else(void **state)
{
	size_t a = allocate(EDEN, 1600, 1, true);
	size_t b = allocate(EDEN + 1600, 1600, 2, true);
	struct lc_audit_totals t;

	move(a, LOW, 1600, true);
	move(b, LOW + 1600, 1600, true);
	collected();
	t = collected();
	assert_int_equal(t.gcs, 2);
	assert_int_equal(t.checks, 4);
	assert_int_equal(t.survivors, 2);
	assert_int_equal(t.objects, 2);
	assert_int_equal(t.stale, 0);
	assert_int_equal(wrong(), 0);
}

static void an_object_that_the_map_does_not_know_is_missing(void **state)
{
	size_t a = allocate(EDEN, 1600, 1, false);

	move(a, LOW, 1600, true);
	assert_int_equal(collected().wrong_missing, 1);
	assert_int_equal(wrong(), 1);
}

static void an_object_whose_move_the_map_missed_is_missing_or_moved(void **state)
{
	size_t a = allocate(EDEN, 1600, 1, true), b = allocate(EDEN + 1600, 1600, 1, true);
	struct lc_audit_totals t;

	move(a, LOW, 1600, true);
	move(b, LOW + 1600, 1600, false);
	assert_int_equal(collected().wrong_missing, 1);
	slots[b] = 0;
	move(a, LOW + 8000, 1600, false);
	t = collected();
	assert_int_equal(t.wrong_moved, 1);
	assert_int_equal(t.wrong_missing, 1);
	assert_int_equal(t.stale, 1); /* where it was */
}

static void a_wrong_size_or_site_is_an_overlap_and_a_missing_object(void **state)
{
	uint64_t handle = LOW;
	struct lc_audit_totals t;

	records[records_len++] = (struct lc_alloc){ LOW | (uint64_t)epoch << LC_ADDR_BITS, 200, 1 };
	lc_audit_add(the_env(), (jobject)&handle, LOW, 1600, 2);
	t = collected();
	assert_int_equal(t.wrong_overlap, 1);
	assert_int_equal(t.wrong_missing, 1);
}

static void the_interval_of_a_dead_object_is_stale_unless_a_live_one_is_there(void **state)
{
	size_t a = allocate(LOW, 1600, 1, true);
	size_t b;

	collected();
	slots[a] = 0;
	assert_int_equal(collected().stale, 1);
	assert_int_equal(wrong(), 0);
	b = allocate(EDEN, 1600, 2, true);
	move(b, LOW + 800, 1600, false);
	assert_int_equal(collected().wrong_overlap, 1);
	assert_int_equal(totals().stale, 1);
}

static void references_to_the_dead_are_deleted_once_and_their_entries_used_again(void **state)
{
	for (int i = 0; i < 100; i++) {
		size_t a = allocate(EDEN, 1600, 1, true), b = allocate(EDEN + 1600, 1600, 1, true);

		slots[a] = 0;
		slots[b] = 0;
		collected();
	}
	assert_int_equal(deleted, 200);
	collected();
	assert_int_equal(deleted, 200);
	assert_int_equal(totals().checks, 0);
	assert_int_equal(wrong(), 0);
}

static void a_thread_that_is_not_attached_deletes_nothing_until_it_is(void **state)
{
	size_t a = allocate(EDEN, 1600, 1, true);

	attached = false;
	slots[a] = 0;
	collected();
	assert_int_equal(deleted, 0);
	attached = true;
	collected();
	assert_int_equal(deleted, 1);
}

static void a_map_that_runs_behind_is_compared_with_its_own_epoch(void **state)
{
	size_t a = allocate(EDEN, 1600, 1, true), b = allocate(EDEN + 1600, 1600, 2, true);

	move(a, LOW, 1600, true);
	move(b, LOW + 1600, 1600, true);
	lc_audit_snapshot(epoch);
	move(a, LOW + 8000, 1600, false);
	slots[b] = 0;
	lc_audit_snapshot(epoch + 1);
	close_epoch();
	lc_audit_compare(map, epoch);
	assert_int_equal(wrong(), 0);
	assert_int_equal(totals().checks, 2);
	assert_int_equal(deleted, 0);
	epoch++;
	moves[moves_len++] = (struct lc_move){ LOW, LOW + 8000, 1600 };
	close_epoch();
	lc_audit_compare(map, epoch);
	assert_int_equal(wrong(), 0);
	assert_int_equal(totals().checks, 3);
	assert_int_equal(deleted, 1);
}

static void a_snapshot_of_an_epoch_never_closed_is_skipped(void **state)
{
	size_t a = allocate(EDEN, 1600, 1, true);

	lc_audit_snapshot(epoch);
	slots[a] = 0;
	lc_audit_snapshot(epoch + 1);
	close_epoch();
	lc_audit_compare(map, epoch + 1);
	assert_int_equal(totals().skipped, 1);
	assert_int_equal(totals().gcs, 1);
	assert_int_equal(deleted, 1);
	lc_audit_compare(map, epoch + 2); /* none was taken */
	assert_int_equal(totals().gcs, 1);
}

static void an_object_without_a_reference_is_counted(void **state)
{
	no_refs = true;
	allocate(EDEN, 1600, 1, true);
	assert_int_equal(exceptions_cleared, 1);
	no_refs = false;
	no_memory = true;
	allocate(EDEN, 1600, 1, true);
	no_memory = false;
	assert_int_equal(deleted, 1);
	assert_int_equal(totals().unheld, 2);
	assert_int_equal(totals().objects, 0);
}

static void without_memory_a_collection_is_skipped(void **state)
{
	size_t a = allocate(LOW, 1600, 1, true);

	no_memory = true;
	lc_audit_snapshot(epoch);
	no_memory = false;
	assert_int_equal(totals().skipped, 1);
	close_epoch();
	lc_audit_snapshot(++epoch);
	no_memory = true;
	lc_audit_compare(map, epoch);
	no_memory = false;
	assert_int_equal(totals().skipped, 2);
	assert_int_equal(totals().gcs, 0);
	slots[a] = 0;
	epoch++;
	collected();
	assert_int_equal(totals().gcs, 1);
	assert_int_equal(deleted, 1);
}

static void more_objects_than_a_block_holds_are_all_compared(void **state)
{
	for (size_t i = 0; i < REFS; i++)
		allocate(EDEN + i * 256, 256, 1, false);
	assert_int_equal(collected().wrong_missing, REFS);
	for (size_t i = 0; i < REFS; i++)
		slots[i] = 0;
	assert_int_equal(collected().checks, REFS);
	assert_int_equal(deleted, REFS);
}

static void an_audit_is_begun_once(void **state)
{
	assert_int_equal(lc_audit_init(), -EALREADY);
	lc_audit_snapshot(1);
	lc_audit_destroy(); /* with a snapshot that nobody took */
	no_memory = true;
	assert_int_equal(lc_audit_init(), -ENOMEM);
	no_memory = false;
	assert_int_equal(lc_audit_init(), 0);
}

/* The last result of lc_audit_ask(). */
static struct lc_audit_question questions[8];
static size_t questions_len;

static void note_question(void *unused, const struct lc_audit_question *q)
{
	questions[questions_len++] = *q;
}

static void ask(void)
{
	uint32_t at = 0;

	questions_len = 0;
	lc_audit_ask(the_env(), &at, SIZE_MAX, note_question, NULL);
	assert_int_equal(at, 0);
}

static void objects_that_move_at_any_time_are_looked_for_where_they_were_then(void **state)
{
	const size_t a = allocate(EDEN, 1600, 1, false), b = allocate(EDEN + 1600, 1600, 2, false);

	assert_int_equal(lc_map_allocated(map, EDEN, 200, 1), 0);
	assert_int_equal(lc_map_allocated(map, EDEN + 1600, 200, 2), 0);
	ask();
	assert_int_equal(questions_len, 2);
	assert_int_equal(questions[1].addr, EDEN + 1600);
	assert_true(questions[1].time_ns >= questions[0].time_ns);
	for (size_t i = 0; i < 2; i++)
		lc_audit_look(map, &questions[i]);
	lc_audit_asked();
	assert_int_equal(totals().gcs, 1);
	assert_int_equal(totals().checks, 2);
	assert_int_equal(totals().survivors, 2);
	assert_int_equal(wrong(), 0);

	slots[a] = LOW; /* the map has not heard of it */
	slots[b] = 0;   /* dead */
	ask();
	assert_int_equal(questions_len, 1);
	assert_int_equal(deleted, 1);
	lc_audit_look(map, &questions[0]);
	assert_int_equal(totals().wrong_moved, 1);
	assert_int_equal(lc_map_moved(map, EDEN, LOW, 1600), 1);
	lc_audit_look(map, &questions[0]);
	assert_int_equal(wrong(), 1);
	assert_int_equal(lc_map_allocated(map, LOW, 200, 3), 0);
	lc_audit_look(map, &questions[0]);
	assert_int_equal(totals().wrong_overlap, 1);
	lc_map_forget_all(map);
	lc_audit_look(map, &questions[0]);
	assert_int_equal(totals().wrong_missing, 1);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, open_audit, close_audit)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(agreement_is_counted_as_checks_and_nothing_else),
		CASE(an_object_that_the_map_does_not_know_is_missing),
		CASE(an_object_whose_move_the_map_missed_is_missing_or_moved),
		CASE(a_wrong_size_or_site_is_an_overlap_and_a_missing_object),
		CASE(the_interval_of_a_dead_object_is_stale_unless_a_live_one_is_there),
		CASE(references_to_the_dead_are_deleted_once_and_their_entries_used_again),
		CASE(a_thread_that_is_not_attached_deletes_nothing_until_it_is),
		CASE(a_map_that_runs_behind_is_compared_with_its_own_epoch),
		CASE(a_snapshot_of_an_epoch_never_closed_is_skipped),
		CASE(an_object_without_a_reference_is_counted),
		CASE(without_memory_a_collection_is_skipped),
		CASE(more_objects_than_a_block_holds_are_all_compared),
		CASE(an_audit_is_begun_once),
		CASE(objects_that_move_at_any_time_are_looked_for_where_they_were_then),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
