/*
 * jvm/peek.c - reads memory by a system call, which fails where memory is gone. process_vm_readv()
 * and process_vm_writev() are bare system calls, and so async-signal-safe.
 */
#include "src/jvm/peek.h"

#include <errno.h>
#include <unistd.h>

size_t lc_peek_parts(const struct iovec *into, size_t into_len, const struct iovec *from,
                     size_t from_len)
{
	const int saved = errno;
	const ssize_t got = process_vm_readv(getpid(), into, into_len, from, from_len, 0);

	errno = saved;
	return got > 0 ? (size_t)got : 0;
}

bool lc_peek_all(const struct iovec *into, const struct iovec *from, size_t len)
{
	size_t want = 0;

	for (size_t i = 0; i < len; i++)
		want += from[i].iov_len;
	return lc_peek_parts(into, len, from, len) == want;
}

bool lc_peek(uint64_t at, void *out, size_t bytes)
{
	const struct iovec into = { out, bytes }, from = lc_peek_part(at, bytes);

	return lc_peek_all(&into, &from, 1);
}

bool lc_poke(uint64_t at, const void *bytes, size_t len)
{
	const struct iovec from = { (void *)(uintptr_t)bytes, len }; /* NOLINT: only read */
	const struct iovec to = lc_peek_part(at, len);
	const int saved = errno;
	const ssize_t put = process_vm_writev(getpid(), &from, 1, &to, 1, 0);

	errno = saved;
	return put == (ssize_t)len;
}
