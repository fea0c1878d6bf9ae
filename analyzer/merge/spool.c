/* SPDX-License-Identifier: Apache-2.0 */
/* merge/spool.c - copies blocks from the spools to files, and numbers them anew. */
#include "analyzer/merge/spool.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "src/base/order.h"
#include "src/format/block.h"

enum { NEIGHBOURS = 32, FILES = 64 }; /* as the agent's writer divides threads */

/* Guards lc_merge_output while workers make their spools. */
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static int begin(struct lc_merge_spool *s, struct lc_merge_output *o, unsigned worker)
{
	s->name = lc_mem_text("spool-%u", worker);
	pthread_mutex_lock(&making);
	s->file = lc_merge_output_file(o, s->name);
	pthread_mutex_unlock(&making);
	return s->file ? 0 : 1;
}

int lc_merge_spool_put(struct lc_merge_spool *s, struct lc_merge_output *o, unsigned worker,
                       uint64_t unit, struct lc_merge_writer *w, const struct lc_tree *t)
{
	const uint32_t *key = lc_table_key(&t->threads, 0);
	long end;
	int blocks;

	if (!s->file && begin(s, o, worker))
		return 1;
	blocks = lc_merge_write(w, t, true, s->file);
	end = blocks < 0 ? 0 : ftell(s->file);
	if (blocks < 0 || end < 0)
		return lc_fail("cannot write '%s/%s.part': %s", o->dir, s->name,
		               strerror(blocks < 0 ? -blocks : errno));
	s->pieces = lc_mem_grow(s->pieces, &s->cap, s->len + 1, sizeof(*s->pieces));
	s->pieces[s->len++] = (struct lc_merge_piece){
		.process = key[LC_THREAD_PROCESS],
		.index = key[LC_THREAD_INDEX],
		.unit = unit,
		.file = s->file,
		.at = s->bytes,
		.bytes = (uint64_t)end - s->bytes,
		.blocks = (uint32_t)blocks,
	};
	s->bytes = (uint64_t)end;
	return 0;
}

static uint32_t group_of(const struct lc_merge_piece *p)
{
	return p->index / NEIGHBOURS % FILES;
}

static int by_place(const void *a, const void *b)
{
	const struct lc_merge_piece *x = *(struct lc_merge_piece *const *)a;
	const struct lc_merge_piece *y = *(struct lc_merge_piece *const *)b;
	int order = lc_order_u64(x->process, y->process);

	if (!order)
		order = lc_order_u64(group_of(x), group_of(y));
	if (!order)
		order = lc_order_u64(x->index, y->index);
	return order ? order : lc_order_u64(x->unit, y->unit);
}

/* Copy the blocks of a piece; *sequence is the number of the next one in the file. */
static int copy_piece(const struct lc_merge_piece *p, uint64_t *sequence, FILE *out)
{
	uint8_t *data = lc_mem_zeroed(p->bytes, 1);
	size_t at = 0;
	int bad;

	bad = fseek(p->file, (long)p->at, SEEK_SET) || fread(data, p->bytes, 1, p->file) != 1;
	while (!bad && at < p->bytes) {
		struct lc_block_header h;

		bad = lc_block_header_get(data + at, p->bytes - at, &h);
		if (bad)
			break;
		h.sequence = (*sequence)++;
		lc_block_header_put(data + at, &h);
		at += (size_t)h.header_len + h.stored_len;
	}
	if (!bad)
		bad = fwrite(data, p->bytes, 1, out) != 1;
	free(data);
	return bad;
}

/* The file of the pieces from `first` on that go together. Returns how many, 0 after a line. */
static size_t write_file(struct lc_merge_piece **pieces, size_t len, unsigned number,
                         struct lc_merge_output *o, uint64_t *blocks)
{
	char *name = lc_mem_text("thread-%u" LC_BLOCK_SUFFIX, number);
	FILE *out = lc_merge_output_file(o, name);
	uint64_t sequence = 0;
	size_t i = 0;
	int bad = !out;

	for (; i < len && !bad; i++) {
		if (pieces[i]->process != pieces[0]->process ||
		    group_of(pieces[i]) != group_of(pieces[0]))
			break;
		bad = copy_piece(pieces[i], &sequence, out);
		*blocks += pieces[i]->blocks;
	}
	if (bad && out)
		lc_fail("cannot write '%s/%s': %s", o->dir, name, strerror(errno));
	if (out && bad)
		fclose(out);
	else if (out)
		bad = lc_merge_output_close(o, name, out);
	free(name);
	return bad ? 0 : i;
}

int lc_merge_spools_write(struct lc_merge_spool *const *spools, size_t len,
                          struct lc_merge_output *o, uint64_t *blocks)
{
	struct lc_merge_piece **all;
	size_t count = 0, done = 0, step;
	unsigned number = 0;
	int status = 0;

	for (size_t i = 0; i < len; i++)
		count += spools[i]->len;
	all = lc_mem_zeroed(count, sizeof(*all));
	count = 0;
	for (size_t i = 0; i < len; i++)
		for (size_t k = 0; k < spools[i]->len; k++)
			all[count++] = &spools[i]->pieces[k];
	qsort(all, count, sizeof(*all), by_place);
	for (; done < count && !status; done += step) {
		step = write_file(all + done, count - done, number++, o, blocks);
		status = !step;
	}
	free(all);
	for (size_t i = 0; i < len; i++) {
		if (spools[i]->file) {
			fclose(spools[i]->file);
			lc_merge_output_remove(o, spools[i]->name);
		}
		free(spools[i]->name);
		free(spools[i]->pieces);
		*spools[i] = (struct lc_merge_spool){ 0 };
	}
	return status;
}
