/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/attach_protocol.c - speaks HotSpot's attach protocol.
 *
 * A JVM listens at the socket /tmp/.java_pidN, N being its process ID as it knows it. It makes the
 * socket when it is first asked to: by a SIGQUIT while there is a file /tmp/.attach_pidN of its
 * user. A request is its version, a word and three arguments, each ended by a zero byte. The answer
 * is a number in a line, 0 for success, and text.
 */
#include "analyzer/commands/attach_protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/base/fail.h"
#include "analyzer/commands/attach_target.h"

enum { WAIT_MS = 10000, STEP_MS = 20, ANSWER_MAX = 4096 };

static void step(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = STEP_MS * 1000000L }, NULL);
}

/*
 * A connection to the JVM, or -1 with errno: ENOENT where it does not listen yet. The socket of a
 * JVM that was killed stays, and may have the name of this one's until that has begun.
 */
static int connect_to(const struct lc_attach_target *t, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const struct timeval most = { .tv_sec = WAIT_MS / 1000 };
	struct stat st;
	int fd, error;

	if (lstat(path, &st) != 0 || !S_ISSOCK(st.st_mode) ||
	    (st.st_uid != t->uid && st.st_uid != 0)) {
		errno = ENOENT;
		return -1;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0)
		return -1;
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most));
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	error = errno == ECONNREFUSED ? ENOENT : errno;
	close(fd);
	errno = error;
	return -1;
}

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

/* The inode of the newest socket that a JVM of this ID has bound, or 0. */
static unsigned long bound_socket(const struct lc_attach_target *t)
{
	char path[64], line[PATH_MAX], name[64];
	unsigned long newest = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/net/unix", (int)t->pid);
	snprintf(name, sizeof(name), "/.java_pid%d.tmp\n", (int)t->inner_pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		unsigned long inode;

		if (strstr(line, name) && sscanf(line, "%*s %*s %*s %*s %*s %*s %lu", &inode) == 1)
			newest = inode > newest ? inode : newest;
	}
	if (f)
		fclose(f);
	return newest;
}

/*
 * A JVM that begins may listen already, on our request, when it removes the socket that a killed
 * JVM of its ID may have left: it removes its own. Asked again, it makes another. It is asked only
 * then, since a SIGQUIT while it listens makes it print its threads. It binds the socket to
 * PATH.tmp and renames that. `*known` is the socket that it had before.
 */
static void ask_again_if_removed(const struct lc_attach_target *t, const char *path,
                                 unsigned long *known)
{
	const unsigned long bound = bound_socket(t);
	char part[PATH_MAX];

	snprintf(part, sizeof(part), "%s.tmp", path);
	if (!bound || bound == *known || exists(part) || exists(path))
		return;
	*known = bound;
	(void)kill(t->pid, SIGQUIT);
}

/* Ask the JVM to listen, and wait. Returns a connection, or -1 after one line. */
static int wake_listener(const struct lc_attach_target *t, const char *socket_path)
{
	unsigned long known = bound_socket(t);
	char file[PATH_MAX];
	int fd, connection = -1, waited = 0;

	snprintf(file, sizeof(file), "%s/tmp/.attach_pid%d", t->root, (int)t->inner_pid);
	fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 && errno != EEXIST) {
		lc_fail("cannot make '%s': %m", file);
		return -1;
	}
	if (fd >= 0)
		close(fd);
	if (kill(t->pid, SIGQUIT) != 0) {
		lc_fail("process %d: %m", (int)t->pid);
		unlink(file);
		return -1;
	}
	while ((connection = connect_to(t, socket_path)) < 0 && errno == ENOENT &&
	       lc_attach_alive(t) && waited < WAIT_MS) {
		ask_again_if_removed(t, socket_path, &known);
		step();
		waited += STEP_MS;
	}
	if (connection < 0 && errno != ENOENT)
		lc_fail("cannot connect to JVM %d: %m", (int)t->pid);
	else if (connection < 0 && !lc_attach_alive(t))
		lc_fail("process %d has ended", (int)t->pid);
	else if (connection < 0 && lc_attach_stopped(t->pid))
		lc_fail("JVM %d was stopped and does not answer; continue it with 'kill -CONT %d'",
		        (int)t->pid, (int)t->pid);
	else if (connection < 0)
		lc_fail("JVM %d does not answer: is it frozen, or was it started with "
		        "-XX:+DisableAttachMechanism?",
		        (int)t->pid);
	unlink(file);
	return connection;
}

/* Returns a connection, or -1 after one line. */
static int connect_or_wake(const struct lc_attach_target *t, const char *path)
{
	const int fd = connect_to(t, path);

	if (fd >= 0)
		return fd;
	if (errno == ENOENT)
		return wake_listener(t, path);
	lc_fail("cannot connect to JVM %d: %m", (int)t->pid);
	return -1;
}

static bool send_text(int fd, const char *text)
{
	const size_t len = strlen(text) + 1;

	return send(fd, text, len, MSG_NOSIGNAL) == (ssize_t)len;
}

/* Read to the end of the answer. Returns whether there was one. */
static bool read_answer(int fd, char *answer, size_t answer_len, int wait_ms)
{
	size_t len = 0;
	ssize_t n = 1;

	while (n > 0 && len + 1 < answer_len) {
		struct pollfd ready = { .fd = fd, .events = POLLIN };

		if (poll(&ready, 1, wait_ms) <= 0)
			return false;
		n = read(fd, answer + len, answer_len - len - 1);
		len += n > 0 ? (size_t)n : 0;
	}
	answer[len] = '\0';
	return len > 0;
}

/* JDK 25 loads no agent before the program begins. */
static bool is_too_early(const char *answer)
{
	return strstr(answer, "only permitted in the live phase") != NULL;
}

/* Put the JVM's answer into our words. Returns 0 for success, or 1 after one line. */
static int judge(const struct lc_attach_target *t, char *answer, const char *library)
{
	static const char code[] = "return code: ";
	char *text = strchr(answer, '\n'), *at;

	if (strstr(answer, "EnableDynamicAgentLoading"))
		return lc_fail("JVM %d was started with -XX:-EnableDynamicAgentLoading, so it "
		               "loads no agent; restart it without that option",
		               (int)t->pid);
	at = text ? strstr(text, code) : NULL;
	if (strtol(answer, NULL, 10) == 0 && (!at || strtol(at + strlen(code), NULL, 10) == 0) &&
	    !is_too_early(answer))
		return 0;
	if (at)
		return lc_fail("the agent could not start in JVM %d; its standard error says why",
		               (int)t->pid);
	while (text && (at = strchr(text + 1, '\n')) && at[1])
		*at = ' ';
	return lc_fail("JVM %d cannot load '%s': %s", (int)t->pid, library,
	               text ? text + 1 : answer);
}

/* The JVM may have been stopped since it was looked at. The request waits in its socket. */
static void no_answer(const struct lc_attach_target *t, int wait_ms)
{
	if (lc_attach_stopped(t->pid))
		lc_fail("JVM %d was stopped and has not answered; continued with 'kill -CONT %d', "
		        "it will still do what was asked",
		        (int)t->pid, (int)t->pid);
	else
		lc_fail("JVM %d did not answer within %d s", (int)t->pid, wait_ms / 1000);
}

/* Ask once. Returns whether there is an answer; else what is wrong is said. */
static bool ask(const struct lc_attach_target *t, const char *socket_path, const char *library,
                const char *text, char *answer, size_t answer_len, int wait_ms)
{
	const int fd = connect_or_wake(t, socket_path);
	bool done = false;

	if (fd < 0)
		return false;
	if (!send_text(fd, "1") || !send_text(fd, "load") || !send_text(fd, library) ||
	    !send_text(fd, "true") || !send_text(fd, text))
		lc_fail("cannot ask JVM %d: %m", (int)t->pid);
	else if (!read_answer(fd, answer, answer_len, wait_ms))
		no_answer(t, wait_ms);
	else
		done = true;
	close(fd);
	return done;
}

int lc_attach_load(const struct lc_attach_target *t, const char *library, const char *text,
                   unsigned seconds)
{
	char path[64], answer[ANSWER_MAX];
	const int wait_ms = WAIT_MS + (int)seconds * 1000;
	int waited = 0;

	snprintf(path, sizeof(path), "%s/tmp/.java_pid%d", t->root, (int)t->inner_pid);
	if (strlen(library) > LC_ATTACH_ARGUMENT_MAX || strlen(text) > LC_ATTACH_ARGUMENT_MAX)
		return lc_fail("the options are too long for a running JVM: at most %d bytes",
		               LC_ATTACH_ARGUMENT_MAX);
	for (;;) {
		if (!ask(t, path, library, text, answer, sizeof(answer), wait_ms))
			return 1;
		if (!is_too_early(answer) || waited >= WAIT_MS)
			return judge(t, answer, library);
		step();
		waited += STEP_MS;
	}
}
