/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi/result.h - makes the directory that rank 0 of locus-mpi writes: a temporary one beside the
 * final path, renamed when it is complete.
 *
 * If the final directory exists already and is empty, files are written into it, under names that
 * no report takes for a profile (merge/output.h).
 */
#ifndef LC_MPI_RESULT_H
#define LC_MPI_RESULT_H

#include <stdbool.h>

struct lc_result {
	const char *output;
	char *dir;   /* that is written into; NULL: not yet made */
	bool beside; /* it is a temporary one */
};

/* Check that `output`, which stays the caller's, can be made. Returns 0, or 1 after a line. */
int lc_result_check(struct lc_result *r, const char *output);

/*
 * Make r->dir. From now on SIGTERM, SIGINT and SIGHUP, which mpirun sends when a rank has died,
 * remove what is in it and end the program with a line. One at a time. Returns 0, or 1 after a line
 * on stderr.
 */
int lc_result_begin(struct lc_result *r);

/*
 * Give the directory its name if it is whole, else remove it. Returns 0, or 1 after a line on
 * stderr and having removed it.
 */
int lc_result_end(struct lc_result *r, bool whole);

/*
 * All is said: a signal ends the program without a line, as that which mpirun sends to the others
 * when the first rank has ended with a status.
 */
void lc_result_over(void);

#endif
