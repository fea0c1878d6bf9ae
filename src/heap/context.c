/* heap/context.c - looks a context up, and learns it after a walk. */
#include "src/heap/context.h"

#include <errno.h>
#include <stdlib.h>

static const struct lc_place_kind kind = { .entry_bytes = sizeof(struct lc_context),
	                                   .ways = 4,
	                                   .guessed = true };
LC_PLACE_KIND_FITS(struct lc_context, 4);

static bool same_site(const struct lc_place *a, const struct lc_place *b)
{
	return ((const struct lc_context *)a)->site == ((const struct lc_context *)b)->site;
}

static uint64_t key_of(uint32_t bytecode_site, uint32_t class_key)
{
	return (uint64_t)bytecode_site << 32 | class_key;
}

int lc_contexts_create(struct lc_contexts **out)
{
	struct lc_contexts *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	lc_places_init(&c->places, &kind, same_site);
	*out = c;
	return 0;
}

void lc_contexts_destroy(struct lc_contexts *c)
{
	if (!c)
		return;
	lc_places_free(&c->places);
	lc_site_counters_free(&c->counters);
	free(c);
}

struct lc_context *lc_contexts_find(const struct lc_contexts *c, uint64_t frame,
                                    uint32_t bytecode_site, uint32_t class_key)
{
	return (struct lc_context *)lc_places_find(&c->places, &kind, frame,
	                                           key_of(bytecode_site, class_key), 0);
}

struct lc_context *lc_contexts_learn(struct lc_contexts *c, uint64_t frame, uint64_t stack_end,
                                     uint32_t bytecode_site, uint32_t class_key, uint32_t site)
{
	struct lc_context new = {
		.place = { .frame = frame, .key = key_of(bytecode_site, class_key) },
		.site = site,
		.counter = site ? lc_site_counters_of(&c->counters, site) : NULL
	};

	atomic_store_explicit(&c->walks, atomic_load_explicit(&c->walks, memory_order_relaxed) + 1,
	                      memory_order_relaxed); /* a count with one writer */
	if (site && !new.counter)
		return NULL;
	lc_words_guess(&new.place.words, frame, stack_end, UINT32_MAX);
	return (struct lc_context *)lc_places_keep(&c->places, &new.place);
}

uint64_t lc_contexts_walks(const struct lc_contexts *c)
{
	return atomic_load_explicit(&c->walks, memory_order_relaxed); /* a count */
}
