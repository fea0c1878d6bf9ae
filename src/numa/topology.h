/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numa/topology.h - reads the NUMA nodes of the machine from the kernel's files.
 *
 * Everything is read below a root directory, "" for the machine itself.
 */
#ifndef LC_NUMA_TOPOLOGY_H
#define LC_NUMA_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LC_TOPOLOGY_NODES = 128,    /* nodes that are online; their numbers may be larger */
	LC_TOPOLOGY_NUMBERS = 1024, /* node numbers are below it */
	LC_TOPOLOGY_CPUS = 8192,    /* CPU numbers are below it */
	LC_TOPOLOGY_ERROR = 160,
};

/* A set of small numbers. */
struct lc_number_set {
	uint64_t bits[LC_TOPOLOGY_CPUS / 64];
};

struct lc_topology_node {
	uint32_t number;       /* the kernel's */
	uint32_t cpus;         /* online ones */
	uint64_t memory_bytes; /* 0: none */
	bool memory_allowed;   /* has memory, and this process may allocate there */
	bool cpus_allowed;     /* has CPUs, and this process may run on one of them */
};

/* The nodes and CPUs of a machine. Too large for the stack of a thread. */
struct lc_topology {
	struct lc_topology_node nodes[LC_TOPOLOGY_NODES]; /* by number */
	size_t nodes_len;
	int16_t rows[LC_TOPOLOGY_NUMBERS];     /* by node number: the node's row; -1: not online */
	int16_t node_of_cpu[LC_TOPOLOGY_CPUS]; /* node number; -1: unknown */
	/* By rows; 0 where the firmware's table is missing or makes no sense. 10 is local. */
	uint16_t distance[LC_TOPOLOGY_NODES][LC_TOPOLOGY_NODES];
	size_t usable; /* nodes where this process may allocate or run */
	int balancing; /* does the kernel move pages to where they are used? 1, 0; -1: unknown */
	char error[LC_TOPOLOGY_ERROR]; /* the first file that could not be understood; "": none */
};

/*
 * Read the topology below `root`. Returns 0; -ENOENT where the kernel was built without NUMA (no
 * node directory), -EINVAL where its list of nodes cannot be understood, -E2BIG for more nodes than
 * there is room for, each with t->error set and no nodes; or -ENOMEM. A broken file of one node
 * costs only the facts in it. Context: [attach].
 */
int lc_topology_read(const char *root, struct lc_topology *t);

/* Write a node's CPUs as the kernel writes lists, "0-3,8"; cut if `out` is short. Context: any. */
void lc_topology_cpu_list(const struct lc_topology *t, uint32_t node, char *out, size_t out_len);

/*
 * Pages that the kernel moved between nodes since boot; 0 where unknown. Context: [attach]
 * [writer].
 */
uint64_t lc_topology_pages_migrated(const char *root);

/*
 * Read a list of numbers ("0-3,8", also "" and a newline at the end) into *set. Returns 0, or
 * -EINVAL for any other text and for numbers from `limit` on; *set is then undefined. Context: any.
 */
int lc_topology_number_list(const char *text, uint32_t limit, struct lc_number_set *set);

static inline bool lc_topology_number_in(const struct lc_number_set *s, uint32_t n)
{
	return s->bits[n / 64] >> (n % 64) & 1;
}

/* Node of a CPU, or -1. Constant time, no calls. Context: any, signal handlers included. */
static inline int lc_topology_node_of(const struct lc_topology *t, uint32_t cpu)
{
	return cpu < LC_TOPOLOGY_CPUS ? t->node_of_cpu[cpu] : -1;
}

#endif
