/* SPDX-License-Identifier: Apache-2.0 */
/* profile/manifest.h - writes the manifest of a profile as JSON. For profile_writer.c only. */
#ifndef LC_PROFILE_MANIFEST_H
#define LC_PROFILE_MANIFEST_H

#include <stdint.h>

struct lc_bytes;
struct lc_manifest;

/*
 * Make *b the text of the manifest; `blocks` is how many the files hold. Without memory it is
 * not whole and b->failed is set. Context: [attach] [writer].
 */
void lc_manifest_encode(struct lc_bytes *b, const struct lc_manifest *m, uint64_t blocks);

#endif
