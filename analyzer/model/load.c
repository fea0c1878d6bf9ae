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
#include "analyzer/model/manifest_file.h"

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
	for (size_t i = 0; i < l->processes_len; i++) {
		free(l->processes[i].command);
		free(l->processes[i].jdk);
		free(l->processes[i].gc);
		json_decref(l->processes[i].options);
		json_decref(l->processes[i].counters);
		json_decref(l->processes[i].intervals);
		json_decref(l->processes[i].limits);
		json_decref(l->processes[i].marks);
		json_decref(l->processes[i].numa);
		json_decref(l->processes[i].spans);
	}
	free(l->processes);
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

/* ---- manifest ---- */

static char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return lc_mem_text("%s", text ? text : "");
}

static uint64_t number_of(const json_t *object, const char *name)
{
	json_int_t v = json_integer_value(json_object_get(object, name));

	return v < 0 ? 0 : (uint64_t)v;
}

static json_t *object_of(const json_t *object, const char *name)
{
	json_t *found = json_object_get(object, name);

	return json_is_object(found) ? json_incref(found) : json_object();
}

/* Find or add engine *e, which is taken over. Returns 0 and sets *number, or 1 after a line. */
static int add_engine(struct lc_load *l, struct lc_load_engine *e, uint32_t *number)
{
	for (*number = 0; *number < l->engines_len; ++*number) {
		struct lc_load_engine *o = &l->engines[*number];

		if (o->interval_ns == e->interval_ns && !strcmp(o->name, e->name) &&
		    !strcmp(o->event, e->event) && !strcmp(o->unit, e->unit)) {
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
	json_t *intervals = json_object_get(info, "intervals");
	json_t *limits = json_object_get(info, "limits"), *marks = json_object_get(info, "marks");
	json_t *numa = json_object_get(info, "numa"), *spans = json_object_get(info, "spans");
	struct lc_load_process *p;

	l->processes = lc_mem_grow(l->processes, &l->processes_cap, l->processes_len + 1,
	                           sizeof(*l->processes));
	p = &l->processes[l->processes_len++];
	*p = (struct lc_load_process){
		.command = text_of(info, "command"),
		.jdk = text_of(info, "jdk"),
		.gc = text_of(info, "gc"),
		.pid = (int64_t)number_of(info, "pid"),
		.complete = json_is_true(json_object_get(info, "complete")),
		.limited = json_is_true(json_object_get(info, "limited")),
		.start_wall_ns = number_of(info, "start_wall_ns"),
		.start_monotonic_ns = number_of(info, "start_monotonic_ns"),
		.end_wall_ns = number_of(info, "end_wall_ns"),
		.end_monotonic_ns = number_of(info, "end_monotonic_ns"),
		.last_block_ns = number_of(info, "last_block_ns"),
		.options = object_of(info, "options"),
		.counters = object_of(info, "counters"),
		.intervals = json_is_array(intervals) ? json_incref(intervals) : NULL,
		.limits = json_is_array(limits) ? json_incref(limits) : NULL,
		.marks = json_is_array(marks) ? json_incref(marks) : NULL,
		.numa = json_is_object(numa) ? json_incref(numa) : NULL,
		.spans = json_is_object(spans) ? json_incref(spans) : NULL,
	};
}

/* Engines and processes of a manifest. A row that says nothing still has its number. */
static int use_manifest(struct lc_load *l, const json_t *m, struct lc_block_target *target)
{
	size_t processes = json_array_size(json_object_get(m, "processes"));
	size_t engines = json_array_size(json_object_get(m, "engines"));

	if (engines > LC_ENGINES_MAX)
		engines = LC_ENGINES_MAX;
	/* Blocks may have come before the engine's or process's row did. */
	for (uint32_t i = 0; i < (engines ? engines : 1); i++) {
		const json_t *row = json_array_get(json_object_get(m, "engines"), i);
		struct lc_load_engine e = {
			.name = text_of(row, "name"),
			.event = text_of(row, "event"),
			.unit = text_of(row, "unit"),
			.reason = text_of(row, "reason"),
			.interval_ns = number_of(row, "interval_ns"),
			.tick_ns = number_of(row, "tick_ns"),
		};

		if (add_engine(l, &e, &target->engines[i]))
			return 1;
		target->engines_len = i + 1;
	}
	target->process_first = (uint32_t)l->processes_len;
	target->process_count = (uint32_t)(processes ? processes : 1);
	for (size_t i = 0; i < target->process_count; i++)
		add_process(l, json_array_get(json_object_get(m, "processes"), i));
	return 0;
}

static int newer(const char *path, json_int_t version)
{
	return lc_fail("%s: written by a newer Locus (format %" JSON_INTEGER_FORMAT
	               ", this one reads %d); use that version",
	               path, version, LC_FORMAT_VERSION);
}

/* As newer(), of a profile among others: without it they can be used. */
static void skip(struct lc_load *l, const char *path, json_int_t version)
{
	lc_note("%s: written by a newer Locus (format %" JSON_INTEGER_FORMAT
	        ", this one reads %d); it is skipped",
	        path, version, LC_FORMAT_VERSION);
	l->skipped++;
}

/* Is its format newer? Then nothing of the profile may be added. */
static bool is_newer(const char *path, json_int_t *version)
{
	char *why;
	json_t *m = lc_manifest_load(path, &why);

	*version = json_integer_value(json_object_get(m, "format"));
	json_decref(m);
	free(why);
	return *version > LC_FORMAT_VERSION;
}

/* Read the manifest. *blocks is how many it says there are. */
static int load_manifest(struct lc_load *l, const char *path, struct lc_block_target *target,
                         uint64_t *blocks)
{
	char *why;
	json_t *m = lc_manifest_load(path, &why);
	const json_t *format = json_object_get(m, "format");
	int status;

	if (m && json_integer_value(format) > LC_FORMAT_VERSION) {
		status = newer(path, json_integer_value(format));
	} else {
		if (!json_is_integer(format)) {
			lc_note("%s: manifest is missing or damaged (%s); program and engine are "
			        "unknown",
			        path, m ? "no format" : why);
			l->bad_manifest = true;
		}
		*blocks = number_of(m, "blocks");
		status = use_manifest(l, m, target);
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
	p = &l->processes[target->process_first + stats->process];
	if (stats->last_end_ns > p->last_block_ns)
		p->last_block_ns = stats->last_end_ns;
}

static int load_file(struct lc_load *l, const char *path, const char *name,
                     struct lc_block_target *target, struct lc_damage *damage, uint64_t *blocks)
{
	struct lc_blockfile_stats stats = { 0 };
	char *file = lc_mem_text("%s/%s", path, name);
	int err = lc_blockfile_read(l->file, file, target, damage, &stats);

	if (err)
		err = lc_fail("cannot read '%s': %s", file, lc_file_error(err));
	else if (damage->newer)
		err = newer(file, damage->newer);
	free(file);
	if (err)
		return err;
	*blocks += stats.blocks;
	note_end(l, target, &stats);
	return l->file_done ? l->file_done(l->context) : 0;
}

static void add_damage(struct lc_load *l, const char *path, struct lc_damage *d, uint64_t found,
                       uint64_t expected)
{
	if (expected > found && expected - found > d->blocks)
		d->blocks = expected - found;
	if (d->undefined)
		lc_note("%s: damaged: %" PRIu64 " blocks lost, %" PRIu64
		        " of them since names that they use were in another lost one; what could "
		        "be read is used",
		        path, d->blocks, d->undefined);
	else if (d->blocks || d->bytes)
		lc_note("%s: damaged: %" PRIu64 " blocks lost, %" PRIu64
		        " bytes skipped; what could be read is used",
		        path, d->blocks, d->bytes);
	l->damage.blocks += d->blocks;
	l->damage.bytes += d->bytes;
}

static int load_blocks(struct lc_load *l, const char *path, struct dirent **names, int count,
                       struct lc_block_target *target, uint64_t expected)
{
	struct lc_damage damage = { 0 };
	uint64_t found = 0;

	for (int i = 0; i < count; i++)
		if (load_file(l, path, names[i]->d_name, target, &damage, &found))
			return 1;
	add_damage(l, path, &damage, found, expected);
	l->not_split += target->not_split;
	l->new_sections += target->new_sections;
	return 0;
}

void lc_load_expect(const char *path)
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

int lc_load_profile(struct lc_load *l, const char *path)
{
	struct lc_block_target target = { .tree = l->tree,
		                          .filter = l->filter,
		                          .frames = l->frames };
	char *manifest = lc_mem_text("%s/" LC_MANIFEST_NAME, path);
	struct dirent **names = NULL;
	uint64_t expected = 0;
	json_int_t version;
	struct stat st;
	int status, count = scandir(path, &names, is_block_file, versionsort);

	if (count < 0 && errno == ENOTDIR)
		status = lc_fail("'%s' is not a profile: it is not a directory", path);
	else if (count < 0)
		status = lc_fail("cannot read profile '%s': %s", path, strerror(errno));
	else if (!count && stat(manifest, &st))
		status = lc_fail("'%s' is not a profile: it holds no " LC_MANIFEST_NAME, path);
	else if (l->skip_newer && is_newer(path, &version)) {
		skip(l, path, version);
		status = -1;
	} else
		status = load_manifest(l, path, &target, &expected);
	if (!status)
		status = load_blocks(l, path, names, count, &target, expected);
	for (int i = 0; i < count; i++)
		free(names[i]);
	free(names);
	free(manifest);
	return status < 0 ? 0 : status;
}
