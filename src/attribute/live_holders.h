/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/live_holders.h - keeps what holds live objects until a block takes it: rows of the
 * section HOLDERS.
 */
#ifndef LC_ATTRIBUTE_LIVE_HOLDERS_H
#define LC_ATTRIBUTE_LIVE_HOLDERS_H

#include <stdint.h>

struct lc_thread;

/*
 * At `time_ns`, `objects` objects of the site were held by the chain, or by chains without a row:
 * "". Copies the text. Without memory the row is lost, which is counted. Context: [writer].
 */
void lc_live_holders_add(uint64_t time_ns, uint32_t site, const char *chain, uint64_t objects);

/* Put the rows into the thread's tally. Context: [writer]. */
void lc_live_holders_take(struct lc_thread *t);

#endif
