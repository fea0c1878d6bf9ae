/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/bucket.h - chooses the bucket that a sample ends in when no tracked object lies at its
 * address.
 */
#ifndef LC_ATTRIBUTE_BUCKET_H
#define LC_ATTRIBUTE_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "src/core/record.h"
#include "src/format/kinds.h"

/* Is the sample an access whose address has to be looked up? Context: [writer]. */
bool lc_bucket_needs_map(const struct lc_sample *s);

/* Bucket of a sample for which lc_bucket_needs_map() is false. Context: [writer]. */
enum lc_bucket lc_bucket_without_map(const struct lc_sample *s);

/* Bucket of an access, from Java code or with an address that was given, to an address where no
 * tracked object lies. Context: [writer]. */
enum lc_bucket lc_bucket_untracked(uint64_t addr);

#endif
