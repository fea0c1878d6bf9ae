/* SPDX-License-Identifier: Apache-2.0 */
/* numa/numa_prose.h - describes a diagnosis in prose: the summary, the evidence, and what to do. */
#ifndef LC_NUMA_NUMA_PROSE_H
#define LC_NUMA_NUMA_PROSE_H

#include <stddef.h>

#include "analyzer/numa/numa.h"

enum { LC_NUMA_EVIDENCE = 12, LC_NUMA_ADVICE = 4 };

struct lc_numa_advice {
	char *action; /* what to do; UTF-8, one line */
	char *cost;   /* what it costs, and when it does not help */
};

struct lc_numa_prose {
	char *summary; /* one line */
	char *evidence[LC_NUMA_EVIDENCE];
	size_t evidence_len;
	struct lc_numa_advice advice[LC_NUMA_ADVICE];
	size_t advice_len;
};

/* Free with lc_numa_prose_free(). */
void lc_numa_say(const struct lc_numa *n, const struct lc_numa_site *s, struct lc_numa_prose *w);
void lc_numa_prose_free(struct lc_numa_prose *w);

/*
 * The machine in one line: one node, or nothing recorded and why. NULL where there is more to say.
 */
const char *lc_numa_say_nothing(const struct lc_numa *n);

#endif
