/*
 * model/facts.h - says of a process what profiles are chosen and grouped by: its host, its labels
 * and what else its manifest tells, each by a word (a key).
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
 * What the process has for a key, as text for free(): "host", "pid", "jdk" and "gc" as the manifest
 * has them, "command" in short (a class or a jar), "start" as "2026-11-24T14:30:05Z", "process" as
 * "4711@web1 2026-11-24T14:30:05Z", or the label of that key. LC_FACT_NONE where it has none.
 */
char *lc_fact(const struct lc_load_process *p, const char *key);

/* A time by the wall clock (ns since 1970) in UTC, "2026-11-24T14:30:05Z", in `out`. Returns out.
 */
const char *lc_fact_time(char *out, size_t out_len, uint64_t wall_ns);

/* Does the process fit the terms of all keys but the first `but_len` of `but`? */
bool lc_fact_fits_where(const struct lc_where_terms *w, const struct lc_load_process *p,
                        char *const *but, size_t but_len);

#endif
