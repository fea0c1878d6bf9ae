/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/counters.h - declares counters: a counter is a variable and one row.
 *
 * The row names the counter in the manifest, and the limit and the line that a count above 0 stands
 * for, if there is one. A module lists its rows in a table:
 *
 *     static const struct lc_counter counters[] = {
 *             LC_COUNTER("x_made", &x.made),
 *             LC_COUNTER("x_lost", &x.lost, .limit = "xs_lost", .text = "some are missing"),
 *     };
 *     LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
 *
 * The linker collects the tables of all modules in a section, from which lc_counters_take() reads
 * them: no other file knows a module's counters.
 */
#ifndef LC_CORE_COUNTERS_H
#define LC_CORE_COUNTERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "src/base/options.h"
#include "src/base/vector.h"
#include "src/core/memory.h"

enum { LC_COUNTER_NAME_MAX = 48 };

/* The counters of one manifest. Owner: the attribution thread. */
struct lc_counters {
	struct lc_counter_read {
		char name[LC_COUNTER_NAME_MAX];
		uint64_t value;
	} * rows; /* malloc() */
	size_t len, cap;
	bool failed; /* without memory: some are missing */
};

/* A counter's row. */
struct lc_counter {
	const char *name;
	/* A variable of 8, 4 or 1 bytes: atomic, or written by the attribution thread. Or NULL: */
	const void *value;
	uint64_t (*read)(void); /* context: [writer] */
	uint64_t unit;          /* 0: 1; the manifest counts so many: 1000 for microseconds of ns */
	/* A count above 0 means that something is missing; NULL: nothing is. See base/limit.h. */
	const char *limit, *text;
	uint8_t bytes;          /* of the variable */
	enum lc_memory_use use; /* if `refusable`: the memory limit reports a refused use itself */
	bool refusable;
};

/* A row for a variable, and members of the row by name. */
#define LC_COUNTER(n, v, ...)                                                                      \
	{                                                                                          \
		.name = (n), .value = (v), .bytes = sizeof(*(v)), ##__VA_ARGS__                    \
	}

/* The rows of a module. */
struct lc_counter_table {
	const struct lc_counter *rows;
	size_t len;
	/* If not NULL: leave out the table (false), or read what its rows point to. [writer] */
	bool (*begin)(const struct lc_options *options);
	/* If not NULL: add counters whose names are made up, with lc_counters_put(). [writer] */
	void (*put)(struct lc_counters *out);
};

#define LC_COUNTER_ROWS(table) .rows = (table), .len = sizeof(table) / sizeof((table)[0])

/* The tables lie behind one another, so each has the size of its alignment. */
#define LC_COUNTER_TABLE(...)                                                                      \
	static const struct lc_counter_table counter_table                                         \
	    __attribute__((section("lc_counters"), used, aligned(32))) = { __VA_ARGS__ }
_Static_assert(sizeof(struct lc_counter_table) == 32, "no gap between tables");

/* Add one to a counter of several threads. Context: any. */
static inline void lc_count(_Atomic uint64_t *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed); /* a count */
}

/* Values of lc_counter_table.begin: tables of --spans and of --audit. */
static inline bool lc_counters_with_spans(const struct lc_options *options)
{
	return options->spans;
}

static inline bool lc_counters_with_audit(const struct lc_options *options)
{
	return options->audit;
}

/* Add one counter; the name is copied. Without memory, out->failed is set. */
static inline void lc_counters_put(struct lc_counters *out, const char *name, uint64_t value)
{
	void *rows =
	    lc_vector_reserve_array(out->rows, &out->cap, out->len + 1, sizeof(*out->rows));

	if (!rows) {
		out->failed = true;
		return;
	}
	out->rows = rows;
	snprintf(out->rows[out->len].name, LC_COUNTER_NAME_MAX, "%s", name);
	out->rows[out->len++].value = value;
}

static inline uint64_t lc_counter_value(const struct lc_counter *c)
{
	uint64_t value = 0;

	if (c->read)
		value = c->read();
	else if (c->bytes == sizeof(uint64_t))
		value =
		    atomic_load_explicit((const _Atomic uint64_t *)c->value, memory_order_relaxed);
	else if (c->bytes == sizeof(uint32_t))
		value =
		    atomic_load_explicit((const _Atomic uint32_t *)c->value, memory_order_relaxed);
	else
		value =
		    atomic_load_explicit((const _Atomic uint8_t *)c->value, memory_order_relaxed);
	return c->unit ? value / c->unit : value;
}

/*
 * Read the counters of all modules, and report the limits that they show as reached. The caller
 * frees out->rows. Returns 0, or -ENOMEM if some are missing. Context: [writer].
 */
int lc_counters_take(const struct lc_options *options, struct lc_counters *out);

#endif
