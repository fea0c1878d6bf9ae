/* report_json.c - the report for programs; docs/JSON.md says what each member means. */
#include "report.h"

#include <inttypes.h>
#include <string.h>

#include "emit.h"

static void member(FILE *out, const char *name, const char *text)
{
	fprintf(out, "\"%s\":", name);
	lc_emit_json_c(out, text);
}

static void member_u64(FILE *out, const char *name, uint64_t v)
{
	fprintf(out, ",\"%s\":%" PRIu64, name, v);
}

static void samples(FILE *out, uint64_t total, const uint64_t *buckets)
{
	fprintf(out, "{\"total\":%" PRIu64, total);
	for (unsigned b = 0; b < LC_BUCKET_COUNT; b++)
		member_u64(out, lc_bucket_name(b), buckets[b]);
	putc('}', out);
}

static void program(FILE *out, const struct lc_load_process *p)
{
	putc('{', out);
	member(out, "command", p->command);
	fprintf(out, ",\"pid\":%" PRId64 ",", p->pid);
	member(out, "jdk", p->jdk);
	putc(',', out);
	member(out, "gc", p->gc);
}

static void engine(FILE *out, const struct lc_load_engine *e)
{
	putc('{', out);
	member(out, "name", e->name);
	putc(',', out);
	member(out, "event", e->event);
	member_u64(out, "interval_ns", e->interval_ns);
	putc(',', out);
	member(out, "unit", e->unit);
}

static void engines(FILE *out, const struct lc_load *l)
{
	fputs(",\n\"engines\":[", out);
	for (uint32_t i = 0; i < l->engines_len; i++) {
		uint64_t total = 0;

		for (unsigned b = 0; b < LC_BUCKET_COUNT; b++)
			total += l->tree->buckets[i][b];
		if (i)
			putc(',', out);
		engine(out, &l->engines[i]);
		fputs(",\"samples\":", out);
		samples(out, total, l->tree->buckets[i]);
		putc('}', out);
	}
	putc(']', out);
}

static void processes(FILE *out, const struct lc_load *l)
{
	fputs(",\n\"processes\":[", out);
	for (size_t i = 0; i < l->processes_len; i++) {
		const struct lc_load_process *p = &l->processes[i];
		const char *name;
		json_t *value;
		bool first = true;

		fputs(i ? ",\n" : "", out);
		program(out, p);
		fprintf(out, ",\"complete\":%s", p->complete ? "true" : "false");
		member_u64(out, "start_wall_ns", p->start_wall_ns);
		member_u64(out, "start_monotonic_ns", p->start_monotonic_ns);
		member_u64(out, "end_wall_ns", p->end_wall_ns);
		member_u64(out, "end_monotonic_ns", p->end_monotonic_ns);
		member_u64(out, "last_block_ns", p->last_block_ns);
		fputs(",\"options\":{", out);
		json_object_foreach(p->options, name, value)
		{
			const char *text = json_string_value(value);

			fputs(first ? "" : ",", out);
			lc_emit_json_c(out, name);
			putc(':', out);
			lc_emit_json_c(out, text ? text : "");
			first = false;
		}
		fputs("},\"counters\":{", out);
		first = true;
		json_object_foreach(p->counters, name, value)
		{
			fputs(first ? "" : ",", out);
			lc_emit_json_c(out, name);
			fprintf(out, ":%" JSON_INTEGER_FORMAT, json_integer_value(value));
			first = false;
		}
		fputs("}}", out);
	}
	putc(']', out);
}

static void details(FILE *out, const struct lc_view *v)
{
	fputs(",\n\"details\":{\"where\":{", out);
	for (unsigned i = 0; i < LC_DETAIL_WHERE_COUNT; i++)
		fprintf(out, "%s\"%s\":%" PRIu64, i ? "," : "", lc_detail_where_name(i),
		        v->where[i]);
	fputs("},\"how\":{", out);
	for (unsigned i = 0; i < LC_DETAIL_HOW_COUNT; i++)
		fprintf(out, "%s\"%s\":%" PRIu64, i ? "," : "", lc_detail_how_name(i), v->how[i]);
	fputs("}}", out);
}

void lc_report_json_head(FILE *out, const struct lc_report *r)
{
	const struct lc_load *l = r->view->load;

	fprintf(out, "\"format\":%d,\n\"program\":", LC_FORMAT_VERSION);
	program(out, &l->processes[0]);
	fputs("},\n\"engine\":", out);
	engine(out, r->engine);
	fputs("},\n\"samples\":", out);
	samples(out, r->view->total, r->view->buckets);
	fprintf(out, ",\n\"thread_filter\":%s,\"damage\":{\"blocks\":%" PRIu64,
	        r->filtered ? "true" : "false", l->damage.blocks);
	member_u64(out, "bytes", l->damage.bytes);
	member_u64(out, "skipped_sections", l->new_sections);
	putc('}', out);
	engines(out, l);
	processes(out, l);
	details(out, r->view);
}

static void code(FILE *out, const struct lc_tree *t, uint32_t method, uint32_t line1)
{
	const uint32_t *m = lc_table_key(&t->methods, method);

	fputs("{\"class\":", out);
	lc_emit_json(out, lc_tree_text(t, m[LC_METHOD_CLASS]));
	fputs(",\"method\":", out);
	lc_emit_json(out, lc_tree_text(t, m[LC_METHOD_NAME]));
	fprintf(out, ",\"line\":%" PRId64 ",\"file\":", (int64_t)line1 - 1);
	lc_emit_json(out, lc_tree_text(t, m[LC_METHOD_FILE]));
}

static void path(FILE *out, const struct lc_tree *t, uint32_t node)
{
	bool first = true;

	putc('[', out);
	for (; node; node = lc_tree_parent(t, node)) {
		const uint32_t *frame = lc_tree_frame(t, node);

		if (!first)
			putc(',', out);
		first = false;
		code(out, t, frame[LC_FRAME_METHOD], frame[LC_FRAME_LINE1]);
		fprintf(out, ",\"bci\":%" PRId64 "}", (int64_t)frame[LC_FRAME_BCI1] - 1);
	}
	putc(']', out);
}

/* "samples" and "share" of a count. */
static void count(FILE *out, uint64_t n, uint64_t total)
{
	fprintf(out, "\"samples\":%" PRIu64 ",\"share\":%.17g", n, lc_view_share(n, total));
}

static void site(FILE *out, const struct lc_view *v, const struct lc_view_site *s)
{
	const uint32_t *key = lc_table_key(&v->tree->sites, s->site);

	fprintf(out, "{\"id\":\"%016" PRIx64 "\",\"class\":", s->id);
	lc_emit_json(out, lc_tree_text(v->tree, key[LC_SITE_CLASS]));
	fprintf(out, ",\"allocations\":%" PRIu64 ",\"bytes\":%" PRIu64 ",", s->allocations,
	        s->bytes);
	count(out, s->samples, v->total);
	fputs(",\n \"allocation_path\":", out);
	path(out, v->tree, key[LC_SITE_PATH]);
	fputs(",\n \"accesses\":[", out);
	for (size_t i = 0; i < s->accesses_len; i++) {
		fputs(i ? ",\n  {" : "{", out);
		count(out, s->accesses[i].samples, v->total);
		fputs(",\"path\":", out);
		path(out, v->tree, s->accesses[i].path);
		putc('}', out);
	}
	fputs("]}", out);
}

static void threads(FILE *out, const struct lc_view *v)
{
	fputs("],\n\"threads\":[", out);
	for (size_t i = 0; i < v->threads_len; i++) {
		const struct lc_view_thread *t = &v->threads[i];

		fprintf(out, "%s{\"tid\":%" PRIu32 ",\"name\":", i ? ",\n" : "", t->tid);
		lc_emit_json(out, lc_tree_text(v->tree, t->name));
		member_u64(out, "samples", t->samples);
		member_u64(out, "process", t->process);
		member_u64(out, "allocations", t->allocations);
		member_u64(out, "bytes", t->bytes);
		fputs(",\"buckets\":", out);
		samples(out, t->samples, t->buckets);
		putc('}', out);
	}
	putc(']', out);
}

static void code_rows(FILE *out, const struct lc_view *v, const struct lc_view_code *rows,
                      size_t len, bool methods)
{
	for (size_t i = 0; i < len; i++) {
		fputs(i ? ",\n" : "", out);
		code(out, v->tree, rows[i].method, rows[i].line1);
		putc(',', out);
		count(out, rows[i].samples, v->total);
		member_u64(out, "object", rows[i].object);
		if (methods)
			member_u64(out, "total", rows[i].total);
		putc('}', out);
	}
}

/* Access paths of the samples that are in no site. */
static void others(FILE *out, const struct lc_view *v)
{
	fputs(",\n\"other_accesses\":[", out);
	for (size_t i = 0; i < v->accesses_len && !v->accesses[i].site; i++) {
		fprintf(out, "%s{\"bucket\":\"%s\",", i ? ",\n" : "",
		        lc_bucket_name(v->accesses[i].bucket));
		count(out, v->accesses[i].samples, v->total);
		fputs(",\"path\":", out);
		path(out, v->tree, v->accesses[i].path);
		putc('}', out);
	}
	putc(']', out);
}

void lc_report_json(FILE *out, const struct lc_report *r)
{
	const struct lc_view *v = r->view;

	putc('{', out);
	lc_report_json_head(out, r);
	fputs(",\n\"sites\":[", out);
	for (size_t i = 0; i < v->sites_len && i < r->top; i++) {
		fputs(i ? ",\n" : "", out);
		site(out, v, &v->sites[i]);
	}
	threads(out, v);
	others(out, v);
	fputs(",\n\"code\":{\"lines\":[", out);
	code_rows(out, v, v->lines, v->lines_len, false);
	fputs("],\n\"methods\":[", out);
	code_rows(out, v, v->methods, v->methods_len, true);
	fputs("]}}\n", out);
}
