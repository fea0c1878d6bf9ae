/* SPDX-License-Identifier: Apache-2.0 */
/* base/plain.h - writes text of unknown origin so that a terminal shows it and obeys none of it. */
#ifndef LC_BASE_PLAIN_H
#define LC_BASE_PLAIN_H

#include <stddef.h>
#include <stdio.h>

/*
 * Write `len` bytes as plain UTF-8: control characters as \uXXXX, what is not a character as
 * U+FFFD.
 */
void lc_plain_put(FILE *out, const char *bytes, size_t len);

#endif
