/* SPDX-License-Identifier: Apache-2.0 */
/* numa/numa_impl.h - declares what the files of the analysis share: numa.c and numa_machine.c. */
#ifndef LC_NUMA_NUMA_IMPL_H
#define LC_NUMA_NUMA_IMPL_H

#include "analyzer/numa/numa.h"

/*
 * Fill what n->load tells of the machine. row_of[number of a node], LC_NODE_NUMBERS of them and 0
 * at first, becomes its row + 1.
 */
void lc_numa_read_machine(struct lc_numa *n, uint32_t *row_of);

/* Samples that one signal of n->engine stood for, on average; 1 where it is not known. */
double lc_numa_read_folded(const struct lc_numa *n);

#endif
