/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agree/agree.h - computes how far several profilers agree on one program.
 *
 * For each profiler: how far its runs agree on its hottest methods, how far it agrees with the
 * other profilers, and what it costs. If delays were injected: how far it agrees with the truth.
 *
 * The questions are those of H. Burchell, O. Larose, S. Kaleba and S. Marr, Don't Trust Your
 * Profiler: An Empirical Study on the Precision and Accuracy of Java Profilers, MPLR 2023. A share
 * is a part of the samples of a run that have a Java method (agree/agree_counts.h), since profilers
 * differ in their other samples.
 *
 * In each round the program runs once without a profiler and once with each profiler. A cost is the
 * ratio of a run to the run without a profiler of the same round.
 */
#ifndef LC_AGREE_AGREE_H
#define LC_AGREE_AGREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/model/tree.h"
#include "analyzer/repeat/repeat.h"

enum {
	LC_AGREE_SIDES_MAX = 16, /* profilers, and the program without one */
	LC_AGREE_DELAYS_MAX = 16,
	LC_AGREE_TOP = 5,
};

/* A delay that would add less than that to a method's share is not judged: the method has nearly
 * all samples anyway. */
#define LC_AGREE_GROWTH 0.01

enum lc_agree_kind {
	LC_AGREE_BARE, /* no profiler */
	LC_AGREE_LOCUS,
	LC_AGREE_ASYNC,
	LC_AGREE_JFR,
	LC_AGREE_JFR_DEBUG, /* with -XX:+DebugNonSafepoints */
	LC_AGREE_PERF,
	LC_AGREE_OWN, /* the user's: a command in front of the program's */
	LC_AGREE_KINDS
};

#define LC_AGREE_RECORD "agree.json"
#define LC_AGREE_METHODS_FILE "methods"
#define LC_AGREE_DELAY_FILE "delay.json"

/* The results of one side's runs with one set of delays. */
struct lc_agree_methods {
	struct lc_repeat_table table; /* its keys are strings of lc_agree.names */
	size_t *rounds;               /* of each run of the table */
	struct lc_repeat_number java; /* share of all samples that have a method */
	struct lc_repeat_number samples;
};

/*
 * One side's view of a delay. Shares are of samples with a method. Differences are of runs of the
 * same round. A part that was found is the growth of a method's share by that which the delay would
 * cause there: 1 is all of it, and 0 is a profile that is the same with and without the delay.
 */
struct lc_agree_seen {
	bool known;
	struct lc_repeat_number base; /* the method's share without the delay */
	struct lc_repeat_number with; /* with it */
	double expected;              /* with it: what `base` and the added time make of it */
	double error;                 /* `with` less `expected`, both as means */
	double width;                 /* half of the 95% interval of `error`; below 0: withheld */
	bool can_grow;                /* by LC_AGREE_GROWTH or more; else `found` is unknown */
	double found;
	double found_width; /* half of its corrected interval; below 0: withheld */
	bool saw;           /* that interval is above zero */
	size_t compared;    /* methods, for which intervals are corrected */
	/* where else the share grew for certain, by the largest part; 0: nowhere */
	uint32_t elsewhere; /* string of lc_agree.names */
	double elsewhere_part;
};

/* A profiler, or (the first one) the program alone. */
struct lc_agree_side {
	enum lc_agree_kind kind;
	char *name;    /* "locus" */
	char *command; /* of LC_AGREE_OWN; else NULL */
	char *about;   /* what it is, with its version; NULL: nothing is known */
	char *absent;  /* why it is left out; NULL: it is not */
	struct lc_agree_methods methods;
	struct lc_agree_methods delayed[LC_AGREE_DELAYS_MAX + 1]; /* the first: no delay */
	struct lc_agree_seen seen[LC_AGREE_DELAYS_MAX];
	struct lc_repeat_number cpu_ratio, wall_ratio, peak_ratio;
	size_t runs, counted; /* without delays */
};

/* A loop that was put in front of each return of a method. */
struct lc_agree_delay {
	char *method;
	uint64_t iterations;
	uint64_t every;      /* the loop runs at each such execution; a power of two */
	uint64_t executions; /* in the run that counted them */
	double ns_per_iteration;
	double counted; /* ns of all loops, the mean of runs without a profiler; < 0: unknown */
	/* The part of the CPU time of the program's Java threads with the delay that it added: by
	 * the counted loops, or where these are unknown by the clocks. */
	struct lc_repeat_number added;
	struct lc_repeat_number clocks; /* the same, as the threads' clocks alone have it */
	char *why;                      /* it could not be put in place; NULL: it could */
};

/* Which run it is of lc_agree.all.runs. */
struct lc_agree_run {
	size_t side, round;
	/* -1: the program as it is; 0: with delays of one iteration; i: with that of i - 1. */
	int delay;
	/* In runs with delays; below 0: not known. */
	double java_cpu_ns; /* CPU time of the Java threads */
	double delayed_ns;  /* of this, all loops that ran */
};

struct lc_agree_pair {
	double overlap; /* sum over all methods of the smaller of both shares, as means */
	double width;   /* half of its 95% interval; below 0: withheld */
	size_t common;  /* of both top fives */
};

struct lc_agree {
	struct lc_repeat all; /* its runs, of all sides; its tables are not used */
	struct lc_agree_run *runs;
	size_t runs_cap;
	size_t rounds; /* that were asked for */
	struct lc_agree_side sides[LC_AGREE_SIDES_MAX];
	size_t sides_len;
	struct lc_agree_delay delays[LC_AGREE_DELAYS_MAX];
	size_t delays_len;
	struct lc_tree names;
	/* Computed by lc_agree_finish(): */
	size_t compared;                   /* sides that have methods */
	size_t union_1, union_5;           /* different methods in the tops of the means */
	size_t union_1_runs, union_5_runs; /* ... of each single run */
	struct lc_agree_pair pairs[LC_AGREE_SIDES_MAX][LC_AGREE_SIDES_MAX];
	/* CPU time of the program when executions are counted, relative to the program alone. */
	struct lc_repeat_number counting;
};

void lc_agree_init(struct lc_agree *a);
void lc_agree_free(struct lc_agree *a);

/* "locus"; of LC_AGREE_OWN "own". Static storage. */
const char *lc_agree_kind_name(enum lc_agree_kind kind);

/* A new side; `name` is copied. NULL: there is no room. */
struct lc_agree_side *lc_agree_add_side(struct lc_agree *a, enum lc_agree_kind kind,
                                        const char *name);

/* A new run. Valid until the next one. */
struct lc_repeat_run *lc_agree_add_run(struct lc_agree *a, size_t side, size_t round, int delay);

/* The index of a run in a->runs and a->all.runs; SIZE_MAX: it was not made. */
size_t lc_agree_find_run(const struct lc_agree *a, size_t side, size_t round, int delay);

/* The same, but SIZE_MAX also for a run that does not count. */
size_t lc_agree_find_counted(const struct lc_agree *a, size_t side, size_t round, int delay);

/* Is it a profiler of which a run counts? Others have no methods to compare. */
bool lc_agree_is_compared(const struct lc_agree_side *s);

/* All runs were read: judge tables, and compute costs, agreement and what became of delays. */
void lc_agree_finish(struct lc_agree *a);

/* The column of the side's run in that round, SIZE_MAX: there is none. */
size_t lc_agree_column(const struct lc_agree_methods *m, size_t round);

/* Compute the truth part, in agree_truth.c: all sides and delays. Called by lc_agree_finish(). */
void lc_agree_finish_truth(struct lc_agree *a);

/* A method, and its share of one run or one profiler, or the mean of all profilers' shares. */
struct lc_agree_row {
	uint32_t key; /* string of lc_agree.names */
	double share;
};

/* All methods by the mean of the profilers' shares, the largest first; returns how many. The caller
 * frees *rows. */
size_t lc_agree_rows(const struct lc_agree *a, struct lc_agree_row **rows);

/* The entry of a table of that name, or NULL. */
const struct lc_repeat_entry *lc_agree_find(const struct lc_repeat_table *t, uint32_t key);

#endif
