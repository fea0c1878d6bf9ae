/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge/asked.h - holds the choices for a merge: which processes and times count, which keys keep
 * call paths apart, and which labels processes get.
 */
#ifndef LC_MERGE_ASKED_H
#define LC_MERGE_ASKED_H

#include <jansson.h>

#include "analyzer/model/load_range.h"
#include "analyzer/model/where.h"

/* All of it is the caller's, and outlives the merge; NULL: not asked for. */
struct lc_merge_asked {
	const struct lc_where_terms *where;
	const struct lc_by *by;
	json_t *labels;                    /* object: of all processes that do not have them */
	const struct lc_load_range *range; /* by the wall clock */
};

#endif
