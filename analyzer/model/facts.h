/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/facts.h - gives the facts about a process by which profiles are chosen and grouped: host,
 * labels and other data of its manifest. A key names each fact.
 */
#ifndef LC_MODEL_FACTS_H
#define LC_MODEL_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/model/load.h"
#include "analyzer/model/where.h"

/* The value of a key that a process does not have. */
#define LC_FACT_NONE "(none)"

/*
 * The process's value for a key, as text for free(). "host", "pid", "jdk" and "gc" are as in the
 * manifest, "command" is short (a class or a jar), "start" is "2026-11-24T14:30:05Z", "process" is
 * "4711@web1 2026-11-24T14:30:05Z". Any other key is that of a label. LC_FACT_NONE: no value.
 */
char *lc_fact(const struct lc_load_process *p, const char *key);

/* A time by the wall clock (ns since 1970) in UTC, "2026-11-24T14:30:05Z", in `out`. Returns out.
 */
const char *lc_fact_time(char *out, size_t out_len, uint64_t wall_ns);

/* Does the process fit the terms of all keys but the first `but_len` of `but`? */
bool lc_fact_fits_where(const struct lc_where_terms *w, const struct lc_load_process *p,
                        char *const *but, size_t but_len);

#endif
