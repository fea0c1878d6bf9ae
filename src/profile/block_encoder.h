/* SPDX-License-Identifier: Apache-2.0 */
/* profile/block_encoder.h - encodes one thread's counts as blocks. For profile_writer.c only. */
#ifndef LC_PROFILE_BLOCK_ENCODER_H
#define LC_PROFILE_BLOCK_ENCODER_H

#include <stdint.h>

struct lc_block_encoder; /* opaque, see block_encoder.c */
struct lc_block_input;

/* Returns NULL without memory. Context: [attach]. */
struct lc_block_encoder *lc_block_encoder_create(void);
void lc_block_encoder_free(struct lc_block_encoder *e);

/*
 * Encode *in as one block, or as several when it is large, numbered from `sequence` in file number
 * `file`. Returns how many, -EINVAL when a number is out of range, -ENOMEM, or -EFBIG. Context:
 * [writer].
 */
int lc_block_encode(struct lc_block_encoder *e, const struct lc_block_input *in, uint32_t file,
                    uint64_t sequence);

/* The file does not hold what was encoded for it: its next block needs none. Context: [writer]. */
void lc_block_forget(struct lc_block_encoder *e, uint32_t file);

/* The blocks that lc_block_encode() made last. The encoder owns them. Context: [writer]. */
struct lc_bytes *lc_block_encoded(struct lc_block_encoder *e);

#endif
