/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile/directory.c - makes, opens and removes the directories of profiles.
 *
 * No link is followed, and no other user's directory is written to.
 */
#include "src/profile/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/format/block.h"

enum { DIRECTORY_MODE = 0700, PARENT_MODE = 0755 };

/* Make `path`, which has no '/' at its end, and its parents. */
static int make_directories(char *path)
{
	int err = *path ? 0 : -ENOENT;

	for (char *at = path; !err && at;) {
		at = strchr(at + 1, '/');
		if (at)
			*at = 0;
		if (mkdir(path, at ? PARENT_MODE : DIRECTORY_MODE) && errno != EEXIST)
			err = -errno;
		if (at)
			*at = '/';
	}
	return err;
}

/* Open the directory, which is no link and the user's own. Returns a descriptor or -errno. */
static int open_directory(int at, const char *path)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW), err = 0;
	struct stat st;

	if (fd < 0) /* O_DIRECTORY says ENOTDIR of a link, too */
		return !fstatat(at, path, &st, AT_SYMLINK_NOFOLLOW) && S_ISLNK(st.st_mode) ? -ELOOP
		                                                                           : -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (st.st_uid != geteuid())
		err = -EPERM;
	if (!err)
		return fd;
	close(fd);
	return err;
}

int lc_directory_make(const char *dir)
{
	char *path = strdup(dir);
	int err;

	if (!path)
		return -ENOMEM;
	/* With a '/' at its end a link would be followed. */
	for (size_t len = strlen(path); len > 1 && path[len - 1] == '/'; len--)
		path[len - 1] = '\0';
	err = make_directories(path);
	if (!err)
		err = open_directory(AT_FDCWD, path);
	free(path);
	return err;
}

int lc_directory_make_in(int parent, const char *name, struct stat *st)
{
	int fd;

	if (mkdirat(parent, name, DIRECTORY_MODE))
		return -errno;
	fd = open_directory(parent, name);
	if (fd >= 0 && fstat(fd, st)) {
		close(fd);
		fd = -EIO;
	}
	return fd;
}

static bool is_of_profile(const char *name)
{
	const size_t len = strlen(name), suffix = strlen(LC_BLOCK_SUFFIX);

	return !strcmp(name, LC_MANIFEST_NAME) ||
	       (len > suffix && !strcmp(name + len - suffix, LC_BLOCK_SUFFIX));
}

/* Is it a name that loop.c gives? */
static bool is_of_loop(const char *name)
{
	return strlen(name) == LC_LOOP_DIGITS && strspn(name, "0123456789") == LC_LOOP_DIGITS;
}

int lc_directory_holds_profile(int dir_fd)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	int found = 0;

	if (!d) {
		int err = -errno;

		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!found && (e = readdir(d)))
		found = is_of_profile(e->d_name) || is_of_loop(e->d_name);
	closedir(d);
	return found;
}

int lc_directory_remove(int parent, const char *name, const struct stat *made)
{
	const int fd = open_directory(parent, name);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	struct stat st;
	int err = 0;

	if (!d) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return fd < 0 ? fd : err;
	}
	if (fstat(fd, &st) || st.st_dev != made->st_dev || st.st_ino != made->st_ino)
		err = -ESTALE;
	while (!err && (e = readdir(d)))
		if (is_of_profile(e->d_name))
			(void)unlinkat(fd, e->d_name, 0); /* what stays keeps the directory */
	closedir(d);
	if (!err && unlinkat(parent, name, AT_REMOVEDIR))
		err = -errno;
	return err;
}

void lc_directory_tell(const char *dir, int err, char *error, size_t error_len)
{
	if (err == -ELOOP)
		snprintf(error, error_len,
		         "output directory '%s' is a symbolic link, which Locus does not follow; "
		         "name its target",
		         dir);
	else if (err == -EPERM)
		snprintf(error, error_len,
		         "output directory '%s' belongs to another user; name your own, or one "
		         "that does not exist",
		         dir);
	else if (err == -EEXIST)
		snprintf(error, error_len,
		         "output directory '%s' already holds a profile; remove it, or name "
		         "another, with %%p for the process ID",
		         dir);
	else
		snprintf(error, error_len, "cannot write to output directory '%s': %s", dir,
		         strerror(-err));
}
