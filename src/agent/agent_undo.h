/* agent/agent_undo.h - leaves the JVM as it was before the recording. */
#ifndef LC_AGENT_AGENT_UNDO_H
#define LC_AGENT_AGENT_UNDO_H

#include <jni.h>

/*
 * The recording has ended and all is written: take the hooks out of the classes, put back signal
 * handlers and import slots, end JVMTI's events, give back what was mapped. What stays is said.
 * Then another recording may begin, to which static variables are new. Context: a thread of ours.
 */
void lc_agent_undo(JNIEnv *jni);

#endif
