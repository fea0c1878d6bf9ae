/* base/say.c - prints the agent's lines, each in one piece. */
#include "src/base/say.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

enum { TEXT_MAX = 8 << 10 };

static _Atomic int other = -1; /* a file instead of stderr */

void lc_say_to(int fd)
{
	atomic_store(&other, fd);
}

void lc_say(const char *format, ...)
{
	const int fd = atomic_load(&other);
	char text[TEXT_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (fd >= 0)
		dprintf(fd, "%s\n", text);
	else
		fprintf(stderr, "locus: %s\n", text);
}

void lc_say_answer(const char *format, ...)
{
	const int fd = atomic_load(&other);
	va_list args;

	if (fd < 0)
		return;
	va_start(args, format);
	vdprintf(fd, format, args);
	va_end(args);
	dprintf(fd, "\n");
}
