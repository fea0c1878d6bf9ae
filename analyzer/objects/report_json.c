/* objects/report_json.c - the report for programs; docs/JSON.md says what each member means. */
#include "analyzer/objects/report.h"
#include "src/base/order.h"
#include "src/format/block.h"
#include "src/format/kinds.h"

#include <inttypes.h>
#include <string.h>

#include "analyzer/numa/numa_command.h"
#include "analyzer/objects/sharing.h"
#include "analyzer/out/text.h"

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
	lc_emit_member(out, "command", p->command);
	fprintf(out, ",\"pid\":%" PRId64 ",", p->pid);
	lc_emit_member(out, "jdk", p->jdk);
	putc(',', out);
	lc_emit_member(out, "gc", p->gc);
}

static void engine(FILE *out, const struct lc_load_engine *e)
{
	putc('{', out);
	lc_emit_member(out, "name", e->name);
	putc(',', out);
	lc_emit_member(out, "event", e->event);
	member_u64(out, "interval_ns", e->interval_ns);
	putc(',', out);
	lc_emit_member(out, "unit", e->unit);
	if (*e->reason) {
		putc(',', out);
		lc_emit_member(out, "reason", e->reason);
	}
}

static void engines(FILE *out, const struct lc_report *r)
{
	const struct lc_load *l = r->view->load;

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
		fprintf(out, ",\"shown\":%s", i == r->view->engine ? "true" : "false");
		if (lc_report_counted(l, &l->engines[i]))
			member_u64(out, "counted", lc_report_counted(l, &l->engines[i]));
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

/* Samples in Java code that no object explains. */
static void unexplained(FILE *out, const struct lc_view *v)
{
	uint64_t n = v->buckets[LC_BUCKET_NO_ADDRESS] + v->buckets[LC_BUCKET_HEAP_UNKNOWN];

	fprintf(out, ",\n\"unexplained\":{\"samples\":%" PRIu64 ",\"java_code\":%" PRIu64 ",", n,
	        lc_view_java(v));
	fprintf(out, "\"share\":%.17g}", lc_share(n, lc_view_java(v)));
}

void lc_report_json_metric(FILE *out, const struct lc_view_metric *m)
{
	fprintf(out, "{\"samples\":%" PRIu64, m->samples);
	member_u64(out, "hitm", m->hitm);
	member_u64(out, "tlb_miss", m->tlb_miss);
	member_u64(out, "locked", m->locked);
	member_u64(out, "stores", m->stores);
	if (m->timed) {
		member_u64(out, "latency_samples", m->timed);
		fprintf(out, ",\"latency_mean\":%.17g", (double)m->latency_sum / (double)m->timed);
		member_u64(out, "latency_max", m->latency_max);
	}
	fputs(",\"sources\":{", out);
	for (unsigned i = 0, first = 1; i < LC_SOURCE_COUNT; i++) {
		if (!m->sources[i])
			continue;
		fprintf(out, "%s\"%s\":%" PRIu64, first ? "" : ",", lc_data_source_name(i),
		        m->sources[i]);
		first = 0;
	}
	fputs("}}", out);
}

/* ,"metrics":{..} where there is something. */
static void metric(FILE *out, const struct lc_view_metric *m)
{
	if (!m)
		return;
	fputs(",\n \"metrics\":", out);
	lc_report_json_metric(out, m);
}

void lc_report_json_head(FILE *out, const struct lc_report *r)
{
	const struct lc_load *l = r->view->load;
	uint64_t streams, tasks;

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
	engines(out, r);
	processes(out, l);
	details(out, r->view);
	unexplained(out, r->view);
	lc_report_spans(r->view->tree, &streams, &tasks);
	if (streams || tasks)
		fprintf(out, ",\n\"spans\":{\"streams\":%" PRIu64 ",\"tasks\":%" PRIu64 "}",
		        streams, tasks);
	metric(out, lc_view_metric_all(r->view));
}

/* "samples" and "share" of a count. */
static void count(FILE *out, uint64_t n, uint64_t total)
{
	fprintf(out, "\"samples\":%" PRIu64 ",\"share\":%.17g", n, lc_share(n, total));
}

/* ,"fields":[..] of a site, or of one of its access paths; `whole` are its samples. */
static void fields(FILE *out, const struct lc_view *v, uint32_t bucket, uint32_t site,
                   uint32_t node, uint64_t whole)
{
	size_t len;
	const struct lc_view_field *f = lc_view_fields(v, bucket, site, node, &len);

	if (!len)
		return;
	fputs(",\n  \"fields\":[", out);
	for (size_t i = 0; i < len; i++) {
		struct lc_text name = lc_tree_text(v->tree, f[i].name);

		fputs(i ? ",{" : "{", out);
		count(out, f[i].samples, v->total);
		fprintf(out, ",\"part\":%.17g", lc_share(f[i].samples, whole));
		member_u64(out, "loads", f[i].loads);
		member_u64(out, "stores", f[i].stores);
		fputs(",\"name\":", out);
		lc_emit_json(out, name);
		if (!name.len) {
			member_u64(out, "first", f[i].first);
			member_u64(out, "last", f[i].last);
		}
		putc('}', out);
	}
	putc(']', out);
}

/* ,"fields", "metrics" and "accesses" of a site or class. */
static void accesses(FILE *out, const struct lc_view *v, const struct lc_view_site *s)
{
	fields(out, v, s->bucket, s->site, LC_VIEW_ALL_PATHS, s->samples);
	metric(out, lc_view_metric(v, s->bucket, s->site, LC_VIEW_ALL_PATHS));
	fputs(",\n \"accesses\":[", out);
	for (size_t i = 0; i < s->accesses_len; i++) {
		const struct lc_view_access *a = &s->accesses[i];

		fputs(i ? ",\n  {" : "{", out);
		count(out, a->samples, v->total);
		fputs(",\"path\":", out);
		lc_emit_json_path(out, v->tree, a->path);
		fields(out, v, a->bucket, a->site, a->path, a->samples);
		metric(out, lc_view_metric(v, a->bucket, a->site, a->path));
		putc('}', out);
	}
	putc(']', out);
}

/* "id" and "class" of a site; a site of which nothing is known has the ID 0. */
static void identity(FILE *out, const struct lc_view *v, uint32_t site_row)
{
	fprintf(out, "\"id\":\"%016" PRIx64 "\",\"class\":",
	        site_row ? lc_tree_site_id(v->tree, site_row) : 0);
	if (site_row)
		lc_emit_json(out, lc_tree_text(v->tree, lc_table_key(&v->tree->sites,
		                                                     site_row)[LC_SITE_CLASS]));
	else
		fputs("\"\"", out);
}

static void allocation_path(FILE *out, const struct lc_view *v, uint32_t site_row)
{
	fputs(",\n \"allocation_path\":", out);
	lc_emit_json_path(out, v->tree,
	                  site_row ? lc_table_key(&v->tree->sites, site_row)[LC_SITE_PATH] : 0);
}

static void site(FILE *out, const struct lc_view *v, const struct lc_view_site *s)
{
	putc('{', out);
	identity(out, v, s->site);
	fprintf(out, ",\"allocations\":%" PRIu64 ",\"bytes\":%" PRIu64 ",", s->allocations,
	        s->bytes);
	count(out, s->samples, v->total);
	allocation_path(out, v, s->site);
	accesses(out, v, s);
	putc('}', out);
}

/* An estimated part of a class, with the interval of its share. */
static void split(FILE *out, const struct lc_view *v, const struct lc_view_split *s)
{
	fprintf(out, ",\n \"split\":{\"estimate\":true,\"method\":\"%s\",\"assumption\":",
	        s->method == LC_SPLIT_HITS ? "hits" : "live");
	lc_emit_json_c(out, lc_report_assumption(s->method));
	fprintf(out, ",\"from_samples\":%.17g,\"sites\":[", s->covered);
	for (size_t i = 0; i < s->parts_len; i++) {
		const struct lc_view_part *p = &s->parts[i];

		fputs(i ? ",\n  {" : "{", out);
		identity(out, v, p->site);
		fprintf(out, ",\"part\":%.17g,\"part_low\":%.17g,\"part_high\":%.17g", p->share,
		        p->low, p->high);
		allocation_path(out, v, p->site);
		putc('}', out);
	}
	fputs("]}", out);
}

static void class_of(FILE *out, const struct lc_view *v, const struct lc_view_site *s)
{
	putc('{', out);
	identity(out, v, s->site);
	putc(',', out);
	count(out, s->samples, v->total);
	accesses(out, v, s);
	if (s->split)
		split(out, v, s->split);
	putc('}', out);
}

static void classes(FILE *out, const struct lc_report *r)
{
	const struct lc_view *v = r->view;

	fputs("],\n\"classes\":[", out);
	for (size_t i = 0; i < v->classes_len && i < r->top; i++) {
		fputs(i ? ",\n" : "", out);
		class_of(out, v, &v->classes[i]);
	}
}

static void estimates(FILE *out, const struct lc_report *r)
{
	const struct lc_view *v = r->view;

	fputs("],\n\"estimates\":[", out);
	for (size_t i = 0; i < v->estimates_len && i < r->top; i++) {
		const struct lc_view_estimate *e = &v->estimates[i];

		fputs(i ? ",\n{" : "{", out);
		identity(out, v, e->site);
		fprintf(out, ",\"estimate\":true,\"sampled\":%" PRIu64, e->sampled);
		fprintf(out, ",\"objects\":%.17g,\"objects_low\":%.17g,\"objects_high\":%.17g",
		        e->objects, e->objects_low, e->objects_high);
		fprintf(out, ",\"bytes\":%.17g,\"bytes_low\":%.17g,\"bytes_high\":%.17g", e->bytes,
		        e->bytes_low, e->bytes_high);
		fputs(",\"outlived\":{", out);
		for (unsigned k = 0; k < LC_LIVE_COLUMNS; k++)
			fprintf(out, "%s\"%u\":%.17g", k ? "," : "", lc_live_collections(k),
			        e->live[k]);
		putc('}', out);
		allocation_path(out, v, e->site);
		putc('}', out);
	}
}

static const char *touch_word(uint32_t touch)
{
	static const char *const words[LC_TOUCH_END] = { "unknown", "load", "store", "load+store" };

	return words[touch];
}

static void side(FILE *out, const struct lc_view *v, const struct lc_sharing_side *s)
{
	const uint64_t *thread = lc_table_values(&v->tree->threads, s->thread);
	struct lc_text name = lc_tree_text(v->tree, s->name);

	fputs("{\"thread\":", out);
	lc_emit_json(out, lc_tree_text(v->tree, (uint32_t)thread[LC_THREAD_NAME]));
	member_u64(out, "tid", thread[LC_THREAD_TID]);
	member_u64(out, "process", lc_table_key(&v->tree->threads, s->thread)[LC_THREAD_PROCESS]);
	member_u64(out, "threads", s->threads);
	putc(',', out);
	identity(out, v, s->site);
	fprintf(out, ",\"bucket\":\"%s\",\"field\":", lc_bucket_name(s->bucket));
	lc_emit_json(out, name);
	if (!name.len)
		member_u64(out, "element", s->first);
	member_u64(out, "offset", s->byte);
	member_u64(out, "bytes", s->width);
	fprintf(out, ",\"access\":\"%s\",", touch_word(s->touch));
	count(out, s->samples, v->total);
	member_u64(out, "hitm", s->hitm);
	member_u64(out, "paths", s->paths);
	fputs(",\"path\":", out);
	lc_emit_json_path(out, v->tree, s->path);
	allocation_path(out, v, s->site);
	putc('}', out);
}

static void sharing(FILE *out, const struct lc_report *r)
{
	const struct lc_sharing *s = r->sharing;

	fprintf(out, "],\n\"shared_lines\":{\"lines\":%" PRIu64, s->lines);
	member_u64(out, "false", s->lines_false);
	fputs("},\n\"false_sharing\":[", out);
	for (size_t i = 0; i < s->findings_len && i < r->top; i++) {
		const struct lc_sharing_finding *f = &s->findings[i];

		fprintf(out, "%s{\"certainty\":\"%s\",", i ? ",\n" : "",
		        f->certain ? "finding" : "suspicion");
		identity(out, r->view, f->sides[0].site);
		putc(',', out);
		count(out, f->samples, r->view->total);
		member_u64(out, "lines", f->lines);
		member_u64(out, "hitm", f->hitm);
		fputs(",\"advice\":", out);
		lc_emit_json_c(out, lc_report_advice(r->view, f));
		fputs(",\n \"sides\":[", out);
		side(out, r->view, &f->sides[0]);
		fputs(",\n  ", out);
		side(out, r->view, &f->sides[1]);
		fputs("]}", out);
	}
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
		putc('{', out);
		lc_emit_json_code(out, v->tree, rows[i].method, rows[i].line1);
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
		lc_emit_json_path(out, v->tree, v->accesses[i].path);
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
	classes(out, r);
	sharing(out, r);
	estimates(out, r);
	threads(out, v);
	others(out, v);
	fputs(",\n\"code\":{\"lines\":[", out);
	code_rows(out, v, v->lines, v->lines_len, false);
	fputs("],\n\"methods\":[", out);
	code_rows(out, v, v->methods, v->methods_len, true);
	fputs("]},\n\"numa\":", out);
	lc_numa_json(out, &(struct lc_numa_report){ .numa = r->numa, .top = r->top });
	fputs("}\n", out);
}
