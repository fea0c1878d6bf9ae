/* SPDX-License-Identifier: Apache-2.0 */
/* commands/bench_output.c - makes the directory of a benchmark, and takes it away again. */
#include "analyzer/commands/bench_output.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"

enum { BENCH_NAMES_MAX = 1000 };

static bool is_empty(const char *directory)
{
	DIR *d = opendir(directory);
	const struct dirent *e;
	size_t others = 0;

	while (d && (e = readdir(d)))
		others += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	if (d)
		closedir(d);
	return d && !others;
}

/* "bench-Index-211" of org.acme.Index, "bench-Index-search", or "bench-Index". For free(). */
static char *name_of(const struct lc_bench_place *p)
{
	const char *dot = strrchr(p->class, '.');
	const char *class = dot ? dot + 1 : p->class;
	char *name = p->line      ? lc_mem_text("bench-%s-%u", class, p->line)
	             : *p->method ? lc_mem_text("bench-%s-%s", class, p->method)
	                          : lc_mem_text("bench-%s", class);

	for (char *at = name; *at; at++)
		if (strchr("$<>/;[ ", *at))
			*at = '-';
	return name;
}

/* The first of NAME, NAME-2, NAME-3 and so on that is not there yet. */
static int make_named(struct lc_bench_output *o, const struct lc_bench_place *place)
{
	char *name = name_of(place);
	int status = 0;

	o->directory = lc_mem_text("%s", name);
	for (unsigned i = 2; mkdir(o->directory, 0777) != 0; i++) {
		if (errno != EEXIST || i > BENCH_NAMES_MAX) {
			status = lc_fail("cannot make directory '%s': %m; name another with -o",
			                 o->directory);
			break;
		}
		free(o->directory);
		o->directory = lc_mem_text("%s-%u", name, i);
	}
	o->made = !status;
	free(name);
	return status;
}

static int make_given(struct lc_bench_output *o, const char *directory)
{
	o->directory = lc_mem_text("%s", directory);
	o->made = mkdir(directory, 0777) == 0;
	if (o->made)
		return 0;
	if (errno != EEXIST)
		return lc_fail("cannot make directory '%s': %m", directory);
	if (!is_empty(directory))
		return lc_fail("'%s' exists and is not an empty directory; name another with -o",
		               directory);
	return 0;
}

int lc_bench_output_make(struct lc_bench_output *o, struct lc_bench_request *r)
{
	int status;

	*o = (struct lc_bench_output){ .made = false };
	status = r->output ? make_given(o, r->output) : make_named(o, &r->place);
	if (status) {
		lc_bench_output_free(o);
		return status;
	}
	o->file = lc_mem_text("%s/request.json", o->directory);
	r->output = o->directory;
	return 0;
}

int lc_bench_output_write(const struct lc_bench_output *o, const struct lc_bench_request *r)
{
	FILE *out = fopen(o->file, "wxe");
	bool bad = !out;

	if (out) {
		lc_bench_request_write(out, r);
		bad = ferror(out);
		bad |= fclose(out) != 0;
	}
	return bad ? lc_fail("cannot write '%s': %m", o->file) : 0;
}

void lc_bench_output_remove(const struct lc_bench_output *o)
{
	unlink(o->file);
	if (o->made)
		rmdir(o->directory);
}

void lc_bench_output_free(struct lc_bench_output *o)
{
	free(o->directory);
	free(o->file);
	*o = (struct lc_bench_output){ .made = false };
}
