/* SPDX-License-Identifier: Apache-2.0 */
/* span/streams/location.c - searches the frames for the call that executes a stream. */
#include "src/span/streams/location.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/own.h"
#include "src/core/path.h"
#include "src/core/record.h"
#include "src/core/version.h"
#include "src/stack/walker.h"

enum { DEEP_FROM = 48 }; /* paths of more frames than that want all at once */

#define STREAM_PACKAGE "java.util.stream."

static struct {
	bool paths;
	uint32_t depth;
} locations;

void lc_locations_init(bool paths, uint32_t depth)
{
	locations.paths = paths;
	locations.depth = depth;
}

int lc_locations_create(struct lc_walker *walker, struct lc_locations **out)
{
	struct lc_locations *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	lc_places_init(&l->places, &lc_location_kind, NULL);
	l->walker = walker;
	*out = l;
	return 0;
}

void lc_locations_destroy(struct lc_locations *l)
{
	if (!l)
		return;
	lc_places_free(&l->places);
	free(l);
}

/* Call paths */

static bool in_package(const struct lc_method *m)
{
	return !strncmp(m->class_name, STREAM_PACKAGE, sizeof(STREAM_PACKAGE) - 1);
}

/* Is this method of java.util.stream one that the library runs for each element? */
static bool is_element(const struct lc_method *m)
{
	static const char *const elements[] = {
		"accept", "apply", "get", "end", "begin", "tryAdvance", "forEachRemaining"
	};

	for (unsigned i = 0; i < sizeof(elements) / sizeof(elements[0]); i++)
		if (!strcmp(m->name, elements[i]))
			return true;
	return !strncmp(m->name, "lambda$", sizeof("lambda$") - 1);
}

/*
 * Is this method of java.util.stream one that a program calls to execute a stream? Else it is one
 * that the library runs for each element, and which has itself called the terminal operation.
 */
static bool is_terminal(const struct lc_method *m)
{
	static const char *const pipelines[] = {
		"AbstractPipeline", "ReferencePipeline", "IntPipeline", "LongPipeline",
		"DoublePipeline",   "GathererOp",        "Stream",      "IntStream",
		"LongStream",       "DoubleStream",      "BaseStream"
	};
	const char *name = m->class_name + sizeof(STREAM_PACKAGE) - 1;
	size_t len = strcspn(name, "$");

	if (is_element(m))
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

/* The purpose of a walk, and its result. */
struct search {
	enum lc_location_hook hook;
	bool outer;
	bool library; /* the library itself executes this stream */
	bool cut;     /* the thread has no credit for a walk */
	uint32_t path;
	/* Frames from the hook's to the last that tells the place, both included; 0: all. */
	unsigned frames;
};

/* The index of the location's frame; `len` where there is none. A lc_walker_stop. */
static jint find_frame(JNIEnv *jni, const jvmtiFrameInfo *frames, jint len, void *closure)
{
	struct search *search = closure;
	const struct lc_method *last = NULL, *foreign = NULL;

	search->library = false;
	for (jint i = 0; i < len; i++) {
		const struct lc_method *m = lc_path_method(jni, frames[i].method);

		if (!m)
			return len;
		if (lc_own_method(frames[i].method))
			continue;
		if (in_package(m)) {
			search->library |= is_element(m);
			last = m;
			continue;
		}
		/* The stream's own method, and its helpers in the same class. */
		if (search->hook == LC_LOCATION_FOREIGN && !foreign && !last)
			foreign = m;
		if (foreign && !strcmp(m->class_name, foreign->class_name))
			continue;
		foreign = foreign ? m : NULL;
		search->library |= last && !is_terminal(last);
		if (search->library && search->outer)
			return i;
		if (search->library && is_traversal(m))
			continue;
		return i;
	}
	return len;
}

static void walk(struct lc_locations *l, JNIEnv *jni, struct search *search)
{
	const uint32_t depth = locations.paths ? locations.depth : 1;
	struct lc_walked walked;
	uint32_t packed_len = 0;

	int err = lc_walker_walk(l->walker, jni, depth > DEEP_FROM, find_frame, search, &walked);

	search->cut = err == -EAGAIN;
	if (search->cut) {
		const uint64_t frame = lc_frame_pack((const void *)(uintptr_t)LC_PATH_CUT, -1);

		search->path = lc_path_intern(jni, &frame, 1);
		lc_walk_credit_cut();
		return;
	}
	if (err) {
		lc_span_add(&l->errors, 1);
		return;
	}
	if (walked.stop == walked.len)
		return;
	search->frames = (unsigned)walked.stop + 1;
	if (search->library && search->outer)
		return;
	for (jint i = walked.stop; i < walked.len && packed_len < depth; i++) {
		const jvmtiFrameInfo *frame = &walked.frames[i];

		walked.packed[packed_len++] = lc_version_frame(frame->method, (int)frame->location);
		search->frames = (unsigned)i + 1;
	}
	search->path = lc_path_intern(jni, walked.packed, packed_len);
}

/* Read the words that tell this place. Returns false where they do not reach as far as it does. */
static bool read_words(struct lc_locations *l, const struct lc_native_frame *at,
                       const struct search *search, struct lc_words *words)
{
	bool whole;

	if (locations.paths && search->frames && !(search->library && search->outer))
		return lc_words_find(words, l->walker, at, search->frames);
	whole = lc_words_find_nearest(words, l->walker, at,
	                              search->frames ? search->frames : UINT32_MAX);
	return whole || (!search->frames && words->len);
}

struct lc_location *lc_location_learn(struct lc_locations *l, JNIEnv *jni,
                                      const struct lc_native_frame *at, uint64_t key,
                                      enum lc_location_hook hook, bool outer)
{
	struct search search = { .hook = hook, .outer = outer };
	struct lc_location *new = &l->scratch, *kept;

	walk(l, jni, &search);
	lc_span_add(&l->walks, 1);
	*new = (struct lc_location){ .place = { .frame = at->frame, .key = key },
		                     .path = search.path,
		                     .library = search.library };
	/* A place that its words do not tell is walked to again the next time. */
	if (search.cut || !read_words(l, at, &search, &new->place.words))
		return new;
	kept = (struct lc_location *)lc_places_keep(&l->places, &new->place);
	if (!kept)
		free(new->place.words.more);
	new->place.words.more = NULL;
	return kept ? kept : new;
}

uint32_t lc_location_called(struct lc_location *x, uint32_t made, uint32_t outer)
{
	x->called.made = made;
	x->called.outer = outer;
	x->called.path = locations.paths ? lc_path_below(made, outer, locations.depth) : made;
	return x->called.path;
}
