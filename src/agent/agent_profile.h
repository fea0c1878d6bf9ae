/* SPDX-License-Identifier: Apache-2.0 */
/* agent/agent_profile.h - makes the directories of profiles, and looks after how much is in them.
 */
#ifndef LC_AGENT_AGENT_PROFILE_H
#define LC_AGENT_AGENT_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

struct lc_options;
struct lc_profile;

/* Make the directory. Prints errors. Returns 0 or -errno. Context: [attach]. */
int lc_agent_profile_open(const struct lc_options *options);

/* The profile that is being written; NULL before and after. Context: [attach] [writer]. */
struct lc_profile *lc_agent_profile(void);

/* Its directory. Context: any, from lc_agent_profile_open() on. */
const char *lc_agent_profile_directory(void);

/*
 * Is it time to begin the next profile (--loop)? Ends the recording if the profiles have reached
 * their size limit. Context: [writer], some times a second.
 */
bool lc_agent_profile_is_over(uint64_t now_ns);

/*
 * All that is recorded so far is in its blocks: end the profile, and begin the next one, which is
 * returned; or go on with the same one, which is said. Context: [writer].
 */
struct lc_profile *lc_agent_profile_next(uint64_t now_ns);

/* All is written: close the files. Context: a thread of ours, after the attribution thread's end.
 */
void lc_agent_profile_close(void);

#endif
