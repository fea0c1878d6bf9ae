/* SPDX-License-Identifier: Apache-2.0 */
/* commands/bench_request.c - writes the request of a benchmark. */
#include "analyzer/commands/bench_request.h"

#include "analyzer/out/json.h"

enum { BENCH_REQUEST_FORMAT = 1 };

static void put_words(struct lc_json *j, const char *name, const struct lc_bench_words *words)
{
	lc_json_line(j, 0);
	lc_json_array(j, name);
	for (size_t i = 0; i < words->len; i++)
		lc_json_string(j, NULL, words->list[i]);
	lc_json_end_array(j);
}

static void put_place(struct lc_json *j, const struct lc_bench_place *p)
{
	lc_json_line(j, 0);
	lc_json_string(j, "class", p->class);
	lc_json_string(j, "method", p->method);
	if (p->parameters)
		lc_json_string(j, "parameters", p->parameters);
	lc_json_i64(j, "line", p->line ? (int64_t)p->line : -1);
	lc_json_line(j, 0);
	lc_json_array(j, "lines");
	for (size_t i = 0; i < p->lines_len; i++) {
		lc_json_object(j, NULL);
		lc_json_u64(j, "line", p->lines[i].line);
		lc_json_u64(j, "samples", p->lines[i].samples);
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
	lc_json_u64(j, "method_samples", p->method_samples);
	lc_json_u64(j, "sample_ns", p->sample_ns);
	lc_json_line(j, 0);
	lc_json_string(j, "finding", p->finding);
}

void lc_bench_request_write(FILE *out, const struct lc_bench_request *r)
{
	struct lc_json j;

	lc_json_init(&j, out);
	lc_json_object(&j, NULL);
	lc_json_u64(&j, "format", BENCH_REQUEST_FORMAT);
	lc_json_line(&j, 0);
	lc_json_string(&j, "profile", r->profile);
	lc_json_u64(&j, "engine", r->engine);
	put_place(&j, &r->place);
	put_words(&j, "source_path", &r->source_path);
	put_words(&j, "class_path", &r->class_path);
	put_words(&j, "against", &r->against);
	lc_json_line(&j, 0);
	lc_json_string(&j, "output", r->output);
	lc_json_bool(&j, "run", r->run);
	lc_json_bool(&j, "record", r->record);
	lc_json_bool(&j, "allow_io", r->allow_io);
	put_words(&j, "program", r->program);
	lc_json_line(&j, 0);
	lc_json_u64(&j, "program_main", r->program_main);
	lc_json_string(&j, "program_directory", r->program_directory);
	lc_json_bool(&j, "as_profiled", r->as_profiled);
	lc_json_line(&j, 0);
	lc_json_string(&j, "java", r->java);
	put_words(&j, "jvm_options", r->jvm_options);
	lc_json_line(&j, 0);
	lc_json_u64(&j, "forks", r->forks);
	lc_json_u64(&j, "seconds", r->seconds);
	lc_json_u64(&j, "inputs", r->inputs);
	lc_json_line(&j, 0);
	lc_json_string(&j, "locus", r->locus);
	lc_json_end_object(&j);
	lc_json_finish(&j);
	putc('\n', out);
}
