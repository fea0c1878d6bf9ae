/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/code/debug_info.h - has the JIT note where instructions are, and not only calls.
 *
 * Else a sample between two calls is said to be at the line of one of them. The JVM does so by
 * itself while somebody wants to be told of compiled methods; the flag is DebugNonSafepoints.
 */
#ifndef LC_JVM_CODE_DEBUG_INFO_H
#define LC_JVM_CODE_DEBUG_INFO_H

#include <stdbool.h>

/*
 * From now on, unless the flag was set by who started the JVM. Returns false where there is no flag
 * that can be set. Context: [attach]; lc_layout_find() first.
 */
bool lc_debug_info_begin(void);

/* From now on as before. Context: any thread of ours, more than once. */
void lc_debug_info_end(void);

#endif
