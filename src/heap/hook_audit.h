/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/hook_audit.h - checks what the allocation hooks have found out, for --audit.
 */
#ifndef LC_HEAP_HOOK_AUDIT_H
#define LC_HEAP_HOOK_AUDIT_H

#include <jni.h>
#include <stdint.h>

#include "src/heap/alloc_path.h"

struct lc_thread;

/*
 * A hook has found that its context allocates at `site` (0: it does not record). Is that what the
 * JVM's own walk of the stack says? Context: [hook]; slow.
 */
void lc_hook_audit_context(JNIEnv *jni, struct lc_thread *t, jobject o, uint32_t bytecode_site,
                           enum lc_alloc_origin origin, uint32_t site);

/*
 * `o` was constructed, and may be passed on now: is it where its hook said? If a collection came in
 * between, or its record is some chunks back, it is not held. Context: [hook]; slow.
 */
void lc_hook_audit_constructed(JNIEnv *jni, struct lc_thread *t, jobject o);

#endif
