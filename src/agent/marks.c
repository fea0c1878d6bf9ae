/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/marks.c - keeps the names and times of marks under a lock.
 *
 * A mark divides what is counted: the attribution thread ends all blocks at the time that it gives
 * the mark, and the thread that marks waits until it has, so that what it allocates before and
 * after is told apart.
 *
 * A thread of the program may come while the recording ends and its memory is set back, so the
 * marks outlive it; those of an earlier recording are dropped when the next is marked or asked for.
 */
#include "src/agent/marks.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "src/agent/agent_end.h"
#include "src/base/limit.h"
#include "src/base/time.h"
#include "src/core/reset.h"
#include "src/core/wake.h"

#define WAIT_NS UINT64_C(1000000000)
#define POLL_NS 200000

static LC_KEPT struct {
	pthread_mutex_t lock;
	uint32_t recording; /* whose these are; under lock, as the rest */
	size_t len;
	bool more;      /* there was no room for one */
	size_t placed;  /* so many have the time at which what is counted was divided */
	size_t divided; /* so many have blocks that end at their time */
	struct lc_program_mark marks[LC_MARKS_MAX];
} kept = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* With the lock held. */
static void drop_earlier(void)
{
	const uint32_t now = lc_recording();

	if (kept.recording == now)
		return;
	kept.recording = now;
	kept.len = kept.placed = kept.divided = 0;
	kept.more = false;
}

/* The text, cut where a character begins. */
static void set_name(struct lc_program_mark *m, const char *name)
{
	size_t len = strnlen(name, sizeof(m->name));

	if (len == sizeof(m->name))
		for (len--; len && ((unsigned char)name[len] & 0xc0) == 0x80; len--)
			;
	memcpy(m->name, name, len);
	m->name[len] = '\0';
}

/* Have blocks ended at the first `marks` of the recording, or is it another one? */
static bool is_divided(uint32_t recording, size_t marks)
{
	bool done;

	pthread_mutex_lock(&kept.lock);
	done = kept.recording != recording || kept.divided >= marks;
	pthread_mutex_unlock(&kept.lock);
	return done;
}

/* Not longer than WAIT_NS: the mark is late then, and no block ends at the call. */
static void wait_for_division(uint32_t recording, size_t marks, uint64_t now)
{
	lc_wake();
	while (!is_divided(recording, marks) && lc_agent_records() &&
	       lc_time_now_ns() - now < WAIT_NS)
		nanosleep(&(struct timespec){ .tv_nsec = POLL_NS }, NULL);
}

bool lc_marks_add(const char *name)
{
	const uint64_t now = lc_time_now_ns();
	uint32_t recording;
	bool done = false;
	size_t marks;

	if (!lc_agent_records())
		return false;
	pthread_mutex_lock(&kept.lock);
	drop_earlier();
	if (kept.len < LC_MARKS_MAX) {
		struct lc_program_mark *m = &kept.marks[kept.len++];

		m->time_ns = now;
		set_name(m, name);
		done = true;
	} else {
		kept.more = true;
	}
	recording = kept.recording;
	marks = kept.len;
	pthread_mutex_unlock(&kept.lock);
	if (done)
		wait_for_division(recording, marks, now);
	return done;
}

bool lc_marks_add_string(JNIEnv *jni, jstring name)
{
	const char *text = (*jni)->GetStringUTFChars(jni, name, NULL);
	bool done = false;

	if (text) {
		done = lc_marks_add(text);
		(*jni)->ReleaseStringUTFChars(jni, name, text);
	}
	return done;
}

bool lc_marks_place(uint64_t now_ns)
{
	bool any;

	pthread_mutex_lock(&kept.lock);
	drop_earlier();
	any = kept.placed < kept.len;
	for (; kept.placed < kept.len; kept.placed++)
		kept.marks[kept.placed].time_ns = now_ns;
	pthread_mutex_unlock(&kept.lock);
	return any;
}

void lc_marks_divided(void)
{
	pthread_mutex_lock(&kept.lock);
	kept.divided = kept.placed;
	pthread_mutex_unlock(&kept.lock);
}

size_t lc_marks_copy(struct lc_program_mark *out, size_t max)
{
	size_t len;
	bool more;

	pthread_mutex_lock(&kept.lock);
	drop_earlier();
	len = kept.placed < max ? kept.placed : max;
	memcpy(out, kept.marks, len * sizeof(*out));
	more = kept.more;
	pthread_mutex_unlock(&kept.lock);
	if (more)
		(void)lc_limit_reached(
		    "marks",
		    "the program has set more than %d marks: later ones are not in the profile",
		    LC_MARKS_MAX);
	return len;
}
