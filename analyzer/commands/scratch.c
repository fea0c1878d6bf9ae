/* SPDX-License-Identifier: Apache-2.0 */
/* commands/scratch.c - makes and removes the directory of a temporary profile. */
#include "analyzer/commands/scratch.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/base/memory.h"

enum { DESCRIPTORS_MAX = 8 };

char *lc_scratch_make(void)
{
	const char *temporary = getenv("TMPDIR");
	char *dir = lc_mem_text("%s/locus-XXXXXX", temporary && *temporary ? temporary : "/tmp");
	int err;

	if (mkdtemp(dir))
		return dir;
	err = errno;
	free(dir);
	errno = err;
	return NULL;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *place)
{
	return remove(path);
}

void lc_scratch_remove(char *directory)
{
	nftw(directory, remove_entry, DESCRIPTORS_MAX, FTW_DEPTH | FTW_PHYS);
	free(directory);
}
