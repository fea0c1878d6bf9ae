/* SPDX-License-Identifier: Apache-2.0 */
/* numa/numa_text.c - writes the report on NUMA nodes for a terminal. */
#include "analyzer/numa/numa_command.h"
#include "src/base/order.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/cli/report_command.h"
#include "analyzer/numa/numa_prose.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/own.h"

enum {
	MATRIX_NODES = 16,      /* a larger matrix is left to the other formats */
	ALLOCATION_FRAMES = 16, /* shown of an allocation path */
	ACCESS_FRAMES = 6,      /* shown of an access path */
	ACCESS_PATHS = 5,       /* shown of a site, where they are a hundredth of it or more */
	SITE_THREADS = 4,
	THREADS = 10,
};

static void print_machine(FILE *out, const struct lc_numa *n)
{
	char text[32];

	fprintf(out, "machine   %zu NUMA nodes", n->nodes_len);
	if (n->balancing >= 0)
		fprintf(out, "; the kernel's NUMA balancing is %s", n->balancing ? "on" : "off");
	if (n->pages_migrated)
		fprintf(out, ", %" PRIu64 " pages moved during the run", n->pages_migrated);
	putc('\n', out);
	for (uint32_t i = 0; i < n->nodes_len; i++) {
		const struct lc_numa_node *node = &n->nodes[i];

		fprintf(out, "          node %-3u %9s  CPUs ", node->number,
		        node->memory_bytes ? lc_emit_bytes(text, sizeof(text), node->memory_bytes)
		                           : "no memory");
		lc_emit_text_c(out, *node->cpus ? node->cpus : "none");
		fputs("  distances", out);
		for (uint32_t k = 0; k < n->nodes_len && k < MATRIX_NODES; k++)
			fprintf(out, " %u", lc_numa_distance(n, i, k));
		fputs(node->memory_bytes && !node->memory ? "  (memory not allowed)\n" : "\n", out);
	}
	if (n->error) {
		fputs("          note: ", out);
		lc_emit_text_c(out, n->error);
		putc('\n', out);
	}
	if (n->mixed)
		fputs("          note: the profiles are from different machines; distances that "
		      "differ are unknown\n",
		      out);
	if (n->owner_changes)
		fprintf(out,
		        "          %" PRIu64
		        " pages had moved to another node between two look-ups\n",
		        n->owner_changes);
	if (n->dropped)
		fprintf(out, "          %" PRIu64 " samples are missing here, for lack of memory\n",
		        n->dropped);
}

/* "48.2% remote (65.1% of the distance, mean 15.3)" */
static void print_shares(FILE *out, double remote, double weighted, double mean)
{
	fprintf(out, "%.1f%% remote", 100 * remote);
	if (weighted >= 0)
		fprintf(out, " (%.1f%% weighted by distance, mean distance %.1f)", 100 * weighted,
		        mean);
}

static void print_sum(FILE *out, const struct lc_numa_sum *s)
{
	if (s->known)
		print_shares(out, s->remote_share, s->weighted, s->mean_distance);
	else
		fputs("no access with known nodes", out);
}

static void print_cells(FILE *out, const struct lc_numa *n, const double *cells, size_t side)
{
	fputs("            from\\to ", out);
	for (size_t o = 0; o < side; o++) {
		if (o < n->nodes_len)
			fprintf(out, " %9u", n->nodes[o].number);
		else
			fputs("   unknown", out);
	}
	putc('\n', out);
	for (size_t a = 0; a < side; a++) {
		double row = 0;

		for (size_t o = 0; o < side; o++)
			row += cells[a * side + o];
		if (a == n->nodes_len && row <= 0)
			continue;
		if (a < n->nodes_len)
			fprintf(out, "            %7u ", n->nodes[a].number);
		else
			fputs("            unknown ", out);
		for (size_t o = 0; o < side; o++)
			fprintf(out, " %9.0f", cells[a * side + o]);
		putc('\n', out);
	}
}

static void print_matrix(FILE *out, const struct lc_numa *n, const struct lc_numa_group *g)
{
	const size_t side = n->nodes_len + 1;
	double *cells = lc_mem_zeroed(side * side, sizeof(*cells));

	for (size_t i = 0; i < g->cells_len; i++) {
		size_t a = g->cells[i].accessing, o = g->cells[i].owning;

		cells[(a ? a - 1 : side - 1) * side + (o ? o - 1 : side - 1)] +=
		    (double)g->cells[i].samples;
	}
	fputs("          samples by node of the CPU (rows) and of the page (columns)\n", out);
	if (n->nodes_len <= MATRIX_NODES)
		print_cells(out, n, cells, side);
	else
		fputs("            too many nodes for a table; see --format=json\n", out);
	free(cells);
}

static void print_simulated(FILE *out, const struct lc_numa_report *r,
                            const struct lc_numa_group *g, bool with_matrix)
{
	struct lc_numa_whatif w;

	if (!r->simulate)
		return;
	lc_numa_simulate(r->numa, g, r->policy, r->node, &w);
	fprintf(out, "          with %s: ", r->policy_text);
	print_shares(out, w.remote_share, w.weighted, w.mean_distance);
	if (r->policy == LC_NUMA_FIRST_TOUCH_BY_READER)
		fprintf(
		    out,
		    " if each thread has its own part, %.1f%% remote if all threads use all parts",
		    100 * w.remote_share_shared);
	putc('\n', out);
	if (with_matrix && r->numa->nodes_len <= MATRIX_NODES)
		print_cells(out, r->numa, w.matrix, r->numa->nodes_len);
	free(w.matrix);
}

static void print_path(FILE *out, const struct lc_tree *t, uint32_t path, unsigned frames)
{
	uint32_t depth = lc_tree_depth(t, path);

	if (!path)
		fputs("          (unknown)\n", out);
	for (unsigned i = 0; path; i++, path = lc_tree_parent(t, path)) {
		if (i == frames && depth > frames + 1) {
			fprintf(out, "            ... %u more\n", depth - frames);
			return;
		}
		fputs("          ", out);
		lc_emit_frame(out, t, path);
		putc('\n', out);
	}
}

static void print_thread(FILE *out, const struct lc_numa *n, const struct lc_numa_thread_row *t,
                         bool whole)
{
	const uint64_t *values = lc_table_values(&n->tree->threads, t->thread);

	fputs("          ", out);
	lc_emit_text(out, lc_tree_text(n->tree, (uint32_t)values[LC_THREAD_NAME]));
	fprintf(out, " (%" PRIu64 "): %" PRIu64 " samples on", values[LC_THREAD_TID], t->samples);
	for (uint32_t i = 1; i <= n->nodes_len; i++)
		if (t->nodes[i])
			fprintf(out, " node %u: %.1f%%,", n->nodes[i - 1].number,
			        100 * lc_share(t->nodes[i], t->samples));
	if (t->nodes[0])
		fprintf(out, " unknown: %.1f%%,", 100 * lc_share(t->nodes[0], t->samples));
	if (whole)
		fprintf(out, " moved %s%" PRIu64 " times,", t->migrations ? "at least " : "",
		        t->migrations);
	putc(' ', out);
	print_sum(out, &t->sum);
	putc('\n', out);
}

static void print_diagnosis(FILE *out, const struct lc_numa *n, const struct lc_numa_site *s)
{
	struct lc_numa_prose w;

	lc_numa_say(n, s, &w);
	fprintf(out, "      diagnosis: %s (confidence: %s)\n          %s\n",
	        lc_numa_pattern_name(s->diagnosis.pattern),
	        lc_numa_confidence_name(s->diagnosis.confidence), w.summary);
	for (size_t i = 0; i < w.evidence_len; i++)
		fprintf(out, "%s%s\n", i ? "          - " : "      evidence\n          - ",
		        w.evidence[i]);
	for (size_t i = 0; i < w.advice_len; i++)
		fprintf(out, "%s%s\n            cost: %s\n",
		        i ? "          - " : "      what to do\n          - ", w.advice[i].action,
		        w.advice[i].cost);
	lc_numa_prose_free(&w);
}

static void print_site(FILE *out, const struct lc_numa_report *r, size_t number)
{
	const struct lc_numa *n = r->numa;
	const struct lc_numa_site *s = &n->sites[number];
	const uint32_t *key = lc_table_key(&n->tree->sites, s->all.site);

	fprintf(out, "\n%3zu. ", number + 1);
	lc_emit_text(out, lc_tree_text(n->tree, key[LC_SITE_CLASS]));
	fprintf(out, "  %" PRIu64 " samples, ", s->all.sum.samples);
	print_sum(out, &s->all.sum);
	putc('\n', out);
	if (key[LC_SITE_PATH]) {
		fputs("      allocated at\n", out);
		print_path(out, n->tree, key[LC_SITE_PATH], ALLOCATION_FRAMES);
	}
	print_matrix(out, n, &s->all);
	print_simulated(out, r, &s->all, true);
	print_diagnosis(out, n, s);
	for (size_t i = 0; i < s->paths_len && i < ACCESS_PATHS; i++) {
		const struct lc_numa_group *g = &s->paths[i];

		if (100 * g->sum.samples < s->all.sum.samples)
			continue;
		fprintf(out, "      accessed by %" PRIu64 " samples, ", g->sum.samples);
		print_sum(out, &g->sum);
		putc('\n', out);
		print_simulated(out, r, g, false);
		print_path(out, n->tree, g->path, ACCESS_FRAMES);
	}
	if (s->threads_len)
		fputs("      by threads\n", out);
	for (size_t i = 0; i < s->threads_len && i < SITE_THREADS; i++)
		print_thread(out, n, &s->threads[i], false);
	if (s->threads_len > SITE_THREADS)
		fprintf(out, "          ... %zu more\n", s->threads_len - SITE_THREADS);
}

void lc_numa_text(FILE *out, const struct lc_numa_report *r)
{
	const struct lc_numa *n = r->numa;
	const char *nothing = lc_numa_say_nothing(n);

	lc_report_note_part(out, n->load);
	if (nothing) {
		fprintf(out, "numa      %s\n", nothing);
		lc_own_text(out, n->load);
		return;
	}
	print_machine(out, n);
	lc_own_text(out, n->load);
	fprintf(out, "samples   %" PRIu64 " with an address (engine ", n->all.sum.samples);
	lc_emit_text_c(out, n->engine < n->load->engines_len ? n->load->engines[n->engine].name
	                                                     : "unknown");
	fprintf(out, "), %" PRIu64 " with known nodes: ", n->all.sum.known);
	print_sum(out, &n->all.sum);
	putc('\n', out);
	print_matrix(out, n, &n->all);
	print_simulated(out, r, &n->all, true);
	for (size_t i = 0; i < n->sites_len && i < r->top; i++)
		print_site(out, r, i);
	if (n->sites_len > r->top)
		fprintf(out, "\n     ... %zu more sites\n", n->sites_len - r->top);
	if (n->threads_len)
		fputs("\nThreads\n", out);
	for (size_t i = 0; i < n->threads_len && i < THREADS; i++)
		print_thread(out, n, &n->threads[i], true);
	if (n->threads_len > THREADS)
		fprintf(out, "          ... %zu more\n", n->threads_len - THREADS);
}
