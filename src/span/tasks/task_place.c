/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/tasks/task_place.c - searches the frames for the call that creates or submits a task.
 */
#include "src/span/tasks/task_place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/counters.h"
#include "src/core/jvmti.h"
#include "src/core/own.h"
#include "src/core/path.h"
#include "src/core/record.h"
#include "src/core/version.h"
#include "src/jvm/code/code_cache.h"
#include "src/jvm/layout/method_ids.h"
#include "src/stack/walker.h"

enum {
	DEEP_FROM = 24, /* paths of more frames than that want all at once */
	NEXT_WORDS = 12,
	LEARN_NS = 4000, /* what a place costs beside the JVM's walk */
};

static struct {
	uint32_t depth;
	_Atomic uint64_t walks, errors, unwalked; /* counts */
} places;

void lc_task_places_init(const struct lc_task_config *config)
{
	places.depth = config->depth ? config->depth : 1;
}

static bool same_place(const struct lc_place *a, const struct lc_place *b)
{
	const struct lc_task_place *x = (const struct lc_task_place *)a;
	const struct lc_task_place *y = (const struct lc_task_place *)b;

	return x->number == y->number;
}

int lc_task_places_create(struct lc_task_places **out)
{
	struct lc_task_places *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	lc_places_init(&p->table, &lc_task_place_kind, same_place);
	p->code = *lc_generated();
	*out = p;
	return 0;
}

void lc_task_places_destroy(struct lc_task_places *p)
{
	if (!p)
		return;
	lc_places_free(&p->table);
	free(p);
}

/* -- call paths ------------------------------------------------------------------------------ */

bool lc_task_place_is_own_slowly(struct lc_task_places *p, uint64_t caller)
{
	uint64_t method = lc_code_cache_method(caller);
	bool own = !method || lc_own_number(method);
	struct lc_task_place_caller *known = lc_task_place_callers(p, caller);

	/* Code without a method is announced later: do not cache it. */
	if (method) {
		known[1] = known[0];
		known[0] = (struct lc_task_place_caller){
			.address = caller,
			.generation =
			    atomic_load_explicit(p->table.generation, memory_order_relaxed),
			.own = own,
		};
	}
	return own;
}

uint64_t lc_task_place_next(const uint64_t *word)
{
	for (unsigned i = 0; i < NEXT_WORDS; i++)
		if (lc_code_cache_is_method(word[i]))
			return word[i];
	return 0;
}

static bool starts_with(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* Part of the framework that makes tasks and hands them on: a program's place is further out. */
static bool is_framework(const struct lc_method *m)
{
	static const char *const prefixes[] = { "java.util.concurrent.",
		                                "java.util.stream.",
		                                "java.lang.ThreadBuilders",
		                                "java.lang.System$",
		                                "jdk.internal.vm.",
		                                "java.lang.VirtualThread",
		                                "jdk.internal.misc.ThreadFlock" };

	for (unsigned i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (starts_with(m->class_name, prefixes[i]))
			return true;
	return !strcmp(m->class_name, "java.lang.Thread") ||
	       !strcmp(m->class_name, "java.lang.BaseVirtualThread");
}

static bool is_constructor(const struct lc_method *m)
{
	return !strcmp(m->name, "<init>");
}

/* The first frame that is not ours. */
static jint first_frame(const jvmtiFrameInfo *frames, jint len)
{
	jint at = 0;

	while (at < len && lc_own_method(frames[at].method))
		at++;
	return at;
}

/* The purpose of a walk, and its result. */
struct search {
	enum lc_task_place_hook hook;
	jobject object;
	uint32_t path;
	unsigned frames; /* nearest ones that tell the place; 0: the stack could not be walked */
	struct lc_walked walked;
};

/* Is the method of this frame a constructor of `object`? */
static bool constructs(JNIEnv *jni, jmethodID method, const struct lc_method *m, jobject object)
{
	jclass holder = NULL;
	bool constructs;

	if (!is_constructor(m) ||
	    (*lc_jvmti())->GetMethodDeclaringClass(lc_jvmti(), method, &holder) || !holder)
		return false;
	constructs = (*jni)->IsInstanceOf(jni, object, holder);
	(*jni)->DeleteLocalRef(jni, holder);
	return constructs;
}

/*
 * The index of the place's frame: the first one that is no constructor of the object, or not the
 * submitting method, and no framework's; `len` where the frames do not reach so far.
 * A lc_walker_stop.
 */
static jint find_frame(JNIEnv *jni, const jvmtiFrameInfo *frames, jint len, void *closure)
{
	struct search *search = closure;
	bool constructors = search->hook == LC_TASK_PLACE_CREATED;
	jint at = first_frame(frames, len);
	const struct lc_method *m;

	for (; at < len && constructors; at += constructors) {
		m = lc_path_method(jni, frames[at].method);
		constructors = m && constructs(jni, frames[at].method, m, search->object);
	}
	if (search->hook == LC_TASK_PLACE_SUBMITTED)
		at++; /* the submitting method itself, whosever it is */
	for (; at < len; at++) {
		m = lc_path_method(jni, frames[at].method);
		if (!m || (!is_framework(m) && !lc_own_method(frames[at].method)))
			return at;
	}
	return len;
}

static void walk(JNIEnv *jni, struct lc_walker *walker, struct search *search)
{
	struct lc_walked *walked = &search->walked;
	uint32_t packed_len = 0;
	jint at;

	if (lc_walker_walk(walker, jni, places.depth > DEEP_FROM, find_frame, search, walked)) {
		lc_count(&places.errors);
		return;
	}
	at = walked->stop;
	if (at == walked->len) /* framework all the way: a thread's own start, say */
		at = first_frame(walked->frames, walked->len);
	search->frames = (unsigned)at + 1;
	for (jint i = at; i < walked->len && packed_len < places.depth; i++) {
		const jvmtiFrameInfo *frame = &walked->frames[i];

		if (lc_own_method(frame->method))
			continue;
		walked->packed[packed_len++] =
		    lc_version_frame(frame->method, (int)frame->location);
		if (search->frames < (unsigned)i + 1)
			search->frames = (unsigned)i + 1;
	}
	search->path = lc_path_intern(jni, walked->packed, packed_len);
}

const struct lc_task_place *lc_task_place_learn(struct lc_task_places *p, JNIEnv *jni,
                                                struct lc_walker *walker,
                                                const struct lc_native_frame *at, uint64_t key,
                                                enum lc_task_place_hook hook, jobject object,
                                                const struct lc_task_class *class)
{
	struct search search = { .hook = hook, .object = object };
	struct lc_task_place *new = &p->scratch, *kept = NULL;

	if (!lc_walk_credit_left(&walker->credit)) {
		lc_count(&places.unwalked);
		return NULL;
	}
	walk(jni, walker, &search);
	lc_count(&places.walks);
	*new = (struct lc_task_place){
		.place = { .key = key },
		.number = hook == LC_TASK_PLACE_CREATED
		              ? lc_site_intern(class->signature, class->word, search.path)
		              : search.path,
	};
	if (lc_words_find(&new->place.words, walker, at, search.frames))
		kept = (struct lc_task_place *)lc_places_keep(&p->table, &new->place);
	lc_walk_credit_pay(&walker->credit, LC_WALK_OWN, LEARN_NS);
	if (!kept)
		free(new->place.words.more);
	new->place.words.more = NULL;
	return kept ? kept : new;
}

static const struct lc_counter counters[] = {
	LC_COUNTER("spans_task_walks", &places.walks), /* stacks walked for places */
	LC_COUNTER("spans_task_walk_errors", &places.errors),
	/* The credit for walks was used up. */
	LC_COUNTER("spans_task_unwalked", &places.unwalked),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters), .begin = lc_counters_with_spans);
