/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/holders.h - answers `locus holders`: through which references objects of a class are held.
 *
 * One JVMTI walk of the heap, in which the JVM stops the program, keeps a table of 16 bytes for
 * each object. The JVM keeps a tag for each of them, too, until a second, shorter walk takes the
 * tags away. The tags belong to Locus's JVMTI environment, which uses none otherwise, so tags of
 * other agents are not touched. A tag names its walk, so one that was left behind means nothing to
 * the next walk. An environment of its own would have to be disposed of (core/jvmti.h).
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
 *     walk    ns of the walk  ns of the walk that removes tags  objects  bytes  stopped by, or -
 *     class   objects  bytes  looked at  name
 *     chain   objects  chain
 *     other   objects of other chains
 *
 * Chains belong to the class before them, most objects first. Arrays of primitive types count only
 * where they are asked for. Returns false after a line that says
 * why there is none. Nobody else begins or ends a recording meanwhile, nor walks the heap. Context:
 * a thread of ours that is attached.
 */
bool lc_holders_answer(JavaVM *vm, JNIEnv *jni, const char *options);

#endif
