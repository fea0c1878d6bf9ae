/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks/tracked_sites.h - finds the loaded classes whose code may make an object of a tracked
 * class.
 */
#ifndef LC_HOOKS_TRACKED_SITES_H
#define LC_HOOKS_TRACKED_SITES_H

#include <jvmti.h>

struct lc_track;

/*
 * The loaded classes that make, or may make, objects of the classes `track`, by the code that they
 * run at present: global references that lc_ref_new() made, in a list that malloc() made. Notes the
 * classes that the JVM does not let change (hooks/unchanged.h). lc_stages_stop() ends the search
 * early. NULL without memory. Context: a thread of ours that may wait.
 */
jclass *lc_tracked_sites_find(JNIEnv *jni, const struct lc_track *track, jint *len);

#endif
