/* profile/tally_spans.c - see tally_spans.h. */
#include "src/profile/tally_spans.h"

#include "src/profile/writer.h"

/* Leave the function with the order of x and y where their `member` differs. */
#define ORDER(member)                                                                              \
	do {                                                                                       \
		if (x->member != y->member)                                                        \
			return x->member < y->member ? -1 : 1;                                     \
	} while (0)

int lc_tally_order_spans(const void *a, const void *b)
{
	const struct lc_block_span *x = a, *y = b;

	ORDER(kind);
	ORDER(level);
	ORDER(submit_kind);
	ORDER(site);
	ORDER(submit_path);
	ORDER(path);
	return 0;
}

void lc_tally_add_span(void *to, const void *from)
{
	struct lc_block_span *x = to;
	const struct lc_block_span *y = from;

	x->executions += y->executions;
	x->folded += y->folded;
	x->cycles += y->cycles;
	x->compensated += y->compensated;
	x->negative += y->negative;
	x->switches += y->switches;
	x->gc_count += y->gc_count;
	x->gc_ns += y->gc_ns;
	x->wait_ns += y->wait_ns;
	x->waits += y->waits;
	x->wall_ns += y->wall_ns;
	for (unsigned i = 0; i < LC_SPAN_NESTED; i++)
		x->nested[i] += y->nested[i];
	for (unsigned i = 0; i < LC_SPAN_BUCKETS; i++)
		x->histogram[i] += y->histogram[i];
	if (!y->first_ns)
		return; /* it is not known when */
	if (!x->first_ns || y->first_ns < x->first_ns)
		x->first_ns = y->first_ns;
	if (y->last_ns > x->last_ns)
		x->last_ns = y->last_ns;
}

int lc_tally_order_tasks_made(const void *a, const void *b)
{
	const struct lc_block_task_made *x = a, *y = b;

	ORDER(site);
	ORDER(submit_kind);
	ORDER(submit_path);
	return 0;
}

void lc_tally_add_task_made(void *to, const void *from)
{
	((struct lc_block_task_made *)to)->count +=
	    ((const struct lc_block_task_made *)from)->count;
}

int lc_tally_order_span_accesses(const void *a, const void *b)
{
	const struct lc_block_span_access *x = a, *y = b;

	ORDER(kind);
	ORDER(span_site);
	ORDER(span_path);
	ORDER(engine);
	ORDER(bucket);
	ORDER(site);
	ORDER(path);
	return 0;
}

void lc_tally_add_span_access(void *to, const void *from)
{
	((struct lc_block_span_access *)to)->samples +=
	    ((const struct lc_block_span_access *)from)->samples;
}

int lc_tally_order_pauses(const void *a, const void *b)
{
	const struct lc_block_pause *x = a, *y = b;

	ORDER(start_ns);
	return 0;
}

void lc_tally_add_pause(void *to, const void *from)
{
	((struct lc_block_pause *)to)->duration_ns +=
	    ((const struct lc_block_pause *)from)->duration_ns;
}
