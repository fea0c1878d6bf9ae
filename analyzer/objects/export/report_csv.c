/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/export/report_csv.c - writes the ranking as one table for spreadsheets (RFC 4180, except
 * that lines end in LF): the rows, then all other samples, so that the table adds up to the total.
 */
#include "analyzer/objects/analysis/report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/object_names.h"
#include "analyzer/objects/analysis/offheap.h"
#include "analyzer/objects/analysis/ranking.h"
#include "analyzer/objects/analysis/touch.h"
#include "analyzer/out/csv.h"
#include "analyzer/out/emit.h"
#include "src/base/order.h"

static void text(FILE *out, struct lc_text t)
{
	lc_csv_text(out, t);
	putc(',', out);
}

/* Text that was made for it, and is freed. */
static void made(FILE *out, char *t)
{
	lc_csv_string(out, t);
	putc(',', out);
	free(t);
}

/* Class, method, line and file; empty where they are not known. */
static void code(FILE *out, const struct lc_tree *t, uint32_t method, uint32_t line1, bool file)
{
	const uint32_t *m = method != UINT32_MAX ? lc_table_key(&t->methods, method) : NULL;

	text(out, m ? lc_tree_text(t, m[LC_METHOD_CLASS]) : (struct lc_text){ "", 0 });
	text(out, m ? lc_tree_text(t, m[LC_METHOD_NAME]) : (struct lc_text){ "", 0 });
	if (m && line1)
		fprintf(out, "%u", line1 - 1);
	putc(',', out);
	if (file)
		text(out, m ? lc_tree_text(t, m[LC_METHOD_FILE]) : (struct lc_text){ "", 0 });
}

/* "com.acme.Spectrum.re; buffer": where the program stores the objects. */
static void names(FILE *out, const struct lc_tree *t, const struct lc_rank_row *row)
{
	char *all;
	size_t len;
	FILE *memory = lc_text_open(&all, &len);

	for (size_t i = 0; i < row->names_len; i++) {
		fputs(i ? "; " : "", memory);
		lc_emit_text(memory, lc_tree_text(t, row->names[i].name));
	}
	lc_mem_close_text(memory);
	made(out, all);
}

/* "com.acme.Main.main:10;com.acme.Main.load:20", the root first. */
static void path(FILE *out, const struct lc_tree *t, uint32_t leaf)
{
	uint32_t *stack = lc_mem_zeroed((size_t)lc_tree_depth(t, leaf) + 1, sizeof(*stack));
	size_t depth = 0, len;
	char *all;
	FILE *memory = lc_text_open(&all, &len);

	for (; leaf; leaf = lc_tree_parent(t, leaf))
		stack[depth++] = leaf;
	while (depth) {
		const uint32_t *frame = lc_tree_frame(t, stack[--depth]);
		char *name = lc_stack_name(t, (const uint32_t[LC_STACK_FRAME]){
		                                  LC_STACK_METHOD, frame[LC_FRAME_METHOD], 0 });

		fputs(name, memory);
		if (frame[LC_FRAME_LINE1])
			fprintf(memory, ":%u", frame[LC_FRAME_LINE1] - 1);
		fputs(depth ? ";" : "", memory);
		free(name);
	}
	free(stack);
	lc_mem_close_text(memory);
	made(out, all);
}

#define WHAT_COLUMNS                                                                               \
	"kind,package,class,field,names,allocated_class,allocated_method,allocated_line,"          \
	"allocated_file,allocation_path,"

/* Columns that say what the row is; of a package there is no class. */
static void what(FILE *out, const struct lc_ranking *rank, const struct lc_rank_row *row)
{
	const struct lc_text none = { "", 0 };
	const struct lc_tree *t = rank->view->tree;
	const struct lc_text class = lc_tree_text(t, row->class);
	const bool site = rank->group == LC_GROUP_SITE;
	const bool line = row->path && (rank->group == LC_GROUP_LINE || site);
	const uint32_t *frame = line ? lc_tree_frame(t, row->path) : NULL;

	fputs(row->rest ? "rest," : "row,", out);
	text(out, rank->group == LC_GROUP_BY || rank->group == LC_GROUP_REQUEST
	              ? none
	              : lc_rank_package(class));
	text(out, rank->group == LC_GROUP_PACKAGE ? none : class);
	if (row->field_known && !lc_tree_text(t, row->field).len)
		fputs("\"[]\",", out); /* elements */
	else
		text(out, row->field_known ? lc_tree_text(t, row->field) : none);
	names(out, t, row);
	code(out, t, frame ? frame[LC_FRAME_METHOD] : UINT32_MAX, frame ? frame[LC_FRAME_LINE1] : 0,
	     true);
	path(out, t, site ? row->path : 0);
}

#define SAMPLES_COLUMNS "samples,share,share_low,share_high,estimated_samples,"

#define ALLOCATION_COLUMNS                                                                         \
	"allocations,bytes,estimated_allocations,"                                                 \
	"estimated_objects,estimated_objects_low,estimated_objects_high,"                          \
	"estimated_bytes,estimated_bytes_low,estimated_bytes_high,"

static void allocations(FILE *out, const struct lc_rank_row *row)
{
	fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", row->allocations, row->bytes,
	        row->spread);
	fprintf(out, "%.3f,%.3f,%.3f,%.0f,%.0f,%.0f,", row->objects.value, row->objects.low,
	        row->objects.high, row->object_bytes.value, row->object_bytes.low,
	        row->object_bytes.high);
}

#define ACCESS_COLUMNS "touched,accessed_class,accessed_method,accessed_line,accessed_samples,"

#define OFFHEAP_COLUMNS                                                                            \
	"offheap_allocated,offheap_allocated_bytes,offheap_freed,offheap_freed_bytes,"             \
	"offheap_live,offheap_live_bytes,"

#define CONTENTS_COLUMNS                                                                           \
	"contents_dead,contents_zero,contents_bytes,contents_used_bytes,contents_outlived,"        \
	"contents_equal\n"

/* Blocks outside the heap. */
static void off_heap(FILE *out, const struct lc_rank_offheap *o)
{
	fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",",
	        o->allocated, o->allocated_bytes, o->freed, o->freed_bytes, lc_offheap_live(o),
	        lc_offheap_live_bytes(o));
}

/* Arrays that were looked into. */
static void contents(FILE *out, const struct lc_rank_contents *c)
{
	fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
	        c->dead, c->zero, c->bytes, c->used_bytes, c->outlived, lc_contents_equal(c));
}

/* Write the touched part, and the line with most accesses. */
static void access(FILE *out, const struct lc_ranking *rank, const struct lc_rank_row *row)
{
	const struct lc_touch touch = lc_touch_of(rank, row);
	struct lc_arena arena = { 0 };
	size_t lines_len, len;
	const struct lc_rank_lines *lines =
	    lc_rank_roll_up(&arena, rank->view->tree, row->accesses, row->accesses_len, &lines_len);
	char *words;
	FILE *memory = lc_text_open(&words, &len);

	lc_touch_text(memory, rank->view->tree, &touch);
	lc_mem_close_text(memory);
	made(out, words);
	code(out, rank->view->tree, lines_len ? lines->method : UINT32_MAX,
	     lines_len ? lines->first : 0, false);
	fprintf(out, "%" PRIu64 ",", lines_len ? lines->samples : 0);
	lc_arena_free(&arena);
}

static void samples(FILE *out, const struct lc_view *v, uint64_t n, double low, double high)
{
	fprintf(out, "%" PRIu64 ",%.6f,%.6f,%.6f,", n, lc_share(n, v->total), low, high);
}

static void rank_row(FILE *out, const struct lc_ranking *rank, const struct lc_rank_row *row)
{
	what(out, rank, row);
	samples(out, rank->view, row->samples, row->low, row->high);
	fprintf(out, "%" PRIu64 ",", row->estimated);
	allocations(out, row);
	access(out, rank, row);
	off_heap(out, &row->offheap);
	contents(out, &row->contents);
}

/* Samples of a bucket that are in no row: those in no object of a known class. */
static struct lc_weighted in_no_row(const struct lc_view *v, unsigned bucket)
{
	struct lc_weighted sum = { v->buckets[bucket], 0 };

	for (size_t i = 0; i < v->accesses_len; i++) {
		if (v->accesses[i].bucket == bucket && v->accesses[i].site)
			sum.samples -= v->accesses[i].samples;
		else if (v->accesses[i].bucket == bucket)
			sum.pairs += v->accesses[i].pairs;
	}
	return sum;
}

static void bucket_row(FILE *out, const struct lc_view *v, unsigned bucket)
{
	const struct lc_weighted seen = in_no_row(v, bucket);
	double low, high;

	if (!seen.samples)
		return;
	lc_rank_interval(seen, lc_view_all(v), &low, &high);
	fprintf(out, "%s,\"\",\"\",\"\",\"\",\"\",\"\",,\"\",\"\",", lc_bucket_name(bucket));
	samples(out, v, seen.samples, low, high);
	fputs("0,0,0,0,0,0,0,0,0,0,\"\",\"\",\"\",,0,0,0,0,0,0,0,0,0,0,0,0,0\n", out);
}

void lc_report_csv(FILE *out, const struct lc_report *r)
{
	fputs(WHAT_COLUMNS SAMPLES_COLUMNS ALLOCATION_COLUMNS ACCESS_COLUMNS OFFHEAP_COLUMNS
	          CONTENTS_COLUMNS,
	      out);
	for (size_t i = 0; i < r->ranking->len && i < r->top; i++)
		rank_row(out, r->ranking, &r->ranking->rows[i]);
	for (unsigned b = 0; r->ranking->group != LC_GROUP_REQUEST && b < LC_BUCKET_COUNT; b++)
		bucket_row(out, r->view, b);
}
