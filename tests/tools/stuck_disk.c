/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stuck_disk.c - is a disk that stops answering: preloaded, it keeps every write to a file of
 * blocks waiting for as long as the file that STUCK_DISK names exists. It says so by a second file,
 * whose name ends with ".waits".
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_block_file(int fd)
{
	char link[64], name[4096];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, name, sizeof(name));
	return len > 4 && !memcmp(name + len - 4, ".lcb", 4);
}

ssize_t write(int fd, const void *data, size_t len)
{
	static ssize_t (*next)(int, const void *, size_t);
	const char *stuck = getenv("STUCK_DISK");
	char waits[4096];

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "write");
	if (stuck && is_block_file(fd))
		while (!access(stuck, F_OK)) {
			snprintf(waits, sizeof(waits), "%s.waits", stuck);
			close(open(waits, O_WRONLY | O_CREAT, 0600));
			usleep(100000);
		}
	return next(fd, data, len);
}
