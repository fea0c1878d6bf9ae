/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numa/numa.h - analyses which NUMA nodes accessed what, where the pages were, what is wrong with
 * that, and what another placement would give.
 *
 * Nodes are rows of lc_numa.nodes. A node that may be unknown is stored as row + 1, with 0 for
 * unknown. Shares are parts of the samples whose two nodes are both known.
 */
#ifndef LC_NUMA_NUMA_H
#define LC_NUMA_NUMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/base/arena.h"
#include "analyzer/model/load.h"
#include "analyzer/model/tree.h"

enum { LC_NUMA_LOCAL = 10 }; /* distance of a node to itself */

enum lc_numa_state {
	LC_NUMA_NO_DATA = 0, /* the profile tells nothing */
	LC_NUMA_ONE_NODE,    /* recorded on a machine with one node */
	LC_NUMA_OFF,         /* the machine has several, nothing was recorded: see `error` */
	LC_NUMA_ON,
};

struct lc_numa_node {
	uint32_t number; /* the kernel's */
	uint64_t memory_bytes;
	bool memory; /* the program could allocate there; true where it is not known */
	const char *cpus;
};

struct lc_numa_cell {
	uint32_t accessing, owning; /* row + 1 */
	uint64_t samples;
	uint64_t pairs; /* of these, as in struct lc_weighted */
};

struct lc_numa_sum {
	uint64_t samples;
	uint64_t known;                     /* samples whose two nodes are known */
	uint64_t remote;                    /* known samples whose two nodes differ */
	uint64_t known_pairs, remote_pairs; /* of both */
	double remote_share;                /* remote / known */
	double weighted; /* part of all distance that is remote; negative: a distance is unknown */
	double mean_distance; /* 10: all local; negative: unknown */
};

/* In lc_numa_group.path: the group is the samples of all paths. */
#define LC_NUMA_ALL_PATHS UINT32_MAX

/* Samples of a site, or of one access path of it. */
struct lc_numa_group {
	uint32_t bucket, site, path;
	const struct lc_numa_cell *cells; /* by accessing, then owning node; no two are equal */
	size_t cells_len;
	struct lc_numa_sum sum;
	uint64_t sources[LC_SOURCE_COUNT]; /* samples, where the hardware tells */
};

/* A thread, and what it did: all of it, or with the objects of one site. */
struct lc_numa_thread_row {
	uint32_t thread;     /* row of tree.threads */
	uint64_t samples;    /* all that were taken on it, or those of the site */
	uint64_t *nodes;     /* its samples by the node that it was on, row + 1 */
	uint64_t migrations; /* seen at least; of a whole thread only */
	struct lc_numa_sum sum;
};

/* The threads and nodes of first touches (counted in samples) or allocations (in bytes). */
struct lc_numa_origin {
	uint64_t total;
	uint64_t *nodes;      /* by row + 1 */
	uint32_t threads;     /* how many did it */
	uint32_t thread;      /* row of tree.threads: which did most */
	uint64_t thread_part; /* of total, by the thread of each process that did most there */
};

enum lc_numa_pattern {
	LC_NUMA_FEW = 0,   /* not enough evidence */
	LC_NUMA_FINE,      /* nearly all accesses are local */
	LC_NUMA_MASTER,    /* placed by one thread, used from all nodes */
	LC_NUMA_ELSEWHERE, /* placed on one node, used from another only */
	LC_NUMA_MIGRATED,  /* its thread moved away from it */
	LC_NUMA_ONE,       /* all on one node for another or an unknown reason, used from several */
	LC_NUMA_SPREAD,    /* over several nodes, as its users are */
	LC_NUMA_PATTERNS
};

enum lc_numa_confidence { LC_NUMA_LOW = 0, LC_NUMA_MEDIUM, LC_NUMA_HIGH };

struct lc_numa_diagnosis {
	enum lc_numa_pattern pattern;
	enum lc_numa_confidence confidence;
	double observations; /* lc_wilson_effective() of the known samples */
	uint32_t owner;     /* row + 1 of the node with most of the pages' samples; 0: none known */
	double owner_share; /* of the known samples */
	uint32_t user;      /* row + 1 of the node that accesses most, from afar if it is remote */
	double user_share;
	bool used_from_one;  /* nearly all of it is accessed from `user` */
	bool one_thread;     /* one thread makes most of the accesses: `thread` */
	uint32_t users;      /* threads with a hundredth of the samples or more, of one process */
	uint32_t thread;     /* row of tree.threads: the one that uses it most */
	double thread_share; /* of the samples, by the busiest thread of each process */
	uint32_t placer;     /* row of tree.threads: who touched it first, else who allocated it */
	bool has_placer;     /* one thread did nine tenths of it */
	bool by_touch;       /* `placer` is known by first touches */
};

struct lc_numa_site {
	uint64_t id; /* lc_tree_site_id() */
	struct lc_numa_group all;
	struct lc_numa_group *paths; /* most remote samples first, then most samples */
	size_t paths_len;
	struct lc_numa_thread_row *threads; /* that use it, most samples first */
	size_t threads_len;
	struct lc_numa_origin touched;   /* first touches: samples of page faults */
	struct lc_numa_origin allocated; /* bytes */
	struct lc_numa_diagnosis diagnosis;
};

struct lc_numa {
	enum lc_numa_state state;
	const char *error; /* in the recording; NULL: none */
	int balancing;     /* the kernel moved pages by itself: 1, 0; -1 unknown */
	uint64_t pages_migrated, pages_asked, pages_unknown, owner_changes, dropped;
	bool mixed; /* processes of different machines: what differs is unknown */
	const struct lc_tree *tree;
	const struct lc_load *load;
	uint32_t engine; /* whose samples these are */
	double folded;   /* samples that one signal of it stood for, on average: 1 or more */
	struct lc_numa_node *nodes; /* by number */
	size_t nodes_len;
	uint16_t *distances;        /* [from * nodes_len + to]; 0: unknown */
	struct lc_numa_group all;   /* everything with an address */
	struct lc_numa_site *sites; /* most remote samples first */
	size_t sites_len;
	struct lc_numa_thread_row *threads; /* most samples first */
	size_t threads_len;
	struct lc_arena arena; /* holds all arrays */
};

/*
 * Analyse the samples of `engine`; UINT32_MAX: of the engine with the most, first touches aside.
 * Free with lc_numa_free(), while `load` and its tree are still there. Equal inputs give equal
 * orders.
 */
void lc_numa_build(struct lc_numa *n, const struct lc_load *load, uint32_t engine);
void lc_numa_free(struct lc_numa *n);

/* Distance between two nodes, rows; 0: unknown. */
uint32_t lc_numa_distance(const struct lc_numa *n, uint32_t from, uint32_t to);

/* Diagnose a site from its other members. Pure. */
struct lc_numa_diagnosis lc_numa_diagnose(const struct lc_numa *n, const struct lc_numa_site *s);

/* "master-initialised", as in JSON. */
const char *lc_numa_pattern_name(enum lc_numa_pattern pattern);
const char *lc_numa_confidence_name(enum lc_numa_confidence confidence);

enum lc_numa_policy {
	LC_NUMA_INTERLEAVE,            /* pages go round the nodes with memory */
	LC_NUMA_FIRST_TOUCH_BY_READER, /* a page is on the node of a thread that uses it */
	LC_NUMA_BIND,                  /* all pages on one node */
};

/* A group's matrix under another placement. */
struct lc_numa_whatif {
	double *matrix; /* samples, [accessing * nodes_len + owning] */
	double known;
	double remote_share, weighted, mean_distance; /* as in lc_numa_sum */
	/*
	 * FIRST_TOUCH_BY_READER: the matrix holds where each thread uses pages of its own; this is
	 * the remote share where all threads use all pages. Else the same as remote_share.
	 */
	double remote_share_shared;
};

/*
 * `node` is the row for LC_NUMA_BIND. Nodes without memory take none: what they would hold goes to
 * the nearest that has some. Free w->matrix with free().
 */
void lc_numa_simulate(const struct lc_numa *n, const struct lc_numa_group *g,
                      enum lc_numa_policy policy, uint32_t node, struct lc_numa_whatif *w);

#endif
