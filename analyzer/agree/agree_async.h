/* SPDX-License-Identifier: Apache-2.0 */
/* agree/agree_async.h - finds async-profiler's library. */
#ifndef LC_AGREE_AGREE_ASYNC_H
#define LC_AGREE_AGREE_ASYNC_H

#include "analyzer/agree/agree_profilers.h"

#define LC_AGREE_ASYNC_VERSION "4.3" /* that is fetched where there is none */

/*
 * `file` (the library or its jar; NULL: not given), else beside the asprof of PATH, else the newest
 * jar of the local Maven repository, else that of Maven Central, if there is a Maven. A jar's
 * library is put into `directory`. Sets m->async and side->about, or side->absent.
 */
void lc_agree_find_async(struct lc_agree_machine *m, struct lc_agree_side *side, const char *file,
                         const char *directory);

#endif
