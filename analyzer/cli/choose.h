/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/choose.h - reads the options that choose processes and times of many profiles: --where, --by,
 * and --since and --until by wall-clock time.
 */
#ifndef LC_CLI_CHOOSE_H
#define LC_CLI_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/where.h"
#include "src/base/options.h"

#define LC_CHOOSE_ROW_WHERE                                                                        \
	{                                                                                          \
		"where", 0, "STRING", "KEY=PATTERN", "", "",                                       \
		    "count only processes whose KEY (host, process, pid, command, jdk, gc, "       \
		    "start or a label) matches PATTERN (repeatable); separate several patterns "   \
		    "with ';'"                                                                     \
	}
#define LC_CHOOSE_ROW_BY                                                                           \
	{                                                                                          \
		"by", 0, "STRING", "KEY", "", "",                                                  \
		    "group call paths by KEY (host, process, a label or another key of "           \
		    "--where), which becomes their outermost frame (repeatable)"                   \
	}

/*
 * Set what --where and --by choose. Returns whether `name` is one of these, with *status then 0, or
 * LC_EXIT_USAGE after one line on stderr.
 */
bool lc_choose_processes(struct lc_where_terms *where, struct lc_by *by, const char *name,
                         const char *value, int *status);

/* One line on stderr: the value of an option is no time. Returns LC_EXIT_USAGE. */
int lc_choose_no_time(const char *name, const char *value);

/* CLOCK_REALTIME in ns. */
uint64_t lc_choose_now(void);

/*
 * Set a time by the wall clock, of an option that is --since or --until of many profiles: a length
 * of time is before `now_ns`, a time of day the last one before it. Returns 0, or LC_EXIT_USAGE
 * after one line on stderr.
 */
int lc_choose_time(const struct lc_option_info *row, const char *value, uint64_t now_ns,
                   uint64_t *out);

#endif
