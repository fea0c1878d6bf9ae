/* SPDX-License-Identifier: Apache-2.0 */
/* agent.h - starts the agent in a JVM: for those that load it (agent.c, agent/agent_attach.c). */
#ifndef LC_AGENT_AGENT_H
#define LC_AGENT_AGENT_H

#include <jni.h>
#include <stdbool.h>

/*
 * Read the options, and ask the JVM for the capabilities that the agent needs. Prints errors.
 * Unless `attached`, the recording starts in VMInit. Returns 0 or -errno. Context: [attach].
 */
int lc_agent_prepare(JavaVM *vm, const char *options, bool attached);

/*
 * Start the recording in a JVM that runs, once the library that asks is loaded. Prints errors.
 * Returns whether the recording has begun. Context: a thread of ours.
 */
bool lc_agent_start_attached(JNIEnv *jni);

struct lc_options;

/* Options and age of the current recording. Context: any. */
const struct lc_options *lc_agent_options(void);
double lc_agent_seconds(void);

#endif
