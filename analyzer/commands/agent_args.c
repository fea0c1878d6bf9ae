/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/agent_args.c - runs `locus agent-args`: prints the settings that load the agent into a
 * JVM that something else starts, such as a build, a service or a container.
 *
 * The agent is an option of the JVM. If only the JVM's environment can be set, two variables do it:
 * the preloaded library passes LOCUS_AGENT to the JDK's launcher as its first argument.
 * JAVA_TOOL_OPTIONS would do, too, but then the JVM prints a line.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/cli/args.h"
#include "analyzer/cli/command.h"
#include "analyzer/cli/report_command.h"
#include "analyzer/commands/agent_setting.h"

enum { OPTIONS_MAX = 40 };

/* In the order of --for. */
enum target { FOR_SHELL, FOR_ENV, FOR_MAVEN, FOR_GRADLE, FOR_SYSTEMD, FOR_DOCKER };

static const struct lc_option_info for_option = {
	"for",
	0,
	"CHOICE",
	"shell|env|maven|gradle|systemd|docker",
	"shell",
	"",
	"form of the settings: shell commands, lines NAME=VALUE, a part of pom.xml, of "
	"build.gradle or of a systemd unit, or options of 'docker run'"
};

const struct lc_option_info *lc_cmd_agent_args_options(size_t *count)
{
	static struct lc_option_info rows[OPTIONS_MAX];
	const struct lc_option_info *table = lc_option_table(count);

	memcpy(rows, table, *count * sizeof(*table));
	rows[(*count)++] = for_option;
	return rows;
}

/* Write a text; each character of `special` becomes what stands at its place in `instead`. */
static void put(const char *text, const char *special, const char *const *instead)
{
	for (; *text; text++) {
		const char *at = strchr(special, *text);

		if (at)
			fputs(instead[at - special], stdout);
		else
			putchar(*text);
	}
}

static void put_shell(const char *text)
{
	putchar('\'');
	put(text, "'", (const char *const[]){ "'\\''" });
	putchar('\'');
}

static void put_xml(const char *text)
{
	put(text, "&<>", (const char *const[]){ "&amp;", "&lt;", "&gt;" });
}

static void put_gradle(const char *text)
{
	putchar('"');
	put(text, "\"\\$", (const char *const[]){ "\\\"", "\\\\", "\\$" });
	putchar('"');
}

/* systemd.unit(5), systemd.service(5): quotes, backslashes and specifiers. */
static void put_systemd(const char *name, const char *text)
{
	printf("Environment=\"%s=", name);
	put(text, "\"\\%", (const char *const[]){ "\\\"", "\\\\", "%%" });
	puts("\"");
}

/* Surefire divides its argLine at spaces, but not within quotes. */
static int put_maven(const char *agent)
{
	const char *quote = strchr(agent, ' ') ? "\"" : "";

	if (strpbrk(agent, "\"'"))
		return lc_fail("--for=maven: an argLine cannot hold quotes; choose other options");
	printf("<!-- in <configuration> of maven-surefire-plugin or maven-failsafe-plugin -->\n"
	       "<argLine>%s",
	       quote);
	put_xml(agent);
	printf("%s</argLine>\n", quote);
	return 0;
}

/* A directory that the container sees at the same path. */
static void put_volume(const char *file, const char *mode)
{
	char *text = lc_mem_text("%.*s", (int)(strrchr(file, '/') - file), file);
	char *both = lc_mem_text("%s:%s%s", *text ? text : "/", *text ? text : "/", mode);

	fputs("--volume ", stdout);
	put_shell(both);
	putchar(' ');
	free(both);
	free(text);
}

static void put_variable(const char *name, const char *value)
{
	char *text = lc_mem_text("%s=%s", name, value);

	fputs("--env ", stdout);
	put_shell(text);
	free(text);
}

/* The libraries, and the directory that profiles are made in. */
static void put_docker(const char *agent, const char *preload, const char *output)
{
	put_volume(preload, ":ro");
	put_volume(output, "");
	put_variable("LD_PRELOAD", preload);
	putchar(' ');
	put_variable(LC_LAUNCH_VARIABLE, agent);
	putchar('\n');
}

static int print(enum target target, const char *agent, const char *preload, const char *output)
{
	switch (target) {
	case FOR_SHELL:
		/* Behind others, some of which have to be first (AddressSanitizer). */
		fputs("export LD_PRELOAD=\"${LD_PRELOAD:+$LD_PRELOAD:}\"", stdout);
		put_shell(preload);
		fputs("\nexport " LC_LAUNCH_VARIABLE "=", stdout);
		put_shell(agent);
		putchar('\n');
		break;
	case FOR_ENV:
		printf("LD_PRELOAD=%s\n" LC_LAUNCH_VARIABLE "=%s\n", preload, agent);
		break;
	case FOR_MAVEN:
		return put_maven(agent);
	case FOR_GRADLE:
		fputs("tasks.test {\n    jvmArgs(", stdout);
		put_gradle(agent);
		puts(")\n}");
		break;
	case FOR_SYSTEMD:
		puts("[Service]");
		put_systemd("LD_PRELOAD", preload);
		put_systemd(LC_LAUNCH_VARIABLE, agent);
		break;
	case FOR_DOCKER:
		put_docker(agent, preload, output);
		break;
	}
	return 0;
}

/* Returns 0, an exit status after an error, or -1 when there is nothing more to do (help). */
static int parse(struct lc_options *o, size_t *target, int argc, char **argv)
{
	struct lc_args args = { .argc = argc, .argv = argv, .next = 1 };
	const char *value;
	char error[256];
	int row, status = 0;

	args.table = lc_cmd_agent_args_options(&args.count);
	lc_options_init(o);
	while ((row = lc_args_next(&args, &value)) >= 0) {
		if ((size_t)row == args.count - 1)
			status = lc_report_choose(&for_option, value, target);
		else if (lc_options_set(o, args.table[row].name, value, error, sizeof(error)))
			status = lc_usage("%s", error);
		if (status)
			return status;
	}
	if (row == LC_ARGS_ERROR)
		return LC_EXIT_USAGE;
	if (row == LC_ARGS_HELP || row == LC_ARGS_VERSION)
		return lc_answer(row, "agent-args") ? 1 : -1;
	if (row == LC_ARGS_OPERAND)
		return lc_usage("agent-args: unexpected argument '%.64s'; 'locus help agent-args' "
		                "lists the options",
		                value);
	return lc_options_check(o, error, sizeof(error)) ? lc_usage("%s", error) : 0;
}

int lc_cmd_agent_args(int argc, char **argv)
{
	char library[PATH_MAX], preload[PATH_MAX], *agent;
	struct lc_options options;
	size_t target = FOR_SHELL;
	int status = parse(&options, &target, argc, argv);

	if (status)
		return status < 0 ? 0 : status;
	status = lc_agent_output(&options);
	if (status)
		return status;
	if (lc_agent_library("liblocus.so", library) ||
	    lc_agent_library("liblocus-preload.so", preload) ||
	    lc_agent_argument(library, &options, &agent))
		return LC_EXIT_FAILED;
	status = print((enum target)target, agent, preload, options.output);
	free(agent);
	return status;
}
