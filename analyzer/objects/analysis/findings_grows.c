/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/findings_grows.c - finds lines that hold more after each collection: leaks. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/findings_impl.h"
#include "analyzer/objects/analysis/live.h"
#include "analyzer/out/emit.h"

enum { GROWS_MAX = 3 }; /* findings of this kind: the tables of a map grow with what is in it */

#define MINUTE_S 60.0
#define HOUR_S 3600.0
#define DAY_S (24 * HOUR_S)
#define YEAR_S (365 * DAY_S)

/* "90 s", "90 minutes", "36 hours", "12 days". */
static void put_duration(FILE *out, double s)
{
	if (s < 2 * MINUTE_S)
		fprintf(out, "%.0f s", s);
	else if (s < 2 * HOUR_S)
		fprintf(out, "%.0f minutes", s / MINUTE_S);
	else if (s < 2 * DAY_S)
		fprintf(out, "%.0f hours", s / HOUR_S);
	else
		fprintf(out, "%.0f days", s / DAY_S);
}

static void put_left(FILE *out, const struct lc_live *l, const struct lc_live_line *line)
{
	const char *limit = line->off_heap ? "MaxDirectMemorySize" : "the maximum heap";
	char left[32], all[32];

	if (line->left_bytes < 0)
		return;
	lc_emit_bytes_real(left, sizeof(left), line->left_bytes);
	lc_emit_bytes_real(all, sizeof(all),
	                   (double)(line->off_heap ? l->direct_max_bytes : l->heap_max_bytes));
	fprintf(out, " %s of %s (%s) are left", left, limit, all);
	if (line->full_s >= 0 && line->full_s < YEAR_S) {
		fputs(", enough for ", out);
		put_duration(out, line->full_s);
	}
	putc('.', out);
}

/* The length of the package in front of the class or field at `at`. */
static uint32_t package_len(struct lc_text chain, uint32_t at)
{
	for (uint32_t i = at; i + 1 < chain.len; i++) {
		const unsigned char c = (unsigned char)chain.bytes[i];

		if (c == '.' && isupper((unsigned char)chain.bytes[i + 1]))
			return i + 1 - at;
		if (!islower(c) && !isdigit(c) && c != '_' && c != '.')
			break; /* a class without a package, or a word */
	}
	return 0;
}

/* The chain without packages: "static Cache.map -> HashMap.table[]". */
static void put_short(FILE *out, struct lc_text chain)
{
	for (uint32_t i = 0; i < chain.len;) {
		const bool begins = !i || chain.bytes[i - 1] == ' ';
		const uint32_t skip = begins ? package_len(chain, i) : 0;
		uint32_t end = i += skip;

		while (end < chain.len && chain.bytes[end] != ' ')
			end++;
		end += end < chain.len;
		lc_emit_text(out, (struct lc_text){ .bytes = chain.bytes + i, .len = end - i });
		i = end;
	}
}

static void put_holder(FILE *out, const struct lc_live_holders *h)
{
	if (!h->len)
		return;
	fprintf(out, " %" PRIu64 " of %" PRIu64 " objects looked at are held by ",
	        h->chains[0].objects, h->looked_at);
	put_short(out, h->chains[0].text);
	putc('.', out);
}

static char *words(const struct lc_finding_search *s, const struct lc_live *l,
                   const struct lc_live_line *line)
{
	char *what = lc_finding_row_words(s, line->row), *text, hour[32], low[32], high[32],
	     grown[32], now[32], time[32];
	const bool estimated = line->now.estimated_bytes.value > 0;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	lc_emit_bytes_real(hour, sizeof(hour), line->trend.slope * HOUR_S);
	lc_emit_bytes_real(low, sizeof(low), line->trend.low * HOUR_S);
	lc_emit_bytes_real(high, sizeof(high), line->trend.high * HOUR_S);
	lc_emit_bytes_real(grown, sizeof(grown), line->grown_bytes);
	lc_emit_bytes_real(now, sizeof(now), lc_live_bytes(&line->now));
	lc_emit_duration(time, sizeof(time), (uint64_t)(line->grown_s * 1e9));
	if (line->off_heap)
		fprintf(out,
		        "%s: blocks that are not freed grow by %s an hour (%s to %s): by %s in %s, "
		        "to %s in %.0f blocks.",
		        what, hour, low, high, grown, time, now, lc_live_objects(&line->now));
	else
		fprintf(out,
		        "%s: what stays after collections grows by %s%s an hour (%s to %s): by %s "
		        "in %s and %" PRIu64 " collections, to %s in %.0f objects.",
		        what, estimated ? "about " : "", hour, low, high, grown, time,
		        line->collections, now, lc_live_objects(&line->now));
	put_left(out, l, line);
	if (line->by_walk)
		fprintf(out,
		        " %" PRIu64 " of %" PRIu64
		        " objects looked for in the heap are live, so dead ones are not the "
		        "growth.",
		        line->walked.reached, line->walked.looked_for);
	put_holder(out, &line->holders);
	lc_mem_close_text(out);
	free(what);
	return text;
}

/* The part of the heap in use, or of what blocks may take, that the line holds; 0: unknown. */
static double part_held(const struct lc_live *l, const struct lc_live_line *line)
{
	const uint64_t whole = line->off_heap ? l->direct_max_bytes : l->heap_bytes;

	return whole ? fmin(1, lc_live_bytes(&line->now) / (double)whole) : 0;
}

static int order_grown(const void *a, const void *b)
{
	const struct lc_live_line *const *x = a, *const *y = b;

	if ((*x)->trend.slope != (*y)->trend.slope)
		return (*x)->trend.slope > (*y)->trend.slope ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

void lc_finding_grows(struct lc_finding_search *s)
{
	const struct lc_live *l = s->of->live;
	const struct lc_live_line **lines;
	size_t len = 0;

	if (!l || l->none || !l->len)
		return;
	lines = lc_mem_zeroed(l->len, sizeof(const void *));
	for (size_t i = 0; i < l->len; i++)
		if (l->lines[i].matters && l->lines[i].row->path)
			lines[len++] = &l->lines[i];
	if (len)
		qsort(lines, len, sizeof(*lines), order_grown);
	for (size_t i = 0; i < len && i < GROWS_MAX; i++) {
		struct lc_finding *f = lc_finding_add(s, LC_FINDING_GROWS,
		                                      lc_finding_number_of_line(s, lines[i]->row));

		f->row = lines[i]->row;
		f->growth = lines[i]->trend.low;
		f->share = f->low = f->high = part_held(l, lines[i]);
		f->text = lc_finding_keep(s, words(s, l, lines[i]));
		f->change = lines[i]->off_heap
		                ? "free each block when its last user is done: close the arena or "
		                  "channel, or drop the buffer's last reference"
		                : "find who keeps these objects (a static collection, a listener "
		                  "list, a thread's variable), and remove them there, or bound it";
	}
	free(lines);
}
