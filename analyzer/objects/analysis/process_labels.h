/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/process_labels.h - gives the facts that all processes of a call path share:
 * host, pid, JDK and labels.
 *
 * A path that --by keeps apart belongs to the processes of its group. Any other path may belong to
 * all processes that were read.
 */
#ifndef LC_OBJECTS_ANALYSIS_PROCESS_LABELS_H
#define LC_OBJECTS_ANALYSIS_PROCESS_LABELS_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/base/table.h"
#include "analyzer/model/load.h"

/* Both are strings of the load's tree. */
struct lc_process_label {
	uint32_t key, value;
};

struct lc_process_group {
	struct lc_process_label *labels; /* by key */
	size_t len;
};

struct lc_process_labels {
	const struct lc_load *load;
	struct lc_table rows; /* key: the path of a group, or 0; row: of `groups` */
	struct lc_process_group *groups;
	size_t cap;
	uint32_t *roots; /* the path of each process's group */
};

/*
 * Adds strings to the load's tree, here and in lc_process_labels_of(). Free with
 * lc_process_labels_free().
 */
void lc_process_labels_build(struct lc_process_labels *l, const struct lc_load *load);
void lc_process_labels_free(struct lc_process_labels *l);

/*
 * The host, jdk, pid and labels that all processes of path `path` share. Unknown ones are left out.
 * *l owns the result, which is valid until the next call.
 */
const struct lc_process_group *lc_process_labels_of(struct lc_process_labels *l, uint32_t path);

#endif
