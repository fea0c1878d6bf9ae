/* numa/numa_json.c - the NUMA report for programs; docs/JSON.md says what each member means. */
#include "analyzer/numa/numa_command.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/numa/numa_prose.h"
#include "analyzer/out/text.h"

static void machine(FILE *out, const struct lc_numa *n)
{
	static const char *const states[] = { "no-data", "one-node", "off", "on" };

	fprintf(out, "\"state\":\"%s\",", states[n->state]);
	lc_emit_member(out, "reason", lc_numa_say_nothing(n));
	putc(',', out);
	lc_emit_member(out, "error", n->error);
	fprintf(out, ",\"balancing\":%s",
	        n->balancing < 0 ? "null"
	        : n->balancing   ? "true"
	                         : "false");
	fprintf(out,
	        ",\"pages_migrated\":%" PRIu64 ",\"pages_asked\":%" PRIu64
	        ",\"pages_unknown\":%" PRIu64 ",\"owner_changes\":%" PRIu64
	        ",\"samples_dropped\":%" PRIu64 ",\"mixed_machines\":%s,\n\"nodes\":[",
	        n->pages_migrated, n->pages_asked, n->pages_unknown, n->owner_changes, n->dropped,
	        n->mixed ? "true" : "false");
	for (uint32_t i = 0; i < n->nodes_len; i++) {
		fprintf(out, "%s{\"node\":%u,\"memory_bytes\":%" PRIu64 ",\"memory\":%s,",
		        i ? ",\n " : "", n->nodes[i].number, n->nodes[i].memory_bytes,
		        n->nodes[i].memory ? "true" : "false");
		lc_emit_member(out, "cpus", n->nodes[i].cpus);
		fputs(",\"distances\":[", out);
		for (uint32_t k = 0; k < n->nodes_len; k++)
			fprintf(out, "%s%u", k ? "," : "", lc_numa_distance(n, i, k));
		fputs("]}", out);
	}
	putc(']', out);
}

/* [accessing,owning,samples,..], nodes as in the rows of the matrix, one after the other. */
static void cells(FILE *out, const struct lc_numa *n, const struct lc_numa_group *g)
{
	fputs(",\"cells\":[", out);
	for (size_t i = 0; i < g->cells_len; i++) {
		const struct lc_numa_cell *c = &g->cells[i];

		fprintf(out, "%s%zu,%zu,%" PRIu64, i ? "," : "",
		        c->accessing ? c->accessing - 1 : n->nodes_len,
		        c->owning ? c->owning - 1 : n->nodes_len, c->samples);
	}
	putc(']', out);
}

/* Rows: accessing node, columns: owning node, both in the order of nodes and then the unknown one. */
static void matrix(FILE *out, const struct lc_numa *n, const struct lc_numa_group *g)
{
	const size_t side = n->nodes_len + 1;
	uint64_t *sums = lc_alloc_zeroed(side * side, sizeof(*sums));

	for (size_t i = 0; i < g->cells_len; i++) {
		size_t a = g->cells[i].accessing, o = g->cells[i].owning;

		sums[(a ? a - 1 : side - 1) * side + (o ? o - 1 : side - 1)] += g->cells[i].samples;
	}
	fputs(",\"matrix\":[", out);
	for (size_t i = 0; i < side * side; i++)
		fprintf(out, "%s%s%" PRIu64 "%s", i && !(i % side) ? "," : "", i % side ? "," : "[",
		        sums[i], i % side == side - 1 ? "]" : "");
	putc(']', out);
	free(sums);
}

static void shares(FILE *out, const char *policy, const struct lc_numa_whatif *w)
{
	lc_emit_member(out, "policy", policy);
	lc_emit_real(out, "remote_share", w->remote_share);
	lc_emit_real(out, "remote_share_shared", w->remote_share_shared);
	lc_emit_real(out, "weighted_remote_share", w->weighted);
	lc_emit_real(out, "mean_distance", w->mean_distance);
}

static void simulated(FILE *out, const struct lc_numa_report *r, const struct lc_numa_group *g)
{
	const size_t side = r->numa->nodes_len;
	struct lc_numa_whatif w;

	if (!r->simulate)
		return;
	lc_numa_simulate(r->numa, g, r->policy, r->node, &w);
	fputs(",\"simulated\":{", out);
	shares(out, r->policy_text, &w);
	fputs(",\"matrix\":[", out);
	for (size_t i = 0; i < side * side; i++)
		fprintf(out, "%s%s%.17g%s", i && !(i % side) ? "," : "", i % side ? "," : "[",
		        w.matrix[i], i % side == side - 1 ? "]" : "");
	fputs("]}", out);
	free(w.matrix);
}

/* Which node all pages would be nearest on: a row. Of equal ones the first. */
static uint32_t nearest_node(const struct lc_numa *n, const struct lc_numa_group *g)
{
	double best_cost = INFINITY;
	uint32_t best = 0;

	for (uint32_t i = 0; i < n->nodes_len; i++) {
		struct lc_numa_whatif w;
		double cost;

		if (!n->nodes[i].memory)
			continue;
		lc_numa_simulate(n, g, LC_NUMA_BIND, i, &w);
		/* Where a distance is unknown the remote share stands for it; it is less than any distance. */
		cost = w.mean_distance < 0 ? w.remote_share : w.mean_distance;
		free(w.matrix);
		if (cost < best_cost) {
			best_cost = cost;
			best = i;
		}
	}
	return best;
}

/* The shares that other placements would give; bound to the node that is best for it. */
static void what_if(FILE *out, const struct lc_numa *n, const struct lc_numa_group *g)
{
	const uint32_t node = nearest_node(n, g);
	char bind[32];
	const struct {
		enum lc_numa_policy policy;
		const char *name;
	} policies[] = {
		{ LC_NUMA_INTERLEAVE, "interleave" },
		{ LC_NUMA_FIRST_TOUCH_BY_READER, "first-touch-by-reader" },
		{ LC_NUMA_BIND, bind },
	};

	if (n->nodes_len)
		snprintf(bind, sizeof(bind), "bind:%u", n->nodes[node].number);
	fputs(",\n \"what_if\":[", out);
	for (unsigned i = 0; i < 3 && g->sum.known; i++) {
		struct lc_numa_whatif w;

		lc_numa_simulate(n, g, policies[i].policy, node, &w);
		fputs(i ? ",{" : "{", out);
		shares(out, policies[i].name, &w);
		putc('}', out);
		free(w.matrix);
	}
	putc(']', out);
}

static void sum(FILE *out, const struct lc_numa_sum *s)
{
	fprintf(out, "\"samples\":%" PRIu64 ",\"known\":%" PRIu64 ",\"remote\":%" PRIu64,
	        s->samples, s->known, s->remote);
	lc_emit_real(out, "remote_share", s->known ? s->remote_share : -1);
	lc_emit_real(out, "weighted_remote_share", s->weighted);
	lc_emit_real(out, "mean_distance", s->mean_distance);
}

static void group(FILE *out, const struct lc_numa_report *r, const struct lc_numa_group *g)
{
	bool any = false;

	sum(out, &g->sum);
	(r->compact ? cells : matrix)(out, r->numa, g);
	simulated(out, r, g);
	for (unsigned i = LC_SOURCE_UNKNOWN + 1; i < LC_SOURCE_COUNT; i++) {
		if (!g->sources[i])
			continue;
		fprintf(out, "%s\"%s\":%" PRIu64, any ? "," : ",\"sources\":{",
		        lc_data_source_name(i), g->sources[i]);
		any = true;
	}
	if (any)
		putc('}', out);
}

static void path(FILE *out, const struct lc_numa_report *r, uint32_t node)
{
	if (r->compact)
		fprintf(out, "%u", node);
	else
		lc_emit_json_path(out, r->numa->tree, node);
}

static void thread_identity(FILE *out, const struct lc_tree *t, uint32_t row)
{
	const uint64_t *values = lc_table_values(&t->threads, row);

	fputs("\"thread\":", out);
	lc_emit_json(out, lc_tree_text(t, (uint32_t)values[LC_THREAD_NAME]));
	fprintf(out, ",\"tid\":%" PRIu64 ",\"process\":%u", values[LC_THREAD_TID],
	        lc_table_key(&t->threads, row)[LC_THREAD_PROCESS]);
}

/* "by_node" in the order of nodes, and then the unknown one; compact: [node,count,..] */
static void by_node(FILE *out, const struct lc_numa_report *r, const uint64_t *nodes)
{
	const size_t len = r->numa->nodes_len;
	bool first = true;

	fputs(",\"by_node\":[", out);
	for (size_t i = 0; i <= len; i++) {
		const uint64_t count = nodes[i < len ? i + 1 : 0];

		if (r->compact && !count)
			continue;
		fputs(first ? "" : ",", out);
		first = false;
		if (r->compact)
			fprintf(out, "%zu,", i);
		fprintf(out, "%" PRIu64, count);
	}
	putc(']', out);
}

static void origin(FILE *out, const struct lc_numa_report *r, const char *name,
                   const struct lc_numa_origin *o)
{
	if (!o->total) {
		fprintf(out, ",\n \"%s\":null", name);
		return;
	}
	fprintf(out, ",\n \"%s\":{\"total\":%" PRIu64 ",\"threads\":%u,", name, o->total,
	        o->threads);
	thread_identity(out, r->numa->tree, o->thread);
	fprintf(out, ",\"thread_total\":%" PRIu64, o->thread_part);
	by_node(out, r, o->nodes);
	putc('}', out);
}

static void threads(FILE *out, const struct lc_numa_report *r,
                    const struct lc_numa_thread_row *list, size_t len, bool whole)
{
	const size_t most = r->compact && !whole ? LC_NUMA_COMPACT_THREADS : len;

	if (r->compact)
		fprintf(out, ",\"threads_total\":%zu", len);
	fputs(",\n \"threads\":[", out);
	for (size_t i = 0; i < len && i < most; i++) {
		fputs(i ? ",\n  {" : "{", out);
		thread_identity(out, r->numa->tree, list[i].thread);
		if (whole)
			fprintf(out,
			        ",\"samples\":%" PRIu64 ",\"migrations\":%" PRIu64
			        ",\"accesses\":{",
			        list[i].samples, list[i].migrations);
		else
			putc(',', out);
		sum(out, &list[i].sum);
		if (whole)
			putc('}', out);
		by_node(out, r, list[i].nodes);
		putc('}', out);
	}
	putc(']', out);
}

/* The place of a path's leaf as text; null where it is not known. */
static void place(FILE *out, const struct lc_tree *t, const char *name, uint32_t node)
{
	char *text = NULL;
	size_t len;
	FILE *line;

	fputs(",\n  ", out);
	if (!node) {
		lc_emit_member(out, name, NULL);
		return;
	}
	line = lc_text_open(&text, &len);
	lc_emit_frame(line, t, node);
	lc_text_close(line);
	lc_emit_member(out, name, text);
	free(text);
}

static void diagnosis(FILE *out, const struct lc_numa *n, const struct lc_numa_site *s)
{
	const struct lc_numa_diagnosis *d = &s->diagnosis;
	struct lc_numa_words w;

	lc_numa_say(n, s, &w);
	fprintf(out, ",\n \"diagnosis\":{\"pattern\":\"%s\",\"confidence\":\"%s\",",
	        lc_numa_pattern_name(d->pattern), lc_numa_confidence_name(d->confidence));
	lc_emit_member(out, "summary", w.summary);
	place(out, n->tree, "allocation_line",
	      lc_table_key(&n->tree->sites, s->all.site)[LC_SITE_PATH]);
	place(out, n->tree, "access_line", s->paths_len ? s->paths[0].path : 0);
	fputs(",\n  \"evidence\":[", out);
	for (size_t i = 0; i < w.evidence_len; i++) {
		fputs(i ? ",\n   " : "", out);
		lc_emit_json_c(out, w.evidence[i]);
	}
	fputs("],\n  \"advice\":[", out);
	for (size_t i = 0; i < w.advice_len; i++) {
		fputs(i ? ",\n   {" : "{", out);
		lc_emit_member(out, "action", w.advice[i].action);
		putc(',', out);
		lc_emit_member(out, "cost", w.advice[i].cost);
		putc('}', out);
	}
	fputs("]}", out);
	lc_numa_words_free(&w);
}

static void site(FILE *out, const struct lc_numa_report *r, const struct lc_numa_site *s)
{
	const struct lc_tree *t = r->numa->tree;
	const uint32_t *key = lc_table_key(&t->sites, s->all.site);

	fprintf(out, "{\"id\":\"%016" PRIx64 "\",\"bucket\":\"%s\",\"class\":", s->id,
	        lc_bucket_name(s->all.bucket));
	lc_emit_json(out, lc_tree_text(t, key[LC_SITE_CLASS]));
	putc(',', out);
	group(out, r, &s->all);
	what_if(out, r->numa, &s->all);
	fputs(",\n \"allocation_path\":", out);
	path(out, r, key[LC_SITE_PATH]);
	origin(out, r, "first_touch", &s->touched);
	origin(out, r, "allocated", &s->allocated);
	diagnosis(out, r->numa, s);
	fputs(",\n \"accesses\":[", out);
	for (size_t i = 0; i < s->paths_len; i++) {
		fputs(i ? ",\n  {" : "{", out);
		group(out, r, &s->paths[i]);
		fputs(",\"path\":", out);
		path(out, r, s->paths[i].path);
		putc('}', out);
	}
	putc(']', out);
	threads(out, r, s->threads, s->threads_len, false);
	putc('}', out);
}

/* What was recorded, where there is something. */
static void recorded(FILE *out, const struct lc_numa_report *r)
{
	const struct lc_numa *n = r->numa;

	if (n->engine < n->load->engines_len) {
		fputs(",\n\"engine\":{", out);
		lc_emit_member(out, "name", n->load->engines[n->engine].name);
		putc(',', out);
		lc_emit_member(out, "event", n->load->engines[n->engine].event);
		lc_emit_real(out, "folded", n->folded);
		putc('}', out);
	}
	fputs(",\n\"all\":{", out);
	group(out, r, &n->all);
	what_if(out, n, &n->all);
	putc('}', out);
}

void lc_numa_json(FILE *out, const struct lc_numa_report *r)
{
	const struct lc_numa *n = r->numa;

	putc('{', out);
	machine(out, n);
	if (n->state == LC_NUMA_ON)
		recorded(out, r);
	fprintf(out, ",\n\"sites_total\":%zu,\"sites\":[", n->sites_len);
	for (size_t i = 0; i < n->sites_len && i < r->top; i++) {
		fputs(i ? ",\n" : "", out);
		site(out, r, &n->sites[i]);
	}
	putc(']', out);
	threads(out, r, n->threads, n->threads_len, true);
	putc('}', out);
}
