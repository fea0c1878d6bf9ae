/* SPDX-License-Identifier: Apache-2.0 */
/* base/nearest.h - finds the word that somebody meant who wrote another one. */
#ifndef LC_BASE_NEAREST_H
#define LC_BASE_NEAREST_H

#include <stddef.h>

/*
 * The word among `words` that was most likely meant by `word`, or NULL when none is near.
 * Context: [attach].
 */
const char *lc_nearest(const char *word, const char *const *words, size_t count);

#endif
