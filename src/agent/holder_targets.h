/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/holder_targets.h - finds objects that a heap walk looks for, by their addresses. If these
 * are not known before the walk, the objects have tags, and the walk finds the addresses.
 *
 * Pure functions on memory of the caller. Context: any.
 */
#ifndef LC_AGENT_HOLDER_TARGETS_H
#define LC_AGENT_HOLDER_TARGETS_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/agent/holder_table.h"

enum { LC_HOLDER_TARGETS_MAX = 4096, LC_HOLDER_TARGET_SLOTS = 4 * LC_HOLDER_TARGETS_MAX };

struct lc_holder_target {
	uint64_t address; /* 0: not known yet */
	jobject object;   /* to be tagged; NULL: its address is known */
	uint32_t group;   /* the caller's */
	struct lc_holder_leaf leaf;
};

struct lc_holder_targets {
	struct lc_holder_target targets[LC_HOLDER_TARGETS_MAX];
	size_t len;
	uint16_t slots[LC_HOLDER_TARGET_SLOTS]; /* by a hash of the address: index + 1; 0: free */
};

/* Add an object; returns false if there is no room, or it is there. The targets begin as zero. */
bool lc_holder_targets_add(struct lc_holder_targets *t, uint64_t address, uint32_t group);

/* The same for an object whose address is not known. */
bool lc_holder_targets_add_object(struct lc_holder_targets *t, jobject object, uint32_t group);

/* The object at the address; NULL: it is not looked for. */
struct lc_holder_target *lc_holder_targets_find(struct lc_holder_targets *t, uint64_t address);

#endif
