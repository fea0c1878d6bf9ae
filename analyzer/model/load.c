/* SPDX-License-Identifier: Apache-2.0 */
/* model/load.c - reads profile directories. */
#include "analyzer/model/load.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/file.h"
#include "analyzer/base/memory.h"
#include "analyzer/base/progress.h"
#include "analyzer/model/load_impl.h"
#include "analyzer/model/manifest_file.h"
#include "analyzer/model/periods.h"

static void free_engine(struct lc_load_engine *e)
{
	free(e->name);
	free(e->event);
	free(e->unit);
	free(e->reason);
}

void lc_load_init(struct lc_load *l)
{
	memset(l, 0, sizeof(*l));
	l->file = lc_blockfile_create();
}

void lc_load_free(struct lc_load *l)
{
	for (uint32_t i = 0; i < l->engines_len; i++)
		free_engine(&l->engines[i]);
	for (size_t i = 0; i < l->processes_len; i++)
		lc_load_process_free(&l->processes[i]);
	free(l->processes);
	lc_by_free(&l->by);
	lc_group_filter_free(&l->group_filter);
	lc_blockfile_free(l->file);
}

bool lc_load_damaged(const struct lc_load *l)
{
	return l->bad_manifest || l->damage.blocks || l->damage.bytes;
}

uint64_t lc_load_counter(const struct lc_load *l, const char *name)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < l->processes_len; i++)
		sum +=
		    (uint64_t)json_integer_value(json_object_get(l->processes[i].counters, name));
	return sum;
}

uint64_t lc_load_level(const struct lc_load *l, const char *name)
{
	uint64_t level = 0;

	for (size_t i = 0; i < l->processes_len; i++) {
		const uint64_t of =
		    (uint64_t)json_integer_value(json_object_get(l->processes[i].counters, name));

		if (i && of != level)
			return 0;
		level = of;
	}
	return level;
}

/* ---- engines ---- */

bool lc_load_same_engine(const struct lc_load_engine *a, const struct lc_load_engine *b)
{
	return a->interval_ns == b->interval_ns && !strcmp(a->name, b->name) &&
	       !strcmp(a->event, b->event) && !strcmp(a->unit, b->unit);
}

uint32_t lc_load_engine_like(const struct lc_load *l, const struct lc_load_engine *e)
{
	for (uint32_t i = 0; i < l->engines_len; i++)
		if (lc_load_same_engine(&l->engines[i], e))
			return i;
	return UINT32_MAX;
}

/* ---- manifest ---- */

/* Find or add engine *e, which is taken over. Returns 0 and sets *number, or 1 after a line. */
static int add_engine(struct lc_load *l, struct lc_load_engine *e, uint32_t *number)
{
	for (*number = 0; *number < l->engines_len; ++*number) {
		struct lc_load_engine *o = &l->engines[*number];

		if (lc_load_same_engine(o, e)) {
			if (!*o->reason) { /* the first profile that gives one */
				char *none = o->reason;

				o->reason = e->reason;
				e->reason = none;
			}
			if (o->tick_ns < e->tick_ns)
				o->tick_ns = e->tick_ns;
			free_engine(e);
			return 0;
		}
	}
	if (*number == LC_ENGINES_MAX) {
		free_engine(e);
		return lc_fail("the profiles hold more than %d kinds of samples; "
		               "report fewer of them at once",
		               LC_ENGINES_MAX);
	}
	l->engines[l->engines_len++] = *e;
	return 0;
}

static void add_process(struct lc_load *l, const json_t *info)
{
	l->processes = lc_mem_grow(l->processes, &l->processes_cap, l->processes_len + 1,
	                           sizeof(*l->processes));
	lc_load_process_read(&l->processes[l->processes_len], info);
	lc_load_label(l, &l->processes[l->processes_len++]);
}

/* The process of a period is that of the periods before: `at` is its row, if there is one. */
static void add_period(struct lc_load *l, const json_t *info, const char *name, size_t of,
                       size_t *at)
{
	struct lc_load_process next, *p = *at < l->processes_len ? &l->processes[*at] : NULL;

	lc_load_process_read(&next, info);
	if (p && lc_load_process_continues(p, &next)) {
		lc_load_process_note_period(p, name, &next);
		lc_load_process_add(p, &next);
		return;
	}
	lc_load_process_free(&next);
	*at = l->processes_len;
	add_process(l, info);
	p = &l->processes[*at];
	next = *p;
	p->periods_of = of;
	lc_load_process_note_period(p, name, &next);
}

/* The requested part of a recording. */
struct range {
	uint64_t from_ns, to_ns; /* 0 and UINT64_MAX: no bound */
	uint64_t zero_ns;        /* when it began; 0: all of it is asked for */
};

/* One of the profiles that an operand stands for. */
struct part {
	const char *path;
	size_t periods;  /* of the loop; 0: it is no period */
	size_t *process; /* row of the periods before; beyond all rows: there are none */
	const struct range *range;
};

/* Engines and processes of a manifest. A row that says nothing still has its number. */
static int use_manifest(struct lc_load *l, const struct part *part, const json_t *m,
                        struct lc_block_target *target, struct lc_load_groups *groups)
{
	size_t processes = json_array_size(json_object_get(m, "processes"));
	size_t engines = json_array_size(json_object_get(m, "engines"));

	if (lc_load_groups_begin(l, part->path, m, groups))
		return 1;
	if (groups->none) {
		l->left_out++;
		return -1;
	}
	if (engines > LC_ENGINES_MAX)
		engines = LC_ENGINES_MAX;
	/* Blocks may have come before the engine's or process's row did. */
	for (uint32_t i = 0; i < (engines ? engines : 1); i++) {
		const json_t *row = json_array_get(json_object_get(m, "engines"), i);
		struct lc_load_engine e = {
			.name = lc_load_text_of(row, "name"),
			.event = lc_load_text_of(row, "event"),
			.unit = lc_load_text_of(row, "unit"),
			.reason = lc_load_text_of(row, "reason"),
			.interval_ns = lc_load_number_of(row, "interval_ns"),
			.tick_ns = lc_load_number_of(row, "tick_ns"),
		};

		target->weight_milli[i] = lc_load_weight_milli(json_object_get(m, "processes"), &e);
		if (add_engine(l, &e, &target->engines[i]))
			return 1;
		target->engines_len = i + 1;
	}
	target->process_first = (uint32_t)l->processes_len;
	target->process_count = (uint32_t)(processes ? processes : 1);
	if (part->periods && target->process_count == 1) {
		add_period(l, json_array_get(json_object_get(m, "processes"), 0),
		           lc_period_name(part->path), part->periods, part->process);
		target->process_first = (uint32_t)*part->process;
	} else {
		for (size_t i = 0; i < target->process_count; i++)
			if (!groups->on || groups->numbers[i] != LC_LEFT_OUT)
				add_process(l, json_array_get(json_object_get(m, "processes"), i));
	}
	lc_load_groups_apply(l, groups, target);
	if (part->range->zero_ns)
		l->processes[target->process_first].zero_ns = part->range->zero_ns;
	return 0;
}

static int newer(const char *path, json_int_t version)
{
	return lc_fail("%s: written by a newer Locus (format %" JSON_INTEGER_FORMAT
	               ", this one reads %d); use that version",
	               path, version, LC_FORMAT_VERSION);
}

/* Like newer(), for one of several profiles: the others can be used. */
static void skip(struct lc_load *l, const char *path, json_int_t version)
{
	lc_note("%s: written by a newer Locus (format %" JSON_INTEGER_FORMAT
	        ", this one reads %d); it is skipped",
	        path, version, LC_FORMAT_VERSION);
	l->skipped++;
}

/* Is the profile's format newer? If so, nothing of the profile may be added. */
static bool is_newer(const char *path, json_int_t *version)
{
	char *why;
	json_t *m = lc_manifest_load(path, &why);

	*version = json_integer_value(json_object_get(m, "format"));
	json_decref(m);
	free(why);
	return *version > LC_FORMAT_VERSION;
}

/* Tell the reader what a merge has left out of the profile. */
static void note_missing(struct lc_load *l, const char *path, const json_t *missing)
{
	const uint64_t inputs = lc_load_number_of(missing, "inputs");
	const uint64_t blocks = lc_load_number_of(missing, "blocks");

	lc_sum_add(&l->missing.inputs, inputs);
	lc_sum_add(&l->missing.blocks, blocks);
	if (inputs)
		lc_note("%s: merged without %" PRIu64 " profiles that could not be read", path,
		        inputs);
	if (blocks)
		lc_note("%s: the profiles that were merged into it had lost %" PRIu64 " blocks",
		        path, blocks);
}

static void note_pruned(struct lc_load *l, const char *path, double share)
{
	if (!(share > 0))
		return;
	l->pruned = share > l->pruned ? share : l->pruned;
	lc_note("%s: small call paths are folded into \"(pruned)\"; each shown path may lack up to "
	        "%.3g%% of the samples, bytes and cycles",
	        path, 100 * share);
}

/* Read the manifest. *blocks is how many it says there are. Returns -1 where no process fits. */
static int load_manifest(struct lc_load *l, const struct part *part, struct lc_block_target *target,
                         struct lc_load_groups *groups, uint64_t *blocks)
{
	const char *path = part->path;
	char *why;
	json_t *m = lc_manifest_load(path, &why);
	const json_t *format = json_object_get(m, "format");
	int status;

	if (m && json_integer_value(format) > LC_FORMAT_VERSION) {
		status = newer(path, json_integer_value(format));
	} else {
		if (!json_is_integer(format)) {
			lc_note("%s: the manifest is missing or damaged (%s); program and engine "
			        "are unknown",
			        path, m ? "no format" : why);
			l->bad_manifest = true;
		}
		*blocks = lc_load_number_of(m, "blocks");
		status = use_manifest(l, part, m, target, groups);
		if (!status) {
			note_missing(l, path, json_object_get(m, "missing"));
			note_pruned(l, path, json_number_value(json_object_get(m, "pruned")));
		}
	}
	json_decref(m);
	free(why);
	return status;
}

/* ---- blocks ---- */

static int is_block_file(const struct dirent *e)
{
	size_t len = strlen(e->d_name), suffix = strlen(LC_BLOCK_SUFFIX);

	return len > suffix && !strcmp(e->d_name + len - suffix, LC_BLOCK_SUFFIX);
}

static void note_end(struct lc_load *l, const struct lc_block_target *target,
                     const struct lc_blockfile_stats *stats)
{
	struct lc_load_process *p;

	if (stats->process >= target->process_count)
		return; /* blocks of all processes */
	if (lc_block_target_number(target, stats->process) == LC_LEFT_OUT)
		return;
	p = &l->processes[lc_block_target_number(target, stats->process)];
	if (stats->last_end_ns > p->last_block_ns)
		p->last_block_ns = stats->last_end_ns;
	if (!lc_load_range_on(l->range) || !target->first_ns)
		return;
	p->asked_begin_ns = target->from_ns;
	p->asked_end_ns = target->to_ns;
	if (!p->shown_begin_ns || target->first_ns < p->shown_begin_ns)
		p->shown_begin_ns = target->first_ns;
	if (target->last_ns > p->shown_end_ns)
		p->shown_end_ns = target->last_ns;
}

static int load_file(struct lc_load *l, const char *path, const char *name,
                     struct lc_block_target *target, struct lc_damage *damage, uint64_t *blocks)
{
	struct lc_blockfile_stats stats = { 0 };
	char *file = lc_mem_text("%s/%s", path, name);
	int err = lc_blockfile_read(l->file, file, target, damage, &stats);

	if (err == -ENOENT) {
		err = 0; /* a removed one; of an old period the manifest tells how much is lost */
		damage->blocks += !l->in_loop;
	} else if (err)
		err = lc_fail("cannot read '%s': %s", file, lc_file_error(err));
	else if (damage->newer)
		err = newer(file, damage->newer);
	free(file);
	if (err)
		return err;
	*blocks += stats.blocks;
	note_end(l, target, &stats);
	return 0;
}

void lc_load_say_damage(const char *path, struct lc_damage *d, uint64_t found, uint64_t expected)
{
	if (expected > found && expected - found > d->blocks)
		d->blocks = expected - found;
	if (d->undefined)
		lc_note("%s: damaged: %" PRIu64 " blocks lost, %" PRIu64
		        " of them because they use names from a lost block; the rest is used",
		        path, d->blocks, d->undefined);
	else if (d->blocks || d->bytes)
		lc_note("%s: damaged: %" PRIu64 " blocks lost, %" PRIu64
		        " bytes skipped; the rest is used",
		        path, d->blocks, d->bytes);
}

static int load_blocks(struct lc_load *l, const char *path, struct dirent **names, int count,
                       struct lc_block_target *target, uint64_t expected)
{
	struct lc_damage damage = { 0 };
	uint64_t found = 0;

	for (int i = 0; i < count; i++)
		if (load_file(l, path, names[i]->d_name, target, &damage, &found))
			return 1;
	lc_load_say_damage(path, &damage, found, expected);
	l->damage.blocks += damage.blocks;
	l->damage.bytes += damage.bytes;
	l->not_split += target->not_split;
	l->not_apart += target->not_apart;
	l->new_sections += target->new_sections;
	return 0;
}

static void expect(const char *path)
{
	struct dirent **names = NULL;
	const int count = scandir(path, &names, is_block_file, NULL);

	for (int i = 0; i < count; i++) {
		char *file = lc_mem_text("%s/%s", path, names[i]->d_name);
		struct stat st;

		if (!stat(file, &st) && S_ISREG(st.st_mode))
			lc_progress_expect((uint64_t)st.st_size);
		free(file);
		free(names[i]);
	}
	free(names);
}

void lc_load_expect(const char *path)
{
	struct lc_periods periods;

	lc_periods_find(path, &periods);
	for (size_t i = 0; i < periods.len; i++)
		expect(periods.paths[i]);
	lc_periods_free(&periods);
}

static int load_part(struct lc_load *l, const struct part *part)
{
	struct lc_block_target target = { .tree = l->tree,
		                          .filter = l->filter,
		                          .frames = l->frames,
		                          .from_ns = part->range->from_ns,
		                          .to_ns = part->range->to_ns == UINT64_MAX
		                                       ? 0
		                                       : part->range->to_ns };
	const char *path = part->path;
	char *manifest = lc_mem_text("%s/" LC_MANIFEST_NAME, path);
	struct lc_load_groups groups = { .on = false };
	struct dirent **names = NULL;
	uint64_t expected = 0;
	json_int_t version;
	struct stat st;
	int status, count = scandir(path, &names, is_block_file, versionsort);

	if (part->periods && (count < 0 || (!count && stat(manifest, &st))))
		status = -1; /* an old period, which has been removed */
	else if (l->found && (count < 0 ? errno == ENOENT : !count && stat(manifest, &st))) {
		lc_note("'%s' was removed while locus ran; it is left out", path);
		l->skipped++;
		status = -1;
	} else if (count < 0 && errno == ENOTDIR)
		status = lc_fail("'%s' is not a profile: it is not a directory", path);
	else if (count < 0)
		status = lc_fail("cannot read profile '%s': %s", path, strerror(errno));
	else if (!count && stat(manifest, &st))
		status = lc_fail("'%s' is not a profile: it has no " LC_MANIFEST_NAME, path);
	else if (l->skip_newer && is_newer(path, &version)) {
		skip(l, path, version);
		status = -1;
	} else
		status = load_manifest(l, part, &target, &groups, &expected);
	if (!status && l->take)
		l->take(l->context,
		        &(const struct lc_load_files){ path, names, count, expected, &target,
		                                       part->periods > 0, &groups.kept });
	else if (!status)
		status = load_blocks(l, path, names, count, &target, expected);
	for (int i = 0; i < count; i++)
		free(names[i]);
	free(names);
	free(manifest);
	lc_load_groups_end(&groups);
	return status < 0 ? 0 : status;
}

/* ---- ranges ---- */

/* Read the times of the profiles from their manifests. NULL after a line on stderr. */
static struct lc_load_process *read_times(const char *path, const struct lc_periods *periods)
{
	struct lc_load_process *times = lc_mem_zeroed(periods->len, sizeof(*times));
	bool told = true;

	for (size_t i = 0; i < periods->len; i++) {
		char *why;
		json_t *m = lc_manifest_load(periods->paths[i], &why);
		const json_t *rows = json_object_get(m, "processes");

		lc_load_process_read(&times[i], json_array_get(rows, 0));
		told = told && json_array_size(rows) == 1 && times[i].end_monotonic_ns &&
		       !times[i].last_block_ns; /* which merged profiles have */
		json_decref(m);
		free(why);
	}
	if (told)
		return times;
	lc_fail("'%s' has no times to choose by: it is a merged profile, or lacks its manifest",
	        path);
	for (size_t i = 0; i < periods->len; i++)
		lc_load_process_free(&times[i]);
	free(times);
	return NULL;
}

/* Blocks of the last period may be younger than its manifest. */
static bool overlaps(const struct lc_load_process *p, bool last, uint64_t from_ns, uint64_t to_ns)
{
	return p->start_monotonic_ns < to_ns && (last || p->end_monotonic_ns > from_ns);
}

/*
 * The range of the profiles, of which those before *first and behind *last have nothing in it.
 * Returns 0, or 1 after a line.
 */
static int find_range(const struct lc_load *l, const char *path, const struct lc_periods *periods,
                      struct range *range, size_t *first, size_t *last)
{
	struct lc_load_process *times = read_times(path, periods);
	const size_t len = periods->len;
	int status;

	if (!times)
		return 1;
	status = lc_load_range_find(l->range, path, times, len, &range->from_ns, &range->to_ns);
	while (!status && *first < *last &&
	       !overlaps(&times[*first], *first + 1 == len, range->from_ns, range->to_ns))
		++*first;
	while (!status && *last > *first &&
	       !overlaps(&times[*last], *last + 1 == len, range->from_ns, range->to_ns))
		--*last;
	range->zero_ns = times[0].start_monotonic_ns;
	for (size_t i = 0; i < len; i++)
		lc_load_process_free(&times[i]);
	free(times);
	return status;
}

int lc_load_profile(struct lc_load *l, const char *path)
{
	struct lc_periods periods;
	struct range range = { .to_ns = UINT64_MAX };
	size_t first = 0, last, process = SIZE_MAX;
	const size_t before = l->processes_len, skipped = l->skipped + l->left_out;
	int status = 0;

	lc_periods_find(path, &periods);
	last = periods.len - 1;
	l->in_loop = periods.loop;
	if (lc_load_range_on(l->range))
		status = find_range(l, path, &periods, &range, &first, &last);
	for (size_t i = first; i <= last && !status; i++) {
		const struct part part = { periods.paths[i], periods.loop ? periods.len : 0,
			                   &process, &range };

		status = load_part(l, &part);
	}
	if (!status && periods.loop && l->processes_len == before &&
	    l->skipped + l->left_out == skipped)
		status = lc_fail("'%s' has no periods left", path);
	lc_periods_free(&periods);
	return status;
}

int lc_load_one(const char *path, const struct lc_load_range *range,
                int (*use)(void *context, const struct lc_load *l), void *context)
{
	struct lc_tree tree;
	struct lc_load load;
	int status;

	lc_tree_init(&tree);
	lc_load_init(&load);
	load.tree = &tree;
	load.range = range;
	status = lc_load_profile(&load, path);
	if (!status)
		status = use(context, &load);
	lc_load_free(&load);
	lc_tree_free(&tree);
	return status;
}
