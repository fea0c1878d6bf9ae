/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/canonical.h - orders a tree's content by names, not by time of arrival: two trees with the
 * same content are written alike.
 */
#ifndef LC_MODEL_CANONICAL_H
#define LC_MODEL_CANONICAL_H

#include "analyzer/model/tree.h"

/*
 * Ranks of a tree's rows: 0 is the first. Texts are ordered by their bytes; methods, frames and
 * sites by what they are made of; paths so that each is before its children, which are ordered by
 * their frames; threads by process and index.
 */
struct lc_canonical {
	const struct lc_tree *tree;
	uint32_t *strings;
	uint32_t *frames;
	uint32_t *paths;
	uint32_t *sites;
	uint32_t *threads;
};

/* Stops the program without memory. Free with lc_canonical_free(). */
void lc_canonical_init(struct lc_canonical *c, const struct lc_tree *t);
void lc_canonical_free(struct lc_canonical *c);

/* The rows of a table of the tree, in order; for free(). */
uint32_t *lc_canonical_section(const struct lc_canonical *c, enum lc_section section);
uint32_t *lc_canonical_sites(const struct lc_canonical *c);
uint32_t *lc_canonical_threads(const struct lc_canonical *c);
uint32_t *lc_canonical_shares(const struct lc_canonical *c);
uint32_t *lc_canonical_executions(const struct lc_canonical *c);
uint32_t *lc_canonical_traces(const struct lc_canonical *c);

#endif
