/* SPDX-License-Identifier: Apache-2.0 */
/* span/streams/flatmap.c - asks LocusSpan for the method of a function, once for each class. */
#include "src/span/streams/flatmap.h"

#include <stdatomic.h>

#include "src/classfile/span_rewrite.h"
#include "src/core/own_work.h"
#include "src/core/path.h"
#include "src/core/record.h"
#include "src/core/version.h"
#include "src/span/tasks/task_place.h"

/* Paths of classes by lc_task_class.id, + 1; 0: not asked yet. All threads write the same. */
static _Atomic uint32_t paths[LC_TASK_CLASSES_MAX + 1];

/* The first line of the function's body, as a path of one frame; 0: not the program's. */
static uint32_t ask(JNIEnv *jni, jobject function)
{
	jclass class = (*jni)->FindClass(jni, LC_SPAN_CLASS);
	jmethodID body =
	    class ? (*jni)->GetStaticMethodID(jni, class, "body",
	                                      "(Ljava/lang/Object;)Ljava/lang/reflect/Method;")
	          : NULL;
	jobject method = NULL;
	uint64_t frame;
	uint32_t path = 0;

	if (body)
		method = (*jni)->CallStaticObjectMethod(jni, class, body, function);
	if ((*jni)->ExceptionCheck(jni)) {
		(*jni)->ExceptionClear(jni);
		method = NULL;
	}
	if (method) {
		frame = lc_version_frame((*jni)->FromReflectedMethod(jni, method), 0);
		path = lc_path_intern(jni, &frame, 1);
		(*jni)->DeleteLocalRef(jni, method);
	}
	if (class)
		(*jni)->DeleteLocalRef(jni, class);
	return path;
}

static uint32_t look_up(struct lc_flatmap_function *known, JNIEnv *jni, jobject function,
                        uint32_t word)
{
	struct lc_task_place_class found = { 0 };
	uint32_t sequence =
	    lc_epoch_gc_sequence(); /* read first: a later change is seen next time */
	const struct lc_task_class *class = lc_task_class_slowly(&found, jni, function, word);
	uint32_t path;

	if (!class)
		return 0;
	path = atomic_load_explicit(&paths[class->id], memory_order_relaxed); /* on its own */
	if (!path) {
		path = ask(jni, function) + 1;
		atomic_store_explicit(&paths[class->id], path, memory_order_relaxed);
	}
	*known =
	    (struct lc_flatmap_function){ .word = word, .sequence = sequence, .path = path - 1 };
	return path - 1;
}

uint32_t lc_flatmap_slowly(struct lc_flatmap_function *known, JNIEnv *jni, jobject function,
                           uint32_t word)
{
	struct lc_own_work work;
	uint32_t path;

	lc_own_work_begin(&work);
	path = look_up(known, jni, function, word);
	lc_own_work_end(&work);
	return path;
}
