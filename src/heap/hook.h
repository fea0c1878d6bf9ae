/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/hook.h - declares the native side of java.lang.LocusHook, which an instrumented allocation
 * calls.
 */
#ifndef LC_HEAP_HOOK_H
#define LC_HEAP_HOOK_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lc_options;
struct lc_thread;

/*
 * Prepare, after the hook class was defined. Without `follow` allocations are counted and not
 * logged, since their addresses will not stay known. Hooks record nothing before
 * lc_hook_enable(true).
 * Returns 0 or -errno. Context: [attach].
 */
int lc_hook_init(jclass hook_class, const struct lc_options *options, bool follow);

/*
 * Objects move while the program runs: they are logged with the time (core/record.h). `audit`: hold
 * a reference to each. After lc_hook_init() without `follow`. Context: [attach].
 */
void lc_hook_order(bool audit);

void lc_hook_enable(bool on);

/* Objects of at least so many bytes are counted; 0: all. Context: any. */
uint64_t lc_hook_min_size_bytes(void);

/*
 * The site of a block outside the heap that the calling Java code allocates, by the path and the
 * JVM signature that `signature_of` gives its class. `frame` is that of the native method:
 * __builtin_frame_address(0). Blocks of equal `kind`, which is not 0, have one signature. 0: it
 * cannot be told, or hooks are off. Context: [hook].
 */
uint32_t lc_hook_block_site(JNIEnv *jni, uint64_t frame, uint32_t kind,
                            const char *(*signature_of)(uint32_t *path));

/*
 * May hooks count a small object for the caller seen last, without a look at the stack? Context:
 * any.
 */
bool lc_hook_assumes(void);

/* Allocations that could not be counted. Context: any. */
uint64_t lc_hook_missed(void);

#endif
