/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/identity.h - writes the identity of a report's row: bytes that are the same in
 * every profile, since trees number names differently.
 */
#ifndef LC_OBJECTS_ANALYSIS_IDENTITY_H
#define LC_OBJECTS_ANALYSIS_IDENTITY_H

#include <stdbool.h>
#include <stdio.h>

#include "analyzer/objects/analysis/ranking.h"

/* A text, and what ends it. */
void lc_identity_text(FILE *out, struct lc_text text);

void lc_identity_number(FILE *out, uint32_t number);

/* Class, name and signature of a row of tree.methods. */
void lc_identity_method(FILE *out, const struct lc_tree *t, uint32_t method);

/* A row of a ranking, as its group has it; without `lines` that of all lines of its method. */
void lc_identity_row(FILE *out, const struct lc_ranking *rank, const struct lc_rank_row *row,
                     bool lines);

#endif
