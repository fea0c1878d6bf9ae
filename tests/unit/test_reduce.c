/* uses: analyzer/merge/ analyzer/model/ analyzer/base/ src/format/ src/base/options.c src/base/nearest.c src/base/redact.c -lzstd -ljansson -lm */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_reduce.c - checks that profiles which several threads and several processes read, each a
 * share, are written to the same bytes, and that trees add up whichever comes first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/merge/reduce.h"
#include "analyzer/model/merge_writer.h"
#include "analyzer/model/tree_combine.h"
#include "analyzer/model/tree_spans.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { ROWS = 50 }; /* sanitizers look for other mistakes, and are slow */
#else
enum { ROWS = 300 };
#endif
enum { PROFILES = 12, HOSTS = 3 };

static char dir[] = "/tmp/test_reduce.XXXXXX";
static char *paths[PROFILES];

/* ---- trees ---- */

static uint32_t text(struct lc_tree *t, const char *format, unsigned number)
{
	char name[64];

	return lc_tree_string(t, name, (size_t)snprintf(name, sizeof(name), format, number));
}

static uint32_t path_of(struct lc_tree *t, unsigned seed)
{
	uint32_t path = 0;

	for (unsigned depth = 0; depth < 1 + seed % 7; depth++) {
		const unsigned n = seed / 7 % (depth + 3);
		const uint32_t method[LC_METHOD_KEY] = { text(t, "C%u", n), text(t, "m%u", depth),
			                                 text(t, "()V", 0), 0 };
		const uint32_t frame[LC_FRAME_KEY] = { lc_table_put(&t->methods, method), 1, n };
		const uint32_t key[LC_PATH_KEY] = { path, lc_table_put(&t->frames, frame) };

		path = lc_table_put(&t->paths, key);
	}
	return path;
}

static uint32_t site_of(struct lc_tree *t, unsigned seed)
{
	const uint32_t key[LC_SITE_KEY] = { text(t, "Type%u", seed % 5), path_of(t, seed) };

	return lc_table_put(&t->sites, key);
}

/* A row of each flat section: any numbers that are valid. */
static void add_rows(struct lc_tree *t, unsigned seed)
{
	for (unsigned section = 0; section < LC_SECTION_COUNT; section++) {
		const struct lc_section_spec *s = lc_section_spec(section);
		struct lc_table *table = lc_tree_table(t, section);
		uint32_t key[2 * LC_COLUMNS_MAX] = { 0 }, at = 0;
		uint64_t *values;

		if (!table)
			continue;
		if (s->merged)
			key[at++] = seed % t->threads.count;
		for (unsigned i = 0; i < s->keys_len; i++, at++) {
			switch (s->columns[i].type) {
			case LC_COLUMN_SITE:
			case LC_COLUMN_SITE_OR_0:
				key[at] = site_of(t, seed + i);
				break;
			case LC_COLUMN_PATH:
				key[at] = path_of(t, seed + 3 * i);
				break;
			case LC_COLUMN_STRING:
				key[at] = text(t, "name%u", seed % 3);
				break;
			default:
				key[at] = lc_tree_is_wide(s->columns[i].type) ? seed % 9 : seed % 2;
			}
			if (lc_tree_is_wide(s->columns[i].type))
				key[++at] = seed % 3;
		}
		values = lc_table_values(table, lc_table_put(table, key));
		for (unsigned i = s->keys_len; i < s->columns_len; i++)
			lc_section_column_add(&s->columns[i], values++, 1 + seed % 4);
		if (section == LC_SECTION_ACCESSES)
			t->buckets[key[LC_ACCESS_ENGINE]][key[LC_ACCESS_BUCKET]] += 1 + seed % 4;
	}
}

static void fill(struct lc_tree *t, unsigned process, unsigned seed)
{
	lc_tree_init(t);
	for (uint32_t i = 0; i < 3; i++) {
		const uint32_t key[LC_THREAD_KEY] = { process, 40 * (seed + i) % 120 };
		const uint32_t row = lc_table_put(&t->threads, key);
		const uint32_t share[LC_SHARE_KEY] = { row, i % 2, LC_BUCKET_LOST };

		lc_tree_thread_seen(t, row, 10 + i, text(t, "thread %u", i), 5 + i, 100 + seed);
		*lc_table_values(&t->shares, lc_table_put(&t->shares, share)) += 1 + seed;
	}
	for (unsigned i = 0; i < ROWS; i++) {
		add_rows(t, seed * 31 + i * i);
		lc_table_values(&t->sites, site_of(t, seed + i))[LC_SITE_ALLOCATIONS]++;
	}
}

static char *written(const struct lc_tree *t, size_t *len)
{
	struct lc_merge_writer *w = lc_merge_writer_create();
	char *data = NULL;
	FILE *out = lc_text_open(&data, len);

	assert_int_equal(lc_merge_write(w, t, false, out), 1);
	lc_mem_close_text(out);
	lc_merge_writer_free(w);
	return data;
}

static void trees_add_up_whichever_comes_first(void **state)
{
	struct lc_tree a, b, c, sum[2];
	char *data[2];
	size_t len[2];

	fill(&a, 0, 1);
	fill(&b, 0, 2);
	fill(&c, 1, 3);
	for (unsigned i = 0; i < 2; i++)
		lc_tree_init(&sum[i]);
	lc_tree_combine(&sum[0], &a);
	lc_tree_combine(&sum[0], &b);
	lc_tree_combine(&sum[0], &c);
	lc_tree_combine(&b, &a);
	lc_tree_combine(&c, &b);
	lc_tree_combine(&sum[1], &c);
	for (unsigned i = 0; i < 2; i++)
		data[i] = written(&sum[i], &len[i]);
	assert_int_equal(len[0], len[1]);
	assert_memory_equal(data[0], data[1], len[0]);
	for (unsigned i = 0; i < 2; i++) {
		free(data[i]);
		lc_tree_free(&sum[i]);
	}
	lc_tree_free(&a);
	lc_tree_free(&b);
	lc_tree_free(&c);
}

static void sums_of_trees_are_exact(void **state)
{
	struct lc_tree a, b;
	uint64_t before = 0, after = 0;

	fill(&a, 0, 1);
	fill(&b, 0, 2);
	for (uint32_t i = 0; i < a.accesses.count; i++)
		before += *lc_table_values(&a.accesses, i);
	for (uint32_t i = 0; i < b.accesses.count; i++)
		before += *lc_table_values(&b.accesses, i);
	lc_tree_combine(&a, &b);
	for (uint32_t i = 0; i < a.accesses.count; i++)
		after += *lc_table_values(&a.accesses, i);
	assert_true(before > 0);
	assert_int_equal(after, before);
	lc_tree_free(&a);
	lc_tree_free(&b);
}

enum { SPAN_SITE = 3, SPAN_PATH = 5, SPAN_SUBMITTED = 8, SPAN_THREAD = 2, SPAN_NS = 77 };

/* An execution and a single span, whose thread and places are those of the numbers above. */
static void add_span(struct lc_tree *t)
{
	const struct lc_tree_trace single = { .row = { .id = 1,
		                                       .site = site_of(t, SPAN_SITE),
		                                       .submit_path = path_of(t, SPAN_SUBMITTED),
		                                       .path = path_of(t, SPAN_PATH) },
		                              .thread = SPAN_THREAD };
	const uint32_t key[LC_EXECUTION_KEY] = { [LC_EXECUTION_THREAD] = SPAN_THREAD,
		                                 [LC_EXECUTION_SITE] = single.row.site,
		                                 [LC_EXECUTION_SUBMIT_PATH] =
		                                     single.row.submit_path,
		                                 [LC_EXECUTION_PATH] = single.row.path };
	const uint32_t row = lc_table_put(&t->executions, key);

	lc_table_values(&t->executions, row)[LC_EXECUTION_COUNT]++;
	lc_tree_spans_interval(t, row, SPAN_NS, SPAN_NS + 1);
	t->traces = lc_mem_grow(t->traces, &t->traces_cap, t->traces_len + 1, sizeof(single));
	t->traces[t->traces_len++] = single;
}

/* The two trees give the same thread, site and paths other numbers. */
static void spans_keep_their_thread_and_places_in_the_sum(void **state)
{
	const uint32_t other[LC_EXECUTION_KEY] = { 0 };
	struct lc_tree a, b;
	uint32_t thread;
	const uint32_t *key;

	fill(&a, 0, 1);
	fill(&b, 1, 2);
	lc_table_put(&a.executions, other);
	add_span(&b);
	thread = a.threads.count + SPAN_THREAD;
	assert_int_not_equal(site_of(&a, SPAN_SITE), b.traces->row.site);
	assert_int_not_equal(path_of(&a, SPAN_PATH), b.traces->row.path);
	assert_int_not_equal(path_of(&a, SPAN_SUBMITTED), b.traces->row.submit_path);
	lc_tree_combine(&a, &b);
	assert_int_equal(a.traces_len, 1);
	assert_int_equal(a.traces->thread, thread);
	assert_int_equal(a.traces->row.site, site_of(&a, SPAN_SITE));
	assert_int_equal(a.traces->row.path, path_of(&a, SPAN_PATH));
	assert_int_equal(a.traces->row.submit_path, path_of(&a, SPAN_SUBMITTED));
	assert_int_equal(a.executions.count, 2);
	key = lc_table_key(&a.executions, 1);
	assert_int_equal(key[LC_EXECUTION_THREAD], thread);
	assert_int_equal(key[LC_EXECUTION_SITE], site_of(&a, SPAN_SITE));
	assert_int_equal(key[LC_EXECUTION_PATH], path_of(&a, SPAN_PATH));
	assert_int_equal(key[LC_EXECUTION_SUBMIT_PATH], path_of(&a, SPAN_SUBMITTED));
	assert_int_equal(a.span_intervals_len, 1);
	assert_int_equal(a.span_intervals->row, 1);
	assert_int_equal(a.span_intervals->first_ns, SPAN_NS);
	lc_tree_free(&a);
	lc_tree_free(&b);
}

/* ---- profiles ---- */

static char *file_bytes(const char *path, const char *name, size_t *len)
{
	char *file = lc_mem_text("%s/%s", path, name), *data = NULL;
	FILE *in = fopen(file, "r");
	FILE *out = lc_text_open(&data, len);
	int c;

	assert_non_null(in);
	while ((c = getc(in)) != EOF)
		putc(c, out);
	fclose(in);
	lc_mem_close_text(out);
	free(file);
	return data;
}

static void write_profile(unsigned i)
{
	struct lc_merge_writer *w = lc_merge_writer_create();
	char *file = lc_mem_text("%s/thread-0.lcb", paths[i]);
	struct lc_tree t;
	FILE *out;

	assert_int_equal(mkdir(paths[i], 0700), 0);
	out = fopen(file, "w");
	fill(&t, 0, i);
	assert_true(lc_merge_write(w, &t, false, out) > 0);
	fclose(out);
	free(file);
	lc_tree_free(&t);
	lc_merge_writer_free(w);
	file = lc_mem_text("%s/manifest.json", paths[i]);
	out = fopen(file, "w");
	fprintf(
	    out,
	    "{\"format\":1,\"blocks\":1,\"engines\":[{\"name\":\"a%u\"},{\"name\":\"b\"}],"
	    "\"processes\":[{\"pid\":%u,\"command\":\"c\",\"start_wall_ns\":%u,\"host\":\"h%u\"}]}"
	    "\n",
	    i % 2, 7 * i % 5, 1000 - i, i % HOSTS);
	fclose(out);
	free(file);
}

static int set_up(void **state)
{
	if (!mkdtemp(dir))
		return 1;
	for (unsigned i = 0; i < PROFILES; i++) {
		paths[i] = lc_mem_text("%s/%u", dir, i);
		write_profile(i);
	}
	return 0;
}

static void remove_directory(const char *path)
{
	static const char *const names[] = { "thread-0.lcb", "merged.lcb", "manifest.json" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *file = lc_mem_text("%s/%s", path, names[i]);

		unlink(file);
		free(file);
	}
	rmdir(path);
}

static int tear_down(void **state)
{
	for (unsigned i = 0; i < PROFILES; i++) {
		remove_directory(paths[i]);
		free(paths[i]);
	}
	return rmdir(dir);
}

static char *output(const char *name)
{
	return lc_mem_text("%s/%s", dir, name);
}

static void assert_same_files(const char *a, const char *b)
{
	static const char *const names[] = { "merged.lcb", "manifest.json" };

	for (size_t i = 0; i < 2; i++) {
		size_t x_len, y_len;
		char *x = file_bytes(a, names[i], &x_len), *y = file_bytes(b, names[i], &y_len);

		assert_int_equal(x_len, y_len);
		assert_memory_equal(x, y, x_len);
		free(x);
		free(y);
	}
}

/* The request of all tests' merges, and how many profiles fit. */
static struct lc_merge_asked asked;
static unsigned fit = PROFILES;

static void merge_alone(const char *to, unsigned jobs)
{
	const struct lc_reduce_options options = { .asked = asked, .jobs = jobs };
	struct lc_reduce *r = lc_reduce_create(&options, paths, PROFILES);

	assert_int_equal(lc_reduce_open(r, to), 0);
	assert_int_equal(lc_reduce_scan(r), 0);
	assert_int_equal(lc_reduce_read(r, 0, 1), 0);
	assert_int_equal(lc_reduce_write(r), 0);
	assert_int_equal(lc_reduce_end(r, 0), 0);
	assert_int_equal(lc_reduce_stats(r).files, fit);
	lc_reduce_free(r);
}

static void threads_write_what_one_writes(void **state)
{
	char *one = output("one"), *four = output("four");

	merge_alone(one, 1);
	for (unsigned i = 0; i < 5; i++) {
		merge_alone(four, 4);
		assert_same_files(one, four);
		remove_directory(four);
	}
	remove_directory(one);
	free(one);
	free(four);
}

/* Like processes: `of` shares, which are added up two at a time. */
static void merge_in_shares(const char *to, unsigned of)
{
	const struct lc_reduce_options options = { .asked = asked, .jobs = 2 };
	struct lc_reduce *r[8];
	struct lc_bytes scans[8] = { 0 };

	for (unsigned i = 0; i < of; i++) {
		r[i] = lc_reduce_create(&options, paths, PROFILES);
		assert_int_equal(lc_reduce_scan_share(r[i], i, of), 0);
		assert_int_equal(lc_reduce_pack_scan(r[i], &scans[i]), 0);
	}
	for (unsigned i = 0; i < of; i++) {
		for (unsigned k = 0; k < of; k++)
			if (k != i)
				assert_int_equal(
				    lc_reduce_add_scan(r[i], scans[k].data, scans[k].len), 0);
		assert_int_equal(lc_reduce_plan(r[i]), 0);
		assert_int_equal(lc_reduce_read(r[i], i, of), 0);
	}
	for (unsigned step = 1; step < of; step *= 2) {
		for (unsigned i = 0; i + step < of; i += 2 * step) {
			struct lc_bytes packed = { 0 };

			assert_int_equal(lc_reduce_pack(r[i + step], &packed), 0);
			assert_int_equal(lc_reduce_add(r[i], packed.data, packed.len), 0);
			free(packed.data);
		}
	}
	assert_int_equal(lc_reduce_open(r[0], to), 0);
	assert_int_equal(lc_reduce_write(r[0]), 0);
	assert_int_equal(lc_reduce_end(r[0], 0), 0);
	assert_int_equal(lc_reduce_stats(r[0]).files, fit);
	for (unsigned i = 0; i < of; i++) {
		lc_reduce_free(r[i]);
		free(scans[i].data);
	}
}

static void processes_write_what_one_writes(void **state)
{
	char *one = output("one"), *shares = output("shares");

	merge_alone(one, 1);
	for (unsigned of = 1; of <= 7; of += 2) {
		merge_in_shares(shares, of);
		assert_same_files(one, shares);
		remove_directory(shares);
	}
	remove_directory(one);
	free(one);
	free(shares);
}

static void processes_keep_hosts_apart_as_one_does(void **state)
{
	struct lc_where_terms where = { .list = NULL };
	struct lc_by by = { .len = 0 };
	char *one = output("groups"), *manifest;
	size_t len;

	assert_null(lc_by_add(&by, "host"));
	assert_null(lc_by_add(&by, "zone"));
	assert_null(lc_where_add(&where, "host=h0;h1"));
	asked = (struct lc_merge_asked){ &where, &by, json_pack("{s:s}", "zone", "eu"), NULL };
	fit = 0;
	for (unsigned i = 0; i < PROFILES; i++)
		fit += i % HOSTS < 2;
	processes_write_what_one_writes(state);
	merge_alone(one, 3);
	manifest = file_bytes(one, "manifest.json", &len);
	assert_non_null(strstr(manifest, "\"by\":[\"host\",\"zone\"]"));
	assert_non_null(strstr(manifest, "\"host\":\"h1\",\"labels\":{\"zone\":\"eu\"}"));
	assert_null(strstr(manifest, "\"host\":\"h2\""));
	free(manifest);
	remove_directory(one);
	free(one);
	json_decref(asked.labels);
	asked = (struct lc_merge_asked){ NULL, NULL, NULL, NULL };
	fit = PROFILES;
	lc_where_free(&where);
	lc_by_free(&by);
}

/* Between the look at the directory and the reading. */
static void a_file_that_vanishes_is_named(void **state)
{
	const struct lc_reduce_options options = { .jobs = 3 };
	struct lc_reduce *r = lc_reduce_create(&options, paths, PROFILES);
	char *to = output("rest"), *said = NULL, *manifest;
	char *file = lc_mem_text("%s/thread-0.lcb", paths[5]), *away = lc_mem_text("%s/away", dir);
	size_t len;

	assert_int_equal(lc_reduce_open(r, to), 0);
	assert_int_equal(lc_reduce_scan(r), 0);
	assert_int_equal(rename(file, away), 0);
	assert_int_equal(lc_reduce_read(r, 0, 1), 0);
	assert_int_equal(lc_reduce_write(r), 0);
	(void)lc_fail_capture(&said);
	assert_int_equal(lc_reduce_end(r, 0), LC_EXIT_PARTIAL);
	(void)lc_fail_capture(NULL);
	assert_non_null(strstr(said, file));
	manifest = file_bytes(to, "manifest.json", &len);
	assert_non_null(strstr(manifest, "\"missing\":{\"inputs\":0,\"blocks\":1}"));
	assert_int_equal(rename(away, file), 0);
	lc_reduce_free(r);
	remove_directory(to);
	free(manifest);
	free(said);
	free(to);
	free(file);
	free(away);
}

static void what_is_damaged_on_its_way_is_refused(void **state)
{
	const struct lc_reduce_options options = { .jobs = 1 };
	struct lc_reduce *from = lc_reduce_create(&options, paths, PROFILES);
	struct lc_bytes packed = { 0 };
	char *said = NULL;

	assert_int_equal(lc_reduce_scan(from), 0);
	assert_int_equal(lc_reduce_read(from, 0, 1), 0);
	assert_int_equal(lc_reduce_pack(from, &packed), 0);
	(void)lc_fail_capture(&said);
	for (size_t len = 0; len < packed.len; len += 1 + packed.len / 50) {
		struct lc_reduce *to = lc_reduce_create(&options, paths, PROFILES);
		uint8_t *cut = lc_mem_zeroed(len, 1);

		memcpy(cut, packed.data, len);
		assert_int_equal(lc_reduce_scan(to), 0);
		if (lc_reduce_add(to, cut, len) == 0)
			assert_true(len < 200); /* before the first block: nothing was read */
		free(cut);
		lc_reduce_free(to);
	}
	(void)lc_fail_capture(NULL);
	assert_non_null(strstr(said, "damaged"));
	free(said);
	free(packed.data);
	lc_reduce_free(from);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_add_up_whichever_comes_first),
		cmocka_unit_test(sums_of_trees_are_exact),
		cmocka_unit_test(spans_keep_their_thread_and_places_in_the_sum),
		cmocka_unit_test(threads_write_what_one_writes),
		cmocka_unit_test(processes_write_what_one_writes),
		cmocka_unit_test(processes_keep_hosts_apart_as_one_does),
		cmocka_unit_test(a_file_that_vanishes_is_named),
		cmocka_unit_test(what_is_damaged_on_its_way_is_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
