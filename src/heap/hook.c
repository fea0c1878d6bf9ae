/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/hook.c - has the natives that an instrumented allocation calls.
 *
 * A thread in a JNI method runs on while a collection moves objects, so an address read here may
 * be old before it is in the log. The rule: read the GC sequence, the address, append, read
 * the sequence again. When it changed, append again with the new address and epoch; a record
 * with a stale tag is passed over by its reader, and the same object recorded twice at the same
 * address is the same interval. No lost object, no invented one; counts are kept apart from the
 * log. The barrier in lc_epoch_enter_gc() pairs with the plain order of these loads and stores.
 *
 * An intrinsic method (classfile/rewrite.h) may run its own bytecode, whose allocations are
 * hooked, or be replaced by the JIT, when only the hook behind its call sees the object. That hook
 * therefore passes over an object that a hook at the method's end has just reported.
 *
 * This file is longer than 600 lines, since all of the path of a hook is inlined into the natives.
 */
#include "src/heap/hook.h"

#include <stdatomic.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/base/options.h"
#include "src/base/time.h"
#include "src/classfile/rewrite.h"
#include "src/core/counters.h"
#include "src/core/epoch.h"
#include "src/core/jvmti.h"
#include "src/core/own.h"
#include "src/core/own_work.h"
#include "src/core/path.h"
#include "src/core/record.h"
#include "src/core/thread.h"
#include "src/core/watch_hook.h"
#include "src/heap/alloc_log.h"
#include "src/heap/alloc_path.h"
#include "src/heap/audit.h"
#include "src/heap/common_counters.h"
#include "src/heap/context.h"
#include "src/heap/hook_audit.h"
#include "src/heap/tlab.h"
#include "src/heap/tracked.h"
#include "src/jvm/os/handle.h"
#include "src/jvm/os/peek.h"
#include "src/stack/walker.h"

enum { AUDITED_EACH = 32 };

static struct {
	uint64_t min_size_bytes;
	bool follow, exact, audit;
	bool ordered; /* objects move while the program runs */
	bool objects; /* every object is tracked */
	bool tracks;  /* those of some classes are */
	bool assumes; /* the stack need not be looked at for each of them */
	_Atomic bool enabled;
	_Atomic uint64_t corrections, duplicates, unrecorded;
} hook;

int lc_hook_init(jclass hook_class, const struct lc_options *options, bool follow)
{
	int err = lc_own_class(hook_class);

	if (err)
		return err;
	hook.min_size_bytes = options->min_size_bytes;
	hook.follow = follow;
	hook.objects = !options->min_size_bytes;
	hook.tracks = !hook.objects && lc_tracked_any();
	hook.exact = options->paths == LC_PATHS_EXACT;
	hook.assumes = !hook.exact && (hook.objects || hook.tracks);
	hook.ordered = false;
	hook.audit = follow && options->audit;
	return lc_alloc_path_init((uint32_t)options->depth, options->min_size_bytes);
}

void lc_hook_order(bool audit)
{
	hook.ordered = true;
	hook.audit = audit;
}

void lc_hook_enable(bool on)
{
	atomic_store_explicit(&hook.enabled, on, memory_order_release);
}

uint64_t lc_hook_min_size_bytes(void)
{
	return hook.min_size_bytes;
}

bool lc_hook_assumes(void)
{
	return hook.assumes;
}

uint64_t lc_hook_missed(void)
{
	return atomic_load_explicit(&hook.unrecorded, memory_order_relaxed) + lc_tlab_unproved();
}

static const struct lc_counter counters[] = {
	/* Records made again because a GC ran during the first. */
	LC_COUNTER("alloc_corrections", &hook.corrections),
	/* Reported by an intrinsic and by its caller. */
	LC_COUNTER("alloc_duplicates", &hook.duplicates),
	/* No memory, no thread record, or a full log. */
	LC_COUNTER("alloc_unrecorded", &hook.unrecorded, .limit = "allocations_lost",
	           .text = "there was no memory to count some allocations: they are missing"),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));

static void add(struct lc_site_counter *counter, uint32_t words)
{
	/*
	 * One writer: plain adds that the attribution thread may read at any time. Release: who
	 * reads this count sees `looked` of the object, too.
	 */
	atomic_store_explicit(&counter->allocations,
	                      atomic_load_explicit(&counter->allocations, memory_order_relaxed) + 1,
	                      memory_order_release);
	atomic_store_explicit(&counter->bytes,
	                      atomic_load_explicit(&counter->bytes, memory_order_relaxed) +
	                          (uint64_t)words * 8,
	                      memory_order_relaxed);
}

/* Objects may move at any time. The map waits for the record (attribute/concurrent.c). */
static void record_in_order(JNIEnv *jni, struct lc_thread *t, uint32_t site, jobject o,
                            uint32_t words)
{
	struct lc_alloc a = { .size_words = words, .site = site };
	struct lc_alloc_place place;
	bool logged;

	/* Relaxed: the reader stays behind by much more than a store takes to be seen. */
	atomic_store_explicit(&t->records_ns, lc_time_coarse_ns(), memory_order_relaxed);
	place = lc_alloc_place(jni, o, &t->renewed);
	a.tagged_addr = place.addr;
	/* A full log counts what it loses. */
	logged = !lc_alloc_log_put(t->allocs, lc_alloc_time(place.time_ns)) &&
	         !lc_alloc_log_put(t->allocs, a);
	atomic_store_explicit(&t->records_ns, 0, memory_order_release); /* the record first */
	if (hook.audit && logged)
		lc_audit_add(jni, o, a.tagged_addr, (uint64_t)words * 8, site);
}

/* Only a watch, or --track, may want it. */
static inline bool is_small(uint32_t words)
{
	return __builtin_expect((uint64_t)words * 8 < hook.min_size_bytes, 0);
}

static void record(JNIEnv *jni, struct lc_thread *t, uint32_t site, jobject o, uint32_t words)
{
	struct lc_alloc a = { .size_words = words, .site = site };
	bool logged;
	uint32_t s;

	/* Copies of small objects are not logged. */
	if (__builtin_expect(hook.ordered, 0) && !is_small(words))
		record_in_order(jni, t, site, o, words);
	if (!hook.follow)
		return;
	if (is_small(words))
		lc_tracked_note_bytes((uint64_t)words * 8);
	for (;;) {
		s = lc_alloc_still_sequence(jni, o);
		a.tagged_addr = lc_alloc_tagged_address(o, s);
		logged = !lc_alloc_log_put(t->allocs, a); /* a full log counts what it loses */
		atomic_signal_fence(memory_order_seq_cst);
		if (lc_epoch_gc_sequence() == s)
			break;
		lc_count(&hook.corrections);
	}
	if (hook.audit && logged)
		lc_audit_add(jni, o, a.tagged_addr & LC_ADDR_MASK, (uint64_t)words * 8, a.site);
}

static void count_and_record(JNIEnv *jni, struct lc_thread *t, struct lc_site_counter *counter,
                             jobject o, uint32_t words)
{
	add(counter, words);
	record(jni, t, counter->site, o, words);
}

/* An allocation, before its context is looked up. */
struct allocation {
	struct lc_context_hook hook;
	uint32_t words;
	enum lc_alloc_origin origin;
};

/* There is no room for a counter of the thread's own. */
static void count_in_common(JNIEnv *jni, struct lc_thread *t, uint32_t site, jobject o,
                            uint32_t words)
{
	if (!lc_common_counters_add(site, (uint64_t)words * 8))
		lc_count(&hook.unrecorded);
	record(jni, t, site, o, words);
}

/* For lc_alloc_path_walk(). */
static uint32_t path_node(const struct lc_context_look *look)
{
	return look->beyond.len ? LC_ALLOC_PATH_BEYOND : look->node;
}

static struct lc_site_counter *look_up(JNIEnv *jni, struct lc_thread *t, jobject o,
                                       const struct allocation *a)
{
	struct lc_context_look look =
	    lc_contexts_look(t->contexts, t->walker, &a->hook, hook.exact);
	bool wanted;
	uint32_t site, node;

	if (look.common)
		count_in_common(jni, t, look.common, o, a->words);
	if (look.known)
		return look.counter;
	node = path_node(&look);
	site = lc_alloc_path_recorded(jni, t->walker, node, o, a->hook.bytecode_site, a->origin,
	                              &wanted);
	if (site || !wanted)
		look.counter = lc_contexts_learn(t->contexts, t->walker, &a->hook, &look, site);
	if (site && !look.counter)
		count_in_common(jni, t, site, o, a->words);
	else if (wanted && !look.counter)
		lc_count(&hook.unrecorded);
	return look.counter;
}

/* A look-up that may walk, and learn what it has walked to: what it costs is paid for. */
struct slow {
	struct lc_own_work work;
	uint64_t begin, looked_before; /* TSC; frames that the shadow had looked at */
	uint64_t ticks, looked;        /* what it took: set by end_slow() */
	unsigned peek;                 /* of lc_peek_begin(): a walk reads dozens of places */
};

static void begin_slow(const struct lc_thread *t, struct slow *s)
{
	s->looked_before = t->walker->shadow ? lc_shadow_looked(t->walker->shadow) : 0;
	s->begin = lc_walk_credit_begin();
	s->peek = lc_peek_begin(NULL);
	lc_own_work_begin(&s->work);
}

/* Pay for the look. */
static void end_slow(struct lc_thread *t, struct slow *s)
{
	struct lc_shadow *shadow = t->walker->shadow;
	uint64_t now;

	lc_own_work_end(&s->work);
	lc_peek_end(s->peek);
	now = __rdtsc();
	if (shadow)
		lc_shadow_stand(shadow);
	s->ticks = now - s->begin;
	s->looked = shadow ? lc_shadow_looked(shadow) - s->looked_before : 0;
	lc_walk_credit_end(&t->walker->credit, s->begin, now, s->looked);
}

/* Are small objects of the bytecode site tracked? */
static inline bool has_small(uint32_t bytecode_site)
{
	return hook.objects || (hook.tracks && bytecode_site & LC_SITE_TRACKED);
}

/* May the allocation be counted for a path that was seen before? */
static inline bool may_believe(const struct allocation *a)
{
	return !hook.exact && !has_small(a->hook.bytecode_site) &&
	       a->origin != LC_ORIGIN_CONSTRUCTOR;
}

/* The counter of a context that is not one of the last. */
static __attribute__((noinline)) struct lc_site_counter *
find_slowly(JNIEnv *jni, struct lc_thread *t, jobject o, const struct allocation *a)
{
	struct lc_site_counter *counter;
	struct slow slow;

	begin_slow(t, &slow);
	counter = look_up(jni, t, o, a);
	end_slow(t, &slow);
	if (counter && may_believe(a) &&
	    lc_recent_looked(&t->contexts->recent, slow.ticks, slow.looked))
		lc_recent_learn(&t->contexts->recent, jni, t->walker, a->hook.frame,
		                lc_context_key(&a->hook), counter);
	return counter;
}

/* The same, but the stack may not be looked at. */
static inline struct lc_site_counter *find_without_note(JNIEnv *jni, struct lc_thread *t, jobject o,
                                                        const struct allocation *a)
{
	struct lc_site_counter *counter = NULL;

	if (may_believe(a))
		counter = lc_recent_find(&t->contexts->recent, t->walker, a->hook.frame,
		                         lc_context_key(&a->hook));
	return counter ? counter : find_slowly(jni, t, o, a);
}

/* The audit checks some of the contexts that are found at once. */
static bool is_audited(const struct lc_site_counter *counter)
{
	return !counter ||
	       !(atomic_load_explicit(&counter->allocations, memory_order_relaxed) % AUDITED_EACH);
}

/* The counter of the allocation's site; NULL: it is not recorded. *walked: it took a walk. */
static inline __attribute__((always_inline)) struct lc_site_counter *
find_counter(JNIEnv *jni, struct lc_thread *t, jobject o, const struct allocation *a, bool *walked)
{
	const uint64_t note = lc_contexts_again(t->contexts, &a->hook);
	struct lc_site_counter *counter;

	*walked = !note;
	if (__builtin_expect(note != 0, 1))
		counter = lc_context_counter(note);
	else
		counter = find_without_note(jni, t, o, a);
	if (__builtin_expect(hook.audit, 0) && (*walked || is_audited(counter)))
		lc_hook_audit_context(jni, t, o, a->hook.bytecode_site, a->origin,
		                      counter ? counter->site : 0);
	return counter;
}

/*
 * Like record_allocation(), if small objects are tracked. For these the stack may be looked at now
 * and then only; others are recorded as if no small ones were tracked.
 */
static __attribute__((noinline)) struct lc_site_counter *
record_object(JNIEnv *jni, struct lc_thread *t, jobject o, const struct allocation *a)
{
	const uint32_t site = a->hook.bytecode_site, class_key = a->hook.class_key;
	const bool small = has_small(site) && !lc_tlab_is_large(a->words);
	struct lc_tlab_thread *objects = small ? lc_tlab_known() : NULL;
	struct lc_site_counter *counter = objects ? lc_tlab_recent(objects, site, class_key) : NULL;
	bool walked = false, looked = !counter, each = !objects;

	if (looked)
		counter = find_counter(jni, t, o, a, &walked);
	if (!counter)
		return NULL;
	if (objects && looked)
		each = lc_tlab_looked(objects, site, class_key, counter, walked);
	if (each)
		lc_site_counter_looked(counter);
	count_and_record(jni, t, counter, o, a->words);
	if (!has_small(site))
		lc_tlab_pass_over(lc_tlab_known());
	return counter;
}

/* Returns the counter of its site; NULL where it is not recorded. */
static inline __attribute__((always_inline)) struct lc_site_counter *
record_allocation(JNIEnv *jni, struct lc_thread *t, jobject o, const struct allocation *a)
{
	struct lc_site_counter *counter;
	bool walked;

	if (__builtin_expect(hook.assumes, 0))
		return record_object(jni, t, o, a);
	counter = find_counter(jni, t, o, a, &walked);
	if (__builtin_expect(counter != NULL, 1))
		count_and_record(jni, t, counter, o, a->words);
	return counter;
}

/*
 * The caller's record; NULL when nothing is to be recorded, which is counted unless hooks are off
 * or the thread is ours.
 */
static __attribute__((noinline)) struct lc_thread *enter_slowly(JNIEnv *jni)
{
	struct lc_thread *t = lc_thread_enter(jni);

	if (!t && !lc_thread_is_ours())
		lc_count(&hook.unrecorded);
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

	last->tagged_addr = lc_alloc_tagged_address(o, lc_alloc_still_sequence(jni, o));
	last->position = t->allocs ? lc_alloc_log_position(t->allocs) : 0;
	last->size_words = words;
}

/* Is `o` the remembered object? If so, forget it. */
static bool remembered(JNIEnv *jni, struct lc_thread *t, jobject o, uint32_t words)
{
	struct lc_last_record *last = &t->contexts->last;
	uint64_t now = lc_alloc_tagged_address(o, lc_alloc_still_sequence(jni, o));
	bool same = last->tagged_addr == now;

	/* If a collection moved it: no other object was recorded, and the size is the same. */
	if (!same && last->tagged_addr >> LC_ADDR_BITS != now >> LC_ADDR_BITS)
		same =
		    last->position == lc_alloc_log_position(t->allocs) && last->size_words == words;
	if (same)
		last->size_words = 0;
	return same;
}

/*
 * A number for the class of `o`, not 0: its class word, which no collection changes. The mirror's
 * address would be another class's one day.
 */
static uint32_t class_key(JNIEnv *jni, struct lc_thread *t, jobject o)
{
	const uint32_t sequence = lc_alloc_still_sequence(jni, o);
	jclass class = (*jni)->GetObjectClass(jni, o);
	const uint64_t mirror = lc_handle_address(class);
	struct lc_known_class *known =
	    &t->contexts->classes[lc_hash(mirror) >> 32 & (LC_KNOWN_CLASSES - 1)];
	uint64_t word;
	uint32_t key;

	(*jni)->DeleteLocalRef(jni, class);
	if (known->mirror == mirror && known->sequence == sequence && known->key &&
	    lc_epoch_gc_sequence() == sequence)
		return known->key;
	word = lc_alloc_path_class_word(jni, o);
	if (!word) /* collections kept getting in between */
		return (uint32_t)(mirror >> 3) | 1;
	/* Compressed class pointers have 32 bits; others are multiples of 8. */
	key = (uint32_t)(word >> 32 ? word >> 3 : word) | 1u << 31;
	if (lc_epoch_gc_sequence() == sequence)
		*known = (struct lc_known_class){ mirror, sequence, key };
	return key;
}

/*
 * Hooks at the end of an intrinsic and behind calls; the bytecode does not tell the class. Returns
 * whether this is the first hook to see the object.
 */
static bool called(JNIEnv *jni, struct lc_thread *t, jobject o, uint64_t frame, uint32_t words,
                   uint32_t bytecode_site, enum lc_alloc_origin origin)
{
	struct allocation a = { .hook = { .frame = frame, .bytecode_site = bytecode_site },
		                .words = words,
		                .origin = origin };

	if (bytecode_site & LC_SITE_IN_BODY) {
		remember(jni, t, o, words);
		return false;
	}
	if (bytecode_site & LC_SITE_AFTER_CALL && remembered(jni, t, o, words)) {
		lc_count(&hook.duplicates);
		return false;
	}
	if (is_small(words) && !(hook.tracks && bytecode_site & LC_SITE_TRACKED))
		return true;
	a.hook.class_key = class_key(jni, t, o);
	if (!is_small(words) || lc_tracked_object(jni, o, a.hook.class_key))
		record_allocation(jni, t, o, &a);
	return true;
}

/* The call path of a context that was met for the first time. */
static uint32_t walk_path(JNIEnv *jni, struct lc_thread *t, const struct lc_context_hook *h,
                          const struct lc_context_look *look)
{
	return lc_alloc_path_walk(jni, t->walker, path_node(look), h->bytecode_site,
	                          LC_ORIGIN_BYTECODE);
}

/*
 * Let the context count for the site of that path. Returns the site; 0 without room for it.
 * Without room for a counter of the context, look->common is the site.
 */
static uint32_t learn(struct lc_thread *t, const struct lc_context_hook *h,
                      struct lc_context_look *look, const char *signature, uint64_t class_word,
                      uint32_t path)
{
	const uint32_t site = lc_site_intern(signature, class_word, path);

	if (site) {
		look->counter = lc_contexts_learn(t->contexts, t->walker, h, look, site);
		look->common = look->counter ? 0 : site;
	}
	return site;
}

/* The counter of a context in which `new` has made an object; NULL without room. */
static struct lc_site_counter *learn_made(JNIEnv *jni, struct lc_thread *t, jclass type,
                                          const struct lc_context_hook *h,
                                          struct lc_context_look *look, uint64_t class_word)
{
	char *signature = NULL;

	if ((*lc_jvmti())->GetClassSignature(lc_jvmti(), type, &signature, NULL))
		return NULL;
	(void)learn(t, h, look, signature, class_word, walk_path(jni, t, h, look));
	(*lc_jvmti())->Deallocate(lc_jvmti(), (unsigned char *)signature);
	return look->counter;
}

/*
 * The counter for the objects that `new` has made, which has counted a look for this one if that is
 * told apart. NULL without room: *common is the site whose counter all threads share, or 0.
 */
static struct lc_site_counter *made_counter(JNIEnv *jni, struct lc_thread *t,
                                            struct lc_tlab_thread *objects, jclass type,
                                            const struct lc_context_hook *h,
                                            const struct lc_tlab_made *made, uint32_t *common)
{
	const bool large = lc_tlab_is_large(made->size_bytes / 8);
	struct lc_site_counter *counter =
	    hook.exact || large ? NULL : lc_tlab_recent(objects, h->bytecode_site, 0);
	bool each = large;
	uint64_t note;

	if (counter)
		return counter;
	note = lc_contexts_again(t->contexts, h);
	counter = note ? lc_context_counter(note) : NULL;
	if (!counter) {
		struct lc_context_look look;
		struct slow slow;

		begin_slow(t, &slow);
		look = lc_contexts_look(t->contexts, t->walker, h, hook.exact);
		counter = look.known ? look.counter
		                     : learn_made(jni, t, type, h, &look, made->class_word);
		*common = look.common;
		end_slow(t, &slow);
	}
	if (counter && !hook.exact)
		each |= lc_tlab_looked(objects, h->bytecode_site, 0, counter, !note);
	if (counter && each)
		lc_site_counter_looked(counter);
	return counter;
}

/* The site of a context that was met for the first time; 0 without room. */
static uint32_t learn_block(JNIEnv *jni, struct lc_thread *t, const struct lc_context_hook *h,
                            const char *(*signature_of)(uint32_t *path))
{
	struct lc_context_look look = lc_contexts_look(t->contexts, t->walker, h, hook.exact);
	const char *signature;
	uint32_t path;

	if (look.known)
		return look.counter ? look.counter->site : 0;
	if (look.common)
		return look.common;
	path = walk_path(jni, t, h, &look);
	signature = signature_of(&path);
	return learn(t, h, &look, signature, 0, path);
}

uint32_t lc_hook_block_site(JNIEnv *jni, uint64_t frame, uint32_t kind,
                            const char *(*signature_of)(uint32_t *path))
{
	const struct lc_context_hook h = { .frame = frame, .class_key = kind };
	struct lc_thread *t = enter(jni);
	uint64_t note;
	struct slow slow;
	uint32_t site;

	if (!t)
		return 0;
	note = lc_contexts_again(t->contexts, &h);
	if (note && lc_context_counter(note))
		return lc_context_counter(note)->site;
	begin_slow(t, &slow);
	site = learn_block(jni, t, &h, signature_of);
	end_slow(t, &slow);
	if (!site)
		lc_count(&hook.unrecorded);
	return site;
}

/* A hook that is given an object begins: find the thread's buffer. */
static inline void begin_small(JNIEnv *jni, const struct lc_thread *t, uint32_t bytecode_site)
{
	if (__builtin_expect(has_small(bytecode_site), 0))
		(void)lc_tlab_here(jni, hook.follow ? t->allocs : NULL);
}

/* ... and ends: the next one begins from here. */
static inline void end_small(uint32_t bytecode_site)
{
	if (__builtin_expect(has_small(bytecode_site), 0))
		lc_tlab_sync(lc_tlab_known());
}

/* Let Java code record the next arrays of that bytecode site. */
static inline void remember_array(struct lc_site_counter *counter, uint32_t bytecode_site)
{
	struct lc_tlab_thread *objects;
	const struct lc_site *site;

	if (__builtin_expect(!has_small(bytecode_site), 1))
		return;
	objects = lc_tlab_known();
	if (!objects || !counter || !hook.follow || hook.exact || hook.audit)
		return;
	site = lc_site_get(counter->site);
	if (site && site->class_word)
		lc_tlab_remember(objects, bytecode_site,
		                 &(struct lc_tlab_made){ .class_word = site->class_word }, counter,
		                 true);
}

/* An object may have been made just before the hook. */
static void made(JNIEnv *jni, struct lc_thread *t, struct lc_tlab_thread *objects,
                 const struct lc_context_hook *h, const struct lc_tlab_asked *asked)
{
	struct lc_tlab_made made = { 0 };
	struct lc_site_counter *counter;
	uint32_t common = 0;
	bool in_java;
	enum lc_tlab_proof proof = lc_tlab_find(objects, jni, asked, &made);

	if (proof == LC_TLAB_NONE)
		return;
	counter = made_counter(jni, t, objects, asked->type, h, &made, &common);
	if (!counter && !(common && lc_common_counters_add(common, made.size_bytes))) {
		lc_count(&hook.unrecorded);
		return;
	}
	if (counter)
		add(counter, made.size_bytes / 8);
	if (hook.follow && hook.tracks)
		lc_tracked_note_bytes(made.size_bytes);
	if (hook.follow && proof == LC_TLAB_PLACED)
		lc_alloc_log_put(
		    t->allocs,
		    (struct lc_alloc){ .tagged_addr = made.addr | (uint64_t)(made.sequence >> 1)
		                                                      << LC_ADDR_BITS,
		                       .size_words = made.size_bytes / 8,
		                       .site = counter ? counter->site : common });
	if (!counter)
		return;
	in_java = (hook.tracks || !hook.exact) && !lc_tlab_is_large(made.size_bytes / 8);
	if (asked->array_bytes)
		made.size_bytes = 0; /* each array has its own */
	lc_tlab_remember(objects, h->bytecode_site, &made, counter, in_java);
}

/* The same for the natives. `h` is of their frame. */
static void made_slowly(JNIEnv *jni, uint64_t thread, const struct lc_context_hook *h,
                        const struct lc_tlab_asked *asked)
{
	struct lc_thread *t = enter(jni);
	struct lc_tlab_thread *objects =
	    t ? lc_tlab_self(thread, hook.follow ? t->allocs : NULL) : NULL;

	if (!objects)
		return;
	made(jni, t, objects, h, asked);
	lc_tlab_sync(objects);
}

/*
 * Offer the object to the watch engine. The one that is found is tracked even if it is small, and
 * not counted: the numbers of small objects are estimates. Returns whether more are looked for.
 */
static bool show(JNIEnv *jni, struct lc_thread *t, jobject o, uint32_t bytecode_site,
                 enum lc_alloc_origin origin)
{
	unsigned said = lc_watch_hook_show(jni, o);
	jlong bytes = 0;
	uint32_t site;

	if (__builtin_expect(said & LC_WATCH_HOOK_HIT, 0) &&
	    !(*lc_jvmti())->GetObjectSize(lc_jvmti(), o, &bytes) &&
	    is_small((uint32_t)(bytes / 8))) {
		site = lc_alloc_path_site(jni, t->walker, 0, o, bytecode_site, origin);
		if (site)
			record(jni, t, site, o, (uint32_t)(bytes / 8));
		else
			lc_count(&hook.unrecorded);
	}
	return said & LC_WATCH_HOOK_MORE;
}

/* Exported: the natives of java.lang.LocusHook. Context: [hook], the allocating thread. */
JNIEXPORT void JNICALL Java_java_lang_LocusHook_observe(JNIEnv *jni, jclass hook_class, jobject o);
JNIEXPORT void JNICALL Java_java_lang_LocusHook_madeSlowly(JNIEnv *jni, jclass hook_class,
                                                           jlong thread, jclass type, jint site,
                                                           jlong address);
JNIEXPORT void JNICALL Java_java_lang_LocusHook_madeArraySlowly(JNIEnv *jni, jclass hook_class,
                                                                jlong thread, jclass type,
                                                                jint words, jint site,
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
	const struct lc_context_hook h = { .frame = (uintptr_t)__builtin_frame_address(0),
		                           .bytecode_site = (uint32_t)site };

	made_slowly(jni, (uint64_t)thread, &h,
	            &(struct lc_tlab_asked){ .type = type,
	                                     .bytecode_site = (uint32_t)site,
	                                     .proved = (uint64_t)address });
}

void Java_java_lang_LocusHook_madeArraySlowly(JNIEnv *jni, jclass hook_class, jlong thread,
                                              jclass type, jint words, jint site, jlong address)
{
	const struct lc_context_hook h = { .frame = (uintptr_t)__builtin_frame_address(0),
		                           .bytecode_site = (uint32_t)site };

	made_slowly(jni, (uint64_t)thread, &h,
	            &(struct lc_tlab_asked){ .type = type,
	                                     .bytecode_site = (uint32_t)site,
	                                     .array_bytes = (uint32_t)words * 8,
	                                     .proved = (uint64_t)address });
}

void Java_java_lang_LocusHook_alloc(JNIEnv *jni, jclass hook_class, jobject o, jint words,
                                    jint site)
{
	struct allocation a = { .hook = { .frame = (uintptr_t)__builtin_frame_address(0),
		                          .bytecode_site = (uint32_t)site },
		                .words = (uint32_t)words };
	struct lc_thread *t = enter(jni);
	struct lc_site_counter *counter = NULL;

	if (!t)
		return;
	begin_small(jni, t, a.hook.bytecode_site);
	if (__builtin_expect(a.hook.bytecode_site &
	                         (LC_SITE_IN_BODY | LC_SITE_AFTER_CALL | LC_SITE_ANY_CLASS),
	                     0)) {
		if (called(jni, t, o, a.hook.frame, a.words, a.hook.bytecode_site, LC_ORIGIN_CALL))
			(void)show(jni, t, o, a.hook.bytecode_site, LC_ORIGIN_CALL);
	} else {
		if (!is_small(a.words) || (hook.tracks && a.hook.bytecode_site & LC_SITE_TRACKED))
			counter = record_allocation(jni, t, o, &a);
		/* Java code would not show the next ones. */
		if (!show(jni, t, o, a.hook.bytecode_site, LC_ORIGIN_BYTECODE) &&
		    !lc_tlab_is_large(a.words))
			remember_array(counter, a.hook.bytecode_site);
	}
	end_small(a.hook.bytecode_site);
}

/* The array stands for both: where its method ran, both were reported. */
void Java_java_lang_LocusHook_allocString(JNIEnv *jni, jclass hook_class, jobject array, jint words,
                                          jobject string, jint site)
{
	uint64_t frame = (uintptr_t)__builtin_frame_address(0);
	struct lc_thread *t = enter(jni);
	jlong bytes = 0;

	if (!t)
		return;
	if (called(jni, t, array, frame, (uint32_t)words, (uint32_t)site, LC_ORIGIN_CALL)) {
		if (!(*lc_jvmti())->GetObjectSize(lc_jvmti(), string, &bytes))
			called(jni, t, string, frame, (uint32_t)(bytes / 8),
			       ((uint32_t)site & ~LC_SITE_AFTER_CALL) | LC_SITE_ANY_CLASS,
			       LC_ORIGIN_CALL);
		(void)show(jni, t, array, (uint32_t)site, LC_ORIGIN_CALL);
		(void)show(jni, t, string, (uint32_t)site, LC_ORIGIN_CALL);
	}
	end_small((uint32_t)site);
}

/*
 * If some classes are tracked, their objects are counted behind what makes them, others where the
 * constructor ends that makes them large. A hook of both kinds is behind some clone() calls.
 */
static bool is_counted_here(JNIEnv *jni, struct lc_thread *t, jobject o, uint32_t site,
                            uint64_t bytes)
{
	const bool large = bytes >= hook.min_size_bytes;
	bool is;

	if (!hook.tracks || (site & (LC_SITE_TRACKED | LC_SITE_ANY_CLASS)) == LC_SITE_TRACKED)
		return large || (hook.tracks && lc_tracked_object(jni, o, class_key(jni, t, o)));
	if (!large && !(site & LC_SITE_ANY_CLASS))
		return false;
	is = lc_tracked_object(jni, o, class_key(jni, t, o));
	return site & LC_SITE_ANY_CLASS ? is : !is;
}

void Java_java_lang_LocusHook_allocObject(JNIEnv *jni, jclass hook_class, jobject o, jint site)
{
	uint64_t frame = (uintptr_t)__builtin_frame_address(0);
	struct lc_thread *t = enter(jni);
	jlong bytes = 0;

	if (t && !(*lc_jvmti())->GetObjectSize(lc_jvmti(), o, &bytes) &&
	    is_counted_here(jni, t, o, (uint32_t)site, (uint64_t)bytes))
		called(jni, t, o, frame, (uint32_t)(bytes / 8), (uint32_t)site,
		       (uint32_t)site & LC_SITE_ANY_CLASS ? LC_ORIGIN_CALL : LC_ORIGIN_CONSTRUCTOR);
	end_small((uint32_t)site);
}

void Java_java_lang_LocusHook_observe(JNIEnv *jni, jclass hook_class, jobject o)
{
	struct lc_thread *t = enter(jni);

	if (t)
		(void)show(jni, t, o, 0, LC_ORIGIN_CONSTRUCTOR);
}

/* For the audit alone. */
void Java_java_lang_LocusHook_constructed(JNIEnv *jni, jclass hook_class, jobject o)
{
	struct lc_thread *t = enter(jni);

	if (t && hook.audit)
		lc_hook_audit_constructed(jni, t, o);
}
