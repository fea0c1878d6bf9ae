/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_agent.c - rewrites every class that it is shown, as a JVMTI agent, and counts what
 * happens.
 *
 * For tests of the rewriter, without the profiler. Options, separated by commas: `off` (rewrite
 * nothing), `min-size=N` (default 1; 0 hooks every `new` too), `constructed` (with 0: as the audit
 * does), `large` (objects of every class may reach the threshold), `watched` (objects and arrays of
 * every class are watched), `spans`, `spans=streams`, `spans=tasks` (spans first), `types=N` (what
 * every class is taken for, LC_SPAN_IS_), `delay=N` (before the hooks, each return of each method
 * is delayed by N iterations), `delay-last` (behind the hooks instead), `no-hooks` (only that). At
 * exit a line on stderr tells how many classes there were, and `refused` how many were not taken
 * back by RetransformClasses; with `spans` another one tells how often each hook was called, and
 * `unbalanced` how many threads had more ends than begins, or more begins than ends when they
 * ended.
 *
 * LinkAll.mode() gives other options to the classes of class loaders from then on.
 *
 * It exports what the hook class needs, counts allocations by size, and for LinkAll and
 * CountAll what they call.
 */
#include <jvmti.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/classfile/class_file.h"
#include "src/classfile/hook_class.h"
#include "src/classfile/rewrite.h"
#include "src/classfile/span_rewrite.h"

enum { WORDS_MAX = 1 << 20 };

/* The same value as in the hook class. No thread is in it, so each `new` is reported by native
 * code. */
static uint64_t threads[4096 * 2];

static struct {
	jvmtiEnv *jvmti;
	bool off, constructed, large, watched;
	unsigned spans; /* LC_SPAN_STREAMS, LC_SPAN_TASKS */
	uint32_t types;
	bool delay, delay_last, no_hooks;
	uint32_t iterations;
	bool of_loaders; /* the boot loader's classes are left alone */
	_Atomic uint64_t versions[LC_CLASS_MAJOR_MAX + 1];
	_Atomic uint64_t span_status[LC_REWRITE_STATUS_COUNT], span_sites, span_methods_left,
	    mismatches;
	uint64_t min_size_bytes;
	_Atomic uint32_t next_site;
	_Atomic uint64_t status[LC_REWRITE_STATUS_COUNT];
	_Atomic uint64_t sites, skipped_constant, methods_left, refused;
	_Atomic uint64_t by_words[WORDS_MAX];
	_Atomic uint64_t objects, made;
} agent = { .min_size_bytes = 1 };

/* The object that a replaceable method's body reported; by address, so tests must not collect. */
static __thread const void *remembered;

static uint32_t next_site(void *user)
{
	return atomic_fetch_add(&agent.next_site, 1) % (LC_SITE_LIMIT - 1) + 1;
}

static void fill_options(struct lc_rewrite_options *o)
{
	*o = (struct lc_rewrite_options){
		.min_size_bytes = agent.min_size_bytes,
		.array_header_bytes = 16,
		.reference_bytes = 4,
		.exact = true,
		.objects = !agent.min_size_bytes,
		.constructed = agent.constructed,
		.force_object = agent.large,
		.next_site = next_site,
	};
}

/* The address behind a local reference: good for telling objects apart between collections. */
static const void *address(jobject o)
{
	return *(const void *const *)o;
}

static bool counts(jobject o, jint site)
{
	bool seen = remembered && remembered == address(o);

	if ((uint32_t)site & LC_SITE_IN_BODY) {
		remembered = address(o);
		return false;
	}
	if ((uint32_t)site & LC_SITE_AFTER_CALL)
		remembered = NULL;
	return !((uint32_t)site & LC_SITE_AFTER_CALL) || !seen;
}

JNIEXPORT void JNICALL Java_java_lang_LocusHook_alloc(JNIEnv *env, jclass self, jobject array,
                                                      jint words, jint site);
JNIEXPORT void JNICALL Java_java_lang_LocusHook_alloc(JNIEnv *env, jclass self, jobject array,
                                                      jint words, jint site)
{
	if (counts(array, site) && (uint32_t)words < WORDS_MAX)
		atomic_fetch_add_explicit(&agent.by_words[words], 1, memory_order_relaxed);
}

JNIEXPORT void JNICALL Java_java_lang_LocusHook_allocObject(JNIEnv *env, jclass self, jobject o,
                                                            jint site);
JNIEXPORT void JNICALL Java_java_lang_LocusHook_allocObject(JNIEnv *env, jclass self, jobject o,
                                                            jint site)
{
	atomic_fetch_add_explicit(&agent.objects, 1, memory_order_relaxed);
}

JNIEXPORT void JNICALL Java_java_lang_LocusHook_allocString(JNIEnv *env, jclass self, jobject array,
                                                            jint words, jobject string, jint site);
JNIEXPORT void JNICALL Java_java_lang_LocusHook_allocString(JNIEnv *env, jclass self, jobject array,
                                                            jint words, jobject string, jint site)
{
	Java_java_lang_LocusHook_alloc(env, self, array, words, site);
}

JNIEXPORT void JNICALL Java_java_lang_LocusHook_madeSlowly(JNIEnv *env, jclass self, jlong thread,
                                                           jclass type, jint site, jlong address);
JNIEXPORT void JNICALL Java_java_lang_LocusHook_madeSlowly(JNIEnv *env, jclass self, jlong thread,
                                                           jclass type, jint site, jlong address)
{
	atomic_fetch_add_explicit(&agent.made, 1, memory_order_relaxed);
}

JNIEXPORT void JNICALL Java_java_lang_LocusHook_memoryAllocated(JNIEnv *env, jclass self,
                                                                jlong address, jlong bytes);
JNIEXPORT void JNICALL Java_java_lang_LocusHook_memoryAllocated(JNIEnv *env, jclass self,
                                                                jlong address, jlong bytes)
{
}

JNIEXPORT void JNICALL Java_java_lang_LocusHook_memoryMapped(JNIEnv *env, jclass self,
                                                             jlong address, jlong bytes);
JNIEXPORT void JNICALL Java_java_lang_LocusHook_memoryMapped(JNIEnv *env, jclass self,
                                                             jlong address, jlong bytes)
{
}

JNIEXPORT void JNICALL Java_java_lang_LocusHook_memoryFreed(JNIEnv *env, jclass self,
                                                            jlong address);
JNIEXPORT void JNICALL Java_java_lang_LocusHook_memoryFreed(JNIEnv *env, jclass self, jlong address)
{
}

JNIEXPORT void JNICALL Java_java_lang_LocusHook_constructed(JNIEnv *env, jclass self, jobject o);
JNIEXPORT void JNICALL Java_java_lang_LocusHook_constructed(JNIEnv *env, jclass self, jobject o)
{
}

/* long CountAll.allocated(int words), long CountAll.objects(), boolean LinkAll.isLinked(Class). */
JNIEXPORT jlong JNICALL Java_CountAll_allocated(JNIEnv *env, jclass self, jint words);
JNIEXPORT jlong JNICALL Java_CountAll_allocated(JNIEnv *env, jclass self, jint words)
{
	return (jlong)atomic_load(&agent.by_words[words]);
}

JNIEXPORT jlong JNICALL Java_CountAll_objects(JNIEnv *env, jclass self);
JNIEXPORT jlong JNICALL Java_CountAll_objects(JNIEnv *env, jclass self)
{
	return (jlong)atomic_load(&agent.objects);
}

JNIEXPORT jboolean JNICALL Java_LinkAll_isLinked(JNIEnv *env, jclass self, jclass c);
JNIEXPORT jboolean JNICALL Java_LinkAll_isLinked(JNIEnv *env, jclass self, jclass c)
{
	jint status = 0;

	(*agent.jvmti)->GetClassStatus(agent.jvmti, c, &status);
	return (status & JVMTI_CLASS_STATUS_VERIFIED) != 0;
}

/* Apart: LocusSpan's natives are of no use to the tests of allocations. */
#include "tests/tools/verify_delays.h"
#include "tests/tools/verify_spans.h"

/*
 * The class with its delays in *result: those that were put in before the hooks, where there is no
 * hook; or those that are to be put in behind them.
 */
static enum lc_rewrite_status with_delays(enum lc_rewrite_status status, const uint8_t *bytes,
                                          size_t len, uint8_t **delayed, size_t *delayed_len,
                                          struct lc_rewrite_result *result)
{
	if (agent.delay_last)
		rewrite_delays(status == LC_REWRITE_DONE ? result->bytes : bytes,
		               status == LC_REWRITE_DONE ? result->len : len, delayed, delayed_len);
	else if (status != LC_REWRITE_NOTHING)
		return status;
	if (!*delayed)
		return status;
	free(result->bytes);
	result->bytes = *delayed;
	result->len = *delayed_len;
	*delayed = NULL;
	return LC_REWRITE_DONE;
}

static void JNICALL class_file_load(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined, jobject loader,
                                    const char *name, jobject domain, jint len,
                                    const unsigned char *bytes, jint *new_len,
                                    unsigned char **new_bytes)
{
	struct lc_rewrite_options options;
	struct lc_rewrite_result result = { 0 }, spans = { 0 };
	uint8_t *delayed = NULL;
	size_t delayed_len = 0;
	enum lc_rewrite_status status;

	const char *const watched[] = { name ? name : "?", "[B", "[[I", "[Ljava/lang/Object;",
		                        "[Ljava/lang/String;" };

	if (agent.off || (agent.of_loaders && !loader))
		return;
	if (len > 8 && bytes[7] <= LC_CLASS_MAJOR_MAX)
		atomic_fetch_add(&agent.versions[bytes[7]], 1);
	if (agent.delay && !agent.delay_last)
		rewrite_delays(bytes, (size_t)len, &delayed, &delayed_len);
	if (delayed) {
		bytes = delayed;
		len = (jint)delayed_len;
	}
	fill_options(&options);
	options.watched = watched;
	options.watched_len = agent.watched ? sizeof(watched) / sizeof(watched[0]) : 0;
	if (agent.spans)
		rewrite_spans(name, bytes, (size_t)len, loader == NULL, &spans);
	status = agent.no_hooks
	             ? LC_REWRITE_NOTHING
	             : lc_rewrite_class(spans.bytes ? spans.bytes : bytes,
	                                spans.bytes ? spans.len : (size_t)len, &options, &result);
	atomic_fetch_add(&agent.status[status], 1);
	atomic_fetch_add(&agent.sites, result.sites);
	atomic_fetch_add(&agent.skipped_constant, result.skipped_constant);
	atomic_fetch_add(&agent.methods_left, result.methods_left);
	if (status == LC_REWRITE_NOTHING && spans.bytes) {
		result = spans;
		status = LC_REWRITE_DONE;
		spans.bytes = NULL;
	}
	if (agent.delay)
		status = with_delays(status, bytes, (size_t)len, &delayed, &delayed_len, &result);
	if (status == LC_REWRITE_DONE &&
	    (*jvmti)->Allocate(jvmti, (jlong)result.len, new_bytes) == JVMTI_ERROR_NONE) {
		memcpy(*new_bytes, result.bytes, result.len);
		*new_len = (jint)result.len;
	} else if (status != LC_REWRITE_DONE && status != LC_REWRITE_NOTHING) {
		fprintf(stderr, "verify_agent: %s: %s\n", name ? name : "?",
		        lc_rewrite_status_name(status));
	}
	free(result.bytes);
	free(spans.bytes);
	free(delayed);
}

static void retransform_loaded(jvmtiEnv *jvmti)
{
	jclass *classes;
	jint len;

	if ((*jvmti)->GetLoadedClasses(jvmti, &len, &classes) != JVMTI_ERROR_NONE)
		return;
	for (jint i = 0; i < len; i++) {
		jboolean modifiable = JNI_FALSE;
		jvmtiError err;
		char *name = NULL;

		(*jvmti)->IsModifiableClass(jvmti, classes[i], &modifiable);
		if (!modifiable)
			continue;
		err = (*jvmti)->RetransformClasses(jvmti, 1, &classes[i]);
		if (err == JVMTI_ERROR_NONE)
			continue;
		(*jvmti)->GetClassSignature(jvmti, classes[i], &name, NULL);
		fprintf(stderr, "verify_agent: %s: retransformation: error %d\n", name ? name : "?",
		        (int)err);
		atomic_fetch_add(&agent.refused, 1);
	}
}

static void JNICALL vm_init(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	static const struct lc_hook_layout layout = {
		.base_bytes = { 16, 16, 16, 16, 16 },
		.reference_bytes = 4,
		.object_align_bytes = 8,
		.gives_arrays = true, /* which alloc() counts */
	};
	struct lc_hook_layout mine = layout;
	uint8_t *bytes;
	size_t len;

	mine.min_size_bytes = agent.min_size_bytes;
	mine.objects = !agent.min_size_bytes;
	mine.eetop = 16; /* whatever is there */
	/* Zeros: no object is watched. */
	mine.sequence = mine.threads = mine.watching = (uint64_t)(uintptr_t)threads;
	if (lc_hook_class_create(&mine, &bytes, &len) != 0 ||
	    !(*env)->DefineClass(env, LC_HOOK_CLASS, NULL, (const jbyte *)bytes, (jsize)len)) {
		fprintf(stderr, "verify_agent: no hook class\n");
		exit(3);
	}
	free(bytes);
	define_spans(env);
	define_delays(env, agent.iterations);
	if (agent.off)
		return; /* until LinkAll.mode() is called */
	(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,
	                                   NULL);
	retransform_loaded(jvmti);
}

static void JNICALL vm_death(jvmtiEnv *jvmti, JNIEnv *env)
{
	uint64_t all = 0;
	char delays[256];

	for (int s = 0; s < LC_REWRITE_STATUS_COUNT; s++)
		all += agent.status[s];
	fprintf(
	    stderr,
	    "verify_agent: classes=%lu rewritten=%lu sites=%lu skipped_constant=%lu "
	    "methods_left=%lu malformed=%lu unsupported=%lu too_large=%lu refused=%lu made=%lu\n",
	    all, agent.status[LC_REWRITE_DONE], agent.sites, agent.skipped_constant,
	    agent.methods_left, agent.status[LC_REWRITE_MALFORMED],
	    agent.status[LC_REWRITE_UNSUPPORTED], agent.status[LC_REWRITE_TOO_LARGE], agent.refused,
	    agent.made);
	if (agent.spans)
		print_spans();
	take_delays(delays, sizeof(delays));
	fprintf(stderr, "verify_agent delays:%s\n", delays);
}

static int parse(char *options)
{
	char *save = NULL;

	agent.off = agent.constructed = agent.large = agent.watched = false;
	agent.delay = agent.delay_last = agent.no_hooks = false;
	agent.spans = agent.types = 0;
	agent.min_size_bytes = 1;
	for (char *o = strtok_r(options, ",", &save); o; o = strtok_r(NULL, ",", &save)) {
		if (strcmp(o, "off") == 0) {
			agent.off = true;
		} else if (strcmp(o, "constructed") == 0) {
			agent.constructed = true;
		} else if (strcmp(o, "large") == 0) {
			agent.large = true;
		} else if (strcmp(o, "watched") == 0) {
			agent.watched = true;
		} else if (strcmp(o, "spans") == 0) {
			agent.spans = LC_SPAN_STREAMS | LC_SPAN_TASKS;
		} else if (strcmp(o, "spans=streams") == 0) {
			agent.spans = LC_SPAN_STREAMS;
		} else if (strcmp(o, "spans=tasks") == 0) {
			agent.spans = LC_SPAN_TASKS;
		} else if (strncmp(o, "delay=", 6) == 0) {
			agent.delay = true;
			agent.iterations = (uint32_t)strtoul(o + 6, NULL, 10);
		} else if (strcmp(o, "delay-last") == 0) {
			agent.delay_last = true;
		} else if (strcmp(o, "no-hooks") == 0) {
			agent.no_hooks = true;
		} else if (strncmp(o, "types=", 6) == 0) {
			agent.types = (uint32_t)strtoul(o + 6, NULL, 10);
		} else if (strncmp(o, "min-size=", 9) == 0) {
			agent.min_size_bytes = strtoull(o + 9, NULL, 10);
		} else {
			fprintf(stderr, "verify_agent: unknown option %s\n", o);
			return JNI_ERR;
		}
	}
	return JNI_OK;
}

/* The counts since the last time, by version of the class files too; then it starts anew. */
static void take_counts(char *out, size_t out_len)
{
	size_t len = 0;
	uint64_t all = 0, bad = 0, spans_bad = 0;

	for (int i = 0; i < LC_REWRITE_STATUS_COUNT; i++) {
		uint64_t n = atomic_exchange(&agent.status[i], 0);
		uint64_t spans = atomic_exchange(&agent.span_status[i], 0);

		all += n;
		if (i != LC_REWRITE_DONE && i != LC_REWRITE_NOTHING) {
			bad += n;
			spans_bad += spans;
		}
	}
	bad += atomic_exchange(&agent.methods_left, 0);
	spans_bad += atomic_exchange(&agent.span_methods_left, 0);
	len = (size_t)snprintf(out, out_len,
	                       "seen=%lu sites=%lu failed=%lu span_sites=%lu "
	                       "spans_failed=%lu",
	                       all, atomic_exchange(&agent.sites, 0), bad,
	                       atomic_exchange(&agent.span_sites, 0), spans_bad);
	len += take_delays(out + len, out_len - len);
	for (int i = 0; i <= LC_CLASS_MAJOR_MAX && len + 32 < out_len; i++) {
		uint64_t n = atomic_exchange(&agent.versions[i], 0);

		if (n)
			len += (size_t)snprintf(out + len, out_len - len, " v%d=%lu", i, n);
	}
}

/* String LinkAll.mode(String options): what was counted with the options before. */
JNIEXPORT jstring JNICALL Java_LinkAll_mode(JNIEnv *env, jclass self, jstring options);
JNIEXPORT jstring JNICALL Java_LinkAll_mode(JNIEnv *env, jclass self, jstring options)
{
	const char *utf8 = (*env)->GetStringUTFChars(env, options, NULL);
	char text[256], counts[1024];

	snprintf(text, sizeof(text), "%s", utf8);
	(*env)->ReleaseStringUTFChars(env, options, utf8);
	take_counts(counts, sizeof(counts));
	agent.of_loaders = true;
	if (parse(text) != JNI_OK)
		abort();
	(*agent.jvmti)
	    ->SetEventNotificationMode(agent.jvmti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,
	                               NULL);
	return (*env)->NewStringUTF(env, counts);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	jvmtiCapabilities can = { .can_generate_all_class_hook_events = 1,
		                  .can_retransform_classes = 1,
		                  .can_retransform_any_class = 1 };
	jvmtiEventCallbacks callbacks = { .VMInit = vm_init,
		                          .VMDeath = vm_death,
		                          .ClassFileLoadHook = class_file_load };
	jvmtiEnv *jvmti;

	if (parse(options ? options : (char[1]){ 0 }) != JNI_OK ||
	    (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK)
		return JNI_ERR;
	agent.jvmti = jvmti;
	(*jvmti)->AddCapabilities(jvmti, &can);
	(*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks));
	(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
	(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL);
	return JNI_OK;
}
