/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/alloc_built.h - finds the constructor calls behind which the new object is on top of
 * the stack.
 */
#ifndef LC_CLASSFILE_ALLOC_BUILT_H
#define LC_CLASSFILE_ALLOC_BUILT_H

#include "src/classfile/class_file.h"
#include "src/classfile/method_code.h"

/*
 * Set LC_AT_BUILT where the instruction calls the constructor of an object that `new; dup` has made
 * and whose first reference nothing can have touched meanwhile. A call of which that is not certain
 * is left out. Returns LC_REWRITE_DONE, LC_REWRITE_MALFORMED or LC_REWRITE_NO_MEMORY.
 * Context: [java] (ClassFileLoadHook).
 */
enum lc_rewrite_status lc_alloc_built_mark(const struct lc_class *c, struct lc_method_code *code);

#endif
