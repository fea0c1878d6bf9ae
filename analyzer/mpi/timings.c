/* SPDX-License-Identifier: Apache-2.0 */
/* mpi/timings.c - measures the phases of a rank. */
#include "analyzer/mpi/timings.h"

#include <inttypes.h>
#include <sys/resource.h>
#include <time.h>

static const char *const names[LC_PHASE_COUNT] = { "scan",  "plan",      "read", "receive",
	                                           "merge", "serialise", "send", "write" };

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void lc_timings_begin(struct lc_timings *t)
{
	t->cpu_mark = now(CLOCK_PROCESS_CPUTIME_ID);
	t->wall_mark = now(CLOCK_MONOTONIC);
}

double lc_timings_end(struct lc_timings *t, enum lc_phase phase)
{
	const double cpu = now(CLOCK_PROCESS_CPUTIME_ID) - t->cpu_mark;

	t->cpu_s[phase] += cpu;
	t->wall_s[phase] += now(CLOCK_MONOTONIC) - t->wall_mark;
	return cpu;
}

void lc_timings_print(const struct lc_timings *t, int rank, struct lc_reduce_stats read, FILE *out)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	fprintf(out,
	        "{\"rank\":%d,\"files\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"paths\":%" PRIu64
	        ",\"plan_bytes\":%" PRIu64 ",\"to\":%d,\"sent_bytes\":%" PRIu64
	        ",\"max_rss_bytes\":%ld",
	        rank, read.files, read.bytes, read.paths, t->plan_bytes, t->to, t->sent_bytes,
	        use.ru_maxrss * 1024);
	for (int i = 0; i < LC_PHASE_COUNT; i++)
		fprintf(out, ",\"%s_cpu_s\":%.6f,\"%s_s\":%.6f", names[i], t->cpu_s[i], names[i],
		        t->wall_s[i]);
	fputs(",\"received\":[", out);
	for (size_t i = 0; i < t->received_len; i++) {
		const struct lc_received *r = &t->received[i];

		fprintf(
		    out,
		    "%s{\"from\":%d,\"bytes\":%" PRIu64 ",\"waited_s\":%.6f,\"receive_cpu_s\":%.6f,"
		    "\"merge_cpu_s\":%.6f}",
		    i ? "," : "", r->from, r->bytes, r->waited_s, r->receive_cpu_s, r->merge_cpu_s);
	}
	fputs("]}", out);
}
