/*
 * agent_waiting.h - keeps the classes whose hooks can wait until the JIT has compiled one of their
 * methods.
 *
 * More than half of the classes that the JVM has used before the agent have no site but calls of
 * StringBuilder.toString(). The hooks in toString() itself report its string, unless C2 has
 * replaced the whole chain of calls. To transform the classes is most of what starting costs, and
 * most of these methods are never compiled. So a class waits until C1 or C2 has compiled a method
 * of it with such a call, alone or as part of another one. C2 compiles what C1's code has run
 * thousands of times.
 *
 * The others go on waiting: what is being compiled while any class is exchanged is compiled once
 * more, and so is all code with a method of that class in it; java.lang.Object is among them.
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
 * To be called from CompiledMethodLoad; wakes the attribution thread where a wait is over.
 * Context: [java] or a compiler thread.
 */
void lc_waiting_compiled(jmethodID method, const void *compile_info);

/*
 * Look at some of the methods, at all of them in LC_WAITING_LOOKS calls, the last of which tells
 * what was found: where the JVM does not announce what it compiles. Context: [writer], inside of
 * lc_peek_begin().
 */
void lc_waiting_look(void);

/* Is there a class for lc_waiting_take()? Context: any. */
bool lc_waiting_over(void);

/*
 * Set classes[] to those that need wait no more, `max` at most, global references that are the
 * caller's, and return their number; each is taken once. Context: one thread of ours at a time.
 */
size_t lc_waiting_take(jclass *classes, size_t max);

#endif
