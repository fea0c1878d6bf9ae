/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/live_series.c - keeps the least that each site holds in the stretch of time that has
 * begun, and makes rows of the section LIVE of what has changed.
 */
#include "src/attribute/live_series.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/vector.h"
#include "src/core/counters.h"
#include "src/core/record.h"
#include "src/core/thread.h"
#include "src/heap/estimate.h"
#include "src/heap/estimate_sums.h"
#include "src/heap/map.h"
#include "src/offheap/blocks.h"
#include "src/profile/tally.h"

#define FIRST_STRETCH_NS                                                                           \
	UINT64_C(15625000)            /* so each collection of a short program has its own         \
	                               */
#define QUIET_NS UINT64_C(1000000000) /* between two passes without a collection, at least */

enum {
	STRETCHES = 64,    /* then the next ones are twice as long */
	IDLE_FACTOR = 1000 /* the time between passes is so many times that of a pass */
};

struct numbers {
	uint64_t objects, bytes;
	struct lc_estimate_sum sampled;
};

/* A site that has held something. */
struct site {
	uint32_t number;
	bool in_stretch; /* `least` is set */
	struct numbers now, least;
	double before,
	    middle; /* bytes when the series was half as long, and at its last doubling */
	struct lc_block_live written;
	uint64_t ages_milli[LC_LIVE_COLUMNS]; /* while write_now() runs */
};

static struct {
	struct site *sites;
	size_t len, cap;
	uint32_t *rows; /* by number of a site: its index in `sites`, + 1; 0: none */
	size_t rows_cap;
	struct lc_vector pending; /* struct lc_block_live */
	struct lc_vector ages;    /* struct lc_block_age */

	uint64_t stretch_ns, begin_ns, next_ns;
	unsigned stretches;      /* ended, of this length and as many as would fit from the start */
	bool stretch_has_pass;   /* a pass has read the sums in it */
	uint64_t collected, old; /* collections, not yet seen by a pass */
	uint64_t in_stretch, old_in_stretch; /* collections seen by passes of the stretch */
	uint64_t heap_bytes, heap_least_bytes;

	uint64_t collections, old_collections, passes, pass_ns, rows_written, lost;
} series = { .pending = { .element_bytes = sizeof(struct lc_block_live) },
	     .ages = { .element_bytes = sizeof(struct lc_block_age) } };

static uint64_t cpu_ns(void)
{
	struct timespec t = { 0 };

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* ---- sites ---- */

/* The site's sums; NULL without memory, which is counted. */
static struct numbers *now_of(uint32_t number)
{
	const size_t cap = series.rows_cap;
	struct site *sites;
	uint32_t *rows;

	if (number < cap && series.rows[number])
		return &series.sites[series.rows[number] - 1].now;
	rows = lc_vector_reserve_array(series.rows, &series.rows_cap, (size_t)number + 1,
	                               sizeof(*rows));
	if (rows) {
		series.rows = rows;
		memset(rows + cap, 0, (series.rows_cap - cap) * sizeof(*rows));
	}
	sites = rows ? lc_vector_reserve_array(series.sites, &series.cap, series.len + 1,
	                                       sizeof(*sites))
	             : NULL;
	if (!sites) {
		series.lost++;
		return NULL;
	}
	series.sites = sites;
	sites[series.len++] = (struct site){ .number = number };
	rows[number] = (uint32_t)series.len;
	return &sites[series.len - 1].now;
}

static void clear_now(void)
{
	for (size_t i = 0; i < series.len; i++)
		series.sites[i].now = (struct numbers){ 0 };
}

static void add(uint32_t site, uint64_t objects, uint64_t bytes)
{
	struct numbers *n = objects ? now_of(site) : NULL;

	if (!n)
		return;
	n->objects += objects;
	n->bytes += bytes;
}

static void add_block(void *unused, const struct lc_blocks_sum *sum)
{
	add(sum->site, sum->before + sum->allocated - sum->freed,
	    sum->before_bytes + sum->allocated_bytes - sum->freed_bytes);
}

/* `young`: of objects that no collection has seen, or of the others. */
static void add_sampled(void *young, const struct lc_estimate_held *o)
{
	struct numbers *n = (o->survived == 0) == *(const bool *)young ? now_of(o->site) : NULL;

	if (n)
		lc_estimate_sum_add(&n->sampled, o->size_bytes, o->chance);
}

/* ---- rows ---- */

static struct lc_block_live row_of(const struct numbers *n, uint32_t site)
{
	const struct lc_block_estimate e = lc_estimate_sum_row(&n->sampled);

	return (struct lc_block_live){
		.site = site,
		.objects = n->objects,
		.bytes = n->bytes,
		.sampled = e.sampled,
		.objects_milli = e.objects_milli,
		.objects_variance_milli = e.objects_variance_milli,
		.estimated_bytes = e.bytes,
		.bytes_variance_mib = e.bytes_variance_mib,
	};
}

static void push(struct lc_block_live row, enum lc_live_kind kind, uint64_t time_ns)
{
	row.kind = (uint8_t)kind;
	row.time_ns = time_ns;
	if (lc_vector_push(&series.pending, &row))
		series.lost++;
	else
		series.rows_written++;
}

static double bytes_of(const struct numbers *n)
{
	return (double)n->bytes + n->sampled.bytes;
}

static bool any(const struct numbers *n)
{
	return n->objects || n->sampled.sampled;
}

static bool same(const struct lc_block_live *a, const struct lc_block_live *b)
{
	return a->objects == b->objects && a->bytes == b->bytes && a->sampled == b->sampled &&
	       a->estimated_bytes == b->estimated_bytes;
}

/* From now on, growth is that since the time when the series was half as long. */
static void note_doubling(void)
{
	for (size_t i = 0; i < series.len; i++) {
		series.sites[i].before = series.sites[i].middle;
		series.sites[i].middle = bytes_of(&series.sites[i].least);
	}
}

static void end_stretch(void)
{
	for (size_t i = 0; i < series.len; i++) {
		struct site *s = &series.sites[i];
		const struct lc_block_live row = row_of(&s->least, s->number);

		if (s->in_stretch && !same(&row, &s->written)) {
			s->written = row;
			push(row, LC_LIVE_LEAST, series.begin_ns);
		}
		s->in_stretch = false;
	}
	push((struct lc_block_live){ .objects = series.in_stretch,
	                             .bytes = series.heap_least_bytes,
	                             .sampled = series.old_in_stretch },
	     LC_LIVE_LEAST, series.begin_ns);
	series.in_stretch = series.old_in_stretch = series.heap_least_bytes = 0;
	series.stretch_has_pass = false;
	if (++series.stretches == STRETCHES) {
		series.stretches /= 2;
		series.stretch_ns *= 2;
		note_doubling();
	}
}

static void note_least(void)
{
	if (series.collected && (!series.in_stretch || series.heap_bytes < series.heap_least_bytes))
		series.heap_least_bytes = series.heap_bytes;
	series.in_stretch += series.collected;
	series.old_in_stretch += series.old;
	series.collected = series.old = 0;
	for (size_t i = 0; i < series.len; i++) {
		struct site *s = &series.sites[i];

		if (s->in_stretch && bytes_of(&s->now) >= bytes_of(&s->least))
			continue;
		s->least = s->now;
		s->in_stretch = true;
	}
}

static void write_now(uint64_t now_ns)
{
	for (size_t i = 0; i < series.len; i++)
		if (any(&series.sites[i].now))
			push(row_of(&series.sites[i].now, series.sites[i].number), LC_LIVE_NOW,
			     now_ns);
	push((struct lc_block_live){ .objects = series.collections,
	                             .bytes = series.heap_bytes,
	                             .sampled = series.old_collections },
	     LC_LIVE_NOW, now_ns);
}

/* ---- ages ---- */

/* An object of the map that no close has seen yet, an adopted one, is among the youngest. */
static void add_age(uint32_t site, uint32_t survived, uint32_t collections, uint64_t milli)
{
	const uint64_t age = survived >= collections ? collections : survived ? survived : 1;

	if (collections && site < series.rows_cap && series.rows[site])
		series.sites[series.rows[site] - 1]
		    .ages_milli[(age * LC_LIVE_COLUMNS - 1) / collections] += milli;
}

static void add_tracked_age(void *map, const struct lc_object *o)
{
	add_age(o->site, o->epochs, lc_map_closes(map), 1000);
}

static void add_sampled_age(void *unused, const struct lc_estimate_held *o)
{
	if (o->survived)
		add_age(o->site, o->survived, o->of, (uint64_t)(1000 / o->chance + 0.5));
}

/* The objects are those in the rows of write_now(). */
static void write_ages(struct lc_map *m, uint64_t now_ns)
{
	static const uint64_t none[LC_LIVE_COLUMNS];

	for (size_t i = 0; i < series.len; i++)
		memset(series.sites[i].ages_milli, 0, sizeof(none));
	if (m)
		lc_map_each(m, add_tracked_age, m);
	lc_estimate_live(add_sampled_age, NULL);
	for (size_t i = 0; i < series.len; i++) {
		struct lc_block_age row = { .time_ns = now_ns, .site = series.sites[i].number };

		memcpy(row.objects_milli, series.sites[i].ages_milli, sizeof(none));
		if (memcmp(row.objects_milli, none, sizeof(none)) &&
		    lc_vector_push(&series.ages, &row))
			series.lost++;
	}
}

/* ---- passes ---- */

static void read_sums(const struct lc_map *m)
{
	bool young = false;
	size_t len = 0;
	const struct lc_map_live *live = m ? lc_map_live(m, &len) : NULL;

	clear_now();
	for (size_t site = 1; site < len; site++)
		add((uint32_t)site, live[site].objects, live[site].bytes);
	lc_blocks_each(add_block, NULL);
	if (series.collections)
		lc_estimate_live(add_sampled, &young);
}

void lc_live_series_begin(uint64_t now_ns)
{
	series.stretch_ns = FIRST_STRETCH_NS;
	series.begin_ns = series.next_ns = now_ns;
	series.stretches = 0;
}

void lc_live_series_collected(uint64_t heap_bytes, bool old)
{
	series.collected++;
	series.collections++;
	series.old += old;
	series.old_collections += old;
	series.heap_bytes = heap_bytes;
}

uint64_t lc_live_series_collections(void)
{
	return series.collections;
}

/* The sums are a point of the series. */
static void note_point(uint64_t now_ns)
{
	if (series.stretch_has_pass && now_ns - series.begin_ns >= series.stretch_ns)
		end_stretch();
	if (!series.stretch_has_pass)
		series.begin_ns = now_ns;
	series.stretch_has_pass = true;
	note_least();
}

/*
 * A pass that was asked for is no point without a collection: the last one comes when the program
 * has ended, maybe for long. That would look like the end of growth.
 */
void lc_live_series_look(struct lc_map *m, uint64_t now_ns, bool now)
{
	const bool due =
	    series.collected ? now_ns >= series.next_ns : now_ns >= series.next_ns + QUIET_NS;
	uint64_t begin;

	if (!due && !now)
		return;
	begin = cpu_ns();
	read_sums(m);
	if (!now || series.collected || (!series.stretches && !series.stretch_has_pass))
		note_point(now_ns);
	if (now) {
		write_now(now_ns);
		write_ages(m, now_ns);
	}
	begin = cpu_ns() - begin;
	series.passes++;
	series.pass_ns += begin;
	series.next_ns = now_ns + begin * IDLE_FACTOR;
}

static double bytes_held(const struct site *s)
{
	return bytes_of(&s->now);
}

static double bytes_grown(const struct site *s)
{
	return bytes_of(&s->now) - s->before;
}

/* Put the sites with the largest numbers into `sites`, largest first. Returns how many. */
static size_t largest(double (*number)(const struct site *), lc_live_series_wants *wants,
                      const void *context, uint32_t *sites, size_t max)
{
	size_t len = 0;

	for (size_t i = 0; i < series.len; i++) {
		const struct site *s = &series.sites[i];
		size_t at = len;

		while (at && number(&series.sites[series.rows[sites[at - 1]] - 1]) < number(s))
			at--;
		if (at == max || !any(&s->now) || !wants(context, s->number))
			continue;
		len += len < max;
		memmove(&sites[at + 1], &sites[at], (len - 1 - at) * sizeof(*sites));
		sites[at] = s->number;
	}
	return len;
}

static size_t add_site(uint32_t *sites, size_t len, size_t max, uint32_t site)
{
	for (size_t i = 0; i < len; i++)
		if (sites[i] == site)
			return len;
	if (len < max)
		sites[len++] = site;
	return len;
}

size_t lc_live_series_most(lc_live_series_wants *wants, const void *context, uint32_t *sites,
                           size_t max)
{
	uint32_t grown[LC_LIVE_SERIES_MOST], held[LC_LIVE_SERIES_MOST];
	const size_t limit = max < LC_LIVE_SERIES_MOST ? max : LC_LIVE_SERIES_MOST;
	const size_t by_growth = largest(bytes_grown, wants, context, grown, limit);
	const size_t by_bytes = largest(bytes_held, wants, context, held, limit);
	size_t len = 0;

	for (size_t i = 0; i < limit; i++) {
		if (i < by_growth)
			len = add_site(sites, len, limit, grown[i]);
		if (i < by_bytes)
			len = add_site(sites, len, limit, held[i]);
	}
	return len;
}

void lc_live_series_end(void)
{
	if (series.stretch_has_pass)
		end_stretch();
}

void lc_live_series_young(const struct lc_nursery_run *runs, size_t len, uint16_t epoch_tag,
                          uint64_t now_ns)
{
	bool young = true;

	clear_now();
	for (size_t i = 0; i < len; i++)
		for (size_t k = 0; k < runs[i].len; k++) {
			const struct lc_alloc *a = &runs[i].records[k];

			if (a->site && lc_alloc_epoch_tag(a) == epoch_tag)
				add(a->site, 1, (uint64_t)a->size_words * 8);
		}
	lc_estimate_live(add_sampled, &young);
	for (size_t i = 0; i < series.len; i++)
		if (any(&series.sites[i].now))
			push(row_of(&series.sites[i].now, series.sites[i].number), LC_LIVE_YOUNG,
			     now_ns);
}

void lc_live_series_take(struct lc_thread *t)
{
	const struct lc_block_live *rows = series.pending.data;
	const struct lc_block_age *ages = series.ages.data;
	size_t taken = 0;

	while (taken < series.pending.len && !lc_tally_live(t->tally, &rows[taken]))
		taken++;
	lc_vector_drop(&series.pending, taken);
	taken = 0;
	while (taken < series.ages.len && !lc_tally_age(t->tally, &ages[taken]))
		taken++;
	lc_vector_drop(&series.ages, taken);
}

void lc_live_series_again(uint64_t now_ns)
{
	for (size_t i = 0; i < series.len; i++) {
		series.sites[i].written = (struct lc_block_live){ 0 };
		series.sites[i].before = series.sites[i].middle = bytes_held(&series.sites[i]);
	}
	lc_live_series_begin(now_ns);
}

static const struct lc_counter counters[] = {
	LC_COUNTER("live_passes", &series.passes),
	LC_COUNTER("live_us", &series.pass_ns, .unit = 1000), /* CPU time of passes */
	LC_COUNTER("live_rows", &series.rows_written),
	LC_COUNTER("live_lost", &series.lost, .limit = "live_lost",
	           .text = "there was no memory to note what stays after collections: "
	                   "--view=live lacks lines"),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
