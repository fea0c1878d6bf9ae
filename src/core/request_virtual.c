/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/request_virtual.c - keeps the contexts of virtual threads, by ID, while they have one.
 *
 * A virtual thread is on one carrier at a time, so its row is written and read in turns. The rows
 * are in shards with a lock each, which is held for a few instructions.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "src/base/spin.h"
#include "src/core/counters.h"
#include "src/core/request.h"

enum {
	SHARDS = 64,
	CHAINS = 256,      /* in a shard */
	ROWS_MAX = 1 << 17 /* in all: 4 MB */
};

struct row {
	struct row *next;
	uint64_t id;
	uint32_t root; /* not 0 */
};

static struct shard {
	_Alignas(64) _Atomic uint32_t lock;
	struct row *chains[CHAINS]; /* under lock */
} shards[SHARDS];

static _Atomic bool wanted, carriers;
static _Atomic uint64_t rows, lost;

bool lc_request_wants_carriers(void)
{
	return atomic_load_explicit(&wanted, memory_order_relaxed); /* on its own */
}

void lc_request_want_carriers(void)
{
	atomic_store_explicit(&wanted, true, memory_order_relaxed);
}

bool lc_request_has_carriers(void)
{
	return atomic_load_explicit(&carriers, memory_order_relaxed); /* on its own */
}

void lc_request_set_carriers(bool has)
{
	atomic_store_explicit(&carriers, has, memory_order_relaxed);
}

/* The shard's lock is held. */
static struct row **find(struct shard *s, uint64_t id)
{
	struct row **at = &s->chains[id / SHARDS % CHAINS];

	while (*at && (*at)->id != id)
		at = &(*at)->next;
	return at;
}

static bool update(struct shard *s, uint64_t id, uint32_t root)
{
	struct row *r;

	lc_spin_lock(&s->lock);
	r = *find(s, id);
	if (r)
		r->root = root;
	lc_spin_unlock(&s->lock);
	return r != NULL;
}

static bool add(struct shard *s, uint64_t id, uint32_t root)
{
	struct row *r = atomic_load_explicit(&rows, memory_order_relaxed) < ROWS_MAX
	                    ? malloc(sizeof(*r))
	                    : NULL;

	if (!r) {
		lc_count(&lost);
		return false;
	}
	*r = (struct row){ .id = id, .root = root };
	lc_spin_lock(&s->lock);
	r->next = s->chains[id / SHARDS % CHAINS];
	s->chains[id / SHARDS % CHAINS] = r;
	lc_spin_unlock(&s->lock);
	lc_count(&rows);
	return true;
}

static void take_out(struct shard *s, uint64_t id)
{
	struct row **at, *r;

	lc_spin_lock(&s->lock);
	at = find(s, id);
	r = *at;
	if (r)
		*at = r->next;
	lc_spin_unlock(&s->lock);
	if (r)
		atomic_fetch_sub_explicit(&rows, 1, memory_order_relaxed); /* a count */
	free(r);
}

bool lc_request_set_virtual(uint64_t id, uint32_t root)
{
	struct shard *s = &shards[id % SHARDS];

	if (root)
		return update(s, id, root) || add(s, id, root);
	take_out(s, id);
	return true;
}

uint32_t lc_request_of_virtual(uint64_t id)
{
	struct shard *s = &shards[id % SHARDS];
	uint32_t root;
	const struct row *r;

	lc_spin_lock(&s->lock);
	r = *find(s, id);
	root = r ? r->root : 0;
	lc_spin_unlock(&s->lock);
	return root;
}

static const struct lc_counter counters[] = {
	/* Contexts of virtual threads that there was no room for. */
	LC_COUNTER("contexts_virtual_lost", &lost, .limit = "contexts_lost",
	           .text = "too many virtual threads had a context at once: some had none"),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
