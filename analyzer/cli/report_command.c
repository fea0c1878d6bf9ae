/* SPDX-License-Identifier: Apache-2.0 */
/* cli/report_command.c - does what all report commands have in common. */
#include "analyzer/cli/report_command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/progress.h"
#include "analyzer/base/replace.h"
#include "analyzer/cli/command.h"
#include "analyzer/cli/newest.h"
#include "analyzer/cli/operands.h"
#include "analyzer/cli/pager.h"
#include "analyzer/model/slices.h"
#include "analyzer/out/emit.h"
#include "src/base/nearest.h"

enum { COMMAND_BYTES_MAX = 400, CHOICES_MAX = 16 };

int lc_report_choose(const struct lc_option_info *row, const char *word, size_t *out)
{
	char copy[128], *rest = copy, *at;
	const char *words[CHOICES_MAX], *near;
	size_t count = 0;

	snprintf(copy, sizeof(copy), "%s", row->argument);
	while (count < CHOICES_MAX && (at = strsep(&rest, "|")))
		words[count++] = at;
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(words[i], word)) {
			*out = i;
			return 0;
		}
	}
	near = lc_nearest(word, words, count);
	if (near)
		return lc_usage("--%s: unknown value '%.64s'; did you mean '%s'?", row->name, word,
		                near);
	return lc_usage("--%s: unknown value '%.64s'; use one of %s", row->name, word,
	                row->argument);
}

/* Words of --format by the end of a file's name; the first that fits chooses. */
static const struct {
	const char *end, *word;
} extensions[] = {
	{ ".speedscope.json", "speedscope" },
	{ ".trace.json", "trace" },
	{ ".txt", "text" },
	{ ".json", "json" },
	{ ".html", "html" },
	{ ".csv", "csv" },
	{ ".collapsed", "collapsed" },
	{ ".svg", "svg" },
	{ ".pb.gz", "pprof" },
	{ ".md", "markdown" },
	{ ".sqlite", "sqlite" },
	{ ".jfr", "jfr" },
};

enum { EXTENSIONS = sizeof(extensions) / sizeof(extensions[0]), KNOWN_BYTES = 24 };

/* Position of `word` in "text|json|html"; SIZE_MAX: it is not there. */
static size_t position(const char *words, const char *word)
{
	const size_t len = strlen(word);

	for (size_t i = 0;; i++) {
		if (strcspn(words, "|") == len && memcmp(words, word, len) == 0)
			return i;
		words += strcspn(words, "|");
		if (!*words++)
			return SIZE_MAX;
	}
}

int lc_report_format_of(const struct lc_option_info *row, const char *file, size_t *out)
{
	const char *slash = strrchr(file, '/');
	const char *name = slash ? slash + 1 : file;
	const size_t len = strlen(name);
	char known[EXTENSIONS * KNOWN_BYTES] = "";

	if (!strchr(name + (*name == '.'), '.'))
		return 0;
	for (size_t i = 0; i < EXTENSIONS; i++) {
		const size_t end = strlen(extensions[i].end),
		             at = position(row->argument, extensions[i].word);

		if (at == SIZE_MAX)
			continue;
		if (len > end && strcmp(name + len - end, extensions[i].end) == 0) {
			*out = at;
			return 0;
		}
		snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s",
		         *known ? ", " : "", extensions[i].end);
	}
	return lc_usage("--file: unknown extension of '%.200s'; use one of %s", file, known);
}

static int set_top(struct lc_report_settings *s, const char *value, const char *what)
{
	unsigned long number;

	if (lc_args_number(value, UINT32_MAX, &number) || !number)
		return lc_usage("--top: '%.64s' is not a number of %s, 1 or more", value, what);
	s->top = number;
	return 0;
}

/* Returns whether the option was one of those that choose a range of time, with *status then. */
static bool set_range(struct lc_load_range *r, const char *name, const char *value, int *status)
{
	const bool time = !strcmp(name, "since") || !strcmp(name, "until");

	*status = 0;
	if (time && !lc_load_range_valid(value)) {
		*status = lc_choose_no_time(name, value);
		return true;
	}
	if (!strcmp(name, "since"))
		r->since = value;
	else if (!strcmp(name, "until"))
		r->until = value;
	else if (!strcmp(name, "from-mark"))
		r->from_mark = value;
	else if (!strcmp(name, "to-mark"))
		r->to_mark = value;
	else
		return false;
	return true;
}

void lc_report_settings_free(struct lc_report_settings *s)
{
	lc_frame_filter_free(&s->frames);
	lc_where_free(&s->where);
	lc_by_free(&s->by);
}

static void set_thread(struct lc_report_settings *s, const char *value)
{
	unsigned long number;

	s->filtered = true;
	s->filter.by_tid = !lc_args_number(value, UINT32_MAX, &number);
	s->filter.tid = s->filter.by_tid ? (uint32_t)number : 0;
	s->filter.patterns = value;
}

bool lc_report_set_output(struct lc_report_settings *s, const struct lc_option_info *row,
                          const char *value, int *status)
{
	*status = 0;
	if (!strcmp(row->name, "format")) {
		s->format_chosen = true;
		*status = lc_report_choose(row, value, &s->format);
	} else if (!strcmp(row->name, "file")) {
		s->file = strcmp(value, "-") != 0 ? value : NULL;
	} else if (!strcmp(row->name, "engine")) {
		s->engine = value;
	} else {
		return false;
	}
	return true;
}

/* For lc_args_read(): the options of all commands, and those of this one. */
static int set_option(void *context, int row, const char *value)
{
	const struct lc_report_command *c = context;
	const struct lc_option_info *info = &c->rows[row];
	int status;

	if (set_range(&c->settings->range, info->name, value, &status) ||
	    lc_choose_processes(&c->settings->where, &c->settings->by, info->name, value,
	                        &status) ||
	    lc_report_set_output(c->settings, info, value, &status))
		return status;
	if (!strcmp(info->name, "top"))
		return set_top(c->settings, value, info->unit);
	if (!strcmp(info->name, "no-pager"))
		c->settings->no_pager = true;
	else if (!strcmp(info->name, "include"))
		lc_frame_patterns_add(&c->settings->frames.include, value);
	else if (!strcmp(info->name, "exclude"))
		lc_frame_patterns_add(&c->settings->frames.exclude, value);
	else if (!strcmp(info->name, "thread"))
		set_thread(c->settings, value);
	else
		return c->set(c->context, row, value);
	return 0;
}

void lc_report_filters(FILE *out, const struct lc_load *l, uint32_t engine)
{
	uint64_t passed = 0, of = l->tree->offered[engine];

	if (!l->filter && !l->frames && !l->group_filter.where)
		return;
	for (unsigned b = 0; b < LC_BUCKET_COUNT; b++)
		passed += l->tree->buckets[engine][b];
	fprintf(out, "%" PRIu64 " of %" PRIu64 " sample%s pass the filters\n", passed, of,
	        of == 1 ? "" : "s");
}

int lc_report_unfitted(const char *option, const struct lc_frame_patterns *p)
{
	int status = 0;

	for (size_t i = 0; i < p->len; i++) {
		if (p->list[i].fitted)
			continue;
		lc_fail("--%s: '%.200s' matches no frame of the profile", option, p->list[i].text);
		status = LC_EXIT_PARTIAL;
	}
	return status;
}

int lc_report_check_threads(const struct lc_load *l)
{
	if (l->not_split)
		return lc_fail("--thread: the profile was merged without --keep-threads, so "
		               "threads cannot be selected");
	return 0;
}

int lc_report_find_engine(const struct lc_load *l, const char *word, uint32_t *engine)
{
	unsigned long number;
	unsigned found = 0;

	if (!lc_args_number(word, l->engines_len, &number) && number) {
		*engine = (uint32_t)number - 1;
		return 0;
	}
	for (uint32_t i = 0; i < l->engines_len; i++) {
		if (strcmp(word, l->engines[i].name) == 0) {
			*engine = i;
			found++;
		}
	}
	if (!found)
		return lc_fail("--engine: the profile has no samples of '%.64s'", word);
	if (found > 1)
		return lc_fail("--engine: %u engines are named '%.64s'; give a number, 1 to %u",
		               found, word, l->engines_len);
	return 0;
}

/* Class paths and lists of files make commands of many kilobytes; JSON has them whole. */
static void put_command(FILE *out, const char *command)
{
	const size_t whole = strlen(command);
	size_t len = whole <= COMMAND_BYTES_MAX ? whole : COMMAND_BYTES_MAX;

	while (len < whole && ((unsigned char)command[len] & 0xc0) == 0x80)
		len--; /* not within a character */
	lc_emit_text(out, (struct lc_text){ command, (uint32_t)len });
	if (len < whole)
		fprintf(out, " ... (%zu more bytes)", whole - len);
}

static const char *period(const struct lc_load_process *p, size_t i)
{
	const char *name =
	    json_string_value(json_object_get(json_array_get(p->periods, i), "name"));

	return name ? name : "";
}

static void put_since(FILE *out, const struct lc_load_process *p, const char *word, uint64_t ns)
{
	char text[32];

	fprintf(out, "%s%s", word,
	        lc_emit_duration(text, sizeof(text), ns > p->zero_ns ? ns - p->zero_ns : 0));
}

/* The range that was asked for, as far as the recording goes; of a merge, that of its blocks. */
void lc_report_part(FILE *out, const struct lc_load *l)
{
	const bool asked = lc_load_range_on(l->range);
	const struct lc_load_process *p = l->processes;
	const size_t len = l->processes_len ? json_array_size(p->periods) : 0;

	if (len && p->periods_of > len)
		fprintf(out, ", %zu of %zu periods", len, p->periods_of);
	else if (len)
		fprintf(out, ", %zu period%s", len, len == 1 ? "" : "s");
	if (!l->processes_len || !p->shown_end_ns)
		return;
	put_since(out, p, ", from ", asked ? p->asked_begin_ns : p->shown_begin_ns);
	put_since(out, p, " to ",
	          !asked                                                   ? p->shown_end_ns
	          : p->asked_end_ns && p->asked_end_ns < lc_load_end_ns(p) ? p->asked_end_ns
	                                                                   : lc_load_end_ns(p));
}

/* Blocks count whole, so that what counts may begin before the range and end after it. */
static void note_blocks(FILE *out, const struct lc_load *l)
{
	const struct lc_load_process *p = l->processes;

	if (l->processes_len == 1 && p->shown_end_ns) {
		put_since(out, p, " is counted, in blocks from ", p->shown_begin_ns);
		put_since(out, p, " to ", p->shown_end_ns);
	} else {
		fputs(" is counted, in whole blocks", out);
	}
	fputs("; CPU time, costs and losses cover everything that was read\n", out);
}

/* Which profiles of --loop these are. */
static void note_periods(FILE *out, const struct lc_load_process *p)
{
	const size_t len = json_array_size(p->periods);

	if (!len)
		return;
	fputs("note: read from ", out);
	lc_emit_text_c(out, period(p, 0));
	if (len > 1) {
		fputs(" to ", out);
		lc_emit_text_c(out, period(p, len - 1));
	}
	if (p->periods_of > len)
		fprintf(out, ", %zu of %zu periods", len, p->periods_of);
	fputs(" of --loop\n", out);
}

void lc_report_note_part(FILE *out, const struct lc_load *l)
{
	const struct lc_load_range *r = l->range;
	const struct {
		const char *word, *value;
	} asked[] = { { "since", r ? r->since : NULL },
		      { "until", r ? r->until : NULL },
		      { "from the mark", r ? r->from_mark : NULL },
		      { "to the mark", r ? r->to_mark : NULL } };
	const char *between = "note: only what was recorded ";

	for (size_t i = 0; i < l->processes_len; i++)
		note_periods(out, &l->processes[i]);
	lc_report_note_processes(out, l);
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		if (!asked[i].value)
			continue;
		fprintf(out, "%s%s '", between, asked[i].word);
		lc_emit_text_c(out, asked[i].value);
		putc('\'', out);
		between = ", ";
	}
	if (lc_load_range_on(r))
		note_blocks(out, l);
}

void lc_report_program(FILE *out, const struct lc_load *l)
{
	const struct lc_load_process *p = l->processes;
	char text[32];

	if (!l->processes_len)
		return;
	fputs("program   ", out);
	if (l->processes_len > 1)
		fprintf(out, "%zu processes; the first is:\n          ", l->processes_len);
	put_command(out, p->command);
	fprintf(out, "\n          pid %" PRId64 ", %s", p->pid,
	        *p->jdk >= '0' && *p->jdk <= '9' ? "JDK " : "");
	lc_emit_text_c(out, p->jdk);
	fputs(", ", out);
	lc_emit_text_c(out, p->gc);
	if (p->start_monotonic_ns && lc_load_end_ns(p) > p->start_monotonic_ns)
		fprintf(out, ", %s%s", p->limited ? "recorded for " : "",
		        lc_emit_duration(text, sizeof(text),
		                         lc_load_end_ns(p) - p->start_monotonic_ns));
	lc_report_part(out, l);
	putc('\n', out);
}

static struct lc_replace replacing; /* a command writes one report */

FILE *lc_report_open(const struct lc_report_settings *s)
{
	int err;

	lc_progress_end();
	if (s->file)
		lc_progress_stage("writing the report");
	else
		return s->format == LC_REPORT_AS_TEXT && !s->no_pager ? lc_pager_open() : stdout;
	err = lc_replace_begin(&replacing, s->file);
	if (err == -ELOOP)
		lc_fail(
		    "'%s' is a symbolic link, which Locus does not follow; name the file itself",
		    s->file);
	else if (err)
		lc_fail("cannot write '%s': %s", s->file, strerror(-err));
	return err ? NULL : replacing.out;
}

int lc_report_close(FILE *out, const struct lc_report_settings *s)
{
	int err;

	if (!s->file) {
		err = lc_pager_close(out);
		return err ? lc_fail("cannot write to standard output: %s", strerror(-err)) : 0;
	}
	err = lc_replace_end(&replacing);
	lc_progress_end();
	return err ? lc_fail("cannot write '%s': %s", s->file, strerror(-err)) : 0;
}

static bool has_samples(const struct lc_load *l, uint32_t engine)
{
	for (unsigned b = 0; b < LC_BUCKET_COUNT; b++)
		if (l->tree->buckets[engine][b])
			return true;
	return false;
}

/* The profiles hold engines that not all of them have. */
static void say_mixed(const struct lc_load *l)
{
	unsigned kinds = 0;

	for (uint32_t i = 0; i < l->engines_len; i++)
		kinds += has_samples(l, i);
	if (kinds < 2)
		return;
	fputs("locus: the profiles have different kinds of samples, which cannot be added up",
	      stderr);
	for (uint32_t i = 0; i < l->engines_len; i++) {
		if (!has_samples(l, i))
			continue;
		fprintf(stderr, "; %u: ", i + 1);
		lc_emit_text_c(stderr, *l->engines[i].name ? l->engines[i].name : "unknown");
		if (l->engines[i].interval_ns)
			fprintf(stderr, " every %" PRIu64, l->engines[i].interval_ns);
		putc(' ', stderr);
		lc_emit_text_c(stderr, l->engines[i].unit);
	}
	fputs("; --engine chooses one\n", stderr);
}

static int load_all(struct lc_load *l, const struct lc_operands *o, bool *mixed)
{
	char **const paths = o->paths;
	const size_t count = o->len;
	int status = 0;

	l->skip_newer = count > 1;
	*mixed = false;
	for (size_t i = 0; i < count; i++)
		lc_load_expect(paths[i]);
	for (size_t i = 0; i < count && !status; i++) {
		const uint32_t engines = l->engines_len;

		l->found = o->found[i];
		status = lc_load_profile(l, paths[i]);
		*mixed |= engines && l->engines_len > engines;
	}
	if (!status && l->skipped == count)
		status = lc_fail("none of the profiles can be read");
	return status;
}

static int load_and_report(const struct lc_report_command *c, char **paths, size_t count)
{
	struct lc_slices slices;
	struct lc_operands operands;
	struct lc_tree tree;
	struct lc_load load;
	bool mixed;
	int status;

	lc_tree_init(&tree);
	lc_slices_init(&slices);
	if (c->wants_slices && c->wants_slices(c->context))
		tree.slices = &slices;
	lc_load_init(&load);
	load.tree = &tree;
	load.filter = c->settings->filtered ? &c->settings->filter : NULL;
	load.frames = lc_frame_filter_on(&c->settings->frames) ? &c->settings->frames : NULL;
	load.range = &c->settings->range;
	load.where = &c->settings->where;
	lc_by_copy(&load.by, &c->settings->by);
	lc_operands_find(&operands, paths, count);
	status = load_all(&load, &operands, &mixed);
	lc_progress_end();
	if (!status)
		status = lc_report_check_processes(&load);
	if (!status) {
		if (mixed && !c->settings->engine)
			say_mixed(&load);
		lc_report_say_running(&load);
		lc_progress_stage("adding up");
		status = c->report(c->context, &load, operands.paths[0]);
	}
	if (!status && load.frames) {
		lc_frame_filter_look(load.frames, &tree);
		status = lc_report_unfitted("include", &load.frames->include);
		if (lc_report_unfitted("exclude", &load.frames->exclude))
			status = LC_EXIT_PARTIAL;
	}
	if (!status && (lc_load_damaged(&load) || load.skipped || operands.partial))
		status = LC_EXIT_PARTIAL;
	lc_load_free(&load);
	lc_tree_free(&tree);
	lc_slices_free(&slices);
	lc_operands_free(&operands);
	return status;
}

static int report_newest(const struct lc_report_command *c, const char *command)
{
	char *newest = lc_newest_profile();
	int status;

	if (!newest)
		return lc_usage("%s: there is no profile in the current directory; name one, or "
		                "record one with 'locus run'",
		                command);
	fputs("locus: profile ", stderr);
	lc_emit_text_c(stderr, newest);
	putc('\n', stderr);
	status = load_and_report(c, &newest, 1);
	free(newest);
	return status;
}

/* Without --format the file's name chooses. */
static int choose_format(const struct lc_report_command *c)
{
	struct lc_report_settings *s = c->settings;

	if (!s->file || s->format_chosen)
		return 0;
	for (size_t i = 0; i < c->rows_len; i++)
		if (!strcmp(c->rows[i].name, "format"))
			return lc_report_format_of(&c->rows[i], s->file, &s->format);
	return 0;
}

int lc_report_read(const struct lc_report_command *c, int argc, char **argv, char ***paths,
                   size_t *count)
{
	struct lc_args args = {
		.argc = argc, .argv = argv, .table = c->rows, .count = c->rows_len, .next = 1
	};
	int status = lc_args_read(&args, set_option, (void *)(uintptr_t)c, paths, count);

	return status ? status : choose_format(c);
}

int lc_report_run(const struct lc_report_command *c, int argc, char **argv)
{
	char **paths;
	size_t count;
	int status = lc_report_read(c, argc, argv, &paths, &count);

	if (status < 0)
		return lc_answer(status, argv[0]);
	if (!status && !count)
		status = report_newest(c, argv[0]);
	else if (!status)
		status = load_and_report(c, paths, count);
	lc_report_settings_free(c->settings);
	free(paths);
	return status;
}
