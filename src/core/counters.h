/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/counters.h - A module lists its counters in a table, which this header writes into the
 * manifest.
 *
 * A counter is a member of the module's struct of stats and one row of the table beside the
 * function that fills the struct: LC_COUNTER(struct lc_x_stats, member, "name_in_the_manifest"). A
 * module's lc_x_counters(out) adds its rows; agent/agent_manifest.c calls them in the manifest's
 * order.
 */
#ifndef LC_CORE_COUNTERS_H
#define LC_CORE_COUNTERS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { LC_COUNTERS_MAX = 256, LC_COUNTER_NAME_MAX = 48 };

/* The counters of one manifest, in its order. One thread's. */
struct lc_counters {
	struct {
		char name[LC_COUNTER_NAME_MAX];
		uint64_t value;
	} rows[LC_COUNTERS_MAX];
	size_t len;
};

struct lc_counter_row {
	const char *name;
	size_t at;     /* offset of a uint64_t in the struct of stats */
	uint64_t unit; /* what the manifest counts is so much of it: 1000 for microseconds of ns */
};

#define LC_COUNTER(type, member, name)                                                             \
	{                                                                                          \
		(name), offsetof(type, member), 1                                                  \
	}
#define LC_COUNTER_US(type, member, name)                                                          \
	{                                                                                          \
		(name), offsetof(type, member), 1000                                               \
	}
#define LC_COUNTERS_ADD(out, table, stats)                                                         \
	lc_counters_add(out, table, sizeof(table) / sizeof((table)[0]), stats)

/* One more of what several threads count. Context: any. */
static inline void lc_count(_Atomic uint64_t *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed); /* a count */
}

/*
 * Add one counter whose name is made up here; the name is copied. Nothing where there is no room.
 */
static inline void lc_counters_put(struct lc_counters *out, const char *name, uint64_t value)
{
	if (out->len == LC_COUNTERS_MAX)
		return;
	snprintf(out->rows[out->len].name, LC_COUNTER_NAME_MAX, "%s", name);
	out->rows[out->len++].value = value;
}

/* Add `len` rows of a table, with the numbers of the struct that it describes. */
static inline void lc_counters_add(struct lc_counters *out, const struct lc_counter_row *rows,
                                   size_t len, const void *stats)
{
	for (size_t i = 0; i < len; i++) {
		const void *at = (const char *)stats + rows[i].at;

		lc_counters_put(out, rows[i].name, *(const uint64_t *)at / rows[i].unit);
	}
}

#endif
