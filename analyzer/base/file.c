/* SPDX-License-Identifier: Apache-2.0 */
/* base/file.c - opens files that another user may have created. */
#include "analyzer/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int lc_file_open(int at, const char *path)
{
	int fd = openat(at, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	int err = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -ENOTSUP;
	if (!err)
		return fd;
	close(fd);
	return err;
}

const char *lc_file_error(int err)
{
	return err == -ENOTSUP ? "not a regular file" : strerror(-err);
}
