/* classfile/tables.h - the attributes of a Code attribute, relocated. */
#ifndef LC_CLASSFILE_TABLES_H
#define LC_CLASSFILE_TABLES_H

#include <stdbool.h>

#include "src/classfile/big_endian.h"
#include "src/classfile/method_code.h"

/*
 * Append the attributes of `code` with their count. After lc_code_layout(). Code with a tail gets a
 * StackMapTable where it has none, if its class is of a version that has them.
 *
 * LineNumberTable, LocalVariableTable, LocalVariableTypeTable, StackMapTable and the type
 * annotations are relocated. Any other attribute is left out: the JVM ignores it, and whether it
 * holds positions is not known. (That goes for CLDC's StackMap, CharacterRangeTable, and for
 * StackMapTable in classes older than 50.0.) So are type annotations that do not parse, which
 * the JVM does not read either. Returns false if one of the others does not parse.
 */
bool lc_tables_emit(const struct lc_class *c, const struct lc_method_code *code,
                    struct lc_bytes *out);

/* Does `this` stay in local 0 all through a constructor, as far as its StackMapTable tells? */
bool lc_tables_keep_local0(const struct lc_class *c, const struct lc_member *method,
                           const struct lc_method_code *code);

#endif
