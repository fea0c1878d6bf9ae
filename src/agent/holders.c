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
#include "src/agent/holder_table.h"
#include "src/attribute/heap_size.h"
#include "src/base/glob.h"
#include "src/base/say.h"
#include "src/base/time.h"
#include "src/core/jvmti.h"
#include "src/core/memory.h"
#include "src/core/reset.h"

/*
 * CPU time of both walks for each byte of a heap of small objects: 53 ns with JDK 25 and 29 ns with
 * JDK 17, of a map with 73 MB in 2.8 million objects (docs/objects.md).
 */
#define NS_PER_BYTE 60

enum {
	BYTES_PER_OBJECT = 96, /* of the table, and of the JVM's table of tags */
	METHODS = 4096,        /* of roots; a power of two */
	CLASSES_SHOWN = 10,
	OBJECTS_LOOKED_AT = 16, /* of each class */
	CHAINS_SHOWN = 5,
	CHAIN_TEXT_MAX = 1000,
	CLOCK_EVERY = 1024, /* references between two looks at the clock; a power of two */
};

struct walk {
	struct lc_holder_table table;
	jvmtiEnv *jvmti;
	JNIEnv *jni;
	jclass *loaded; /* class number n is loaded[n - 1] */
	jmethodID methods[METHODS];
	uint64_t references, deadline_ns, ns, untag_ns;
	const char *stopped; /* the option that has ended the walk; NULL: none */
};

static LC_KEPT uint32_t walks; /* under the lock of agent/agent_attach.c */

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

static jint JNICALL on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info,
                                 jlong class_tag, jlong referrer_class_tag, jlong size, jlong *tag,
                                 jlong *referrer_tag, /* NOLINT(readability-non-const-parameter) */
                                 jint length, void *context)
{
	struct walk *w = context;
	struct lc_holder_reference r = { .kind = kind, .bytes = (uint64_t)size };

	(void)length;
	if (!(++w->references & (CLOCK_EVERY - 1)) && lc_time_now_ns() >= w->deadline_ns) {
		w->stopped = "--max-pause";
		return JVMTI_VISIT_ABORT;
	}
	if (!read_detail(w, kind, info, lc_holder_number(&w->table, referrer_class_tag), &r.index))
		return 0;
	r.class = lc_holder_number(&w->table, class_tag);
	if (w->table.classes[r.class].skipped)
		return 0;
	r.parent = referrer_tag ? lc_holder_number(&w->table, *referrer_tag) : 0;
	if (lc_holder_table_reach(&w->table, &r, tag))
		return JVMTI_VISIT_OBJECTS;
	w->stopped = "--max-memory";
	return JVMTI_VISIT_ABORT;
}

static jint JNICALL remove_tag(jlong class_tag, jlong size, jlong *tag, jint length, void *unused)
{
	(void)class_tag;
	(void)size;
	(void)length;
	(void)unused;
	*tag = 0;
	return JVMTI_VISIT_OBJECTS;
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

/* Make the table, and tag the classes. Returns 0 or -errno. */
static int make_table(struct walk *w, jint classes, uint64_t room)
{
	struct lc_holder_table *t = &w->table;
	const uint64_t cap = room / BYTES_PER_OBJECT;
	jthread own = NULL;
	void *objects;

	t->class_count = (uint32_t)classes;
	t->cap = cap < INT32_MAX ? (uint32_t)cap : INT32_MAX;
	if (t->cap < t->class_count + 2)
		return -ENOMEM;
	t->classes = calloc((size_t)classes + 1, sizeof(*t->classes));
	objects = mmap(NULL, t->cap * sizeof(*t->objects), PROT_READ | PROT_WRITE,
	               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	t->objects = objects == MAP_FAILED ? NULL : objects;
	if (!t->classes || !t->objects)
		return -ENOMEM;
	t->walk = ++walks & INT32_MAX ? walks & INT32_MAX : 1;
	lc_holder_table_begin(t);
	for (uint32_t i = 1; i <= t->class_count; i++)
		(void)(*w->jvmti)->SetTag(w->jvmti, w->loaded[i - 1], lc_holder_tag(t, i));
	if (!(*w->jvmti)->GetCurrentThread(w->jvmti, &own))
		(void)(*w->jvmti)->SetTag(w->jvmti, own, lc_holder_tag(t, lc_holder_own_thread(t)));
	return 0;
}

static jvmtiError walk_heap(struct walk *w, uint64_t pause_ns)
{
	static const jvmtiHeapCallbacks follow = { .heap_reference_callback = on_reference };
	static const jvmtiHeapCallbacks untag = { .heap_iteration_callback = remove_tag };
	const uint64_t begin = lc_time_now_ns();
	jvmtiError err;
	uint64_t end;

	w->deadline_ns = begin + pause_ns;
	err = (*w->jvmti)->FollowReferences(w->jvmti, 0, NULL, NULL, &follow, w);
	end = lc_time_now_ns();
	w->ns = end - begin;
	(void)(*w->jvmti)->IterateThroughHeap(w->jvmti, JVMTI_HEAP_FILTER_UNTAGGED, NULL, &untag,
	                                      NULL);
	w->untag_ns = lc_time_now_ns() - end;
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

static bool is_primitive_array(const char *name)
{
	static const char *const names[] = { "boolean[]", "byte[]", "char[]",  "short[]",
		                             "int[]",     "long[]", "float[]", "double[]" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/*
 * Note which classes the pattern matches. Arrays of primitive types hold nothing, so they need no
 * tag if they are not wanted.
 */
static void find_wanted(struct walk *w, const char *pattern)
{
	char name[LC_HOLDER_NAME_MAX];

	for (uint32_t i = 1; i <= w->table.class_count; i++) {
		struct lc_holder_class *c = &w->table.classes[i];

		class_name(w, i, name);
		c->wanted = !*pattern || lc_glob(pattern, pattern + strlen(pattern), name,
		                                 name + strlen(name), false);
		c->skipped = !c->wanted && is_primitive_array(name);
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
	const uint64_t step = (c->objects + OBJECTS_LOOKED_AT - 1) / OBJECTS_LOOKED_AT;
	struct lc_holder_chain chains[OBJECTS_LOOKED_AT], chain;
	char text[CHAIN_TEXT_MAX], name[LC_HOLDER_NAME_MAX];
	uint64_t seen = 0, looked_at = 0;
	size_t len = 0;

	for (uint32_t i = 1; i < w->table.len; i++) {
		if (w->table.objects[i].class != class || !lc_holder_table_reached(&w->table, i) ||
		    seen++ % step != 0)
			continue;
		lc_holder_chain_of(&w->table, i, &chain);
		lc_holder_chains_add(chains, &len, &chain);
		looked_at++;
	}
	lc_holder_chains_sort(chains, len);
	class_name(w, class, name);
	lc_say_answer("class\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%s", c->objects, c->bytes,
	              looked_at, name);
	for (size_t i = 0; i < len && i < CHAINS_SHOWN; i++) {
		lc_holder_chain_text(&chains[i], &names, text, sizeof(text));
		lc_say_answer("chain\t%u\t%s", chains[i].count, text);
		looked_at -= chains[i].count;
	}
	if (looked_at)
		lc_say_answer("other\t%" PRIu64, looked_at);
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
	              w->untag_ns, objects, bytes, w->stopped ? w->stopped : "-");
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
		else
			done = say_all(w, pattern);
	} else {
		lc_say("there is no memory to walk the heap; allow more with --max-memory");
	}
	if (w->table.objects)
		munmap(w->table.objects, w->table.cap * sizeof(*w->table.objects));
	free(w->table.classes);
	if (w->loaded)
		lc_jvmti_loaded_end(w->jni, w->loaded);
	return done;
}

/* Returns whether the walk may stop the program for so long as it may take. */
static bool is_short(JNIEnv *jni, uint64_t pause_ns)
{
	const uint64_t bytes = lc_heap_size_now(jni), ns = bytes * NS_PER_BYTE;

	if (bytes && ns <= pause_ns)
		return true;
	if (bytes)
		lc_say("%.1f MB of the heap are in use, and a walk may stop the program for %.1f "
		       "s, longer than --max-pause allows: to do it, add --max-pause=%" PRIu64 "s",
		       (double)bytes / 1e6, (double)ns / 1e9, ns / UINT64_C(1000000000) + 1);
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
	struct walk *w;
	bool done = false;

	pattern += *pattern == ' ';
	if (!lc_jvmti())
		lc_jvmti_set(lc_jvmti_of(vm));
	if (!is_short(jni, pause_ns))
		return false;
	w = calloc(1, sizeof(*w));
	if (!w || !lc_jvmti() || (*lc_jvmti())->AddCapabilities(lc_jvmti(), &tags)) {
		lc_say("this JVM has no tags for objects, so its heap cannot be walked");
	} else {
		w->jvmti = lc_jvmti();
		w->jni = jni;
		done = walk_and_say(w, pause_ns, room, pattern);
		(void)(*w->jvmti)->RelinquishCapabilities(w->jvmti, &tags);
	}
	free(w);
	return done;
}
