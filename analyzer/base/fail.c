/* base/fail.c - prints the line on stderr with which a command gives up, and says its exit status.
 */
#include "analyzer/base/fail.h"

#include <stdarg.h>
#include <stdio.h>

#include "analyzer/base/progress.h"

__attribute__((format(printf, 1, 0))) static void say(const char *format, va_list args)
{
	lc_progress_end();
	fputs("locus: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

int lc_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	return LC_EXIT_FAILED;
}

int lc_usage(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	return LC_EXIT_USAGE;
}
