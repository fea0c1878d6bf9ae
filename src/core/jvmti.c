/* core/jvmti.c - keeps the agent's jvmtiEnv. */
#include "src/core/jvmti.h"

/* Written once by lc_jvmti_set(), before there are threads of ours or hooks that read it. */
static jvmtiEnv *env;

void lc_jvmti_set(jvmtiEnv *jvmti)
{
	env = jvmti;
}

jvmtiEnv *lc_jvmti(void)
{
	return env;
}
