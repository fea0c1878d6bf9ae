/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/progress.c - writes a line over itself, ten times a second at most. Threads may tell of what
 * they read; a lock makes them take turns.
 */
#include "analyzer/base/progress.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_MS = 1000, NEXT_MS = 100, NAME_BYTES_MAX = 48 };

static struct {
	bool begun, terminal, armed;
	int64_t begin_ms, last_ms;
	uint64_t done, all; /* bytes */
	volatile sig_atomic_t shown;
	char line[NAME_BYTES_MAX + 32]; /* of the stage, for the signal; written while it is off */
	size_t line_len;
} progress;

static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER; /* guards lc_progress_read() */

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void begin(void)
{
	if (progress.begun)
		return;
	progress.begun = true;
	progress.terminal = isatty(STDERR_FILENO);
	progress.begin_ms = now_ms();
}

/* The end of a name. A control character in the name of a file would move the line. */
static void put_name(const char *name)
{
	const size_t len = strlen(name);

	for (name += len > NAME_BYTES_MAX ? len - NAME_BYTES_MAX : 0; *name; name++)
		putc((unsigned char)*name < ' ' || *name == 127 ? '?' : *name, stderr);
}

/* The second is over within a stage. Context: [signal]. */
static void show_stage(int number)
{
	const int saved = errno;

	progress.shown = write(STDERR_FILENO, progress.line, progress.line_len) > 0;
	errno = saved;
}

static void set_alarm(int64_t ms)
{
	const struct itimerval when = { .it_value = { .tv_sec = ms / 1000,
		                                      .tv_usec = ms % 1000 * 1000 } };

	(void)setitimer(ITIMER_REAL, &when, NULL);
	progress.armed = ms > 0;
}

void lc_progress_expect(uint64_t bytes)
{
	begin();
	progress.all += bytes;
}

static void show_reading(const char *file, uint64_t bytes)
{
	int64_t now;

	begin();
	progress.done += bytes;
	if (!progress.terminal)
		return;
	now = now_ms();
	if (now - progress.begin_ms < FIRST_MS || now - progress.last_ms < NEXT_MS)
		return;
	progress.last_ms = now;
	fputs("\rlocus: reading ", stderr);
	put_name(file);
	if (progress.done <= progress.all)
		fprintf(stderr, ", %d%%",
		        (int)(100.0 * (double)progress.done / (double)progress.all));
	fputs("\033[K", stderr);
	fflush(stderr);
	progress.shown = true;
}

void lc_progress_read(const char *file, uint64_t bytes)
{
	pthread_mutex_lock(&reading);
	show_reading(file, bytes);
	pthread_mutex_unlock(&reading);
}

void lc_progress_stage(const char *what)
{
	const struct sigaction action = { .sa_handler = show_stage, .sa_flags = SA_RESTART };
	int64_t left;

	begin();
	if (!progress.terminal)
		return;
	set_alarm(0);
	progress.line_len = (size_t)snprintf(progress.line, sizeof(progress.line),
	                                     "\rlocus: %.*s ...\033[K", NAME_BYTES_MAX, what);
	left = progress.begin_ms + FIRST_MS - now_ms();
	if (left <= 0)
		show_stage(0);
	else if (!sigaction(SIGALRM, &action, NULL))
		set_alarm(left);
}

void lc_progress_now(const char *what)
{
	begin();
	progress.begin_ms = now_ms() - FIRST_MS;
	lc_progress_stage(what);
}

void lc_progress_end(void)
{
	if (progress.armed)
		set_alarm(0);
	if (!progress.shown)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	progress.shown = false;
}
