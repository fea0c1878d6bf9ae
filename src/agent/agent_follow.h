/* SPDX-License-Identifier: Apache-2.0 */
/* agent/agent_follow.h - finds out whether objects can be followed while the collector moves them.
 */
#ifndef LC_AGENT_AGENT_FOLLOW_H
#define LC_AGENT_AGENT_FOLLOW_H

#include <jni.h>
#include <stdbool.h>

struct lc_options;

/*
 * Make ready for a collector that moves objects while the program runs: all copies are logged from
 * then on. Returns false, and says why, where objects cannot be followed with the collector.
 * Context: [attach]; lc_areas_init() first, which failed.
 */
bool lc_agent_follow_in_order(JNIEnv *jni, const struct lc_options *options);

#endif
