/*
 * agent_waiting.h - keeps the classes whose hooks can wait until the JIT has compiled one of their
 * methods.
 *
 * More than half of the classes that the JVM has used before the agent have no site but calls of
 * StringBuilder.toString(). The hooks in toString() itself report its string, unless C2 has
 * replaced the whole chain of calls. To transform the classes is most of what starting costs, and
 * most programs that end soon never compile one of these methods. So the classes wait until C1 or
 * C2 has compiled a method with such a call, alone or as part of another one; then all of them are
 * transformed at once. C2 compiles what C1's code has run thousands of times.
 */
#ifndef LC_AGENT_WAITING_H
#define LC_AGENT_WAITING_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>

struct lc_rewrite_result;

enum { LC_WAITING_LOOKS = 4 };

/*
 * Let the class wait, of which lc_rewrite_look() has told `look`. Returns false where there is no
 * room. Context: [attach], before lc_waiting_open().
 */
bool lc_waiting_add(JNIEnv *jni, jclass class, const struct lc_rewrite_result *look);

/* From now on compiled methods are looked at. Returns the number of classes. Context: [attach]. */
size_t lc_waiting_open(void);

/*
 * To be called from CompiledMethodLoad; wakes the attribution thread where the wait is over.
 * Context: [java] or a compiler thread.
 */
void lc_waiting_compiled(jmethodID method, const void *compile_info);

/*
 * Look at some of the methods, at all of them in LC_WAITING_LOOKS calls: where the JVM does not
 * announce what it compiles. Context: [writer], inside of lc_peek_begin().
 */
void lc_waiting_look(void);

/* Is the wait over, and lc_waiting_take() not yet called? Context: any. */
bool lc_waiting_over(void);

/*
 * Set *classes to the classes, global references that are the caller's, and return their
 * number, once, when the wait is over; else return 0. Context: one thread of ours.
 */
size_t lc_waiting_take(jclass **classes);

#endif
