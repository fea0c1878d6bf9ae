/* SPDX-License-Identifier: Apache-2.0 */
/* commands/track_from.h - chooses classes for --track by an earlier profile. */
#ifndef LC_COMMANDS_TRACK_FROM_H
#define LC_COMMANDS_TRACK_FROM_H

#include "src/base/options.h"

/* The row of the option, in the tables of `locus run` and `locus attach`. */
#define LC_TRACK_FROM_ROW                                                                          \
	{                                                                                          \
		"track-from", 0, "STRING", "PROFILE", "", "",                                      \
		    "track the classes whose allocation line the report of PROFILE lacks in its "  \
		    "first eight rows, as --track does"                                            \
	}

/*
 * Append the classes of the first rows of the profile's report that have no line to o->track, and
 * print them in a line on stderr, or that there are none. Returns 0, or an exit status after one
 * line: there is no profile, or the patterns become too long.
 */
int lc_track_from(const char *profile, struct lc_options *o);

#endif
