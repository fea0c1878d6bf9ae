/* tally.h - one thread's counts since its last block: what the next block will hold. */
#ifndef LC_TALLY_H
#define LC_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile.h"
#include "record.h"

struct lc_tally; /* opaque. Context of all functions: [writer] */

struct lc_tally *lc_tally_create(void); /* NULL without memory */
void lc_tally_destroy(struct lc_tally *t);

/*
 * Count `samples` of `engine` that ended in `bucket`: object `site` (0 unless LC_BUCKET_OBJECT),
 * call path `path`. Returns 0, or -ENOMEM: then it is counted in its bucket without a path.
 */
int lc_tally_sample(struct lc_tally *t, uint16_t engine, enum lc_bucket bucket, uint32_t site,
                    uint32_t path, enum lc_where where, enum lc_how how, uint64_t samples);

/* Count samples that have no record: bucket LC_BUCKET_LOST. */
void lc_tally_lost(struct lc_tally *t, uint64_t samples);

/* Count what a site allocated since the last time it was asked. Returns 0 or -ENOMEM. */
int lc_tally_allocations(struct lc_tally *t, uint32_t site, uint64_t count, uint64_t bytes);

/*
 * Fill the arrays of *in: equal accesses are one. Valid until the next call that changes `t`.
 * Returns whether there is anything.
 */
bool lc_tally_block(struct lc_tally *t, struct lc_block_input *in);

/* Forget what lc_tally_block() gave, since it is written. */
void lc_tally_clear(struct lc_tally *t);

#endif
