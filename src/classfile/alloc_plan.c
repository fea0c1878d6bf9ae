/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/alloc_plan.c - searches the code of a method for the places that allocate.
 *
 * C2 replaces calls of intrinsics by code of its own, and whole chains of StringBuilder calls, of
 * which toString() is the last. Each call of such a method gets a hook behind it, and the body of
 * the method gets one at its end; see LC_SITE_IN_BODY. BigInteger.implMultiplyToLen() returns the
 * array that it was given if that is large enough, so its allocation is marked instead of its end,
 * and its caller compares the two arrays.
 *
 * The file is longer than 600 lines because one walk finds everything that is hooked.
 */
#include "src/classfile/alloc_plan.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/descriptor.h"
#include "src/base/track.h"
#include "src/base/vector.h"
#include "src/classfile/alloc_built.h"
#include "src/classfile/internal.h"
#include "src/classfile/tables.h"
#include "src/classfile/watched.h"

enum { RUN_MAX = 255, OBJECT_ALIGN_BYTES = 8 };
enum { ACC_STATIC = 8, ACC_FINAL = 0x10, ACC_SYNTHETIC = 0x1000, ACC_ENUM = 0x4000 };

/*
 * The methods whose result is hooked: the intrinsics, in the order of their numbers, and natives.
 */
static const struct call {
	struct lc_intrinsic callee;
	enum lc_hook_method method;
} calls[] = {
	{ { "java/util/Arrays", "copyOf",
	    "([Ljava/lang/Object;ILjava/lang/Class;)[Ljava/lang/Object;", true },
	  LC_HOOK_OBJECTS },
	{ { "java/util/Arrays", "copyOfRange",
	    "([Ljava/lang/Object;IILjava/lang/Class;)[Ljava/lang/Object;", true },
	  LC_HOOK_OBJECTS },
	{ { "jdk/internal/misc/Unsafe", "allocateUninitializedArray0",
	    "(Ljava/lang/Class;I)Ljava/lang/Object;", false },
	  LC_HOOK_ANY },
	{ { "java/lang/StringUTF16", "toBytes", "([CII)[B", true }, LC_HOOK_BYTES },
	{ { "java/lang/StringBuilder", "toString", "()Ljava/lang/String;", false },
	  LC_HOOK_STRING },
	{ { "java/lang/StringBuffer", "toString", "()Ljava/lang/String;", false }, LC_HOOK_STRING },
	{ { "java/math/BigInteger", "implMultiplyToLen", "([II[II[I)[I", true }, LC_HOOK_GROWN },
	{ { "java/lang/reflect/Array", "newArray", "(Ljava/lang/Class;I)Ljava/lang/Object;", true },
	  LC_HOOK_ANY },
	{ { "java/lang/reflect/Array", "multiNewArray", "(Ljava/lang/Class;[I)Ljava/lang/Object;",
	    true },
	  LC_HOOK_MULTI },
	{ { "jdk/internal/misc/Unsafe", "allocateInstance", "(Ljava/lang/Class;)Ljava/lang/Object;",
	    false },
	  LC_HOOK_OBJECT },
	{ { "jdk/internal/reflect/NativeConstructorAccessorImpl", "newInstance0",
	    "(Ljava/lang/reflect/Constructor;[Ljava/lang/Object;)Ljava/lang/Object;", true },
	  LC_HOOK_OBJECT },
	{ { "jdk/internal/reflect/DirectConstructorHandleAccessor$NativeAccessor", "newInstance0",
	    "(Ljava/lang/reflect/Constructor;[Ljava/lang/Object;)Ljava/lang/Object;", true },
	  LC_HOOK_OBJECT },
};

static const char values_field[] = "$VALUES";

enum { CALLS_LEN = sizeof(calls) / sizeof(calls[0]) };

_Static_assert(LC_INTRINSICS <= 8, "LC_SITE_INTRINSIC has three bits");

/* Kinds of methods that a Methodref names; LISTED + i: calls[i]. */
enum {
	NOT_LOOKED_UP,
	OTHER,
	CLONE_OF_ARRAY,
	CLONE_OF_OBJECT,
	ROUNDS_MEMORY,
	ALLOCATES_MEMORY,
	REALLOCATES_MEMORY,
	FREES_MEMORY,
	MAPS_FILE,
	UNMAPS_FILE,
	LISTED
};

/* Types of newarray: 4..11. */
static const struct {
	uint8_t bytes;
	uint8_t method;
} primitives[] = {
	{ 1, LC_HOOK_BOOLEANS }, { 2, LC_HOOK_CHARS }, { 4, LC_HOOK_FLOATS },
	{ 8, LC_HOOK_DOUBLES },  { 1, LC_HOOK_BYTES }, { 2, LC_HOOK_SHORTS },
	{ 4, LC_HOOK_INTS },     { 8, LC_HOOK_LONGS },
};

enum { PRIMITIVE_FIRST = 4, PRIMITIVES_LEN = sizeof(primitives) / sizeof(primitives[0]) };

/* A walk over the instructions of one method. */
struct walk {
	struct lc_alloc_plan_scan *scan;
	struct lc_method_code *code;
	struct lc_alloc_plan *out;
	const struct call *body; /* the intrinsic that the method is, or NULL */
	bool constructor;        /* its returns get hooks */
	bool few_constants;      /* values() of an enum whose array stays small */
	uint32_t uninitialized;  /* `new` whose constructor call is yet to come */
	bool stores_local0;
	/* The constant ints that the instructions just before this one push, in their order. */
	uint32_t run;
	int32_t values[RUN_MAX];
	uint32_t positions[RUN_MAX];
	uint32_t last; /* position of the instruction before this one */
	uint32_t last_but_one;
};

const struct lc_intrinsic *lc_rewrite_intrinsic(unsigned i)
{
	return &calls[i].callee;
}

/* The bits that the number of a site gets behind this call, or inside this intrinsic. */
static uint32_t call_bits(const struct call *call, uint32_t bit)
{
	uint32_t i = (uint32_t)(call - calls);

	return i < LC_INTRINSICS ? bit | i << LC_SITE_INTRINSIC_SHIFT : 0;
}

static uint64_t own_bytes(const struct lc_class *c, uint32_t reference_bytes)
{
	uint32_t count = lc_be_get2(c->bytes + c->fields), at = c->fields + 2;
	uint64_t sum = 0;

	for (; count; count--) {
		struct lc_member field = lc_class_member(c, at);
		struct lc_class_text type = lc_class_utf8(c, field.descriptor);

		if (type.len && !(lc_be_get2(c->bytes + at) & ACC_STATIC))
			sum += lc_descriptor_bytes(type.data, reference_bytes);
		at = field.end;
	}
	return sum;
}

static struct lc_track_class track_class(struct lc_class_text name)
{
	return lc_track_constant(name.data, name.len);
}

bool lc_alloc_plan_scan_open(struct lc_alloc_plan_scan *s, const struct lc_class *c,
                             const struct lc_rewrite_options *options)
{
	struct lc_class_text name = lc_class_name(c, c->this_class);

	*s = (struct lc_alloc_plan_scan){ .cls = c, .options = options };
	s->arrays = options->exact || !lc_internal_class((const char *)name.data, name.len);
	s->own_bytes = own_bytes(c, options->reference_bytes);
	/* Tracked objects have the hook behind `new` instead. */
	s->large =
	    !options->objects && !lc_track_matches(options->tracked, track_class(name)) &&
	    (options->force_object || (s->own_bytes && s->own_bytes >= options->min_size_bytes));
	s->watched = lc_watched_class(options, name);
	s->track_objects = lc_track_objects(options->tracked);
	s->track_references = lc_track_references(options->tracked);
	s->track_primitives = lc_track_primitives(options->tracked);
	for (size_t i = 0; i < LC_INTRINSICS; i++)
		s->has_bodies |= lc_class_text_is(name, calls[i].callee.class_name);
	s->calls = calloc(c->pool_count, 1);
	return s->calls;
}

void lc_alloc_plan_scan_close(struct lc_alloc_plan_scan *s)
{
	free(s->calls);
	s->calls = NULL;
}

void lc_alloc_plan_close(struct lc_alloc_plan *h)
{
	free(h->inserts);
	free(h->hooks);
	*h = (struct lc_alloc_plan){ 0 };
}

/* Make room for one more hook. Returns NULL without memory. */
static struct lc_hook *add(struct lc_alloc_plan *h)
{
	size_t cap = h->cap;
	struct lc_insert *inserts =
	    lc_vector_reserve_array(h->inserts, &cap, h->len + 1, sizeof(*inserts));
	struct lc_hook *hooks;

	if (!inserts)
		return NULL;
	h->inserts = inserts;
	hooks = lc_vector_reserve_array(h->hooks, &h->cap, h->len + 1, sizeof(*hooks));
	if (!hooks)
		return NULL;
	h->hooks = hooks;
	return &h->hooks[h->len++];
}

static enum lc_rewrite_status put(struct walk *w, uint32_t at, bool before, struct lc_hook hook)
{
	struct lc_hook *slot = add(w->out);

	if (!slot)
		return LC_REWRITE_NO_MEMORY;
	*slot = hook;
	w->out->inserts[w->out->len - 1] = (struct lc_insert){
		.at = at,
		.before = before,
		.len = lc_alloc_plan_bytes(&hook),
	};
	return LC_REWRITE_DONE;
}

/* Is an array of so many elements known to stay below the threshold? */
static bool stays_small(const struct walk *w, int32_t elements, uint32_t element_bytes)
{
	uint64_t bytes = w->scan->options->array_header_bytes;

	if (elements < 0)
		return true; /* the instruction throws */
	bytes += (uint64_t)elements * element_bytes + OBJECT_ALIGN_BYTES - 1;
	return bytes / OBJECT_ALIGN_BYTES * OBJECT_ALIGN_BYTES < w->scan->options->min_size_bytes;
}

static uint32_t element_bytes(const struct walk *w, struct lc_class_text array, uint32_t level)
{
	return level + 1 < array.len
	           ? lc_descriptor_bytes(array.data + level + 1, w->scan->options->reference_bytes)
	           : 0;
}

/* Were the lengths pushed right before, as constants, and is each dimension small? */
static bool small_constants(const struct walk *w, uint32_t at)
{
	const uint8_t *insn = w->code->insns + at;
	uint32_t dimensions = *insn == LC_OP_MULTIANEWARRAY ? insn[3] : 1;
	const int32_t *lengths;

	if (!dimensions || dimensions > w->run)
		return false;
	lengths = w->values + w->run - dimensions;
	if (*insn == LC_OP_NEWARRAY)
		return stays_small(w, *lengths, primitives[insn[1] - PRIMITIVE_FIRST].bytes);
	if (*insn == LC_OP_ANEWARRAY)
		return stays_small(w, *lengths, w->scan->options->reference_bytes);
	for (uint32_t i = 0; i < dimensions; i++) {
		struct lc_class_text array = lc_class_name(w->scan->cls, lc_be_get2(insn + 1));

		if (!stays_small(w, lengths[i], element_bytes(w, array, i)))
			return false;
	}
	return true;
}

/* Does a jump lead to an instruction behind `from`, up to the one at `at`? */
static bool entered_between(const struct lc_method_code *code, uint32_t from, uint32_t at)
{
	for (uint32_t i = from + 1; i <= at; i++)
		if (code->flags[i] & LC_AT_TARGET)
			return true;
	return false;
}

/* Are arrays that the instruction makes watched? */
static bool is_watched_array(const struct walk *w, const uint8_t *insn)
{
	const struct lc_rewrite_options *options = w->scan->options;
	struct lc_class_text class;

	if (!options->watched_len)
		return false;
	if (*insn == LC_OP_NEWARRAY)
		return lc_watched_primitives(options) >> (insn[1] - PRIMITIVE_FIRST) & 1;
	class = lc_class_name(w->scan->cls, lc_be_get2(insn + 1));
	return *insn == LC_OP_ANEWARRAY ? lc_watched_array_of(options, class)
	                                : lc_watched_within(options, class, insn[3]);
}

/* LC_SITE_TRACKED if the instruction makes arrays that are tracked, or may be; else 0. */
static uint32_t tracked_array(const struct walk *w, const uint8_t *insn)
{
	const struct lc_track *tracked = w->scan->options->tracked;
	struct lc_track_class c;

	if (!tracked)
		return 0;
	if (*insn == LC_OP_NEWARRAY)
		return w->scan->track_primitives >> (insn[1] - PRIMITIVE_FIRST) & 1
		           ? LC_SITE_TRACKED
		           : 0;
	c = track_class(lc_class_name(w->scan->cls, lc_be_get2(insn + 1)));
	c.dimensions += *insn == LC_OP_ANEWARRAY;
	for (uint32_t n = *insn == LC_OP_ANEWARRAY ? 1 : insn[3]; n && c.dimensions; n--) {
		if (lc_track_matches(tracked, c))
			return LC_SITE_TRACKED;
		c.dimensions--;
	}
	return 0;
}

/* LC_SITE_TRACKED if a result of a method whose hook is `method` may be tracked; else 0. */
static uint32_t tracked_result(const struct walk *w, enum lc_hook_method method)
{
	const struct lc_alloc_plan_scan *s = w->scan;
	const struct lc_class_text string = { "java/lang/String", sizeof("java/lang/String") - 1 };
	bool may;

	switch (method) {
	case LC_HOOK_OBJECTS:
	case LC_HOOK_WATCHED_OBJECTS:
		may = s->track_references;
		break;
	case LC_HOOK_ANY:
	case LC_HOOK_MULTI:
		may = s->track_references || s->track_primitives;
		break;
	case LC_HOOK_BYTES:
	case LC_HOOK_GROWN:
		may = s->track_primitives >>
		          (method == LC_HOOK_BYTES ? LC_HOOK_BYTES : LC_HOOK_INTS) &
		      1;
		break;
	case LC_HOOK_STRING:
		may = s->track_primitives >> LC_HOOK_BYTES & 1 ||
		      lc_track_matches(s->options->tracked, track_class(string));
		break;
	default:
		may = s->track_objects;
	}
	return may ? LC_SITE_TRACKED : 0;
}

/* The method that is called for an array of references whose class is not known. */
static enum lc_hook_method of_references(const struct walk *w, enum lc_hook_method method)
{
	return method == LC_HOOK_OBJECTS &&
	               (w->scan->track_references || lc_watched_references(w->scan->options))
	           ? LC_HOOK_WATCHED_OBJECTS
	           : method;
}

static enum lc_rewrite_status visit_array(struct walk *w, uint32_t at)
{
	const uint8_t *insn = w->code->insns + at;
	struct lc_hook hook = { .method = LC_HOOK_OBJECTS };
	uint32_t dimensions = 1;
	bool watched;

	if (*insn == LC_OP_NEWARRAY) {
		if (insn[1] < PRIMITIVE_FIRST || insn[1] - PRIMITIVE_FIRST >= PRIMITIVES_LEN)
			return LC_REWRITE_MALFORMED;
		hook.method = primitives[insn[1] - PRIMITIVE_FIRST].method;
		if (w->body && w->body->method == LC_HOOK_GROWN) {
			hook.shape = LC_HOOK_TWICE;
			hook.site_bits = call_bits(w->body, LC_SITE_IN_BODY);
		}
	} else if (*insn == LC_OP_MULTIANEWARRAY) {
		hook.method = LC_HOOK_MULTI;
		hook.site_bits = LC_SITE_ANY_CLASS;
		dimensions = insn[3];
	}
	hook.site_bits |= tracked_array(w, insn);
	watched = hook.site_bits & LC_SITE_TRACKED || is_watched_array(w, insn);
	if (watched && *insn == LC_OP_ANEWARRAY)
		hook.method = LC_HOOK_WATCHED_OBJECTS;
	if (!watched && small_constants(w, at)) {
		hook.if_entered = true;
		hook.from = w->positions[w->run - dimensions];
	}
	return put(w, at, false, hook);
}

/* The number of the local variable that the instruction loads a reference from, or -1. */
static int loaded_local(const struct lc_method_code *code, uint32_t at)
{
	const uint8_t *insn = code->insns + at;

	if (*insn >= LC_OP_ALOAD_0 && *insn <= LC_OP_ALOAD_3)
		return *insn - LC_OP_ALOAD_0;
	if (*insn == LC_OP_ALOAD)
		return insn[1];
	return *insn == LC_OP_WIDE && insn[1] == LC_OP_ALOAD ? lc_be_get2(insn + 2) : -1;
}

/* The number of the local variable that the instruction at `at` loads a long from, or -1. */
static int loaded_long(const struct lc_method_code *code, uint32_t at)
{
	const uint8_t *insn = code->insns + at;

	if (*insn >= LC_OP_LLOAD_0 && *insn <= LC_OP_LLOAD_3)
		return *insn - LC_OP_LLOAD_0;
	return *insn == LC_OP_LLOAD ? insn[1] : -1;
}

static bool is_callee(const struct call *call, struct lc_class_text holder,
                      struct lc_class_text name, struct lc_class_text descriptor)
{
	return lc_class_text_is(name, call->callee.name) &&
	       lc_class_text_is(holder, call->callee.class_name) &&
	       lc_class_text_is(descriptor, call->callee.descriptor);
}

/*
 * The natives that allocate and free memory outside the heap, and the method that rounds up the
 * size before. Natives of files belong to several classes in different JDKs.
 */
static const struct memory_call {
	const char *holder; /* the name begins so */
	const char *name, *descriptor_end;
	uint8_t kind;
} memory_calls[] = {
	{ "jdk/internal/misc/Unsafe", "alignToHeapWordSize", "(J)J", ROUNDS_MEMORY },
	{ "jdk/internal/misc/Unsafe", "allocateMemory0", "(J)J", ALLOCATES_MEMORY },
	{ "jdk/internal/misc/Unsafe", "reallocateMemory0", "(JJ)J", REALLOCATES_MEMORY },
	{ "jdk/internal/misc/Unsafe", "freeMemory0", "(J)V", FREES_MEMORY },
	{ "sun/nio/ch/File", "map0", "(IJJ)J", MAPS_FILE }, /* JDK 11 */
	{ "sun/nio/ch/File", "map0", "JJZ)J", MAPS_FILE },
	{ "sun/nio/ch/UnixFile", "map0", "JJZ)J", MAPS_FILE },
	{ "sun/nio/ch/File", "unmap0", "(JJ)I", UNMAPS_FILE },
	{ "sun/nio/ch/UnixFile", "unmap0", "(JJ)I", UNMAPS_FILE },
};

static bool calls_memory(const struct memory_call *m, const struct lc_class_ref *ref)
{
	const size_t begin = strlen(m->holder), end = strlen(m->descriptor_end);

	return lc_class_text_is(ref->name, m->name) && ref->holder.len >= begin &&
	       !memcmp(ref->holder.data, m->holder, begin) && ref->descriptor.len >= end &&
	       !memcmp(ref->descriptor.data + ref->descriptor.len - end, m->descriptor_end, end);
}

static uint8_t look_up_call(const struct lc_class_ref *ref)
{
	if (lc_class_text_is(ref->name, "clone"))
		return !lc_class_text_is(ref->descriptor, "()Ljava/lang/Object;") ? OTHER
		       : ref->holder.len && ref->holder.data[0] == '['            ? CLONE_OF_ARRAY
		                                                                  : CLONE_OF_OBJECT;
	for (size_t i = 0; i < sizeof(memory_calls) / sizeof(*memory_calls); i++)
		if (calls_memory(&memory_calls[i], ref))
			return memory_calls[i].kind;
	for (uint8_t i = 0; i < CALLS_LEN; i++)
		if (is_callee(&calls[i], ref->holder, ref->name, ref->descriptor))
			return (uint8_t)(LISTED + i);
	return OTHER;
}

/*
 * Is the array that the instruction before this one has loaded that of an enum's constants, which
 * the compiler has made? It has as many elements as there are constants.
 */
static bool clones_values(const struct walk *w)
{
	const struct lc_class *c = w->scan->cls;
	const uint8_t *insn = w->code->insns + w->last;
	const struct lc_class_text self = lc_class_name(c, c->this_class);
	struct lc_class_ref ref = { 0 };

	return w->few_constants && *insn == LC_OP_GETSTATIC &&
	       lc_class_field_ref(c, lc_be_get2(insn + 1), &ref) && ref.holder.len == self.len &&
	       !memcmp(ref.holder.data, self.data, self.len) &&
	       lc_class_text_is(ref.name, values_field);
}

static struct lc_hook clone_hook(const struct walk *w, const struct lc_class_ref *ref)
{
	static const char letters[] = "ZCFDBSIJ"; /* as in primitives[] */
	const char *letter = ref->holder.len == 2 ? memchr(letters, ref->holder.data[1], 8) : NULL;

	if (!letter)
		return (struct lc_hook){ .method = of_references(w, LC_HOOK_OBJECTS),
			                 .shape = LC_HOOK_CAST_OBJECTS,
			                 .site_bits = LC_SITE_ANY_CLASS |
			                              tracked_result(w, LC_HOOK_OBJECTS) };
	return (struct lc_hook){
		.method = primitives[letter - letters].method,
		.shape = LC_HOOK_CAST,
		.operand = ref->holder_index,
		.site_bits =
		    w->scan->track_primitives >> (letter - letters) & 1 ? LC_SITE_TRACKED : 0,
	};
}

static enum lc_rewrite_status put_listed(struct walk *w, uint32_t at, const struct call *call)
{
	struct lc_hook hook = {
		.method = of_references(w, call->method),
		.site_bits = call_bits(call, LC_SITE_AFTER_CALL) | LC_SITE_ANY_CLASS |
		             tracked_result(w, call->method),
	};
	int local;

	if (call->method == LC_HOOK_GROWN) {
		local = at ? loaded_local(w->code, w->last) : -1;
		if (local < 0)
			return LC_REWRITE_DONE;
		hook.shape = LC_HOOK_WITH_LOCAL;
		hook.operand = (uint16_t)local;
		hook.unless_entered = true;
		hook.from = w->last;
	}
	return put(w, at, false, hook);
}

/* Does a call of this method get a hook? If not, its result is sampled, or of no interest. */
static bool is_wanted(const struct walk *w, const struct call *call)
{
	if (call->method == LC_HOOK_OBJECT)
		return w->scan->options->objects || w->scan->track_objects;
	return w->scan->arrays && (call->method != LC_HOOK_STRING || w->scan->options->exact);
}

/*
 * A call of super.clone(). A clone() that a superclass declares has a hook in its own code. Large
 * objects are hooked in the class that makes them large, tracked ones at Object.clone().
 */
static enum lc_rewrite_status visit_clone_of_object(struct walk *w, uint32_t at, uint32_t index)
{
	const struct lc_alloc_plan_scan *s = w->scan;
	struct lc_hook hook = { .method = LC_HOOK_OBJECT, .watched = s->watched };
	struct lc_class_ref ref = { 0 };
	const bool makes = lc_class_method_ref(s->cls, index, &ref) &&
	                   lc_class_text_is(ref.holder, "java/lang/Object");

	if (makes)
		hook.site_bits = tracked_result(w, LC_HOOK_OBJECT);
	if (makes && !s->large)
		hook.site_bits |= LC_SITE_ANY_CLASS;
	if (s->large || (makes && (s->options->objects || s->track_objects)))
		return put(w, at, false, hook);
	if (s->watched)
		return put(w, at, false,
		           (struct lc_hook){ .method = LC_HOOK_WATCHED, .shape = LC_HOOK_PLAIN });
	return LC_REWRITE_DONE;
}

/*
 * A call that allocates or frees memory outside the heap. The hook that frees is before the call:
 * once the memory is free, another thread may get it. Reallocation has a hook before and one behind
 * the call, since it frees only if there is memory. The arguments of the call are loaded from
 * local variables just before it: size, or old address and size. An instruction can have one hook,
 * so that of an old address is before the load of the size.
 */
static enum lc_rewrite_status visit_memory(struct walk *w, uint32_t at, uint8_t kind)
{
	/* A flag may follow the size. */
	const bool last = kind != MAPS_FILE || loaded_long(w->code, w->last) >= 0;
	const uint32_t size_at = last ? w->last : w->last_but_one;
	const int size = at ? loaded_long(w->code, size_at) : -1;
	const int address = w->last ? loaded_long(w->code, w->last_but_one) : -1;
	struct lc_hook hook = { .method = LC_HOOK_MEMORY_FREED, .shape = LC_HOOK_LONG };
	enum lc_rewrite_status status = LC_REWRITE_DONE;

	if (kind == UNMAPS_FILE)
		hook.shape = LC_HOOK_LONG_BELOW;
	if (kind == ROUNDS_MEMORY)
		hook.method = LC_HOOK_MEMORY_ASKED;
	if (kind == FREES_MEMORY || kind == UNMAPS_FILE || kind == ROUNDS_MEMORY)
		return put(w, at, true, hook);
	if (size < 0 || (kind == REALLOCATES_MEMORY && address < 0))
		return LC_REWRITE_DONE;
	hook.unless_entered = true;
	if (kind == REALLOCATES_MEMORY) {
		hook.method = LC_HOOK_MEMORY_MOVING;
		hook.shape = LC_HOOK_LONG_LOCAL;
		hook.operand = (uint16_t)address;
		hook.from = w->last_but_one;
		status = put(w, w->last, true, hook);
	}
	if (status != LC_REWRITE_DONE)
		return status;
	hook.method = kind == MAPS_FILE            ? LC_HOOK_MEMORY_MAPPED
	              : kind == REALLOCATES_MEMORY ? LC_HOOK_MEMORY_MOVED
	                                           : LC_HOOK_MEMORY_ALLOCATED;
	hook.shape = LC_HOOK_LONGS_LOCAL;
	hook.operand = (uint16_t)size;
	hook.from = size_at;
	return put(w, at, false, hook);
}

static enum lc_rewrite_status visit_call(struct walk *w, uint32_t at)
{
	uint32_t index = lc_be_get2(w->code->insns + at + 1);
	uint8_t op = w->code->insns[at], *known;
	struct lc_class_ref ref = { 0 };

	if (index >= w->scan->cls->pool_count)
		return LC_REWRITE_MALFORMED;
	known = &w->scan->calls[index];
	if (*known == NOT_LOOKED_UP)
		*known =
		    lc_class_method_ref(w->scan->cls, index, &ref) ? look_up_call(&ref) : OTHER;
	if (*known == OTHER)
		return LC_REWRITE_DONE;
	if (*known >= ROUNDS_MEMORY && *known < LISTED)
		return w->scan->options->no_memory ? LC_REWRITE_DONE : visit_memory(w, at, *known);
	if (*known >= LISTED)
		return is_wanted(w, &calls[*known - LISTED])
		           ? put_listed(w, at, &calls[*known - LISTED])
		           : LC_REWRITE_DONE;
	if (*known == CLONE_OF_ARRAY && op == LC_OP_INVOKEVIRTUAL && w->scan->arrays &&
	    lc_class_method_ref(w->scan->cls, index, &ref)) {
		struct lc_hook hook = clone_hook(w, &ref);

		hook.if_entered = at && clones_values(w);
		hook.from = w->last;
		return put(w, at, false, hook);
	}
	if (*known == CLONE_OF_OBJECT && op == LC_OP_INVOKESPECIAL)
		return visit_clone_of_object(w, at, index);
	return LC_REWRITE_DONE;
}

/*
 * Is the call at `at`, in a constructor, this(...)? If so, the called constructor has the hook. The
 * first call of a constructor that belongs to no `new` before it is this(...) or super(...).
 */
static bool delegates(struct walk *w, uint32_t at)
{
	const struct lc_class *c = w->scan->cls;
	struct lc_class_text self = lc_class_name(c, c->this_class);
	struct lc_class_ref ref = { 0 };

	if (!lc_class_method_ref(c, lc_be_get2(w->code->insns + at + 1), &ref) ||
	    !lc_class_text_is(ref.name, "<init>"))
		return false;
	if (w->uninitialized) {
		w->uninitialized--;
		return false;
	}
	return ref.holder.len == self.len && !memcmp(ref.holder.data, self.data, self.len);
}

/* Are objects of the class that the pool has at `class` tracked? */
static bool is_tracked(const struct walk *w, uint16_t class)
{
	return lc_track_matches(w->scan->options->tracked,
	                        track_class(lc_class_name(w->scan->cls, class)));
}

/* Hook `new`: the class is passed, since nobody may have the object before its constructor runs. */
static enum lc_rewrite_status visit_new(struct walk *w, uint32_t at)
{
	uint16_t class = lc_be_get2(w->code->insns + at + 1);

	const bool tracked = w->scan->track_objects && is_tracked(w, class);

	if (w->scan->cls->major < LC_CLASS_MAJOR_LDC_CLASS ||
	    (!tracked && !w->scan->options->objects))
		return LC_REWRITE_DONE;
	return put(w, at, false,
	           (struct lc_hook){ .method = LC_HOOK_MADE,
	                             .shape = LC_HOOK_OF_CLASS,
	                             .operand = class,
	                             .site_bits = tracked ? LC_SITE_TRACKED : 0 });
}

/* If the instruction pushes a constant int, set *value. */
static bool pushes_constant(const struct walk *w, uint32_t at, int32_t *value)
{
	const struct lc_class *c = w->scan->cls;
	const uint8_t *insn = w->code->insns + at;
	uint32_t index;

	if (*insn >= LC_OP_ICONST_M1 && *insn <= LC_OP_ICONST_5) {
		*value = *insn - LC_OP_ICONST_M1 - 1;
	} else if (*insn == LC_OP_BIPUSH) {
		*value = (int8_t)insn[1];
	} else if (*insn == LC_OP_SIPUSH) {
		*value = lc_be_get2s(insn + 1);
	} else if (*insn == LC_OP_LDC || *insn == LC_OP_LDC_W) {
		index = *insn == LC_OP_LDC ? insn[1] : lc_be_get2(insn + 1);
		if (index >= c->pool_count || !c->pool[index] ||
		    c->bytes[c->pool[index]] != LC_POOL_INTEGER)
			return false;
		*value = lc_be_get4s(c->bytes + c->pool[index] + 1);
	} else {
		return false;
	}
	return true;
}

static enum lc_rewrite_status visit_end_of_constructor(struct walk *w, uint32_t at)
{
	struct lc_hook hook = { .method = LC_HOOK_WATCHED, .shape = LC_HOOK_THIS_PLAIN };

	if (w->scan->large)
		hook = (struct lc_hook){ .method = LC_HOOK_OBJECT,
			                 .shape = LC_HOOK_THIS,
			                 .watched = w->scan->watched };
	return put(w, at, true, hook);
}

/* Does the constructor call at `at` construct an object that is tracked? */
static bool builds_tracked(const struct walk *w, uint32_t at)
{
	struct lc_class_ref ref = { 0 };

	return lc_class_method_ref(w->scan->cls, lc_be_get2(w->code->insns + at + 1), &ref) &&
	       is_tracked(w, ref.holder_index);
}

static enum lc_rewrite_status visit(struct walk *w, uint32_t at)
{
	uint8_t op = w->code->insns[at];

	switch (op) {
	case LC_OP_NEW:
		w->uninitialized++;
		return visit_new(w, at);
	case LC_OP_NEWARRAY:
	case LC_OP_ANEWARRAY:
	case LC_OP_MULTIANEWARRAY:
		return w->scan->arrays ? visit_array(w, at) : LC_REWRITE_DONE;
	case LC_OP_INVOKESPECIAL:
		if (w->constructor && delegates(w, at))
			w->constructor = false;
		if (w->code->flags[at] & LC_AT_BUILT &&
		    (w->scan->options->objects || builds_tracked(w, at)))
			return put(
			    w, at, false,
			    (struct lc_hook){ .method = LC_HOOK_BUILT, .shape = LC_HOOK_PLAIN });
		return visit_call(w, at);
	case LC_OP_INVOKEVIRTUAL:
	case LC_OP_INVOKESTATIC:
		return visit_call(w, at);
	case LC_OP_ARETURN:
		if (w->body && w->body->method != LC_HOOK_GROWN)
			return put(
			    w, at, true,
			    (struct lc_hook){ .method = of_references(w, w->body->method),
			                      .site_bits = call_bits(w->body, LC_SITE_IN_BODY) |
			                                   tracked_result(w, w->body->method) });
		return LC_REWRITE_DONE;
	case LC_OP_RETURN:
		return w->constructor ? visit_end_of_constructor(w, at) : LC_REWRITE_DONE;
	default:
		if (w->constructor && lc_method_insn_stores_local0(w->code->insns + at))
			w->stores_local0 = true;
		return lc_method_code_mark_targets(w->code, at) ? LC_REWRITE_DONE
		                                                : LC_REWRITE_MALFORMED;
	}
}

static void extend_run(struct walk *w, uint32_t at)
{
	int32_t value;

	if (!pushes_constant(w, at, &value)) {
		w->run = 0;
		return;
	}
	if (w->run == RUN_MAX)
		w->run = 0;
	w->values[w->run] = value;
	w->positions[w->run++] = at;
}

/* Drop the hooks that proved void, now that all targets are known. */
static void sift(struct walk *w)
{
	struct lc_alloc_plan *h = w->out;
	size_t kept = 0;

	for (size_t i = 0; i < h->len; i++) {
		struct lc_hook *hook = &h->hooks[i];
		bool drop = false;

		if (hook->if_entered || hook->unless_entered)
			drop = entered_between(w->code, hook->from, h->inserts[i].at) !=
			       hook->if_entered;
		if (drop && hook->if_entered)
			w->scan->skipped_constant++;
		if ((hook->shape == LC_HOOK_THIS || hook->shape == LC_HOOK_THIS_PLAIN) &&
		    w->stores_local0)
			drop = true;
		if (drop)
			continue;
		h->hooks[kept] = *hook;
		h->inserts[kept++] = h->inserts[i];
	}
	h->len = kept;
}

/*
 * Are all arrays that values() may return small? The field is the compiler's, so that no code of
 * the program stores another array in it.
 */
static bool has_few_constants(const struct walk *w)
{
	const struct lc_class *c = w->scan->cls;
	uint32_t count = lc_be_get2(c->bytes + c->fields), at = c->fields + 2;
	const uint16_t flags = ACC_STATIC | ACC_FINAL | ACC_SYNTHETIC;
	int32_t constants = 0;
	bool synthetic = false;

	for (; count; count--) {
		struct lc_member field = lc_class_member(c, at);

		constants += (field.access_flags & ACC_ENUM) != 0;
		synthetic |= (field.access_flags & flags) == flags &&
		             lc_class_text_is(lc_class_utf8(c, field.name), values_field);
		at = field.end;
	}
	return synthetic && !w->scan->track_references &&
	       !lc_watched_references(w->scan->options) &&
	       stays_small(w, constants, w->scan->options->reference_bytes);
}

/*
 * Does the method get hooks at its returns, as the constructor of large or watched objects? `this`
 * must stay in local 0, and the verifier must know that it does.
 */
static bool is_hooked_constructor(const struct walk *w, const struct lc_member *method)
{
	const struct lc_class *c = w->scan->cls;

	return (w->scan->large || w->scan->watched) &&
	       lc_class_text_is(lc_class_utf8(c, method->name), "<init>") &&
	       lc_tables_keep_local0(c, method, w->code);
}

/* The intrinsic that the method is, or NULL. */
static const struct call *body_of(const struct lc_alloc_plan_scan *s,
                                  const struct lc_member *method)
{
	const struct lc_class *c = s->cls;

	for (const struct call *k = calls; s->has_bodies && k < calls + LC_INTRINSICS; k++)
		if (is_callee(k, lc_class_name(c, c->this_class), lc_class_utf8(c, method->name),
		              lc_class_utf8(c, method->descriptor)))
			return k;
	return NULL;
}

enum lc_rewrite_status lc_alloc_plan_find(struct lc_alloc_plan_scan *s,
                                          const struct lc_member *method,
                                          struct lc_method_code *code, struct lc_alloc_plan *out)
{
	struct walk w = { .scan = s, .code = code, .out = out };
	enum lc_rewrite_status status;
	uint32_t bytes;

	out->len = 0;
	w.constructor = is_hooked_constructor(&w, method);
	w.body = body_of(s, method);
	w.few_constants = s->cls->access_flags & ACC_ENUM && method->access_flags & ACC_STATIC &&
	                  lc_class_text_is(lc_class_utf8(s->cls, method->name), "values") &&
	                  has_few_constants(&w);
	if (s->options->constructed && s->cls->major >= LC_CLASS_MAJOR_LDC_CLASS) {
		status = lc_alloc_built_mark(s->cls, code);
		if (status != LC_REWRITE_DONE)
			return status;
	}
	for (uint32_t at = 0; at < code->len; at += bytes) {
		bytes = lc_method_insn_bytes(code, at);
		if (!bytes)
			return LC_REWRITE_MALFORMED;
		code->flags[at] |= LC_AT_START;
		status = visit(&w, at);
		if (status != LC_REWRITE_DONE)
			return status;
		extend_run(&w, at);
		w.last_but_one = w.last;
		w.last = at;
	}
	if (s->options->initialized &&
	    lc_class_text_is(lc_class_utf8(s->cls, method->name), "<clinit>"))
		out->len = 0;
	if (!out->len)
		return LC_REWRITE_DONE;
	if (!lc_method_code_mark_handlers(code))
		return LC_REWRITE_MALFORMED;
	sift(&w);
	return LC_REWRITE_DONE;
}

/* May an instruction with this Class constant make an object that is tracked? */
static bool may_make(const struct lc_track *tracked, struct lc_track_class c)
{
	const unsigned least = c.dimensions > 0; /* an array's makes only arrays */

	for (c.dimensions++; c.dimensions > least; c.dimensions--) /* anewarray, multianewarray */
		if (lc_track_matches(tracked, c))
			return true;
	return lc_track_matches(tracked, c);
}

/* May a call of that method make one? */
static bool call_may_make(const struct walk *w, uint32_t index)
{
	struct lc_class_ref ref = { 0 };
	uint8_t kind;

	if (!lc_class_method_ref(w->scan->cls, index, &ref))
		return false;
	kind = look_up_call(&ref);
	if (kind == OTHER)
		return false;
	return tracked_result(w, kind >= LISTED           ? calls[kind - LISTED].method
	                         : kind == CLONE_OF_ARRAY ? LC_HOOK_OBJECTS
	                                                  : LC_HOOK_OBJECT);
}

bool lc_alloc_plan_may_track(const struct lc_class *c, const struct lc_rewrite_options *options)
{
	struct lc_alloc_plan_scan s;
	const struct walk w = { .scan = &s };
	bool may = true;

	/* An array of numbers needs no constant. The methods of an intrinsic's class return it. */
	if (!lc_alloc_plan_scan_open(&s, c, options))
		return may;
	may = s.track_primitives || s.has_bodies;
	for (uint32_t i = 1; i < c->pool_count && !may; i++) {
		const uint8_t tag = c->pool[i] ? c->bytes[c->pool[i]] : 0;

		if (tag == LC_POOL_CLASS)
			may =
			    may_make(options->tracked, track_class(lc_class_name(c, (uint16_t)i)));
		else if (tag == LC_POOL_METHODREF)
			may = call_may_make(&w, i);
	}
	lc_alloc_plan_scan_close(&s);
	return may;
}
