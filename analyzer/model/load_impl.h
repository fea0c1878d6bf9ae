/* SPDX-License-Identifier: Apache-2.0 */
/* model/load_impl.h - shares the processes of a load between load.c and load_process.c. */
#ifndef LC_MODEL_LOAD_IMPL_H
#define LC_MODEL_LOAD_IMPL_H

#include "analyzer/model/facts.h"
#include "analyzer/model/groups.h"
#include "analyzer/model/load.h"

/* Members of a JSON object; "", 0 and an empty object stand for what is not there. */
char *lc_load_text_of(const json_t *object, const char *name);
uint64_t lc_load_number_of(const json_t *object, const char *name);

/* `next` is of the period after those of `p` of the same process. */
bool lc_load_process_continues(const struct lc_load_process *p, const struct lc_load_process *next);

/* Add the period that follows, which is freed: what has happened in it, and how things are then. */
void lc_load_process_add(struct lc_load_process *p, struct lc_load_process *next);

/* Note the period of that name: `one` is of it alone. */
void lc_load_process_note_period(struct lc_load_process *p, const char *name,
                                 const struct lc_load_process *one);

/* The processes of one profile, for load.c: who counts, and in which group. */
struct lc_load_groups {
	bool on;                   /* else there is nothing to choose and nothing to keep apart */
	struct lc_by kept;         /* what its paths are kept apart by already */
	uint32_t *numbers, *roots; /* by row of the manifest, as in lc_block_target; or NULL */
	size_t len;
	bool none;   /* no process fits */
	bool choose; /* blocks of all threads: by the frames of groups */
	bool mixed;  /* blocks of all threads cannot be used */
};

/*
 * Read which processes of a manifest count, before they are added. Returns 0, or 1 after a line on
 * stderr. Call lc_load_groups_end() then.
 */
int lc_load_groups_begin(struct lc_load *l, const char *path, const json_t *manifest,
                         struct lc_load_groups *g);

/*
 * Give the target what those that count have become, once they are processes of the load. Groups
 * are left to whoever takes the files, where the load does not read them.
 */
void lc_load_groups_apply(struct lc_load *l, struct lc_load_groups *g,
                          struct lc_block_target *target);

void lc_load_groups_end(struct lc_load_groups *g);

/* Give a process the labels of the load that it does not have. */
void lc_load_label(const struct lc_load *l, struct lc_load_process *p);

#endif
