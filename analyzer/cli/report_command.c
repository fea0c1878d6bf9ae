/* cli/report_command.c - does for each report command what is the same in all of them. */
#include "analyzer/cli/report_command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/fail.h"
#include "analyzer/cli/command.h"
#include "analyzer/out/text.h"
#include "src/base/nearest.h"

enum { COMMAND_BYTES_MAX = 400, CHOICES_MAX = 16 };

int lc_report_number(const char *text, unsigned long max, unsigned long *out)
{
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	*out = strtoul(text, &end, 10);
	return errno || *end || *out > max ? -EINVAL : 0;
}

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
		return lc_fail("--%s: no '%.64s'; did you mean '%s'?", row->name, word, near);
	return lc_fail("--%s: no '%.64s'; it is one of %s", row->name, word, row->argument);
}

static int set_top(struct lc_report_settings *s, const char *value, const char *what)
{
	unsigned long number;

	if (lc_report_number(value, UINT32_MAX, &number) || !number)
		return lc_fail("--top: '%.64s' is not a number of %s from 1", value, what);
	s->top = number;
	return 0;
}

static void set_thread(struct lc_report_settings *s, const char *value)
{
	unsigned long number;

	s->filtered = true;
	s->filter.by_tid = !lc_report_number(value, UINT32_MAX, &number);
	s->filter.tid = s->filter.by_tid ? (uint32_t)number : 0;
	s->filter.patterns = value;
}

/* For lc_args_read(): the options of all commands, and those of this one. */
static int set_option(void *context, int row, const char *value)
{
	const struct lc_report_command *c = context;
	const struct lc_option_info *info = &c->rows[row];

	if (!strcmp(info->name, "top"))
		return set_top(c->settings, value, info->unit);
	if (!strcmp(info->name, "file"))
		c->settings->file = value;
	else if (!strcmp(info->name, "engine"))
		c->settings->engine = value;
	else if (!strcmp(info->name, "thread"))
		set_thread(c->settings, value);
	else
		return c->set(c->context, row, value);
	return 0;
}

int lc_report_check_threads(const struct lc_load *l)
{
	if (l->not_split)
		return lc_fail("--thread: the profile was merged without --keep-threads, so its "
		               "threads cannot be told apart");
	return 0;
}

int lc_report_find_engine(const struct lc_load *l, const char *word, uint32_t *engine)
{
	unsigned long number;
	unsigned found = 0;

	if (!lc_report_number(word, l->engines_len, &number) && number) {
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

void lc_report_program(FILE *out, const struct lc_load *l)
{
	const struct lc_load_process *p = l->processes;
	char text[32];

	if (!l->processes_len)
		return;
	fputs("program   ", out);
	if (l->processes_len > 1)
		fprintf(out, "%zu processes, the first is:\n          ", l->processes_len);
	put_command(out, p->command);
	fprintf(out, "\n          pid %" PRId64 ", %s", p->pid,
	        *p->jdk >= '0' && *p->jdk <= '9' ? "JDK " : "");
	lc_emit_text_c(out, p->jdk);
	fputs(", ", out);
	lc_emit_text_c(out, p->gc);
	if (p->start_monotonic_ns && lc_load_end_ns(p) > p->start_monotonic_ns)
		fprintf(out, ", %s",
		        lc_emit_duration(text, sizeof(text),
		                         lc_load_end_ns(p) - p->start_monotonic_ns));
	putc('\n', out);
}

FILE *lc_report_open(const char *file)
{
	FILE *out = file ? fopen(file, "we") : stdout;

	if (!out)
		lc_fail("cannot write '%s': %s", file, strerror(errno));
	errno = 0;
	return out;
}

int lc_report_close(FILE *out, const char *file)
{
	bool bad = fflush(out) || ferror(out);

	if (file && fclose(out))
		bad = true;
	if (bad)
		return lc_fail("cannot write '%s': %s", file ? file : "standard output",
		               errno ? strerror(errno) : "an error occurred");
	return 0;
}

static int load_and_report(const struct lc_report_command *c, char **paths, size_t count)
{
	struct lc_tree tree;
	struct lc_load load;
	int status = 0;

	lc_tree_init(&tree);
	lc_load_init(&load);
	load.tree = &tree;
	load.filter = c->settings->filtered ? &c->settings->filter : NULL;
	for (size_t i = 0; i < count && !status; i++)
		status = lc_load_profile(&load, paths[i]);
	if (!status)
		status = c->report(c->context, &load, paths[0]);
	if (!status && lc_load_damaged(&load))
		status = LC_REPORT_PARTIAL;
	lc_load_free(&load);
	lc_tree_free(&tree);
	return status;
}

int lc_report_run(const struct lc_report_command *c, int argc, char **argv)
{
	struct lc_args args = {
		.argc = argc, .argv = argv, .table = c->rows, .count = c->rows_len, .next = 1
	};
	char **paths;
	size_t count;
	int status = lc_args_read(&args, set_option, (void *)(uintptr_t)c, &paths, &count);

	if (status == LC_ARGS_HELP)
		return lc_help(stdout, argv[0]);
	if (!status && !count)
		status =
		    lc_fail("%s: name the profile directory; 'locus help %s' lists the options",
		            argv[0], argv[0]);
	if (!status)
		status = load_and_report(c, paths, count);
	free(paths);
	return status;
}
