/* agent_undo.h - leaves the JVM as it was before the recording. */
#ifndef LC_AGENT_UNDO_H
#define LC_AGENT_UNDO_H

#include <jni.h>

/*
 * The recording has ended and all is written: take the hooks out of the classes, put back signal
 * handlers and import slots, end JVMTI's events, give back all memory. What stays is said. Then
 * another recording may begin. All that was allocated is gone, the caller's too. Context: a thread
 * of ours.
 */
void lc_agent_undo(JNIEnv *jni);

#endif
