/* SPDX-License-Identifier: Apache-2.0 */
/* cli/choose.c - reads the options that choose processes and times. */
#include "analyzer/cli/choose.h"

#include <string.h>
#include <time.h>

#include "analyzer/base/fail.h"
#include "analyzer/model/load_range.h"

int lc_choose_no_time(const char *name, const char *value)
{
	return lc_usage("--%s: '%.64s' is not a time, such as 14:30, '2026-11-24 14:30', 90s, "
	                "10min or 1h",
	                name, value);
}

uint64_t lc_choose_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int lc_choose_time(const struct lc_option_info *row, const char *value, uint64_t now_ns,
                   uint64_t *out)
{
	return lc_load_range_wall(value, now_ns, out) ? 0 : lc_choose_no_time(row->name, value);
}

bool lc_choose_processes(struct lc_where_terms *where, struct lc_by *by, const char *name,
                         const char *value, int *status)
{
	const char *wrong;

	*status = 0;
	if (!strcmp(name, "where"))
		wrong = lc_where_add(where, value);
	else if (!strcmp(name, "by"))
		wrong = lc_by_add(by, value);
	else
		return false;
	if (wrong)
		*status = lc_usage("--%s: '%.64s' %s", name, value, wrong);
	return true;
}
