/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numa/numa.h - records on which NUMA node samples were taken, and where the pages are that they
 * touched.
 *
 * The attribution thread reports samples and allocations here; they become rows PLACEMENTS, NODES
 * and HOMES (docs/FORMAT.md) of their threads' tallies. On a machine with one node, or if the
 * kernel does not tell the nodes, everything is off, and each call is one comparison.
 */
#ifndef LC_NUMA_NUMA_H
#define LC_NUMA_NUMA_H

#include <stdbool.h>
#include <stdint.h>

#include "src/format/kinds.h"
#include "src/numa/pages.h"
#include "src/profile/profile_writer.h"

struct lc_manifest_numa;
struct lc_numa_thread; /* opaque; lc_thread.numa */
struct lc_thread;

/*
 * Read the topology below `root` ("" for this machine) and begin. `ask` finds the owners of pages;
 * NULL: the kernel. Returns 1 if there is more than one node; else 0, and everything is off:
 * lc_numa_manifest() says why. Context: [attach].
 */
int lc_numa_init(const char *root, lc_pages_ask *ask);
void lc_numa_end(void); /* undo it. Context: [attach], or [writer] at its end */

/* Node of a CPU; -1: unknown, or everything is off. Constant time. Context: any, [signal] too. */
int lc_numa_node_of_cpu(uint32_t cpu);

/*
 * Note that `t` took `samples` of `engine` on `cpu`. To be called for all samples, with an address
 * or without; those of one engine in the order in which they were taken. Context: [writer].
 */
void lc_numa_ran(struct lc_thread *t, uint16_t engine, uint32_t cpu, uint64_t samples);

/* A sample that was attributed. */
struct lc_numa_access {
	struct lc_thread *thread;
	struct lc_block_access at;
	uint64_t addr; /* 0: unknown; the sample is then left out */
	uint32_t cpu;
	uint8_t source; /* enum lc_data_source */
};

/*
 * Queue *a: it is counted at the next lc_numa_resolve(), or before. Its thread's record stays until
 * then. Context: [writer].
 */
void lc_numa_sample(const struct lc_numa_access *a);

/*
 * Find the owners of the pages of all queued accesses and count the accesses. `epoch` and the time
 * decide whether owners are asked for anew: once per epoch, and once a second within one. Comes
 * before blocks are written and before threads are freed. Context: [writer]; one call of the kernel
 * per 1024 pages.
 */
void lc_numa_resolve(uint32_t epoch, uint64_t now_ns);

/*
 * A window is the time between two looks at a thread's samples, a tenth of a second or so. Were any
 * samples of `t` reported in this window? If so, the caller reports its allocations and ends the
 * window. Context: [writer].
 */
bool lc_numa_window_seen(const struct lc_thread *t);

/*
 * Note that `t` allocated at `site` in this window. The node is that of all samples in the window
 * and of the last one before it; it is unknown if these are of several nodes, or the window has no
 * sample. Context: [writer].
 */
void lc_numa_allocated(struct lc_thread *t, uint32_t site, uint64_t objects, uint64_t bytes);

void lc_numa_window_ends(struct lc_thread *t); /* Context: [writer]. */

/* Free t->numa. Context: [writer]. */
void lc_numa_thread_free(struct lc_thread *t);

/* For the manifest; valid until the next call. Never NULL. Context: [attach] [writer]. */
const struct lc_manifest_numa *lc_numa_manifest(void);

#endif
