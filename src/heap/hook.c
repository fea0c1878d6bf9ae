/*
 * heap/hook.c - what an instrumented allocation calls.
 *
 * A thread in a JNI method runs on while a collection moves objects, so an address read here may
 * be old before it is in the log. The rule: read the GC sequence, the address, append, read
 * the sequence again. When it changed, append again with the new address and epoch; a record
 * with a stale tag is passed over by its reader, and the same object recorded twice at the same
 * address is the same interval. No lost object, no invented one; counts are kept apart from the log.
 * The barrier in lc_epoch_enter_gc() pairs with the plain order of these loads and stores.
 *
 * An intrinsic method (classfile/alloc_rewrite.h) may run its own bytecode, whose allocations are hooked, or be
 * replaced by the JIT, when only the hook behind its call sees the object. That hook therefore
 * passes over an object that a hook at the method's end has just reported.
 *
 * It is longer than 600 lines because the natives, the context they look up and the path they walk share the
 * inlined hot path.
 */
#include "src/heap/hook.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/descriptor.h"
#include "src/base/options.h"
#include "src/classfile/alloc_rewrite.h"
#include "src/core/counters.h"
#include "src/core/epoch.h"
#include "src/core/jvmti.h"
#include "src/core/observe.h"
#include "src/core/path.h"
#include "src/core/record.h"
#include "src/core/thread.h"
#include "src/heap/alloc_log.h"
#include "src/heap/audit.h"
#include "src/heap/context.h"
#include "src/heap/tlab.h"
#include "src/jvm/handle.h"
#include "src/jvm/header.h"
#include "src/jvm/layout.h"
#include "src/stack/walker.h"

/* Frames of ours on top of the stack, and a margin for constructor chains, which are cut. */
enum {
	EXTRA_FRAMES = 24,
	INTRINSIC_FRAMES = 8,
	CLASS_NAME_MAX = 64,
	HOOK_METHODS_MAX = 128,
	ACC_STATIC = 8
};

/* What lc_path_define() calls intrinsic `i`. */
#define INTRINSIC_ID(i) (UINT64_C(1) + (i))

/* How a hook came to its object. */
enum origin {
	ORIGIN_BYTECODE,    /* the bytecode before the hook allocated it */
	ORIGIN_CALL,        /* a native method, or an intrinsic that the JIT replaced */
	ORIGIN_CONSTRUCTOR, /* a large object: a constructor of it returns, or it was cloned */
};

static struct {
	jmethodID hook_methods[HOOK_METHODS_MAX];
	unsigned hook_methods_len;
	char intrinsic_classes[LC_INTRINSICS][CLASS_NAME_MAX]; /* with dots */
	uint32_t depth;
	uint64_t min_size_bytes;
	uint32_t object_header_bytes;
	bool follow, exact, audit;
	bool objects; /* every object is tracked */
	_Atomic bool enabled;
	_Atomic uint64_t corrections, duplicates, unrecorded, walk_errors;
	_Atomic uint64_t unaudited, misplaced;
} hook;

static void count(_Atomic uint64_t *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed); /* a count */
}

/* An intrinsic's class as lc_method has it: with dots. */
static void dotted(const char *internal, char *out, size_t out_len)
{
	snprintf(out, out_len, "%s", internal);
	for (char *c = out; *c; c++)
		if (*c == '/')
			*c = '.';
}

/* The intrinsics as methods of their own, since a replaced one is in no stack. */
static int define_intrinsics(void)
{
	int err = 0;

	for (unsigned i = 0; !err && i < LC_INTRINSICS; i++) {
		const struct lc_intrinsic *x = lc_rewrite_intrinsic(i);

		dotted(x->class_name, hook.intrinsic_classes[i], CLASS_NAME_MAX);
		err = lc_path_define(INTRINSIC_ID(i), hook.intrinsic_classes[i], x->name,
		                     x->descriptor);
	}
	return err;
}

void lc_hook_own_class(jclass class)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jmethodID *methods = NULL;
	jint len = 0;

	if ((*jvmti)->GetClassMethods(jvmti, class, &len, &methods))
		return;
	for (jint i = 0; i < len && hook.hook_methods_len < HOOK_METHODS_MAX; i++)
		hook.hook_methods[hook.hook_methods_len++] = methods[i];
	(*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
}

int lc_hook_init(jclass hook_class, const struct lc_options *options, bool follow)
{
	lc_hook_own_class(hook_class);
	if (!hook.hook_methods_len)
		return -EIO;
	hook.depth = (uint32_t)options->depth;
	hook.min_size_bytes = options->min_size_bytes;
	hook.object_header_bytes = lc_layout_header_bytes(lc_layout());
	hook.follow = follow;
	hook.objects = !options->min_size_bytes;
	hook.exact = options->paths == LC_PATHS_EXACT;
	hook.audit = follow && options->audit;
	return define_intrinsics();
}

void lc_hook_enable(bool on)
{
	atomic_store_explicit(&hook.enabled, on, memory_order_release);
}

void lc_hook_stats(struct lc_hook_stats *out)
{
	struct lc_object_stats objects;

	lc_object_stats(&objects);
	memset(out, 0, sizeof(*out));
	out->corrections = atomic_load_explicit(&hook.corrections, memory_order_relaxed);
	out->duplicates = atomic_load_explicit(&hook.duplicates, memory_order_relaxed);
	out->unrecorded = atomic_load_explicit(&hook.unrecorded, memory_order_relaxed);
	out->unaudited = atomic_load_explicit(&hook.unaudited, memory_order_relaxed);
	out->misplaced = atomic_load_explicit(&hook.misplaced, memory_order_relaxed);
	out->unplaced = objects.unplaced;
	out->unproved = objects.unproved;
	out->walk_errors = atomic_load_explicit(&hook.walk_errors, memory_order_relaxed);
}

static const struct lc_counter_row counter_rows[] = {
	LC_COUNTER(struct lc_hook_stats, corrections, "alloc_corrections"),
	LC_COUNTER(struct lc_hook_stats, duplicates, "alloc_duplicates"),
	LC_COUNTER(struct lc_hook_stats, unrecorded, "alloc_unrecorded"),
	LC_COUNTER(struct lc_hook_stats, unplaced, "alloc_unplaced"),
	LC_COUNTER(struct lc_hook_stats, unproved, "alloc_unproved"),
	LC_COUNTER(struct lc_hook_stats, walk_errors, "alloc_walk_errors"),
};

void lc_hook_counters(struct lc_counters *out)
{
	struct lc_hook_stats s = { 0 };

	lc_hook_stats(&s);
	LC_COUNTERS_ADD(out, counter_rows, &s);
}

static const struct lc_counter_row audit_rows[] = {
	LC_COUNTER(struct lc_hook_stats, unaudited, "audit_unaudited"),
	LC_COUNTER(struct lc_hook_stats, misplaced, "audit_misplaced"),
};

void lc_hook_audit_counters(struct lc_counters *out)
{
	struct lc_hook_stats s = { 0 };

	lc_hook_stats(&s);
	LC_COUNTERS_ADD(out, audit_rows, &s);
}

static bool is_hook_method(jmethodID method)
{
	for (unsigned i = 0; i < hook.hook_methods_len; i++)
		if (hook.hook_methods[i] == method)
			return true;
	return false;
}

size_t lc_hook_own_frames(const uint64_t *frames, size_t len)
{
	size_t own = 0;

	while (own < len && is_hook_method((jmethodID)(uintptr_t)(frames[own] & LC_ADDR_MASK)))
		own++;
	return own;
}

/* Number of the intrinsic that this method is, or -1. */
static int intrinsic_number(JNIEnv *jni, jmethodID method)
{
	const struct lc_method *m = lc_path_method(jni, method);

	for (unsigned i = 0; m && i < LC_INTRINSICS; i++) {
		const struct lc_intrinsic *x = lc_rewrite_intrinsic(i);

		if (!strcmp(m->class_name, hook.intrinsic_classes[i]) &&
		    !strcmp(m->name, x->name) && !strcmp(m->signature, x->descriptor))
			return (int)i;
	}
	return -1;
}

static bool is_constructor(JNIEnv *jni, jmethodID method)
{
	const struct lc_method *m = lc_path_method(jni, method);

	return m && !strcmp(m->name, "<init>");
}

/* Is frame `i` a constructor that frame `i + 1` calls for the same object? */
static bool constructor_chain(JNIEnv *jni, const jvmtiFrameInfo *frames, jint len, jint i)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jclass inner = NULL, outer = NULL;
	bool chain = false;

	if (i + 1 >= len || !is_constructor(jni, frames[i + 1].method))
		return false;
	if (!(*jvmti)->GetMethodDeclaringClass(jvmti, frames[i].method, &inner) &&
	    !(*jvmti)->GetMethodDeclaringClass(jvmti, frames[i + 1].method, &outer)) {
		jclass super = (*jni)->GetSuperclass(jni, outer);

		chain = (*jni)->IsSameObject(jni, inner, outer) ||
		        (super && (*jni)->IsSameObject(jni, inner, super));
		if (super)
			(*jni)->DeleteLocalRef(jni, super);
	}
	if (inner)
		(*jni)->DeleteLocalRef(jni, inner);
	if (outer)
		(*jni)->DeleteLocalRef(jni, outer);
	return chain;
}

/*
 * The allocation path of the running hook: its own frames are cut; of an object's constructors the
 * path begins at the caller of the outermost, where `new` stands; an intrinsic is the leaf,
 * without a line, whether it ran or was replaced, so that both make one site. Returns the node.
 */
static uint32_t walk(JNIEnv *jni, struct lc_walker *walker, uint32_t bytecode_site,
                     enum origin origin)
{
	jint cap = (jint)hook.depth + EXTRA_FRAMES, len = 0, from = 0;
	jvmtiFrameInfo *frames = lc_walker_scratch(
	    walker, LC_WALKER_FRAMES,
	    (size_t)cap * (sizeof(*frames) + sizeof(uint64_t)) + sizeof(uint64_t));
	uint64_t *packed;
	size_t packed_len = 0;
	int intrinsic = -1;

	if (!frames || (*lc_jvmti())->GetStackTrace(lc_jvmti(), NULL, 0, cap, frames, &len) ||
	    len <= 0) {
		count(&hook.walk_errors);
		return 0;
	}
	packed = (uint64_t *)(frames + cap);
	while (from < len && is_hook_method(frames[from].method))
		from++;
	if (origin == ORIGIN_CONSTRUCTOR && from < len &&
	    is_constructor(jni, frames[from].method)) {
		while (constructor_chain(jni, frames, len, from))
			from++;
		from++;
	}
	if (bytecode_site & LC_SITE_AFTER_CALL)
		intrinsic = (int)LC_SITE_INTRINSIC(bytecode_site);
	for (jint i = from, nearest = from; i < len && i < nearest + INTRINSIC_FRAMES; i++) {
		int ran = intrinsic_number(jni, frames[i].method);

		if (ran >= 0) {
			from = i + 1;
			intrinsic = ran;
		}
	}
	if (intrinsic >= 0)
		packed[packed_len++] =
		    lc_frame_pack((const void *)(uintptr_t)INTRINSIC_ID((unsigned)intrinsic), -1);
	for (jint i = from; i < len && packed_len < hook.depth; i++)
		packed[packed_len++] = lc_frame_pack(frames[i].method, (int)frames[i].location);
	return lc_path_intern(jni, packed, packed_len);
}

/* Bytes of the instance fields that `class` itself declares. */
static uint64_t own_field_bytes(jclass class)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jfieldID *fields = NULL;
	uint64_t bytes = 0;
	jint len = 0;

	if ((*jvmti)->GetClassFields(jvmti, class, &len, &fields))
		return 0;
	for (jint i = 0; i < len; i++) {
		char *signature = NULL;
		jint modifiers = 0;

		if ((*jvmti)->GetFieldModifiers(jvmti, class, fields[i], &modifiers) ||
		    modifiers & ACC_STATIC ||
		    (*jvmti)->GetFieldName(jvmti, class, fields[i], NULL, &signature, NULL))
			continue;
		bytes += lc_descriptor_bytes(signature, lc_layout()->reference_bytes);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)fields);
	return bytes;
}

uint64_t lc_hook_instance_bytes(JNIEnv *jni, jclass class)
{
	uint64_t bytes = hook.object_header_bytes;

	for (jclass at = (*jni)->NewLocalRef(jni, class); at;) {
		jclass super = (*jni)->GetSuperclass(jni, at);

		bytes += own_field_bytes(at);
		(*jni)->DeleteLocalRef(jni, at);
		at = super;
	}
	return bytes;
}

/*
 * Constructors run from Object's downwards, and each large class of a hierarchy has its own hook. The
 * first of them records the object: the running one (its frame is the first below ours), if its
 * superclass alone is not large yet.
 */
static bool first_to_record(JNIEnv *jni)
{
	jvmtiFrameInfo frames[4];
	jclass holder = NULL, super;
	jint len = 0, at = 0;
	bool first = true;

	if ((*lc_jvmti())->GetStackTrace(lc_jvmti(), NULL, 0, 4, frames, &len))
		return true;
	while (at < len && is_hook_method(frames[at].method))
		at++;
	if (at == len || !is_constructor(jni, frames[at].method) || /* a clone */
	    (*lc_jvmti())->GetMethodDeclaringClass(lc_jvmti(), frames[at].method, &holder))
		return true;
	super = (*jni)->GetSuperclass(jni, holder);
	if (super) {
		first = lc_hook_instance_bytes(jni, super) < hook.min_size_bytes;
		(*jni)->DeleteLocalRef(jni, super);
	}
	(*jni)->DeleteLocalRef(jni, holder);
	return first;
}

/* Wait while a collection may be moving objects; returns the even sequence. */
static uint32_t still_sequence(JNIEnv *jni, jobject o)
{
	uint32_t s;

	while (lc_gc_sequence_moving(s = lc_gc_sequence())) {
		/* A call into the JVM returns only when the collection has ended. */
		jclass class = (*jni)->GetObjectClass(jni, o);

		(*jni)->DeleteLocalRef(jni, class);
	}
	return s;
}

static uint64_t tagged_address(jobject o, uint32_t sequence)
{
	return lc_handle_address(o) | (uint64_t)(sequence >> 1) << LC_ADDR_BITS;
}

/* The class word in the header of `o`; 0 when collections keep getting in between. */
static uint64_t class_word(JNIEnv *jni, jobject o)
{
	for (unsigned attempt = 0; attempt < 8; attempt++) {
		uint32_t s = still_sequence(jni, o);
		uint64_t addr = tagged_address(o, s) & LC_ADDR_MASK;
		struct lc_header h;

		if (!lc_header_read(lc_layout(), addr, &h) && lc_gc_sequence() == s)
			return h.class_word;
	}
	return 0;
}

static uint32_t intern_site(JNIEnv *jni, struct lc_walker *walker, jobject o,
                            uint32_t bytecode_site, enum origin origin)
{
	jclass class = (*jni)->GetObjectClass(jni, o);
	char *signature = NULL;
	uint32_t site = 0;

	if (class && !(*lc_jvmti())->GetClassSignature(lc_jvmti(), class, &signature, NULL)) {
		site = lc_site_intern(signature, class_word(jni, o),
		                      walk(jni, walker, bytecode_site, origin));
		(*lc_jvmti())->Deallocate(lc_jvmti(), (unsigned char *)signature);
	}
	if (class)
		(*jni)->DeleteLocalRef(jni, class);
	return site;
}

static void add(struct lc_site_counter *counter, uint32_t words)
{
	/* One writer: plain adds that the attribution thread may read at any time. */
	atomic_store_explicit(&counter->allocations,
	                      atomic_load_explicit(&counter->allocations, memory_order_relaxed) + 1,
	                      memory_order_relaxed);
	atomic_store_explicit(&counter->bytes,
	                      atomic_load_explicit(&counter->bytes, memory_order_relaxed) +
	                          (uint64_t)words * 8,
	                      memory_order_relaxed);
}

static void record(JNIEnv *jni, struct lc_thread *t, uint32_t site, jobject o, uint32_t words)
{
	struct lc_alloc a = { .size_words = words, .site = site };
	uint32_t s;

	if (!hook.follow)
		return;
	for (;;) {
		s = still_sequence(jni, o);
		a.tagged_addr = tagged_address(o, s);
		lc_alloc_log_put(t->allocs, a); /* a full log counts what it loses */
		atomic_signal_fence(memory_order_seq_cst);
		if (lc_gc_sequence() == s)
			break;
		count(&hook.corrections);
	}
	if (hook.audit)
		lc_audit_add(jni, o, a.tagged_addr & LC_ADDR_MASK, (uint64_t)words * 8, a.site);
}

static void count_and_record(JNIEnv *jni, struct lc_thread *t, struct lc_site_counter *counter,
                             jobject o, uint32_t words)
{
	add(counter, words);
	record(jni, t, counter->site, o, words);
}

/* What a hook has found out before the context is looked up. */
struct allocation {
	uint64_t stack_pointer; /* of the hook's own frame */
	uint32_t words;
	uint32_t bytecode_site;
	uint32_t class_key; /* 0 where the bytecode tells the class */
	enum origin origin;
};

/* An allocation in a context that is new, or that is to be walked each time. */
static __attribute__((noinline)) struct lc_site_counter *
record_slowly(JNIEnv *jni, struct lc_thread *t, jobject o, const struct allocation *a)
{
	bool wanted = a->origin != ORIGIN_CONSTRUCTOR || first_to_record(jni);
	uint32_t site = wanted ? intern_site(jni, t->walker, o, a->bytecode_site, a->origin) : 0;
	struct lc_site_counter *counter =
	    site ? lc_site_counters_of(&t->contexts->counters, site) : NULL;

	if (wanted && !counter) {
		count(&hook.unrecorded);
		return NULL;
	}
	if (!hook.exact)
		lc_contexts_learn(t->contexts, a->stack_pointer, lc_walker_end(t->walker),
		                  a->bytecode_site, a->class_key, site);
	if (wanted)
		count_and_record(jni, t, counter, o, a->words);
	return counter;
}

/* As below, where every object is tracked: the stack is looked at now and then. */
static __attribute__((noinline)) struct lc_site_counter *
record_object(JNIEnv *jni, struct lc_thread *t, jobject o, const struct allocation *a)
{
	struct lc_object_thread *objects = lc_object_known();
	struct lc_site_counter *counter =
	    objects ? lc_object_recent(objects, a->bytecode_site, a->class_key) : NULL;
	struct lc_context *x;

	if (counter) {
		count_and_record(jni, t, counter, o, a->words);
		return counter;
	}
	x = lc_contexts_find(t->contexts, a->stack_pointer, a->bytecode_site, a->class_key);
	counter = x ? x->counter : record_slowly(jni, t, o, a);
	if (x && counter)
		count_and_record(jni, t, counter, o, a->words);
	if (objects && counter)
		lc_object_looked(objects, a->bytecode_site, a->class_key, counter, !x);
	return counter;
}

/* Returns the counter of its site; NULL where it is not recorded. */
static inline __attribute__((always_inline)) struct lc_site_counter *
record_allocation(JNIEnv *jni, struct lc_thread *t, jobject o, const struct allocation *a)
{
	struct lc_context *x = NULL;

	if (__builtin_expect(hook.objects && !hook.exact, 0))
		return record_object(jni, t, o, a);
	if (!hook.exact)
		x = lc_contexts_find(t->contexts, a->stack_pointer, a->bytecode_site, a->class_key);
	if (__builtin_expect(!x, 0))
		return record_slowly(jni, t, o, a);
	if (__builtin_expect(x->counter != NULL, 1))
		count_and_record(jni, t, x->counter, o, a->words);
	return x->counter;
}

/* The caller's record; NULL when nothing is to be recorded, which is counted unless hooks are off. */
static __attribute__((noinline)) struct lc_thread *enter_slowly(JNIEnv *jni)
{
	struct lc_thread *t = lc_thread_enter(jni);

	if (!t)
		count(&hook.unrecorded);
	return t;
}

static inline __attribute__((always_inline)) struct lc_thread *enter(JNIEnv *jni)
{
	struct lc_thread *t = lc_thread_self();

	if (__builtin_expect(!atomic_load_explicit(&hook.enabled, memory_order_relaxed), 0))
		return NULL;
	return __builtin_expect(t != NULL, 1) ? t : enter_slowly(jni);
}

/* The body of an intrinsic has recorded `o` and returns it: its caller's hook may see it again. */
static void remember(JNIEnv *jni, struct lc_thread *t, jobject o, uint32_t words)
{
	struct lc_last_record *last = &t->contexts->last;

	last->tagged_addr = tagged_address(o, still_sequence(jni, o));
	last->position = t->allocs ? lc_alloc_log_position(t->allocs) : 0;
	last->size_words = words;
}

/* Is `o` the remembered object? Then it is forgotten. */
static bool remembered(JNIEnv *jni, struct lc_thread *t, jobject o, uint32_t words)
{
	struct lc_last_record *last = &t->contexts->last;
	uint64_t now = tagged_address(o, still_sequence(jni, o));
	bool same = last->tagged_addr == now;

	/* Moved by a collection since? Then nothing else was recorded, and the size is the same. */
	if (!same && last->tagged_addr >> LC_ADDR_BITS != now >> LC_ADDR_BITS)
		same =
		    last->position == lc_alloc_log_position(t->allocs) && last->size_words == words;
	if (same)
		last->size_words = 0;
	return same;
}

/* Only a watch may want it. */
static inline bool is_small(uint32_t words)
{
	return __builtin_expect((uint64_t)words * 8 < hook.min_size_bytes, 0);
}

/*
 * Hooks at the end of an intrinsic and behind calls; the bytecode does not tell the class. Returns
 * whether this is the first hook to see the object.
 */
static bool called(JNIEnv *jni, struct lc_thread *t, jobject o, uint64_t stack_pointer,
                   uint32_t words, uint32_t bytecode_site, enum origin origin)
{
	struct allocation a = { .stack_pointer = stack_pointer,
		                .words = words,
		                .bytecode_site = bytecode_site,
		                .origin = origin };
	jclass class;

	if (bytecode_site & LC_SITE_IN_BODY) {
		remember(jni, t, o, words);
		return false;
	}
	if (bytecode_site & LC_SITE_AFTER_CALL && remembered(jni, t, o, words)) {
		count(&hook.duplicates);
		return false;
	}
	if (is_small(words))
		return true;
	class = (*jni)->GetObjectClass(jni, o);
	a.class_key = (uint32_t)(lc_handle_address(class) >> 3) | 1;
	(*jni)->DeleteLocalRef(jni, class);
	record_allocation(jni, t, o, &a);
	return true;
}

/* The counter for what `new` has made; NULL without memory. */
static struct lc_site_counter *made_counter(JNIEnv *jni, struct lc_thread *t,
                                            struct lc_object_thread *objects, jclass type,
                                            uint64_t stack_pointer, uint32_t bytecode_site,
                                            uint64_t class_word)
{
	struct lc_site_counter *counter = NULL;
	struct lc_context *x = NULL;
	char *signature = NULL;
	uint32_t site = 0;

	if (!hook.exact) {
		counter = lc_object_recent(objects, bytecode_site, 0);
		if (counter)
			return counter;
		x = lc_contexts_find(t->contexts, stack_pointer, bytecode_site, 0);
	}
	if (x) {
		lc_object_looked(objects, bytecode_site, 0, x->counter, false);
		return x->counter;
	}
	if ((*lc_jvmti())->GetClassSignature(lc_jvmti(), type, &signature, NULL))
		return NULL;
	site = lc_site_intern(signature, class_word,
	                      walk(jni, t->walker, bytecode_site, ORIGIN_BYTECODE));
	(*lc_jvmti())->Deallocate(lc_jvmti(), (unsigned char *)signature);
	if (site && !hook.exact)
		lc_contexts_learn(t->contexts, stack_pointer, lc_walker_end(t->walker),
		                  bytecode_site, 0, site);
	counter = site ? lc_site_counters_of(&t->contexts->counters, site) : NULL;
	if (counter && !hook.exact)
		lc_object_looked(objects, bytecode_site, 0, counter, true);
	return counter;
}

/* Let Java code record the next arrays of that bytecode site. */
static inline void remember_array(struct lc_site_counter *counter, uint32_t bytecode_site)
{
	struct lc_object_thread *objects;
	const struct lc_site *site;

	if (__builtin_expect(!hook.objects, 1))
		return;
	objects = lc_object_known();
	if (!objects || !counter || !hook.follow || hook.exact || hook.audit)
		return;
	site = lc_site_get(counter->site);
	if (site && site->class_word)
		lc_object_remember(objects, bytecode_site,
		                   &(struct lc_object_made){ .class_word = site->class_word },
		                   counter, true);
}

/* An object of `type` may have been made just before the hook. */
static void made(JNIEnv *jni, struct lc_thread *t, struct lc_object_thread *objects, jclass type,
                 uint64_t stack_pointer, uint32_t bytecode_site, uint64_t proved)
{
	struct lc_object_made made = { 0 };
	struct lc_site_counter *counter;
	enum lc_object_proof proof =
	    lc_object_find(objects, jni, type, bytecode_site, proved, &made);

	if (proof == LC_OBJECT_NONE)
		return;
	counter =
	    made_counter(jni, t, objects, type, stack_pointer, bytecode_site, made.class_word);
	if (!counter) {
		count(&hook.unrecorded);
		return;
	}
	add(counter, made.size_bytes / 8);
	if (hook.follow && proof == LC_OBJECT_PLACED)
		lc_alloc_log_put(
		    t->allocs,
		    (struct lc_alloc){ .tagged_addr = made.addr | (uint64_t)(made.sequence >> 1)
		                                                      << LC_ADDR_BITS,
		                       .size_words = made.size_bytes / 8,
		                       .site = counter->site });
	lc_object_remember(objects, bytecode_site, &made, counter, hook.follow && !hook.exact);
}

/*
 * Show an object to who looks for one. The one that is found is tracked even if it is small, and
 * not counted: the numbers of small objects are estimates. Returns whether more are looked for.
 */
static bool show(JNIEnv *jni, struct lc_thread *t, jobject o, uint32_t bytecode_site,
                 enum origin origin)
{
	unsigned said = lc_observe_show(jni, o);
	jlong bytes = 0;
	uint32_t site;

	if (__builtin_expect(said & LC_OBSERVE_HIT, 0) &&
	    !(*lc_jvmti())->GetObjectSize(lc_jvmti(), o, &bytes) &&
	    is_small((uint32_t)(bytes / 8))) {
		site = intern_site(jni, t->walker, o, bytecode_site, origin);
		if (site)
			record(jni, t, site, o, (uint32_t)(bytes / 8));
		else
			count(&hook.unrecorded);
	}
	return said & LC_OBSERVE_MORE;
}

/* Exported: the natives of java.lang.LocusHook. Context: [hook], the allocating thread. */
JNIEXPORT void JNICALL Java_java_lang_LocusHook_observe(JNIEnv *jni, jclass hook_class, jobject o);
JNIEXPORT void JNICALL Java_java_lang_LocusHook_madeSlowly(JNIEnv *jni, jclass hook_class,
                                                           jlong thread, jclass type, jint site,
                                                           jlong address);
JNIEXPORT void JNICALL Java_java_lang_LocusHook_constructed(JNIEnv *jni, jclass hook_class,
                                                            jobject o);
JNIEXPORT void JNICALL Java_java_lang_LocusHook_allocString(JNIEnv *jni, jclass hook_class,
                                                            jobject array, jint words,
                                                            jobject string, jint site);
JNIEXPORT void JNICALL Java_java_lang_LocusHook_alloc(JNIEnv *jni, jclass hook_class, jobject o,
                                                      jint words, jint site);
JNIEXPORT void JNICALL Java_java_lang_LocusHook_allocObject(JNIEnv *jni, jclass hook_class,
                                                            jobject o, jint site);

void Java_java_lang_LocusHook_madeSlowly(JNIEnv *jni, jclass hook_class, jlong thread, jclass type,
                                         jint site, jlong address)
{
	uint64_t stack_pointer = (uintptr_t)__builtin_frame_address(0);
	struct lc_thread *t = enter(jni);
	struct lc_object_thread *objects =
	    t ? lc_object_self((uint64_t)thread, hook.follow ? t->allocs : NULL) : NULL;

	(void)hook_class;
	if (!objects)
		return;
	made(jni, t, objects, type, stack_pointer, (uint32_t)site, (uint64_t)address);
	lc_object_sync(objects);
}

void Java_java_lang_LocusHook_alloc(JNIEnv *jni, jclass hook_class, jobject o, jint words,
                                    jint site)
{
	struct allocation a = { .stack_pointer = (uintptr_t)__builtin_frame_address(0),
		                .words = (uint32_t)words,
		                .bytecode_site = (uint32_t)site };
	struct lc_thread *t = enter(jni);
	struct lc_site_counter *counter = NULL;

	(void)hook_class;
	if (!t)
		return;
	if (__builtin_expect(
	        a.bytecode_site & (LC_SITE_IN_BODY | LC_SITE_AFTER_CALL | LC_SITE_ANY_CLASS), 0)) {
		if (called(jni, t, o, a.stack_pointer, a.words, a.bytecode_site, ORIGIN_CALL))
			(void)show(jni, t, o, a.bytecode_site, ORIGIN_CALL);
	} else {
		if (!is_small(a.words))
			counter = record_allocation(jni, t, o, &a);
		/* Java code would not show the next ones. */
		if (!show(jni, t, o, a.bytecode_site, ORIGIN_BYTECODE))
			remember_array(counter, a.bytecode_site);
	}
	if (__builtin_expect(hook.objects, 0))
		lc_object_sync(lc_object_known());
}

/* The array stands for both: where its method ran, both were reported. */
void Java_java_lang_LocusHook_allocString(JNIEnv *jni, jclass hook_class, jobject array, jint words,
                                          jobject string, jint site)
{
	uint64_t stack_pointer = (uintptr_t)__builtin_frame_address(0);
	struct lc_thread *t = enter(jni);
	jlong bytes = 0;

	(void)hook_class;
	if (!t)
		return;
	if (called(jni, t, array, stack_pointer, (uint32_t)words, (uint32_t)site, ORIGIN_CALL)) {
		if (!(*lc_jvmti())->GetObjectSize(lc_jvmti(), string, &bytes))
			called(jni, t, string, stack_pointer, (uint32_t)(bytes / 8),
			       ((uint32_t)site & ~LC_SITE_AFTER_CALL) | LC_SITE_ANY_CLASS,
			       ORIGIN_CALL);
		(void)show(jni, t, array, (uint32_t)site, ORIGIN_CALL);
		(void)show(jni, t, string, (uint32_t)site, ORIGIN_CALL);
	}
	if (__builtin_expect(hook.objects, 0))
		lc_object_sync(lc_object_known());
}

void Java_java_lang_LocusHook_allocObject(JNIEnv *jni, jclass hook_class, jobject o, jint site)
{
	uint64_t stack_pointer = (uintptr_t)__builtin_frame_address(0);
	struct lc_thread *t = enter(jni);
	jlong bytes = 0;

	(void)hook_class;
	if (t && !(*lc_jvmti())->GetObjectSize(lc_jvmti(), o, &bytes) &&
	    (uint64_t)bytes >= hook.min_size_bytes)
		called(jni, t, o, stack_pointer, (uint32_t)(bytes / 8), (uint32_t)site,
		       (uint32_t)site & LC_SITE_ANY_CLASS ? ORIGIN_CALL : ORIGIN_CONSTRUCTOR);
	if (__builtin_expect(hook.objects, 0))
		lc_object_sync(lc_object_known());
}

void Java_java_lang_LocusHook_observe(JNIEnv *jni, jclass hook_class, jobject o)
{
	struct lc_thread *t = enter(jni);

	(void)hook_class;
	if (t)
		(void)show(jni, t, o, 0, ORIGIN_CONSTRUCTOR);
}

static const struct lc_alloc *find_in(const struct lc_alloc_chunk *c, uint64_t len,
                                      uint64_t tagged_addr)
{
	while (c && len--)
		if (c->records[len].tagged_addr == tagged_addr)
			return &c->records[len];
	return NULL;
}

/* The record of an object among the thread's last ones, in this epoch; or NULL. */
static const struct lc_alloc *find_record(const struct lc_thread *t, uint64_t tagged_addr)
{
	const struct lc_alloc_chunk *c = t->allocs->tail;
	const struct lc_object_thread *o = lc_object_known();
	const struct lc_alloc *a =
	    find_in(c, c ? lc_alloc_log_position(t->allocs) - c->first : 0, tagged_addr);

	/* A chunk of this epoch is still there. */
	if (!a && o && o->before && o->before_sequence == lc_gc_sequence())
		a = find_in(o->before, LC_ALLOC_CHUNK_RECORDS, tagged_addr);
	return a;
}

/*
 * For the audit alone: now that the object may be passed on, is it where its hook said? If a collection
 * came in between, or its record is some chunks back, it is not held.
 */
void Java_java_lang_LocusHook_constructed(JNIEnv *jni, jclass hook_class, jobject o)
{
	struct lc_thread *t = enter(jni);
	const struct lc_alloc *a;
	uint64_t tagged;
	jlong bytes = 0;

	(void)hook_class;
	if (!t || !hook.audit)
		return;
	tagged = tagged_address(o, still_sequence(jni, o));
	a = find_record(t, tagged);
	if (!a || (*lc_jvmti())->GetObjectSize(lc_jvmti(), o, &bytes)) {
		count(&hook.unaudited);
		return;
	}
	if ((uint64_t)bytes != (uint64_t)a->size_words * 8)
		count(&hook.misplaced);
	lc_audit_add(jni, o, tagged & LC_ADDR_MASK, (uint64_t)bytes, a->site);
}
