/* SPDX-License-Identifier: Apache-2.0 */
/* jvm/code/code_cache.h - finds generated code by address: compiled methods, stubs, the
 * interpreter. */
#ifndef LC_JVM_CODE_CODE_CACHE_H
#define LC_JVM_CODE_CODE_CACHE_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

enum lc_code_cache_kind {
	LC_CODE_METHOD = 1,  /* compiled by C1 or C2, native wrappers included */
	LC_CODE_STUB,        /* array copies, fills, intrinsics, vtable stubs, adapters */
	LC_CODE_INTERPRETER, /* never decoded */
	LC_CODE_RUNTIME      /* blobs through which compiled code enters the JVM; never decoded */
};

/* A piece of generated code as it was when lc_code_cache_find() looked. */
struct lc_code_cache_piece {
	uint64_t start; /* an instruction starts here */
	uint64_t end;   /* one past the last byte */
	uint64_t life;  /* differs for whatever occupies the same bytes later; never 0 */
	uint32_t kind;  /* enum lc_code_cache_kind */
};

/*
 * Prepare the tables: for the code cache range that the JVM exports, else for the range
 * around the first code that is reported. Returns 0 or -errno. Context: [attach].
 */
int lc_code_cache_init(void);

/* To be called from the JVMTI events of the same names. Context: [java] or a compiler thread. */
void lc_code_cache_compiled_method_load(jmethodID method, jint code_size, const void *code_addr,
                                        jint map_length, const jvmtiAddrLocationMap *map,
                                        const void *compile_info);
void lc_code_cache_compiled_method_unload(jmethodID method, const void *code_addr);
void lc_code_cache_dynamic_code_generated(const char *name, const void *address, jint length);

/* Is `pc` inside the code cache, known code or not? Context: any. */
bool lc_code_cache_in_cache(uint64_t pc);

/*
 * The code at `pc`. Returns false, *out untouched, where none is known.
 * Context: any, signal handlers included. No lock, bounded.
 */
bool lc_code_cache_find(uint64_t pc, struct lc_code_cache_piece *out);

/* Is `pc` in a compiled method? Context: any; quicker than to ask for the method. */
bool lc_code_cache_is_method(uint64_t pc);

/*
 * The number (core/method_number.h) of the method that the code at `pc` was compiled for (others
 * may be inlined); 0 unknown. Context: any.
 */
uint64_t lc_code_cache_method(uint64_t pc);

/*
 * The last known instruction boundary of `code` in [code->start, limit]; code->start where no
 * other is known. Boundaries are the addresses that the JVM's debug information names.
 * Context: any, signal handlers included. Bounded by the size of the code.
 */
uint64_t lc_code_cache_boundary(const struct lc_code_cache_piece *code, uint64_t limit);

#endif
