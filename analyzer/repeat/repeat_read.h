/* SPDX-License-Identifier: Apache-2.0 */
/* repeat/repeat_read.h - reads the profiles of runs, one run after the other, into a repeat. */
#ifndef LC_REPEAT_REPEAT_READ_H
#define LC_REPEAT_REPEAT_READ_H

#include "analyzer/repeat/repeat.h"

/*
 * Read each run that is not left out, and compute all numbers (lc_repeat_finish()). The samples are
 * those of the first run's busiest engine, or of `engine_word`, --engine. A run without them, or
 * whose profile cannot be read, is left out. Memory holds one run's profiles at a time. Returns 0,
 * or an exit status after one line on stderr: no run has such an engine.
 */
int lc_repeat_read(struct lc_repeat *r, const char *engine_word);

#endif
