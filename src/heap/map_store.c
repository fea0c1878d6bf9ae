/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/map_store.c - keeps the survivors by address: a JudyL of pages, each a sorted array.
 *
 * Programs allocate and collectors copy upwards, so an object mostly goes behind the last one of a
 * page that was asked for just before, and costs no step of the JudyL. An object takes 14 bytes,
 * and as many again where its page is half full.
 *
 * Invariants: a page has the objects that begin in its bytes of the heap, at least one of them. The
 * sums by site are those of all pages.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/vector.h"
#include "src/heap/map_impl.h"

enum { PAGE_SHIFT = 14, CAP_MAX = 1 << (PAGE_SHIFT - 3) };

/* One block of memory; `ats`, of as many elements, lie behind the entries. */
struct lc_map_page {
	uint16_t len, cap;
	struct lc_map_entry entries[];
};

/* ---- sums by site ---- */

/* Make room for the site's sums. Returns false without memory. */
static bool has_sums(struct lc_map *m, uint32_t site)
{
	const size_t cap = m->live_cap;
	struct lc_map_live *live;

	if (site < cap)
		return true;
	live = lc_vector_reserve_array(m->live, &m->live_cap, (size_t)site + 1, sizeof(*live));
	if (!live)
		return false;
	memset(live + cap, 0, (m->live_cap - cap) * sizeof(*live));
	m->live = live;
	return true;
}

/* The site has sums. */
static void sum_add(struct lc_map *m, const struct lc_map_entry *e)
{
	m->live[e->site].objects++;
	m->live[e->site].bytes += (uint64_t)e->size_words * 8;
}

static void sum_take(struct lc_map *m, const struct lc_map_entry *e)
{
	m->live[e->site].objects--;
	m->live[e->site].bytes -= (uint64_t)e->size_words * 8;
}

void lc_map_entry_site(struct lc_map *m, struct lc_map_entry *e, uint32_t site)
{
	if (!has_sums(m, site))
		return;
	sum_take(m, e);
	e->site = site;
	sum_add(m, e);
}

const struct lc_map_live *lc_map_live(const struct lc_map *m, size_t *len)
{
	*len = m->live_cap;
	return m->live;
}

/* ---- pages ---- */

static uint64_t key_of(uint64_t addr)
{
	return addr >> PAGE_SHIFT;
}

/* Offset of an object in its page, in words. */
static uint16_t at_of(uint64_t addr)
{
	return (uint16_t)(addr >> 3 & (CAP_MAX - 1));
}

static uint64_t addr_of(uint64_t key, uint16_t at)
{
	return key << PAGE_SHIFT | (uint64_t)at << 3;
}

static uint16_t *ats_of(struct lc_map_page *p)
{
	return (uint16_t *)&p->entries[p->cap];
}

static size_t page_bytes(size_t cap)
{
	return sizeof(struct lc_map_page) + cap * (sizeof(struct lc_map_entry) + sizeof(uint16_t));
}

static struct lc_map_cached *cached(struct lc_map *m, uint64_t key)
{
	return &m->cached[key & (LC_MAP_CACHED - 1)];
}

/* NULL: there is none. */
static struct lc_map_page *page_at(struct lc_map *m, uint64_t key)
{
	struct lc_map_cached *c = cached(m, key);
	void **v;

	if (c->page && c->key == key)
		return c->page;
	v = JudyLGet(m->judy, key, PJE0);
	if (!v || !*v)
		return NULL;
	*c = (struct lc_map_cached){ key, *v };
	return *v;
}

/* The number of the first object of the page that begins at or behind `at`. */
static size_t find_in(struct lc_map_page *p, uint16_t at)
{
	const uint16_t *ats = ats_of(p);
	size_t low = 0, high = p->len;

	if (at > ats[high - 1])
		return high;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (ats[middle] < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

typedef void **step_fn(Pcvoid_t judy, Word_t *key, PJError_t error);

/* The next page from *key on, which becomes its key: by JudyLNext() above, by JudyLPrev() below. */
static struct lc_map_page *page_beyond(struct lc_map *m, Word_t *key, step_fn *step)
{
	void **v;

	do {
		v = step(m->judy, key, PJE0);
	} while (v && !*v);
	return v ? *v : NULL;
}

struct lc_map_entry *lc_map_at_or_above(struct lc_map *m, uint64_t addr, uint64_t *found)
{
	const uint64_t word = (addr + 7) & ~UINT64_C(7);
	Word_t key = key_of(word);
	struct lc_map_page *p = page_at(m, key);
	size_t i = p ? find_in(p, at_of(word)) : 0;

	if (!p || i == p->len) {
		p = page_beyond(m, &key, JudyLNext);
		if (!p)
			return NULL;
		i = 0;
	}
	*found = addr_of(key, ats_of(p)[i]);
	return &p->entries[i];
}

struct lc_map_entry *lc_map_at_or_below(struct lc_map *m, uint64_t addr, uint64_t *found)
{
	Word_t key = key_of(addr);
	struct lc_map_page *p = page_at(m, key);
	const uint16_t at = at_of(addr);
	size_t i = p ? find_in(p, at) : 0;

	if (p && i < p->len && ats_of(p)[i] == at)
		i++;
	if (!i) {
		p = page_beyond(m, &key, JudyLPrev);
		if (!p)
			return NULL;
		i = p->len;
	}
	*found = addr_of(key, ats_of(p)[i - 1]);
	return &p->entries[i - 1];
}

struct lc_map_entry *lc_map_at(struct lc_map *m, uint64_t addr)
{
	struct lc_map_page *p = page_at(m, key_of(addr));
	size_t i;

	if (!p || addr & 7)
		return NULL;
	i = find_in(p, at_of(addr));
	return i < p->len && ats_of(p)[i] == at_of(addr) ? &p->entries[i] : NULL;
}

/* A page of that capacity with what is in `p`, which is freed; NULL is an empty one. */
static struct lc_map_page *resize(struct lc_map *m, struct lc_map_page *p, size_t cap)
{
	struct lc_map_page *new = malloc(page_bytes(cap));

	if (!new)
		return NULL;
	new->len = 0;
	new->cap = (uint16_t)cap;
	m->store_bytes += page_bytes(cap);
	if (!p)
		return new;
	new->len = p->len;
	memcpy(new->entries, p->entries, p->len * sizeof(p->entries[0]));
	memcpy(ats_of(new), ats_of(p), p->len * sizeof(uint16_t));
	m->store_bytes -= page_bytes(p->cap);
	free(p);
	return new;
}

/* The page, with room for one more object; NULL without memory. */
static struct lc_map_page *page_with_room(struct lc_map *m, uint64_t key)
{
	struct lc_map_page *p = page_at(m, key), *new;
	void **v;

	if (p && p->len < p->cap)
		return p;
	v = p ? JudyLGet(m->judy, key, PJE0) : JudyLIns(&m->judy, key, PJE0);
	if (!v || v == PPJERR)
		return NULL;
	new = resize(m, p, p ? (size_t)p->cap * 2 : 2);
	if (!new) {
		if (!p) /* without memory for that, too, the key leads to no page */
			(void)JudyLDel(&m->judy, key, PJE0);
		return NULL;
	}
	*v = new;
	*cached(m, key) = (struct lc_map_cached){ key, new };
	return new;
}

int lc_map_put(struct lc_map *m, uint64_t addr, struct lc_map_entry entry)
{
	struct lc_map_page *p = has_sums(m, entry.site) ? page_with_room(m, key_of(addr)) : NULL;
	uint16_t *ats;
	size_t i;

	if (!p)
		return -ENOMEM;
	sum_add(m, &entry);
	ats = ats_of(p);
	i = p->len ? find_in(p, at_of(addr)) : 0;
	memmove(&p->entries[i + 1], &p->entries[i], (p->len - i) * sizeof(p->entries[0]));
	memmove(&ats[i + 1], &ats[i], (p->len - i) * sizeof(ats[0]));
	p->entries[i] = entry;
	ats[i] = at_of(addr);
	p->len++;
	m->count++;
	return 0;
}

/* Take out the objects from number `first` to `end`; the page is gone with the last. */
static void remove_from(struct lc_map *m, uint64_t key, struct lc_map_page *p, size_t first,
                        size_t end)
{
	uint16_t *ats = ats_of(p);
	void **v;

	m->count -= end - first;
	for (size_t i = first; i < end; i++)
		sum_take(m, &p->entries[i]);
	if (end - first < p->len) {
		memmove(&p->entries[first], &p->entries[end],
		        (p->len - end) * sizeof(p->entries[0]));
		memmove(&ats[first], &ats[end], (p->len - end) * sizeof(ats[0]));
		p->len = (uint16_t)(p->len - (end - first));
		return;
	}
	m->store_bytes -= page_bytes(p->cap);
	free(p);
	if (cached(m, key)->key == key)
		cached(m, key)->page = NULL;
	/* Without memory to make the array smaller the key stays in it, and leads to no page. */
	v = JudyLGet(m->judy, key, PJE0);
	*v = NULL;
	(void)JudyLDel(&m->judy, key, PJE0);
}

void lc_map_remove(struct lc_map *m, uint64_t addr)
{
	struct lc_map_page *p = page_at(m, key_of(addr));
	const size_t i = find_in(p, at_of(addr));

	remove_from(m, key_of(addr), p, i, i + 1);
}

void lc_map_remove_range(struct lc_map *m, uint64_t low, uint64_t high)
{
	const struct lc_map_entry *e;
	uint64_t at = 0;

	/* Objects are disjoint: the last that starts below `high` is the one that may reach in. */
	while (low < high && (e = lc_map_at_or_below(m, high - 1, &at)) &&
	       at + (uint64_t)e->size_words * 8 > low)
		lc_map_remove(m, at);
}

/* The number of the first object of the page that the bytes from `low` on, in it, reach into. */
static size_t first_from(struct lc_map_page *p, uint64_t key, uint64_t low)
{
	const size_t i = find_in(p, at_of(low));

	if (!i)
		return 0;
	return i -
	       (addr_of(key, ats_of(p)[i - 1]) + (uint64_t)p->entries[i - 1].size_words * 8 > low);
}

int lc_map_put_over(struct lc_map *m, uint64_t addr, struct lc_map_entry entry)
{
	const uint64_t key = key_of(addr), end = addr + (uint64_t)entry.size_words * 8;
	struct lc_map_page *p = page_at(m, key);
	size_t first, last;

	if (!p || key_of(end - 1) != key || addr_of(key, ats_of(p)[0]) >= addr) {
		/* An object that begins in another page may reach into these bytes. */
		lc_map_remove_range(m, addr, end);
		return lc_map_put(m, addr, entry);
	}
	first = first_from(p, key, addr);
	last = at_of(end) ? find_in(p, at_of(end)) : p->len;
	if (first == last)
		return lc_map_put(m, addr, entry);
	if (!has_sums(m, entry.site))
		return -ENOMEM;
	/* One of them makes room for the new one. */
	sum_take(m, &p->entries[first]);
	sum_add(m, &entry);
	p->entries[first] = entry;
	ats_of(p)[first] = at_of(addr);
	if (last > first + 1)
		remove_from(m, key, p, first + 1, last);
	return 0;
}

void lc_map_each(const struct lc_map *m, lc_map_each_fn *each, void *user)
{
	Word_t key = 0;

	for (void **v = JudyLFirst(m->judy, &key, PJE0); v; v = JudyLNext(m->judy, &key, PJE0)) {
		struct lc_map_page *p = *v; /* NULL: see remove_from() */

		for (size_t i = 0; p && i < p->len; i++) {
			const struct lc_object object =
			    lc_map_object(m, addr_of(key, ats_of(p)[i]), &p->entries[i]);

			each(user, &object);
		}
	}
}

void lc_map_store_clear(struct lc_map *m)
{
	Word_t key = 0;

	for (void **v = JudyLFirst(m->judy, &key, PJE0); v; v = JudyLNext(m->judy, &key, PJE0))
		free(*v);
	JudyLFreeArray(&m->judy, PJE0);
	memset(m->cached, 0, sizeof(m->cached));
	free(m->live);
	m->live = NULL;
	m->live_cap = 0;
	m->count = 0;
	m->store_bytes = 0;
}
