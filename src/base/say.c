/* base/say.c - prints the agent's lines, each in one piece. */
#include "src/base/say.h"

#include <stdarg.h>
#include <stdio.h>

enum { TEXT_MAX = 8 << 10 };

void lc_say(const char *format, ...)
{
	char text[TEXT_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "locus: %s\n", text);
}
