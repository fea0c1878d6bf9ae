/*
 * agent_marks.c - keeps the names and times of marks under a lock.
 *
 * A thread of the program may come while the recording ends and its memory is set back, so the
 * marks outlive it; those of an earlier recording are dropped when the next is marked or asked for.
 */
#include "src/agent_marks.h"

#include <pthread.h>
#include <string.h>

#include "src/agent_end.h"
#include "src/base/limit.h"
#include "src/base/time.h"
#include "src/core/kept.h"

static LC_KEPT struct {
	pthread_mutex_t lock;
	uint32_t recording; /* whose these are; under lock, as the rest */
	size_t len;
	bool more; /* there was no room for one */
	struct lc_program_mark marks[LC_MARKS_MAX];
} kept = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* With the lock held. */
static void drop_earlier(void)
{
	const uint32_t now = lc_recording();

	if (kept.recording == now)
		return;
	kept.recording = now;
	kept.len = 0;
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

bool lc_marks_add(const char *name)
{
	const uint64_t now = lc_time_now_ns();
	bool done = false;

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
	pthread_mutex_unlock(&kept.lock);
	return done;
}

size_t lc_marks_copy(struct lc_program_mark *out, size_t max)
{
	size_t len;
	bool more;

	pthread_mutex_lock(&kept.lock);
	drop_earlier();
	len = kept.len < max ? kept.len : max;
	memcpy(out, kept.marks, len * sizeof(*out));
	more = kept.more;
	pthread_mutex_unlock(&kept.lock);
	if (more)
		(void)lc_limit_reached("marks",
		                       "the program marks more than %d points in time: later "
		                       "ones are not in the profile",
		                       LC_MARKS_MAX);
	return len;
}
