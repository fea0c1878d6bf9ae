/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/reaches.h - sums up through which references the objects of a row were reached,
 * and why their headers were read.
 */
#ifndef LC_OBJECTS_ANALYSIS_REACHES_H
#define LC_OBJECTS_ANALYSIS_REACHES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/objects/analysis/ranking.h"
#include "src/format/kinds.h"

/* A reference. */
struct lc_reaches_one {
	uint32_t name; /* string */
	uint32_t kind; /* enum lc_reference */
	uint32_t path; /* of most of its samples */
	uint64_t samples;
	uint64_t path_samples; /* on that path */
};

/* A reason to read headers. */
struct lc_reaches_why {
	uint64_t samples;
	uint32_t path; /* of most of them */
	uint64_t path_samples;
};

struct lc_reaches {
	uint64_t samples;            /* of Java code at the row's objects */
	uint64_t known;              /* of these, those whose reference is known */
	uint64_t headers;            /* of these, those that read a header */
	struct lc_reaches_one *list; /* most samples first */
	size_t len;
	struct lc_reaches_why why[LC_WHYS];
};

/* If the row is an estimate, they are its whole class's. Free with lc_reaches_free(). */
struct lc_reaches lc_reaches_of(const struct lc_ranking *r, const struct lc_rank_row *row);
/* The same of all objects of the view. */
struct lc_reaches lc_reaches_of_all(const struct lc_view *v);
void lc_reaches_free(struct lc_reaches *reaches);

/*
 * "reached through Page.keys[] 74%, RootReference.root 12%, not known 14%"; nothing where no
 * reference is known. Names are without packages. If that is wider than `columns`, which are not 0,
 * it has fewer names, then one and nothing of the others, then a gap in that one, or there
 * is no room for the line.
 */
void lc_reaches_text(FILE *out, const struct lc_tree *t, const struct lc_reaches *reaches,
                     unsigned columns);

/*
 * A name without packages, in at most `columns`; 0: however many. The caller frees it. Pure
 * function.
 */
char *lc_reaches_name(struct lc_text name, unsigned columns);

/*
 * "header read: 58% for a virtual call at Page.get:12, 20% for an index check", as parts of
 * `whole` samples; nothing without a reason.
 */
void lc_reaches_text_why(FILE *out, const struct lc_tree *t, const struct lc_reaches *reaches,
                         uint64_t whole);

#endif
