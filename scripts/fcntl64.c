/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fcntl64.c - a function that glibc has since 2.28, and musl not
 *
 * scripts/old-glibc and scripts/musl link it in, hidden: Debian's archives call it.
 */
#include <fcntl.h>
#include <stdarg.h>

/* Both take the same locks where a file's length has 64 bits. */
int fcntl64(int fd, int command, ...)
{
	va_list more;
	void *value;

	va_start(more, command);
	value = va_arg(more, void *);
	va_end(more);
	return fcntl(fd, command, value);
}
