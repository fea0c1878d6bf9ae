/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi/timings.h - measures each phase of a rank, in CPU seconds and wall-clock seconds, for
 * --timings and scripts/scale_model.py.
 */
#ifndef LC_MPI_TIMINGS_H
#define LC_MPI_TIMINGS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/merge/reduce.h"

enum lc_phase {
	LC_PHASE_SCAN,      /* manifests of its share */
	LC_PHASE_PLAN,      /* what all have scanned, received and put in order */
	LC_PHASE_READ,      /* blocks of its share */
	LC_PHASE_RECEIVE,   /* messages of other ranks, without the time until they come */
	LC_PHASE_MERGE,     /* adding them up */
	LC_PHASE_SERIALISE, /* what it sends */
	LC_PHASE_SEND,
	LC_PHASE_WRITE, /* the result */
	LC_PHASE_COUNT
};

/* A message of another rank. */
struct lc_received {
	int from;
	uint64_t bytes;
	double waited_s, receive_cpu_s, merge_cpu_s;
};

struct lc_timings {
	double cpu_s[LC_PHASE_COUNT], wall_s[LC_PHASE_COUNT];
	double cpu_mark, wall_mark; /* where the phase under way began */
	struct lc_received *received;
	size_t received_len, received_cap;
	int to; /* -1: nobody */
	uint64_t sent_bytes, plan_bytes;
};

/* A phase begins. */
void lc_timings_begin(struct lc_timings *t);

/* It is over. Returns its CPU seconds. Phases that come several times add up. */
double lc_timings_end(struct lc_timings *t, enum lc_phase phase);

/*
 * Print a row of "ranks" as JSON, with the largest memory of the process so far; `read` is what
 * it has read of its share.
 */
void lc_timings_print(const struct lc_timings *t, int rank, struct lc_reduce_stats read, FILE *out);

#endif
