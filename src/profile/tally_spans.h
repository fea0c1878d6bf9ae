/* profile/tally_spans.h - orders and sums of the rows of spans; tally.c's own. Pure functions. */
#ifndef LC_PROFILE_TALLY_SPANS_H
#define LC_PROFILE_TALLY_SPANS_H

/* Each order is 0 for rows that differ in their counts alone, which the next function adds. */
int lc_tally_order_spans(const void *a, const void *b);
void lc_tally_add_span(void *to, const void *from);
int lc_tally_order_tasks_made(const void *a, const void *b);
void lc_tally_add_task_made(void *to, const void *from);
int lc_tally_order_span_accesses(const void *a, const void *b);
void lc_tally_add_span_access(void *to, const void *from);
int lc_tally_order_pauses(const void *a, const void *b);
void lc_tally_add_pause(void *to, const void *from);

#endif
