/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/advice.c - holds the table of advice, and chooses the first row that fits. It is
 * longer than 600 lines since the table and the evidence that its rows name change together.
 */
#include "analyzer/objects/analysis/advice.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/offheap.h"
#include "analyzer/objects/analysis/own_code.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/screen.h"
#include "src/base/glob.h"

/* Evidence. A sentence needs all that its row names. */
enum evidence {
	ARRAY = 1 << 0,
	NUMBERS = 1 << 1,      /* an array of numbers */
	MADE = 1 << 2,         /* four in five samples are at the line that allocates */
	HEADER_ALONE = 1 << 3, /* LC_FINDING_HEADER */
	NEVER_READ = 1 << 4,   /* LC_FINDING_NEVER_READ */
	STRIDE = 1 << 5,       /* LC_FINDING_STRIDE */
	ONE_PART = 1 << 6,     /* LC_FINDING_ONE_PART */
	ONE_FIELD = 1 << 7,    /* nearly all samples outside the header are in one field */
	SEQUENTIAL = 1 << 8,   /* a loop goes through it in the order of addresses */
	LARGE = 1 << 9,        /* LARGE_BYTES or more on average */
	SMALL = 1 << 10,       /* SMALL_BYTES or less on average */
	FOR_CALL = 1 << 11,   /* half of the samples read a header for virtual or interface calls */
	FOR_TYPE = 1 << 12,   /* ... for a type check */
	BY_FIELD = 1 << 13,   /* half of the samples came through one field, static or not */
	BY_ELEMENT = 1 << 14, /* ... through elements of one array */
	BY_ITSELF = 1 << 15,  /* ... through a field of the row's own class: a chain */
	OF_PROGRAM = 1 << 16, /* the class that has the field or array is not the JDK's */
	OWN_CLASS = 1 << 17,  /* the row's class is not the JDK's */
	MOSTLY_MADE = 1 << 18, /* two in three samples are at the line that allocates */
	AGAIN = 1 << 19,       /* MADE, or the objects die young: each use makes them */
	FOR_ENUM = 1 << 20,    /* half of the samples are in Enum.hashCode() */
	OWN_LINE = 1 << 21,    /* a line that is not the JDK's allocates the objects */
	BY_ITERATOR = 1 << 22, /* half of the samples came through a field of an iterator */
	IN_LIBRARY = 1 << 23,  /* lc_advice_users: half of the samples are in a library's code */
	INSIDE_JDK = 1 << 24,  /* ... in the JDK's, which keeps the objects for itself */
	NO_STEP = 1 << 25,     /* hardly an access goes on in the object of the one before it */
	NO_ARRAY = 1 << 26,
	BY_NEW_ARRAY = 1 << 27, /* half came through elements of an array of the same method */
};

enum {
	SMALL_BYTES = 64,
	LARGE_BYTES = 64 << 10,
	NO_STEP_PART = 10, /* at most a tenth of the samples with a known step */
};

struct advice {
	const char *classes; /* patterns of the row's class, with spaces between; NULL: any */
	const char *names;   /* the same of the field that holds the row's objects */
	unsigned needs;      /* enum evidence */
	enum lc_advice_joins joins; /* which rows with the same sentence have one cause */
	const char *text; /* {through}, {holder}, {field}, {at}, {callee}, {own} and {call} stand
	                     for names */
};

#define BOXES                                                                                      \
	"java.lang.Integer java.lang.Long java.lang.Short java.lang.Byte java.lang.Character "     \
	"java.lang.Double java.lang.Float"
#define HASH_NODES                                                                                 \
	"java.util.HashMap$Node java.util.LinkedHashMap$Entry java.util.HashMap$TreeNode "         \
	"java.util.concurrent.ConcurrentHashMap$Node java.util.Hashtable$Entry "                   \
	"java.util.WeakHashMap$Entry"
#define HASH_TABLES                                                                                \
	"java.util.HashMap.table java.util.concurrent.ConcurrentHashMap.table "                    \
	"java.util.Hashtable.table java.util.WeakHashMap.table java.util.IdentityHashMap.table"

#define ITERATORS "java.util.*Iterator java.util.concurrent.ConcurrentHashMap$Traverser"

/* Sentences of several rows. Rows that are joined have equal ones. */
#define LOOK_UP_LESS                                                                               \
	"look a key up once and keep the result, index an array by small numbers or enum "         \
	"constants, or use a map without nodes (open addressing): each look-up fetches the "       \
	"table, a node and its key"
#define FEWER_STRINGS "make fewer strings: pass the parts on, or keep those that repeat in a table"
#define FEWER_OBJECTS                                                                              \
	"allocate fewer or smaller ones, or reuse one: most samples are at the line that "         \
	"allocates them, where they are cleared"
#define CALL_LESS                                                                                  \
	"call {call} less often, or keep what it returns: these objects are made and read inside " \
	"the JDK"
#define COUNT_IN_LONG "count in long, with a fixed number of decimals, if the range allows it"

#define FIELDS_IN_ARRAYS(instead)                                                                  \
	"keep the fields of these objects in arrays, one for each field, instead of " instead      \
	": each element is a small object to fetch"

#define OBJECT_SORTS                                                                               \
	"java.util.Arrays.*Sort java.util.TimSort.* java.util.ComparableTimSort.* "                \
	"java.util.ArraysParallelSortHelpers$*"

#define USE_A_LOOP "use a loop here: each stream makes an object for each of its steps"
#define KEEP_A_LONG "keep the time as a long: each step of the calculation makes a date"

/*
 * The JDK's code that runs for the objects alone, by the sentence that would do without them.
 * `arrays`: it does without the arrays of references to them, too.
 */
static const struct {
	const char *text, *gone;
	bool arrays;
} codes[] = {
	{ FIELDS_IN_ARRAYS("{through}"), OBJECT_SORTS, true },
	{ FIELDS_IN_ARRAYS("an array of objects"), OBJECT_SORTS, true },
	{ COUNT_IN_LONG, "java.math.*", false },
	{ USE_A_LOOP, "java.util.stream.* java.util.Spliterator* java.util.*Spliterator.*", false },
	{ KEEP_A_LONG,
	  "java.time.* java.util.Date.* java.util.Calendar.* "
	  "java.util.GregorianCalendar.* sun.util.calendar.*",
	  false },
	{ FEWER_STRINGS,
	  "java.lang.String.<init> java.lang.String.sub* java.lang.String.to*Case "
	  "java.lang.String.trim java.lang.String.concat java.lang.StringBuilder.toString "
	  "java.lang.StringConcatHelper.*",
	  false },
};

/* The first row that fits is taken. */
static const struct advice table[] = {
	{ NULL, NULL, NEVER_READ, LC_JOINS_NONE, "do not allocate or fill it if nothing reads it" },
	{ NULL, NULL, STRIDE, LC_JOINS_METHOD,
	  "swap the loops, so that the inner one runs along the array, or store the array in the "
	  "order of its traversal (by column)" },

	/* ---- the JDK's own ---- */
	{ BOXES " " HASH_NODES " java.util.HashMap java.util.LinkedHashMap java.util.TreeMap "
	        "java.util.TreeMap$Entry java.util.ArrayList java.util.LinkedList$Node",
	  NULL, INSIDE_JDK, LC_JOINS_ALL, CALL_LESS },
	{ NULL, HASH_TABLES " java.util.ArrayList.elementData", INSIDE_JDK, LC_JOINS_ALL,
	  CALL_LESS },

	/* ---- boxed numbers ---- */
	{ BOXES, NULL, MADE, LC_JOINS_NONE,
	  "pass the number itself: most samples are at the line that boxes it" },
	{ BOXES, NULL, BY_ELEMENT | OF_PROGRAM, LC_JOINS_NONE,
	  "keep the numbers themselves in {through}: an array of int, long or double has no object "
	  "to reach for each element" },
	{ BOXES, NULL, BY_FIELD | OF_PROGRAM, LC_JOINS_NONE,
	  "make {through} a number (int, long or double), or use a collection of primitives: each "
	  "read of a box fetches an object" },
	{ BOXES, NULL, 0, LC_JOINS_NONE,
	  "use numbers (int, long, double), arrays of them, or a collection of primitives: each "
	  "read of a box fetches an object" },

	/* ---- collections ---- */
	{ NULL, HASH_TABLES, MADE, LC_JOINS_ALL,
	  "give the map its size when it is made: most samples are at the line that makes a larger "
	  "table" },
	{ NULL, HASH_TABLES, 0, LC_JOINS_ALL, LOOK_UP_LESS },
	{ HASH_NODES, NULL, MADE, LC_JOINS_ALL,
	  "put fewer entries in, or use a map without nodes (open addressing): most samples are at "
	  "the line that makes them" },
	{ HASH_NODES " java.util.TreeMap$Entry", NULL, BY_ITERATOR, LC_JOINS_ALL,
	  "keep the values in an array or ArrayList, too, for the loop that goes through all of "
	  "them: each of its steps fetches a node and what it refers to" },
	{ HASH_NODES, NULL, 0, LC_JOINS_ALL, LOOK_UP_LESS },
	{ "java.util.TreeMap$Entry java.util.concurrent.ConcurrentSkipListMap$*", NULL, 0,
	  LC_JOINS_ALL,
	  "use a hash map if the order is not needed, or search a sorted array if the keys seldom "
	  "change: a search fetches one entry for each level of the tree" },
	{ "java.util.LinkedList$Node", NULL, 0, LC_JOINS_NONE,
	  "use an ArrayList or ArrayDeque: a list in an array has no nodes to reach" },
	{ "scala.collection.immutable.$colon$colon", NULL, 0, LC_JOINS_NONE,
	  "use an ArraySeq, a Vector or an array: a List has a node for each element" },
	{ NULL,
	  "java.util.ArrayList.elementData java.util.Vector.elementData "
	  "java.util.ArrayDeque.elements java.util.PriorityQueue.queue",
	  MADE, LC_JOINS_NONE,
	  "give the collection its size when it is made: most samples are at the line that makes a "
	  "larger array" },
	{ "java.util.concurrent.LinkedBlocking*$Node java.util.concurrent.ConcurrentLinked*$Node "
	  "java.util.concurrent.LinkedTransferQueue$*Node",
	  NULL, 0, LC_JOINS_NONE,
	  "use an ArrayBlockingQueue, or pass several elements at once: each element of the queue "
	  "has a node" },
	{ "java.util.*Map$*Iterator java.util.concurrent.*Map$*Iterator", NULL, AGAIN,
	  LC_JOINS_NONE,
	  "go through the map with forEach(), or keep the values in an array, too: the loop makes "
	  "an iterator each time" },
	{ "java.util.*Itr java.util.*Iterator", NULL, AGAIN, LC_JOINS_NONE,
	  "go through the list by index, or through the array itself: the loop makes an iterator "
	  "each time" },
	{ "java.util.stream.* java.util.Spliterators$* java.util.*Spliterator", NULL, AGAIN,
	  LC_JOINS_ALL, USE_A_LOOP },
	{ "java.util.Optional java.util.OptionalInt java.util.OptionalLong "
	  "java.util.OptionalDouble",
	  NULL, AGAIN, LC_JOINS_NONE,
	  "return the value or null inside the hot path: each call makes an Optional" },

	/* ---- text and numbers ---- */
	{ "byte[] char[]",
	  "java.lang.AbstractStringBuilder.value java.lang.StringBuilder.value "
	  "java.lang.StringBuffer.value",
	  MADE, LC_JOINS_NONE,
	  "give the builder the size that it needs, or use one builder again (setLength(0)): most "
	  "samples are at the line that makes its array" },
	{ "java.lang.StringBuilder java.lang.StringBuffer", NULL, AGAIN | OWN_LINE, LC_JOINS_NONE,
	  "use one builder again (setLength(0)): the code makes one each time" },
	{ "byte[] char[]", "java.lang.String.value", AGAIN, LC_JOINS_ALL, FEWER_STRINGS },
	{ "java.lang.String", NULL, AGAIN, LC_JOINS_ALL, FEWER_STRINGS },
	{ "java.math.BigDecimal java.math.BigInteger", NULL, 0, LC_JOINS_ALL, COUNT_IN_LONG },
	{ "int[]", "java.math.BigInteger.mag java.math.MutableBigInteger.value", 0, LC_JOINS_ALL,
	  COUNT_IN_LONG },
	{ "java.util.regex.Matcher", NULL, AGAIN, LC_JOINS_NONE,
	  "use one Matcher again (reset()): the code makes one for each text" },
	{ "java.util.Date java.util.Calendar java.util.GregorianCalendar sun.util.calendar.* "
	  "java.time.Local* java.time.Instant java.time.Duration java.time.*DateTime",
	  NULL, AGAIN, LC_JOINS_ALL, KEEP_A_LONG },

	/* ---- input and output ---- */
	{ "byte[] char[]", "java.io.* java.util.zip.* sun.nio.*", MADE, LC_JOINS_NONE,
	  "keep one stream or buffer and use it again, or make the buffer smaller: most samples "
	  "are at the line that makes and clears it" },
	{ "java.nio.*Buffer*", NULL, MADE, LC_JOINS_NONE,
	  "keep one buffer and use it again (clear()): most samples are at the line that makes "
	  "it" },

	/* ---- the language ---- */
	{ "*Exception *Error java.lang.StackTraceElement*", NULL, AGAIN, LC_JOINS_NONE,
	  "return a value instead of throwing here, or leave the stack trace out "
	  "(writableStackTrace false)" },
	{ "java.lang.reflect.* java.lang.Class[]", NULL, AGAIN, LC_JOINS_ALL,
	  LC_ADVICE_LOOK_UP_ONCE },
	{ "java.lang.ThreadLocal$*", NULL, 0, LC_JOINS_NONE,
	  "get the thread's value once, before the loop, and pass it on" },

	{ NULL, NULL, FOR_ENUM, LC_JOINS_NONE,
	  "use an EnumMap or EnumSet: these constants are fetched only for their hash" },

	/* ---- shapes ---- */
	{ NULL, NULL, ONE_PART, LC_JOINS_NONE,
	  "keep the used part in an array of its own, so that it stays in the cache" },
	{ NULL, NULL, HEADER_ALONE | ARRAY | BY_FIELD | OF_PROGRAM, LC_JOINS_NONE,
	  "keep the length in {holder}, beside {through}, or use one large array instead of many: "
	  "these arrays are fetched only for their lengths" },
	{ NULL, NULL, HEADER_ALONE | ARRAY, LC_JOINS_NONE,
	  "keep the length beside the reference, or use one large array instead of many: these "
	  "arrays are fetched only for their lengths" },
	{ NULL, NULL, HEADER_ALONE | FOR_CALL | BY_ELEMENT | OF_PROGRAM, LC_JOINS_ALL,
	  "keep the objects of each class in an array of their own, or a number for the class "
	  "beside each element of {through}: they are fetched only because the call at {at} has "
	  "several targets" },
	{ NULL, NULL, HEADER_ALONE | FOR_TYPE | BY_ELEMENT | OF_PROGRAM, LC_JOINS_ALL,
	  "keep the objects of each class in an array of their own, or what the type check at {at} "
	  "decides beside each element of {through}: they are fetched only for their class" },
	{ NULL, NULL, HEADER_ALONE | FOR_CALL | BY_FIELD | OF_PROGRAM, LC_JOINS_ALL,
	  "keep a number for the class in {holder}, beside {through}: these objects are fetched "
	  "only because the call at {at} has several targets" },
	{ NULL, NULL, HEADER_ALONE | FOR_TYPE | BY_FIELD | OF_PROGRAM, LC_JOINS_ALL,
	  "keep what the type check at {at} decides in {holder}, beside {through}: these objects "
	  "are fetched only for their class" },
	{ NULL, NULL, HEADER_ALONE, LC_JOINS_NONE,
	  "keep the type or key that the code tests in the referring object or array, or lay "
	  "values out flat: these objects are fetched only for their headers" },
	{ NULL, NULL, MADE, LC_JOINS_METHOD, FEWER_OBJECTS },
	{ NULL, NULL, BY_ITSELF, LC_JOINS_NONE,
	  "keep several elements in each node, or number the nodes and keep their values in "
	  "arrays: each node is reached only through another ({through})" },
	{ NULL, NULL, ARRAY | SMALL | BY_FIELD | OF_PROGRAM, LC_JOINS_NONE,
	  "keep the few elements in fields of {holder}, or those of many objects in one array: "
	  "each read goes through {through} to a small array" },
	{ NULL, NULL, ONE_FIELD | BY_ELEMENT | OF_PROGRAM | OWN_CLASS, LC_JOINS_NONE,
	  "keep {field} in an array of its own, beside {through}: the code reads little else of "
	  "these objects" },
	{ NULL, NULL, ONE_FIELD | BY_FIELD | OF_PROGRAM | OWN_CLASS, LC_JOINS_NONE,
	  "keep {field} in {holder}: it is reached through {through}, and the code reads little "
	  "else of these objects" },
	{ NULL, NULL, NO_ARRAY | SMALL | BY_ELEMENT | OF_PROGRAM | OWN_CLASS, LC_JOINS_NONE,
	  FIELDS_IN_ARRAYS("{through}") },
	{ NULL, NULL, NO_ARRAY | SMALL | BY_NEW_ARRAY | OWN_CLASS, LC_JOINS_NONE,
	  FIELDS_IN_ARRAYS("an array of objects") },
	{ NULL, NULL, ARRAY | MOSTLY_MADE, LC_JOINS_METHOD, FEWER_OBJECTS },
	{ NULL, NULL, ARRAY | NUMBERS | BY_ELEMENT | OF_PROGRAM | NO_STEP, LC_JOINS_NONE,
	  "if the inner loop goes from array to array of {through}, swap the loops, so that it "
	  "runs along each array, or store the elements in the order of its traversal (by "
	  "column)" },
	{ NULL, NULL, ARRAY | NUMBERS | SEQUENTIAL, LC_JOINS_NONE,
	  "use smaller elements, or do more work on each part while it is in the cache" },
	{ NULL, NULL, ARRAY | NUMBERS | LARGE | IN_LIBRARY, LC_JOINS_NONE,
	  "call {callee} less often at {own}, keep what it returns, or ask for neighbours one "
	  "after "
	  "the other: it goes through large arrays" },
	{ NULL, NULL, ARRAY | NUMBERS | LARGE, LC_JOINS_NONE,
	  "use smaller or fewer elements, or process neighbouring elements together" },

	/* ---- objects that nothing else is known of ---- */
	{ NULL, NULL, AGAIN | IN_LIBRARY, LC_JOINS_ALL,
	  "call {callee} less often at {own}, or let the library keep what it prepares: each call "
	  "makes these objects anew, and they die young" },
};

/* ---- evidence ---- */

struct known {
	unsigned evidence;
	struct lc_text class, name; /* "" if unknown */
	struct lc_text through;     /* "" if no reference has half of the samples */
	struct lc_text holder;      /* class of that field; "": not a field */
	uint32_t why_path;          /* where headers are read; 0: unknown */
	struct lc_advice_users users;
};

bool lc_advice_matches(const char *patterns, struct lc_text text)
{
	while (patterns) {
		const char *end = patterns + strcspn(patterns, " ");

		if (lc_glob(patterns, end, text.bytes, text.bytes + text.len, false))
			return true;
		patterns = *end ? end + 1 : NULL;
	}
	return false;
}

static bool equal(struct lc_text a, struct lc_text b)
{
	return a.len == b.len && !memcmp(a.bytes, b.bytes, a.len);
}

/* "org.acme.Page" of "org.acme.Page.keys" and of "org.acme.Page.keys[]". */
static struct lc_text holder_of(struct lc_text name)
{
	while (name.len && name.bytes[name.len - 1] != '.')
		name.len--;
	if (name.len)
		name.len--;
	return name;
}

static bool half(uint64_t part, uint64_t whole)
{
	return part && 2 * part >= whole;
}

/* The next of "A.x or B.y", and what follows it. */
static struct lc_text next_name(struct lc_text *names)
{
	static const char or [] = " or ";
	const char *end = memmem(names->bytes, names->len, or, strlen(or));
	const struct lc_text name = { names->bytes,
		                      end ? (uint32_t)(end - names->bytes) : names->len };
	const uint32_t skip = name.len + (end ? (uint32_t)strlen(or) : 0);

	names->bytes += skip;
	names->len -= skip;
	return name;
}

/* One of the names that is a field of the class; "" if there is none. */
static struct lc_text field_of(struct lc_text class, struct lc_text names)
{
	while (names.len) {
		const struct lc_text name = next_name(&names);

		if (name.len && !lc_text_ends(name, "[]") && equal(holder_of(name), class))
			return name;
	}
	return (struct lc_text){ "", 0 };
}

/* Are half of the samples reached through fields of the class itself? `*through`: one of these. */
static bool chained(const struct known *k, const struct lc_advice_of *of, struct lc_text *through)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < of->reaches->len; i++) {
		const struct lc_text name =
		    field_of(k->class, lc_tree_text(of->tree, of->reaches->list[i].name));

		if (name.len && !samples)
			*through = name;
		samples += name.len ? of->reaches->list[i].samples : 0;
	}
	return half(samples, of->reaches->samples);
}

/* Are half of the samples reached through "(new A[])[]"? */
static bool new_array(const struct lc_advice_of *of)
{
	const struct lc_reaches_one *first = of->reaches->list;

	return of->reaches->len && half(first->samples, of->reaches->samples) &&
	       lc_text_ends(lc_tree_text(of->tree, first->name), ")[]");
}

static unsigned reference(struct known *k, const struct lc_advice_of *of)
{
	const struct lc_reaches_one *first = of->reaches->list;
	bool element;

	if (chained(k, of, &k->through))
		return BY_ITSELF;
	if (!of->reaches->len || !half(first->samples, of->reaches->samples) ||
	    first->kind == LC_REFERENCE_NEW)
		return new_array(of) ? BY_NEW_ARRAY : 0;
	k->through = lc_tree_text(of->tree, first->name);
	element = lc_text_ends(k->through, "[]");
	if (!element && first->kind != LC_REFERENCE_FIELD && first->kind != LC_REFERENCE_STATIC)
		return 0;
	k->holder = holder_of(k->through);
	return (element ? BY_ELEMENT : BY_FIELD) |
	       (lc_advice_matches(ITERATORS, k->holder) ? BY_ITERATOR : 0) |
	       (k->holder.len && !lc_own_is_jdk(k->holder) ? OF_PROGRAM : 0);
}

static bool is_end(char c)
{
	return !c || c == ' ' || c == '*' || c == '?';
}

/* Does the pattern begin as the class does, up to its first wildcard or the end of either? */
static bool begins(const char *pattern, struct lc_text class)
{
	for (uint32_t i = 0; i < class.len && !is_end(pattern[i]); i++)
		if (pattern[i] != class.bytes[i])
			return false;
	return true;
}

bool lc_advice_is_method(const struct lc_tree *t, uint32_t method, const char *patterns)
{
	const uint32_t *key = lc_table_key(&t->methods, method);
	const struct lc_text class = lc_tree_text(t, key[LC_METHOD_CLASS]),
	                     name = lc_tree_text(t, key[LC_METHOD_NAME]);
	char *text = NULL;
	bool found = false;

	for (const char *p = patterns, *end; *p && !found; p = *end ? end + 1 : end) {
		end = strchrnul(p, ' ');
		if (!begins(p, class))
			continue;
		if (!text)
			text = lc_mem_text("%.*s.%.*s", (int)class.len, class.bytes, (int)name.len,
			                   name.bytes);
		found = lc_glob(p, end, text, text + class.len + 1 + name.len, false);
	}
	free(text);
	return found;
}

bool lc_advice_method_matches(const struct lc_tree *t, uint32_t path, const char *patterns)
{
	return lc_advice_is_method(t, lc_tree_method_number(t, path), patterns);
}

/* The call that makes the objects, on which there is a sentence; NULL: none. */
static const struct lc_advice_call *by_call(const struct lc_advice_of *of, unsigned evidence)
{
	size_t len;
	const struct lc_advice_call *calls = lc_advice_calls(&len);

	for (size_t i = 0; (evidence & AGAIN) && i < len; i++)
		if (lc_advice_made_by(of->tree, of->row, &calls[i], NULL))
			return &calls[i];
	return NULL;
}

static unsigned header(struct known *k, const struct lc_reaches *r)
{
	const struct {
		unsigned evidence, a, b;
	} reasons[] = {
		{ FOR_CALL, LC_WHY_VIRTUAL, LC_WHY_INTERFACE },
		{ FOR_TYPE, LC_WHY_TYPE, LC_WHY_STORE },
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
		const struct lc_reaches_why *a = &r->why[reasons[i].a], *b = &r->why[reasons[i].b];

		k->why_path = a->path_samples >= b->path_samples ? a->path : b->path;
		if (half(a->samples + b->samples, r->samples) && k->why_path)
			return reasons[i].evidence;
	}
	return 0;
}

/* Are half of the row's samples in such a method? */
static bool accessed_in(const struct lc_advice_of *of, const char *patterns)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < of->row->accesses_len; i++) {
		const struct lc_rank_access *a = &of->row->accesses[i];

		if (a->path && lc_advice_method_matches(of->tree, a->path, patterns))
			samples += a->samples;
	}
	return half(samples, of->row->samples);
}

static unsigned shape(const struct known *k, const struct lc_advice_of *of)
{
	const struct lc_touch *touch = of->touch;
	unsigned evidence = lc_own_is_jdk(k->class) ? 0 : OWN_CLASS;

	if (of->row->path && !lc_own_is_jdk_frame(of->tree, of->row->path))
		evidence |= OWN_LINE;
	if (accessed_in(of, "java.lang.Enum.hashCode"))
		evidence |= FOR_ENUM;
	evidence |= lc_text_ends(k->class, "[]") ? ARRAY : NO_ARRAY;
	if (touch->observed >= LC_WALK_SAMPLES_MIN && NO_STEP_PART * touch->stepped <= touch->at)
		evidence |= NO_STEP;
	if (lc_advice_matches("byte[] char[] short[] int[] long[] float[] double[] boolean[]",
	                      k->class))
		evidence |= NUMBERS;
	if (10 * touch->made >= 8 * of->row->samples)
		evidence |= MADE;
	if ((evidence & MADE) || of->dies_young)
		evidence |= AGAIN;
	if (3 * touch->made >= 2 * of->row->samples)
		evidence |= MOSTLY_MADE;
	if (touch->kind == LC_TOUCH_ONE_FIELD)
		evidence |= ONE_FIELD;
	if (touch->walk == LC_WALK_SEQUENTIAL)
		evidence |= SEQUENTIAL;
	if (of->size > 0 && of->size <= SMALL_BYTES)
		evidence |= SMALL;
	if (of->size >= LARGE_BYTES)
		evidence |= LARGE;
	switch (of->kind) {
	case LC_FINDING_HEADER:
		return evidence | HEADER_ALONE;
	case LC_FINDING_NEVER_READ:
		return evidence | NEVER_READ;
	case LC_FINDING_STRIDE:
		return evidence | STRIDE;
	case LC_FINDING_ONE_PART:
		return evidence | ONE_PART;
	default:
		return evidence;
	}
}

static struct known know(const struct lc_advice_of *of)
{
	struct known k = { .class = lc_tree_text(of->tree, of->row->class) };

	if (of->row->names_len && of->row->names[0].kind == LC_NAME_FIELD)
		k.name = lc_tree_text(of->tree, of->row->names[0].name);
	k.users = lc_advice_users_of(of->tree, of->row->accesses, of->row->accesses_len,
	                             of->row->samples);
	k.evidence = reference(&k, of) | header(&k, of->reaches) | shape(&k, of) |
	             (k.users.library ? IN_LIBRARY : 0) | (k.users.inside ? INSIDE_JDK : 0);
	if (!k.name.len)
		k.name = k.through;
	return k;
}

/* ---- the table ---- */

/* The method of the path's leaf, with its line or without; NULL: no path. The caller frees it. */
static char *code_of(const struct lc_tree *t, uint32_t path, bool line)
{
	const uint32_t *frame = path ? lc_tree_frame(t, path) : NULL;

	return frame ? lc_short_code(t, frame[LC_FRAME_METHOD], line ? frame[LC_FRAME_LINE1] : 0)
	             : NULL;
}

static void put_word(FILE *out, const char *word, const struct known *k,
                     const struct lc_advice_of *of)
{
	char *text = NULL;

	if (!strncmp(word, "{at}", 4))
		text = code_of(of->tree, k->why_path, true);
	else if (!strncmp(word, "{own}", 5))
		text = code_of(of->tree, lc_own_path(of->tree, k->users.library), true);
	else if (!strncmp(word, "{callee}", 8))
		text = code_of(of->tree, k->users.library, false);
	else if (!strncmp(word, "{call}", 6))
		text = code_of(of->tree, k->users.inside, false);
	else if (!strncmp(word, "{through}", 9))
		text = lc_reaches_name(k->through, 0);
	else if (!strncmp(word, "{holder}", 8))
		text = lc_short_class(k->holder);
	else if (!strncmp(word, "{field}", 7))
		lc_emit_text(out, lc_tree_text(of->tree, of->touch->field));
	fputs(text ? text : "", out);
	free(text);
}

/* The first row of the table that fits; NULL: none. */
static const struct advice *look_up(const struct known *k)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if ((table[i].needs & k->evidence) == table[i].needs &&
		    (!table[i].classes || lc_advice_matches(table[i].classes, k->class)) &&
		    (!table[i].names || lc_advice_matches(table[i].names, k->name)))
			return &table[i];
	return NULL;
}

/* The text, with names in place of their words. The caller frees it. */
static char *written(const char *p, const struct known *k, const struct lc_advice_of *of)
{
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	while (*p) {
		const size_t plain = strcspn(p, "{");

		fwrite(p, 1, plain, out);
		p += plain;
		if (!*p)
			break;
		put_word(out, p, k, of);
		p = strchr(p, '}') + 1;
	}
	lc_mem_close_text(out);
	return text;
}

char *lc_advice_find(const struct lc_advice_of *of, struct lc_advice_change *change)
{
	const struct known k = know(of);
	const struct lc_advice_call *call = by_call(of, k.evidence);
	const struct advice *advice;

	*change = (struct lc_advice_change){ .call = k.users.library };
	if (lc_offheap_class(k.class))
		return lc_advice_block(of);
	if (call) {
		change->joins = LC_JOINS_ALL;
		change->gone = call->leaf ? NULL : call->below;
		return written(call->text, &k, of);
	}
	advice = look_up(&k);
	if (!advice)
		return NULL;
	change->joins = advice->joins;
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (!strcmp(codes[i].text, advice->text)) {
			change->gone = codes[i].gone;
			change->arrays = codes[i].arrays;
		}
	change->less_often = advice->needs & (IN_LIBRARY | INSIDE_JDK);
	if (advice->needs & INSIDE_JDK)
		change->call = k.users.inside;
	return written(advice->text, &k, of);
}

char *lc_advice_call_words(const struct lc_tree *t, uint32_t call, bool others)
{
	const uint32_t own = lc_own_is_jdk_frame(t, call) ? 0 : lc_own_path(t, call);
	char *callee = code_of(t, call, false), *at = code_of(t, own, true);
	char *text = lc_mem_text("%s%s%s%s", callee, others ? ", and other calls," : "",
	                         at ? " at " : "", at ? at : "");

	free(callee);
	free(at);
	return text;
}
