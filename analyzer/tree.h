/*
 * tree.h - merged profiles: names, call paths, object sites and what was counted for them.
 *
 * Call paths form one tree in which a child is found by hash, so equal paths of any thread or
 * process are one node. A count belongs to a site and an access path: the tree of accesses under
 * an allocation path is the set of nodes that its site was counted with. Memory grows with what
 * is different in the inputs, not with their number.
 */
#ifndef LC_TREE_H
#define LC_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "format.h"
#include "table.h"

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
	struct lc_table shares; /* samples of a thread in a bucket */
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

/* Have no samples and no allocations been counted? */
bool lc_tree_empty(const struct lc_tree *t);

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

#endif
