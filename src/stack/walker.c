/* SPDX-License-Identifier: Apache-2.0 */
/* stack/walker.c - walks a thread's own stack through JVMTI. */
#include "src/stack/walker.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "src/core/jvmti.h"
#include "src/core/own_cost.h"

enum { FRAMES_FIRST = 48, FRAMES_MAX = 1024 };

int lc_walker_create(struct lc_walker **out)
{
	struct lc_walker *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	*out = w;
	return 0;
}

void lc_walker_destroy(struct lc_walker *w)
{
	if (!w)
		return;
	lc_walk_credit_return(&w->credit);
	for (unsigned i = 0; i < LC_WALKER_SCRATCHES; i++)
		free(w->scratch[i]);
	free(w);
}

void *lc_walker_scratch(struct lc_walker *w, enum lc_walker_scratch use, size_t bytes)
{
	if (w->scratch_bytes[use] < bytes) {
		void *bigger = realloc(w->scratch[use], bytes);

		if (!bigger)
			return NULL;
		w->scratch[use] = bigger;
		w->scratch_bytes[use] = bytes;
	}
	return w->scratch[use];
}

uint64_t lc_walker_ask_end(struct lc_walker *w)
{
	pthread_attr_t attr;
	void *low = NULL;
	size_t bytes = 0;

	if (pthread_getattr_np(pthread_self(), &attr))
		return 0;
	if (!pthread_attr_getstack(&attr, &low, &bytes)) {
		w->stack_low = (uint64_t)(uintptr_t)low;
		w->stack_end = w->stack_low + bytes;
	}
	pthread_attr_destroy(&attr);
	return w->stack_end;
}

int lc_walker_ask(struct lc_walker *w, jint cap, jvmtiFrameInfo *frames, jint *len)
{
	uint64_t own, begin, ns;
	jvmtiError err;
	jint got = 0;

	if (!lc_walk_credit_left(&w->credit))
		return -EAGAIN;
	own = lc_own_cost_begin();
	begin = own ? own : lc_own_cost_clock();
	err = (*lc_jvmti())->GetStackTrace(lc_jvmti(), NULL, 0, cap, frames, &got);
	ns = lc_own_cost_end(LC_OWN_WALKS, own);
	lc_walk_credit_pay(&w->credit, LC_WALK_JVM, ns ? ns : lc_own_cost_clock() - begin);
	lc_walk_credit_walked(got > 0 ? (uint64_t)got : 0);
	if (err)
		return -EIO;
	*len = got;
	return 0;
}

int lc_walker_walk(struct lc_walker *w, JNIEnv *jni, bool deep, lc_walker_stop *stop, void *closure,
                   struct lc_walked *out)
{
	for (jint cap = deep ? FRAMES_MAX : FRAMES_FIRST;; cap = FRAMES_MAX) {
		jvmtiFrameInfo *frames = lc_walker_scratch(
		    w, LC_WALKER_FRAMES, (size_t)cap * (sizeof(*frames) + sizeof(uint64_t)));
		jint len = 0, at;
		int err;

		if (!frames)
			return -ENOMEM;
		err = lc_walker_ask(w, cap, frames, &len);
		if (err)
			return err;
		at = stop(jni, frames, len, closure);
		if (at >= len && len == cap && cap < FRAMES_MAX)
			continue;
		*out = (struct lc_walked){ .frames = frames,
			                   .packed = (uint64_t *)(frames + cap),
			                   .len = len,
			                   .stop = at < len ? at : len };
		return 0;
	}
}
