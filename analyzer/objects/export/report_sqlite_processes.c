/* SPDX-License-Identifier: Apache-2.0 */
/* objects/export/report_sqlite_processes.c - writes the tables of processes, labels and groups. */
#include "analyzer/model/groups.h"
#include "analyzer/objects/export/report_sqlite.h"

static void text_or_null(struct lc_sqlite *s, const char *text)
{
	if (*text)
		lc_database_string(&s->db, text);
	else
		lc_database_null(&s->db);
}

static void labels(struct lc_sqlite *s)
{
	const struct lc_load *l = s->r->view->load;
	json_t *value;
	const char *key;

	lc_database_table(&s->db, "labels",
	                  "process INTEGER REFERENCES processes, key TEXT, value TEXT");
	for (size_t i = 0; i < l->processes_len; i++)
		json_object_foreach(l->processes[i].labels, key, value)
		{
			lc_database_u64(&s->db, i);
			lc_database_string(&s->db, key);
			lc_database_string(&s->db, json_string_value(value));
			lc_database_row(&s->db);
		}
}

void lc_sqlite_processes(struct lc_sqlite *s)
{
	const struct lc_load *l = s->r->view->load;

	lc_database_table(&s->db, "processes",
	                  "id INTEGER PRIMARY KEY, host TEXT, pid INTEGER, command TEXT, jdk TEXT, "
	                  "gc TEXT, start_wall_ns INTEGER, duration_ns INTEGER, complete INTEGER");
	for (size_t i = 0; i < l->processes_len; i++) {
		const struct lc_load_process *p = &l->processes[i];
		const uint64_t end_ns = lc_load_end_ns(p);

		lc_database_u64(&s->db, i);
		text_or_null(s, p->host);
		lc_database_i64(&s->db, p->pid);
		lc_database_string(&s->db, p->command);
		lc_database_string(&s->db, p->jdk);
		lc_database_string(&s->db, p->gc);
		lc_database_u64(&s->db, p->start_wall_ns);
		lc_database_u64(
		    &s->db, end_ns > p->start_monotonic_ns ? end_ns - p->start_monotonic_ns : 0);
		lc_database_i64(&s->db, p->complete);
		lc_database_row(&s->db);
	}
	labels(s);
	lc_database_run(&s->db, "CREATE VIEW hosts AS SELECT host, count(*) AS processes, "
	                        "min(start_wall_ns) AS start_wall_ns FROM processes GROUP BY host");
}

static void path_group(struct lc_sqlite *s, uint32_t path, const char *key, struct lc_text value)
{
	lc_database_u64(&s->db, path);
	lc_database_string(&s->db, key);
	lc_database_text(&s->db, value);
	lc_database_row(&s->db);
}

void lc_sqlite_path_groups(struct lc_sqlite *s)
{
	const struct lc_by *by = &s->r->view->load->by;
	const struct lc_table *t = &s->tree->paths;

	lc_database_table(&s->db, "path_groups",
	                  "path INTEGER REFERENCES paths, key TEXT, value TEXT");
	for (uint32_t i = 1; i < t->count; i++) {
		const uint32_t group = s->paths[i] ? lc_group_of(s->tree, by->len, i) : 0;
		const uint32_t context = s->paths[i] ? lc_group_of(s->tree, by->len + 1, i) : 0;

		for (size_t k = 0; k < by->len && group; k++)
			path_group(s, i, by->keys[k], lc_group_value(s->tree, by, group, k));
		if (lc_group_is_context(s->tree, context))
			path_group(s, i, LC_GROUP_CONTEXT, lc_group_context_name(s->tree, context));
	}
}
