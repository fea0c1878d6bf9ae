/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/fds.h - keeps the agent from using up the process's file descriptors.
 *
 * Breakpoints and events take a descriptor for each thread. All of them may take a quarter of the
 * descriptors that the process's limit (RLIMIT_NOFILE) leaves free. Refusals are counted and
 * reported.
 *
 * Order: none. The number is a count; threads that ask at once may pass the budget together.
 */
#ifndef LC_CORE_FDS_H
#define LC_CORE_FDS_H

#include <stdbool.h>

/* The purpose of a descriptor. Each value says what is missing when the descriptor is refused. */
enum lc_fds_use {
	LC_FDS_BREAKPOINT, /* the address of a sample stays unknown */
	LC_FDS_EVENT,      /* the engine does not sample the thread */
	LC_FDS_USES
};

/* See how many there are and are left; until the first time there is no limit. [attach] [writer] */
void lc_fds_look(void);

/* May one more be opened? lc_fds_give() when it is closed, or was not opened. Context: any. */
bool lc_fds_take(enum lc_fds_use use);
void lc_fds_give(enum lc_fds_use use);

/* The budget, where so many may be open, `open` are, and `ours` of these are. Context: tests. */
long lc_fds_budget(long limit, long open, long ours);

/* Say that the budget was reached: base/limit.h. Context: [writer]. */
void lc_fds_tell(void);

#endif
