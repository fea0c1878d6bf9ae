/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/list.c - runs `locus list`, which shows the profiles below directories: their hosts,
 * processes, times and labels, and whether they are complete.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/cli/args.h"
#include "analyzer/cli/command.h"
#include "analyzer/cli/report_command.h"
#include "analyzer/model/facts.h"
#include "analyzer/model/find.h"
#include "analyzer/model/program_name.h"
#include "analyzer/model/summary.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/json.h"
#include "analyzer/out/json_processes.h"
#include "analyzer/out/screen.h"
#include "src/base/order.h"

enum { LABELS_BYTES = 160, COMMAND_COLUMNS = 40 }; /* of the text; JSON has them whole */

/* A manifest of another machine that is so young is of a program that runs. */
#define YOUNG_NS (UINT64_C(60) * 1000000000)

enum row { ROW_JSON, ROW_SORT, ROW_WHERE, ROW_SINCE, ROW_UNTIL, ROW_COUNT };

static const struct lc_option_info rows[ROW_COUNT] = {
	[ROW_JSON] = { "json", 0, "FLAG", "", "off", "", "write JSON" },
	[ROW_SORT] = { "sort", 0, "CHOICE", "host|start|size|path", "host", "",
	               "sort by host and start, by start, by size (largest first), or by "
	               "directory" },
	[ROW_WHERE] = LC_CHOOSE_ROW_WHERE,
	[ROW_SINCE] = { "since", 0, "STRING", "TIME", "", "",
	                "list only profiles that end after TIME: 14:30, '2026-11-24 14:30:05', or "
	                "1h (before now)" },
	[ROW_UNTIL] = { "until", 0, "STRING", "TIME", "", "",
	                "list only profiles that begin before TIME" },
};

enum sort { SORT_HOST, SORT_START, SORT_SIZE, SORT_PATH };
enum state { STATE_COMPLETE, STATE_RUNNING, STATE_DISK_FULL, STATE_KILLED, STATE_DAMAGED };

static const char *const state_names[] = { "complete", "running", "disk full", "killed",
	                                   "damaged" };

struct entry {
	struct lc_summary summary;
	enum state state;
	char *host; /* of all its processes; "2 hosts" */
};

struct list {
	bool json;
	size_t sort; /* enum sort */
	struct lc_where_terms where;
	uint64_t now_ns, since_ns, until_ns; /* by the wall clock; 0: not given */
	struct entry *entries;
	size_t len, cap;
	struct lc_find found;
	int status;
};

const struct lc_option_info *lc_cmd_list_options(size_t *count)
{
	*count = ROW_COUNT;
	return rows;
}

/* ---- what is there ---- */

static bool still_runs(const struct list *l, const struct lc_load_process *p)
{
	if (lc_report_is_here(p))
		return lc_report_runs_here(p);
	return p->end_wall_ns + YOUNG_NS > l->now_ns;
}

static enum state state_of(const struct list *l, const struct lc_summary *s)
{
	enum state state = STATE_COMPLETE;

	if (s->damage)
		return STATE_DAMAGED;
	for (size_t i = 0; i < s->processes_len; i++) {
		const struct lc_load_process *p = &s->processes[i];

		if (p->complete || p->limited)
			continue;
		if (p->disk_full)
			state = STATE_DISK_FULL;
		else if (!still_runs(l, p))
			return STATE_KILLED;
		else if (state == STATE_COMPLETE)
			state = STATE_RUNNING;
	}
	return state;
}

/* The value that all processes share for a key, or "(plural)" if they differ. */
static char *common(const struct lc_summary *s, const char *key, const char *plural)
{
	char *first = s->processes_len ? lc_fact(&s->processes[0], key) : lc_mem_text("-");
	size_t others = 0;

	for (size_t i = 1; i < s->processes_len; i++) {
		char *other = lc_fact(&s->processes[i], key);

		others += strcmp(first, other) != 0;
		free(other);
	}
	if (others) {
		free(first);
		first = lc_mem_text("(%s)", plural);
	}
	return first;
}

static bool is_wanted(const struct list *l, const struct lc_summary *s)
{
	bool fits = !l->where.len;

	for (size_t i = 0; i < s->processes_len && !fits; i++)
		fits = lc_fact_fits_where(&l->where, &s->processes[i], NULL, 0);
	if (l->since_ns && s->end_wall_ns && s->end_wall_ns <= l->since_ns)
		return false;
	if (l->until_ns && s->start_wall_ns >= l->until_ns)
		return false;
	return fits;
}

static void read_all(struct list *l)
{
	for (size_t i = 0; i < l->found.len; i++) {
		struct entry e;

		if (lc_summary_read(&e.summary, l->found.paths[i]))
			continue; /* it has just vanished */
		if (!is_wanted(l, &e.summary)) {
			lc_summary_free(&e.summary);
			continue;
		}
		e.state = state_of(l, &e.summary);
		e.host = common(&e.summary, "host", "several");
		if (e.summary.damage) {
			lc_note("%s: damaged: %s", e.summary.path, e.summary.damage);
			l->status = LC_EXIT_PARTIAL;
		}
		l->entries = lc_mem_grow(l->entries, &l->cap, l->len + 1, sizeof(*l->entries));
		l->entries[l->len++] = e;
	}
}

static int order(const void *a, const void *b, void *context)
{
	const struct list *l = context;
	const struct entry *x = a, *y = b;
	int order = 0;

	if (l->sort == SORT_SIZE)
		order = lc_order_u64(y->summary.bytes, x->summary.bytes);
	if (l->sort == SORT_HOST)
		order = strcmp(x->host, y->host);
	if (!order && l->sort != SORT_PATH && l->sort != SORT_SIZE)
		order = lc_order_u64(x->summary.start_wall_ns, y->summary.start_wall_ns);
	return order ? order : strcmp(x->summary.path, y->summary.path);
}

/* ---- text ---- */

enum column { STATE, START, LENGTH, SIZE, HOST, PID, COMMAND, JDK, LABELS, PROFILE, COLUMNS };

static const char *const titles[COLUMNS] = { "STATE",   "START",   "LENGTH", "SIZE",   "HOST",
	                                     "PROCESS", "COMMAND", "JDK",    "LABELS", "PROFILE" };

static void put_labels(FILE *out, const struct lc_summary *s)
{
	const json_t *labels = s->processes_len == 1 ? s->processes[0].labels : NULL;
	size_t shown = 0, len = json_object_size(labels), bytes = 0;
	json_t *value;
	const char *key;

	if (!len)
		putc('-', out);
	json_object_foreach((json_t *)(uintptr_t)labels, key, value)
	{
		bytes += strlen(key) + json_string_length(value) + 2;
		if (shown && bytes > LABELS_BYTES)
			break;
		fputs(shown++ ? "," : "", out);
		lc_emit_text_c(out, key);
		putc('=', out);
		lc_emit_text_c(out, json_string_value(value));
	}
	if (shown < len)
		fprintf(out, ",... (%zu more)", len - shown);
}

static void put_cell(FILE *out, const struct entry *e, enum column column)
{
	const struct lc_summary *s = &e->summary;
	const struct lc_load_process *p = s->processes_len == 1 ? &s->processes[0] : NULL;
	char text[40], *common_text;

	switch (column) {
	case STATE:
		fputs(state_names[e->state], out);
		break;
	case START:
		fputs(s->start_wall_ns ? lc_fact_time(text, sizeof(text), s->start_wall_ns) : "-",
		      out);
		break;
	case LENGTH:
		fputs(s->end_wall_ns > s->start_wall_ns && s->start_wall_ns
		          ? lc_emit_duration(text, sizeof(text), s->end_wall_ns - s->start_wall_ns)
		          : "-",
		      out);
		break;
	case SIZE:
		fputs(lc_emit_bytes(text, sizeof(text), s->bytes), out);
		break;
	case HOST:
		lc_emit_text_c(out, e->host);
		break;
	case PID:
		if (p)
			fprintf(out, "%" PRId64, p->pid);
		else
			fprintf(out, "%zu processes", s->processes_len);
		break;
	case COMMAND:
	case JDK:
		common_text = common(s, column == JDK ? "jdk" : "command", "several");
		if (column == JDK && *common_text != '(') {
			lc_emit_text(out, lc_program_jdk(common_text));
		} else {
			lc_cut_middle(common_text, COMMAND_COLUMNS);
			lc_emit_text_c(out, common_text);
		}
		free(common_text);
		break;
	case LABELS:
		put_labels(out, s);
		break;
	default:
		lc_emit_text_c(out, s->path);
		if (s->periods)
			fprintf(out, " (%zu period%s)", s->periods, s->periods == 1 ? "" : "s");
	}
}

static void write_text(const struct list *l)
{
	char **cells = lc_mem_zeroed((l->len + 1) * COLUMNS, sizeof(*cells));
	unsigned widths[COLUMNS] = { 0 };

	for (size_t i = 0; i <= l->len; i++) {
		for (unsigned c = 0; c < COLUMNS; c++) {
			char **cell = &cells[i * COLUMNS + c];
			size_t len;
			FILE *out = lc_text_open(cell, &len);

			if (i)
				put_cell(out, &l->entries[i - 1], (enum column)c);
			else
				fputs(titles[c], out);
			lc_mem_close_text(out);
			if (lc_columns(*cell) > widths[c])
				widths[c] = lc_columns(*cell);
		}
	}
	for (size_t i = 0; i <= l->len; i++) {
		for (unsigned c = 0; c < COLUMNS; c++) {
			const char *cell = cells[i * COLUMNS + c];

			if (c + 1 == COLUMNS)
				fprintf(stdout, "%s\n", cell);
			else
				fprintf(stdout, "%s%*s", cell,
				        (int)(widths[c] - lc_columns(cell) + 2), "");
		}
	}
	for (size_t i = 0; i < (l->len + 1) * COLUMNS; i++)
		free(cells[i]);
	free(cells);
}

/* ---- JSON ---- */

static void put_process(struct lc_json *j, const struct lc_load_process *p)
{
	lc_json_object(j, NULL);
	if (*p->host)
		lc_json_string(j, "host", p->host);
	else
		lc_json_null(j, "host");
	lc_json_i64(j, "pid", p->pid);
	lc_json_string(j, "command", p->command);
	lc_json_string(j, "jdk", p->jdk);
	lc_json_string(j, "gc", p->gc);
	lc_json_bool(j, "complete", p->complete);
	lc_json_u64(j, "start_wall_ns", p->start_wall_ns);
	lc_json_u64(j, "end_wall_ns", p->end_wall_ns);
	lc_json_labels(j, p->labels);
	lc_json_end_object(j);
}

static void put_profile(struct lc_json *j, const struct entry *e)
{
	const struct lc_summary *s = &e->summary;

	lc_json_line(j, 0);
	lc_json_object(j, NULL);
	lc_json_string(j, "path", s->path);
	lc_json_string(j, "state", state_names[e->state]);
	lc_json_string(j, "damage", s->damage);
	lc_json_u64(j, "start_wall_ns", s->start_wall_ns);
	lc_json_u64(j, "end_wall_ns", s->end_wall_ns);
	lc_json_u64(j, "bytes", s->bytes);
	lc_json_u64(j, "blocks", s->blocks);
	lc_json_u64(j, "periods", s->periods);
	lc_json_bool(j, "merged", s->merged);
	lc_json_by(j, &s->by);
	lc_json_array(j, "processes");
	for (size_t i = 0; i < s->processes_len; i++)
		put_process(j, &s->processes[i]);
	lc_json_end_array(j);
	lc_json_end_object(j);
}

static void write_json(const struct list *l)
{
	struct lc_json j;

	lc_json_init(&j, stdout);
	lc_json_object(&j, NULL);
	lc_json_array(&j, "profiles");
	for (size_t i = 0; i < l->len; i++)
		put_profile(&j, &l->entries[i]);
	lc_json_end_array(&j);
	lc_json_line(&j, 0);
	lc_json_array(&j, "problems");
	for (size_t i = 0; i < l->found.problems_len; i++) {
		lc_json_object(&j, NULL);
		lc_json_string(&j, "path", l->found.problems[i].path);
		lc_json_string(&j, "why", l->found.problems[i].why);
		lc_json_end_object(&j);
	}
	lc_json_end_array(&j);
	lc_json_end_object(&j);
	lc_json_finish(&j);
	putc('\n', stdout);
}

/* ---- the command ---- */

static int list(struct list *l, char **roots, size_t count)
{
	for (size_t i = 0; i < count; i++)
		lc_find_profiles(roots[i], &l->found);
	for (size_t i = 0; i < l->found.problems_len; i++) {
		lc_fail("cannot read '%s': %s", l->found.problems[i].path,
		        l->found.problems[i].why);
		l->status = LC_EXIT_PARTIAL;
	}
	read_all(l);
	qsort_r(l->entries, l->len, sizeof(*l->entries), order, l);
	if (l->json)
		write_json(l);
	if (!l->found.len)
		return l->found.problems_len
		           ? LC_EXIT_FAILED
		           : lc_fail("there is no profile in '%s'%s", roots[0],
		                     count > 1 ? " or the other directories" : "");
	if (!l->len)
		return lc_fail("none of the %zu profiles matches --where, --since and --until",
		               l->found.len);
	if (!l->json)
		write_text(l);
	return l->status;
}

static int set(void *context, int row, const char *value)
{
	struct list *l = context;
	struct lc_by none = { .len = 0 };
	int status;

	if (row == ROW_SORT)
		return lc_report_choose(&rows[row], value, &l->sort);
	if (lc_choose_processes(&l->where, &none, rows[row].name, value ? value : "", &status))
		return status;
	if (row == ROW_SINCE || row == ROW_UNTIL)
		return lc_choose_time(&rows[row], value, l->now_ns,
		                      row == ROW_SINCE ? &l->since_ns : &l->until_ns);
	l->json = true;
	return 0;
}

int lc_cmd_list(int argc, char **argv)
{
	struct lc_args args = {
		.argc = argc, .argv = argv, .table = rows, .count = ROW_COUNT, .next = 1
	};
	struct list l = { .now_ns = lc_choose_now() };
	static char here[] = ".";
	char *current = here, **roots;
	size_t count;
	int status = lc_args_read(&args, set, &l, &roots, &count);

	if (status < 0)
		status = lc_answer(status, argv[0]);
	else if (!status)
		status = list(&l, count ? roots : &current, count ? count : 1);
	for (size_t i = 0; i < l.len; i++) {
		lc_summary_free(&l.entries[i].summary);
		free(l.entries[i].host);
	}
	free(l.entries);
	lc_find_free(&l.found);
	lc_where_free(&l.where);
	free(roots);
	return status;
}
