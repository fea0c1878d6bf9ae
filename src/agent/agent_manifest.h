/* SPDX-License-Identifier: Apache-2.0 */
/* agent/agent_manifest.h - writes the manifest: what was profiled, how, and what was lost on the
 * way. */
#ifndef LC_AGENT_AGENT_MANIFEST_H
#define LC_AGENT_AGENT_MANIFEST_H

#include <stdbool.h>

struct lc_options;

/* Remember what does not change. Context: [attach], from VMInit on. Returns 0 or -errno. */
int lc_agent_manifest_init(const struct lc_options *options, bool attached);

/* Write the manifest as things stand; `final` when the program has ended. [attach] [writer] */
void lc_agent_manifest_write(bool final);

/*
 * All is written: what manifests tell from now on is of the next profile. Context: [writer].
 */
void lc_agent_manifest_next(void);

/*
 * The recording ends before the program does: manifests say so from now on. Context: any but
 * [signal].
 */
void lc_agent_manifest_limited(void);

#endif
