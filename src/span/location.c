/* span/location.c - see location.h. */
#include "src/span/location.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/path.h"
#include "src/core/record.h"
#include "src/heap/context.h"
#include "src/jvm/frames.h"

enum { TABLE_MIN = 16, TABLE_MAX = 4096, FRAMES_FIRST = 48, FRAMES_MAX = 1024 };

#define STREAM_PACKAGE "java.util.stream."

static struct {
	jvmtiEnv *jvmti;
	bool paths;
	uint32_t depth;
} locations;

void lc_locations_init(jvmtiEnv *jvmti, bool paths, uint32_t depth)
{
	locations.jvmti = jvmti;
	locations.paths = paths;
	locations.depth = depth;
}

int lc_locations_create(struct lc_contexts *contexts, struct lc_locations **out)
{
	struct lc_locations *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->near = calloc(TABLE_MIN, sizeof(*l->near));
	l->far = calloc(TABLE_MIN, sizeof(*l->far));
	if (!l->near || !l->far) {
		lc_locations_destroy(l);
		return -ENOMEM;
	}
	l->mask = TABLE_MIN - 1;
	l->generation = lc_contexts_generation();
	l->contexts = contexts;
	*out = l;
	return 0;
}

void lc_locations_destroy(struct lc_locations *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; l->near && l->far && i <= l->mask; i++) {
		free(l->near[i].more);
		free(l->far[i].more);
	}
	free(l->near);
	free(l->far);
	free(l);
}

/* The tables */

static uint64_t mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

/* Where an entry with these words is among the far ones. `value` holds them, or (NULL) the stack. */
static uint32_t far_hash(const struct lc_location *shape, const uint64_t *value)
{
	const uint64_t *stack = (const uint64_t *)(uintptr_t)shape->stack_pointer; /* NOLINT */
	uint64_t h = shape->stack_pointer ^ shape->key;

	for (unsigned i = 0; i < shape->words_len; i++)
		h = mix(h, value ? value[i] : stack[shape->offset[i]]);
	for (uint32_t i = 0; shape->more && i < shape->more->len; i++)
		h = mix(h, value ? shape->more->word[i].value : stack[shape->more->word[i].offset]);
	return (uint32_t)(h >> 20);
}

struct lc_location *lc_location_find_far(struct lc_locations *l, uint64_t stack_pointer,
                                         uint64_t key)
{
	uint32_t now = atomic_load_explicit(l->generation, memory_order_relaxed); /* a hint */
	uint32_t at = lc_location_hash(stack_pointer, key) & l->mask;

	for (unsigned way = 0; way < LC_LOCATION_WAYS; way++) {
		const struct lc_location *shape = &l->near[at ^ way];
		uint32_t far;

		if (shape->stack_pointer != stack_pointer || shape->key != key ||
		    shape->generation != now)
			continue;
		far = far_hash(shape, NULL) & l->mask;
		for (unsigned i = 0; i < LC_LOCATION_WAYS; i++) {
			struct lc_location *x = &l->far[far ^ i];

			if (x->stack_pointer == stack_pointer && x->key == key &&
			    x->generation == now && lc_location_words_same(x))
				return x;
		}
	}
	return NULL;
}

/* An entry of the set at `at` that is empty or outdated; NULL where there is none. */
static struct lc_location *free_way(const struct lc_locations *l, struct lc_location *table,
                                    uint32_t at)
{
	uint32_t now = atomic_load_explicit(l->generation, memory_order_relaxed); /* a hint */

	for (unsigned way = 0; way < LC_LOCATION_WAYS; way++) {
		struct lc_location *x = &table[(at & l->mask) ^ way];

		if (!x->stack_pointer || x->generation != now)
			return x;
	}
	return NULL;
}

static bool same_more(const struct lc_span_words *a, const struct lc_span_words *b)
{
	if (!a || !b || a->len != b->len)
		return a == b;
	for (uint32_t i = 0; i < a->len; i++)
		if (a->word[i].offset != b->word[i].offset)
			return false;
	return true;
}

/* Are the same words compared? */
static bool same_shape(const struct lc_location *a, const struct lc_location *b)
{
	return a->stack_pointer == b->stack_pointer && a->key == b->key &&
	       a->words_len == b->words_len &&
	       !memcmp(a->offset, b->offset, a->words_len * sizeof(a->offset[0])) &&
	       same_more(a->more, b->more);
}

/*
 * Which near way gives way to an entry of a new shape: one whose shape another one has too, else by turns.
 * NULL: the shape is there, so that the entry will be found among the far ones.
 */
static struct lc_location *near_victim(struct lc_locations *l, const struct lc_location *x,
                                       uint32_t at)
{
	struct lc_location *set[LC_LOCATION_WAYS], *twin = NULL;

	for (unsigned way = 0; way < LC_LOCATION_WAYS; way++) {
		set[way] = &l->near[at ^ way];
		if (same_shape(set[way], x))
			return NULL;
		for (unsigned i = 0; i < way; i++)
			if (same_shape(set[way], set[i]))
				twin = set[way];
	}
	return twin ? twin : set[l->evictions % LC_LOCATION_WAYS];
}

/* Keep `x` and what it points to, which may push out another one. Returns the entry. */
static struct lc_location *insert(struct lc_locations *l, const struct lc_location *x)
{
	uint32_t at = lc_location_hash(x->stack_pointer, x->key) & l->mask;
	struct lc_location *to = free_way(l, l->near, at);

	if (!to) {
		to = near_victim(l, x, at);
		l->evictions += to != NULL;
	}
	if (!to) {
		at = far_hash(x, x->value) & l->mask;
		to = free_way(l, l->far, at);
	}
	if (!to)
		to = &l->far[at ^ (l->evictions++ % LC_LOCATION_WAYS)];
	free(to->more);
	*to = *x;
	return to;
}

static void grow(struct lc_locations *l)
{
	struct lc_locations bigger = *l;

	l->evictions = 0;
	bigger.mask = (l->mask + 1) * 4 - 1;
	bigger.near = calloc(bigger.mask + 1, sizeof(*bigger.near));
	bigger.far = calloc(bigger.mask + 1, sizeof(*bigger.far));
	if (!bigger.near || !bigger.far) {
		free(bigger.near);
		free(bigger.far);
		return; /* the old tables still serve */
	}
	for (uint32_t i = 0; i <= l->mask; i++)
		if (l->near[i].stack_pointer)
			insert(&bigger, &l->near[i]);
	for (uint32_t i = 0; i <= l->mask; i++)
		if (l->far[i].stack_pointer)
			insert(&bigger, &l->far[i]);
	free(l->near);
	free(l->far);
	l->near = bigger.near;
	l->far = bigger.far;
	l->mask = bigger.mask;
}

/* Call paths */

static bool in_package(const struct lc_method *m)
{
	return !strncmp(m->class_name, STREAM_PACKAGE, sizeof(STREAM_PACKAGE) - 1);
}

/*
 * Is this method of java.util.stream one that a program calls to execute a stream? Else it is one that
 * the library runs for each element, and which has itself called the terminal operation.
 */
static bool is_terminal(const struct lc_method *m)
{
	static const char *const pipelines[] = {
		"AbstractPipeline", "ReferencePipeline", "IntPipeline", "LongPipeline",
		"DoublePipeline",   "GathererOp",        "Stream",      "IntStream",
		"LongStream",       "DoubleStream",      "BaseStream"
	};
	static const char *const elements[] = {
		"accept", "apply", "get", "end", "begin", "tryAdvance", "forEachRemaining"
	};
	const char *name = m->class_name + sizeof(STREAM_PACKAGE) - 1;
	size_t len;

	if (strncmp(m->class_name, STREAM_PACKAGE, sizeof(STREAM_PACKAGE) - 1))
		return true;
	len = strcspn(name, "$");
	for (unsigned i = 0; i < sizeof(elements) / sizeof(elements[0]); i++)
		if (!strcmp(m->name, elements[i]))
			return false;
	if (!strncmp(m->name, "lambda$", sizeof("lambda$") - 1))
		return false;
	for (unsigned i = 0; i < sizeof(pipelines) / sizeof(pipelines[0]); i++)
		if (strlen(pipelines[i]) == len && !strncmp(name, pipelines[i], len))
			return true;
	return false;
}

/* Does the library drive a source through this method of it? */
static bool is_traversal(const struct lc_method *m)
{
	return !strcmp(m->name, "forEachRemaining") || !strcmp(m->name, "tryAdvance") ||
	       (!strncmp(m->class_name, "java.util.Spliterators", 22));
}

/* What a walk has found. */
struct place {
	uint32_t path;
	unsigned
	    frames; /* from the hook's to the last that tells it, both included; 0: all there are */
	bool inherited;
};

/* The index of the location's frame; `len` where there is none. */
static jint find_frame(JNIEnv *jni, const jvmtiFrameInfo *frames, jint len,
                       enum lc_location_hook hook, bool outer, bool *inherited)
{
	const struct lc_method *last = NULL, *foreign = NULL;
	bool library = false;

	*inherited = false;
	for (jint i = 0; i < len; i++) {
		const struct lc_method *m = lc_path_method(jni, frames[i].method);

		if (!m)
			return len;
		if (!strcmp(m->class_name, "java.lang.LocusSpan"))
			continue;
		if (in_package(m)) {
			last = m;
			continue;
		}
		if (hook == LC_LOCATION_FOREIGN && !foreign && !last)
			foreign =
			    m; /* the stream's own method; its helpers in the same class too */
		if (foreign && !strcmp(m->class_name, foreign->class_name))
			continue;
		foreign = foreign ? m : NULL;
		if (!library && last && !is_terminal(last)) {
			library = true;
			*inherited = outer;
			if (outer)
				return i;
		}
		if (library && is_traversal(m))
			continue;
		return i;
	}
	return len;
}

static struct place walk(struct lc_locations *l, JNIEnv *jni, enum lc_location_hook hook,
                         bool outer)
{
	jint cap = locations.paths && locations.depth > FRAMES_FIRST ? FRAMES_MAX : FRAMES_FIRST;
	struct place place = { 0 };

	for (;; cap = FRAMES_MAX) {
		jint len = 0, at;
		uint32_t packed_len = 0;
		jvmtiFrameInfo *frames = lc_contexts_scratch(
		    l->contexts, (size_t)cap * (sizeof(*frames) + sizeof(uint64_t)));
		uint64_t *packed;

		if (!frames || (*locations.jvmti)
		                   ->GetStackTrace(locations.jvmti, NULL, 0, cap, frames, &len)) {
			lc_span_add(&l->errors, 1);
			return place;
		}
		at = find_frame(jni, frames, len, hook, outer, &place.inherited);
		if (at == len && len == cap && cap < FRAMES_MAX)
			continue;
		place.frames = at < len ? (unsigned)at + 1 : 0;
		if (at == len || place.inherited)
			return place;
		packed = (uint64_t *)(frames + cap);
		for (jint i = at; i < len && packed_len < (locations.paths ? locations.depth : 1);
		     i++) {
			packed[packed_len++] =
			    lc_frame_pack(frames[i].method, (int)frames[i].location);
			place.frames = (unsigned)i + 1;
		}
		place.path = lc_path_intern(jni, packed, packed_len);
		return place;
	}
}

/* The words that tell this place. Returns false where they do not. */
static bool read_words(struct lc_locations *l, const struct lc_native_frame *at,
                       const struct place *place, struct lc_location *x)
{
	struct lc_frame_words words;

	if (locations.paths && place->frames && !place->inherited) {
		x->words_len =
		    (uint16_t)lc_span_words_read(l->contexts, at, place->frames, LC_LOCATION_WORDS,
		                                 x->value, x->offset, &x->more);
		return x->words_len;
	}
	words = lc_frames_words(at, lc_contexts_stack_end(l->contexts),
	                        place->frames ? place->frames : UINT32_MAX, LC_LOCATION_WORDS,
	                        x->value, x->offset);
	x->words_len = (uint16_t)words.len;
	return words.whole || (!place->frames && words.len);
}

struct lc_location *lc_location_learn(struct lc_locations *l, JNIEnv *jni,
                                      const struct lc_native_frame *at, uint64_t key,
                                      enum lc_location_hook hook, bool outer)
{
	struct lc_location *scratch = &l->scratch;
	struct place place = walk(l, jni, hook, outer);
	struct lc_location *x;
	lc_span_add(&l->walks, 1);
	if (l->evictions > (l->mask + 1) / 2 && l->mask + 1 < TABLE_MAX)
		grow(l);
	*scratch = (struct lc_location){ .path = place.path, .inherited = place.inherited };
	/* What reaches not as far as the place does not tell it: asked again the next time. */
	if (!read_words(l, at, &place, scratch))
		return scratch;
	scratch->stack_pointer = at->frame;
	scratch->key = key;
	scratch->generation =
	    atomic_load_explicit(l->generation, memory_order_relaxed); /* a hint */
	x = insert(l, scratch);
	scratch->more = NULL;
	return x;
}
