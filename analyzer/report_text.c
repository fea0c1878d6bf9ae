/* report_text.c - the report for a terminal. */
#include "report.h"

#include <inttypes.h>
#include <string.h>

#include "emit.h"
#include "source.h"

enum {
	ALLOCATION_FRAMES = 16, /* shown of an allocation path */
	ACCESS_FRAMES = 6,      /* shown of an access path */
	ACCESS_PATHS = 5,       /* shown of a site, where they are a thousandth of it or more */
	THREADS = 10,
	COUNTERS_WIDTH = 96,
	SOURCE_BYTES = 120, /* shown of a source line */
};

static const char *const bucket_text[LC_BUCKET_COUNT] = {
	[LC_BUCKET_OBJECT] = "in tracked objects",
	[LC_BUCKET_HEAP_CLASS] = "in the heap, object not tracked, class known",
	[LC_BUCKET_HEAP_UNKNOWN] = "in the heap, object unknown",
	[LC_BUCKET_JVM] = "in the JVM: code, metaspace, thread stacks, its own data",
	[LC_BUCKET_NATIVE] = "in native code or memory",
	[LC_BUCKET_NO_ADDRESS] = "address could not be recovered",
	[LC_BUCKET_LOST] = "lost: no room for the record",
};

static void print_program(FILE *out, const struct lc_load *l)
{
	const struct lc_load_process *p = &l->processes[0];
	char text[32];
	uint64_t end =
	    p->last_block_ns > p->end_monotonic_ns ? p->last_block_ns : p->end_monotonic_ns;

	if (l->processes_len > 1)
		fprintf(out, "program   %zu processes, the first is:\n          ",
		        l->processes_len);
	else
		fputs("program   ", out);
	lc_emit_text(out, (struct lc_text){ p->command, (uint32_t)strlen(p->command) });
	fprintf(out, "\n          pid %" PRId64 ", %s", p->pid,
	        *p->jdk >= '0' && *p->jdk <= '9' ? "JDK " : "");
	lc_emit_text(out, (struct lc_text){ p->jdk, (uint32_t)strlen(p->jdk) });
	fputs(", ", out);
	lc_emit_text(out, (struct lc_text){ p->gc, (uint32_t)strlen(p->gc) });
	if (p->start_monotonic_ns && end > p->start_monotonic_ns)
		fprintf(out, ", %s",
		        lc_emit_duration(text, sizeof(text), end - p->start_monotonic_ns));
	putc('\n', out);
}

static void print_engine(FILE *out, const struct lc_report *r)
{
	const struct lc_load_engine *e = r->engine;
	bool time = strncmp(e->unit, "ns ", 3) == 0;
	char text[32];

	fputs("engine    ", out);
	lc_emit_text(out, (struct lc_text){ e->name, (uint32_t)strlen(e->name) });
	if (*e->event) {
		fputs(" (", out);
		lc_emit_text(out, (struct lc_text){ e->event, (uint32_t)strlen(e->event) });
		putc(')', out);
	}
	if (e->interval_ns) {
		const char *unit = time ? e->unit + 2 : e->unit;

		if (time)
			fprintf(out, ", one sample every %s",
			        lc_emit_duration(text, sizeof(text), e->interval_ns));
		else
			fprintf(out, ", one sample every %" PRIu64 " ", e->interval_ns);
		lc_emit_text(out, (struct lc_text){ unit, (uint32_t)strlen(unit) });
	}
	putc('\n', out);
}

/* "direct 61.2%, nearby 3.0%": the shares of those that are not 0. */
static void print_shares(FILE *out, const char *label, const uint64_t *counts, unsigned n,
                         const char *(*name)(unsigned))
{
	unsigned tenths[LC_DETAIL_HOW_COUNT];
	bool first = true;

	lc_view_tenths(counts, n, tenths);
	for (unsigned i = 0; i < n; i++) {
		if (!counts[i])
			continue;
		fprintf(out, "%s%s %u.%u%%", first ? label : ", ", name(i), tenths[i] / 10,
		        tenths[i] % 10);
		first = false;
	}
	if (!first)
		putc('\n', out);
}

static void print_buckets(FILE *out, const struct lc_view *v)
{
	unsigned tenths[LC_BUCKET_COUNT];

	lc_view_tenths(v->buckets, LC_BUCKET_COUNT, tenths);
	fprintf(out, "\nsamples   %" PRIu64 "\n", v->total);
	for (unsigned b = 0; b < LC_BUCKET_COUNT; b++)
		fprintf(out, "  %-12s %10" PRIu64 "  %3u.%u%%  %s\n", lc_bucket_name(b),
		        v->buckets[b], tenths[b] / 10, tenths[b] % 10, bucket_text[b]);
	print_shares(out, "  code: ", v->where, LC_DETAIL_WHERE_COUNT, lc_detail_where_name);
	print_shares(out, "  address: ", v->how, LC_DETAIL_HOW_COUNT, lc_detail_how_name);
}

static void print_incomplete(FILE *out, const struct lc_load *l)
{
	size_t incomplete = 0;
	char text[32];

	for (size_t i = 0; i < l->processes_len; i++)
		incomplete += !l->processes[i].complete;
	if (!incomplete)
		return;
	if (l->processes_len > 1) {
		fprintf(out,
		        "note: %zu of %zu processes were still running, or were killed: what came "
		        "after their last blocks is missing\n",
		        incomplete, l->processes_len);
		return;
	}
	if (l->processes[0].last_block_ns <= l->processes[0].start_monotonic_ns) {
		fputs("note: the program was still running, or was killed\n", out);
		return;
	}
	fprintf(
	    out,
	    "note: the program was still running, or was killed: recorded are its first %s, "
	    "what came later is missing\n",
	    lc_emit_duration(text, sizeof(text),
	                     l->processes[0].last_block_ns - l->processes[0].start_monotonic_ns));
}

static void print_notes(FILE *out, const struct lc_report *r)
{
	const struct lc_load *l = r->view->load;

	print_incomplete(out, l);
	if (lc_load_damaged(l))
		fprintf(out,
		        "note: the profile is damaged: %" PRIu64 " blocks lost, %" PRIu64
		        " bytes skipped; all numbers are of the rest\n",
		        l->damage.blocks, l->damage.bytes);
	if (l->new_sections)
		fprintf(out, "note: %" PRIu64 " sections of a newer Locus were skipped\n",
		        l->new_sections);
	if (r->filtered)
		fputs("note: only the threads that --thread chose are counted\n", out);
	for (uint32_t i = 0; i < l->engines_len && l->engines_len > 1; i++)
		if (i != r->view->engine)
			fprintf(out, "note: there are samples of %s too: --engine %u\n",
			        l->engines[i].name, i + 1);
}

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

static void print_path(FILE *out, const struct lc_report *r, uint32_t path, unsigned frames)
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

static void print_site(FILE *out, const struct lc_report *r, size_t rank)
{
	const struct lc_view *v = r->view;
	const struct lc_view_site *s = &v->sites[rank];
	const uint32_t *key = lc_table_key(&v->tree->sites, s->site);
	char bytes[32];

	fprintf(out, "\n%3zu. ", rank + 1);
	lc_emit_text(out, lc_tree_text(v->tree, key[LC_SITE_CLASS]));
	fprintf(out,
	        "  %.1f%%\n     %" PRIu64 " samples, %" PRIu64 " allocations, %s  [%016" PRIx64
	        "]\n",
	        100 * lc_view_share(s->samples, v->total), s->samples, s->allocations,
	        lc_emit_bytes(bytes, sizeof(bytes), s->bytes), s->id);
	fputs("     allocated at\n", out);
	if (!key[LC_SITE_PATH])
		fputs("          (path unknown)\n", out);
	print_path(out, r, key[LC_SITE_PATH], ALLOCATION_FRAMES);
	for (size_t i = 0; i < s->accesses_len; i++) {
		const struct lc_view_access *a = &s->accesses[i];

		if (i && (i == ACCESS_PATHS || a->samples * 1000 < s->samples)) {
			fprintf(out, "     ... %zu more access paths\n", s->accesses_len - i);
			break;
		}
		fprintf(out, "     %.1f%% accessed at\n",
		        100 * lc_view_share(a->samples, v->total));
		if (!a->path)
			fputs("          (path unknown)\n", out);
		print_path(out, r, a->path, ACCESS_FRAMES);
	}
}

static void print_sites(FILE *out, const struct lc_report *r)
{
	const struct lc_view *v = r->view;
	size_t shown = v->sites_len < r->top ? v->sites_len : r->top;

	fprintf(out, "\nObjects: %zu of %zu sites; shares are parts of all samples\n", shown,
	        v->sites_len);
	for (size_t i = 0; i < shown; i++)
		print_site(out, r, i);
}

static void print_code(FILE *out, const struct lc_report *r)
{
	const struct lc_view *v = r->view;

	if (v->lines_len)
		fputs("\nCode: lines by samples\n    share    samples  in objects\n", out);
	for (size_t i = 0; i < v->lines_len && i < r->top; i++) {
		const struct lc_view_code *c = &v->lines[i];

		fprintf(out, "  %6.1f%% %10" PRIu64 "     %6.1f%%  ",
		        100 * lc_view_share(c->samples, v->total), c->samples,
		        100 * lc_view_share(c->object, c->samples));
		lc_emit_code(out, v->tree, c->method, c->line1);
		putc('\n', out);
	}
	if (v->methods_len)
		fputs("\nCode: methods by samples\n    share with callees  in objects\n", out);
	for (size_t i = 0; i < v->methods_len && i < r->top; i++) {
		const struct lc_view_code *c = &v->methods[i];

		fprintf(out, "  %6.1f%%      %6.1f%%     %6.1f%%  ",
		        100 * lc_view_share(c->samples, v->total),
		        100 * lc_view_share(c->total, v->total),
		        100 * lc_view_share(c->object, c->samples));
		lc_emit_code(out, v->tree, c->method, 0);
		putc('\n', out);
	}
}

static void print_threads(FILE *out, const struct lc_view *v)
{
	char bytes[32];

	fprintf(out, "\nThreads: %zu\n    share    samples        tid  allocations       bytes\n",
	        v->threads_len);
	for (size_t i = 0; i < v->threads_len && i < THREADS; i++) {
		const struct lc_view_thread *t = &v->threads[i];

		fprintf(out, "  %6.1f%% %10" PRIu64 " %10" PRIu32 " %12" PRIu64 " %11s  ",
		        100 * lc_view_share(t->samples, v->total), t->samples, t->tid,
		        t->allocations, lc_emit_bytes(bytes, sizeof(bytes), t->bytes));
		lc_emit_text(out, lc_tree_text(v->tree, t->name));
		putc('\n', out);
	}
	if (v->threads_len > THREADS)
		fprintf(out, "  ... %zu more\n", v->threads_len - THREADS);
}

/* One counter after others on the line. Returns the column where it ended. */
static int print_counter(FILE *out, int column, const char *name, uint64_t value)
{
	char text[160];
	int len = snprintf(text, sizeof(text), "  %.120s %" PRIu64, name, value);

	if (!column)
		fputs("\nCounters\n", out);
	if (column + len > COUNTERS_WIDTH) {
		putc('\n', out);
		column = 0;
	}
	lc_emit_text(out, (struct lc_text){ text, (uint32_t)strlen(text) });
	return column + len;
}

/* Counters of the recording that are not 0; of several processes, their sums. */
static void print_counters(FILE *out, const struct lc_load *l)
{
	json_t *seen = json_object();
	int column = 0;

	for (size_t i = 0; i < l->processes_len; i++) {
		const char *name;
		json_t *value;

		json_object_foreach(l->processes[i].counters, name, value)
		{
			uint64_t sum;

			if (json_object_get(seen, name))
				continue;
			json_object_set_new(seen, name, json_true());
			sum = lc_load_counter(l, name);
			if (sum)
				column = print_counter(out, column, name, sum);
		}
	}
	json_decref(seen);
	if (column)
		putc('\n', out);
}

void lc_report_text(FILE *out, const struct lc_report *r)
{
	print_program(out, r->view->load);
	print_engine(out, r);
	print_buckets(out, r->view);
	print_notes(out, r);
	print_sites(out, r);
	print_code(out, r);
	print_threads(out, r->view);
	print_counters(out, r->view->load);
}
