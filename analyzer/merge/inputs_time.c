/* SPDX-License-Identifier: Apache-2.0 */
/* merge/inputs_time.c - compares the times of a profile with the wanted times. */
#include "analyzer/merge/inputs_time.h"

#include "analyzer/base/fail.h"
#include "analyzer/model/summary.h"

static enum lc_merge_time time_of(const struct lc_load_range *r, const struct lc_summary *s)
{
	const uint64_t since = r->since_wall_ns;
	const uint64_t until = r->until_wall_ns ? r->until_wall_ns : UINT64_MAX;

	if (!s->end_wall_ns) {
		lc_note("%s: has no times to choose by", s->path);
		return LC_MERGE_TIME_UNKNOWN;
	}
	if (s->end_wall_ns <= since || s->start_wall_ns >= until)
		return LC_MERGE_TIME_OUTSIDE;
	if (s->start_wall_ns >= since && s->end_wall_ns <= until)
		return LC_MERGE_TIME_INSIDE;
	if (!s->merged)
		return LC_MERGE_TIME_PARTLY;
	lc_note("%s: was merged and cannot be divided by time", s->path);
	return LC_MERGE_TIME_UNKNOWN;
}

enum lc_merge_time lc_merge_time_of(const struct lc_load_range *r, const char *path)
{
	enum lc_merge_time found;
	struct lc_summary s;

	if (lc_summary_read(&s, path))
		return LC_MERGE_TIME_PARTLY;
	found = time_of(r, &s);
	lc_summary_free(&s);
	return found;
}
