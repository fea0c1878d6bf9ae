/* SPDX-License-Identifier: Apache-2.0 */
/* agree/agree_read.h - puts the methods of runs into the tables of their sides. */
#ifndef LC_AGREE_AGREE_READ_H
#define LC_AGREE_AGREE_READ_H

#include "analyzer/agree/agree.h"

/*
 * Read the file "methods" of each counted run of a profiler. A run without one, or whose file is
 * damaged, is left out. Sets the columns of all tables, which lc_agree_finish() then judges.
 */
void lc_agree_read(struct lc_agree *a);

#endif
