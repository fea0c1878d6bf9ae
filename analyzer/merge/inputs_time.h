/* SPDX-License-Identifier: Apache-2.0 */
/* merge/inputs_time.h - finds how much of a profile lies in the time that a merge wants. */
#ifndef LC_MERGE_INPUTS_TIME_H
#define LC_MERGE_INPUTS_TIME_H

#include "analyzer/model/load_range.h"

enum lc_merge_time {
	LC_MERGE_TIME_INSIDE,  /* all of it */
	LC_MERGE_TIME_PARTLY,  /* a part that can be told apart */
	LC_MERGE_TIME_OUTSIDE, /* nothing */
	LC_MERGE_TIME_UNKNOWN, /* a part that cannot be told apart, or not known; a line said so */
};

/*
 * Look at the profile in directory `path`. One that cannot be read is PARTLY in it: whoever reads
 * it says what is wrong.
 */
enum lc_merge_time lc_merge_time_of(const struct lc_load_range *r, const char *path);

#endif
