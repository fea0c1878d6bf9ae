/* classfile/pool.h - constants that a rewritten class has on top of its own. */
#ifndef LC_CLASSFILE_POOL_H
#define LC_CLASSFILE_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "src/classfile/alloc_plan.h"
#include "src/classfile/big_endian.h"

struct lc_pool {
	struct lc_buf bytes; /* the constants */
	uint32_t next;       /* number of the next one: the new constant_pool_count */
	bool full;           /* there are no numbers left: what was returned since then is void */
	/* Numbers of what was asked for before; 0: not yet. */
	uint16_t hook_class;
	uint16_t objects_class;
	uint16_t methods[LC_HOOK_METHOD_COUNT];
};

/* Each call adds a new one. */
uint16_t lc_pool_utf8(struct lc_pool *p, const char *s);
uint16_t lc_pool_class(struct lc_pool *p, const char *name);
uint16_t lc_pool_method(struct lc_pool *p, uint16_t class, const char *name,
                        const char *descriptor);

/* Numbers of the constants, added when they are first needed. */
uint16_t lc_pool_integer(struct lc_pool *p, uint32_t value); /* always a new one */
uint16_t lc_pool_objects_class(struct lc_pool *p);           /* class Object[] */
uint16_t lc_pool_hook(struct lc_pool *p, enum lc_hook_method method);

#endif
