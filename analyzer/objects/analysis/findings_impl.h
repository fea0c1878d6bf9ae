/* objects/analysis/findings_impl.h - what the files that look for findings share. */
#ifndef LC_OBJECTS_ANALYSIS_FINDINGS_IMPL_H
#define LC_OBJECTS_ANALYSIS_FINDINGS_IMPL_H

#include <stdio.h>

#include "analyzer/objects/analysis/findings.h"
#include "analyzer/objects/analysis/touch.h"

/* What is being looked for: the list so far. */
struct lc_finding_search {
	struct lc_findings *found;
	const struct lc_findings_of *of;
	const struct lc_view *v;
	const struct lc_tree *t;
	size_t cap;
};

/* A text in the arena of the findings; `text` is freed. */
const char *lc_finding_keep(struct lc_finding_search *s, char *text);

/* One more of a kind; `number` is what it is about, the same in every profile. */
struct lc_finding *lc_finding_add(struct lc_finding_search *s, enum lc_finding_kind kind,
                                  uint64_t number);

/*
 * What the accesses alone are worth: " Accesses alone: up to 1.12x (1.05 to 1.21)." A change that
 * removes an object gains its making, clearing and collecting as well. Where nearly all is in one
 * object the number says nothing but that.
 */
void lc_finding_put_gain(FILE *out, double share, double low, double high);

/*
 * findings_rules.c: when samples at a row are no finding, and when they are of headers alone.
 *
 * Does the row say where time goes? It does not where the instructions that waited are not the
 * accesses, most of the time; nor where all its objects together fit the first cache of a core and
 * no other thread takes their lines away.
 */
bool lc_finding_costs_time(const struct lc_finding_search *s, const struct lc_rank_row *row,
                           const struct lc_touch *touch);

/* Is the header all that the row's objects are fetched for, by nearly all samples? */
bool lc_finding_header_alone(const struct lc_touch *touch);

/*
 * Samples in headers of objects that are fetched for them alone, and the classes that they are of,
 * as lc_touch_headers() has them. The caller frees the array.
 */
struct lc_touch_class *lc_finding_headers_alone(const struct lc_finding_search *s, size_t *len,
                                                struct lc_weighted *header);

/* What other analyses found: findings_other.c. */
void lc_finding_sharing(struct lc_finding_search *s);
void lc_finding_remote(struct lc_finding_search *s);
void lc_finding_spans(struct lc_finding_search *s);

#endif
