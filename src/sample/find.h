/* sample/find.h - which object a sampled access was in, by the registers at the sample. */
#ifndef LC_SAMPLE_FIND_H
#define LC_SAMPLE_FIND_H

#include <stdbool.h>
#include <stdint.h>

#include "src/jvm/klass.h"
#include "src/sample/decode.h"

/*
 * The object that holds access->addr: code that touches an object nearly always has its start in a
 * register (or on its stack), plain or compressed. Candidates are believed only if their header proves
 * that they hold the address. Returns false where none does. Where a cursor has come to the end of what it
 * clears, that object is given: access->addr is one past it.
 * Context: [signal], the owner thread, in Java code.
 */
bool lc_find_object(const struct lc_registers *regs, const struct lc_access *access,
                    struct lc_object_seen *out);

#endif
