/* commands/run_profiles.h - finds what a run has written, and says so in one line. */
#ifndef LC_COMMANDS_RUN_PROFILES_H
#define LC_COMMANDS_RUN_PROFILES_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

/*
 * The profiles at `output` (the agent's option, an absolute path; %p and %t in it stand for
 * anything) of which a file changed at or after `since`, by CLOCK_REALTIME_COARSE. All periods of a
 * --loop are one. Returns how many there are. Of those, *last is the one that changed last; free()
 * it. NULL: there is none, or `last` is NULL.
 */
size_t lc_run_profiles(const char *output, const struct timespec *since, char **last);

/*
 * One line on stderr: where the profile is, or the last one of `count`, what it says first, and the
 * command that shows more. Of a profile of many MB it says the size alone, since reading it would
 * take long; nothing of one that cannot be read.
 * `file` is the report that was made of it, or NULL.
 */
void lc_run_summary(const char *profile, size_t count, const char *file);

/*
 * Report on a profile to `file`, as `locus report -f` does. Returns 0, or 1 where there is no
 * report; it has said why on stderr.
 */
int lc_run_report(const char *profile, const char *file);

#endif
