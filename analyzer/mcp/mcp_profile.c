/* SPDX-License-Identifier: Apache-2.0 */
/* mcp/mcp_profile.c - keeps tools inside the directories that the user named. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/base/memory.h"
#include "analyzer/mcp/mcp.h"

static bool is_inside(const struct lc_mcp *m, const char *path)
{
	for (size_t i = 0; i < m->roots_len; i++) {
		const size_t len = strlen(m->roots[i]);

		if (!strncmp(path, m->roots[i], len) &&
		    (!path[len] || path[len] == '/' || m->roots[i][len - 1] == '/'))
			return true;
	}
	return false;
}

/* Does the directory, or one in it (a period of --loop), have anything but files? */
static bool has_links(int at, const char *path, unsigned depth)
{
	const int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	bool found = !directory;

	while (!found && (e = readdir(directory))) {
		struct stat st;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			found = errno != ENOENT;
		else if (S_ISDIR(st.st_mode))
			found = depth && has_links(fd, e->d_name, depth - 1);
		else
			found = !S_ISREG(st.st_mode);
	}
	if (directory)
		closedir(directory);
	else if (fd >= 0)
		close(fd);
	return found;
}

/* The path without links of a name that is absolute, or relative to a root; NULL: none. */
static char *resolved(const struct lc_mcp *m, const char *name)
{
	char *found = *name == '/' ? realpath(name, NULL) : NULL;

	for (size_t i = 0; *name && *name != '/' && i < m->roots_len && !found; i++) {
		char *path = lc_mem_text("%s/%s", m->roots[i], name);

		found = realpath(path, NULL);
		free(path);
	}
	return found;
}

char *lc_mcp_profile(const struct lc_mcp *m, const char *name, char **problem)
{
	char *path = resolved(m, name);
	struct stat st;

	/* A file outside and none at all get the same answer. */
	if (path && is_inside(m, path) && !stat(path, &st) && S_ISDIR(st.st_mode) &&
	    !has_links(AT_FDCWD, path, 1))
		return path;
	free(path);
	*problem = lc_mem_text("there is no such profile below the directories of this server; "
	                       "list_profiles names those that are");
	return NULL;
}
