/* SPDX-License-Identifier: Apache-2.0 */
/* objects/text/report_next.c - quotes a profile and a command for the shell. */
#include "analyzer/objects/text/report_next.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/findings.h"
#include "analyzer/objects/analysis/no_line.h"
#include "analyzer/out/emit.h"
#include "analyzer/out/screen.h"
#include "src/base/redact.h"

/* Is a hot row shown whose line a recording that tracks its class would have? */
static bool lacks_line(const struct lc_report *r)
{
	for (size_t i = 0; i < r->ranking->shown && i < r->top && i < LC_TRACK_FROM_ROWS; i++) {
		const enum lc_no_line why = lc_no_line_of(r->ranking, &r->ranking->rows[i]);

		if (r->ranking->rows[i].low >= LC_FINDING_SHARE_MIN &&
		    (why == LC_LINE_UNKNOWN || why == LC_LINE_BEFORE))
			return true;
	}
	return false;
}

/* Do words that name files mean here what they meant there? */
static bool was_here(const struct lc_load_process *p)
{
	char here[PATH_MAX];

	return getcwd(here, sizeof(here)) && !strcmp(here, p->directory);
}

/* Is it a word of a command that can be typed again? */
static bool is_plain(const char *word)
{
	if (strstr(word, LC_REDACTED))
		return false;
	for (; *word; word++)
		if ((unsigned char)*word < ' ' || *word == 0x7f)
			return false;
	return true;
}

/* The recorded command, quoted for the shell; NULL if it is not known. The caller frees it. */
static char *command_of(const struct lc_load_process *p)
{
	const json_t *word;
	char *text;
	size_t i, len;
	FILE *out;

	if (!json_array_size(p->arguments) || !was_here(p))
		return NULL;
	json_array_foreach(p->arguments, i,
	                   word) if (!json_is_string(word) ||
	                             !is_plain(json_string_value(word))) return NULL;
	out = lc_text_open(&text, &len);
	json_array_foreach(p->arguments, i, word)
	{
		fputs(i ? " " : "", out);
		lc_emit_word(out, json_string_value(word));
	}
	lc_mem_close_text(out);
	return text;
}

/* "  locus run --track-from prof -- ". The caller frees it. */
static char *run_of(const char *profile)
{
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	fputs("  locus run --track-from ", out);
	lc_emit_word(out, profile);
	fputs(" -- ", out);
	lc_mem_close_text(out);
	return text;
}

char *lc_report_next(const struct lc_screen *s, const struct lc_report *r)
{
	const unsigned indent = 4;
	struct lc_screen lines = *s;
	char *run, *command, *text;
	size_t len;

	lines.out = lc_text_open(&text, &len);
	if (!r->profile || r->view->load->processes_len != 1 || !lacks_line(r)) {
		lc_mem_close_text(lines.out);
		return text;
	}
	run = run_of(is_plain(r->profile) ? r->profile : "PROFILE");
	command = command_of(r->view->load->processes);
	if (lc_columns(run) + strlen("COMMAND") > s->width) {
		free(run);
		run = run_of("PROFILE");
	}
	lc_screen_wrap(&lines, 0, 0, "To see where objects without a line were made:");
	fputs(run, lines.out);
	if (command && lc_columns(run) + lc_columns(command) <= s->width)
		fprintf(lines.out, "%s\n", command);
	else if (command && indent + lc_columns(command) <= s->width)
		fprintf(lines.out, "\\\n%*s%s\n", (int)indent, "", command);
	else
		fputs("COMMAND\n", lines.out);
	lc_mem_close_text(lines.out);
	free(command);
	free(run);
	return text;
}
