/*
 * profile/names.h - numbers what a block names, and writes the sections that define it. For
 * profile_block.c only.
 *
 * A block holds the definitions that it uses and no others, so that each can be read alone.
 */
#ifndef LC_PROFILE_NAMES_H
#define LC_PROFILE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "src/format/encode.h"

struct lc_names; /* opaque. Context of all functions: [writer] */

/* Definitions go to *out, which stays the caller's. Returns NULL without memory. */
struct lc_names *lc_names_create(struct lc_sections *out);
void lc_names_free(struct lc_names *n); /* NULL is fine */

/* A new block: nothing is defined. */
void lc_names_begin(struct lc_names *n);

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
