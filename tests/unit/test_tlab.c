/* uses: src/core/memory.c src/heap/tlab.c src/heap/alloc_log.c src/stack/walk_credit.c src/core/own_cost.c src/jvm/layout/header.c src/jvm/layout/layout_classes.c src/jvm/os/peek.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tlab.c - checks that the objects of `new` are found in a thread's buffer. The JVM is this
 * test. It is longer than 600 lines because objects of all shapes stand the same checks.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
/* cmocka.h wants the above first. */
#include <cmocka.h>

#include "src/core/epoch.h"
#include "src/heap/alloc_log.h"
#include "src/heap/site_counters.h"
#include "src/heap/tlab.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/layout/vmstructs.h"
#include "src/stack/walk_credit.h"
#include "tests/unit/counter.h"

enum { SITE = 77, SIZE = 24, EETOP = 16, KLASS_AT = 3 };

/* A JavaThread, a Klass, and the class's mirror, as far as they are looked at. */
static struct {
	uint64_t unused, start, top, end, allocated;
	int32_t state;
	const struct JNINativeInterface_ *env;
} thread;
enum { IN_NATIVE = 4, IN_VM = 6, IN_JAVA = 8 };
static struct {
	uint64_t unused;
	int32_t helper;
} klass;
static uint64_t mirror[8];
static uint64_t mirror_at;
static uint64_t mirror_moved_to; /* 0, or where a call into the JVM finds it */
static uint64_t heap[64], elsewhere[64];

static uint32_t sequence;
static uint64_t klass_base;
static uint32_t klass_shift;
static int32_t klass_offset = KLASS_AT * 8;
static const char *missing;
static jlong eetop, own_eetop;
static bool old_names, carriers, raises;
static int32_t called_in; /* the state that Unsafe.getInt() reads */
static struct lc_tlab_fields fields;

static struct lc_layout layout;

const struct lc_layout *lc_layout(void)
{
	return &layout;
}

int lc_vm_constant(const char *name, int64_t *out)
{
	if ((missing && !strcmp(name, missing)) || strncmp(name, "_thread_in_", 11) != 0)
		return -ENOENT;
	*out = !strcmp(name, "_thread_in_Java") ? IN_JAVA : IN_NATIVE;
	return 0;
}

uint32_t lc_epoch_gc_sequence(void)
{
	return sequence;
}

const void *lc_epoch_gc_sequence_address(void)
{
	return &sequence;
}

long lc_vm_offset(const char *type, const char *field)
{
	static const struct {
		const char *type, *field;
		long offset;
	} known[] = {
		{ "Thread", "_tlab", offsetof(__typeof__(thread), start) },
		{ "ThreadLocalAllocBuffer", "_start", 0 },
		{ "ThreadLocalAllocBuffer", "_top", 8 },
		{ "Thread", "_allocated_bytes", offsetof(__typeof__(thread), allocated) },
		{ "Klass", "_layout_helper", offsetof(__typeof__(klass), helper) },
		{ "JavaThread", "_thread_state", offsetof(__typeof__(thread), state) },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(type, known[i].type) && !strcmp(field, known[i].field))
			return missing && !strcmp(field, missing) ? -ENOENT : known[i].offset;
	return -ENOENT;
}

const void *lc_vm_flag(const char *name)
{
	return NULL;
}

void *lc_vm_static(const char *type, const char *field)
{
	if (missing && !strcmp(field, missing))
		return NULL;
	if (!strcmp(type, "java_lang_Class") && !strcmp(field, "_klass_offset"))
		return &klass_offset;
	if (strcmp(type, "CompressedKlassPointers") != 0)
		return NULL;
	if (!strcmp(field, old_names ? "_narrow_klass._base" : "_base"))
		return &klass_base;
	return !strcmp(field, old_names ? "_narrow_klass._shift" : "_shift") ? &klass_shift : NULL;
}

/* The part of JNI that is used; an object is any pointer. */
static jclass object_class(JNIEnv *env, jobject o)
{
	if (mirror_moved_to)
		mirror_at = mirror_moved_to;
	return NULL;
}

static void delete_local(JNIEnv *env, jobject o)
{
}

static jint push_frame(JNIEnv *env, jint n)
{
	return 0;
}

static jobject pop_frame(JNIEnv *env, jobject o)
{
	return o;
}

static jclass find_class(JNIEnv *env, const char *name)
{
	assert_true(strstr(name, "/Thread") || strstr(name, "/Unsafe"));
	return (jclass)mirror;
}

static jmethodID method_id(JNIEnv *env, jclass c, const char *name, const char *descriptor)
{
	return strcmp(name, "currentCarrierThread") != 0 || carriers ? (jmethodID)mirror : NULL;
}

static jobject call_object(JNIEnv *env, jclass c, jmethodID m, ...)
{
	return (jobject)mirror;
}

static jlong call_long(JNIEnv *env, jobject o, jmethodID m, ...)
{
	return eetop;
}

/* A method of Unsafe, which the interpreter calls. */
static jint call_int(JNIEnv *env, jobject o, jmethodID m, ...)
{
	return called_in;
}

static jfieldID field_id(JNIEnv *env, jclass c, const char *name, const char *descriptor)
{
	assert_string_equal(name, "eetop");
	return (jfieldID)mirror;
}

static jlong long_field(JNIEnv *env, jobject o, jfieldID f)
{
	return own_eetop;
}

static jstring new_string(JNIEnv *env, const char *s)
{
	assert_string_equal(s, "eetop");
	return (jstring)mirror;
}

static jboolean exception_check(JNIEnv *env)
{
	return raises;
}

static void exception_clear(JNIEnv *env)
{
	raises = false;
}

static const struct JNINativeInterface_ functions = {
	.GetObjectClass = object_class,
	.DeleteLocalRef = delete_local,
	.PushLocalFrame = push_frame,
	.PopLocalFrame = pop_frame,
	.FindClass = find_class,
	.GetStaticMethodID = method_id,
	.GetMethodID = method_id,
	.CallStaticObjectMethod = call_object,
	.CallLongMethod = call_long,
	.CallIntMethod = call_int,
	.GetFieldID = field_id,
	.GetLongField = long_field,
	.NewStringUTF = new_string,
	.ExceptionCheck = exception_check,
	.ExceptionClear = exception_clear,
};

static uint64_t address(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* An object of the class with that word at `p`; its header is as the layout has it. */
static void put_header(uint64_t *p, uint64_t class_word)
{
	p[0] = layout.class_in_mark ? class_word << 42 | 1 : 1;
	p[1] = layout.class_in_mark ? 0 : class_word;
}

static uint64_t class_word(void)
{
	return layout.class_in_mark || layout.length_offset == 12
	           ? (address(&klass) - klass_base) >> klass_shift
	           : address(&klass);
}

/* The thread allocates `bytes` in its buffer. Returns where. */
static uint64_t allocate(uint64_t bytes)
{
	uint64_t at = thread.top;

	thread.top += bytes;
	put_header((uint64_t *)(uintptr_t)at, class_word()); /* NOLINT */
	return at;
}

static bool some; /* only some classes have hooks */

static int init(void)
{
	lc_layout_classes(&layout);
	return lc_tlab_init(&thread.env, some, &fields);
}

static int setup(void **state)
{
	thread.env = &functions;
	some = false;
	sequence = 8;
	missing = NULL;
	eetop = EETOP;
	own_eetop = (jlong)address(&thread);
	thread.state = IN_NATIVE;
	called_in = IN_VM;
	old_names = carriers = raises = false;
	layout = (struct lc_layout){ .length_offset = 12, .object_alignment = 8 };
	klass_base = address(&klass) - 0x800;
	klass_shift = 3;
	klass.helper = SIZE | 1; /* the low bits are flags */
	mirror[KLASS_AT] = address(&klass);
	mirror_at = address(mirror);
	mirror_moved_to = 0;
	memset(heap, 0, sizeof(heap));
	memset(elsewhere, 0, sizeof(elsewhere));
	thread.start = thread.top = address(heap);
	thread.allocated = 1000;
	if (lc_alloc_pool_init(16 * LC_ALLOC_CHUNK_BYTES))
		return -1;
	return init();
}

static int teardown(void **state)
{
	lc_tlab_thread_end();
	lc_alloc_pool_destroy();
	return 0;
}

static struct lc_tlab_thread *self(void)
{
	struct lc_tlab_thread *o = lc_tlab_self(address(&thread), NULL);

	assert_non_null(o);
	return o;
}

static enum lc_tlab_proof find(uint64_t proved, struct lc_tlab_made *made)
{
	*made = (struct lc_tlab_made){ 0 };
	return lc_tlab_find(self(), &thread.env,
	                    &(struct lc_tlab_asked){ .type = (jclass)&mirror_at,
	                                             .bytecode_site = SITE,
	                                             .proved = proved },
	                    made);
}

/* The hook behind the bytecode that makes an array of `bytes`. */
static enum lc_tlab_proof hook_array(uint32_t bytes, uint64_t proved, struct lc_tlab_made *made)
{
	enum lc_tlab_proof proof;

	*made = (struct lc_tlab_made){ 0 };
	proof = lc_tlab_find(self(), &thread.env,
	                     &(struct lc_tlab_asked){ .type = (jclass)&mirror_at,
	                                              .bytecode_site = SITE,
	                                              .array_bytes = bytes,
	                                              .proved = proved },
	                     made);
	lc_tlab_sync(self());
	return proof;
}

/* The hook behind a `new`, as its native part runs it. */
static enum lc_tlab_proof hook(struct lc_tlab_made *made)
{
	enum lc_tlab_proof proof = find(0, made);

	lc_tlab_sync(self());
	return proof;
}

static void a_jvm_that_lacks_a_field_is_refused(void **state)
{
	static const char *const needed[] = { "_tlab",          "_start",
		                              "_top",           "_allocated_bytes",
		                              "_layout_helper", "_klass_offset",
		                              "_base",          "_shift" };

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		missing = needed[i];
		assert_int_equal(init(), -ENOTSUP);
		assert_null(lc_tlab_here(&thread.env, NULL));
	}
	missing = NULL;
	klass_offset = 0;
	assert_int_equal(init(), -ENOTSUP);
	assert_null(lc_tlab_here(&thread.env, NULL));
	klass_offset = KLASS_AT * 8;
	eetop = -1;
	assert_int_equal(init(), -ENOTSUP);
	eetop = EETOP;
	raises = true;
	assert_int_equal(init(), -ENOTSUP);
	assert_false(raises); /* the exception does not reach the program */
	assert_int_equal(init(), 0);
}

/* So Java code reads no heap: it believes no thread to be compiled. */
static void a_state_that_is_not_proved_is_no_threads(void **state)
{
	static const char *const needed[] = { "_thread_state", "_thread_in_Java",
		                              "_thread_in_native" };

	assert_int_equal(fields.thread_state, offsetof(__typeof__(thread), state));
	assert_int_equal(fields.in_java, IN_JAVA);
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		missing = needed[i];
		assert_int_equal(init(), 0);
		assert_int_equal(fields.in_java, LC_TLAB_NO_STATE);
	}
	missing = NULL;
	thread.state = IN_VM; /* it is not where the JVM says */
	assert_int_equal(init(), 0);
	assert_int_equal(fields.in_java, LC_TLAB_NO_STATE);
	thread.state = IN_NATIVE;
	called_in = IN_JAVA; /* the interpreter reads memory without a call */
	assert_int_equal(init(), 0);
	assert_int_equal(fields.in_java, LC_TLAB_NO_STATE);
	called_in = IN_VM;
	own_eetop = 0;
	assert_int_equal(init(), 0);
	assert_int_equal(fields.in_java, LC_TLAB_NO_STATE);
	own_eetop = (jlong)address(&thread);
	assert_int_equal(init(), 0);
	assert_int_equal(fields.in_java, IN_JAVA);
}

static void java_code_is_told_where_things_are(void **state)
{
	assert_int_equal(fields.eetop, EETOP);
	assert_int_equal(fields.tlab_top, offsetof(__typeof__(thread), top));
	assert_int_equal(fields.allocated, offsetof(__typeof__(thread), allocated));
	assert_int_equal(fields.class_offset, 8);
	assert_int_equal(fields.class_shift, 0);
	assert_int_equal(fields.sequence, address(&sequence));
	assert_false(fields.carriers);
	carriers = old_names = true;
	layout.class_in_mark = true;
	assert_int_equal(init(), 0);
	assert_true(fields.carriers);
	assert_int_equal(fields.class_offset, 4);
	assert_int_equal(fields.class_shift, 10);
}

/* The table that Java code looks its thread up in. */
static const uint64_t *slot_of(uint64_t t)
{
	return (const uint64_t *)(uintptr_t)fields.threads + 2 * ((t >> 6 ^ t >> 14) & 4095);
}

static void a_threads_state_is_found_by_its_address_until_it_ends(void **state)
{
	const uint64_t t = address(&thread);
	struct lc_tlab_thread *o;

	assert_null(lc_tlab_known());
	lc_tlab_thread_end();
	o = self();
	assert_ptr_equal(self(), o);
	assert_ptr_equal(lc_tlab_known(), o);
	assert_int_equal(slot_of(t)[0], t);
	assert_int_equal(slot_of(t)[1], address(o));
	lc_tlab_thread_end();
	assert_null(lc_tlab_known());
	assert_int_equal(slot_of(t)[0], 0);
	assert_int_equal(slot_of(t)[1], 0);
}

static void a_slot_that_is_taken_stays_whose_it_is(void **state)
{
	uint64_t *slot = (uint64_t *)(uintptr_t)slot_of(address(&thread)); /* NOLINT */

	slot[0] = address(&thread) + (1 << 26); /* another thread's */
	slot[1] = 4711;
	assert_non_null(self());
	lc_tlab_thread_end();
	assert_int_equal(slot[0], address(&thread) + (1 << 26));
	assert_int_equal(slot[1], 4711);
	slot[0] = slot[1] = 0;
}

static void an_object_at_the_top_is_placed_with_each_layout_of_headers(void **state)
{
	const struct lc_layout layouts[] = { { .length_offset = 12 },
		                             { .length_offset = 16 },
		                             { .length_offset = 8, .class_in_mark = true } };
	struct lc_tlab_made made;
	uint64_t at;

	for (size_t i = 0; i < 3; i++) {
		layout = layouts[i];
		assert_int_equal(init(), 0);
		at = allocate(SIZE);
		assert_int_equal(hook(&made), LC_TLAB_PLACED);
		assert_int_equal(made.addr, at);
		assert_int_equal(made.size_bytes, SIZE);
		assert_int_equal(made.class_word, class_word());
		assert_int_equal(made.sequence, sequence);
	}
}

static void an_array_has_the_size_that_its_hook_knows(void **state)
{
	struct lc_site_counter site = { .site = 5 };
	struct lc_tlab_made made;
	uint64_t at;

	klass.helper = INT32_MIN; /* as of all arrays */
	for (uint32_t bytes = 16; bytes <= 48; bytes += 16) {
		at = allocate(bytes);
		assert_int_equal(hook_array(bytes, bytes == 48 ? at : 0, &made), LC_TLAB_PLACED);
		assert_int_equal(made.addr, at);
		assert_int_equal(made.size_bytes, bytes);
		assert_int_equal(made.class_word, class_word());
		made.size_bytes = 0;
		lc_tlab_remember(self(), SITE, &made, &site, true);
	}
	assert_int_equal(hook_array(16, 0, &made), LC_TLAB_NONE); /* the JIT has removed it */
	/* No array, in spite of its size. */
	klass.helper = SIZE;
	allocate(SIZE);
	assert_int_equal(hook_array(SIZE, 0, &made), LC_TLAB_NONE);
}

static void what_the_jit_removed_is_not_counted(void **state)
{
	struct lc_tlab_made made;
	uint64_t before = counter("alloc_unproved");

	allocate(SIZE);
	assert_int_equal(hook(&made), LC_TLAB_PLACED);
	assert_int_equal(hook(&made), LC_TLAB_NONE); /* the same object still ends at the top */
	allocate(8);                                 /* less than one of these: not ours */
	assert_int_equal(hook(&made), LC_TLAB_NONE);
	assert_int_equal(counter("alloc_unproved"), before);
}

static void allocations_of_others_in_between_do_not_hide_the_last(void **state)
{
	struct lc_tlab_made made;
	uint64_t at;

	lc_tlab_sync(self());
	allocate(16);
	at = allocate(SIZE);
	assert_int_equal(hook(&made), LC_TLAB_PLACED);
	assert_int_equal(made.addr, at);
}

static void an_object_of_another_class_at_the_top_proves_nothing(void **state)
{
	struct lc_tlab_made made;
	uint64_t before = counter("alloc_unproved");

	lc_tlab_sync(self());
	put_header((uint64_t *)(uintptr_t)allocate(SIZE + 8), class_word() + 1); /* NOLINT */
	assert_int_equal(hook(&made), LC_TLAB_NONE);
	assert_int_equal(counter("alloc_unproved"), before + 1);
}

static void an_object_outside_of_the_buffer_is_counted_without_a_place(void **state)
{
	struct lc_tlab_made made;
	uint64_t before = counter("alloc_unplaced");

	lc_tlab_sync(self());
	thread.allocated += SIZE;
	assert_int_equal(hook(&made), LC_TLAB_UNPLACED);
	assert_int_equal(made.size_bytes, SIZE);
	assert_int_equal(counter("alloc_unplaced"), before + 1);
	assert_int_equal(hook(&made), LC_TLAB_NONE);
}

static void an_object_in_a_new_buffer_is_placed(void **state)
{
	struct lc_tlab_made made;
	uint64_t at;

	allocate(SIZE);
	lc_tlab_sync(self());
	thread.allocated += thread.top - thread.start; /* as the old one is given up */
	thread.start = thread.top = address(elsewhere);
	at = allocate(SIZE);
	assert_int_equal(hook(&made), LC_TLAB_PLACED);
	assert_int_equal(made.addr, at);
	/* And where only the buffer is new, nothing was made. */
	thread.allocated += thread.top - thread.start;
	thread.start = thread.top = address(heap);
	assert_int_equal(hook(&made), LC_TLAB_NONE);
}

/* The thread allocates `words` words that no hook sees, and that look like no object of the class.
 */
static void allocate_unseen(uint64_t words)
{
	put_header((uint64_t *)(uintptr_t)allocate(words * 8), class_word() + 1); /* NOLINT */
}

static void hook_some(void)
{
	some = true;
	assert_int_equal(init(), 0);
	lc_tlab_sync(self());
}

static void if_some_classes_have_hooks_others_hide_no_object_and_make_none(void **state)
{
	struct lc_site_counter site = { .site = 5 };
	struct lc_tlab_made made;
	uint64_t at, unproved = counter("alloc_unproved"), unplaced = counter("alloc_unplaced");

	hook_some();
	for (int i = 0; i < 3; i++) {
		allocate_unseen(SIZE / 8);
		at = allocate(SIZE);
		assert_int_equal(hook(&made), LC_TLAB_PLACED);
		assert_int_equal(made.addr, at);
		lc_tlab_remember(self(), SITE, &made, &site, true);
		allocate_unseen(SIZE / 8); /* as large as an object of the class */
		assert_int_equal(hook(&made), LC_TLAB_NONE);
		thread.allocated += 4096; /* an array outside of the buffer */
		assert_int_equal(hook(&made), LC_TLAB_NONE);
	}
	/* A new buffer that has only others' objects. */
	thread.allocated += thread.top - thread.start;
	thread.start = thread.top = address(elsewhere);
	allocate_unseen(SIZE);
	assert_int_equal(hook(&made), LC_TLAB_NONE);
	assert_int_equal(counter("alloc_unproved"), unproved);
	assert_int_equal(counter("alloc_unplaced"), unplaced);
}

static void if_some_classes_have_hooks_linking_hides_no_first_object(void **state)
{
	struct lc_tlab_made made;
	uint64_t at = allocate(SIZE);

	some = true;
	assert_int_equal(init(), 0);
	allocate_unseen(11); /* between `new` and the hook, and the thread is not known yet */
	assert_int_equal(hook(&made), LC_TLAB_PLACED);
	assert_int_equal(made.addr, at);
	at = allocate(SIZE); /* and where it is */
	allocate_unseen(4);
	assert_int_equal(hook(&made), LC_TLAB_PLACED);
	assert_int_equal(made.addr, at);
}

static void java_code_is_told_of_places_whose_objects_the_jit_removes_from_the_first(void **state)
{
	const struct lc_tlab_entry *e = &self()->entries[SITE];
	struct lc_tlab_made made;

	hook_some();
	allocate_unseen(SIZE);
	assert_int_equal(hook(&made), LC_TLAB_NONE);
	assert_int_equal(e->bytecode_site, SITE);
	assert_int_equal(e->size_bytes, SIZE);
	assert_int_equal(e->class_word, class_word());
	assert_int_equal(e->removed, 1);
	assert_null(e->counter);
	assert_int_equal(self()->limit, 0); /* so that no Java code counts there */
}

static void nothing_is_proved_while_a_collection_runs(void **state)
{
	struct lc_tlab_made made;
	uint64_t before = counter("alloc_unproved");

	lc_tlab_sync(self());
	allocate(SIZE);
	sequence = 9;
	assert_int_equal(hook(&made), LC_TLAB_NONE);
	assert_int_equal(counter("alloc_unproved"), before + 1);
	/* A value that was read meanwhile is no base for the next: only its own object counts. */
	sequence = 10;
	allocate(SIZE);
	assert_int_equal(hook(&made), LC_TLAB_PLACED);
	assert_int_equal(made.addr, thread.top - SIZE);
	assert_int_equal(made.sequence, 10);
}

static void a_class_that_cannot_be_read_proves_nothing(void **state)
{
	struct lc_tlab_made made;
	void *gone = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t before = counter("alloc_unproved");

	assert_ptr_not_equal(gone, MAP_FAILED);
	lc_tlab_sync(self());
	allocate(SIZE);
	mirror_at = address(gone);
	assert_int_equal(hook(&made), LC_TLAB_NONE);
	mirror_at = address(mirror);
	klass.helper = -1; /* an array's */
	allocate(SIZE);
	assert_int_equal(hook(&made), LC_TLAB_NONE);
	assert_int_equal(counter("alloc_unproved"), before + 2);
	munmap(gone, 4096);
}

/* Objects move while the program runs: nothing is logged. */
static void a_mirror_that_has_moved_is_not_read_where_it_was(void **state)
{
	static uint64_t others[8]; /* what lies there by now is no class */
	struct lc_tlab_made made;
	uint64_t at;

	others[KLASS_AT] = 16;
	mirror_at = address(others);
	mirror_moved_to = address(mirror);
	at = allocate(SIZE);
	assert_int_equal(hook(&made), LC_TLAB_PLACED);
	assert_int_equal(made.addr, at);
	assert_int_equal(made.size_bytes, SIZE);
}

static void what_java_code_has_proved_is_taken_in_its_epoch_only(void **state)
{
	struct lc_site_counter site = { .site = 5 };
	struct lc_alloc_log *log = NULL;
	struct lc_tlab_thread *o;
	struct lc_tlab_made made;
	uint64_t at, before = counter("alloc_unplaced");

	assert_int_equal(lc_alloc_log_create(&log), 0);
	o = lc_tlab_self(address(&thread), log);
	assert_non_null(o);
	allocate(SIZE);
	assert_int_equal(find(0, &made), LC_TLAB_PLACED);
	lc_tlab_remember(o, SITE, &made, &site, true);
	lc_tlab_sync(o);
	assert_int_equal(o->entries[SITE].bytecode_site, SITE);
	assert_int_equal(o->entries[SITE].size_bytes, SIZE);
	assert_int_equal(o->entries[SITE].class_word, class_word());
	assert_int_equal(o->entries[SITE].site, 5);
	assert_ptr_equal(o->entries[SITE].counter, &site);
	at = allocate(SIZE);
	assert_int_equal(find(at, &made), LC_TLAB_PLACED);
	assert_int_equal(made.addr, at);
	assert_int_equal(made.size_bytes, SIZE);
	sequence += 2; /* a collection, since it was proved */
	assert_int_equal(find(at, &made), LC_TLAB_UNPLACED);
	assert_int_equal(counter("alloc_unplaced"), before + 1);
	lc_tlab_thread_end();
	lc_alloc_log_destroy(log);
}

/* Append a record as LocusHook.append() does. Returns its address, or 0 at the limit. */
static uint64_t append_as_java(const struct lc_tlab_thread *o)
{
	uint64_t at = lc_alloc_log_position(o->log), record = o->log->slots + (at << 4);

	if (at >= o->limit)
		return 0;
	memset((void *)record, 0xee, sizeof(struct lc_alloc)); /* NOLINT: an address */
	atomic_store(&o->log->position, at + 1);
	return record;
}

static void without_a_log_java_code_counts_and_writes_to_the_same_records(void **state)
{
	struct lc_site_counter site = { .site = 5 };
	struct lc_tlab_thread *o = self();
	uint64_t record, appended = 0, first = 0, last = 0;
	struct lc_tlab_made made;

	allocate(SIZE);
	assert_int_equal(find(0, &made), LC_TLAB_PLACED);
	lc_tlab_remember(o, SITE, &made, &site, true);
	lc_tlab_sync(o);
	assert_int_equal(o->entries[SITE].class_word, class_word());
	for (unsigned native = 0; native < 1000; native++) {
		if (!lc_tlab_recent(o, SITE, 0))
			lc_tlab_looked(o, SITE, 0, &site, false);
		lc_tlab_sync(o);
		while ((record = append_as_java(o))) {
			first = first && first < record ? first : record;
			last = last > record ? last : record;
			appended++;
		}
	}
	assert_in_range(appended, 20 * 1000, LC_TLAB_UNKEPT * 1000);
	assert_int_equal(first, (uintptr_t)o->records);
	assert_int_equal(last, (uintptr_t)&o->records[LC_TLAB_UNKEPT - 1]);
	lc_tlab_sync(NULL);
}

static void java_code_appends_up_to_a_random_limit_within_the_chunk(void **state)
{
	struct lc_site_counter site = { .site = 1 };
	struct lc_alloc_log *log = NULL;
	struct lc_tlab_thread *o;
	uint64_t at, shortest = UINT64_MAX, longest = 0;

	assert_int_equal(lc_alloc_log_create(&log), 0);
	o = lc_tlab_self(address(&thread), log);
	lc_tlab_sync(o);
	assert_int_equal(o->limit, 0);     /* there is no chunk yet */
	for (int i = 0; i < 100000; i++) { /* chance decides: the more, the surer */
		assert_int_equal(lc_alloc_log_put(log, (struct lc_alloc){ .site = 1 }), 0);
		if (!lc_tlab_recent(o, SITE, 0))
			lc_tlab_looked(o, SITE, 0, &site, false);
		lc_tlab_sync(o);
		at = lc_alloc_log_position(log);
		assert_in_range(o->limit, at, log->limit);
		if (o->limit < log->limit && at < o->limit) {
			uint64_t steps = o->limit - at;

			shortest = steps < shortest ? steps : shortest;
			longest = steps > longest ? steps : longest;
		}
		lc_alloc_log_trim(log, at);
	}
	assert_in_range(longest, 120, 254); /* looked at less often where it is the same caller */
	assert_int_equal(shortest, 1);
	assert_int_equal(o->tag, (uint64_t)(sequence >> 1) << LC_ADDR_BITS);
	assert_int_equal(o->last, thread.top);
	sequence = 9;
	lc_tlab_sync(o);
	assert_int_equal(o->last, 0); /* nothing is at that address */
	lc_tlab_thread_end();
	lc_alloc_log_destroy(log);
}

/* Looks at one place, each of which may be a walk, until the credit of a thread is spent. */
static uint64_t looks_until_spent(bool walked)
{
	struct lc_site_counter site = { .site = 5 };
	uint64_t looks = 1;

	some = true;
	assert_int_equal(init(), 0);
	lc_walk_credit_limit(200); /* a hundredth of 2% */
	for (lc_tlab_sync(self()); lc_tlab_looked(self(), SITE, 0, &site, walked); looks++)
		lc_tlab_sync(self());
	lc_tlab_thread_end();
	return looks;
}

static void looks_that_walk_are_dearer(void **state)
{
	const uint64_t known = looks_until_spent(false), walks = looks_until_spent(true);

	assert_in_range(known, 4 * walks, 10 * walks);
}

static void records_of_other_classes_cost_no_credit(void **state)
{
	const uint64_t alone = looks_until_spent(false);
	struct lc_site_counter site = { .site = 5 };
	struct lc_alloc_log *log = NULL;
	struct lc_tlab_thread *o;
	uint64_t looks = 1;

	assert_int_equal(lc_alloc_log_create(&log), 0);
	lc_walk_credit_limit(200);
	o = lc_tlab_self(address(&thread), log);
	for (lc_tlab_sync(o); lc_tlab_looked(o, SITE, 0, &site, false); looks++) {
		lc_tlab_sync(o);
		for (int i = 0; i < 5; i++) {
			assert_int_equal(lc_alloc_log_put(log, (struct lc_alloc){ .site = 1 }), 0);
			lc_tlab_pass_over(o);
		}
		lc_alloc_log_trim(log, lc_alloc_log_position(log));
	}
	lc_tlab_thread_end();
	lc_alloc_log_destroy(log);
	assert_in_range(looks, alone - alone / 8, alone + alone / 8);
}

/* Beyond the budget, too: then others' objects would count for a request that has ended. */
static void if_some_classes_have_hooks_callers_are_forgotten_as_well(void **state)
{
	struct lc_site_counter site = { .site = 5 };
	struct lc_tlab_made made;

	hook_some();
	for (int round = 0; round < 3; round++) {
		allocate_unseen(
		    3); /* the JIT removes the tracked object: the entry has no counter */
		assert_int_equal(hook(&made), LC_TLAB_NONE);
		allocate(SIZE);
		assert_int_equal(find(0, &made), LC_TLAB_PLACED);
		(void)lc_tlab_looked(self(), SITE, 0, &site, false);
		lc_tlab_remember(self(), SITE, &made, &site, true);
		lc_tlab_sync(self());
		self()->look_at = UINT64_MAX; /* the budget is spent */
		assert_ptr_equal(lc_tlab_recent(self(), SITE, 0), &site);
		assert_int_equal(self()->counting_len, 1);
		lc_tlab_forget();
		assert_null(lc_tlab_recent(self(), SITE, 0));
		assert_int_equal(self()->entries[SITE].class_word, UINT32_MAX);
	}
}

enum { LOOK_NS = 60 };

static void if_some_classes_have_hooks_each_object_is_looked_at_within_the_budget(void **state)
{
	const uint64_t stock = LC_WALK_STOCK_NS / 100, spent = counter("alloc_looks_spent");
	struct lc_site_counter site = { .site = 5 };
	struct lc_tlab_thread *o;
	uint64_t looks = 0;

	some = true;
	assert_int_equal(init(), 0);
	lc_walk_credit_limit(200); /* a hundredth of 2% */
	o = self();
	do {
		lc_tlab_sync(o);
		assert_null(append_as_java(o));
		assert_null(lc_tlab_recent(o, SITE, 0));
		looks++;
	} while (lc_tlab_looked(o, SITE, 0, &site, false));
	assert_in_range(looks * LOOK_NS, stock - LC_WALK_SLICE_NS, stock + 2 * LC_WALK_SLICE_NS);
	lc_tlab_sync(o);
	assert_ptr_equal(lc_tlab_recent(o, SITE, 0), &site);
	assert_int_not_equal(append_as_java(o), 0);
	for (int i = 0; i < 100000; i++) { /* all are paid for: it makes too many */
		while (append_as_java(o))
			;
		assert_false(!lc_tlab_recent(o, SITE, 0) &&
		             lc_tlab_looked(o, SITE, 0, &site, false));
		lc_tlab_sync(o);
	}
	assert_int_equal(counter("alloc_looks_spent"), spent + 1);
	lc_walk_credit_limit(0); /* no limit */
	while (lc_tlab_recent(o, SITE, 0))
		lc_tlab_sync(o);
	assert_true(lc_tlab_looked(o, SITE, 0, &site, false));
}

static void while_the_log_is_full_java_code_counts_and_each_call_tries_the_log_again(void **state)
{
	const struct lc_alloc record = { .site = 1 };
	struct lc_site_counter site = { .site = 1 };
	struct lc_alloc_log *log = NULL;
	struct lc_tlab_thread *o;
	uint64_t lost = 1, at;

	assert_int_equal(lc_alloc_log_create(&log), 0);
	o = lc_tlab_self(address(&thread), log);
	while (!lc_alloc_log_put(log, record))
		lc_tlab_sync(o);
	at = lc_alloc_log_position(log);
	lc_tlab_looked(o, SITE, 0, &site, false);
	for (int i = 0; i < 3; i++) {
		lc_tlab_sync(o);
		for (; append_as_java(o); lost++)
			;
		assert_int_equal(lc_alloc_log_put(log, record), -ENOSPC);
		lost++;
	}
	lc_tlab_sync(o);
	assert_in_range(lost, 10, 4 + 3 * LC_TLAB_UNKEPT);
	assert_int_equal(lc_alloc_log_lost(log), lost);
	assert_int_equal(lc_alloc_log_position(log), at);
	lc_alloc_log_trim(log, at);
	assert_int_equal(lc_alloc_log_put(log, record), 0);
	lc_tlab_sync(o);
	assert_ptr_equal(o->log, log);
	lc_tlab_thread_end();
	assert_int_equal(lc_alloc_log_lost(log), lost);
	lc_alloc_log_destroy(log);
}

static void a_thread_that_only_native_code_meets_is_told_by_its_environment(void **state)
{
	static uint64_t other[2048]; /* no JavaThread is so large: the environment is not in it */
	struct lc_tlab_thread *o = lc_tlab_here(&thread.env, NULL);

	assert_non_null(o);
	assert_int_equal(o->thread, address(&thread));
	assert_ptr_equal(lc_tlab_here(&thread.env, NULL), o);
	lc_tlab_thread_end();
	own_eetop = (jlong)address(other);
	assert_int_equal(init(), 0);
	assert_null(lc_tlab_here(&thread.env, NULL));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_jvm_that_lacks_a_field_is_refused),
		TEST(a_state_that_is_not_proved_is_no_threads),
		TEST(java_code_is_told_where_things_are),
		TEST(a_threads_state_is_found_by_its_address_until_it_ends),
		TEST(a_slot_that_is_taken_stays_whose_it_is),
		TEST(an_object_at_the_top_is_placed_with_each_layout_of_headers),
		TEST(an_array_has_the_size_that_its_hook_knows),
		TEST(what_the_jit_removed_is_not_counted),
		TEST(allocations_of_others_in_between_do_not_hide_the_last),
		TEST(an_object_of_another_class_at_the_top_proves_nothing),
		TEST(an_object_outside_of_the_buffer_is_counted_without_a_place),
		TEST(an_object_in_a_new_buffer_is_placed),
		TEST(if_some_classes_have_hooks_others_hide_no_object_and_make_none),
		TEST(if_some_classes_have_hooks_linking_hides_no_first_object),
		TEST(java_code_is_told_of_places_whose_objects_the_jit_removes_from_the_first),
		TEST(nothing_is_proved_while_a_collection_runs),
		TEST(a_class_that_cannot_be_read_proves_nothing),
		TEST(a_mirror_that_has_moved_is_not_read_where_it_was),
		TEST(what_java_code_has_proved_is_taken_in_its_epoch_only),
		TEST(without_a_log_java_code_counts_and_writes_to_the_same_records),
		TEST(java_code_appends_up_to_a_random_limit_within_the_chunk),
		TEST(if_some_classes_have_hooks_each_object_is_looked_at_within_the_budget),
		TEST(looks_that_walk_are_dearer),
		TEST(records_of_other_classes_cost_no_credit),
		TEST(if_some_classes_have_hooks_callers_are_forgotten_as_well),
		TEST(while_the_log_is_full_java_code_counts_and_each_call_tries_the_log_again),
		TEST(a_thread_that_only_native_code_meets_is_told_by_its_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
