/* SPDX-License-Identifier: Apache-2.0 */
/* mpi/result.c - writes into a temporary directory, and renames it. */
#include "analyzer/mpi/result.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/base/new_directory.h"

enum { NAMES = 4, TRIES = 100 };

/* For the handler, which may not allocate: set before it is installed. */
static char *files[NAMES]; /* all that can be in the directory */
static const char *directory;
static bool ours; /* and is removed */
static volatile sig_atomic_t whole_result, over;

/* A file that is being made while others are removed keeps the directory: then again. */
static void remove_files(void)
{
	for (int i = 0; i < TRIES; i++) {
		for (int k = 0; k < NAMES; k++)
			unlink(files[k]);
		if (!ours || !rmdir(directory) || errno == ENOENT)
			return;
	}
}

/* Context: [signal]. */
static void end_early(int number)
{
	static const char line[] = "locus-mpi: ended early, by a signal or because another rank "
	                           "ended; nothing was written\n";

	if (directory && !whole_result)
		remove_files();
	if (!whole_result && !over)
		(void)!write(STDERR_FILENO, line, sizeof(line) - 1);
	(void)raise(number); /* its handler is gone: the default ends the program */
}

static void catch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	const struct sigaction action = { .sa_handler = end_early, .sa_flags = (int)SA_RESETHAND };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct sigaction old;

		if (!sigaction(numbers[i], NULL, &old) && old.sa_handler == SIG_DFL)
			(void)sigaction(numbers[i], &action, NULL);
	}
}

/* "out" of "out/": the temporary directory is beside it, not in it. */
static char *bare(const char *path)
{
	char *name = lc_mem_text("%s", path);

	for (size_t len = strlen(name); len > 1 && name[len - 1] == '/';)
		name[--len] = '\0';
	return name;
}

int lc_result_check(struct lc_result *r, const char *output)
{
	char *name = bare(output), *slash = strrchr(name, '/');
	bool there;
	int status;

	*r = (struct lc_result){ .output = output };
	status = lc_new_directory_check(name, &there);
	r->beside = !there;
	if (slash)
		slash[slash == name] = '\0';
	if (!status && access(there ? output : slash ? name : ".", W_OK | X_OK))
		status = lc_fail("cannot make output directory '%s': %s", output, strerror(errno));
	free(name);
	catch_signals();
	return status;
}

int lc_result_begin(struct lc_result *r)
{
	static const char *const names[NAMES] = { "merged.lcb.part", "manifest.json.part",
		                                  "merged.lcb", "manifest.json" };
	char *dir = bare(r->output);

	if (r->beside) {
		char *temporary = lc_mem_text("%s.XXXXXX", dir);

		free(dir);
		dir = temporary;
		if (!mkdtemp(dir)) {
			lc_fail("cannot make '%s': %s", dir, strerror(errno));
			free(dir);
			return 1;
		}
	}
	for (int i = 0; i < NAMES; i++)
		files[i] = lc_mem_text("%s/%s", dir, names[i]);
	r->dir = dir;
	ours = r->beside;
	directory = dir;
	return 0;
}

int lc_result_end(struct lc_result *r, bool whole)
{
	char *name;
	int status = 0;

	if (!r->dir)
		return 0;
	name = bare(r->output);
	if (whole && r->beside && rename(r->dir, name))
		status = lc_fail("cannot rename '%s' to '%s': %s", r->dir, name, strerror(errno));
	whole_result = whole && !status;
	if (!whole_result)
		remove_files();
	directory = NULL;
	for (int i = 0; i < NAMES; i++) {
		free(files[i]);
		files[i] = NULL;
	}
	free(r->dir);
	free(name);
	r->dir = NULL;
	return status;
}

void lc_result_over(void)
{
	over = true;
}
