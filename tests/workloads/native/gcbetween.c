/*
 * gcbetween.c - an agent that has the JVM collect right after somebody has enabled the first of the
 * events GarbageCollectionStart and GarbageCollectionFinish. All JVMTI environments share one table
 * of functions; the agent puts a function of its own into it.
 */
#include <jvmti.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static jvmtiError(JNICALL *enable)(jvmtiEnv *, jvmtiEventMode, jvmtiEvent, jthread, ...);
static int collections;

static jvmtiError JNICALL enable_and_collect(jvmtiEnv *env, jvmtiEventMode mode, jvmtiEvent event,
                                             jthread thread, ...)
{
	jvmtiError error = enable(env, mode, event, thread);

	if (!error && mode == JVMTI_ENABLE && collections == 0 &&
	    (event == JVMTI_EVENT_GARBAGE_COLLECTION_START ||
	     event == JVMTI_EVENT_GARBAGE_COLLECTION_FINISH)) {
		collections++;
		(*env)->ForceGarbageCollection(env);
	}
	return error;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	struct jvmtiInterface_1_ *table;
	jvmtiEnv *jvmti;
	uintptr_t low;

	if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11))
		return JNI_ERR;
	table = (struct jvmtiInterface_1_ *)(uintptr_t)*jvmti;
	low = (uintptr_t)table & ~(page - 1);
	if (mprotect((void *)low, (uintptr_t)(table + 1) - low, PROT_READ | PROT_WRITE))
		return JNI_ERR;
	enable = table->SetEventNotificationMode;
	table->SetEventNotificationMode = enable_and_collect;
	return JNI_OK;
}

JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm)
{
	fprintf(stderr, "collected in between: %d\n", collections);
}
