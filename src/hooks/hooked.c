/* SPDX-License-Identifier: Apache-2.0 */
/* hooks/hooked.c - keeps hashes of the names of classes with hooks. */
#include "src/hooks/hooked.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/limit.h"
#include "src/core/jvmti.h"
#include "src/hooks/batches.h"

enum { FIRST_CAP = 1024, TRIES = 4, TRY_MS = 200 };

static struct {
	pthread_mutex_t lock;
	uint64_t *set; /* open addressing; 0: free. With the next two: under lock */
	size_t len, cap;
	bool full; /* without memory all classes count as hooked */
} hooked = { .lock = PTHREAD_MUTEX_INITIALIZER };

static uint64_t hash_of(const char *name, size_t len)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)name[i]) * UINT64_C(0x100000001b3);
	return h | 1;
}

static uint64_t *slot_of(uint64_t *set, size_t cap, uint64_t h)
{
	size_t at = (h >> 7) % cap;

	while (set[at] && set[at] != h)
		at = (at + 1) % cap;
	return &set[at];
}

/* With the lock held. Returns whether there is room for one more. */
static bool make_room(void)
{
	const size_t cap = hooked.cap ? hooked.cap * 2 : FIRST_CAP;
	uint64_t *set;

	if (hooked.cap && hooked.len < hooked.cap / 2)
		return true;
	set = calloc(cap, sizeof(*set));
	if (!set)
		return false;
	for (size_t i = 0; i < hooked.cap; i++)
		if (hooked.set[i])
			*slot_of(set, cap, hooked.set[i]) = hooked.set[i];
	free(hooked.set);
	hooked.set = set;
	hooked.cap = cap;
	return true;
}

void lc_hooked_note_no_memory(void)
{
	(void)lc_limit_note("classes_lost", "there was no memory to instrument some classes: "
	                                    "allocations in their methods are not counted");
}

void lc_hooked_add(const char *name)
{
	const uint64_t h = hash_of(name, strlen(name));
	uint64_t *slot;

	pthread_mutex_lock(&hooked.lock);
	if (make_room()) {
		slot = slot_of(hooked.set, hooked.cap, h);
		hooked.len += !*slot;
		*slot = h;
	} else {
		hooked.full = true;
	}
	pthread_mutex_unlock(&hooked.lock);
}

static bool is_hooked(jclass class)
{
	jvmtiEnv *jvmti = lc_jvmti();
	jboolean modifiable = JNI_FALSE;
	char *signature = NULL;
	size_t len;
	bool is;

	if ((*jvmti)->GetClassSignature(jvmti, class, &signature, NULL))
		return false;
	len = strlen(signature);
	pthread_mutex_lock(&hooked.lock);
	is = *signature == 'L' && len > 2 &&
	     (hooked.full || (hooked.cap && *slot_of(hooked.set, hooked.cap,
	                                             hash_of(signature + 1, len - 2)) != 0));
	pthread_mutex_unlock(&hooked.lock);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	return is && !(*jvmti)->IsModifiableClass(jvmti, class, &modifiable) && modifiable;
}

size_t lc_hooked_undo(JNIEnv *jni, char *one, size_t one_len)
{
	const struct timespec time = { .tv_nsec = TRY_MS * 1000000L };
	struct lc_batches_stats stats = { 0 };
	jint len = 0, left = 0;
	jclass *loaded = lc_jvmti_loaded(jni, &len);
	char *signature = NULL;

	*one = '\0';
	if (!loaded)
		return 0;
	for (jint i = 0; i < len; i++)
		if (is_hooked(loaded[i]))
			loaded[left++] = loaded[i];
	lc_stages_begin(LC_STAGE_RESTORE);
	for (unsigned i = 0; i < TRIES && left; i++) {
		if (i)
			nanosleep(&time, NULL);
		left = lc_batches_transform(jni, loaded, left, LC_STAGE_RESTORE, &stats);
	}
	if (left && !(*lc_jvmti())->GetClassSignature(lc_jvmti(), loaded[0], &signature, NULL)) {
		snprintf(one, one_len, "%s", signature);
		(*lc_jvmti())->Deallocate(lc_jvmti(), (unsigned char *)signature);
	}
	lc_jvmti_loaded_end(jni, loaded);
	return (size_t)left;
}
