/* SPDX-License-Identifier: Apache-2.0 */
/* cli/libraries.c - looks for Locus's libraries, and tries whether a directory can be written. */
#include "analyzer/cli/libraries.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/cli/inside.h"

bool lc_libraries_self(char *out)
{
	const ssize_t len = readlink("/proc/self/exe", out, PATH_MAX - 1);
	const char *given = (const char *)getauxval(AT_EXECFN);

	if (len > 0)
		out[len] = '\0';
	return len > 0 || (given && realpath(given, out));
}

int lc_libraries_find(const char *name, char *out, char *error)
{
	static const char *const places[] = { "", "../lib/locus/" };
	char self[PATH_MAX], path[2 * PATH_MAX];
	int err;

	if (!lc_libraries_self(self)) {
		snprintf(error, LC_LIBRARIES_ERROR_MAX, "cannot find the path of this locus: %m");
		return -ENOENT;
	}
	err = lc_inside_find(self, name, out, error, LC_LIBRARIES_ERROR_MAX);
	if (err != -ENOENT)
		return err;
	*(strrchr(self, '/') + 1) = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%s%s%s", self, places[i], name);
		if (!realpath(path, out))
			continue;
		/* The dynamic linker splits LD_PRELOAD at the first two, the JVM its option at
		 * the last; neither knows a way to quote them. */
		if (!strpbrk(out, " :="))
			return 0;
		snprintf(error, LC_LIBRARIES_ERROR_MAX,
		         "cannot load '%s': its path has ' ', ':' or '='; move Locus to another "
		         "directory",
		         out);
		return -EINVAL;
	}
	snprintf(error, LC_LIBRARIES_ERROR_MAX,
	         "%s is neither in %s nor in %s../lib/locus; build or install Locus again", name,
	         self, self);
	return -ENOENT;
}

bool lc_libraries_deepest_directory(const char *path, char *out, size_t out_len)
{
	struct stat st;
	char *slash;

	snprintf(out, out_len, "%s", path);
	while (stat(out, &st) != 0) {
		slash = strrchr(out, '/');
		if (errno != ENOENT || !slash)
			return false;
		slash[slash == out] = '\0';
	}
	if (!S_ISDIR(st.st_mode))
		errno = ENOTDIR;
	return S_ISDIR(st.st_mode);
}

bool lc_libraries_writable(const char *directory)
{
	static const char block[4096];
	char probe[PATH_MAX + 32], file[PATH_MAX + 64];
	int fd, err = 0;

	snprintf(probe, sizeof(probe), "%s/.locus-XXXXXX", directory);
	if (!mkdtemp(probe))
		return false;
	snprintf(file, sizeof(file), "%s/probe", probe);
	errno = 0;
	fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, block, sizeof(block)) != (ssize_t)sizeof(block))
		err = errno ? errno : ENOSPC;
	if (fd >= 0 && close(fd) != 0 && !err)
		err = errno;
	unlink(file);
	rmdir(probe);
	errno = err;
	return err == 0;
}
