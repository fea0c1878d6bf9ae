/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numa/pages.c - asks the kernel for the owners of pages and remembers the answers.
 *
 * The answers are in an open-addressed table of pages. An entry of an older generation is asked for
 * again; it stays so that a change of owner is seen. When three quarters of the entries are in use,
 * all are forgotten: a page that matters comes back with its next sample.
 */
#include "src/numa/pages.h"

#include <errno.h>
#include <numaif.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"

enum { MAX_MIN = 64, NODE_MAX = INT16_MAX - 1 };

struct entry {
	uint64_t page1; /* page number + 1; 0: free */
	uint32_t generation;
	int16_t node;  /* the owner, or LC_PAGE_UNKNOWN */
	int16_t known; /* the last owner that was known, or LC_PAGE_UNKNOWN */
};
_Static_assert(sizeof(struct entry) == 16, "pages.h says so");

struct lc_pages {
	lc_pages_ask *ask;
	size_t max, used;
	int refused; /* -errno after which the kernel is never asked again; 0: none */
	struct lc_pages_stats stats;
	char error[LC_PAGES_ERROR];
	/* The batch that is being put together: indexes of entries in `table`. */
	size_t batch_len;
	size_t batch[LC_PAGES_BATCH];
	void *pages[LC_PAGES_BATCH];
	int status[LC_PAGES_BATCH];
	struct entry table[];
};

int lc_pages_ask_kernel(size_t n, void **pages, int *status)
{
	return move_pages(0, n, pages, NULL, status, 0) ? -1 : 0;
}

struct lc_pages *lc_pages_create(lc_pages_ask *ask, size_t max)
{
	struct lc_pages *p;

	if (max < MAX_MIN || (max & (max - 1)))
		return NULL;
	p = calloc(1, sizeof(*p) + max * sizeof(p->table[0]));
	if (!p)
		return NULL;
	p->ask = ask;
	p->max = max;
	return p;
}

void lc_pages_destroy(struct lc_pages *p)
{
	free(p);
}

/* The page's entry, or the free one where it belongs. */
static struct entry *find(struct lc_pages *p, uint64_t page)
{
	size_t at = (size_t)(lc_hash(page) >> 20) & (p->max - 1);

	while (p->table[at].page1 && p->table[at].page1 != page + 1)
		at = (at + 1) & (p->max - 1);
	return &p->table[at];
}

static void refuse(struct lc_pages *p, int err)
{
	p->refused = -err;
	snprintf(p->error, sizeof(p->error),
	         "the kernel does not report the nodes of pages: move_pages: %s%s", strerror(err),
	         err == EPERM || err == EACCES || err == ENOSYS
	             ? " (in a container, allow it with --cap-add SYS_NICE)"
	             : "");
}

static void store(struct lc_pages *p, struct entry *e, int status)
{
	e->node = (int16_t)(status >= 0 && status <= NODE_MAX ? status : LC_PAGE_UNKNOWN);
	if (e->node == LC_PAGE_UNKNOWN) {
		p->stats.unknown++;
		return;
	}
	if (e->known != LC_PAGE_UNKNOWN && e->known != e->node)
		p->stats.changes++;
	e->known = e->node;
}

static void ask_batch(struct lc_pages *p)
{
	const size_t len = p->batch_len;
	bool answered = false;

	p->batch_len = 0;
	if (!len)
		return;
	if (!p->refused) {
		errno = 0;
		answered = !p->ask(len, p->pages, p->status);
		p->stats.calls++;
		p->stats.asked += len;
		if (!answered && errno != ENOMEM && errno != EINTR)
			refuse(p, errno ? errno : EIO);
	}
	for (size_t i = 0; i < len; i++)
		store(p, &p->table[p->batch[i]], answered ? p->status[i] : LC_PAGE_UNKNOWN);
}

/* Make sure that the page's entry is of this generation, once the batch has been asked. */
static void want(struct lc_pages *p, uint32_t generation, uint64_t page)
{
	struct entry *e = find(p, page);

	if (!e->page1) {
		*e = (struct entry){ page + 1, generation, LC_PAGE_UNKNOWN, LC_PAGE_UNKNOWN };
		p->used++;
	} else if (e->generation == generation) {
		return;
	}
	e->generation = generation;
	p->batch[p->batch_len] = (size_t)(e - p->table);
	p->pages[p->batch_len++] = (void *)(uintptr_t)(page << LC_PAGE_SHIFT);
	if (p->batch_len == LC_PAGES_BATCH)
		ask_batch(p);
}

/* Answer queries whose pages all fit in the table at once. */
static void resolve_some(struct lc_pages *p, uint32_t generation, struct lc_pages_query *queries,
                         size_t len)
{
	for (size_t i = 0; i < len; i++)
		want(p, generation, queries[i].addr >> LC_PAGE_SHIFT);
	ask_batch(p);
	for (size_t i = 0; i < len; i++)
		queries[i].node = find(p, queries[i].addr >> LC_PAGE_SHIFT)->node;
}

int lc_pages_resolve(struct lc_pages *p, uint32_t generation, struct lc_pages_query *queries,
                     size_t len)
{
	const size_t room = p->max / 4;

	while (len) {
		size_t some = len < room ? len : room;

		if (p->used + some > p->max - room) {
			memset(p->table, 0, p->max * sizeof(p->table[0]));
			p->used = 0;
			p->stats.flushes++;
		}
		resolve_some(p, generation, queries, some);
		queries += some;
		len -= some;
	}
	return p->refused;
}

const char *lc_pages_error(const struct lc_pages *p)
{
	return p->error[0] ? p->error : NULL;
}

void lc_pages_stats(const struct lc_pages *p, struct lc_pages_stats *out)
{
	*out = p->stats;
}
