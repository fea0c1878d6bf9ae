/* agent_manifest.h - writes the manifest: what was profiled, how, and what was lost on the way. */
#ifndef LC_AGENT_MANIFEST_H
#define LC_AGENT_MANIFEST_H

#include <stdbool.h>

struct lc_options;
struct lc_profile;

/* Remember what does not change. Context: [attach], from VMInit on. Returns 0 or -errno. */
int lc_agent_manifest_init(const struct lc_options *options, struct lc_profile *profile);

/* Write the manifest as things stand; `final` when the program has ended. [attach] [writer] */
void lc_agent_manifest_write(bool final);

/*
 * The recording ends before the program does: manifests say so from now on. Context: any but
 * [signal].
 */
void lc_agent_manifest_limited(void);

/* All is written: close the profile's files. Context: [java], after the attribution thread's end.
 */
void lc_agent_manifest_close(void);

#endif
