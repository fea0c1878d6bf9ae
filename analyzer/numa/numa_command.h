/* SPDX-License-Identifier: Apache-2.0 */
/* numa/numa_command.h - declares what the formats of `locus numa` share. */
#ifndef LC_NUMA_NUMA_COMMAND_H
#define LC_NUMA_NUMA_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "analyzer/numa/numa.h"
#include "analyzer/out/json.h"

struct lc_numa_report {
	const struct lc_numa *numa;
	size_t top;    /* sites to show; SIZE_MAX: all */
	bool simulate; /* show what `policy` would give, too */
	enum lc_numa_policy policy;
	uint32_t node;           /* row, for LC_NUMA_BIND */
	const char *policy_text; /* as given: "bind:1" */
	/*
	 * For the HTML page, which has the tables of the tree: paths are numbers, matrices and
	 * by_node lists of what is not 0, and each site shows LC_NUMA_COMPACT_THREADS threads at
	 * most.
	 */
	bool compact;
};

enum { LC_NUMA_COMPACT_THREADS = 16 };

/* One object of that name: "numa" of docs/JSON.md. */
void lc_numa_json(struct lc_json *j, const char *name, const struct lc_numa_report *r);
/* The report for a terminal. */
void lc_numa_text(FILE *out, const struct lc_numa_report *r);

#endif
