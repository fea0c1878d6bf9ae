/* SPDX-License-Identifier: Apache-2.0 */
/* heap/recent.c - chooses which allocations are looked at, and keeps what the looks have found. */
#include "src/heap/recent.h"

#include <string.h>

#include "src/base/jdk_class.h"
#include "src/base/time.h"
#include "src/core/counters.h"
#include "src/core/path.h"
#include "src/core/record.h"
#include "src/heap/site_counters.h"
#include "src/stack/shadow.h"
#include "src/stack/walker.h"

enum {
	MEAN_FIRST = 2,
	/* A look takes some ten times what an allocation without one does, so more gains little. */
	MEAN_MAX = 16,
	FRAMES_MAX = 64, /* among which there must be one of the program's */
};

/* A bytecode, and the nearest frames, at any depth of the stack. */
struct recent_place {
	struct lc_place place;
	struct lc_site_counter *counter;
};

static const struct lc_place_kind kind = { .entry_bytes = sizeof(struct recent_place),
	                                   .ways = 4,
	                                   .any_depth = true };
LC_PLACE_KIND_FITS(struct recent_place, 4);

static _Atomic uint64_t believed;

void lc_recent_init(struct lc_recent *r)
{
	memset(r, 0, sizeof(*r));
	r->credit.purse = LC_WALK_LOOKS;
	lc_places_init(&r->places, &kind, NULL);
	lc_jitter_begin(&r->random, (uintptr_t)r);
}

static void add_up(struct lc_recent *r)
{
	atomic_fetch_add_explicit(&believed, r->believed, memory_order_relaxed); /* a count */
	r->believed = 0;
}

void lc_recent_free(struct lc_recent *r)
{
	add_up(r);
	lc_walk_credit_return(&r->credit);
	lc_places_free(&r->places);
}

void lc_recent_forget(struct lc_recent *r)
{
	lc_places_free(&r->places);
}

/* Places of one bytecode that return to different code lie in different sets. */
static uint64_t place_key(uint64_t frame, uint64_t key)
{
	const struct lc_native_frame at =
	    lc_frame_native((const void *)(uintptr_t)frame); /* NOLINT */

	return lc_hash_add(key, lc_frame_native_return(&at)) | 1;
}

static struct recent_place *find(const struct lc_recent *r, struct lc_walker *walker,
                                 uint64_t frame, uint64_t key)
{
	return (struct recent_place *)lc_places_find(&r->places, &kind, frame,
	                                             place_key(frame, key), lc_walker_end(walker));
}

struct lc_site_counter *lc_recent_find_now(struct lc_recent *r, struct lc_walker *walker,
                                           uint64_t frame, uint64_t key)
{
	const struct recent_place *x;

	if (!r->skip)
		return NULL;
	x = find(r, walker, frame, key);
	if (!x)
		return NULL;
	r->skip--;
	r->believed++;
	lc_site_counter_believed(x->counter);
	return x->counter;
}

/* Look less often while there is no credit, and more often when there is some again. */
static void adapt(struct lc_recent *r, bool left)
{
	const uint64_t now_ns = lc_time_coarse_ns();

	if (now_ns == r->adapted_ns)
		return;
	r->adapted_ns = now_ns;
	if (left)
		r->mean = r->mean > MEAN_FIRST ? r->mean / 2 : 0;
	else if (r->mean < MEAN_MAX)
		r->mean = r->mean ? r->mean * 2 : MEAN_FIRST;
}

bool lc_recent_looked(struct lc_recent *r, uint64_t ticks, uint64_t frames)
{
	bool left;

	if (r->free < LC_RECENT_FREE) {
		r->free++;
		return false;
	}
	lc_walk_credit_pay_look(&r->credit, ticks, frames);
	left = lc_walk_credit_left(&r->credit);
	if (__builtin_expect(left && !r->mean, 1))
		return false;
	adapt(r, left);
	add_up(r);
	r->skip = (uint32_t)lc_jitter_below(&r->random, 2 * (uint64_t)r->mean);
	return r->mean;
}

static bool is_jdk(JNIEnv *jni, uint64_t frame)
{
	const struct lc_method *m = lc_path_version(jni, frame & LC_ADDR_MASK);

	return !m || lc_jdk_class(m->class_name, strlen(m->class_name));
}

/* How many frames, from the nearest on, reach to one of the program's; 0: none does. */
static unsigned frames_to_program(JNIEnv *jni, const struct lc_shadow *shadow)
{
	uint64_t frames[FRAMES_MAX];
	const size_t len = lc_shadow_nearest(shadow, frames, FRAMES_MAX);

	for (size_t i = 0; i < len; i++)
		if (!is_jdk(jni, frames[i]))
			return (unsigned)i + 1;
	return 0;
}

void lc_recent_learn(struct lc_recent *r, JNIEnv *jni, struct lc_walker *walker, uint64_t frame,
                     uint64_t key, struct lc_site_counter *counter)
{
	const struct lc_native_frame at =
	    lc_frame_native((const void *)(uintptr_t)frame); /* NOLINT */
	struct recent_place *x = find(r, walker, frame, key), new = { .counter = counter };
	unsigned frames;

	if (x) {
		x->counter = counter;
		return;
	}
	frames = walker->shadow ? frames_to_program(jni, walker->shadow) : 0;
	if (!frames || !lc_words_find_nearest(&new.place.words, walker, &at, frames))
		return;
	new.place.key = place_key(frame, key);
	(void)lc_places_keep(&r->places, &new.place);
}

static const struct lc_counter counters[] = {
	LC_COUNTER("alloc_believed", &believed, .limit = "paths_estimated",
	           .text = "looking at the stack for each allocation would have exceeded --budget: "
	                   "callers of some are estimates; counts of lines are exact"),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
