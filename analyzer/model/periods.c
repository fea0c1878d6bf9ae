/* SPDX-License-Identifier: Apache-2.0 */
/* model/periods.c - finds the profiles of periods in a directory that --loop made. */
#include "analyzer/model/periods.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "src/format/block.h"

static int is_of_profile(const struct dirent *e)
{
	const size_t len = strlen(e->d_name), suffix = strlen(LC_BLOCK_SUFFIX);

	return !strcmp(e->d_name, LC_MANIFEST_NAME) ||
	       (len > suffix && !strcmp(e->d_name + len - suffix, LC_BLOCK_SUFFIX));
}

static int has_name_of_period(const struct dirent *e)
{
	const size_t len = strlen(e->d_name);

	return len >= LC_LOOP_DIGITS && strspn(e->d_name, "0123456789") == len;
}

/* Numbers may have more digits than others, and no zeros before them then. */
static int order_by_number(const struct dirent **a, const struct dirent **b)
{
	const size_t x = strlen((*a)->d_name), y = strlen((*b)->d_name);

	return x != y ? (x < y ? -1 : 1) : strcmp((*a)->d_name, (*b)->d_name);
}

static void free_names(struct dirent **names, int count)
{
	for (int i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

/* Does the directory hold files of a profile? */
static bool is_profile(const char *path)
{
	struct dirent **names = NULL;
	const int count = scandir(path, &names, is_of_profile, NULL);

	free_names(names, count);
	return count > 0;
}

void lc_periods_find(const char *path, struct lc_periods *out)
{
	struct dirent **names = NULL;
	const int count =
	    is_profile(path) ? 0 : scandir(path, &names, has_name_of_period, order_by_number);

	*out = (struct lc_periods){ .paths = lc_mem_zeroed((size_t)(count > 0 ? count : 1),
		                                           sizeof(*out->paths)) };
	for (int i = 0; i < count; i++) {
		char *period = lc_mem_text("%s/%s", path, names[i]->d_name);

		if (is_profile(period))
			out->paths[out->len++] = period;
		else
			free(period);
	}
	free_names(names, count);
	out->loop = out->len > 0;
	if (!out->loop)
		out->paths[out->len++] = lc_mem_text("%s", path);
}

void lc_periods_free(struct lc_periods *p)
{
	for (size_t i = 0; i < p->len; i++)
		free(p->paths[i]);
	free(p->paths);
}

const char *lc_period_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}
