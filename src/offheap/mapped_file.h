/* SPDX-License-Identifier: Apache-2.0 */
/* offheap/mapped_file.h - tells which file is mapped at an address. */
#ifndef LC_OFFHEAP_MAPPED_FILE_H
#define LC_OFFHEAP_MAPPED_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/offheap/block_class.h"

/*
 * The name of the file that was mapped at `addr`, without its directories; "" if it cannot be told.
 * `size_bytes` is the length that was asked for. Context: [hook].
 */
void lc_mapped_file(uint64_t addr, uint64_t size_bytes, char out[LC_BLOCK_FILE_MAX]);

/*
 * Its two ways, which return whether they know: one asks for this mapping, which takes
 * microseconds. The other reads the list of all mappings, which takes 140 to 200 us in a JVM, and
 * also finds a mapping that the kernel has joined with another.
 */
bool lc_mapped_file_ask(uint64_t addr, uint64_t size_bytes, char out[LC_BLOCK_FILE_MAX]);
bool lc_mapped_file_search(uint64_t addr, char out[LC_BLOCK_FILE_MAX]);

#endif
