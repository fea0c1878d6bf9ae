/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile/tally.h - collects one thread's counts since its last block, which the next block will
 * hold.
 */
#ifndef LC_PROFILE_TALLY_H
#define LC_PROFILE_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/core/record.h"
#include "src/profile/profile_writer.h"

struct lc_tally; /* opaque. Context of all functions: [writer] */

enum { LC_TALLY_ENGINES = 8 }; /* engine numbers are below it; samples of others are not counted */

struct lc_tally *lc_tally_create(void); /* NULL without memory */
void lc_tally_destroy(struct lc_tally *t);

/* The tally at `t`, made where there is none; NULL without memory. */
static inline struct lc_tally *lc_tally_made(struct lc_tally **t)
{
	if (!*t)
		*t = lc_tally_create();
	return *t;
}

/*
 * Count one interrupt, which counts as row->samples, below 2^32. Returns 0; -ENOMEM: then it is
 * counted in its bucket without a path; or -EINVAL for an engine that cannot be.
 */
int lc_tally_sample(struct lc_tally *t, const struct lc_block_access *row, enum lc_where where,
                    enum lc_how how);

/* Count samples of `engine` that have no record: bucket LC_BUCKET_LOST. */
void lc_tally_lost(struct lc_tally *t, uint16_t engine, uint64_t samples);

/*
 * Add a row of what is known beyond an access; rows that differ in their counts alone are summed
 * (latency_max: the largest). Bits of `access` beside LC_TOUCH_LOAD and LC_TOUCH_STORE are
 * dropped. Each returns 0, -ENOMEM, or -EINVAL for numbers that docs/FORMAT.md does not allow: then
 * the row is left out.
 */
int lc_tally_field(struct lc_tally *t, const struct lc_block_field *row);
int lc_tally_step(struct lc_tally *t, const struct lc_block_step *row);
int lc_tally_wait(struct lc_tally *t, const struct lc_block_wait *row);
int lc_tally_reach(struct lc_tally *t, const struct lc_block_reach *row);
int lc_tally_cache_line(struct lc_tally *t, const struct lc_block_cache_line *row);
int lc_tally_metric(struct lc_tally *t, const struct lc_block_metric *row);
int lc_tally_line(struct lc_tally *t, const struct lc_block_line *row);
int lc_tally_estimate(struct lc_tally *t, const struct lc_block_estimate *row);
int lc_tally_split(struct lc_tally *t, const struct lc_block_split *row);
int lc_tally_copy(struct lc_tally *t, const struct lc_block_copy *row);
int lc_tally_offheap(struct lc_tally *t, const struct lc_block_offheap *row);
int lc_tally_offheap_before(struct lc_tally *t, const struct lc_block_offheap_before *row);
int lc_tally_live(struct lc_tally *t, const struct lc_block_live *row);
int lc_tally_content(struct lc_tally *t, const struct lc_block_content *row);
int lc_tally_age(struct lc_tally *t, const struct lc_block_age *row);
int lc_tally_holder(struct lc_tally *t, const struct lc_block_holder *row);
int lc_tally_held(struct lc_tally *t, const struct lc_block_held *row);
int lc_tally_placement(struct lc_tally *t, const struct lc_block_placement *row);
int lc_tally_node(struct lc_tally *t, const struct lc_block_node *row);
int lc_tally_home(struct lc_tally *t, const struct lc_block_home *row);

/* The same for rows of spans; a span that is traced is left out where there is no memory. */
int lc_tally_span(struct lc_tally *t, const struct lc_block_span *row);
int lc_tally_task_made(struct lc_tally *t, const struct lc_block_task_made *row);
int lc_tally_span_access(struct lc_tally *t, const struct lc_block_span_access *row);
int lc_tally_pause(struct lc_tally *t, const struct lc_block_pause *row);
int lc_tally_look(struct lc_tally *t, const struct lc_block_look *row);
int lc_tally_running(struct lc_tally *t, const struct lc_block_running *row);
int lc_tally_nested(struct lc_tally *t, const struct lc_block_nested *row);
int lc_tally_running_nested(struct lc_tally *t, const struct lc_block_running_nested *row);
int lc_tally_recursion(struct lc_tally *t, const struct lc_block_recursion *row);
int lc_tally_site_name(struct lc_tally *t, const struct lc_block_site_name *row);
int lc_tally_layout(struct lc_tally *t, const struct lc_block_layout *row);
int lc_tally_trace(struct lc_tally *t, const struct lc_block_trace *row);
size_t lc_tally_traces(const struct lc_tally *t); /* rows so far */

/* Count what a site allocated since the last time it was asked. Returns 0 or -ENOMEM. */
int lc_tally_allocations(struct lc_tally *t, uint32_t site, uint64_t count, uint64_t bytes);

/*
 * `count` of a site's allocations are attributed to it by an estimate, without a look at their
 * caller. Returns 0 or -ENOMEM.
 */
int lc_tally_spread(struct lc_tally *t, uint32_t site, uint64_t count);

/*
 * Point all lists of *in at the rows, of which no two have equal keys; there are none of TIMELINE.
 * Valid until the next call that changes `t`. Returns whether there is any row.
 */
bool lc_tally_block(struct lc_tally *t, struct lc_block_input *in);

/* Forget the rows of lc_tally_block(), since they are written. */
void lc_tally_clear(struct lc_tally *t);

#endif
