/* SPDX-License-Identifier: Apache-2.0 */
/* classfile/tables.h - relocates the attributes that a Code attribute holds. */
#ifndef LC_CLASSFILE_TABLES_H
#define LC_CLASSFILE_TABLES_H

#include <stdbool.h>

#include "src/classfile/big_endian.h"
#include "src/classfile/method_code.h"

/*
 * Append the attributes of `code` with their count. After lc_method_code_layout(). Code whose
 * tail has frames and that has no StackMapTable gets one, if the version of its class has such
 * attributes.
 *
 * LineNumberTable, LocalVariableTable, LocalVariableTypeTable, StackMapTable and the type
 * annotations are relocated. Any other attribute is left out: the JVM ignores it, and whether it
 * holds positions is not known. (That goes for CLDC's StackMap, CharacterRangeTable, and for
 * StackMapTable in classes older than 50.0.) Type annotations that do not parse are left out too,
 * since the JVM does not read them. Returns false if another attribute does not parse.
 */
bool lc_tables_emit(const struct lc_class *c, const struct lc_method_code *code,
                    struct lc_bytes *out);

/* Does `this` stay in local 0 all through a constructor, according to its StackMapTable? */
bool lc_tables_keep_local0(const struct lc_class *c, const struct lc_member *method,
                           const struct lc_method_code *code);

#endif
