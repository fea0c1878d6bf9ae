/* uses: src/core/version.c src/core/memory.c src/heap/estimate.c src/heap/estimate_flush.c src/heap/estimate_live.c src/heap/pace.c src/heap/estimate_path.c src/classfile/internal.c src/heap/split.c src/heap/estimate_sums.c src/core/jitter.c src/core/epoch.c src/core/jvmti.c src/jvm/layout/header.c src/profile/tally.c src/core/thread.c src/jvm/os/peek.c src/stack/walker.c src/stack/walk_credit.c src/core/own_cost.c src/format/section.c -lm -Wl,--wrap=malloc,--wrap=calloc src/core/method_number.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_estimate.c - checks that sampled objects are counted, held, followed and let go. The JVM is
 * a fake.
 *
 * The file is longer than 600 lines: a third is that JVM, which every test needs.
 */
#include <errno.h>
#include <jvmti.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/track.h"
#include "src/core/epoch.h"
#include "src/core/jvmti.h"
#include "src/core/path.h"
#include "src/core/record.h"
#include "src/core/thread.h"
#include "src/heap/context.h"
#include "src/heap/estimate.h"
#include "src/heap/tracked.h"
#include "src/jvm/layout/collector.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/stack/call_trace.h"
#include "src/profile/tally.h"
#include "src/stack/shadow.h"
#include "src/stack/walker.h"
#include "tests/unit/counter.h"

enum {
	REFS = 200000,
	CLASS_WORD = 0x1234,
	OTHER_WORD = 0x5678,
	CLASS_SITE = 7,
	ENGINE = 0,
	INTERVAL = 4096,
	LIVE_MAX = 1 << 16, /* references that are held at most */
};

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);

static bool no_memory;

void *__wrap_malloc(size_t size)
{
	return no_memory ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return no_memory ? NULL : __real_calloc(n, size);
}

/* The fake JVM: weak references are slots, handed out with a tag in the low bits. */
static uint64_t slots[REFS];
static bool deleted[REFS];
static size_t refs_len, deleted_len, exceptions_cleared;
static bool no_refs, no_signature, no_stack, no_interval, no_thread;
static jint interval_set;
static uint64_t word_interned;
static uint32_t site_of_next; /* path of the next events */
static void (*during_new_ref)(void);
static uint32_t collections; /* as the JVM counts them */

/* An object with a header that lc_header_read() can read: the class word is at 8. */
static uint64_t objects[REFS][2];

static size_t slot_of(jweak ref)
{
	assert_int_equal((uintptr_t)ref & 7, 1);
	return (size_t)((uint64_t *)((uintptr_t)ref & ~(uintptr_t)7) - slots);
}

static jweak JNICALL new_ref(JNIEnv *env, jobject o)
{
	if (no_refs)
		return NULL;
	assert_true(refs_len < REFS);
	slots[refs_len] = *(uint64_t *)o;
	if (during_new_ref) {
		void (*f)(void) = during_new_ref;

		during_new_ref = NULL;
		refs_len++;
		f();
		return (jweak)((uintptr_t)&slots[refs_len - 1] | 1);
	}
	return (jweak)((uintptr_t)&slots[refs_len++] | 1);
}

static void JNICALL delete_ref(JNIEnv *env, jweak ref)
{
	assert_false(deleted[slot_of(ref)]);
	deleted[slot_of(ref)] = true;
	deleted_len++;
}

static void JNICALL clear_exception(JNIEnv *env)
{
	exceptions_cleared++;
}

static jboolean JNICALL same_object(JNIEnv *env, jobject a, jobject b)
{
	assert_null(b);
	assert_false(deleted[slot_of(a)]);
	return !slots[slot_of(a)];
}

static jvmtiError JNICALL set_interval(jvmtiEnv *env, jint interval)
{
	interval_set = interval;
	return no_interval ? JVMTI_ERROR_MUST_POSSESS_CAPABILITY : JVMTI_ERROR_NONE;
}

/* The next object has `class`. A method of class `of` allocates it at `instruction`, by calling a
 * native method if `native`. */
static struct {
	const char *class, *of;
	uint8_t instruction;
	bool native;
} allocating;

static uint64_t mirror = 0x7000;

static jvmtiError JNICALL stack_trace(jvmtiEnv *env, jthread thread, jint start, jint max,
                                      jvmtiFrameInfo *frames, jint *len)
{
	assert_null(thread);
	assert_int_equal(start, 0);
	assert_true(max >= 2);
	frames[0] = (jvmtiFrameInfo){ (jmethodID)(uintptr_t)site_of_next, 5 };
	frames[1] = (jvmtiFrameInfo){ (jmethodID)(uintptr_t)0x999, 6 };
	if (max == 2 && allocating.native) {
		frames[1] = frames[0];
		frames[0] = (jvmtiFrameInfo){ (jmethodID)(uintptr_t)0x777, -1 };
	}
	*len = no_stack ? 0 : 2;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL class_signature(jvmtiEnv *env, jclass class, char **signature,
                                          char **generic)
{
	assert_null(generic);
	if (no_signature)
		return JVMTI_ERROR_INVALID_CLASS;
	*signature = strdup(class == (jclass)&mirror            ? allocating.class
	                    : class == (jclass)(uintptr_t)0x777 ? "Ljava/lang/Object;"
	                                                        : allocating.of);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL declaring_class(jvmtiEnv *env, jmethodID method, jclass *class)
{
	*class = (jclass)method;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL bytecodes(jvmtiEnv *env, jmethodID method, jint *len,
                                    unsigned char **code)
{
	if (allocating.native)
		return JVMTI_ERROR_NATIVE_METHOD;
	*len = 6;
	*code = calloc(1, 6);
	(*code)[5] = allocating.instruction;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *env, unsigned char *mem)
{
	free(mem);
	return JVMTI_ERROR_NONE;
}

static JNIEnv *jni_env(void)
{
	static const struct JNINativeInterface_ functions = {
		.NewWeakGlobalRef = new_ref,
		.DeleteWeakGlobalRef = delete_ref,
		.ExceptionClear = clear_exception,
		.IsSameObject = same_object,
	};
	static JNIEnv env = &functions;

	return &env;
}

static jvmtiEnv *jvmti_env(void)
{
	static const struct jvmtiInterface_1_ functions = {
		.SetHeapSamplingInterval = set_interval,
		.GetStackTrace = stack_trace,
		.GetClassSignature = class_signature,
		.GetMethodDeclaringClass = declaring_class,
		.GetBytecodes = bytecodes,
		.Deallocate = deallocate,
	};
	static jvmtiEnv env = &functions;

	return &env;
}

/* Stand-ins for core/path.c and jvm/layout/vmstructs.c. */

uint32_t lc_path_intern_nearest(JNIEnv *jni, uint32_t root, const uint64_t *frames,
                                size_t frames_len, uint32_t depth)
{
	assert_ptr_equal(jni, jni_env());
	assert_int_equal(frames_len, 2);
	assert_int_equal(frames[1], lc_frame_pack((void *)(uintptr_t)0x999, 6));
	return (uint32_t)(frames[0] & 0xffff);
}

uint32_t lc_site_intern(const char *class_signature_text, uint64_t class_word, uint32_t path)
{
	assert_string_equal(class_signature_text, allocating.class);
	assert_true(class_word == CLASS_WORD || class_word == OTHER_WORD || !class_word);
	word_interned = class_word;
	return path ? 100 + path : CLASS_SITE;
}

static bool tracks; /* each class is tracked */

const struct lc_track *lc_tracked(void)
{
	static struct lc_track track;

	return tracks ? &track : NULL;
}

bool lc_tracked_class(jclass class)
{
	return tracks;
}

static enum lc_collector collector = LC_GC_SERIAL;

enum lc_collector lc_collector(void)
{
	return collector;
}

const volatile uint32_t *lc_collector_count(void)
{
	return &collections;
}

/* Stand-ins for stack/shadow.c and heap/context.c: they know nothing, so the JVM is asked. */

struct lc_shadow *lc_contexts_shadow(struct lc_contexts *c, struct lc_walker *walker)
{
	return NULL;
}

bool lc_call_trace_last_java(JNIEnv *env, struct lc_last_java *out)
{
	return false;
}

uint32_t lc_shadow_walk_last(struct lc_shadow *s, const struct lc_last_java *at, uint64_t frame,
                             uint64_t stack_end)
{
	fail();
	return 0;
}

uint64_t *lc_shadow_note(struct lc_shadow *s, uint32_t node, uint64_t key)
{
	return NULL;
}

bool lc_shadow_unknown(const struct lc_shadow *s)
{
	return false;
}

bool lc_shadow_open(const struct lc_shadow *s)
{
	return false;
}

void lc_shadow_try_again(struct lc_shadow *s)
{
}

uint64_t lc_shadow_looked(const struct lc_shadow *s)
{
	return 0;
}

void lc_shadow_stand(struct lc_shadow *s)
{
}

size_t lc_shadow_frames(const struct lc_shadow *s, uint32_t node, uint64_t *frames, size_t max)
{
	return 0;
}

/* Threads */

static struct lc_thread *main_thread, *worker;

static struct lc_thread *enter_thread(JNIEnv *jni)
{
	assert_ptr_equal(jni, jni_env());
	return no_thread ? NULL : worker;
}

static void make_thread(struct lc_thread **out, const char *name)
{
	*out = lc_thread_create(1, name, true);
	assert_non_null(*out);
	assert_int_equal(lc_walker_create(&(*out)->walker), 0);
	(*out)->estimate_interval = INTERVAL; /* as if it had passed a sample point before */
	lc_thread_publish(*out);
}

const struct lc_layout *lc_layout(void)
{
	static const struct lc_layout layout = { .length_offset = 12, .object_alignment = 8 };

	return &layout;
}

static int start(bool follow)
{
	struct lc_estimate_config config = {
		.interval_bytes = INTERVAL,
		.min_size_bytes = 1024,
		.depth = 64,
		.follow = follow,
		.from_start = true,
	};

	return lc_estimate_init(&config);
}

static int open_sample(void **state)
{
	memset(slots, 0, sizeof(slots));
	memset(deleted, 0, sizeof(deleted));
	refs_len = deleted_len = exceptions_cleared = 0;
	no_refs = no_signature = no_stack = no_interval = no_thread = no_memory = false;
	site_of_next = 1;
	allocating.class = "Lcom/acme/Small;";
	allocating.of = "Lcom/acme/A;";
	allocating.instruction = 182;
	allocating.native = false;
	during_new_ref = NULL;
	collections = 0;
	make_thread(&main_thread, "main");
	make_thread(&worker, "worker");
	lc_thread_bind(worker);
	lc_jvmti_set(jvmti_env());
	lc_thread_enter_with(enter_thread);
	return start(true);
}

static int close_sample(void **state)
{
	struct lc_thread *t, *next;

	no_memory = false;
	lc_estimate_destroy();
	lc_thread_bind(NULL);
	for (t = lc_threads_first(); t; t = next) {
		next = t->next;
		lc_threads_unlink(t);
		lc_tally_destroy(t->tally);
		lc_walker_destroy(t->walker);
		free(t);
	}
	return 0;
}

static uint64_t class_word_of_next = CLASS_WORD;

/* An object of the site that the next events are of. Returns the number of its reference. */
static size_t allocate(jlong size)
{
	size_t at = refs_len < REFS ? refs_len : 0;
	uint64_t handle = (uint64_t)(uintptr_t)objects[at];

	objects[at][1] = class_word_of_next;
	lc_estimate_event(jvmti_env(), jni_env(), NULL, (jobject)&handle, (jclass)&mirror, size);
	return refs_len - 1;
}

/* A pause; objects are moved or die by the caller's writing of slots. */
static void pause_with(bool collects)
{
	uint32_t epoch;

	lc_epoch_enter_gc();
	epoch = lc_epoch_now();
	collections += collects;
	lc_estimate_gc_finish(epoch);
	lc_epoch_leave_gc();
}

static void collect(void)
{
	pause_with(true);
}

static void close_last_epoch(void)
{
	lc_estimate_close(lc_epoch_now() - 1, NULL, 0);
}

/* All rows of a thread's tally since the last time, added up. */
static struct lc_block_estimate estimate_of(struct lc_thread *t, uint32_t site)
{
	struct lc_block_estimate sum = { .site = site };
	struct lc_block_input in = { 0 };

	if (!t->tally || !lc_tally_block(t->tally, &in))
		return sum;
	for (size_t i = 0; i < in.estimates_len; i++) {
		const struct lc_block_estimate *row = &in.estimates[i];

		if (row->site != site)
			continue;
		sum.sampled += row->sampled;
		sum.objects_milli += row->objects_milli;
		sum.objects_variance_milli += row->objects_variance_milli;
		sum.bytes += row->bytes;
		sum.bytes_variance_mib += row->bytes_variance_mib;
		for (unsigned c = 0; c < LC_LIVE_COLUMNS; c++)
			sum.live_milli[c] += row->live_milli[c];
	}
	return sum;
}

static uint64_t split_of(struct lc_thread *t, uint8_t method, uint32_t site)
{
	struct lc_block_input in = { 0 };
	uint64_t milli = 0;

	if (!t->tally || !lc_tally_block(t->tally, &in))
		return 0;
	for (size_t i = 0; i < in.splits_len; i++)
		if (in.splits[i].method == method && in.splits[i].site == site) {
			assert_int_equal(in.splits[i].class_site, CLASS_SITE);
			milli += in.splits[i].samples_milli;
		}
	return milli;
}

static void flush(void)
{
	lc_estimate_flush(jni_env());
}

static double chance(double size)
{
	return 1 - exp(-size / INTERVAL);
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fabs(b) + 1;
}

static void object_counts_for_those_that_were_not_picked(void **state)
{
	struct lc_block_estimate row;
	double p = chance(64);

	allocate(64);
	allocate(64);
	flush();
	row = estimate_of(worker, 101);
	assert_int_equal(row.sampled, 2);
	assert_true(near((double)row.objects_milli, 2000 / p));
	assert_true(near((double)row.objects_variance_milli, 2000 * (1 - p) / (p * p)));
	assert_true(near((double)row.bytes, 2 * 64 / p));
	assert_int_equal(row.bytes_variance_mib,
	                 (uint64_t)ceil(2 * 64 * 64 * (1 - p) / (p * p) / 1048576));
	assert_int_equal(row.live_milli[0], 0);
	assert_int_equal(interval_set, INTERVAL);
	flush();
	assert_int_equal(estimate_of(worker, 101).sampled, 2); /* told once */
	assert_int_equal(counter("estimate_sampled"), 2);
	assert_int_equal(counter("estimate_live"), 2);
}

static void survivors_are_told_in_the_pause_of_their_first_collection(void **state)
{
	const struct lc_estimate_survivor *s = lc_estimate_survivors(&(size_t){ 0 });
	size_t len;

	for (unsigned i = 0; i < 3; i++)
		allocate(64);
	slots[0] += 0x1000;
	slots[1] = 0; /* dies */
	collect();
	(void)lc_estimate_survivors(&len);
	assert_int_equal(len, 2);
	assert_int_equal(s[0].address, slots[0]);
	assert_int_equal(s[1].address, slots[2]);
	assert_int_equal(s[0].site, 101);
	assert_int_equal(s[0].size_bytes, 64);
	pause_with(false); /* nothing is collected */
	(void)lc_estimate_survivors(&len);
	assert_int_equal(len, 0);
	allocate(64);
	collect();
	(void)lc_estimate_survivors(&len);
	assert_int_equal(len, 1);
	assert_int_equal(s[0].address, slots[3]);
}

static void large_object_is_left_to_the_hooks(void **state)
{
	allocate(1024);
	allocate(1 << 20);
	allocate(1016);
	flush();
	assert_int_equal(estimate_of(worker, 101).sampled, 1);
	assert_int_equal(counter("estimate_tracked"), 2);
	assert_int_equal(refs_len, 1);
}

static void object_of_a_tracked_class_is_left_to_the_hooks(void **state)
{
	tracks = true;
	allocate(64);
	tracks = false;
	allocate(64);
	flush();
	assert_int_equal(estimate_of(worker, 101).sampled, 1);
	assert_int_equal(counter("estimate_tracked"), 1);
}

static void nothing_is_sampled_when_it_is_not_wanted(void **state)
{
	struct lc_estimate_config config = {
		.min_size_bytes = 1024,
	};

	lc_estimate_destroy();
	interval_set = -1;
	assert_int_equal(lc_estimate_init(&config), 0);
	assert_false(lc_estimate_enabled());
	config.interval_bytes = INTERVAL;
	config.min_size_bytes = 0; /* all are tracked */
	assert_int_equal(lc_estimate_init(&config), 0);
	assert_false(lc_estimate_enabled());
	allocate(64);
	pause_with(true);
	flush();
	assert_int_equal(refs_len, 0);
	assert_int_equal(interval_set, -1);
}

/* Is a large object that is allocated so sampled, or left to a hook? */
static bool large_is_sampled(const char *class, const char *of, uint8_t instruction)
{
	const uint64_t before = counter("estimate_sampled");

	allocating.class = class;
	allocating.of = of;
	allocating.instruction = instruction;
	allocate(4096);
	return counter("estimate_sampled") > before;
}

static void large_objects_are_sampled_where_they_have_no_hook(void **state)
{
	enum { NEW = 187, NEWARRAY = 188, INVOKEVIRTUAL = 182 };

	assert_false(large_is_sampled("[B", "Lcom/acme/A;", NEWARRAY));
	assert_false(large_is_sampled("[B", "Lcom/acme/A;", INVOKEVIRTUAL));
	assert_true(large_is_sampled("[B", "Lcom/acme/A;", NEW)); /* a joined string */
	assert_false(large_is_sampled("[I", "Lcom/acme/A;", NEW));
	assert_true(large_is_sampled("[I", "Ljdk/internal/util/A;", NEWARRAY));
	assert_false(large_is_sampled("[I", "Lsun/nio/ch/A;", NEWARRAY));
	allocating.native = true; /* clone(), called by the method */
	assert_true(large_is_sampled("[I", "Ljdk/internal/util/A;", INVOKEVIRTUAL));
	assert_false(large_is_sampled("[B", "Lcom/acme/A;", NEW));
	assert_int_equal(counter("estimate_tracked"), 5);
	no_stack = true;
	assert_false(large_is_sampled("[B", "Lcom/acme/A;", NEW));
}

static void with_hooks_everywhere_no_large_object_is_sampled(void **state)
{
	struct lc_estimate_config config = {
		.interval_bytes = INTERVAL, .min_size_bytes = 1024, .exact = true, .depth = 64
	};

	lc_estimate_destroy();
	assert_int_equal(lc_estimate_init(&config), 0);
	assert_false(large_is_sampled("[B", "Ljdk/internal/util/A;", 187));
}

static void interval_that_the_jvm_cannot_take_is_refused(void **state)
{
	struct lc_estimate_config config = {
		.min_size_bytes = 1024,
		.interval_bytes = UINT64_C(1) << 31,
	};

	lc_estimate_destroy();
	assert_int_equal(lc_estimate_init(&config), -ERANGE);
	config.interval_bytes = INTERVAL;
	no_interval = true;
	assert_int_equal(lc_estimate_init(&config), -ENOTSUP);
	no_interval = false;
	no_memory = true;
	assert_int_equal(lc_estimate_init(&config), -ENOMEM);
	assert_false(lc_estimate_enabled());
}

static void object_is_live_after_each_collection_that_it_outlives(void **state)
{
	double one = 1000 / chance(64);
	struct lc_block_estimate row;
	size_t dies;

	allocate(64);
	dies = allocate(64);
	for (unsigned gc = 1; gc <= 16; gc++) {
		if (gc == 2)
			slots[dies] = 0;
		collect();
		if (gc % 3 == 0)
			flush(); /* what was reached between two flushes is not missed */
	}
	flush();
	row = estimate_of(worker, 101);
	assert_true(near((double)row.live_milli[0], 2 * one));
	for (unsigned c = 1; c < LC_LIVE_COLUMNS; c++)
		assert_true(near((double)row.live_milli[c], one));
	assert_int_equal(counter("estimate_live"), 1);
	assert_int_equal(counter("estimate_live_peak"), 2);
}

static void each_time_that_an_object_is_copied_counts(void **state)
{
	struct lc_block_input in = { 0 };
	uint64_t bytes = 0;

	allocate(64);
	collect(); /* it stays where it is */
	slots[0] += 0x1000;
	collect();
	flush();
	slots[0] += 0x1000;
	collect();
	slots[0] = 0; /* it dies before it is told of the last time */
	collect();
	flush();
	assert_true(lc_tally_block(worker->tally, &in));
	for (size_t i = 0; i < in.copies_len; i++) {
		assert_int_equal(in.copies[i].site, 101);
		assert_int_equal(in.copies[i].bytes, 0); /* these are counted, not estimated */
		bytes += in.copies[i].estimated_bytes;
	}
	assert_true(near((double)bytes, 2 * 64 / chance(64)));
}

static void pause_without_a_collection_is_not_outlived(void **state)
{
	allocate(64);
	pause_with(false);
	pause_with(false);
	flush();
	assert_int_equal(estimate_of(worker, 101).live_milli[0], 0);
	collect();
	flush();
	assert_true(estimate_of(worker, 101).live_milli[0] > 0);
	assert_int_equal(estimate_of(worker, 101).live_milli[1], 0);
}

static void move_and_collect(void)
{
	slots[0] = 0x4000;
	collect();
}

static void collection_while_an_object_is_being_held_counts(void **state)
{
	during_new_ref = move_and_collect;
	allocate(64);
	/* It was born in the epoch before; where it is now is known. */
	lc_estimate_access(worker, ENGINE, CLASS_SITE, 0x4000, lc_epoch_now(), 3);
	flush();
	assert_true(estimate_of(worker, 101).live_milli[0] > 0);
	assert_true(near((double)split_of(worker, LC_SPLIT_HITS, 101), 3000 / chance(64)));
}

static void access_is_found_where_the_object_was_at_the_time(void **state)
{
	uint32_t epoch = lc_epoch_now();
	size_t at = allocate(64);
	uint64_t before = slots[at];

	slots[at] = 0x5000;
	collect();
	/* The samples of the epoch before are resolved now. */
	lc_estimate_access(worker, ENGINE, CLASS_SITE, before, epoch, 1);
	lc_estimate_access(worker, ENGINE, CLASS_SITE, before, epoch + 1, 10);
	flush();
	assert_true(near((double)split_of(worker, LC_SPLIT_HITS, 101), 1000 / chance(64)));
	lc_estimate_access(main_thread, ENGINE, CLASS_SITE, 0x5000, epoch + 1, 2);
	flush();
	assert_true(near((double)split_of(main_thread, LC_SPLIT_HITS, 101), 2000 / chance(64)));
	assert_int_equal(split_of(worker, LC_SPLIT_LIVE, 101), 11000);
}

static void accesses_are_split_over_sites_by_live_objects(void **state)
{
	size_t dies;

	allocate(64);
	site_of_next = 2;
	dies = allocate(64);
	allocate(64);
	allocate(64);
	slots[dies] = 0;
	collect();
	close_last_epoch();
	lc_estimate_access(worker, ENGINE, CLASS_SITE, 0x10, lc_epoch_now(), 30);
	flush();
	assert_true(llabs((long long)split_of(worker, LC_SPLIT_LIVE, 101) - 10000) <= 1);
	assert_true(llabs((long long)split_of(worker, LC_SPLIT_LIVE, 102) - 20000) <= 1);
	lc_estimate_access(worker, ENGINE, CLASS_SITE + 1, 0x10, lc_epoch_now(), 5);
	flush();
	assert_int_equal(counter("estimate_unsplit"), 5);
}

static void areas_tell_old_objects_from_new_ones(void **state)
{
	static const struct lc_area areas[] = {
		{ 0x1000, 0x1800, 0x2000, LC_AREA_OLD, 0 },
		{ 0x2000, 0x2000, 0x3000, LC_AREA_EDEN, 0 },
		{ 0x3000, 0x3400, 0x4000, LC_AREA_SURVIVOR, 0 },
	};
	static const struct {
		uint64_t start;
		uint64_t old_milli, new_milli;
	} cases[] = {
		{ 0x1008, 4000, 0 },    { 0x1800, 0, 4000 }, { 0x2008, 0, 4000 },
		{ 0x33f8, 4000, 0 },    { 0x3400, 0, 4000 }, { 0x0ff8, 2000, 2000 },
		{ 0x4000, 2000, 2000 },
	};
	uint64_t old_milli = 0, new_milli = 0;

	allocate(64);
	collect();
	lc_estimate_close(lc_epoch_now() - 1, areas, 3);
	site_of_next = 2;
	allocate(64);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		lc_estimate_access(worker, ENGINE, CLASS_SITE, cases[i].start, lc_epoch_now(), 4);
		flush();
		old_milli += cases[i].old_milli;
		new_milli += cases[i].new_milli;
		assert_int_equal(split_of(worker, LC_SPLIT_LIVE, 101), old_milli);
		assert_int_equal(split_of(worker, LC_SPLIT_LIVE, 102), new_milli);
	}
}

static void reference_is_deleted_once_its_epoch_is_closed(void **state)
{
	size_t at = allocate(64);

	slots[at] = 0;
	collect();
	flush();
	assert_int_equal(deleted_len, 0);
	/* Samples of the epoch in which it died may still come. */
	lc_estimate_access(worker, ENGINE, CLASS_SITE, 0x10, lc_epoch_now() - 1, 1);
	flush();
	assert_int_equal(split_of(worker, LC_SPLIT_LIVE, 101), 1000);
	close_last_epoch();
	flush();
	assert_int_equal(deleted_len, 1);
	assert_true(deleted[at]);
	collect();
	flush();
	assert_int_equal(deleted_len, 1);
}

static void full_table_gives_up_half_and_stays_true(void **state)
{
	enum { OBJECTS = LIVE_MAX + LIVE_MAX / 2 };
	double truth = 1000 * (double)OBJECTS / chance(64), error;
	struct lc_block_estimate row;

	for (size_t i = 0; i < OBJECTS; i++)
		allocate(64);
	assert_int_equal(counter("estimate_thinned"), 1);
	assert_int_equal(counter("estimate_unheld"), 0);
	assert_true(counter("estimate_live") <= LIVE_MAX);
	assert_true(counter("estimate_live") > LIVE_MAX / 2);
	assert_int_equal(refs_len, counter("estimate_live") + deleted_len);
	collect();
	flush();
	row = estimate_of(worker, 101);
	assert_int_equal(row.sampled, OBJECTS);
	assert_true(near((double)row.objects_milli, truth));
	/* A coin was tossed for each: four standard deviations. */
	error = 4 * sqrt((double)OBJECTS) / (double)OBJECTS;
	assert_true(fabs((double)row.live_milli[0] / truth - 1) < error);
}

static void table_of_the_dead_refuses_only_references(void **state)
{
	for (unsigned half = 0; half < 2; half++) {
		for (size_t i = 0; i < LIVE_MAX; i++)
			slots[allocate(64)] = 0;
		collect(); /* no epoch is closed: all wait */
	}
	allocate(64);
	assert_int_equal(counter("estimate_unheld"), 1);
	assert_int_equal(counter("estimate_sampled"), 2 * LIVE_MAX + 1);
	close_last_epoch();
	flush();
	assert_int_equal(deleted_len, refs_len);
	allocate(64);
	assert_int_equal(counter("estimate_unheld"), 1);
	assert_int_equal(counter("estimate_live"), 1);
}

static void object_without_a_reference_is_counted(void **state)
{
	no_refs = true;
	allocate(64);
	assert_int_equal(exceptions_cleared, 1);
	assert_int_equal(counter("estimate_unheld"), 1);
	flush();
	assert_int_equal(estimate_of(worker, 101).sampled, 1);
}

static void what_cannot_be_counted_is_lost(void **state)
{
	no_signature = true;
	allocate(64);
	assert_int_equal(counter("estimate_lost"), 1);
	no_signature = false;
	no_memory = true;
	allocate(64);
	no_memory = false;
	assert_int_equal(counter("estimate_lost"), 2);
	lc_thread_bind(NULL);
	no_thread = true;
	allocate(64);
	assert_int_equal(counter("estimate_lost"), 3);
	assert_int_equal(counter("estimate_sampled"), 0);
	no_thread = false;
	allocate(64); /* lc_thread_enter() finds the worker */
	flush();
	assert_int_equal(estimate_of(worker, 101).sampled, 1);
	allocate(64);
	lc_tally_destroy(worker->tally);
	worker->tally = NULL;
	no_memory = true;
	flush();
	no_memory = false;
	assert_int_equal(counter("estimate_lost"), 4);
}

static void object_without_a_stack_belongs_to_its_class(void **state)
{
	no_stack = true;
	allocate(64);
	flush();
	assert_int_equal(estimate_of(worker, CLASS_SITE).sampled, 1);
}

/* A mirror's address names another class once a collection has moved things. */
static void class_is_looked_at_again_after_a_collection(void **state)
{
	allocate(64);
	assert_int_equal(word_interned, CLASS_WORD);
	class_word_of_next = OTHER_WORD;
	allocate(64);
	assert_int_equal(word_interned, CLASS_WORD); /* known from the first */
	pause_with(false);
	allocate(64);
	assert_int_equal(word_interned, OTHER_WORD);
	mirror += 8;
	class_word_of_next = CLASS_WORD;
	allocate(64);
	assert_int_equal(word_interned, CLASS_WORD);
	mirror -= 8;
}

static void our_own_thread_is_not_sampled(void **state)
{
	/* The mark stays: another test's thread must not have it. */
	if (lc_thread_is_ours())
		fail();
	lc_thread_set_ours();
	allocate(64);
	assert_int_equal(counter("estimate_sampled") + counter("estimate_lost"), 0);
}

static void what_a_thread_that_is_gone_did_goes_to_the_oldest(void **state)
{
	allocate(64);
	lc_threads_unlink(worker);
	lc_thread_bind(NULL);
	lc_walker_destroy(worker->walker);
	free(worker);
	flush();
	assert_int_equal(estimate_of(main_thread, 101).sampled, 1);
}

/* Concurrent collectors: the JVM is asked, since a slot is no address. */
static void jvm_is_asked_where_slots_say_nothing(void **state)
{
	size_t stays, dies;

	lc_estimate_destroy();
	assert_int_equal(start(false), 0);
	stays = allocate(64);
	dies = allocate(64);
	collections++;
	pause_with(false);
	flush();
	assert_int_equal(estimate_of(worker, 101).live_milli[0], 0); /* it may be under way */
	collections++;
	slots[dies] = 0;
	flush();
	assert_true(near((double)estimate_of(worker, 101).live_milli[0], 1000 / chance(64)));
	assert_int_equal(deleted_len, 1);
	assert_true(deleted[dies] && !deleted[stays]);
	flush();
	assert_int_equal(counter("estimate_live"), 1);
}

static unsigned held_old, held_young;
static uint64_t held_bytes;

static void count_held(void *unused, const struct lc_estimate_held *object)
{
	held_old += object->survived > 0;
	held_young += !object->survived;
	assert_in_range(object->survived, 0, object->of);
	held_bytes += object->size_bytes;
}

static void look_at_held(void)
{
	held_old = held_young = 0;
	held_bytes = 0;
	lc_estimate_live(count_held, NULL);
}

static void live_objects_are_told_by_whether_they_outlived_a_collection(void **state)
{
	const size_t dies = allocate(64);

	allocate(32);
	allocate(4096); /* is left to the map, which knows when it dies */
	look_at_held();
	assert_int_equal(held_young, 2);
	slots[dies] = 0;
	collect();
	allocate(16);
	look_at_held();
	assert_int_equal(held_old, 1);
	assert_int_equal(held_young, 1);
	assert_int_equal(held_bytes, 32 + 16);
}

static void large_objects_are_held_where_the_map_does_not_know_when_they_die(void **state)
{
	lc_estimate_destroy();
	assert_int_equal(start(false), 0);
	allocate(4096);
	flush();
	look_at_held();
	assert_int_equal(held_bytes, 4096);
	assert_int_equal(estimate_of(worker, 101).sampled, 0);
	assert_int_equal(counter("estimate_sampled"), 0);
}

/* Shenandoah's own count stays where it is. */
static void collections_that_the_jvm_does_not_count_make_objects_old(void **state)
{
	lc_estimate_destroy();
	assert_int_equal(start(false), 0);
	allocate(64);
	for (unsigned i = 0; i < 2; i++) /* it may be under way */
		lc_estimate_collected();
	flush();
	look_at_held();
	assert_int_equal(held_young, 1);
	collector = LC_GC_SHENANDOAH;
	for (unsigned i = 0; i < 2; i++)
		lc_estimate_collected();
	collector = LC_GC_SERIAL;
	flush();
	look_at_held();
	assert_int_equal(held_old, 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_sample, close_sample)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(object_counts_for_those_that_were_not_picked),
		TEST(survivors_are_told_in_the_pause_of_their_first_collection),
		TEST(large_object_is_left_to_the_hooks),
		TEST(object_of_a_tracked_class_is_left_to_the_hooks),
		TEST(nothing_is_sampled_when_it_is_not_wanted),
		TEST(large_objects_are_sampled_where_they_have_no_hook),
		TEST(with_hooks_everywhere_no_large_object_is_sampled),
		TEST(interval_that_the_jvm_cannot_take_is_refused),
		TEST(object_is_live_after_each_collection_that_it_outlives),
		TEST(each_time_that_an_object_is_copied_counts),
		TEST(pause_without_a_collection_is_not_outlived),
		TEST(collection_while_an_object_is_being_held_counts),
		TEST(access_is_found_where_the_object_was_at_the_time),
		TEST(accesses_are_split_over_sites_by_live_objects),
		TEST(areas_tell_old_objects_from_new_ones),
		TEST(reference_is_deleted_once_its_epoch_is_closed),
		TEST(full_table_gives_up_half_and_stays_true),
		TEST(table_of_the_dead_refuses_only_references),
		TEST(object_without_a_reference_is_counted),
		TEST(what_cannot_be_counted_is_lost),
		TEST(object_without_a_stack_belongs_to_its_class),
		TEST(what_a_thread_that_is_gone_did_goes_to_the_oldest),
		TEST(class_is_looked_at_again_after_a_collection),
		TEST(jvm_is_asked_where_slots_say_nothing),
		TEST(live_objects_are_told_by_whether_they_outlived_a_collection),
		TEST(large_objects_are_held_where_the_map_does_not_know_when_they_die),
		TEST(collections_that_the_jvm_does_not_count_make_objects_old),
		TEST(our_own_thread_is_not_sampled), /* last: it marks this thread for good */
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
