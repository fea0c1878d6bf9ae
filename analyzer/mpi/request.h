/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi/request.h - makes all ranks agree on the request: on the profiles below a directory, and on
 * the times of --since and --until, which depend on a machine's clock and time zone.
 */
#ifndef LC_MPI_REQUEST_H
#define LC_MPI_REQUEST_H

#include "analyzer/cli/operands.h"
#include "analyzer/model/load_range.h"

/*
 * Rank 0 finds the profiles that `operands` stand for, and tells all others of them and of *range,
 * which theirs becomes. All ranks call it. Free *found with lc_operands_free().
 */
void lc_request_share(int rank, char **operands, size_t count, struct lc_load_range *range,
                      struct lc_operands *found);

#endif
