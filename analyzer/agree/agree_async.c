/* SPDX-License-Identifier: Apache-2.0 */
/* agree/agree_async.c - finds async-profiler, and takes its library out of a jar. */
#include "analyzer/agree/agree_async.h"

#include <glob.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/agree/agree_tool.h"
#include "analyzer/base/memory.h"
#include "analyzer/commands/child.h"

#define LIBRARY "libasyncProfiler.so"
#define IN_JAR "linux-x64/" LIBRARY

static bool is_jar(const char *file)
{
	const size_t len = strlen(file);

	return len > 4 && !strcmp(file + len - 4, ".jar");
}

/*
 * Take the library out of a jar, into `directory`. Sets m->async. Returns false if the jar has no
 * library.
 */
static bool unpack(struct lc_agree_machine *m, const char *jar, const char *directory)
{
	static const char script[] = "cd \"$1\" && exec jar xf \"$2\" " IN_JAR;
	const char *const command[] = { "sh", "-c", script, "sh", directory, jar, NULL };

	if (!lc_agree_tool(command, NULL, NULL))
		return false;
	snprintf(m->async, sizeof(m->async), "%s/" IN_JAR, directory);
	return access(m->async, R_OK) == 0;
}

/* "async-profiler 4.3", of ".../async-profiler-4.3.jar". */
static void take_jar(struct lc_agree_machine *m, struct lc_agree_side *side, const char *jar,
                     const char *directory)
{
	const char *name = strrchr(jar, '/');
	char real[PATH_MAX];

	name = name ? name + 1 : jar;
	if (!realpath(jar, real))
		side->absent = lc_mem_text("cannot find '%s'", jar);
	else if (!unpack(m, real, directory))
		side->absent =
		    lc_mem_text("cannot extract " IN_JAR " from '%s' with the JDK's jar", jar);
	else
		side->about = lc_mem_text("%.*s, event=cpu", (int)strlen(name) - 4, name);
}

/* The one beside asprof: bin/asprof and lib/libasyncProfiler.so. */
static bool find_installed(struct lc_agree_machine *m)
{
	char program[PATH_MAX], real[PATH_MAX];

	if (!lc_child_find("asprof", program, sizeof(program)) || !realpath(program, real))
		return false;
	snprintf(m->async, sizeof(m->async), "%.*s/../lib/" LIBRARY,
	         (int)(sizeof(m->async) - sizeof("/../lib/" LIBRARY)), dirname(real));
	return access(m->async, R_OK) == 0;
}

/* The newest jar of the local repository; NULL: there is none. The caller frees it. */
static char *find_in_repository(void)
{
	const char *home = getenv("HOME");
	char *pattern = lc_mem_text("%s/.m2/repository/tools/profiler/async-profiler/*/"
	                            "async-profiler-*.jar",
	                            home ? home : ""),
	     *found = NULL;
	const char *newest = NULL;
	glob_t files;

	if (!glob(pattern, 0, NULL, &files)) {
		for (size_t i = 0; i < files.gl_pathc; i++)
			if (!newest || strverscmp(files.gl_pathv[i], newest) > 0)
				newest = files.gl_pathv[i];
		if (newest)
			found = lc_mem_text("%s", newest);
		globfree(&files);
	}
	free(pattern);
	return found;
}

static void fetch(void)
{
	static const char artifact[] =
	    "-Dartifact=tools.profiler:async-profiler:" LC_AGREE_ASYNC_VERSION;
	static const char *const command[] = {
		"mvn", "-q", "-B", "dependency:get", artifact, "-Dtransitive=false", NULL
	};
	char path[PATH_MAX];

	if (lc_child_find("mvn", path, sizeof(path)))
		lc_agree_tool(command, NULL, NULL);
}

void lc_agree_find_async(struct lc_agree_machine *m, struct lc_agree_side *side, const char *file,
                         const char *directory)
{
	char *jar;

	if (file && is_jar(file)) {
		take_jar(m, side, file, directory);
		return;
	}
	if (file) {
		if (!realpath(file, m->async))
			side->absent = lc_mem_text("cannot find '%s'", file);
		else
			side->about = lc_mem_text("async-profiler, event=cpu");
		return;
	}
	if (find_installed(m)) {
		side->about = lc_mem_text("async-profiler, event=cpu");
		return;
	}
	jar = find_in_repository();
	if (!jar) {
		fetch();
		jar = find_in_repository();
	}
	if (jar)
		take_jar(m, side, jar, directory);
	else
		side->absent = lc_mem_text(
		    "no asprof is on PATH, and Maven could not fetch "
		    "tools.profiler:async-profiler; name its library or jar with --async-profiler");
	free(jar);
}
