/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/layout/metaspace.h - tells which addresses are in the JVM's metaspace outside of the class
 * space: methods, their profiles, constant pools.
 *
 * The JVM exports no range of it. Compiled code touches it for the methods that run: C1's code
 * counts calls and branches in their profiles. So the methods of a sample's path lead there.
 */
#ifndef LC_JVM_LAYOUT_METASPACE_H
#define LC_JVM_LAYOUT_METASPACE_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Find how a method leads to its data. If the JVM does not tell, no address counts as metaspace.
 * Context: [attach], after lc_ranges_init().
 */
void lc_metaspace_init(void);

/*
 * Compiled code on the path `frames` (lc_frame_pack(), leaf first) touched `addr`. If no range of
 * jvm/layout/ranges.h holds it, note where the data of these methods are. Context: [writer].
 */
void lc_metaspace_learn(JNIEnv *jni, uint64_t addr, const uint64_t *frames, size_t len);

/* Is `addr` in metaspace, as far as that was learnt? Context: [writer]. */
bool lc_metaspace_holds(uint64_t addr);

#endif
