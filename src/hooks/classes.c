/* SPDX-License-Identifier: Apache-2.0 */
/* hooks/classes.c - rewrites classes, and makes method IDs, as the JVM loads classes. */
#include "src/hooks/classes.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/options.h"
#include "src/base/say.h"
#include "src/base/time.h"
#include "src/base/without.h"
#include "src/classfile/class_file.h"
#include "src/classfile/hook_class.h"
#include "src/classfile/watched.h"
#include "src/core/counters.h"
#include "src/core/jvmti.h"
#include "src/core/refs.h"
#include "src/core/reset.h"
#include "src/core/watch_hook.h"
#include "src/heap/loaded_code.h"
#include "src/heap/tlab.h"
#include "src/heap/tracked.h"
#include "src/hooks/batches.h"
#include "src/hooks/hooked.h"
#include "src/hooks/hottest.h"
#include "src/hooks/loaders.h"
#include "src/hooks/lost_hooks.h"
#include "src/hooks/preloaded.h"
#include "src/hooks/redefined.h"
#include "src/hooks/retry.h"
#include "src/hooks/unchanged.h"
#include "src/jvm/code/code_cache.h"
#include "src/jvm/layout/instance.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/os/peek.h"
#include "src/span/tasks/span_classes.h"

enum {
	MANY_FIELD_BYTES = 128, /* a class of less is not looked at on its way to being large */
	PENDING_MAX = 1024,
	CLASS_NAME_MAX = 512, /* of the JDK's classes */
};

static struct {
	struct lc_rewrite_options rewrite;
	const char *const *watched; /* names of classes, watched_len */
	size_t watched_len;
	uint64_t min_size_bytes;
	_Atomic uint32_t next_site;
	_Atomic uint64_t seen[LC_REWRITE_STATUS_COUNT];
	_Atomic uint64_t sites, skipped_constant, methods_left;
	_Atomic uint64_t looked_at, retransformed, retransform_failures, rewrite_ns;
	_Atomic uint64_t many_fields; /* classes seen with at least MANY_FIELD_BYTES of their own */
	_Atomic bool leaving;         /* no class gets hooks any more */
} classes;

/* The class that the running retransformation is to hook as large. Own thread only. */
static _Thread_local bool force_object __attribute__((tls_model("initial-exec")));

static void add(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed); /* a count */
}

static uint32_t next_site(void *unused)
{
	/* From 1; when they wrap after 33 million, the stack still tells contexts apart. */
	return atomic_fetch_add_explicit(&classes.next_site, 1, memory_order_relaxed) %
	           (LC_SITE_LIMIT - 1) +
	       1;
}

void lc_classes_leave(void)
{
	atomic_store_explicit(&classes.leaving, true, memory_order_release);
}

void lc_classes_watch(const char *const *names, size_t len)
{
	classes.watched = names;
	classes.watched_len = len;
}

/* The hook class's data about watches. */
static void add_watched(struct lc_hook_layout *hook)
{
	static const struct lc_class_text string = { "java/lang/String",
		                                     sizeof("java/lang/String") - 1 };
	const struct lc_rewrite_options options = { .watched = classes.watched,
		                                    .watched_len = classes.watched_len };

	hook->watched_primitives = lc_watched_primitives(&options);
	hook->watched_strings = lc_watched_class(&options, string);
	hook->watching = (uint64_t)(uintptr_t)lc_watch_hook_address();
}

static LC_KEPT jclass hook_class = NULL; /* it cannot be unloaded */

/* Let the hook class be as this recording needs it: numbers in it are of the options. */
static bool redefine(const uint8_t *bytes, size_t len)
{
	const jvmtiClassDefinition to = { hook_class, (jint)len, bytes };

	return !(*lc_jvmti())->RedefineClasses(lc_jvmti(), 1, &to);
}

jclass lc_classes_define_hook(JNIEnv *jni, const struct lc_options *options, bool ordered)
{
	const struct lc_layout *layout = lc_layout();
	struct lc_hook_layout hook = {
		.min_size_bytes = options->min_size_bytes,
		.base_bytes = { [LC_ELEMENT_1] = layout->byte_base,
		                [LC_ELEMENT_2] = layout->byte_base,
		                [LC_ELEMENT_4] = layout->byte_base,
		                [LC_ELEMENT_8] = layout->long_base,
		                [LC_ELEMENT_REFERENCE] = layout->reference_base },
		.reference_bytes = layout->reference_bytes,
		.object_align_bytes = layout->object_alignment,
	};
	struct lc_tlab_fields fields = { 0 };
	const bool all = !options->min_size_bytes;
	const bool tlab = (all || lc_tracked_any()) && !lc_tlab_init(jni, !all, &fields);
	const bool objects = all && tlab;
	jclass local = NULL, global = NULL;
	uint8_t *bytes = NULL;
	size_t len = 0;

	if (!all && !tlab)
		lc_tracked_give_up();
	if (objects && fields.in_java == LC_TLAB_NO_STATE)
		lc_say("cannot tell compiled from interpreted code in this JVM: --min-size=0 takes "
		       "more CPU time");
	hook.objects = objects;
	hook.gives_arrays = ordered || options->audit || classes.watched_len;
	hook.carriers = fields.carriers;
	hook.eetop = fields.eetop;
	hook.tlab_start = fields.tlab_start;
	hook.tlab_top = fields.tlab_top;
	hook.allocated = fields.allocated;
	hook.class_offset = fields.class_offset;
	hook.class_shift = fields.class_shift;
	hook.thread_state = fields.thread_state;
	hook.in_java = fields.in_java;
	hook.sequence = fields.sequence;
	hook.threads = fields.threads;
	add_watched(&hook);
	/* The hook's method compares no length: the number of a site says whether it is tracked. */
	hook.watched_primitives |= lc_tracked_hot() ? UINT8_MAX : lc_track_primitives(lc_tracked());
	classes.min_size_bytes = options->min_size_bytes;
	classes.rewrite = (struct lc_rewrite_options){
		.min_size_bytes = options->min_size_bytes,
		.array_header_bytes = layout->long_base,
		.reference_bytes = layout->reference_bytes,
		/* Without sampling, only hooks tell of arrays; a watch must see each object. */
		.exact = options->exact || objects || options->audit ||
		         !options->alloc_interval_bytes || classes.watched_len ||
		         lc_tracked_arrays(),
		.objects = objects,
		.no_memory = options->offheap == LC_OFFHEAP_NONE,
		.constructed = objects && options->audit,
		.watched = classes.watched,
		.watched_len = classes.watched_len,
		.next_site = next_site,
	};
	if (lc_hook_class_create(&hook, &bytes, &len))
		return NULL;
	if (hook_class) {
		/* The class of an earlier recording in this JVM. */
		const bool same = redefine(bytes, len);

		free(bytes);
		return same ? hook_class : NULL;
	}
	local = (*jni)->DefineClass(jni, LC_HOOK_CLASS, NULL, (const jbyte *)bytes, (jsize)len);
	free(bytes);
	/* Asking for a method links and initialises the class, so that a hook never has to. */
	if (local &&
	    !(*jni)->GetStaticMethodID(jni, local, "allocObject", "(Ljava/lang/Object;I)V"))
		local = NULL;
	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	if (local) {
		global = (*jni)->NewGlobalRef(jni, local);
		(*jni)->DeleteLocalRef(jni, local);
	}
	hook_class = global;
	return global;
}

struct lc_rewrite_options lc_classes_options(void)
{
	struct lc_rewrite_options options = classes.rewrite;

	options.tracked = lc_tracked();
	return options;
}

/* Hand the JVM a copy. Returns whether there was memory. */
static bool give(jvmtiEnv *jvmti, const struct lc_rewrite_result *result, jint *new_len,
                 unsigned char **new_data)
{
	unsigned char *copy = NULL;

	if ((*jvmti)->Allocate(jvmti, (jlong)result->len, &copy))
		return false;
	memcpy(copy, result->bytes, result->len);
	*new_data = copy;
	*new_len = (jint)result->len;
	return true;
}

/* For lc_without(): the rewritten class is the original. */
static void give_back(struct lc_rewrite_result *result, const unsigned char *data, size_t len)
{
	if (result->len < len)
		return;
	memcpy(result->bytes, data, len);
	result->len = len;
}

/*
 * Is it a class of the JDK, whose file can be looked at when it matters? Its name tells first: most
 * others need not be looked for.
 */
static bool is_in_image(const char *name)
{
	static const char *const packages[] = { "java/", "javax/", "jdk/", "sun/", "com/sun/" };
	const uint8_t *data;
	size_t len;

	for (size_t i = 0; name && i < sizeof(packages) / sizeof(*packages); i++)
		if (!strncmp(name, packages[i], strlen(packages[i])))
			return lc_preloaded_image_file(name, &data, &len);
	return false;
}

/* The loader's classes cannot call the agent's: forget what was rewritten. */
static void leave_as_it_is(enum lc_rewrite_status *status, struct lc_rewrite_result *result,
                           struct lc_rewrite_result *spans, bool *spans_done)
{
	if (*status == LC_REWRITE_DONE) {
		free(result->bytes);
		result->bytes = NULL;
		*status = LC_REWRITE_NOTHING;
	}
	if (*spans_done)
		free(spans->bytes);
	*spans_done = false;
}

bool lc_classes_initialized(jclass class)
{
	jint status = 0;

	return class && !(*lc_jvmti())->GetClassStatus(lc_jvmti(), class, &status) &&
	       status & JVMTI_CLASS_STATUS_INITIALIZED;
}

void JNICALL lc_classes_file_load_hook(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined,
                                       jobject loader, const char *name, jobject domain, jint len,
                                       const unsigned char *data, jint *new_len,
                                       unsigned char **new_data)
{
	const struct lc_class_file file = { data, (size_t)len, name, loader,
		                            lc_redefined_class(redefined, name) };
	struct lc_rewrite_options options = lc_classes_options();
	struct lc_rewrite_result result = { 0 }, spans = { 0 };
	enum lc_rewrite_status status;
	struct timespec begin, end;
	bool spans_done;

	redefined = file.redefined;
	if (redefined)
		lc_batches_class_file();
	if ((name && !strcmp(name, LC_HOOK_CLASS)) || lc_without("classes") ||
	    atomic_load_explicit(&classes.leaving, memory_order_acquire))
		return;
	if (!redefined && (lc_without("jdk") || lc_without("program")) &&
	    lc_without(is_in_image(name) ? "jdk" : "program"))
		return;
	if (redefined)
		lc_redefined_begin(jni, redefined);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	options.force_object = force_object;
	options.initialized = lc_classes_initialized(redefined);
	spans_done = lc_span_classes_rewrite(jni, &file, &spans) == LC_REWRITE_DONE;
	status = lc_rewrite_class(spans_done ? spans.bytes : data,
	                          spans_done ? spans.len : (size_t)len, &options, &result);
	if (result.own_field_bytes >= MANY_FIELD_BYTES)
		add(&classes.many_fields, 1);
	if ((status == LC_REWRITE_DONE || spans_done) && !lc_loaders_know_hooks(jni, loader))
		leave_as_it_is(&status, &result, &spans, &spans_done);
	if (lc_without("result"))
		leave_as_it_is(&status, &result, &spans, &spans_done);
	if (status == LC_REWRITE_DONE && lc_without("hooks"))
		give_back(&result, data, (size_t)len);
	if (status == LC_REWRITE_DONE) {
		if (give(jvmti, &result, new_len, new_data))
			add(&classes.sites, result.sites);
		else
			status = LC_REWRITE_NO_MEMORY;
	}
	if (spans_done && status != LC_REWRITE_DONE)
		(void)give(jvmti, &spans, new_len, new_data);
	free(result.bytes);
	if (spans_done)
		free(spans.bytes);
	if (redefined)
		lc_batches_class_file();
	add(&classes.skipped_constant, result.skipped_constant);
	add(&classes.methods_left, result.methods_left);
	add(&classes.seen[status], 1);
	if (status == LC_REWRITE_NO_MEMORY)
		lc_hooked_note_no_memory();
	if (name && *new_data) {
		lc_hooked_add(name);
		lc_lost_hooks_hooked(jni, redefined, name, loader);
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	add(&classes.rewrite_ns, (uint64_t)(end.tv_sec - begin.tv_sec) * 1000000000u +
	                             (uint64_t)(end.tv_nsec - begin.tv_nsec));
}

/*
 * Would a retransformation of the class, loaded by the boot loader, change nothing? If so, the
 * class is counted here. If the answer needs a prepared class, and `now` is false, the class is put
 * off. A class with a site is not put off: methods that the JIT compiles while a class is exchanged
 * are compiled again.
 */
static bool needs_no_hook(JNIEnv *jni, jclass class, const char *signature, bool now)
{
	struct lc_rewrite_options options = lc_classes_options();
	struct lc_rewrite_result result = { 0 };
	struct lc_class_file file;

	options.initialized = lc_classes_initialized(class);
	if (!lc_preloaded_file(signature, class, &file) ||
	    lc_rewrite_look(file.data, file.len, &options, &result) != LC_REWRITE_NOTHING ||
	    lc_span_classes_look(jni, &file))
		return false;
	if (lc_preloaded_differs(class, result.code_sum))
		return !now && lc_preloaded_put_off(class, signature);
	if (result.own_field_bytes >= MANY_FIELD_BYTES)
		add(&classes.many_fields, 1);
	add(&classes.skipped_constant, result.skipped_constant);
	add(&classes.seen[LC_REWRITE_NOTHING], 1);
	add(&classes.looked_at, 1);
	return true;
}

/* Is the class, which was loaded before the agent, to be transformed now? */
static bool wants_hooks(JNIEnv *jni, jclass class)
{
	jvmtiEnv *jvmti = lc_jvmti();
	char *signature = NULL;
	jobject loader = NULL;
	bool wanted;

	if ((*jni)->IsSameObject(jni, class, hook_class))
		return false;
	if ((*jvmti)->GetClassLoader(jvmti, class, &loader))
		return true;
	if (loader) {
		(*jni)->DeleteLocalRef(jni, loader);
		return true;
	}
	if ((*jvmti)->GetClassSignature(jvmti, class, &signature, NULL))
		return true;
	wanted = !needs_no_hook(jni, class, signature, false);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	return wanted;
}

/* Is the class, which has just been prepared, one that was put off and wants hooks? */
static bool was_put_off(jvmtiEnv *jvmti, JNIEnv *jni, jclass class)
{
	char *signature = NULL;
	jobject loader = NULL;
	bool wanted;

	if (!lc_preloaded_any() || (*jvmti)->GetClassLoader(jvmti, class, &loader))
		return false;
	if (loader) {
		(*jni)->DeleteLocalRef(jni, loader);
		return false;
	}
	if ((*jvmti)->GetClassSignature(jvmti, class, &signature, NULL))
		return false;
	wanted = lc_preloaded_take(signature) && !needs_no_hook(jni, class, signature, true);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	if (wanted)
		add(&classes.retransformed, 1);
	return wanted;
}

/*
 * A class may be large only with what it inherits, which its file does not show. Its constructors
 * are to get their hook before the first of them can run.
 */
static bool is_large(JNIEnv *jni, jclass class)
{
	jclass super = (*jni)->GetSuperclass(jni, class);
	uint64_t inherited = super ? lc_instance_bytes(jni, super) : 0;
	uint64_t bytes = lc_instance_bytes(jni, class);

	if (super)
		(*jni)->DeleteLocalRef(jni, super);
	/* Large by its own fields: hooked when it was loaded. */
	return inherited < classes.min_size_bytes && bytes >= classes.min_size_bytes &&
	       bytes - inherited < classes.min_size_bytes;
}

/* No class that can be instantiated is without a method: it has a constructor. */
static bool is_small(jclass class, const jmethodID *methods, jint len)
{
	unsigned before;
	bool small;

	if (!methods || !len)
		return false;
	before = lc_peek_begin(NULL);
	small = lc_instance_is_below(class, methods, len, classes.min_size_bytes);
	lc_peek_end(before);
	return small;
}

bool lc_classes_exact(void)
{
	return classes.rewrite.exact;
}

void JNICALL lc_classes_prepare(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class)
{
	jmethodID *methods = NULL;
	bool large = false;
	jint len = 0;

	lc_lost_hooks_prepared(jni, class);
	if ((*jvmti)->GetClassMethods(jvmti, class, &len, &methods))
		methods = NULL;
	if (!classes.rewrite.objects &&
	    atomic_load_explicit(&classes.many_fields, memory_order_relaxed))
		large = !is_small(class, methods, len) && is_large(jni, class);
	if (methods) {
		lc_loaded_code_note(methods, len);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
	}
	if (!lc_span_classes_prepare(jvmti, jni, class) && !large &&
	    !was_put_off(jvmti, jni, class))
		return;
	force_object = large;
	if (lc_jvmti_retransform(1, &class))
		add(&classes.retransform_failures, 1);
	force_object = false;
}

/* Retransform the classes one by one: what one of them fails on does not stop the others. */
static void retransform_each(const jclass *wanted, jint len)
{
	for (jint i = 0; i < len; i++) {
		if (lc_jvmti_retransform(1, &wanted[i])) {
			add(&classes.retransform_failures, 1);
			add(&classes.retransformed, UINT64_MAX); /* minus one */
			lc_unchanged_note(wanted[i]);
		}
	}
}

static void retransform(const jclass *wanted, jint len)
{
	add(&classes.retransformed, (uint64_t)len);
	if (len && lc_jvmti_retransform(len, wanted))
		retransform_each(wanted, len);
}

/*
 * The loaded classes that are to be transformed now, as global references; free them and the list.
 * While classes are retransformed, -Xcheck:jni of JDK 11 and 17 counts the local references of the
 * thread that does it against the few that an event announces, and warns on the program's output.
 */
static jclass *find_wanted(JNIEnv *jni, jint *wanted)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jint len;
	jclass *loaded = lc_jvmti_loaded(jni, &len);
	jclass *list = loaded ? malloc(((size_t)len + 1) * sizeof(*list)) : NULL;

	*wanted = 0;
	if (!list)
		lc_hooked_note_no_memory();
	for (jint i = 0; list && i < len; i++) {
		jboolean modifiable = JNI_FALSE;

		if ((*jvmti)->IsModifiableClass(jvmti, loaded[i], &modifiable) || !modifiable) {
			lc_unchanged_note(loaded[i]);
			continue;
		}
		if (!wants_hooks(jni, loaded[i]))
			continue;
		list[*wanted] = lc_ref_new(jni, loaded[i]);
		if (list[*wanted])
			++*wanted;
		else
			lc_hooked_note_no_memory();
	}
	if (loaded)
		lc_jvmti_loaded_end(jni, loaded);
	return list;
}

void lc_classes_retransform(JNIEnv *jni, bool at_start)
{
	jclass *wanted;
	jint len;

	if (at_start && lc_without("exchange"))
		return;
	lc_preloaded_init();
	wanted = find_wanted(jni, &len);
	lc_preloaded_rest();
	if (!wanted)
		return;
	if (!at_start) {
		lc_hottest_first(wanted, len);
		lc_retry_transform(jni, wanted, len);
		lc_unchanged_say();
		return;
	}
	retransform(wanted, len);
	lc_unchanged_say();
	for (jint i = 0; i < len; i++)
		lc_ref_delete(jni, wanted[i]);
	free(wanted);
}

static struct lc_batches_stats batches; /* what rows point to */

static bool read_counters(const struct lc_options *options)
{
	lc_retry_stats(&batches);
	return true;
}

static uint64_t retransformed(void)
{
	return atomic_load_explicit(&classes.retransformed, memory_order_relaxed) +
	       batches.transformed;
}

static uint64_t refused(void)
{
	return atomic_load_explicit(&classes.retransform_failures, memory_order_relaxed) +
	       batches.refused;
}

static void put_results(struct lc_counters *out)
{
	for (unsigned i = 0; i < LC_REWRITE_STATUS_COUNT; i++) {
		char name[LC_COUNTER_NAME_MAX];

		snprintf(name, sizeof(name), "classes_%s",
		         lc_rewrite_status_name((enum lc_rewrite_status)i));
		for (char *at = name; *at; at++)
			if (*at == ' ')
				*at = '_';
		lc_counters_put(out, name,
		                atomic_load_explicit(&classes.seen[i], memory_order_relaxed));
	}
}

static const struct lc_counter counters[] = {
	LC_COUNTER("class_hooks", &classes.sites),
	LC_COUNTER("class_constant_sites_skipped", &classes.skipped_constant),
	LC_COUNTER("class_methods_left", &classes.methods_left),
	LC_COUNTER("classes_looked_at", &classes.looked_at),
	{ .name = "classes_retransformed", .read = retransformed },
	{ .name = "classes_retransform_failed", .read = refused },
	LC_COUNTER("classes_running", &batches.running),
	LC_COUNTER("class_pause_max_us", &batches.pause_max_ns, .unit = 1000),
	LC_COUNTER("class_rewrite_us", &classes.rewrite_ns, .unit = 1000),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters), .begin = read_counters, .put = put_results);
