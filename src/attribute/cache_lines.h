/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/cache_lines.h - draws some of the samples, whose cache lines are recorded.
 *
 * A sample of samples is enough to estimate how many cache lines some code touches: how often a
 * line is drawn again tells it (analyzer/objects/analysis/footprint.h). So of a long recording a
 * part is drawn, which gets smaller as it goes on: LC_CACHE_LINES_ALL samples of an engine are all
 * drawn, of twice as many behind these every second one, of four times as many every fourth.
 */
#ifndef LC_ATTRIBUTE_CACHE_LINES_H
#define LC_ATTRIBUTE_CACHE_LINES_H

#include <stdint.h>

struct lc_thread;

enum { LC_CACHE_LINES_ALL = 4096 };

/*
 * Add a row of the sample to the tally of `t`, if it is drawn. An object that a collection moves is
 * on other lines afterwards, as for the cache. Context of both: [writer].
 */
void lc_cache_lines_draw(struct lc_thread *t, uint16_t engine, uint32_t path, uint64_t addr);

/* Another profile begins: count from the start. */
void lc_cache_lines_again(void);

#endif
