/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/code/scopes.h - tells which Java frames stand at a return address of compiled code, inlined
 * ones included.
 *
 * For each call in a compiled method, the JVM keeps the methods that the compiler inlined there and
 * where each of them is, since it must be able to go on in the interpreter. HotSpot on x86, from
 * JDK 17 on.
 */
#ifndef LC_JVM_CODE_SCOPES_H
#define LC_JVM_CODE_SCOPES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Find the fields of the structures. Returns 0; -ENOENT where this JVM does not export them: then
 * nothing is found. Context: [attach]; lc_blob_init() first.
 */
int lc_scopes_init(void);

/* A frame of a Java method. */
struct lc_scope {
	uint64_t method; /* address of the JVM's Method */
	int bci;         /* -1 in a native method */
};

/*
 * The Java frames at the return address `pc` in the compiled method whose blob begins at `blob`,
 * innermost first. Returns how many; -ENOENT where the JVM has recorded nothing for `pc`, -EIO
 * where what it has makes no sense, -ENOSPC where there are more than `max`.
 * Context: [hook] [signal], for code that has a frame on the own stack.
 */
int lc_scopes_at(uint64_t blob, uint64_t pc, struct lc_scope *out, int max);

/*
 * The first address from `pc` on at which the debug information of the compiled method says where
 * it is: it holds for the instructions before that. 0 where there is none. Context: [hook]
 * [signal], as above.
 */
uint64_t lc_scopes_near(uint64_t blob, uint64_t pc);

/*
 * The last address up to `limit` that the debug information of the compiled method names, an
 * instruction's; 0 where there is none. Context: as above.
 */
uint64_t lc_scopes_before(uint64_t blob, uint64_t limit);

/* The JVM's Method that was compiled; 0: none any more. Context: any. */
uint64_t lc_scopes_compiled(uint64_t blob);

/* One past the code of the compiled method; 0: not known. Context: any. */
uint64_t lc_scopes_code_end(uint64_t blob);

/* Has this JVM's debug information a shape that is known? Context: any, after [attach]. */
bool lc_scopes_known(void);

/* A number that tells a compiled method from a later one at its address. Context: as above. */
uint64_t lc_scopes_identity(uint64_t blob);

/*
 * The bytecode index that `bcp` points to in `method`; -1 in a native method; -EIO if it points
 * elsewhere, or `method` is none. Context: [hook]; slow.
 */
int lc_scopes_bci(uint64_t method, uint64_t bcp);

#endif
