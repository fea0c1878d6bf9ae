/*
 * agent_waiting.c - looks for the IDs of methods that have calls of toString() in what is compiled,
 * or at the methods themselves.
 *
 * Invariant: I1  a class is WAITING, then DUE, then TAKEN; whoever makes it DUE counts it in `due`.
 * Order: W1  lc_waiting_open() stores OPEN (release) behind all classes and IDs ->
 *            lc_waiting_compiled() and lc_waiting_look() load it (acquire).
 *        W2  a class is DUE before it is counted (release) -> lc_waiting_take() loads the count
 *            (acquire).
 */
#include "src/agent_waiting.h"

#include <jvmticmlr.h>
#include <stdatomic.h>
#include <stdint.h>

#include "src/base/hash.h"
#include "src/classfile/alloc_rewrite.h"
#include "src/core/jvmti.h"
#include "src/core/refs.h"
#include "src/core/wake.h"
#include "src/jvm/peek.h"
#include "src/jvm/scopes.h"

enum { CLASSES_MAX = 512, IDS = 8192, IDS_MAX = IDS / 2 };
enum { WAITING, DUE, TAKEN };

struct id {
	uint64_t method; /* 0: none */
	size_t class;    /* number of the class */
};

static struct {
	_Atomic bool open;
	/* Written before it is open. */
	jclass classes[CLASSES_MAX];
	size_t len;
	struct id ids[IDS];
	size_t ids_len;

	_Atomic uint8_t state[CLASSES_MAX]; /* I1 */
	_Atomic size_t due;
	size_t found;   /* of the attribution thread: what it has made DUE and not counted yet */
	unsigned looks; /* its own, too */
} waiting;

static struct id *find(jmethodID method)
{
	const uint64_t id = (uint64_t)(uintptr_t)method;
	uint64_t at = lc_hash_add(1, id) % IDS;

	while (waiting.ids[at].method && waiting.ids[at].method != id)
		at = (at + 1) % IDS;
	return &waiting.ids[at];
}

static bool has_name(jmethodID method, const struct lc_string_method *wanted)
{
	jvmtiEnv *jvmti = lc_jvmti();
	char *name = NULL, *descriptor = NULL;
	bool same;

	if ((*jvmti)->GetMethodName(jvmti, method, &name, &descriptor, NULL))
		return false;
	same = lc_text_is(wanted->name, name) && lc_text_is(wanted->descriptor, descriptor);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)descriptor);
	return same;
}

/* JVMTI gives methods in another order than the class file. Lengths tell most of them apart. */
static bool is_string_method(jmethodID method, const struct lc_rewrite_result *look)
{
	jlocation begin, end;

	if ((*lc_jvmti())->GetMethodLocation(lc_jvmti(), method, &begin, &end) || end < 0)
		return false;
	for (uint32_t i = 0; i < look->string_methods; i++)
		if (look->string_method[i].code_bytes == (uint64_t)end + 1 &&
		    has_name(method, &look->string_method[i]))
			return true;
	return false;
}

bool lc_waiting_add(JNIEnv *jni, jclass class, const struct lc_rewrite_result *look)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jmethodID *methods = NULL;
	jint len = 0;
	jclass ref;

	if (waiting.len == CLASSES_MAX || (*jvmti)->GetClassMethods(jvmti, class, &len, &methods))
		return false;
	ref = waiting.ids_len + (size_t)len <= IDS_MAX ? lc_ref_new(jni, class) : NULL;
	for (jint i = 0; ref && i < len; i++) {
		struct id *id = find(methods[i]);

		if (!id->method && is_string_method(methods[i], look)) {
			*id = (struct id){ (uint64_t)(uintptr_t)methods[i], waiting.len };
			waiting.ids_len++;
		}
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
	if (ref)
		waiting.classes[waiting.len++] = ref;
	return ref;
}

size_t lc_waiting_open(void)
{
	if (waiting.len)
		atomic_store_explicit(&waiting.open, true, memory_order_release); /* W1 */
	return waiting.len;
}

static bool is_open(void)
{
	return atomic_load_explicit(&waiting.open, memory_order_acquire); /* W1 */
}

static bool is_waiting(const struct id *id)
{
	return id->method &&
	       atomic_load_explicit(&waiting.state[id->class], memory_order_relaxed) == WAITING;
}

/* The method is compiled. Returns 1 if its class has waited until now, else 0. */
static size_t ends_wait(const struct id *id)
{
	uint8_t state = WAITING;

	return id->method &&
	       atomic_compare_exchange_strong_explicit(&waiting.state[id->class], &state, DUE,
	                                               memory_order_relaxed, memory_order_relaxed);
}

static void count(size_t due)
{
	if (due)
		atomic_fetch_add_explicit(&waiting.due, due, memory_order_release); /* W2 */
}

/* How many classes have waited for methods in the code, as itself or inlined? */
static size_t end_waits(jmethodID method, const void *compile_info)
{
	const jvmtiCompiledMethodLoadRecordHeader *h = compile_info;
	size_t due = ends_wait(find(method));
	jmethodID last = method;

	for (; h; h = h->next) {
		const jvmtiCompiledMethodLoadInlineRecord *r = (const void *)h;

		for (jint i = 0; h->kind == JVMTI_CMLR_INLINE_INFO && i < r->numpcs; i++) {
			for (jint k = 0; k < r->pcinfo[i].numstackframes; k++) {
				const jmethodID m = r->pcinfo[i].methods[k];

				/* The outermost frame is the method itself, and most often
				 * others are as at the place before. */
				if (m != method && m != last)
					due += ends_wait(find(m));
				last = m;
			}
		}
	}
	return due;
}

void lc_waiting_compiled(jmethodID method, const void *compile_info)
{
	const size_t due = is_open() ? end_waits(method, compile_info) : 0;

	count(due);
	if (due)
		lc_wake();
}

void lc_waiting_look(void)
{
	const unsigned part = waiting.looks++ % LC_WAITING_LOOKS;

	if (!is_open())
		return;
	for (size_t i = part; i < IDS; i += LC_WAITING_LOOKS) {
		const struct id *id = &waiting.ids[i];
		uint64_t method;

		if (is_waiting(id) && lc_peek(id->method, &method, sizeof(method)) &&
		    lc_scopes_is_warm(method))
			waiting.found += ends_wait(id);
	}
	if (part != LC_WAITING_LOOKS - 1)
		return;
	count(waiting.found);
	waiting.found = 0;
}

bool lc_waiting_over(void)
{
	return atomic_load_explicit(&waiting.due, memory_order_relaxed);
}

size_t lc_waiting_take(jclass *classes, size_t max)
{
	const size_t due = atomic_load_explicit(&waiting.due, memory_order_acquire); /* W2 */
	size_t taken = 0;

	for (size_t i = 0; i < waiting.len && taken < due && taken < max; i++) {
		uint8_t state = DUE;

		if (atomic_compare_exchange_strong_explicit(&waiting.state[i], &state, TAKEN,
		                                            memory_order_relaxed,
		                                            memory_order_relaxed))
			classes[taken++] = waiting.classes[i];
	}
	atomic_fetch_sub_explicit(&waiting.due, taken, memory_order_relaxed); /* a count */
	return taken;
}
