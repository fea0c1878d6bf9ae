/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/generated.h - knows the addresses of the JVM's generated code, and when some was freed.
 *
 * Places on a stack are recognised by return addresses into that code. A return address means the
 * same call site until code is freed: afterwards other code may be there.
 */
#ifndef LC_STACK_GENERATED_H
#define LC_STACK_GENERATED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Addresses; 0 where the JVM does not tell them. */
struct lc_generated {
	uint64_t interpreter_low, interpreter_high;
};

/* Set the range, once, before any Java thread has a record. Context: [attach]. */
void lc_generated_init(const struct lc_generated *ranges);

/* The range; constant from lc_generated_init() on. Context: any. */
const struct lc_generated *lc_generated(void);

static inline bool lc_generated_is_interpreter(const struct lc_generated *g, uint64_t address)
{
	return address - g->interpreter_low < g->interpreter_high - g->interpreter_low;
}

/*
 * Code was freed, or stands for other methods: every place is learnt anew, the next time a thread
 * is there. Context: any.
 */
void lc_generated_freed(void);
void lc_generated_changed(void);

/*
 * The generation of the code: it changes when code is freed. Read it relaxed: events about code
 * come late anyway, so that it is only a hint. Context: any.
 */
const _Atomic uint32_t *lc_generated_generation(void);

#endif
