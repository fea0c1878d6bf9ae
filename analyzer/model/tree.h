/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/tree.h - describes merged profiles: names, call paths, object sites and what was counted
 * for them.
 *
 * Call paths form one tree in which a child is found by hash, so equal paths of any thread or
 * process are one node. A count belongs to a site and an access path: the tree of accesses under
 * an allocation path is the set of nodes that its site was counted with. Memory grows with what
 * is different in the inputs, not with their number.
 */
#ifndef LC_MODEL_TREE_H
#define LC_MODEL_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analyzer/base/table.h"
#include "analyzer/model/path_times.h"
#include "src/format/rows.h"
#include "src/format/section.h"

struct lc_slices;

/* Bytes as the JVM gave them (modified UTF-8, any content); not terminated. */
struct lc_text {
	const char *bytes;
	uint32_t len;
};

static inline bool lc_text_is(struct lc_text text, const char *word)
{
	return text.len == strlen(word) && !memcmp(text.bytes, word, text.len);
}

static inline bool lc_text_begins(struct lc_text text, const char *word)
{
	const size_t len = strlen(word);

	return text.len >= len && !memcmp(text.bytes, word, len);
}

static inline bool lc_text_ends(struct lc_text text, const char *word)
{
	const size_t len = strlen(word);

	return text.len >= len && !memcmp(text.bytes + text.len - len, word, len);
}

/* Does it begin with one of `len` words? */
static inline bool lc_text_begins_any(struct lc_text text, const char *const *words, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (lc_text_begins(text, words[i]))
			return true;
	return false;
}

/* Columns of the tables: LC_<TABLE>_<COLUMN> of the key, then of the values. */
enum { LC_METHOD_CLASS, LC_METHOD_NAME, LC_METHOD_SIGNATURE, LC_METHOD_FILE, LC_METHOD_KEY };
enum { LC_METHOD_OWN, LC_METHOD_VALUES }; /* LC_METHOD_OWN: enum lc_tree_own */
enum { LC_FRAME_METHOD, LC_FRAME_BCI1, LC_FRAME_LINE1, LC_FRAME_KEY }; /* + 1; 0 is unknown */
enum { LC_PATH_PARENT, LC_PATH_FRAME, LC_PATH_KEY };
enum { LC_SITE_CLASS, LC_SITE_PATH, LC_SITE_KEY };
enum { LC_SITE_ALLOCATIONS, LC_SITE_BYTES, LC_SITE_VALUES };
enum { LC_THREAD_PROCESS, LC_THREAD_INDEX, LC_THREAD_KEY };
enum {
	LC_THREAD_TID,
	LC_THREAD_NAME, /* string */
	LC_THREAD_ALLOCATIONS,
	LC_THREAD_BYTES,
	LC_THREAD_BEGIN_NS,
	LC_THREAD_END_NS,
	LC_THREAD_VALUES
};
enum { LC_SHARE_THREAD, LC_SHARE_ENGINE, LC_SHARE_BUCKET, LC_SHARE_KEY };

/*
 * sections.def defines the columns of the flat sections' tables. A key has LC_<PREFIX>_THREAD
 * first, if the tree keeps threads apart, and LC_<ID> of each column. A number of 64 bits takes two
 * columns, the low one first. LC_<PREFIX>_KEY is the number of key columns. The values have LC_<ID>
 * and LC_<PREFIX>_VALUES.
 */
#define LC_WIDE(id) LC_##id##_HIGH,
#define LC_NARROW(id)
#define LC_WIDE_SITE(id) LC_NARROW(id)
#define LC_WIDE_SITE_OR_0(id) LC_NARROW(id)
#define LC_WIDE_PATH(id) LC_NARROW(id)
#define LC_WIDE_STRING(id) LC_NARROW(id)
#define LC_WIDE_ENGINE(id) LC_NARROW(id)
#define LC_WIDE_BUCKET(id) LC_NARROW(id)
#define LC_WIDE_NODE(id) LC_NARROW(id)
#define LC_WIDE_BELOW(id) LC_NARROW(id)
#define LC_WIDE_SUBMIT(id) LC_NARROW(id)
#define LC_WIDE_TENTH(id) LC_WIDE(id)
#define LC_WIDE_U64(id) LC_WIDE(id)
#define LC_WIDE_FROM(id) LC_WIDE(id)
#define LC_OWNER(prefix, number) LC_##prefix##_THREAD,
#define LC_NOBODY
#define LC_KEY(id, member, type, text) LC_##id, LC_WIDE_##type(id)
#define LC_SUM(id, member, type, text)
#define LC_SUMS(id, member, text)
#define LC_MAX(id, member, type, text)
#define LC_SECTION_APART(name, number, prefix, noun, list, owner, by, columns)
#define LC_SECTION(name, number, prefix, noun, list, owner, by, columns)                           \
	enum { owner columns LC_##prefix##_KEY };
#include "src/format/sections.def"

#define LC_KEY(id, member, type, text)
#define LC_SUM(id, member, type, text) LC_##id,
#define LC_SUMS(id, member, text) LC_##id, LC_##id##_LAST = LC_##id + LC_LIVE_COLUMNS - 1,
#define LC_MAX(id, member, type, text) LC_##id,
#define LC_SECTION_APART(name, number, prefix, noun, list, owner, by, columns)
#define LC_SECTION(name, number, prefix, noun, list, owner, by, columns)                           \
	enum { columns LC_##prefix##_VALUES };
#include "src/format/sections.def"

#undef LC_WIDE
#undef LC_NARROW
#undef LC_WIDE_SITE
#undef LC_WIDE_SITE_OR_0
#undef LC_WIDE_PATH
#undef LC_WIDE_STRING
#undef LC_WIDE_ENGINE
#undef LC_WIDE_BUCKET
#undef LC_WIDE_NODE
#undef LC_WIDE_BELOW
#undef LC_WIDE_SUBMIT
#undef LC_WIDE_TENTH
#undef LC_WIDE_U64
#undef LC_WIDE_FROM

/* Executions: of spans of one kind and place in a thread. lc_block_span of src/format/rows.h. */
enum {
	LC_EXECUTION_THREAD,
	LC_EXECUTION_KIND, /* enum lc_span_kind */
	LC_EXECUTION_LEVEL,
	LC_EXECUTION_SUBMIT, /* enum lc_submit_kind */
	LC_EXECUTION_SITE,
	LC_EXECUTION_SUBMIT_PATH,
	LC_EXECUTION_PATH,
	LC_EXECUTION_KEY
};
enum {
	LC_EXECUTION_COUNT,
	LC_EXECUTION_FOLDED,
	LC_EXECUTION_CYCLES,
	LC_EXECUTION_COMPENSATED, /* an int64_t */
	LC_EXECUTION_NEGATIVE,
	LC_EXECUTION_SWITCHES,
	LC_EXECUTION_GC_COUNT,
	LC_EXECUTION_GC_NS,
	LC_EXECUTION_WAIT_NS,
	LC_EXECUTION_WAITS,
	LC_EXECUTION_WALL_NS,
	LC_EXECUTION_NESTED,
	LC_EXECUTION_SUMS = LC_EXECUTION_NESTED + LC_SPAN_NESTED,
	LC_EXECUTION_INTERVAL = LC_EXECUTION_SUMS, /* the row's last one in span_intervals, + 1 */
	LC_EXECUTION_VALUES
};
/* Time in which a row of executions had some, CLOCK_MONOTONIC. */
struct lc_tree_interval {
	uint32_t row;
	uint64_t first_ns, last_ns;
};

/* A span by itself, with the tree's rows. */
struct lc_tree_trace {
	struct lc_block_trace row;
	uint32_t thread;
};

/* A block of one thread in a file: the thread's counts in a stretch of time. */
struct lc_tree_stretch {
	uint32_t thread;
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	uint64_t allocations, bytes;
};

enum {
	LC_STRETCH_SAMPLES_ROW,
	LC_STRETCH_SAMPLES_ENGINE,
	LC_STRETCH_SAMPLES_BUCKET,
	LC_STRETCH_SAMPLES_KEY
};

/* Is a method the program's own? lc_own_choose() decides it for all methods. */
enum lc_tree_own {
	LC_TREE_OWN_UNDECIDED,
	LC_TREE_OWN,
	LC_TREE_NOT_OWN,
};

/* The decision of lc_own_choose(), and its reason. */
struct lc_tree_own_choice {
	bool made;
	bool given;      /* by --app */
	char **patterns; /* of classes, as for --track */
	size_t len;      /* 0: each class outside the JDK is own */
	char *why;
	/* The own line that half of all samples or more are below; method 0: there is none. */
	uint32_t common_method, common_line1;
};

/*
 * String 0 is empty, path 0 the root (no frames) and site 0 none: these rows always exist.
 * A parent has a smaller number than its children.
 */
struct lc_tree {
	char *bytes; /* of all strings */
	size_t bytes_len;
	size_t bytes_cap;
	struct lc_table strings; /* key: length, hash (2), how many before had all three equal */
	size_t *starts;          /* of a string in bytes */
	size_t starts_cap;
	uint32_t *
	    classes; /* of a string that named a class: the string that lc_tree_class() gave, + 1 */
	size_t classes_cap;
	struct lc_table methods;
	struct lc_table frames;
	struct lc_table paths;
	struct lc_table sites;
	struct lc_table threads;
	struct lc_table shares; /* value: samples of a thread in a bucket */
	struct lc_table executions;
	struct lc_table span_buckets; /* row of executions, bucket of the histogram; value: spans */
/* A table for each flat section: accesses, details, fields and so on. */
#define LC_SECTION_APART(name, number, prefix, noun, list, owner, by, columns)
#define LC_SECTION(name, number, prefix, noun, list, owner, by, columns) struct lc_table list;
#include "src/format/sections.def"
	struct lc_tree_interval *span_intervals; /* in no order; lc_tree_spans_build() sorts them */
	size_t span_intervals_len;
	size_t span_intervals_cap;
	struct lc_tree_trace *traces;
	size_t traces_len;
	size_t traces_cap;
	struct lc_tree_stretch *stretches; /* in the order in which they were read */
	size_t stretches_len;
	size_t stretches_cap;
	struct lc_table stretch_samples; /* number of a stretch, engine, bucket; value: samples */
	uint64_t buckets[LC_ENGINES_MAX][LC_BUCKET_COUNT];
	uint64_t offered[LC_ENGINES_MAX]; /* samples, those that filters left out included */
	struct lc_slices *slices;         /* the caller's; NULL: not kept */
	struct lc_path_times times;       /* of ACCESSES; empty in a combined tree */
	struct lc_tree_own_choice own;
	bool no_stretches; /* they are not kept: memory would follow the blocks */
};

/* Begin a stretch, and add to the one that was begun last. */
void lc_tree_stretch(struct lc_tree *t, uint32_t thread, uint64_t begin_ns, uint64_t end_ns);
void lc_tree_stretch_allocated(struct lc_tree *t, uint64_t allocations, uint64_t bytes);
void lc_tree_stretch_sampled(struct lc_tree *t, uint32_t engine, uint32_t bucket, uint64_t samples);

/*
 * Thread `row` had that tid and name (a string) at `end_ns`, and has run from `begin_ns` on; an end
 * of 0: the times are not known. The latest tid and name hold, of one time the greater ones.
 */
void lc_tree_thread_seen(struct lc_tree *t, uint32_t row, uint32_t tid, uint32_t name,
                         uint64_t begin_ns, uint64_t end_ns);

void lc_tree_init(struct lc_tree *t);
void lc_tree_free(struct lc_tree *t);

/* The table of a flat section of *t, as const as *t is; NULL for one that has none. */
struct lc_table *lc_tree_table(const struct lc_tree *t, enum lc_section section);

uint32_t lc_tree_string(struct lc_tree *t, const char *bytes, size_t len);

/* The same for `n` texts, LC_TABLE_BATCH at most. */
void lc_tree_strings(struct lc_tree *t, const struct lc_text *texts, uint32_t n, uint32_t *ids);

/*
 * Like lc_tree_string(), for the name of a class. Drops the address that the JVM appends to the
 * name of a hidden class ("Main$$Lambda/0x00007f01c4000a00"), which differs in every run.
 */
uint32_t lc_tree_class(struct lc_tree *t, const char *bytes, size_t len);

/* The text of a string, valid until the next one is added. */
struct lc_text lc_tree_text(const struct lc_tree *t, uint32_t string);

/* Frames of a path from the root, leaf last. */
uint32_t lc_tree_depth(const struct lc_tree *t, uint32_t path);

/*
 * A number for a site that is the same in every profile: a hash of its class and of class,
 * method, signature, bci and line of each frame of its allocation path.
 */
uint64_t lc_tree_site_id(const struct lc_tree *t, uint32_t site);

/* Has nothing been counted: no samples, no allocations, sampled ones included, and no blocks? */
bool lc_tree_empty(const struct lc_tree *t);

/* Is there a row of any section of spans? */
bool lc_tree_has_spans(const struct lc_tree *t);

/* A number of 64 bits that stands in two columns of a key. */
static inline uint64_t lc_tree_wide(const uint32_t *columns)
{
	return columns[0] | (uint64_t)columns[1] << 32;
}

static inline void lc_tree_wide_put(uint32_t *columns, uint64_t v)
{
	columns[0] = (uint32_t)v;
	columns[1] = (uint32_t)(v >> 32);
}

/* Does a column of a flat section stand in two columns of a key? */
static inline bool lc_tree_is_wide(enum lc_column_type type)
{
	return type == LC_COLUMN_U64 || type == LC_COLUMN_FROM || type == LC_COLUMN_TENTH;
}

static inline uint32_t lc_tree_parent(const struct lc_tree *t, uint32_t path)
{
	return lc_table_key(&t->paths, path)[LC_PATH_PARENT];
}

/* Frames of the longest cycle that was folded at the end of the path; 0: no recursion. */
uint64_t lc_tree_recursion(const struct lc_tree *t, uint32_t path);

static inline const uint32_t *lc_tree_frame(const struct lc_tree *t, uint32_t path)
{
	return lc_table_key(&t->frames, lc_table_key(&t->paths, path)[LC_PATH_FRAME]);
}

/* The number of the method of the path's leaf, and the method. */
static inline uint32_t lc_tree_method_number(const struct lc_tree *t, uint32_t path)
{
	return lc_tree_frame(t, path)[LC_FRAME_METHOD];
}

/*
 * Are the leaves of both paths at one line? Leaves of an unknown line must be at one bytecode, as
 * in a row of a ranking.
 */
static inline bool lc_tree_same_line(const struct lc_tree *t, uint32_t a, uint32_t b)
{
	const uint32_t *x = lc_tree_frame(t, a), *y = lc_tree_frame(t, b);

	return x[LC_FRAME_METHOD] == y[LC_FRAME_METHOD] && x[LC_FRAME_LINE1] == y[LC_FRAME_LINE1] &&
	       (x[LC_FRAME_LINE1] || x[LC_FRAME_BCI1] == y[LC_FRAME_BCI1]);
}

static inline const uint32_t *lc_tree_method(const struct lc_tree *t, uint32_t path)
{
	return lc_table_key(&t->methods, lc_tree_method_number(t, path));
}

/*
 * Orders that do not depend on the order of the inputs: of texts by their bytes, of methods by
 * their names, of paths by the names of the frames from the leaf.
 */
int lc_tree_order_text(const struct lc_tree *t, uint32_t a, uint32_t b);
int lc_tree_order_methods(const struct lc_tree *t, uint32_t a, uint32_t b);
int lc_tree_order_paths(const struct lc_tree *t, uint32_t a, uint32_t b);

#endif
