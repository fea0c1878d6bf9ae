/* SPDX-License-Identifier: Apache-2.0 */
/* model/find.c - walks directories in search of profiles. */
#include "analyzer/model/find.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/base/memory.h"
#include "analyzer/model/manifest_file.h"
#include "analyzer/model/periods.h"
#include "src/format/block.h"

enum { DEPTH_MAX = 64 /* directories inside one another; links are not followed, mounts are */ };

static void add_problem(struct lc_find *out, const char *path, const char *why)
{
	out->problems = lc_mem_grow(out->problems, &out->problems_cap, out->problems_len + 1,
	                            sizeof(*out->problems));
	out->problems[out->problems_len++] =
	    (struct lc_find_problem){ lc_mem_text("%s", path), why };
}

/* Other tools have a manifest.json too. */
static bool is_ours(const char *path)
{
	char *why;
	json_t *m = lc_manifest_load(path, &why);
	const bool ours = json_is_integer(json_object_get(m, "format")) &&
	                  json_is_array(json_object_get(m, "processes"));

	json_decref(m);
	free(why);
	return ours;
}

/* Do the entries include a profile's manifest or files of blocks? */
static bool has_profile(const char *path, struct dirent **entries, int count)
{
	const size_t suffix = strlen(LC_BLOCK_SUFFIX);
	bool manifest = false;

	for (int i = 0; i < count; i++) {
		const size_t len = strlen(entries[i]->d_name);

		if (len > suffix && !strcmp(entries[i]->d_name + len - suffix, LC_BLOCK_SUFFIX))
			return true;
		manifest |= !strcmp(entries[i]->d_name, LC_MANIFEST_NAME);
	}
	return manifest && is_ours(path);
}

static bool is_loop(const char *path)
{
	struct lc_periods periods;
	bool loop;

	lc_periods_find(path, &periods);
	loop = periods.loop;
	lc_periods_free(&periods);
	return loop;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISDIR(st.st_mode);
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void walk(const char *path, unsigned depth, struct lc_find *out)
{
	struct dirent **entries = NULL;
	const int count = scandir(path, &entries, NULL, by_bytes);

	if (count < 0) {
		if (!depth || (errno != ENOENT && errno != ENOTDIR))
			add_problem(out, path, strerror(errno));
		return;
	}
	if (has_profile(path, entries, count) || is_loop(path)) {
		out->paths = lc_mem_grow(out->paths, &out->cap, out->len + 1, sizeof(*out->paths));
		out->paths[out->len++] = lc_mem_text("%s", path);
	} else if (depth == DEPTH_MAX) {
		add_problem(out, path, "too many directories inside one another");
	} else {
		const size_t end = strlen(path);
		const char *slash = end && path[end - 1] == '/' ? "" : "/";

		for (int i = 0; i < count; i++) {
			const char *name = entries[i]->d_name;
			char *below = lc_mem_text("%s%s%s", path, slash, name);

			if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
			    is_directory(below))
				walk(below, depth + 1, out);
			free(below);
		}
	}
	for (int i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
}

void lc_find_profiles(const char *root, struct lc_find *out)
{
	walk(root, 0, out);
}

void lc_find_free(struct lc_find *f)
{
	for (size_t i = 0; i < f->len; i++)
		free(f->paths[i]);
	for (size_t i = 0; i < f->problems_len; i++)
		free(f->problems[i].path);
	free(f->paths);
	free(f->problems);
	*f = (struct lc_find){ .paths = NULL };
}
