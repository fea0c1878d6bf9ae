/*
 * core/watch_hook.h - lets a module look for an object: hooks show it what has just been made.
 *
 * Shown are arrays of watched types, by the hooks of arrays, and ordinary objects of watched
 * classes, by LocusHook.observe(). Both look at the int at lc_watch_hook_address() first.
 */
#ifndef LC_CORE_WATCH_HOOK_H
#define LC_CORE_WATCH_HOOK_H

#include <jni.h>
#include <stdint.h>

enum {
	LC_WATCH_HOOK_MORE = 1, /* more objects of that class are looked for */
	LC_WATCH_HOOK_HIT = 2,  /* it is the one, and is to be tracked whatever its size */
};

/*
 * Called with each such object on the thread that made it, and with others. Returns LC_OBSERVE_*.
 * Context: [java].
 */
typedef unsigned lc_watch_hook_fn(JNIEnv *jni, jobject object);

/* From now on, that one; NULL: none. Context: any. */
void lc_watch_hook(lc_watch_hook_fn *observer);

/* Show an object. Returns what the observer does; 0 without one. [hook] */
unsigned lc_watch_hook_show(JNIEnv *jni, jobject object);

/* Of an int that is 0 while there is no observer, for compiled Java code. Context: any. */
const void *lc_watch_hook_address(void);

#endif
