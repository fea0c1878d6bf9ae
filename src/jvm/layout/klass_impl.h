/* SPDX-License-Identifier: Apache-2.0 */
/* jvm/layout/klass_impl.h - declares what klass.c and klass_object.c share. */
#ifndef LC_JVM_LAYOUT_KLASS_IMPL_H
#define LC_JVM_LAYOUT_KLASS_IMPL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/jvm/layout/layout.h"
#include "src/jvm/layout/ranges.h"

enum { LC_KLASS_WRITING = 0, LC_KLASS_READY, LC_KLASS_REFUSED };

/* A class that was seen; the rules are in klass.c. */
struct lc_klass_entry {
	_Atomic uint64_t klass; /* 0: free */
	_Atomic uint32_t state;
	_Atomic uint32_t epoch; /* plus one; relaxed: see I3 */
	int32_t layout_helper;
	bool is_mirror; /* java.lang.Class: the size is in the object */
	uint16_t name_len;
	uint32_t name; /* offset in `names` */
	uint64_t symbol;
	uint64_t mirror; /* where the JVM keeps the reference to it */

	/* The attribution thread's own. */
	uint32_t site;
	char *signature;
};

/* The table is there: objects may be looked for. Context: [attach]. */
void lc_klass_objects_init(const struct lc_layout *layout, struct lc_range heap);

/*
 * The class at the Klass * `address`, true in this epoch; NULL where there is none. Each class that
 * has to be read takes one off *budget; at 0 none is. Context: [signal] or any.
 */
struct lc_klass_entry *lc_klass_prove(uint64_t address, unsigned *budget);

/* The class as it was last proved, or NULL. If it is not current, another class may be there. */
const struct lc_klass_entry *lc_klass_peek(uint64_t address);

/* Was the class proved since the last collection? */
bool lc_klass_is_current(const struct lc_klass_entry *e);

#endif
