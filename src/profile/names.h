/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile/names.h - numbers the strings, paths and sites of a block, and writes the sections that
 * define them. For profile/block_encoder.c only.
 *
 * A definition is written once in a generation, which is a run of blocks of one file. Later blocks
 * of the generation use the same numbers.
 */
#ifndef LC_PROFILE_NAMES_H
#define LC_PROFILE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "src/format/encode.h"

struct lc_block_header;

struct lc_names; /* opaque. Context of all functions: [writer] */

/* Definitions go to *out, which stays the caller's. Returns NULL without memory. */
struct lc_names *lc_names_create(struct lc_sections *out);
void lc_names_free(struct lc_names *n); /* NULL is fine */

/* Block h->sequence of file `file` begins: set h->version, h->generation and h->first. */
void lc_names_begin(struct lc_names *n, uint32_t file, struct lc_block_header *h);

/* The last block did not reach the file: the next block begins a new generation. */
void lc_names_forget(struct lc_names *n, uint32_t file);

/* Did memory run out since the block began? If so, its numbers are wrong. */
bool lc_names_failed(const struct lc_names *n);

/*
 * The block's number of a text (by its address; NULL and "" are 0), of node `node` of the path
 * tree, of a site. Defines it, with all that it needs, if it is new. 0 if the agent's tables lack
 * it.
 */
uint32_t lc_names_string(struct lc_names *n, const char *text);
uint32_t lc_names_path(struct lc_names *n, uint32_t node);
uint32_t lc_names_site(struct lc_names *n, uint32_t site);

#endif
