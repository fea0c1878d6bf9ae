/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/holder_place.c - walks over objects that it has made.
 *
 * An outer array has PAIRS inner arrays at first, then PAIRS plain objects. Inner array i has no
 * element but plain object i, at an index that the outer array does not have. Each plain object is
 * therefore met twice, and each inner array once as an object and once as a referrer.
 */
#include "src/agent/holder_place.h"

enum {
	PAIRS = 32,
	INNER_BASE = 2 * PAIRS,
	INNER_LEN = 3 * PAIRS,
	REACH = 8,
	WORDS = 2 * REACH + 1
};

struct words {
	uint64_t at[WORDS];
};

struct seen {
	struct words outer[2 * PAIRS]; /* around the tag of element i of the outer array */
	struct words element[PAIRS];   /* around the tag of element i of inner array i */
	struct words referrer[PAIRS];  /* around the tag of inner array i, as a referrer */
	uint32_t outer_len, inner_len;
};

static void keep(struct words *out, const jlong *tag)
{
	memcpy(out->at, tag - REACH, sizeof(out->at));
}

static jint JNICALL on_element(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info,
                               jlong class_tag, jlong referrer_class_tag, jlong size,
                               jlong *tag,          /* NOLINT(readability-non-const-parameter) */
                               jlong *referrer_tag, /* NOLINT(readability-non-const-parameter) */
                               jint length, void *context)
{
	struct seen *s = context;
	uint32_t i;

	if (kind != JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT || !referrer_tag)
		return 0;
	i = (uint32_t)info->array.index;
	if (i < INNER_BASE) {
		keep(&s->outer[i], tag);
		s->outer_len++;
		return JVMTI_VISIT_OBJECTS;
	}
	if (i < INNER_LEN) {
		keep(&s->element[i - INNER_BASE], tag);
		keep(&s->referrer[i - INNER_BASE], referrer_tag);
		s->inner_len++;
	}
	return 0;
}

/* Is the word at `at` the object's, for all objects of the outer array? */
static bool tells_objects(const struct seen *s, size_t at)
{
	for (size_t i = 0; i < 2 * (size_t)PAIRS; i++) {
		const uint64_t word = s->outer[i].at[at];

		if (!word || word % 8 || (i >= PAIRS && word != s->element[i - PAIRS].at[at]))
			return false;
		for (size_t k = 0; k < i; k++)
			if (s->outer[k].at[at] == word)
				return false;
	}
	return true;
}

/* Is the word at `referrer` the inner array's, whose word as an object is at `object`? */
static bool tells_referrers(const struct seen *s, size_t object, size_t referrer)
{
	for (size_t i = 0; i < PAIRS; i++)
		if (s->referrer[i].at[referrer] != s->outer[i].at[object])
			return false;
	return true;
}

/* The places from the nearest on: -1, 1, -2, 2 and so on, as indices of words. */
static size_t nth_place(size_t n)
{
	return n % 2 ? REACH + (n + 1) / 2 : REACH - 1 - n / 2;
}

static bool evaluate(const struct seen *s, struct lc_holder_place *out)
{
	if (s->outer_len != 2 * PAIRS || s->inner_len != PAIRS)
		return false;
	for (size_t i = 0; i < 2 * (size_t)REACH; i++) {
		const size_t object = nth_place(i);

		for (size_t k = 0; k < 2 * (size_t)REACH && tells_objects(s, object); k++) {
			const size_t referrer = nth_place(k);

			if (!tells_referrers(s, object, referrer))
				continue;
			*out =
			    (struct lc_holder_place){ (int)object - REACH, (int)referrer - REACH };
			return true;
		}
	}
	return false;
}

/* A local reference, or NULL after an error. */
static jobjectArray make_objects(JNIEnv *jni)
{
	const jclass class = (*jni)->FindClass(jni, "java/lang/Object");
	const jobjectArray outer =
	    class ? (*jni)->NewObjectArray(jni, 2 * PAIRS, class, NULL) : NULL;
	bool made = outer != NULL;

	for (jint i = 0; i < PAIRS && made; i++) {
		const jobject plain = (*jni)->AllocObject(jni, class);
		const jobjectArray inner =
		    plain ? (*jni)->NewObjectArray(jni, INNER_LEN, class, NULL) : NULL;

		made = inner != NULL;
		if (made) {
			(*jni)->SetObjectArrayElement(jni, inner, INNER_BASE + i, plain);
			(*jni)->SetObjectArrayElement(jni, outer, i, inner);
			(*jni)->SetObjectArrayElement(jni, outer, PAIRS + i, plain);
			made = !(*jni)->ExceptionCheck(jni);
		}
		(*jni)->DeleteLocalRef(jni, inner);
		(*jni)->DeleteLocalRef(jni, plain);
	}
	if (!made)
		(*jni)->ExceptionClear(jni);
	return made ? outer : NULL;
}

bool lc_holder_place_find(jvmtiEnv *jvmti, JNIEnv *jni, struct lc_holder_place *out)
{
	static const jvmtiHeapCallbacks callbacks = { .heap_reference_callback = on_element };
	struct seen s;
	jobjectArray outer;
	bool found = false;

	memset(&s, 0, sizeof(s));
	if ((*jni)->PushLocalFrame(jni, 8)) {
		(*jni)->ExceptionClear(jni);
		return false;
	}
	outer = make_objects(jni);
	if (outer && !(*jvmti)->FollowReferences(jvmti, 0, NULL, outer, &callbacks, &s))
		found = evaluate(&s, out);
	(*jni)->PopLocalFrame(jni, NULL);
	return found;
}
