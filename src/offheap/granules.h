/* SPDX-License-Identifier: Apache-2.0 */
/* offheap/granules.h - tells signal handlers, which take no lock, near which addresses blocks are.
 */
#ifndef LC_OFFHEAP_GRANULES_H
#define LC_OFFHEAP_GRANULES_H

#include <stdbool.h>
#include <stdint.h>

/* A block is there. Context: any. */
void lc_granules_note(uint64_t addr, uint64_t size_bytes);

/*
 * May a block hold the address? There was a block in the same granule of 1 MiB, or in one that is a
 * multiple of 64 GiB away. Context: any.
 */
bool lc_granules_hold(uint64_t addr);

#endif
