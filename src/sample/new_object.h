/* SPDX-License-Identifier: Apache-2.0 */
/* sample/new_object.h - finds the class of an object that is still being constructed. */
#ifndef LC_SAMPLE_NEW_OBJECT_H
#define LC_SAMPLE_NEW_OBJECT_H

#include <stddef.h>
#include <stdint.h>

struct lc_code_bytes;
struct lc_recipe;

/* Set the offset of the class word in an object; it is 8 until then. Context: [attach]. */
void lc_new_object_class_offset(uint32_t offset);

/*
 * If the instruction at `store` stores to the very start of an object, it makes the object, and it
 * or one of the next stores the class: sets r->made and r->made_value. `r` is the recipe of that
 * store, with `ahead` set. `from` is the first instruction that runs after the sample and before
 * the store, or `store` itself. Context: any, signal handlers included.
 */
void lc_new_object_find(const struct lc_code_bytes *code, size_t from, size_t store,
                        struct lc_recipe *r);

#endif
