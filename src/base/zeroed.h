/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/zeroed.h - allocates a hash table whose pages will all be used soon.
 *
 * A page that is read before it is written costs two faults: the first one maps the kernel's page
 * of zeros, and the second one replaces it, for which every CPU that runs the process is
 * interrupted. A table is read before it is written, since a slot is looked for.
 */
#ifndef LC_BASE_ZEROED_H
#define LC_BASE_ZEROED_H

#include <stddef.h>
#include <stdlib.h>

/* Like calloc(), and each page has been written to. */
static inline void *lc_zeroed(size_t n, size_t bytes)
{
	enum { PAGE = 4096 };
	volatile char *p = calloc(n, bytes);

	for (size_t at = 0; p && at < n * bytes; at += PAGE)
		p[at] = 0;
	return (void *)p; /* NOLINT: it is volatile for the loop alone */
}

#endif
