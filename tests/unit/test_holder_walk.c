/* uses: src/agent/holder_walk.c src/agent/holder_table.c src/agent/holder_targets.c src/agent/holder_chain.c src/agent/holder_virtual.c src/jvm/os/peek.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_holder_walk.c - a JVM with three classes whose heap is walked, and which counts its tags. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "src/agent/holder_names.h"
#include "src/agent/holder_walk.h"
#include "src/attribute/heap_size.h"
#include "src/core/epoch.h"
#include "src/core/jvmti.h"
#include "src/core/memory.h"
#include "src/jvm/layout/unsafe.h"

/* ---- the JVM ---- */

enum { LEAK, MAP, BYTES, VIRTUAL, CLASSES };
enum { THREAD = CLASSES, A_MAP, A_VALUE, AN_ARRAY, A_VIRTUAL, A_LOCAL, OBJECTS };

static const char *const class_names[CLASSES] = { "Leak", "Map", "byte[]",
	                                          "java.lang.VirtualThread" };

/* The JVM keeps an object's address behind its tag. */
static struct object {
	jlong tag;
	struct object *self;
	uint32_t continuation;
	bool visited;
} objects[OBJECTS];

static const struct {
	jvmtiHeapReferenceKind kind;
	int from, to; /* from: OBJECTS is a root */
	int class;
} references[] = {
	{ JVMTI_HEAP_REFERENCE_SYSTEM_CLASS, OBJECTS, LEAK, -1 },
	{ JVMTI_HEAP_REFERENCE_STATIC_FIELD, LEAK, A_MAP, MAP },
	{ JVMTI_HEAP_REFERENCE_FIELD, A_MAP, A_VALUE, MAP },
	{ JVMTI_HEAP_REFERENCE_FIELD, A_VALUE, AN_ARRAY, BYTES },
	{ JVMTI_HEAP_REFERENCE_STATIC_FIELD, LEAK, A_VIRTUAL, VIRTUAL },
	{ JVMTI_HEAP_REFERENCE_STACK_LOCAL, OBJECTS, A_LOCAL, MAP },
};

static struct jvmtiInterface_1_ functions;
static jvmtiEnv environment = &functions;
static struct JNINativeInterface_ jni_functions;
static JNIEnv jni = &jni_functions;
static jclass loaded[CLASSES];
static unsigned tagged, walks, choices, capabilities, repeat;
static uint64_t used_bytes;
static uint32_t sequence;
static jint version;
static int64_t continuation_offset;

static jvmtiError JNICALL set_tag(jvmtiEnv *env, jobject object, jlong tag)
{
	struct object *o = (struct object *)(void *)object;

	tagged += !o->tag && tag;
	tagged -= o->tag && !tag;
	o->tag = tag;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL current_thread(jvmtiEnv *env, jthread *out)
{
	*out = (jthread)(void *)&objects[THREAD];
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL add(jvmtiEnv *env, const jvmtiCapabilities *c)
{
	capabilities++;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL relinquish(jvmtiEnv *env, const jvmtiCapabilities *c)
{
	capabilities--;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL follow(jvmtiEnv *env, jint filter, jclass only, jobject initial,
                                 const jvmtiHeapCallbacks *callbacks, const void *context)
{
	const jvmtiHeapReferenceInfo info = { .field = { .index = 0 } };
	jint answer;

	walks++;
	for (unsigned n = 0; n <= repeat; n++)
		for (size_t i = 0; i < sizeof(references) / sizeof(references[0]); i++) {
			const int from = references[i].from, class = references[i].class;
			struct object to = objects[references[i].to],
			              referrer = from < OBJECTS ? objects[from] : to;

			if (references[i].kind == JVMTI_HEAP_REFERENCE_STACK_LOCAL &&
			    !objects[A_VIRTUAL].visited)
				continue;
			answer = callbacks->heap_reference_callback(
			    references[i].kind, &info, class < 0 ? 0 : objects[class].tag,
			    from >= A_MAP && from < OBJECTS ? objects[MAP].tag : 0, 24, &to.tag,
			    from < OBJECTS ? &referrer.tag : NULL, -1, (void *)(uintptr_t)context);
			if (answer == JVMTI_VISIT_ABORT)
				return JVMTI_ERROR_NONE;
			objects[references[i].to].visited |= answer == JVMTI_VISIT_OBJECTS;
		}
	return JVMTI_ERROR_NONE;
}

static jint JNICALL get_version(JNIEnv *env)
{
	return version;
}

static jclass JNICALL find_class(JNIEnv *env, const char *name)
{
	return NULL; /* no class of weak references */
}

static void JNICALL nothing(JNIEnv *env)
{
}

static void JNICALL delete_local(JNIEnv *env, jobject o)
{
}

bool lc_holder_place_find(jvmtiEnv *jvmti, JNIEnv *env, struct lc_holder_place *out)
{
	*out = (struct lc_holder_place){ 1, 1 };
	return true;
}

/* ---- the agent ---- */

jvmtiEnv *lc_jvmti(void)
{
	return &environment;
}

jvmtiEnv *lc_jvmti_of(JavaVM *vm)
{
	return &environment;
}

void lc_jvmti_set(jvmtiEnv *jvmti)
{
}

jclass *lc_jvmti_loaded(JNIEnv *env, jint *len)
{
	*len = CLASSES;
	return loaded;
}

void lc_jvmti_loaded_end(JNIEnv *env, jclass *classes)
{
}

uint64_t lc_heap_size_now(JNIEnv *env)
{
	return used_bytes;
}

uint64_t lc_memory_limited_to(void)
{
	return 64 << 20;
}

uint64_t lc_memory_held(void)
{
	return 0;
}

uint64_t lc_memory_default_limit(void)
{
	return 64 << 20;
}

uint32_t lc_epoch_gc_sequence(void)
{
	return sequence;
}

void lc_holder_names_class(jvmtiEnv *jvmti, jclass class, char *out, size_t out_len)
{
	snprintf(out, out_len, "%s", class_names[(struct object *)(void *)class - objects]);
}

void lc_holder_names_field(jvmtiEnv *jvmti, JNIEnv *env, jclass class, uint32_t number, char *out,
                           size_t out_len)
{
	lc_holder_names_class(jvmti, class, out, out_len);
	snprintf(out + strlen(out), out_len - strlen(out), ".f");
}

void lc_holder_names_method(jvmtiEnv *jvmti, JNIEnv *env, jmethodID method, char *out,
                            size_t out_len)
{
	snprintf(out, out_len, "?");
}

bool lc_holder_names_number(jvmtiEnv *jvmti, JNIEnv *env, jclass class, jclass declarer,
                            const char *name, uint32_t *number)
{
	return false;
}

/* ---- the JVM's fields ---- */

bool lc_unsafe_find(JNIEnv *env, struct lc_unsafe *out)
{
	*out = (struct lc_unsafe){ 0 };
	return true;
}

void lc_unsafe_end(JNIEnv *env, const struct lc_unsafe *u)
{
}

int64_t lc_unsafe_offset(JNIEnv *env, jobject unsafe, jmethodID offset_of, jclass class,
                         const char *name)
{
	assert_ptr_equal(class, loaded[VIRTUAL]);
	assert_string_equal(name, "cont");
	return continuation_offset;
}

uint32_t lc_unsafe_reference_bytes(JNIEnv *env, const struct lc_unsafe *u)
{
	return sizeof(objects[0].continuation);
}

/* ---- walks ---- */

static struct lc_holder_walk walk;

static int begin(void **state)
{
	functions = (struct jvmtiInterface_1_){ .SetTag = set_tag,
		                                .GetCurrentThread = current_thread,
		                                .AddCapabilities = add,
		                                .RelinquishCapabilities = relinquish,
		                                .FollowReferences = follow };
	jni_functions = (struct JNINativeInterface_){ .GetVersion = get_version,
		                                      .FindClass = find_class,
		                                      .ExceptionClear = nothing,
		                                      .DeleteLocalRef = delete_local };
	for (size_t i = 0; i < OBJECTS; i++)
		objects[i] = (struct object){ .self = &objects[i] };
	for (size_t i = 0; i < CLASSES; i++)
		loaded[i] = (jclass)(void *)&objects[i];
	memset(&walk, 0, sizeof(walk));
	tagged = walks = choices = capabilities = repeat = 0;
	used_bytes = 1 << 20;
	sequence = 10;
	version = 0x00150000;
	continuation_offset = offsetof(struct object, continuation);
	return 0;
}

static uint64_t address_of(int object)
{
	return (uint64_t)(uintptr_t)&objects[object];
}

static bool by_address(void *context, struct lc_holder_walk *w)
{
	choices++;
	w->sequence = 10;
	memset(&w->targets, 0, sizeof(w->targets));
	assert_true(lc_holder_targets_add(&w->targets, address_of(A_VALUE), 0));
	assert_true(lc_holder_targets_add(&w->targets, address_of(AN_ARRAY), 1));
	return true;
}

static bool by_tag(void *context, struct lc_holder_walk *w)
{
	w->sequence = 0;
	assert_true(
	    lc_holder_targets_add_object(&w->targets, (jobject)(void *)&objects[A_VALUE], 0));
	assert_true(
	    lc_holder_targets_add_object(&w->targets, (jobject)(void *)&objects[AN_ARRAY], 1));
	return true;
}

static bool none(void *context, struct lc_holder_walk *w)
{
	return false;
}

static const char *text_of(uint32_t number)
{
	const struct lc_holder_names names = lc_holder_walk_names(&walk);
	static char text[LC_HOLDER_TEXT_MAX];
	struct lc_holder_chain chain;

	lc_holder_chain_of(&walk.table, number, &chain);
	lc_holder_chain_text(&chain, &names, text, sizeof(text));
	return text;
}

/* The chains to both objects are known, and no tag is left. */
static void check_chains(void)
{
	const struct lc_holder_target *t = walk.targets.targets;

	assert_int_equal(tagged, 0);
	assert_int_equal(t[0].address, address_of(A_VALUE));
	assert_string_equal(text_of(lc_holder_table_find(&walk.table, t[0].address)),
	                    "static Leak.f -> Map.f");
	assert_int_not_equal(t[1].leaf.distance, 0);
	assert_string_equal(text_of(lc_holder_table_leaf(&walk.table, &t[1].leaf)),
	                    "static Leak.f -> Map.f (repeated)");
}

static void end(void)
{
	lc_holder_walk_end(&walk);
	assert_int_equal(tagged, 0);
	assert_int_equal(capabilities, 0);
}

static void objects_are_found_by_address(void **state)
{
	assert_true(lc_holder_walk_begin(&walk, NULL, &jni, UINT64_C(10000000000), 0));
	lc_holder_walk_want(&walk, NULL, true);
	assert_true(lc_holder_walk_run(&walk, by_address, NULL));
	assert_int_equal(choices, 1);
	check_chains();
	end();
}

static void objects_are_found_by_their_tags_which_are_removed(void **state)
{
	assert_true(lc_holder_walk_begin(&walk, NULL, &jni, UINT64_C(10000000000), 0));
	lc_holder_walk_want(&walk, NULL, true);
	sequence = 11; /* a collection goes on */
	assert_true(lc_holder_walk_run(&walk, by_tag, NULL));
	check_chains();
	end();
}

static void after_a_collection_objects_are_chosen_again(void **state)
{
	assert_true(lc_holder_walk_begin(&walk, NULL, &jni, UINT64_C(10000000000), 0));
	lc_holder_walk_want(&walk, NULL, true);
	sequence = 12;
	assert_false(lc_holder_walk_run(&walk, by_address, NULL));
	assert_non_null(strstr(walk.error, "collections"));
	assert_int_equal(choices, 5);
	assert_int_equal(walks, 5);
	end();
}

static void without_objects_there_is_no_walk(void **state)
{
	assert_true(lc_holder_walk_begin(&walk, NULL, &jni, UINT64_C(10000000000), 0));
	assert_false(lc_holder_walk_run(&walk, none, NULL));
	assert_int_equal(walks, 0);
	end();
}

static void a_second_walk_is_refused(void **state)
{
	static struct lc_holder_walk second;

	memset(&second, 0, sizeof(second));
	assert_true(lc_holder_walk_begin(&walk, NULL, &jni, UINT64_C(10000000000), 0));
	assert_false(lc_holder_walk_begin(&second, NULL, &jni, UINT64_C(10000000000), 0));
	assert_non_null(strstr(second.error, "another walk"));
	lc_holder_walk_end(&second);
	assert_int_equal(capabilities, 1);
	end();
	memset(&second, 0, sizeof(second));
	assert_true(lc_holder_walk_begin(&second, NULL, &jni, UINT64_C(10000000000), 0));
	lc_holder_walk_end(&second);
}

static void a_heap_that_takes_too_long_to_end_is_refused(void **state)
{
	used_bytes = UINT64_C(64) << 30;
	version = 0x000a0000; /* of JDK 10 to 18 */
	assert_false(lc_holder_walk_begin(&walk, NULL, &jni, UINT64_C(500000000), 0));
	assert_non_null(strstr(walk.error, "add --max-pause="));
	end();
}

static void a_walk_ends_when_its_time_is_over(void **state)
{
	char line[LC_HOLDER_WALK_LINE_MAX];

	repeat = 1 << 20;
	assert_true(lc_holder_walk_begin(&walk, NULL, &jni, 1, 0));
	lc_holder_walk_want(&walk, "", false);
	assert_true(lc_holder_walk_run(&walk, NULL, NULL));
	assert_string_equal(walk.stopped, "--max-pause");
	lc_holder_walk_line(&walk, line);
	assert_int_equal(strncmp(line, "walk\t", 5), 0);
	assert_string_equal(strrchr(line, '\t') - strlen("\t--max-pause"), "\t--max-pause\t1");
	assert_int_equal(walk.references, 1025);
	end();
}

/* Walk the heap, and return what holds the local variable of the virtual thread; NULL: nothing. */
static const char *holder_of_local(void)
{
	uint32_t number;

	assert_true(lc_holder_walk_begin(&walk, NULL, &jni, UINT64_C(10000000000), 0));
	lc_holder_walk_want(&walk, "", false);
	assert_true(lc_holder_walk_run(&walk, NULL, NULL));
	number = lc_holder_table_find(&walk.table, address_of(A_LOCAL));
	return number ? text_of(number) : NULL;
}

static void virtual_threads_are_visited_once_they_have_a_continuation(void **state)
{
	assert_null(holder_of_local());
	assert_false(objects[A_VIRTUAL].visited);
	assert_int_equal(walk.virtual_threads.not_followed, 0);
	end();
	memset(&walk, 0, sizeof(walk));
	objects[A_VIRTUAL].continuation = 1;
	assert_string_equal(holder_of_local(), "virtual thread, local variable of ?");
	end();
}

static void only_so_many_virtual_threads_are_visited_as_there_is_time_for(void **state)
{
	struct lc_holder_virtual v = { .class = 7,
		                       .offset = offsetof(struct object, continuation),
		                       .reference_bytes = 4 };
	const struct lc_holder_reference r = { .class = 7,
		                               .address = address_of(A_VIRTUAL),
		                               .bytes = sizeof(struct object) };

	objects[A_VIRTUAL].continuation = 1;
	lc_holder_virtual_begin(&v, UINT64_C(1000000));
	for (unsigned i = 0; i < 12; i++)
		assert_int_equal(lc_holder_virtual_visits(&v, &r), i < 5);
	assert_int_equal(v.not_followed, 7);
	lc_holder_virtual_begin(&v, UINT64_C(1000000));
	assert_int_equal(v.not_followed, 0);
	v.class = 0; /* it may be loaded now, and then has no number */
	assert_false(
	    lc_holder_virtual_visits(&v, &(struct lc_holder_reference){ .bytes = r.bytes }));
}

static void virtual_threads_whose_stack_is_not_known_are_counted(void **state)
{
	char line[LC_HOLDER_WALK_LINE_MAX];

	objects[A_VIRTUAL].continuation = 1;
	continuation_offset = -1;
	assert_null(holder_of_local());
	assert_false(objects[A_VIRTUAL].visited);
	lc_holder_walk_line(&walk, line);
	assert_string_equal(strrchr(line, '\t'), "\t1");
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(objects_are_found_by_address, begin),
		cmocka_unit_test_setup(objects_are_found_by_their_tags_which_are_removed, begin),
		cmocka_unit_test_setup(after_a_collection_objects_are_chosen_again, begin),
		cmocka_unit_test_setup(without_objects_there_is_no_walk, begin),
		cmocka_unit_test_setup(a_second_walk_is_refused, begin),
		cmocka_unit_test_setup(a_heap_that_takes_too_long_to_end_is_refused, begin),
		cmocka_unit_test_setup(a_walk_ends_when_its_time_is_over, begin),
		cmocka_unit_test_setup(virtual_threads_are_visited_once_they_have_a_continuation,
		                       begin),
		cmocka_unit_test_setup(
		    only_so_many_virtual_threads_are_visited_as_there_is_time_for, begin),
		cmocka_unit_test_setup(virtual_threads_whose_stack_is_not_known_are_counted, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
