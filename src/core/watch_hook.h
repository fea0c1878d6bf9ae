/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/watch_hook.h - lets the watch engine see each new object of the classes that it watches.
 *
 * Hooks of arrays show arrays of watched types, and LocusHook.observe() shows ordinary objects of
 * watched classes. Both first read the int at lc_watch_hook_address().
 */
#ifndef LC_CORE_WATCH_HOOK_H
#define LC_CORE_WATCH_HOOK_H

#include <jni.h>
#include <stdint.h>

enum {
	LC_WATCH_HOOK_MORE = 1, /* more objects of that class are looked for */
	LC_WATCH_HOOK_HIT = 2,  /* the wanted object: track it whatever its size */
};

/*
 * Called with each of these objects, and possibly others, on the thread that made it. Returns
 * LC_WATCH_HOOK_*. Context: [java].
 */
typedef unsigned lc_watch_hook_fn(JNIEnv *jni, jobject object);

/* Set the observer; NULL: there is none. Context: any. */
void lc_watch_hook(lc_watch_hook_fn *observer);

/* Show an object. Returns the observer's result; 0 without one. [hook] */
unsigned lc_watch_hook_show(JNIEnv *jni, jobject object);

/* For compiled Java code: the address of an int that is 0 without an observer. Context: any. */
const void *lc_watch_hook_address(void);

#endif
