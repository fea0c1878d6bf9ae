/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/help.c - writes the help texts, and the option lists of the manual pages, from the tables of
 * options.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/cli/args.h"
#include "analyzer/cli/command.h"
#include "analyzer/out/screen.h"

enum {
	HELP_WIDTH = 100, /* columns at most; a wider terminal gets no longer lines */
	HELP_INDENT = 28, /* column where an option's text starts */
	TOOL_INDENT = 13, /* and a command's */
	NAME_INDENT = 8   /* column where choices continue that need a second line */
};

static const struct lc_command *find_command(const char *name)
{
	size_t count;
	const struct lc_command *table = lc_command_table(&count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(table[i].name, name) == 0)
			return &table[i];
	return NULL;
}

static void begin(struct lc_screen *s, FILE *out)
{
	lc_screen_init(s, out);
	if (s->width > HELP_WIDTH)
		s->width = HELP_WIDTH;
}

/* Print "--name=a|b|c", which stands at column 2; lines break after a '|' only. */
static void print_left(const struct lc_screen *s, const char *left)
{
	unsigned used = 2;

	fputs("  ", s->out);
	while (*left) {
		size_t len = strcspn(left, "|");

		len += left[len] == '|';
		if (used > NAME_INDENT && used + len > s->width) {
			fprintf(s->out, "\n%*s", NAME_INDENT, "");
			used = NAME_INDENT;
		}
		fprintf(s->out, "%.*s", (int)len, left);
		used += (unsigned)len;
		left += len;
	}
}

static void print_option(const struct lc_screen *s, const struct lc_option_info *o)
{
	char left[128] = "    ";
	const bool value = o->argument[0] != '\0', standard = value && o->default_text[0];
	size_t len;
	char *text = lc_mem_text("%s%s%s%s", o->help, standard ? " [" : "",
	                         standard ? o->default_text : "", standard ? "]" : "");

	if (o->letter)
		snprintf(left, sizeof(left), "-%c, ", o->letter);
	len = strlen(left);
	snprintf(left + len, sizeof(left) - len, "--%s%s%s", o->name, value ? "=" : "",
	         o->argument);
	print_left(s, left);
	len = strlen(left) + 2;
	if (len > HELP_INDENT - 2)
		fprintf(s->out, "\n%*s", HELP_INDENT, "");
	else
		fprintf(s->out, "%*s", (int)(HELP_INDENT - len), "");
	lc_screen_wrap(s, HELP_INDENT, HELP_INDENT, text);
	free(text);
}

/* Print "usage: locus COMMAND ...". `operands` may be empty. */
static void print_usage(const struct lc_screen *s, const char *command, const char *operands)
{
	char *usage = lc_mem_text("usage: %s %s [OPTION]...%s%s", lc_program(), command,
	                          operands[0] ? " " : "", operands);

	lc_screen_wrap(s, 0, NAME_INDENT, usage);
	free(usage);
}

static void print_tool(FILE *out)
{
	size_t count;
	const struct lc_command *table = lc_command_table(&count);
	struct lc_screen s;

	begin(&s, out);
	print_usage(&s, "COMMAND", "[OPERAND]...");
	lc_screen_wrap(&s, 0, 0,
	               "Locus finds the objects that a Java program waits for: which line "
	               "allocated them, and which code touches them.");
	putc('\n', out);
	for (size_t i = 0; i < count; i++) {
		fprintf(out, "  %-11s", table[i].name);
		lc_screen_wrap(&s, TOOL_INDENT, TOOL_INDENT, table[i].summary);
	}
	fputs("  help       show this text, or the options of a command\n\n"
	      "  -V, --version  show the version\n",
	      out);
}

int lc_help(FILE *out, const char *command)
{
	const struct lc_command *c;
	const struct lc_option_info *options;
	struct lc_screen s;
	char *summary;
	size_t count;

	if (!command || strcmp(command, "help") == 0) {
		print_tool(out);
		return 0;
	}
	c = find_command(command);
	if (!c)
		return lc_usage("unknown command '%.64s'; '%s help' lists them", command,
		                lc_program());
	options = c->options(&count);
	begin(&s, out);
	summary = lc_mem_text("%c%s.", c->summary[0] - 'a' + 'A', c->summary + 1);
	print_usage(&s, c->name, c->operands);
	lc_screen_wrap(&s, 0, 0, summary);
	putc('\n', out);
	for (size_t i = 0; i < count; i++)
		print_option(&s, &options[i]);
	free(summary);
	fputs("  -h, --help                show this text\n"
	      "  -V, --version             show the version\n",
	      out);
	return 0;
}

void lc_version(void)
{
	printf("%s " LC_VERSION "\n", lc_program());
}

int lc_answer(int asked, const char *command)
{
	if (asked == LC_ARGS_HELP)
		return lc_help(stdout, command);
	lc_version();
	return 0;
}

/* roff takes "-" for a hyphen, "\" for an escape, and "." or "'" at the start for a request. */
static void print_roff(const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", stdout);
	for (; *text; text++) {
		if (*text == '-' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
}

/* The options of a command as the OPTIONS section of its manual page. */
static int print_manual(const char *command)
{
	const struct lc_command *c = find_command(command);
	const struct lc_option_info *o;
	size_t count;

	if (!c)
		return lc_usage("unknown command '%.64s'; '%s help' lists them", command,
		                lc_program());
	o = c->options(&count);
	for (size_t i = 0; i < count; i++, o++) {
		puts(".TP");
		if (o->letter)
			printf("\\fB\\-%c\\fR, ", o->letter);
		fputs("\\fB\\-\\-", stdout);
		print_roff(o->name);
		fputs("\\fR", stdout);
		if (o->argument[0]) {
			fputs("=\\fI", stdout);
			print_roff(o->argument);
			fputs("\\fR", stdout);
		}
		putchar('\n');
		print_roff(o->help);
		if (o->argument[0] && o->default_text[0]) {
			fputs("; default ", stdout);
			print_roff(o->default_text);
		}
		puts(".");
	}
	puts(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nShow the options.\n"
	     ".TP\n\\fB\\-V\\fR, \\fB\\-\\-version\\fR\nShow the version.");
	return 0;
}

int lc_cmd_help(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--bash") == 0) {
		lc_completion();
		return 0;
	}
	if (argc == 3 && strcmp(argv[1], "--roff") == 0)
		return print_manual(argv[2]);
	return lc_help(stdout, argc > 1 ? argv[1] : NULL);
}
