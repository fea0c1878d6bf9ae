/* SPDX-License-Identifier: Apache-2.0 */
/* findings_model.h - has a profile of one process that tests fill, and what is found in it. */
#ifndef LC_UNIT_FINDINGS_MODEL_H
#define LC_UNIT_FINDINGS_MODEL_H

#include <stdint.h>

#include "analyzer/objects/analysis/findings.h"
#include "analyzer/objects/analysis/ranking.h"
#include "analyzer/objects/analysis/sharing.h"

extern struct findings_model {
	struct lc_tree tree;
	struct lc_load_process process;
	struct lc_load_range range; /* the tool gives one, with or without --since */
	struct lc_load load;
	struct lc_view view;
	struct lc_ranking ranking;
	struct lc_sharing sharing;
	struct lc_findings found;
} model;

/* Setup and teardown of a test: a profile without samples, of the timer. */
int findings_begin(void **state);
int findings_end(void **state);

uint32_t findings_text(const char *s);

/* Samples of a place on a path; of no object; and of accesses in steps. */
void findings_sample(uint32_t bucket, uint32_t site, uint32_t path, uint64_t samples);
void findings_calculate(uint64_t samples);
void findings_step(uint32_t site, uint64_t bytes, uint64_t samples);

/* Samples at objects whose instruction waits in a way: LC_WAIT_. */
void findings_flags(uint32_t bucket, uint32_t site, uint32_t flags, uint64_t samples);

/* A thread's samples in 8 bytes of a cache line that others touch, too. */
void findings_share(uint32_t bucket, uint32_t thread, uint32_t site, uint32_t byte, uint32_t touch,
                    uint64_t samples);

/* Look for findings; the only one must be of that kind; there must be none. */
void findings_find(void);
const struct lc_finding *findings_only(enum lc_finding_kind kind);
void findings_none(void);

#endif
