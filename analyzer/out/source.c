/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out/source.c - finds source files by package and file name.
 *
 * The search tries com/acme/Foo.java in each directory. In an archive it also tries one directory
 * deeper, since a JDK's src.zip has a directory per module. Names come from the profile, which
 * anybody can have written, so only plain file names are tried.
 */
#include "analyzer/out/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/file.h"
#include "analyzer/base/memory.h"
#include "analyzer/base/table.h"
#include "src/format/block.h"

enum { FILE_MAX_BYTES = 16 << 20, NAME_MAX_BYTES = 4096 };

/* One element of the path: a directory, or an archive with the numbers of its entries. */
struct place {
	int dir_fd; /* -1: an archive */
	zip_t *zip;
	struct lc_table names; /* key: hash of a name (2); value: entry */
};

struct file {
	char *text; /* NULL: not found */
	size_t len;
	size_t *lines; /* where line i + 1 begins; one more than there are lines */
	size_t lines_len;
};

struct lc_source {
	struct place *places;
	size_t places_len;
	size_t places_cap;
	struct lc_table index; /* key: hash of a relative name (2); row: file */
	struct file *files;
	size_t files_cap;
	bool unreadable; /* a place, or a file in an archive: one line said so */
};

/* Two names of one hash would show the wrong line; in 64 bits they do not happen by chance. */
static void name_key(const char *name, size_t len, uint32_t *key)
{
	uint64_t hash = lc_checksum(name, len);

	key[0] = (uint32_t)hash;
	key[1] = (uint32_t)(hash >> 32);
}

static void index_archive(struct place *p)
{
	zip_int64_t count = zip_get_num_entries(p->zip, 0);

	lc_table_init(&p->names, 2, 1);
	for (zip_int64_t i = 0; i < count; i++) {
		const char *name = zip_get_name(p->zip, (zip_uint64_t)i, ZIP_FL_ENC_RAW);
		const char *below = name ? strchr(name, '/') : NULL;
		uint32_t key[2];

		if (!name || !*name || name[strlen(name) - 1] == '/')
			continue;
		name_key(name, strlen(name), key);
		*lc_table_values(&p->names, lc_table_put(&p->names, key)) = (uint64_t)i + 1;
		if (!below)
			continue;
		name_key(below + 1, strlen(below + 1), key);
		*lc_table_values(&p->names, lc_table_put(&p->names, key)) = (uint64_t)i + 1;
	}
}

/* A place that cannot be read costs a line; what other places hold is shown. */
static void open_place(struct lc_source *s, const char *name)
{
	struct place p = { .dir_fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	int code = 0;

	if (p.dir_fd < 0 && errno != ENOTDIR) {
		lc_fail("--source-path: cannot read '%s': %s; its lines are not shown", name,
		        strerror(errno));
		s->unreadable = true;
		return;
	}
	if (p.dir_fd < 0) {
		p.zip = zip_open(name, ZIP_RDONLY, &code);
		if (!p.zip) {
			lc_fail("--source-path: '%s' is neither a directory nor a readable jar; "
			        "its lines are not shown",
			        name);
			s->unreadable = true;
			return;
		}
		index_archive(&p);
	}
	s->places = lc_mem_grow(s->places, &s->places_cap, s->places_len + 1, sizeof(p));
	s->places[s->places_len++] = p;
}

struct lc_source *lc_source_open(const char *path)
{
	struct lc_source *s = lc_mem_zeroed(1, sizeof(*s));
	char *copy = lc_mem_text("%s", path), *rest = copy, *name;

	lc_table_init(&s->index, 2, 0);
	while ((name = strsep(&rest, ":")))
		if (*name)
			open_place(s, name);
	free(copy);
	return s;
}

bool lc_source_unreadable(const struct lc_source *s)
{
	return s && s->unreadable;
}

void lc_source_close(struct lc_source *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->places_len; i++) {
		if (s->places[i].zip) {
			zip_discard(s->places[i].zip);
			lc_table_free(&s->places[i].names);
		} else {
			close(s->places[i].dir_fd);
		}
	}
	for (uint32_t i = 0; i < s->index.count; i++) {
		free(s->files[i].text);
		free(s->files[i].lines);
	}
	free(s->places);
	free(s->files);
	lc_table_free(&s->index);
	free(s);
}

/* Both leave *f alone where the place has no such file. */
static void read_directory(const struct place *p, const char *name, struct file *f)
{
	int fd = lc_file_open(p->dir_fd, name);
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) || st.st_size > FILE_MAX_BYTES) {
		close(fd);
		return;
	}
	f->text = lc_mem_zeroed((size_t)st.st_size + 1, 1);
	while (f->len < (size_t)st.st_size) {
		ssize_t n = read(fd, f->text + f->len, (size_t)st.st_size - f->len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		f->len += (size_t)n;
	}
	close(fd);
}

/* Print a line for the first of the files that a broken archive holds. */
static void say_broken(struct lc_source *s, const char *name)
{
	if (!s->unreadable)
		lc_fail("--source-path: cannot read '%s' from its jar; its lines are not shown",
		        name);
	s->unreadable = true;
}

static void read_archive(struct lc_source *s, struct place *p, const char *name, struct file *f)
{
	uint32_t key[2], before = p->names.count, row;
	zip_file_t *entry;
	zip_stat_t st;
	zip_int64_t n;
	uint64_t number;

	name_key(name, strlen(name), key);
	row = lc_table_put(&p->names, key);
	number = *lc_table_values(&p->names, row);
	if (row == before || !number)
		return;
	if (zip_stat_index(p->zip, number - 1, 0, &st) || !(st.valid & ZIP_STAT_SIZE) ||
	    st.size > FILE_MAX_BYTES)
		return;
	entry = zip_fopen_index(p->zip, number - 1, 0);
	if (!entry) {
		say_broken(s, name);
		return;
	}
	f->text = lc_mem_zeroed((size_t)st.size + 1, 1);
	n = zip_fread(entry, f->text, st.size);
	f->len = n > 0 ? (size_t)n : 0;
	if (f->len != st.size)
		say_broken(s, name);
	zip_fclose(entry);
}

static void split_lines(struct file *f)
{
	size_t cap = 0;

	for (size_t at = 0; at < f->len;) {
		const char *newline = memchr(f->text + at, '\n', f->len - at);

		f->lines = lc_mem_grow(f->lines, &cap, f->lines_len + 2, sizeof(*f->lines));
		f->lines[f->lines_len++] = at;
		at = newline ? (size_t)(newline - f->text) + 1 : f->len;
		f->lines[f->lines_len] = at;
	}
}

/* "com.acme.Foo$Bar" and "Foo.java" to "com/acme/Foo.java"; false where it cannot be a file. */
static bool relative_name(struct lc_text class_name, struct lc_text file, char *out)
{
	size_t package = class_name.len;

	while (package && class_name.bytes[package - 1] != '.')
		package--;
	if (!file.len || file.bytes[0] == '.' || package + file.len >= NAME_MAX_BYTES)
		return false;
	if (memchr(file.bytes, '/', file.len) || memchr(file.bytes, 0, file.len) ||
	    memchr(class_name.bytes, '/', class_name.len) || memchr(class_name.bytes, 0, package))
		return false;
	if (package && class_name.bytes[0] == '.')
		return false; /* would be an absolute name */
	for (size_t i = 0; i < package; i++)
		out[i] = class_name.bytes[i] == '.' ? '/' : class_name.bytes[i];
	memcpy(out + package, file.bytes, file.len);
	out[package + file.len] = 0;
	return true;
}

static const struct file *find_file(struct lc_source *s, const char *name)
{
	uint32_t key[2], before = s->index.count, row;
	struct file *f;

	name_key(name, strlen(name), key);
	row = lc_table_put(&s->index, key);
	if (row != before)
		return &s->files[row];
	s->files = lc_mem_grow(s->files, &s->files_cap, (size_t)row + 1, sizeof(*s->files));
	f = &s->files[row];
	memset(f, 0, sizeof(*f));
	for (size_t i = 0; i < s->places_len && !f->text; i++) {
		if (s->places[i].zip)
			read_archive(s, &s->places[i], name, f);
		else
			read_directory(&s->places[i], name, f);
	}
	if (f->text)
		split_lines(f);
	return f;
}

struct lc_text lc_source_line(struct lc_source *s, struct lc_text class_name, struct lc_text file,
                              uint32_t line)
{
	char name[NAME_MAX_BYTES];
	const struct file *f;
	size_t begin, end;

	if (!line || !relative_name(class_name, file, name))
		return (struct lc_text){ NULL, 0 };
	f = find_file(s, name);
	if (line > f->lines_len)
		return (struct lc_text){ NULL, 0 };
	begin = f->lines[line - 1];
	end = f->lines[line];
	while (end > begin && (f->text[end - 1] == '\n' || f->text[end - 1] == '\r'))
		end--;
	return (struct lc_text){ f->text + begin, (uint32_t)(end - begin) };
}
