/* agent.h - starts the agent in a JVM: for those that load it (agent.c, agent/agent_attach.c). */
#ifndef LC_AGENT_AGENT_H
#define LC_AGENT_AGENT_H

#include <jni.h>
#include <stdbool.h>

/*
 * Read the options, and ask the JVM for what is needed. What fails is said. Unless `attached`, the
 * recording starts when the JVM has begun. Returns 0 or -errno. Context: [attach].
 */
int lc_agent_prepare(JavaVM *vm, const char *options, bool attached);

/*
 * Start the recording in a JVM that runs, on a thread of ours, when the library that asks has been
 * loaded. What fails is said. Returns whether it has begun. Context: as said.
 */
bool lc_agent_start_attached(JNIEnv *jni);

struct lc_options;

/* Of the recording that runs: its options, and how long it runs. Context: any. */
const struct lc_options *lc_agent_options(void);
double lc_agent_seconds(void);

#endif
