/* SPDX-License-Identifier: Apache-2.0 */
/*
 * musl.c - functions that scripts/musl links in, since musl does not have them
 *
 * Debian's archives were compiled for glibc: they call its checking functions. Two are of libnuma,
 * whose own archive has initial-exec thread-locals.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static size_t fits(size_t bytes, size_t room)
{
	if (bytes > room)
		abort();
	return bytes;
}

void *__memcpy_chk(void *to, const void *from, size_t bytes, size_t room)
{
	return memcpy(to, from, fits(bytes, room));
}

void *__memset_chk(void *to, int value, size_t bytes, size_t room)
{
	return memset(to, value, fits(bytes, room));
}

char *__strcpy_chk(char *to, const char *from, size_t room)
{
	return memcpy(to, from, fits(strlen(from) + 1, room));
}

char *__strncpy_chk(char *to, const char *from, size_t bytes, size_t room)
{
	return strncpy(to, from, fits(bytes, room));
}

char *__strcat_chk(char *to, const char *from, size_t room)
{
	const size_t len = strlen(to);

	memcpy(to + len, from, fits(len + strlen(from) + 1, room) - len);
	return to;
}

int __vsnprintf_chk(char *to, size_t bytes, int flag, size_t room, const char *format, va_list more)
{
	return vsnprintf(to, fits(bytes, room), format, more);
}

int __snprintf_chk(char *to, size_t bytes, int flag, size_t room, const char *format, ...)
{
	va_list more;
	int len;

	va_start(more, format);
	len = vsnprintf(to, fits(bytes, room), format, more);
	va_end(more);
	return len;
}

int __sprintf_chk(char *to, int flag, size_t room, const char *format, ...)
{
	va_list more;
	int len;

	va_start(more, format);
	len = vsnprintf(to, room, format, more);
	va_end(more);
	if (len >= 0)
		(void)fits((size_t)len + 1, room);
	return len;
}

int __vfprintf_chk(FILE *out, int flag, const char *format, va_list more)
{
	return vfprintf(out, format, more);
}

int __fprintf_chk(FILE *out, int flag, const char *format, ...)
{
	va_list more;
	int len;

	va_start(more, format);
	len = vfprintf(out, format, more);
	va_end(more);
	return len;
}

int numa_available(void)
{
	return syscall(SYS_get_mempolicy, NULL, NULL, 0, 0, 0) < 0 && errno == ENOSYS ? -1 : 0;
}

long move_pages(int pid, unsigned long count, void **pages, const int *nodes, int *status,
                int flags)
{
	return syscall(SYS_move_pages, pid, count, pages, nodes, status, flags);
}
