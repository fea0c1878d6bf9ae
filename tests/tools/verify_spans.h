/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_spans.h - stands in for LocusSpan in verify_agent.c: it counts calls, and checks that
 * begins and ends fit together.
 *
 * A virtual thread has a depth of its own, kept in the carrier's record while it is mounted.
 */
static const uint8_t span_class[] = {
#include "span_class_bytes.inc"
};

enum span_count {
	STREAM,
	PARALLEL,
	HEAD,
	FOREIGN,
	PULLED,
	END,
	STREAM_TASK,
	SUPPORT,
	CREATED,
	SUBMITTED,
	TASK,
	WRAPPER,
	THREAD,
	MOUNT,
	UNMOUNT,
	UNBALANCED,
	MADE,
	ENTERED,
	LEFT,
	REFUSED,
	SPAN_COUNTS
};

static struct {
	_Atomic uint64_t counts[SPAN_COUNTS];
	_Atomic uint64_t kinds[16]; /* of submissions */
} spans_seen;

/* The spans of the running thread, or of the virtual thread on it. */
static __thread int64_t depth, depth_of_carrier;

/* The same of methods that may hand an object on, entered and not yet left. */
static __thread int64_t inside, inside_of_carrier;

static void count_span(enum span_count which)
{
	atomic_fetch_add_explicit(&spans_seen.counts[which], 1, memory_order_relaxed);
}

#define SPAN_NATIVE(result, name, ...)                                                             \
	JNIEXPORT result JNICALL Java_java_lang_LocusSpan_##name(JNIEnv *env, jclass self,         \
	                                                         ##__VA_ARGS__);                   \
	JNIEXPORT result JNICALL Java_java_lang_LocusSpan_##name(JNIEnv *env, jclass self,         \
	                                                         ##__VA_ARGS__)

SPAN_NATIVE(void, streamBegin, jobject pipeline, jboolean parallel)
{
	depth++;
	count_span(parallel ? PARALLEL : STREAM);
}

/* Only the JVM sets identity hashes. */
SPAN_NATIVE(jlong, hashBits)
{
	return 0;
}

SPAN_NATIVE(void, headBegin, jboolean parallel)
{
	depth++;
	count_span(HEAD);
}

SPAN_NATIVE(void, foreignBegin)
{
	depth++;
	count_span(FOREIGN);
}

SPAN_NATIVE(void, pulled)
{
	count_span(PULLED);
}

static void ends(void)
{
	count_span(END);
	if (--depth < 0) {
		count_span(UNBALANCED);
		depth = 0;
	}
}

SPAN_NATIVE(void, end)
{
	ends();
}

SPAN_NATIVE(void, ended, jobject result)
{
	ends();
}

SPAN_NATIVE(void, streamTask, jobject task, jint hash)
{
	count_span(STREAM_TASK);
}

SPAN_NATIVE(void, supportBegin, jobject task, jint hash)
{
	depth++;
	count_span(SUPPORT);
}

SPAN_NATIVE(void, created, jobject task, jint hash, jint class_word)
{
	count_span(CREATED);
}

SPAN_NATIVE(void, submitted, jobject task, jint hash, jint class_word, jint kind)
{
	count_span(SUBMITTED);
	atomic_fetch_add_explicit(&spans_seen.kinds[kind & 15], 1, memory_order_relaxed);
	if (kind & (LC_SUBMIT_ENTERS | LC_SUBMIT_ENTERS_ALL))
		inside++;
}

SPAN_NATIVE(void, entered, jboolean all)
{
	inside++;
	count_span(ENTERED);
}

/* A method that may hand an object on is left, by whatever way. */
static void leave(enum span_count which)
{
	count_span(which);
	if (--inside < 0) {
		count_span(UNBALANCED);
		inside = 0;
	}
}

SPAN_NATIVE(void, left)
{
	leave(LEFT);
}

SPAN_NATIVE(void, refused)
{
	leave(REFUSED);
}

SPAN_NATIVE(void, taskBegin, jobject task, jint hash, jint class_word, jint traits)
{
	depth++;
	count_span(traits & LC_TASK_THREAD ? THREAD : traits & LC_TASK_WRAPPER ? WRAPPER : TASK);
}

SPAN_NATIVE(void, made, jobject function, jint class_word)
{
	count_span(MADE);
}

/* Depths of virtual threads, by their numbers; a test has few of them. */
static int64_t virtual_depths[1 << 20], virtual_inside[1 << 20];

SPAN_NATIVE(void, mount, jlong id)
{
	count_span(MOUNT);
	depth_of_carrier = depth;
	depth = virtual_depths[id & 0xFFFFF];
	inside_of_carrier = inside;
	inside = virtual_inside[id & 0xFFFFF];
}

SPAN_NATIVE(void, unmount, jlong id)
{
	count_span(UNMOUNT);
	virtual_depths[id & 0xFFFFF] = depth;
	depth = depth_of_carrier;
	virtual_inside[id & 0xFFFFF] = inside;
	inside = inside_of_carrier;
}

/* long CountSpans.count(int which), kinds of submissions from 100; long CountSpans.depth(). */
JNIEXPORT jlong JNICALL Java_CountSpans_count(JNIEnv *env, jclass self, jint which);
JNIEXPORT jlong JNICALL Java_CountSpans_count(JNIEnv *env, jclass self, jint which)
{
	return which >= 100          ? (jlong)spans_seen.kinds[which - 100 & 15]
	       : which < SPAN_COUNTS ? (jlong)spans_seen.counts[which]
	                             : 0;
}

JNIEXPORT jlong JNICALL Java_CountSpans_depth(JNIEnv *env, jclass self);
JNIEXPORT jlong JNICALL Java_CountSpans_depth(JNIEnv *env, jclass self)
{
	return depth;
}

static void rewrite_spans(const char *name, const uint8_t *bytes, size_t len, bool boot,
                          struct lc_rewrite_result *out)
{
	enum lc_rewrite_status status = lc_span_rewrite(bytes, len, agent.spans, agent.types, out);
	const char *missing = boot ? lc_span_stream_mismatch(bytes, len) : NULL;

	atomic_fetch_add(&agent.span_status[status], 1);
	atomic_fetch_add(&agent.span_sites, out->sites);
	atomic_fetch_add(&agent.span_methods_left, out->methods_left);
	if (status != LC_REWRITE_DONE && status != LC_REWRITE_NOTHING)
		fprintf(stderr, "verify_agent: spans: %s: %s\n", name ? name : "?",
		        lc_rewrite_status_name(status));
	if (missing) {
		atomic_fetch_add(&agent.mismatches, 1);
		fprintf(stderr, "verify_agent: spans: %s: no %s()\n", name ? name : "?", missing);
	}
}

static void define_spans(JNIEnv *env)
{
	if (!(*env)->DefineClass(env, LC_SPAN_CLASS, NULL, (const jbyte *)span_class,
	                         (jsize)sizeof(span_class))) {
		(*env)->ExceptionDescribe(env);
		fprintf(stderr, "verify_agent: no class for spans\n");
		exit(3);
	}
}

static void print_spans(void)
{
	static const char *const names[SPAN_COUNTS] = {
		"stream",     "parallel",    "head",    "foreign", "pulled",
		"end",        "stream_task", "support", "created", "submitted",
		"task",       "wrapper",     "thread",  "mount",   "unmount",
		"unbalanced", "made",        "entered", "left",    "refused",
	};

	fprintf(stderr,
	        "verify_agent spans: rewritten=%lu sites=%lu methods_left=%lu malformed=%lu "
	        "unsupported=%lu too_large=%lu mismatches=%lu",
	        agent.span_status[LC_REWRITE_DONE], agent.span_sites, agent.span_methods_left,
	        agent.span_status[LC_REWRITE_MALFORMED], agent.span_status[LC_REWRITE_UNSUPPORTED],
	        agent.span_status[LC_REWRITE_TOO_LARGE], agent.mismatches);
	for (int i = 0; i < SPAN_COUNTS; i++)
		fprintf(stderr, " %s=%lu", names[i], spans_seen.counts[i]);
	for (int i = 0; i < 10; i++)
		fprintf(stderr, " kind%d=%lu", i, spans_seen.kinds[i]);
	fprintf(stderr, "\n");
}
