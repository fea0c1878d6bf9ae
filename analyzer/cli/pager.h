/* SPDX-License-Identifier: Apache-2.0 */
/* cli/pager.h - shows a text that is longer than the terminal through a pager. */
#ifndef LC_CLI_PAGER_H
#define LC_CLI_PAGER_H

#include <stddef.h>
#include <stdio.h>

/*
 * A stream to write the text to that lc_pager_close() shows; stdout itself where that is no
 * terminal, or where there is to be no pager: LOCUS_PAGER, or without it PAGER, is empty or "cat".
 */
FILE *lc_pager_open(void);

/*
 * Show what was written: through the pager where the terminal has too few rows for it, else on
 * stdout, as also where the pager cannot be started. Returns 0, or -errno: it was not shown whole.
 */
int lc_pager_close(FILE *out);

#endif
