/* SPDX-License-Identifier: Apache-2.0 */
/* out/json_processes.c - writes the choice and the groups of processes as JSON. */
#include "analyzer/out/json_processes.h"

void lc_json_labels(struct lc_json *j, json_t *labels)
{
	json_t *value;
	const char *key;

	lc_json_object(j, "labels");
	json_object_foreach(labels, key, value)
	{
		lc_json_string(j, key, json_string_value(value));
	}
	lc_json_end_object(j);
}

void lc_json_by(struct lc_json *j, const struct lc_by *by)
{
	lc_json_array(j, "by");
	for (size_t i = 0; i < by->len; i++)
		lc_json_string(j, NULL, by->keys[i]);
	lc_json_end_array(j);
}

void lc_json_host(struct lc_json *j, const struct lc_load_process *p)
{
	if (*p->host)
		lc_json_string(j, "host", p->host);
	if (p->labels)
		lc_json_labels(j, p->labels);
}

void lc_json_chosen(struct lc_json *j, const struct lc_load *l)
{
	const struct lc_where_terms *w = l->where;

	if (l->by.len)
		lc_json_by(j, &l->by);
	if (!w || !w->len)
		return;
	lc_json_array(j, "where");
	for (size_t i = 0; i < w->len; i++) {
		lc_json_object(j, NULL);
		lc_json_string(j, "key", w->list[i].key);
		lc_json_string(j, "patterns", w->list[i].patterns);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}
