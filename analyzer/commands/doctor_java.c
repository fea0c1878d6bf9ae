/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/doctor_java.c - finds the JVMs of this machine for `locus doctor`, and says whether
 * Locus can profile them.
 */
#include "analyzer/commands/doctor.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/base/memory.h"
#include "analyzer/cli/libraries.h"
#include "analyzer/commands/child.h"
#include "analyzer/commands/scratch.h"

enum { JAVA_SECONDS = 20, JDK_OLDEST = 11 };

/* -- running a command -------------------------------------------------------------------- */

static void become(char *const *command, const char *preload, int output)
{
	const int input = open("/dev/null", O_RDONLY);

	dup2(input, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	setpgid(0, 0);
	if (preload)
		setenv("LD_PRELOAD", preload, 1);
	execv(command[0], command);
	_exit(127);
}

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* Read to the end, or until `end_ms`. Returns 0 or -errno. */
static int collect(int from, long long end_ms, char **out)
{
	struct pollfd ready = { .fd = from, .events = POLLIN };
	size_t cap = 0, len = 0;
	char *text = NULL;
	long long left;
	ssize_t n = 1;
	int err = 0;

	while (n > 0) {
		text = lc_mem_grow(text, &cap, len + 4097, 1);
		left = end_ms - now_ms();
		if (left <= 0 || poll(&ready, 1, (int)left) == 0) {
			err = -ETIMEDOUT;
			break;
		}
		n = read(from, text + len, 4096);
		if (n > 0)
			len += (size_t)n;
		else if (n < 0)
			err = -errno;
	}
	if (err) {
		free(text);
		return err;
	}
	text[len] = '\0';
	*out = text;
	return 0;
}

/* Wait for `pid` until `end_ms`. Returns 0 with its status in *out, or -ETIMEDOUT. */
static int wait_for(pid_t pid, long long end_ms, int *out)
{
	const struct timespec moment = { .tv_nsec = 5000000 };

	while (waitpid(pid, out, WNOHANG) != pid) {
		if (now_ms() >= end_ms)
			return -ETIMEDOUT;
		nanosleep(&moment, NULL);
	}
	return 0;
}

int lc_doctor_capture(char *const *command, const char *preload, unsigned seconds, char **out)
{
	const long long end_ms = now_ms() + seconds * 1000LL;
	int channel[2], status = 0, err;
	pid_t pid;

	*out = NULL;
	if (pipe2(channel, O_CLOEXEC) != 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		become(command, preload, channel[1]);
	err = pid < 0 ? -errno : 0;
	close(channel[1]);
	if (!err)
		err = collect(channel[0], end_ms, out);
	close(channel[0]);
	if (pid < 0)
		return err;
	if (!err)
		err = wait_for(pid, end_ms, &status);
	if (err) {
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL); /* it may not be in a group of its own yet */
		waitpid(pid, &status, 0);
		free(*out);
		*out = NULL;
	}
	return err ? err : status;
}

/* -- judging ------------------------------------------------------------------------------ */

/* The version in the line `openjdk version "17.0.15" 2025-04-15`. */
static bool find_version(const char *text, char *out, size_t out_len)
{
	const char *at = strstr(text, " version \"");
	size_t len;

	if (!at)
		return false;
	at += strlen(" version \"");
	len = strcspn(at, "\"\n");
	snprintf(out, out_len, "%.*s", (int)len, at);
	return len > 0;
}

/* "17.0.15" is 17, "1.8.0_402" is 8. */
static long major_of(const char *version)
{
	char *end;
	long major = strtol(version, &end, 10);

	return major == 1 && *end == '.' ? strtol(end + 1, NULL, 10) : major;
}

/* Is the flag on, in a line like "     bool UseG1GC      = true     {product} {ergonomic}"? */
static bool flag_on(const char *flags, const char *name)
{
	const size_t len = strlen(name);

	for (const char *at = flags; (at = strstr(at, name)); at += len) {
		const char *value = at + len;

		if (at == flags || at[-1] != ' ' || *value != ' ')
			continue;
		value += strspn(value, " :=");
		return strncmp(value, "true", 4) == 0;
	}
	return false;
}

static void judge_collector(struct lc_doctor *d, const char *name, const char *flags)
{
	static const struct {
		const char *flag, *name;
	} collectors[] = { { "UseSerialGC", "Serial" },
		           { "UseParallelGC", "Parallel" },
		           { "UseG1GC", "G1" },
		           { "UseZGC", "ZGC" },
		           { "UseShenandoahGC", "Shenandoah" },
		           { "UseEpsilonGC", "Epsilon" } };
	struct lc_doctor_check *c;
	const char *found = NULL;

	for (size_t i = 0; i < sizeof(collectors) / sizeof(collectors[0]) && !found; i++)
		if (flag_on(flags, collectors[i].flag))
			found = collectors[i].name;
	c = lc_doctor_add(d, name, found ? LC_DOCTOR_OK : LC_DOCTOR_LIMITED, "%s by default%s",
	                  found ? found : "an unknown collector",
	                  flag_on(flags, "UseCompactObjectHeaders") ? ", compact object headers"
	                                                            : "");
	if (!found)
		lc_doctor_advise(
		    c, "with this collector Locus counts allocations but does not track objects: "
		       "use -XX:+UseG1GC, -XX:+UseParallelGC or -XX:+UseSerialGC");
}

void lc_doctor_judge_jdk(struct lc_doctor *d, const char *jdk_name, const char *collector_name,
                         const char *path, const char *version, const char *flags)
{
	struct lc_doctor_check *c;
	char number[128];

	if (!find_version(version, number, sizeof(number))) {
		c = lc_doctor_add(d, jdk_name, LC_DOCTOR_MISSING,
		                  "%.800s does not print its version", path);
		lc_doctor_advise(c, "look at the output of '%.800s -version'", path);
		return;
	}
	if (major_of(number) < JDK_OLDEST) {
		c = lc_doctor_add(d, jdk_name, LC_DOCTOR_MISSING, "%s is too old (%.800s)", number,
		                  path);
		lc_doctor_advise(c, "use JDK %d or newer", JDK_OLDEST);
		return;
	}
	if (!flags || !strstr(flags, " UseSerialGC ")) {
		c = lc_doctor_add(d, jdk_name, LC_DOCTOR_MISSING, "%s is not HotSpot (%.800s)",
		                  number, path);
		lc_doctor_advise(c, "use a JVM that is based on OpenJDK's HotSpot");
		return;
	}
	lc_doctor_add(d, jdk_name, LC_DOCTOR_OK, "HotSpot %s (%.800s)", number, path);
	judge_collector(d, collector_name, flags);
}

/* -- finding ------------------------------------------------------------------------------ */

/* The agent's first line; NULL: it has said nothing. */
static char *line_of_agent(const char *text)
{
	static const char mark[] = "locus: ";

	for (const char *at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (!strncmp(at, mark, sizeof(mark) - 1))
			return lc_mem_text("%.*s", (int)strcspn(at + sizeof(mark) - 1, "\n"),
			                   at + sizeof(mark) - 1);
		if (!*at)
			break;
	}
	return NULL;
}

void lc_doctor_judge_trial(struct lc_doctor *d, const char *name, int status, const char *text)
{
	char *line = line_of_agent(text);
	struct lc_doctor_check *c;

	if (status > 0 && WIFSIGNALED(status)) {
		c = lc_doctor_add(d, name, LC_DOCTOR_MISSING,
		                  "the JVM is killed by signal %d when the agent is loaded",
		                  WTERMSIG(status));
		lc_doctor_advise(c,
		                 "do not profile with this JVM, and report its version to Locus");
	} else if (status) {
		c = lc_doctor_add(d, name, LC_DOCTOR_MISSING,
		                  "the JVM does not start with the agent");
		lc_doctor_advise(c, "%.900s", line ? line : "look at its output with -agentpath");
	} else if (line) {
		c = lc_doctor_add(d, name, LC_DOCTOR_LIMITED, "not all of Locus works in this JVM");
		lc_doctor_advise(c, "%.1000s", line);
	} else {
		lc_doctor_add(
		    d, name, LC_DOCTOR_OK,
		    "the JVM starts with the agent, and its internals are as Locus expects");
	}
	free(line);
}

/* Have the JVM start with the agent, and end again. */
static void try_java(struct lc_doctor *d, const char *name, char *path)
{
	char agent[PATH_MAX], error[LC_LIBRARIES_ERROR_MAX], *text = NULL;
	char *dir = lc_scratch_make();

	if (dir && !lc_libraries_find("liblocus.so", agent, error)) {
		char *argument = lc_mem_text("-agentpath:%s=output=%s/profile", agent, dir);
		char *const command[] = { path, argument, "-version", NULL };
		const int status = lc_doctor_capture(command, NULL, JAVA_SECONDS, &text);

		lc_doctor_judge_trial(d, name, status, text);
		free(argument);
		free(text);
	}
	if (dir)
		lc_scratch_remove(dir);
}

static void check_java(struct lc_doctor *d, const char *jdk_name, const char *collector_name,
                       const char *trial_name, char *path)
{
	char *const ask_version[] = { path, "-version", NULL };
	char *const ask_flags[] = { path, "-XX:-UsePerfData", "-XX:+PrintFlagsFinal", "-version",
		                    NULL };
	struct lc_doctor_check *c;
	char *version, *flags;
	int status = lc_doctor_capture(ask_version, NULL, JAVA_SECONDS, &version);

	if (status != 0 || !version) {
		c = lc_doctor_add(d, jdk_name, LC_DOCTOR_MISSING, "%.800s cannot be run", path);
		lc_doctor_advise(c, "look at the output of '%.800s -version'", path);
		free(version);
		return;
	}
	if (lc_doctor_capture(ask_flags, NULL, JAVA_SECONDS, &flags) != 0) {
		free(flags);
		flags = NULL;
	}
	lc_doctor_judge_jdk(d, jdk_name, collector_name, path, version, flags);
	try_java(d, trial_name, path);
	free(flags);
	free(version);
}

static void nothing_on_path(struct lc_doctor *d)
{
	struct lc_doctor_check *c = lc_doctor_add(d, "jdk", LC_DOCTOR_MISSING, "no java on PATH");

	lc_doctor_advise(c, "install a JDK (%d or newer), or name its java with --java",
	                 JDK_OLDEST);
}

void lc_doctor_jdks(struct lc_doctor *d, const char *java)
{
	const char *home = getenv("JAVA_HOME");
	char on_path[PATH_MAX] = "", at_home[PATH_MAX], real[PATH_MAX];
	struct lc_doctor_check *c;
	bool same;

	if (java) {
		snprintf(on_path, sizeof(on_path), "%s", java);
		check_java(d, "jdk", "collector", "trial", on_path);
		return;
	}
	if (lc_child_find("java", at_home, sizeof(at_home)) && realpath(at_home, on_path))
		check_java(d, "jdk", "collector", "trial", on_path);
	else
		nothing_on_path(d);
	if (!home || !*home)
		return;
	snprintf(at_home, sizeof(at_home), "%.4000s/bin/java", home);
	if (access(at_home, X_OK) != 0 || !realpath(at_home, real)) {
		c = lc_doctor_add(d, "jdk_home", LC_DOCTOR_MISSING,
		                  "no bin/java in JAVA_HOME (%.800s)", home);
		lc_doctor_advise(c, "set JAVA_HOME to a JDK, or unset it");
		return;
	}
	same = strcmp(real, on_path) == 0;
	if (!same)
		check_java(d, "jdk_home", "collector_home", "trial_home", real);
}
