/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge/reduce_work.c - does the work of a merge's threads. Each reads files into a tree of its
 * own, and adds the tree to the sum when the tree is large or nothing is left to read.
 *
 * There is one place for the sum. A thread that finds the place taken takes the sum, adds the
 * smaller of the two trees to the larger one without the lock, and tries again; other threads can
 * do the same meanwhile. The sums do not depend on which trees meet.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/file.h"
#include "analyzer/base/memory.h"
#include "analyzer/merge/reduce_impl.h"
#include "analyzer/model/blockfile.h"
#include "analyzer/model/groups.h"
#include "analyzer/model/tree_combine.h"
#include "analyzer/model/tree_prune.h"
#include "src/format/block.h"

struct worker {
	struct lc_reduce *r;
	unsigned number;
	struct lc_blockfile *file;
	struct lc_tree tree;
	struct lc_merge_writer *writer; /* of single threads */
	/* Groups of the processes of a part, in a tree that has grown since: see begin_groups(). */
	const struct lc_tree *groups_tree;
	const struct lc_merge_part *groups_part;
	uint32_t *roots;
	size_t roots_cap;
	struct lc_group_filter filter;
};

static void begin_tree(struct lc_tree *t)
{
	lc_tree_init(t);
	t->no_stretches = true;
}

size_t lc_reduce_tree_bytes(const struct lc_reduce *r)
{
	const uint64_t part = r->options.max_memory_bytes / 8 / (lc_reduce_jobs(r) + 1);

	return part && part < LC_REDUCE_TREE_BYTES ? (size_t)part : LC_REDUCE_TREE_BYTES;
}

static bool too_large(const struct lc_reduce *r, const struct lc_tree *t)
{
	const uint64_t part = r->options.max_memory_bytes / (r->options.prune > 0 ? 8 : 3);

	return part && lc_tree_bytes(t) > part;
}

/* Prune a tree that takes too much memory, which may have to be done again when it has grown. */
static void fit(struct lc_reduce *r, struct lc_tree *t, unsigned *prunes)
{
	if (!too_large(r, t) || atomic_load(&r->failed))
		return;
	if (r->options.prune > 0) {
		lc_tree_prune(t, r->options.prune, (unsigned)r->inputs.by.len);
		++*prunes;
	}
	if (too_large(r, t) && !atomic_exchange(&r->failed, true))
		lc_note(r->options.prune > 0 ? "the merged profile exceeds --max-memory even when "
		                               "pruned; give --prune a larger share"
		                             : "the merged profile exceeds --max-memory; use "
		                               "--prune to make it smaller");
}

void lc_reduce_give(struct lc_reduce *r, struct lc_tree *t)
{
	struct lc_tree mine = *t, other, larger;
	unsigned prunes = 0;

	begin_tree(t);
	for (;;) {
		fit(r, &mine, &prunes);
		pthread_mutex_lock(&r->lock);
		if (!r->full) {
			r->tree = mine;
			r->prunes = prunes;
			r->full = true;
			pthread_mutex_unlock(&r->lock);
			return;
		}
		other = r->tree;
		prunes = r->prunes > prunes ? r->prunes : prunes;
		r->full = false;
		pthread_mutex_unlock(&r->lock);
		if (lc_tree_bytes(&other) > lc_tree_bytes(&mine)) {
			larger = other;
			other = mine;
			mine = larger;
		}
		lc_tree_combine(&mine, &other);
		lc_tree_free(&other);
	}
}

/* ---- groups ---- */

/* Another tree begins, perhaps in the place of the last one: nothing is known of its paths. */
static void forget_groups(struct worker *w)
{
	w->groups_tree = NULL;
	w->groups_part = NULL;
	lc_group_filter_free(&w->filter);
}

static uint32_t find_root(const struct lc_block_target *target, uint32_t row)
{
	const struct worker *w = target->context;
	const struct lc_merge_inputs *in = &w->r->inputs;
	const struct lc_merge_process *p = in->processes[lc_block_target_number(target, row)];
	uint32_t path = 0;

	for (size_t i = 0; i < in->by.len; i++)
		path = lc_group_below(target->tree, path, p->group[i]);
	return path;
}

/* Paths of the part that are not kept apart yet will be, and groups that do not fit are left out.
 */
static void begin_groups(struct worker *w, const struct lc_merge_part *part,
                         struct lc_block_target *target)
{
	const struct lc_merge_inputs *in = &w->r->inputs;

	if (w->groups_tree != target->tree)
		forget_groups(w);
	target->all_process = part->all_process;
	target->all_mixed = part->mixed;
	target->context = w;
	target->find_root = find_root;
	if (in->by.len && !part->kept) {
		if (w->groups_part != part) {
			w->roots = lc_mem_grow(w->roots, &w->roots_cap, part->process_count,
			                       sizeof(*w->roots));
			for (uint32_t i = 0; i < part->process_count; i++)
				w->roots[i] = LC_ROOT_UNKNOWN;
			w->groups_part = part;
		}
		target->roots = w->roots;
	}
	if (part->choose) {
		w->filter.where = in->asked.where;
		w->filter.by = &in->by;
		target->groups = &w->filter;
	}
	w->groups_tree = target->tree;
}

/* ---- one file ---- */

static void note_process(struct lc_reduce *r, const struct lc_merge_input *x, uint32_t number,
                         const struct lc_block_target *target,
                         const struct lc_blockfile_stats *stats)
{
	if (number == LC_LEFT_OUT)
		return;
	lc_merge_process_seen(r->inputs.processes[number], stats->last_end_ns,
	                      x->divided ? target->first_ns : 0, target->last_ns);
}

/* Add what reading a file has shown to the shared state. */
static void note_file(struct worker *w, const struct lc_reduce_file *f,
                      const struct lc_block_target *target, const struct lc_damage *damage,
                      const struct lc_blockfile_stats *stats, char *said)
{
	struct lc_reduce *r = w->r;
	struct lc_merge_input *x = &r->inputs.inputs[f->input];
	struct lc_merge_part *part = &x->parts[f->part];

	pthread_mutex_lock(&r->lock);
	part->found += stats->blocks;
	part->damage.blocks += damage->blocks;
	part->damage.bytes += damage->bytes;
	part->damage.undefined += damage->undefined;
	if (stats->process < part->process_count) /* else it has blocks of all processes */
		note_process(r, x, lc_merge_number(x, part, stats->process), target, stats);
	x->newer |= damage->newer > 0;
	r->stats.files++;
	r->stats.blocks += stats->blocks;
	r->stats.paths += stats->paths;
	r->stats.bytes += stats->bytes;
	r->new_sections += target->new_sections;
	r->not_apart += target->not_apart;
	lc_merge_input_said(x, said);
	pthread_mutex_unlock(&r->lock);
}

/* Read a file again for a part of it, or for the first time: then what it shows is noted. */
static void read_file(struct worker *w, const struct lc_reduce_file *f,
                      struct lc_block_target *target, bool again)
{
	struct lc_merge_input *x = &w->r->inputs.inputs[f->input];
	const struct lc_merge_part *part = &x->parts[f->part];
	struct lc_damage damage = { 0 };
	struct lc_blockfile_stats stats = { .process = UINT32_MAX };
	char *path = lc_mem_text("%s/%s", part->path, part->files[f->file]), *said = NULL, **before;
	int err;

	target->processes = part->rows ? part->rows : x->numbers + part->process_first;
	target->process_count = part->process_count;
	target->engines_len = part->engines_len;
	target->from_ns = part->from_ns;
	target->to_ns = part->to_ns;
	target->stop = &lc_reduce_stopped;
	begin_groups(w, part, target);
	memcpy(target->engines, part->engines, sizeof(target->engines));
	memcpy(target->weight_milli, part->weight_milli, sizeof(target->weight_milli));
	before = lc_fail_capture(&said);
	err = lc_blockfile_read(w->file, path, target, &damage, &stats);
	if (err && !(err == -ENOENT && part->period)) /* an old period, which was removed */
		lc_note("cannot read '%s': %s", path, lc_file_error(err));
	if (damage.newer && !again)
		lc_note("%s: left out blocks of a newer Locus (format %u, this one reads %d); use "
		        "that version",
		        path, damage.newer, LC_BLOCK_VERSION);
	lc_fail_capture(before);
	if (again)
		free(said);
	else
		note_file(w, f, target, &damage, &stats, said);
	free(path);
}

/* ---- single threads ---- */

/* Read what the unit has of one thread, and keep it. */
static int keep_thread(struct worker *w, size_t number, const uint32_t *thread)
{
	const struct lc_reduce_unit *u = &w->r->units[number];
	struct lc_tree tree;
	int status = 0;

	begin_tree(&tree);
	forget_groups(w);
	for (size_t i = u->first; i < u->first + u->len; i++) {
		const struct lc_reduce_file *f = &w->r->files[i];
		const struct lc_merge_input *x = &w->r->inputs.inputs[f->input];
		const struct lc_merge_part *part = &x->parts[f->part];
		struct lc_block_target target = { .tree = &tree, .only = true };

		target.only_thread = thread[LC_THREAD_INDEX];
		while (target.only_process < part->process_count &&
		       lc_merge_number(x, part, target.only_process) != thread[LC_THREAD_PROCESS])
			target.only_process++;
		read_file(w, f, &target, true);
	}
	if (tree.threads.count == 1)
		status = lc_merge_spool_put(&w->r->spools[w->number], &w->r->output, w->number,
		                            number, w->writer, &tree);
	lc_tree_free(&tree);
	return status;
}

/* Blocks of all threads as one cannot be divided: they go where all others do without the option.
 */
static void read_whole(struct worker *w, const struct lc_reduce_unit *u)
{
	for (size_t i = u->first; i < u->first + u->len; i++) {
		struct lc_block_target target = { .tree = &w->tree,
			                          .only = true,
			                          .only_thread = LC_THREAD_ALL };

		read_file(w, &w->r->files[i], &target, true);
	}
}

/* Read the unit once to see which threads it has, then once for each. */
static int read_threads(struct worker *w, size_t number)
{
	const struct lc_reduce_unit *u = &w->r->units[number];
	struct lc_table own;
	struct lc_tree all;
	bool whole = false, empty;
	int status = 0;

	begin_tree(&all);
	forget_groups(w);
	lc_table_init(&own, LC_THREAD_KEY, 0);
	for (size_t i = u->first; i < u->first + u->len; i++) {
		struct lc_block_target target = { .tree = &all, .own = &own };

		read_file(w, &w->r->files[i], &target, false);
		whole |= target.whole;
	}
	empty = lc_tree_empty(&all) && !lc_tree_has_spans(&all);
	if (own.count == 1 && !whole) {
		status = lc_merge_spool_put(&w->r->spools[w->number], &w->r->output, w->number,
		                            number, w->writer, &all);
	} else {
		for (uint32_t i = 0; i < own.count && !status && !lc_reduce_stopped; i++)
			status = keep_thread(w, number, lc_table_key(&own, i));
		if (whole)
			read_whole(w, u);
	}
	if (!empty) {
		pthread_mutex_lock(&w->r->lock);
		w->r->kept = true;
		pthread_mutex_unlock(&w->r->lock);
	}
	lc_table_free(&own);
	lc_tree_free(&all);
	return status;
}

/* ---- all of them ---- */

static int read_unit(struct worker *w, size_t number)
{
	const struct lc_reduce_unit *u = &w->r->units[number];

	if (w->r->options.keep_threads)
		return read_threads(w, number);
	for (size_t i = u->first; i < u->first + u->len; i++) {
		struct lc_block_target target = { .tree = &w->tree };

		read_file(w, &w->r->files[i], &target, false);
	}
	return 0;
}

/* An error that keeps one worker from writing keeps the others, too: print one line only. */
static int read_or_say(struct worker *w, size_t number)
{
	char *said = NULL;
	char **before = lc_fail_capture(&said);
	const int status = read_unit(w, number);

	(void)lc_fail_capture(before);
	if (status && said && !atomic_exchange(&w->r->failed, true))
		lc_note("%.*s", (int)strcspn(said, "\n"), said);
	free(said);
	return status;
}

void lc_reduce_work(struct lc_reduce *r, unsigned number)
{
	struct worker w = { .r = r, .number = number };
	size_t unit;

	w.file = lc_blockfile_create();
	begin_tree(&w.tree);
	if (r->options.keep_threads)
		w.writer = lc_merge_writer_create();
	while ((unit = atomic_fetch_add(&r->next, r->step)) < r->end && !lc_reduce_stopped &&
	       !atomic_load(&r->failed)) {
		if (read_or_say(&w, unit))
			break;
		if (lc_tree_bytes(&w.tree) > lc_reduce_tree_bytes(r)) {
			lc_reduce_give(r, &w.tree);
			forget_groups(&w);
		}
	}
	lc_reduce_give(r, &w.tree);
	lc_tree_free(&w.tree);
	lc_merge_writer_free(w.writer);
	lc_blockfile_free(w.file);
	lc_group_filter_free(&w.filter);
	free(w.roots);
}
