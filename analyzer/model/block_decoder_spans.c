/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/block_decoder_spans.c - decodes SPANS and TRACE, which are not flat sections.
 *
 * The agent reads the columns of a row of SPANS while its thread runs, so they may disagree: for
 * example there may be more negative executions than executions. Only the range of each column is
 * checked.
 */
#include "analyzer/base/memory.h"
#include "analyzer/model/block_decoder_impl.h"
#include "analyzer/model/tree_spans.h"

/* Read a time that is `more` after `time`. The sum must not overflow. */
static uint64_t take_later(struct lc_reader *r, uint64_t time)
{
	uint64_t v;

	if (__builtin_add_overflow(time, lc_take(r), &v)) {
		lc_reader_fail(r);
		return 0;
	}
	return v;
}

static void take_intervals(struct lc_reader *r, struct lc_pass *p, uint32_t row)
{
	uint64_t last = 0;

	for (uint32_t n = lc_take_count(r, 2); n && !r->bad; n--) {
		uint64_t first = take_later(r, last);

		last = take_later(r, first);
		if (p->add && !r->bad && !p->left_out)
			lc_tree_spans_interval(p->target->tree, row, first, last);
	}
}

static void take_histogram(struct lc_reader *r, struct lc_pass *p, uint32_t row)
{
	struct lc_table *buckets = &p->target->tree->span_buckets;
	uint32_t next = 0;

	for (uint32_t n = lc_take_count(r, 2); n && !r->bad; n--) {
		uint32_t key[2] = { row };
		uint64_t count;

		key[1] = next + lc_take_below(r, LC_SPAN_BUCKETS);
		count = lc_take(r);
		if (key[1] >= LC_SPAN_BUCKETS || !count)
			lc_reader_fail(r);
		next = key[1] + 1;
		if (p->add && !r->bad && !p->left_out)
			lc_sum_add(lc_table_values(buckets, lc_table_put(buckets, key)), count);
	}
}

int lc_block_spans(struct lc_pass *p)
{
	struct lc_reader r = lc_reader_of(p->d, LC_SECTION_SPANS);
	struct lc_table *executions = &p->target->tree->executions;

	for (uint32_t n = lc_take_count(&r, p->all ? 25 : 23); n && !r.bad; n--) {
		uint32_t key[LC_EXECUTION_KEY] = { lc_take_owner(&r, p) }, row = 0;
		uint64_t sums[LC_EXECUTION_SUMS];

		key[LC_EXECUTION_KIND] = lc_take_below(&r, LC_SPAN_KINDS);
		key[LC_EXECUTION_LEVEL] = lc_take_below(&r, LC_SPAN_LEVEL_MAX + 1);
		key[LC_EXECUTION_SUBMIT] = lc_take_below(&r, LC_SUBMIT_KINDS);
		key[LC_EXECUTION_SITE] = lc_take_id(&r, p->d, LC_SECTION_SITES);
		key[LC_EXECUTION_SUBMIT_PATH] = lc_take_path_or_none(&r, p->d);
		key[LC_EXECUTION_PATH] = lc_take_path_or_none(&r, p->d);
		for (unsigned i = 0; i < LC_EXECUTION_SUMS; i++)
			sums[i] = lc_take(&r);
		sums[LC_EXECUTION_COMPENSATED] =
		    (uint64_t)lc_zigzag_value(sums[LC_EXECUTION_COMPENSATED]);
		if (p->add && !r.bad && !p->left_out) {
			row = lc_table_put(executions, key);
			lc_tree_spans_add(lc_table_values(executions, row), sums);
		}
		take_intervals(&r, p, row);
		take_histogram(&r, p, row);
	}
	return lc_reader_finish(&r);
}

static struct lc_tree_trace take_trace(struct lc_reader *r, struct lc_pass *p, uint64_t *start)
{
	struct lc_tree_trace trace = { .thread = lc_take_owner(r, p) };
	struct lc_block_trace *t = &trace.row;

	*start += (uint64_t)lc_zigzag_value(lc_take(r)); /* modulo 2^64, as it was written */
	t->start_ns = *start;
	t->id = lc_take(r);
	t->outer = lc_take(r);
	t->logical = lc_take(r);
	t->kind = (uint8_t)lc_take_below(r, LC_SPAN_KINDS);
	t->level = (uint8_t)lc_take_below(r, LC_SPAN_LEVEL_MAX + 1);
	t->submit_kind = (uint8_t)lc_take_below(r, LC_SUBMIT_KINDS);
	t->flags = (uint16_t)lc_take_below(r, LC_TRACE_FLAGS_END);
	t->site = lc_take_id(r, p->d, LC_SECTION_SITES);
	t->submit_path = lc_take_path_or_none(r, p->d);
	t->path = lc_take_path_or_none(r, p->d);
	t->creator = lc_take_below(r, UINT64_C(1) << 32);
	t->duration_ns = take_later(r, t->start_ns) - t->start_ns;
	t->cycles = lc_take(r);
	t->compensated = lc_zigzag_value(lc_take(r));
	t->switches = lc_take(r);
	t->wait_ns = lc_take(r);
	return trace;
}

int lc_block_trace(struct lc_pass *p)
{
	struct lc_reader r = lc_reader_of(p->d, LC_SECTION_TRACE);
	struct lc_tree *t = p->target->tree;
	uint64_t start = 0;

	for (uint32_t n = lc_take_count(&r, p->all ? 19 : 17); n && !r.bad; n--) {
		struct lc_tree_trace trace = take_trace(&r, p, &start);

		if (!p->add || r.bad || p->left_out)
			continue;
		t->traces =
		    lc_mem_grow(t->traces, &t->traces_cap, t->traces_len + 1, sizeof(trace));
		t->traces[t->traces_len++] = trace;
	}
	return lc_reader_finish(&r);
}
