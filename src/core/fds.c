/* SPDX-License-Identifier: Apache-2.0 */
/* core/fds.c - counts the descriptors that are taken, and compares them with the budget. */
#include "src/core/fds.h"

#include <dirent.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>

#include "src/base/limit.h"
#include "src/core/counters.h"

enum { PART = 4 /* of what is left */ };

static _Atomic long budget = LONG_MAX; /* written by: lc_fds_look() */
static _Atomic long taken;
static _Atomic uint64_t refused[LC_FDS_USES];

long lc_fds_budget(long limit, long open, long ours)
{
	const long left = limit - (open - ours);

	return left > 0 ? left / PART : 0;
}

/* How many the process has open; -1: it is not known. */
static long count_open(void)
{
	DIR *fds = opendir("/proc/self/fd");
	long n = -1; /* the directory itself is one */

	if (!fds)
		return -1;
	for (const struct dirent *e; (e = readdir(fds));)
		n += e->d_name[0] != '.';
	closedir(fds);
	return n;
}

void lc_fds_look(void)
{
	const long open = count_open();
	struct rlimit limit;
	long most;

	if (open < 0 || getrlimit(RLIMIT_NOFILE, &limit))
		return;
	most = limit.rlim_cur > INT_MAX ? INT_MAX : (long)limit.rlim_cur;
	atomic_store_explicit(
	    &budget, lc_fds_budget(most, open, atomic_load_explicit(&taken, memory_order_relaxed)),
	    memory_order_relaxed);
}

bool lc_fds_take(enum lc_fds_use use)
{
	const long now = atomic_fetch_add_explicit(&taken, 1, memory_order_relaxed) + 1;

	if (now <= atomic_load_explicit(&budget, memory_order_relaxed))
		return true;
	lc_fds_give(use);
	lc_count(&refused[use]);
	return false;
}

void lc_fds_give(enum lc_fds_use use)
{
	atomic_fetch_sub_explicit(&taken, 1, memory_order_relaxed);
}

void lc_fds_tell(void)
{
	static const char *const lost[LC_FDS_USES] = {
		[LC_FDS_BREAKPOINT] =
		    "addresses that need a breakpoint stay unknown on some threads",
		[LC_FDS_EVENT] = "some threads are not sampled by all engines",
	};
	static const char *const kinds[LC_FDS_USES] = {
		[LC_FDS_BREAKPOINT] = "fds_breakpoints",
		[LC_FDS_EVENT] = "fds_events",
	};

	for (unsigned i = 0; i < LC_FDS_USES; i++)
		if (atomic_load_explicit(&refused[i], memory_order_relaxed))
			(void)lc_limit_reached(kinds[i],
			                       "Locus uses a quarter of the free file descriptors "
			                       "(%ld; raise 'ulimit -n'): %s",
			                       atomic_load_explicit(&budget, memory_order_relaxed),
			                       lost[i]);
}

static void put_counters(struct lc_counters *out)
{
	const long now = atomic_load_explicit(&taken, memory_order_relaxed);

	lc_counters_put(out, "fds_taken", now > 0 ? (uint64_t)now : 0);
	for (unsigned i = 0; i < LC_FDS_USES; i++)
		if (atomic_load_explicit(&refused[i], memory_order_relaxed))
			lc_counters_put(out,
			                i == LC_FDS_EVENT ? "fds_refused_events"
			                                  : "fds_refused_breakpoints",
			                atomic_load_explicit(&refused[i], memory_order_relaxed));
}

LC_COUNTER_TABLE(.put = put_counters);
