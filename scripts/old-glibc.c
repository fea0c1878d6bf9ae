/* SPDX-License-Identifier: Apache-2.0 */
/*
 * old-glibc.c - functions that programs of ours call and that glibc 2.17 does not have
 *
 * scripts/old-glibc links them in, hidden. Each is its system call, so that each may be called
 * where glibc's may.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's struct is both of glibc's. */
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "64 bits");

int fstatat(int fd, const char *restrict path, struct stat *restrict st, int flags)
{
	return (int)syscall(SYS_newfstatat, fd, path, st, flags);
}

int stat(const char *restrict path, struct stat *restrict st)
{
	return fstatat(AT_FDCWD, path, st, 0);
}

int lstat(const char *restrict path, struct stat *restrict st)
{
	return fstatat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

int fstat(int fd, struct stat *st)
{
	return (int)syscall(SYS_fstat, fd, st);
}

int stat64(const char *restrict path, struct stat64 *restrict st)
{
	return (int)syscall(SYS_newfstatat, AT_FDCWD, path, st, 0);
}

int lstat64(const char *restrict path, struct stat64 *restrict st)
{
	return (int)syscall(SYS_newfstatat, AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

int fstat64(int fd, struct stat64 *st)
{
	return (int)syscall(SYS_fstat, fd, st);
}

/* Linux has it since 3.17. */
ssize_t getrandom(void *into, size_t bytes, unsigned int flags)
{
	ssize_t got = syscall(SYS_getrandom, into, bytes, flags);
	int fd;

	if (got >= 0 || errno != ENOSYS)
		return got;
	fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		got = read(fd, into, bytes);
		close(fd);
	}
	return got;
}
