/* SPDX-License-Identifier: Apache-2.0 */
/* commands/bench_consent.c - asks whether what stands in a profile may be run. */
#include "analyzer/commands/bench_consent.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/progress.h"
#include "analyzer/model/load.h"
#include "analyzer/out/emit.h"
#include "src/base/redact.h"

/* Nothing is cut: what is hidden could be what does harm. */
static void show_row(const char *name, const struct lc_bench_words *words, const char *between)
{
	fprintf(stderr, "  %-12s", name);
	for (size_t i = 0; i < words->len; i++) {
		fputs(i ? between : "", stderr);
		lc_emit_word(stderr, words->list[i]);
	}
	putc('\n', stderr);
}

static void show_one(const char *name, const char *word)
{
	char *list[] = { (char *)(uintptr_t)word };

	show_row(name, &(struct lc_bench_words){ .list = list, .len = 1 }, "");
}

static void show(const struct lc_bench_recorded *r)
{
	lc_note("bench: this runs a command from the profile, which anybody can have written:");
	if (r->command) {
		show_row("command", r->command, " ");
		show_one("directory", r->directory);
	}
	if (r->java)
		show_one("java", r->java);
	if (r->class_path)
		show_row("class path", r->class_path, "\n              ");
}

/* Options may be dropped of a profile of which nothing else is used. */
static void show_dropped(const struct lc_bench_words *dropped)
{
	if (!dropped->len)
		return;
	lc_progress_end();
	lc_note("bench: left out %zu of the profile's options, which may run or load something "
	        "(--trust-options keeps them):",
	        dropped->len);
	show_row("left out", dropped, " ");
}

/* Only "y" or "yes" is an agreement. */
static bool read_answer(void)
{
	char line[16] = "";

	fputs("Run it? [y/N] ", stderr);
	fflush(stderr);
	if (!fgets(line, sizeof(line), stdin))
		putc('\n', stderr);
	line[strcspn(line, "\r\n")] = '\0';
	return !strcasecmp(line, "y") || !strcasecmp(line, "yes");
}

int lc_bench_consent(const struct lc_bench_recorded *r, bool agreed)
{
	const bool any = r->command || r->java || r->class_path;

	if (any)
		show(r);
	show_dropped(r->dropped);
	if (!any || agreed)
		return 0;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return lc_usage("bench: nothing was run: there is no terminal to ask on; allow it "
		                "with --run-recorded, or give --java, --class-path and the "
		                "program's command after '--'");
	return read_answer() ? 0 : lc_fail("bench: nothing was run");
}

int lc_bench_consent_whole(const struct lc_bench_program *program,
                           const struct lc_load_process *process)
{
	const struct lc_bench_words *run = &program->run;
	const char *none = json_string_value(json_object_get(process->options, "no-arguments"));

	if (none && !strcmp(none, "on"))
		return lc_usage("bench: the profile does not have the program's arguments "
		                "(--no-arguments); write the command after '--', or use "
		                "--no-record");
	for (size_t i = 0; i < run->len; i++)
		if (strstr(run->list[i], LC_REDACTED))
			return lc_usage("bench: the profile does not have a secret of the "
			                "program's command ('%.200s'); write the command after "
			                "'--', or use --no-record",
			                run->list[i]);
	return 0;
}
