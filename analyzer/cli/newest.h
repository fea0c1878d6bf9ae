/* SPDX-License-Identifier: Apache-2.0 */
/* cli/newest.h - finds the profile to report if the command line names none. */
#ifndef LC_CLI_NEWEST_H
#define LC_CLI_NEWEST_H

/*
 * The name of the directory in the current one ("." for that itself) whose manifest was written
 * last, of equally old ones the last by name; free() it. NULL where no directory holds a manifest
 * of Locus's.
 */
char *lc_newest_profile(void);

#endif
