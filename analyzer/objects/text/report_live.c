/* SPDX-License-Identifier: Apache-2.0 */
/* objects/text/report_live.c - writes the view of what stays after collections. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/analysis.h"
#include "analyzer/objects/analysis/live.h"
#include "analyzer/objects/analysis/object_names.h"
#include "analyzer/objects/analysis/own_code.h"
#include "analyzer/objects/text/report_brief.h"
#include "analyzer/objects/text/report_text.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/screen.h"

enum { INDENT = 8, BEFORE_NAMES = 16, CHAINS_SHOWN = 3 };

#define MINUTE_S 60.0

static const char *seconds_text(char *out, size_t len, double s)
{
	return lc_emit_duration(out, len, s > 0 ? (uint64_t)(s * 1e9) : 0);
}

/* "1.2 MB", "-1.2 MB". */
static const char *signed_text(char *out, size_t len, double bytes)
{
	char number[32];

	snprintf(out, len, "%s%s", bytes <= -1 ? "-" : "",
	         lc_emit_bytes_real(number, sizeof(number), fabs(bytes)));
	return out;
}

static void put_growth(FILE *out, const struct lc_live_line *line)
{
	const struct lc_trend *t = &line->trend;
	char slope[40], low[40], high[40];

	if (lc_live_points(line)->len < LC_TREND_POINTS_MIN) {
		fputs("; growth: too few collections of old objects to tell", out);
		return;
	}
	fprintf(out, "; growth: %s a minute (95%%: %s to %s)%s",
	        signed_text(slope, sizeof(slope), t->slope * MINUTE_S),
	        signed_text(low, sizeof(low), t->low * MINUTE_S),
	        signed_text(high, sizeof(high), t->high * MINUTE_S),
	        t->grows ? ", to the end" : "");
	if (line->by_walk)
		fprintf(out,
		        ", by all collections, since %" PRIu64 " of %" PRIu64
		        " objects that the walk of the heap looked for are live",
		        line->walked.reached, line->walked.looked_for);
}

static void put_ages(FILE *out, const struct lc_live_line *line)
{
	if (!lc_live_has_ages(line))
		return;
	fputs("; ages", out);
	for (size_t i = 0; i < LC_LIVE_AGES; i++)
		fprintf(out, "%s %.0f%%", i ? "," : "", 100 * lc_live_age_part(line, i));
}

static void put_held(FILE *out, const struct lc_live_line *line)
{
	const struct lc_live_held *h = &line->now;
	const char *noun = line->off_heap ? "block" : "object";
	char low[32], high[32];

	if (h->objects || !h->sampled)
		fprintf(out, "%" PRIu64 " %s%s", h->objects, noun, h->objects == 1 ? "" : "s");
	if (h->sampled)
		fprintf(out, "%sabout %.0f objects (%.0f to %.0f), %s to %s",
		        h->objects ? " counted and " : "", h->estimated.value, h->estimated.low,
		        h->estimated.high,
		        lc_emit_bytes_real(low, sizeof(low), h->estimated_bytes.low),
		        lc_emit_bytes_real(high, sizeof(high), h->estimated_bytes.high));
}

static char *numbers(const struct lc_live *l, const struct lc_live_line *line)
{
	char *text, first[32], last[32], young[32];
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	put_held(out, line);
	if (!line->off_heap && l->heap_bytes)
		fprintf(out, "; %.1f%% of the heap in use",
		        100 * lc_live_bytes(&line->now) / (double)l->heap_bytes);
	if (l->one_process) {
		put_growth(out, line);
		if (line->first_s >= 0)
			fprintf(out, "; seen from %s to %s, at %" PRIu64 " collection%s",
			        seconds_text(first, sizeof(first), line->first_s),
			        seconds_text(last, sizeof(last), line->last_s), line->collections,
			        line->collections == 1 ? "" : "s");
	}
	put_ages(out, line);
	if (lc_live_bytes(&line->young) >= 1)
		fprintf(out, "; younger: %s",
		        lc_emit_bytes_real(young, sizeof(young), lc_live_bytes(&line->young)));
	lc_mem_close_text(out);
	return text;
}

/* "held by static Leak.cache -> java.util.HashMap.table[] (14 of 16 objects looked at)" */
static void print_holders(const struct lc_screen *s, const struct lc_live_holders *h)
{
	char *text;
	size_t len;

	for (size_t i = 0; i < h->len && i < CHAINS_SHOWN; i++) {
		FILE *out = lc_text_open(&text, &len);

		fputs("held by ", out);
		lc_emit_text(out, h->chains[i].text);
		fprintf(out, " (%" PRIu64 " of %" PRIu64 " objects looked at)",
		        h->chains[i].objects, h->looked_at);
		lc_mem_close_text(out);
		fprintf(s->out, "%*s", INDENT, "");
		lc_screen_wrap(s, INDENT, INDENT + 2, text);
		free(text);
	}
}

static void print_line(const struct lc_screen *s, const struct lc_report *r,
                       const struct lc_live *l, const struct lc_live_line *line)
{
	char live[32], mark[40], *text = numbers(l, line);

	snprintf(mark, sizeof(mark), "%s%s", line->now.sampled ? "~" : "",
	         lc_emit_bytes_real(live, sizeof(live), lc_live_bytes(&line->now)));
	fprintf(s->out, "%9s live  ", mark);
	lc_report_brief_names(s, r->ranking, line->row,
	                      s->width > BEFORE_NAMES ? s->width - BEFORE_NAMES : 0);
	fprintf(s->out, "%*s", INDENT, "");
	lc_screen_wrap(s, INDENT, INDENT + 2, text);
	print_holders(s, &line->holders);
	free(text);
}

/* "Ages are fifths of the collections, young first: up to 4, 8, 12, 16 and 20 (for 1 s, ...)." */
static void put_age_names(FILE *out, const struct lc_live *l)
{
	char time[32];

	if (!l->ages)
		return;
	fputs(" Ages are fifths of the collections that the objects may have survived, youngest "
	      "first",
	      out);
	for (size_t i = 0; l->one_process && i < LC_LIVE_AGES; i++)
		fprintf(out, "%s %" PRIu64 " (%s)", i ? "," : ": up to", l->age_collections[i],
		        seconds_text(time, sizeof(time), l->age_s[i]));
	putc('.', out);
}

static void print_all(const struct lc_screen *s, const struct lc_live *l)
{
	char in_use[32], max[32], *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	fprintf(out, "%" PRIu64 " collection%s, %" PRIu64 " of old objects, too", l->collections,
	        l->collections == 1 ? "" : "s", l->old_collections);
	if (l->heap_bytes)
		fprintf(out, "; heap in use after the last one: %s",
		        lc_emit_bytes_real(in_use, sizeof(in_use), (double)l->heap_bytes));
	if (l->heap_bytes && l->heap_max_bytes)
		fprintf(out, " of at most %s",
		        lc_emit_bytes_real(max, sizeof(max), (double)l->heap_max_bytes));
	fputs(
	    ". Old objects count until a collection of old objects finds them dead; growth is told "
	    "by such collections alone: by the least in each of 64 parts of the time.",
	    out);
	put_age_names(out, l);
	if (l->incomplete)
		fprintf(out,
		        " At %" PRIu64 " collection%s Locus lost objects: counts may be too small.",
		        l->incomplete, l->incomplete == 1 ? "" : "s");
	if (!l->one_process)
		fputs(" Growth is told of a profile of one process only.", out);
	lc_mem_close_text(out);
	lc_screen_wrap(s, 0, 0, text);
	putc('\n', s->out);
	free(text);
}

void lc_report_text_live_rest(FILE *out, size_t more, size_t vague)
{
	if (more)
		fprintf(out, "and %zu more\n", more);
	if (vague)
		fprintf(out, "and %zu with fewer than %d sampled objects\n", vague,
		        LC_LIVE_SAMPLED_MIN);
}

void lc_report_text_live(FILE *out, const struct lc_report *r)
{
	const struct lc_live *l = &r->analysis->live;
	struct lc_screen s;
	size_t shown = 0, more = 0, few = 0;

	lc_screen_init(&s, out);
	if (l->none) {
		lc_screen_wrap(&s, 0, 0, l->none);
		return;
	}
	if (l->collections)
		print_all(&s, l);
	else
		lc_screen_wrap(
		    &s, 0, 0,
		    "No collection was seen, so nothing tells which objects stay: record for "
		    "longer, or have the JVM collect (jcmd PID GC.run). Blocks outside the "
		    "heap need no collection.");
	for (size_t i = 0; i < l->len; i++) {
		const struct lc_live_held *now = &l->lines[i].now;

		if (lc_live_bytes(now) < 1)
			continue;
		if (lc_live_is_vague(now)) {
			few++;
		} else if (shown == r->top) {
			more++;
		} else {
			print_line(&s, r, l, &l->lines[i]);
			shown++;
		}
	}
	lc_report_text_live_rest(out, more, few);
}

void lc_report_text_live_note(FILE *out, const struct lc_report *r)
{
	const struct lc_live *l = r->analysis ? &r->analysis->live : NULL;
	char *class, *at, slope[32];

	if (!l || l->none || !l->unknown)
		return;
	class = lc_object_label(r->view->tree, l->unknown, 1, UINT_MAX);
	at = lc_own_origin(r->view->tree, l->unknown, UINT_MAX);
	fprintf(out,
	        "note: %s of %s grows by %s a minute, unless its old objects are dead: %" PRIu64
	        " of %" PRIu64
	        " collections looked at old objects. A recording with %s tells whether they are\n",
	        class, at, lc_emit_bytes_real(slope, sizeof(slope), MINUTE_S * l->unknown_slope),
	        l->old_collections, l->collections,
	        lc_load_has_limit(r->view->load->processes, "holders_partial")
	            ? "a longer --max-pause"
	            : "--holders");
	free(class);
	free(at);
}
