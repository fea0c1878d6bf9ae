/* SPDX-License-Identifier: Apache-2.0 */
/* objects/export/report_sqlite_live.c - writes the tables of live objects: now, and over time. */
#include "analyzer/objects/analysis/analysis.h"
#include "analyzer/objects/export/report_sqlite.h"
#include "src/format/kinds.h"

/* ns since the start of the process. */
static int64_t since_start(const struct lc_sqlite *s, uint32_t process, uint64_t ns)
{
	const struct lc_load *l = s->r->view->load;

	return (int64_t)(ns - (process < l->processes_len ? l->processes[process].start_monotonic_ns
	                                                  : 0));
}

static void number(struct lc_sqlite *s, const struct lc_rank_number *n)
{
	lc_database_real(&s->db, n->value);
	lc_database_real(&s->db, n->low);
	lc_database_real(&s->db, n->high);
}

/* State of each site after the last collection. */
static void live_now(struct lc_sqlite *s, const struct lc_live *live)
{
	lc_database_table(&s->db, "live",
	                  "site INTEGER PRIMARY KEY REFERENCES sites, off_heap INTEGER, "
	                  "objects INTEGER, bytes INTEGER, sampled INTEGER, "
	                  "estimated_objects REAL, estimated_objects_low REAL, "
	                  "estimated_objects_high REAL, estimated_bytes REAL, "
	                  "estimated_bytes_low REAL, estimated_bytes_high REAL");
	for (size_t i = 0; i < live->sites_len; i++) {
		const struct lc_live_site *site = &live->sites[i];

		lc_sqlite_site(s, site->site);
		lc_database_i64(&s->db, site->off_heap);
		lc_database_u64(&s->db, site->now.objects);
		lc_database_u64(&s->db, site->now.bytes);
		lc_database_u64(&s->db, site->now.sampled);
		number(s, &site->now.estimated);
		number(s, &site->now.estimated_bytes);
		lc_database_row(&s->db);
	}
}

/* A stretch of time of the heap, or of a site. */
static void stretch(struct lc_sqlite *s, const uint32_t *key, const uint64_t *v)
{
	const uint32_t process =
	    lc_table_key(&s->tree->threads, key[LC_LIVE_THREAD])[LC_THREAD_PROCESS];
	const bool heap = !key[LC_LIVE_SITE];

	lc_database_u64(&s->db, process);
	lc_database_i64(&s->db, since_start(s, process, lc_tree_wide(&key[LC_LIVE_TIME])));
	if (!heap) {
		lc_sqlite_site(s, key[LC_LIVE_SITE]);
		lc_database_u64(&s->db, v[LC_LIVE_OBJECTS]);
		lc_database_u64(&s->db, v[LC_LIVE_BYTES]);
		lc_database_u64(&s->db, v[LC_LIVE_SAMPLED]);
		lc_database_real(&s->db, (double)v[LC_LIVE_ESTIMATED] / 1000);
		lc_database_u64(&s->db, v[LC_LIVE_ESTIMATED_BYTES]);
	} else {
		lc_database_u64(&s->db, v[LC_LIVE_OBJECTS]);
		lc_database_u64(&s->db, v[LC_LIVE_SAMPLED]);
		lc_database_reference(&s->db, v[LC_LIVE_BYTES]);
	}
	lc_database_row(&s->db);
}

static void stretches(struct lc_sqlite *s, const struct lc_live *live, bool heap)
{
	const struct lc_table *t = &s->tree->live;

	for (uint32_t i = 0; !live->none && i < t->count; i++) {
		const uint32_t *key = lc_table_key(t, i);

		if (key[LC_LIVE_KIND] == LC_LIVE_LEAST && heap == !key[LC_LIVE_SITE])
			stretch(s, key, lc_table_values(t, i));
	}
}

/* The process and time of a row whose key begins with its thread and time. */
static void moment(struct lc_sqlite *s, uint32_t thread, const uint32_t *time)
{
	const uint32_t process = lc_table_key(&s->tree->threads, thread)[LC_THREAD_PROCESS];

	lc_database_u64(&s->db, process);
	lc_database_i64(&s->db, since_start(s, process, lc_tree_wide(time)));
}

static void ages(struct lc_sqlite *s, const struct lc_live *live)
{
	const struct lc_table *t = &s->tree->ages;

	lc_database_table(&s->db, "live_ages",
	                  "process INTEGER, time_ns INTEGER, site INTEGER REFERENCES sites, "
	                  "fifth INTEGER, objects REAL");
	for (uint32_t i = 0; !live->none && i < t->count; i++)
		for (unsigned k = 0; k < LC_LIVE_AGES; k++) {
			const uint32_t *key = lc_table_key(t, i);
			const uint64_t milli = lc_table_values(t, i)[LC_AGE_OBJECTS + k];

			moment(s, key[LC_AGE_THREAD], &key[LC_AGE_TIME]);
			lc_sqlite_site(s, key[LC_AGE_SITE]);
			lc_database_u64(&s->db, k + 1);
			lc_database_real(&s->db, (double)milli / 1000);
			lc_database_row(&s->db);
		}
}

static void holders(struct lc_sqlite *s, const struct lc_live *live)
{
	const struct lc_table *t = &s->tree->holders;

	lc_database_table(&s->db, "holders",
	                  "process INTEGER, time_ns INTEGER, site INTEGER REFERENCES sites, "
	                  "chain TEXT, objects INTEGER");
	for (uint32_t i = 0; !live->none && i < t->count; i++) {
		const uint32_t *key = lc_table_key(t, i);
		const struct lc_text chain = lc_tree_text(s->tree, key[LC_HOLDER_CHAIN]);

		moment(s, key[LC_HOLDER_THREAD], &key[LC_HOLDER_TIME]);
		lc_sqlite_site(s, key[LC_HOLDER_SITE]);
		if (chain.len)
			lc_database_text(&s->db, chain);
		else
			lc_database_null(&s->db);
		lc_database_u64(&s->db, lc_table_values(t, i)[LC_HOLDER_OBJECTS]);
		lc_database_row(&s->db);
	}
}

void lc_sqlite_live(struct lc_sqlite *s)
{
	const struct lc_live *live = &s->r->analysis->live_by_line;

	live_now(s, live);
	lc_database_table(&s->db, "live_series",
	                  "process INTEGER, start_ns INTEGER, site INTEGER REFERENCES sites, "
	                  "objects INTEGER, bytes INTEGER, sampled INTEGER, "
	                  "estimated_objects REAL, estimated_bytes INTEGER");
	stretches(s, live, false);
	lc_database_table(&s->db, "live_heap",
	                  "process INTEGER, start_ns INTEGER, collections INTEGER, "
	                  "old_collections INTEGER, bytes INTEGER");
	stretches(s, live, true);
	ages(s, live);
	holders(s, live);
}
