/* SPDX-License-Identifier: Apache-2.0 */
/* stack/common_tree.c - goes down the common tree, under its lock. */
#include "src/stack/common_tree.h"

#include <pthread.h>

#include "src/stack/call_tree.h"
#include "src/stack/shadow.h"

static struct {
	pthread_mutex_t lock;
	struct lc_call_tree tree;
} common = { .lock = PTHREAD_MUTEX_INITIALIZER, .tree = { .common = true } };

/* The word of the walk, made where it is not there; NULL without room. Under the lock. */
static uint64_t *note_of(const struct lc_common_walk *w)
{
	struct lc_call_node *n;
	bool forgotten;

	if (!lc_call_tree_ready(&common.tree, &forgotten))
		return NULL;
	n = lc_call_node(&common.tree, 0);
	for (uint32_t i = 0; i < w->len && n; i++)
		if (w->frames[i].code)
			n = lc_call_callee(&common.tree, n, w->frames[i].code);
	return n ? lc_call_note(&common.tree, n->number, w->key) : NULL;
}

uint64_t lc_common_tree_note(const struct lc_common_walk *w)
{
	uint64_t *at, note;

	pthread_mutex_lock(&common.lock);
	at = note_of(w);
	note = at ? *at : 0;
	pthread_mutex_unlock(&common.lock);
	return note;
}

void lc_common_tree_set(const struct lc_common_walk *w, uint64_t note)
{
	uint64_t *at;

	pthread_mutex_lock(&common.lock);
	at = note_of(w);
	if (at)
		*at = note;
	pthread_mutex_unlock(&common.lock);
}
