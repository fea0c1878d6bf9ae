/* model/write_spans.c - the sections of spans of a tree, as docs/FORMAT.md says. */
#include "analyzer/model/write_impl.h"
#include "src/format/block.h"

/* Gap to the end of the one before; length. */
static void put_intervals(struct lc_merge_writer *w, uint32_t row)
{
	const uint32_t *first = w->spans.interval_first + row;
	uint64_t end = 0;

	lc_merge_put(w, LC_SECTION_SPANS, first[1] - first[0]);
	for (uint32_t i = first[0]; i < first[1]; i++) {
		const struct lc_tree_interval *v = &w->spans.intervals[i];

		lc_merge_put(w, LC_SECTION_SPANS, v->first_ns - end);
		lc_merge_put(w, LC_SECTION_SPANS, v->last_ns - v->first_ns);
		end = v->last_ns;
	}
}

/* Buckets skipped since the one before; count. */
static void put_histogram(struct lc_merge_writer *w, uint32_t row)
{
	const uint32_t *first = w->spans.bucket_first + row;
	uint32_t next = 0;

	lc_merge_put(w, LC_SECTION_SPANS, first[1] - first[0]);
	for (uint32_t i = first[0]; i < first[1]; i++) {
		lc_merge_put(w, LC_SECTION_SPANS, w->spans.buckets[i].bucket - next);
		lc_merge_put(w, LC_SECTION_SPANS, w->spans.buckets[i].count);
		next = w->spans.buckets[i].bucket + 1;
	}
}

void lc_merge_put_span(struct lc_merge_writer *w, uint32_t row)
{
	const uint32_t *key = lc_table_key(&w->tree->executions, row);
	const uint64_t *values = lc_table_values(&w->tree->executions, row);

	lc_merge_owner(w, LC_SECTION_SPANS, key[LC_EXECUTION_THREAD]);
	lc_merge_put(w, LC_SECTION_SPANS, key[LC_EXECUTION_KIND]);
	lc_merge_put(w, LC_SECTION_SPANS, key[LC_EXECUTION_LEVEL]);
	lc_merge_put(w, LC_SECTION_SPANS, key[LC_EXECUTION_SUBMIT]);
	lc_merge_put(w, LC_SECTION_SPANS, lc_merge_site(w, key[LC_EXECUTION_SITE]));
	lc_merge_put(w, LC_SECTION_SPANS, lc_merge_path(w, key[LC_EXECUTION_SUBMIT_PATH]));
	lc_merge_put(w, LC_SECTION_SPANS, lc_merge_path(w, key[LC_EXECUTION_PATH]));
	for (unsigned i = 0; i < LC_EXECUTION_SUMS; i++)
		lc_merge_put(w, LC_SECTION_SPANS,
		             i == LC_EXECUTION_COMPENSATED ? lc_zigzag((int64_t)values[i])
		                                           : values[i]);
	put_intervals(w, row);
	put_histogram(w, row);
	w->rows[LC_SECTION_SPANS]++;
}

void lc_merge_put_made(struct lc_merge_writer *w, uint32_t row)
{
	const uint32_t *key = lc_table_key(&w->tree->made, row);

	lc_merge_owner(w, LC_SECTION_TASKS, key[LC_MADE_THREAD]);
	lc_merge_put(w, LC_SECTION_TASKS, lc_merge_site(w, key[LC_MADE_SITE]));
	lc_merge_put(w, LC_SECTION_TASKS, key[LC_MADE_SUBMIT]);
	lc_merge_put(w, LC_SECTION_TASKS, lc_merge_path(w, key[LC_MADE_SUBMIT_PATH]));
	lc_merge_put(w, LC_SECTION_TASKS, *lc_table_values(&w->tree->made, row));
	w->rows[LC_SECTION_TASKS]++;
}

void lc_merge_put_span_access(struct lc_merge_writer *w, uint32_t row)
{
	const uint32_t *key = lc_table_key(&w->tree->span_accesses, row);

	lc_merge_put(w, LC_SECTION_SPAN_ACCESSES, key[LC_INSIDE_KIND]);
	lc_merge_put(w, LC_SECTION_SPAN_ACCESSES, lc_merge_site(w, key[LC_INSIDE_SPAN_SITE]));
	lc_merge_put(w, LC_SECTION_SPAN_ACCESSES, lc_merge_path(w, key[LC_INSIDE_SPAN_PATH]));
	lc_merge_place(w, LC_SECTION_SPAN_ACCESSES, key + LC_INSIDE_ENGINE);
	lc_merge_put(w, LC_SECTION_SPAN_ACCESSES, *lc_table_values(&w->tree->span_accesses, row));
	w->rows[LC_SECTION_SPAN_ACCESSES]++;
}

void lc_merge_put_slice(struct lc_merge_writer *w, uint32_t row)
{
	const uint32_t *key = lc_table_key(&w->tree->slices, row);

	lc_merge_owner(w, LC_SECTION_TIMELINE, key[LC_SLICE_THREAD]);
	lc_merge_put(w, LC_SECTION_TIMELINE, lc_tree_wide(key + LC_SLICE_NUMBER));
	for (unsigned i = 0; i < LC_SLICE_VALUES; i++)
		lc_merge_put(w, LC_SECTION_TIMELINE, lc_table_values(&w->tree->slices, row)[i]);
	w->rows[LC_SECTION_TIMELINE]++;
}

void lc_merge_put_pause(struct lc_merge_writer *w, uint32_t row)
{
	const uint32_t *key = lc_table_key(&w->tree->pauses, row);

	lc_merge_owner(w, LC_SECTION_PAUSES, key[LC_PAUSE_THREAD]);
	lc_merge_put(w, LC_SECTION_PAUSES, lc_tree_wide(key + LC_PAUSE_START));
	lc_merge_put(w, LC_SECTION_PAUSES, *lc_table_values(&w->tree->pauses, row));
	w->rows[LC_SECTION_PAUSES]++;
}

void lc_merge_put_trace(struct lc_merge_writer *w, uint32_t row)
{
	const struct lc_tree_trace *t = &w->tree->traces[row];
	const uint64_t head[] = {
		lc_zigzag((int64_t)(t->start_ns - w->trace_start_ns)),
		t->id,
		t->outer,
		t->logical,
		t->kind,
		t->level,
		t->submit_kind,
		t->flags,
	};
	const uint64_t tail[] = {
		t->creator,  t->duration_ns, t->cycles, lc_zigzag(t->compensated),
		t->switches, t->wait_ns,
	};

	w->trace_start_ns = t->start_ns;
	lc_merge_owner(w, LC_SECTION_TRACE, t->thread);
	for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++)
		lc_merge_put(w, LC_SECTION_TRACE, head[i]);
	lc_merge_put(w, LC_SECTION_TRACE, lc_merge_site(w, t->site));
	lc_merge_put(w, LC_SECTION_TRACE, lc_merge_path(w, t->submit_path));
	lc_merge_put(w, LC_SECTION_TRACE, lc_merge_path(w, t->path));
	for (size_t i = 0; i < sizeof(tail) / sizeof(tail[0]); i++)
		lc_merge_put(w, LC_SECTION_TRACE, tail[i]);
	w->rows[LC_SECTION_TRACE]++;
}
