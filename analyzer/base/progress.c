/* base/progress.c - writes a line over itself, ten times a second at most. */
#include "analyzer/base/progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_MS = 1000, NEXT_MS = 100, NAME_BYTES_MAX = 48 };

static struct {
	bool begun, terminal, shown;
	int64_t begin_ms, last_ms;
} progress;

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

static void show(const char *what, const char *of, uint64_t done, uint64_t all)
{
	fprintf(stderr, "\rlocus: %s ", what);
	put_name(of);
	if (all)
		fprintf(stderr, ", %d%%", (int)(100.0 * (double)done / (double)all));
	fputs("\033[K", stderr);
	fflush(stderr);
	progress.shown = true;
}

void lc_progress(const char *what, const char *of, uint64_t done, uint64_t all)
{
	int64_t now;

	begin();
	if (!progress.terminal)
		return;
	now = now_ms();
	if (now - progress.begin_ms < FIRST_MS || now - progress.last_ms < NEXT_MS)
		return;
	progress.last_ms = now;
	show(what, of, done, all);
}

void lc_progress_now(const char *what)
{
	begin();
	if (progress.terminal)
		show(what, "", 0, 0);
}

void lc_progress_end(void)
{
	if (!progress.shown)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	progress.shown = false;
}
