/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/os/imports.h - replaces functions that a library imports by functions of the agent.
 *
 * A library calls imported functions through slots: words of its own that the dynamic linker has
 * filled in (System V ABI, AMD64 supplement, "Procedure Linkage Table"). Only that library's calls
 * are redirected. If the linker has made the slots read-only (RELRO), their pages are writable only
 * while a slot is written.
 */
#ifndef LC_JVM_OS_IMPORTS_H
#define LC_JVM_OS_IMPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LC_IMPORT_SLOTS_MAX = 4 };

/* A function that a library imports, and what is called in its place. */
struct lc_import {
	const char *name;
	void *ours;
	void *before; /* what the slots held, or would have held: `ours` calls it on */
	uint64_t *slots[LC_IMPORT_SLOTS_MAX];
	size_t slots_len;
};

/* The imports of one library. */
struct lc_imports {
	struct lc_import *list;
	size_t len;
	uint64_t sealed_low, sealed_high; /* pages that the dynamic linker made read-only */
};

/*
 * Find the slots of the imports of the library that the address `inside` lies in; sets all but
 * `list`, `len`, `name` and `ours`. Changes nothing in the library. Returns 0; -ENOENT where the
 * library is not found or does not import one of them; -E2BIG where it has more slots for one than
 * there is room for. Context: any thread; takes the dynamic linker's lock.
 */
int lc_imports_find(uint64_t inside, struct lc_imports *i);

/*
 * Write `ours` into the slots that were found. Other threads may call through them meanwhile.
 * Returns 0, or -errno of mprotect(); then no slot is changed. Context: any thread.
 */
int lc_imports_redirect(const struct lc_imports *i);

/*
 * Write `before` into the slots that hold `ours`. Returns 0; -EBUSY where somebody else has
 * redirected a slot since, which is left alone; or -errno of mprotect(). Context: as above.
 */
int lc_imports_restore(const struct lc_imports *i);

/* Do all slots hold `ours`? */
bool lc_imports_ours(const struct lc_imports *i);

/*
 * Have the slot hold `to` if it holds `from`, or whatever it holds if `from` is 0. `sealed`: the
 * dynamic linker has made its page read-only. Returns 0; -EBUSY if the slot holds something else;
 * or -errno of mprotect(). Context: any thread.
 */
int lc_imports_exchange(uint64_t *slot, bool sealed, uint64_t from, uint64_t to);

#endif
