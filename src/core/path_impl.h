/* SPDX-License-Identifier: Apache-2.0 */
/* core/path_impl.h - what core/path_intern.c needs of the tables in core/path.c. */
#ifndef LC_CORE_PATH_IMPL_H
#define LC_CORE_PATH_IMPL_H

#include "src/core/path.h"

/*
 * Ask the JVM for everything that a report says of a method, for lc_path_names_free(). A method
 * that is gone has no names of its own, and a version that was replaced has no lines. A name is
 * NULL without memory. Context: as lc_path_intern().
 */
void lc_path_name(JNIEnv *jni, uint64_t version, struct lc_method *out);
void lc_path_names_free(struct lc_method *m);

/* lc_path_type_name() to memory of the caller's; NULL without. */
char *lc_path_type_name_dup(const char *signature);

/*
 * Number of the method, `id` as lc_frame_pack() keeps it, named when it is new; UINT32_MAX when
 * there is no room. Context: as lc_path_intern().
 */
uint32_t lc_path_method_intern(JNIEnv *jni, uint64_t id);

/* The node of a frame, method << 16 | bci, below `parent`; UINT32_MAX without room. */
uint32_t lc_path_frame_intern(uint32_t parent, uint64_t frame);

/* Say that a cycle was folded at the node. Without memory it is not said. */
void lc_path_note_recursion(uint32_t node, uint32_t frames);

/* Count a path or a site that found no room. */
void lc_path_no_room(void);

#endif
