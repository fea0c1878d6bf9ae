/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/estimate_flush.c - moves the estimates to the tallies: the attribution thread's part of
 * estimate.c.
 *
 * The table's lock is held only to copy objects; longer work is done on the copies.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/area.h"
#include "src/core/thread.h"
#include "src/heap/estimate_impl.h"
#include "src/profile/tally.h"

static enum lc_split_age age_of(const struct lc_estimate_table *t, uint64_t start, uint32_t epoch)
{
	const struct lc_area *a;
	size_t i;

	if (epoch != t->closed)
		return LC_SPLIT_ANY;
	i = lc_area_find(t->areas, t->areas_len, start);
	if (i == t->areas_len)
		return LC_SPLIT_ANY;
	a = &t->areas[i];
	if (a->kind == LC_AREA_FREE || a->kind == LC_AREA_EDEN || start >= a->top)
		return LC_SPLIT_NEW;
	return LC_SPLIT_OLD;
}

static void count_unsplit(struct lc_estimate_table *t, uint64_t samples)
{
	pthread_mutex_lock(&t->lock);
	t->stats.unsplit += samples;
	pthread_mutex_unlock(&t->lock);
}

void lc_estimate_access(struct lc_thread *thread, uint16_t engine, uint32_t class_site,
                        uint64_t start, uint32_t epoch, uint64_t samples)
{
	struct lc_estimate_table *t = lc_estimate_table();
	struct lc_split_access a = {
		.class_site = class_site,
		.epoch = epoch,
		.start = start & LC_ADDR_MASK,
		.thread = thread->index,
		.engine = engine,
		.samples = samples,
	};

	if (!lc_estimate_enabled())
		return;
	a.age = (uint8_t)age_of(t, a.start, epoch);
	if (lc_split_note(t->split, &a))
		count_unsplit(t, samples);
}

void lc_estimate_close(uint32_t epoch, const struct lc_area *areas, size_t len)
{
	struct lc_estimate_table *t = lc_estimate_table();
	struct lc_area *copy;

	if (!lc_estimate_enabled())
		return;
	t->closed = epoch + 1;
	t->areas_len = 0;
	copy = realloc(t->areas, len * sizeof(*areas) + 1);
	if (!copy)
		return; /* ages are unknown without the areas */
	t->areas = copy;
	if (len)
		memcpy(copy, areas, len * sizeof(*areas));
	t->areas_len = len;
}

/*
 * Ask the JVM which objects are dead, if the collector is concurrent. A cycle may be under way, so
 * the number of collections outlived is a lower bound.
 */
static void check_references(struct lc_estimate_table *t, JNIEnv *jni)
{
	size_t len;

	pthread_mutex_lock(&t->lock);
	lc_estimate_count_collection();
	t->checking = true;
	len = t->len;
	for (size_t i = 0; i < len; i++)
		t->released[i].ref = t->entries[i].ref;
	pthread_mutex_unlock(&t->lock);
	for (size_t i = 0; i < len; i++)
		if ((*jni)->IsSameObject(jni, t->released[i].ref, NULL))
			t->released[i].ref = NULL;
	pthread_mutex_lock(&t->lock);
	t->checking = false;
	for (size_t i = 0; i < len; i++) {
		struct lc_estimate_entry *e =
		    &t->entries[i]; /* entries were only added meanwhile */
		uint32_t cycles = t->collections - e->since;

		if (t->released[i].ref) {
			e->survived = cycles ? cycles - 1 : 0;
		} else if (lc_estimate_alive(e)) {
			e->object.died = e->object.last = t->epoch;
			t->live--;
		}
	}
	pthread_mutex_unlock(&t->lock);
}

/*
 * Add an object's copies since the last flush to the sums. If half of the objects were given up
 * meanwhile, each of the others stands for two, also for earlier copies.
 */
static bool tell_copied(struct lc_estimate_table *t, struct lc_estimate_entry *e)
{
	struct lc_estimate_sum *x;

	if (!e->copied)
		return true;
	x = lc_estimate_sum_of(&t->sums, e->thread, e->object.site);
	if (!x)
		return false;
	x->copied_bytes += (double)e->copied * (double)e->size_bytes / lc_estimate_chance_held(e);
	e->copied = 0;
	return true;
}

/*
 * Add the collections that objects have outlived since the last flush to the sums. Under the lock.
 */
static void tell_survived(struct lc_estimate_table *t)
{
	for (size_t i = 0; i < t->len; i++) {
		struct lc_estimate_entry *e = &t->entries[i];

		if (!tell_copied(t, e))
			return; /* it is added the next time */
		for (unsigned c = 0; c < LC_LIVE_COLUMNS; c++) {
			struct lc_estimate_sum *x;

			if (e->told & 1u << c || e->survived < lc_live_collections(c))
				continue;
			x = lc_estimate_sum_of(&t->sums, e->thread, e->object.site);
			if (!x)
				return; /* it is added the next time */
			x->live[c] += 1 / lc_estimate_chance_held(e);
			e->told = (uint8_t)(e->told | 1u << c);
		}
	}
}

/* Copy the table's objects. Under the lock. Returns their number. */
static size_t copy_objects(struct lc_estimate_table *t)
{
	for (size_t i = 0; i < t->len; i++) {
		const struct lc_estimate_entry *e = &t->entries[i];
		struct lc_split_object *o = &t->objects[i];

		*o = e->object;
		o->chance = lc_estimate_chance_held(e);
		o->user = e->ref;
		o->number = i;
		if (lc_estimate_alive(e))
			o->last = t->epoch;
	}
	return t->len;
}

/* Put back the hits of `len` copies. An entry has its old index, or a smaller one. */
static void return_hits(struct lc_estimate_table *t, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		const struct lc_split_object *o = &t->objects[i];
		size_t at = o->number < t->len ? o->number + 1 : t->len;

		if (o->hits <= 0)
			continue;
		while (at > 0 && t->entries[at - 1].ref != o->user)
			at--;
		if (at > 0)
			t->entries[at - 1].object.hits = o->hits;
	}
}

/* Take out dead objects that no open access can match. Under the lock. Returns their number. */
static size_t take_dead(struct lc_estimate_table *t)
{
	size_t kept = 0, dead = 0;

	for (size_t i = 0; i < t->len; i++) {
		const struct lc_estimate_entry *e = &t->entries[i];

		if (!lc_estimate_alive(e) && (!t->config.follow || e->object.died < t->closed))
			t->released[dead++] = *e;
		else
			t->entries[kept++] = *e;
	}
	t->len = kept;
	return dead;
}

/* The tally of the thread with that number, or of the oldest thread. NULL without memory. */
static struct lc_tally *tally_of(uint32_t thread)
{
	struct lc_thread *x, *oldest = NULL;

	lc_threads_lock();
	for (x = lc_threads_first(); x && x->index != thread; x = x->next)
		oldest = x;
	lc_threads_unlock();
	if (!x)
		x = oldest;
	return x ? lc_tally_made(&x->tally) : NULL;
}

static void emit_split(void *user, uint32_t thread, const struct lc_block_split *row)
{
	struct lc_tally *tally = tally_of(thread);

	if (tally && (row->samples_milli || row->variance_milli))
		lc_tally_split(tally, row);
}

static void emit_sums(struct lc_estimate_table *t, const struct lc_estimate_sums *sums)
{
	for (size_t i = 0; i < sums->cap; i++) {
		const struct lc_estimate_sum *x = &sums->slots[i];
		struct lc_tally *tally = x->site ? tally_of(x->thread) : NULL;
		struct lc_block_estimate row;
		struct lc_block_copy copies;

		if (!x->site)
			continue;
		row = lc_estimate_sum_row(x);
		copies = (struct lc_block_copy){
			.site = x->site,
			.estimated_bytes = (uint64_t)llround(x->copied_bytes),
		};
		if (copies.estimated_bytes && (!tally || lc_tally_copy(tally, &copies))) {
			pthread_mutex_lock(&t->lock);
			t->stats.copies_lost++;
			pthread_mutex_unlock(&t->lock);
		}
		if (tally && !lc_tally_estimate(tally, &row))
			continue;
		pthread_mutex_lock(&t->lock);
		t->stats.lost += x->sampled;
		t->stats.sampled -= x->sampled;
		pthread_mutex_unlock(&t->lock);
	}
}

void lc_estimate_flush(JNIEnv *jni)
{
	struct lc_estimate_table *t = lc_estimate_table();
	struct lc_estimate_sums sums;
	size_t len, dead;
	uint64_t unsplit;

	if (!lc_estimate_enabled())
		return;
	lc_estimate_pace(0);
	if (!t->config.follow)
		check_references(t, jni);
	pthread_mutex_lock(&t->lock);
	tell_survived(t);
	sums = t->sums;
	t->sums = (struct lc_estimate_sums){ 0 };
	len = lc_split_noted(t->split) ? copy_objects(t) : 0;
	pthread_mutex_unlock(&t->lock);
	emit_sums(t, &sums);
	lc_estimate_sums_free(&sums);
	unsplit =
	    lc_split_settle(t->split, t->objects, len, t->config.from_start, emit_split, NULL);
	pthread_mutex_lock(&t->lock);
	t->stats.unsplit += unsplit;
	return_hits(t, len);
	dead = take_dead(t);
	pthread_mutex_unlock(&t->lock);
	for (size_t i = 0; i < dead; i++)
		(*jni)->DeleteWeakGlobalRef(jni, t->released[i].ref);
}
