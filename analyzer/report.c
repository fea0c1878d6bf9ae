/* report.c - `locus report`: options, loading, choice of the format. */
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "commands.h"
#include "sharing.h"
#include "source.h"
#include "util.h"

enum { TOP_DEFAULT = 10 }; /* of the text; the other formats hold all */

enum row { ROW_FORMAT, ROW_FILE, ROW_TOP, ROW_SORT, ROW_THREAD, ROW_ENGINE, ROW_SOURCE, ROW_COUNT };

static const struct lc_option_info rows[ROW_COUNT] = {
	[ROW_FORMAT] = { "format", 0, "CHOICE", "text|json|html|collapsed", "text", "",
	                 "what to write; collapsed is for flame graphs" },
	[ROW_FILE] = { "file", 'f', "STRING", "FILE", "", "", "write to FILE, not to stdout" },
	[ROW_TOP] = { "top", 'n', "COUNT", "N", "", "sites",
	              "show the first N object sites (text: 10, the others: all)" },
	[ROW_SORT] = { "sort", 0, "CHOICE", "samples|bytes|allocations|class", "samples", "",
	               "order of the object sites" },
	[ROW_THREAD] = { "thread", 't', "STRING", "TID|PATTERN", "", "",
	                 "count only one thread, or those whose name matches one of these patterns "
	                 "(separated by ';')" },
	[ROW_ENGINE] = { "engine", 0, "STRING", "NAME|N", "", "",
	                 "which kind of samples, where there are several: its name or number" },
	[ROW_SOURCE] = { "source-path", 0, "STRING", "PATH", "", "",
	                 "directories and jars, separated by ':', that hold source files" },
};

static const char *const formats[] = { "text", "json", "html", "collapsed", NULL };
static const char *const sorts[] = { "samples", "bytes", "allocations", "class", NULL };

struct settings {
	size_t format; /* into formats */
	size_t sort;   /* into sorts */
	const char *file;
	const char *engine;
	const char *source_path;
	size_t top; /* 0: default */
	bool filtered;
	struct lc_thread_filter filter;
};

const struct lc_option_info *lc_cmd_report_options(size_t *count)
{
	*count = ROW_COUNT;
	return rows;
}

static int choose(const char *const *words, const char *word, enum row row, size_t *out)
{
	size_t count = 0;
	const char *near;

	for (; words[count]; count++) {
		if (strcmp(words[count], word) == 0) {
			*out = count;
			return 0;
		}
	}
	near = lc_options_nearest(word, words, count);
	if (near)
		return lc_fail("--%s: no '%.64s'; did you mean '%s'?", rows[row].name, word, near);
	return lc_fail("--%s: no '%.64s'; it is one of %s", rows[row].name, word,
	               rows[row].argument);
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
		return choose(formats, value, ROW_FORMAT, &s->format);
	case ROW_SORT:
		return choose(sorts, value, ROW_SORT, &s->sort);
	case ROW_TOP:
		if (parse_number(value, UINT32_MAX, &number) || !number)
			return lc_fail("--top: '%.64s' is not a number of sites from 1", value);
		s->top = number;
		return 0;
	case ROW_THREAD:
		s->filtered = true;
		s->filter.by_tid = !parse_number(value, UINT32_MAX, &number);
		s->filter.tid = s->filter.by_tid ? (uint32_t)number : 0;
		s->filter.patterns = value;
		return 0;
	case ROW_FILE:
		s->file = value;
		return 0;
	case ROW_ENGINE:
		s->engine = value;
		return 0;
	case ROW_SOURCE:
		s->source_path = value;
		return 0;
	case ROW_COUNT:
		break;
	}
	return 1;
}

static uint64_t engine_samples(const struct lc_tree *t, uint32_t engine)
{
	uint64_t sum = 0;

	for (unsigned b = 0; b < LC_BUCKET_COUNT; b++)
		sum += t->buckets[engine][b];
	return sum;
}

/* By name or number; without a word, the engine that has the most samples. */
static int choose_engine(const struct lc_load *l, const char *word, uint32_t *engine)
{
	unsigned long number;
	unsigned found = 0;

	*engine = 0;
	if (word && !parse_number(word, l->engines_len, &number) && number) {
		*engine = (uint32_t)number - 1;
		return 0;
	}
	for (uint32_t i = 0; i < l->engines_len; i++) {
		if (word && strcmp(word, l->engines[i].name) == 0) {
			*engine = i;
			found++;
		} else if (!word && engine_samples(l->tree, i) > engine_samples(l->tree, *engine)) {
			*engine = i;
		}
	}
	if (word && !found)
		return lc_fail("--engine: the profile holds no samples of '%.64s'", word);
	if (found > 1)
		return lc_fail("--engine: there are %u of name '%.64s'; give the number, 1 to %u",
		               found, word, l->engines_len);
	return 0;
}

uint64_t lc_report_counted(const struct lc_load *l, const struct lc_load_engine *e)
{
	unsigned number = 0, watches = 0;
	char name[64];

	if (strcmp(e->name, "watch") != 0)
		return 0;
	for (uint32_t i = 0; i < l->engines_len; i++) {
		watches += strcmp(l->engines[i].name, "watch") == 0;
		if (&l->engines[i] == e)
			number = watches;
	}
	/* Counters are numbered within a process: with several, which is whose is not known. */
	if (watches > 1 && l->processes_len > 1)
		return 0;
	snprintf(name, sizeof(name),
	         number == 1 ? "engine_watch_counted" : "engine_watch_%u_counted", number);
	return lc_load_counter(l, name);
}

const char *lc_report_advice(const struct lc_view *v, const struct lc_sharing_finding *f)
{
	struct lc_text name = { "", 0 };

	if (f->sides[0].site)
		name = lc_tree_text(v->tree,
		                    lc_table_key(&v->tree->sites, f->sides[0].site)[LC_SITE_CLASS]);
	if (f->sides[0].site != f->sides[1].site || f->sides[0].bucket != f->sides[1].bucket)
		return "neighbours in memory: allocate them apart, pad the one that is written to "
		       "128 "
		       "bytes or mark it @Contended, or give each thread a copy";
	if (name.len > 2 && memcmp(name.bytes + name.len - 2, "[]", 2) == 0)
		return "use elements that lie 128 bytes apart for different threads, or let each "
		       "thread count in a local copy and add up at the end";
	return "put 128 bytes of padding between the fields or mark one of them @Contended "
	       "(-XX:-RestrictContended), or move what one thread writes to an object of its own";
}

const char *lc_report_assumption(enum lc_split_method method)
{
	return method == LC_SPLIT_HITS
	           ? "from accesses to objects whose allocation was sampled"
	           : "assuming that live objects of the class are accessed alike, wherever they "
	             "were allocated";
}

static int write_report(const struct settings *s, const struct lc_report *r)
{
	static void (*const writers[])(FILE *, const struct lc_report *) = {
		lc_report_text,
		lc_report_json,
		lc_report_html,
		lc_report_collapsed,
	};
	FILE *out = s->file ? fopen(s->file, "we") : stdout;
	bool bad;

	if (!out)
		return lc_fail("cannot write '%s': %s", s->file, strerror(errno));
	errno = 0;
	writers[s->format](out, r);
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
	struct lc_report r = { .top = s->top, .filtered = s->filtered };
	struct lc_sharing sharing;
	struct lc_view view;
	uint32_t engine;
	int status;

	if (choose_engine(l, s->engine, &engine))
		return 1;
	if (s->source_path && lc_source_open(s->source_path, &r.source))
		return 1;
	if (!r.top)
		r.top = s->format ? SIZE_MAX : TOP_DEFAULT;
	r.engine = &l->engines[engine];
	r.view = &view;
	lc_view_build(&view, l, engine, (enum lc_view_sort)s->sort);
	lc_sharing_find(&sharing, &view);
	r.sharing = &sharing;
	status = write_report(s, &r);
	lc_sharing_free(&sharing);
	lc_view_free(&view);
	lc_source_close(r.source);
	return status;
}

/* Why there is nothing to report, in one line. */
static int nothing(const struct settings *s, const struct lc_load *l, const char *path)
{
	if (l->not_split)
		return lc_fail("--thread: '%s' was merged without --keep-threads, so its threads "
		               "cannot be told apart; report the profiles that went into it",
		               path);
	if (s->filtered)
		return lc_fail("--thread: '%.64s' fits no thread that has samples or allocations",
		               s->filter.patterns);
	return lc_fail("'%s' is empty: no sample was taken and no allocation tracked; did the "
	               "program run long enough, and was --min-size small enough?",
	               path);
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
	if (!status && (lc_tree_empty(&tree) || load.not_split))
		status = nothing(s, &load, paths[0]);
	else if (!status)
		status = report(s, &load);
	if (!status && lc_load_damaged(&load))
		status = LC_REPORT_PARTIAL;
	lc_load_free(&load);
	lc_tree_free(&tree);
	return status;
}

int lc_cmd_report(int argc, char **argv)
{
	struct lc_args args = {
		.argc = argc, .argv = argv, .table = rows, .count = ROW_COUNT, .next = 1
	};
	struct settings s = { .format = 0 };
	char **paths;
	size_t count;
	int status = lc_args_read(&args, set, &s, &paths, &count);

	if (status == LC_ARGS_HELP)
		return lc_help(stdout, argv[0]);
	if (!status && !count)
		status = lc_fail("report: name the profile directory; "
		                 "'locus help report' lists the options");
	if (!status)
		status = load_and_report(&s, paths, count);
	free(paths);
	return status;
}
