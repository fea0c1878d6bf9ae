/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/process_labels.c - finds the facts and labels that the processes of a group
 * share.
 */
#include "analyzer/objects/analysis/process_labels.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/model/facts.h"
#include "analyzer/model/groups.h"

static const char *const facts[] = { "host", "jdk", "pid" };

void lc_process_labels_build(struct lc_process_labels *l, const struct lc_load *load)
{
	*l = (struct lc_process_labels){ .load = load };
	l->roots = lc_mem_zeroed(load->processes_len + 1, sizeof(*l->roots));
	for (size_t i = 0; i < load->processes_len; i++)
		l->roots[i] = lc_group_root(load->tree, &load->by, &load->processes[i]);
	lc_table_init(&l->rows, 1, 0);
}

void lc_process_labels_free(struct lc_process_labels *l)
{
	for (uint32_t i = 0; i < l->rows.count; i++)
		free(l->groups[i].labels);
	free(l->groups);
	free(l->roots);
	lc_table_free(&l->rows);
}

static void add(struct lc_process_labels *l, struct lc_process_group *g, const char *key,
                const char *value)
{
	struct lc_tree *t = l->load->tree;
	size_t cap = g->len;

	g->labels = lc_mem_grow(g->labels, &cap, g->len + 1, sizeof(*g->labels));
	g->labels[g->len++] = (struct lc_process_label){ lc_tree_string(t, key, strlen(key)),
		                                         lc_tree_string(t, value, strlen(value)) };
}

/* Add the key where all processes of the group have the same value for it. */
static void add_common(struct lc_process_labels *l, struct lc_process_group *g, uint32_t root,
                       const char *key)
{
	char *common = NULL;
	bool agree = true;

	for (size_t i = 0; i < l->load->processes_len && agree; i++) {
		char *value;

		if (root && l->roots[i] != root)
			continue;
		value = lc_fact(&l->load->processes[i], key);
		if (!common) {
			common = value;
			continue;
		}
		agree = !strcmp(common, value);
		free(value);
	}
	if (agree && common && strcmp(common, LC_FACT_NONE) != 0)
		add(l, g, key, common);
	free(common);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static struct lc_process_group make(struct lc_process_labels *l, uint32_t root)
{
	struct lc_process_group g = { .labels = NULL };
	const struct lc_load *load = l->load;
	const char **keys, *key;
	size_t len = 0, first = 0;
	json_t *value;

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		add_common(l, &g, root, facts[i]);
	while (first < load->processes_len && root && l->roots[first] != root)
		first++;
	if (first == load->processes_len)
		return g;
	/* A label that one process lacks is not common to all. */
	keys = lc_mem_zeroed(json_object_size(load->processes[first].labels) + 1, sizeof(*keys));
	json_object_foreach(load->processes[first].labels, key, value)
	{
		keys[len++] = key;
	}
	qsort(keys, len, sizeof(*keys), by_text);
	for (size_t i = 0; i < len; i++)
		add_common(l, &g, root, keys[i]);
	free(keys);
	return g;
}

const struct lc_process_group *lc_process_labels_of(struct lc_process_labels *l, uint32_t path)
{
	const uint32_t root = lc_group_of(l->load->tree, l->load->by.len, path),
	               before = l->rows.count, row = lc_table_put(&l->rows, &root);

	if (row == before) {
		struct lc_process_group g = make(l, root);

		l->groups = lc_mem_grow(l->groups, &l->cap, (size_t)row + 1, sizeof(*l->groups));
		l->groups[row] = g;
	}
	return &l->groups[row];
}
