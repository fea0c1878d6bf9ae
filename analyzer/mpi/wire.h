/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi/wire.h - sends messages of any size between the ranks of locus-mpi.
 *
 * A message is its length and then chunks of LC_WIRE_CHUNK_BYTES, so that MPI's counts, which are
 * an int, do not limit it. A waiting rank sleeps between two looks and takes no CPU from working
 * ranks. If MPI itself fails, it ends all ranks. Context: the main thread alone, after
 * MPI_Init_thread().
 */
#ifndef LC_MPI_WIRE_H
#define LC_MPI_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"

enum { LC_WIRE_CHUNK_BYTES = 1 << 18 };

/* Send `len` bytes to rank `to`, which calls lc_wire_receive(). Returns when they may be changed.
 */
void lc_wire_send(int to, const void *data, size_t len);

/*
 * Append to *out the next message of rank `from`. Returns the seconds until it began to come. Stops
 * the program without memory.
 */
double lc_wire_receive(int from, struct lc_bytes *out);

/* All ranks call it: *out of rank `from` becomes that of each. Stops the program without memory. */
void lc_wire_share(int from, struct lc_bytes *out);

/* All ranks call it: the largest number of any. */
int lc_wire_most(int number);

#endif
