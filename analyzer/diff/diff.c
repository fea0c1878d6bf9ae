/* SPDX-License-Identifier: Apache-2.0 */
/* diff/diff.c - builds a diff: chooses the samples, ranks each profile, matches and judges rows. */
#include "analyzer/diff/diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/cli/report_command.h"
#include "analyzer/model/tree_lines.h"
#include "analyzer/objects/analysis/report.h"
#include "analyzer/out/emit.h"

/* ---- the engine ---- */

static uint64_t samples_of(const struct lc_diff_profile *p, uint32_t engine)
{
	uint64_t sum = 0;

	for (unsigned b = 0; b < LC_BUCKET_COUNT; b++)
		sum += p->tree.buckets[engine][b];
	return sum;
}

/* The first profile that has not the engine `e`; NULL: all have it. */
static const struct lc_diff_profile *without(const struct lc_diff *d,
                                             const struct lc_load_engine *e)
{
	for (size_t i = 0; i < d->len; i++)
		if (lc_load_engine_like(&d->profiles[i].load, e) == UINT32_MAX)
			return &d->profiles[i];
	return NULL;
}

static void put_engine(FILE *out, const struct lc_load_engine *e)
{
	lc_emit_text_c(out, e->name);
	if (e->interval_ns)
		fprintf(out, " every %" PRIu64, e->interval_ns);
	putc(' ', out);
	lc_emit_text_c(out, e->unit);
}

static char *say_mixed(const struct lc_load_engine *e, const struct lc_diff_profile *p)
{
	const uint32_t other = lc_report_busiest_engine(&p->load);
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	fputc('\'', out);
	lc_emit_text_c(out, p->path);
	fputs("' has no samples of ", out);
	put_engine(out, e);
	if (p->load.engines_len && *p->load.engines[other].name) {
		fputs(" but of ", out);
		put_engine(out, &p->load.engines[other]);
	}
	fputs("; only allocations are compared, since samples of different kinds cannot be", out);
	lc_mem_close_text(out);
	return text;
}

/*
 * Choose the engine that all profiles have, with most samples in the first profile. If there is
 * none, d->engine stays NULL.
 */
static int choose_engine(struct lc_diff *d, const char *word)
{
	const struct lc_diff_profile *first = &d->profiles[0];
	const struct lc_load_engine *e;
	uint64_t most = 0;
	uint32_t engine;

	if (word) {
		if (lc_report_find_engine(&first->load, word, &engine))
			return 1;
		e = &first->load.engines[engine];
		if (without(d, e))
			d->mixed = say_mixed(e, without(d, e));
		else
			d->engine = e;
		return 0;
	}
	for (uint32_t i = 0; i < first->load.engines_len; i++) {
		if (samples_of(first, i) <= most || without(d, &first->load.engines[i]))
			continue;
		most = samples_of(first, i);
		d->engine = &first->load.engines[i];
	}
	for (size_t i = 0; i < d->len && !d->engine && !d->mixed; i++) {
		const struct lc_load *l = &d->profiles[i].load;
		const uint32_t busiest = lc_report_busiest_engine(l);

		if (samples_of(&d->profiles[i], busiest) && without(d, &l->engines[busiest]))
			d->mixed =
			    say_mixed(&l->engines[busiest], without(d, &l->engines[busiest]));
	}
	return 0;
}

/* ---- profiles ---- */

static void view(struct lc_diff *d, struct lc_diff_profile *p)
{
	const uint32_t engine = d->engine ? lc_load_engine_like(&p->load, d->engine)
	                                  : lc_report_busiest_engine(&p->load);

	/* Paths that differ in the bytecode alone are one, as in the text of a report. */
	lc_tree_fold_lines(&p->tree);
	lc_view_build(&p->view, &p->load, engine, LC_SORT_SAMPLES);
	p->samples = d->engine ? p->view.total : 0;
}

static void rank(struct lc_diff *d)
{
	struct lc_known_lines told;

	lc_known_lines_init(&told);
	for (size_t i = 0; i < d->len; i++) {
		view(d, &d->profiles[i]);
		lc_known_lines_add(&told, &d->profiles[i].view);
	}
	for (size_t i = 0; i < d->len; i++)
		lc_ranking_build(&d->profiles[i].ranking, &d->profiles[i].view, d->group, &told);
	lc_known_lines_free(&told);
}

/* By the threads' clocks where all profiles tell it, else by the interval. */
static void find_time(struct lc_diff *d)
{
	bool clocks = true;

	if (!d->engine || strcmp(d->engine->name, "timer") != 0)
		return;
	for (size_t i = 0; i < d->len; i++) {
		struct lc_diff_profile *p = &d->profiles[i];

		p->cpu_ns = (double)lc_report_cpu_ns(&p->load, &p->load.engines[p->view.engine]);
		clocks &= p->cpu_ns > 0;
	}
	for (size_t i = 0; i < d->len && !clocks; i++)
		d->profiles[i].cpu_ns =
		    (double)d->profiles[i].samples * (double)d->engine->interval_ns;
}

/* ---- order ---- */

static double change_of(const struct lc_diff_row *row)
{
	return fabs(row->cpu_ns.known ? row->cpu_ns.change : row->share.change);
}

static double bytes_of(const struct lc_diff_row *row)
{
	return fabs(row->bytes.change + row->object_bytes.change);
}

static int order_down(double x, double y)
{
	return x > y ? -1 : x < y;
}

static int order_rows(const void *a, const void *b)
{
	const struct lc_diff_row *x = *(struct lc_diff_row *const *)a;
	const struct lc_diff_row *y = *(struct lc_diff_row *const *)b;
	int order = (int)y->share.significant - (int)x->share.significant;

	if (!order)
		order = (int)x->rest - (int)y->rest;
	if (!order && x->share.significant)
		order = order_down(change_of(x), change_of(y));
	if (!order && !x->rest)
		order = order_down(fmax(x->share.before, x->share.after),
		                   fmax(y->share.before, y->share.after));
	if (!order)
		order = order_down(bytes_of(x), bytes_of(y));
	return order ? order : x < y ? -1 : x > y; /* as they were matched */
}

static void sort(struct lc_diff *d)
{
	struct lc_diff_row **order = lc_mem_zeroed(d->rows_len + 1, sizeof(*order));
	struct lc_diff_row *sorted = lc_arena_zeroed(&d->arena, d->rows_len, sizeof(*sorted));

	for (size_t i = 0; i < d->rows_len; i++)
		order[i] = &d->rows[i];
	qsort(order, d->rows_len, sizeof(*order), order_rows);
	for (size_t i = 0; i < d->rows_len; i++) {
		sorted[i] = *order[i];
		d->significant += order[i]->share.significant;
	}
	d->rows = sorted;
	free(order);
}

int lc_diff_build(struct lc_diff *d, struct lc_diff_profile *profiles, size_t len,
                  enum lc_rank_group group, const char *engine_word)
{
	*d = (struct lc_diff){ .profiles = profiles, .len = len, .group = group };
	for (size_t i = 0; i < len; i++)
		d->repeated |= d->sides[profiles[i].which]++ > 0;
	if (choose_engine(d, engine_word))
		return 1;
	rank(d);
	find_time(d);
	lc_diff_match(d);
	lc_diff_judge(d);
	sort(d);
	return 0;
}

void lc_diff_free(struct lc_diff *d)
{
	for (size_t i = 0; i < d->len; i++) {
		if (!d->profiles[i].view.tree)
			continue;
		lc_ranking_free(&d->profiles[i].ranking);
		lc_view_free(&d->profiles[i].view);
	}
	lc_arena_free(&d->arena);
	free(d->mixed);
	*d = (struct lc_diff){ .rows = NULL };
}
