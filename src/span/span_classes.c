/* span/span_classes.c - asks for the classes whose kind their class file alone does not tell. */
#include "src/span/span_classes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/counters.h"
#include "src/core/jvmti.h"
#include "src/span/span.h"

enum { BUCKETS = 1024, PENDING_MAX = 1 << 16 };

/*
 * Types that make a class matter, in the order of the LC_SPAN_IS_ bits; then what is not foreign.
 */
enum { PIPELINE = LC_SPAN_TYPES, TYPES };
static const char *const type_signatures[TYPES] = {
	"Ljava/lang/Runnable;",
	"Ljava/util/concurrent/Callable;",
	"Ljava/util/concurrent/ForkJoinTask;",
	"Ljava/lang/Thread;",
	"Ljava/util/concurrent/Executor;",
	"Ljava/util/stream/BaseStream;",
	"Ljava/util/stream/AbstractPipeline;",
};
_Static_assert(1 << 5 == LC_SPAN_IS_FOREIGN, "in the order of the bits");

/* A class that was loaded and not prepared yet; those of one name are one. */
struct pending {
	struct pending *next;
	uint32_t want;  /* LC_SPAN_IS_ bits to ask for */
	uint32_t count; /* classes */
	char name[];
};

static struct {
	_Atomic(jclass) types[TYPES]; /* global references, once they are loaded */
	_Atomic uint32_t found;       /* how many */
	pthread_mutex_t lock;
	struct pending *buckets[BUCKETS]; /* under lock */
	_Atomic uint64_t pending;         /* written under lock */
	_Atomic uint64_t seen[LC_REWRITE_STATUS_COUNT];
	_Atomic uint64_t sites, asked, again;
} classes = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void add(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed); /* a count */
}

/* Types */

/* If the boot loader's class is one of the types, keep it. */
static void look_at(jvmtiEnv *jvmti, JNIEnv *jni, jclass class)
{
	char *signature = NULL;
	jobject loader = NULL;

	if ((*jvmti)->GetClassSignature(jvmti, class, &signature, NULL))
		return;
	for (unsigned i = 0; i < TYPES; i++) {
		jclass kept, none = NULL;

		if (strcmp(signature, type_signatures[i]) ||
		    atomic_load_explicit(&classes.types[i], memory_order_acquire) ||
		    (*jvmti)->GetClassLoader(jvmti, class, &loader) || loader)
			continue;
		kept = (*jni)->NewGlobalRef(jni, class);
		if (kept && atomic_compare_exchange_strong(&classes.types[i], &none, kept))
			atomic_fetch_add_explicit(&classes.found, 1, memory_order_relaxed);
		else if (kept)
			(*jni)->DeleteGlobalRef(jni, kept);
	}
	if (loader)
		(*jni)->DeleteLocalRef(jni, loader);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
}

void lc_span_classes_start(JNIEnv *jni)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jclass *loaded = NULL;
	jint len = 0;

	if (!lc_span_what() || (*jvmti)->GetLoadedClasses(jvmti, &len, &loaded))
		return;
	for (jint i = 0; i < len; i++) {
		look_at(jvmti, jni, loaded[i]);
		(*jni)->DeleteLocalRef(jni, loaded[i]);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)loaded);
}

/* A type that is not loaded yet is none of a loaded class's supertypes. */
static bool is_a(JNIEnv *jni, jclass class, unsigned type)
{
	jclass target = atomic_load_explicit(&classes.types[type], memory_order_acquire);

	return target && (*jni)->IsAssignableFrom(jni, class, target);
}

static uint32_t ask(JNIEnv *jni, jclass class)
{
	uint32_t is = 0;

	for (unsigned i = 0; i < LC_SPAN_TYPES; i++)
		if (is_a(jni, class, i))
			is |= 1u << i;
	if (is & LC_SPAN_IS_FOREIGN && is_a(jni, class, PIPELINE))
		is &= ~(uint32_t)LC_SPAN_IS_FOREIGN;
	return is;
}

/* Classes between their loading and their ClassPrepare */

static struct pending **bucket_of(const char *name, size_t len)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)name[i]) * 16777619u;
	return &classes.buckets[(h ^ h >> 16) % BUCKETS];
}

static struct pending **find(const char *name, size_t len)
{
	struct pending **at = bucket_of(name, len);

	while (*at && (strncmp((*at)->name, name, len) || (*at)->name[len]))
		at = &(*at)->next;
	return at;
}

static void remember(const char *name, uint32_t want)
{
	size_t len = strlen(name);
	struct pending **at, *p;

	pthread_mutex_lock(&classes.lock);
	at = find(name, len);
	p = *at;
	if (!p && atomic_load_explicit(&classes.pending, memory_order_relaxed) < PENDING_MAX) {
		p = calloc(1, sizeof(*p) + len + 1);
		if (p) {
			memcpy(p->name, name, len);
			*at = p;
			add(&classes.pending, 1);
		}
	}
	if (p) {
		p->want |= want;
		p->count++;
	}
	pthread_mutex_unlock(&classes.lock);
}

/* What is to be asked of a class with this signature, "Lcom/acme/Task;"; once for each class. */
static uint32_t recall(const char *signature)
{
	size_t len = strlen(signature);
	struct pending **at, *p;
	uint32_t want = 0;

	if (len < 3 || *signature != 'L')
		return 0;
	pthread_mutex_lock(&classes.lock);
	at = find(signature + 1, len - 2);
	p = *at;
	if (p) {
		want = p->want;
		if (!--p->count) {
			*at = p->next;
			free(p);
			add(&classes.pending, UINT64_MAX); /* minus one */
		}
	}
	pthread_mutex_unlock(&classes.lock);
	return want;
}

/* Events */

/* Are the JDK's own stream classes what the hooks were made for? Else none is counted. */
static void check_streams(const struct lc_class_file *file)
{
	static char reason[128];
	static _Atomic bool said;
	const char *missing = file->loader ? NULL : lc_span_stream_mismatch(file->data, file->len);

	if (!missing || atomic_exchange_explicit(&said, true, memory_order_relaxed))
		return;
	snprintf(reason, sizeof(reason), "this JDK's %.60s has no %.30s()",
	         file->name ? file->name : "java.util.stream", missing);
	lc_span_give_up(LC_SPAN_STREAMS, reason);
}

enum lc_rewrite_status lc_span_classes_rewrite(JNIEnv *jni, const struct lc_class_file *file,
                                               struct lc_rewrite_result *out)
{
	unsigned what = lc_span_what();
	enum lc_rewrite_status status;
	uint32_t is = 0;

	if (!what || (file->name && !strcmp(file->name, LC_SPAN_CLASS)))
		return LC_REWRITE_NOTHING;
	if (file->redefined) {
		is = ask(jni, file->redefined);
	} else {
		uint32_t want = lc_span_matters(file->data, file->len, what, &is);

		if (want & ~is && file->name)
			remember(file->name, want & ~is);
	}
	if (what & LC_SPAN_STREAMS)
		check_streams(file);
	status = lc_span_rewrite(file->data, file->len, what, is, out);
	add(&classes.seen[status], 1);
	if (status == LC_REWRITE_DONE)
		add(&classes.sites, out->sites);
	return status;
}

bool lc_span_classes_prepare(jvmtiEnv *jvmti, JNIEnv *jni, jclass class)
{
	char *signature = NULL;
	bool again = false;
	uint32_t want;

	if (!lc_span_what())
		return false;
	if (atomic_load_explicit(&classes.found, memory_order_relaxed) < TYPES)
		look_at(jvmti, jni, class);
	if (!atomic_load_explicit(&classes.pending, memory_order_relaxed) ||
	    (*jvmti)->GetClassSignature(jvmti, class, &signature, NULL))
		return false;
	want = recall(signature);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	if (want) {
		add(&classes.asked, 1);
		again = (ask(jni, class) & want) != 0;
	}
	if (again)
		add(&classes.again, 1);
	return again;
}

void lc_span_classes_stats(struct lc_span_classes_stats *out)
{
	for (unsigned i = 0; i < LC_REWRITE_STATUS_COUNT; i++)
		out->seen[i] = atomic_load_explicit(&classes.seen[i], memory_order_relaxed);
	out->sites = atomic_load_explicit(&classes.sites, memory_order_relaxed);
	out->asked = atomic_load_explicit(&classes.asked, memory_order_relaxed);
	out->again = atomic_load_explicit(&classes.again, memory_order_relaxed);
	out->pending = atomic_load_explicit(&classes.pending, memory_order_relaxed);
}

static const struct lc_counter_row counter_rows[] = {
	LC_COUNTER(struct lc_span_classes_stats, sites, "span_class_hooks"),
	LC_COUNTER(struct lc_span_classes_stats, asked, "span_classes_asked"),
	LC_COUNTER(struct lc_span_classes_stats, again, "span_classes_again"),
};

void lc_span_classes_counters(struct lc_counters *out)
{
	struct lc_span_classes_stats s = { 0 };

	lc_span_classes_stats(&s);
	LC_COUNTERS_ADD(out, counter_rows, &s);
	lc_counters_put(out, "span_classes_failed",
	                s.seen[LC_REWRITE_MALFORMED] + s.seen[LC_REWRITE_NO_MEMORY]);
}
