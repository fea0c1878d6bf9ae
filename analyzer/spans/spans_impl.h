/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans/spans_impl.h - declares what the files of the spans analysis share. No order here depends
 * on the order of the profiles.
 */
#ifndef LC_SPANS_SPANS_IMPL_H
#define LC_SPANS_SPANS_IMPL_H

#include <string.h>

#include "analyzer/spans/spans.h"
#include "src/base/ends.h"
#include "src/base/order.h"

static inline int lc_spans_order_text(struct lc_text a, struct lc_text b)
{
	int order =
	    memcmp(a.bytes ? a.bytes : "", b.bytes ? b.bytes : "", a.len < b.len ? a.len : b.len);

	return order ? order : lc_order_u64(a.len, b.len);
}

static inline int lc_spans_order_place(const struct lc_span_place *a, const struct lc_span_place *b)
{
	int order = 0;

	if (a == b)
		return 0;
	if (!(order = lc_spans_order_text(a->class_name, b->class_name)) &&
	    !(order = lc_spans_order_text(a->method_name, b->method_name)) &&
	    !(order = a->line - b->line) &&
	    !(order = lc_spans_order_text(a->signature, b->signature)))
		order = lc_order_u64(a->number, b->number);
	return order;
}

/* Does this name stand for all lambda expressions of a class? */
static inline bool lc_spans_is_lambdas(struct lc_text type)
{
	return lc_ends_with(type.bytes, type.len, LC_SPAN_LAMBDAS_SUFFIX);
}

/* Does this class stand for the places that had no slot in the agent? */
static inline bool lc_spans_is_other(struct lc_text class_name)
{
	return lc_text_is(class_name, LC_SPAN_OTHER_CLASS);
}

/* Order types of tasks. The places are where the types' objects were created. */
static inline int lc_spans_order_type(struct lc_text a, const struct lc_span_place *created_a,
                                      struct lc_text b, const struct lc_span_place *created_b)
{
	int order = lc_spans_order_text(a, b);

	return order || !lc_spans_is_lambdas(a) ? order
	                                        : lc_spans_order_place(created_a, created_b);
}

static inline int lc_spans_order_i64(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

static inline bool lc_spans_is_task(unsigned kind)
{
	return kind == LC_SPAN_TASK || kind == LC_SPAN_THREAD;
}

/* Time since the start of process `p`; 0 if its start is unknown or later. */
static inline uint64_t lc_spans_since(const struct lc_spans *s, uint32_t p, uint64_t ns)
{
	uint64_t start = p < s->load->processes_len ? s->load->processes[p].start_monotonic_ns : 0;

	return ns > start ? ns - start : 0;
}

/* Does the interval lie in the time of the process's blocks? Its row may be half written. */
static inline bool lc_spans_believed(const struct lc_spans *s, uint32_t p,
                                     const struct lc_span_interval *i)
{
	uint64_t end = lc_load_end_ns(&s->load->processes[p]);

	return i->first_ns <= i->last_ns && (!end || i->last_ns <= end);
}

/* Count the elements from the first on that are equal in this order. */
static inline size_t lc_spans_run(const void *first, size_t len, size_t size,
                                  int (*order)(const void *, const void *))
{
	size_t n = 1;

	while (n < len && !order(first, (const char *)first + n * size))
		n++;
	return n;
}

/* Sort times and join those that overlap or touch. Returns how many are left. */
size_t lc_spans_join(struct lc_span_interval *list, size_t len);

/* Sum up the rows of `list` by thread. `kinds` is a mask of 1 << enum lc_span_kind. */
void lc_spans_balance_rows(struct lc_spans *s, struct lc_spans_balance *b,
                           const struct lc_span_row **list, size_t len, unsigned kinds);

/*
 * The type with this name whose tasks were created there; NULL: none. s->types must still be
 * ordered by name.
 */
struct lc_spans_type *lc_spans_find_type(const struct lc_spans *s, struct lc_text name,
                                         const struct lc_span_place *place);

/* Put the groups of the whole analysis in this order. Groups that are equal in it have one, too. */
void lc_spans_sort_groups(struct lc_spans *s, enum lc_spans_sort sort);

/* Sum up the call paths of rows. */
void lc_spans_make_paths(struct lc_spans *s, struct lc_spans_paths *p,
                         const struct lc_span_row *const *rows, size_t len);

/* Compute the waits of each location and type, which must still be ordered by name. */
void lc_spans_build_waits(struct lc_spans *s, uint32_t engine);

void lc_spans_build_threads(struct lc_spans *s);

/* Number of CPUs of the machine's nodes; 0 if unknown, or if processes differ. */
unsigned lc_spans_cpus(const struct lc_load *l);

/* Cycles in a second, from the first process whose manifest says it; 0: unknown. */
double lc_spans_hz(const struct lc_spans *s);

#endif
