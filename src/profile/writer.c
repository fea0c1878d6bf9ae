/* profile/writer.c - writes the files of a profile: appends blocks, replaces the manifest. */
#include "src/profile/writer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "src/base/time.h"
#include "src/format/block.h"
#include "src/profile/manifest.h"
#include "src/profile/profile_block.h"

#define RETRY_NS UINT64_C(1000000000)

/*
 * A profile is its owner's alone: it holds the command line and names of the program. No link is
 * followed, and nothing but a regular file is written to; what is no such file (a pipe) is opened
 * without waiting for its other end.
 */
enum {
	OPEN_FLAGS = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
	FILE_MODE = 0600,
	DIRECTORY_MODE = 0700,
	PARENT_MODE = 0755,
};

/*
 * To make a file costs as much as to write ten blocks, and a program may have 100,000 threads.
 * Threads that ended together have neighbouring indices.
 */
enum { FILES = 64, THREADS_TOGETHER = 32, NO_FILE = FILES };

struct lc_profile {
	int dir_fd;
	/*
	 * The file that was written last, or at first the directory once more; -1: none. A program
	 * that has used up its descriptors leaves this one, which is closed before the next is
	 * opened.
	 */
	int fd;
	uint32_t file; /* its number, or NO_FILE */
	struct lc_block_encoder *encoder;
	struct lc_bytes manifest; /* its text */
	uint32_t next[FILES];     /* sequence number of the next block */
	uint64_t retry_ns;        /* no attempt before; 0 when the last one succeeded */
	struct lc_profile_stats stats;
};

static int write_all(int fd, const uint8_t *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return -ENOSPC;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Open or make a file of the profile. Returns its descriptor and *st, or -errno. */
static int open_own(int dir_fd, const char *name, int flags, struct stat *st)
{
	int fd = openat(dir_fd, name, OPEN_FLAGS | flags, FILE_MODE), err = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, st))
		err = -errno;
	else if (!S_ISREG(st->st_mode) || st->st_uid != geteuid() || st->st_nlink > 1)
		err = -EPERM; /* somebody has put it there */
	if (!err)
		return fd;
	close(fd);
	return err;
}

static void file_close(struct lc_profile *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

static void keep_descriptor(struct lc_profile *p)
{
	if (p->fd >= 0)
		return;
	p->fd = fcntl(p->dir_fd, F_DUPFD_CLOEXEC, 0);
	p->file = NO_FILE;
}

/* Have the file open; who removed it finds it made again. Returns 0 and *bytes, or -errno. */
static int file_open(struct lc_profile *p, uint32_t file, off_t *bytes)
{
	char name[64];
	struct stat st = { 0 };

	if (p->fd < 0 || p->file != file || fstat(p->fd, &st) || !st.st_nlink) {
		file_close(p);
		snprintf(name, sizeof(name), "thread-%u" LC_BLOCK_SUFFIX, file);
		p->fd = open_own(p->dir_fd, name, O_APPEND, &st);
		p->file = file;
		if (p->fd < 0)
			return p->fd;
	}
	*bytes = st.st_size;
	return 0;
}

/* Append the encoded blocks to the file; what cannot be written whole is cut off again. */
static int file_append(struct lc_profile *p, uint32_t file)
{
	off_t bytes = 0;
	int err = file_open(p, file, &bytes);

	if (err)
		return err;
	err =
	    write_all(p->fd, lc_block_encoded(p->encoder)->data, lc_block_encoded(p->encoder)->len);
	if (err && ftruncate(p->fd, bytes)) {
		/* A cut block stays; readers skip it and say so. */
	}
	if (err)
		file_close(p);
	return err;
}

static int append(struct lc_profile *p, const struct lc_block_input *in)
{
	const uint32_t file = in->index / THREADS_TOGETHER % FILES;
	int blocks, err;

	if (in->index == LC_THREAD_ALL)
		return -EINVAL;
	if (p->retry_ns && lc_time_now_ns() < p->retry_ns)
		return -EAGAIN;
	blocks = lc_block_encode(p->encoder, in, p->next[file]);
	if (blocks < 0)
		return blocks;
	err = file_append(p, file);
	if (err) {
		if (p->retry_ns)
			err = -EAGAIN;
		p->retry_ns = lc_time_now_ns() + RETRY_NS;
		return err;
	}
	p->retry_ns = 0;
	p->next[file] += (uint32_t)blocks;
	p->stats.blocks += (uint64_t)blocks;
	p->stats.bytes += lc_block_encoded(p->encoder)->len;
	return 0;
}

void lc_profile_try_now(struct lc_profile *p)
{
	p->retry_ns = 0;
}

int lc_profile_append(struct lc_profile *p, const struct lc_block_input *in)
{
	int err = append(p, in);

	if (err)
		p->stats.append_fails++;
	return err;
}

int lc_profile_manifest(struct lc_profile *p, const struct lc_manifest *m)
{
	static const char temporary[] = LC_MANIFEST_NAME ".new";
	struct stat st;
	int fd, err;

	lc_manifest_encode(&p->manifest, m, p->stats.blocks);
	if (p->manifest.failed)
		return -ENOMEM;
	unlinkat(p->dir_fd, temporary, 0); /* of an attempt that was cut short */
	fd = open_own(p->dir_fd, temporary, O_EXCL, &st);
	if (fd == -EMFILE && p->fd >= 0) {
		file_close(p);
		fd = open_own(p->dir_fd, temporary, O_EXCL, &st);
	}
	if (fd < 0)
		return fd;
	err = write_all(fd, p->manifest.data, p->manifest.len);
	if (close(fd) && !err && errno != EINTR)
		err = -errno;
	keep_descriptor(p);
	if (!err && renameat(p->dir_fd, temporary, p->dir_fd, LC_MANIFEST_NAME))
		err = -errno;
	if (err)
		unlinkat(p->dir_fd, temporary, 0);
	return err;
}

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
static int open_directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW), err = 0;
	struct stat st;

	if (fd < 0) /* O_DIRECTORY says ENOTDIR of a link, too */
		return !lstat(path, &st) && S_ISLNK(st.st_mode) ? -ELOOP : -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (st.st_uid != geteuid())
		err = -EPERM;
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* 1 when the directory holds files of a profile, 0 when not, or -errno. */
static int holds_profile(int dir_fd)
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
	while (!found && (e = readdir(d))) {
		size_t len = strlen(e->d_name), suffix = strlen(LC_BLOCK_SUFFIX);

		found = !strcmp(e->d_name, LC_MANIFEST_NAME) ||
		        (len > suffix && !strcmp(e->d_name + len - suffix, LC_BLOCK_SUFFIX));
	}
	closedir(d);
	return found;
}

/* Open `path` and take it: the manifest is made exclusively, so of two processes one wins. */
static int claim_directory(struct lc_profile *p, char *path)
{
	static const char first[] = "{\"format\":1,\"blocks\":0,\"engines\":[],\"processes\":[]}\n";
	struct stat st;
	int fd, err = make_directories(path);

	_Static_assert(LC_FORMAT_VERSION == 1, "the first manifest names its version");
	if (err)
		return err;
	p->dir_fd = open_directory(path);
	if (p->dir_fd < 0)
		return p->dir_fd;
	err = holds_profile(p->dir_fd);
	if (err)
		return err < 0 ? err : -EEXIST;
	fd = open_own(p->dir_fd, LC_MANIFEST_NAME, O_EXCL, &st);
	if (fd < 0)
		return fd;
	err = write_all(fd, (const uint8_t *)first, strlen(first));
	close(fd);
	if (err)
		unlinkat(p->dir_fd, LC_MANIFEST_NAME, 0);
	return err;
}

int lc_profile_create(const char *dir, struct lc_profile **out, char *error, size_t error_len)
{
	struct lc_profile *p = calloc(1, sizeof(*p));
	char *path = strdup(dir);
	int err = -ENOMEM;

	/* With a '/' at its end a link would be followed. */
	for (size_t len = path ? strlen(path) : 0; len > 1 && path[len - 1] == '/'; len--)
		path[len - 1] = '\0';
	if (p && path) {
		p->dir_fd = p->fd = -1;
		p->encoder = lc_block_encoder_create();
		err = p->encoder ? claim_directory(p, path) : -ENOMEM;
	}
	free(path);
	if (!err) {
		keep_descriptor(p);
		*out = p;
		return 0;
	}
	lc_profile_close(p);
	if (err == -ELOOP)
		snprintf(error, error_len,
		         "output directory '%s' is a link, which is not followed; name what it "
		         "leads to",
		         dir);
	else if (err == -EPERM)
		snprintf(error, error_len,
		         "output directory '%s' belongs to another user; name one of your own, or "
		         "one that does not exist yet",
		         dir);
	else if (err == -EEXIST)
		snprintf(error, error_len,
		         "output directory '%s' already holds a profile; name another one, "
		         "with %%p for the process ID, or remove it",
		         dir);
	else
		snprintf(error, error_len, "cannot write output directory '%s': %s", dir,
		         strerror(-err));
	return err;
}

void lc_profile_stats(const struct lc_profile *p, struct lc_profile_stats *out)
{
	*out = p->stats;
}

uint64_t lc_profile_room(const struct lc_profile *p)
{
	struct statvfs fs;
	uint64_t bytes;

	if (fstatvfs(p->dir_fd, &fs) || !fs.f_blocks ||
	    __builtin_mul_overflow((uint64_t)fs.f_bavail, (uint64_t)fs.f_frsize, &bytes))
		return UINT64_MAX;
	return bytes;
}

void lc_profile_close(struct lc_profile *p)
{
	if (!p)
		return;
	file_close(p);
	if (p->dir_fd >= 0)
		close(p->dir_fd);
	lc_block_encoder_free(p->encoder);
	free(p->manifest.data);
	free(p);
}
