/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/run_told.c - distinguishes a command without a JVM from a JVM that could not be
 * recorded.
 */
#include "analyzer/commands/run_told.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/base/memory.h"
#include "src/base/launch_told.h"

void lc_run_told_begin(struct lc_run_told *t)
{
	char name[80];
	struct stat st;
	int ends[2];

	*t = (struct lc_run_told){ -1, -1 };
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return;
	*t = (struct lc_run_told){ ends[0], ends[1] };
	if (fstat(ends[1], &st))
		return;
	snprintf(name, sizeof(name), "%ld %d %llu", (long)getpid(), ends[1],
	         (unsigned long long)st.st_ino);
	setenv(LC_TOLD_VARIABLE, name, 1);
}

char *lc_run_told_why(const struct lc_run_told *t, const char *command, const char *where)
{
	bool agent = false, question = false, archive = false;
	char told;

	while (t->read >= 0 && read(t->read, &told, 1) == 1) {
		agent |= told == LC_TOLD_AGENT;
		question |= told == LC_TOLD_QUESTION;
		archive |= told == LC_TOLD_ARCHIVE;
	}
	if (agent)
		return lc_mem_text("no profile was written, although '%s' started a JVM with "
		                   "Locus; see %s",
		                   command, where);
	if (archive)
		return lc_mem_text(
		    "no profile was written: the only JVM of '%s' was not profiled (see %s)",
		    command, where);
	if (question)
		return lc_mem_text("no profile was written: '%s' only asked java for its version "
		                   "or help, which Locus does not profile; run a program",
		                   command);
	return lc_mem_text("no profile was written: '%s' started no JVM that Locus can profile "
	                   "(HotSpot 11 or newer)",
	                   command);
}

void lc_run_told_end(struct lc_run_told *t)
{
	if (t->read >= 0)
		close(t->read);
	if (t->write >= 0)
		close(t->write);
	*t = (struct lc_run_told){ -1, -1 };
}
