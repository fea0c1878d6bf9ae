/* spans/spans_json_paths.c - call paths in the report on spans for programs. */
#include <inttypes.h>

#include "analyzer/out/text.h"
#include "analyzer/spans/spans_command.h"

void lc_spans_json_paths(FILE *out, const struct lc_spans *s, const struct lc_spans_paths *of,
                         bool tasks)
{
	fputs(",\"paths\":[", out);
	for (size_t i = 0; i < of->len; i++) {
		const struct lc_spans_path *p = &of->rows[i];

		fprintf(out,
		        "%s{\"kind\":\"%s\",\"level\":%u,\"executions\":%" PRIu64
		        ",\"cycles\":%" PRIu64 ",\"compensated_cycles\":%" PRId64 ",\"%s\":",
		        i ? "," : "", lc_span_kind_name(p->kind), p->level, p->executions,
		        p->measured, p->cycles, tasks ? "creation_path" : "path");
		lc_emit_json_path(out, s->tree, p->path);
		if (tasks) {
			fprintf(out, ",\"folded\":%" PRIu64 ",\"submission_path\":", p->folded);
			lc_emit_json_path(out, s->tree, p->submit_path);
		}
		putc('}', out);
	}
	putc(']', out);
}
