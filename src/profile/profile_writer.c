/* SPDX-License-Identifier: Apache-2.0 */
/* profile/profile_writer.c - writes the files of a profile: appends blocks, replaces the manifest.
 */
#include "src/profile/profile_writer.h"

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
#include "src/profile/block_encoder.h"
#include "src/profile/directory.h"
#include "src/profile/manifest.h"

#define RETRY_NS UINT64_C(1000000000)

/*
 * A profile is its owner's alone: it holds the command line and names of the program. No link is
 * followed, and nothing but a regular file is written to; what is no such file (a pipe) is opened
 * without waiting for its other end.
 */
enum {
	OPEN_FLAGS = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
	FILE_MODE = 0600,
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
	off_t ends[FILES];        /* bytes of the files, as they were written */
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
static int file_append(struct lc_profile *p, off_t bytes)
{
	int err =
	    write_all(p->fd, lc_block_encoded(p->encoder)->data, lc_block_encoded(p->encoder)->len);
	if (err && ftruncate(p->fd, bytes)) {
		/* A cut block stays; readers skip it and say so. */
	}
	if (err)
		file_close(p);
	return err;
}

/*
 * Returns the number of appended blocks, or -errno, and *disk if it is the file system's. If the
 * file has changed (it was removed, or a block could not be cut off), the block refers to no
 * earlier definitions.
 */
static int try_append(struct lc_profile *p, const struct lc_block_input *in, uint32_t file,
                      bool *disk)
{
	int blocks = lc_block_encode(p->encoder, in, file, p->next[file]), err;
	off_t bytes = 0;

	if (blocks < 0)
		return blocks;
	err = file_open(p, file, &bytes);
	if (!err && bytes != p->ends[file]) {
		lc_block_forget(p->encoder, file);
		blocks = lc_block_encode(p->encoder, in, file, p->next[file]);
		if (blocks < 0)
			return blocks;
	}
	if (!err)
		err = file_append(p, bytes);
	if (err) {
		lc_block_forget(p->encoder, file);
		*disk = true;
		return err;
	}
	p->ends[file] = bytes + (off_t)lc_block_encoded(p->encoder)->len;
	return blocks;
}

static int append(struct lc_profile *p, const struct lc_block_input *in)
{
	const uint32_t file = in->index / THREADS_TOGETHER % FILES;
	bool disk = false;
	int blocks;

	if (in->index == LC_THREAD_ALL)
		return -EINVAL;
	if (p->retry_ns && lc_time_now_ns() < p->retry_ns)
		return -EAGAIN;
	blocks = try_append(p, in, file, &disk);
	if (blocks < 0 && !disk)
		return blocks;
	if (blocks < 0) {
		if (p->retry_ns)
			blocks = -EAGAIN;
		p->retry_ns = lc_time_now_ns() + RETRY_NS;
		return blocks;
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

void lc_profile_disk_full(struct lc_profile *p)
{
	struct stat st;
	const int fd = open_own(p->dir_fd, LC_DISK_FULL_NAME, O_EXCL, &st);

	if (fd >= 0)
		close(fd);
}

/*
 * Take the directory `fd`, which is the caller's no more: the manifest is made exclusively, so of
 * two processes one wins.
 */
static int claim_directory(struct lc_profile *p, int fd)
{
	static const char first[] = "{\"format\":1,\"blocks\":0,\"engines\":[],\"processes\":[]}\n";
	struct stat st;
	int err = lc_directory_holds_profile(fd);

	_Static_assert(LC_FORMAT_VERSION == 1, "the first manifest names its version");
	p->dir_fd = fd;
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

int lc_profile_create_in(int fd, struct lc_profile **out)
{
	struct lc_profile *p = calloc(1, sizeof(*p));
	int err = -ENOMEM;

	if (!p) {
		close(fd);
		return err;
	}
	p->dir_fd = p->fd = -1;
	p->encoder = lc_block_encoder_create();
	if (p->encoder)
		err = claim_directory(p, fd);
	else
		close(fd);
	if (err) {
		lc_profile_close(p);
		return err;
	}
	keep_descriptor(p);
	*out = p;
	return 0;
}

int lc_profile_create(const char *dir, struct lc_profile **out, char *error, size_t error_len)
{
	const int fd = lc_directory_make(dir);
	const int err = fd < 0 ? fd : lc_profile_create_in(fd, out);

	if (err)
		lc_directory_tell(dir, err, error, error_len);
	return err;
}

void lc_profile_stats(const struct lc_profile *p, struct lc_profile_stats *out)
{
	*out = p->stats;
	out->manifest_bytes = p->manifest.len;
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
