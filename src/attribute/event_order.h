/* SPDX-License-Identifier: Apache-2.0 */
/* attribute/event_order.h - sorts events (attribute/concurrent.h) by time. */
#ifndef LC_ATTRIBUTE_EVENT_ORDER_H
#define LC_ATTRIBUTE_EVENT_ORDER_H

struct lc_vector;

/*
 * Sort a vector of struct lc_concurrent_event; events of one time stay in their order. Takes as
 * much memory again, which is kept for the next time; without memory it takes longer. Context:
 * [writer].
 */
void lc_event_order_sort(struct lc_vector *events);

#endif
