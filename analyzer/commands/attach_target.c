/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/attach_target.c - reads a process's state from /proc.
 *
 * A signal ends a process that does not expect it. So a JVM is recognised before anything is sent:
 * it has mapped libjvm.so, and catches SIGQUIT.
 */
#include "analyzer/commands/attach_target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"

enum { LINE_BYTES = 8192, FLAGS_MAX = 256 << 10, BEGIN_MS = 3000, STEP_MS = 20 };

struct status {
	char state;
	unsigned long long caught, pending; /* signals, bit 0 is signal 1 */
	int inner_pid;
	unsigned uid, gid;
};

static FILE *open_of(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return fopen(path, "re");
}

/* The state of the process's first thread, or of another one: "task/N/status". */
static bool read_status(pid_t pid, const char *name, struct status *s)
{
	FILE *f = open_of(pid, name);
	char line[LINE_BYTES];

	*s = (struct status){ .inner_pid = (int)pid };
	while (f && fgets(line, sizeof(line), f)) {
		(void)sscanf(line, "State: %c", &s->state);
		(void)sscanf(line, "SigCgt: %llx", &s->caught);
		(void)sscanf(line, "ShdPnd: %llx", &s->pending);
		(void)sscanf(line, "Uid: %*u %u", &s->uid);
		(void)sscanf(line, "Gid: %*u %u", &s->gid);
		if (!strncmp(line, "NStgid:", 7) && strrchr(line, '\t'))
			s->inner_pid = (int)strtol(strrchr(line, '\t'), NULL, 10);
	}
	if (f)
		fclose(f);
	return s->state && s->state != 'Z' && s->state != 'X';
}

static bool has_signal(unsigned long long set, int sig)
{
	return set & 1ull << (sig - 1);
}

/* The agent beside this command has the command's own C library. */
#ifdef __GLIBC__
static const bool has_musl = false;
#else
static const bool has_musl = true;
#endif

/* Files that a process has mapped. */
struct maps {
	bool jvm, musl;
	bool replaced; /* the agent, of a file that is no longer there */
};

/* Returns whether the list could be read. */
static bool read_maps(struct lc_attach_target *t, struct maps *maps)
{
	static const char agent[] = "/liblocus.so";
	FILE *f = open_of(t->pid, "maps");
	char line[LINE_BYTES];

	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		const char *path = strchr(line, '/');
		size_t len;

		line[strcspn(line, "\n")] = '\0';
		len = path ? strlen(path) : 0;
		maps->jvm |= len && strstr(path, "/libjvm.so") != NULL;
		maps->musl |= len && strstr(path, "/ld-musl-") != NULL;
		maps->replaced |= len && strstr(path, "/liblocus.so (deleted)") != NULL;
		if (len >= strlen(agent) && !strcmp(path + len - strlen(agent), agent))
			snprintf(t->library, sizeof(t->library), "%s", path);
	}
	fclose(f);
	return true;
}

/* The last of "-XX:+NAME" and "-XX:-NAME" in a file of zero-ended words decides. */
static bool flag_is(pid_t pid, const char *file, const char *name, char sign)
{
	FILE *f = open_of(pid, file);
	char *text = f ? lc_mem_zeroed(1, FLAGS_MAX) : NULL;
	size_t len = text ? fread(text, 1, FLAGS_MAX - 1, f) : 0;
	char found = 0, *at = text;

	for (size_t i = 0; i < len; i++)
		text[i] = text[i] ? text[i] : ' ';
	if (text)
		text[len] = '\0';
	while (at && (at = strstr(at, "-XX:")) != NULL) {
		at += strlen("-XX:");
		if (!strncmp(at + 1, name, strlen(name)) && strchr(" ,\"", at[1 + strlen(name)]))
			found = *at;
	}
	free(text);
	if (f)
		fclose(f);
	return found == sign;
}

static bool has_flag(pid_t pid, const char *name, char sign)
{
	return flag_is(pid, "environ", name, sign) || flag_is(pid, "cmdline", name, sign);
}

/* Has it another root, or other mounts than this process? */
static bool is_elsewhere(const struct lc_attach_target *t)
{
	char path[64];
	struct stat here, there;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)t->pid);
	if (stat("/proc/self/ns/mnt", &here) || stat(path, &there) || here.st_ino != there.st_ino)
		return true;
	return stat("/", &here) || stat(t->root, &there) || here.st_dev != there.st_dev ||
	       here.st_ino != there.st_ino;
}

/* A JVM does so soon after it has begun. */
static bool takes_sigquit(pid_t pid)
{
	struct status s;

	for (int waited = 0; waited < BEGIN_MS && read_status(pid, "status", &s);
	     waited += STEP_MS) {
		if (has_signal(s.caught, SIGQUIT))
			return true;
		nanosleep(&(struct timespec){ .tv_nsec = STEP_MS * 1000000L }, NULL);
	}
	return false;
}

bool lc_attach_stopped(pid_t pid)
{
	struct status s;
	char name[64];
	const struct dirent *task;
	bool stopped;
	DIR *tasks;

	if (!read_status(pid, "status", &s))
		return false;
	if (s.state == 'T' || s.state == 't' || has_signal(s.pending, SIGSTOP))
		return true;
	stopped = false;
	snprintf(name, sizeof(name), "/proc/%d/task", (int)pid);
	tasks = opendir(name);
	while (tasks && !stopped && (task = readdir(tasks))) {
		snprintf(name, sizeof(name), "task/%.20s/status", task->d_name);
		stopped = *task->d_name != '.' && read_status(pid, name, &s) && s.state == 'T';
	}
	if (tasks)
		closedir(tasks);
	return stopped;
}

int lc_attach_look(pid_t pid, struct lc_attach_target *out)
{
	struct status s;
	struct maps maps = { 0 };

	*out = (struct lc_attach_target){ .pid = pid };
	snprintf(out->root, sizeof(out->root), "/proc/%d/root", (int)pid);
	if (!read_status(pid, "status", &s))
		return lc_fail("there is no process %d", (int)pid);
	out->inner_pid = s.inner_pid;
	out->uid = s.uid;
	out->gid = s.gid;
	if (geteuid() != 0 && geteuid() != s.uid)
		return lc_fail("process %d belongs to another user: only root may attach to it",
		               (int)pid);
	if (!read_maps(out, &maps))
		return lc_fail("cannot examine process %d: %m", (int)pid);
	if (!maps.jvm)
		return lc_fail("process %d is not a JVM", (int)pid);
	if (maps.musl != has_musl)
		return lc_fail(
		    "JVM %d has the C library %s, and this locus is for %s: run the other one, "
		    "which 'make %s' writes, where the JVM runs",
		    (int)pid, maps.musl ? "musl" : "glibc", has_musl ? "musl" : "glibc",
		    maps.musl ? "musl" : "dist");
	if (maps.replaced)
		return lc_fail("cannot reach the agent in JVM %d: its library file was replaced or "
		               "removed after it was loaded",
		               (int)pid);
	if (lc_attach_stopped(pid))
		return lc_fail("JVM %d is stopped; continue it with 'kill -CONT %d'", (int)pid,
		               (int)pid);
	if (has_flag(pid, "DisableAttachMechanism", '+'))
		return lc_fail("JVM %d was started with -XX:+DisableAttachMechanism; restart it "
		               "without that option",
		               (int)pid);
	if (!out->library[0] && has_flag(pid, "EnableDynamicAgentLoading", '-'))
		return lc_fail("JVM %d was started with -XX:-EnableDynamicAgentLoading, so it "
		               "loads no agent; restart it without that option",
		               (int)pid);
	if (!takes_sigquit(pid))
		return lc_fail("JVM %d does not handle SIGQUIT, which attaching needs: it has just "
		               "started (try again), or was started with -Xrs",
		               (int)pid);
	out->elsewhere = is_elsewhere(out);
	return 0;
}

int lc_attach_become(const struct lc_attach_target *t)
{
	if (geteuid() == t->uid && getegid() == t->gid)
		return 0;
	if ((geteuid() == 0 && setgroups(0, NULL)) || setresgid(t->gid, t->gid, t->gid) ||
	    setresuid(t->uid, t->uid, t->uid))
		return lc_fail("cannot become the user of process %d: %m", (int)t->pid);
	return 0;
}

bool lc_attach_alive(const struct lc_attach_target *t)
{
	struct status s;

	return read_status(t->pid, "status", &s);
}

/* -- the library --------------------------------------------------------------------------- */

static bool same_content(int a, int b)
{
	char left[LINE_BYTES], right[LINE_BYTES];
	ssize_t n, m;

	do {
		n = read(a, left, sizeof(left));
		m = read(b, right, sizeof(right));
	} while (n > 0 && n == m && !memcmp(left, right, (size_t)n));
	return n == 0 && m == 0;
}

static bool copy(int from, int to)
{
	char buffer[LINE_BYTES];
	ssize_t n;

	while ((n = read(from, buffer, sizeof(buffer))) > 0)
		if (write(to, buffer, (size_t)n) != n)
			return false;
	return n == 0;
}

/* Is the file at `path`, as the process sees it, the library that `fd` has open? */
static bool is_there(const struct lc_attach_target *t, const char *path, int fd)
{
	char *full = lc_mem_text("%s%s", t->root, path);
	const int other = open(full, O_RDONLY | O_CLOEXEC);
	bool same = false;

	if (other >= 0) {
		(void)lseek(fd, 0, SEEK_SET);
		same = same_content(fd, other);
		close(other);
	}
	free(full);
	return same;
}

/* A directory that only the user of the process can write. */
static bool own_directory(const struct lc_attach_target *t, const char *full)
{
	struct stat st;

	if (mkdir(full, 0700) && errno != EEXIST)
		return false;
	return lstat(full, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == t->uid &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* Copied under another name first, so that nobody sees a part of it. */
static int put_copy(const struct lc_attach_target *t, int fd, const char *path)
{
	char *full = lc_mem_text("%s%s", t->root, path), *part = lc_mem_text("%s.XXXXXX", full);
	int out = mkostemp(part, O_CLOEXEC), status = 1;

	(void)lseek(fd, 0, SEEK_SET);
	if (out >= 0 && copy(fd, out) && !fchmod(out, 0755) && !rename(part, full))
		status = 0;
	else
		lc_fail("cannot copy the agent's library to '%s': %m", full);
	if (out >= 0) {
		if (status)
			unlink(part);
		close(out);
	}
	free(part);
	free(full);
	return status;
}

int lc_attach_library(const struct lc_attach_target *t, const char *here, char out[PATH_MAX])
{
	char *dir = lc_mem_text("/tmp/.locus-" LC_VERSION "-%u", (unsigned)t->uid);
	char *full = lc_mem_text("%s%s", t->root, dir);
	const int fd = open(here, O_RDONLY | O_CLOEXEC);
	int status = 0;

	if (fd < 0) {
		status =
		    lc_fail("cannot read '%s' as the user of process %d: %m", here, (int)t->pid);
	} else if (!t->elsewhere || is_there(t, here, fd)) {
		snprintf(out, PATH_MAX, "%s", here);
	} else if (!own_directory(t, full)) {
		status = lc_fail("cannot make '%s' for the agent's library: %m", full);
	} else {
		snprintf(out, PATH_MAX, "%s/liblocus.so", dir);
		if (!is_there(t, out, fd))
			status = put_copy(t, fd, out);
	}
	if (fd >= 0)
		close(fd);
	free(full);
	free(dir);
	return status;
}
