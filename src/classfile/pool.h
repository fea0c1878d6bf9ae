/* SPDX-License-Identifier: Apache-2.0 */
/* classfile/pool.h - collects the constants that a rewritten class gets besides its own. */
#ifndef LC_CLASSFILE_POOL_H
#define LC_CLASSFILE_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "src/classfile/big_endian.h"

struct lc_pool {
	struct lc_bytes bytes; /* the constants, in the order of their numbers */
	uint32_t next;         /* number of the next constant: the new constant_pool_count */
	bool full;             /* no numbers are left: those returned since then are void */
};

/* Each call adds a new constant, and those it refers to, and returns its number. */
uint16_t lc_pool_utf8(struct lc_pool *p, const char *s);
uint16_t lc_pool_class(struct lc_pool *p, const char *name);
uint16_t lc_pool_method(struct lc_pool *p, uint16_t class, const char *name,
                        const char *descriptor);
uint16_t lc_pool_field(struct lc_pool *p, uint16_t class, const char *name, const char *descriptor);
uint16_t lc_pool_integer(struct lc_pool *p, uint32_t value);
uint16_t lc_pool_long(struct lc_pool *p, uint64_t value);

#endif
