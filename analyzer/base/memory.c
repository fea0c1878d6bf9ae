/* SPDX-License-Identifier: Apache-2.0 */
/* base/memory.c - allocates, and ends the command when there is no memory. */
#include "analyzer/base/memory.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *hint; /* what limits it; NULL: the machine */

void lc_mem_hint(const char *text)
{
	hint = text;
}

/* The first thread ends the program; others that find no memory meanwhile wait for that. */
void lc_no_memory(void)
{
	static atomic_flag ending = ATOMIC_FLAG_INIT;

	while (atomic_flag_test_and_set(&ending))
		pause();
	fprintf(stderr, "%s: out of memory", program_invocation_short_name);
	if (hint)
		fprintf(stderr, ": %s", hint);
	fputs("\n", stderr);
	exit(1);
}

void *lc_mem_zeroed(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size ? size : 1);

	if (!p)
		lc_no_memory();
	return p;
}

void *lc_mem_grow(void *p, size_t *cap, size_t need, size_t size)
{
	size_t n = *cap ? *cap : 16;

	if (need <= *cap)
		return p;
	while (n < need)
		n *= 2;
	if (n > SIZE_MAX / size)
		lc_no_memory();
	p = realloc(p, n * size);
	if (!p)
		lc_no_memory();
	*cap = n;
	return p;
}

char *lc_mem_text(const char *format, ...)
{
	char *text = NULL;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0)
		lc_no_memory();
	return text;
}

FILE *lc_text_open(char **text, size_t *len)
{
	FILE *out = open_memstream(text, len);

	if (!out)
		lc_no_memory();
	return out;
}

void lc_mem_close_text(FILE *out)
{
	if (fclose(out))
		lc_no_memory();
}
