/* SPDX-License-Identifier: Apache-2.0 */
/* model/load.h - reads profile directories: their manifests, and their blocks into one tree. */
#ifndef LC_MODEL_LOAD_H
#define LC_MODEL_LOAD_H

#include <dirent.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analyzer/model/blockfile.h"
#include "analyzer/model/group_filter.h"
#include "analyzer/model/load_range.h"
#include "analyzer/model/tree.h"

/*
 * A kind of samples. Two are the same when all but the reason are equal; they are never added up
 * else.
 */
struct lc_load_engine {
	char *name;
	char *event;
	char *unit;
	char *reason; /* why this one; "" where it was asked for or is not known */
	uint64_t interval_ns;
	uint64_t
	    tick_ns; /* of the kernel, the longest of the profiles'; 0: no limit, or not known */
};

struct lc_load_process {
	char *command; /* UTF-8; "" where unknown, as jdk and gc */
	char *jdk;
	char *gc;
	char *host;     /* the same */
	json_t *labels; /* object: key to text; NULL: there are none */
	int64_t pid;
	unsigned cpus;  /* that it might run on; 0: not known */
	bool complete;  /* ended, and all was written */
	bool disk_full; /* not complete, since the disk was full */
	bool limited;   /* the recording ended before the program */
	bool attached;  /* it began in a program that ran */
	uint64_t start_wall_ns;
	uint64_t start_monotonic_ns;
	uint64_t end_wall_ns; /* of the last manifest */
	uint64_t end_monotonic_ns;
	uint64_t last_block_ns; /* end of the last block, CLOCK_MONOTONIC; 0 without one */
	json_t *arguments;      /* array: the words of the command; NULL: not known */
	char *directory;        /* UTF-8; "" where unknown */
	json_t *options;        /* object: name to text */
	json_t *counters;       /* object: name to number */
	json_t *intervals;      /* array, see docs/FORMAT.md; NULL: they did not change */
	json_t *limits;         /* array, see docs/FORMAT.md; NULL: none was reached */
	json_t *marks;          /* array, see docs/FORMAT.md; NULL: there are none */
	json_t *tracked_hot;    /* array, see docs/FORMAT.md; NULL: there are none */
	json_t *numa;           /* object, see docs/FORMAT.md; NULL: nothing is known */
	json_t *spans;          /* object, see docs/FORMAT.md; NULL: no spans were recorded */
	json_t *periods;        /* array, see docs/FORMAT.md; NULL: it was not read from several */
	/*
	 * Time of the counted blocks, if a range was asked for, now or in a merge. 0 without a
	 * range, or if no block counts.
	 */
	uint64_t shown_begin_ns;
	uint64_t shown_end_ns;
	/* The range itself, where one was asked for now; 0: none, or it has no such bound. */
	uint64_t asked_begin_ns;
	uint64_t asked_end_ns;
	uint64_t zero_ns;  /* when the recording began, of which a range was asked for; else 0 */
	size_t periods_of; /* periods that there are, with those that a range leaves out */
};

/* Does the collector move objects while the program runs? */
static inline bool lc_load_is_concurrent(const struct lc_load_process *p)
{
	return !strcmp(p->gc, "Z") || !strcmp(p->gc, "Shenandoah");
}

/* The end of the time that counts, CLOCK_MONOTONIC: behind all rows if the user asked for no end.
 */
static inline uint64_t lc_load_asked_end_ns(const struct lc_load_process *p)
{
	return p->asked_end_ns ? p->asked_end_ns : UINT64_MAX;
}

/* Was a limit of that kind reached? */
bool lc_load_has_limit(const struct lc_load_process *p, const char *kind);

/* The end of the recording, or what was written last; CLOCK_MONOTONIC, 0: nothing tells. */
static inline uint64_t lc_load_end_ns(const struct lc_load_process *p)
{
	if (p->limited)
		return p->end_monotonic_ns;
	return p->last_block_ns > p->end_monotonic_ns ? p->last_block_ns : p->end_monotonic_ns;
}

/* The end of what is shown of it: that, or of the range. */
static inline uint64_t lc_load_shown_end_ns(const struct lc_load_process *p)
{
	return p->shown_end_ns ? p->shown_end_ns : lc_load_end_ns(p);
}

/* Inputs and blocks that `locus merge` could not put into a profile. Add up over profiles. */
struct lc_load_missing {
	uint64_t inputs; /* of which nothing is in it */
	uint64_t blocks; /* lost in the others, as far as is known */
};

/* The files of blocks in the directory of one profile. */
struct lc_load_files {
	const char *path; /* the directory */
	struct dirent **names;
	int count;
	uint64_t expected;                    /* blocks, by the manifest */
	const struct lc_block_target *target; /* where they go, but for the tree */
	bool period;                          /* of a loop */
	const struct lc_by *kept;             /* what its paths are kept apart by */
};

struct lc_load {
	struct lc_tree *tree;                  /* the caller's */
	const struct lc_thread_filter *filter; /* NULL: all threads */
	struct lc_frame_filter *frames;        /* NULL: all paths */
	const struct lc_load_range *range;     /* NULL: all the time */
	/* If set: called with the files of each profile, which are then not read. */
	void (*take)(void *context, const struct lc_load_files *files);
	void *context;

	const struct lc_where_terms *where; /* NULL: all processes */
	struct lc_by by; /* keys that paths are kept apart by; a copy of its own */
	json_t *labels;  /* the caller's object: of all processes that do not have them; NULL */

	bool skip_newer; /* a profile of a newer format is left out, not an error */
	bool found;      /* so is one that is gone: its path was found, and not named by the user */

	struct lc_load_engine engines[LC_ENGINES_MAX];
	uint32_t engines_len;
	struct lc_load_process *processes;
	size_t processes_len;
	size_t processes_cap;
	struct lc_damage damage; /* of all profiles */
	bool bad_manifest;       /* one could not be read */
	uint64_t not_split;      /* blocks skipped: the filter needs threads, they hold none */
	uint64_t new_sections;   /* sections skipped: of a later Locus */
	size_t skipped;          /* profiles, of a newer format or gone */
	struct lc_load_missing missing; /* in profiles that were merged */
	double
	    pruned; /* what a call path of theirs may lack at most, as a share of all; 0: nothing */
	size_t left_out;    /* profiles of which no process fits `where` */
	uint64_t not_apart; /* blocks skipped: of processes that belong apart */
	bool by_known;      /* a profile was read: `by` holds for the others, too */
	struct lc_group_filter group_filter;
	bool in_loop; /* what is read now is a period */
	struct lc_blockfile *file;
};

/* Set tree, filters, range and take afterwards. */
void lc_load_init(struct lc_load *l);
void lc_load_free(struct lc_load *l);

/* Fill in a process by its row in a manifest; NULL: nothing is known. */
void lc_load_process_read(struct lc_load_process *p, const json_t *info);
void lc_load_process_free(struct lc_load_process *p);

/* Are the two of one kind? The reason and the tick may differ. */
bool lc_load_same_engine(const struct lc_load_engine *a, const struct lc_load_engine *b);

/* The row of the engine of that kind; UINT32_MAX: there is none. */
uint32_t lc_load_engine_like(const struct lc_load *l, const struct lc_load_engine *e);

/* Tell lc_progress_read() how much there is to read in directory `path`. */
void lc_load_expect(const char *path);

/*
 * Add the profile in directory `path`, or where --loop made the directory those of all its periods
 * that are in the range, as one process. Returns 0, also where it was damaged (one line says so on
 * stderr) or skipped; or 1, after one line on stderr, when there is none, it cannot be read, it is
 * of a newer format or has nothing in the range. A file of the profile that is removed meanwhile
 * counts as damage.
 */
int lc_load_profile(struct lc_load *l, const char *path);

/*
 * Load that profile alone, of which `range` counts (NULL: all), give it to use(), and free it.
 * Returns what use() returns, or 1 as lc_load_profile() does.
 */
int lc_load_one(const char *path, const struct lc_load_range *range,
                int (*use)(void *context, const struct lc_load *l), void *context);

/*
 * Say in a line on stderr what was lost of the profile in directory `path`, where `found` blocks
 * were read and the manifest tells of `expected`; d->blocks becomes the number of those that are
 * lost.
 */
void lc_load_say_damage(const char *path, struct lc_damage *d, uint64_t found, uint64_t expected);

/*
 * Were there blocks that --where or --by must divide and cannot? Returns 0, or 1 after a line.
 */
int lc_load_not_apart(const struct lc_load *l);

/* The line for that. Returns 1. */
int lc_load_say_not_apart(const struct lc_where_terms *where, const struct lc_by *by);

/* A line on stderr: no process of any profile fits. Returns 1. */
int lc_load_say_unfit(const struct lc_where_terms *where);

/* Has anything been damaged? */
bool lc_load_damaged(const struct lc_load *l);

/*
 * How many samples an interrupt of an engine counted as, on average, in thousandths, by the
 * counters of the manifest's processes; where they do not tell, by how much longer the kernel's
 * tick is than the interval. 1000 or more.
 */
uint32_t lc_load_weight_milli(const json_t *processes, const struct lc_load_engine *e);

/* Sum of a counter over all processes. */
uint64_t lc_load_counter(const struct lc_load *l, const char *name);

/* The number that a counter has in each process; 0: some differ, or none has it. */
uint64_t lc_load_level(const struct lc_load *l, const char *name);

#endif
