/* span/clock/timeline_impl.h - declares what of timelines knows no threads, for timeline.c and
 * tests. */
#ifndef LC_SPAN_CLOCK_TIMELINE_IMPL_H
#define LC_SPAN_CLOCK_TIMELINE_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/vector.h"
#include "src/profile/profile_writer.h"

struct lc_timeline_amount {
	uint64_t cpu_ns, voluntary, involuntary;
};

/*
 * Add `a`, used evenly between the two times, to rows (of struct lc_block_timeline, in order of
 * time). What does not divide goes to the last stretch. Returns 0 or -ENOMEM, then with a part.
 * Pure.
 */
int lc_timeline_spread(struct lc_vector *rows, uint64_t from_ns, uint64_t to_ns,
                       const struct lc_timeline_amount *a);

/* The two counts in the text of /proc/.../status. Returns false where it has none. Pure. */
bool lc_timeline_parse(const char *text, uint64_t *voluntary, uint64_t *involuntary);

/*
 * What is left of `total` without `part`; what would be negative is kept in *debt for the next
 * time.
 */
uint64_t lc_timeline_rest(uint64_t total, uint64_t part, uint64_t *debt);

#endif
