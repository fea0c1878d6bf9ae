/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/findings_other.c - makes findings from the analyses of sharing, NUMA and spans.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/numa/numa.h"
#include "analyzer/numa/numa_prose.h"
#include "analyzer/objects/analysis/findings_impl.h"
#include "analyzer/objects/analysis/offheap.h"
#include "analyzer/objects/analysis/sharing.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/screen.h"
#include "analyzer/spans/spans.h"
#include "src/base/hash.h"
#include "src/base/order.h"

/* Write a site: "long[] of Counters.<init>:12". */
static void put_site(const struct lc_finding_search *s, FILE *out, uint32_t site)
{
	const uint32_t *key = lc_table_key(&s->t->sites, site);
	char *text = lc_short_class(lc_tree_text(s->t, key[LC_SITE_CLASS]));

	fputs(text, out);
	free(text);
	if (!key[LC_SITE_PATH])
		return;
	key = lc_tree_frame(s->t, key[LC_SITE_PATH]);
	text = lc_short_code(s->t, key[LC_FRAME_METHOD], key[LC_FRAME_LINE1]);
	fprintf(out, " of %s", text);
	free(text);
}

static bool is_block(const struct lc_finding_search *s, uint32_t site)
{
	return lc_offheap_class(
	    lc_tree_text(s->t, lc_table_key(&s->t->sites, site)[LC_SITE_CLASS]));
}

static char *sharing_words(const struct lc_finding_search *s, const struct lc_sharing_finding *x,
                           const struct lc_finding *f)
{
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	put_site(s, out, x->sides[0].site);
	if (x->sides[1].site && x->sides[1].site != x->sides[0].site) {
		fputs(" and ", out);
		put_site(s, out, x->sides[1].site);
	}
	fputs(": threads use different bytes of the same cache lines", out);
	if (x->certain)
		fputs(", which the hardware saw go from core to core", out);
	fprintf(out, "; %.1f%% of the samples (%.1f to %.1f) are in %" PRIu64 " such line%s.",
	        100 * f->share, 100 * f->low, 100 * f->high, x->objects.lines,
	        x->objects.lines == 1 ? "" : "s");
	lc_finding_put_gain(out, f);
	lc_mem_close_text(out);
	return text;
}

/*
 * An access that only reads a line waits, too, after another thread has taken it. So padding saves
 * at most all accesses to these objects in such lines. Many samples have no address: where half of
 * a path's samples or more are known to be in such lines, all are.
 */
static void save_lines(const struct lc_finding_search *s, const struct lc_sharing_finding *x,
                       struct lc_finding *f)
{
	const struct lc_table *places = &s->of->sharing->places;
	struct lc_finding all = *f;
	struct lc_weighted sum = { 0 };

	for (size_t i = 0; i < s->v->accesses_len; i++) {
		const struct lc_view_access *a = &s->v->accesses[i];
		const uint32_t key[] = { a->site, a->path };
		uint32_t place = lc_table_find(places, key);
		double part;

		if (!a->site || (a->site != x->sides[0].site && a->site != x->sides[1].site) ||
		    place == UINT32_MAX)
			continue;
		part = lc_share(*lc_table_values(places, place), a->samples);
		part = part < 0.5 ? part : 1;
		sum.samples += (uint64_t)(part * (double)a->samples);
		sum.pairs += (uint64_t)(part * (double)a->pairs);
	}
	lc_finding_weigh(s, &all, sum);
	if (all.share > f->share)
		f->saves.all = all.saves.all;
}

void lc_finding_sharing(struct lc_finding_search *s)
{
	const struct lc_sharing *sharing = s->of->sharing;

	for (size_t i = 0; sharing && i < sharing->findings_len; i++) {
		const struct lc_sharing_finding *x = &sharing->findings[i];
		struct lc_finding *f;
		double low, high;

		if (x->repeats || !x->sides[0].site)
			continue;
		lc_rank_interval((struct lc_weighted){ x->objects.samples, x->objects.pairs },
		                 lc_view_all(s->v), &low, &high);
		if (low < LC_FINDING_SHARE_MIN)
			continue;
		f = lc_finding_add(s, LC_FINDING_FALSE_SHARING,
		                   lc_tree_site_id(s->t, x->sides[0].site));
		f->site = lc_tree_site_id(s->t, x->sides[0].site);
		f->share = lc_share(x->objects.samples, s->v->total);
		f->low = low;
		f->high = high;
		lc_finding_saves_samples(s, f);
		save_lines(s, x, f);
		f->text = lc_finding_keep(s, sharing_words(s, x, f));
		f->change =
		    is_block(s, x->sides[0].site)
		        ? "put 128 bytes between the data that different threads write, or "
		          "give each thread a block of its own; see --view=sharing"
		        : "put 128 bytes between the data that different threads write, mark "
		          "it @Contended, or give each thread a copy; see --view=sharing";
	}
}

static char *remote_words(const struct lc_finding_search *s, const struct lc_numa_site *x,
                          const struct lc_finding *f, const char *summary)
{
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	put_site(s, out, x->all.site);
	fputs(": ", out);
	lc_emit_text_c(out, summary);
	fprintf(out, " (%.1f%% of the samples are remote, %.1f to %.1f).", 100 * f->share,
	        100 * f->low, 100 * f->high);
	lc_mem_close_text(out);
	return text;
}

void lc_finding_remote(struct lc_finding_search *s)
{
	const struct lc_numa *n = s->of->numa;

	for (size_t i = 0; n && n->state == LC_NUMA_ON && i < n->sites_len; i++) {
		const struct lc_numa_site *x = &n->sites[i];
		struct lc_numa_prose prose;
		struct lc_finding *f;
		double low, high;
		uint64_t remote = x->all.sum.remote;

		if (x->diagnosis.pattern <= LC_NUMA_FINE)
			continue;
		lc_rank_interval((struct lc_weighted){ remote, x->all.sum.remote_pairs },
		                 lc_view_all(s->v), &low, &high);
		if (low < LC_FINDING_SHARE_MIN)
			continue;
		lc_numa_say(n, x, &prose);
		f = lc_finding_add(s, LC_FINDING_REMOTE, x->id);
		f->site = x->id;
		f->share = lc_share(remote, s->v->total);
		f->low = low;
		f->high = high;
		lc_finding_saves_samples(s, f);
		f->text = lc_finding_keep(s, remote_words(s, x, f, prose.summary));
		f->change =
		    lc_finding_keep(s, lc_mem_text("%s", prose.advice_len ? prose.advice[0].action
		                                                          : "see --view numa"));
		lc_numa_prose_free(&prose);
	}
}

/* A number for the subject of a diagnosis, equal in every profile. */
static uint64_t span_number(const struct lc_spans_diagnosis *d)
{
	const struct lc_span_place *at = d->location ? d->location->place : NULL;
	const struct lc_text name = at ? at->class_name : d->type->label;
	uint64_t number = at ? (uint64_t)at->line : 0;

	for (uint32_t i = 0; i < name.len; i++)
		number = lc_hash_add(number, (uint8_t)name.bytes[i]);
	return number;
}

/* `of` names the whole that the share is a part of. */
static char *span_words(const struct lc_finding_search *s, const struct lc_spans_diagnosis *d,
                        double share, const char *of)
{
	const struct lc_span_place *at = d->location ? d->location->place : d->type->creation;
	char *text, *name;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	if (!d->location) {
		name = lc_short_class(d->type->name);
		fprintf(out, at->number ? "%s of " : "%s", name);
		free(name);
	}
	if (at->number) {
		name = lc_short_code(s->t, at->method, (uint32_t)(at->line + 1));
		fputs(name, out);
		free(name);
	}
	fputs(": ", out);
	lc_emit_text_c(out, d->summary);
	fprintf(out, " (%.1f%% of %s", 100 * share, of);
	if (d->evidence_len) {
		fputs("; ", out);
		lc_emit_text_c(out, d->evidence[0]);
	}
	fputs(").", out);
	lc_mem_close_text(out);
	return text;
}

void lc_finding_spans(struct lc_finding_search *s)
{
	static const enum lc_finding_kind kinds[LC_SPANS_PATTERNS] = {
		[LC_SPANS_FINE] = LC_FINDING_FINE_TASKS,
		[LC_SPANS_COARSE] = LC_FINDING_COARSE_TASKS,
		[LC_SPANS_UNBALANCED] = LC_FINDING_UNEVEN_WORKERS,
		[LC_SPANS_TINY] = LC_FINDING_TINY_STREAMS,
		[LC_SPANS_INVARIANT] = LC_FINDING_SAME_STREAMS,
	};
	const struct lc_spans *spans = s->of->spans;
	const double cpu = spans ? lc_spans_cpu_cycles(spans) : 0;

	for (size_t i = 0; spans && i < spans->diagnoses_len; i++) {
		const struct lc_spans_diagnosis *d = &spans->diagnoses[i];
		const double all = cpu > 0       ? cpu
		                   : d->location ? (double)spans->streams_sum.cycles
		                                 : (double)spans->tasks_sum.cycles;
		struct lc_finding *f;

		if (d->verdict != LC_SPANS_FINDING || all <= 0)
			continue;
		f = lc_finding_add(s, kinds[d->pattern], span_number(d));
		f->share = f->low = f->high = fmin(1, fmax(0, (double)d->cycles / all));
		lc_finding_saves_time(f);
		f->text = lc_finding_keep(s, span_words(s, d, f->share,
		                                        cpu > 0       ? "the program's CPU time"
		                                        : d->location ? "the cycles of all streams"
		                                                      : "the cycles of all tasks"));
		f->change = d->advice;
		f->spans = d;
	}
}
