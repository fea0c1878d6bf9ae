/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/read_on.h - tells from the code behind an access to an object's header whether it reads
 * the object on: its header is then not fetched for itself.
 */
#ifndef LC_SAMPLE_READ_ON_H
#define LC_SAMPLE_READ_ON_H

#include <stddef.h>
#include <stdint.h>

struct lc_code_bytes;

/*
 * Bytes from the access of the instruction at bytes[at] to the next load of the same object that is
 * less than a cache line behind it; 0: there is none, or the access is to no header. Conditional
 * branches are not taken: C2 puts what it has seen rarely out of line. An element, whatever its
 * index, counts as the first one.
 * Reads nothing outside code->bytes. Context: [signal].
 */
uint8_t lc_read_on(const struct lc_code_bytes *code, size_t at);

#endif
