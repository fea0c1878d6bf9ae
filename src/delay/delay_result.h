/* SPDX-License-Identifier: Apache-2.0 */
/* delay/delay_result.h - writes what became of the delays as JSON. */
#ifndef LC_DELAY_RESULT_H
#define LC_DELAY_RESULT_H

#include <stdint.h>

#include "src/delay/delay_options.h"

/* How often a delayed method returned, and how many loops ran. */
struct lc_delay_counts {
	int64_t executions, loops;
};

struct lc_delay_times {
	uint64_t java_cpu_ns, process_cpu_ns;
	double ns_per_iteration;
};

/* The state as a clause for people and programs. Static storage. Context: any. */
const char *lc_delay_result_text(enum lc_delay_state state);

/*
 * Write the file o->out by way of a file beside it, so that it is whole or not there. results[] and
 * counts[] are by place in o->delays; `counts` is NULL where nothing was counted. Returns 0 or
 * -errno. Context: [attach].
 */
int lc_delay_result_write(const struct lc_delay_options *o, const struct lc_delay_result *results,
                          const struct lc_delay_counts *counts, const struct lc_delay_times *times);

#endif
