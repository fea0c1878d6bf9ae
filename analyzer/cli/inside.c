/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/inside.c - writes a library that this executable carries where JVMs can load it.
 *
 * Invariant: a file has its name only when it is whole, and nobody else can write the directories
 * above it from ours on. So a file of the right length is the library, whoever of our processes
 * wrote it.
 */
#include "analyzer/cli/inside.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <zip.h>

enum { KEY_MAX = 64, PLACES = 5 };

struct library {
	zip_t *archive;
	char key[KEY_MAX + 1];
	zip_uint64_t index, bytes;
};

/* The key differs with the libraries. It names a directory, so it has digits only. */
static bool read_key(struct library *l)
{
	int len;
	const char *comment = zip_get_archive_comment(l->archive, &len, 0);

	if (!comment || len <= 0 || len > KEY_MAX)
		return false;
	memcpy(l->key, comment, (size_t)len);
	l->key[len] = '\0';
	return strspn(l->key, "0123456789abcdef") == (size_t)len;
}

static int look(struct library *l, const char *executable, const char *name)
{
	zip_stat_t st;

	l->archive = zip_open(executable, ZIP_RDONLY, NULL);
	if (!l->archive)
		return -ENOENT;
	if (!read_key(l) || zip_stat(l->archive, name, 0, &st) ||
	    (st.valid & (ZIP_STAT_INDEX | ZIP_STAT_SIZE)) != (ZIP_STAT_INDEX | ZIP_STAT_SIZE))
		return -ENOENT;
	l->index = st.index;
	l->bytes = st.size;
	return 0;
}

static bool copy(const struct library *l, int to)
{
	char buffer[1 << 16];
	zip_uint64_t left = l->bytes;
	zip_file_t *from = zip_fopen_index(l->archive, l->index, 0);
	zip_int64_t n = 0;

	errno = EIO;
	while (from && left && (n = zip_fread(from, buffer, sizeof(buffer))) > 0 &&
	       write(to, buffer, (size_t)n) == (ssize_t)n)
		left -= (zip_uint64_t)n < left ? (zip_uint64_t)n : left;
	/* The end of the data is where zip_fread() compares its sum with the archive's. */
	if (from && !left)
		n = zip_fread(from, buffer, 1);
	if (from)
		zip_fclose(from);
	return from && !left && n == 0;
}

/* Makes the directory if need be. Nobody but this user, or root, may write it. */
static int own_directory(const char *path, mode_t mode)
{
	struct stat st;

	if (mkdir(path, mode) && errno != EEXIST)
		return -errno;
	if (lstat(path, &st))
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH)) ? 0 : -EPERM;
}

static int write_file(const struct library *l, const char *path)
{
	char part[PATH_MAX];
	int fd, err = 0;

	if (snprintf(part, sizeof(part), "%s.XXXXXX", path) >= (int)sizeof(part))
		return -ENAMETOOLONG;
	fd = mkstemp(part);
	if (fd < 0)
		return -errno;
	if (!copy(l, fd) || fchmod(fd, 0755) || fsync(fd))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(part, path))
		err = -errno;
	if (err)
		unlink(part);
	return err;
}

/* In the directory `place`, whose parent exists or can be made. */
static int put(const struct library *l, const char *place, const char *name, char *out)
{
	const mode_t mode =
	    geteuid() == 0 ? 0755 : 0700; /* JVMs of others load what root has written */
	char path[PATH_MAX], parent[PATH_MAX];
	struct statvfs fs;
	struct stat st;
	int err;

	/* LD_PRELOAD and the option of a JVM cannot express these. */
	if (strpbrk(place, " :=") || place[0] != '/')
		return -EINVAL;
	if (snprintf(path, sizeof(path), "%s/%s", place, l->key) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	snprintf(parent, sizeof(parent), "%.*s", (int)(strrchr(place, '/') - place), place);
	if (parent[0])
		(void)mkdir(parent, 0700); /* ~/.cache */
	err = own_directory(place, mode);
	if (!err)
		err = own_directory(path, mode);
	if (!err && statvfs(path, &fs))
		err = -errno;
	if (!err && (fs.f_flag & ST_NOEXEC))
		err = -EACCES;
	if (!err && snprintf(out, PATH_MAX, "%s/%s", path, name) >= PATH_MAX)
		err = -ENAMETOOLONG;
	if (!err &&
	    (lstat(out, &st) || !S_ISREG(st.st_mode) || (zip_uint64_t)st.st_size != l->bytes))
		err = write_file(l, out);
	return err;
}

int lc_inside_find(const char *executable, const char *name, char *out, char *error,
                   unsigned long error_len)
{
	const char *const cache = getenv("XDG_CACHE_HOME"), *const home = getenv("HOME");
	const unsigned int uid = geteuid();
	char places[PLACES][PATH_MAX] = { "" };
	struct library l = { .archive = NULL };
	int err = look(&l, executable, name);
	unsigned int n = 0;

	if (!err) {
		if (cache && cache[0] == '/')
			snprintf(places[n++], PATH_MAX, "%s/locus", cache);
		if (uid == 0)
			snprintf(places[n++], PATH_MAX, "/var/cache/locus");
		else if (home && home[0] == '/')
			snprintf(places[n++], PATH_MAX, "%s/.cache/locus", home);
		snprintf(places[n++], PATH_MAX, "/var/tmp/locus-%u", uid);
		snprintf(places[n++], PATH_MAX, "/tmp/locus-%u", uid);
		snprintf(places[n++], PATH_MAX, "/dev/shm/locus-%u", uid);
		err = -ENOENT;
		for (unsigned int i = 0; i < n && err; i++)
			err = put(&l, places[i], name, out);
		if (err) {
			snprintf(error, error_len,
			         "cannot write %s, which this locus carries, to %s or another "
			         "directory of "
			         "this user's where programs may be run: %s; free some room, or "
			         "use the tarball",
			         name, places[0], strerror(-err));
			err = err == -ENOENT ? -EIO : err;
		}
	}
	if (l.archive)
		zip_discard(l.archive);
	return err;
}
