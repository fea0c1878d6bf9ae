/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks/hottest.h - orders classes by how much machine code their methods have.
 *
 * A late attach changes thousands of classes in batches, which takes minutes on a starved machine.
 * The program spends most of its time in compiled methods, so their classes come first.
 */
#ifndef LC_HOOKS_HOTTEST_H
#define LC_HOOKS_HOTTEST_H

#include <jni.h>
#include <jvmti.h>
#include <stdint.h>

/*
 * Note compiled methods from now on, some 32,000 of them. Without memory nothing is noted.
 * Context: [attach], before compiled methods are announced.
 */
void lc_hottest_begin(void);

/* A compiled method of so many bytes. Does nothing unless methods are noted. Context: any. */
void lc_hottest_note(jmethodID method, uint32_t bytes);

/*
 * Sort the classes: most machine code first; those with none stay in their order behind. Methods
 * are noted no longer. Without memory the order stays. Context: [attach].
 */
void lc_hottest_first(jclass *classes, jint len);

#endif
