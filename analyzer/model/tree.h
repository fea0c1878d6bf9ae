/*
 * model/tree.h - merged profiles: names, call paths, object sites and what was counted for them.
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

#include "analyzer/base/table.h"
#include "src/format/kinds.h"

/* Bytes as the JVM gave them (modified UTF-8, any content); not terminated. */
struct lc_text {
	const char *bytes;
	uint32_t len;
};

/* Columns of the tables: LC_<TABLE>_<COLUMN> of the key, then of the values. */
enum { LC_METHOD_CLASS, LC_METHOD_NAME, LC_METHOD_SIGNATURE, LC_METHOD_FILE, LC_METHOD_KEY };
enum { LC_FRAME_METHOD, LC_FRAME_BCI1, LC_FRAME_LINE1, LC_FRAME_KEY }; /* + 1; 0 is unknown */
enum { LC_PATH_PARENT, LC_PATH_FRAME, LC_PATH_KEY };
enum { LC_SITE_CLASS, LC_SITE_PATH, LC_SITE_KEY };
enum { LC_SITE_ALLOCATIONS, LC_SITE_BYTES, LC_SITE_VALUES };
enum { LC_ACCESS_ENGINE, LC_ACCESS_BUCKET, LC_ACCESS_SITE, LC_ACCESS_PATH, LC_ACCESS_KEY };
enum { LC_DETAIL_ENGINE, LC_DETAIL_WHERE, LC_DETAIL_HOW, LC_DETAIL_KEY };
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

/* Numbers of 64 bits take two columns, the low one first. */
enum {
	LC_FIELD_ENGINE,
	LC_FIELD_BUCKET,
	LC_FIELD_SITE,
	LC_FIELD_PATH,
	LC_FIELD_NAME, /* string; empty: elements */
	LC_FIELD_FIRST,
	LC_FIELD_LAST = LC_FIELD_FIRST + 2,
	LC_FIELD_TOUCH = LC_FIELD_LAST + 2, /* LC_TOUCH_* */
	LC_FIELD_KEY
};
enum {
	LC_METRIC_ENGINE,
	LC_METRIC_BUCKET,
	LC_METRIC_SITE,
	LC_METRIC_PATH,
	LC_METRIC_SOURCE,
	LC_METRIC_FLAGS,
	LC_METRIC_KEY
};
enum { LC_METRIC_SAMPLES, LC_METRIC_LATENCY, LC_METRIC_LATENCY_MAX, LC_METRIC_VALUES };
enum {
	LC_LINE_THREAD, /* row of threads */
	LC_LINE_NUMBER, /* unique in the thread's process */
	LC_LINE_ENGINE = LC_LINE_NUMBER + 2,
	LC_LINE_BUCKET,
	LC_LINE_SITE,
	LC_LINE_PATH,
	LC_LINE_BYTE,
	LC_LINE_WIDTH, /* bytes; 0: unknown */
	LC_LINE_TOUCH,
	LC_LINE_NAME, /* as in fields */
	LC_LINE_FIRST,
	LC_LINE_KEY = LC_LINE_FIRST + 2
};
enum { LC_LINE_SAMPLES, LC_LINE_HITM, LC_LINE_VALUES };
enum {
	LC_ESTIMATE_SAMPLED,
	LC_ESTIMATE_OBJECTS, /* thousandths, as its variance and the live ones */
	LC_ESTIMATE_OBJECTS_VARIANCE,
	LC_ESTIMATE_BYTES,
	LC_ESTIMATE_BYTES_VARIANCE, /* units of 2^20 square bytes */
	LC_ESTIMATE_LIVE,
	LC_ESTIMATE_VALUES = LC_ESTIMATE_LIVE + LC_LIVE_COLUMNS
};
enum { LC_SPLIT_ENGINE, LC_SPLIT_METHOD, LC_SPLIT_CLASS, LC_SPLIT_SITE, LC_SPLIT_KEY };
enum { LC_SPLIT_SAMPLES, LC_SPLIT_VARIANCE, LC_SPLIT_VALUES }; /* thousandths */
/* Nodes are numbers + 1; 0 is unknown. Threads are rows of threads. */
enum {
	LC_PLACEMENT_THREAD,
	LC_PLACEMENT_ENGINE,
	LC_PLACEMENT_BUCKET,
	LC_PLACEMENT_SITE,
	LC_PLACEMENT_PATH,
	LC_PLACEMENT_ACCESSING, /* node of the CPU */
	LC_PLACEMENT_OWNING,    /* node of the page */
	LC_PLACEMENT_SOURCE,    /* enum lc_data_source */
	LC_PLACEMENT_KEY
};
enum { LC_NODE_THREAD, LC_NODE_ENGINE, LC_NODE_NODE, LC_NODE_KEY };
enum { LC_NODE_SAMPLES, LC_NODE_MIGRATIONS, LC_NODE_VALUES };
enum { LC_HOME_THREAD, LC_HOME_SITE, LC_HOME_NODE, LC_HOME_KEY };
enum { LC_HOME_OBJECTS, LC_HOME_BYTES, LC_HOME_VALUES };

/* Executions: of spans of one kind and place in a thread. lc_block_span of src/profile/writer.h. */
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
enum { LC_MADE_THREAD, LC_MADE_SITE, LC_MADE_SUBMIT, LC_MADE_SUBMIT_PATH, LC_MADE_KEY };
enum {
	LC_INSIDE_KIND,
	LC_INSIDE_SPAN_SITE,
	LC_INSIDE_SPAN_PATH,
	LC_INSIDE_ENGINE,
	LC_INSIDE_BUCKET,
	LC_INSIDE_SITE,
	LC_INSIDE_PATH,
	LC_INSIDE_KEY
};
enum {
	LC_SLICE_THREAD,
	LC_SLICE_NUMBER,
	LC_SLICE_KEY = LC_SLICE_NUMBER + 2
}; /* time / LC_TIMELINE_NS */
enum { LC_SLICE_CPU_NS, LC_SLICE_VOLUNTARY, LC_SLICE_INVOLUNTARY, LC_SLICE_VALUES };
enum { LC_PAUSE_THREAD, LC_PAUSE_START, LC_PAUSE_KEY = LC_PAUSE_START + 2 };

/* Time in which a row of executions had some, CLOCK_MONOTONIC. */
struct lc_tree_interval {
	uint32_t row;
	uint64_t first_ns, last_ns;
};

/* A span by itself: lc_block_trace of src/profile/writer.h, with rows of the tree. */
struct lc_tree_trace {
	uint64_t id, outer, logical;
	uint64_t start_ns, duration_ns;
	uint64_t cycles;
	int64_t compensated;
	uint64_t switches;
	uint64_t wait_ns;
	uint32_t thread;
	uint32_t creator; /* thread index in the process + 1 */
	uint32_t site, submit_path, path;
	uint8_t kind, level, submit_kind, flags;
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
	struct lc_table methods;
	struct lc_table frames;
	struct lc_table paths;
	struct lc_table sites;
	struct lc_table accesses; /* value: samples */
	struct lc_table details;  /* value: samples */
	struct lc_table threads;
	struct lc_table shares;    /* samples of a thread in a bucket */
	struct lc_table fields;    /* value: samples */
	struct lc_table metrics;   /* LC_METRIC_LATENCY_MAX is a maximum, not a sum */
	struct lc_table lines;     /* touches of cache lines that threads share */
	struct lc_table estimates; /* key: site */
	struct lc_table splits;
	struct lc_table placements; /* value: samples */
	struct lc_table nodes;      /* that threads ran on */
	struct lc_table homes;      /* that threads allocated on */
	struct lc_table executions;
	struct lc_table span_buckets;  /* row of executions, bucket of the histogram: spans */
	struct lc_table made;          /* tasks created and submitted; value: count */
	struct lc_table span_accesses; /* value: samples */
	struct lc_table slices;
	struct lc_table pauses;                  /* value: the longest duration, ns */
	struct lc_tree_interval *span_intervals; /* in no order; lc_tree_spans_build() sorts them */
	size_t span_intervals_len;
	size_t span_intervals_cap;
	struct lc_tree_trace *traces;
	size_t traces_len;
	size_t traces_cap;
	uint64_t buckets[LC_ENGINES_MAX][LC_BUCKET_COUNT];
};

void lc_tree_init(struct lc_tree *t);
void lc_tree_free(struct lc_tree *t);

uint32_t lc_tree_string(struct lc_tree *t, const char *bytes, size_t len);

/*
 * As lc_tree_string(), for the name of a class: without the address that the JVM appends to
 * that of a hidden class ("Main$$Lambda/0x00007f01c4000a00"), which differs in every run.
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

/* Have no samples and no allocations been counted, sampled ones included? */
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

static inline uint32_t lc_tree_parent(const struct lc_tree *t, uint32_t path)
{
	return lc_table_key(&t->paths, path)[LC_PATH_PARENT];
}

static inline const uint32_t *lc_tree_frame(const struct lc_tree *t, uint32_t path)
{
	return lc_table_key(&t->frames, lc_table_key(&t->paths, path)[LC_PATH_FRAME]);
}

static inline const uint32_t *lc_tree_method(const struct lc_tree *t, uint32_t path)
{
	return lc_table_key(&t->methods, lc_tree_frame(t, path)[LC_FRAME_METHOD]);
}

/*
 * Orders that do not depend on the order of the inputs: of texts by their bytes, of methods by their
 * names, of paths by the names of the frames from the leaf.
 */
int lc_tree_order_text(const struct lc_tree *t, uint32_t a, uint32_t b);
int lc_tree_order_methods(const struct lc_tree *t, uint32_t a, uint32_t b);
int lc_tree_order_paths(const struct lc_tree *t, uint32_t a, uint32_t b);

#endif
