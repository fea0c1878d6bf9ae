/* SPDX-License-Identifier: Apache-2.0 */
/* objects/text/report_text_objects.c - writes the terminal report's part about objects. */
#include "analyzer/objects/text/report_text.h"
#include "src/base/order.h"
#include "src/format/kinds.h"

#include <inttypes.h>
#include <string.h>

#include "analyzer/objects/analysis/sharing.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/source.h"

enum {
	ALLOCATION_FRAMES = 16, /* shown of an allocation path */
	ACCESS_FRAMES = 6,      /* shown of an access path */
	ACCESS_PATHS = 5,       /* shown of a site, where they are a thousandth of it or more */
	FIELDS = 4,             /* shown of a site or access path */
	SOURCE_BYTES = 120,     /* shown of a source line */
};

static void print_source(FILE *out, const struct lc_report *r, uint32_t path)
{
	const struct lc_tree *t = r->view->tree;
	const uint32_t *method, *frame;
	struct lc_text line;

	if (!r->source || !path)
		return;
	method = lc_tree_method(t, path);
	frame = lc_tree_frame(t, path);
	if (!frame[LC_FRAME_LINE1])
		return;
	line = lc_source_line(r->source, lc_tree_text(t, method[LC_METHOD_CLASS]),
	                      lc_tree_text(t, method[LC_METHOD_FILE]), frame[LC_FRAME_LINE1] - 1);
	while (line.len && (*line.bytes == ' ' || *line.bytes == '\t')) {
		line.bytes++;
		line.len--;
	}
	if (!line.len)
		return;
	fputs("            | ", out);
	if (line.len > SOURCE_BYTES) {
		line.len = SOURCE_BYTES;
		while (line.len && ((uint8_t)line.bytes[line.len] & 0xc0) == 0x80)
			line.len--; /* not inside a character */
		lc_emit_text(out, line);
		fputs(" ...\n", out);
		return;
	}
	lc_emit_text(out, line);
	putc('\n', out);
}

void lc_report_text_path(FILE *out, const struct lc_report *r, uint32_t path, unsigned frames)
{
	const struct lc_tree *t = r->view->tree;
	uint32_t depth = lc_tree_depth(t, path);

	for (unsigned i = 0; path; i++, path = lc_tree_parent(t, path)) {
		if (i == frames && depth > frames + 1) {
			fprintf(out, "            ... %u more\n", depth - frames);
			return;
		}
		fputs("          ", out);
		lc_emit_frame(out, t, path);
		putc('\n', out);
		if (!i)
			print_source(out, r, path);
	}
}

static void print_class(FILE *out, const struct lc_view *v, uint32_t site)
{
	if (site)
		lc_emit_text(
		    out, lc_tree_text(v->tree, lc_table_key(&v->tree->sites, site)[LC_SITE_CLASS]));
	else
		fputs("(class unknown)", out);
}

/* "next", "[5]", "[0..63]". */
static void print_field_name(FILE *out, const struct lc_tree *t, uint32_t name, uint64_t first,
                             uint64_t last)
{
	struct lc_text text = lc_tree_text(t, name);

	if (text.len)
		lc_emit_text(out, text);
	else if (first == last)
		fprintf(out, "[%" PRIu64 "]", first);
	else
		fprintf(out, "[%" PRIu64 "..%" PRIu64 "]", first, last);
}

void lc_report_text_field(FILE *out, const struct lc_tree *t, const struct lc_view_field *f)
{
	print_field_name(out, t, f->name, f->first, f->last);
}

const char *lc_report_touch_word(bool loads, bool stores)
{
	return loads && stores ? " load+store" : loads ? " load" : stores ? " store" : "";
}

void lc_report_text_metric(FILE *out, const char *label, const struct lc_view_metric *m)
{
	const char *comma = "";

	if (!m || !m->samples)
		return;
	fputs(label, out);
	if (m->timed) {
		fprintf(out, "latency mean %.0f, max %" PRIu64 " cycles",
		        (double)m->latency_sum / (double)m->timed, m->latency_max);
		comma = ", ";
	}
	for (unsigned i = 0; i < LC_SOURCE_COUNT; i++) {
		if (!m->sources[i] || (i == LC_SOURCE_UNKNOWN && m->sources[i] == m->samples))
			continue;
		fprintf(out, "%s%s %.1f%%", comma,
		        i == LC_SOURCE_UNKNOWN ? "source unknown" : lc_data_source_name(i),
		        100 * lc_share(m->sources[i], m->samples));
		comma = ", ";
	}
	fprintf(out, "%sHITM %.1f%%, TLB miss %.1f%%, locked %.1f%%, stores %.1f%%\n", comma,
	        100 * lc_share(m->hitm, m->samples), 100 * lc_share(m->tlb_miss, m->samples),
	        100 * lc_share(m->locked, m->samples), 100 * lc_share(m->stores, m->samples));
}

static void print_side(FILE *out, const struct lc_report *r, const struct lc_sharing_side *s)
{
	const struct lc_tree *t = r->view->tree;
	const uint64_t *thread = lc_table_values(&t->threads, s->thread);

	fputs("     ", out);
	lc_emit_text(out, lc_tree_text(t, (uint32_t)thread[LC_THREAD_NAME]));
	fprintf(out, " (tid %" PRIu64 ")", thread[LC_THREAD_TID]);
	if (s->threads > 1)
		fprintf(out, " and %u more threads", s->threads - 1);
	fputs(": ", out);
	print_class(out, r->view, s->site);
	if (lc_tree_text(t, s->name).len)
		putc('.', out);
	print_field_name(out, t, s->name, s->first, s->first);
	fprintf(out, ", byte %u of the line,%s, %" PRIu64 " samples, at\n", s->byte,
	        s->touch ? lc_report_touch_word(s->touch & LC_TOUCH_LOAD, s->touch & LC_TOUCH_STORE)
	                 : " access",
	        s->samples);
	if (!s->path)
		fputs("          (path unknown)\n", out);
	lc_report_text_path(out, r, s->path, ACCESS_FRAMES);
	if (s->paths > 1)
		fprintf(out, "          (and %u more access paths)\n", s->paths - 1);
}

static void print_finding(FILE *out, const struct lc_report *r, size_t rank)
{
	const struct lc_view *v = r->view;
	const struct lc_sharing_finding *f = &r->sharing->findings[rank];
	bool same =
	    f->sides[0].site == f->sides[1].site && f->sides[0].bucket == f->sides[1].bucket;

	fprintf(out, "\n%3zu. %s: ", rank + 1, f->certain ? "finding" : "suspicion");
	print_class(out, v, f->sides[0].site);
	if (!same) {
		fputs(" and ", out);
		print_class(out, v, f->sides[1].site);
	}
	fprintf(out, "  %.1f%%\n     %" PRIu64 " samples in %" PRIu64 " line%s",
	        100 * lc_share(f->samples, v->total), f->samples, f->lines,
	        f->lines > 1 ? "s" : "");
	if (f->certain)
		fprintf(out, ", %" PRIu64 " of them found the line modified by another core",
		        f->hitm);
	putc('\n', out);
	for (unsigned i = 0; i < 2; i++)
		print_side(out, r, &f->sides[i]);
	for (unsigned i = 0; i < (same ? 1 : 2); i++) {
		uint32_t site = f->sides[i].site;
		uint32_t path = site ? lc_table_key(&v->tree->sites, site)[LC_SITE_PATH] : 0;

		if (!path)
			continue;
		fputs("     ", out);
		if (!same) {
			print_class(out, v, site);
			putc(' ', out);
		}
		fputs("allocated at\n", out);
		lc_report_text_path(out, r, path, ACCESS_FRAMES);
	}
	fprintf(out, "     what to do: %s\n", lc_report_advice(v, f));
}

void lc_report_text_sharing(FILE *out, const struct lc_report *r)
{
	const struct lc_sharing *s = r->sharing;
	size_t shown = s->findings_len < r->top ? s->findings_len : r->top;
	bool certain = false;

	if (s->one_cpu)
		fputs("lines of a program that may run on one CPU only are left out: no other core "
		      "takes them\n",
		      out);
	if (!s->lines) {
		fputs("no sampled cache line is shared by threads\n", out);
		return;
	}
	fprintf(out,
	        "False sharing: %zu of %zu; of %" PRIu64 " cache lines that threads share, %" PRIu64
	        " are falsely shared\n",
	        shown, s->findings_len, s->lines, s->lines_false);
	for (size_t i = 0; i < shown; i++)
		certain |= s->findings[i].certain;
	if (shown && !certain)
		fputs("A suspicion: threads use different bytes of a line; no sample shows that "
		      "the line moved between cores\n",
		      out);
	for (size_t i = 0; i < shown; i++)
		print_finding(out, r, i);
}
