/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/holders.c - walks the heap, and says which chains of references lead to objects.
 *
 * The callbacks run on a thread of the JVM in its pause. They call nothing but the clock, and use
 * memory that was there before.
 */
#include "src/agent/holders.h"

#include <errno.h>
#include <inttypes.h>
#include <jvmti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "src/agent/holder_chain.h"
#include "src/agent/holder_names.h"
#include "src/agent/holder_place.h"
#include "src/agent/holder_table.h"
#include "src/attribute/heap_size.h"
#include "src/base/glob.h"
#include "src/base/say.h"
#include "src/base/time.h"
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
	METHODS = 4096, /* of roots; a power of two */
	CLASSES_SHOWN = 10,
	OBJECTS_LOOKED_AT = LC_HOLDER_SAMPLES / 2, /* of each class */
	CHAINS_SHOWN = 5,
	CHAIN_TEXT_MAX = 1000,
	CLOCK_EVERY = 1024,      /* references between two looks at the clock; a power of two */
	OBJECT_BYTES_LEAST = 10, /* of heap for a row, when three rows in eight are free */
	ROOM_OF_LEAVES = 8, /* one part in so many of the room is for objects of leaf classes */
	PAGE_BYTES = 4096,
	CHUNKS_MOST = 1 << 20, /* of a terabyte of heap */
	CHUNKS_LEAST = 1024,   /* places for chunks; a power of two */
};

struct walk {
	struct lc_holder_table table;
	struct lc_holder_place place;
	jvmtiEnv *jvmti;
	JNIEnv *jni;
	jclass *loaded; /* class number n is loaded[n - 1] */
	jthread thread; /* this one */
	jmethodID methods[METHODS];
	uint64_t used_bytes; /* of the heap, before the walk */
	uint64_t references, deadline_ns, ns;
	uint64_t referrer_address; /* of the last reference from an object that is no class */
	uint32_t referrer;         /* its number */
	const char *stopped;       /* the option that has ended the walk; NULL: none */
	bool lost;                 /* an object was not where the callbacks have it */
};

/* Under the lock of agent/agent_attach.c. */
static LC_KEPT uint32_t walks;
static LC_KEPT bool place_known; /* of this JVM, so one walk has found it */
static LC_KEPT struct lc_holder_place place;

/* ---- in the pause ---- */

/* The number of a root's method; 0: there is no room for it, or none. */
static uint32_t method_number(struct walk *w, jmethodID method)
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
static bool read_detail(struct walk *w, jvmtiHeapReferenceKind kind,
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

static jint give_up(struct walk *w)
{
	w->lost = true;
	return JVMTI_VISIT_ABORT;
}

/*
 * A class object has a tag, so its address must always be the same. Returns false if it is not.
 */
static bool is_itself(struct walk *w, uint32_t number, uint64_t address)
{
	struct lc_holder_class *c = &w->table.classes[number];

	if (!c->address)
		c->address = address;
	return c->address == address;
}

/* Find the referrer's number: the JVM tells all references of an object one after the other. */
static bool find_referrer(struct walk *w, const jlong *tag, uint32_t *out)
{
	const uint64_t address = lc_holder_place_read(tag, w->place.referrer);
	const uint32_t number = lc_holder_number(&w->table, *tag);

	if (number) {
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

static jint reach(struct walk *w, const struct lc_holder_reference *r)
{
	switch (lc_holder_table_reach(&w->table, r)) {
	case LC_HOLDER_FULL:
		w->stopped = "--max-memory";
		return JVMTI_VISIT_ABORT;
	case LC_HOLDER_NEW:
		return w->table.classes[r->class].leaf ? 0 : JVMTI_VISIT_OBJECTS;
	default:
		return 0;
	}
}

static jint JNICALL on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info,
                                 jlong class_tag, jlong referrer_class_tag, jlong size,
                                 jlong *tag,          /* NOLINT(readability-non-const-parameter) */
                                 jlong *referrer_tag, /* NOLINT(readability-non-const-parameter) */
                                 jint length, void *context)
{
	struct walk *w = context;
	struct lc_holder_reference r = { .kind = kind, .bytes = (uint64_t)size };

	if (!(++w->references & (CLOCK_EVERY - 1)) && lc_time_now_ns() >= w->deadline_ns) {
		w->stopped = "--max-pause";
		return JVMTI_VISIT_ABORT;
	}
	if (tag == referrer_tag) /* a reference to itself holds nothing */
		return 0;
	r.object = lc_holder_number(&w->table, *tag);
	r.address = lc_holder_place_read(tag, w->place.object);
	if (r.object && r.object <= w->table.class_count && !is_itself(w, r.object, r.address))
		return give_up(w);
	if (kind == JVMTI_HEAP_REFERENCE_CLASS && lc_holder_table_reached(&w->table, r.object))
		return 0; /* each object has one to its class */
	r.class = lc_holder_number(&w->table, class_tag);
	if (w->table.classes[r.class].skipped ||
	    !read_detail(w, kind, info, lc_holder_number(&w->table, referrer_class_tag), &r.index))
		return 0;
	if (referrer_tag && !find_referrer(w, referrer_tag, &r.parent))
		return give_up(w);
	return reach(w, &r);
}

/* ---- around it ---- */

/* Find the field of each class of weak references that does not hold its referent. */
static void find_weak(struct walk *w)
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
static int make_table(struct walk *w, jint classes, uint64_t room)
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
static void tag_classes(const struct walk *w, bool set)
{
	const struct lc_holder_table *t = &w->table;

	for (uint32_t i = 1; i <= t->class_count; i++)
		(void)(*w->jvmti)->SetTag(w->jvmti, w->loaded[i - 1],
		                          set ? lc_holder_tag(t, i) : 0);
	if (w->thread)
		(void)(*w->jvmti)->SetTag(w->jvmti, w->thread,
		                          set ? lc_holder_tag(t, lc_holder_own_thread(t)) : 0);
}

/* Returns JVMTI's error. The walk ends after `pause_ns`. */
static jvmtiError walk_heap(struct walk *w, uint64_t pause_ns)
{
	static const jvmtiHeapCallbacks follow = { .heap_reference_callback = on_reference };
	uint64_t begin;
	jvmtiError err;

	(void)(*w->jvmti)->GetCurrentThread(w->jvmti, &w->thread);
	tag_classes(w, true);
	begin = lc_time_now_ns();
	w->deadline_ns = begin + pause_ns;
	err = (*w->jvmti)->FollowReferences(w->jvmti, 0, NULL, NULL, &follow, w);
	w->ns = lc_time_now_ns() - begin;
	tag_classes(w, false);
	return err;
}

/* ---- names ---- */

/* The answer's words are separated by tabs and newlines; a class may have any name. */
static void make_plain(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ')
			*text = '?';
}

static void class_name(void *context, uint32_t class, char *out)
{
	const struct walk *w = context;

	lc_holder_names_class(w->jvmti, class ? w->loaded[class - 1] : NULL, out,
	                      LC_HOLDER_NAME_MAX);
	make_plain(out);
}

static void field_name(void *context, uint32_t class, uint32_t index, char *out)
{
	const struct walk *w = context;

	if (class)
		lc_holder_names_field(w->jvmti, w->jni, w->loaded[class - 1], index, out,
		                      LC_HOLDER_NAME_MAX);
	else
		snprintf(out, LC_HOLDER_NAME_MAX, "(unknown class)");
	make_plain(out);
}

static void method_name(void *context, uint32_t number, char *out)
{
	const struct walk *w = context;

	lc_holder_names_method(w->jvmti, w->jni, number ? w->methods[number - 1] : NULL, out,
	                       LC_HOLDER_NAME_MAX);
	make_plain(out);
}

/* ---- the answer ---- */

/*
 * Classes whose objects hold no others, and virtual threads. The JVM must not visit these: JDK 25
 * reads the stack of each that it visits, and crashes at one whose constructor has not set its
 * continuation yet.
 */
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
		"java.lang.VirtualThread",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* Note which classes the pattern matches, and which hold nothing, or nothing that is wanted. */
static void find_wanted(struct walk *w, const char *pattern)
{
	char name[LC_HOLDER_NAME_MAX];
	struct lc_holder_class *string = NULL;
	bool bytes_wanted = false;

	for (uint32_t i = 1; i <= w->table.class_count; i++) {
		struct lc_holder_class *c = &w->table.classes[i];

		class_name(w, i, name);
		c->wanted = !*pattern || lc_glob(pattern, pattern + strlen(pattern), name,
		                                 name + strlen(name), false);
		c->leaf = is_leaf(name);
		c->skipped = c->leaf && !c->wanted;
		if (!strcmp(name, "byte[]"))
			bytes_wanted = c->wanted;
		else if (!strcmp(name, "java.lang.String"))
			string = c;
	}
	if (string && !bytes_wanted) { /* that is all that it holds */
		string->leaf = true;
		string->skipped = !string->wanted;
	}
}

/* The wanted classes with most bytes. Returns how many. */
static size_t choose(const struct walk *w, uint32_t chosen[CLASSES_SHOWN])
{
	const struct lc_holder_class *of = w->table.classes;
	size_t len = 0;

	for (uint32_t i = 1; i <= w->table.class_count; i++) {
		size_t at = len;

		while (at && of[chosen[at - 1]].bytes < of[i].bytes)
			at--;
		if (!of[i].objects || !of[i].wanted || at == CLASSES_SHOWN)
			continue;
		len += len < CLASSES_SHOWN;
		memmove(&chosen[at + 1], &chosen[at], (len - 1 - at) * sizeof(*chosen));
		chosen[at] = i;
	}
	return len;
}

/* Say what holds objects of the class, chosen evenly from those that were reached. */
static void say_class(struct walk *w, uint32_t class)
{
	const struct lc_holder_names names = { w, class_name, field_name, method_name };
	const struct lc_holder_class *c = &w->table.classes[class];
	struct lc_holder_chain chains[OBJECTS_LOOKED_AT], chain;
	char text[CHAIN_TEXT_MAX], name[LC_HOLDER_NAME_MAX];
	uint32_t looked_at = c->samples < OBJECTS_LOOKED_AT ? c->samples : OBJECTS_LOOKED_AT;
	size_t len = 0;

	for (uint32_t i = 0; i < looked_at; i++) {
		lc_holder_chain_of(
		    &w->table, lc_holder_table_sample(&w->table, class, i * c->samples / looked_at),
		    &chain);
		lc_holder_chains_add(chains, &len, &chain);
	}
	lc_holder_chains_sort(chains, len);
	class_name(w, class, name);
	lc_say_answer("class\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu32 "\t%s", c->objects, c->bytes,
	              looked_at, name);
	for (size_t i = 0; i < len && i < CHAINS_SHOWN; i++) {
		lc_holder_chain_text(&chains[i], &names, text, sizeof(text));
		lc_say_answer("chain\t%u\t%s", chains[i].count, text);
		looked_at -= chains[i].count;
	}
	if (looked_at)
		lc_say_answer("other\t%" PRIu32, looked_at);
}

static bool say_all(struct walk *w, const char *pattern)
{
	uint32_t chosen[CLASSES_SHOWN];
	const size_t len = choose(w, chosen);
	uint64_t objects = 0, bytes = 0;

	if (!len) {
		lc_say("no live object that was reached is of a class that matches '%s'; patterns "
		       "are of whole names, such as com.acme.*",
		       pattern);
		return false;
	}
	for (uint32_t i = 0; i <= w->table.class_count; i++) {
		objects += w->table.classes[i].objects;
		bytes += w->table.classes[i].bytes;
	}
	lc_say_answer("walk\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%s", w->ns,
	              w->used_bytes, objects, bytes, w->stopped ? w->stopped : "-");
	for (size_t i = 0; i < len; i++)
		say_class(w, chosen[i]);
	return true;
}

/* With the capability. */
static bool walk_and_say(struct walk *w, uint64_t pause_ns, uint64_t room, const char *pattern)
{
	jint classes = 0;
	bool done = false;
	jvmtiError err = JVMTI_ERROR_NONE;

	w->loaded = lc_jvmti_loaded(w->jni, &classes);
	if (w->loaded && !make_table(w, classes, room)) {
		find_weak(w);
		find_wanted(w, pattern);
		err = walk_heap(w, pause_ns);
		if (err == JVMTI_ERROR_WRONG_PHASE)
			lc_say("the program is ending");
		else if (err)
			lc_say("the JVM does not walk its heap: JVMTI error %d", (int)err);
		else if (w->lost)
			lc_say("Locus cannot tell objects apart in a walk of this JVM's heap");
		else
			done = say_all(w, pattern);
	} else {
		lc_say("there is no memory to walk the heap; allow more with --max-memory");
	}
	free_table(&w->table);
	if (w->loaded)
		lc_jvmti_loaded_end(w->jni, w->loaded);
	return done;
}

/* For how long the JVM stops the program to end a walk. */
static uint64_t end_ns(const struct walk *w)
{
	if ((*w->jni)->GetVersion(w->jni) >= JNI_OF_JDK_WITH_BITS)
		return 0;
	return (uint64_t)((double)w->used_bytes * NS_PER_BYTE_TO_END);
}

/* Returns whether a walk, wherever it ends, stops the program no longer than it may. */
static bool can_end(const struct walk *w, uint64_t pause_ns)
{
	const uint64_t ns = end_ns(w);

	if (w->used_bytes && ns < pause_ns)
		return true;
	if (w->used_bytes)
		lc_say(
		    "%.1f MB of the heap are in use, and to end a walk alone may stop the program "
		    "for %.1f s, longer than --max-pause allows: to do it, add --max-pause=%" PRIu64
		    "s",
		    (double)w->used_bytes / 1e6, (double)ns / 1e9,
		    2 * ns / UINT64_C(1000000000) + 1);
	else
		lc_say("the JVM does not tell how much of its heap is in use");
	return false;
}

bool lc_holders_answer(JavaVM *vm, JNIEnv *jni, const char *options)
{
	static const jvmtiCapabilities tags = { .can_tag_objects = 1 };
	char *pattern;
	const uint64_t pause_ns = strtoull(options, &pattern, 10);
	const uint64_t room = room_bytes(strtoull(pattern, &pattern, 10));
	struct walk *w = calloc(1, sizeof(*w));
	bool done = false;

	pattern += *pattern == ' ';
	if (!lc_jvmti())
		lc_jvmti_set(lc_jvmti_of(vm));
	if (w)
		w->used_bytes = lc_heap_size_now(jni);
	if (!w || !lc_jvmti() || (*lc_jvmti())->AddCapabilities(lc_jvmti(), &tags)) {
		lc_say("this JVM has no tags for objects, so its heap cannot be walked");
	} else {
		w->jvmti = lc_jvmti();
		w->jni = jni;
		if (can_end(w, pause_ns)) {
			place_known = place_known || lc_holder_place_find(w->jvmti, jni, &place);
			w->place = place;
			if (place_known)
				done = walk_and_say(w, pause_ns - end_ns(w), room, pattern);
			else
				lc_say(
				    "Locus cannot tell objects apart in a walk of this JVM's heap");
		}
		(void)(*w->jvmti)->RelinquishCapabilities(w->jvmti, &tags);
	}
	free(w);
	return done;
}
