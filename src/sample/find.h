/* SPDX-License-Identifier: Apache-2.0 */
/* sample/find.h - finds the object that a sampled access was in, by the registers at the sample. */
#ifndef LC_SAMPLE_FIND_H
#define LC_SAMPLE_FIND_H

#include <stdbool.h>
#include <stdint.h>

#include "src/jvm/layout/klass.h"
#include "src/sample/decode.h"

/*
 * Find the object that holds access->addr. Code that touches an object nearly always has its start
 * in a register (or on its stack), plain or compressed. A candidate is believed only if its header
 * proves that it holds the address. Returns false if none does. If a cursor has come to the end of
 * the object that it clears, that object is given, and access->addr is one past it. Context:
 * [signal], the owner thread, in Java code.
 */
bool lc_find_object(const struct lc_registers *regs, const struct lc_access *access,
                    struct lc_object_seen *out);

/*
 * If a store's base may hold something else because control came another way: find the object that
 * the thread allocated last, if the base points into it, or to its end. The code that clears a new
 * object has then just run. Returns false otherwise. Context: as above.
 */
bool lc_find_newest(const struct lc_registers *regs, const struct lc_access *access,
                    struct lc_object_seen *out);

/*
 * Find the array to which a register points, or one of the first words on the stack, where all that
 * point to an array point to the same one. Returns its start, or 0.
 * Context: [signal], while no collection moves objects.
 */
uint64_t lc_find_array_in_registers(const struct lc_registers *regs);
uint64_t lc_find_array_on_stack(const struct lc_registers *regs);

#endif
