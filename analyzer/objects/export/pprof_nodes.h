/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/export/pprof_nodes.h - finds the parts of an access, or of a site's allocations, with
 * known thread and NUMA nodes. They are recorded on machines with several nodes.
 */
#ifndef LC_OBJECTS_EXPORT_PPROF_NODES_H
#define LC_OBJECTS_EXPORT_PPROF_NODES_H

#include <stddef.h>
#include <stdint.h>

struct lc_view;

struct lc_pprof_part {
	uint32_t bucket, site, path; /* of what it is a part; of allocations the site alone */
	uint32_t thread;             /* of tree.threads */
	uint32_t process, index;     /* of the thread, which order it */
	uint32_t name;               /* string: the thread's */
	uint32_t node1;              /* of the page; of allocations that of the thread: + 1, or 0 */
	uint32_t cpu_node1;          /* of the CPU that accessed, + 1, or 0 */
	uint64_t samples, bytes, objects;
};

/* The members are the module's own. */
struct lc_pprof_nodes {
	struct lc_pprof_part *accesses, *allocations;
	size_t accesses_len, allocations_len;
};

/* Build the parts for the view's engine. Free with lc_pprof_nodes_free(). */
void lc_pprof_nodes_build(struct lc_pprof_nodes *n, const struct lc_view *v);
void lc_pprof_nodes_free(struct lc_pprof_nodes *n);

/* The parts of one access, or of one site's allocations, in an order that every run has. */
const struct lc_pprof_part *lc_pprof_accesses(const struct lc_pprof_nodes *n, uint32_t bucket,
                                              uint32_t site, uint32_t path, size_t *len);
const struct lc_pprof_part *lc_pprof_allocations(const struct lc_pprof_nodes *n, uint32_t site,
                                                 size_t *len);

#endif
