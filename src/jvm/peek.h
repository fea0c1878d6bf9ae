/*
 * jvm/peek.h - reads memory of this process that may not be there any more, and never faults.
 *
 * The heap gives memory back, classes are unloaded, and an address may be no address at all. The
 * kernel copies the bytes, so that what cannot be read is a short count instead of a signal.
 * Nothing is said of their meaning: where a collection may run, the GC sequence is compared before
 * and after.
 *
 * All functions: Context: any, [signal] included. One system call each; errno is kept.
 */
#ifndef LC_JVM_PEEK_H
#define LC_JVM_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

/*
 * Copy `bytes` from `at` to *out. Returns false, and *out is undefined, where not all can be read.
 */
bool lc_peek(uint64_t at, void *out, size_t bytes);

/*
 * Copy the parts of memory `from`, one after the other, to the parts `into`. Returns how many bytes
 * came: copying ends at the first part of `from` that cannot be read whole.
 */
size_t lc_peek_parts(const struct iovec *into, size_t into_len, const struct iovec *from,
                     size_t from_len);

/* The same with as many parts on both sides. Returns whether all of it could be read. */
bool lc_peek_all(const struct iovec *into, const struct iovec *from, size_t len);

/* Copy `len` bytes to `at`. Returns false where they may not be written. */
bool lc_poke(uint64_t at, const void *bytes, size_t len);

/* A part of memory to read. */
static inline struct iovec lc_peek_part(uint64_t at, size_t bytes)
{
	return (struct iovec){ (void *)(uintptr_t)at, bytes }; /* NOLINT: for the kernel to read */
}

/* A number in bytes that were read, at any alignment. */
static inline uint64_t lc_peek_get64(const unsigned char *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

static inline uint32_t lc_peek_get32(const unsigned char *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

/*
 * The JVM's structures that are known to be there are read where they are; others may write them.
 */
static inline uint64_t lc_load64(uint64_t at)
{
	return *(const volatile uint64_t *)(uintptr_t)at; /* NOLINT */
}

static inline uint32_t lc_load32(uint64_t at)
{
	return *(const volatile uint32_t *)(uintptr_t)at; /* NOLINT */
}

#endif
