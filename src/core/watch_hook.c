/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/watch_hook.c - holds the function to which hooks show new objects.
 *
 * Order: O1  the observer is stored (release) after the data that it needs -> loaded (acquire). The
 *            int is only a hint: a thread that reads it late shows one object more, or one less.
 */
#include "src/core/watch_hook.h"

#include <stdatomic.h>
#include <stddef.h>

static _Atomic(lc_watch_hook_fn *) current;
static _Atomic int32_t observed;

void lc_watch_hook(lc_watch_hook_fn *observer)
{
	atomic_store_explicit(&current, observer, memory_order_release); /* O1 */
	atomic_store_explicit(&observed, observer != NULL, memory_order_relaxed);
}

unsigned lc_watch_hook_show(JNIEnv *jni, jobject object)
{
	lc_watch_hook_fn *observer = atomic_load_explicit(&current, memory_order_acquire); /* O1 */

	return __builtin_expect(observer != NULL, 0) ? observer(jni, object) : 0;
}

const void *lc_watch_hook_address(void)
{
	return &observed;
}
