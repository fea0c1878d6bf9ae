/*
 * span/task_place.c - see task_place.h.
 *
 * Words that only look like return addresses may change although the place does not: then it is
 * walked again, and has several entries. No word is ever left out for that, since at whatever depth an entry
 * is compared, what is left might be another place's as well.
 */
#include "src/span/task_place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/jvmti.h"
#include "src/core/path.h"
#include "src/core/record.h"
#include "src/heap/context.h"
#include "src/jvm/code_cache.h"
#include "src/jvm/peek.h"

enum {
	TABLE_MIN = LC_PLACE_WAYS,
	TABLE_MAX = 4096,
	FRAMES_FIRST = 48,
	FRAMES_MAX = 1024,
	INNER_FRAMES =
	    4, /* beyond a submission's place, in which one that calls it is looked for */
	METHODS_MAX = 32,
	SCAN_BYTES = 8192,
	SEARCH_FRAMES = 32,
	NEXT_WORDS = 12,
	BEYOND = 2, /* words that reach to the place or further */
	/* Of classfile/span_rewrite.c: where a call of submitted() is at the start of a method (and where a
	 * second one is), and what lies between such a call and the call of Executor.execute(). */
	PROLOGUE_BCI = 4,
	PROLOGUE_SECOND_BCI = 11,
	BEFORE_CALL_BYTES = 3
};

static struct {
	jvmtiEnv *jvmti;
	uint32_t depth;
	jmethodID own[METHODS_MAX]; /* of LocusSpan */
	unsigned own_len;
	_Atomic uint64_t walks, errors; /* counts */
} places;

int lc_task_places_init(JNIEnv *jni, const struct lc_task_config *config)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jmethodID *methods = NULL;
	jclass own = (*jni)->FindClass(jni, "java/lang/LocusSpan");
	jint len = 0;
	int err = 0;

	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	if (!own || (*jvmti)->GetClassMethods(jvmti, own, &len, &methods))
		return -EIO;
	if (len <= METHODS_MAX) {
		memcpy(places.own, methods, (size_t)len * sizeof(*methods));
		places.own_len = (unsigned)len;
	} else {
		err = -E2BIG;
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
	(*jni)->DeleteLocalRef(jni, own);
	places.jvmti = jvmti;
	places.depth = config->depth ? config->depth : 1;
	return err;
}

void lc_task_places_stats(uint64_t *walks, uint64_t *errors)
{
	*walks = atomic_load_explicit(&places.walks, memory_order_relaxed);
	*errors = atomic_load_explicit(&places.errors, memory_order_relaxed);
}

int lc_task_places_create(struct lc_task_places **out)
{
	struct lc_task_places *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->mask = TABLE_MIN - 1;
	p->table = calloc(p->mask + 1, sizeof(*p->table));
	if (!p->table) {
		free(p);
		return -ENOMEM;
	}
	p->generation = lc_contexts_generation();
	lc_contexts_code(&p->code_low, &p->code_high, &p->interpreter_low, &p->interpreter_high);
	*out = p;
	return 0;
}

void lc_task_places_destroy(struct lc_task_places *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i <= p->mask; i++)
		free(p->table[i].more);
	free(p->table);
	free(p);
}

/* -- the table ------------------------------------------------------------------------------- */

static void grow(struct lc_task_places *p)
{
	uint32_t cap = (p->mask + 1) * 4;
	struct lc_task_place *bigger = calloc(cap, sizeof(*bigger));

	p->evictions = 0;
	if (!bigger)
		return; /* the old table still serves */
	for (uint32_t i = 0; i <= p->mask; i++) {
		const struct lc_task_place *x = &p->table[i];
		uint32_t at = lc_task_place_hash(x->key) & (cap - 1);

		for (unsigned way = 0; x->key && way < LC_PLACE_WAYS; way++) {
			if (!bigger[at ^ way].key) {
				bigger[at ^ way] = *x;
				p->table[i].more = NULL;
				break;
			}
		}
		free(p->table[i].more);
	}
	free(p->table);
	p->table = bigger;
	p->mask = cap - 1;
}

/* The entry to overwrite: an empty or outdated one, else one of the same place, else by turns. */
static struct lc_task_place *victim(struct lc_task_places *p, const struct lc_task_place *new)
{
	uint32_t at = lc_task_place_hash(new->key) & p->mask;
	struct lc_task_place *same = NULL;

	for (unsigned way = 0; way < LC_PLACE_WAYS; way++) {
		struct lc_task_place *x = &p->table[at ^ way];

		if (!x->key || x->generation != new->generation)
			return x;
		if (x->key == new->key && x->number == new->number && x->inner == new->inner &&
		    x->call == new->call)
			same = x;
	}
	p->evictions++;
	return same ? same : &p->table[at ^ (p->evictions & (LC_PLACE_WAYS - 1))];
}

/* -- call paths ------------------------------------------------------------------------------ */

static bool is_own(jmethodID method)
{
	for (unsigned i = 0; i < places.own_len; i++)
		if (places.own[i] == method)
			return true;
	return false;
}

bool lc_task_place_is_own_slowly(struct lc_task_places *p, uint64_t caller)
{
	uint64_t method = lc_code_method(caller);
	bool own = !method || is_own((jmethodID)(uintptr_t)method); /* NOLINT */

	/* What is not announced yet will be. */
	if (method)
		p->callers[(caller >> 2) % LC_PLACE_CALLERS] = (struct lc_place_caller){
			.address = caller,
			.generation = atomic_load_explicit(p->generation, memory_order_relaxed),
			.own = own
		};
	return own;
}

uint64_t lc_task_place_next(const uint64_t *word)
{
	for (unsigned i = 0; i < NEXT_WORDS; i++)
		if (lc_code_method(word[i]))
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
	static const char *const prefixes[] = {
		"java.util.concurrent.", "java.util.stream.", "java.lang.ThreadBuilders",
		"java.lang.System$",     "jdk.internal.vm.",  "java.lang.VirtualThread"
	};

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

/* Does this method hand on a task that it is given? */
static bool is_submission(const struct lc_method *m)
{
	static const char *const names[] = { "execute",
		                             "submit",
		                             "invoke",
		                             "schedule",
		                             "invokeAll",
		                             "invokeAny",
		                             "scheduleAtFixedRate",
		                             "scheduleWithFixedDelay" };
	static const char *const given[] = { "(Ljava/lang/Runnable;",
		                             "(Ljava/util/concurrent/Callable;",
		                             "(Ljava/util/concurrent/ForkJoinTask;",
		                             "(Ljava/util/Collection;" };
	size_t len = strlen(m->name);
	bool named = len > 5 && !strcmp(m->name + len - 5, "Async") && is_framework(m);

	if (!strcmp(m->name, "fork") || !strcmp(m->name, "start"))
		return is_framework(m);
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		named = named || !strcmp(m->name, names[i]);
	for (unsigned i = 0; named && i < sizeof(given) / sizeof(given[0]); i++)
		if (starts_with(m->signature, given[i]))
			return true;
	return named && is_framework(m);
}

/* What is further out is another task's. */
static bool is_execution(const struct lc_method *m)
{
	return !strcmp(m->name, "run") || !strcmp(m->name, "call") || !strcmp(m->name, "exec") ||
	       !strcmp(m->name, "compute");
}

/* The first frame that is not ours. */
static jint first_frame(const jvmtiFrameInfo *frames, jint len)
{
	jint at = 0;

	while (at < len && is_own(frames[at].method))
		at++;
	return at;
}

/* What a walk has found. */
struct place {
	uint32_t path;
	unsigned frames; /* nearest ones that tell the place; 0: the stack could not be walked */
	bool inner, inner_all;
	bool call_site;
	uint64_t call;
	const jvmtiFrameInfo *stack; /* in the scratch memory */
	jint stack_len;
};

/* Is the method of this frame a constructor of `object`? */
static bool constructs(JNIEnv *jni, jmethodID method, const struct lc_method *m, jobject object)
{
	jclass holder = NULL;
	bool constructs;

	if (!is_constructor(m) ||
	    (*places.jvmti)->GetMethodDeclaringClass(places.jvmti, method, &holder) || !holder)
		return false;
	constructs = (*jni)->IsInstanceOf(jni, object, holder);
	(*jni)->DeleteLocalRef(jni, holder);
	return constructs;
}

/*
 * The index of the place's frame: the first one that is no constructor of the object, or not the submitting
 * method, and no framework's; where there is none, the first one that is no constructor and not ours.
 * `len` where the frames do not reach so far.
 */
static jint find_frame(JNIEnv *jni, const jvmtiFrameInfo *frames, jint len, enum lc_place_hook hook,
                       bool call_site, jobject object)
{
	const struct lc_method *m = NULL;
	bool constructors = hook == LC_PLACE_CREATED;
	jint at = first_frame(frames, len);

	for (; at < len && constructors; at += constructors) {
		m = lc_path_method(jni, frames[at].method);
		constructors = m && constructs(jni, frames[at].method, m, object);
	}
	if (hook == LC_PLACE_SUBMITTED && !call_site)
		at++; /* the submitting method itself, whosever it is */
	for (; at < len; at++) {
		m = lc_path_method(jni, frames[at].method);
		if (!m || (!is_framework(m) && !is_own(frames[at].method)))
			return at;
	}
	return len;
}

/* Is there a frame of another submission, from frame `at` on to a few beyond the place's? */
static bool find_submission(JNIEnv *jni, const jvmtiFrameInfo *frames, jint len, jint at,
                            jint place, unsigned *looked, bool *all)
{
	for (; at < len && at <= place + INNER_FRAMES; at++) {
		const struct lc_method *m = lc_path_method(jni, frames[at].method);

		*looked = (unsigned)at + 1;
		if (!m || is_execution(m))
			return false;
		if (is_submission(m)) {
			*all = !strcmp(m->name, "invokeAll");
			return true;
		}
	}
	return false;
}

/* Is the hook at the start of a method that submits, or before a call of one? And which call is it? */
static void find_call(JNIEnv *jni, const jvmtiFrameInfo *frames, jint len, struct place *place)
{
	jint at = first_frame(frames, len);
	const struct lc_method *m = at < len ? lc_path_method(jni, frames[at].method) : NULL;
	jlocation bci = at < len ? frames[at].location : 0;
	bool prologue = bci == PROLOGUE_BCI ||
	                (bci == PROLOGUE_SECOND_BCI && m && !strcmp(m->name, "invokeAll"));

	place->call_site = m && !prologue;
	if (place->call_site)
		place->call = lc_frame_pack(frames[at].method, (int)bci + BEFORE_CALL_BYTES);
	else if (at + 1 < len)
		place->call = lc_frame_pack(frames[at + 1].method, (int)frames[at + 1].location);
}

static struct place walk(JNIEnv *jni, struct lc_contexts *contexts, enum lc_place_hook hook,
                         jobject object)
{
	jint cap = places.depth > FRAMES_FIRST / 2 ? FRAMES_MAX : FRAMES_FIRST;
	struct place place = { 0 };

	for (;; cap = FRAMES_MAX) {
		jint len = 0, at;
		size_t packed_len = 0;
		jvmtiFrameInfo *frames = lc_contexts_scratch(
		    contexts, (size_t)cap * (sizeof(*frames) + sizeof(uint64_t)));
		uint64_t *packed;

		if (!frames ||
		    (*places.jvmti)->GetStackTrace(places.jvmti, NULL, 0, cap, frames, &len)) {
			atomic_fetch_add_explicit(&places.errors, 1, memory_order_relaxed);
			return place;
		}
		if (hook == LC_PLACE_SUBMITTED)
			find_call(jni, frames, len, &place);
		at = find_frame(jni, frames, len, hook, place.call_site, object);
		if (at == len && len == cap && cap < FRAMES_MAX)
			continue;
		if (at >= len) /* framework all the way: a thread's own start, say */
			at = first_frame(frames, len);
		place.frames = (unsigned)at + 1;
		place.stack = frames;
		place.stack_len = len;
		if (hook == LC_PLACE_SUBMITTED)
			place.inner = find_submission(jni, frames, len,
			                              first_frame(frames, len) + !place.call_site,
			                              at, &place.frames, &place.inner_all);
		if (place.frames < (unsigned)at + 1)
			place.frames = (unsigned)at + 1;
		packed = (uint64_t *)(frames + cap);
		for (jint i = at; i < len && packed_len < places.depth; i++) {
			if (is_own(frames[i].method))
				continue;
			packed[packed_len++] =
			    lc_frame_pack(frames[i].method, (int)frames[i].location);
			if (place.frames < (unsigned)i + 1)
				place.frames = (unsigned)i + 1;
		}
		place.path = lc_path_intern(jni, packed, packed_len);
		return place;
	}
}

/* Words above a hook's frame, as they are learnt. */
struct scan {
	const struct lc_task_places *places;
	const struct place *place;
	struct lc_task_place *out;
	uint64_t frame, end;
	unsigned len, beyond;
	jint next; /* frames before this one are accounted for */
};

/* What a jmethodID leads to: the Method * that an interpreted frame holds. 0 where it is none. */
static uint64_t method_pointer(jmethodID method)
{
	uint64_t pointer = 0;

	return lc_peek((uint64_t)(uintptr_t)method, &pointer, sizeof(pointer)) ? pointer : 0;
}

/* The first frame that is not accounted for and has this method; the number of frames where none has. */
static jint frame_of(const struct scan *s, uint64_t method, bool interpreted)
{
	jint i = s->next;

	for (; i < s->place->stack_len && i < s->next + SEARCH_FRAMES; i++) {
		jmethodID id = s->place->stack[i].method;

		if ((interpreted ? method_pointer(id) : (uint64_t)(uintptr_t)id) == method)
			return i;
	}
	return s->place->stack_len;
}

static void add_word(struct scan *s, uint64_t address)
{
	if (s->len == LC_PLACE_WORDS)
		return;
	s->out->value[s->len] = *(const uint64_t *)(uintptr_t)address; /* NOLINT */
	s->out->offset[s->len++] = (uint16_t)((address - s->frame) / 8);
}

/* A word that may be a return address. */
static void look_at(struct scan *s, uint64_t at)
{
	const uint64_t *word = (const uint64_t *)(uintptr_t)at; /* NOLINT */
	const struct lc_task_places *p = s->places;
	bool interpreted = *word - p->interpreter_low < p->interpreter_high - p->interpreter_low;
	uint64_t method = 0, rbp = word[-1];
	jint found;

	if (!interpreted)
		method = lc_code_method(*word);
	else if (rbp > at + 64 && rbp < s->end && !(rbp & 7))
		method = *(const uint64_t *)(uintptr_t)(rbp - 24); /* NOLINT */
	found = method ? frame_of(s, method, interpreted) : s->place->stack_len;
	if (found == s->place->stack_len)
		return;
	if (interpreted) {
		add_word(s, rbp - 24);
		add_word(s, rbp - 64);
	} else {
		add_word(s, at);
	}
	s->next = found;
	s->beyond += found + 1 >= (jint)s->place->frames;
}

/*
 * The words that are return addresses of the frames that tell the place, and of one more, in case one of
 * them was left over by an earlier call. What belongs to a method that is not on the stack is such a one, and
 * would change all the time. Returns 0 where the frames cannot be found.
 */
static unsigned scan(const struct lc_task_places *p, const struct place *place, uint64_t frame,
                     uint64_t end, struct lc_task_place *out)
{
	struct scan s = { .places = p, .place = place, .out = out, .frame = frame };

	s.end = end > frame + SCAN_BYTES ? frame + SCAN_BYTES : end;
	for (uint64_t at = frame + 8; place->frames && at + 8 <= s.end; at += 8) {
		if (*(const uint64_t *)(uintptr_t)at - p->code_low >= /* NOLINT */
		    p->code_high - p->code_low)
			continue;
		look_at(&s, at);
		if (s.beyond == BEYOND)
			return s.len;
		if (s.len == LC_PLACE_WORDS)
			break;
	}
	return 0;
}

const struct lc_task_place *lc_task_place_learn(struct lc_task_places *p, JNIEnv *jni,
                                                struct lc_contexts *contexts,
                                                const struct lc_native_frame *at, uint64_t key,
                                                enum lc_place_hook hook, jobject object,
                                                const struct lc_task_class *class)
{
	const uint64_t frame = at->frame;
	struct place place = walk(jni, contexts, hook, object);
	uint64_t end = lc_contexts_stack_end(contexts);
	struct lc_task_place *new = &p->scratch, *x;

	atomic_fetch_add_explicit(&places.walks, 1, memory_order_relaxed);
	*new = (struct lc_task_place){
		.key = key,
		.generation =
		    atomic_load_explicit(p->generation, memory_order_relaxed), /* a hint */
		.number = hook == LC_PLACE_CREATED
		              ? lc_site_intern(class->signature, class->word, place.path)
		              : place.path,
		.inner = place.inner,
		.inner_all = place.inner_all,
		.call_site = place.call_site,
		.call = place.call,
	};
	/* A frame of the walk is at most one on the stack; one more for the stub, one that is dead. */
	new->words_len = (uint16_t)lc_span_words_read(contexts, at, place.frames, LC_PLACE_WORDS,
	                                              new->value, new->offset, &new->more);
	if (places.depth == 1 && end > frame && !new->words_len)
		new->words_len = (uint16_t)scan(p, &place, frame, end, new);
	if (places.depth == 1 && end > frame && !new->words_len)
		new->words_len = (uint16_t)lc_contexts_scan(
		    frame, end, place.frames ? place.frames + 2 : UINT32_MAX, LC_PLACE_WORDS,
		    new->value, new->offset);
	if (!new->words_len)
		return new;
	for (unsigned i = 0; i < new->words_len; i++)
		if (new->offset[i] > new->reach)
			new->reach = new->offset[i];
	for (uint32_t i = 0; new->more &&i < new->more->len; i++)
		if (new->more->word[i].offset > new->reach)
			new->reach = new->more->word[i].offset;
	if (p->evictions > (p->mask + 1) / 2 && p->mask + 1 < TABLE_MAX)
		grow(p);
	x = victim(p, new);
	free(x->more);
	*x = *new;
	new->more = NULL;
	return x;
}
