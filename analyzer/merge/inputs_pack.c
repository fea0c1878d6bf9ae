/* SPDX-License-Identifier: Apache-2.0 */
/* merge/inputs_pack.c - sends the scan of inputs to another process. */
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/merge/inputs.h"
#include "analyzer/merge/pack.h"

static void pack_part(struct lc_bytes *b, const struct lc_merge_part *p)
{
	lc_pack_text(b, p->path);
	lc_pack_number(b, p->files_len);
	for (size_t i = 0; i < p->files_len; i++)
		lc_pack_text(b, p->files[i]);
	lc_pack_number(b, p->expected);
	lc_pack_number(b, p->process_first);
	lc_pack_number(b, p->process_count);
	lc_pack_number(b, p->engines_len);
	for (uint32_t i = 0; i < p->engines_len; i++) {
		lc_pack_number(b, p->engines[i]);
		lc_pack_number(b, p->weight_milli[i]);
	}
	lc_pack_number(b, p->period);
	lc_pack_number(b, p->rows ? p->process_count : 0);
	for (uint32_t i = 0; i < p->process_count && p->rows; i++)
		lc_pack_number(b, p->rows[i]);
	lc_pack_number(b, p->kept);
	lc_pack_number(b, p->choose);
	lc_pack_number(b, p->mixed);
	lc_pack_number(b, p->from_ns);
	lc_pack_number(b, p->to_ns);
}

static void unpack_rows(struct lc_unpack *u, struct lc_merge_part *p)
{
	const size_t len = lc_unpack_count(u);

	if (!len)
		return;
	if (len != p->process_count) {
		u->at = NULL;
		return;
	}
	p->rows = lc_mem_zeroed(len, sizeof(*p->rows));
	for (size_t i = 0; i < len; i++)
		p->rows[i] = (uint32_t)lc_unpack_number(u);
}

static void unpack_part(struct lc_unpack *u, struct lc_merge_part *p)
{
	p->path = lc_unpack_text(u);
	p->files_len = lc_unpack_count(u);
	p->files = lc_mem_zeroed(p->files_len, sizeof(*p->files));
	for (size_t i = 0; i < p->files_len; i++)
		p->files[i] = lc_unpack_text(u);
	p->expected = lc_unpack_number(u);
	p->process_first = (uint32_t)lc_unpack_number(u);
	p->process_count = (uint32_t)lc_unpack_number(u);
	p->engines_len = (uint32_t)lc_unpack_number(u);
	if (p->engines_len > LC_ENGINES_MAX)
		p->engines_len = 0;
	for (uint32_t i = 0; i < p->engines_len; i++) {
		p->engines[i] = (uint32_t)lc_unpack_number(u);
		p->weight_milli[i] = (uint32_t)lc_unpack_number(u);
	}
	p->period = lc_unpack_number(u);
	unpack_rows(u, p);
	p->kept = lc_unpack_number(u);
	p->choose = lc_unpack_number(u);
	p->mixed = lc_unpack_number(u);
	p->from_ns = lc_unpack_number(u);
	p->to_ns = lc_unpack_number(u);
}

static void pack_process(struct lc_bytes *b, const struct lc_merge_process *p)
{
	lc_pack_text(b, p->row);
	lc_pack_text(b, p->host);
	lc_pack_number(b, (uint64_t)p->pid);
	lc_pack_number(b, p->start_wall_ns);
	lc_pack_number(b, p->start_monotonic_ns);
	lc_pack_number(b, p->end_wall_ns);
	lc_pack_number(b, p->complete);
	lc_pack_number(b, p->last_block_ns);
	lc_pack_number(b, p->shown_begin_ns);
	lc_pack_number(b, p->shown_end_ns);
	lc_pack_number(b, p->periods_len);
	for (size_t i = 0; i < 2 * p->periods_len; i++)
		lc_pack_number(b, p->period_starts[i]);
}

static void unpack_process(struct lc_unpack *u, struct lc_merge_process *p)
{
	p->row = lc_unpack_text(u);
	p->host = lc_unpack_text(u);
	p->pid = (int64_t)lc_unpack_number(u);
	p->start_wall_ns = lc_unpack_number(u);
	p->start_monotonic_ns = lc_unpack_number(u);
	p->end_wall_ns = lc_unpack_number(u);
	p->complete = lc_unpack_number(u);
	p->last_block_ns = lc_unpack_number(u);
	p->shown_begin_ns = lc_unpack_number(u);
	p->shown_end_ns = lc_unpack_number(u);
	p->periods_len = lc_unpack_count(u);
	p->period_starts = lc_mem_zeroed(p->periods_len, 2 * sizeof(*p->period_starts));
	for (size_t i = 0; i < 2 * p->periods_len; i++)
		p->period_starts[i] = lc_unpack_number(u);
}

static void pack_engine(struct lc_bytes *b, const struct lc_load_engine *e)
{
	lc_pack_text(b, e->name);
	lc_pack_text(b, e->event);
	lc_pack_text(b, e->unit);
	lc_pack_text(b, e->reason);
	lc_pack_number(b, e->interval_ns);
	lc_pack_number(b, e->tick_ns);
}

static void unpack_engine(struct lc_unpack *u, struct lc_load_engine *e)
{
	e->name = lc_unpack_text(u);
	e->event = lc_unpack_text(u);
	e->unit = lc_unpack_text(u);
	e->reason = lc_unpack_text(u);
	e->interval_ns = lc_unpack_number(u);
	e->tick_ns = lc_unpack_number(u);
}

void lc_merge_inputs_pack(const struct lc_merge_inputs *in, size_t i, struct lc_bytes *b)
{
	const struct lc_merge_input *x = &in->inputs[i];
	uint64_t pruned; /* the bits */

	lc_pack_number(b, i);
	lc_pack_text(b, x->said);
	lc_pack_number(b, x->state);
	lc_pack_number(b, x->damaged);
	lc_pack_number(b, x->missing.inputs);
	lc_pack_number(b, x->missing.blocks);
	lc_pack_number(b, x->divided);
	lc_pack_number(b, x->kept.len);
	for (size_t k = 0; k < x->kept.len; k++)
		lc_pack_text(b, x->kept.keys[k]);
	memcpy(&pruned, &x->pruned, sizeof(pruned));
	lc_pack_number(b, pruned);
	lc_pack_number(b, x->bytes);
	lc_pack_number(b, x->device);
	lc_pack_number(b, x->directory);
	lc_pack_number(b, x->parts_len);
	for (size_t k = 0; k < x->parts_len; k++)
		pack_part(b, &x->parts[k]);
	lc_pack_number(b, x->processes_len);
	for (size_t k = 0; k < x->processes_len; k++)
		pack_process(b, &x->processes[k]);
	lc_pack_number(b, x->engines_len);
	for (uint32_t k = 0; k < x->engines_len; k++)
		pack_engine(b, &x->engines[k]);
}

static void unpack_by(struct lc_unpack *u, struct lc_by *by)
{
	for (size_t left = lc_unpack_count(u); left; left--) {
		char *key = lc_unpack_text(u);

		if (key)
			(void)lc_by_add(by, key);
		free(key);
	}
}

void lc_merge_inputs_unpack(struct lc_merge_inputs *in, struct lc_unpack *u)
{
	const uint64_t i = lc_unpack_number(u);
	struct lc_merge_input *x;
	uint64_t pruned;

	if (!u->at || i >= in->len || in->inputs[i].processes_len || in->inputs[i].said) {
		u->at = NULL;
		return;
	}
	x = &in->inputs[i];
	x->said = lc_unpack_text(u);
	x->state = (enum lc_merge_state)lc_unpack_number(u);
	x->damaged = lc_unpack_number(u);
	x->missing.inputs = lc_unpack_number(u);
	x->missing.blocks = lc_unpack_number(u);
	x->divided = lc_unpack_number(u);
	unpack_by(u, &x->kept);
	pruned = lc_unpack_number(u);
	memcpy(&x->pruned, &pruned, sizeof(pruned));
	x->bytes = lc_unpack_number(u);
	x->device = lc_unpack_number(u);
	x->directory = lc_unpack_number(u);
	x->parts_len = x->parts_cap = lc_unpack_count(u);
	x->parts = lc_mem_zeroed(x->parts_len, sizeof(*x->parts));
	for (size_t k = 0; k < x->parts_len; k++)
		unpack_part(u, &x->parts[k]);
	x->processes_len = lc_unpack_count(u);
	x->processes = lc_mem_zeroed(x->processes_len, sizeof(*x->processes));
	x->numbers = lc_mem_zeroed(x->processes_len, sizeof(*x->numbers));
	for (size_t k = 0; k < x->processes_len; k++)
		unpack_process(u, &x->processes[k]);
	x->engines_len = (uint32_t)lc_unpack_count(u);
	x->engines = lc_mem_zeroed(x->engines_len, sizeof(*x->engines));
	for (uint32_t k = 0; k < x->engines_len; k++)
		unpack_engine(u, &x->engines[k]);
}
