/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/internal.h - names the JDK's classes whose large arrays matter to few programs.
 *
 * These are packages that a program does not call by itself, and classes whose arrays describe
 * classes, modules, threads, errors or numbers. They would be a quarter of all hooked classes, and
 * a third of the time that the exchange at start takes. So their arrays are sampled, unless the
 * user wants exact counts.
 */
#ifndef LC_CLASSFILE_INTERNAL_H
#define LC_CLASSFILE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Is it such a class? `name` has slashes and `len` bytes, and needs no NUL behind it.
 * Context: any.
 */
bool lc_internal_class(const char *name, size_t len);

#endif
