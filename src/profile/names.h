/*
 * profile/names.h - numbers what a block names, and writes the sections that define it. For
 * profile_block.c only.
 *
 * A definition is written once in a generation: some blocks of a file, one after the other. Later
 * blocks of it go on with the numbers.
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

/*
 * A new block of file `file` begins, which h->sequence says: set h->version, h->generation and
 * h->first.
 */
void lc_names_begin(struct lc_names *n, uint32_t file, struct lc_block_header *h);

/* What was defined last is not in the file: its next block begins a new generation. */
void lc_names_forget(struct lc_names *n, uint32_t file);

/* Was there no memory since the block began? Then its numbers are wrong. */
bool lc_names_failed(const struct lc_names *n);

/*
 * The block's number of a text (by its address; NULL and "" are 0), of node `node` of the path
 * tree, of a site; defined, with all that it needs, if it was not. What the agent's tables do not
 * hold is 0.
 */
uint32_t lc_names_string(struct lc_names *n, const char *text);
uint32_t lc_names_path(struct lc_names *n, uint32_t node);
uint32_t lc_names_site(struct lc_names *n, uint32_t site);

#endif
