/* SPDX-License-Identifier: Apache-2.0 */
/* agree/agree_impl.h - declares what the formats of `locus agree` share. */
#ifndef LC_AGREE_AGREE_IMPL_H
#define LC_AGREE_AGREE_IMPL_H

#include <stddef.h>
#include <stdio.h>

#include "analyzer/agree/agree.h"

/* Each writes a whole report, of `top` methods; the caller checks `out` for errors. */
void lc_agree_text(FILE *out, const struct lc_agree *a, size_t top);
void lc_agree_json(FILE *out, const struct lc_agree *a, size_t top);

/* "3 profilers; hottest method: the same of all, H.walk"; the caller frees it. */
char *lc_agree_headline(const struct lc_agree *a);

/* "H.walk", of lc_agree.names. Valid until the next name is added. */
struct lc_text lc_agree_method(const struct lc_agree *a, uint32_t key);

#endif
