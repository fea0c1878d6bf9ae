/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format/rows.h - declares the rows that a thread's next block will hold, as the agent fills them.
 *
 * sections.def lists the columns of each row but those of spans, and says what they mean. Sites and
 * paths are numbers for lc_site_get() and lc_path_get(); times are of CLOCK_MONOTONIC.
 */
#ifndef LC_FORMAT_ROWS_H
#define LC_FORMAT_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "src/format/kinds.h"

/* The type of a member, by the type of its column. */
#define LC_ROW_SITE uint32_t
#define LC_ROW_SITE_OR_0 uint32_t
#define LC_ROW_PATH uint32_t
#define LC_ROW_STRING const char *
#define LC_ROW_ENGINE uint16_t
#define LC_ROW_BUCKET uint8_t
#define LC_ROW_NODE uint16_t
#define LC_ROW_BELOW uint8_t
#define LC_ROW_SUBMIT uint8_t
#define LC_ROW_TENTH uint64_t
#define LC_ROW_U64 uint64_t
#define LC_ROW_FROM uint64_t

/* struct lc_block_alloc, lc_block_access and so on. */
#define LC_KEY(id, member, type, text) LC_ROW_##type member;
#define LC_SUM(id, member, type, text) uint64_t member;
#define LC_SUMS(id, member, text) uint64_t member[LC_LIVE_COLUMNS];
#define LC_MAX(id, member, type, text) uint64_t member;
#define LC_SECTION(name, number, prefix, noun, list, owner, by, columns)                           \
	struct lc_block_##noun {                                                                   \
		columns                                                                            \
	};
#include "src/format/sections.def"

#undef LC_ROW_SITE
#undef LC_ROW_SITE_OR_0
#undef LC_ROW_PATH
#undef LC_ROW_STRING
#undef LC_ROW_ENGINE
#undef LC_ROW_BUCKET
#undef LC_ROW_NODE
#undef LC_ROW_BELOW
#undef LC_ROW_SUBMIT
#undef LC_ROW_TENTH
#undef LC_ROW_U64
#undef LC_ROW_FROM

/*
 * The pairs of samples that an interrupt stands for which counts as `samples`. The sum of w^2 over
 * interrupts that count as w samples each is then samples + 2 * pairs; without pairs each sample is
 * an interrupt. Does not overflow where samples are below 2^32. Context: any.
 */
static inline uint64_t lc_block_pairs(uint64_t samples)
{
	return samples & 1 ? samples * ((samples - 1) / 2) : samples / 2 * (samples - 1);
}

/*
 * Executions of streams or tasks in one place: the leaf frame of a path is the location.
 * span/span.h says what the columns mean. They are read one after the other while the thread runs,
 * so one may count a span that another does not yet; over all blocks they agree.
 */
struct lc_block_span {
	uint8_t kind; /* enum lc_span_kind */
	uint8_t level;
	uint8_t submit_kind;  /* enum lc_submit_kind; 0 in streams */
	uint32_t site;        /* for lc_site_get(): class and creation path; 0 in streams */
	uint32_t submit_path; /* for lc_path_get(); 0 unknown, or a stream */
	uint32_t path;        /* for lc_path_get(): streams; 0 in tasks */
	uint64_t executions, folded;
	uint64_t cycles;
	int64_t compensated;
	uint64_t negative, switches, gc_count, gc_ns, wait_ns, waits, wall_ns;
	uint64_t nested[LC_SPAN_NESTED];
	/*
	 * First begin and last end of the executions of this block alone, as well as that is known:
	 * CLOCK_MONOTONIC, both 0 where it is not. Readers make active intervals of them.
	 */
	uint64_t first_ns, last_ns;
	uint32_t histogram[LC_SPAN_BUCKETS];
};

/* One span by itself, with --trace. IDs are unique in the process, and 0 is none. */
struct lc_block_trace {
	uint64_t id;
	uint64_t outer;   /* the span inside which it ran, on its thread */
	uint64_t logical; /* streams: the outer stream; tasks: the task object's number, the same
	                     for each of its executions */
	uint8_t kind, level, submit_kind;
	uint16_t flags;                   /* LC_TRACE_ of kinds.h */
	uint32_t site, submit_path, path; /* as in lc_block_span */
	uint32_t creator; /* tasks: lc_thread.index of the creating thread + 1; 0 unknown */
	uint64_t start_ns, duration_ns;
	uint64_t cycles; /* measured, without nested spans */
	int64_t compensated;
	uint64_t switches;
	uint64_t wait_ns; /* tasks: from submission to start; 0 unknown */
};

/*
 * Rows of one thread since its last block: counts are differences, not totals. Each list of rows
 * has a member, and a length beside it: `allocs` and `allocs_len`, and so on.
 */
struct lc_block_input {
	uint32_t tid;
	uint32_t index;      /* lc_thread.index, not LC_THREAD_ALL */
	const char *name;    /* UTF-8 */
	uint64_t t_begin_ns; /* CLOCK_MONOTONIC */
	uint64_t t_end_ns;
#define LC_SECTION(name, number, prefix, noun, list, owner, by, columns)                           \
	const struct lc_block_##noun *list;                                                        \
	size_t list##_len;
#include "src/format/sections.def"
	const struct lc_block_span *spans;
	size_t spans_len;
	const struct lc_block_trace *trace;
	size_t trace_len;
};

#endif
