/* SPDX-License-Identifier: Apache-2.0 */
/* task_model.h - models threads, tasks and a clock for tests of span/tasks/task.c, without a JVM.
 */
#ifndef LC_TASK_MODEL_H
#define LC_TASK_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "src/profile/profile_writer.h"
#include "src/span/tasks/task.h"

enum { MODEL_THREADS = 4, MODEL_ROWS = 1 << 18 };

/* All clocks, in cycles and in ticks of the TSC. Tests move it. */
extern uint64_t model_now;

/* Single spans in the order of their ends. */
extern struct lc_block_trace model_rows[MODEL_ROWS];
extern size_t model_rows_len;

void model_setup(void);
void model_teardown(void);
struct lc_span_thread *model_thread(unsigned i); /* index i, and trace on */

/* A class whose tasks are created at sites 100 * class and on. */
const struct lc_task_class *model_class(uint32_t class);

struct lc_span_frame *model_begin(struct lc_span_thread *s, uint32_t class, uint32_t hash,
                                  uint32_t traits);
void model_end(struct lc_span_thread *s);
void model_created(struct lc_span_thread *s, uint32_t class, uint32_t hash, uint32_t site);
void model_submitted(struct lc_span_thread *s, uint32_t class, uint32_t hash, uint8_t kind,
                     uint32_t path);
/* Likewise by a method that may submit the object again. */
void model_enter(struct lc_span_thread *s, uint32_t class, uint32_t hash, uint8_t kind);

/* Sum of a kind's slots with this site in all threads; field by offset in lc_span_counts. */
uint64_t model_sum(unsigned kind, uint32_t site, size_t field);
#define MODEL_SUM(kind, site, field) model_sum(kind, site, offsetof(struct lc_span_counts, field))

/* The counts of a site (0: any): creations, submissions of a kind, first executions. */
uint64_t model_made(uint32_t site, uint8_t submit_kind);

#endif
