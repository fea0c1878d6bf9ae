/*
 * core/jvmti.h - is the one home of the agent's jvmtiEnv, through which all modules ask the JVM.
 *
 * A JVMTI callback is given the same pointer and may use either.
 */
#ifndef LC_CORE_JVMTI_H
#define LC_CORE_JVMTI_H

#include <jvmti.h>

/*
 * Set it, before any module is started; it stays valid until the program ends. Context: [attach].
 */
void lc_jvmti_set(jvmtiEnv *jvmti);

/* The agent's environment, or NULL before lc_jvmti_set(). Context: any; which calls may be made on
 * it depends on the caller's context. */
jvmtiEnv *lc_jvmti(void);

#endif
