/* numa_report.c - `locus numa`: options, loading, choice of the format. */
#include "numa_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "commands.h"
#include "report.h"

enum { TOP_DEFAULT = 10 }; /* of the text; JSON holds all */

enum row { ROW_FORMAT, ROW_FILE, ROW_TOP, ROW_SIMULATE, ROW_THREAD, ROW_ENGINE, ROW_COUNT };

static const struct lc_option_info rows[ROW_COUNT] = {
	[ROW_FORMAT] = { "format", 0, "CHOICE", "text|json", "text", "", "what to write" },
	[ROW_FILE] = { "file", 'f', "STRING", "FILE", "", "", "write to FILE, not to stdout" },
	[ROW_TOP] = { "top", 'n', "COUNT", "N", "", "sites",
	              "show the first N object sites (text: 10, JSON: all)" },
	[ROW_SIMULATE] = { "simulate", 0, "STRING", "PLACEMENT", "", "",
	                   "show what the recorded accesses would be with another placement: "
	                   "interleave, first-touch-by-reader, or bind:N (all on node N)" },
	[ROW_THREAD] = { "thread", 't', "STRING", "TID|PATTERN", "", "",
	                 "count only one thread, or those whose name matches one of these patterns "
	                 "(separated by ';')" },
	[ROW_ENGINE] = { "engine", 0, "STRING", "NAME|N", "", "",
	                 "which kind of samples, where there are several: its name or number" },
};

struct settings {
	bool json;
	const char *file;
	const char *simulate;
	const char *engine;
	size_t top; /* 0: default */
	bool filtered;
	struct lc_thread_filter filter;
};

const struct lc_option_info *lc_cmd_numa_options(size_t *count)
{
	*count = ROW_COUNT;
	return rows;
}

static int parse_number(const char *text, unsigned long max, unsigned long *out)
{
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	*out = strtoul(text, &end, 10);
	return errno || *end || *out > max ? -EINVAL : 0;
}

static int set(void *context, int row, const char *value)
{
	struct settings *s = context;
	unsigned long number;

	switch ((enum row)row) {
	case ROW_FORMAT:
		s->json = !strcmp(value, "json");
		return s->json || !strcmp(value, "text")
		           ? 0
		           : lc_fail("--format: no '%.64s'; it is text or json", value);
	case ROW_FILE:
		s->file = value;
		return 0;
	case ROW_TOP:
		if (parse_number(value, UINT32_MAX, &number) || !number)
			return lc_fail("--top: '%.64s' is not a number of sites from 1", value);
		s->top = number;
		return 0;
	case ROW_SIMULATE:
		s->simulate = value;
		return 0;
	case ROW_THREAD:
		s->filtered = true;
		s->filter.by_tid = !parse_number(value, UINT32_MAX, &number);
		s->filter.tid = s->filter.by_tid ? (uint32_t)number : 0;
		s->filter.patterns = value;
		return 0;
	case ROW_ENGINE:
		s->engine = value;
		return 0;
	case ROW_COUNT:
		break;
	}
	return 1;
}

/* --simulate, once it is known which nodes there are. */
static int choose_policy(const struct lc_numa *n, const char *word, struct lc_numa_report *r)
{
	unsigned long number;

	r->simulate = word && n->state == LC_NUMA_ON;
	r->policy_text = word;
	if (!word)
		return 0;
	if (!strcmp(word, "interleave")) {
		r->policy = LC_NUMA_INTERLEAVE;
		return 0;
	}
	if (!strcmp(word, "first-touch-by-reader")) {
		r->policy = LC_NUMA_FIRST_TOUCH_BY_READER;
		return 0;
	}
	if (strncmp(word, "bind:", 5) != 0 || parse_number(word + 5, LC_NODE_NUMBERS, &number))
		return lc_fail("--simulate: no '%.64s'; it is interleave, first-touch-by-reader or "
		               "bind:N",
		               word);
	r->policy = LC_NUMA_BIND;
	if (!r->simulate)
		return 0;
	for (r->node = 0; r->node < n->nodes_len; r->node++)
		if (n->nodes[r->node].number == number)
			return 0;
	return lc_fail("--simulate: the machine of the profile has no node %lu", number);
}

/* By name or number; UINT32_MAX where none is asked for. */
static int choose_engine(const struct lc_load *l, const char *word, uint32_t *engine)
{
	unsigned long number;
	unsigned found = 0;

	*engine = UINT32_MAX;
	if (!word)
		return 0;
	if (!parse_number(word, l->engines_len, &number) && number) {
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
		return lc_fail("--engine: the profile holds no samples of '%.64s'", word);
	if (found > 1)
		return lc_fail("--engine: there are %u of name '%.64s'; give the number, 1 to %u",
		               found, word, l->engines_len);
	return 0;
}

static int write_report(const struct settings *s, const struct lc_numa_report *r)
{
	FILE *out = s->file ? fopen(s->file, "we") : stdout;
	bool bad;

	if (!out)
		return lc_fail("cannot write '%s': %s", s->file, strerror(errno));
	errno = 0;
	if (s->json) {
		fprintf(out, "{\"format\":%d,\"numa\":", LC_FORMAT_VERSION);
		lc_numa_json(out, r);
		fputs("}\n", out);
	} else {
		lc_numa_text(out, r);
	}
	bad = fflush(out) || ferror(out);
	if (s->file && fclose(out))
		bad = true;
	if (bad)
		return lc_fail("cannot write '%s': %s", s->file ? s->file : "standard output",
		               errno ? strerror(errno) : "an error occurred");
	return 0;
}

static int report(const struct settings *s, const struct lc_load *l)
{
	struct lc_numa_report r = { .top = s->top };
	struct lc_numa numa;
	uint32_t engine;
	int status;

	if (l->not_split)
		return lc_fail("--thread: the profile was merged without --keep-threads, so its "
		               "threads cannot be told apart");
	if (choose_engine(l, s->engine, &engine))
		return 1;
	if (!r.top)
		r.top = s->json ? SIZE_MAX : TOP_DEFAULT;
	lc_numa_build(&numa, l, engine);
	r.numa = &numa;
	status = choose_policy(&numa, s->simulate, &r);
	if (!status)
		status = write_report(s, &r);
	lc_numa_free(&numa);
	return status;
}

static int load_and_report(const struct settings *s, char **paths, size_t count)
{
	struct lc_tree tree;
	struct lc_load load;
	int status = 0;

	lc_tree_init(&tree);
	lc_load_init(&load);
	load.tree = &tree;
	load.filter = s->filtered ? &s->filter : NULL;
	for (size_t i = 0; i < count && !status; i++)
		status = lc_load_profile(&load, paths[i]);
	if (!status)
		status = report(s, &load);
	if (!status && lc_load_damaged(&load))
		status = LC_REPORT_PARTIAL;
	lc_load_free(&load);
	lc_tree_free(&tree);
	return status;
}

int lc_cmd_numa(int argc, char **argv)
{
	struct lc_args args = {
		.argc = argc, .argv = argv, .table = rows, .count = ROW_COUNT, .next = 1
	};
	struct settings s = { .json = false };
	char **paths;
	size_t count;
	int status = lc_args_read(&args, set, &s, &paths, &count);

	if (status == LC_ARGS_HELP)
		return lc_help(stdout, argv[0]);
	if (!status && !count)
		status = lc_fail("numa: name the profile directory; "
		                 "'locus help numa' lists the options");
	if (!status)
		status = load_and_report(&s, paths, count);
	free(paths);
	return status;
}
