/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/native_code.h - finds the bounds of functions in the shared objects that are loaded:
 * libjvm, libc, JNI libraries.
 *
 * x86 code can only be decoded from a place where an instruction is known to start. Compilers
 * describe each function for unwinding, and the linker sorts the descriptions by address in a table
 * that is part of the loaded object (.eh_frame_hdr): it is there in stripped objects, too.
 */
#ifndef LC_SAMPLE_NATIVE_CODE_H
#define LC_SAMPLE_NATIVE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A loaded object that has code at the address in question, as it was when it was looked for. */
struct lc_native_library {
	uint64_t low, high; /* its code */
	uint64_t table;     /* its .eh_frame_hdr */
	uint64_t entries;   /* functions in the table */
	uint64_t life;      /* differs for whatever is loaded there later; its highest bit is set */
};

/* Code in which the first byte begins an instruction: a function, or what lies between two. */
struct lc_native_piece {
	uint64_t start, end;
};

/*
 * Look which objects are loaded now. Objects that are loaded later are unknown until the next call,
 * which costs a microsecond where nothing has changed. Context: [attach]; then [writer].
 */
void lc_native_code_refresh(void);

/* The object with code at `pc`. Returns false where none is known. Context: [signal]. No lock. */
bool lc_native_code_library(uint64_t pc, struct lc_native_library *out);

/*
 * The piece of the library's code that holds `pc`. Returns false where its table does not tell.
 * Context: [signal]. Some 20 system calls, bounded; an object that has gone meanwhile is no harm.
 */
bool lc_native_code_piece(const struct lc_native_library *library, uint64_t pc,
                          struct lc_native_piece *out);

#endif
