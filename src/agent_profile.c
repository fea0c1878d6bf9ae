/*
 * agent_profile.c - makes the profile's directory, and has the recording ended when the profile
 * holds as much as it may.
 *
 * Blocks of the last second, and what still waits, are written after the limit was reached: the
 * profile ends whole, and somewhat larger.
 */
#include "src/agent_profile.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/agent_end.h"
#include "src/base/limit.h"
#include "src/base/options.h"
#include "src/base/say.h"
#include "src/profile/writer.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define DEFAULT_MAX (4096 * MIB)
#define DEFAULT_MIN MIB

enum { DEFAULT_PART = 4 /* of what the file system has free */ };

static struct {
	struct lc_profile *profile;
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

int lc_agent_profile_open(const struct lc_options *o)
{
	char error[PATH_MAX + 256];
	int err;

	expand_output(o->output);
	err = lc_profile_create(out.directory, &out.profile, error, sizeof(error));
	if (err)
		lc_say("%s; the program runs unprofiled", error);
	else
		out.max_bytes = limit(o);
	return err;
}

struct lc_profile *lc_agent_profile(void)
{
	return out.profile;
}

const char *lc_agent_profile_directory(void)
{
	return out.directory;
}

void lc_agent_profile_look(void)
{
	const bool large = out.max_bytes >= 10 * MIB;
	struct lc_profile_stats stats;

	lc_profile_stats(out.profile, &stats);
	if (!out.max_bytes || stats.bytes < out.max_bytes || out.ends)
		return;
	out.ends = lc_agent_end_soon(); /* else it is tried again */
	if (out.ends)
		lc_limit_reached("profile_size",
		                 "the profile holds as much as it may (%" PRIu64
		                 " %s, --max-profile-size): the recording has ended, the program "
		                 "goes on",
		                 out.max_bytes / (large ? MIB : KIB), large ? "MB" : "KB");
}

void lc_agent_profile_close(void)
{
	lc_profile_close(out.profile);
	out.profile = NULL;
}
