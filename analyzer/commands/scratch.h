/* SPDX-License-Identifier: Apache-2.0 */
/* commands/scratch.h - makes a directory for a temporary profile, and removes it. */
#ifndef LC_COMMANDS_SCRATCH_H
#define LC_COMMANDS_SCRATCH_H

/*
 * Make a directory below TMPDIR, or /tmp. Returns its path, for lc_scratch_remove(); NULL with
 * errno set. Context: the analyzer.
 */
char *lc_scratch_make(void);

/* Remove the directory with all that is in it, and free its path. Context: the analyzer. */
void lc_scratch_remove(char *directory);

#endif
