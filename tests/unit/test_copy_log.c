/* uses: src/core/memory.c src/gc/copy_log.c src/base/say.c src/jvm/os/peek.c tests/unit/imports_model.c -lpthread src/gc/move_log.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_copy_log.c - checks that libjvm's copies are made in every state, and logged as they should.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h wants the above first. */
#include <cmocka.h>
#include <pthread.h>
#include <sys/mman.h>

#include "src/gc/copy_log.h"
#include "tests/unit/imports_model.h"

enum { HEAP_BYTES = 4 << 20, CHUNKS = 16, THREADS = 4 };

#define copy model_memcpy
#define move model_memmove

static unsigned char *heap;
static uint32_t links[CHUNKS];

static void open_log(uint64_t min_bytes, uint32_t chunks_len)
{
	struct lc_copy_log *p = &lc_copy_log;

	p->low = (uintptr_t)heap;
	p->span = HEAP_BYTES;
	p->min_bytes = min_bytes;
	p->chunks_len = chunks_len;
	p->link = links;
	atomic_store(&p->free_head, 0);
	atomic_store(&p->fresh, 0);
	atomic_store(&p->head, 0);
	atomic_store(&p->lost, 0);
	atomic_store(&p->slid, 0);
	atomic_fetch_add(&p->generation, 1);
	lc_copy_log_arm(true);
}

static const struct lc_copy *logged(size_t i)
{
	uint32_t head = atomic_load(&lc_copy_log.head);

	assert_int_not_equal(head, 0);
	assert_true(i < lc_copy_log.chunks[head - 1].used);
	return &lc_copy_log.chunks[head - 1].copies[i];
}

static size_t logged_len(void)
{
	size_t n = 0;

	for (uint32_t i = atomic_load(&lc_copy_log.head); i; i = lc_copy_log.chunks[i - 1].next)
		n += lc_copy_log.chunks[i - 1].used;
	return n;
}

static int setup(void **state)
{
	if (lc_copy_log_init())
		return -1;
	heap = mmap(NULL, HEAP_BYTES + (size_t)CHUNKS * sizeof(struct lc_copy_chunk),
	            PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (heap == MAP_FAILED)
		return -1;
	lc_copy_log.chunks = (struct lc_copy_chunk *)(void *)(heap + HEAP_BYTES);
	return 0;
}

static int teardown(void **state)
{
	lc_copy_log_arm(false);
	return munmap(heap, HEAP_BYTES + (size_t)CHUNKS * sizeof(struct lc_copy_chunk));
}

static void set_mark(size_t at, uint64_t mark)
{
	*(volatile uint64_t *)(void *)(heap + at) = mark;
}

static void check_overlap(void)
{
	unsigned char a[64], want[64];

	for (size_t to = 0; to < 16; to++) {
		for (size_t from = 0; from < 16; from++) {
			for (size_t i = 0; i < sizeof(a); i++)
				a[i] = want[i] = (unsigned char)i;
			for (size_t i = 0; i < 40; i++)
				want[to + i] = (unsigned char)(from + i);
			assert_ptr_equal(move(a + to, a + from, 40), a + to);
			for (size_t i = 0; i < sizeof(a); i++)
				assert_int_equal(a[i], want[i]);
		}
	}
}

static void overlapping_copies_are_right_in_every_state(void **state)
{
	check_overlap();
	open_log(8, CHUNKS);
	check_overlap();
	lc_copy_log_arm(false);
}

static void logs_only_within_the_heap_and_from_the_size_on(void **state)
{
	static char outside[2048];

	open_log(1024, CHUNKS);
	copy(heap, outside, 2048);
	copy(outside, heap, 2048);
	copy(heap + 8192, heap, 1016);
	assert_int_equal(logged_len(), 0);
	copy(heap + 8192, heap, 1024);
	lc_copy_log_arm(false);
	copy(heap + 8192, heap, 1024);
	assert_int_equal(logged_len(), 1);
	assert_int_equal(lc_copy_src(logged(0)), (uintptr_t)heap);
	assert_int_equal(logged(0)->dst, (uintptr_t)heap + 8192);
	assert_int_equal(lc_copy_size(logged(0)), 1024);
	assert_int_equal(lc_copy_kind(logged(0)), LC_COPY_EVACUATE);
	assert_int_equal(atomic_load(&lc_copy_log.slid), 0);
}

static void sees_the_first_piece_of_an_object_that_crosses_a_region(void **state)
{
	open_log(1024, CHUNKS);
	move(heap + (512 << 10) - 80, heap + (700 << 10), 80);
	move(heap + (512 << 10), heap + (700 << 10) + 80, 1024 - 64);
	move(heap + 4096, heap + (800 << 10), 80);
	lc_copy_log_arm(false);
	assert_int_equal(logged_len(), 2);
	assert_int_equal(lc_copy_size(logged(0)), 80);
	assert_int_equal(lc_copy_kind(logged(1)), LC_COPY_SLIDE);
	assert_int_equal(atomic_load(&lc_copy_log.slid), 1);
}

static void judges_a_copy_at_the_next_one_by_the_forwarding_pointer(void **state)
{
	uint64_t dst = (uintptr_t)heap + (1 << 20);

	open_log(1024, CHUNKS);
	copy(heap + (1 << 20), heap, 1024);
	set_mark(0, dst | 3);
	copy(heap + (2 << 20), heap + 2048, 1024);
	set_mark(2048, dst | 3); /* another thread's copy */
	copy(heap + (2 << 20), heap + 4096, 1024);
	set_mark(4096, ((uintptr_t)heap + 4096) | 3); /* itself: evacuation failed */
	copy(heap + (2 << 20), heap + 6144, 1024);
	set_mark(6144, 5);                       /* itself, as later JDKs say it */
	copy(heap + (2 << 20), heap + 8192, 80); /* too small for the log, good for judging */
	lc_copy_log_arm(false);
	assert_int_equal(logged_len(), 4);
	assert_int_equal(lc_copy_fate(logged(0)), LC_COPY_WON);
	assert_int_equal(lc_copy_fate(logged(1)), LC_COPY_LOST);
	assert_int_equal(lc_copy_fate(logged(2)), LC_COPY_LOST);
	assert_int_equal(lc_copy_fate(logged(3)), LC_COPY_LOST);
}

static void a_copy_of_an_earlier_window_is_not_touched_again(void **state)
{
	const struct lc_copy *old;

	open_log(1024, CHUNKS);
	copy(heap + (1 << 20), heap, 1024);
	lc_copy_log_arm(false);
	old = logged(0);
	set_mark(0, 3);
	open_log(1024, CHUNKS);
	atomic_store(&lc_copy_log.fresh, 1); /* the old chunk is still in use */
	copy(heap + (1 << 20), heap, 1024);
	lc_copy_log_arm(false);
	assert_ptr_not_equal(logged(0), old);
	assert_int_equal(lc_copy_fate(old), LC_COPY_UNKNOWN);
}

static void a_source_that_was_given_back_is_not_read_when_sliding_begins(void **state)
{
	open_log(1024, CHUNKS);
	copy(heap + (1 << 20), heap, 1024);
	mprotect(heap, 4096, PROT_NONE);
	move(heap + (2 << 20), heap + (1 << 20), 1024);
	mprotect(heap, 4096, PROT_READ | PROT_WRITE);
	lc_copy_log_arm(false);
	assert_int_equal(logged_len(), 2);
	assert_int_equal(lc_copy_fate(logged(0)), LC_COPY_UNKNOWN);
}

static void a_full_arena_copies_on_and_counts(void **state)
{
	open_log(8, 1);
	for (size_t i = 0; i < LC_COPY_CHUNK_CAP + 10; i++) {
		*(volatile uint64_t *)(void *)heap = i;
		copy(heap + 4096, heap, 16);
		assert_int_equal(*(volatile uint64_t *)(void *)(heap + 4096), i);
	}
	lc_copy_log_arm(false);
	assert_int_equal(logged_len(), LC_COPY_CHUNK_CAP);
	assert_int_equal(atomic_load(&lc_copy_log.lost), 10);
}

static void *copy_many(void *arg)
{
	unsigned char *mine = heap + (size_t)(uintptr_t)arg * 65536;

	for (size_t i = 0; i < LC_COPY_CHUNK_CAP * 3; i++)
		copy(mine + 32768, mine, 1024);
	return NULL;
}

static void threads_do_not_mix_their_records(void **state)
{
	pthread_t t[THREADS];
	size_t of[THREADS] = { 0 };

	open_log(1024, CHUNKS);
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, copy_many, (void *)i), 0);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	lc_copy_log_arm(false);
	for (uint32_t i = atomic_load(&lc_copy_log.head); i; i = lc_copy_log.chunks[i - 1].next) {
		const struct lc_copy_chunk *c = &lc_copy_log.chunks[i - 1];
		size_t owner = (lc_copy_src(&c->copies[0]) - (uintptr_t)heap) / 65536;

		for (uint32_t k = 0; k < c->used; k++) {
			assert_int_equal((lc_copy_src(&c->copies[k]) - (uintptr_t)heap) / 65536,
			                 owner);
			assert_int_equal(c->copies[k].size_tag >> LC_COPY_TAG_SHIFT, c->tag);
		}
		of[owner] += c->used;
	}
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(of[i], LC_COPY_CHUNK_CAP * 3);
}

static struct {
	unsigned times;
	uint64_t low, high;
	unsigned char first; /* byte of what was there */
} told;

static void note_map(uint64_t low, uint64_t high)
{
	told.times++;
	told.low = low;
	told.high = high;
	told.first = *(unsigned char *)(uintptr_t)low;
}

static void memory_that_is_mapped_over_is_told_before(void **state)
{
	enum { BYTES = 8192 };
	const int private = MAP_PRIVATE | MAP_ANONYMOUS;
	void *other;

	heap[BYTES] = 7;
	assert_ptr_equal(model_mmap(heap, BYTES, PROT_READ, private | MAP_FIXED, -1, 0), heap);
	assert_int_equal(told.times, 0);
	atomic_store(&lc_copy_log.map_fixed, note_map);
	other = model_mmap(NULL, BYTES, PROT_READ, private, -1, 0); /* where there is nothing */
	assert_int_equal(told.times, 0);
	munmap(other, BYTES);
	assert_ptr_equal(model_mmap(heap + BYTES, BYTES, PROT_READ, private | MAP_FIXED, -1, 0),
	                 heap + BYTES);
	assert_int_equal(told.times, 1);
	assert_int_equal(told.low, (uintptr_t)heap + BYTES);
	assert_int_equal(told.high, (uintptr_t)heap + 2 * BYTES);
	assert_int_equal(told.first, 7);
	assert_int_equal(heap[BYTES], 0);
	atomic_store(&lc_copy_log.map_fixed, NULL);
}

static void a_library_that_cannot_be_redirected_is_left_alone(void **state)
{
	model_imports_error = -ENOENT;
	assert_int_equal(lc_copy_log_init(), -ENOENT);
	model_redirect_error = -EACCES;
	assert_int_equal(lc_copy_log_init(), -EACCES);
	assert_ptr_equal(model_memcpy, memcpy);
	assert_false(lc_copy_log_passed());
	assert_int_equal(lc_copy_log_init(), 0);
	assert_true(lc_copy_log_passed());
	assert_ptr_not_equal(model_memcpy, memcpy);
}

/* ---- a JVM that copies arrays out of its heap, by what it imports or by code of its own ---- */

static void *(*jvm_copies)(void *, const void *, size_t);
static bool heap_is_full, thrown;

static jbyteArray JNICALL new_array(JNIEnv *jni, jsize len)
{
	assert_in_range(len, 1, HEAP_BYTES);
	thrown = heap_is_full;
	return heap_is_full ? NULL : (jbyteArray)heap;
}

static void JNICALL get_region(JNIEnv *jni, jbyteArray array, jsize from, jsize len, jbyte *to)
{
	jvm_copies(to, (unsigned char *)array + from, (size_t)len);
}

static void *own_copy(void *to, const void *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((volatile unsigned char *)to)[i] = ((const unsigned char *)from)[i];
	return to;
}

static jboolean JNICALL is_thrown(JNIEnv *jni)
{
	return thrown;
}

static void JNICALL clear(JNIEnv *jni)
{
	thrown = false;
}

static void JNICALL let_go(JNIEnv *jni, jobject array)
{
	assert_ptr_equal(array, heap);
}

static const struct JNINativeInterface_ functions = { .NewByteArray = new_array,
	                                              .GetByteArrayRegion = get_region,
	                                              .ExceptionCheck = is_thrown,
	                                              .ExceptionClear = clear,
	                                              .DeleteLocalRef = let_go };

static void a_jvm_that_copies_by_code_of_its_own_is_told(void **state)
{
	JNIEnv jni = &functions;

	jvm_copies = model_memmove;
	assert_true(lc_copy_log_probe(&jni));
	jvm_copies = own_copy;
	assert_false(lc_copy_log_probe(&jni));
	heap_is_full = true;
	assert_true(lc_copy_log_probe(&jni));
	assert_false(thrown);
	heap_is_full = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_library_that_cannot_be_redirected_is_left_alone),
		cmocka_unit_test_setup_teardown(a_jvm_that_copies_by_code_of_its_own_is_told, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(memory_that_is_mapped_over_is_told_before, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(overlapping_copies_are_right_in_every_state, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(logs_only_within_the_heap_and_from_the_size_on,
		                                setup, teardown),
		cmocka_unit_test_setup_teardown(
		    sees_the_first_piece_of_an_object_that_crosses_a_region, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    judges_a_copy_at_the_next_one_by_the_forwarding_pointer, setup, teardown),
		cmocka_unit_test_setup_teardown(a_copy_of_an_earlier_window_is_not_touched_again,
		                                setup, teardown),
		cmocka_unit_test_setup_teardown(
		    a_source_that_was_given_back_is_not_read_when_sliding_begins, setup, teardown),
		cmocka_unit_test_setup_teardown(a_full_arena_copies_on_and_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(threads_do_not_mix_their_records, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
