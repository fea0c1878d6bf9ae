/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp/mcp_tools.c - has the table of tools. A tool's parameters are checked by the same rows that
 * its schema is made of, and most become options of the command that the tool runs.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/base/memory.h"
#include "analyzer/mcp/mcp.h"
#include "analyzer/mcp/mcp_next.h"

enum { LIMIT = 10, LIMIT_MAX = 200, TEXT_MAX = 4096, LIST_MAX = 20, SECONDS_MAX = 600 };

enum type { TYPE_TEXT, TYPE_LIST, TYPE_NUMBER };

enum parameter {
	PROFILE,
	BEFORE,
	AFTER,
	VIEW,
	GROUP,
	INCLUDE,
	EXCLUDE,
	THREAD,
	CLASS,
	LIMITED,
	ROW,
	PID,
	SECONDS,
	PARAMETERS
};

static const struct {
	const char *name, *option; /* option: what the value is given to the command as */
	enum type type;
	json_int_t max; /* of a number, from 1 */
	const char *choices, *about;
} parameters[PARAMETERS] = {
	[PROFILE] = { "profile", NULL, TYPE_TEXT, 0, NULL, "a path that list_profiles gave" },
	[BEFORE] = { "before", NULL, TYPE_TEXT, 0, NULL, "the profile before a change" },
	[AFTER] = { "after", NULL, TYPE_TEXT, 0, NULL, "the profile after a change" },
	[VIEW] = { "view", "--view=", TYPE_TEXT, 0,
	           "brief|objects|code|alloc|live|footprint|offheap|sharing|numa|spans|threads|"
	           "recording",
	           "the part to show; default: brief" },
	[GROUP] = { "group", "--group=", TYPE_TEXT, 0,
	            "class+line|class|field|package|site|context",
	            "what one row stands for; default: class+line, a class and the line that "
	            "allocates it" },
	[INCLUDE] = { "include", "--include=", TYPE_LIST, 0, NULL,
	              "count only call paths that contain each of these frames: a part of "
	              "Class.method, or a pattern with * and ?" },
	[EXCLUDE] = { "exclude", "--exclude=", TYPE_LIST, 0, NULL,
	              "ignore call paths that contain one of these frames" },
	[THREAD] = { "thread", "--thread=", TYPE_TEXT, 0, NULL,
	             "count only threads whose name matches this pattern" },
	[CLASS] = { "class", NULL, TYPE_TEXT, 0, NULL, "only lines of this class" },
	[LIMITED] = { "limit", "--top=", TYPE_NUMBER, LIMIT_MAX, NULL,
	              "the most rows; default: 10" },
	[ROW] = { "row", "--top=", TYPE_NUMBER, LIMIT_MAX, NULL, "number of the row, from 1" },
	[PID] = { "pid", NULL, TYPE_NUMBER, INT32_MAX, NULL, "process ID of a JVM of this user" },
	[SECONDS] = { "seconds", NULL, TYPE_NUMBER, SECONDS_MAX, NULL, "how long to record" },
};

#define BIT(parameter) (1u << (parameter))
#define FILTERS (BIT(GROUP) | BIT(INCLUDE) | BIT(EXCLUDE) | BIT(THREAD))

struct request {
	const struct lc_mcp *m;
	const json_t *arguments;
	char *profiles[2]; /* PROFILE, or BEFORE and AFTER */
	char **problem;
};

struct tool {
	const char *name, *about;
	unsigned required, optional; /* parameters */
	json_t *(*call)(const struct request *r, const struct tool *tool);
	bool records;
};

/* ---- arguments ---- */

static bool is_choice(const char *choices, const char *value)
{
	const size_t len = strlen(value);

	for (const char *at = choices; at; at = strchr(at, '|')) {
		at += *at == '|';
		if (!strncmp(at, value, len) && (!at[len] || at[len] == '|'))
			return len > 0;
	}
	return !choices;
}

static bool is_text(const json_t *value, const char *choices)
{
	const char *text = json_string_value(value);

	return text && json_string_length(value) <= TEXT_MAX && !strchr(text, '\n') &&
	       is_choice(choices, text);
}

static bool is_good(enum parameter p, const json_t *value)
{
	const json_t *one;
	size_t i;

	switch (parameters[p].type) {
	case TYPE_TEXT:
		return is_text(value, parameters[p].choices);
	case TYPE_NUMBER:
		return json_is_integer(value) && json_integer_value(value) >= 1 &&
		       json_integer_value(value) <= parameters[p].max;
	default:
		break;
	}
	if (!json_is_array(value) || json_array_size(value) > LIST_MAX)
		return false;
	json_array_foreach(value, i, one)
	{
		if (!is_text(one, NULL))
			return false;
	}
	return true;
}

/* Returns a text of what is wrong, or NULL. */
static char *check(const struct tool *tool, const json_t *arguments)
{
	const char *name;
	json_t *value;

	for (unsigned p = 0; p < PARAMETERS; p++) {
		const json_t *given = json_object_get(arguments, parameters[p].name);

		if (given ? (tool->required | tool->optional) & BIT(p) && !is_good(p, given)
		          : (tool->required & BIT(p)) != 0)
			return lc_mem_text("'%s' is missing or wrong: %s", parameters[p].name,
			                   parameters[p].about);
	}
	json_object_foreach((json_t *)(uintptr_t)arguments, name, value)
	{
		unsigned p = 0;

		while (p < PARAMETERS && strcmp(parameters[p].name, name) != 0)
			p++;
		if (p == PARAMETERS || !((tool->required | tool->optional) & BIT(p)))
			return lc_mem_text("'%.100s' has no parameter '%.100s'", tool->name, name);
	}
	return NULL;
}

static json_int_t number_of(const struct request *r, enum parameter p, json_int_t otherwise)
{
	const json_t *value = json_object_get(r->arguments, parameters[p].name);

	return value ? json_integer_value(value) : otherwise;
}

/* ---- commands ---- */

struct words {
	char *list[LC_MCP_WORDS_MAX];
	size_t len;
};

static void add(struct words *w, char *word)
{
	if (w->len + 1 < LC_MCP_WORDS_MAX)
		w->list[w->len++] = word;
	else
		free(word);
}

/* The options of the tool's parameters. A value is never a word of its own. */
static void add_options(struct words *w, const struct request *r, const struct tool *tool)
{
	for (unsigned p = 0; p < PARAMETERS; p++) {
		const json_t *value = json_object_get(r->arguments, parameters[p].name), *one;
		const char *option = parameters[p].option;
		size_t i;

		if (!option || !((tool->required | tool->optional) & BIT(p)))
			continue;
		if (parameters[p].type == TYPE_NUMBER)
			add(w,
			    lc_mem_text("%s%" JSON_INTEGER_FORMAT, option, number_of(r, p, LIMIT)));
		else if (json_is_string(value))
			add(w, lc_mem_text("%s%s", option, json_string_value(value)));
		json_array_foreach(value, i, one)
		{
			add(w, lc_mem_text("%s%s", option, json_string_value(one)));
		}
	}
}

/* Run it and free its words. NULL with *r->problem where it fails. */
static char *run(struct words *w, const struct request *r)
{
	struct lc_mcp_output out = { NULL, NULL };

	r->m->run(w->list, &out);
	for (size_t i = 0; i < w->len; i++)
		free(w->list[i]);
	if (out.text) {
		free(out.problem);
		return out.text;
	}
	*r->problem = out.problem ? out.problem : lc_mem_text("the command failed");
	return NULL;
}

static char *run_on_profiles(const struct request *r, const struct tool *tool, const char *command,
                             const char *format)
{
	struct words w = { .len = 0 };

	add(&w, lc_mem_text("%s", r->m->self));
	add(&w, lc_mem_text("%s", command));
	add(&w, lc_mem_text("--format=%s", format));
	add_options(&w, r, tool);
	add(&w, lc_mem_text("--"));
	for (size_t i = 0; i < 2; i++)
		if (r->profiles[i])
			add(&w, lc_mem_text("%s", r->profiles[i]));
	return run(&w, r);
}

static json_t *json_of(char *text, const struct request *r)
{
	json_t *found = text ? json_loads(text, 0, NULL) : NULL;

	if (text && !json_is_object(found)) {
		json_decref(found);
		found = NULL;
		*r->problem = lc_mem_text("the report is no JSON");
	}
	free(text);
	return found;
}

static json_t *report_of(const struct request *r, const struct tool *tool)
{
	return json_of(run_on_profiles(r, tool, "report", "json"), r);
}

/* ---- tools ---- */

static json_t *list_profiles(const struct request *r, const struct tool *tool)
{
	struct words w = { .len = 0 };
	json_t *all, *profiles, *row;
	size_t i;

	(void)tool;
	add(&w, lc_mem_text("%s", r->m->self));
	add(&w, lc_mem_text("list"));
	add(&w, lc_mem_text("--json"));
	add(&w, lc_mem_text("--"));
	for (i = 0; i < r->m->roots_len; i++)
		add(&w, lc_mem_text("%s", r->m->roots[i]));
	all = json_of(run(&w, r), r);
	profiles = json_object_get(all, "profiles");
	for (i = json_array_size(profiles); i-- > 0;) {
		const char *path;
		char *found = NULL, *why = NULL;

		row = json_array_get(profiles, i);
		path = json_string_value(json_object_get(row, "path"));
		if (path)
			found = lc_mcp_profile(r->m, path, &why);
		if (!found)
			json_array_remove(profiles, i);
		free(found);
		free(why);
	}
	return all;
}

/* A view is text, as the terminal has it: it escapes control characters. */
static json_t *report(const struct request *r, const struct tool *tool)
{
	char *text = run_on_profiles(r, tool, "report", "text");
	json_t *found =
	    text ? json_pack("{s:s,s:s}", "profile", r->profiles[0], "text", text) : NULL;

	if (text && !found)
		*r->problem = lc_mem_text("the report is not UTF-8");
	free(text);
	return found;
}

/* Keep the members that are named. It takes over `from`. */
static json_t *only(json_t *from, const char *const *names, size_t count)
{
	json_t *found = from ? json_object() : NULL;

	for (size_t i = 0; i < count && found; i++) {
		json_t *value = json_object_get(from, names[i]);

		if (value)
			json_object_set(found, names[i], value);
	}
	json_decref(from);
	return found;
}

#define ONLY(from, ...)                                                                            \
	only(from, (const char *const[]){ __VA_ARGS__ },                                           \
	     sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static json_t *findings(const struct request *r, const struct tool *tool)
{
	return ONLY(report_of(r, tool), "program", "engine", "samples", "bill", "findings",
	            "no_finding", "unexplained", "damage");
}

static json_t *objects(const struct request *r, const struct tool *tool)
{
	json_t *all = report_of(r, tool), *rows, *row;
	const json_t *ranking = json_object_get(all, "ranking");
	size_t i;

	rows = all ? json_array() : NULL;
	json_array_foreach(json_object_get(ranking, "rows"), i, row)
	{
		if (i < (size_t)number_of(r, LIMITED, LIMIT))
			json_array_append_new(rows, ONLY(json_incref(row), "class", "field",
			                                 "package", "allocated_at", "no_line",
			                                 "rest", "samples", "estimated", "share",
			                                 "low", "high", "allocations", "bytes"));
	}
	json_decref(all);
	return rows ? json_pack("{s:o}", "rows", rows) : NULL;
}

static json_t *one_row(const struct request *r, const struct tool *tool)
{
	const size_t number = (size_t)number_of(r, ROW, 1);
	json_t *all = report_of(r, tool), *found = NULL;
	const json_t *rows = json_object_get(json_object_get(all, "ranking"), "rows");

	if (all && number > json_array_size(rows))
		*r->problem = lc_mem_text("the report has %zu rows", json_array_size(rows));
	else if (all)
		found = json_pack("{s:O}", "row", json_array_get(rows, number - 1));
	json_decref(all);
	return found;
}

static json_t *source_lines(const struct request *r, const struct tool *tool)
{
	const char *wanted = json_string_value(json_object_get(r->arguments, "class")), *of;
	const size_t limit = (size_t)number_of(r, LIMITED, LIMIT);
	json_t *all = report_of(r, tool), *lines = all ? json_array() : NULL, *line;
	size_t i;

	json_array_foreach(json_object_get(json_object_get(all, "code"), "lines"), i, line)
	{
		of = json_string_value(json_object_get(line, "class"));
		if (json_array_size(lines) < limit && (!wanted || (of && !strcmp(of, wanted))))
			json_array_append(lines, line);
	}
	json_decref(all);
	return lines ? json_pack("{s:o}", "lines", lines) : NULL;
}

static json_t *diff(const struct request *r, const struct tool *tool)
{
	return json_of(run_on_profiles(r, tool, "diff", "json"), r);
}

static json_t *next(const struct request *r, const struct tool *tool)
{
	json_t *all = report_of(r, tool);
	json_t *found = all ? lc_mcp_next(all, r->profiles[0]) : NULL;

	json_decref(all);
	return found;
}

/* An attach for a time, below the first root. */
static json_t *record(const struct request *r, const struct tool *tool)
{
	const json_int_t pid = number_of(r, PID, 0);
	char *proc = lc_mem_text("/proc/%" JSON_INTEGER_FORMAT, pid);
	struct words w = { .len = 0 };
	struct stat st;
	char *text;

	(void)tool;
	/* Locus attaches as root to any JVM: this server does not. */
	if (stat(proc, &st) || st.st_uid != geteuid())
		*r->problem = lc_mem_text("there is no such process of this user");
	free(proc);
	if (*r->problem)
		return NULL;
	add(&w, lc_mem_text("%s", r->m->self));
	add(&w, lc_mem_text("attach"));
	add(&w, lc_mem_text("--duration=%" JSON_INTEGER_FORMAT "s", number_of(r, SECONDS, 0)));
	add(&w, lc_mem_text("--output=%s/locus-%%p-%%t", r->m->roots[0]));
	add(&w, lc_mem_text("%" JSON_INTEGER_FORMAT, pid));
	text = run(&w, r);
	if (!text)
		return NULL;
	free(text);
	return json_pack("{s:s}", "note",
	                 "the recording has begun; list_profiles shows its profile "
	                 "as running until it ends");
}

static const struct tool tools[] = {
	{ "list_profiles", "List the profiles that this server may read.", 0, 0, list_profiles,
	  false },
	{ "findings",
	  "The likely costs of a profile, with the change to try and its gain; also where the CPU "
	  "time went.",
	  BIT(PROFILE), (FILTERS & ~BIT(GROUP)) | BIT(LIMITED), findings, false },
	{ "report", "One view of the report as text.", BIT(PROFILE),
	  FILTERS | BIT(VIEW) | BIT(LIMITED), report, false },
	{ "objects", "The ranking of objects by samples: class, allocating line, share, interval.",
	  BIT(PROFILE), FILTERS | BIT(LIMITED), objects, false },
	{ "row",
	  "All that is known of one row of the ranking: fields, accessing lines and callers, "
	  "sites.",
	  BIT(PROFILE) | BIT(ROW), FILTERS, one_row, false },
	{ "source_lines", "The source lines with most samples.", BIT(PROFILE),
	  (FILTERS & ~BIT(GROUP)) | BIT(CLASS) | BIT(LIMITED), source_lines, false },
	{ "diff", "The changes between two profiles.", BIT(BEFORE) | BIT(AFTER),
	  FILTERS | BIT(LIMITED), diff, false },
	{ "next_recording", "Options of 'locus run' that would tell more than this profile does.",
	  BIT(PROFILE), 0, next, false },
	{ "record", "Record a running JVM of this user for a time.", BIT(PID) | BIT(SECONDS), 0,
	  record, true },
};
enum { TOOLS = sizeof(tools) / sizeof(tools[0]) };

/* ---- the list and the call ---- */

static json_t *schema_of(enum parameter p)
{
	static const char *const types[] = { "string", "array", "integer" };
	json_t *schema = json_pack("{s:s,s:s}", "type", types[parameters[p].type], "description",
	                           parameters[p].about);
	const char *at = parameters[p].choices;

	if (at)
		json_object_set_new(schema, "enum", json_array());
	for (; at; at = strchr(at, '|')) {
		at += *at == '|';
		json_array_append_new(json_object_get(schema, "enum"),
		                      json_stringn(at, strcspn(at, "|")));
	}
	if (parameters[p].type == TYPE_NUMBER)
		json_object_update_new(
		    schema, json_pack("{s:i,s:I}", "minimum", 1, "maximum", parameters[p].max));
	if (parameters[p].type == TYPE_LIST)
		json_object_set_new(schema, "items", json_pack("{s:s}", "type", "string"));
	return schema;
}

json_t *lc_mcp_tools(const struct lc_mcp *m)
{
	json_t *list = json_array();

	for (size_t i = 0; i < TOOLS; i++) {
		json_t *all = json_object(), *required = json_array();

		for (unsigned p = 0; p < PARAMETERS; p++) {
			if ((tools[i].required | tools[i].optional) & BIT(p))
				json_object_set_new(all, parameters[p].name, schema_of(p));
			if (tools[i].required & BIT(p))
				json_array_append_new(required, json_string(parameters[p].name));
		}
		if (!tools[i].records || m->allow_record)
			json_array_append_new(
			    list, json_pack("{s:s,s:s,s:{s:s,s:O,s:O,s:b},s:{s:b}}", "name",
			                    tools[i].name, "description", tools[i].about,
			                    "inputSchema", "type", "object", "properties", all,
			                    "required", required, "additionalProperties", 0,
			                    "annotations", "readOnlyHint", !tools[i].records));
		json_decref(all);
		json_decref(required);
	}
	return list;
}

json_t *lc_mcp_call(const struct lc_mcp *m, const char *name, const json_t *arguments,
                    char **problem)
{
	static const enum parameter paths[] = { PROFILE, BEFORE, AFTER };
	struct request *r;
	const struct tool *tool = tools;
	json_t *found = NULL;
	size_t len = 0;

	while (tool < tools + TOOLS &&
	       (strcmp(tool->name, name) != 0 || (tool->records && !m->allow_record)))
		tool++;
	if (tool == tools + TOOLS)
		return NULL;
	r = lc_mem_zeroed(1, sizeof(*r));
	*r = (struct request){ .m = m, .arguments = arguments, .problem = problem };
	*problem = check(tool, arguments);
	for (size_t i = 0; i < 3 && !*problem; i++)
		if (tool->required & BIT(paths[i]))
			r->profiles[len++] =
			    lc_mcp_profile(m,
			                   json_string_value(json_object_get(
			                       arguments, parameters[paths[i]].name)),
			                   problem);
	if (!*problem)
		found = tool->call(r, tool);
	free(r->profiles[0]);
	free(r->profiles[1]);
	free(r);
	if (!found && !*problem)
		*problem = lc_mem_text("the report lacks what the tool needs");
	return found;
}
