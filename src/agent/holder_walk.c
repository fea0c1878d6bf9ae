/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/holder_walk.c - walks the heap, and keeps which references lead to objects.
 *
 * The callbacks run on a thread of the JVM in its pause. They call nothing but the clock, and use
 * memory that was there before.
 */
#include "src/agent/holder_walk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "src/agent/holder_names.h"
#include "src/attribute/heap_size.h"
#include "src/base/glob.h"
#include "src/base/hash.h"
#include "src/base/time.h"
#include "src/core/epoch.h"
#include "src/core/jvmti.h"
#include "src/core/memory.h"
#include "src/core/reset.h"

/*
 * JDK 11 to 18 mark objects in their headers, and go over the whole heap to remove the marks after
 * a walk, wherever the walk has ended. JDK 19 and later have a table of bits. CPU time for each
 * byte: see docs/objects.md.
 */
#define NS_PER_BYTE_TO_END 0.3
#define JNI_OF_JDK_WITH_BITS 0x00130000

enum {
	CLOCK_EVERY = 1024,      /* references between two looks at the clock; a power of two */
	OBJECT_BYTES_LEAST = 10, /* of heap for a row, when three rows in eight are free */
	ROOM_OF_LEAVES = 8, /* one part in so many of the room is for objects of leaf classes */
	PAGE_BYTES = 4096,
	CHUNKS_MOST = 1 << 20, /* of a terabyte of heap */
	CHUNKS_LEAST = 1024,   /* places for chunks; a power of two */
	METHODS = LC_HOLDER_METHODS,
	TRIES = 5, /* walks that a collection has come before */
};

static const jvmtiCapabilities tags = { .can_tag_objects = 1 };

/* One walk at a time: see the header. */
static LC_KEPT atomic_flag busy = ATOMIC_FLAG_INIT;
static LC_KEPT uint32_t walks;
static LC_KEPT bool place_known; /* of this JVM, so one walk has found it */
static LC_KEPT struct lc_holder_place place;

/* ---- in the pause ---- */

/* The number of a root's method; 0: there is no room for it, or none. */
static uint32_t method_number(struct lc_holder_walk *w, jmethodID method)
{
	uint64_t slot = ((uintptr_t)method >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	for (unsigned i = 0; method && i < METHODS; i++, slot++) {
		jmethodID *at = &w->methods[slot & (METHODS - 1)];

		if (!*at)
			*at = method;
		if (*at == method)
			return (uint32_t)(slot & (METHODS - 1)) + 1;
	}
	return 0;
}

/*
 * Read the index that is kept of the reference. Returns false if it does not hold the object: it
 * is weak, or Locus's own.
 */
static bool read_detail(struct lc_holder_walk *w, jvmtiHeapReferenceKind kind,
                        const jvmtiHeapReferenceInfo *info, uint32_t referrer_class,
                        uint32_t *index)
{
	const uint32_t own = lc_holder_own_thread(&w->table);

	switch (kind) {
	case JVMTI_HEAP_REFERENCE_FIELD:
		*index = (uint32_t)info->field.index;
		return w->table.classes[referrer_class].weak != *index + 1;
	case JVMTI_HEAP_REFERENCE_STATIC_FIELD:
		*index = (uint32_t)info->field.index;
		return true;
	case JVMTI_HEAP_REFERENCE_STACK_LOCAL:
		*index = method_number(w, info->stack_local.method);
		return lc_holder_number(&w->table, info->stack_local.thread_tag) != own;
	case JVMTI_HEAP_REFERENCE_JNI_LOCAL:
		*index = method_number(w, info->jni_local.method);
		return lc_holder_number(&w->table, info->jni_local.thread_tag) != own;
	default:
		return true;
	}
}

static jint give_up(struct lc_holder_walk *w)
{
	w->lost = true;
	return JVMTI_VISIT_ABORT;
}

/*
 * A class object has a tag, so its address must always be the same. Returns false if it is not.
 */
static bool is_itself(struct lc_holder_walk *w, uint32_t number, uint64_t address)
{
	struct lc_holder_class *c = &w->table.classes[number];

	if (!c->address)
		c->address = address;
	return c->address == address;
}

/* Find the referrer's number: the JVM tells all references of an object one after the other. */
static bool find_referrer(struct lc_holder_walk *w, const jlong *tag, uint32_t *out)
{
	const uint64_t address = lc_holder_place_read(tag, w->place.referrer);
	const uint32_t number = lc_holder_number(&w->table, *tag);

	if (number && number <= lc_holder_own_thread(&w->table)) {
		*out = number;
		return number > w->table.class_count || is_itself(w, number, address);
	}
	if (address != w->referrer_address) {
		w->referrer = lc_holder_table_find(&w->table, address);
		w->referrer_address = address;
	}
	*out = w->referrer;
	return w->referrer != 0;
}

static jint reach(struct lc_holder_walk *w, const struct lc_holder_reference *r)
{
	switch (lc_holder_table_reach(&w->table, r)) {
	case LC_HOLDER_FULL:
		w->stopped = "--max-memory";
		return JVMTI_VISIT_ABORT;
	case LC_HOLDER_NEW:
		return w->table.classes[r->class].leaf ||
		               !lc_holder_virtual_visits(&w->virtual_threads, r)
		           ? 0
		           : JVMTI_VISIT_OBJECTS;
	default:
		return 0;
	}
}

/* Has the time passed, or a collection the addresses by which objects are looked for? */
static bool must_end(struct lc_holder_walk *w)
{
	if (w->references == 1)
		w->moved = w->sequence && lc_epoch_gc_sequence() != w->sequence;
	else if (lc_time_now_ns() >= w->deadline_ns)
		w->stopped = "--max-pause";
	return w->moved || w->stopped;
}

static jint JNICALL on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info,
                                 jlong class_tag, jlong referrer_class_tag, jlong size,
                                 jlong *tag,          /* NOLINT(readability-non-const-parameter) */
                                 jlong *referrer_tag, /* NOLINT(readability-non-const-parameter) */
                                 jint length, void *context)
{
	struct lc_holder_walk *w = context;
	struct lc_holder_reference r = { .kind = kind, .bytes = (uint64_t)size };
	struct lc_holder_target *target = NULL;

	if (!(w->references++ & (CLOCK_EVERY - 1)) && must_end(w))
		return JVMTI_VISIT_ABORT;
	if (tag == referrer_tag) /* a reference to itself holds nothing */
		return 0;
	r.object = lc_holder_number(&w->table, *tag);
	r.address = lc_holder_place_read(tag, w->place.object);
	if (r.object > lc_holder_own_thread(&w->table)) {
		target = &w->targets.targets[r.object - lc_holder_own_thread(&w->table) - 1];
		target->address = r.address;
		r.object = 0;
	}
	if (r.object && r.object <= w->table.class_count && !is_itself(w, r.object, r.address))
		return give_up(w);
	if (kind == JVMTI_HEAP_REFERENCE_CLASS && lc_holder_table_reached(&w->table, r.object))
		return 0; /* each object has one to its class */
	r.class = lc_holder_number(&w->table, class_tag);
	lc_holder_virtual_set_kind(&w->virtual_threads, &r, !referrer_tag);
	if (!w->table.classes[r.class].leaf)
		target = NULL;
	else if (!target)
		target = lc_holder_targets_find(&w->targets, r.address);
	if ((w->table.classes[r.class].skipped && !target) ||
	    !read_detail(w, kind, info, lc_holder_number(&w->table, referrer_class_tag), &r.index))
		return 0;
	if (referrer_tag && !find_referrer(w, referrer_tag, &r.parent))
		return give_up(w);
	if (target)
		lc_holder_table_note(&w->table, &r, &target->leaf);
	return w->table.classes[r.class].skipped ? 0 : reach(w, &r);
}

/* ---- around it ---- */

/* Find the field of each class of weak references that does not hold its referent. */
static void find_weak(struct lc_holder_walk *w)
{
	JNIEnv *jni = w->jni;
	const jclass reference = (*jni)->FindClass(jni, "java/lang/ref/Reference");
	const jclass weak = (*jni)->FindClass(jni, "java/lang/ref/WeakReference");
	const jclass phantom = (*jni)->FindClass(jni, "java/lang/ref/PhantomReference");

	if (!reference || !weak || !phantom) {
		(*jni)->ExceptionClear(jni);
		return;
	}
	for (uint32_t i = 1; i <= w->table.class_count; i++) {
		const jclass class = w->loaded[i - 1];
		uint32_t number;

		if (((*jni)->IsAssignableFrom(jni, class, weak) ||
		     (*jni)->IsAssignableFrom(jni, class, phantom)) &&
		    lc_holder_names_number(w->jvmti, jni, class, reference, "referent", &number))
			w->table.classes[i].weak = number + 1;
	}
}

/* `asked`: bytes that the walk may take; 0: what is left of --max-memory. */
static uint64_t room_bytes(uint64_t asked)
{
	uint64_t limit = lc_memory_limited_to();
	const uint64_t held = lc_memory_held();

	if (asked)
		return asked;
	if (limit == UINT64_MAX) /* no recording, or one without a limit */
		limit = lc_memory_default_limit();
	return limit > held ? limit - held : 0;
}

static void *map_pages(uint64_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* The same with memory behind all pages, so that a pause does not wait for it. */
static void *map_memory(uint64_t bytes)
{
	unsigned char *p = map_pages(bytes);

	if (p)
		(void)madvise(p, bytes, MADV_HUGEPAGE);
	for (uint64_t i = 0; p && i < bytes; i += PAGE_BYTES)
		((volatile unsigned char *)p)[i] = 0;
	return p;
}

static void unmap_pages(void *p, uint64_t bytes)
{
	if (p)
		munmap(p, bytes);
}

static void free_table(struct lc_holder_table *t)
{
	unmap_pages(t->objects, t->cap * sizeof(*t->objects));
	unmap_pages(t->chunks, t->chunk_cap * sizeof(*t->chunks));
	unmap_pages(t->bits, t->chunk_cap * sizeof(*t->bits));
	free(t->classes);
}

/*
 * Make the table. The rows get their memory here, so that the walk does not wait for it. Returns 0
 * or -errno; free the table in either case.
 */
static int make_table(struct lc_holder_walk *w, jint classes, uint64_t room)
{
	struct lc_holder_table *t = &w->table;
	const uint64_t leaves = room / ROOM_OF_LEAVES;
	const uint32_t numbers =
	    classes < LC_HOLDER_CLASSES_MAX ? (uint32_t)classes : LC_HOLDER_CLASSES_MAX;
	const uint64_t rows =
	    lc_holder_first_row(numbers) + 4096 + w->used_bytes / OBJECT_BYTES_LEAST;
	uint64_t cap = (room - leaves) / sizeof(*t->objects);

	cap = cap > rows ? rows : cap;
	if (cap < lc_holder_first_row(numbers) + 4096)
		return -ENOMEM;
	t->class_count = numbers;
	t->cap = cap < INT32_MAX ? (uint32_t)cap : INT32_MAX;
	t->chunk_room =
	    (uint32_t)(leaves / sizeof(*t->bits) < CHUNKS_MOST ? leaves / sizeof(*t->bits)
	                                                       : CHUNKS_MOST);
	for (t->chunk_cap = CHUNKS_LEAST; t->chunk_cap < 2 * t->chunk_room;)
		t->chunk_cap *= 2;
	t->classes = calloc((size_t)numbers + 1, sizeof(*t->classes));
	t->objects = map_memory(t->cap * sizeof(*t->objects));
	t->chunks = map_pages(t->chunk_cap * sizeof(*t->chunks));
	t->bits = map_pages(t->chunk_cap * sizeof(*t->bits));
	if (!t->classes || !t->objects || !t->chunks || !t->bits)
		return -ENOMEM;
	t->walk = ++walks & INT32_MAX ? walks & INT32_MAX : 1;
	lc_holder_table_begin(t);
	return 0;
}

/* Tag the classes and this thread, or remove the tags. */
static void tag_classes(const struct lc_holder_walk *w, bool set)
{
	const struct lc_holder_table *t = &w->table;

	for (uint32_t i = 1; i <= t->class_count; i++)
		(void)(*w->jvmti)->SetTag(w->jvmti, w->loaded[i - 1],
		                          set ? lc_holder_tag(t, i) : 0);
	if (w->thread)
		(void)(*w->jvmti)->SetTag(w->jvmti, w->thread,
		                          set ? lc_holder_tag(t, lc_holder_own_thread(t)) : 0);
}

/* For how long the JVM stops the program to end a walk. */
static uint64_t end_ns(const struct lc_holder_walk *w)
{
	if ((*w->jni)->GetVersion(w->jni) >= JNI_OF_JDK_WITH_BITS)
		return 0;
	return (uint64_t)((double)w->used_bytes * NS_PER_BYTE_TO_END);
}

/* Tag the objects that are looked for by their tags, or remove the tags and the references. */
static void tag_targets(struct lc_holder_walk *w, bool set)
{
	const uint32_t before = lc_holder_own_thread(&w->table) + 1;

	for (size_t i = 0; i < w->targets.len; i++) {
		struct lc_holder_target *target = &w->targets.targets[i];

		if (!target->object)
			continue;
		(void)(*w->jvmti)->SetTag(w->jvmti, target->object,
		                          set ? lc_holder_tag(&w->table, before + (uint32_t)i) : 0);
		if (!set)
			(*w->jni)->DeleteLocalRef(w->jni, target->object);
	}
}

/* Returns JVMTI's error. */
static jvmtiError walk_heap(struct lc_holder_walk *w)
{
	static const jvmtiHeapCallbacks follow = { .heap_reference_callback = on_reference };
	const uint64_t begin = lc_time_now_ns();
	jvmtiError err;

	w->references = 0;
	lc_holder_virtual_begin(&w->virtual_threads, w->pause_ns);
	w->moved = false;
	w->deadline_ns = begin + w->pause_ns - end_ns(w);
	err = (*w->jvmti)->FollowReferences(w->jvmti, 0, NULL, NULL, &follow, w);
	w->ns = lc_time_now_ns() - begin;
	return err;
}

static bool say(struct lc_holder_walk *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns false. */
static bool say(struct lc_holder_walk *w, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(w->error, sizeof(w->error), format, args);
	va_end(args);
	return false;
}

bool lc_holder_walk_run(struct lc_holder_walk *w, lc_holder_walk_choose *choose, void *context)
{
	jvmtiError err = JVMTI_ERROR_NONE;
	bool chosen = false;

	find_weak(w);
	(void)(*w->jvmti)->GetCurrentThread(w->jvmti, &w->thread);
	tag_classes(w, true);
	for (unsigned i = 0; i < TRIES; i++) {
		chosen = !choose || choose(context, w);
		tag_targets(w, true);
		err = chosen ? walk_heap(w) : JVMTI_ERROR_NONE;
		tag_targets(w, false);
		if (err || !chosen || !w->moved)
			break;
	}
	tag_classes(w, false);
	if (!chosen)
		return false;
	if (err == JVMTI_ERROR_WRONG_PHASE)
		return say(w, "the program is ending");
	if (err)
		return say(w, "the JVM does not walk its heap: JVMTI error %d", (int)err);
	if (w->lost)
		return say(w, "Locus cannot tell objects apart in a walk of this JVM's heap");
	if (w->moved)
		return say(w, "collections follow each other so closely that objects could not be "
		              "found between two of them");
	return true;
}

/* ---- the answer ---- */

void lc_holder_walk_line(const struct lc_holder_walk *w, char line[LC_HOLDER_WALK_LINE_MAX])
{
	uint64_t objects = 0, bytes = 0;

	for (uint32_t i = 0; i <= w->table.class_count; i++) {
		objects += w->table.classes[i].objects;
		bytes += w->table.classes[i].bytes;
	}
	snprintf(line, LC_HOLDER_WALK_LINE_MAX,
	         "walk\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%s\t%" PRIu64, w->ns,
	         w->used_bytes, objects, bytes, w->stopped ? w->stopped : "-",
	         w->virtual_threads.not_followed);
}

/* The answer's words are separated by tabs and newlines; a class may have any name. */
static void make_plain(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ')
			*text = '?';
}

static void class_name(void *context, uint32_t class, char *out)
{
	const struct lc_holder_walk *w = context;

	lc_holder_names_class(w->jvmti, class ? w->loaded[class - 1] : NULL, out,
	                      LC_HOLDER_NAME_MAX);
	make_plain(out);
}

static void field_name(void *context, uint32_t class, uint32_t index, char *out)
{
	const struct lc_holder_walk *w = context;

	if (class)
		lc_holder_names_field(w->jvmti, w->jni, w->loaded[class - 1], index, out,
		                      LC_HOLDER_NAME_MAX);
	else
		snprintf(out, LC_HOLDER_NAME_MAX, "(unknown class)");
	make_plain(out);
}

static void method_name(void *context, uint32_t number, char *out)
{
	const struct lc_holder_walk *w = context;

	lc_holder_names_method(w->jvmti, w->jni, number ? w->methods[number - 1] : NULL, out,
	                       LC_HOLDER_NAME_MAX);
	make_plain(out);
}

struct lc_holder_names lc_holder_walk_names(struct lc_holder_walk *w)
{
	return (struct lc_holder_names){ w, class_name, field_name, method_name };
}

/* ---- the ends ---- */

/* Classes whose objects hold no others. */
static bool is_leaf(const char *name)
{
	static const char *const names[] = {
		"boolean[]",
		"byte[]",
		"char[]",
		"short[]",
		"int[]",
		"long[]",
		"float[]",
		"double[]",
		"java.lang.Boolean",
		"java.lang.Byte",
		"java.lang.Character",
		"java.lang.Short",
		"java.lang.Integer",
		"java.lang.Long",
		"java.lang.Float",
		"java.lang.Double",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

void lc_holder_walk_want(struct lc_holder_walk *w, const char *pattern, bool bytes)
{
	struct lc_holder_named *named = calloc(w->table.class_count + 1, sizeof(*named));
	char name[LC_HOLDER_NAME_MAX];
	struct lc_holder_class *string = NULL;

	for (uint32_t i = 1; i <= w->table.class_count; i++) {
		struct lc_holder_class *c = &w->table.classes[i];

		class_name(w, i, name);
		if (named)
			named[i - 1] = (struct lc_holder_named){ lc_hash_text(0, name), i };
		c->wanted = pattern && (!*pattern || lc_glob(pattern, pattern + strlen(pattern),
		                                             name, name + strlen(name), false));
		c->leaf = is_leaf(name);
		c->skipped = c->leaf && !c->wanted;
		if (!strcmp(name, "java.lang.VirtualThread"))
			w->virtual_threads = lc_holder_virtual_find(w->jni, w->loaded[i - 1], i);
		else if (!strcmp(name, "byte[]"))
			bytes |= c->wanted;
		else if (!strcmp(name, "java.lang.String"))
			string = c;
	}
	if (named)
		lc_holder_table_mark(&w->table, named);
	free(named);
	if (string && !bytes) { /* that is all that it holds */
		string->leaf = true;
		string->skipped = !string->wanted;
	}
}

/* Returns whether a walk, wherever it ends, stops the program no longer than it may. */
static bool can_end(struct lc_holder_walk *w)
{
	const uint64_t ns = end_ns(w);

	if (w->used_bytes && ns < w->pause_ns)
		return true;
	if (!w->used_bytes)
		return say(w, "the JVM does not tell how much of its heap is in use");
	return say(
	    w,
	    "%.1f MB of the heap are in use, and to end a walk alone may stop the program "
	    "for %.1f s, longer than --max-pause allows: to do it, add --max-pause=%" PRIu64 "s",
	    (double)w->used_bytes / 1e6, (double)ns / 1e9, 2 * ns / UINT64_C(1000000000) + 1);
}

bool lc_holder_walk_begin(struct lc_holder_walk *w, JavaVM *vm, JNIEnv *jni, uint64_t pause_ns,
                          uint64_t bytes)
{
	jint classes = 0;

	if (atomic_flag_test_and_set(&busy))
		return say(w, "another walk of the heap goes on");
	w->begun = true;
	w->jni = jni;
	w->pause_ns = pause_ns;
	if (!lc_jvmti())
		lc_jvmti_set(lc_jvmti_of(vm));
	w->used_bytes = lc_heap_size_now(jni);
	if (!lc_jvmti() || (*lc_jvmti())->AddCapabilities(lc_jvmti(), &tags))
		return say(w, "this JVM has no tags for objects, so its heap cannot be walked");
	w->jvmti = lc_jvmti();
	if (!can_end(w))
		return false;
	place_known = place_known || lc_holder_place_find(w->jvmti, jni, &place);
	w->place = place;
	if (!place_known)
		return say(w, "Locus cannot tell objects apart in a walk of this JVM's heap");
	w->loaded = lc_jvmti_loaded(jni, &classes);
	if (!w->loaded || make_table(w, classes, room_bytes(bytes)))
		return say(w, "there is no memory to walk the heap; allow more with --max-memory");
	return true;
}

void lc_holder_walk_end(struct lc_holder_walk *w)
{
	free_table(&w->table);
	if (w->loaded)
		lc_jvmti_loaded_end(w->jni, w->loaded);
	if (w->jvmti)
		(void)(*w->jvmti)->RelinquishCapabilities(w->jvmti, &tags);
	if (w->begun)
		atomic_flag_clear(&busy);
}
