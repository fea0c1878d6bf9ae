/* SPDX-License-Identifier: Apache-2.0 */
/* base/file.c - reads small files whole: the kernel gives a long text in parts, up to its end. */
#include "src/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PATH_BYTES = 512 };

static const char *path_of(char *path, const char *root, const char *name)
{
	snprintf(path, PATH_BYTES, "%s%s", root ? root : "", name);
	return path;
}

bool lc_file_text(const char *root, const char *name, char *out, size_t out_len)
{
	char path[PATH_BYTES];
	int fd = open(path_of(path, root, name), O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;

	while (fd >= 0 && len < out_len - 1) {
		n = read(fd, out + len, out_len - 1 - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	if (fd >= 0)
		close(fd);
	while (len && out[len - 1] == '\n')
		len--;
	out[len] = '\0';
	return len > 0;
}

bool lc_file_number(const char *root, const char *name, long *out)
{
	char text[32], *end;

	if (!lc_file_text(root, name, text, sizeof(text)))
		return false;
	*out = strtol(text, &end, 10);
	return end != text;
}

bool lc_file_exists(const char *root, const char *name)
{
	char path[PATH_BYTES];

	return access(path_of(path, root, name), F_OK) == 0;
}
