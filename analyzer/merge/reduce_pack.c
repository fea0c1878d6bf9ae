/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge/reduce_pack.c - sends this process's result to another process: notes on each input and
 * process, then the tree as blocks.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/merge/pack.h"
#include "analyzer/merge/reduce_impl.h"
#include "analyzer/model/blockfile.h"
#include "analyzer/model/merge_writer.h"

/* ---- what was scanned ---- */

int lc_reduce_pack_scan(const struct lc_reduce *r, struct lc_bytes *out)
{
	for (size_t i = r->share; i < r->inputs.len; i += r->step)
		lc_merge_inputs_pack(&r->inputs, i, out);
	return out->failed ? lc_fail("out of memory") : 0;
}

int lc_reduce_add_scan(struct lc_reduce *r, const uint8_t *data, size_t len)
{
	struct lc_unpack u = { data, data + len };

	while (u.at && u.at < u.end)
		lc_merge_inputs_unpack(&r->inputs, &u);
	return u.at ? 0 : lc_fail("another process sent a damaged scan");
}

/* ---- what was read ---- */

static void pack_part(struct lc_bytes *b, struct lc_merge_part *p)
{
	lc_pack_number(b, p->found);
	lc_pack_number(b, p->damage.blocks);
	lc_pack_number(b, p->damage.bytes);
	lc_pack_number(b, p->damage.undefined);
	p->found = 0;
	p->damage = (struct lc_damage){ 0 };
}

static void unpack_part(struct lc_unpack *u, struct lc_merge_part *p)
{
	p->found += lc_unpack_number(u);
	p->damage.blocks += lc_unpack_number(u);
	p->damage.bytes += lc_unpack_number(u);
	p->damage.undefined += lc_unpack_number(u);
}

/* Inputs of which something is to be told; the number of all of them ends the list. */
static void pack_inputs(struct lc_reduce *r, struct lc_bytes *b)
{
	for (size_t i = 0; i < r->inputs.len; i++) {
		struct lc_merge_input *x = &r->inputs.inputs[i];
		uint64_t found = x->read_said != NULL;

		for (size_t k = 0; k < x->parts_len; k++)
			found |= x->parts[k].found | x->parts[k].damage.bytes |
			         x->parts[k].damage.blocks;
		if (!found)
			continue;
		lc_pack_number(b, i);
		lc_pack_text(b, x->read_said);
		lc_pack_number(b, x->newer);
		free(x->read_said);
		x->read_said = NULL;
		for (size_t k = 0; k < x->parts_len; k++)
			pack_part(b, &x->parts[k]);
	}
	lc_pack_number(b, r->inputs.len);
}

static void unpack_inputs(struct lc_reduce *r, struct lc_unpack *u)
{
	uint64_t i;

	while ((i = lc_unpack_number(u)) < r->inputs.len && u->at) {
		struct lc_merge_input *x = &r->inputs.inputs[i];

		lc_merge_input_said(x, lc_unpack_text(u));
		x->newer |= lc_unpack_number(u) > 0;
		for (size_t k = 0; k < x->parts_len; k++)
			unpack_part(u, &x->parts[k]);
	}
}

static void pack_process(const struct lc_merge_process *p, struct lc_bytes *b)
{
	lc_pack_number(b, p->last_block_ns);
	lc_pack_number(b, p->shown_begin_ns);
	lc_pack_number(b, p->shown_end_ns);
}

static void unpack_process(struct lc_unpack *u, struct lc_merge_process *p)
{
	const uint64_t last = lc_unpack_number(u), begin = lc_unpack_number(u);

	lc_merge_process_seen(p, last, begin, lc_unpack_number(u));
}

static uint64_t *stat_of(struct lc_reduce *r, unsigned i)
{
	uint64_t *const stats[] = { &r->stats.files, &r->stats.blocks, &r->stats.paths,
		                    &r->stats.bytes, &r->new_sections, &r->not_apart };

	return i < sizeof(stats) / sizeof(stats[0]) ? stats[i] : NULL;
}

int lc_reduce_pack(struct lc_reduce *r, struct lc_bytes *out)
{
	struct lc_merge_writer *w = lc_merge_writer_create();
	char *blocks = NULL;
	size_t len = 0;
	FILE *text = lc_text_open(&blocks, &len);
	int written = r->full ? lc_merge_write(w, &r->tree, false, text) : 0;

	lc_mem_close_text(text);
	lc_merge_writer_free(w);
	pack_inputs(r, out);
	for (size_t i = 0; i < r->inputs.processes_len; i++)
		pack_process(r->inputs.processes[i], out);
	lc_pack_number(out, r->prunes);
	for (unsigned i = 0; stat_of(r, i); i++) {
		lc_pack_number(out, *stat_of(r, i));
		*stat_of(r, i) = 0;
	}
	lc_bytes_add(out, blocks, len);
	free(blocks);
	if (r->full)
		lc_tree_free(&r->tree);
	r->full = false;
	return written < 0 || out->failed ? lc_fail("out of memory") : 0;
}

/* Blocks whose processes and engines are numbered as those of the result. */
static int add_blocks(struct lc_reduce *r, const uint8_t *data, size_t len)
{
	struct lc_damage damage = { 0 };
	struct lc_blockfile_stats stats = { 0 };
	struct lc_blockfile *f = lc_blockfile_create();
	struct lc_tree tree;
	struct lc_block_target target = { .tree = &tree,
		                          .process_count = (uint32_t)r->inputs.processes_len,
		                          .engines_len = r->inputs.engines_len };

	for (uint32_t i = 0; i < target.engines_len; i++)
		target.engines[i] = i;
	lc_tree_init(&tree);
	tree.no_stretches = true;
	lc_blockfile_read_memory(f, data, len, &target, &damage, &stats);
	lc_blockfile_free(f);
	lc_reduce_give(r, &tree);
	lc_tree_free(&tree);
	return damage.blocks || damage.bytes;
}

int lc_reduce_add(struct lc_reduce *r, const uint8_t *data, size_t len)
{
	struct lc_unpack u = { data, data + len };
	unsigned prunes;

	unpack_inputs(r, &u);
	for (size_t i = 0; i < r->inputs.processes_len; i++)
		unpack_process(&u, r->inputs.processes[i]);
	prunes = (unsigned)lc_unpack_number(&u);
	for (unsigned i = 0; stat_of(r, i); i++)
		*stat_of(r, i) += lc_unpack_number(&u);
	if (!u.at || add_blocks(r, u.at, (size_t)(u.end - u.at)))
		return lc_fail("another process sent a damaged result");
	r->prunes = prunes > r->prunes ? prunes : r->prunes;
	return 0;
}
