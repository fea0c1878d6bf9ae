/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/run_profiles.h - finds the profiles that a run has written, and summarises them in one
 * line.
 */
#ifndef LC_COMMANDS_RUN_PROFILES_H
#define LC_COMMANDS_RUN_PROFILES_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

/*
 * Find the profiles at `output` (the agent's option, an absolute path; %p and %t in it match
 * anything) with a file that changed at or after `since`, by CLOCK_REALTIME_COARSE. All periods of
 * a --loop count as one. Returns how many there are. *last becomes the profile that changed last;
 * free() it. *last is NULL if there is none; `last` may be NULL.
 */
size_t lc_run_profiles(const char *output, const struct timespec *since, char **last);

/*
 * Print one line on stderr: where the profile is, or the last one of `count`, its first finding,
 * and the command that shows more. For a profile of many MB, which takes long to read, the line has
 * the size instead of the finding. For an unreadable one it has neither. `file` is the report that
 * was made of it, or NULL.
 */
void lc_run_summary(const char *profile, size_t count, const char *file);

/*
 * Report on a profile to `file`, as `locus report -f` does. Returns 0, or 1 where there is no
 * report; it has said why on stderr.
 */
int lc_run_report(const char *profile, const char *file);

#endif
