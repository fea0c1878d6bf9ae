/* SPDX-License-Identifier: Apache-2.0 */
/* heap/context.c - looks a context up in the thread's shadow, and learns it after a walk. */
#include "src/heap/context.h"

#include <errno.h>
#include <stdlib.h>

#include "src/base/hash.h"
#include "src/jvm/code/code_frames.h"
#include "src/stack/walker.h"

enum { CUT_FROM = 16, CUT_FRAMES = 4 };

/* For a thread whose shadow was not needed yet. */
static const struct lc_shadow_last nothing;

int lc_contexts_create(struct lc_contexts **out)
{
	struct lc_contexts *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->near = &nothing;
	lc_recent_init(&c->recent);
	*out = c;
	return 0;
}

void lc_contexts_destroy(struct lc_contexts *c)
{
	if (!c)
		return;
	lc_recent_free(&c->recent);
	lc_site_counters_free(&c->counters);
	lc_shadow_destroy(c->shadow);
	free(c);
}

/* Keys of notes are not 0. */
static uint64_t note_key(const struct lc_context_hook *h)
{
	return lc_context_key(h) | UINT64_C(1) << 63;
}

static void count_walk(struct lc_contexts *c)
{
	atomic_store_explicit(&c->walks, atomic_load_explicit(&c->walks, memory_order_relaxed) + 1,
	                      memory_order_relaxed); /* a count with one writer */
}

/* The place, now that the shadow has walked to it and there is a note: for lc_contexts_again(). */
static void remember(struct lc_contexts *c, const struct lc_context_hook *h, uint64_t note)
{
	lc_shadow_remember(c->shadow, h->frame, lc_context_key(h), note);
	c->near = lc_shadow_last(c->shadow);
}

struct lc_shadow *lc_contexts_shadow(struct lc_contexts *c, struct lc_walker *walker)
{
	if (!c->shadow && lc_code_frames_known() &&
	    !lc_shadow_create(&walker->credit, &c->shadow)) {
		walker->shadow = c->shadow;
		lc_shadow_set_root(c->shadow, walker->root);
	}
	return c->shadow;
}

void lc_contexts_set_root(struct lc_contexts *c, struct lc_walker *walker, uint32_t root)
{
	walker->root = root;
	lc_recent_forget(&c->recent);
	if (c->shadow)
		lc_shadow_set_root(c->shadow, root);
}

/* The node of the shadow where the thread is; 0 where the shadow does not tell. */
static uint32_t walk(struct lc_contexts *c, struct lc_walker *walker, uint64_t frame)
{
	const struct lc_native_frame at =
	    lc_frame_native((const void *)(uintptr_t)frame); /* NOLINT */
	uint32_t node;

	if (!lc_contexts_shadow(c, walker))
		return 0;
	node = lc_shadow_walk(c->shadow, &at, lc_walker_end(walker));
	atomic_store_explicit(&c->looked, lc_shadow_looked(c->shadow),
	                      memory_order_relaxed); /* a count with one writer */
	return node;
}

/* The frames of a walk for which the thread's tree has no room; without credit the nearest alone.
 */
static struct lc_common_walk beyond(const struct lc_contexts *c, struct lc_walker *walker,
                                    const struct lc_context_hook *h)
{
	struct lc_common_walk w = { .key = note_key(h) };
	bool open;

	if (c->shadow)
		w.len = lc_shadow_beyond(c->shadow, &w.frames);
	open = w.len && lc_shadow_open(c->shadow);
	if (w.len > CUT_FROM && !lc_walk_credit_left(&walker->credit)) {
		w.frames += w.len - CUT_FRAMES;
		w.len = CUT_FRAMES;
		open = true;
	}
	/* A path with unknown callers and the same path without callers are different contexts. */
	if (open)
		w.key = lc_hash(w.key) | UINT64_C(1) << 63;
	if (walker->root)
		w.key = lc_hash_add(w.key, walker->root) | UINT64_C(1) << 63;
	return w;
}

/* The common tree's note for a site: the thread counts it itself if it has a counter. */
static uint64_t site_note(uint32_t site)
{
	return site ? (uint64_t)site << LC_CONTEXT_NOTE_BITS | LC_CONTEXT_COMMON
	            : LC_CONTEXT_UNWANTED;
}

/* The context is in no tree of the thread's, or has no counter of its own there. */
static void look_in_common(struct lc_contexts *c, uint64_t note, struct lc_context_look *look)
{
	const uint32_t site =
	    note == LC_CONTEXT_UNWANTED ? 0 : (uint32_t)(note >> LC_CONTEXT_NOTE_BITS);

	look->known = note;
	look->counter = site ? lc_site_counters_of(&c->counters, site) : NULL;
	look->common = look->counter ? 0 : site;
}

/* Of a note whose path was cut: is there credit for all of it? */
static bool begin_anew(struct lc_walker *walker, uint64_t note)
{
	return note != LC_CONTEXT_UNWANTED && note & LC_CONTEXT_CUT &&
	       lc_walk_credit_left(&walker->credit);
}

/* The thread's own tree has a node for the context. */
static void look_at_note(struct lc_contexts *c, struct lc_walker *walker,
                         const struct lc_context_hook *h, struct lc_context_look *look)
{
	const uint64_t note = *look->note;

	if (!note || begin_anew(walker, note))
		return;
	if ((note & (LC_CONTEXT_UNWANTED | LC_CONTEXT_COMMON)) == LC_CONTEXT_COMMON) {
		/* Not remembered: each time, the hook is to come this way. */
		look_in_common(c, note, look);
		return;
	}
	look->known = true;
	look->counter = lc_context_counter(note & ~(uint64_t)LC_CONTEXT_CUT);
	if (!(note & LC_CONTEXT_CUT))
		remember(c, h, note);
}

struct lc_context_look lc_contexts_look(struct lc_contexts *c, struct lc_walker *walker,
                                        const struct lc_context_hook *h, bool exact)
{
	struct lc_context_look look = { .known = false };

	count_walk(c);
	look.node = walk(c, walker, h->frame);
	if (!look.node)
		look.beyond = beyond(c, walker, h);
	if (look.beyond.len)
		look_in_common(c, lc_common_tree_note(&look.beyond), &look);
	/* An open path is not exact. */
	if (look.node && !(exact && lc_shadow_open(c->shadow)))
		look.note = lc_shadow_note(c->shadow, look.node, note_key(h));
	if (look.note)
		look_at_note(c, walker, h, &look);
	return look;
}

struct lc_site_counter *lc_contexts_learn(struct lc_contexts *c, struct lc_walker *walker,
                                          const struct lc_context_hook *h,
                                          const struct lc_context_look *look, uint32_t site)
{
	struct lc_site_counter *counter = site ? lc_site_counters_of(&c->counters, site) : NULL;
	const uint64_t cut = site && walker->cut ? LC_CONTEXT_CUT : 0;

	if (site && !counter) {
		if (look->note)
			*look->note = site_note(site) | cut;
		if (look->beyond.len)
			lc_common_tree_set(&look->beyond, site_note(site));
		return NULL;
	}
	if (look->beyond.len) {
		lc_common_tree_set(&look->beyond, site_note(site));
		return counter;
	}
	if (look->note) {
		*look->note = counter ? (uint64_t)(uintptr_t)counter | cut : LC_CONTEXT_UNWANTED;
		if (!counter || !cut)
			remember(c, h, *look->note);
	}
	return counter;
}

uint64_t lc_contexts_walks(const struct lc_contexts *c)
{
	return atomic_load_explicit(&c->walks, memory_order_relaxed); /* a count */
}

uint64_t lc_contexts_looked(const struct lc_contexts *c)
{
	return atomic_load_explicit(&c->looked, memory_order_relaxed); /* a count */
}
