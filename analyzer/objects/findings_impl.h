/* objects/findings_impl.h - what the files that look for findings share. */
#ifndef LC_OBJECTS_FINDINGS_IMPL_H
#define LC_OBJECTS_FINDINGS_IMPL_H

#include <stdio.h>

#include "analyzer/objects/findings.h"

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

/* What other analyses found: findings_other.c. */
void lc_finding_sharing(struct lc_finding_search *s);
void lc_finding_remote(struct lc_finding_search *s);
void lc_finding_spans(struct lc_finding_search *s);

#endif
