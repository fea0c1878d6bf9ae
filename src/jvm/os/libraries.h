/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/os/libraries.h - replaces functions that the program's native libraries import.
 *
 * The program's libraries are those that were loaded after libjvm, except:
 * - the JDK's own, and libraries that they or Locus need;
 * - the C library and its parts, and the dynamic linker;
 * - libraries with an allocator of their own: they define `malloc`, or need one that does.
 * libstdc++ and libc++ belong to the program, since `new` allocates there.
 *
 * Nothing is remembered of a library: its slots say whether they were redirected. So an unloaded
 * library leaves nothing behind. While slots are read and written, the dynamic linker's lock is
 * held, so that no library is unloaded.
 */
#ifndef LC_JVM_OS_LIBRARIES_H
#define LC_JVM_OS_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A function of the process, and what the program's libraries call in its place. */
struct lc_swap {
	const char *name;
	void *theirs; /* by dlsym(RTLD_DEFAULT); NULL: there is none */
	void *ours;
};

enum { LC_SWAPS_MAX = 32 };

/* How to tell the program's libraries from others. */
struct lc_program {
	uint64_t jvm;     /* an address in libjvm; 0: all but the first, which is the executable */
	uint64_t own;     /* an address in this library */
	const char *home; /* the JDK's directory, with a '/' at the end; "": none */
};

/* How many libraries the dynamic linker has loaded and unloaded so far; 0 at first. */
struct lc_libraries_seen {
	uint64_t loaded, unloaded;
};

/* Has it loaded or unloaded anything since? Sets *seen. Context: any but [signal]. */
bool lc_libraries_changed(struct lc_libraries_seen *seen);

/*
 * Have all slots of the program's libraries that hold `theirs`, or were not used yet, hold `ours`.
 * Slots that lead elsewhere stay. One thread at a time. Returns the number of libraries that have
 * such a slot. Context: any but [signal].
 */
size_t lc_libraries_redirect(const struct lc_swap *swaps, size_t len, const struct lc_program *p);

/*
 * Have the slots of all libraries that hold `ours` hold `theirs`. Returns how many could not be
 * written. Context: as above.
 */
size_t lc_libraries_restore(const struct lc_swap *swaps, size_t len);

#endif
