/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks/classes.h - declares what the agent does with classes: it puts hooks in their bytecode and
 * makes IDs of their methods.
 */
#ifndef LC_HOOKS_CLASSES_H
#define LC_HOOKS_CLASSES_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/classfile/rewrite.h"

struct lc_counters;
struct lc_options;

struct lc_classes_stats {
	uint64_t seen[LC_REWRITE_STATUS_COUNT]; /* class files by what became of them */
	uint64_t sites;                         /* hooks inserted */
	uint64_t skipped_constant;
	uint64_t methods_left;
	uint64_t looked_at;            /* classes loaded before the agent, found to need no hook */
	uint64_t retransformed;        /* the others */
	uint64_t retransform_failures; /* retransformations that the JVM refused */
	uint64_t running;              /* not transformed: a hot method of theirs does not return */
	uint64_t pause_max_ns; /* no batch of them has stopped the running program for longer */
	uint64_t rewrite_ns;
};

/*
 * Objects of these classes are watched: lc_rewrite_options says how they are named. To be called
 * before lc_classes_define_hook(), and `names` to be kept. Context: [attach].
 */
void lc_classes_watch(const char *const *names, size_t len);

/*
 * Define the hook class in java.base, made for the heap of this JVM. Returns it as a global
 * reference, or NULL. Context: [attach], from VMInit on.
 */
jclass lc_classes_define_hook(JNIEnv *jni, const struct lc_options *options);

/*
 * Rewrite the classes that are loaded already; `at_start`: in VMInit. Context: [attach]; hook class
 * defined.
 */
void lc_classes_retransform(JNIEnv *jni, bool at_start);

/* JVMTI's ClassFileLoadHook and ClassPrepare. Context: [java]. */
void JNICALL lc_classes_file_load_hook(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined,
                                       jobject loader, const char *name, jobject domain, jint len,
                                       const unsigned char *data, jint *new_len,
                                       unsigned char **new_data);
void JNICALL lc_classes_prepare(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class);

/* From now on class files stay as they are. Context: a thread of ours. */
void lc_classes_leave(void);

void lc_classes_stats(struct lc_classes_stats *out); /* Context: any. */
void lc_classes_counters(struct lc_counters *out);   /* Context: [writer]. */

#endif
