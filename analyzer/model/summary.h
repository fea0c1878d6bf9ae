/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/summary.h - says what a profile is without reading its blocks: what its manifest tells, and
 * whether its files are whole as far as the blocks' headers show.
 */
#ifndef LC_MODEL_SUMMARY_H
#define LC_MODEL_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/model/load.h"

struct lc_summary {
	char *path;
	size_t periods; /* of --loop; 0: it is one profile */
	/* With periods one, from the first one's start to the last one's end. */
	struct lc_load_process *processes;
	size_t processes_len;
	struct lc_by by; /* what a merge has kept apart */
	bool merged;
	uint64_t start_wall_ns, end_wall_ns; /* of all processes; 0: not known */
	uint64_t bytes;                      /* of its files */
	uint64_t blocks;
	char *damage; /* what is wrong with it; NULL: nothing */
};

/*
 * Read what is in directory `path`, a profile or what --loop made. Free with lc_summary_free().
 * Returns 0, also where it is damaged; or -ENOENT: it has vanished, and there is nothing to free.
 */
int lc_summary_read(struct lc_summary *s, const char *path);
void lc_summary_free(struct lc_summary *s);

#endif
