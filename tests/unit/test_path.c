/* uses: src/core/path_name.c src/base/limit.c src/base/say.c src/core/version.c src/core/memory.c src/core/path.c src/core/path_intern.c src/core/request.c src/core/recursion.c src/core/jvmti.c src/core/own.c src/core/method_number.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_path.c - checks that paths, methods and sites are interned once, against a JVM made up here.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/core/jvmti.h"
#include "src/core/path.h"
#include "src/core/record.h"
#include "src/core/recursion.h"
#include "src/core/request.h"
#include "tests/unit/counter.h"

/*
 * The made-up JVM: method N is com.acme.C<N>.m<N>(), line 10 from bci 0 and line 20 from bci 8. The
 * same class loaded again has method AGAIN + N; one of another source has OTHER + N.
 */
enum { UNLOADED = 666, OWN = 777 /* of LocusSpan */, AGAIN = 1 << 16, OTHER = 1 << 17 };

static unsigned names_asked;

static char *text(const char *format, unsigned n)
{
	char *out = malloc(64);

	snprintf(out, 64, format, n);
	return out;
}

static unsigned number(const void *id)
{
	return (uint16_t)(uintptr_t)id;
}

static jvmtiError JNICALL get_method_name(jvmtiEnv *env, jmethodID m, char **name, char **signature,
                                          char **generic)
{
	unsigned n = number(m);

	__atomic_fetch_add(&names_asked, 1, __ATOMIC_RELAXED);
	if (n == UNLOADED)
		return JVMTI_ERROR_INVALID_METHODID;
	*name = text("m%u", n);
	*signature = text("(I)V", n);
	return JVMTI_ERROR_NONE;
}

/* The code of method N has N + 1 bytes. */
static jvmtiError JNICALL get_location(jvmtiEnv *env, jmethodID m, jlocation *begin, jlocation *end)
{
	*begin = 0;
	*end = number(m);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_declaring_class(jvmtiEnv *env, jmethodID m, jclass *out)
{
	*out = (jclass)m;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_class_signature(jvmtiEnv *env, jclass c, char **signature,
                                              char **generic)
{
	*signature = text(number(c) == OWN ? "Ljava/lang/LocusSpan;" : "Lcom/acme/C%u;", number(c));
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_source_file(jvmtiEnv *env, jclass c, char **out)
{
	*out = text((uintptr_t)c & OTHER ? "D%u.java" : "C%u.java", number(c));
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_lines(jvmtiEnv *env, jmethodID m, jint *len,
                                    jvmtiLineNumberEntry **lines)
{
	*len = 2;
	*lines = calloc(2, sizeof(**lines));
	(*lines)[0] = (jvmtiLineNumberEntry){ 8, 20 }; /* not in order, as some compilers write */
	(*lines)[1] = (jvmtiLineNumberEntry){ 0, 10 };
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *env, unsigned char *p)
{
	free(p);
	return JVMTI_ERROR_NONE;
}

static void JNICALL delete_local_ref(JNIEnv *jni, jobject o)
{
}

static struct jvmtiInterface_1_ jvmti_functions = {
	.GetMethodName = get_method_name,
	.GetMethodDeclaringClass = get_declaring_class,
	.GetClassSignature = get_class_signature,
	.GetSourceFileName = get_source_file,
	.GetLineNumberTable = get_lines,
	.GetMethodLocation = get_location,
	.Deallocate = deallocate,
};
static struct JNINativeInterface_ jni_functions = { .DeleteLocalRef = delete_local_ref };
static jvmtiEnv jvmti = &jvmti_functions;
static JNIEnv jni = &jni_functions;

static int start(void **state)
{
	lc_jvmti_set(&jvmti);
	lc_recursion_fold(true);
	return lc_path_init();
}

static uint64_t frame(unsigned method, int bci)
{
	return lc_frame_pack((const void *)(uintptr_t)method, bci);
}

static void an_empty_path_is_the_root(void **state)
{
	assert_int_equal(lc_path_intern(&jni, NULL, 0), 0);
	assert_int_equal(lc_path_get(0)->depth, 0);
}

static void equal_paths_are_one_node_and_share_their_callers(void **state)
{
	const uint64_t a[] = { frame(3, 5), frame(2, 7), frame(1, 0) };
	const uint64_t b[] = { frame(4, 5), frame(2, 7), frame(1, 0) };
	uint32_t x = lc_path_intern(&jni, a, 3), y = lc_path_intern(&jni, b, 3);

	assert_int_equal(lc_path_intern(&jni, a, 3), x);
	assert_int_not_equal(x, y);
	assert_int_equal(lc_path_get(x)->parent, lc_path_get(y)->parent);
	assert_int_equal(lc_path_get(x)->depth, 3);
	assert_int_equal(lc_path_get(x)->bci, 5);
	assert_string_equal(lc_method_get(lc_path_get(x)->method)->name, "m3");
	assert_true(lc_path_get(x)->parent < x);
}

static void another_bci_is_another_node(void **state)
{
	const uint64_t a[] = { frame(3, 5) }, b[] = { frame(3, 6) }, c[] = { frame(3, -1) };

	assert_int_not_equal(lc_path_intern(&jni, a, 1), lc_path_intern(&jni, b, 1));
	assert_int_equal(lc_path_get(lc_path_intern(&jni, c, 1))->bci, LC_BCI_NONE);
}

static void a_method_is_named_as_a_stack_trace_names_it(void **state)
{
	const uint64_t a[] = { frame(42, 0) };
	const struct lc_method *m;

	m = lc_method_get(lc_path_get(lc_path_intern(&jni, a, 1))->method);
	assert_string_equal(m->class_name, "com.acme.C42");
	assert_string_equal(m->source_file, "C42.java");
	assert_int_equal(lc_method_line(m, 0), 10);
	assert_int_equal(lc_method_line(m, 7), 10);
	assert_int_equal(lc_method_line(m, 8), 20);
	assert_int_equal(lc_method_line(m, 999), 20);
	assert_int_equal(lc_method_line(m, LC_BCI_NONE), -1);
	assert_int_equal(m->code_bytes, 43);
}

static void frames_of_our_own_are_in_no_path(void **state)
{
	const uint64_t with[] = { frame(OWN, 3), frame(1, 0), frame(OWN, 5), frame(2, 8) };
	const uint64_t without[] = { frame(1, 0), frame(2, 8) };
	const uint64_t only[] = { frame(OWN, 3) };
	uint32_t path = lc_path_intern(&jni, without, 2);

	assert_int_equal(lc_path_intern(&jni, with, 4), path);
	assert_int_equal(lc_path_get(path)->depth, 2);
	assert_int_equal(lc_path_intern(&jni, only, 1), 0);
}

static void a_cycle_that_follows_itself_is_in_the_path_once(void **state)
{
	const uint64_t once[] = { frame(9, 1), frame(8, 1), frame(7, 1), frame(1, 0) };
	const uint64_t thrice[] = { frame(9, 1), frame(8, 1), frame(7, 1), frame(8, 1),
		                    frame(7, 1), frame(8, 1), frame(7, 1), frame(1, 0) };
	const uint64_t other[] = { frame(9, 1), frame(8, 1), frame(7, 1),
		                   frame(8, 2), frame(7, 1), frame(1, 0) };
	uint32_t path = lc_path_intern(&jni, once, 4), before = 0;
	const struct lc_path_recursion *r;

	while (lc_path_recursion_get(before))
		before++;
	assert_int_equal(lc_path_intern(&jni, thrice, 8), path);
	r = lc_path_recursion_get(before);
	assert_non_null(r);
	assert_int_equal(r->path, lc_path_get(path)->parent);
	assert_int_equal(r->frames, 2);
	/* Said once. If one frame differs, nothing is left out. */
	assert_int_equal(lc_path_intern(&jni, thrice, 8), path);
	assert_null(lc_path_recursion_get(before + 1));
	assert_int_equal(lc_path_get(lc_path_intern(&jni, other, 6))->depth, 6);
	/* A path that is put together folds as one that was walked does. */
	path = lc_path_intern(&jni, once + 1, 3);
	assert_int_equal(lc_path_below(path, path, 64), path);
}

/* The frames of a path from the root, with recursion folded, each by itself. Returns how many. */
static uint32_t fold(const uint64_t *frames, size_t len, uint64_t *out)
{
	uint32_t n = 0;

	while (len-- > 0) {
		uint32_t cycle;

		if ((frames[len] & LC_ADDR_MASK) == OWN)
			continue;
		cycle = lc_recursion_cycle(out, n, frames[len]);
		if (cycle)
			n -= cycle - 1;
		else
			out[n++] = frames[len];
	}
	return n;
}

static void check_node(uint32_t node, uint32_t root, const uint64_t *frames, size_t len,
                       uint32_t depth)
{
	uint64_t folded[64];
	uint32_t n = fold(frames, len, folded), at_most = n < depth ? n : depth;

	assert_int_equal(node ? lc_path_get(node)->depth : 0, at_most + (root != 0));
	for (uint32_t i = 0; i < at_most; i++, node = lc_path_get(node)->parent) {
		const struct lc_path_node *p = lc_path_get(node);
		char name[16];

		snprintf(name, sizeof(name), "m%u", (unsigned)(folded[n - 1 - i] & LC_ADDR_MASK));
		assert_string_equal(lc_method_get(p->method)->name, name);
		assert_int_equal(p->bci, folded[n - 1 - i] >> LC_ADDR_BITS);
	}
	assert_int_equal(node, root);
}

/* Paths that begin as the last one did, for a stretch, and fold where the last one may not; some
 * are those of a request context. */
static void a_path_does_not_depend_on_the_last_one(void **state)
{
	const uint64_t some[] = { frame(1, 0), frame(2, 0), frame(2, 1), frame(3, 0),
		                  frame(OWN, 3) };
	const uint32_t roots[] = { lc_request_root(&jni, "a"), lc_request_root(&jni, "b") };
	uint64_t path[64]; /* from the root */
	size_t len = 0;

	srand(1);
	for (unsigned i = 0; i < 20000; i++) {
		const uint32_t depth = rand() % 3 ? 64 : 1 + (uint32_t)rand() % 8;
		const uint32_t root = rand() % 3 ? 0 : roots[rand() % 2];
		uint64_t leaf_first[64];
		uint32_t node;

		len = len ? (size_t)rand() % (len + 1) : 0;
		while (len < 40 && rand() % 5)
			path[len++] = some[(size_t)rand() % 5];
		for (size_t k = 0; k < len; k++)
			leaf_first[k] = path[len - 1 - k];
		node = lc_path_intern_nearest(&jni, root, leaf_first, len, depth);
		check_node(node, root, leaf_first, len, depth);
		assert_int_equal(lc_path_intern_nearest(&jni, root, leaf_first, len, depth), node);
	}
}

static void a_method_is_asked_for_once(void **state)
{
	const uint64_t a[] = { frame(77, 0) }, b[] = { frame(77, 3) };
	unsigned before = names_asked;

	lc_path_intern(&jni, a, 1);
	lc_path_intern(&jni, b, 1);
	assert_int_equal(names_asked, before + 1);
}

static void a_method_of_an_unloaded_class_has_a_name_that_says_so(void **state)
{
	const uint64_t a[] = { frame(UNLOADED, 0) };
	const struct lc_method *m;

	m = lc_method_get(lc_path_get(lc_path_intern(&jni, a, 1))->method);
	assert_string_equal(m->class_name, "[unloaded class]");
	assert_int_equal(lc_method_line(m, 0), -1);
}

static void a_class_that_is_loaded_again_has_the_same_methods_and_paths(void **state)
{
	const uint64_t first[] = { frame(48, 3), frame(40, 9) };
	const uint64_t again[] = { frame(AGAIN + 48, 3), frame(AGAIN + 40, 9) };
	const uint64_t other[] = { frame(OTHER + 48, 3), frame(40, 9) };
	const uint32_t path = lc_path_intern(&jni, first, 2), paths = lc_path_count();

	assert_int_equal(lc_path_intern(&jni, again, 2), path);
	assert_int_equal(lc_path_count(), paths);
	assert_int_not_equal(lc_path_intern(&jni, other, 2), path);
	assert_int_equal(lc_path_count(), paths + 1);
	/* Each of the three is asked for once. */
	names_asked = 0;
	lc_path_intern(&jni, again, 2);
	lc_path_intern(&jni, other, 2);
	assert_int_equal(names_asked, 0);
}

static void a_site_is_class_and_path(void **state)
{
	const uint64_t a[] = { frame(3, 5) };
	uint32_t path = lc_path_intern(&jni, a, 1);
	uint32_t bytes = lc_site_intern("[B", 1, path), other = lc_site_intern("[I", 2, path);

	assert_int_not_equal(bytes, 0);
	assert_int_not_equal(bytes, other);
	assert_int_equal(lc_site_intern("[B", 1, path), bytes);
	assert_int_not_equal(lc_site_intern("[B", 1, 0), bytes);
	assert_string_equal(lc_site_get(bytes)->class_name, "byte[]");
	assert_int_equal(lc_site_get(bytes)->path, path);
	assert_null(lc_site_get(0));
	assert_null(lc_site_get(UINT32_MAX));
}

static void types_are_written_as_in_java(void **state)
{
	static const char *const cases[][2] = {
		{ "[B", "byte[]" },
		{ "[[[J", "long[][][]" },
		{ "Ljava/lang/String;", "java.lang.String" },
		{ "[[Ljava/util/Map$Entry;", "java.util.Map$Entry[][]" },
		{ "Lcom/acme/Foo$$Lambda.0x0001;", "com.acme.Foo$$Lambda/0x0001" },
		{ "Z", "boolean" },
		{ "LDefault;", "Default" },
	};
	char out[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(lc_path_type_name(cases[i][0], out, sizeof(out)), 0);
		assert_string_equal(out, cases[i][1]);
	}
	assert_int_equal(lc_path_type_name("[[Ljava/util/Map$Entry;", out, 8), -ENOSPC);
	assert_string_equal(out, "");
}

static void *intern_many(void *unused)
{
	for (unsigned round = 0; round < 4; round++)
		for (unsigned i = 0; i < 2000; i++) {
			const uint64_t a[] = { frame(1000 + i % 50, (int)i), frame(1000, 1) };

			lc_path_intern(&jni, a, 2);
		}
	return NULL;
}

static void threads_that_intern_the_same_paths_agree(void **state)
{
	uint32_t before = lc_path_count();
	pthread_t threads[4];

	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, intern_many, NULL), 0);
	for (unsigned i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(lc_path_count(), before + 2001);
	assert_int_equal(counter("paths_overflow"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_path_is_the_root),
		cmocka_unit_test(equal_paths_are_one_node_and_share_their_callers),
		cmocka_unit_test(another_bci_is_another_node),
		cmocka_unit_test(a_method_is_named_as_a_stack_trace_names_it),
		cmocka_unit_test(frames_of_our_own_are_in_no_path),
		cmocka_unit_test(a_cycle_that_follows_itself_is_in_the_path_once),
		cmocka_unit_test(a_path_does_not_depend_on_the_last_one),
		cmocka_unit_test(a_method_is_asked_for_once),
		cmocka_unit_test(a_method_of_an_unloaded_class_has_a_name_that_says_so),
		cmocka_unit_test(a_class_that_is_loaded_again_has_the_same_methods_and_paths),
		cmocka_unit_test(a_site_is_class_and_path),
		cmocka_unit_test(types_are_written_as_in_java),
		cmocka_unit_test(threads_that_intern_the_same_paths_agree),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
