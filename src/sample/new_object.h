/* sample/new_object.h - tells which class the code gives an object that it is making. */
#ifndef LC_SAMPLE_NEW_OBJECT_H
#define LC_SAMPLE_NEW_OBJECT_H

#include <stddef.h>
#include <stdint.h>

struct lc_code_bytes;
struct lc_recipe;

/* Set the offset in an object of the class word; it is 8 until then. Context: [attach]. */
void lc_new_object_class_offset(uint32_t offset);

/*
 * If the instruction at `store` stores to the very start of an object, an object is being made, and
 * that instruction or one of the next stores its class: sets r->made and r->made_value. `r` is the
 * recipe of that store, with `ahead` set. `from` is where the instructions begin that run after the
 * sample and before the store; or it is `store` itself. Context: any, signal handlers included.
 */
void lc_new_object_find(const struct lc_code_bytes *code, size_t from, size_t store,
                        struct lc_recipe *r);

#endif
