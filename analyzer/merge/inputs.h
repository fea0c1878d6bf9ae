/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge/inputs.h - reads the manifests of the profiles to merge, and plans the result before any
 * block is read: which profiles are left out, and how processes and engines are numbered.
 *
 * The plan follows from the profiles' content, not from their order. Processes are ordered by their
 * begin, then by their other data; engines by their names. If profiles have a process in common,
 * one profile is used: the one with more processes, then the one written later, then the larger
 * one. Processes of two known hosts are different.
 */
#ifndef LC_MERGE_INPUTS_H
#define LC_MERGE_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/merge/asked.h"
#include "analyzer/model/load.h"
#include "src/base/bytes.h"

struct lc_unpack;

/* The directory of one profile; an input that --loop made has several. */
struct lc_merge_part {
	char *path;
	char **files; /* names of files of blocks */
	size_t files_len;
	uint64_t expected;      /* blocks, by the manifest */
	uint32_t process_first; /* among those of the input */
	uint32_t process_count;
	uint32_t engines[LC_ENGINES_MAX];      /* of the input, then of the result */
	uint32_t weight_milli[LC_ENGINES_MAX]; /* as in lc_block_target */
	uint32_t engines_len;
	bool period;
	/*
	 * If not all processes count: by row of the manifest, the process of the input, later of
	 * the result, or LC_LEFT_OUT. NULL: the rows are the input's from process_first on.
	 */
	uint32_t *rows;
	bool kept;               /* its paths are kept apart already */
	bool choose;             /* blocks of all threads: paths of groups that fit are chosen */
	bool mixed;              /* blocks of all threads cannot be divided */
	uint32_t all_process;    /* the row whose group they are of, where they are of one */
	uint64_t from_ns, to_ns; /* only blocks in this time count; 0: no bound */
	/* Written by whoever reads the files, under lc_merge_inputs.lock: */
	uint64_t found; /* blocks */
	struct lc_damage damage;
};

struct lc_merge_process {
	char *row;    /* see process_row.h */
	char *host;   /* "": not known */
	char **group; /* what the frames of its group say, for each key of the result; or NULL */
	int64_t pid;
	uint64_t start_wall_ns, start_monotonic_ns, end_wall_ns;
	bool complete;
	uint32_t number; /* in the result */
	/* Written under the lock, as lc_merge_part.found: */
	uint64_t last_block_ns;
	uint64_t shown_begin_ns, shown_end_ns; /* as of lc_load_process */
	uint64_t *period_starts; /* of each period: start_wall_ns, start_monotonic_ns */
	size_t periods_len;
};

enum lc_merge_state {
	LC_MERGE_USED,
	LC_MERGE_UNREADABLE, /* nothing of it can be used */
	LC_MERGE_DUPLICATE,  /* all that is in it is in another one */
	LC_MERGE_OVERLAPS,   /* some of what is in it is in another one */
	LC_MERGE_UNFIT,      /* none of its processes was asked for */
	LC_MERGE_OUTSIDE,    /* nothing of it is in the time that was asked for */
};

/* One word of the command line. */
struct lc_merge_input {
	const char *path;
	char *said;      /* lines about it, for people; NULL: nothing is wrong */
	char *read_said; /* such lines of reading its blocks */
	enum lc_merge_state state;
	bool damaged; /* a part of it cannot be used */
	bool newer;   /* some blocks are of a newer format */
	struct lc_merge_part *parts;
	size_t parts_len, parts_cap;
	struct lc_merge_process *processes;
	uint32_t *numbers; /* of its processes in the result */
	size_t processes_len;
	struct lc_load_engine *engines;
	uint32_t engines_len;
	struct lc_load_missing missing;
	struct lc_by kept;          /* what its paths are kept apart by */
	bool divided;               /* a part of its time was asked for */
	double pruned;              /* what a path may lack, as a share */
	uint64_t bytes;             /* of its files of blocks */
	uint64_t device, directory; /* its identity where none of its processes has one */
};

struct lc_merge_inputs {
	struct lc_merge_input *inputs;
	size_t len;
	struct lc_merge_asked asked;
	/* The result: */
	struct lc_by by;                     /* what paths are kept apart by */
	struct lc_merge_process **processes; /* in order */
	size_t processes_len;
	struct lc_load_engine *engines[LC_ENGINES_MAX];
	uint32_t engines_len;
	struct lc_load_missing missing;
	double pruned; /* the largest */
};

/* *in is set; the words and what is asked for stay the caller's. Free with lc_merge_inputs_free().
 */
void lc_merge_inputs_init(struct lc_merge_inputs *in, const struct lc_merge_asked *asked,
                          char **paths, size_t len);
void lc_merge_inputs_free(struct lc_merge_inputs *in);

/*
 * Read the manifests of input `i`. `said` and `state` report problems. Context: any thread of the
 * analyzer, one for each input.
 */
void lc_merge_inputs_scan(struct lc_merge_inputs *in, size_t i);

/*
 * Choose and number, after all inputs were scanned. If a profile cannot hold all engines, those of
 * most inputs are chosen, and inputs with others are left out.
 */
void lc_merge_inputs_plan(struct lc_merge_inputs *in);

/* Lines (or NULL; they are taken over) that were said when blocks of the input were read. */
void lc_merge_input_said(struct lc_merge_input *x, char *lines);

/* The number in the result of a process of a part, by its row; LC_LEFT_OUT: it does not count. */
static inline uint32_t lc_merge_number(const struct lc_merge_input *x,
                                       const struct lc_merge_part *p, uint32_t row)
{
	return p->rows ? p->rows[row] : x->numbers[p->process_first + row];
}

/*
 * Blocks of the process were read: the last one ended at `last_ns`, and where a part of the time
 * was asked for they are of that time; else begin_ns is 0.
 */
static inline void lc_merge_process_seen(struct lc_merge_process *p, uint64_t last_ns,
                                         uint64_t begin_ns, uint64_t end_ns)
{
	if (last_ns > p->last_block_ns)
		p->last_block_ns = last_ns;
	if (!begin_ns)
		return;
	if (!p->shown_begin_ns || begin_ns < p->shown_begin_ns)
		p->shown_begin_ns = begin_ns;
	if (end_ns > p->shown_end_ns)
		p->shown_end_ns = end_ns;
}

/* Append what was scanned of input `i` to *b. */
void lc_merge_inputs_pack(const struct lc_merge_inputs *in, size_t i, struct lc_bytes *b);

/* Take what was scanned of an input by another process; u->at is NULL where that is damaged. */
void lc_merge_inputs_unpack(struct lc_merge_inputs *in, struct lc_unpack *u);

#endif
