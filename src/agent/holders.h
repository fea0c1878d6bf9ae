/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/holders.h - answers `locus holders`: through which references objects of a class are held,
 * by one walk of the heap (agent/holder_walk.h).
 */
#ifndef LC_AGENT_HOLDERS_H
#define LC_AGENT_HOLDERS_H

#include <jni.h>
#include <stdbool.h>

/*
 * `options` is "NS BYTES PATTERN": the longest pause; the memory that the walk may take, 0 for what
 * is left of the recording's; a pattern of class names, or nothing for all classes. A pattern
 * "@FRAME", such as "@com.acme.Cache.fill:42", chooses allocation sites with such a frame on their
 * call path instead of classes. The answer (base/say.h) is lines of words that are separated by
 * tabs:
 *
 *     walk    ns  bytes of the heap in use  objects  bytes  stopped by, or -
 *             virtual threads that were not followed
 *     class   objects  bytes  looked at  name
 *     site    known objects  looked at  class  frame
 *     chain   objects  chain
 *     other   objects of other chains
 *
 * Chains belong to the class or site before them, most objects first. Strings, boxes and arrays of
 * primitive types count only if the pattern matches them, and strings also if arrays of bytes are
 * looked for. Returns false after a line that gives the reason. Nobody else begins or ends a
 * recording meanwhile, nor walks the heap. Context: a thread of ours that is attached.
 */
bool lc_holders_answer(JavaVM *vm, JNIEnv *jni, const char *options);

#endif
