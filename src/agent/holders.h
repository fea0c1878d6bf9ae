/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/holders.h - answers `locus holders`: through which references objects of a class are held.
 *
 * One JVMTI walk of the heap, in which the JVM stops the program, keeps 16 bytes for each object
 * that may hold others. Objects are told apart by their addresses (agent/holder_place.h). Only
 * class objects and the calling thread have tags, which are removed one by one after the walk. The
 * tags belong to Locus's JVMTI environment, which uses none otherwise: tags of other agents stay. A
 * tag names its walk, so one that was left behind means nothing to the next walk.
 */
#ifndef LC_AGENT_HOLDERS_H
#define LC_AGENT_HOLDERS_H

#include <jni.h>
#include <stdbool.h>

/*
 * `options` is "NS BYTES PATTERN": the longest pause; the memory that the walk may take, 0 for what
 * is left of the recording's; a pattern of class names, or nothing. The answer (base/say.h) is
 * lines of words that are separated by tabs:
 *
 *     walk    ns  bytes of the heap in use  objects  bytes  stopped by, or -
 *     class   objects  bytes  looked at  name
 *     chain   objects  chain
 *     other   objects of other chains
 *
 * Chains belong to the class before them, most objects first. Strings, boxes and arrays of
 * primitive types count only where they, or for strings arrays of bytes, are asked for. Returns
 * false after a line that says why there is none. Nobody else begins or ends a recording meanwhile,
 * nor walks the heap. Context: a thread of ours that is attached.
 */
bool lc_holders_answer(JavaVM *vm, JNIEnv *jni, const char *options);

#endif
