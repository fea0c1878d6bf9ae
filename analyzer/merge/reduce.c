/* SPDX-License-Identifier: Apache-2.0 */
/* merge/reduce.c - runs the threads of a merge, and writes their sum. */
#include "analyzer/merge/reduce.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/base/progress.h"
#include "analyzer/merge/process_row.h"
#include "analyzer/merge/reduce_impl.h"
#include "analyzer/model/blockfile.h"
#include "analyzer/model/merge_writer.h"
#include "analyzer/model/tree_prune.h"
#include "src/format/block.h"

enum { STACK_BYTES = 1 << 20, JOB_BYTES = 32 << 20 };

_Atomic bool lc_reduce_stopped;

void lc_reduce_stop(void)
{
	atomic_store(&lc_reduce_stopped, true);
}

struct lc_reduce *lc_reduce_create(const struct lc_reduce_options *o, char **paths, size_t count)
{
	struct lc_reduce *r = lc_mem_zeroed(1, sizeof(*r));

	r->options = *o;
	lc_merge_inputs_init(&r->inputs, &o->asked, paths, count);
	pthread_mutex_init(&r->lock, NULL);
	r->spools = lc_mem_zeroed(lc_reduce_jobs(r), sizeof(*r->spools));
	return r;
}

void lc_reduce_free(struct lc_reduce *r)
{
	if (!r)
		return;
	if (r->full)
		lc_tree_free(&r->tree);
	lc_merge_inputs_free(&r->inputs);
	pthread_mutex_destroy(&r->lock);
	free(r->files);
	free(r->units);
	free(r->spools);
	free(r);
}

struct lc_reduce_stats lc_reduce_stats(const struct lc_reduce *r)
{
	return r->stats;
}

/* ---- threads ---- */

static unsigned wanted_jobs(const struct lc_reduce *r)
{
	cpu_set_t cpus;

	if (r->options.jobs)
		return r->options.jobs;
	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return 1;
	return (unsigned)CPU_COUNT(&cpus);
}

/* If memory is limited, use only as many threads as have room for a block each. */
unsigned lc_reduce_jobs(const struct lc_reduce *r)
{
	const unsigned wanted = wanted_jobs(r);
	const uint64_t most = r->options.max_memory_bytes / JOB_BYTES;

	if (!r->options.max_memory_bytes || most >= wanted)
		return wanted;
	return most ? (unsigned)most : 1;
}

struct thread {
	struct lc_reduce *r;
	unsigned number;
	void (*work)(struct lc_reduce *r, unsigned worker);
};

static void *run(void *of)
{
	struct thread *t = of;

	t->work(t->r, t->number);
	return NULL;
}

/* One of the threads is the caller's; where no more can be had it does the work of all. */
bool lc_reduce_run(struct lc_reduce *r, void (*work)(struct lc_reduce *r, unsigned worker))
{
	const unsigned jobs = lc_reduce_jobs(r);
	pthread_t *threads = lc_mem_zeroed(jobs, sizeof(*threads));
	struct thread *of = lc_mem_zeroed(jobs, sizeof(*of));
	unsigned started = 1;
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK_BYTES);
	for (; started < jobs; started++) {
		of[started] = (struct thread){ r, started, work };
		if (pthread_create(&threads[started], &small, run, &of[started]))
			break;
	}
	pthread_attr_destroy(&small);
	work(r, 0);
	for (unsigned i = 1; i < started; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	free(of);
	return atomic_load(&r->failed);
}

/* ---- inputs ---- */

static void scan(struct lc_reduce *r, unsigned worker)
{
	size_t i;

	while ((i = atomic_fetch_add(&r->next, r->step)) < r->end && !lc_reduce_stopped)
		lc_merge_inputs_scan(&r->inputs, i);
}

static size_t files_of(const struct lc_merge_input *x)
{
	size_t files = 0;

	for (size_t i = 0; i < x->parts_len && x->state == LC_MERGE_USED; i++)
		files += x->parts[i].files_len;
	return files;
}

static const char *name_of(const struct lc_merge_inputs *in, const struct lc_reduce_file *f)
{
	return in->inputs[f->input].parts[f->part].files[f->file];
}

static int by_name(const void *a, const void *b, void *of)
{
	const struct lc_reduce_file *x = a, *y = b;
	const int order = strcmp(name_of(of, x), name_of(of, y));

	return order ? order : (x->part < y->part ? -1 : 1);
}

/*
 * Each file is a unit; where threads are kept apart the files of one name in the periods of a
 * recording, since they have the same threads.
 */
static void add_units(struct lc_reduce *r, size_t first, size_t len)
{
	const bool together = r->options.keep_threads;

	if (together)
		qsort_r(r->files + first, len, sizeof(*r->files), by_name, &r->inputs);
	for (size_t i = first; i < first + len; i++) {
		if (together && i > first &&
		    !strcmp(name_of(&r->inputs, &r->files[i - 1]),
		            name_of(&r->inputs, &r->files[i])))
			r->units[r->units_len - 1].len++;
		else
			r->units[r->units_len++] = (struct lc_reduce_unit){ i, 1 };
	}
}

static void list_files(struct lc_reduce *r)
{
	size_t len = 0;

	for (size_t i = 0; i < r->inputs.len; i++)
		len += files_of(&r->inputs.inputs[i]);
	r->files = lc_mem_zeroed(len, sizeof(*r->files));
	r->units = lc_mem_zeroed(len, sizeof(*r->units));
	len = 0;
	for (uint32_t i = 0; i < r->inputs.len; i++) {
		const struct lc_merge_input *x = &r->inputs.inputs[i];
		const size_t first = len;

		for (uint32_t p = 0; p < x->parts_len && x->state == LC_MERGE_USED; p++)
			for (uint32_t f = 0; f < x->parts[p].files_len; f++)
				r->files[len++] = (struct lc_reduce_file){ i, p, f };
		add_units(r, first, len - first);
	}
}

/* The lines of an input, each once. */
static void print_said(const char *line, const char *more)
{
	const char *end;

	for (; line && (end = strchr(line, '\n')); line = end + 1)
		lc_note("%.*s%s", (int)(end - line), line, more);
}

int lc_reduce_scan_share(struct lc_reduce *r, unsigned share, unsigned of)
{
	r->next = r->share = share;
	r->end = r->inputs.len;
	r->step = of;
	lc_reduce_run(r, scan);
	return lc_reduce_stopped;
}

int lc_reduce_plan(struct lc_reduce *r)
{
	size_t used = 0;

	lc_merge_inputs_plan(&r->inputs);
	for (size_t i = 0; i < r->inputs.len; i++)
		used += r->inputs.inputs[i].state == LC_MERGE_USED;
	list_files(r);
	return used ? 0 : 1;
}

int lc_reduce_scan(struct lc_reduce *r)
{
	return lc_reduce_scan_share(r, 0, 1) || lc_reduce_plan(r);
}

int lc_reduce_read(struct lc_reduce *r, unsigned share, unsigned of)
{
	r->next = r->share = share;
	r->end = r->units_len;
	r->step = of;
	return lc_reduce_run(r, lc_reduce_work) || lc_reduce_stopped;
}

/* ---- pruning ---- */

void lc_reduce_prune(struct lc_reduce *r)
{
	if (!r->full || !(r->options.prune > 0))
		return;
	lc_tree_prune(&r->tree, r->options.prune, (unsigned)r->inputs.by.len);
	r->prunes++;
}

/* The share of a kind's total that a path may lack: each pruning took at most one share. */
static double bound(const struct lc_reduce *r)
{
	const double sum = r->inputs.pruned + r->options.prune * r->prunes;

	return sum < 1 ? sum : 1;
}

/* ---- the manifest ---- */

static json_t *engine_rows(const struct lc_merge_inputs *in)
{
	json_t *engines = json_array();

	for (uint32_t i = 0; i < in->engines_len; i++) {
		const struct lc_load_engine *e = in->engines[i];
		json_t *row = json_pack("{s:s,s:s,s:I,s:s}", "name", e->name, "event", e->event,
		                        "interval_ns", (json_int_t)e->interval_ns, "unit", e->unit);

		if (e->tick_ns)
			json_object_set_new(row, "tick_ns", json_integer((json_int_t)e->tick_ns));
		if (*e->reason)
			json_object_set_new(row, "reason", json_string(e->reason));
		json_array_append_new(engines, row);
	}
	return engines;
}

/* Write the keys that keep call paths apart. */
static void write_by(const struct lc_by *by, FILE *out)
{
	for (size_t i = 0; i < by->len; i++) /* a key has no character to escape */
		fprintf(out, "%s\"%s\"", i ? "," : ",\n\"by\":[", by->keys[i]);
	if (by->len)
		putc(']', out);
}

static int write_manifest(struct lc_reduce *r, uint64_t blocks)
{
	FILE *out = lc_merge_output_file(&r->output, LC_MANIFEST_NAME);
	const struct lc_load_missing *missing = &r->inputs.missing;
	const uint64_t most = INT64_MAX, lost = missing->blocks < most ? missing->blocks : most;
	json_t *engines;

	if (!out)
		return 1;
	engines = engine_rows(&r->inputs);
	fprintf(out, "{\"format\":%d,\"blocks\":%" PRIu64 ",\n", LC_FORMAT_VERSION, blocks);
	if (missing->inputs || missing->blocks)
		fprintf(out, "\"missing\":{\"inputs\":%" PRIu64 ",\"blocks\":%" PRIu64 "},\n",
		        missing->inputs < most ? missing->inputs : most, lost);
	if (bound(r) > 0)
		fprintf(out, "\"pruned\":%.9g,\n", bound(r));
	fputs("\"engines\":", out);
	json_dumpf(engines, out, JSON_COMPACT);
	json_decref(engines);
	write_by(&r->inputs.by, out);
	fputs(",\n\"processes\":[", out);
	for (size_t i = 0; i < r->inputs.processes_len; i++) {
		fputs(i ? ",\n" : "\n", out);
		lc_merge_process_put(out, r->inputs.processes[i]);
	}
	fputs("]}\n", out);
	return lc_merge_output_close(&r->output, LC_MANIFEST_NAME, out);
}

/* ---- writing ---- */

/* Report and count the losses of each part once. */
static void count_damage(struct lc_reduce *r)
{
	for (size_t i = 0; i < r->inputs.len; i++) {
		struct lc_merge_input *x = &r->inputs.inputs[i];

		for (size_t k = 0; k < x->parts_len && x->state == LC_MERGE_USED; k++) {
			struct lc_merge_part *p = &x->parts[k];
			char **before;

			before = lc_fail_capture(&x->read_said);
			lc_load_say_damage(p->path, &p->damage, p->found, p->expected);
			lc_fail_capture(before);
			lc_sum_add(&r->inputs.missing.blocks, p->damage.blocks);
			x->damaged |= p->damage.blocks || p->damage.bytes;
			p->damage = (struct lc_damage){ 0 };
			p->expected = 0;
		}
	}
}

static int write_tree(struct lc_reduce *r, uint64_t *blocks)
{
	struct lc_merge_writer *w;
	FILE *out = lc_merge_output_file(&r->output, "merged" LC_BLOCK_SUFFIX);
	int written;

	if (!out)
		return 1;
	lc_progress_stage("writing");
	w = lc_merge_writer_create();
	written = lc_merge_write(w, &r->tree, false, out);
	lc_merge_writer_free(w);
	if (written < 0) {
		fclose(out);
		return lc_fail("cannot write '%s/merged" LC_BLOCK_SUFFIX "': %s", r->output.dir,
		               strerror(-written));
	}
	*blocks += (uint64_t)written;
	return lc_merge_output_close(&r->output, "merged" LC_BLOCK_SUFFIX, out);
}

static int write_spools(struct lc_reduce *r, uint64_t *blocks)
{
	const unsigned jobs = lc_reduce_jobs(r);
	struct lc_merge_spool **spools = lc_mem_zeroed(jobs, sizeof(struct lc_merge_spool *));
	int status;

	for (unsigned i = 0; i < jobs; i++)
		spools[i] = &r->spools[i];
	status = lc_merge_spools_write(spools, jobs, &r->output, blocks);
	free(spools);
	return status;
}

static int write_all(struct lc_reduce *r)
{
	const bool counts = r->full && (!lc_tree_empty(&r->tree) || lc_tree_has_spans(&r->tree));
	uint64_t blocks = 0;
	int status = 0;

	if (!counts && !r->kept)
		return lc_fail("nothing to merge: no sample, allocation or span in '%s'%s",
		               r->inputs.inputs[0].path,
		               r->inputs.len > 1 ? " and the others" : "");
	lc_reduce_prune(r);
	if (r->options.keep_threads)
		status = write_spools(r, &blocks);
	if (!status && (counts || !r->options.keep_threads))
		status = write_tree(r, &blocks);
	lc_progress_end();
	return status || lc_reduce_stopped || atomic_load(&r->failed) || write_manifest(r, blocks);
}

int lc_reduce_open(struct lc_reduce *r, const char *output)
{
	if (lc_merge_output_begin(&r->output, output))
		return 1;
	r->begun = true;
	return 0;
}

int lc_reduce_write(struct lc_reduce *r)
{
	int status;

	if (r->inputs.len == 1 && r->inputs.inputs[0].newer)
		return 1; /* as a report refuses it */
	if (r->not_apart)
		return lc_load_say_not_apart(r->options.asked.where, &r->inputs.by);
	count_damage(r);
	status = write_all(r);
	if (!status && !lc_reduce_stopped) {
		r->begun = false;
		return lc_merge_output_end(&r->output, true);
	}
	return 1;
}

/* ---- the end ---- */

/* Say which profiles were not asked for, and why nothing is left. */
static void say_left_out(const struct lc_reduce *r, size_t used, size_t unfit, size_t outside)
{
	const size_t len = r->inputs.len;

	if (outside && outside == len)
		lc_note("none of the %zu profiles has data in that time", len);
	else if (outside)
		lc_note("%zu of %zu profiles have no data in that time and are left out", outside,
		        len);
	if (used || outside == len)
		return;
	if (unfit)
		lc_load_say_unfit(r->options.asked.where);
	else if (len > 1)
		lc_note("nothing to merge: none of the %zu profiles can be read", len);
}

int lc_reduce_end(struct lc_reduce *r, int status)
{
	const bool several = r->inputs.len > 1;
	size_t used = 0, unfit = 0, outside = 0;
	bool partial = false;

	lc_progress_end();
	if (r->begun)
		lc_merge_output_end(&r->output, false);
	r->begun = false;
	for (size_t i = 0; i < r->inputs.len && !lc_reduce_stopped; i++) {
		const struct lc_merge_input *x = &r->inputs.inputs[i];

		used += x->state == LC_MERGE_USED;
		unfit += x->state == LC_MERGE_UNFIT;
		outside += x->state == LC_MERGE_OUTSIDE;
		print_said(x->said,
		           several && x->state == LC_MERGE_UNREADABLE ? "; it is left out" : "");
		print_said(x->read_said, "");
		partial |=
		    x->damaged || x->state == LC_MERGE_UNREADABLE || x->state == LC_MERGE_OVERLAPS;
	}
	if (!lc_reduce_stopped)
		say_left_out(r, used, unfit, outside);
	if (r->new_sections && !status)
		lc_note("%" PRIu64 " sections of a newer Locus are left out", r->new_sections);
	return status ? LC_EXIT_FAILED : partial ? LC_EXIT_PARTIAL : 0;
}
