/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repeat/repeat.h - computes the noise of several profiles of the same work: each row's mean with
 * an interval, how much runs differ, and whether the order is stable.
 *
 * A table has entries of one kind. For each run it has a value for each entry, and the sum of which
 * the entry's share is a part. The numbers answer questions from evaluations of profilers: how far
 * does one profiler differ from itself, does the hottest entry stay the hottest, which entries come
 * and go in the top ten?
 *
 * Intervals are Student's 95% t intervals over the runs, each of which counts once. They hold
 * whatever makes runs differ, but cannot show an error that all runs share. With fewer than
 * LC_REPEAT_RUNS_MIN runs, intervals are too wide to be useful, and are withheld.
 */
#ifndef LC_REPEAT_REPEAT_H
#define LC_REPEAT_REPEAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/model/load.h"
#include "analyzer/objects/analysis/ranking.h"

enum lc_repeat_kind {
	LC_REPEAT_OBJECTS, /* samples, of all samples */
	LC_REPEAT_LINES,
	LC_REPEAT_METHODS,
	LC_REPEAT_SPANS,     /* cycles, of those of all spans */
	LC_REPEAT_ALLOCATED, /* bytes, counted; of the mean of all runs' sums */
	LC_REPEAT_ESTIMATED, /* bytes, estimated from sampled allocations */
	LC_REPEAT_KINDS
};

/* "objects", as JSON has it. Static storage. */
const char *lc_repeat_kind_name(enum lc_repeat_kind kind);

enum {
	LC_REPEAT_RUNS_MIN = 5,
	LC_REPEAT_TOP = 10, /* the top that an unstable entry is in and not in */
};

#define LC_REPEAT_LARGE 0.05    /* mean share from which an entry's self-difference counts */
#define LC_REPEAT_UNSTABLE 0.01 /* mean share from which an entry can be unstable */

/* A number of several runs. */
struct lc_repeat_number {
	bool known;
	bool interval; /* `low` and `high` are known */
	bool equal;    /* the same in all runs */
	double mean, low, high, least, most;
};

/* The number of those values; values below 0 are unknown, and make it so. The interval ends at both
 * bounds. */
struct lc_repeat_number lc_repeat_number(const double *values, size_t len, double floor,
                                         double ceiling);

/* Half of the interval of the mean of 2 values or more, at a level of significance. */
double lc_repeat_half_width(const double *values, size_t len, double alpha);

/* An entry's name. Rows are those of lc_repeat.names. */
struct lc_repeat_name {
	uint32_t class;  /* string: of objects, or of tasks; 0: none */
	uint32_t method; /* of the line, or where the objects are allocated; UINT32_MAX: none */
	uint32_t line1;  /* line + 1; 0: none */
	char *label;     /* for people: "Spectrum.re (double[])" */
	char *code;      /* "c.a.Main.load:20", where objects are allocated; NULL: none */
};

struct lc_repeat_entry {
	uint32_t key; /* string of lc_repeat.names: all that it is known by */
	struct lc_repeat_name name;
	double *values; /* of each column of the table */
	double *shares; /* of the runs that have some, in their order; see lc_repeat_table.runs */
	struct lc_repeat_number share;
	double difference; /* most less least share */
	bool equal;        /* the value is the same in all these runs */
	size_t first, top; /* in so many of them it came first, and was in the top */
	bool all_lines;    /* where these objects were allocated is told by some of the runs only */
	size_t best, worst; /* places that its interval allows, from 1; 0: intervals are withheld */
	bool unstable;
};

struct lc_repeat_table {
	enum lc_repeat_kind kind;
	struct lc_repeat_entry *entries; /* after lc_repeat_judge(): largest mean share first */
	size_t len, cap;
	double *totals; /* of each column */
	size_t columns; /* runs that were added */
	size_t runs;    /* of these, with a total above 0: what the numbers are of */
	/* The largest self-difference, of an entry of LC_REPEAT_LARGE or more; NULL: there is none.
	 */
	const struct lc_repeat_entry *farthest;
	size_t firsts;          /* entries that came first in some run */
	size_t unstable;        /* entries */
	struct lc_table by_key; /* kept by lc_repeat_entry_of() */
	size_t room;            /* columns that there is room for */
};

/* Begin a table for at most `columns` runs. Free with lc_repeat_table_free(). */
void lc_repeat_table_init(struct lc_repeat_table *t, enum lc_repeat_kind kind, size_t columns);
void lc_repeat_table_free(struct lc_repeat_table *t);

/* The entry of a key, made where there is none, with `label` NULL. Valid until the next one. */
struct lc_repeat_entry *lc_repeat_entry_of(struct lc_repeat_table *t, uint32_t key);

/*
 * Compute the rest and sort, after all values and totals of `columns` runs were added. Equal means:
 * the smaller key comes first. Equal values in a run: the larger mean comes first.
 */
void lc_repeat_judge(struct lc_repeat_table *t);

/* ---- runs ---- */

enum lc_repeat_state {
	LC_REPEAT_COUNTED,
	LC_REPEAT_FAILED,      /* with a status, or by a signal */
	LC_REPEAT_TIMED_OUT,   /* and was stopped */
	LC_REPEAT_INTERRUPTED, /* we were asked to end */
	LC_REPEAT_SAID,        /* wrote to standard error */
	LC_REPEAT_DIFFERED,    /* wrote other output than most */
	LC_REPEAT_NO_PROFILE,  /* or one that cannot be read, or is damaged */
	LC_REPEAT_CUT,         /* the recording has no end: the program was killed, or runs */
	LC_REPEAT_OTHER,       /* its samples are of another kind than the first's */
	LC_REPEAT_STATES
};

/* "failed", as JSON has it. Static storage. */
const char *lc_repeat_state_name(enum lc_repeat_state state);

struct lc_repeat_run {
	char *name;      /* for people: "run 3", or the profile's path */
	char *directory; /* of a run that we started; NULL: a profile alone */
	char **profiles; /* paths */
	size_t profiles_len, profiles_cap;
	enum lc_repeat_state state;
	char *why;  /* one line on what left it out; NULL: nothing did */
	char *said; /* the first line that Locus's agent said on its standard error; or NULL */
	uint64_t stderr_bytes;              /* that the program wrote to its standard error */
	bool other_output;                  /* than most runs */
	double wall_ns, cpu_ns, peak_bytes; /* of memory; below 0: not known */
	double samples, allocations, bytes, estimated_bytes; /* of counted runs */
};

struct lc_repeat {
	struct lc_repeat_run *runs;
	size_t runs_len, runs_cap;
	size_t counted;      /* runs */
	size_t asked;        /* how many runs were to be made; 0: profiles were named */
	bool all_differ;     /* each run has other output than every other */
	char *other_program; /* of the first counted run whose program or JDK is another; or NULL */
	char *program;       /* of the first counted run: name, JDK, collector; or NULL */
	char *command;       /* that was run, or of the first counted profile; or NULL */
	enum lc_rank_group group;
	struct lc_load_engine engine; /* of the samples; `name` NULL: there are none */
	struct lc_repeat_table tables[LC_REPEAT_KINDS];
	struct lc_tree names; /* of all runs: keys, classes, methods */
	/* Over the counted runs. */
	struct lc_repeat_number wall_ns, cpu_ns, samples, allocations, bytes, estimated_bytes;
};

void lc_repeat_init(struct lc_repeat *r);
void lc_repeat_free(struct lc_repeat *r);

/* A new run, with nothing known. Valid until the next one. */
struct lc_repeat_run *lc_repeat_add_run(struct lc_repeat *r);

/* One more profile of a run, whose path it takes over. */
void lc_repeat_add_profile(struct lc_repeat_run *run, char *path);

/* A text that may come from anybody, as a terminal can show it; `text` is freed. */
char *lc_repeat_plain(char *text);

/* The first reason counts. `why`, from anybody, is taken over. */
void lc_repeat_leave_out(struct lc_repeat_run *run, enum lc_repeat_state state, char *why);

/* All runs were read: tables and numbers. */
void lc_repeat_finish(struct lc_repeat *r);

#endif
