/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/report_processes.c - says which processes count, and whether a process runs.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "analyzer/base/fail.h"
#include "analyzer/cli/report_command.h"
#include "analyzer/out/emit.h"

int lc_report_check_processes(const struct lc_load *l)
{
	if (lc_load_not_apart(l))
		return 1;
	if (!l->left_out || l->processes_len)
		return 0;
	return lc_load_say_unfit(l->where);
}

void lc_report_note_processes(FILE *out, const struct lc_load *l)
{
	const struct lc_where_terms *w = l->where;

	for (size_t i = 0; w && i < w->len; i++) {
		fputs(i ? ", " : "note: only processes with ", out);
		lc_emit_text_c(out, w->list[i].key);
		putc('=', out);
		lc_emit_text_c(out, w->list[i].patterns);
	}
	if (w && w->len)
		fprintf(out, " count: %zu of them\n", l->processes_len);
	for (size_t i = 0; i < l->by.len; i++)
		fprintf(out, "%s%s", i ? ", " : "note: call paths are grouped by ", l->by.keys[i]);
	if (l->by.len)
		fputs(", shown as the outermost frame\n", out);
}

/* Is the agent in the process of that number, which is then the one that is recorded? */
static bool runs_with_agent(int64_t pid)
{
	char file[64], *line = NULL;
	bool found = false;
	size_t cap = 0;
	FILE *maps;

	snprintf(file, sizeof(file), "/proc/%" PRId64 "/maps", pid);
	maps = fopen(file, "re");
	while (maps && !found && getline(&line, &cap, maps) > 0)
		found = strstr(line, "/liblocus.so") != NULL;
	free(line);
	if (maps)
		fclose(maps);
	return found;
}

bool lc_report_is_here(const struct lc_load_process *p)
{
	struct utsname machine;

	return !*p->host || uname(&machine) || !strcmp(machine.nodename, p->host);
}

bool lc_report_runs_here(const struct lc_load_process *p)
{
	return p->pid > 0 && lc_report_is_here(p) && runs_with_agent(p->pid);
}

void lc_report_say_running(const struct lc_load *l)
{
	for (size_t i = 0; i < l->processes_len; i++) {
		const struct lc_load_process *p = &l->processes[i];

		if (p->complete || !lc_report_runs_here(p))
			continue;
		fprintf(stderr,
		        "locus: the program (pid %" PRId64
		        ") is still running: this is what it has written so far\n",
		        p->pid);
		return;
	}
}
