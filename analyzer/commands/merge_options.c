/* SPDX-License-Identifier: Apache-2.0 */
/* commands/merge_options.c - reads the options that `locus merge` and `locus-mpi merge` share. */
#include "analyzer/commands/merge_options.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/cli/args.h"

enum row {
	ROW_OUTPUT,
	ROW_PRUNE,
	ROW_JOBS,
	ROW_MEMORY,
	ROW_LABEL,
	ROW_WHERE,
	ROW_BY,
	ROW_SINCE,
	ROW_UNTIL,
	ROW_COUNT
};

static const struct lc_option_info rows[ROW_COUNT] = {
	[ROW_OUTPUT] = { "output", 'o', "STRING", "DIR", "", "",
	                 "directory of the new profile (required)" },
	[ROW_PRUNE] = { "prune", 0, "STRING", "SHARE", "", "",
	                "fold call paths below SHARE of everything counted, such as 0.01%" },
	[ROW_MEMORY] = { "max-memory", 0, "STRING", "SIZE", "", "",
	                 "use at most SIZE of memory, such as 500m or 2g" },
	[ROW_JOBS] = { "jobs", 'j', "COUNT", "N", "", "",
	               "read with N threads, 1 to 1024; default: one per CPU" },
	[ROW_LABEL] = LC_MERGE_ROW_LABEL,
	[ROW_WHERE] = LC_CHOOSE_ROW_WHERE,
	[ROW_BY] = LC_CHOOSE_ROW_BY,
	[ROW_SINCE] = LC_MERGE_ROW_SINCE,
	[ROW_UNTIL] = LC_MERGE_ROW_UNTIL,
};

enum { OWN_MAX = 16 /* rows of a command */ };
enum { JOBS_MAX = 1024, OWN_BYTES = 8 << 20 /* of the program and its libraries */ };

const struct lc_option_info *lc_merge_option_table(const struct lc_option_info *own, size_t own_len,
                                                   size_t *count)
{
	static struct lc_option_info all[ROW_COUNT + OWN_MAX];

	memcpy(all, rows, sizeof(rows));
	memcpy(all + ROW_COUNT, own, own_len * sizeof(*own));
	*count = ROW_COUNT + own_len;
	return all;
}

/* The kernel keeps the limit whatever the profiles hold. */
void lc_merge_limit_memory(const struct lc_merge_options *o)
{
	const rlim_t bytes = o->reduce.max_memory_bytes - OWN_BYTES;
	const struct rlimit limit = { bytes, bytes };

	if (o->reduce.max_memory_bytes && !setrlimit(RLIMIT_DATA, &limit))
		lc_mem_hint("--max-memory is too small");
}

static int set_jobs(struct lc_merge_options *o, const char *value)
{
	unsigned long number;

	if (!value || lc_args_number(value, JOBS_MAX, &number) || !number)
		return lc_usage("merge: --jobs takes a number from 1 to %d", JOBS_MAX);
	o->reduce.jobs = (unsigned)number;
	return 0;
}

/* A share, "0.01%" or "0.0001", above 0 and below 1. */
static int set_share(struct lc_merge_options *o, const char *value)
{
	char *end = NULL;
	double share = value ? strtod(value, &end) : 0;

	if (end && *end == '%') {
		share /= 100;
		end++;
	}
	if (!end || end == value || *end || !(share > 0 && share < 1))
		return lc_usage("merge: --prune takes a share above 0 and below 100%%, such as "
		                "0.01%%");
	o->reduce.prune = share;
	return 0;
}

/* Bytes, "500m" or "2g". Less than this is too little for anything. */
static int set_memory(struct lc_merge_options *o, const char *value)
{
	static const char units[] = "kmgt";
	const uint64_t least = UINT64_C(64) << 20, most = UINT64_C(1) << 50;
	char *end = NULL;
	uint64_t bytes = value && *value >= '0' && *value <= '9' ? strtoull(value, &end, 10) : 0;
	const char *unit = end && *end ? strchr(units, *end | ' ') : NULL;

	for (const char *u = units; unit && u <= unit && bytes < most; u++)
		bytes *= 1024;
	if (!end || (*end && (!unit || end[1])) || bytes < least || bytes >= most)
		return lc_usage("merge: --max-memory takes a size of at least 64m, such as 500m "
		                "or 2g");
	o->reduce.max_memory_bytes = bytes;
	return 0;
}

int lc_merge_option_set(struct lc_merge_options *o, int row, const char *value, int *status)
{
	*status = 0;
	switch (row) {
	case ROW_OUTPUT:
		o->output = value;
		return -1;
	case ROW_JOBS:
		*status = set_jobs(o, value);
		return -1;
	case ROW_PRUNE:
		*status = set_share(o, value);
		return -1;
	case ROW_MEMORY:
		*status = set_memory(o, value);
		return -1;
	default:
		if (row >= ROW_COUNT)
			return row - ROW_COUNT;
		(void)lc_merge_choice_set(&o->choice, &rows[row], value, status);
		return -1;
	}
}

int lc_merge_options_check(struct lc_merge_options *o, size_t count)
{
	if (!o->output)
		return lc_usage("merge: name the output directory with -o");
	if (!count)
		return lc_usage("merge: name the profiles to merge");
	o->reduce.asked = lc_merge_choice_asked(&o->choice);
	return 0;
}

void lc_merge_options_free(struct lc_merge_options *o)
{
	lc_merge_choice_free(&o->choice);
}
