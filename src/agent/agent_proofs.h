/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/agent_proofs.h - compares what is read out of this JVM with what JVMTI says, and tells what
 * this JVM is not known well enough for.
 */
#ifndef LC_AGENT_AGENT_PROOFS_H
#define LC_AGENT_AGENT_PROOFS_H

#include <jni.h>

#include "src/jvm/layout/ranges.h"

/*
 * Find and prove the structures of generated code. The agent asks the JVM instead of using a
 * structure without a proof. Returns 0, or -errno if the JVM refuses its events. Context: [attach].
 */
int lc_agent_proofs_code(struct lc_range interpreter);

/*
 * Find and prove classes, and say in one line what could not be proved of this version of the JDK.
 * Context: [attach].
 */
void lc_agent_proofs_classes(int jdk);

/* Judge what has appeared since: compiled methods, frames of stacks. Context: [writer]. */
void lc_agent_proofs_tick(void);

#endif
