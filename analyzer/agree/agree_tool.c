/* SPDX-License-Identifier: Apache-2.0 */
/* agree/agree_tool.c - starts another tool's command and waits for its end. */
#include "analyzer/agree/agree_tool.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/base/memory.h"
#include "analyzer/commands/child.h"
#include "analyzer/repeat/repeat.h"

static int open_for(const char *path)
{
	return path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)
	            : open("/dev/null", O_WRONLY | O_CLOEXEC);
}

bool lc_agree_tool(const char *const *command, const char *out, const char *err)
{
	struct lc_child_streams s = { .in = open("/dev/null", O_RDONLY | O_CLOEXEC),
		                      .out = open_for(out),
		                      .err = open_for(err) };
	struct rusage usage;
	bool forked, ok = false;
	int status;

	if (s.in >= 0 && s.out >= 0 && s.err >= 0 &&
	    !lc_child_start_apart((char *const *)(uintptr_t)command, &s, &forked)) {
		if (lc_child_wait_for(0, &status, &usage))
			ok = WIFEXITED(status) && !WEXITSTATUS(status);
		else
			lc_child_stop();
	}
	if (s.in >= 0)
		close(s.in);
	if (s.out >= 0)
		close(s.out);
	if (s.err >= 0)
		close(s.err);
	return ok;
}

char *lc_agree_first_line(const char *path)
{
	FILE *in = fopen(path, "re");
	char *line = NULL;
	size_t cap = 0;
	ssize_t len = in ? getline(&line, &cap, in) : -1;

	if (in)
		fclose(in);
	if (len <= 0) {
		free(line);
		return NULL;
	}
	line[strcspn(line, "\r\n")] = 0;
	return lc_repeat_plain(line);
}
