/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/agent_attach.h - is asked by the attach listener of the JVM: to start, to stop, how it
 * goes.
 *
 * `locus attach`, `detach`, `status`, `dump` and `holders` have the JVM load the library, each time
 * anew, with a text for Agent_OnAttach():
 *
 *     @COMMAND REPLY OPTIONS
 *
 * COMMAND is one of the five; REPLY is the path of an empty file of the JVM's user, which gets the
 * answer; OPTIONS are the agent's, those of agent/holders.h, or "holders NS" of a dump or detach:
 * what holds live objects is recorded, too, in a walk of at most NS. If they are longer than what
 * the JVM takes, the text ends with REPLY, and the file begins with the options. Without the first
 * two, as jcmd gives them, the text is the options of an attach, and the answer goes to stderr
 * where something fails.
 *
 * While an attach is worked off, "status" is answered at once with how far it is, and "detach" ends
 * it: hooks are put into no more classes, and the recording ends when it has begun. Other requests
 * are refused.
 *
 * An answer is lines of text, of which the last is "ok" or "failed"; lines before it that begin
 * with LC_ATTACH_PROGRESS (base/attach_answer.h) say how far the agent is. The file is locked by
 * flock() when Agent_OnAttach() has returned, until it is closed behind the answer.
 *
 * "@load" alone does nothing but have the library loaded, for src/java/api/, which then asks by a
 * native method (lc_agent_attach_ask()).
 */
#ifndef LC_AGENT_AGENT_ATTACH_H
#define LC_AGENT_AGENT_ATTACH_H

#include <jni.h>
#include <stdbool.h>

/*
 * Nobody but the caller begins or ends a recording until unlocked. Returns whether the lock was
 * free. Context: any but [signal].
 */
bool lc_agent_attach_try_lock(void);
void lc_agent_attach_unlock(void);

/* Until it is unset, requests are refused: who has set it gets the lock next. Context: as above. */
void lc_agent_attach_claim(bool claim);

/*
 * Wait until natives of the hook class are found in this library: the JVM does not look there
 * before Agent_OnAttach() has returned. Returns 0, or -ETIMEDOUT. Context: a thread of ours.
 */
int lc_agent_attach_linked(JNIEnv *jni, jclass hook);

/*
 * Do `@COMMAND REPLY OPTIONS` on the thread that does it for the listener. The answer goes to the
 * descriptor `reply`, which is closed behind it. Context: [java].
 */
void lc_agent_attach_ask(JavaVM *vm, const char *command, const char *options, int reply);

#endif
