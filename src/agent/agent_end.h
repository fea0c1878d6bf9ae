/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/agent_end.h - ends the recording: with the program, or before it, when its time
 * (--duration) is up or the profile holds what it may (--max-profile-size).
 */
#ifndef LC_AGENT_AGENT_END_H
#define LC_AGENT_AGENT_END_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

/* The recording begins: there is something to end. Context: [attach]. */
void lc_agent_end_open(JavaVM *vm);

/* Has the recording begun, and not ended? Context: any. */
bool lc_agent_records(void);

/*
 * Did a recording end while a disk that does not answer blocked its attribution thread? If so, the
 * JVM cannot be recorded again. Context: any.
 */
bool lc_agent_left_behind(void);

/* Has there been a recording, ended or not? Context: any. */
bool lc_agent_has_recorded(void);

/*
 * End the recording after `ns`, on a thread of ours that attaches to the JVM by then. If the thread
 * cannot be started, this prints a line, and the recording goes on. Context: [attach].
 */
void lc_agent_end_after(uint64_t ns);

/*
 * End the recording on that thread without waiting for it. Returns false if the thread cannot be
 * started. Context: [writer].
 */
bool lc_agent_end_soon(void);

/*
 * End the recording, and undo all (agent/agent_undo.h). Returns whether there was one that it was
 * this call to end. Context: a thread of ours.
 */
bool lc_agent_end_now(JNIEnv *jni);

/*
 * The program ends. If another thread ends the recording already, wait until all is written.
 * Context: [java], VMDeath.
 */
void lc_agent_end_with_program(JNIEnv *jni);

#endif
