/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preload/launch.c - adds the agent to a `java` that a script starts; part of the preloaded
 * library.
 *
 * `locus run` may be given a script, which starts the JVM itself or through other programs. The
 * environment variables that a JVM reads options from make it print a line on the program's stderr,
 * so they are not used. Instead this library is in every process below `locus run`. If the process
 * is a JDK's launcher without the agent, the library executes the launcher again with the agent as
 * its first argument. If anything fails, the program goes on as it would without Locus.
 *
 * Context: a constructor, before main(), one thread.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/membarrier.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/java_option.h"
#include "src/base/launch_told.h"
#include "src/base/options.h"

enum { ARGUMENTS_FILE_MAX = 1 << 16 };

/* Asks for something: the launcher answers and runs no program. */
static const char *const java_questions[] = {
	"-version", "--version",    "-help", "--help",         "-h",        "-?",
	"-X",       "--help-extra", "-d",    "--list-modules", "--dry-run", "--describe-module",
	NULL,
};
static const char *const javac_questions[] = {
	"-version", "--version", "-help", "--help", "-?", "-X", "--help-extra", "--help-lint", NULL,
};
static const char *const javadoc_questions[] = {
	"--version", "-help", "--help", "-h", "-?", "-X", "--help-extra", NULL,
};

/* Make the JVM write an archive of its classes. It refuses to with an agent, or fails at its end.
 */
static const char *const archives[] = {
	"-Xshare:dump",
	"-XX:+DumpSharedSpaces",
	"-XX:ArchiveClassesAtExit",
	"-XX:AOTCacheOutput",
	"-XX:AOTMode=record",
	"-XX:AOTMode=create",
	NULL,
};

/* The launchers that are given the agent. */
static const struct launcher {
	const char *name;
	const char *prefix; /* of an option for the JVM */
	const char *const *questions;
	bool runs_class; /* arguments behind the first that is no option are the program's */
} launchers[] = { { "java", "", java_questions, true },
	          { "javac", "-J", javac_questions, false },
	          { "javadoc", "-J", javadoc_questions, false } };

static bool is_in(const char *const *list, const char *word)
{
	for (; *list; list++)
		if (strcmp(*list, word) == 0)
			return true;
	return false;
}

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

/* The first option in the text that makes the JVM write an archive, or NULL. */
static const char *archive_in(const char *text)
{
	for (const char *const *a = archives; text && *a; a++)
		if (strstr(text, *a))
			return *a;
	return NULL;
}

/* The same of a file of arguments. */
static const char *archive_in_file(const char *path)
{
	char text[ARGUMENTS_FILE_MAX];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t len = 0;
	ssize_t n;

	while (fd >= 0 && len < sizeof(text) - 1 &&
	       (n = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)n;
	if (fd >= 0)
		close(fd);
	text[len] = '\0';
	return archive_in(text);
}

static const char *archive_in_environment(void)
{
	static const char *const variables[] = { "JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS",
		                                 "_JAVA_OPTIONS" };
	const char *found = NULL;

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]) && !found; i++)
		found = archive_in(getenv(variables[i]));
	return found;
}

/*
 * A script often asks for the version first; the JVM that answers must not make the profile.
 * Otherwise *archive is the option that makes this JVM write an archive, or NULL.
 */
static bool only_asks(const struct launcher *l, char **argv, const char **archive)
{
	*archive = archive_in_environment();
	for (char **a = argv + 1; *a; a++) {
		if (**a == '@' && !*archive)
			*archive = archive_in_file(*a + 1);
		if (**a == '@')
			continue;
		if (**a != '-' && l->runs_class)
			break;
		if (is_in(l->questions, *a) ||
		    (l->runs_class && strncmp(*a, "--describe-module=", 18) == 0))
			return true;
		if (!*archive && strncmp(*a, l->prefix, strlen(l->prefix)) == 0)
			*archive = archive_in(*a);
		if (l->runs_class && lc_java_option_takes_word(*a, strlen(*a)) && a[1])
			a++;
	}
	return false;
}

/* Processes that this one starts find its environment as it was before `locus run`. */
static void leave_environment(void)
{
	const char *before = getenv("LD_PRELOAD");
	char *after = before ? strdup(before) : NULL, *to = after;
	Dl_info own;

	unsetenv(LC_LAUNCH_VARIABLE);
	unsetenv(LC_TOLD_VARIABLE);
	if (!after || !dladdr((void *)(uintptr_t)leave_environment, &own))
		goto out;
	/* Names are separated by spaces or colons; none holds one. */
	for (const char *at = before; *at;) {
		const size_t len = strcspn(at, " :"), whole = len + (at[len] != '\0');

		if (strlen(own.dli_fname) != len || strncmp(at, own.dli_fname, len) != 0) {
			memcpy(to, at, whole);
			to += whole;
		}
		at += whole;
	}
	while (to > after && strchr(" :", to[-1]))
		to--;
	*to = '\0';
	if (*after)
		setenv("LD_PRELOAD", after, 1);
	else
		unsetenv("LD_PRELOAD");
out:
	free(after);
}

/* Tell `locus run`, where that is still there. */
static void tell(enum lc_launch_told what)
{
	const char *to = getenv(LC_TOLD_VARIABLE), byte = (char)what;
	unsigned long long inode;
	char path[64];
	struct stat st;
	long pid;
	int of, fd;

	if (!to || sscanf(to, "%ld %d %llu", &pid, &of, &inode) != 3)
		return;
	snprintf(path, sizeof(path), "/proc/%ld/fd/%d", pid, of);
	if (stat(path, &st) || !S_ISFIFO(st.st_mode) || st.st_ino != inode)
		return;
	fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISFIFO(st.st_mode) && st.st_ino == inode)
		(void)!write(fd, &byte, sizeof(byte));
	close(fd);
}

/* The path of this process's executable; without /proc as the kernel was given it. */
static bool find_executable(char *path)
{
	const ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 1);
	const char *given = (const char *)getauxval(AT_EXECFN);

	if (len > 0)
		path[len] = '\0';
	return len > 0 || (given && realpath(given, path));
}

static void add_agent(int argc, char **argv)
{
	const char *agent = getenv(LC_LAUNCH_VARIABLE);
	const struct launcher *launcher;
	char path[PATH_MAX];
	char **args = NULL;
	const char *archive = NULL;
	char *option = NULL;
	bool each;

	if (!agent || argc < 1 || !find_executable(path))
		return;
	launcher = find_launcher(path);
	if (!launcher)
		return;
	if (only_asks(launcher, argv, &archive)) {
		tell(LC_TOLD_QUESTION);
		return;
	}
	/* One directory holds one profile: unless the directory's name has the process ID in it,
	 * the JVMs that this JVM starts are not given the agent. */
	each = strstr(agent, "%p") != NULL;
	if (archive) {
		tell(LC_TOLD_ARCHIVE);
		dprintf(STDERR_FILENO,
		        "locus: this JVM writes a class archive (%s), which is impossible with an "
		        "agent; it runs unprofiled\n",
		        archive);
		if (!each)
			leave_environment();
		return;
	}
	if (asprintf(&option, "%s%s", launcher->prefix, agent) < 0)
		return;
	if (argc > 1 && strcmp(argv[1], option) == 0) {
		tell(LC_TOLD_AGENT);
		/* For the agent (core/epoch.c): where there is one thread, it takes no time. */
		(void)syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
		if (!each)
			leave_environment();
		goto out;
	}
	args = calloc((size_t)argc + 2, sizeof(*args));
	if (!args)
		goto out;
	args[0] = argv[0];
	args[1] = option;
	for (int i = 1; i < argc; i++)
		args[i + 1] = argv[i];
	execve(path, args, environ);
out:
	free(args);
	free(option);
}

#ifdef __GLIBC__
__attribute__((constructor)) static void begin(int argc, char **argv)
{
	add_agent(argc, argv);
}
#else
/* Read a file of the kernel whole; NULL: it cannot be read. free() it. */
static char *read_whole(const char *path, size_t *len)
{
	size_t room = ARGUMENTS_FILE_MAX;
	char *text = malloc(room), *more = text;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 || !text ? -1 : 1;

	for (*len = 0; n > 0 && more; *len += n > 0 ? (size_t)n : 0) {
		if (*len == room) {
			more = realloc(text, room *= 2);
			text = more ? more : text;
		}
		n = more ? read(fd, text + *len, room - *len) : -1;
	}
	if (fd >= 0)
		close(fd);
	if (n == 0)
		return text;
	free(text);
	return NULL;
}

/* musl gives a constructor no arguments. */
__attribute__((constructor)) static void begin(void)
{
	size_t len, argc = 0;
	char *text = getenv(LC_LAUNCH_VARIABLE) ? read_whole("/proc/self/cmdline", &len) : NULL;
	char **argv;

	if (!text)
		return;
	for (size_t i = 0; i < len; i++)
		argc += !text[i];
	argv = calloc(argc + 1, sizeof(*argv));
	for (size_t i = 0, at = 0; argv && i < argc; at += strlen(text + at) + 1)
		argv[i++] = text + at;
	if (argv)
		add_agent((int)argc, argv);
	free(argv);
	free(text);
}
#endif
