/* SPDX-License-Identifier: Apache-2.0 */
/* mcp/mcp_command.c - runs `locus mcp`: reads requests from stdin and writes answers to stdout. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/cli/args.h"
#include "analyzer/cli/command.h"
#include "analyzer/cli/libraries.h"
#include "analyzer/commands/child.h"
#include "analyzer/mcp/mcp.h"
#include "analyzer/mcp/mcp_run.h"

enum { ROOTS_MAX = 32 };

static const struct lc_option_info rows[] = {
	{ "allow-record", 0, "FLAG", "", "off", "",
	  "offer a tool that records a running JVM of this user for at most 600 s" },
};

const struct lc_option_info *lc_cmd_mcp_options(size_t *count)
{
	*count = sizeof(rows) / sizeof(rows[0]);
	return rows;
}

static int set_option(void *context, int row, const char *value)
{
	struct lc_mcp *m = context;

	(void)row;
	(void)value;
	m->allow_record = true;
	return 0;
}

static int set_roots(struct lc_mcp *m, char **directories, size_t count)
{
	static char *here[] = { "." };

	if (count > ROOTS_MAX)
		return lc_usage("mcp: name at most %d directories", ROOTS_MAX);
	if (!count) {
		directories = here;
		count = 1;
	}
	m->roots = lc_mem_zeroed(count, sizeof(*m->roots));
	for (; m->roots_len < count; m->roots_len++) {
		m->roots[m->roots_len] = realpath(directories[m->roots_len], NULL);
		if (!m->roots[m->roots_len])
			return lc_fail("cannot read '%s': %m", directories[m->roots_len]);
		/* --output of an attach has these for the process and the time. */
		if (m->allow_record && strchr(m->roots[m->roots_len], '%')) {
			m->roots_len++;
			return lc_usage("mcp: --allow-record needs directories without '%%' in "
			                "their names");
		}
	}
	return 0;
}

/* One line into `line`, which has room for LC_MCP_LINE_MAX bytes. False at the end. */
static bool read_line(char *line, size_t *len, bool *whole)
{
	int c;

	*len = 0;
	*whole = true;
	while ((c = getc_unlocked(stdin)) != EOF && c != '\n') {
		*whole = *len < LC_MCP_LINE_MAX;
		if (*whole)
			line[(*len)++] = (char)c;
	}
	return c != EOF || *len;
}

static bool is_blank(const char *line, size_t len)
{
	return !len || (len == 1 && *line == '\r');
}

static int serve(const struct lc_mcp *m)
{
	char *line = lc_mem_zeroed(LC_MCP_LINE_MAX, 1);
	bool whole, written = true;
	size_t len;

	while (written && !lc_child_asked() && read_line(line, &len, &whole)) {
		char *answer = NULL;

		if (!whole)
			answer = lc_mcp_too_long();
		else if (!is_blank(line, len))
			answer = lc_mcp_answer(m, line, len);
		written = !answer || (puts(answer) >= 0 && !fflush(stdout));
		free(answer);
	}
	free(line);
	return 0; /* main() says so where stdout cannot be written */
}

int lc_cmd_mcp(int argc, char **argv)
{
	struct lc_args args = { .argc = argc,
		                .argv = argv,
		                .next = 1,
		                .table = rows,
		                .count = sizeof(rows) / sizeof(rows[0]) };
	struct lc_mcp m = { .run = lc_mcp_run };
	char self[PATH_MAX], **directories = NULL;
	size_t count = 0;
	int status = lc_args_read(&args, set_option, &m, &directories, &count);

	if (status == LC_ARGS_HELP || status == LC_ARGS_VERSION)
		return lc_answer(status, "mcp");
	m.self = self;
	if (!status && !lc_libraries_self(self))
		status = lc_fail("mcp: cannot find the path of locus: %m");
	if (!status)
		status = set_roots(&m, directories, count);
	if (!status)
		status = serve(&m);
	for (size_t i = 0; i < m.roots_len; i++)
		free(m.roots[i]);
	free(m.roots);
	free(directories);
	return status;
}
