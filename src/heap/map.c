/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/map.c - answers what lies at an address, from survivors (map_store.c) and records that are
 * kept since their objects stayed in eden.
 *
 * Kept records are sorted only when somebody asks for one by address (audits, and the rare header
 * check), not by what runs in every epoch.
 */
#include "src/heap/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/vector.h"
#include "src/heap/map_impl.h"

int lc_map_create(struct lc_map **out)
{
	struct lc_map *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	*out = m;
	return 0;
}

void lc_map_destroy(struct lc_map *m)
{
	if (!m)
		return;
	lc_map_clear(m);
	free(m->kept);
	free(m->areas);
	free(m->doubts);
	free(m->copied);
	free(m->copied_rows);
	free(m->fresh);
	free(m);
}

void lc_map_clear(struct lc_map *m)
{
	lc_map_store_clear(m);
	m->kept_len = 0;
	m->kept_forgotten = 0;
	m->kept_sorted = true;
	m->areas_len = 0;
	m->doubts_len = 0;
	m->fresh_len = 0;
}

void lc_map_grid_reset(struct lc_map_grid *g, uint64_t low, uint64_t high)
{
	g->low = low;
	g->shift = 12;
	while ((high - low) >> g->shift >= LC_MAP_GRID_BITS - 1)
		g->shift++;
	g->granules = high > low ? ((high - 1 - low) >> g->shift) + 1 : 0;
	memset(g->words, 0, (g->granules / 64 + 1) * sizeof(g->words[0]));
}

void lc_map_grid_add(struct lc_map_grid *g, uint64_t low, uint64_t high)
{
	uint64_t end = g->low + (g->granules << g->shift);
	uint64_t i, last;

	if (low < g->low)
		low = g->low;
	if (high > end)
		high = end;
	if (low >= high)
		return;
	i = (low - g->low) >> g->shift;
	last = (high - 1 - g->low) >> g->shift;
	while (i <= last) {
		if (!(i % 64) && i + 63 <= last) {
			g->words[i / 64] = ~UINT64_C(0);
			i += 64;
		} else {
			g->words[i / 64] |= UINT64_C(1) << (i % 64);
			i++;
		}
	}
}

bool lc_map_grid_meets(const struct lc_map_grid *g, uint64_t low, uint64_t high)
{
	uint64_t end = g->low + (g->granules << g->shift);

	if (low < g->low)
		low = g->low;
	if (high > end)
		high = end;
	if (low >= high)
		return false;
	for (uint64_t i = (low - g->low) >> g->shift; i <= (high - 1 - g->low) >> g->shift; i++) {
		if (g->words[i / 64] >> (i % 64) & 1)
			return true;
	}
	return false;
}

/* Make room for the row of a site that has none. Returns its row, or NULL without memory. */
static struct lc_map_copied *add_copied(struct lc_map *m, uint32_t site)
{
	const size_t cap = m->copied_rows_cap;
	struct lc_map_copied *copied =
	    lc_vector_reserve_array(m->copied, &m->copied_cap, m->copied_len + 1, sizeof(*copied));
	uint32_t *rows;

	if (!copied)
		return NULL;
	m->copied = copied;
	rows = lc_vector_reserve_array(m->copied_rows, &m->copied_rows_cap, (size_t)site + 1,
	                               sizeof(*rows));
	if (!rows)
		return NULL;
	m->copied_rows = rows;
	memset(rows + cap, 0, (m->copied_rows_cap - cap) * sizeof(*rows));
	copied[m->copied_len++] = (struct lc_map_copied){ .site = site };
	rows[site] = (uint32_t)m->copied_len;
	return &copied[m->copied_len - 1];
}

struct lc_map_copied *lc_map_copied_of(struct lc_map *m, uint32_t site)
{
	struct lc_map_copied *c;

	if (site < m->copied_rows_cap && m->copied_rows[site])
		return &m->copied[m->copied_rows[site] - 1];
	c = add_copied(m, site);
	if (!c)
		m->copied_lost++;
	return c;
}

const struct lc_map_copied *lc_map_copied(const struct lc_map *m)
{
	return m->copied_len ? &m->copied[m->copied_len - 1] : NULL;
}

void lc_map_copied_taken(struct lc_map *m)
{
	m->copied_rows[m->copied[--m->copied_len].site] = 0;
}

uint64_t lc_map_copied_lost(const struct lc_map *m)
{
	return m->copied_lost;
}

uint32_t lc_map_closes(const struct lc_map *m)
{
	return m->closes;
}

uint32_t lc_map_old_closes(const struct lc_map *m)
{
	return m->old_closes;
}

uint64_t lc_map_dropped(const struct lc_map *m)
{
	return m->dropped;
}

/* A kept record with its age, for sorting. */
struct dated {
	struct lc_alloc record;
	size_t index;
};

static int by_address_then_time(const void *a, const void *b)
{
	const struct dated *x = a, *y = b;
	uint64_t ax = lc_alloc_addr(&x->record), ay = lc_alloc_addr(&y->record);

	if (ax != ay)
		return ax < ay ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

void lc_map_sort_kept(struct lc_map *m)
{
	struct dated *d;
	size_t out = 0;

	if (m->kept_sorted || !m->kept_len)
		return;
	d = malloc(m->kept_len * sizeof(*d));
	if (!d) {
		m->kept_len = 0; /* to know nothing is better than to know something wrong */
		return;
	}
	for (size_t i = 0; i < m->kept_len; i++)
		d[i] = (struct dated){ m->kept[i], i };
	qsort(d, m->kept_len, sizeof(*d), by_address_then_time);
	for (size_t i = 0; i < m->kept_len; i++) {
		bool dead = !d[i].record.site;

		while (!dead && out &&
		       lc_alloc_addr(&d[out - 1].record) +
		               (uint64_t)d[out - 1].record.size_words * 8 >
		           lc_alloc_addr(&d[i].record)) {
			if (d[out - 1].index > d[i].index)
				dead = true;
			else
				out--;
		}
		if (!dead)
			d[out++] = d[i];
	}
	for (size_t i = 0; i < out; i++)
		m->kept[i] = d[i].record;
	m->kept_len = out;
	m->kept_forgotten = 0;
	m->kept_sorted = true;
	free(d);
}

int lc_map_adopt(struct lc_map *m, uint64_t addr, uint32_t size_words, uint32_t site)
{
	const uint64_t end = addr + (uint64_t)size_words * 8;
	uint64_t at;
	const struct lc_map_entry *e = lc_map_at_or_below(m, end - 1, &at);

	if (e && at + (uint64_t)e->size_words * 8 > addr)
		return 0;
	return lc_map_put(m, addr,
	                  (struct lc_map_entry){ .size_words = size_words,
	                                         .site = site,
	                                         .birth_in = m->closes << LC_MAP_BIRTH })
	           ? -ENOMEM
	           : 1;
}

void lc_map_set_site(struct lc_map *m, uint64_t addr, uint32_t site)
{
	struct lc_map_entry *e = lc_map_at(m, addr);

	if (e)
		lc_map_entry_site(m, e, site);
}

/* Sort the kept records; return the index of the first one above `addr`. */
static size_t kept_above(struct lc_map *m, uint64_t addr)
{
	size_t low = 0, high;

	lc_map_sort_kept(m);
	high = m->kept_len;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (lc_alloc_addr(&m->kept[mid]) <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct lc_object kept_object(const struct lc_map *m, const struct lc_alloc *a)
{
	return (struct lc_object){ .addr = lc_alloc_addr(a),
		                   .size_bytes = (uint64_t)a->size_words * 8,
		                   .site = a->site,
		                   .epochs = lc_map_kept_epochs(m, a) };
}

bool lc_map_find(struct lc_map *m, uint64_t addr, struct lc_object *out)
{
	const struct lc_map_entry *e;
	uint64_t at;
	size_t i;

	e = lc_map_at_or_below(m, addr, &at);
	if (e && addr - at < (uint64_t)e->size_words * 8) {
		*out = lc_map_object(m, at, e);
		return true;
	}
	i = kept_above(m, addr);
	while (i && !m->kept[i - 1].site)
		i--;
	if (!i || addr - lc_alloc_addr(&m->kept[i - 1]) >= (uint64_t)m->kept[i - 1].size_words * 8)
		return false;
	*out = kept_object(m, &m->kept[i - 1]);
	return true;
}

void lc_map_forget(struct lc_map *m, uint64_t addr)
{
	size_t i;

	if (lc_map_at(m, addr)) {
		lc_map_remove(m, addr);
		return;
	}
	i = kept_above(m, addr);
	if (i && lc_alloc_addr(&m->kept[i - 1]) == addr && m->kept[i - 1].site) {
		m->kept[i - 1].site = 0;
		m->kept_forgotten++;
	}
}

size_t lc_map_check(struct lc_map *m, lc_map_header_fn *header, void *user, size_t max)
{
	size_t i = 0, out = 0;

	for (; i < m->doubts_len && max; i++) {
		uint64_t addr = m->doubts[i];
		struct lc_map_entry *e = lc_map_at(m, addr);
		struct lc_object object;
		enum lc_map_header answer;

		if (!e || !(e->birth_in & LC_MAP_DOUBT))
			continue;
		object = lc_map_object(m, addr, e);
		answer = header(user, &object);
		if (answer == LC_MAP_HEADER_LATER)
			break;
		max--;
		if (answer == LC_MAP_HEADER_OTHER)
			lc_map_remove(m, addr);
		else
			e->birth_in &= ~(uint32_t)LC_MAP_DOUBT;
	}
	for (; i < m->doubts_len; i++)
		m->doubts[out++] = m->doubts[i];
	m->doubts_len = out;
	return out;
}

void lc_map_prune_doubts(struct lc_map *m)
{
	size_t out = 0;

	if (m->doubts_len < 4096 || m->doubts_len / 2 < m->count)
		return;
	for (size_t i = 0; i < m->doubts_len; i++) {
		const struct lc_map_entry *e = lc_map_at(m, m->doubts[i]);

		if (e && e->birth_in & LC_MAP_DOUBT)
			m->doubts[out++] = m->doubts[i];
	}
	m->doubts_len = out;
}

int lc_map_keep_layout(struct lc_map *m, const struct lc_area *areas, size_t len)
{
	struct lc_area *a = realloc(m->areas, (len + 1) * sizeof(*a));

	if (!a)
		return -ENOMEM;
	if (len)
		memcpy(a, areas, len * sizeof(*a));
	m->areas = a;
	m->areas_len = len;
	return 0;
}

size_t lc_map_count(const struct lc_map *m)
{
	return m->count + m->kept_len - m->kept_forgotten;
}

uint64_t lc_map_bytes(const struct lc_map *m)
{
	return sizeof(*m) + JudyLMemUsed(m->judy) + m->store_bytes +
	       m->kept_cap * sizeof(m->kept[0]) + m->areas_len * sizeof(m->areas[0]) +
	       m->live_cap * sizeof(m->live[0]) + m->doubts_cap * sizeof(m->doubts[0]) +
	       m->copied_cap * sizeof(m->copied[0]) +
	       m->copied_rows_cap * sizeof(m->copied_rows[0]) + m->fresh_cap * sizeof(m->fresh[0]);
}

bool lc_map_next(struct lc_map *m, uint64_t *addr, struct lc_object *out)
{
	uint64_t at = 0;
	const struct lc_map_entry *e = lc_map_at_or_above(m, *addr, &at);
	size_t i = *addr ? kept_above(m, *addr - 1) : kept_above(m, 0);

	while (i < m->kept_len && !m->kept[i].site)
		i++;
	if (i < m->kept_len && (!e || lc_alloc_addr(&m->kept[i]) < at))
		*out = kept_object(m, &m->kept[i]);
	else if (e)
		*out = lc_map_object(m, at, e);
	else
		return false;
	*addr = out->addr + 1;
	return true;
}
