/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/contents.c - chooses arrays, looks at them, and adds up what was seen by site.
 *
 * The lock of the thread list guards all of it: the pause holds it, and so does the attribution
 * thread while it takes the rows.
 */
#include "src/attribute/contents.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/base/time.h"
#include "src/core/area.h"
#include "src/core/counters.h"
#include "src/core/own_cost.h"
#include "src/core/record.h"
#include "src/core/thread.h"
#include "src/format/rows.h"
#include "src/heap/estimate.h"
#include "src/jvm/layout/array.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/os/peek.h"
#include "src/profile/tally.h"

enum {
	LEAST_WORDS = 4,    /* of an array: 32 bytes */
	CHOSEN_MAX = 48,    /* new arrays in a pause */
	LIVE_MAX = 16,      /* live ones of other records */
	PROBES_AIM = 64,    /* records whose arrays may live; the header tells */
	CHOSEN_AIM = 32,    /* the interval is for so many */
	HELD_MAX = 256,     /* arrays that are followed until they die */
	SITES_MAX = 512,    /* with arrays looked at since the rows were taken; a power of two */
	SEEN_BITS = 12,     /* of the table of hashes */
	LIVE_PART = 4,      /* live arrays get such a part of a pause's bytes */
	SURVIVORS_PART = 8, /* ... of which sampled ones get this part */
	COST_FACTOR = 1000, /* passes may use so small a part of the CPU time */
	INTERVAL_FIRST = 1 << 20,
};

enum { MARK_FORWARDED = 3, MARK_STATE = 3, MARK_LOW = 7 };

struct chosen {
	uint64_t addr;
	uint32_t words, site;
	uint32_t element_bytes; /* of a held one */
};

struct seen {
	uint64_t hash; /* 0: none */
	uint32_t site; /* of the first array with it */
};

static struct {
	struct lc_block_content *sites; /* SITES_MAX, by a hash of the site; site 0: none */
	struct seen *seen;
	uint64_t salt, random;

	struct chosen held[HELD_MAX];
	size_t held_len;

	/* The running pass. */
	struct lc_contents_pause pause;
	struct chosen chosen[CHOSEN_MAX], live[LIVE_MAX];
	size_t chosen_len, live_len;
	/*
	 * Records from one probe to the next, and bytes from one chosen array to the next: on
	 * average, and to go. They vary, since programs make and keep objects at regular intervals.
	 */
	uint64_t every, records_left;
	uint64_t records;
	uint64_t interval, left;
	uint64_t bytes;           /* of the records that can be chosen */
	uint64_t looked_in_pause; /* bytes */
	uint64_t begin_ns;
	uint64_t next_ns; /* there is no time for a pass before */
	unsigned peek_before;

	_Atomic uint64_t pass_ns, looked_bytes, arrays, over_budget, lost, forgotten;
} contents;

int lc_contents_open(void)
{
	if (contents.sites)
		return 0;
	contents.seen = calloc((size_t)1 << SEEN_BITS, sizeof(*contents.seen));
	contents.sites = contents.seen ? calloc(SITES_MAX, sizeof(*contents.sites)) : NULL;
	if (!contents.sites) {
		free(contents.seen);
		contents.seen = NULL;
		return -ENOMEM;
	}
	contents.salt = contents.random = lc_hash_add(lc_time_now_ns(), (uintptr_t)contents.seen);
	contents.interval = INTERVAL_FIRST;
	contents.every = PROBES_AIM;
	return 0;
}

bool lc_contents_on(void)
{
	return contents.sites;
}

static uint64_t random_below(uint64_t n)
{
	contents.random = lc_hash_add(contents.random, n);
	return (contents.random >> 32) % n;
}

/* ---- sums ---- */

/* The site's row, or NULL where there is no room. */
static struct lc_block_content *row_of(uint32_t site)
{
	size_t at = lc_hash(site) >> 32;

	for (size_t i = 0; i < SITES_MAX; i++, at++) {
		struct lc_block_content *row = &contents.sites[at % SITES_MAX];

		if (row->site == site || !row->site) {
			row->site = site;
			return row;
		}
	}
	lc_count(&contents.lost);
	return NULL;
}

static void add_dead(struct lc_block_content *row, uint64_t bytes, uint64_t used)
{
	row->dead++;
	if (!used) {
		row->zero++;
		return;
	}
	row->bytes += bytes;
	row->used_bytes += used;
	if (used * 64 <= bytes)
		row->to_64th++;
	else if (used * 16 <= bytes)
		row->to_16th++;
	else if (used * 8 <= bytes)
		row->to_8th++;
	else if (used * 4 <= bytes)
		row->to_4th++;
	else
		row->to_half += used * 2 <= bytes;
}

/* An array with nothing but zeros has not been written yet: it is equal to many, and is left out.
 */
static void add_live(struct lc_block_content *row, const struct lc_array_use *use)
{
	struct seen *s = &contents.seen[use->hash >> (64 - SEEN_BITS)];

	if (!use->whole || !use->used_bytes)
		return;
	row->outlived++;
	if (s->hash != use->hash)
		*s = (struct seen){ use->hash, row->site };
	else if (s->site == row->site)
		row->same++;
	else
		row->other++;
}

/* ---- arrays ---- */

/* Look at the array, unless the pause has no bytes left. */
static void look(const struct chosen *c, const struct lc_array *a, bool live)
{
	struct lc_block_content *row;
	struct lc_array_use use;

	if (contents.looked_in_pause + LC_ARRAY_WHOLE_BYTES > LC_CONTENTS_PAUSE_BYTES ||
	    (live && a->bytes > LC_ARRAY_WHOLE_BYTES) ||
	    (live && contents.looked_in_pause > LC_CONTENTS_PAUSE_BYTES / LIVE_PART))
		return;
	if (!lc_array_look(a, live, contents.salt, &use))
		return;
	contents.looked_in_pause += use.looked_bytes;
	row = row_of(c->site);
	if (!row)
		return;
	lc_count(&contents.arrays);
	if (live)
		add_live(row, &use);
	else
		add_dead(row, a->bytes, use.used_bytes);
}

static const struct lc_area *area_of(uint64_t addr)
{
	const struct lc_contents_pause *p = &contents.pause;
	const size_t i = lc_area_find(p->areas, p->areas_len, addr);
	const struct lc_area *a = &p->areas[i];

	if (i == p->areas_len || a->kind == LC_AREA_FREE)
		return NULL;
	if (a->kind == LC_AREA_HUMONGOUS)
		return addr == a->bottom ? a : NULL;
	return addr < a->top ? a : NULL;
}

/* The address to which the collection has copied the object; 0: none. */
static uint64_t forwarded(uint64_t addr)
{
	uint64_t mark, to;

	if (!lc_peek(addr, &mark, sizeof(mark)) || (mark & MARK_STATE) != MARK_FORWARDED)
		return 0;
	to = mark & ~(uint64_t)MARK_LOW;
	return to != addr && area_of(to) ? to : 0;
}

static bool array_at(const struct chosen *c, uint64_t addr, struct lc_array *out)
{
	return lc_array_at(lc_layout(), addr, (uint64_t)c->words * 8, out) &&
	       (!c->element_bytes || c->element_bytes == out->element_bytes);
}

static void hold(struct chosen c, const struct lc_array *a, uint64_t addr)
{
	const size_t at =
	    contents.held_len < HELD_MAX ? contents.held_len++ : random_below(HELD_MAX);

	c.addr = addr;
	c.element_bytes = a->element_bytes;
	contents.held[at] = c;
}

/* Look at an array that was allocated since the last collection. */
static void look_at_new(const struct chosen *c)
{
	const struct lc_area *area = area_of(c->addr);
	struct lc_array a;
	uint64_t to;

	if (area) {
		/* The header does not tell which objects live in an area that keeps its objects. */
		if (area->kind == LC_AREA_HUMONGOUS && array_at(c, c->addr, &a))
			hold(*c, &a, c->addr);
		return;
	}
	to = forwarded(c->addr);
	if (!array_at(c, to ? to : c->addr, &a))
		return;
	look(c, &a, to != 0);
	if (to)
		hold(*c, &a, to);
}

/* Compare a sampled array that the collection was the first to leave. */
static void look_at_survivor(const struct lc_estimate_survivor *s)
{
	const struct chosen c = { .words = (uint32_t)(s->size_bytes / 8), .site = s->site };
	struct lc_array a;

	if (c.site && c.words >= LEAST_WORDS && s->size_bytes <= 2 * LC_ARRAY_WHOLE_BYTES &&
	    area_of(s->address) && array_at(&c, s->address, &a) &&
	    contents.looked_in_pause <= LC_CONTENTS_PAUSE_BYTES / SURVIVORS_PART)
		look(&c, &a, true);
}

/* Returns whether the array is alive, and is held on. */
static bool look_at_held(struct chosen *c)
{
	const struct lc_area *area = area_of(c->addr);
	struct lc_array a;
	uint64_t to = 0;

	if (area)
		return (!contents.pause.collected || area->kind == LC_AREA_OLD ||
		        area->kind == LC_AREA_HUMONGOUS) &&
		       array_at(c, c->addr, &a);
	if (contents.pause.collected)
		to = forwarded(c->addr);
	if (!array_at(c, to ? to : c->addr, &a))
		return false;
	if (to)
		c->addr = to;
	else
		look(c, &a, false);
	return to != 0;
}

/* ---- passes ---- */

static void forget(void)
{
	atomic_fetch_add_explicit(&contents.forgotten, contents.held_len, memory_order_relaxed);
	contents.held_len = 0;
}

/*
 * Have passes used less than their share of the CPU time? To read the process's clock takes some
 * microseconds, so it is not read again before a quarter of the missing time has passed.
 */
static bool has_time(void)
{
	const uint64_t now = lc_time_now_ns();
	const uint64_t want =
	    atomic_load_explicit(&contents.pass_ns, memory_order_relaxed) * COST_FACTOR;
	uint64_t have;

	if (now < contents.next_ns)
		return false;
	have = lc_own_cost_process();
	if (want <= have)
		return true;
	contents.next_ns = now + (want - have) / 4;
	return false;
}

bool lc_contents_begin(const struct lc_contents_pause *pause)
{
	if (!contents.sites)
		return false;
	if (pause->slid) {
		forget();
		return false;
	}
	if (!has_time()) {
		lc_count(&contents.over_budget);
		forget();
		return false;
	}
	contents.begin_ns = lc_own_cost_clock();
	contents.pause = *pause;
	contents.chosen_len = contents.live_len = 0;
	contents.records = 0;
	contents.records_left = random_below(2 * contents.every);
	contents.peek_before = lc_peek_begin(NULL);
	contents.looked_in_pause = contents.bytes = 0;
	contents.left = random_below(2 * contents.interval);
	return true;
}

/* Some objects have two records. */
static bool is_chosen(uint64_t addr)
{
	for (size_t i = 0; i < contents.chosen_len; i++)
		if (contents.chosen[i].addr == addr)
			return true;
	for (size_t i = 0; i < contents.live_len; i++)
		if (contents.live[i].addr == addr)
			return true;
	return false;
}

static struct chosen chosen_of(const struct lc_alloc *a)
{
	return (struct chosen){ .addr = lc_alloc_addr(a), .words = a->size_words, .site = a->site };
}

/* Few arrays live, and they may be few of the bytes: look for some among all records. */
static void probe(const struct lc_alloc *a)
{
	contents.records++;
	if (contents.records_left--)
		return;
	contents.records_left = random_below(2 * contents.every);
	if (contents.live_len < LIVE_MAX && !is_chosen(lc_alloc_addr(a)) &&
	    forwarded(lc_alloc_addr(a)))
		contents.live[contents.live_len++] = chosen_of(a);
}

void lc_contents_choose(const struct lc_alloc *records, size_t len)
{
	for (size_t i = 0; contents.pause.collected && i < len; i++) {
		const struct lc_alloc *a = &records[i];
		const uint64_t bytes = (uint64_t)a->size_words * 8;

		if (a->size_words < LEAST_WORDS || !a->site ||
		    lc_alloc_epoch_tag(a) != contents.pause.tag)
			continue;
		probe(a);
		contents.bytes += bytes;
		if (bytes <= contents.left) {
			contents.left -= bytes;
			continue;
		}
		contents.left = random_below(2 * contents.interval);
		if (contents.chosen_len < CHOSEN_MAX && !is_chosen(lc_alloc_addr(a)))
			contents.chosen[contents.chosen_len++] = chosen_of(a);
	}
}

/* In any order: the bytes may not suffice for all. */
static void shuffle(void)
{
	for (size_t i = contents.chosen_len; i > 1; i--) {
		const size_t k = random_below(i);
		const struct chosen c = contents.chosen[k];

		contents.chosen[k] = contents.chosen[i - 1];
		contents.chosen[i - 1] = c;
	}
}

void lc_contents_end(void)
{
	size_t kept = 0;

	for (size_t i = 0; i < contents.held_len; i++)
		if (look_at_held(&contents.held[i]))
			contents.held[kept++] = contents.held[i];
	contents.held_len = kept;
	for (size_t i = 0; i < contents.pause.survivors_len; i++)
		look_at_survivor(&contents.pause.survivors[i]);
	for (size_t i = 0; i < contents.live_len; i++)
		look_at_new(&contents.live[i]);
	shuffle();
	for (size_t i = 0; i < contents.chosen_len; i++)
		look_at_new(&contents.chosen[i]);
	if (contents.pause.collected) {
		contents.interval = contents.bytes / CHOSEN_AIM + 1;
		contents.every = contents.records / PROBES_AIM + 1;
	}
	lc_peek_end(contents.peek_before);
	atomic_fetch_add_explicit(&contents.looked_bytes, contents.looked_in_pause,
	                          memory_order_relaxed);
	atomic_fetch_add_explicit(&contents.pass_ns, lc_own_cost_clock() - contents.begin_ns,
	                          memory_order_relaxed);
}

void lc_contents_take(struct lc_thread *t)
{
	if (!contents.sites)
		return;
	lc_threads_lock();
	for (size_t i = 0; i < SITES_MAX; i++) {
		struct lc_block_content *row = &contents.sites[i];

		if (row->site && lc_tally_content(t->tally, row))
			lc_count(&contents.lost);
		*row = (struct lc_block_content){ 0 };
	}
	lc_threads_unlock();
}

static const struct lc_counter counters[] = {
	LC_COUNTER("contents_us", &contents.pass_ns, .unit = 1000), /* CPU time of passes */
	LC_COUNTER("contents_bytes", &contents.looked_bytes),       /* of elements, read in all */
	LC_COUNTER("contents_arrays", &contents.arrays),            /* looked at */
	/* Pauses without a pass, since passes have used their share of the CPU time. */
	LC_COUNTER("contents_paused", &contents.over_budget),
	LC_COUNTER("contents_forgotten", &contents.forgotten), /* held, and not looked at */
	LC_COUNTER("contents_lost", &contents.lost),           /* sites or rows without room */
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
