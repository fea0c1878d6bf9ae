/* uses: src/classfile/rewrite.c src/classfile/edit.c src/classfile/method_code.c src/classfile/alloc_plan.c src/classfile/alloc_built.c src/classfile/stack_effect.c src/classfile/store_names.c src/classfile/store_names_rows.c src/classfile/alloc_emit.c src/classfile/pool.c src/classfile/class_file.c src/classfile/stackmap.c src/classfile/tables.c src/classfile/watched.c -lzip */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite_tool.c - rewrites class files: those of jars, those in directories, or single ones.
 *
 *   rewrite_tool [-m MIN_SIZE] [-a] [-s] [-p] [-t ROUNDS] [-o FILE] PATH...
 *
 * -m: threshold in bytes; 1, the default, hooks every site; 0 every `new` too.
 * -a: the audit's hooks, with -m 0.
 * -s: find where what is made is stored; -p: print that, and nothing but that.
 * -t: rewrite each class so often, for a CPU time that means something.
 * -o: write the last class rewritten to FILE.
 * Prints how many classes came to which end. Exit status 1 if one is malformed.
 */
#define _GNU_SOURCE
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zip.h>

#include "src/classfile/rewrite.h"

static struct {
	uint64_t min_size_bytes;
	bool audit, stores, print;
	unsigned rounds;
	const char *output;
	uint64_t rows, row_bytes, classes, bytes_in, bytes_out, sites, skipped, methods_left, ns;
	uint64_t status[LC_REWRITE_STATUS_COUNT];
	uint32_t next_site;
} tool = { .min_size_bytes = 1, .rounds = 1 };

static uint32_t next_site(void *user)
{
	return tool.next_site = tool.next_site % (LC_SITE_LIMIT - 1) + 1;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void write_output(const struct lc_rewrite_result *result)
{
	FILE *f = fopen(tool.output, "wb");

	if (!f || fwrite(result->bytes, 1, result->len, f) != result->len || fclose(f) != 0) {
		perror(tool.output);
		exit(2);
	}
}

static void print_stores(const char *name, const struct lc_store_names *s)
{
	static const char *const sources[] = { "array", "object", "call", "parameter" };
	static const char *const kinds[] = { "field", "local", "argument", "returned" };
	const struct lc_store_method *methods = s->methods.data;
	const struct lc_store *rows = s->rows.data;
	const struct lc_store_call *calls = s->calls.data;

	for (size_t m = 0; m < s->methods.len; m++) {
		for (size_t i = methods[m].first; i < methods[m].first + methods[m].len; i++) {
			const struct lc_store *r = &rows[i];
			uint32_t text =
			    r->kind == LC_STORE_ARGUMENT ? calls[r->name].name : r->name;

			printf("%s %zu %u+%u %s %s %s", name, m, r->at, r->bytes,
			       sources[r->source], kinds[r->kind],
			       r->kind == LC_STORE_RETURNED ? "-"
			                                    : (const char *)s->text.data + text);
			for (unsigned l = 0; l < r->levels; l++)
				fputs("[]", stdout);
			putchar('\n');
		}
	}
}

static void rewrite(const char *name, const uint8_t *bytes, size_t len)
{
	const struct lc_rewrite_options options = {
		.min_size_bytes = tool.min_size_bytes,
		.array_header_bytes = 16,
		.reference_bytes = 4,
		.objects = !tool.min_size_bytes,
		.constructed = tool.audit,
		.stores = tool.stores,
		.next_site = next_site,
	};
	struct lc_rewrite_result result = { 0 };
	enum lc_rewrite_status status = LC_REWRITE_NOTHING;
	uint64_t begin = now_ns();

	for (unsigned i = 0; i < tool.rounds; i++) {
		free(result.bytes);
		lc_store_names_free(&result.stores);
		status = lc_rewrite_class(bytes, len, &options, &result);
	}
	tool.ns += now_ns() - begin;
	tool.classes++;
	tool.rows += result.stores.rows.len;
	tool.row_bytes += result.stores.rows.len * sizeof(struct lc_store) +
	                  result.stores.methods.len * sizeof(struct lc_store_method) +
	                  result.stores.calls.len * sizeof(struct lc_store_call) +
	                  result.stores.text.len;
	if (tool.print)
		print_stores(name, &result.stores);
	tool.bytes_in += len;
	tool.bytes_out += status == LC_REWRITE_DONE ? result.len : len;
	tool.status[status]++;
	tool.sites += result.sites;
	tool.skipped += result.skipped_constant;
	tool.methods_left += result.methods_left;
	if (status != LC_REWRITE_DONE && status != LC_REWRITE_NOTHING)
		printf("%s: %s\n", name, lc_rewrite_status_name(status));
	else if (result.methods_left)
		printf("%s: %u methods left alone\n", name, result.methods_left);
	if (tool.output && status == LC_REWRITE_DONE)
		write_output(&result);
	lc_store_names_free(&result.stores);
	free(result.bytes);
}

static bool is_class(const char *name)
{
	size_t len = strlen(name);

	return len > 6 && strcmp(name + len - 6, ".class") == 0;
}

static int rewrite_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *bytes = NULL;
	long len;

	if (!f || fseek(f, 0, SEEK_END) != 0 || (len = ftell(f)) < 0) {
		perror(path);
		return -1;
	}
	rewind(f);
	bytes = malloc((size_t)len + 1);
	if (!bytes || fread(bytes, 1, (size_t)len, f) != (size_t)len) {
		perror(path);
		return -1;
	}
	fclose(f);
	rewrite(path, bytes, (size_t)len);
	free(bytes);
	return 0;
}

static int rewrite_jar(const char *path)
{
	zip_t *jar = zip_open(path, ZIP_RDONLY, NULL);
	zip_stat_t st;

	if (!jar) {
		fprintf(stderr, "%s: not a jar\n", path);
		return -1;
	}
	for (zip_uint64_t i = 0; zip_stat_index(jar, i, 0, &st) == 0; i++) {
		zip_file_t *f;
		uint8_t *bytes;

		if (!is_class(st.name))
			continue;
		f = zip_fopen_index(jar, i, 0);
		bytes = malloc(st.size + 1);
		if (!f || !bytes || zip_fread(f, bytes, st.size) != (zip_int64_t)st.size) {
			fprintf(stderr, "%s: %s: cannot be read\n", path, st.name);
			exit(2);
		}
		rewrite(st.name, bytes, st.size);
		free(bytes);
		zip_fclose(f);
	}
	zip_discard(jar);
	return 0;
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return type == FTW_F && is_class(path) ? rewrite_file(path) : 0;
}

static int rewrite_path(const char *path)
{
	size_t len = strlen(path);

	if (len > 4 && strcmp(path + len - 4, ".jar") == 0)
		return rewrite_jar(path);
	return nftw(path, visit, 16, FTW_PHYS);
}

int main(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "aspm:t:o:")) != -1) {
		if (opt == 'm')
			tool.min_size_bytes = strtoull(optarg, NULL, 0);
		else if (opt == 'a')
			tool.audit = true;
		else if (opt == 's')
			tool.stores = true;
		else if (opt == 'p')
			tool.stores = tool.print = true;
		else if (opt == 't')
			tool.rounds = (unsigned)strtoul(optarg, NULL, 0);
		else if (opt == 'o')
			tool.output = optarg;
		else
			return 2;
	}
	for (; optind < argc; optind++)
		if (rewrite_path(argv[optind]) != 0)
			return 2;
	if (tool.print)
		return 0;
	if (tool.stores)
		printf("stores %lu, %lu bytes\n", tool.rows, tool.row_bytes);
	printf("classes %lu sites %lu skipped_constant %lu methods_left %lu", tool.classes,
	       tool.sites, tool.skipped, tool.methods_left);
	for (int s = 0; s < LC_REWRITE_STATUS_COUNT; s++)
		printf(" [%s] %lu", lc_rewrite_status_name((enum lc_rewrite_status)s),
		       tool.status[s]);
	printf("\nbytes in %lu out %lu, %.1f us per class\n", tool.bytes_in, tool.bytes_out,
	       tool.classes ? (double)tool.ns / 1000.0 / (double)(tool.classes * tool.rounds)
	                    : 0.0);
	return tool.status[LC_REWRITE_MALFORMED] != 0;
}
