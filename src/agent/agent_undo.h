/* SPDX-License-Identifier: Apache-2.0 */
/* agent/agent_undo.h - leaves the JVM as it was before the recording. */
#ifndef LC_AGENT_AGENT_UNDO_H
#define LC_AGENT_AGENT_UNDO_H

#include <jni.h>

/*
 * The recording has ended and all is written: take the hooks out of the classes, put back signal
 * handlers and import slots, end JVMTI's events, unmap memory. Prints what stays. Afterwards
 * another recording may begin with fresh static variables. Context: a thread of ours.
 */
void lc_agent_undo(JNIEnv *jni);

#endif
