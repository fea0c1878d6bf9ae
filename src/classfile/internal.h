/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/internal.h - names the JDK's packages that a program does not call by itself.
 *
 * Programs seldom depend on a large array that these classes allocate, but a quarter of all hooked
 * classes would be theirs. So their arrays are sampled, unless the user wants exact counts.
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
