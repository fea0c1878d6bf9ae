/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failing_memory.h - lets allocations of the code under test fail. A test that includes it defines
 * allocation_fails(), which is asked at each, and is linked with --wrap of the three functions.
 */
#ifndef LC_TESTS_FAILING_MEMORY_H
#define LC_TESTS_FAILING_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

static bool allocation_fails(void);

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);

void *__wrap_malloc(size_t size)
{
	return allocation_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return allocation_fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return allocation_fails() ? NULL : __real_realloc(p, size);
}

#endif
