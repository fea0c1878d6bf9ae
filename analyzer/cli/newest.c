/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/newest.c - looks for the newest profile in the current directory.
 *
 * Other tools have a manifest.json too: of those found, the newest is the first one that reads like
 * Locus's.
 */
#include "analyzer/cli/newest.h"

#include <dirent.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/base/memory.h"
#include "analyzer/model/manifest_file.h"
#include "analyzer/model/periods.h"
#include "src/format/block.h"

struct found {
	char *name;
	struct timespec written;
};

static int order_newest_first(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->written.tv_sec != y->written.tv_sec)
		return x->written.tv_sec > y->written.tv_sec ? -1 : 1;
	if (x->written.tv_nsec != y->written.tv_nsec)
		return x->written.tv_nsec > y->written.tv_nsec ? -1 : 1;
	return strcmp(y->name, x->name);
}

/* The profile, or the last period of a recording with --loop. Freed by the caller. */
static char *last_period(const char *directory)
{
	struct lc_periods periods;
	char *path;

	lc_periods_find(directory, &periods);
	path = lc_mem_text("%s", periods.paths[periods.len - 1]);
	lc_periods_free(&periods);
	return path;
}

static bool is_ours(const char *directory)
{
	char *why, *path = last_period(directory);
	json_t *m = lc_manifest_load(path, &why);
	bool ours = json_is_integer(json_object_get(m, "format")) &&
	            json_is_array(json_object_get(m, "processes"));

	json_decref(m);
	free(why);
	free(path);
	return ours;
}

static struct found *find_all(size_t *len)
{
	struct found *found = NULL;
	size_t cap = 0;
	struct dirent *e;
	DIR *here = opendir(".");

	*len = 0;
	while (here && (e = readdir(here))) {
		char *path = last_period(e->d_name);
		char *file = lc_mem_text("%s/" LC_MANIFEST_NAME, path);
		struct stat st;

		if (strcmp(e->d_name, "..") != 0 && !stat(file, &st) && S_ISREG(st.st_mode)) {
			found = lc_mem_grow(found, &cap, *len + 1, sizeof(*found));
			found[(*len)++] =
			    (struct found){ lc_mem_text("%s", e->d_name), st.st_mtim };
		}
		free(file);
		free(path);
	}
	if (here)
		closedir(here);
	return found;
}

char *lc_newest_profile(void)
{
	size_t len;
	struct found *found = find_all(&len);
	char *newest = NULL;

	if (len)
		qsort(found, len, sizeof(*found), order_newest_first);
	for (size_t i = 0; i < len; i++) {
		if (!newest && is_ours(found[i].name))
			newest = found[i].name;
		else
			free(found[i].name);
	}
	free(found);
	return newest;
}
