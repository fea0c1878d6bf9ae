/*
 * numa/pages.h - which node owns a page, asked of the kernel in batches and remembered.
 *
 * Answers are kept per page and generation, a number that the caller raises when owners may have
 * changed (a collection, a second gone by). Pages are of 4 KiB, the unit of the kernel's answer: of a
 * huge page each such part is asked for, and all have one owner.
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
 * As move_pages(0, n, pages, NULL, status, 0): for each page its node, or -errno. Returns 0, or -1
 * with errno where nothing was answered.
 */
typedef int lc_pages_ask(size_t n, void **pages, int *status);

struct lc_pages; /* opaque. Context of all functions: [writer] */

struct lc_pages_query {
	uint64_t addr;
	int node; /* out: node number, or LC_PAGE_UNKNOWN */
};

struct lc_pages_stats {
	uint64_t asked;   /* pages that the kernel was asked for */
	uint64_t unknown; /* of these, without an owner */
	uint64_t calls;
	uint64_t changes; /* pages found on another node than in an earlier generation */
	uint64_t flushes; /* times that all was forgotten for want of room */
};

/* The kernel's own answer, for lc_pages_create(). */
int lc_pages_ask_kernel(size_t n, void **pages, int *status);

/*
 * Remember up to `max` pages, a power of two from 64 on: 16 bytes each. NULL without memory, or
 * where `max` is not one. Free with lc_pages_destroy().
 */
struct lc_pages *lc_pages_create(lc_pages_ask *ask, size_t max);
void lc_pages_destroy(struct lc_pages *p);

/*
 * Set the node of each query. Returns 0, or -errno from the call on that the kernel refused: it is
 * not asked again, all that is not remembered is unknown, and lc_pages_error() says why. Want of
 * memory in the kernel costs the batch alone.
 */
int lc_pages_resolve(struct lc_pages *p, uint32_t generation, struct lc_pages_query *queries,
                     size_t len);

/* One line, or NULL while there is nothing to say. Lives as long as `p`. */
const char *lc_pages_error(const struct lc_pages *p);

void lc_pages_stats(const struct lc_pages *p, struct lc_pages_stats *out);

#endif
