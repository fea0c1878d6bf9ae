/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/say.c - prints the agent's lines, each in one piece.
 *
 * Nothing waits for who reads them: a line that a full pipe does not take in time is lost. So it is
 * not printed by stdio, whose lock a thread that waits would hold.
 */
#include "src/base/say.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

enum { TEXT_MAX = 4000, WAIT_MS = 200 }; /* a pipe that takes anything takes 4096 bytes at once */

static _Thread_local int other __attribute__((tls_model("initial-exec"))) = -1; /* not stderr */

void lc_say_to(int fd)
{
	other = fd;
}

__attribute__((format(printf, 3, 0))) static void say(int fd, const char *head, const char *format,
                                                      va_list args)
{
	struct pollfd to = { .fd = fd, .events = POLLOUT };
	const int before = errno;
	char line[TEXT_MAX];
	int begin = snprintf(line, sizeof(line), "%s", head);
	int len = vsnprintf(line + begin, sizeof(line) - (size_t)begin - 1, format, args);

	if (len < 0)
		return;
	if (len > TEXT_MAX - begin - 2)
		len = TEXT_MAX - begin - 2;
	line[begin + len] = '\n';
	if (poll(&to, 1, WAIT_MS) == 1 && to.revents & POLLOUT)
		while (write(fd, line, (size_t)(begin + len) + 1) < 0 && errno == EINTR)
			;
	errno = before;
}

void lc_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (other >= 0)
		say(other, "", format, args);
	else
		say(STDERR_FILENO, "locus: ", format, args);
	va_end(args);
}

void lc_say_answer(const char *format, ...)
{
	va_list args;

	if (other < 0)
		return;
	va_start(args, format);
	say(other, "", format, args);
	va_end(args);
}
