/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/tools/sample_agent.c - runs the sampling engine alone, as a JVMTI agent.
 *
 * Takes the agent's place around src/sample: threads, epochs, events, and a reader that drains
 * the logs. Java programs drive it through the natives of class SampleAgent:
 *   start()              begin to keep samples (they are taken and dropped before)
 *   stop()               keep no more
 *   watch(object, name)  count the samples inside this object; it must not move any more
 *   nodes(array)         likewise for small objects: all elements of the array together
 *   report(file)         write the counts as lines of "key value"
 */
#include <jvmti.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/options.h"
#include "src/core/epoch.h"
#include "src/core/thread.h"
#include "src/core/wake.h"
#include "src/jvm/code/code_cache.h"
#include "src/jvm/layout/vmstructs.h"
#include "src/sample/decode.h"
#include "src/sample/engine.h"
#include "src/sample/sample_log.h"

enum { WATCHED_MAX = 64, KEPT_MAX = 1 << 20, TOP = 24 };

struct kept {
	uint64_t addr, pc, leaf;
	int32_t frames_len;
	uint8_t where, how;
};

struct watched {
	uint64_t start, end;
	char name[64];
};

static jvmtiEnv *ti;
static _Atomic uint32_t gc_sequence;
static _Atomic bool keeping, finished;
static pthread_t reader;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept *kept;
static size_t kept_len;
static uint64_t drained;
static struct watched watched[WATCHED_MAX];
static int watched_len;
static uint64_t *nodes; /* start addresses, sorted */
static size_t nodes_len;
static uint64_t node_bytes;

uint32_t lc_epoch_gc_sequence(void)
{
	return atomic_load_explicit(&gc_sequence, memory_order_acquire);
}

static void drain(struct lc_thread *t)
{
	const struct lc_sample *s;

	while (t->samples && (s = lc_sample_log_peek(t->samples))) {
		drained++;
		if (atomic_load(&keeping) && kept_len < KEPT_MAX)
			kept[kept_len++] =
			    (struct kept){ .addr = s->addr,
				           .pc = s->pc,
				           .leaf = s->frames_len > 0 ? s->frames[0] : 0,
				           .frames_len = s->frames_len,
				           .where = s->where,
				           .how = s->how };
		lc_sample_log_drop(t->samples);
	}
}

static void drain_all(void)
{
	struct lc_thread *t, *next;

	pthread_mutex_lock(&lock);
	lc_threads_lock();
	for (t = lc_threads_first(); t; t = next) {
		const bool ended = atomic_load_explicit(&t->ended, memory_order_acquire);

		next = t->next;
		drain(t);
		if (ended) {
			lc_threads_unlink(t);
			lc_engines_thread_free(t);
			free(t);
		}
	}
	lc_threads_unlock();
	pthread_mutex_unlock(&lock);
}

static void *read_logs(void *unused)
{
	while (!atomic_load(&finished)) {
		lc_wake_wait(50000000);
		drain_all();
	}
	return unused;
}

static void JNICALL on_thread_start(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
	struct lc_thread *t;

	if (lc_thread_self())
		return;
	t = lc_thread_create((int32_t)syscall(SYS_gettid), "", true);
	if (!t)
		return;
	lc_thread_bind(t);
	if (lc_engines_thread_start(t))
		fputs("sample_agent: thread not started\n", stderr);
	lc_thread_publish(t);
}

static void JNICALL on_thread_end(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
	struct lc_thread *t = lc_thread_self();

	if (!t)
		return;
	lc_engines_thread_stop(t);
	lc_thread_bind(NULL);
	atomic_store_explicit(&t->ended, true, memory_order_release);
}

static void JNICALL on_compiled(jvmtiEnv *env, jmethodID method, jint size, const void *address,
                                jint map_len, const jvmtiAddrLocationMap *map, const void *info)
{
	lc_code_cache_compiled_method_load(method, size, address, map_len, map, info);
}

static void JNICALL on_unloaded(jvmtiEnv *env, jmethodID method, const void *address)
{
	lc_code_cache_compiled_method_unload(method, address);
}

static void JNICALL on_dynamic(jvmtiEnv *env, const char *name, const void *address, jint length)
{
	lc_code_cache_dynamic_code_generated(name, address, length);
}

static void JNICALL on_class_load(jvmtiEnv *env, JNIEnv *jni, jthread thread, jclass c)
{
}

static void make_method_ids(jclass c)
{
	jmethodID *methods = NULL;
	jint len;

	if (!(*ti)->GetClassMethods(ti, c, &len, &methods))
		(*ti)->Deallocate(ti, (unsigned char *)methods);
}

static void JNICALL on_class_prepare(jvmtiEnv *env, JNIEnv *jni, jthread thread, jclass c)
{
	make_method_ids(c);
}

static void JNICALL on_gc_start(jvmtiEnv *env)
{
	atomic_fetch_add(&gc_sequence, 1);
}

static void set_events(const jvmtiEvent *events, size_t len)
{
	for (size_t i = 0; i < len; i++)
		(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, events[i], NULL);
}

static void JNICALL on_vm_init(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
	static const jvmtiEvent events[] = { JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END };
	struct lc_options options;
	jclass *classes;
	jint len;
	int err;

	memset(&options, 0, sizeof(options));
	options.interval_ns = getenv("SAMPLE_INTERVAL_US")
	                          ? strtoull(getenv("SAMPLE_INTERVAL_US"), NULL, 10) * 1000
	                          : 5000000;
	options.depth = 256;
	if (lc_vm_init())
		fputs("sample_agent: no VM structures\n", stderr);
	err = lc_engines_start(jni, &options);
	if (err) {
		fprintf(stderr, "sample_agent: start: %s\n", strerror(-err));
		return;
	}
	(*env)->GenerateEvents(env, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
	(*env)->GenerateEvents(env, JVMTI_EVENT_COMPILED_METHOD_LOAD);
	if (!(*env)->GetLoadedClasses(env, &len, &classes)) {
		for (jint i = 0; i < len; i++)
			make_method_ids(classes[i]);
		(*env)->Deallocate(env, (unsigned char *)classes);
	}
	set_events(events, sizeof(events) / sizeof(*events));
	on_thread_start(env, jni, thread);
	pthread_create(&reader, NULL, read_logs, NULL);
}

static void JNICALL on_vm_death(jvmtiEnv *env, JNIEnv *jni)
{
	struct lc_engine_stats stats;

	if (!reader)
		return;
	lc_engines_stop();
	atomic_store(&finished, true);
	lc_wake();
	pthread_join(reader, NULL);
	drain_all();
	lc_engines_stats(0, &stats);
	if (getenv("SAMPLE_VERBOSE"))
		fprintf(stderr, "sample_agent: %llu samples, %llu lost, %llu read\n",
		        (unsigned long long)stats.samples, (unsigned long long)stats.lost,
		        (unsigned long long)drained);
	if (stats.samples - stats.lost != drained)
		fputs("sample_agent: FAILED: samples do not add up\n", stderr);
}

JNIEXPORT void JNICALL Java_SampleAgent_start(JNIEnv *jni, jclass c);
JNIEXPORT void JNICALL Java_SampleAgent_stop(JNIEnv *jni, jclass c);
JNIEXPORT void JNICALL Java_SampleAgent_watch(JNIEnv *jni, jclass c, jobject o, jstring name);
JNIEXPORT void JNICALL Java_SampleAgent_nodes(JNIEnv *jni, jclass c, jobjectArray all);
JNIEXPORT void JNICALL Java_SampleAgent_report(JNIEnv *jni, jclass c, jstring file);

JNIEXPORT void JNICALL Java_SampleAgent_start(JNIEnv *jni, jclass c)
{
	drain_all();
	atomic_store(&keeping, true);
}

JNIEXPORT void JNICALL Java_SampleAgent_stop(JNIEnv *jni, jclass c)
{
	drain_all();
	atomic_store(&keeping, false);
}

JNIEXPORT void JNICALL Java_SampleAgent_watch(JNIEnv *jni, jclass c, jobject o, jstring name)
{
	struct watched *w = &watched[watched_len++];
	const char *text = (*jni)->GetStringUTFChars(jni, name, NULL);
	jlong size = 0;

	(*ti)->GetObjectSize(ti, o, &size);
	w->start = *(uint64_t *)o; /* a handle; no collection runs while the tests watch */
	w->end = w->start + (uint64_t)size;
	snprintf(w->name, sizeof(w->name), "%s", text);
	(*jni)->ReleaseStringUTFChars(jni, name, text);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

JNIEXPORT void JNICALL Java_SampleAgent_nodes(JNIEnv *jni, jclass c, jobjectArray all)
{
	const jsize len = (*jni)->GetArrayLength(jni, all);
	jlong size = 0;

	nodes = calloc((size_t)len, sizeof(*nodes));
	for (jsize i = 0; i < len; i++) {
		jobject o = (*jni)->GetObjectArrayElement(jni, all, i);

		if (!i)
			(*ti)->GetObjectSize(ti, o, &size);
		nodes[i] = *(uint64_t *)o;
		(*jni)->DeleteLocalRef(jni, o);
	}
	nodes_len = (size_t)len;
	node_bytes = (uint64_t)size;
	qsort(nodes, nodes_len, sizeof(*nodes), by_value);
}

static bool in_a_node(uint64_t addr)
{
	size_t low = 0, high = nodes_len;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (nodes[middle] <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low && addr - nodes[low - 1] < node_bytes;
}

static const char *watched_name(uint64_t addr)
{
	for (int i = 0; i < watched_len; i++)
		if (addr >= watched[i].start && addr < watched[i].end)
			return watched[i].name;
	return NULL;
}

static void line_of(uint64_t leaf, char *out, size_t out_len)
{
	const jmethodID method = (jmethodID)(uintptr_t)(leaf & LC_ADDR_MASK);
	jvmtiLineNumberEntry *lines = NULL;
	char *name = NULL;
	jint len = 0, line = -1;

	if (!leaf || (*ti)->GetMethodName(ti, method, &name, NULL, NULL)) {
		snprintf(out, out_len, "?");
		return;
	}
	if (!(*ti)->GetLineNumberTable(ti, method, &len, &lines))
		for (jint i = 0; i < len; i++)
			if (lines[i].start_location <= (jlong)(leaf >> LC_ADDR_BITS))
				line = lines[i].line_number;
	snprintf(out, out_len, "%s:%d", name, line);
	(*ti)->Deallocate(ti, (unsigned char *)name);
	(*ti)->Deallocate(ti, (unsigned char *)lines);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "samples.NAME.METHOD:LINE N" for each watched object and each leaf line. */
static void write_lines(FILE *f)
{
	char **keys = calloc(kept_len + 1, sizeof(*keys));
	size_t run = 0;

	for (size_t i = 0; i < kept_len; i++) {
		char line[256], key[512];
		const char *name = watched_name(kept[i].addr);

		line_of(kept[i].leaf, line, sizeof(line));
		snprintf(key, sizeof(key), "line.%s.%s",
		         name           ? name
		         : kept[i].addr ? "elsewhere"
		                        : "unknown",
		         line);
		keys[i] = strdup(key);
	}
	qsort(keys, kept_len, sizeof(*keys), by_text);
	for (size_t i = 0; i < kept_len; i++) {
		run++;
		if (i + 1 == kept_len || strcmp(keys[i], keys[i + 1])) {
			fprintf(f, "%s %zu\n", keys[i], run);
			run = 0;
		}
	}
	for (size_t i = 0; i < kept_len; i++)
		free(keys[i]);
	free(keys);
}

static void write_counts(FILE *f)
{
	static const char *const hows[] = { "direct",     "nearby",    "base",      "trap",
		                            "no_operand", "destroyed", "undecoded", "not_java" };
	static const char *const wheres[] = { "compiled", "stub", "interpreter", "jvm", "native" };
	size_t how[LC_HOW_COUNT][LC_WHERE_COUNT] = { { 0 } }, errors[16] = { 0 };
	size_t in[WATCHED_MAX] = { 0 }, node[LC_HOW_COUNT][2] = { { 0 } };

	for (size_t i = 0; i < kept_len; i++) {
		how[kept[i].how][kept[i].where]++;
		node[kept[i].how][in_a_node(kept[i].addr)] += kept[i].addr != 0;
		if (kept[i].frames_len <= 0)
			errors[kept[i].frames_len > -15 ? -kept[i].frames_len : 15]++;
		for (int k = 0; k < watched_len; k++)
			in[k] += kept[i].addr >= watched[k].start && kept[i].addr < watched[k].end;
	}
	fprintf(f, "total %zu\n", kept_len);
	for (int w = 0; w < LC_WHERE_COUNT; w++)
		for (int h = 0; h < LC_HOW_COUNT; h++)
			if (how[h][w])
				fprintf(f, "how.%s.%s %zu\n", wheres[w], hows[h], how[h][w]);
	for (int h = 0; nodes_len && h < LC_HOW_COUNT; h++)
		if (node[h][0] + node[h][1])
			fprintf(f, "nodes.%s.in %zu\nnodes.%s.out %zu\n", hows[h], node[h][1],
			        hows[h], node[h][0]);
	for (int k = 0; k < watched_len; k++)
		fprintf(f, "watched.%s %zu\n", watched[k].name, in[k]);
	for (int e = 0; e < 16; e++)
		if (errors[e])
			fprintf(f, "walk.%d %zu\n", -e, errors[e]);
}

JNIEXPORT void JNICALL Java_SampleAgent_report(JNIEnv *jni, jclass c, jstring file)
{
	const char *name = (*jni)->GetStringUTFChars(jni, file, NULL);
	FILE *f = fopen(name, "w");
	struct lc_engine_stats stats;
	struct lc_sampler_stats traps;

	(*jni)->ReleaseStringUTFChars(jni, file, name);
	if (!f)
		return;
	drain_all();
	pthread_mutex_lock(&lock);
	write_counts(f);
	write_lines(f);
	lc_engines_stats(0, &stats);
	lc_sampler_stats(&traps);
	fprintf(f, "stats.samples %llu\nstats.lost %llu\nstats.overruns %llu\n",
	        (unsigned long long)stats.samples, (unsigned long long)stats.lost,
	        (unsigned long long)stats.overruns);
	fprintf(f, "stats.armed %llu\nstats.hit %llu\nstats.missed %llu\nstats.trap_errors %llu\n",
	        (unsigned long long)traps.traps_armed, (unsigned long long)traps.traps_hit,
	        (unsigned long long)traps.traps_missed, (unsigned long long)traps.trap_errors);
	if (getenv("SAMPLE_DUMP"))
		for (size_t i = 0; i < kept_len; i++)
			fprintf(f, "sample %#lx %#lx %u %u %d\n", kept[i].pc, kept[i].addr,
			        kept[i].where, kept[i].how, kept[i].frames_len);
	kept_len = 0;
	pthread_mutex_unlock(&lock);
	fclose(f);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	static const jvmtiEvent events[] = { JVMTI_EVENT_COMPILED_METHOD_LOAD,
		                             JVMTI_EVENT_COMPILED_METHOD_UNLOAD,
		                             JVMTI_EVENT_DYNAMIC_CODE_GENERATED,
		                             JVMTI_EVENT_CLASS_LOAD,
		                             JVMTI_EVENT_CLASS_PREPARE,
		                             JVMTI_EVENT_GARBAGE_COLLECTION_START,
		                             JVMTI_EVENT_GARBAGE_COLLECTION_FINISH,
		                             JVMTI_EVENT_VM_INIT,
		                             JVMTI_EVENT_VM_DEATH };
	jvmtiCapabilities capabilities;
	jvmtiEventCallbacks callbacks;

	memset(&capabilities, 0, sizeof(capabilities));
	memset(&callbacks, 0, sizeof(callbacks));
	if ((*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_1_2) != JNI_OK)
		return JNI_ERR;
	capabilities.can_generate_compiled_method_load_events = 1;
	capabilities.can_generate_garbage_collection_events = 1;
	capabilities.can_get_line_numbers = 1;
	if ((*ti)->AddCapabilities(ti, &capabilities))
		return JNI_ERR;
	callbacks.CompiledMethodLoad = on_compiled;
	callbacks.CompiledMethodUnload = on_unloaded;
	callbacks.DynamicCodeGenerated = on_dynamic;
	callbacks.ClassLoad = on_class_load;
	callbacks.ClassPrepare = on_class_prepare;
	callbacks.GarbageCollectionStart = on_gc_start;
	callbacks.GarbageCollectionFinish = on_gc_start;
	callbacks.VMInit = on_vm_init;
	callbacks.VMDeath = on_vm_death;
	callbacks.ThreadStart = on_thread_start;
	callbacks.ThreadEnd = on_thread_end;
	(*ti)->SetEventCallbacks(ti, &callbacks, sizeof(callbacks));
	set_events(events, sizeof(events) / sizeof(*events));
	if (lc_wake_init())
		return JNI_ERR;
	kept = calloc(KEPT_MAX, sizeof(*kept));
	return kept ? JNI_OK : JNI_ERR;
}
