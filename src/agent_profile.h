/* agent_profile.h - makes the profile's directory, and looks after how much is in it. */
#ifndef LC_AGENT_PROFILE_H
#define LC_AGENT_PROFILE_H

struct lc_options;
struct lc_profile;

/* Make the directory. What fails is said. Returns 0 or -errno. Context: [attach]. */
int lc_agent_profile_open(const struct lc_options *options);

/* The profile that is being written; NULL before and after. Context: [attach] [writer]. */
struct lc_profile *lc_agent_profile(void);

/* Its directory. Context: any, from lc_agent_profile_open() on. */
const char *lc_agent_profile_directory(void);

/* Have the recording ended where the profile holds what it may. Context: [writer], now and then. */
void lc_agent_profile_look(void);

/* All is written: close the files. Context: a thread of ours, after the attribution thread's end.
 */
void lc_agent_profile_close(void);

#endif
