/* SPDX-License-Identifier: Apache-2.0 */
/* objects/text/headline.h - summarises a profile in one line, for the end of `locus run`. */
#ifndef LC_OBJECTS_TEXT_HEADLINE_H
#define LC_OBJECTS_TEXT_HEADLINE_H

#include <stddef.h>

enum { LC_HEADLINE_MAX = 512 };

/*
 * "812 samples; top finding: hot-object, 31.2% in byte[] of c.a.Main.load:20": how many the profile
 * holds of the engine that took most, and the first finding of its report, or that there
 * is none. Damage is told on stderr, as by lc_load_profile(). Returns 0, or 1 after one line on
 * stderr: there is no profile that can be read.
 */
int lc_headline(const char *profile, char *out, size_t out_len);

#endif
