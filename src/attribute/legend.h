/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/legend.h - says once, in a block of any thread, what holds for paths and sites as such:
 * where recursion was folded, and what the program calls a site's objects.
 */
#ifndef LC_ATTRIBUTE_LEGEND_H
#define LC_ATTRIBUTE_LEGEND_H

#include <jni.h>

struct lc_thread;

/*
 * Put new names into the thread's tally. Names without room go into a later tally, and a row may be
 * in the profile twice. Context: [writer].
 */
void lc_legend_take(JNIEnv *jni, struct lc_thread *t);

/* Another profile begins: all is said again. Context: [writer]. */
void lc_legend_again(void);

#endif
