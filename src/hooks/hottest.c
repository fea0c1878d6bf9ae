/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks/hottest.c - adds up the machine code of each class's methods.
 *
 * Order: H1  lc_hottest_begin() stores `open` behind the array -> lc_hottest_note() loads it first.
 *            The array stays until the recording ends, so a late note harms nothing. A method whose
 *            place is taken but not filled yet is left out.
 */
#include "src/hooks/hottest.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "src/core/jvmti.h"

enum { METHODS_MAX = 1 << 15 };

struct compiled {
	jmethodID method;
	uint32_t bytes;
};

struct ranked {
	jclass class;
	jint at; /* where it was */
	uint32_t bytes;
};

static struct {
	struct compiled *methods; /* METHODS_MAX; NULL: note nothing. Owner: the attaching thread */
	_Atomic uint32_t taken;   /* may pass METHODS_MAX */
	_Atomic bool open;        /* H1 */
} noted;

void lc_hottest_begin(void)
{
	noted.methods = calloc(METHODS_MAX, sizeof(*noted.methods));
	atomic_store(&noted.taken, 0);
	atomic_store(&noted.open, noted.methods != NULL);
}

void lc_hottest_note(jmethodID method, uint32_t bytes)
{
	uint32_t at;

	if (!atomic_load(&noted.open))
		return;
	at = atomic_fetch_add(&noted.taken, 1);
	if (at < METHODS_MAX)
		noted.methods[at] = (struct compiled){ method, bytes };
}

static int by_method(const void *a, const void *b)
{
	const struct compiled *x = a, *y = b;
	const uintptr_t p = (uintptr_t)x->method, q = (uintptr_t)y->method;

	return (p > q) - (p < q);
}

static int by_bytes(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return x->at - y->at;
}

/* The bytes of machine code of a method, which may be compiled more than once: of one time. */
static uint32_t code_of(jmethodID method, uint32_t len)
{
	const struct compiled key = { .method = method };
	const struct compiled *found = bsearch(&key, noted.methods, len, sizeof(key), by_method);

	return found ? found->bytes : 0;
}

static uint32_t code_of_class(jclass class, uint32_t noted_len)
{
	jmethodID *methods = NULL;
	uint32_t bytes = 0;
	jint len = 0;

	if ((*lc_jvmti())->GetClassMethods(lc_jvmti(), class, &len, &methods))
		return 0;
	for (jint i = 0; i < len; i++)
		bytes += code_of(methods[i], noted_len);
	(*lc_jvmti())->Deallocate(lc_jvmti(), (unsigned char *)methods);
	return bytes;
}

void lc_hottest_first(jclass *classes, jint len)
{
	const uint32_t taken = atomic_load(&noted.taken);
	const uint32_t noted_len = taken < METHODS_MAX ? taken : METHODS_MAX;
	struct ranked *ranked;

	if (!atomic_exchange(&noted.open, false))
		return;
	ranked = malloc(((size_t)len + 1) * sizeof(*ranked));
	if (!ranked)
		return;
	qsort(noted.methods, noted_len, sizeof(*noted.methods), by_method);
	for (jint i = 0; i < len; i++)
		ranked[i] = (struct ranked){ classes[i], i, code_of_class(classes[i], noted_len) };
	qsort(ranked, (size_t)len, sizeof(*ranked), by_bytes);
	for (jint i = 0; i < len; i++)
		classes[i] = ranked[i].class;
	free(ranked);
}
