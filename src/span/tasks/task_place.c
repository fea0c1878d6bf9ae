/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/tasks/task_place.c - searches the frames for the call that creates or submits a task.
 *
 * Words that only look like return addresses may change although the place does not: then it is
 * walked again, and has several entries. No word is ever left out for that: since an entry is
 * compared at whatever depth, the words that are left might be another place's as well.
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
#include "src/jvm/os/peek.h"
#include "src/jvm/stack/frame_step.h"
#include "src/stack/walker.h"

enum {
	DEEP_FROM = 24, /* paths of more frames than that want all at once */
	SCAN_BYTES = 8192,
	SEARCH_FRAMES = 32,
	NEXT_WORDS = 12,
	BEYOND = 2,      /* words that reach to the place or further */
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

	/* Code without a method is announced later: do not cache it. */
	if (method)
		p->callers[(caller >> 2) % LC_TASK_PLACE_CALLERS] =
		    (struct lc_task_place_caller){ .address = caller,
			                           .generation = atomic_load_explicit(
			                               p->table.generation, memory_order_relaxed),
			                           .own = own };
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
		atomic_fetch_add_explicit(&places.errors, 1, memory_order_relaxed); /* a count */
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

/* The words above a hook's frame, while they are learnt. */
struct scan {
	const struct lc_generated *code;
	const struct search *search;
	struct lc_words *words;
	uint64_t frame, end;
	unsigned beyond; /* words that belong to the place's frame or one further out */
	jint next;       /* frames before this one are accounted for */
};

/*
 * The first frame that is not accounted for and has this method; the number of frames where none
 * has.
 */
static jint frame_of(const struct scan *s, uint64_t number)
{
	jint i = s->next;

	for (; i < s->search->walked.len && i < s->next + SEARCH_FRAMES; i++)
		if (lc_method_number(s->search->walked.frames[i].method) == number)
			return i;
	return s->search->walked.len;
}

/* A word that may be a return address. */
static void look_at(struct scan *s, uint64_t at)
{
	const uint64_t *word = (const uint64_t *)(uintptr_t)at; /* NOLINT */
	bool interpreted = lc_generated_is_interpreter(s->code, *word);
	const uint64_t rbp = interpreted ? lc_words_interpreted_rbp(at, s->end) : 0;
	uint64_t method = 0;
	jint found;

	if (!interpreted)
		method = lc_code_cache_method(*word);
	else if (rbp)
		method = lc_method_ids_number(
		    lc_peek_load64(lc_frame_interpreted_word(rbp, LC_INTERPRETED_METHOD)));
	found = method ? frame_of(s, method) : s->search->walked.len;
	if (found == s->search->walked.len)
		return;
	if (interpreted)
		lc_words_add_interpreted(s->words, s->frame, rbp);
	else
		lc_words_add(s->words, s->frame, at);
	s->next = found;
	s->beyond += found + 1 >= (jint)s->search->frames;
}

/*
 * Find the words that are return addresses of the frames that tell the place, and of one more, in
 * case one of them was left over by an earlier call. A word of a method that is not on the stack is
 * such a left-over, and would change all the time. Returns false where the frames cannot be found.
 */
static bool scan(const struct search *search, uint64_t frame, uint64_t end, struct lc_words *words)
{
	struct scan s = {
		.code = lc_generated(), .search = search, .words = words, .frame = frame
	};

	words->len = 0;
	s.end = end > frame + SCAN_BYTES ? frame + SCAN_BYTES : end;
	for (uint64_t at = frame + 8; search->frames && at + 8 <= s.end; at += 8) {
		if (!lc_generated_is_code(s.code, *(const uint64_t *)(uintptr_t)at)) /* NOLINT */
			continue;
		look_at(&s, at);
		if (s.beyond == BEYOND)
			return words->len > 0;
		if (words->len == LC_WORDS_MAX)
			break;
	}
	return false;
}

/* Find the words of the place, exactly if possible. Returns false where nothing tells it. */
static bool find_words(const struct search *search, struct lc_walker *walker,
                       const struct lc_native_frame *at, struct lc_words *words)
{
	uint64_t end = lc_walker_end(walker);

	if (lc_words_find(words, walker, at, search->frames))
		return true;
	if (places.depth > 1 || end <= at->frame)
		return false;
	if (scan(search, at->frame, end, words))
		return true;
	/*
	 * A frame of the walk is at most one on the stack; one more for the stub, one that is dead.
	 */
	lc_words_guess(words, at->frame, end, search->frames ? search->frames + 2 : UINT32_MAX);
	return words->len > 0;
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
		atomic_fetch_add_explicit(&places.unwalked, 1, memory_order_relaxed); /* a count */
		return NULL;
	}
	walk(jni, walker, &search);
	atomic_fetch_add_explicit(&places.walks, 1, memory_order_relaxed); /* a count */
	*new = (struct lc_task_place){
		.place = { .key = key },
		.number = hook == LC_TASK_PLACE_CREATED
		              ? lc_site_intern(class->signature, class->word, search.path)
		              : search.path,
	};
	if (find_words(&search, walker, at, &new->place.words))
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
