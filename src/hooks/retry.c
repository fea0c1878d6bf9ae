/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks/retry.c - keeps the classes that wait to be transformed, and reports those that wait long.
 *
 * Order: R1  transform() stores `running` after the classes -> lc_retry_due() loads it.
 */
#include "src/hooks/retry.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/limit.h"
#include "src/base/time.h"
#include "src/core/jvmti.h"
#include "src/core/refs.h"
#include "src/core/stages.h"
#include "src/hooks/hooked.h"

#define AGAIN_NS UINT64_C(2000000000) /* from one try to the next */

enum {
	NAMES_BYTES = 160,
	SAID_AFTER = 2, /* looks */
	TRIES = 6,      /* that --track hot waits for */
};

static struct {
	/* Used by: the thread that attaches, later the transforming thread. */
	jclass *classes; /* lc_ref_new() */
	jint len;
	unsigned looks;
	bool chosen;                   /* classes were added for --track hot */
	uint64_t next_ns;              /* of the transforming thread; read while it does not run */
	struct lc_batches_stats stats; /* under `lock` */
	pthread_mutex_t lock;
	_Atomic uint64_t running; /* len */
} running = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Name the classes, as many as fit. */
static void say(void)
{
	char names[NAMES_BYTES] = "";
	size_t at = 0;

	for (jint i = 0; i < running.len; i++) {
		char *name = NULL;

		if ((*lc_jvmti())->GetClassSignature(lc_jvmti(), running.classes[i], &name, NULL))
			continue;
		if (at + strlen(name) + 2 < sizeof(names))
			at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%.*s",
			                       at ? ", " : "", (int)strlen(name) - 2, name + 1);
		(*lc_jvmti())->Deallocate(lc_jvmti(), (unsigned char *)name);
	}
	if (running.chosen)
		lc_limit_reached(
		    "running",
		    "some lines that allocate in %d classes are unknown: a method of theirs ran "
		    "when '--track hot' chose a class, and has not returned; --track knows them "
		    "if it names the class: %s",
		    running.len, names);
	else
		lc_limit_reached(
		    "running",
		    "the lines that allocate in some classes (%d) are unknown: a method of theirs "
		    "ran at the attach and has not returned; 'locus run' knows them: %s",
		    running.len, names);
}

/*
 * Keep only the classes that still have to wait. May take seconds, without the lock. References are
 * deleted in the reverse order in which they were made, for which core/refs.c is quick.
 */
static void transform(JNIEnv *jni)
{
	const jint len = running.len;
	struct lc_batches_stats stats;

	lc_retry_stats(&stats);
	running.len = lc_batches_transform(jni, running.classes, len, LC_STAGE_CLASSES, &stats);
	pthread_mutex_lock(&running.lock);
	running.stats = stats;
	pthread_mutex_unlock(&running.lock);
	for (jint i = len; i-- > running.len;)
		lc_ref_delete(jni, running.classes[i]);
	if (!running.len) {
		free(running.classes);
		running.classes = NULL;
	}
	atomic_store(&running.running, (uint64_t)running.len); /* R1 */
}

bool lc_retry_due(void)
{
	return atomic_load(&running.running) && lc_time_now_ns() >= running.next_ns; /* R1 */
}

void lc_retry_again(JNIEnv *jni)
{
	transform(jni);
	running.next_ns = lc_time_now_ns() + AGAIN_NS;
	if (++running.looks == SAID_AFTER && running.len)
		say();
}

void lc_retry_transform(JNIEnv *jni, jclass *classes, jint len)
{
	running.classes = classes;
	running.len = len;
	transform(jni);
}

/* Does the class wait already? */
static bool waits(JNIEnv *jni, jclass class)
{
	for (jint i = 0; i < running.len; i++)
		if ((*jni)->IsSameObject(jni, running.classes[i], class))
			return true;
	return false;
}

void lc_retry_add(JNIEnv *jni, jclass *classes, jint len)
{
	jclass *all = realloc(classes, ((size_t)len + (size_t)running.len + 1) * sizeof(*all));
	jint kept = 0;

	if (!all) { /* those that wait go on to wait */
		lc_hooked_note_no_memory();
		free(classes);
		return;
	}
	for (jint i = 0; i < len; i++) {
		if (waits(jni, all[i]))
			lc_ref_delete(jni, all[i]);
		else
			all[kept++] = all[i];
	}
	for (jint i = 0; i < running.len; i++)
		all[kept++] = running.classes[i];
	free(running.classes);
	running.looks = 0;
	running.chosen = true;
	lc_retry_transform(jni, all, kept);
	/* On a busy machine a method that is called all the time may seem not to return. */
	for (unsigned i = 1; i < TRIES && running.len && !lc_stages_stopped(); i++)
		transform(jni);
}

void lc_retry_stats(struct lc_batches_stats *out)
{
	pthread_mutex_lock(&running.lock);
	*out = running.stats;
	pthread_mutex_unlock(&running.lock);
	out->running = atomic_load(&running.running);
}
