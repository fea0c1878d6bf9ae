/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/hot_classes.c - counts samples by class until a look, and keeps the choice.
 *
 * Order: H1  lc_hot_classes_begin() stores `begun` behind the threshold -> the writer loads it.
 *        H2  the writer stores `due` behind the choice -> the transforming thread loads it.
 *        H3  lc_hot_classes_done() clears `due` behind the list of classes -> the writer, which
 *            makes no other choice before, loads it.
 *        H4  lc_hot_classes_done() stores `len` behind the rows -> lc_hot_classes_all() loads it.
 */
#include "src/attribute/hot_classes.h"

#include <Judy.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/order.h"
#include "src/core/counters.h"
#include "src/core/path.h"
#include "src/heap/tracked.h"

static struct {
	_Atomic bool begun; /* H1 */
	uint64_t min_size_bytes;
	/* The writer's. */
	uint64_t samples;
	void *by_site; /* JudyL: site of a class -> samples */
	uint64_t next_ns;
	struct lc_hot_choice choice; /* the transforming thread's while `due` */
	_Atomic bool due;            /* H2, H3 */
	struct lc_hot_class all[LC_TRACK_MAX];
	_Atomic uint64_t len; /* H4 */
} hot;

struct row {
	struct lc_track_class class;
	uint64_t samples;
};

void lc_hot_classes_begin(uint64_t min_size_bytes)
{
	hot.min_size_bytes = min_size_bytes;
	atomic_store_explicit(&hot.begun, lc_tracked_hot(), memory_order_release); /* H1 */
}

static bool counts(void)
{
	return atomic_load_explicit(&hot.begun, memory_order_acquire) && /* H1 */
	       !atomic_load_explicit(&hot.due, memory_order_acquire);
}

void lc_hot_classes_sample(void)
{
	if (counts())
		hot.samples++;
}

void lc_hot_classes_no_line(uint32_t site, uint64_t size_bytes)
{
	PPvoid_t slot;

	if (!counts() || !site || size_bytes >= hot.min_size_bytes)
		return;
	slot = JudyLIns(&hot.by_site, site, PJE0);
	if (slot && slot != PPJERR) /* without memory the class has fewer samples */
		++*(Word_t *)slot;
}

static int by_name(const void *a, const void *b)
{
	const struct lc_track_class *x = &((const struct row *)a)->class;
	const struct lc_track_class *y = &((const struct row *)b)->class;
	const int order = memcmp(x->name, y->name, x->len < y->len ? x->len : y->len);

	if (order)
		return order;
	if (x->len != y->len)
		return lc_order_u64(x->len, y->len);
	return lc_order_u64(x->dimensions, y->dimensions);
}

static int by_samples(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	const int order = lc_order_u64(y->samples, x->samples);

	return order ? order : by_name(a, b);
}

/* The counted classes; those of one name, which loaders or lambdas have, are one. NULL: none. */
static struct row *take_rows(size_t *len)
{
	const Word_t cap = JudyLCount(hot.by_site, 0, ~(Word_t)0, PJE0);
	struct row *rows = cap && cap != (Word_t)JERR ? malloc(cap * sizeof(*rows)) : NULL;
	size_t all = 0;
	Word_t number = 0;

	for (PPvoid_t slot = rows ? JudyLFirst(hot.by_site, &number, PJE0) : NULL;
	     slot && slot != PPJERR && all < cap; slot = JudyLNext(hot.by_site, &number, PJE0)) {
		const struct lc_site *site = lc_site_get((uint32_t)number);

		if (site)
			rows[all++] = (struct row){ lc_track_written(site->class_name),
				                    *(const Word_t *)slot };
	}
	if (all)
		qsort(rows, all, sizeof(rows[0]), by_name);
	*len = 0;
	for (size_t i = 0; i < all; i++) {
		if (*len && !by_name(&rows[*len - 1], &rows[i]))
			rows[*len - 1].samples += rows[i].samples;
		else
			rows[(*len)++] = rows[i];
	}
	return rows;
}

/* NULL without memory. */
static const char *name_of(struct lc_track_class class)
{
	char *name = malloc(class.len + 2 * (size_t) class.dimensions + 1);

	if (!name)
		return NULL;
	memcpy(name, class.name, class.len);
	for (unsigned i = 0; i < class.dimensions; i++)
		memcpy(name + class.len + 2 * (size_t)i, "[]", 2);
	name[class.len + 2 * (size_t) class.dimensions] = '\0';
	return name;
}

static void choose(void)
{
	size_t len = 0;
	struct row *rows = take_rows(&len);

	hot.choice = (struct lc_hot_choice){ .of = hot.samples };
	if (len)
		qsort(rows, len, sizeof(rows[0]), by_samples);
	for (size_t i = 0; i < len && hot.choice.len < LC_TRACK_MAX; i++) {
		const char *name;

		if (rows[i].samples * 100 < hot.samples * LC_HOT_PERCENT)
			break;
		if (lc_track_matches(lc_tracked(), rows[i].class))
			continue;
		name = name_of(rows[i].class);
		if (!name)
			continue;
		hot.choice.names[hot.choice.len++] = name;
		hot.choice.samples += rows[i].samples;
	}
	free(rows);
}

void lc_hot_classes_look(uint64_t now_ns)
{
	if (!counts() || hot.samples < LC_HOT_SAMPLES || now_ns < hot.next_ns)
		return;
	choose();
	hot.next_ns = now_ns + LC_HOT_AGAIN_NS;
	hot.samples = 0;
	JudyLFreeArray(&hot.by_site, PJE0);
	if (hot.choice.len)
		atomic_store_explicit(&hot.due, true, memory_order_release); /* H2 */
}

const struct lc_hot_choice *lc_hot_classes_due(void)
{
	return atomic_load_explicit(&hot.due, memory_order_acquire) ? &hot.choice : NULL; /* H2 */
}

void lc_hot_classes_done(size_t len, uint64_t now_ns)
{
	uint64_t all = atomic_load_explicit(&hot.len, memory_order_relaxed); /* ours */

	for (size_t i = 0; i < hot.choice.len; i++)
		if (i < len && all < LC_TRACK_MAX)
			hot.all[all++] = (struct lc_hot_class){ hot.choice.names[i], now_ns };
		else
			free((void *)(uintptr_t)hot.choice.names[i]); /* NOLINT */
	atomic_store_explicit(&hot.len, all, memory_order_release);   /* H4 */
	atomic_store_explicit(&hot.due, false, memory_order_release); /* H3 */
}

size_t lc_hot_classes_all(struct lc_hot_class out[LC_TRACK_MAX])
{
	const size_t len = atomic_load_explicit(&hot.len, memory_order_acquire); /* H4 */

	for (size_t i = 0; i < len; i++)
		out[i] = hot.all[i];
	return len;
}

static bool has_counters(const struct lc_options *options)
{
	return lc_tracked_hot();
}

static const struct lc_counter counters[] = {
	LC_COUNTER("track_hot_classes", &hot.len),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters), .begin = has_counters);
