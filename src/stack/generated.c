/* SPDX-License-Identifier: Apache-2.0 */
/* stack/generated.c - keeps the ranges of generated code and counts when some was freed. */
#include "src/stack/generated.h"

#include "src/core/counters.h"

static struct lc_generated generated;

static _Atomic uint64_t frees;
static _Atomic uint32_t generation; /* written by: whoever learns that code was freed */

void lc_generated_init(const struct lc_generated *ranges)
{
	generated = *ranges;
}

const struct lc_generated *lc_generated(void)
{
	return &generated;
}

void lc_generated_changed(void)
{
	atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed); /* a hint */
}

void lc_generated_freed(void)
{
	lc_count(&frees);
	lc_generated_changed();
}

const _Atomic uint32_t *lc_generated_generation(void)
{
	return &generation;
}

static const struct lc_counter counters[] = {
	LC_COUNTER("code_freed", &frees),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
