/* SPDX-License-Identifier: Apache-2.0 */
/* span/clock/timeline_impl.h - declares the parts of timelines that know no threads. */
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
 * Spread `a` evenly between the two times over `rows` (struct lc_block_timeline, in order of time).
 * The last stretch gets the remainder. Returns 0, or -ENOMEM after a part. Pure.
 */
int lc_timeline_spread(struct lc_vector *rows, uint64_t from_ns, uint64_t to_ns,
                       const struct lc_timeline_amount *a);

/* The two counts in the text of /proc/.../status. Returns false if they are missing. Pure. */
bool lc_timeline_parse(const char *text, uint64_t *voluntary, uint64_t *involuntary);

/* `total` less `part`. A negative rest is kept in *debt for the next call. */
uint64_t lc_timeline_rest(uint64_t total, uint64_t part, uint64_t *debt);

#endif
