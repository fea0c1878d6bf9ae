/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/tlab.c - reads the thread's allocation buffer and proves the object that `new` made.
 *
 * The table of threads is read by compiled Java code, each thread looking for itself only, so a
 * slot's `thread` is what tells whose it is: written last when the slot is taken, first when it is
 * given back, both by the thread itself. Two threads of one slot: the second uses the native path.
 *
 * A native hook runs while a collection may: what it reads of its buffer counts only if the GC
 * sequence is even and the same before and after.
 *
 * This file is longer than 600 lines, since all that reads and writes what compiled Java shares is
 * in one place.
 */
#include "src/heap/tlab.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "src/core/counters.h"
#include "src/core/epoch.h"
#include "src/core/memory.h"
#include "src/core/record.h"
#include "src/core/reset.h"
#include "src/heap/alloc_log.h"
#include "src/heap/alloc_path.h"
#include "src/heap/site_counters.h"
#include "src/jvm/layout/header.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/os/handle.h"
#include "src/jvm/os/peek.h"

/* LocusHook.java has the same numbers. */
_Static_assert(offsetof(struct lc_tlab_thread, sequence) == 0, "");
_Static_assert(offsetof(struct lc_tlab_thread, last) == 8, "");
_Static_assert(offsetof(struct lc_tlab_thread, log) == 16, "");
_Static_assert(offsetof(struct lc_tlab_thread, limit) == 24, "");
_Static_assert(offsetof(struct lc_tlab_thread, allocated) == 32, "");
_Static_assert(offsetof(struct lc_tlab_thread, tag) == 40, "");
_Static_assert(offsetof(struct lc_tlab_thread, start) == 48, "");
_Static_assert(offsetof(struct lc_tlab_thread, entries) == 64, "");
_Static_assert(sizeof(struct lc_tlab_entry) == 32, "");
_Static_assert(offsetof(struct lc_tlab_entry, size_bytes) == 4, "");
_Static_assert(offsetof(struct lc_tlab_entry, class_word) == 8, "");
_Static_assert(offsetof(struct lc_tlab_entry, site) == 12, "");
_Static_assert(offsetof(struct lc_tlab_entry, counter) == 16, "");
_Static_assert(offsetof(struct lc_tlab_entry, class_key) == 24, "");
_Static_assert(offsetof(struct lc_tlab_entry, removed) == 28, "");
_Static_assert(offsetof(struct lc_site_counter, allocations) == 0, "");
_Static_assert(offsetof(struct lc_site_counter, bytes) == 8, "");
_Static_assert(offsetof(struct lc_alloc_log, position) == 0, "");
_Static_assert(offsetof(struct lc_alloc_log, slots) == 16, "");

enum {
	TOUCHED_BYTES = 64 << 10, /* of a thread, as the memory limit counts it */
	/* Allocations until the next look at the stack, by what the last ones found. */
	LOOK_SAME = 256,  /* the caller seen last */
	LOOK_OTHER = 64,  /* another that is known */
	LOOK_WALK = 4096, /* one that is not: a walk costs as much as 60 other looks */
	/* A look for one allocation, with the call of native code: the shadow knows the place at
	 * once, or walks to it. */
	LOOK_NS = 60,
	LOOK_WALK_NS = 400,
	DEBT_MAX_NS = 20000000,
	DISTANCE_WEIGHT = 8,
	NO_CLASS = -1, /* a class word that no object has; LocusHook.java too */
	ATTEMPTS = 8,
	BETWEEN_MAX_BYTES = 256 << 10, /* looked at behind the last hook */
	THREAD_BYTES = 4096,           /* of a JavaThread, as far as it is looked at */
	OBJECT_ALIGN_BYTES = 8,
	MARK_FRESH = 1,  /* neither locked nor hashed */
	MARK_BIASED = 5, /* ... and its lock may be biased */
	SIZE_MASK = ~7,  /* of a layout helper: the low bits are flags */
};

struct slot {
	_Atomic uint64_t thread; /* JavaThread *; 0: free */
	_Atomic(struct lc_tlab_thread *) state;
};

static struct {
	struct slot *threads;
	uint64_t start, top, allocated; /* offsets in a JavaThread, at hand for each hook */
	uint64_t env;                   /* offset of a thread's JNIEnv; 0: unknown */
	bool some;                      /* only some classes have hooks */
	_Atomic uint64_t unplaced, unproved, spent;
} vm;

static _Thread_local struct {
	struct lc_tlab_thread *at;
	uint32_t recording; /* that it is of */
} self __attribute__((tls_model("initial-exec")));

/* jdk.internal.misc.Unsafe, as local references. */
struct unsafe {
	jclass class;
	jobject it;
};

/* Returns whether it is there; an exception may be pending. */
static bool find_unsafe(JNIEnv *jni, struct unsafe *out)
{
	jmethodID get;

	out->class = (*jni)->FindClass(jni, "jdk/internal/misc/Unsafe");
	get = out->class ? (*jni)->GetStaticMethodID(jni, out->class, "getUnsafe",
	                                             "()Ljdk/internal/misc/Unsafe;")
	                 : NULL;
	out->it = get ? (*jni)->CallStaticObjectMethod(jni, out->class, get) : NULL;
	return !(*jni)->ExceptionCheck(jni) && out->it;
}

/* Offset of Thread.eetop, asked of Unsafe; or a negative number. An exception may be pending. */
static jlong eetop_offset(JNIEnv *jni, const struct unsafe *unsafe, jclass thread)
{
	jmethodID offset = (*jni)->GetMethodID(jni, unsafe->class, "objectFieldOffset",
	                                       "(Ljava/lang/Class;Ljava/lang/String;)J");
	jstring name = offset ? (*jni)->NewStringUTF(jni, "eetop") : NULL;
	jlong found = name ? (*jni)->CallLongMethod(jni, unsafe->it, offset, thread, name) : -1;

	return (*jni)->ExceptionCheck(jni) ? -1 : found;
}

/* The calling thread's JavaThread, or 0. An exception may be pending. */
static uint64_t own_thread(JNIEnv *jni, jclass thread)
{
	jmethodID current =
	    (*jni)->GetStaticMethodID(jni, thread, "currentThread", "()Ljava/lang/Thread;");
	jfieldID eetop = current ? (*jni)->GetFieldID(jni, thread, "eetop", "J") : NULL;
	jobject own = eetop ? (*jni)->CallStaticObjectMethod(jni, thread, current) : NULL;

	if ((*jni)->ExceptionCheck(jni) || !own)
		return 0;
	return (uint64_t)(*jni)->GetLongField(jni, own, eetop);
}

/*
 * Find the state that tells Java code whether the JIT has compiled it, and prove it on the calling
 * thread: here it is in native code, and Unsafe.getInt() that is called, as the interpreter calls
 * it, does not read the state of Java code. Without proof no thread is ever in that state. An
 * exception may be pending.
 */
static void find_state(JNIEnv *jni, const struct unsafe *unsafe, jclass thread,
                       struct lc_tlab_fields *out, uint64_t *env)
{
	const struct lc_layout *l = lc_layout();
	const uint64_t own = own_thread(jni, thread);
	jmethodID get;
	jint called;

	out->thread_state = 0;
	out->in_java = LC_TLAB_NO_STATE;
	*env = own && (uintptr_t)jni - own < THREAD_BYTES ? (uintptr_t)jni - own : 0;
	if (!own || l->thread_state <= 0 || l->thread_in_java < 0 || l->thread_in_native < 0 ||
	    l->thread_in_java == l->thread_in_native ||
	    lc_peek_load32(own + (uint64_t)l->thread_state) != (uint32_t)l->thread_in_native)
		return;
	get = (*jni)->GetMethodID(jni, unsafe->class, "getInt", "(Ljava/lang/Object;J)I");
	if (!get)
		return;
	called = (*jni)->CallIntMethod(jni, unsafe->it, get, NULL, (jlong)own + l->thread_state);
	if ((*jni)->ExceptionCheck(jni) || called == l->thread_in_java)
		return;
	out->thread_state = (uint32_t)l->thread_state;
	out->in_java = (uint32_t)l->thread_in_java;
}

/* *env: where a JavaThread has its JNIEnv; 0: not known. */
static bool find_thread(JNIEnv *jni, struct lc_tlab_fields *out, uint64_t *env)
{
	struct unsafe unsafe;
	jlong eetop = -1;
	jclass thread;

	if ((*jni)->PushLocalFrame(jni, 8))
		return false;
	thread = (*jni)->FindClass(jni, "java/lang/Thread");
	if (thread && find_unsafe(jni, &unsafe))
		eetop = eetop_offset(jni, &unsafe, thread);
	if (eetop > 0)
		find_state(jni, &unsafe, thread, out, env);
	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	out->carriers = thread && (*jni)->GetStaticMethodID(jni, thread, "currentCarrierThread",
	                                                    "()Ljava/lang/Thread;");
	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	(*jni)->PopLocalFrame(jni, NULL);
	out->eetop = (uint32_t)eetop;
	return eetop > 0 && eetop < THREAD_BYTES;
}

int lc_tlab_init(JNIEnv *jni, bool some, struct lc_tlab_fields *out)
{
	const struct lc_layout *l = lc_layout();
	uint64_t env = 0;
	void *threads;

	vm.env = 0; /* lc_tlab_here() finds no thread unless all is known */
	if (l->thread_tlab_start < 0 || l->thread_tlab_top < 0 || l->thread_allocated < 0 ||
	    l->klass_layout_helper < 0 || l->class_klass < 0 || !find_thread(jni, out, &env) ||
	    (!lc_layout_wide_class(l) && l->class_words != LC_CLASS_WORDS_KNOWN))
		return -ENOTSUP;
	if (!vm.threads) {
		threads = mmap(NULL, LC_TLAB_THREADS * sizeof(struct slot), PROT_READ | PROT_WRITE,
		               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (threads == MAP_FAILED)
			return -ENOTSUP;
		vm.threads = threads;
	}
	vm.env = env;
	vm.some = some;
	vm.start = (uint64_t)l->thread_tlab_start;
	vm.top = (uint64_t)l->thread_tlab_top;
	vm.allocated = (uint64_t)l->thread_allocated;
	out->class_offset = l->class_in_mark ? 4 : 8;
	out->class_shift = l->class_in_mark ? LC_COMPACT_CLASS_SHIFT - 32 : 0;
	out->tlab_start = (uint32_t)l->thread_tlab_start;
	out->tlab_top = (uint32_t)l->thread_tlab_top;
	out->allocated = (uint32_t)l->thread_allocated;
	out->sequence = (uint64_t)(uintptr_t)lc_epoch_gc_sequence_address();
	out->threads = (uint64_t)(uintptr_t)vm.threads;
	return 0;
}

static struct slot *slot_of(uint64_t thread)
{
	return &vm.threads[(thread >> 6 ^ thread >> 14) & (LC_TLAB_THREADS - 1)];
}

/* Is it to be known where the objects are? */
static bool is_followed(const struct lc_tlab_thread *o)
{
	return o->followed;
}

struct lc_tlab_thread *lc_tlab_known(void)
{
	return self.recording == lc_recording() ? self.at : NULL;
}

struct lc_tlab_thread *lc_tlab_self(uint64_t thread, struct lc_alloc_log *log)
{
	struct lc_tlab_thread *o = lc_tlab_known();
	uint64_t none = 0;
	struct slot *slot;

	if (o || !thread) /* none: the free slots' */
		return o;
	/* Not of the heap: most of its pages are never touched. */
	o = mmap(NULL, sizeof(*o), PROT_READ | PROT_WRITE,
	         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (o == MAP_FAILED)
		return NULL;
	lc_memory_add(TOUCHED_BYTES);
	o->thread = thread;
	o->followed = log;
	o->log = log ? log : &o->unkept;
	o->lost = log ? lc_alloc_log_lost(log) : 0;
	o->sequence = 1;
	o->random = (uint32_t)(thread >> 4) | 1;
	o->distance = LOOK_OTHER * DISTANCE_WEIGHT;
	o->looks.purse = LC_WALK_SMALL_LOOKS;
	self.at = o;
	self.recording = lc_recording();
	slot = slot_of(thread);
	/* Only this thread looks for itself, so `state` may follow. */
	if (atomic_compare_exchange_strong(&slot->thread, &none, thread))
		atomic_store(&slot->state, o);
	return o;
}

struct lc_tlab_thread *lc_tlab_here(const JNIEnv *jni, struct lc_alloc_log *log)
{
	struct lc_tlab_thread *o = lc_tlab_known();

	return o || !vm.env ? o : lc_tlab_self((uintptr_t)jni - vm.env, log);
}

/* Let Java code write to that log; the allocations so far are the same. */
static void use_log(struct lc_tlab_thread *o, struct lc_alloc_log *log)
{
	o->unlogged += lc_alloc_log_position(o->log) - lc_alloc_log_position(log);
	o->position += lc_alloc_log_position(log) - lc_alloc_log_position(o->log);
	o->log = log;
}

/*
 * While the thread's log is full, Java code counts objects without a record that is kept: a call of
 * native code for each would be most of what they cost. Each call tries the log again.
 */
static void choose_log(struct lc_tlab_thread *o)
{
	const bool was_full = o->log != o->followed;
	uint64_t lost;
	bool full;

	if (was_full)
		lc_alloc_log_lose(o->followed, lc_alloc_log_position(&o->unkept) - o->position);
	lost = lc_alloc_log_lost(o->followed);
	full = was_full ? lc_alloc_log_position(o->followed) == o->full_at : lost != o->lost;
	if (full != was_full)
		use_log(o, full ? &o->unkept : o->followed);
	o->full_at = lc_alloc_log_position(o->followed);
	o->lost = lost;
}

void lc_tlab_thread_end(void)
{
	struct lc_tlab_thread *o = lc_tlab_known();
	struct slot *slot;

	if (!o)
		return;
	slot = slot_of(o->thread);
	if (atomic_load(&slot->state) == o) {
		atomic_store(&slot->state, NULL);
		atomic_store(&slot->thread, 0);
	}
	if (is_followed(o))
		choose_log(o); /* it counts what was lost */
	lc_walk_credit_return(&o->looks);
	lc_memory_add(-TOUCHED_BYTES);
	self.at = NULL;
	munmap(o, sizeof(*o));
}

/* The state of the thread's allocation buffer. */
struct standing {
	uint32_t sequence; /* odd: the other members may be wrong */
	uint64_t start, top, allocated;
};

static struct standing look(const struct lc_tlab_thread *o)
{
	struct standing now = { .sequence = lc_epoch_gc_sequence() };

	now.start = lc_peek_load64(o->thread + vm.start);
	now.top = lc_peek_load64(o->thread + vm.top);
	now.allocated = lc_peek_load64(o->thread + vm.allocated);
	atomic_signal_fence(memory_order_seq_cst);
	if (lc_epoch_gc_sequence() != now.sequence)
		now.sequence |= 1;
	return now;
}

/*
 * The class word and the size of the object. Returns false if collections keep getting in between.
 * With concurrent collectors nothing is logged: `type` may be the mirror's address before the last
 * pause (lc_alloc_place()), where another object may be.
 */
static bool learn_class(const struct lc_tlab_thread *o, JNIEnv *jni,
                        const struct lc_tlab_asked *asked, struct lc_tlab_made *out)
{
	const struct lc_layout *l = lc_layout();
	const jclass type = asked->type;

	for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
		uint32_t s = lc_epoch_gc_sequence();
		uint64_t klass;
		int32_t helper;

		if (!is_followed(o))
			lc_alloc_renew(jni, type);
		/* The mirror may have moved, and its place be gone. */
		if (lc_epoch_gc_sequence_moving(s) ||
		    !lc_peek(lc_handle_address(type) + (uint64_t)l->class_klass, &klass,
		             sizeof(klass)) ||
		    lc_epoch_gc_sequence() != s ||
		    !lc_peek(klass + (uint64_t)l->klass_layout_helper, &helper, sizeof(helper)))
			continue;
		out->size_bytes =
		    asked->array_bytes ? asked->array_bytes : (uint32_t)(helper & SIZE_MASK);
		out->class_word =
		    lc_layout_wide_class(l) ? klass : (klass - l->klass_base) >> l->klass_shift;
		return asked->array_bytes ? helper < 0 : helper > 0;
	}
	return false;
}

/* Is an object of the class at `addr`, in the buffer? */
static bool is_at(uint64_t addr, const struct lc_tlab_made *made)
{
	struct lc_header h;

	return !lc_header_read(lc_layout(), addr, &h) && h.class_word == made->class_word;
}

/* Is that the mark word of an object that nobody has seen yet? JDK 17 may bias its lock. */
static bool is_fresh(uint64_t mark)
{
	if (lc_layout()->class_in_mark)
		mark &= (UINT64_C(1) << LC_COMPACT_CLASS_SHIFT) - 1;
	return mark == MARK_FRESH || mark == MARK_BIASED;
}

/*
 * The last object of the class in [from, to), or 0. When a bytecode runs for the first time,
 * linking it may make objects between `new` and its hook. All objects there are the thread's own.
 * If the last hook has seen an earlier buffer, this one has no object that a hook has seen.
 */
static uint64_t find_between(uint64_t from, uint64_t to, const struct lc_tlab_made *made)
{
	const unsigned peek = lc_peek_begin(NULL);
	uint64_t at = to - made->size_bytes, found = 0, mark;

	if (to - from > BETWEEN_MAX_BYTES)
		from = to - BETWEEN_MAX_BYTES;
	for (; to - from >= made->size_bytes && at >= from && !found; at -= OBJECT_ALIGN_BYTES)
		if (lc_peek(at, &mark, sizeof(mark)) && is_fresh(mark) && is_at(at, made))
			found = at;
	lc_peek_end(peek);
	return found;
}

/*
 * If only some classes have hooks: is there no object, given that it is not where it would be in
 * the buffer? HotSpot allocates outside of the buffer what waits for a collection, which changes
 * the sequence, and what is larger than a 64th of the buffer.
 */
static bool has_none(const struct lc_tlab_thread *o, const struct standing *now,
                     const struct lc_tlab_made *made)
{
	return vm.some && o->known && o->sequence == now->sequence && now->top > now->start &&
	       !lc_tlab_is_large(made->size_bytes / 8) && lc_epoch_gc_sequence() == now->sequence;
}

/* Let Java code see that the JIT has removed the next ones too, if only some classes have hooks. */
static void note_removed(struct lc_tlab_entry *e, uint32_t bytecode_site,
                         const struct lc_tlab_made *made)
{
	if (!vm.some)
		return;
	if (e->bytecode_site != bytecode_site && made->size_bytes)
		*e = (struct lc_tlab_entry){ .bytecode_site = bytecode_site,
			                     .size_bytes = made->size_bytes,
			                     .class_word = lc_tlab_is_large(made->size_bytes / 8)
			                                       ? (uint32_t)NO_CLASS
			                                       : (uint32_t)made->class_word,
			                     .site = e->site }; /* listed: lc_tlab_forget() */
	if (e->bytecode_site == bytecode_site)
		e->removed = 1;
}

/* Has an entry of this site the class word and the size? *out has them, and is whole. */
static bool is_whole(const struct lc_tlab_made *out)
{
	return vm.some && out->size_bytes && (uint32_t)out->class_word != (uint32_t)NO_CLASS &&
	       !lc_layout_wide_class(lc_layout());
}

/* Is the object in the buffer? `linked`: if so, it is at the top. */
static bool find(const struct lc_tlab_thread *o, const struct standing *now, bool linked,
                 struct lc_tlab_made *out)
{
	const bool same_buffer = o->known && o->sequence == now->sequence && o->start == now->start;
	const uint64_t low = same_buffer ? o->last : now->start;
	uint64_t addr = now->top - out->size_bytes;

	if (now->top <= now->start || addr < low)
		return false;
	if (!is_at(addr, out)) {
		if (linked || !(same_buffer || vm.some))
			return false;
		addr = find_between(low, now->top, out);
	}
	out->addr = addr;
	out->sequence = now->sequence;
	return addr && lc_epoch_gc_sequence() == now->sequence;
}

/* Java code has found the object, in the sequence of the last sync. */
static enum lc_tlab_proof take_proved(const struct lc_tlab_thread *o, uint32_t sequence,
                                      uint64_t proved, struct lc_tlab_made *out)
{
	out->addr = proved;
	out->sequence = sequence;
	if (sequence == o->sequence)
		return LC_TLAB_PLACED;
	lc_count(&vm.unplaced);
	return LC_TLAB_UNPLACED;
}

enum lc_tlab_proof lc_tlab_find(struct lc_tlab_thread *o, JNIEnv *jni,
                                const struct lc_tlab_asked *asked, struct lc_tlab_made *out)
{
	struct lc_tlab_entry *e = &o->entries[asked->bytecode_site % LC_TLAB_ENTRIES];
	const bool mine = e->bytecode_site == asked->bytecode_site;
	const uint32_t known_bytes = asked->array_bytes ? asked->array_bytes : e->size_bytes;
	const bool seen = mine && known_bytes;
	const struct standing now = look(o);
	uint64_t grown;

	if (seen) {
		out->size_bytes = known_bytes;
		out->class_word = e->class_word;
	}
	if (seen && asked->proved)
		return take_proved(o, now.sequence, asked->proved, out);
	grown = now.allocated + (now.top - now.start) - o->allocated - (o->last - o->start);
	if (o->known && !grown && !lc_epoch_gc_sequence_moving(now.sequence)) {
		if (mine)
			e->removed = 1; /* by the JIT */
		return LC_TLAB_NONE;
	}
	if (!is_whole(out) && !learn_class(o, jni, asked, out)) {
		*out = (struct lc_tlab_made){ .size_bytes = seen ? known_bytes : 0 };
		goto unproved;
	}
	if (lc_epoch_gc_sequence_moving(now.sequence))
		goto unproved;
	if (find(o, &now, vm.some && seen, out))
		return LC_TLAB_PLACED;
	/* Nothing else was allocated: it is outside of the buffer. */
	if (o->known && grown == out->size_bytes && !vm.some) {
		lc_count(&vm.unplaced);
		return LC_TLAB_UNPLACED;
	}
	if ((o->known && grown < out->size_bytes) || has_none(o, &now, out)) {
		note_removed(e, asked->bytecode_site, out);
		return LC_TLAB_NONE;
	}
unproved:
	/*
	 * An allocation that waits for a collection is made outside of the buffer, and what was in
	 * the old one cannot be told from it any more. It is there if the site has never been
	 * without.
	 */
	if (seen && !e->removed) {
		lc_count(&vm.unplaced);
		return LC_TLAB_UNPLACED;
	}
	note_removed(e, asked->bytecode_site, out);
	lc_count(&vm.unproved);
	return LC_TLAB_NONE;
}

/* The entry is about to have a counter, and its site, which is not 0. */
static void count_entry(struct lc_tlab_thread *o, const struct lc_tlab_entry *e)
{
	if (!e->site && o->counting_len < LC_TLAB_ENTRIES)
		o->counting[o->counting_len++] = (uint16_t)(e - o->entries);
}

void lc_tlab_forget(void)
{
	struct lc_tlab_thread *o = lc_tlab_known();

	if (!o)
		return;
	for (uint32_t i = 0; i < o->counting_len; i++) {
		struct lc_tlab_entry *e = &o->entries[o->counting[i]];

		e->counter = NULL;
		e->site = 0;
		e->class_word = (uint32_t)NO_CLASS;
	}
	o->counting_len = 0;
}

void lc_tlab_remember(struct lc_tlab_thread *o, uint32_t bytecode_site,
                      const struct lc_tlab_made *made, struct lc_site_counter *counter,
                      bool in_java)
{
	struct lc_tlab_entry *e = &o->entries[bytecode_site % LC_TLAB_ENTRIES];

	count_entry(o, e);
	*e =
	    (struct lc_tlab_entry){ .bytecode_site = bytecode_site,
		                    .size_bytes = made->size_bytes,
		                    .class_word =
		                        in_java ? (uint32_t)made->class_word : (uint32_t)NO_CLASS,
		                    .site = counter->site,
		                    .counter = counter,
		                    .removed = e->bytecode_site == bytecode_site ? e->removed : 0 };
}

/* Compiled Java looks only for sites whose bytecode tells the class: key 0. */
static uint32_t entry_index(uint32_t bytecode_site, uint32_t class_key)
{
	return (bytecode_site + (class_key * 2654435761u >> 16)) % LC_TLAB_ENTRIES;
}

/* Allocations so far, as far as the looks at the stack are concerned. */
static uint64_t made_so_far(const struct lc_tlab_thread *o)
{
	return lc_alloc_log_position(o->log) + o->unlogged;
}

struct lc_site_counter *lc_tlab_recent(const struct lc_tlab_thread *o, uint32_t bytecode_site,
                                       uint32_t class_key)
{
	const struct lc_tlab_entry *e = &o->entries[entry_index(bytecode_site, class_key)];
	uint64_t at = made_so_far(o);

	return e->bytecode_site == bytecode_site && e->class_key == class_key && at < o->look_at
	           ? e->counter
	           : NULL;
}

/*
 * If only some classes have hooks: may the thread look at the stack for each allocation? It pays
 * for those since the last look as if each look had cost what this one has `found` it to, so it may
 * look at each again when it makes fewer.
 */
static bool may_look_at_each(struct lc_tlab_thread *o, uint64_t at, uint32_t found)
{
	const bool could = !o->looks.spent;

	if (!vm.some)
		return false;
	lc_walk_credit_pay(&o->looks, LC_WALK_JVM,
	                   (at - o->paid_at) * (found == LOOK_WALK ? LOOK_WALK_NS : LOOK_NS));
	o->paid_at = at;
	if (o->looks.left_ns < -DEBT_MAX_NS)
		o->looks.left_ns = -DEBT_MAX_NS;
	if (lc_walk_credit_left(&o->looks))
		return true;
	if (could)
		lc_count(&vm.spent);
	return false;
}

/* Allocations until the next look, given what this one has found; 0: it is the next one. */
static uint32_t next_look(struct lc_tlab_thread *o, uint64_t at, uint32_t found)
{
	uint32_t mean = o->distance / DISTANCE_WEIGHT;

	if (may_look_at_each(o, at, found))
		return 0;
	o->distance += found - mean;
	mean = o->distance / DISTANCE_WEIGHT;
	o->random ^= o->random << 13;
	o->random ^= o->random >> 17;
	o->random ^= o->random << 5;
	return mean / 2 + o->random % mean;
}

bool lc_tlab_looked(struct lc_tlab_thread *o, uint32_t bytecode_site, uint32_t class_key,
                    struct lc_site_counter *counter, bool walked)
{
	struct lc_tlab_entry *e = &o->entries[entry_index(bytecode_site, class_key)];
	const uint64_t at = made_so_far(o);
	const bool mine = e->bytecode_site == bytecode_site && e->class_key == class_key;

	count_entry(o, e);
	if (!mine)
		*e = (struct lc_tlab_entry){ .bytecode_site = bytecode_site,
			                     .class_word = (uint32_t)NO_CLASS,
			                     .class_key = class_key };
	if (at >= o->look_at)
		o->look_at = at + next_look(o, at,
		                            walked                          ? LOOK_WALK
		                            : mine && e->counter == counter ? LOOK_SAME
		                                                            : LOOK_OTHER);
	e->counter = counter;
	e->site = counter->site;
	return o->look_at == at;
}

void lc_tlab_pass_over(struct lc_tlab_thread *o)
{
	uint64_t at;

	if (!o)
		return;
	at = lc_alloc_log_position(o->log);
	o->unlogged -= at - o->position;
	o->position = at;
}

void lc_tlab_sync(struct lc_tlab_thread *o)
{
	struct standing now;
	uint64_t at, to;

	if (!o)
		return;
	now = look(o);
	o->sequence = now.sequence;
	o->known = !lc_epoch_gc_sequence_moving(now.sequence);
	o->last = o->known ? now.top : 0;
	o->start = now.start;
	o->allocated = now.allocated;
	o->tag = (uint64_t)(now.sequence >> 1) << LC_ADDR_BITS;
	if (is_followed(o))
		choose_log(o);
	at = lc_alloc_log_position(o->log);
	if (at == o->position)
		o->unlogged++;
	o->position = at;
	if (o->log == &o->unkept && at == o->log->limit)
		lc_alloc_log_aim(o->log, o->records, LC_TLAB_UNKEPT);
	if (o->log != &o->unkept && o->chunk != o->log->tail) {
		o->before = o->chunk;
		o->before_sequence = now.sequence;
		o->chunk = o->log->tail;
	}
	to = o->look_at > at + o->unlogged ? o->look_at - o->unlogged : at;
	o->limit = to < o->log->limit ? to : o->log->limit;
}

uint64_t lc_tlab_unproved(void)
{
	return atomic_load_explicit(&vm.unproved, memory_order_relaxed);
}

static const struct lc_counter counters[] = {
	/* Counted, but at an unknown address: not followed. */
	LC_COUNTER("alloc_unplaced", &vm.unplaced),
	/* Neither seen nor shown to be removed by the JIT: not counted. */
	LC_COUNTER("alloc_unproved", &vm.unproved),
	/* How often a thread began to look at the stack now and then only. */
	LC_COUNTER("alloc_looks_spent", &vm.spent, .limit = "callers_estimated",
	           .text = "looking at the stack for each object of --track would have exceeded "
	                   "--budget: counts by line are exact, some callers are estimates (~)"),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
