/*
 * core/watch_hook.h - lets a module look for an object: hooks show it what has just been made.
 *
 * Shown are arrays of watched types, by the hooks of arrays, and ordinary objects of watched
 * classes, by LocusHook.observe(). Both look at the int at lc_observe_address() first.
 */
#ifndef LC_CORE_WATCH_HOOK_H
#define LC_CORE_WATCH_HOOK_H

#include <jni.h>
#include <stdint.h>

enum {
	LC_OBSERVE_MORE = 1, /* more objects of that class are looked for */
	LC_OBSERVE_HIT = 2,  /* it is the one, and is to be tracked whatever its size */
};

/*
 * Called with each such object on the thread that made it, and with others. Returns LC_OBSERVE_*.
 * Context: [java].
 */
typedef unsigned lc_observer(JNIEnv *jni, jobject object);

/* From now on, that one; NULL: none. Context: any. */
void lc_observe(lc_observer *observer);

/* Show an object. Returns what the observer does; 0 without one. [hook] */
unsigned lc_observe_show(JNIEnv *jni, jobject object);

/* Of an int that is 0 while there is no observer, for compiled Java code. Context: any. */
const void *lc_observe_address(void);

#endif
