/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/os/peek.h - reads memory of this process that may not be there any more, and never faults.
 *
 * The heap gives memory back, classes are unloaded, and an address may be no address at all.
 * Unreadable bytes make the returned count short. Between lc_peek_begin() and lc_peek_end() the
 * module copies the bytes itself and catches a fault. Elsewhere, and if faults cannot be caught,
 * the kernel copies them, which takes 1 us. If a collection may run, the caller compares the GC
 * sequence before and after the read.
 *
 * Context, unless a function says otherwise: any, [signal] included; errno is kept.
 */
#ifndef LC_JVM_OS_PEEK_H
#define LC_JVM_OS_PEEK_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

/*
 * Put a handler for SIGSEGV and SIGBUS before the JVM's, which catches the faults of our copies and
 * passes on all others. Returns 0, or -ENOTSUP where the handlers that are there cannot be called
 * by another one, or -errno; then the kernel copies, as it does where this is not called. Context:
 * [attach].
 */
int lc_peek_catch_faults(void);

/* Gets a fault that is no copy's. Returns whether the thread can go on. Context: [signal]. */
typedef bool lc_peek_fault_fn(int sig, siginfo_t *info, void *context);

/* Give such faults to `fn` before anybody else gets them; NULL: to nobody. Context: [attach]. */
void lc_peek_other_faults(lc_peek_fault_fn *fn);
/* Catch them no more, where nobody has put a handler in front. Context: a thread of ours. */
void lc_peek_release_faults(void);

/*
 * Until lc_peek_end(), which takes what this returns, the calling thread may copy without the
 * kernel. `blocked`: in a handler, the signals that the interrupted code has blocked; NULL: the
 * thread runs Java code or is ours, and has blocked none of those that faults send. A handler that
 * comes in between may do the same.
 */
unsigned lc_peek_begin(const sigset_t *blocked);
void lc_peek_end(unsigned before);

/* Is the calling thread between the two, in a handler? Context: any. */
bool lc_peek_in_handler(void);

/* The error with which the kernel has refused to read at all, or 0. Context: any. */
int lc_peek_refused(void);

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
bool lc_peek_poke(uint64_t at, const void *bytes, size_t len);

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
static inline uint64_t lc_peek_load64(uint64_t at)
{
	return *(const volatile uint64_t *)(uintptr_t)at; /* NOLINT */
}

static inline uint32_t lc_peek_load32(uint64_t at)
{
	return *(const volatile uint32_t *)(uintptr_t)at; /* NOLINT */
}

#endif
