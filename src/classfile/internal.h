/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/internal.h - names the JDK's packages that a program does not call by itself.
 *
 * Their classes allocate few large arrays that anybody looks for, but are a third of those that
 * would get a hook. So their allocations are sampled, unless the user wants exact counts.
 */
#ifndef LC_CLASSFILE_INTERNAL_H
#define LC_CLASSFILE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Is the class in such a package? `name` has slashes and `len` bytes, and needs no NUL behind it.
 * Context: any.
 */
bool lc_internal_class(const char *name, size_t len);

#endif
