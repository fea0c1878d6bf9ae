/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/agent_profile.c - makes the profile's directory, begins the next profile (--loop), and ends
 * the recording when the profiles have reached their size limit.
 *
 * The blocks of the last second, and those that wait, are written after the limit was reached: the
 * profile is complete, and a little larger.
 */
#include "src/agent/agent_profile.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/agent/agent_end.h"
#include "src/agent/agent_manifest.h"
#include "src/base/limit.h"
#include "src/base/options.h"
#include "src/base/say.h"
#include "src/base/time.h"
#include "src/profile/directory.h"
#include "src/profile/loop.h"
#include "src/profile/profile_writer.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define DEFAULT_MAX (4096 * MIB)
#define DEFAULT_MIN MIB
#define RETRY_NS UINT64_C(10000000000)

enum { DEFAULT_PART = 4 /* of what the file system has free */ };

static struct {
	const struct lc_options *options;
	struct lc_loop *loop; /* NULL: there is one profile */
	struct lc_profile *profile;
	uint64_t next_ns;  /* when the next one begins; UINT64_MAX: by size */
	uint64_t retry_ns; /* not before; after it could not be begun */
	bool failed;       /* which was said */
	char directory[PATH_MAX];
	uint64_t max_bytes; /* 0: no limit */
	bool ends;          /* [writer] */
} out;

/* Expand %p, %t and %% of the output pattern. */
static void expand_output(const char *p)
{
	size_t len = 0;

	while (*p && len + 1 < sizeof(out.directory)) {
		const size_t left = sizeof(out.directory) - len;
		int n = 1;

		if (*p == '%' && p[1] == 'p')
			n = snprintf(out.directory + len, left, "%d", (int)getpid());
		else if (*p == '%' && p[1] == 't')
			n = snprintf(out.directory + len, left, "%lld", (long long)time(NULL));
		else
			out.directory[len] = *p;
		if (*p == '%' && p[1] && strchr("pt%", p[1]))
			p++;
		p++;
		len += (size_t)n < left ? (size_t)n : left - 1;
	}
	out.directory[len] = '\0';
}

static uint64_t limit(const struct lc_options *o)
{
	const uint64_t part = lc_profile_room(out.profile) / DEFAULT_PART;

	if (o->max_profile_bytes != LC_MAX_PROFILE_AUTO)
		return o->max_profile_bytes;
	if (part < DEFAULT_MIN)
		return DEFAULT_MIN;
	return part < DEFAULT_MAX ? part : DEFAULT_MAX;
}

/* When the profile that begins now is over. */
static uint64_t next_time(uint64_t now_ns)
{
	const uint64_t loop = out.options->loop;

	return loop & LC_LOOP_BYTES || !loop ? UINT64_MAX : now_ns + loop;
}

static int open_loop(char *error, size_t error_len)
{
	int err =
	    lc_loop_create(out.directory, (uint32_t)out.options->keep, &out.loop, error, error_len);

	if (err)
		return err;
	err = lc_loop_next(out.loop, &out.profile);
	if (err)
		lc_directory_tell(out.directory, err, error, error_len);
	return err;
}

int lc_agent_profile_open(const struct lc_options *o)
{
	char error[PATH_MAX + 256];
	int err;

	out.options = o;
	expand_output(o->output);
	if (o->loop)
		err = open_loop(error, sizeof(error));
	else
		err = lc_profile_create(out.directory, &out.profile, error, sizeof(error));
	if (err) {
		lc_say("%s; the program runs unprofiled", error);
		return err;
	}
	out.max_bytes = limit(o);
	out.next_ns = next_time(lc_time_now_ns());
	return 0;
}

struct lc_profile *lc_agent_profile(void)
{
	return out.profile;
}

const char *lc_agent_profile_directory(void)
{
	return out.directory;
}

/* Bytes of the profile that is being written. */
static uint64_t bytes_now(void)
{
	struct lc_profile_stats stats;

	lc_profile_stats(out.profile, &stats);
	return stats.bytes + stats.manifest_bytes;
}

/*
 * Returns false where it cannot be ended now. The limit is noted first: the manifest is written,
 * and the program may end, as soon as the other thread has been told.
 */
static bool end(void)
{
	const bool large = out.max_bytes >= 10 * MIB;

	lc_limit_reached("profile_size",
	                 "the profile has reached its size limit (%" PRIu64
	                 " %s, --max-profile-size): the recording ends, the program continues",
	                 out.max_bytes / (large ? MIB : KIB), large ? "MB" : "KB");
	return lc_agent_end_soon();
}

bool lc_agent_profile_is_over(uint64_t now_ns)
{
	const uint64_t bytes = bytes_now(), loop = out.options->loop;
	const uint64_t others = out.loop ? lc_loop_bytes(out.loop) : 0;

	/* Older ones that are not to be kept make room. */
	if (out.max_bytes && !out.ends && bytes + (out.options->keep ? 0 : others) >= out.max_bytes)
		out.ends = end(); /* else it is tried again */
	if (!out.loop || out.ends || now_ns < out.retry_ns)
		return false;
	return now_ns >= out.next_ns || (loop & LC_LOOP_BYTES && bytes >= (loop & ~LC_LOOP_BYTES));
}

/* The profile goes on as it is. */
static void not_now(uint64_t now_ns, int err)
{
	if (!out.failed)
		lc_say("--loop: cannot start the next profile: %s; continuing the last one",
		       strerror(-err));
	out.failed = true;
	out.retry_ns = now_ns + RETRY_NS;
}

struct lc_profile *lc_agent_profile_next(uint64_t now_ns)
{
	struct lc_profile *before = out.profile, *next = NULL;
	uint64_t bytes;
	int err = lc_loop_next(out.loop, &next);

	if (err) {
		not_now(now_ns, err);
		return before;
	}
	lc_agent_manifest_write(true);
	bytes = bytes_now();
	lc_profile_close(before);
	out.profile = next;
	out.failed = false;
	out.next_ns = next_time(now_ns);
	lc_agent_manifest_next();
	lc_agent_manifest_write(false);
	lc_loop_closed(out.loop, bytes, out.max_bytes);
	return next;
}

void lc_agent_profile_close(void)
{
	lc_profile_close(out.profile);
	out.profile = NULL;
	lc_loop_free(out.loop);
	out.loop = NULL;
}
