/* SPDX-License-Identifier: Apache-2.0 */
/* merge/inputs.c - reads manifests, leaves out duplicates, and orders the rest. */
#include "analyzer/merge/inputs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/base/progress.h"
#include "analyzer/base/table.h"
#include "analyzer/merge/inputs_groups.h"
#include "analyzer/merge/inputs_time.h"
#include "analyzer/merge/process_row.h"
#include "src/base/hash.h"
#include "src/base/order.h"

void lc_merge_inputs_init(struct lc_merge_inputs *in, const struct lc_merge_asked *asked,
                          char **paths, size_t len)
{
	*in = (struct lc_merge_inputs){ .len = len, .asked = *asked };
	in->inputs = lc_mem_zeroed(len, sizeof(*in->inputs));
	for (size_t i = 0; i < len; i++)
		in->inputs[i].path = paths[i];
}

static void free_process(const struct lc_by *by, struct lc_merge_process *p)
{
	for (size_t i = 0; i < by->len && p->group; i++)
		free(p->group[i]);
	free(p->group);
	free(p->row);
	free(p->host);
	free(p->period_starts);
}

static void free_input(const struct lc_by *by, struct lc_merge_input *x)
{
	free(x->said);
	free(x->read_said);
	for (size_t i = 0; i < x->parts_len; i++) {
		for (size_t k = 0; k < x->parts[i].files_len; k++)
			free(x->parts[i].files[k]);
		free(x->parts[i].files);
		free(x->parts[i].path);
		free(x->parts[i].rows);
	}
	free(x->parts);
	for (size_t i = 0; i < x->processes_len; i++)
		free_process(by, &x->processes[i]);
	lc_by_free(&x->kept);
	free(x->processes);
	free(x->numbers);
	for (uint32_t i = 0; i < x->engines_len; i++) {
		free(x->engines[i].name);
		free(x->engines[i].event);
		free(x->engines[i].unit);
		free(x->engines[i].reason);
	}
	free(x->engines);
}

void lc_merge_inputs_free(struct lc_merge_inputs *in)
{
	for (size_t i = 0; i < in->len; i++)
		free_input(&in->by, &in->inputs[i]);
	free(in->inputs);
	free(in->processes);
	lc_by_free(&in->by);
	*in = (struct lc_merge_inputs){ 0 };
}

/* ---- scanning ---- */

static void take_part(void *context, const struct lc_load_files *f)
{
	struct lc_merge_input *x = context;
	struct lc_merge_part *p;

	x->parts = lc_mem_grow(x->parts, &x->parts_cap, x->parts_len + 1, sizeof(*x->parts));
	p = &x->parts[x->parts_len++];
	*p = (struct lc_merge_part){
		.path = lc_mem_text("%s", f->path),
		.files = lc_mem_zeroed((size_t)f->count, sizeof(*p->files)),
		.files_len = (size_t)f->count,
		.expected = f->expected,
		.process_first = f->target->process_first,
		.process_count = f->target->process_count,
		.engines_len = f->target->engines_len,
		.period = f->period,
		.kept = f->kept->len > 0,
		.choose = f->target->groups != NULL,
		.mixed = f->target->all_mixed,
		.from_ns = f->target->from_ns,
		.to_ns = f->target->to_ns,
	};
	memcpy(p->engines, f->target->engines, sizeof(p->engines));
	memcpy(p->weight_milli, f->target->weight_milli, sizeof(p->weight_milli));
	if (f->target->processes) {
		p->rows = lc_mem_zeroed(p->process_count, sizeof(*p->rows));
		memcpy(p->rows, f->target->processes, p->process_count * sizeof(*p->rows));
	}
	if (!x->kept.len)
		lc_by_copy(&x->kept, f->kept);
	for (size_t i = 0; i < p->files_len; i++) {
		char *file = lc_mem_text("%s/%s", f->path, f->names[i]->d_name);
		struct stat st;

		p->files[i] = lc_mem_text("%s", f->names[i]->d_name);
		if (!stat(file, &st) && S_ISREG(st.st_mode))
			x->bytes += (uint64_t)st.st_size;
		free(file);
	}
}

static void take_process(struct lc_merge_process *to, const struct lc_load_process *p)
{
	*to = (struct lc_merge_process){
		.row = lc_merge_process_row(p),
		.host = lc_mem_text("%s", p->host),
		.pid = p->pid,
		.start_wall_ns = p->start_wall_ns,
		.start_monotonic_ns = p->start_monotonic_ns,
		.end_wall_ns = p->end_wall_ns,
		.complete = p->complete,
		.last_block_ns = p->last_block_ns,
		.shown_begin_ns = p->shown_begin_ns,
		.shown_end_ns = p->shown_end_ns,
		.periods_len = json_array_size(p->periods),
	};
	to->period_starts = lc_mem_zeroed(to->periods_len, 2 * sizeof(*to->period_starts));
	for (size_t i = 0; i < to->periods_len; i++) {
		const json_t *period = json_array_get(p->periods, i);

		to->period_starts[2 * i] =
		    (uint64_t)json_integer_value(json_object_get(period, "start_wall_ns"));
		to->period_starts[2 * i + 1] =
		    (uint64_t)json_integer_value(json_object_get(period, "start_monotonic_ns"));
	}
}

/* Take the data of the manifests, and move the engines over. */
static void take_load(struct lc_merge_input *x, struct lc_load *l)
{
	x->missing = l->missing;
	x->pruned = l->pruned;
	x->damaged = l->bad_manifest;
	x->processes_len = l->processes_len;
	x->processes = lc_mem_zeroed(l->processes_len, sizeof(*x->processes));
	x->numbers = lc_mem_zeroed(l->processes_len, sizeof(*x->numbers));
	for (size_t i = 0; i < l->processes_len; i++)
		take_process(&x->processes[i], &l->processes[i]);
	x->engines_len = l->engines_len;
	x->engines = lc_mem_zeroed(l->engines_len, sizeof(*x->engines));
	memcpy(x->engines, l->engines, l->engines_len * sizeof(*x->engines));
	l->engines_len = 0;
}

static void scan(const struct lc_merge_asked *asked, struct lc_merge_input *x)
{
	struct lc_load load;

	lc_load_init(&load);
	load.take = take_part;
	load.context = x;
	load.where = asked->where;
	load.labels = asked->labels;
	if (asked->by)
		lc_by_copy(&load.by, asked->by);
	if (x->divided)
		load.range = asked->range;
	if (lc_load_profile(&load, x->path))
		x->state = LC_MERGE_UNREADABLE;
	else if (load.left_out && !load.processes_len)
		x->state = LC_MERGE_UNFIT;
	else
		take_load(x, &load);
	lc_load_free(&load);
}

void lc_merge_inputs_scan(struct lc_merge_inputs *in, size_t i)
{
	struct lc_merge_input *x = &in->inputs[i];
	enum lc_merge_time time = LC_MERGE_TIME_INSIDE;
	struct stat st;
	char **before;

	before = lc_fail_capture(&x->said);
	if (lc_load_range_on(in->asked.range))
		time = lc_merge_time_of(in->asked.range, x->path);
	x->divided = time == LC_MERGE_TIME_PARTLY;
	if (time == LC_MERGE_TIME_OUTSIDE)
		x->state = LC_MERGE_OUTSIDE;
	else if (time == LC_MERGE_TIME_UNKNOWN)
		x->state = LC_MERGE_UNREADABLE;
	else
		scan(&in->asked, x);
	if (!stat(x->path, &st)) {
		x->device = st.st_dev;
		x->directory = st.st_ino;
	}
	lc_fail_capture(before);
}

void lc_merge_input_said(struct lc_merge_input *x, char *lines)
{
	char *both;

	if (!lines)
		return;
	both = lc_mem_text("%s%s", x->read_said ? x->read_said : "", lines);
	free(x->read_said);
	free(lines);
	x->read_said = both;
	x->damaged = true;
}

/* ---- what is there twice ---- */

static int order_processes(const struct lc_merge_process *p, const struct lc_merge_process *q)
{
	int order = lc_order_u64(p->start_wall_ns, q->start_wall_ns);

	if (!order)
		order = lc_order_u64(p->start_monotonic_ns, q->start_monotonic_ns);
	if (!order)
		order = lc_order_u64((uint64_t)p->pid, (uint64_t)q->pid);
	return order ? order : strcmp(p->row, q->row);
}

static int by_process(const void *a, const void *b)
{
	return order_processes(*(struct lc_merge_process *const *)a,
	                       *(struct lc_merge_process *const *)b);
}

/* How the inputs are preferred: the number of the first difference says what is better. */
static int by_worth(const void *a, const void *b)
{
	const struct lc_merge_input *x = *(struct lc_merge_input *const *)a;
	const struct lc_merge_input *y = *(struct lc_merge_input *const *)b;
	uint64_t complete[2] = { 0 }, end[2] = { 0 };
	int order = lc_order_u64(y->processes_len, x->processes_len);

	for (size_t i = 0; i < x->processes_len && !order; i++) {
		complete[0] += x->processes[i].complete;
		complete[1] += y->processes[i].complete;
		lc_sum_add(&end[0], x->processes[i].end_wall_ns >> 16);
		lc_sum_add(&end[1], y->processes[i].end_wall_ns >> 16);
	}
	if (!order)
		order = lc_order_u64(complete[1], complete[0]);
	if (!order)
		order = lc_order_u64(end[1], end[0]);
	if (!order)
		order = lc_order_u64(y->bytes, x->bytes);
	for (size_t i = 0; i < x->processes_len && !order; i++)
		order = strcmp(x->processes[i].row, y->processes[i].row);
	return order ? order : (x < y ? -1 : x > y); /* alike: the first one given */
}

enum { IDENTITY = 8 };

/* In the place of a host's hash: no host is known; whatever the host is. */
enum { HOST_NONE, HOST_ANY };

/* Identities of processes that were seen; `take`: add those that are looked up. */
struct seen {
	struct lc_table table;
	bool take;
};

static uint64_t host_hash(const char *host)
{
	uint64_t h = 0;

	for (const char *c = host; *c; c++)
		h = lc_hash_add(h, (uint8_t)*c);
	return !*host ? HOST_NONE : h > HOST_ANY ? h : HOST_ANY + 1;
}

static bool look(struct seen *s, uint64_t host, int64_t pid, uint64_t wall_ns,
                 uint64_t monotonic_ns)
{
	const uint64_t numbers[] = { (uint64_t)pid, wall_ns, monotonic_ns, host };
	uint32_t key[IDENTITY];
	bool found;

	for (unsigned i = 0; i < IDENTITY; i++)
		key[i] = (uint32_t)(numbers[i / 2] >> i % 2 * 32);
	found = lc_table_find(&s->table, key) != UINT32_MAX;
	if (s->take)
		lc_table_put(&s->table, key);
	return found;
}

/*
 * Was the process seen? If both hosts are known, they must be equal. An entry is found by its host
 * and by HOST_ANY.
 */
static bool look_of(struct seen *s, uint64_t host, int64_t pid, uint64_t wall_ns,
                    uint64_t monotonic_ns)
{
	if (s->take) { /* both */
		const bool any = look(s, HOST_ANY, pid, wall_ns, monotonic_ns);

		return look(s, host, pid, wall_ns, monotonic_ns) || any;
	}
	if (host == HOST_NONE)
		return look(s, HOST_ANY, pid, wall_ns, monotonic_ns);
	return look(s, host, pid, wall_ns, monotonic_ns) ||
	       look(s, HOST_NONE, pid, wall_ns, monotonic_ns);
}

/* How many of the input's processes are known, and of them how many are there. */
static void identities(const struct lc_merge_input *x, struct seen *seen, size_t *known,
                       size_t *taken, bool take)
{
	seen->take = take;
	*known = *taken = 0;
	for (size_t i = 0; i < x->processes_len; i++) {
		const struct lc_merge_process *p = &x->processes[i];
		const uint64_t host = host_hash(p->host);
		bool found = false;

		if (!p->start_wall_ns)
			continue;
		found = look_of(seen, host, p->pid, p->start_wall_ns, p->start_monotonic_ns);
		for (size_t k = 0; k < p->periods_len; k++)
			found |= look_of(seen, host, p->pid, p->period_starts[2 * k],
			                 p->period_starts[2 * k + 1]);
		++*known;
		*taken += found;
	}
	if (*known)
		return;
	/* Nothing tells what it is: the same directory is the same. */
	*known = 1;
	*taken = look(seen, HOST_NONE, -1, x->device, x->directory);
}

static void say(struct lc_merge_input *x, const char *line)
{
	char **before = lc_fail_capture(&x->said);

	lc_note("%s: %s", x->path, line);
	lc_fail_capture(before);
}

static void choose(struct lc_merge_inputs *in)
{
	struct lc_merge_input **order = lc_mem_zeroed(in->len, sizeof(*order));
	struct seen seen;
	size_t len = 0, known, taken;

	lc_table_init(&seen.table, IDENTITY, 0);
	for (size_t i = 0; i < in->len; i++)
		if (in->inputs[i].state == LC_MERGE_USED)
			order[len++] = &in->inputs[i];
	qsort(order, len, sizeof(struct lc_merge_input *), by_worth);
	for (size_t i = 0; i < len; i++) {
		struct lc_merge_input *x = order[i];

		identities(x, &seen, &known, &taken, false);
		if (!taken) {
			identities(x, &seen, &known, &taken, true);
		} else if (taken == known && known >= x->processes_len) {
			x->state = LC_MERGE_DUPLICATE;
			say(x, "a duplicate: all its processes are in another profile, and count "
			       "once");
		} else {
			x->state = LC_MERGE_OVERLAPS;
			say(x, "left out: some of its processes are in another profile");
		}
	}
	lc_table_free(&seen.table);
	free(order);
}

/* ---- numbers of the result ---- */

static void number_rows(const struct lc_merge_input *x, struct lc_merge_part *p)
{
	for (uint32_t i = 0; i < p->process_count && p->rows; i++)
		if (p->rows[i] != LC_LEFT_OUT)
			p->rows[i] = x->numbers[p->rows[i]];
}

static void number_processes(struct lc_merge_inputs *in)
{
	struct lc_merge_process **all;
	size_t len = 0;

	for (size_t i = 0; i < in->len; i++)
		if (in->inputs[i].state == LC_MERGE_USED)
			len += in->inputs[i].processes_len;
	all = lc_mem_zeroed(len, sizeof(*all));
	in->processes = all;
	in->processes_len = len;
	len = 0;
	for (size_t i = 0; i < in->len; i++)
		for (size_t k = 0; k < in->inputs[i].processes_len; k++)
			if (in->inputs[i].state == LC_MERGE_USED)
				all[len++] = &in->inputs[i].processes[k];
	qsort(all, len, sizeof(*all), by_process);
	for (size_t i = 0; i < len; i++)
		all[i]->number = (uint32_t)i;
	for (size_t i = 0; i < in->len; i++)
		for (size_t k = 0; k < in->inputs[i].processes_len; k++)
			in->inputs[i].numbers[k] = in->inputs[i].processes[k].number;
	for (size_t i = 0; i < in->len; i++)
		for (size_t k = 0; k < in->inputs[i].parts_len; k++)
			number_rows(&in->inputs[i], &in->inputs[i].parts[k]);
}

/*
 * Engines that sample memory come before those that only watch: reports show the first engine if
 * none is chosen.
 */
static unsigned rank_of(const struct lc_load_engine *e)
{
	return !strcmp(e->name, "fault") ? 2 : !strcmp(e->name, "watch") ? 1 : 0;
}

static int by_engine(const void *a, const void *b)
{
	const struct lc_load_engine *x = *(struct lc_load_engine *const *)a;
	const struct lc_load_engine *y = *(struct lc_load_engine *const *)b;
	int order = lc_order_u64(rank_of(x), rank_of(y));

	if (!order)
		order = strcmp(x->name, y->name);
	if (!order)
		order = strcmp(x->event, y->event);
	if (!order)
		order = strcmp(x->unit, y->unit);
	return order ? order : lc_order_u64(x->interval_ns, y->interval_ns);
}

/* A kind of samples, and how many inputs have it. */
struct kind {
	struct lc_load_engine *engine;
	size_t inputs;
};

static int by_inputs(const void *a, const void *b)
{
	const struct kind *x = a, *y = b;
	const int order = lc_order_u64(y->inputs, x->inputs);

	return order ? order : by_engine(&x->engine, &y->engine);
}

/* All engines of all inputs that are used, by_engine(). */
static struct lc_load_engine **all_engines(const struct lc_merge_inputs *in, size_t *len)
{
	struct lc_load_engine **all;

	*len = 0;
	for (size_t i = 0; i < in->len; i++)
		*len += in->inputs[i].engines_len;
	all = lc_mem_zeroed(*len, sizeof(struct lc_load_engine *));
	*len = 0;
	for (size_t i = 0; i < in->len; i++)
		for (uint32_t k = 0; k < in->inputs[i].engines_len; k++)
			if (in->inputs[i].state == LC_MERGE_USED)
				all[(*len)++] = &in->inputs[i].engines[k];
	qsort(all, *len, sizeof(struct lc_load_engine *), by_engine);
	return all;
}

/*
 * Merge two engines of one kind: the first reason in byte order and the longest tick stand for
 * both.
 */
static void stand_for(struct lc_load_engine *o, struct lc_load_engine *e)
{
	if (*e->reason && (!*o->reason || strcmp(e->reason, o->reason) < 0)) {
		char *reason = o->reason;

		o->reason = e->reason;
		e->reason = reason;
	}
	if (o->tick_ns < e->tick_ns)
		o->tick_ns = e->tick_ns;
}

/* The engines of the result: where they are too many those that most inputs have. */
static void choose_engines(struct lc_merge_inputs *in)
{
	size_t len, kinds_len = 0;
	struct lc_load_engine **all = all_engines(in, &len);
	struct kind *kinds = lc_mem_zeroed(len, sizeof(*kinds));

	for (size_t i = 0; i < len; i++) {
		if (!i || !lc_load_same_engine(all[i - 1], all[i]))
			kinds[kinds_len++].engine = all[i];
		kinds[kinds_len - 1].inputs++;
	}
	qsort(kinds, kinds_len, sizeof(*kinds), by_inputs);
	if (kinds_len > LC_ENGINES_MAX)
		kinds_len = LC_ENGINES_MAX;
	in->engines_len = (uint32_t)kinds_len;
	for (size_t i = 0; i < kinds_len; i++)
		in->engines[i] = kinds[i].engine;
	qsort(in->engines, in->engines_len, sizeof(in->engines[0]), by_engine);
	free(kinds);
	free(all);
}

/* UINT32_MAX: it is not in the result. */
static uint32_t engine_number(const struct lc_merge_inputs *in, const struct lc_load_engine *e)
{
	for (uint32_t i = 0; i < in->engines_len; i++)
		if (lc_load_same_engine(in->engines[i], e))
			return i;
	return UINT32_MAX;
}

/* Inputs with other engines cannot be used. */
static void leave_out_engines(struct lc_merge_inputs *in)
{
	for (size_t i = 0; i < in->len; i++) {
		struct lc_merge_input *x = &in->inputs[i];
		bool all = true;

		for (uint32_t k = 0; k < x->engines_len && x->state == LC_MERGE_USED; k++)
			all = all && engine_number(in, &x->engines[k]) != UINT32_MAX;
		if (all)
			continue;
		x->state = LC_MERGE_UNREADABLE;
		say(x, "its kinds of samples would be more than a profile can hold");
	}
}

static void number_engines(struct lc_merge_inputs *in)
{
	for (size_t i = 0; i < in->len; i++) {
		struct lc_merge_input *x = &in->inputs[i];
		uint32_t numbers[LC_ENGINES_MAX];

		if (x->state != LC_MERGE_USED)
			continue;
		for (uint32_t k = 0; k < x->engines_len; k++) {
			numbers[k] = engine_number(in, &x->engines[k]);
			stand_for(in->engines[numbers[k]], &x->engines[k]);
		}
		for (size_t k = 0; k < x->parts_len; k++)
			for (uint32_t e = 0; e < x->parts[k].engines_len; e++)
				x->parts[k].engines[e] = numbers[x->parts[k].engines[e]];
	}
}

void lc_merge_inputs_plan(struct lc_merge_inputs *in)
{
	lc_merge_groups_choose(in);
	choose(in);
	choose_engines(in);
	leave_out_engines(in);
	choose_engines(in); /* of those that are left */
	lc_merge_groups_find(in);
	number_processes(in);
	for (size_t i = 0; i < in->len; i++) {
		const struct lc_merge_input *x = &in->inputs[i];

		if (x->state == LC_MERGE_USED) {
			lc_sum_add(&in->missing.inputs, x->missing.inputs);
			lc_sum_add(&in->missing.blocks, x->missing.blocks);
			if (x->pruned > in->pruned)
				in->pruned = x->pruned;
			if (x->bytes)
				lc_progress_expect(x->bytes);
		} else if (x->state == LC_MERGE_UNREADABLE || x->state == LC_MERGE_OVERLAPS) {
			lc_sum_add(&in->missing.inputs, 1);
		}
	}
	number_engines(in);
}
