/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offheap/nmt_ask.c - lets the JVM run its diagnostic command VM.native_memory.
 *
 * The JDK's library for the management of a JVM has a native method that runs a command: it knows
 * the JVM's table of functions, whose order differs between versions. The JDK itself may load that
 * library later, or have done so: its JNI_OnLoad() sets variables to the same values each time.
 */
#include "src/offheap/nmt.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/counters.h"
#include "src/core/jvmti.h"
#include "src/jvm/layout/ranges.h"

#define LIBRARY "/lib/libmanagement_ext.so"
#define METHOD "Java_com_sun_management_internal_DiagnosticCommandImpl_executeDiagnosticCommand"

static struct {
	bool on;    /* the JVM counts */
	bool found; /* the functions were looked for */
	jstring (*run)(JNIEnv *jni, jobject ignored, jstring command);
	jlong (*heap_max)(void), (*heap_total)(void), (*heap_free)(void);
	uint64_t asked, answered;
} nmt;

void lc_nmt_begin(void)
{
	nmt.on = lc_ranges_counts();
}

/* A function of the library. No conversion of pointers does this in C. */
static bool find(void *library, const char *name, void *function)
{
	void *at = library ? dlsym(library, name) : NULL;

	memcpy(function, &at, sizeof(at));
	return at;
}

static void *open_library(void)
{
	char *home = NULL, path[4096];
	int len;

	if ((*lc_jvmti())->GetSystemProperty(lc_jvmti(), "java.home", &home))
		return NULL;
	len = snprintf(path, sizeof(path), "%s" LIBRARY, home);
	(*lc_jvmti())->Deallocate(lc_jvmti(), (unsigned char *)home);
	return len > 0 && (size_t)len < sizeof(path) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

/* Run-time images without the module jdk.management have no such library. */
static void find_functions(JNIEnv *jni)
{
	void *library = open_library(), *jvm = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
	jint (*load)(JavaVM * vm, void *reserved);
	JavaVM *vm;

	nmt.found = true;
	if (!find(library, "JNI_OnLoad", &load) || (*jni)->GetJavaVM(jni, &vm) ||
	    !find(jvm, "JVM_MaxMemory", &nmt.heap_max) ||
	    !find(jvm, "JVM_TotalMemory", &nmt.heap_total) ||
	    !find(jvm, "JVM_FreeMemory", &nmt.heap_free))
		return;
	if (load(vm, NULL) > 0)
		(void)find(library, METHOD, &nmt.run);
	(*jni)->ExceptionClear(jni);
}

static bool heap_has_room(void)
{
	const jlong max = nmt.heap_max(), used = nmt.heap_total() - nmt.heap_free();

	return max > 0 && used >= 0 && lc_nmt_has_room((uint64_t)max, (uint64_t)used);
}

static size_t take_answer(JNIEnv *jni, jstring answer, struct lc_nmt_row *out, size_t cap)
{
	const char *text = (*jni)->GetStringUTFChars(jni, answer, NULL);
	size_t len = text ? lc_nmt_parse(text, out, cap) : 0;

	if (text)
		(*jni)->ReleaseStringUTFChars(jni, answer, text);
	return len;
}

size_t lc_nmt_ask(JNIEnv *jni, struct lc_nmt_row *out, size_t cap)
{
	jstring command, answer;
	size_t len = 0;

	if (!nmt.on || !jni)
		return 0;
	if (!nmt.found)
		find_functions(jni);
	if (!nmt.run || !heap_has_room())
		return 0;
	nmt.asked++;
	command = (*jni)->NewStringUTF(jni, "VM.native_memory summary");
	answer = command ? nmt.run(jni, NULL, command) : NULL;
	if (answer && !(*jni)->ExceptionCheck(jni))
		len = take_answer(jni, answer, out, cap);
	(*jni)->ExceptionClear(jni);
	(*jni)->DeleteLocalRef(jni, answer);
	(*jni)->DeleteLocalRef(jni, command);
	nmt.answered += len != 0;
	return len;
}

static const struct lc_counter counters[] = {
	LC_COUNTER("nmt_asked", &nmt.asked),
	LC_COUNTER("nmt_answered", &nmt.answered),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
