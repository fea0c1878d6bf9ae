/* SPDX-License-Identifier: Apache-2.0 */
/* base/fail.c - prints the line on stderr with which a command gives up, and says its exit status.
 */
#include "analyzer/base/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/base/plain.h"
#include "analyzer/base/progress.h"

static const char *program = "locus";
static const char *origin;            /* NULL: none */
static _Thread_local char **captured; /* where this thread's lines go; NULL: stderr */

void lc_program_set(const char *name)
{
	program = name;
}

const char *lc_program(void)
{
	return program;
}

void lc_fail_origin(const char *name)
{
	origin = name;
}

char **lc_fail_capture(char **text)
{
	char **before = captured;

	captured = text;
	return before;
}

/* Append a line to what was captured. */
static void capture(const char *line)
{
	char *both = NULL;

	if (asprintf(&both, "%s%s%s%s\n", *captured ? *captured : "", origin ? origin : "",
	             origin ? ": " : "", line) < 0)
		return;
	free(*captured);
	*captured = both;
}

/* Names of files, and what a library quotes of a file, are in these lines. */
__attribute__((format(printf, 1, 0))) static void say(const char *format, va_list args)
{
	char *text = NULL;
	int len = vasprintf(&text, format, args);

	if (captured) {
		capture(len < 0 ? "out of memory" : text);
		free(len < 0 ? NULL : text);
		return;
	}
	lc_progress_end();
	fprintf(stderr, "%s: %s%s", program, origin ? origin : "", origin ? ": " : "");
	if (len < 0)
		fputs("out of memory", stderr);
	else
		lc_plain_put(stderr, text, (size_t)len);
	fputc('\n', stderr);
	free(text);
}

void lc_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
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
