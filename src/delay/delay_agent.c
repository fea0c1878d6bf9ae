/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delay/delay_agent.c - is the JVMTI agent liblocus-delay.so, which delays chosen methods of a Java
 * program by known times.
 *
 * The agent is loaded beside a profiler, whose profile is then compared with the known delays. The
 * agent samples nothing, has no thread, and leaves the program's output and its end alone. It
 * transforms classes as they are loaded, and again those that were loaded before the JVM was ready.
 * It writes its results when the JVM ends.
 *
 * Lock: agent.lock guards agent.results; nothing is called with it held.
 */
#include <jvmti.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/delay/delay_class.h"
#include "src/delay/delay_cpu.h"
#include "src/delay/delay_options.h"
#include "src/delay/delay_result.h"

enum { ERROR_MAX = 256, NAME_MAX_BYTES = 24, LOCAL_REFERENCES = 4096 };

/* Results are written by each thread that loads such a class, all else by the load and VMInit. */
static struct {
	pthread_mutex_t lock;
	jvmtiEnv *jvmti;
	jclass counters; /* LC_DELAY_CLASS, a global reference */
	struct lc_delay_options options;
	struct lc_delay_result results[LC_DELAYS_MAX];
} agent = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void set_result(size_t i, const struct lc_delay_result *r)
{
	pthread_mutex_lock(&agent.lock);
	if (r->state >= agent.results[i].state)
		agent.results[i] = *r;
	pthread_mutex_unlock(&agent.lock);
}

static bool is_asked(const char *name)
{
	for (size_t i = 0; i < agent.options.len; i++)
		if (!strcmp(agent.options.delays[i].class_name, name))
			return true;
	return false;
}

/* The JVM owns the bytes of a class file that it gets: they are of its memory. */
static void hand_over(jvmtiEnv *jvmti, const uint8_t *bytes, size_t len, jint *new_len,
                      unsigned char **new_bytes)
{
	unsigned char *copy;

	if ((*jvmti)->Allocate(jvmti, (jlong)len, &copy) != JVMTI_ERROR_NONE)
		return;
	memcpy(copy, bytes, len);
	*new_bytes = copy;
	*new_len = (jint)len;
}

static void JNICALL on_class_file(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined, jobject loader,
                                  const char *name, jobject domain, jint len,
                                  const unsigned char *bytes, jint *new_len,
                                  unsigned char **new_bytes)
{
	const struct lc_delay_options *o = &agent.options;
	struct lc_delay_result results[LC_DELAYS_MAX];
	uint8_t *out = NULL;
	size_t out_len = 0;

	if (!name || !is_asked(name))
		return;
	if (lc_delay_rewrite(bytes, (size_t)len, o->delays, o->len, results, &out, &out_len) ==
	    LC_REWRITE_DONE)
		hand_over(jvmti, out, out_len, new_len, new_bytes);
	free(out);
	for (size_t i = 0; i < o->len; i++)
		set_result(i, &results[i]);
}

/* The JVM refuses to transform a class: so it says of the delays that are in it. */
static void note_refused(const char *name)
{
	pthread_mutex_lock(&agent.lock);
	for (size_t i = 0; i < agent.options.len; i++)
		if (!strcmp(agent.options.delays[i].class_name, name))
			agent.results[i] = (struct lc_delay_result){ .state = LC_DELAY_REFUSED };
	pthread_mutex_unlock(&agent.lock);
}

/* "Ljava/lang/String;" is asked for as "java/lang/String". */
static void transform_if_asked(jvmtiEnv *jvmti, jclass class)
{
	char *signature = NULL;
	size_t len;

	if ((*jvmti)->GetClassSignature(jvmti, class, &signature, NULL) != JVMTI_ERROR_NONE)
		return;
	len = strlen(signature);
	if (*signature == 'L' && len > 2) {
		signature[len - 1] = '\0';
		if (is_asked(signature + 1) &&
		    (*jvmti)->RetransformClasses(jvmti, 1, &class) != JVMTI_ERROR_NONE)
			note_refused(signature + 1);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
}

static void transform_loaded(jvmtiEnv *jvmti, JNIEnv *jni)
{
	jclass *classes = NULL;
	jint len = 0;

	if ((*jni)->PushLocalFrame(jni, LOCAL_REFERENCES)) {
		(*jni)->ExceptionClear(jni);
		return;
	}
	if ((*jvmti)->GetLoadedClasses(jvmti, &len, &classes) == JVMTI_ERROR_NONE) {
		for (jint i = 0; i < len; i++)
			transform_if_asked(jvmti, classes[i]);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
	}
	(*jni)->PopLocalFrame(jni, NULL);
}

static void set_iterations(JNIEnv *jni, jclass class)
{
	char name[NAME_MAX_BYTES];

	for (size_t i = 0; i < agent.options.len; i++) {
		jfieldID field;

		snprintf(name, sizeof(name), "n%zu", i);
		field = (*jni)->GetStaticFieldID(jni, class, name, "I");
		if (field)
			(*jni)->SetStaticIntField(jni, class, field,
			                          (jint)agent.options.delays[i].iterations);
	}
}

/* Asking for a field initializes the class. */
static bool define_counters(JNIEnv *jni)
{
	uint8_t *bytes = NULL;
	size_t len = 0;
	jclass class;

	if (!lc_delay_class_create(agent.options.len, &bytes, &len))
		return false;
	class = (*jni)->DefineClass(jni, LC_DELAY_CLASS, NULL, (const jbyte *)bytes, (jsize)len);
	free(bytes);
	if (class && (*jni)->GetStaticFieldID(jni, class, "seed", "J")) {
		set_iterations(jni, class);
		agent.counters = (*jni)->NewGlobalRef(jni, class);
	}
	(*jni)->ExceptionClear(jni);
	return agent.counters != NULL;
}

static void JNICALL on_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	if (!define_counters(jni)) {
		fputs("locus-delay: the JVM refused the class " LC_DELAY_CLASS
		      "; no method is delayed\n",
		      stderr);
		return;
	}
	if ((*jvmti)->SetEventNotificationMode(
	        jvmti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL) == JVMTI_ERROR_NONE)
		transform_loaded(jvmti, jni);
}

static void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	lc_delay_cpu_begin();
}

static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	lc_delay_cpu_end();
}

static uint64_t java_cpu_ns(jvmtiEnv *jvmti)
{
	jthread *threads = NULL;
	uint64_t sum;
	jint len = 0;

	lc_delay_cpu_begin(); /* the JVM has said the end of this thread, which is listed too */
	sum = lc_delay_cpu_ended_ns();
	if ((*jvmti)->GetAllThreads(jvmti, &len, &threads) != JVMTI_ERROR_NONE)
		return sum;
	for (jint i = 0; i < len; i++) {
		jlong ns = 0;

		if ((*jvmti)->GetThreadCpuTime(jvmti, threads[i], &ns) == JVMTI_ERROR_NONE)
			sum += (uint64_t)ns;
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)threads);
	return sum;
}

static int64_t read_counter(JNIEnv *jni, char kind, size_t i)
{
	char name[NAME_MAX_BYTES];
	jfieldID field;

	snprintf(name, sizeof(name), "%c%zu", kind, i);
	field = (*jni)->GetStaticFieldID(jni, agent.counters, name, "J");
	return field ? (*jni)->GetStaticLongField(jni, agent.counters, field) : 0;
}

static void JNICALL on_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
	const struct lc_delay_options *o = &agent.options;
	struct lc_delay_times times = { .java_cpu_ns = java_cpu_ns(jvmti),
		                        .process_cpu_ns = lc_delay_cpu_process_ns() };
	struct lc_delay_result results[LC_DELAYS_MAX];
	struct lc_delay_counts counts[LC_DELAYS_MAX];
	int err;

	times.ns_per_iteration = lc_delay_cpu_iteration_ns();
	for (size_t i = 0; i < o->len && agent.counters; i++)
		counts[i] = (struct lc_delay_counts){ read_counter(jni, 'c', i),
			                              read_counter(jni, 'd', i) };
	pthread_mutex_lock(&agent.lock);
	memcpy(results, agent.results, sizeof(results));
	pthread_mutex_unlock(&agent.lock);
	for (size_t i = 0; i < o->len; i++)
		if (results[i].state != LC_DELAY_IN_PLACE)
			fprintf(stderr, "locus-delay: %s is not delayed: %s\n", o->asked[i],
			        lc_delay_result_text(results[i].state));
	err = lc_delay_result_write(o, results, agent.counters ? counts : NULL, &times);
	if (err)
		fprintf(stderr, "locus-delay: cannot write %s: %s\n", o->out, strerror(-err));
}

static bool start(JavaVM *vm)
{
	static const jvmtiEvent events[] = { JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH,
		                             JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END };
	const jvmtiCapabilities capabilities = {
		.can_generate_all_class_hook_events = 1,
		.can_retransform_classes = 1,
		.can_get_thread_cpu_time = 1,
	};
	const jvmtiEventCallbacks callbacks = {
		.VMInit = on_init,
		.VMDeath = on_death,
		.ThreadStart = on_thread_start,
		.ThreadEnd = on_thread_end,
		.ClassFileLoadHook = on_class_file,
	};
	jvmtiEnv *jvmti;

	if ((*vm)->GetEnv(vm, (void **)&agent.jvmti, JVMTI_VERSION_1_2) != JNI_OK)
		return false;
	jvmti = agent.jvmti;
	if ((*jvmti)->AddCapabilities(jvmti, &capabilities) != JVMTI_ERROR_NONE ||
	    (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks)) != JVMTI_ERROR_NONE)
		return false;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if ((*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL) !=
		    JVMTI_ERROR_NONE)
			return false;
	return true;
}

/* Whatever fails, the program runs: without delays. */
JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *text, void *reserved)
{
	char error[ERROR_MAX] = "out of memory";

	if (lc_delay_options_parse(&agent.options, text, error, sizeof(error)))
		fprintf(stderr, "locus-delay: %s; no method is delayed\n", error);
	else if (!start(vm))
		fputs("locus-delay: the JVM refuses a JVMTI capability that the agent needs; no "
		      "method is delayed\n",
		      stderr);
	return JNI_OK;
}
