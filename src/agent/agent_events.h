/* SPDX-License-Identifier: Apache-2.0 */
/* agent/agent_events.h - has the callbacks of JVMTI's events. */
#ifndef LC_AGENT_AGENT_EVENTS_H
#define LC_AGENT_AGENT_EVENTS_H

#include <jvmti.h>
#include <stdbool.h>

#include "src/jvm/layout/ranges.h"

/* Set all callbacks but VMInit. Context: [attach]. */
void lc_agent_events_callbacks(jvmtiEventCallbacks *out);

/* Range of the interpreter's code, once the JVM has reported its code. Context: [attach]. */
struct lc_range lc_agent_events_interpreter(void);

/* Has a collection begun of which the end has not been seen? Context: any. */
bool lc_agent_events_in_gc(void);

/*
 * May code that the program or the JVM calls use the recording's data? If so,
 * lc_agent_events_leave() follows, and the recording is not over before. Context: any but [signal].
 */
bool lc_agent_events_enter(void);
void lc_agent_events_leave(void);

/* Is a thread between the two, in a callback or not? Context: any. */
bool lc_agent_events_inside(void);

#endif
