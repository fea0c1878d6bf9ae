/* SPDX-License-Identifier: Apache-2.0 */
/* model/summary.c - reads manifests, and the headers of blocks. */
#include "analyzer/model/summary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/base/file.h"
#include "analyzer/base/memory.h"
#include "analyzer/model/load_impl.h"
#include "analyzer/model/manifest_file.h"
#include "analyzer/model/periods.h"
#include "src/format/block.h"

/* Keeps the first thing that is wrong. */
static void damage(struct lc_summary *s, char *what)
{
	if (s->damage)
		free(what);
	else
		s->damage = what;
}

/* How many blocks follow each other from the file's beginning, and where they end. */
static uint64_t count_blocks(int fd, uint64_t size, uint64_t *end)
{
	uint8_t bytes[LC_BLOCK_HEADER_LEN_MAX];
	uint64_t count = 0, at = 0;

	while (at < size) {
		struct lc_block_header h;
		ssize_t n = pread(fd, bytes, LC_BLOCK_HEADER_LEN, (off_t)at);
		int err = n < 0 ? -EIO : lc_block_header_get(bytes, (size_t)n, &h);

		if (err == -EAGAIN) {
			n = pread(fd, bytes, sizeof(bytes), (off_t)at);
			err = n < 0 ? -EIO : lc_block_header_get(bytes, (size_t)n, &h);
		}
		if (err || (uint64_t)h.header_len + h.stored_len > size - at)
			break;
		at += (uint64_t)h.header_len + h.stored_len;
		count++;
	}
	*end = at;
	return count;
}

/* A file of blocks. A program that runs may just be writing the last one. */
static void read_file(struct lc_summary *s, const char *directory, const char *name, bool running,
                      uint64_t *blocks)
{
	char *path = lc_mem_text("%s/%s", directory, name);
	const int fd = lc_file_open(AT_FDCWD, path);
	uint64_t end;
	struct stat st;

	if (fd < 0 && fd != -ENOENT) {
		damage(s, lc_mem_text("%s: %s", name, lc_file_error(fd)));
	} else if (fd >= 0 && !fstat(fd, &st)) {
		s->bytes += (uint64_t)st.st_size;
		*blocks += count_blocks(fd, (uint64_t)st.st_size, &end);
		if (end < (uint64_t)st.st_size && !running)
			damage(s, lc_mem_text("%s: no complete block at byte %" PRIu64, name, end));
	}
	if (fd >= 0)
		close(fd);
	free(path);
}

static int is_block_file(const struct dirent *e)
{
	const size_t len = strlen(e->d_name), suffix = strlen(LC_BLOCK_SUFFIX);

	return len > suffix && !strcmp(e->d_name + len - suffix, LC_BLOCK_SUFFIX);
}

static void read_files(struct lc_summary *s, const char *path, bool complete, uint64_t expected)
{
	struct dirent **names = NULL;
	const int count = scandir(path, &names, is_block_file, versionsort);
	uint64_t blocks = 0;

	if (count < 0)
		damage(s, lc_mem_text("%s", strerror(errno)));
	for (int i = 0; i < count; i++) {
		read_file(s, path, names[i]->d_name, !complete, &blocks);
		free(names[i]);
	}
	free(names);
	s->blocks += blocks;
	if (count >= 0 && blocks < expected)
		damage(s, lc_mem_text("%" PRIu64 " of %" PRIu64 " blocks are missing",
		                      expected - blocks, expected));
}

static void add_process(struct lc_summary *s, const json_t *row, bool period)
{
	struct lc_load_process p;

	lc_load_process_read(&p, row);
	if (period && s->processes_len &&
	    lc_load_process_continues(&s->processes[s->processes_len - 1], &p)) {
		lc_load_process_add(&s->processes[s->processes_len - 1], &p);
		return;
	}
	s->processes = realloc(s->processes, (s->processes_len + 1) * sizeof(*s->processes));
	if (!s->processes)
		lc_no_memory();
	s->processes[s->processes_len++] = p;
}

static void read_manifest(struct lc_summary *s, const char *path, bool period, bool last)
{
	char *why, *file = lc_mem_text("%s/" LC_MANIFEST_NAME, path);
	json_t *m = lc_manifest_load(path, &why), *row;
	const json_t *format = json_object_get(m, "format");
	bool complete = true;
	struct stat st;
	size_t i;

	if (!stat(file, &st) && S_ISREG(st.st_mode))
		s->bytes += (uint64_t)st.st_size;
	if (!json_is_integer(format))
		damage(s, lc_mem_text("the manifest is missing or damaged (%s)",
		                      m ? "no format" : why));
	else if (json_integer_value(format) > LC_FORMAT_VERSION)
		damage(s, lc_mem_text("written by a newer Locus (format %" JSON_INTEGER_FORMAT ")",
		                      json_integer_value(format)));
	json_array_foreach(json_object_get(m, "processes"), i, row)
	{
		complete = complete && json_is_true(json_object_get(row, "complete"));
		s->merged |= json_is_integer(json_object_get(row, "last_block_ns"));
		add_process(s, row, period);
	}
	json_array_foreach(json_object_get(m, "by"), i, row)
	{
		if (json_is_string(row))
			(void)lc_by_add(&s->by, json_string_value(row));
	}
	/* The profile of a program that runs grows between the manifest and here. */
	read_files(s, path, complete || !last, lc_load_number_of(m, "blocks"));
	json_decref(m);
	free(why);
	free(file);
}

int lc_summary_read(struct lc_summary *s, const char *path)
{
	struct lc_periods periods;

	*s = (struct lc_summary){ .path = lc_mem_text("%s", path) };
	lc_periods_find(path, &periods);
	s->periods = periods.loop ? periods.len : 0;
	for (size_t i = 0; i < periods.len; i++)
		/* --keep removes the oldest while they are looked at. */
		if (!periods.loop || !access(periods.paths[i], F_OK))
			read_manifest(s, periods.paths[i], periods.loop, i + 1 == periods.len);
	lc_periods_free(&periods);
	if (s->damage && access(path, F_OK)) { /* it has vanished meanwhile */
		lc_summary_free(s);
		return -ENOENT;
	}
	for (size_t i = 0; i < s->processes_len; i++) {
		const struct lc_load_process *p = &s->processes[i];

		if (p->start_wall_ns && (!s->start_wall_ns || p->start_wall_ns < s->start_wall_ns))
			s->start_wall_ns = p->start_wall_ns;
		if (p->end_wall_ns > s->end_wall_ns)
			s->end_wall_ns = p->end_wall_ns;
	}
	return 0;
}

void lc_summary_free(struct lc_summary *s)
{
	free(s->path);
	for (size_t i = 0; i < s->processes_len; i++)
		lc_load_process_free(&s->processes[i]);
	free(s->processes);
	lc_by_free(&s->by);
	free(s->damage);
}
