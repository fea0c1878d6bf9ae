/* SPDX-License-Identifier: Apache-2.0 */
/* stack/generated.c - keeps the ranges of generated code and counts when some was freed. */
#include "src/stack/generated.h"

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
	atomic_fetch_add_explicit(&frees, 1, memory_order_relaxed); /* a count */
	lc_generated_changed();
}

uint64_t lc_generated_frees(void)
{
	return atomic_load_explicit(&frees, memory_order_relaxed);
}

const _Atomic uint32_t *lc_generated_generation(void)
{
	return &generation;
}
