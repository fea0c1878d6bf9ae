/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/live_holders.h - keeps what holds live objects until a block takes it: rows of the
 * sections HOLDERS and HELD.
 */
#ifndef LC_ATTRIBUTE_LIVE_HOLDERS_H
#define LC_ATTRIBUTE_LIVE_HOLDERS_H

#include <stdint.h>

struct lc_block_held;
struct lc_thread;

/*
 * At `time_ns`, `objects` objects of the site were held by the chain, or by chains without a row:
 * "". Copies the text. Without memory the row is lost, which is counted. Context: [writer].
 */
void lc_live_holders_add(uint64_t time_ns, uint32_t site, const char *chain, uint64_t objects);

/*
 * At a walk of the whole heap, `looked_for` of the `known` objects of the site that outlived a
 * collection were looked for, and `reached` of them are live. Context: [writer].
 */
void lc_live_holders_add_held(const struct lc_block_held *row);

/* Put the rows into the thread's tally. Context: [writer]. */
void lc_live_holders_take(struct lc_thread *t);

#endif
