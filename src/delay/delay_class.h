/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delay/delay_class.h - makes the class file of LC_DELAY_CLASS, which has static fields and no
 * code.
 *
 * Pure functions. Context: any but [signal].
 */
#ifndef LC_DELAY_CLASS_FILE_H
#define LC_DELAY_CLASS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The fields are `seed`, and c0, d0, n0, c1 ... for `delays` delays; n0 is of type int, the others
 * of type long. Returns false without memory; else *out is malloc'ed. At most 1000 delays.
 */
bool lc_delay_class_create(size_t delays, uint8_t **out, size_t *len);

#endif
