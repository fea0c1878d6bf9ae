/*
 * preload/launch.c - gives the agent to a `java` that a script starts; part of the preloaded
 * library.
 *
 * `locus run` may be given a script, which starts the JVM itself or through other programs. The
 * environment variables that a JVM reads options from make it print a line on the program's stderr,
 * so they are not used. Instead this library is in every process below `locus run`: where the
 * process is a JDK's launcher without the agent, the launcher is executed once more with the agent
 * as its first argument. Where anything fails, the program goes on as it would without Locus.
 *
 * Context: a constructor, before main(), one thread.
 */
#include <limits.h>
#include <linux/membarrier.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/options.h"

/* The launchers that are given the agent, and how each takes an option for the JVM. */
static const struct launcher {
	const char *name;
	const char *prefix;
} launchers[] = { { "java", "" }, { "javac", "-J" }, { "javadoc", "-J" } };

/* A program may be called "java" and be none: a JDK's launcher has libjli in one of these ways. */
static bool has_launcher_library(const char *directory)
{
	static const char *const places[] = {
		"../lib/libjli.so",
		"../lib/jli/libjli.so",
		"../lib/amd64/jli/libjli.so",
	};
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		int len = snprintf(path, sizeof(path), "%s/%s", directory, places[i]);

		if (len > 0 && (size_t)len < sizeof(path) && access(path, F_OK) == 0)
			return true;
	}
	return false;
}

/* The launcher that this process is, or NULL. `path` is its executable. */
static const struct launcher *find_launcher(const char *path)
{
	char directory[PATH_MAX];
	char *slash;

	snprintf(directory, sizeof(directory), "%s", path);
	slash = strrchr(directory, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
		if (strcmp(slash + 1, launchers[i].name) == 0)
			return has_launcher_library(directory) ? &launchers[i] : NULL;
	return NULL;
}

/* A script often asks for the version first; the JVM that answers must not make the profile. */
static bool only_asks(char **argv)
{
	static const char *const questions[] = { "-version", "--version", "-help", "--help",
		                                 "-h",       "-?",        "-X",    "--help-extra" };

	for (char **a = argv + 1; *a && (**a == '-' || **a == '@'); a++)
		for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
			if (strcmp(*a, questions[i]) == 0)
				return true;
	return false;
}

__attribute__((constructor)) static void add_agent(int argc, char **argv)
{
	const char *agent = getenv(LC_LAUNCH_VARIABLE);
	const struct launcher *launcher;
	char path[PATH_MAX];
	char **args = NULL;
	char *option = NULL;
	ssize_t len;

	if (!agent || argc < 1)
		return;
	len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (len <= 0)
		return;
	path[len] = '\0';
	launcher = find_launcher(path);
	if (!launcher || only_asks(argv))
		return;
	if (asprintf(&option, "%s%s", launcher->prefix, agent) < 0)
		return;
	if (argc > 1 && strcmp(argv[1], option) == 0) {
		/* For the agent (core/epoch.c): where there is one thread, it takes no time. */
		(void)syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
		goto out;
	}
	args = calloc((size_t)argc + 2, sizeof(*args));
	if (!args)
		goto out;
	args[0] = argv[0];
	args[1] = option;
	for (int i = 1; i < argc; i++)
		args[i + 1] = argv[i];
	/* One directory holds one profile: unless the directory's name has the process ID in it,
	 * the JVMs that this JVM starts are not given the agent. */
	if (!strstr(agent, "%p"))
		unsetenv(LC_LAUNCH_VARIABLE);
	execve(path, args, environ);
out:
	free(args);
	free(option);
}
