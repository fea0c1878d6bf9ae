/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_pages.c - is preloaded; makes move_pages() 0.3 s slower and announces each call on stderr.
 */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

long move_pages(int pid, unsigned long count, void **pages, const int *nodes, int *status,
                int flags);

long move_pages(int pid, unsigned long count, void **pages, const int *nodes, int *status,
                int flags)
{
	const struct timespec wait = { 0, 300000000 };

	if (write(STDERR_FILENO, "slow_pages\n", 11) != 11)
		return -1;
	nanosleep(&wait, NULL);
	return syscall(SYS_move_pages, pid, count, pages, nodes, status, flags);
}
