/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/holders.c - runs `locus holders`, which shows through which references a JVM's live
 * objects are held. The agent walks the heap, and answers as src/agent/holders.h says.
 */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/base/progress.h"
#include "analyzer/cli/args.h"
#include "analyzer/cli/command.h"
#include "analyzer/commands/agent_setting.h"
#include "analyzer/commands/attach_request.h"
#include "analyzer/commands/attach_target.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/json.h"

enum { FORMAT = 1, WORDS = 7, PATTERN_MAX = 512 };

#define SECOND_NS UINT64_C(1000000000)
#define PAUSE_NS_MAX (UINT64_C(3600) * SECOND_NS)
#define PAUSE_NS_DEFAULT (UINT64_C(500) * 1000000)

enum row { ROW_CLASS, ROW_SITE, ROW_PAUSE, ROW_MEMORY, ROW_FORMAT, ROW_COUNT };

static const struct lc_option_info rows[ROW_COUNT] = {
	[ROW_CLASS] = { "class", 'c', "STRING", "PATTERN", "", "",
	                "show only objects of classes whose name matches PATTERN (* and ?), such "
	                "as "
	                "'com.acme.*'" },
	[ROW_SITE] = { "site", 0, "STRING", "PATTERN", "", "",
	               "show objects that a line allocated, in a JVM that is being recorded: those "
	               "with a frame on their call path that matches PATTERN (* and ?), such as "
	               "'com.acme.Cache.fill:42'" },
	[ROW_PAUSE] = { "max-pause", 0, "DURATION", "TIME", "500ms", "ns",
	                "end the walk that stops the program after TIME, with what it has found" },
	[ROW_MEMORY] = { "max-memory", 0, "SIZE", "SIZE", "auto", "bytes",
	                 "use SIZE of memory at most; auto is what is left of the recording's, or "
	                 "of "
	                 "256 MB" },
	[ROW_FORMAT] = { "format", 'f', "CHOICE", "text|json", "text", "", "output format" },
};

struct settings {
	const char *pattern;
	bool site;                       /* the pattern is of frames, not of classes */
	uint64_t pause_ns, memory_bytes; /* 0: auto */
	bool json;
};

const struct lc_option_info *lc_cmd_holders_options(size_t *count)
{
	*count = ROW_COUNT;
	return rows;
}

static int set_pattern(struct settings *s, int row, const char *value)
{
	if (*s->pattern && s->site != (row == ROW_SITE))
		return lc_usage("name either --class or --site");
	s->pattern = value;
	s->site = row == ROW_SITE;
	return *value && strlen(value) <= PATTERN_MAX && !strpbrk(value, "\n\t")
	           ? 0
	           : lc_usage("--%s: '%.64s' is not a pattern of %s", rows[row].name, value,
	                      s->site ? "frames" : "class names");
}

static int set_option(void *context, int row, const char *value)
{
	struct settings *s = context;
	struct lc_options o;
	char error[256];

	if (row == ROW_FORMAT) {
		s->json = !strcmp(value, "json");
		return s->json || !strcmp(value, "text")
		           ? 0
		           : lc_usage("--format: '%.64s' is neither text nor json", value);
	}
	if (row == ROW_CLASS || row == ROW_SITE)
		return set_pattern(s, row, value);
	lc_options_init(&o);
	if (row == ROW_MEMORY) {
		if (lc_options_set(&o, "max-memory", value, error, sizeof(error)))
			return lc_usage("%s", error);
		s->memory_bytes = o.max_memory_bytes == LC_MAX_MEMORY_AUTO ? 0 : o.max_memory_bytes;
		return 0;
	}
	if (lc_options_set(&o, "duration", value, error, sizeof(error)) ||
	    o.duration_ns > PAUSE_NS_MAX)
		return lc_usage(
		    "--max-pause: '%.64s' is not a time from 1ms to 3600s, such as 500ms", value);
	s->pause_ns = o.duration_ns;
	return 0;
}

/* ---- the answer ---- */

/* A line of the answer: words, of which the last may have any bytes. */
struct line {
	char *word[WORDS];
	size_t len;
};

static struct line split(char *text)
{
	struct line l = { 0 };

	while (text && l.len < WORDS) {
		l.word[l.len++] = text;
		text = strchr(text, '\t');
		if (text)
			*text++ = '\0';
	}
	return l;
}

static bool is(const struct line *l, const char *kind, size_t words)
{
	return l->len == words && !strcmp(l->word[0], kind);
}

static uint64_t number(const struct line *l, size_t i)
{
	return strtoull(l->word[i], NULL, 10);
}

static void text_walk(const struct line *l)
{
	const double whole_s = ceil((double)number(l, 1) * (double)number(l, 2) /
	                            fmax(1, (double)number(l, 4)) / (double)SECOND_NS);
	char walk[32], used[32], bytes[32];

	printf("looked at %s live objects (%s); the program was stopped for at most %s\n",
	       l->word[3], lc_emit_bytes(bytes, sizeof(bytes), number(l, 4)),
	       lc_emit_duration(walk, sizeof(walk), number(l, 1)));
	lc_emit_bytes(used, sizeof(used), number(l, 2));
	if (!strcmp(l->word[5], "--max-pause"))
		printf("that is a part of the heap, of which %s are in use: to walk all of it may "
		       "stop the program for %.0f s; to do it, add --max-pause=%.0fs\n",
		       used, whole_s, 2 * whole_s);
	else if (strcmp(l->word[5], "-") != 0)
		printf("that is a part of the heap, of which %s are in use: the walk ended at %s, "
		       "which can be made larger\n",
		       used, l->word[5]);
	if (number(l, 6))
		printf("%s virtual threads were not followed, so objects that they alone hold are "
		       "missing; a longer --max-pause follows more\n",
		       l->word[6]);
}

static void text_line(const struct line *l)
{
	char bytes[32];

	if (is(l, "walk", 7)) {
		text_walk(l);
	} else if (is(l, "class", 5)) {
		printf("\n");
		lc_emit_text_c(stdout, l->word[4]);
		printf(": %s live object%s (%s); chains to %s of them\n", l->word[1],
		       number(l, 1) == 1 ? "" : "s",
		       lc_emit_bytes(bytes, sizeof(bytes), number(l, 2)), l->word[3]);
	} else if (is(l, "site", 5)) {
		printf("\n");
		lc_emit_text_c(stdout, l->word[3]);
		printf(" <- ");
		lc_emit_text_c(stdout, l->word[4]);
		printf(": %s object%s known; chains to %s of them\n", l->word[1],
		       number(l, 1) == 1 ? "" : "s", l->word[2]);
	} else if (is(l, "chain", 3)) {
		printf("%4s  ", l->word[1]);
		lc_emit_text_c(stdout, l->word[2]);
		printf("\n");
	} else if (is(l, "other", 2)) {
		printf("%4s  other chains\n", l->word[1]);
	}
}

static void json_walk(struct lc_json *j, const struct line *l)
{
	lc_json_u64(j, "walk_ns", number(l, 1));
	lc_json_u64(j, "used_bytes", number(l, 2));
	lc_json_u64(j, "objects", number(l, 3));
	lc_json_u64(j, "bytes", number(l, 4));
	lc_json_string(j, "stopped_by", strcmp(l->word[5], "-") != 0 ? l->word[5] : NULL);
	lc_json_u64(j, "virtual_threads_not_followed", number(l, 6));
	lc_json_array(j, "classes");
}

/* `in_class`: a class is open. Returns whether one is. */
static bool json_line(struct lc_json *j, const struct line *l, bool in_class)
{
	const bool site = is(l, "site", 5);

	if (is(l, "walk", 7)) {
		json_walk(j, l);
		return false;
	}
	if (site || is(l, "class", 5)) {
		if (in_class) {
			lc_json_end_array(j);
			lc_json_end_object(j);
		}
		lc_json_line(j, 1);
		lc_json_object(j, NULL);
		lc_json_string(j, "class", l->word[site ? 3 : 4]);
		if (site)
			lc_json_string(j, "allocated_at", l->word[4]);
		lc_json_u64(j, site ? "known" : "objects", number(l, 1));
		if (!site)
			lc_json_u64(j, "bytes", number(l, 2));
		lc_json_u64(j, "looked_at", number(l, site ? 2 : 3));
		lc_json_array(j, "chains");
		return true;
	}
	if (in_class && is(l, "chain", 3)) {
		lc_json_line(j, 2);
		lc_json_object(j, NULL);
		lc_json_u64(j, "objects", number(l, 1));
		lc_json_string(j, "chain", l->word[2]);
		lc_json_end_object(j);
	}
	return in_class;
}

static int read_answer(void *context, char *answer)
{
	const struct settings *s = context;
	bool in_class = false;
	struct lc_json j;

	lc_progress_end();
	if (strncmp(answer, "walk\t", 5) != 0)
		return lc_fail("the agent's answer is not one of this version of Locus");
	lc_json_init(&j, stdout);
	if (s->json) {
		lc_json_object(&j, NULL);
		lc_json_u64(&j, "format", FORMAT);
	}
	for (char *text = strtok(answer, "\n"); text; text = strtok(NULL, "\n")) {
		const struct line l = split(text);

		if (s->json)
			in_class = json_line(&j, &l, in_class);
		else
			text_line(&l);
	}
	if (in_class) {
		lc_json_end_array(&j);
		lc_json_end_object(&j);
	}
	if (s->json) {
		lc_json_end_array(&j);
		lc_json_end_object(&j);
		lc_json_finish(&j);
	}
	return 0;
}

static int show(pid_t pid, struct settings *s)
{
	const struct lc_attach_reader reader = { read_answer, s,
		                                 (unsigned)(2 * s->pause_ns / SECOND_NS) };
	char here[PATH_MAX], library[PATH_MAX];
	struct lc_attach_target t;
	char *options;
	int status;

	if (lc_agent_library("liblocus.so", here) || lc_attach_look(pid, &t) ||
	    lc_attach_become(&t))
		return LC_EXIT_FAILED;
	snprintf(library, sizeof(library), "%s", t.library);
	if (!library[0] && lc_attach_library(&t, here, library))
		return LC_EXIT_FAILED;
	options = lc_mem_text("%" PRIu64 " %" PRIu64 " %s%s", s->pause_ns, s->memory_bytes,
	                      s->site ? "@" : "", s->pattern);
	status = lc_attach_request(&t, library, "holders", options, &reader);
	free(options);
	return status;
}

int lc_cmd_holders(int argc, char **argv)
{
	struct lc_args args = { .argc = argc, .argv = argv, .next = 1 };
	struct settings s = { .pattern = "", .pause_ns = PAUSE_NS_DEFAULT };
	char **operands = NULL;
	size_t count = 0;
	pid_t pid = 0;
	int status;

	args.table = lc_cmd_holders_options(&args.count);
	status = lc_args_read(&args, set_option, &s, &operands, &count);
	if (status == LC_ARGS_HELP || status == LC_ARGS_VERSION)
		return lc_answer(status, "holders");
	if (status)
		return status;
	if (count == 1)
		status = lc_attach_pid(operands[0], &pid);
	else
		status = lc_usage("holders: name the process ID of one JVM");
	free(operands);
	return status ? status : show(pid, &s);
}
