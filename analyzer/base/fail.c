/* base/fail.c - prints the line on stderr with which a command gives up. */
#include "analyzer/base/fail.h"

#include <stdarg.h>
#include <stdio.h>

int lc_fail(const char *format, ...)
{
	va_list args;

	fputs("locus: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return 1;
}
