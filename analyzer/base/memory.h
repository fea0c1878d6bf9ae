/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/memory.h - allocates memory for the analyzer. Without memory the program ends with one line
 * on stderr.
 */
#ifndef LC_BASE_MEMORY_H
#define LC_BASE_MEMORY_H

#include <stddef.h>
#include <stdio.h>

/* Print one line and exit with status 1. */
_Noreturn void lc_no_memory(void);

/*
 * Add a hint to the message of lc_no_memory(). The text must stay valid. Call it before threads
 * start.
 */
void lc_mem_hint(const char *text);

/* Never NULL. Context: the analyzer. Free with free(). */
void *lc_mem_zeroed(size_t count, size_t size);

/*
 * Make room for `need` elements in array `p` that has *cap of them; doubles. The elements keep
 * their values, new ones are undefined. Never NULL unless need is 0.
 */
void *lc_mem_grow(void *p, size_t *cap, size_t need, size_t size);

/* strdup(), printf style. Never NULL. */
__attribute__((format(printf, 1, 2))) char *lc_mem_text(const char *format, ...);

/* open_memstream(). Never NULL. Close it with lc_mem_close_text(); then *text is whole, for free().
 */
FILE *lc_text_open(char **text, size_t *len);
void lc_mem_close_text(FILE *out);

#endif
