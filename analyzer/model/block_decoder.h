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

/* Which threads count: a kernel thread ID, or a list of name patterns (see lc_options_match()). */
struct lc_thread_filter {
	bool by_tid;
	uint32_t tid;
	const char *patterns;
};

/* A process that is left out. */
#define LC_LEFT_OUT UINT32_MAX

/* A root that is not known yet: `find_root` tells it. */
#define LC_ROOT_UNKNOWN UINT32_MAX

/* Where the blocks of one profile go. */
struct lc_block_target {
	struct lc_tree *tree;
	uint32_t process_first; /* tree number of the profile's process 0 */
	uint32_t process_count;
	uint32_t engines[LC_ENGINES_MAX]; /* tree number of each engine */
	uint32_t engines_len;
	/*
	 * How many samples an interrupt of each engine counted as, on average, in thousandths, of
	 * blocks that do not tell (0: one). See lc_load_weight_milli().
	 */
	uint32_t weight_milli[LC_ENGINES_MAX];
	const struct lc_thread_filter *filter; /* NULL: all threads */
	struct lc_frame_filter *frames;        /* NULL: all paths */
	/* Of each process: its number, or LC_LEFT_OUT. NULL: all count, from process_first on. */
	const uint32_t *processes;
	/*
	 * Of each process: the path that those of its own blocks begin below (see groups.h), or
	 * LC_ROOT_UNKNOWN until find_root() is asked. NULL: they begin below none.
	 */
	uint32_t *roots;
	uint32_t (*find_root)(const struct lc_block_target *target, uint32_t process);
	void *context; /* of find_root() */
	/* Of blocks of all threads: */
	uint32_t all_process;           /* their paths begin below the root of this process */
	struct lc_group_filter *groups; /* NULL: they are not chosen by the frames of groups */
	bool all_mixed;           /* their processes belong apart, and their paths do not tell */
	uint64_t not_apart;       /* out: blocks that were skipped for that */
	uint64_t from_ns, to_ns;  /* only blocks in this time count; 0: no bound */
	const _Atomic bool *stop; /* NULL: nothing ends the reading of a file */
	/* Only blocks of this thread (LC_THREAD_ALL: of all as one) count, where `only`. */
	bool only;
	uint32_t only_process, only_thread; /* as in the file */
	bool whole;                         /* out: there was a block of all threads as one */
	struct lc_table
	    *own; /* out, where not NULL: threads with blocks of their own; the key is a thread's */
	uint64_t not_split;    /* out: blocks of all threads as one, skipped because of `filter` */
	uint64_t new_sections; /* out: sections of unknown type, skipped */
	uint64_t first_ns, last_ns; /* out: the time of the blocks that count; 0: none does */
};

/* The tree's number of a process of the profile; LC_LEFT_OUT: it does not count. */
static inline uint32_t lc_block_target_number(const struct lc_block_target *t, uint32_t process)
{
	return t->processes && process < t->process_count ? t->processes[process]
	                                                  : t->process_first + process;
}

/* A definition that was in a block that is lost. */
#define LC_LOST_DEFINITION UINT32_MAX

/*
 * Scratch memory for decoding, and the definitions of the blocks so far that later blocks of the
 * file may refer to. All zero at first.
 */
struct lc_block_decoder {
	uint32_t *ids[LC_SECTION_SITES + 1]; /* tree numbers, or LC_LOST_DEFINITION */
	size_t ids_cap[LC_SECTION_SITES + 1];
	uint32_t ids_len[LC_SECTION_SITES + 1];
	bool refers;         /* there was a block whose definitions later ones may use ... */
	uint64_t generation; /* ... of this generation ... */
	uint32_t root;       /* ... with paths that begin below this one */
	bool lost;           /* the last block refers to a definition that is lost */
	uint16_t *depths;    /* frames of each path */
	size_t depths_cap;
	/* Of each path of the block: its parent in the file, and the tree's number of its frame. */
	uint32_t *parents, *frames;
	size_t parents_cap, frames_cap;
	uint32_t *by_depth; /* the block's paths */
	size_t by_depth_cap;
	uint32_t depth_first[LC_BLOCK_DEPTH_MAX + 2];
	uint64_t paths;                        /* out: that were defined in all blocks */
	const uint8_t *body[LC_SECTION_COUNT]; /* sections of the block; NULL: absent */
	const uint8_t *end[LC_SECTION_COUNT];
};

void lc_block_decoder_free(struct lc_block_decoder *d);

/* Another file begins. */
static inline void lc_block_decoder_begin(struct lc_block_decoder *d)
{
	d->refers = false;
}

/*
 * Add a payload to the target. Returns 0, or -EBADMSG when it breaks the format; then nothing of
 * it was counted. Context: the analyzer; `payload` may hold anything.
 */
int lc_block_decode(struct lc_block_decoder *d, const struct lc_block_header *h,
                    const uint8_t *payload, size_t len, struct lc_block_target *target);

#endif
