/* uses: src/agent/holder_table.c src/agent/holder_targets.c src/agent/holder_chain.c src/agent/holder_names.c src/core/version.c src/core/path.c src/core/path_name.c src/base/limit.c src/base/say.c src/core/path_intern.c src/core/recursion.c src/core/jvmti.c src/core/own.c src/core/memory.c src/core/method_number.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_holders.c - checks chains of references, and the numbers that JVMTI gives to fields. It is
 * longer than 600 lines: all chains are of one model of a heap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/agent/holder_chain.h"
#include "src/agent/holder_names.h"
#include "src/agent/holder_table.h"
#include "src/agent/holder_targets.h"

/* ---- a heap ---- */

enum {
	LEAK = 1,
	MAP,
	NODES,
	NODE,
	VALUE,
	LEAF,
	NODE_AGAIN,
	CLASSES = NODE_AGAIN,
	ROWS = 264,
	CHUNKS = 4
};
enum { FIELD_VALUE = 7, FIELD_NEXT };

static struct lc_holder objects[ROWS];
static struct lc_holder_class classes[CLASSES + 1];
static uint64_t chunks[CHUNKS], bits[CHUNKS][LC_HOLDER_CHUNK_WORDS];
static struct lc_holder_table table;

static int begin_walk(void **state)
{
	static uint32_t walk;

	(void)state;
	walk++;
	memset(objects, 0, sizeof(objects));
	memset(classes, 0, sizeof(classes));
	memset(chunks, 0, sizeof(chunks));
	memset(bits, 0, sizeof(bits));
	table = (struct lc_holder_table){ .objects = objects,
		                          .cap = ROWS,
		                          .classes = classes,
		                          .class_count = CLASSES,
		                          .walk = walk,
		                          .chunks = chunks,
		                          .bits = bits,
		                          .chunk_room = CHUNKS / 2,
		                          .chunk_cap = CHUNKS };
	lc_holder_table_begin(&table);
	classes[LEAF].leaf = classes[LEAF].wanted = classes[VALUE].wanted = true;
	return 0;
}

/* The first object is where a heap may begin: at an address whose low bits are all zero. */
static uint64_t address_of(size_t object)
{
	return (UINT64_C(1) << 44) + object * 16;
}

static enum lc_holder_result reach(uint32_t kind, uint32_t index, uint32_t parent, uint32_t class,
                                   size_t object)
{
	const struct lc_holder_reference r = { .kind = kind,
		                               .index = index,
		                               .class = class,
		                               .address = address_of(object),
		                               .bytes = 24,
		                               .parent = parent };

	return lc_holder_table_reach(&table, &r);
}

static uint32_t number(size_t object)
{
	return lc_holder_table_find(&table, address_of(object));
}

static void name_class(void *unused, uint32_t class, char *out)
{
	static const char *const names[] = { "?",    "Leak",  "Map",  "Node[]",
		                             "Node", "Value", "Leaf", "Node" };

	(void)unused;
	snprintf(out, LC_HOLDER_NAME_MAX, "%s", names[class]);
}

static void name_field(void *unused, uint32_t class, uint32_t index, char *out)
{
	static const char *const names[] = {
		"cache", "table", [FIELD_VALUE] = "value", [FIELD_NEXT] = "next"
	};

	name_class(unused, class, out);
	snprintf(out + strlen(out), LC_HOLDER_NAME_MAX - strlen(out), ".%s", names[index]);
}

static void name_method(void *unused, uint32_t method, char *out)
{
	(void)unused;
	snprintf(out, LC_HOLDER_NAME_MAX, "Main.run%u", method);
}

static const struct lc_holder_names text_names = { NULL, name_class, name_field, name_method };

static const char *text_of(const struct lc_holder_chain *chain)
{
	static char text[1000];

	lc_holder_chain_text(chain, &text_names, text, sizeof(text));
	return text;
}

static const char *text_to(size_t object)
{
	struct lc_holder_chain chain;

	lc_holder_chain_of(&table, number(object), &chain);
	return text_of(&chain);
}

/* A map in a static field: 0 the map, 1 its table, 2 a node, 3 its value. */
static void reach_map(void)
{
	assert_true(reach(JVMTI_HEAP_REFERENCE_STATIC_FIELD, 0, LEAK, MAP, 0));
	assert_true(reach(JVMTI_HEAP_REFERENCE_FIELD, 1, number(0), NODES, 1));
	assert_true(reach(JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT, 5, number(1), NODE, 2));
	assert_true(reach(JVMTI_HEAP_REFERENCE_FIELD, FIELD_VALUE, number(2), VALUE, 3));
}

/* ---- chains ---- */

static void a_chain_names_fields_from_the_static_one_on(void **state)
{
	(void)state;
	reach_map();
	assert_string_equal(text_to(3), "static Leak.cache -> Map.table[] -> Node.value");
	assert_string_equal(text_to(0), "static Leak.cache");
	assert_int_equal(classes[VALUE].objects, 1);
	assert_int_equal(classes[VALUE].bytes, 24);
}

static void roots_are_named(void **state)
{
	static const struct {
		uint32_t kind;
		const char *text;
	} roots[] = {
		{ JVMTI_HEAP_REFERENCE_STACK_LOCAL, "local variable of Main.run3 -> Node.value" },
		{ LC_HOLDER_VIRTUAL_LOCAL,
		  "virtual thread, local variable of Main.run3 -> Node.value" },
		{ JVMTI_HEAP_REFERENCE_JNI_LOCAL,
		  "JNI local reference of Main.run3 -> Node.value" },
		{ JVMTI_HEAP_REFERENCE_JNI_GLOBAL, "JNI global reference -> Node.value" },
		{ JVMTI_HEAP_REFERENCE_MONITOR, "locked monitor -> Node.value" },
		{ JVMTI_HEAP_REFERENCE_THREAD, "thread -> Node.value" },
		{ JVMTI_HEAP_REFERENCE_OTHER, "the JVM -> Node.value" },
	};

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		begin_walk(state);
		assert_true(reach(roots[i].kind, 3, 0, NODE, 0));
		assert_true(reach(JVMTI_HEAP_REFERENCE_FIELD, FIELD_VALUE, number(0), VALUE, 1));
		assert_string_equal(text_to(1), roots[i].text);
	}
}

static void a_class_that_holds_an_object_is_named(void **state)
{
	struct lc_holder_chain chain;
	const struct lc_holder_reference r = { .kind = JVMTI_HEAP_REFERENCE_SYSTEM_CLASS,
		                               .object = LEAK };

	(void)state;
	assert_false(lc_holder_table_reached(&table, LEAK));
	assert_int_equal(lc_holder_table_reach(&table, &r), LC_HOLDER_NEW);
	assert_int_equal(lc_holder_table_reach(&table, &r), LC_HOLDER_KNOWN);
	assert_true(lc_holder_table_reached(&table, LEAK));
	assert_true(reach(JVMTI_HEAP_REFERENCE_CONSTANT_POOL, 0, LEAK, VALUE, 0));
	lc_holder_chain_of(&table, number(0), &chain);
	assert_string_equal(text_of(&chain), "system class (class Leak) -> Leak.(constant)");
}

static void the_nearest_referrer_is_kept(void **state)
{
	(void)state;
	/* A long way to the value comes first, as in a walk in depth. */
	assert_true(reach(JVMTI_HEAP_REFERENCE_STACK_LOCAL, 1, 0, NODE, 5));
	assert_true(reach(JVMTI_HEAP_REFERENCE_FIELD, FIELD_VALUE, number(5), NODE, 6));
	assert_true(reach(JVMTI_HEAP_REFERENCE_FIELD, FIELD_NEXT, number(6), NODE, 7));
	assert_true(reach(JVMTI_HEAP_REFERENCE_FIELD, FIELD_VALUE, number(7), MAP, 0));
	reach_map();
	assert_string_equal(text_to(3), "static Leak.cache -> Map.table[] -> Node.value");
	/* A later reference from farther away changes nothing. */
	assert_true(reach(JVMTI_HEAP_REFERENCE_FIELD, FIELD_NEXT, number(7), VALUE, 3));
	assert_string_equal(text_to(3), "static Leak.cache -> Map.table[] -> Node.value");
}

/* A virtual thread's stack refers to the thread: what holds the thread says more. */
static void a_virtual_thread_does_not_hold_itself(void **state)
{
	reach_map();
	assert_true(reach(LC_HOLDER_VIRTUAL_LOCAL, 3, 0, NODE, 2));
	assert_string_equal(text_to(3), "static Leak.cache -> Map.table[] -> Node.value");
	assert_true(reach(LC_HOLDER_VIRTUAL_LOCAL, 3, 0, VALUE, 9));
	assert_string_equal(text_to(9), "virtual thread, local variable of Main.run3");
}

static void references_in_a_circle_end(void **state)
{
	(void)state;
	assert_true(reach(JVMTI_HEAP_REFERENCE_STACK_LOCAL, 1, 0, NODE, 0));
	for (uint32_t round = 0; round < 3; round++)
		for (size_t i = 0; i < 4; i++)
			assert_true(reach(JVMTI_HEAP_REFERENCE_FIELD, FIELD_VALUE, number(i), NODE,
			                  (i + 1) % 4));
	/* Nearer to a root: the distances of those behind it are out of date. */
	assert_true(reach(JVMTI_HEAP_REFERENCE_STATIC_FIELD, 0, LEAK, NODE, 2));
	for (size_t i = 0; i < 4; i++)
		assert_true(
		    reach(JVMTI_HEAP_REFERENCE_FIELD, FIELD_NEXT, number(i), NODE, (i + 3) % 4));
	assert_string_equal(text_to(1), "static Leak.cache -> Node.next");
	assert_string_equal(text_to(0), "local variable of Main.run1");
}

/* Two loaders have a class of the name: the chain goes on to what holds the loader's class. */
static void static_fields_of_a_class_that_is_there_again_have_a_holder(void **state)
{
	static const uint64_t hashes[CLASSES] = { 5, 9, 4, 8, 3, 7, 8 };
	struct lc_holder_named named[CLASSES];
	struct lc_holder_reference class = { .kind = JVMTI_HEAP_REFERENCE_CLASS };
	struct lc_holder_chain chains[3], chain;
	size_t len = 0;

	for (uint32_t i = 0; i < CLASSES; i++)
		named[i] = (struct lc_holder_named){ hashes[i], i + 1 };
	lc_holder_table_mark(&table, named);
	assert_true(classes[NODE].again && classes[NODE_AGAIN].again && !classes[LEAK].again);
	assert_true(reach(JVMTI_HEAP_REFERENCE_STATIC_FIELD, 0, LEAK, NODES, 0));
	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t node = i ? NODE_AGAIN : NODE;

		assert_true(reach(JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT, i, number(0), node, 1 + i));
		class.object = node;
		class.parent = number(1 + i);
		assert_int_equal(lc_holder_table_reach(&table, &class), LC_HOLDER_NEW);
		/* The class holds the object that holds the class, too. */
		assert_true(
		    reach(JVMTI_HEAP_REFERENCE_STATIC_FIELD, FIELD_NEXT, node, node, 1 + i));
		assert_true(
		    reach(JVMTI_HEAP_REFERENCE_STATIC_FIELD, FIELD_VALUE, node, VALUE, 10 + i));
		lc_holder_chain_of(&table, number(10 + i), &chain);
		assert_string_equal(text_of(&chain),
		                    "static Leak.cache[] -> Node.(class) -> static Node.value");
		lc_holder_chains_add(chains, &len, &chain);
	}
	assert_int_equal(len, 2);
	lc_holder_chains_join(chains, &len, &text_names);
	assert_int_equal(len, 1);
	assert_int_equal(chains[0].count, 2);
}

/* A class that was loaded after the classes were numbered has an address, as other objects do. */
static void a_static_field_of_a_new_class_is_a_root(void **state)
{
	assert_true(reach(JVMTI_HEAP_REFERENCE_JNI_GLOBAL, 0, 0, LEAK, 200));
	assert_true(number(200) > CLASSES + 1);
	assert_true(reach(JVMTI_HEAP_REFERENCE_STATIC_FIELD, 0, number(200), VALUE, 0));
	assert_string_equal(text_to(0), "static Leak.cache");
}

static void a_linked_list_is_one_chain(void **state)
{
	struct lc_holder_chain chains[64], chain;
	size_t len = 0;

	(void)state;
	assert_true(reach(JVMTI_HEAP_REFERENCE_STATIC_FIELD, 0, LEAK, NODE, 0));
	for (size_t i = 0; i < 20; i++) {
		assert_true(reach(JVMTI_HEAP_REFERENCE_FIELD, FIELD_NEXT, number(i), NODE, i + 1));
		assert_true(
		    reach(JVMTI_HEAP_REFERENCE_FIELD, FIELD_VALUE, number(i), VALUE, 30 + i));
	}
	for (size_t i = 0; i < 20; i++) {
		lc_holder_chain_of(&table, number(30 + i), &chain);
		lc_holder_chains_add(chains, &len, &chain);
	}
	lc_holder_chains_join(chains, &len, &text_names);
	assert_int_equal(len, 3);
	assert_int_equal(chains[0].count, 18);
	assert_string_equal(text_of(&chains[0]),
	                    "static Leak.cache -> Node.next (repeated) -> Node.value");
	assert_string_equal(text_of(&chains[1]), "static Leak.cache -> Node.value");
	assert_string_equal(text_of(&chains[2]), "static Leak.cache -> Node.next -> Node.value");
}

static void a_long_chain_keeps_its_ends(void **state)
{
	(void)state;
	assert_true(reach(JVMTI_HEAP_REFERENCE_STATIC_FIELD, 0, LEAK, NODE, 0));
	for (size_t i = 0; i < 20; i++)
		assert_true(reach(JVMTI_HEAP_REFERENCE_FIELD, i % 2 ? FIELD_NEXT : FIELD_VALUE,
		                  number(i), NODE, i + 1));
	assert_string_equal(text_to(20),
	                    "static Leak.cache -> Node.value -> Node.next -> Node.value -> ..."
	                    " -> Node.value -> Node.next -> Node.value -> Node.next"
	                    " -> Node.value -> Node.next -> Node.value -> Node.next");
	/* A chain that just fits: nothing is left out. */
	assert_null(strstr(text_to(11), "..."));
	assert_non_null(strstr(text_to(12), "..."));
}

static void a_full_table_refuses_new_objects_only(void **state)
{
	size_t i = 0;

	(void)state;
	while (reach(JVMTI_HEAP_REFERENCE_JNI_GLOBAL, 0, 0, NODE, i * 997))
		i++;
	assert_int_equal(i, (ROWS - lc_holder_first_row(CLASSES)) / 8 * 5);
	assert_int_equal(number(i * 997), 0);
	for (size_t k = 0; k < i; k++)
		assert_int_not_equal(number(k * 997), 0);
	assert_int_equal(reach(JVMTI_HEAP_REFERENCE_STATIC_FIELD, 0, LEAK, NODE, 0),
	                 LC_HOLDER_KNOWN);
	assert_string_equal(text_to(0), "static Leak.cache");
	/* Leaf objects have room of their own: each of two chunks has all its objects. */
	for (size_t k = 0; k < 1 << LC_HOLDER_CHUNK_SHIFT >> 4; k++)
		assert_int_equal(reach(JVMTI_HEAP_REFERENCE_JNI_GLOBAL, 0, 0, LEAF, k),
		                 LC_HOLDER_NEW);
	assert_int_equal(reach(JVMTI_HEAP_REFERENCE_JNI_GLOBAL, 0, 0, LEAF, 1 << 20),
	                 LC_HOLDER_NEW);
	assert_int_equal(reach(JVMTI_HEAP_REFERENCE_JNI_GLOBAL, 0, 0, LEAF, 1 << 21),
	                 LC_HOLDER_FULL);
	assert_int_equal(reach(JVMTI_HEAP_REFERENCE_JNI_GLOBAL, 0, 0, LEAF, 7), LC_HOLDER_KNOWN);
}

/* The middle of a list that is longer than the table's greatest distance. */
static void a_chain_through_a_very_long_list_has_an_end(void **state)
{
	enum { LONG = 3 * LC_HOLDER_DISTANCE_MAX };
	static struct lc_holder many[2 * LONG];
	const struct lc_holder_reference back = { .kind = JVMTI_HEAP_REFERENCE_FIELD,
		                                  .index = FIELD_VALUE,
		                                  .class = NODE };

	(void)state;
	table.objects = memset(many, 0, sizeof(many));
	table.cap = 2 * LONG;
	lc_holder_table_begin(&table);
	assert_true(reach(JVMTI_HEAP_REFERENCE_STATIC_FIELD, 0, LEAK, NODE, 0));
	for (size_t i = 0; i < LONG; i++) {
		struct lc_holder_reference r = back;

		assert_true(reach(JVMTI_HEAP_REFERENCE_FIELD, FIELD_NEXT, number(i), NODE, i + 1));
		r.parent = number(i + 1); /* the list is linked backwards, too */
		r.address = address_of(i);
		assert_true(lc_holder_table_reach(&table, &r));
	}
	assert_string_equal(text_to(LONG), "static Leak.cache -> Node.next (repeated)");
}

static void objects_of_a_leaf_class_count_once_and_have_chains(void **state)
{
	(void)state;
	reach_map();
	for (size_t i = 0; i < 100; i++) {
		assert_int_equal(
		    reach(JVMTI_HEAP_REFERENCE_FIELD, FIELD_NEXT, number(2), LEAF, 100 + i),
		    LC_HOLDER_NEW);
		assert_int_equal(reach(JVMTI_HEAP_REFERENCE_STATIC_FIELD, 0, LEAK, LEAF, 100 + i),
		                 LC_HOLDER_KNOWN);
	}
	assert_int_equal(classes[LEAF].objects, 100);
	assert_int_equal(classes[LEAF].bytes, 2400);
	assert_int_equal(classes[LEAF].samples, 25); /* every fourth */
	for (uint32_t i = 0; i < classes[LEAF].samples; i++) {
		struct lc_holder_chain chain;

		lc_holder_chain_of(&table, lc_holder_table_sample(&table, LEAF, i), &chain);
		assert_string_equal(text_of(&chain),
		                    "static Leak.cache -> Map.table[] -> Node.next");
	}
}

static void the_nearest_reference_to_a_leaf_that_is_looked_for_is_kept(void **state)
{
	struct lc_holder_leaf leaf = { 0 };
	struct lc_holder_reference r = { .kind = JVMTI_HEAP_REFERENCE_FIELD,
		                         .index = FIELD_VALUE,
		                         .class = LEAF };
	struct lc_holder_chain chain;

	reach_map();
	r.parent = number(2);
	lc_holder_table_note(&table, &r, &leaf);
	lc_holder_chain_of(&table, lc_holder_table_leaf(&table, &leaf), &chain);
	assert_string_equal(text_of(&chain), "static Leak.cache -> Map.table[] -> Node.value");
	r.parent = number(3); /* from farther away */
	lc_holder_table_note(&table, &r, &leaf);
	assert_int_equal(leaf.sample.parent, number(2));
	r.parent = number(0);
	lc_holder_table_note(&table, &r, &leaf);
	lc_holder_chain_of(&table, lc_holder_table_leaf(&table, &leaf), &chain);
	assert_int_equal(chain.len, 2); /* the static field, and this one */
}

static void targets_are_found_by_address(void **state)
{
	static struct lc_holder_targets targets;

	assert_null(lc_holder_targets_find(&targets, address_of(0)));
	for (size_t i = 0; i < LC_HOLDER_TARGETS_MAX; i++)
		assert_true(lc_holder_targets_add(&targets, address_of(i * 3), (uint32_t)i));
	assert_false(lc_holder_targets_add(&targets, address_of(3), 7)); /* it is there */
	assert_false(lc_holder_targets_add(&targets, address_of(1), 7)); /* full */
	for (size_t i = 0; i < LC_HOLDER_TARGETS_MAX; i++) {
		assert_int_equal(lc_holder_targets_find(&targets, address_of(i * 3))->group, i);
		assert_null(lc_holder_targets_find(&targets, address_of(i * 3 + 1)));
	}
}

static void samples_are_chosen_evenly(void **state)
{
	(void)state;
	for (size_t i = 0; i < 150; i++)
		assert_true(reach(JVMTI_HEAP_REFERENCE_JNI_GLOBAL, 0, 0, VALUE, i));
	assert_int_equal(classes[VALUE].samples, 19);
	for (uint32_t i = 0; i < 19; i++)
		assert_int_equal(lc_holder_table_sample(&table, VALUE, i), number((size_t)i * 8));
}

static void a_tag_of_an_earlier_walk_means_nothing(void **state)
{
	const jlong before = lc_holder_tag(&table, LEAK);

	assert_int_equal(lc_holder_number(&table, before), LEAK);
	begin_walk(state);
	assert_int_equal(lc_holder_number(&table, before), 0);
}

/* ---- a JVM with classes ---- */

/* A class or interface, whose address is the jclass; fields are in JVMTI's order. */
struct fake {
	const char *signature;
	struct fake *super;
	struct fake *interfaces[3];
	const char *fields[4];
};

static struct fake top = { .signature = "Ljava/lang/Object;" };
static struct fake grand = { .signature = "Lt/Grand;", .fields = { "G1", "G2" } };
static struct fake left = { .signature = "Lt/Left;", .interfaces = { &grand }, .fields = { "L1" } };
static struct fake right = { .signature = "Lt/Right;",
	                     .interfaces = { &grand },
	                     .fields = { "R1", "R2", "R3" } };
static struct fake base = { .signature = "Lt/Base;",
	                    .super = &top,
	                    .interfaces = { &left },
	                    .fields = { "shared", "low" } };
static struct fake derived = { .signature = "Lt/Base$Derived;",
	                       .super = &base,
	                       .interfaces = { &right, &left },
	                       .fields = { "count", "high" } };

static struct fake *fake(jclass class)
{
	return (struct fake *)(void *)class;
}

static jclass class_of(struct fake *f)
{
	return (jclass)(void *)f;
}

static jvmtiError JNICALL get_fields(jvmtiEnv *env, jclass class, jint *len, jfieldID **out)
{
	(void)env;
	*out = calloc(4, sizeof(**out));
	for (*len = 0; *len < 4 && fake(class)->fields[*len]; ++*len)
		(*out)[*len] = (jfieldID)(uintptr_t)fake(class)->fields[*len];
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_interfaces(jvmtiEnv *env, jclass class, jint *len, jclass **out)
{
	(void)env;
	*out = calloc(3, sizeof(**out));
	for (*len = 0; *len < 3 && fake(class)->interfaces[*len]; ++*len)
		(*out)[*len] = class_of(fake(class)->interfaces[*len]);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_signature(jvmtiEnv *env, jclass class, char **out, char **generic)
{
	(void)env;
	(void)generic;
	*out = strdup(fake(class)->signature);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_name(jvmtiEnv *env, jclass class, jfieldID field, char **out,
                                   char **signature, char **generic)
{
	(void)env;
	(void)class;
	(void)signature;
	(void)generic;
	*out = strdup((const char *)field);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *env, unsigned char *memory)
{
	(void)env;
	free(memory);
	return JVMTI_ERROR_NONE;
}

static jclass JNICALL get_super(JNIEnv *jni, jclass class)
{
	(void)jni;
	return class_of(fake(class)->super);
}

static jboolean JNICALL same(JNIEnv *jni, jobject a, jobject b)
{
	(void)jni;
	return a == b;
}

static jint JNICALL push(JNIEnv *jni, jint references)
{
	(void)jni;
	(void)references;
	return 0;
}

static jobject JNICALL pop(JNIEnv *jni, jobject result)
{
	(void)jni;
	return result;
}

static const jvmtiInterface_1 jvmti_functions = {
	.GetClassFields = get_fields,
	.GetImplementedInterfaces = get_interfaces,
	.GetClassSignature = get_signature,
	.GetFieldName = get_name,
	.Deallocate = deallocate,
};
static const struct JNINativeInterface_ jni_functions = {
	.GetSuperclass = get_super,
	.IsSameObject = same,
	.PushLocalFrame = push,
	.PopLocalFrame = pop,
};
static jvmtiEnv jvmti = &jvmti_functions;
static JNIEnv jni = &jni_functions;

static const char *field_of(struct fake *f, uint32_t index)
{
	static char text[LC_HOLDER_NAME_MAX];

	lc_holder_names_field(&jvmti, &jni, class_of(f), index, text, sizeof(text));
	return text;
}

static void fields_follow_those_of_interfaces_and_superclasses(void **state)
{
	(void)state;
	/* Base: G1 G2 L1 are 0 to 2, then its own. */
	assert_string_equal(field_of(&base, 3), "t.Base.shared");
	assert_string_equal(field_of(&base, 4), "t.Base.low");
	/* Derived: the three interfaces' six, each interface once; Base's two; its own. */
	assert_string_equal(field_of(&derived, 6), "t.Base.shared");
	assert_string_equal(field_of(&derived, 7), "t.Base.low");
	assert_string_equal(field_of(&derived, 8), "t.Base$Derived.count");
	assert_string_equal(field_of(&derived, 9), "t.Base$Derived.high");
	/* An interface: those of its superinterfaces come first. */
	assert_string_equal(field_of(&right, 2), "t.Right.R1");
	assert_string_equal(field_of(&right, 4), "t.Right.R3");
	assert_string_equal(field_of(&grand, 0), "t.Grand.G1");
}

static void a_number_that_is_no_field_is_unknown(void **state)
{
	(void)state;
	assert_string_equal(field_of(&derived, 10), "t.Base$Derived.(unknown field)");
	assert_string_equal(field_of(&derived, 2), "t.Base$Derived.(unknown field)");
	assert_string_equal(field_of(&top, 0), "java.lang.Object.(unknown field)");
}

static void the_number_of_an_inherited_field_is_found(void **state)
{
	uint32_t found = 0;

	(void)state;
	assert_true(lc_holder_names_number(&jvmti, &jni, class_of(&derived), class_of(&base), "low",
	                                   &found));
	assert_int_equal(found, 7);
	assert_false(lc_holder_names_number(&jvmti, &jni, class_of(&derived), class_of(&base),
	                                    "high", &found));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_chain_names_fields_from_the_static_one_on, begin_walk),
		cmocka_unit_test_setup(roots_are_named, begin_walk),
		cmocka_unit_test_setup(a_class_that_holds_an_object_is_named, begin_walk),
		cmocka_unit_test_setup(the_nearest_referrer_is_kept, begin_walk),
		cmocka_unit_test_setup(a_virtual_thread_does_not_hold_itself, begin_walk),
		cmocka_unit_test_setup(references_in_a_circle_end, begin_walk),
		cmocka_unit_test_setup(static_fields_of_a_class_that_is_there_again_have_a_holder,
		                       begin_walk),
		cmocka_unit_test_setup(a_static_field_of_a_new_class_is_a_root, begin_walk),
		cmocka_unit_test_setup(a_linked_list_is_one_chain, begin_walk),
		cmocka_unit_test_setup(a_long_chain_keeps_its_ends, begin_walk),
		cmocka_unit_test_setup(a_full_table_refuses_new_objects_only, begin_walk),
		cmocka_unit_test_setup(a_chain_through_a_very_long_list_has_an_end, begin_walk),
		cmocka_unit_test_setup(objects_of_a_leaf_class_count_once_and_have_chains,
		                       begin_walk),
		cmocka_unit_test_setup(the_nearest_reference_to_a_leaf_that_is_looked_for_is_kept,
		                       begin_walk),
		cmocka_unit_test(targets_are_found_by_address),
		cmocka_unit_test_setup(samples_are_chosen_evenly, begin_walk),
		cmocka_unit_test_setup(a_tag_of_an_earlier_walk_means_nothing, begin_walk),
		cmocka_unit_test(fields_follow_those_of_interfaces_and_superclasses),
		cmocka_unit_test(a_number_that_is_no_field_is_unknown),
		cmocka_unit_test(the_number_of_an_inherited_field_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
