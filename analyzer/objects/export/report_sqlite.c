/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/export/report_sqlite.c - writes a report as an SQLite file: the profile's tables, without
 * sums of sums, for questions that no view answers. docs/SQLITE.md says what each column means.
 */
#include "analyzer/objects/export/report_sqlite.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/offheap.h"
#include "src/format/block.h"

void lc_sqlite_site(struct lc_sqlite *s, uint32_t site)
{
	s->sites[site] = 1;
	lc_database_reference(&s->db, site);
}

void lc_sqlite_path(struct lc_sqlite *s, uint32_t path)
{
	s->paths[path] = 1;
	lc_database_reference(&s->db, path);
}

void lc_sqlite_thread(struct lc_sqlite *s, uint32_t thread)
{
	lc_database_u64(&s->db, (uint64_t)thread + 1);
}

void lc_sqlite_known(struct lc_sqlite *s, uint32_t number1)
{
	if (number1)
		lc_database_u64(&s->db, number1 - 1);
	else
		lc_database_null(&s->db);
}

static void fact(struct lc_sqlite *s, const char *name, const char *text)
{
	lc_database_string(&s->db, name);
	lc_database_string(&s->db, text);
	lc_database_row(&s->db);
}

static void fact_number(struct lc_sqlite *s, const char *name, uint64_t v)
{
	lc_database_string(&s->db, name);
	lc_database_u64(&s->db, v);
	lc_database_row(&s->db);
}

static void meta(struct lc_sqlite *s)
{
	const struct lc_load_process *p = s->r->view->load->processes;

	lc_database_table(&s->db, "meta", "name TEXT PRIMARY KEY, value");
	fact_number(s, "format", LC_FORMAT_VERSION);
	fact(s, "command", p->command);
	fact(s, "jdk", p->jdk);
	fact(s, "gc", p->gc);
	fact(s, "engine", s->r->engine->name);
	fact(s, "event", s->r->engine->event);
	fact_number(s, "interval", s->r->engine->interval_ns);
	fact(s, "unit", s->r->engine->unit);
	fact_number(s, "samples", s->r->view->total);
	fact_number(s, "start_wall_ns", p->start_wall_ns);
	fact_number(s, "duration_ns",
	            lc_load_end_ns(p) > p->start_monotonic_ns
	                ? lc_load_end_ns(p) - p->start_monotonic_ns
	                : 0);
	fact_number(s, "processes", s->r->view->load->processes_len);
	fact_number(s, "damaged_blocks", s->r->view->load->damage.blocks);
}

static void access(struct lc_sqlite *s, const struct lc_view_access *a)
{
	const struct lc_view_metric *m = lc_view_metric(s->r->view, a->bucket, a->site, a->path);

	if (!a->samples)
		return;
	lc_database_string(&s->db, lc_bucket_name(a->bucket));
	lc_sqlite_site(s, a->site);
	lc_sqlite_path(s, a->path);
	lc_database_u64(&s->db, a->samples);
	lc_database_u64(&s->db, a->pairs);
	if (m && m->timed) {
		lc_database_u64(&s->db, m->timed);
		lc_database_u64(&s->db, m->latency_sum);
	} else {
		lc_database_null(&s->db);
		lc_database_null(&s->db);
	}
	lc_database_row(&s->db);
}

static void accesses(struct lc_sqlite *s)
{
	const struct lc_view *v = s->r->view;

	lc_database_table(
	    &s->db, "accesses",
	    "bucket TEXT, site INTEGER REFERENCES sites, path INTEGER REFERENCES paths, "
	    "samples INTEGER, pairs INTEGER, latency_samples INTEGER, latency_cycles INTEGER");
	for (size_t i = 0; i < v->accesses_len; i++)
		access(s, &v->accesses[i]);
	for (unsigned b = 0; b < LC_BUCKET_COUNT; b++) {
		const uint64_t bare = lc_stacks_bare(s->r, b);

		if (!bare)
			continue;
		lc_database_string(&s->db, lc_bucket_name(b));
		lc_database_null(&s->db);
		lc_database_null(&s->db);
		lc_database_u64(&s->db, bare);
		lc_database_null(&s->db);
		lc_database_null(&s->db);
		lc_database_null(&s->db);
		lc_database_row(&s->db);
	}
}

static void reaches(struct lc_sqlite *s)
{
	const struct lc_view *v = s->r->view;

	lc_database_table(
	    &s->db, "reaches",
	    "bucket TEXT, site INTEGER REFERENCES sites, path INTEGER REFERENCES paths, "
	    "reference TEXT, kind TEXT, header_for TEXT, samples INTEGER");
	for (size_t i = 0; i < v->reaches_len; i++) {
		const struct lc_view_reach *r = &v->reaches[i];

		lc_database_string(&s->db, lc_bucket_name(r->bucket));
		lc_sqlite_site(s, r->site);
		lc_sqlite_path(s, r->path);
		if (r->kind == LC_REFERENCE_UNKNOWN)
			lc_database_null(&s->db);
		else
			lc_database_text(&s->db, lc_tree_text(s->tree, r->name));
		lc_database_string(&s->db, lc_reference_name(r->kind));
		if (r->why == LC_WHY_NO_HEADER)
			lc_database_null(&s->db);
		else
			lc_database_string(&s->db, lc_why_name(r->why));
		lc_database_u64(&s->db, r->samples);
		lc_database_row(&s->db);
	}
}

static void fields(struct lc_sqlite *s)
{
	const struct lc_table *t = &s->tree->fields;

	lc_database_table(
	    &s->db, "fields",
	    "bucket TEXT, site INTEGER REFERENCES sites, path INTEGER REFERENCES paths, "
	    "name TEXT, first INTEGER, last INTEGER, load INTEGER, store INTEGER, "
	    "samples INTEGER");
	for (uint32_t i = 0; i < t->count; i++) {
		const uint32_t *key = lc_table_key(t, i);
		const bool elements = !lc_tree_text(s->tree, key[LC_FIELD_NAME]).len;

		if (key[LC_FIELD_ENGINE] != s->r->view->engine)
			continue;
		lc_database_string(&s->db, lc_bucket_name(key[LC_FIELD_BUCKET]));
		lc_sqlite_site(s, key[LC_FIELD_SITE]);
		lc_sqlite_path(s, key[LC_FIELD_PATH]);
		if (elements) {
			lc_database_null(&s->db);
			lc_database_u64(&s->db, lc_tree_wide(key + LC_FIELD_FIRST));
			lc_database_u64(&s->db, lc_tree_wide(key + LC_FIELD_LAST));
		} else {
			lc_database_text(&s->db, lc_tree_text(s->tree, key[LC_FIELD_NAME]));
			lc_database_null(&s->db);
			lc_database_null(&s->db);
		}
		lc_database_i64(&s->db, (key[LC_FIELD_TOUCH] & LC_TOUCH_LOAD) != 0);
		lc_database_i64(&s->db, (key[LC_FIELD_TOUCH] & LC_TOUCH_STORE) != 0);
		lc_database_u64(&s->db, lc_table_values(t, i)[LC_FIELD_SAMPLES]);
		lc_database_row(&s->db);
	}
}

static void estimates(struct lc_sqlite *s)
{
	const struct lc_view *v = s->r->view;

	lc_database_table(
	    &s->db, "estimates",
	    "site INTEGER PRIMARY KEY REFERENCES sites, sampled INTEGER, objects REAL, "
	    "objects_low REAL, objects_high REAL, bytes REAL, bytes_low REAL, "
	    "bytes_high REAL");
	for (size_t i = 0; i < v->estimates_len; i++) {
		const struct lc_view_estimate *e = &v->estimates[i];

		lc_sqlite_site(s, e->site);
		lc_database_u64(&s->db, e->sampled);
		lc_database_real(&s->db, e->objects);
		lc_database_real(&s->db, e->objects_low);
		lc_database_real(&s->db, e->objects_high);
		lc_database_real(&s->db, e->bytes);
		lc_database_real(&s->db, e->bytes_low);
		lc_database_real(&s->db, e->bytes_high);
		lc_database_row(&s->db);
	}
}

static void site_names(struct lc_sqlite *s)
{
	static const char *const kinds[LC_NAME_KINDS] = {
		[LC_NAME_FIELD] = "field",
		[LC_NAME_LOCAL] = "local",
		[LC_NAME_ARGUMENT] = "argument",
	};
	const struct lc_view *v = s->r->view;

	lc_database_table(&s->db, "site_names",
	                  "site INTEGER REFERENCES sites, kind TEXT, name TEXT");
	for (size_t i = 0; i < v->names_len; i++) {
		lc_sqlite_site(s, v->names[i].site);
		lc_database_string(&s->db, kinds[v->names[i].kind]);
		lc_database_text(&s->db, lc_tree_text(s->tree, v->names[i].name));
		lc_database_row(&s->db);
	}
}

/* Counts of blocks outside the heap, by site. */
static void off_heap(struct lc_sqlite *s)
{
	size_t len;
	struct lc_offheap_site *all = lc_offheap_sites(s->tree, &len);

	lc_database_table(&s->db, "off_heap",
	                  "site INTEGER PRIMARY KEY REFERENCES sites, allocated INTEGER, "
	                  "allocated_bytes INTEGER, freed INTEGER, freed_bytes INTEGER, "
	                  "before INTEGER, before_bytes INTEGER, live INTEGER, "
	                  "live_bytes INTEGER");
	for (size_t i = 0; i < len; i++) {
		const struct lc_rank_offheap *o = &all[i].counts;

		lc_sqlite_site(s, all[i].site);
		lc_database_u64(&s->db, o->allocated);
		lc_database_u64(&s->db, o->allocated_bytes);
		lc_database_u64(&s->db, o->freed);
		lc_database_u64(&s->db, o->freed_bytes);
		lc_database_u64(&s->db, o->before);
		lc_database_u64(&s->db, o->before_bytes);
		lc_database_u64(&s->db, lc_offheap_live(o));
		lc_database_u64(&s->db, lc_offheap_live_bytes(o));
		lc_database_row(&s->db);
	}
	free(all);
}

/* Arrays that were looked into, by site. */
static void contents(struct lc_sqlite *s)
{
	const struct lc_table *t = &s->tree->contents;

	lc_database_table(&s->db, "contents",
	                  "site INTEGER PRIMARY KEY REFERENCES sites, dead INTEGER, zero INTEGER, "
	                  "bytes INTEGER, used_bytes INTEGER, to_64th INTEGER, to_16th INTEGER, "
	                  "to_8th INTEGER, to_4th INTEGER, to_half INTEGER, outlived INTEGER, "
	                  "equal_same INTEGER, equal_other INTEGER");
	for (uint32_t i = 0; i < t->count; i++) {
		lc_sqlite_site(s, lc_table_key(t, i)[LC_CONTENT_SITE]);
		for (unsigned k = 0; k < LC_CONTENT_VALUES; k++)
			lc_database_u64(&s->db, lc_table_values(t, i)[k]);
		lc_database_row(&s->db);
	}
}

/* Write the sites that a row names, and those with allocations. */
static void sites(struct lc_sqlite *s)
{
	const struct lc_table *t = &s->tree->sites;
	char id[24];

	lc_database_table(&s->db, "sites",
	                  "id INTEGER PRIMARY KEY, hash TEXT, class TEXT, "
	                  "path INTEGER REFERENCES paths, allocations INTEGER, bytes INTEGER");
	for (uint32_t i = 1; i < t->count; i++) {
		const uint32_t *key = lc_table_key(t, i);
		const uint64_t *values = lc_table_values(t, i);

		if (!s->sites[i] && !values[LC_SITE_ALLOCATIONS])
			continue;
		snprintf(id, sizeof(id), "%016" PRIx64, lc_tree_site_id(s->tree, i));
		lc_database_u64(&s->db, i);
		lc_database_string(&s->db, id);
		lc_database_text(&s->db, lc_tree_text(s->tree, key[LC_SITE_CLASS]));
		lc_sqlite_path(s, key[LC_SITE_PATH]);
		lc_database_u64(&s->db, values[LC_SITE_ALLOCATIONS]);
		lc_database_u64(&s->db, values[LC_SITE_BYTES]);
		lc_database_row(&s->db);
	}
}

/*
 * Write the paths that a row names, and their callers. Returns the frames of these paths; the
 * caller frees it.
 */
static uint8_t *paths(struct lc_sqlite *s)
{
	const struct lc_table *t = &s->tree->paths;
	uint8_t *frames = lc_mem_zeroed((size_t)s->tree->frames.count + 1, 1);

	for (uint32_t i = t->count; i-- > 1;)
		if (s->paths[i])
			s->paths[lc_tree_parent(s->tree, i)] = 1;
	lc_database_table(&s->db, "paths",
	                  "id INTEGER PRIMARY KEY, caller INTEGER REFERENCES paths, "
	                  "frame INTEGER REFERENCES frames");
	for (uint32_t i = 1; i < t->count; i++) {
		const uint32_t frame = lc_table_key(t, i)[LC_PATH_FRAME];

		if (!s->paths[i])
			continue;
		frames[frame] = 1;
		lc_database_u64(&s->db, i);
		lc_database_reference(&s->db, lc_tree_parent(s->tree, i));
		lc_database_u64(&s->db, (uint64_t)frame + 1);
		lc_database_row(&s->db);
	}
	return frames;
}

static void frames(struct lc_sqlite *s, const uint8_t *wanted)
{
	const struct lc_table *t = &s->tree->frames;

	lc_database_table(&s->db, "frames",
	                  "id INTEGER PRIMARY KEY, class TEXT, method TEXT, signature TEXT, "
	                  "file TEXT, line INTEGER, bci INTEGER");
	for (uint32_t i = 0; i < t->count; i++) {
		const uint32_t *key = lc_table_key(t, i);
		const uint32_t *method;

		if (!wanted[i])
			continue;
		method = lc_table_key(&s->tree->methods, key[LC_FRAME_METHOD]);
		lc_database_u64(&s->db, (uint64_t)i + 1);
		lc_database_text(&s->db, lc_tree_text(s->tree, method[LC_METHOD_CLASS]));
		lc_database_text(&s->db, lc_tree_text(s->tree, method[LC_METHOD_NAME]));
		lc_database_text(&s->db, lc_tree_text(s->tree, method[LC_METHOD_SIGNATURE]));
		lc_database_text(&s->db, lc_tree_text(s->tree, method[LC_METHOD_FILE]));
		lc_sqlite_known(s, key[LC_FRAME_LINE1]);
		lc_sqlite_known(s, key[LC_FRAME_BCI1]);
		lc_database_row(&s->db);
	}
}

/* For short questions: the line at which a path ends. */
static void views(struct lc_sqlite *s)
{
	lc_database_run(&s->db, "CREATE INDEX accesses_site ON accesses (site)");
	lc_database_run(&s->db, "CREATE INDEX accesses_path ON accesses (path)");
	lc_database_run(&s->db, "CREATE INDEX paths_caller ON paths (caller)");
	if (s->r->view->load->by.len)
		lc_database_run(&s->db, "CREATE INDEX path_groups_path ON path_groups (path)");
	lc_database_run(&s->db,
	                "CREATE VIEW lines AS SELECT paths.id AS path, paths.caller AS caller, "
	                "class || iif(method = '', '', '.') || method || coalesce(':' || line, '') "
	                "AS line, class || iif(method = '', '', '.') || method AS method FROM "
	                "paths JOIN frames ON frames.id = frame");
}

void lc_report_sqlite(FILE *out, const struct lc_report *r)
{
	const struct lc_tree *t = r->view->tree;
	struct lc_sqlite s = {
		.r = r,
		.tree = t,
		.sites = lc_mem_zeroed((size_t)t->sites.count + 1, 1),
		.paths = lc_mem_zeroed((size_t)t->paths.count + 1, 1),
	};
	uint8_t *wanted;

	lc_database_open(&s.db);
	meta(&s);
	accesses(&s);
	fields(&s);
	reaches(&s);
	estimates(&s);
	site_names(&s);
	off_heap(&s);
	contents(&s);
	lc_sqlite_live(&s);
	lc_sqlite_processes(&s);
	lc_sqlite_threads(&s);
	lc_sqlite_nodes(&s);
	lc_sqlite_spans(&s);
	sites(&s);
	wanted = paths(&s);
	frames(&s, wanted);
	lc_sqlite_path_groups(&s);
	views(&s);
	lc_database_close(&s.db, out);
	free(wanted);
	free(s.sites);
	free(s.paths);
}
