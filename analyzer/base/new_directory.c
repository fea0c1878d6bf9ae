/* SPDX-License-Identifier: Apache-2.0 */
/* base/new_directory.c - makes a directory, or takes an empty one. */
#include "analyzer/base/new_directory.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/base/fail.h"

static int check_empty(const char *path)
{
	struct dirent **names = NULL;
	const int count = scandir(path, &names, NULL, NULL);

	if (count < 0)
		return lc_fail("cannot use output directory '%s': %s", path, strerror(errno));
	for (int i = 0; i < count; i++)
		free(names[i]);
	free(names);
	if (count > 2) /* more than . and .. */
		return lc_fail("output directory '%s' is not empty; name another with -o", path);
	return 0;
}

int lc_new_directory(const char *path, bool *made)
{
	*made = !mkdir(path, 0700);
	if (*made)
		return 0;
	if (errno != EEXIST)
		return lc_fail("cannot make output directory '%s': %s", path, strerror(errno));
	return check_empty(path);
}

int lc_new_directory_check(const char *path, bool *there)
{
	struct stat st;
	const bool none = lstat(path, &st) != 0;

	if (none && errno != ENOENT)
		return lc_fail("cannot make output directory '%s': %s", path, strerror(errno));
	*there = !none;
	return none ? 0 : check_empty(path);
}
