/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent.c - is the agent's life in the JVM: load, start at VMInit or attached, end at VMDeath.
 *
 * Nothing is done before VMInit but to ask for capabilities: the hook class can only be defined
 * then, and what the JVM loaded or generated earlier is replayed or retransformed. Whatever fails
 * turns the profiler off with one line on stderr; the program goes on.
 */
#include <errno.h>
#include <jvmti.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/agent/agent.h"
#include "src/agent/agent_attach.h"
#include "src/agent/agent_end.h"
#include "src/agent/agent_events.h"
#include "src/agent/agent_follow.h"
#include "src/agent/agent_manifest.h"
#include "src/agent/agent_profile.h"
#include "src/agent/agent_proofs.h"
#include "src/agent/agent_threads.h"
#include "src/agent/agent_undo.h"
#include "src/agent/marks.h"
#include "src/agent/requests.h"
#include "src/attribute/attribution.h"
#include "src/attribute/concurrent.h"
#include "src/attribute/hot_classes.h"
#include "src/attribute/preexisting.h"
#include "src/attribute/sealed.h"
#include "src/base/limit.h"
#include "src/base/options.h"
#include "src/base/say.h"
#include "src/base/time.h"
#include "src/core/epoch.h"
#include "src/core/fds.h"
#include "src/core/jvmti.h"
#include "src/core/memory.h"
#include "src/core/own_cost.h"
#include "src/core/own_work.h"
#include "src/core/path.h"
#include "src/core/recursion.h"
#include "src/core/reset.h"
#include "src/core/stages.h"
#include "src/core/version.h"
#include "src/gc/copy_log.h"
#include "src/gc/moves.h"
#include "src/heap/alloc_log.h"
#include "src/heap/audit.h"
#include "src/heap/estimate.h"
#include "src/heap/hook.h"
#include "src/heap/loaded_code.h"
#include "src/heap/tracked.h"
#include "src/hooks/classes.h"
#include "src/hooks/hottest.h"
#include "src/hooks/loaders.h"
#include "src/hooks/lost_hooks.h"
#include "src/hooks/preloaded.h"
#include "src/hooks/retry.h"
#include "src/hooks/retry_thread.h"
#include "src/jvm/code/blob.h"
#include "src/jvm/code/code_cache.h"
#include "src/jvm/code/code_headers.h"
#include "src/jvm/layout/areas.h"
#include "src/jvm/layout/collector.h"
#include "src/jvm/layout/field.h"
#include "src/jvm/layout/klass.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/layout/metaspace.h"
#include "src/jvm/layout/method_ids.h"
#include "src/jvm/layout/ranges.h"
#include "src/jvm/os/peek.h"
#include "src/jvm/os/thread_cpu.h"
#include "src/jvm/stack/call_trace.h"
#include "src/numa/numa.h"
#include "src/offheap/before.h"
#include "src/offheap/native.h"
#include "src/sample/engine.h"
#include "src/sample/watch.h"
#include "src/span/span.h"
#include "src/span/tasks/span_classes.h"
#include "src/stack/generated.h"
#include "src/stack/walk_credit.h"

enum { JDK_OLDEST = 11 };

/* Bound of all allocation logs; what it holds is given back when an epoch ends. */
#define ALLOC_POOL_BYTES (UINT64_C(512) << 20)

static struct {
	JavaVM *vm;
	struct lc_options options;
	uint64_t begin_ns;
	bool attached; /* to a JVM that had started before */
	bool follow;   /* objects can be followed with this collector */
	bool ordered;  /* instead: they are followed while it moves them */
} agent;

/* Without spans, which has been said, the rest goes on. */
static void start_spans(JNIEnv *jni)
{
	lc_agent_threads_calibrate(true);
	(void)lc_span_init(jni, &agent.options);
	lc_agent_threads_calibrate(false);
}

/* Start */

static int enable(const jvmtiEvent *events, size_t len, jvmtiEventMode mode)
{
	int err = 0;

	for (size_t i = 0; i < len; i++)
		if ((*lc_jvmti())->SetEventNotificationMode(lc_jvmti(), mode, events[i], NULL))
			err = -EIO;
	return err;
}

static int jdk_version(void)
{
	char *text = NULL;
	int version = 0;

	if ((*lc_jvmti())->GetSystemProperty(lc_jvmti(), "java.vm.specification.version", &text) ||
	    !text)
		return 0;
	version = strncmp(text, "1.", 2) ? atoi(text) : atoi(text + 2); /* "1.8", "17" */
	(*lc_jvmti())->Deallocate(lc_jvmti(), (unsigned char *)text);
	return version;
}

/* Learn what must be known of this JVM before anything in it is changed. Prints what is missing. */
static int look_at_jvm(JNIEnv *jni, bool *copies_seen)
{
	int version = jdk_version(), err;

	lc_stages_begin(LC_STAGE_JVM);
	if (version && version < JDK_OLDEST) {
		lc_say(
		    "this JVM is Java %d, but Locus needs %d or newer; the program runs unprofiled",
		    version, JDK_OLDEST);
		return -ENOTSUP;
	}
	lc_call_trace_catch_faults();
	err = lc_layout_find(jni);
	if (err == -ENOENT) {
		lc_say("this JVM exports no type database (is it HotSpot?); the program runs "
		       "unprofiled");
		return -ENOTSUP;
	}
	if (err && lc_peek_refused()) {
		lc_say("the kernel refuses process_vm_readv (%s; a seccomp filter?), and with "
		       "-Xcheck:jni Locus cannot catch faults instead; the program runs unprofiled",
		       strerror(lc_peek_refused()));
		return err;
	}
	if (err) {
		lc_say("the layout of this JVM's arrays is unknown; the program runs unprofiled");
		return err;
	}
	if (lc_method_ids_init(jni) == -ENOTSUP) {
		lc_say("the form of this JVM's method IDs is unknown; the program runs unprofiled");
		return -ENOTSUP;
	}
	if (lc_field_init(jni, &(struct lc_field_classes){ lc_klass_signature,
	                                                   lc_loaded_code_each }) == -ENOMEM)
		(void)lc_limit_reached("fields_unknown",
		                       "there was no memory to look up fields: they have no names");
	agent.follow = agent.ordered = *copies_seen = false;
	err = lc_areas_init(); /* which finds out where the heap is, too */
	if (!err)
		err = lc_areas_prove(jni);
	agent.follow = !err;
	if (agent.options.no_hooks) {
		*copies_seen = true; /* of all tracked objects, since there are none */
		return 0;
	}
	if (err)
		agent.ordered = lc_agent_follow_in_order(jni, &agent.options);
	err = agent.ordered ? 0 : lc_moves_init();
	if (!err && !agent.ordered && !lc_copy_log_probe(jni))
		err = -ENOENT;
	*copies_seen = !err;
	if (agent.follow && err)
		lc_say("cannot see how this JVM moves objects (%s): tracked objects are lost when "
		       "a GC moves them",
		       err == -ENOENT ? "libjvm has its own memcpy" : strerror(-err));
	return 0;
}

/* The audit holds a reference to every object: it is not limited unless that is asked for. */
static uint64_t memory_limit(void)
{
	if (agent.options.max_memory_bytes != LC_MAX_MEMORY_AUTO)
		return agent.options.max_memory_bytes;
	return agent.options.audit ? UINT64_MAX : lc_memory_default_limit();
}

static int make_tables(void)
{
	int err;

	lc_memory_limit(memory_limit());
	err = lc_path_init();
	if (!err)
		err = lc_versions_init(lc_method_ids_lead_to);
	lc_recursion_fold(agent.options.recursion == LC_RECURSION_FOLD);
	/* The audit compares all paths. */
	lc_walk_credit_limit(agent.options.audit ? 0 : agent.options.budget_ppm);
	if (!err)
		err = lc_alloc_pool_init(ALLOC_POOL_BYTES);
	if (!err)
		err = lc_code_cache_init();
	if (!err && lc_epoch_init())
		err = 0; /* without membarrier, lc_epoch_enter_gc() waits instead */
	if (err)
		lc_say("cannot start: %s; the program runs unprofiled", strerror(-err));
	return err;
}

static int start_engines(JNIEnv *jni)
{
	static const jvmtiEvent code_events[] = { JVMTI_EVENT_DYNAMIC_CODE_GENERATED,
		                                  JVMTI_EVENT_CLASS_LOAD };
	int err;

	lc_stages_begin(LC_STAGE_ENGINES);
	err = enable(code_events, 2, JVMTI_ENABLE);
	(*lc_jvmti())->GenerateEvents(lc_jvmti(), JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
	if (agent.attached && !agent.options.no_hooks)
		lc_hottest_begin();
	if (!err)
		err = lc_agent_proofs_code(lc_agent_events_interpreter());
	lc_metaspace_init();
	lc_agent_proofs_classes(jdk_version());
	if (!err)
		err = lc_engines_start(jni, &agent.options);
	if (err)
		lc_say("cannot sample: %s; the program runs unprofiled", strerror(-err));
	return err;
}

static int start_profile(void)
{
	int err;

	lc_stages_begin(LC_STAGE_PROFILE);
	err = lc_agent_profile_open(&agent.options);
	if (err)
		return err;
	err = lc_agent_manifest_init(&agent.options, agent.attached);
	if (err)
		lc_say("cannot start: %s; the program runs unprofiled", strerror(-err));
	return err;
}

/* Objects without a hook are sampled where the JVM can; without that, the rest of a profile is
 * whole. */
static void start_alloc_sample(void)
{
	static const jvmtiEvent event[] = { JVMTI_EVENT_SAMPLED_OBJECT_ALLOC };
	jvmtiCapabilities capability = { .can_generate_sampled_object_alloc_events = 1 };
	const bool adapt = agent.options.alloc_interval_bytes == LC_SAMPLE_INTERVAL_AUTO;
	const bool hooks = !agent.options.no_hooks;
	struct lc_estimate_config config = {
		.interval_bytes =
		    adapt ? LC_SAMPLE_INTERVAL_BEGIN : agent.options.alloc_interval_bytes,
		.least_bytes = adapt ? LC_SAMPLE_INTERVAL_LEAST : 0,
		.jitter = agent.options.jitter == LC_JITTER_ON,
		.audit = agent.options.audit,
		.min_size_bytes = hooks ? agent.options.min_size_bytes : UINT64_MAX,
		.exact = hooks && lc_classes_exact(),
		.depth = agent.options.depth,
		.follow = agent.follow,
		.from_start = !agent.attached,
	};
	int err = 0;

	if (!config.interval_bytes || !config.min_size_bytes)
		return; /* not wanted, or every object is tracked */
	if ((*lc_jvmti())->AddCapabilities(lc_jvmti(), &capability))
		err = -ENOTSUP;
	if (!err)
		err = lc_estimate_init(&config);
	if (!err)
		err = enable(event, 1, JVMTI_ENABLE);
	if (err)
		lc_say("cannot sample allocations%s: %s",
		       !hooks         ? ""
		       : config.exact ? " of small objects"
		                      : " of small objects, and of arrays that only --exact counts",
		       strerror(-err));
}

static void follow_what_was_there(JNIEnv *jni)
{
	struct lc_batches_stats batches;

	lc_stages_begin(LC_STAGE_OLDER);
	lc_retry_stats(&batches);
	if (agent.follow || (agent.ordered && !batches.running))
		lc_preexisting_begin(jni, agent.options.min_size_bytes, agent.ordered);
	if (agent.options.offheap != LC_OFFHEAP_NONE)
		lc_before_find(jni, lc_preexisting_path(jni));
}

/* Periodic work on the attribution thread; `looked`: the thread has looked at the logs. */
static void tick(JNIEnv *jni, bool looked)
{
	if (looked)
		lc_agent_proofs_tick();
	if (looked && lc_code_headers_known() && lc_blob_freed())
		lc_generated_freed();
	if (looked)
		lc_lost_hooks_look(jni);
	lc_retry_thread_tick();
	lc_preloaded_rest();
	lc_native_look();
}

/* The class whose methods the program's own classes call. Returns 0 or -errno. */
static int start_hooks(JNIEnv *jni)
{
	const char *const *watched = NULL;
	size_t watched_len = 0;
	jclass hook;
	int err;

	if (agent.options.no_hooks)
		return 0;
	lc_stages_begin(LC_STAGE_HOOK_CLASS);
	/* With --min-size 0, all are tracked. */
	lc_tracked_init(agent.options.min_size_bytes ? agent.options.track : "", agent.follow);
	if (agent.follow)
		watched_len = lc_watch_classes(&watched);
	lc_classes_watch(watched, watched_len);
	hook = lc_classes_define_hook(jni, &agent.options, agent.ordered);
	err = hook ? lc_hook_init(hook, &agent.options, agent.follow) : -EIO;
	if (!err && agent.attached)
		err = lc_agent_attach_linked(jni, hook);
	if (!err && agent.ordered)
		lc_hook_order(agent.options.audit);
	if (!err && agent.options.audit)
		err = lc_audit_init();
	return err;
}

/* Without the blocks of native libraries, the rest goes on. */
static void start_native(void)
{
	const int err = lc_native_begin(&agent.options);

	if (err)
		(void)lc_limit_reached("native_unseen",
		                       "cannot see what native libraries allocate (%s): "
		                       "--offheap=native records the blocks of Java code alone",
		                       strerror(-err));
}

/* From here on allocations are hooked and threads are sampled. */
static int go_live(JNIEnv *jni, bool copies_seen)
{
	/* A collection between two calls: an end without a begin does nothing, a begin without an
	 * end would keep every hook waiting. */
	static const jvmtiEvent live_events[] = {
		JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,
		JVMTI_EVENT_THREAD_START,
		JVMTI_EVENT_THREAD_END,
		JVMTI_EVENT_GARBAGE_COLLECTION_FINISH,
		JVMTI_EVENT_GARBAGE_COLLECTION_START,
		JVMTI_EVENT_CLASS_PREPARE,
	};
	struct lc_attribution_config config = {
		.vm = agent.vm,
		.options = &agent.options,
		.profile = lc_agent_profile(),
		.follow = agent.follow,
		.ordered = agent.ordered,
		.copies_seen = copies_seen,
		.write_manifest = lc_agent_manifest_write,
		.tick = tick,
		.is_over = lc_agent_profile_is_over,
		.next = lc_agent_profile_next,
		.marked = lc_marks_place,
		.divided = lc_marks_divided,
	};
	const bool hooks = !agent.options.no_hooks;
	int err = start_hooks(jni);

	lc_numa_init("", NULL);
	if (!err) {
		start_spans(jni);
		if (hooks) /* without, only the JDK's own */
			(void)lc_loaders_init(jni, lc_span_what());
		err = lc_attribution_start(&config);
	}
	if (err) {
		lc_say("cannot hook allocations: %s; the program runs unprofiled", strerror(-err));
		return err;
	}
	lc_stages_begin(LC_STAGE_THREADS);
	lc_agent_end_open(agent.vm);
	lc_retry_thread_open(agent.vm);
	lc_agent_threads_open(true);
	lc_loaded_code_begin();
	/* The first event is that of class files, which hooks need. */
	enable(live_events + !hooks, sizeof(live_events) / sizeof(live_events[0]) - !hooks,
	       JVMTI_ENABLE);
	lc_preloaded_make_method_ids(jni);
	lc_span_classes_start(jni);
	if (hooks && !agent.attached)
		lc_classes_retransform(jni, true);
	lc_watch_begin(agent.follow);
	lc_hook_enable(hooks);
	if (hooks)
		lc_requests_open();
	lc_agent_threads_add_running(jni);
	start_native();
	start_alloc_sample();
	/* It takes seconds where there are many classes; samples are taken meanwhile. */
	if (hooks && agent.attached) {
		lc_stages_begin(LC_STAGE_CLASSES);
		lc_classes_retransform(jni, false);
		follow_what_was_there(jni);
	}
	lc_hot_classes_begin(agent.options.min_size_bytes);
	return 0;
}

enum { LOCAL_REFERENCES = 65536 }; /* as many as HotSpot allows */

/* Returns whether a recording has begun; it may be over. */
static bool start(JNIEnv *jni)
{
	bool copies_seen = false;

	lc_limits_forget();
	lc_fds_look();
	/* JVMTI hands out a reference for each running thread; -Xcheck:jni warns of more than were
	 * announced. */
	if ((*jni)->EnsureLocalCapacity(jni, LOCAL_REFERENCES))
		(*jni)->ExceptionClear(jni);
	if (lc_agent_threads_init(jni, &agent.options) || look_at_jvm(jni, &copies_seen) ||
	    make_tables() || start_profile())
		return false;
	lc_thread_cpu_start(!agent.attached);
	if (start_engines(jni) || go_live(jni, copies_seen)) {
		lc_engines_stop();
		return false;
	}
	agent.begin_ns = lc_time_now_ns();
	lc_say_answer("recording into %s", lc_agent_profile_directory());
	if (agent.options.duration_ns)
		lc_agent_end_after(agent.options.duration_ns);
	return true;
}

/* A start that fails is undone: the program or `locus attach` may begin a recording later. */
static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	const uint64_t begin = lc_own_cost_begin();

	if (start(jni))
		lc_own_cost_end(LC_OWN_STARTUP, begin);
	else
		lc_agent_undo(jni);
}

/* Load */

int lc_agent_prepare(JavaVM *vm, const char *text, bool attached)
{
	jvmtiCapabilities wanted_capabilities = {
		.can_generate_all_class_hook_events = 1,
		.can_retransform_classes = 1,
		.can_redefine_classes = 1,
		.can_generate_compiled_method_load_events = 1,
		.can_generate_garbage_collection_events = 1,
		.can_get_line_numbers = 1,
		.can_get_source_file_name = 1,
		.can_get_constant_pool = 1,
		.can_get_bytecodes = 1,
	};
	jvmtiEventCallbacks callbacks = { .VMInit = attached ? NULL : on_vm_init };
	static const jvmtiEvent first_events[] = { JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_VM_INIT };
	jvmtiEnv *jvmti = NULL;
	char error[256];

	lc_reset_begin();
	lc_agent_events_callbacks(&callbacks);
	lc_options_init(&agent.options);
	if (lc_options_parse(&agent.options, text, error, sizeof(error))) {
		lc_say("%s; the program runs unprofiled", error);
		return -EINVAL;
	}
	/* An array without a hook would count as older than the attach once it is moved. */
	agent.options.exact |= attached && !agent.options.no_hooks;
	agent.vm = vm;
	jvmti = lc_jvmti_of(vm);
	if (jvmti)
		lc_jvmti_set(jvmti);
	if (!jvmti || (*jvmti)->AddCapabilities(jvmti, &wanted_capabilities) ||
	    (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks)) ||
	    enable(first_events, attached ? 1 : 2, JVMTI_ENABLE)) {
		lc_say("this JVM refuses a JVMTI capability that Locus needs (use HotSpot, Java %d "
		       "or newer); the program runs unprofiled",
		       JDK_OLDEST);
		return -ENOTSUP;
	}
	return 0;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *text, void *reserved)
{
	static atomic_flag loaded = ATOMIC_FLAG_INIT;

	if (atomic_flag_test_and_set(&loaded))
		lc_say("the agent is loaded already: a second -agentpath has no effect");
	else
		(void)lc_agent_prepare(vm, text, false);
	return JNI_OK; /* anything else would end the program */
}

const struct lc_options *lc_agent_options(void)
{
	return &agent.options;
}

double lc_agent_seconds(void)
{
	return (double)(lc_time_now_ns() - agent.begin_ns) / 1e9;
}

bool lc_agent_start_attached(JNIEnv *jni)
{
	agent.attached = true;
	return start(jni);
}

JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm)
{
	(void)vm; /* VMDeath has ended everything */
}
