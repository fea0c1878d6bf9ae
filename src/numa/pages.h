/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numa/pages.h - tells which node owns a page: it asks the kernel in batches and remembers.
 *
 * Answers are kept per page and generation, a number that the caller raises when owners may have
 * changed (a collection, a second gone by). Pages are of 4 KiB, the unit of the kernel's answer:
 * each such part of a huge page is asked for, and all its parts have one owner.
 */
#ifndef LC_NUMA_PAGES_H
#define LC_NUMA_PAGES_H

#include <stddef.h>
#include <stdint.h>

enum {
	LC_PAGE_SHIFT = 12,
	LC_PAGES_BATCH = 1024, /* pages per call of the kernel */
	LC_PAGES_ERROR = 160,
	LC_PAGE_UNKNOWN = -1, /* untouched, gone, or the kernel does not tell */
};

/*
 * Asks like move_pages(0, n, pages, NULL, status, 0): sets the status of each page to its node or
 * -errno. Returns 0, or -1 with errno if nothing was answered.
 */
typedef int lc_pages_ask(size_t n, void **pages, int *status);

struct lc_pages; /* opaque. Context of all functions: [writer] */

struct lc_pages_query {
	uint64_t addr;
	int node; /* out: node number, or LC_PAGE_UNKNOWN */
};

struct lc_pages_stats {
	uint64_t asked;   /* pages that the kernel was asked for */
	uint64_t unknown; /* pages without an owner */
	uint64_t calls;
	uint64_t changes; /* pages found on another node than in an earlier generation */
	uint64_t flushes; /* times that all was forgotten for want of room */
};

/* Asks the kernel; for lc_pages_create(). */
int lc_pages_ask_kernel(size_t n, void **pages, int *status);

/*
 * Make a table for up to `max` pages, a power of two of at least 64; it takes 16 bytes per page.
 * Returns NULL without memory or for any other `max`. Free it with lc_pages_destroy().
 */
struct lc_pages *lc_pages_create(lc_pages_ask *ask, size_t max);
void lc_pages_destroy(struct lc_pages *p);

/*
 * Set the node of each query. Returns 0. Once the kernel has refused, this and every later call
 * return -errno: the kernel is not asked again, pages that are not remembered are unknown, and
 * lc_pages_error() says why. A lack of memory in the kernel costs only the batch.
 */
int lc_pages_resolve(struct lc_pages *p, uint32_t generation, struct lc_pages_query *queries,
                     size_t len);

/* Why the kernel refused, in one line, or NULL if it did not. Lives as long as `p`. */
const char *lc_pages_error(const struct lc_pages *p);

void lc_pages_stats(const struct lc_pages *p, struct lc_pages_stats *out);

#endif
