/* agent_running.c - keeps classes, and says which. */
#include "src/agent_running.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/limit.h"
#include "src/base/time.h"
#include "src/core/jvmti.h"
#include "src/core/refs.h"

#define AGAIN_NS UINT64_C(2000000000) /* from one look to the next */

enum { NAMES_BYTES = 160, SAID_AFTER = 2 /* looks */ };

static struct {
	/* Of the thread that attaches, then the attribution thread's. */
	jclass *classes; /* lc_ref_new() */
	jint len;
	unsigned looks;
	uint64_t next_ns;
	struct lc_batches_stats stats;
	_Atomic uint64_t running;
} running;

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
	lc_limit_reached("running",
	                 "what %d classes allocate is known by class only, since a method of "
	                 "theirs runs and does not return: %s",
	                 running.len, names);
}

void lc_running_again(JNIEnv *jni)
{
	const uint64_t now = lc_time_now_ns();
	const jint len = running.len;

	if (!len || now < running.next_ns)
		return;
	running.len = lc_batches_transform(jni, running.classes, len, &running.stats);
	running.next_ns = lc_time_now_ns() + AGAIN_NS;
	atomic_store(&running.running, (uint64_t)running.len);
	for (jint i = running.len; i < len; i++)
		lc_ref_delete(jni, running.classes[i]);
	if (++running.looks == SAID_AFTER && running.len)
		say();
}

void lc_running_transform(JNIEnv *jni, jclass *classes, jint len)
{
	len = lc_batches_transform(jni, classes, len, &running.stats);
	running.classes = len ? malloc((size_t)len * sizeof(*running.classes)) : NULL;
	for (jint i = 0; running.classes && i < len; i++) {
		const jclass kept = lc_ref_new(jni, classes[i]);

		if (kept)
			running.classes[running.len++] = kept;
	}
	atomic_store(&running.running, (uint64_t)running.len);
}

void lc_running_stats(struct lc_batches_stats *out)
{
	*out = running.stats;
	out->running = atomic_load(&running.running);
}
