/* base/plain.h - writes text of unknown origin so that a terminal shows it and obeys none of it. */
#ifndef LC_BASE_PLAIN_H
#define LC_BASE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Would the character move a terminal's cursor, change its state, or reverse or hide text? */
bool lc_plain_controls(uint32_t c);

/*
 * Write `len` bytes as plain UTF-8: control characters as \uXXXX, what is not a character as
 * U+FFFD.
 */
void lc_plain_put(FILE *out, const char *bytes, size_t len);

#endif
