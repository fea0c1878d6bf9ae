/* SPDX-License-Identifier: Apache-2.0 */
/* model/block_decoder.h - adds the payload of a block to a tree. */
#ifndef LC_MODEL_BLOCK_DECODER_H
#define LC_MODEL_BLOCK_DECODER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/model/frame_filter.h"
#include "analyzer/model/group_filter.h"
#include "analyzer/model/tree.h"
#include "src/format/block.h"
#include "src/format/kinds.h"

/* Chooses the threads that count: a kernel thread ID, or name patterns (see lc_options_match()). */
struct lc_thread_filter {
	bool by_tid;
	uint32_t tid;
	const char *patterns;
};

/* The number of a process that is left out. */
#define LC_LEFT_OUT UINT32_MAX

/* A root that find_root() has yet to find. */
#define LC_ROOT_UNKNOWN UINT32_MAX

/* The destination of the blocks of one profile, and the choice among them. */
struct lc_block_target {
	struct lc_tree *tree;
	uint32_t process_first; /* tree number of the profile's process 0 */
	uint32_t process_count;
	uint32_t engines[LC_ENGINES_MAX]; /* tree number of each engine */
	uint32_t engines_len;
	/*
	 * For blocks that do not say it: how many samples an interrupt of each engine counted as,
	 * on average, in thousandths (0: one). See lc_load_weight_milli().
	 */
	uint32_t weight_milli[LC_ENGINES_MAX];
	const struct lc_thread_filter *filter; /* NULL: all threads */
	struct lc_frame_filter *frames;        /* NULL: all paths */
	/* Tree number of each process, or LC_LEFT_OUT. NULL: all count, from process_first on. */
	const uint32_t *processes;
	/*
	 * By process: the path below which the paths of its own blocks begin (see groups.h), or
	 * LC_ROOT_UNKNOWN until find_root() is called. NULL: all paths begin at the root.
	 */
	uint32_t *roots;
	uint32_t (*find_root)(const struct lc_block_target *target, uint32_t process);
	void *context; /* for find_root() */
	/* For blocks of all threads: */
	uint32_t all_process;           /* their paths begin below the root of this process */
	struct lc_group_filter *groups; /* NULL: frames of groups do not choose them */
	bool all_mixed;                 /* of several groups that paths do not tell apart */
	uint64_t not_apart;             /* out: blocks that were skipped because of all_mixed */
	uint64_t from_ns, to_ns;        /* only blocks in this time count; 0: no limit */
	const _Atomic bool *stop;       /* NULL: a file is read to its end */
	/* If `only`: only blocks of this thread count (LC_THREAD_ALL: blocks of all threads). */
	bool only;
	uint32_t only_process, only_thread; /* as in the file */
	bool whole;                         /* out: the file has a block of all threads */
	struct lc_table
	    *own; /* out, or NULL: threads with blocks of their own; the key is a thread's */
	uint64_t not_split;         /* out: blocks of all threads that `filter` skipped */
	uint64_t new_sections;      /* out: sections of unknown type, skipped */
	uint64_t first_ns, last_ns; /* out: the time of the blocks that count; 0: there are none */
};

/* The tree's number of a process of the profile; LC_LEFT_OUT: the process does not count. */
static inline uint32_t lc_block_target_number(const struct lc_block_target *t, uint32_t process)
{
	return t->processes && process < t->process_count ? t->processes[process]
	                                                  : t->process_first + process;
}

/* The number of a definition in a lost block. */
#define LC_LOST_DEFINITION UINT32_MAX

/*
 * Scratch memory of a decoder, and the definitions of earlier blocks, which later blocks of the
 * file may refer to. All zero at first.
 */
struct lc_block_decoder {
	uint32_t *ids[LC_SECTION_SITES + 1]; /* tree numbers, or LC_LOST_DEFINITION */
	size_t ids_cap[LC_SECTION_SITES + 1];
	uint32_t ids_len[LC_SECTION_SITES + 1];
	bool refers;         /* a block has definitions that later blocks may use ... */
	uint64_t generation; /* ... of this generation ... */
	uint32_t root;       /* ... with paths that begin below this one */
	bool lost;           /* the last block refers to a definition that is lost */
	uint16_t *depths;    /* frames of each path */
	size_t depths_cap;
	/* By path of the block: its parent in the file, and the tree's number of its frame. */
	uint32_t *parents, *frames;
	size_t parents_cap, frames_cap;
	uint32_t *by_depth; /* the block's paths, by depth */
	size_t by_depth_cap;
	uint32_t depth_first[LC_BLOCK_DEPTH_MAX + 2];
	uint64_t paths;                        /* out: number of paths that all blocks defined */
	const uint8_t *body[LC_SECTION_COUNT]; /* sections of the block; NULL: absent */
	const uint8_t *end[LC_SECTION_COUNT];
};

void lc_block_decoder_free(struct lc_block_decoder *d);

/* Begin another file. */
static inline void lc_block_decoder_begin(struct lc_block_decoder *d)
{
	d->refers = false;
}

/*
 * Add a payload to the target. Returns 0, or -EBADMSG if the payload breaks the format; then
 * nothing of the payload was counted. `payload` may hold anything. Context: the analyzer.
 */
int lc_block_decode(struct lc_block_decoder *d, const struct lc_block_header *h,
                    const uint8_t *payload, size_t len, struct lc_block_target *target);

#endif
