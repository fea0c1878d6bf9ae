/*
 * agent_waiting.c - looks for the IDs of methods that have calls of toString() in what is compiled,
 * or at the methods themselves.
 *
 * A method is known by the length of its code, since JVMTI gives methods in another order than the
 * class file. So another method of the class, of the same length, may end the wait, too.
 *
 * Order: W1  lc_waiting_open() stores OPEN (release) behind all classes and IDs ->
 *            lc_waiting_compiled() and lc_waiting_take() load the state (acquire).
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
enum { FILLING, OPEN, OVER, TAKEN };

static struct {
	_Atomic int state; /* one of the four, in their order */
	/* Written before the state is OPEN. */
	jclass classes[CLASSES_MAX];
	size_t len;
	uint64_t ids[IDS]; /* 0: none */
	size_t ids_len;
	unsigned looks; /* of the attribution thread */
} waiting;

static uint64_t *find(jmethodID method)
{
	const uint64_t id = (uint64_t)(uintptr_t)method;
	uint64_t at = lc_hash_add(1, id) % IDS;

	while (waiting.ids[at] && waiting.ids[at] != id)
		at = (at + 1) % IDS;
	return &waiting.ids[at];
}

static bool is_string_method(jmethodID method, const struct lc_rewrite_result *look)
{
	jlocation begin, end;

	if ((*lc_jvmti())->GetMethodLocation(lc_jvmti(), method, &begin, &end) || end < 0)
		return false;
	for (uint32_t i = 0; i < look->string_methods; i++)
		if (look->string_code_bytes[i] == (uint64_t)end + 1)
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
		uint64_t *id = find(methods[i]);

		if (!*id && is_string_method(methods[i], look)) {
			*id = (uint64_t)(uintptr_t)methods[i];
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
	int filling = FILLING;

	if (waiting.len)
		atomic_compare_exchange_strong_explicit(&waiting.state, &filling, OPEN,
		                                        memory_order_release,
		                                        memory_order_relaxed); /* W1 */
	return waiting.len;
}

/* Is one of the methods in the code, as itself or inlined? */
static bool is_in_code(jmethodID method, const void *compile_info)
{
	const jvmtiCompiledMethodLoadRecordHeader *h = compile_info;
	jmethodID last = method;

	if (*find(method))
		return true;
	for (; h; h = h->next) {
		const jvmtiCompiledMethodLoadInlineRecord *r = (const void *)h;

		for (jint i = 0; h->kind == JVMTI_CMLR_INLINE_INFO && i < r->numpcs; i++) {
			for (jint k = 0; k < r->pcinfo[i].numstackframes; k++) {
				const jmethodID m = r->pcinfo[i].methods[k];

				/* The outermost frame is the method itself, and most often
				 * others are as at the place before. */
				if (m != method && m != last && *find(m))
					return true;
				last = m;
			}
		}
	}
	return false;
}

void lc_waiting_compiled(jmethodID method, const void *compile_info)
{
	int open = OPEN;

	if (atomic_load_explicit(&waiting.state, memory_order_acquire) != OPEN || /* W1 */
	    !is_in_code(method, compile_info))
		return;
	/* Relaxed: the attribution thread needs no more than what W1 orders. */
	if (atomic_compare_exchange_strong_explicit(&waiting.state, &open, OVER,
	                                            memory_order_release, memory_order_relaxed))
		lc_wake();
}

void lc_waiting_look(void)
{
	const unsigned part = waiting.looks++ % LC_WAITING_LOOKS;
	int open = OPEN;

	if (atomic_load_explicit(&waiting.state, memory_order_acquire) != OPEN) /* W1 */
		return;
	for (size_t i = part; i < IDS; i += LC_WAITING_LOOKS) {
		uint64_t method;

		if (waiting.ids[i] && lc_peek(waiting.ids[i], &method, sizeof(method)) &&
		    lc_scopes_is_warm(method)) {
			/* Relaxed: W1 alone orders what lc_waiting_take() reads. */
			(void)atomic_compare_exchange_strong_explicit(&waiting.state, &open, OVER,
			                                              memory_order_relaxed,
			                                              memory_order_relaxed);
			return;
		}
	}
}

bool lc_waiting_over(void)
{
	return atomic_load_explicit(&waiting.state, memory_order_acquire) == OVER; /* W1 */
}

size_t lc_waiting_take(jclass **classes)
{
	if (!lc_waiting_over())
		return 0;
	/* Relaxed: nobody but the caller reads the classes from here on. */
	atomic_store_explicit(&waiting.state, TAKEN, memory_order_relaxed);
	*classes = waiting.classes;
	return waiting.len;
}
