/* uses: src/profile/profile_writer.c src/profile/directory.c src/profile/block_encoder.c src/format/encode.c src/format/section.c src/profile/names.c src/core/memory.c src/profile/manifest.c src/base/options.c src/base/nearest.c analyzer/model/blockfile.c analyzer/base/file.c analyzer/model/frame_filter.c analyzer/model/block_decoder.c analyzer/model/block_decoder_definitions.c analyzer/model/block_decoder_rows.c analyzer/model/group_filter.c analyzer/model/where.c analyzer/model/slices.c analyzer/model/block_decoder_spans.c analyzer/model/tree_spans.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/memory.c analyzer/base/progress.c -lzstd -Wl,--wrap=write -Wl,--wrap=clock_gettime -Wl,--wrap=strdup */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_profile.c - checks that the analyzer's reader reads back what the agent's writer wrote.
 *
 * The file is longer than 600 lines: each section has its test, over one set of helpers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/model/blockfile.h"
#include "src/core/memory.h"
#include "src/core/path.h"
#include "src/core/record.h"
#include "src/format/block.h"
#include "src/format/kinds.h"
#include "src/profile/profile_writer.h"

/* ---- a disk and a clock that the tests control ---- */

static size_t room = SIZE_MAX; /* bytes that the disk still takes */
static uint64_t clock_ns = 1000000000;

ssize_t __real_write(int fd, const void *data, size_t len);
ssize_t __wrap_write(int fd, const void *data, size_t len);
ssize_t __wrap_write(int fd, const void *data, size_t len)
{
	if (!room) {
		errno = ENOSPC;
		return -1;
	}
	if (len > room)
		len = room;
	if (room != SIZE_MAX)
		room -= len;
	return __real_write(fd, data, len);
}

static bool no_copies;

char *__real_strdup(const char *s);
char *__wrap_strdup(const char *s);
char *__wrap_strdup(const char *s)
{
	return no_copies ? NULL : __real_strdup(s);
}

int __wrap_clock_gettime(clockid_t id, struct timespec *out);
int __wrap_clock_gettime(clockid_t id, struct timespec *out)
{
	out->tv_sec = (time_t)(clock_ns / 1000000000);
	out->tv_nsec = (long)(clock_ns % 1000000000);
	return 0;
}

/* ---- names that the writer asks for ---- */

enum { METHODS = 5, PATHS = 4000, SITES = 100 };

static const struct lc_method methods[METHODS] = {
	{ .class_name = "com.acme.A", .name = "main", .signature = "()V", .source_file = "A.java" },
	{ .class_name = "com.acme.A", .name = "b", .signature = "(I)V", .source_file = "A.java" },
	{ .class_name = "com.acme.C", .name = "c", .signature = "()I", .source_file = "" },
	{ .class_name = "Z", .name = "z", .signature = "()V", .source_file = "Z.java" },
	{ .class_name = "java.lang.Thread", .name = "run", .signature = "()V", .source_file = "T" },
};
static struct lc_path_node nodes[PATHS];

const struct lc_method *lc_method_get(uint32_t method)
{
	return method < METHODS ? &methods[method] : NULL;
}

const struct lc_path_node *lc_path_get(uint32_t node)
{
	return node < PATHS ? &nodes[node] : NULL;
}

const struct lc_site *lc_site_get(uint32_t site)
{
	static const struct lc_site sites[3] = {
		[1] = { .class_name = "byte[]", .path = 3 },
		[2] = { .class_name = "com.acme.C", .path = 2 },
	};

	return site && site < 3 ? &sites[site] : NULL;
}

int lc_method_line(const struct lc_method *m, unsigned bci)
{
	return m->source_file[0] ? (int)bci + 100 : -1;
}

/* Paths 1 -> 2 -> 3 of the root, and a chain of 3900 below 3. */
static int make_nodes(void **state)
{
	nodes[1] = (struct lc_path_node){ 0, 4, LC_BCI_NONE, 1, 0 };
	nodes[2] = (struct lc_path_node){ 1, 0, 5, 2, 0 };
	for (uint32_t i = 3; i < PATHS; i++)
		nodes[i] = (struct lc_path_node){ i - 1, i % METHODS, (uint16_t)i, (uint16_t)i, 0 };
	return 0;
}

/* ---- fixture ---- */

static char directory[64];

static struct lc_profile *create(void)
{
	struct lc_profile *p = NULL;
	char error[256] = "";

	strcpy(directory, "/tmp/test_profile.XXXXXX");
	assert_non_null(mkdtemp(directory));
	strcat(directory, "/a/b");
	assert_int_equal(lc_profile_create(directory, &p, error, sizeof(error)), 0);
	return p;
}

static void destroy(struct lc_profile *p)
{
	char command[128];

	lc_profile_close(p);
	*strstr(directory, "/a/b") = 0;
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	assert_int_equal(system(command), 0);
}

static char *file_name(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static struct lc_tree tree;
static struct lc_damage damage;
static struct lc_blockfile_stats stats;

static void read_back(const char *name)
{
	struct lc_block_target target = { .tree = &tree, .process_count = 1, .engines_len = 1 };
	struct lc_blockfile *f = lc_blockfile_create();

	lc_tree_init(&tree);
	memset(&damage, 0, sizeof(damage));
	memset(&stats, 0, sizeof(stats));
	assert_int_equal(lc_blockfile_read(f, file_name(name), &target, &damage, &stats), 0);
	lc_blockfile_free(f);
}

static const struct lc_block_alloc allocs[] = { { 1, 10, 1000 }, { 2, 3, 72 } };
static const struct lc_block_access accesses[] = {
	{ 0, LC_BUCKET_OBJECT, 1, 3, 7, 9 },
	{ 0, LC_BUCKET_OBJECT, 2, 2, 2, 1 },
	{ 0, LC_BUCKET_JVM, 0, 1, 4, 0 },
};
static const struct lc_block_bucket buckets[] = {
	{ 0, LC_BUCKET_OBJECT, 9 },
	{ 0, LC_BUCKET_JVM, 5 },
	{ 0, LC_BUCKET_LOST, 1 },
};
static const struct lc_block_detail details[] = { { 0, 0, 3, 11 } };

static struct lc_block_input input(void)
{
	return (struct lc_block_input){
		.tid = 77,
		.index = 2,
		.name = "worker",
		.t_begin_ns = 5,
		.t_end_ns = 6,
		.allocs = allocs,
		.allocs_len = 2,
		.accesses = accesses,
		.accesses_len = 3,
		.buckets = buckets,
		.buckets_len = 3,
		.details = details,
		.details_len = 1,
	};
}

static bool text_is(uint32_t string, const char *expected)
{
	struct lc_text text = lc_tree_text(&tree, string);

	return text.len == strlen(expected) && !memcmp(text.bytes, expected, text.len);
}

/* ---- tests ---- */

static void a_block_says_what_went_into_it(void **state)
{
	struct lc_profile *p = create();
	struct lc_block_input in = input();
	const uint32_t *site, *frame, *method;

	assert_int_equal(lc_profile_append(p, &in), 0);
	read_back("thread-0.lcb");
	assert_int_equal(stats.blocks, 1);
	assert_int_equal(damage.bytes, 0);
	assert_int_equal(tree.buckets[0][LC_BUCKET_OBJECT], 9);
	assert_int_equal(tree.buckets[0][LC_BUCKET_JVM], 5);
	assert_int_equal(tree.buckets[0][LC_BUCKET_LOST], 1);
	assert_int_equal(tree.accesses.count, 3);
	assert_int_equal(tree.sites.count, 3);
	assert_int_equal(*lc_table_values(&tree.details, 0), 11);
	site = lc_table_key(&tree.sites, 1);
	assert_true(text_is(site[LC_SITE_CLASS], "byte[]"));
	assert_int_equal(lc_table_values(&tree.sites, 1)[LC_SITE_BYTES], 1000);
	assert_int_equal(lc_tree_depth(&tree, site[LC_SITE_PATH]), 3);
	frame = lc_tree_frame(&tree, site[LC_SITE_PATH]);
	method = lc_tree_method(&tree, site[LC_SITE_PATH]);
	assert_true(text_is(method[LC_METHOD_CLASS], "Z"));
	assert_true(text_is(method[LC_METHOD_FILE], "Z.java"));
	assert_int_equal(frame[LC_FRAME_BCI1], 4);
	assert_int_equal(frame[LC_FRAME_LINE1], 104);
	assert_int_equal(tree.threads.count, 1);
	assert_true(text_is((uint32_t)lc_table_values(&tree.threads, 0)[LC_THREAD_NAME], "worker"));
	lc_tree_free(&tree);
	destroy(p);
}

static void rows_beyond_an_access_come_back(void **state)
{
	static const struct lc_block_field field = { 0, LC_BUCKET_OBJECT, 1, 3, "next", 0,
		                                     0, LC_TOUCH_LOAD,    7, 21 };
	static const struct lc_block_field range = {
		0,          LC_BUCKET_HEAP_CLASS, 2, 2, "", UINT64_C(1) << 40,
		UINT64_MAX, LC_TOUCH_STORE,       8, 0
	};
	const struct lc_block_field fields[] = { field, range };
	static const struct lc_block_metric metric = {
		0, LC_BUCKET_OBJECT, 1, 3, LC_SOURCE_L3, LC_METRIC_HITM, 5, 500, 200
	};
	static const struct lc_block_line line = {
		UINT64_C(1) << 33, 0, LC_BUCKET_OBJECT, 1, 3, 63, 8, 3, "(length)", 9, 6, 2, 15
	};
	static const struct lc_block_estimate estimate = {
		1, 11, 12, 13, 14, 15, { 16, 17, 18, 19, 20 }
	};
	static const struct lc_block_split split = { 0, LC_SPLIT_HITS, 2, 1, 21, 22 };
	static const struct lc_block_placement placement = {
		0, LC_BUCKET_OBJECT, 1, 3, 2, LC_NODE_NUMBERS, LC_SOURCE_REMOTE_DRAM, 31, 100
	};
	static const struct lc_block_node node = { 0, 64, 32, 33 - 1 };
	static const struct lc_block_home home = { 2, 0, 34, 35 };
	struct lc_profile *p = create();
	struct lc_block_input in = { .name = "t",
		                     .fields = fields,
		                     .fields_len = 2,
		                     .metrics = &metric,
		                     .metrics_len = 1,
		                     .lines = &line,
		                     .lines_len = 1,
		                     .estimates = &estimate,
		                     .estimates_len = 1,
		                     .splits = &split,
		                     .splits_len = 1,
		                     .placements = &placement,
		                     .placements_len = 1,
		                     .nodes = &node,
		                     .nodes_len = 1,
		                     .homes = &home,
		                     .homes_len = 1 };
	const uint32_t *key;

	assert_int_equal(lc_profile_append(p, &in), 0);
	read_back("thread-0.lcb");
	assert_int_equal(damage.bytes, 0);
	assert_int_equal(tree.fields.count, 2);
	key = lc_table_key(&tree.fields, 0);
	assert_true(text_is(key[LC_FIELD_NAME], "next"));
	assert_int_equal(key[LC_FIELD_TOUCH], LC_TOUCH_LOAD);
	assert_int_equal(*lc_table_values(&tree.fields, 0), 7);
	assert_int_equal(lc_tree_depth(&tree, key[LC_FIELD_PATH]), 3);
	key = lc_table_key(&tree.fields, 1);
	assert_int_equal(key[LC_FIELD_NAME], 0);
	assert_true(lc_tree_wide(key + LC_FIELD_FIRST) == UINT64_C(1) << 40);
	assert_true(lc_tree_wide(key + LC_FIELD_LAST) == UINT64_MAX);
	key = lc_table_key(&tree.metrics, 0);
	assert_int_equal(key[LC_METRIC_SOURCE], LC_SOURCE_L3);
	assert_int_equal(lc_table_values(&tree.metrics, 0)[LC_METRIC_LATENCY_MAX], 200);
	key = lc_table_key(&tree.lines, 0);
	assert_true(lc_tree_wide(key + LC_LINE_NUMBER) == UINT64_C(1) << 33);
	assert_int_equal(key[LC_LINE_BYTE], 63);
	assert_true(text_is(key[LC_LINE_NAME], "(length)"));
	assert_int_equal(lc_tree_wide(key + LC_LINE_FIRST), 9);
	assert_int_equal(lc_table_values(&tree.lines, 0)[LC_LINE_HITM], 2);
	for (unsigned i = 0; i < LC_ESTIMATE_VALUES; i++)
		assert_int_equal(lc_table_values(&tree.estimates, 0)[i], 11 + i);
	key = lc_table_key(&tree.splits, 0);
	assert_true(
	    text_is(lc_table_key(&tree.sites, key[LC_SPLIT_CLASS])[LC_SITE_CLASS], "com.acme.C"));
	assert_int_equal(lc_table_values(&tree.splits, 0)[LC_SPLIT_VARIANCE], 22);
	assert_int_equal(tree.placements.count, 1);
	key = lc_table_key(&tree.placements, 0);
	assert_int_equal(key[LC_PLACEMENT_THREAD], 0);
	assert_int_equal(lc_tree_depth(&tree, key[LC_PLACEMENT_PATH]), 3);
	assert_int_equal(key[LC_PLACEMENT_ACCESSING], 2);
	assert_int_equal(key[LC_PLACEMENT_OWNING], LC_NODE_NUMBERS);
	assert_int_equal(key[LC_PLACEMENT_SOURCE], LC_SOURCE_REMOTE_DRAM);
	assert_int_equal(*lc_table_values(&tree.placements, 0), 31);
	assert_int_equal(lc_table_key(&tree.nodes, 0)[LC_NODE_NODE], 64);
	assert_int_equal(lc_table_values(&tree.nodes, 0)[LC_NODE_SAMPLES], 32);
	assert_int_equal(lc_table_values(&tree.nodes, 0)[LC_NODE_MIGRATIONS], 32);
	key = lc_table_key(&tree.homes, 0);
	assert_true(
	    text_is(lc_table_key(&tree.sites, key[LC_HOME_SITE])[LC_SITE_CLASS], "com.acme.C"));
	assert_int_equal(key[LC_HOME_NODE], 0);
	assert_int_equal(lc_table_values(&tree.homes, 0)[LC_HOME_OBJECTS], 34);
	assert_int_equal(lc_table_values(&tree.homes, 0)[LC_HOME_BYTES], 35);
	lc_tree_free(&tree);
	destroy(p);
}

static void a_large_input_of_each_kind_becomes_several_blocks(void **state)
{
	enum { COUNT = 1000000 };
	struct lc_block_line *many = calloc(COUNT, sizeof(*many));
	struct lc_profile *p = create();
	struct lc_block_input in = { .name = "t", .lines = many, .lines_len = COUNT };
	uint64_t samples = 0;

	assert_non_null(many);
	for (uint32_t i = 0; i < COUNT; i++)
		many[i] = (struct lc_block_line){ .line = UINT64_C(1) << 62 | i % 1000,
			                          .bucket = LC_BUCKET_OBJECT,
			                          .site = 1,
			                          .samples = 3 };
	assert_int_equal(lc_profile_append(p, &in), 0);
	read_back("thread-0.lcb");
	assert_true(stats.blocks > 1);
	assert_int_equal(damage.blocks, 0);
	assert_int_equal(tree.lines.count, 1000);
	for (uint32_t i = 0; i < tree.lines.count; i++)
		samples += lc_table_values(&tree.lines, i)[LC_LINE_SAMPLES];
	assert_int_equal(samples, 3 * COUNT);
	lc_tree_free(&tree);
	free(many);
	destroy(p);
}

static void a_frame_without_bci_has_neither_bci_nor_line(void **state)
{
	static const struct lc_block_access native = { 0, LC_BUCKET_NATIVE, 0, 1, 1, 0 };
	struct lc_profile *p = create();
	struct lc_block_input in = { .name = "", .accesses = &native, .accesses_len = 1 };
	const uint32_t *frame;

	assert_int_equal(lc_profile_append(p, &in), 0);
	read_back("thread-0.lcb");
	frame = lc_tree_frame(&tree, lc_table_key(&tree.accesses, 0)[LC_ACCESS_PATH]);
	assert_int_equal(frame[LC_FRAME_BCI1], 0);
	assert_int_equal(frame[LC_FRAME_LINE1], 0);
	assert_int_equal(tree.buckets[0][LC_BUCKET_NATIVE], 1); /* although not in buckets[] */
	lc_tree_free(&tree);
	destroy(p);
}

static void unknown_numbers_are_written_as_unknown(void **state)
{
	static const struct lc_block_access odd[] = {
		{ 0, LC_BUCKET_OBJECT, 99, 999999, 1, 0 },
	};
	struct lc_profile *p = create();
	struct lc_block_input in = { .name = NULL, .accesses = odd, .accesses_len = 1 };

	assert_int_equal(lc_profile_append(p, &in), 0);
	read_back("thread-0.lcb");
	assert_int_equal(tree.buckets[0][LC_BUCKET_OBJECT], 1);
	assert_int_equal(lc_table_key(&tree.accesses, 0)[LC_ACCESS_SITE], 0);
	lc_tree_free(&tree);
	destroy(p);
}

static void numbers_out_of_range_are_refused_and_counted(void **state)
{
	static const struct lc_block_access engine = { LC_ENGINES_MAX, 0, 0, 0, 1, 0 };
	static const struct lc_block_bucket bucket = { 0, LC_BUCKET_COUNT, 1 };
	static const struct lc_block_detail detail = { 0, 0, 200, 1 };
	static const struct lc_block_field backwards = { .first = 2, .last = 1 };
	static const struct lc_block_metric source = { .source = LC_SOURCE_COUNT };
	static const struct lc_block_line byte = { .byte = LC_LINE_BYTES_MAX };
	static const struct lc_block_split method = { .method = LC_SPLIT_COUNT };
	static const struct lc_block_placement owner = { .owning = LC_NODE_END };
	static const struct lc_block_node moves = { .samples = 1, .migrations = 2 };
	static const struct lc_block_home home = { .site = 1, .node = LC_NODE_END };
	struct lc_profile *p = create();
	struct lc_block_input in[] = {
		{ .fields = &backwards, .fields_len = 1 },
		{ .metrics = &source, .metrics_len = 1 },
		{ .lines = &byte, .lines_len = 1 },
		{ .splits = &method, .splits_len = 1 },
		{ .accesses = &engine, .accesses_len = 1 },
		{ .buckets = &bucket, .buckets_len = 1 },
		{ .details = &detail, .details_len = 1 },
		{ .index = LC_THREAD_ALL },
		{ .placements = &owner, .placements_len = 1 },
		{ .nodes = &moves, .nodes_len = 1 },
		{ .homes = &home, .homes_len = 1 },
	};
	const size_t count = sizeof(in) / sizeof(in[0]);
	struct lc_profile_stats s;

	for (size_t i = 0; i < count; i++)
		assert_int_equal(lc_profile_append(p, &in[i]), -EINVAL);
	lc_profile_stats(p, &s);
	assert_int_equal(s.append_fails, count);
	assert_int_equal(s.blocks, 0);
	assert_int_equal(access(file_name("thread-0.lcb"), F_OK), -1);
	destroy(p);
}

static void a_long_path_is_written_once(void **state)
{
	static struct lc_block_access deep[100];
	struct lc_profile *p = create();
	struct lc_block_input in = { .name = "t", .accesses = deep, .accesses_len = 100 };

	for (uint32_t i = 0; i < 100; i++)
		deep[i] = (struct lc_block_access){ 0, LC_BUCKET_NATIVE, 0, PATHS - 100 + i, 1, 0 };
	assert_int_equal(lc_profile_append(p, &in), 0);
	read_back("thread-0.lcb");
	assert_int_equal(tree.paths.count, PATHS); /* 3999 nodes and the root */
	assert_int_equal(tree.accesses.count, 100);
	lc_tree_free(&tree);
	destroy(p);
}

static void a_large_input_becomes_several_blocks(void **state)
{
	enum { COUNT = 4000000 };
	struct lc_block_access *many = calloc(COUNT, sizeof(*many));
	struct lc_block_bucket all = { 0, LC_BUCKET_NATIVE, COUNT + 5 };
	struct lc_profile *p = create();
	struct lc_block_input in = { .name = "t",
		                     .accesses = many,
		                     .accesses_len = COUNT,
		                     .buckets = &all,
		                     .buckets_len = 1 };

	assert_non_null(many);
	for (uint32_t i = 0; i < COUNT; i++)
		many[i] =
		    (struct lc_block_access){ 0, LC_BUCKET_NATIVE, 0, 1 + i % (PATHS - 1), 1, 0 };
	assert_int_equal(lc_profile_append(p, &in), 0);
	read_back("thread-0.lcb");
	assert_int_equal(stats.blocks, 2);
	assert_int_equal(damage.blocks, 0);
	assert_int_equal(tree.buckets[0][LC_BUCKET_NATIVE], COUNT + 5);
	assert_int_equal(tree.accesses.count, PATHS - 1);
	lc_tree_free(&tree);
	free(many);
	destroy(p);
}

static void a_full_disk_leaves_the_file_as_it_was_and_is_said_once(void **state)
{
	struct lc_profile *p = create();
	struct lc_block_input in = input();
	struct stat before, after;
	struct lc_profile_stats s;

	assert_int_equal(lc_profile_append(p, &in), 0);
	assert_int_equal(stat(file_name("thread-0.lcb"), &before), 0);
	room = 100;
	assert_int_equal(lc_profile_append(p, &in), -ENOSPC);
	assert_int_equal(stat(file_name("thread-0.lcb"), &after), 0);
	assert_int_equal(after.st_size, before.st_size);
	room = SIZE_MAX; /* there is room again, but it is too early to try */
	assert_int_equal(lc_profile_append(p, &in), -EAGAIN);
	clock_ns += 1100000000;
	room = 0;
	assert_int_equal(lc_profile_append(p, &in), -EAGAIN); /* tried, and said before */
	clock_ns += 1100000000;
	room = SIZE_MAX;
	assert_int_equal(lc_profile_append(p, &in), 0);
	lc_profile_stats(p, &s);
	assert_int_equal(s.blocks, 2);
	assert_int_equal(s.append_fails, 3);
	read_back("thread-0.lcb");
	assert_int_equal(stats.blocks, 2);
	assert_int_equal(damage.blocks + damage.bytes, 0);
	assert_int_equal(tree.buckets[0][LC_BUCKET_OBJECT], 18);
	lc_tree_free(&tree);
	destroy(p);
}

static void many_threads_share_a_few_files(void **state)
{
	struct lc_profile *p = create();
	struct lc_block_input in = input();

	for (in.index = 0; in.index < 10000; in.index++)
		assert_int_equal(lc_profile_append(p, &in), 0);
	assert_int_equal(access(file_name("thread-63.lcb"), F_OK), 0);
	assert_int_equal(access(file_name("thread-64.lcb"), F_OK), -1);
	read_back("thread-1.lcb"); /* 32 to 63, 2080 to 2111, and so on */
	assert_int_equal(stats.blocks, 5 * 32);
	assert_int_equal(damage.blocks + damage.bytes, 0);
	lc_tree_free(&tree);
	destroy(p);
}

static void a_file_that_is_removed_is_made_again(void **state)
{
	struct lc_profile *p = create();
	struct lc_block_input in = input();

	assert_int_equal(lc_profile_append(p, &in), 0);
	assert_int_equal(unlink(file_name("thread-0.lcb")), 0);
	assert_int_equal(lc_profile_append(p, &in), 0);
	assert_int_equal(access(file_name("thread-0.lcb"), F_OK), 0);
	destroy(p);
}

static void blocks_need_no_more_memory_as_they_go(void **state)
{
	struct lc_profile *p = create();
	struct lc_block_input in = input();
	size_t before;

	for (int i = 0; i < 10; i++)
		assert_int_equal(lc_profile_append(p, &in), 0);
	before = mallinfo2().uordblks;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(lc_profile_append(p, &in), 0);
	assert_true(mallinfo2().uordblks <= before);
	destroy(p);
}

static void a_directory_with_a_profile_is_refused(void **state)
{
	struct lc_profile *p = create(), *other = NULL;
	char error[256] = "";

	assert_int_equal(lc_profile_create(directory, &other, error, sizeof(error)), -EEXIST);
	assert_null(other);
	assert_non_null(strstr(error, "already holds a profile"));
	assert_non_null(strstr(error, directory));
	assert_int_equal(unlink(file_name("manifest.json")), 0);
	fclose(fopen(file_name("thread-0.lcb"), "w"));
	assert_int_equal(lc_profile_create(directory, &other, error, sizeof(error)), -EEXIST);
	assert_int_equal(access(file_name("manifest.json"), F_OK), -1);
	destroy(p);
}

/* Tried again, however soon after what failed. */
static int append_again(struct lc_profile *p)
{
	struct lc_block_input in = input();
	int err = -EAGAIN;

	for (int i = 0; i < 2 && err == -EAGAIN; i++) {
		clock_ns += 2000000000;
		err = lc_profile_append(p, &in);
	}
	return err;
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode & 07777;
}

static void a_profile_is_its_owners_alone(void **state)
{
	const mode_t before = umask(0);
	struct lc_profile *p = create();
	struct lc_manifest m = { .pid = 1 };

	assert_int_equal(mode_of(directory), 0700);
	assert_int_equal(mode_of(file_name("manifest.json")), 0600);
	assert_int_equal(lc_profile_manifest(p, &m), 0);
	assert_int_equal(mode_of(file_name("manifest.json")), 0600);
	assert_int_equal(append_again(p), 0);
	assert_int_equal(mode_of(file_name("thread-0.lcb")), 0600);
	umask(before);
	destroy(p);
}

static int create_again(char *error, size_t len)
{
	struct lc_profile *p = NULL;
	int err = lc_profile_create(directory, &p, error, len);

	assert_null(p);
	return err;
}

static void a_directory_that_is_a_link_is_refused(void **state)
{
	char error[256] = "", command[512];
	struct lc_profile *p = create();

	snprintf(command, sizeof(command), "rm -rf %s && mkdir %s.real && ln -s %s.real %s",
	         directory, directory, directory, directory);
	assert_int_equal(system(command), 0);
	assert_int_equal(create_again(error, sizeof(error)), -ELOOP);
	assert_non_null(strstr(error, "is a symbolic link"));
	strcat(directory, "//"); /* which names what it leads to */
	assert_int_equal(create_again(error, sizeof(error)), -ELOOP);
	snprintf(command, sizeof(command), "ls %s | grep .", directory);
	assert_int_not_equal(system(command), 0); /* it is empty still */
	destroy(p);
}

static void a_directory_of_another_user_is_refused(void **state)
{
	char error[256] = "";
	struct lc_profile *p;

	if (geteuid() != 0)
		skip(); /* nobody else may give a directory away */
	p = create();
	assert_int_equal(unlink(file_name("manifest.json")), 0);
	assert_int_equal(chown(directory, 12345, 12345), 0);
	assert_int_equal(create_again(error, sizeof(error)), -EPERM);
	assert_non_null(strstr(error, "another user"));
	destroy(p);
}

/* A failure is said again only after something was written. */
static void unlink_and_go_on(struct lc_profile *p)
{
	assert_int_equal(unlink(file_name("thread-0.lcb")), 0);
	assert_int_equal(append_again(p), 0);
	assert_int_equal(unlink(file_name("thread-0.lcb")), 0);
}

/* A pipe would wait for its reader; a link would write where its maker wants. */
static void what_is_no_file_of_its_own_is_not_written_to(void **state)
{
	struct lc_profile *p = create();
	struct lc_manifest m = { .pid = 1 };
	char victim[128];
	FILE *f;

	snprintf(victim, sizeof(victim), "%s", file_name("victim"));
	f = fopen(victim, "w");
	assert_non_null(f);
	fclose(f);
	assert_int_equal(mkfifo(file_name("thread-0.lcb"), 0600), 0);
	assert_int_equal(append_again(p), -ENXIO);
	unlink_and_go_on(p);
	assert_int_equal(symlink(victim, file_name("thread-0.lcb")), 0);
	assert_int_equal(append_again(p), -ELOOP);
	unlink_and_go_on(p);
	assert_int_equal(link(victim, file_name("thread-0.lcb")), 0);
	assert_int_equal(append_again(p), -EPERM);
	unlink_and_go_on(p);
	/* The manifest's first text is at a name that can be known before. */
	assert_int_equal(symlink(victim, file_name("manifest.json.new")), 0);
	assert_int_equal(lc_profile_manifest(p, &m), 0);
	assert_int_equal(mode_of(file_name("manifest.json")), 0600);
	f = fopen(victim, "r");
	assert_non_null(f);
	assert_int_equal(fgetc(f), EOF);
	fclose(f);
	destroy(p);
}

static void a_directory_that_cannot_be_made_is_named(void **state)
{
	struct lc_profile *p = NULL;
	char error[256] = "";

	assert_int_equal(lc_profile_create("/proc/none/x", &p, error, sizeof(error)), -ENOENT);
	assert_non_null(strstr(error, "/proc/none/x"));
	assert_int_equal(lc_profile_create("/dev/null/x", &p, error, sizeof(error)), -ENOTDIR);
	assert_int_equal(lc_profile_create("", &p, error, sizeof(error)), -ENOENT);
	assert_null(p);
}

static void read_manifest(char *out, size_t len)
{
	FILE *f = fopen(file_name("manifest.json"), "r");
	size_t n;

	assert_non_null(f);
	n = fread(out, 1, len - 1, f);
	out[n] = 0;
	fclose(f);
}

static void the_manifest_is_replaced_whole_or_not_at_all(void **state)
{
	static const struct lc_manifest_engine engine = {
		"timer", "cpu", 5000000, "ns", "auto: no \"PMU\"", 4000000
	};
	static const struct lc_manifest_option option = { "min-size", "1k" };
	static const struct lc_manifest_counter counter = { "lost", UINT64_MAX };
	static const uint16_t near[] = { 10, 21 }, far[] = { 21, 10 };
	static const struct lc_manifest_node machine[] = { { 0, 4096, "0-3", true, near },
		                                           { 63, 0, "", false, far } };
	static const struct lc_manifest_numa numa = { .nodes = machine,
		                                      .nodes_len = 2,
		                                      .active = true,
		                                      .error = "a \"reason\"",
		                                      .balancing = -1,
		                                      .owner_changes = 7 };
	static const char words[] = "java\0\"x\" \xff\0\0<";
	struct lc_manifest m = { .command = "java \"x\"\xff\x01<",
		                 .words = words,
		                 .words_len = sizeof(words),
		                 .directory = "/a b",
		                 .jdk = "17",
		                 .pid = 12,
		                 .complete = true,
		                 .engines = &engine,
		                 .engines_len = 1,
		                 .options = &option,
		                 .options_len = 1,
		                 .counters = &counter,
		                 .counters_len = 1,
		                 .numa = &numa };
	struct lc_profile *p = create();
	char text[2048], again[2048];

	read_manifest(text, sizeof(text));
	assert_non_null(strstr(text, "\"format\":1"));
	assert_int_equal(lc_profile_manifest(p, &m), 0);
	read_manifest(text, sizeof(text));
	assert_non_null(strstr(text, "\"command\":\"java \\\"x\\\"\xef\xbf\xbd\\u0001\\u003c\""));
	assert_non_null(strstr(text, "\"gc\":null"));
	assert_non_null(
	    strstr(text, "\"arguments\":[\"java\",\"\\\"x\\\" \xef\xbf\xbd\",\"\",\"\\u003c\"]"));
	assert_non_null(strstr(text, "\"directory\":\"/a b\""));
	assert_non_null(strstr(text, "\"tick_ns\":4000000"));
	assert_non_null(strstr(text, "\"reason\":\"auto: no \\\"PMU\\\"\""));
	assert_non_null(strstr(text, "\"min-size\":\"1k\""));
	assert_non_null(strstr(text, "\"lost\":9223372036854775807"));
	assert_non_null(strstr(text, "\"numa\":{\"active\":true,\"balancing\":null,\"error\":"
	                             "\"a \\\"reason\\\"\""));
	assert_non_null(strstr(text, "\"owner_changes\":7"));
	assert_non_null(strstr(text, "{\"node\":63,\"memory_bytes\":0,\"cpus\":\"\","
	                             "\"memory_allowed\":false,\"distances\":[21,10]}]}"));
	room = 20;
	assert_int_equal(lc_profile_manifest(p, &m), -ENOSPC);
	room = SIZE_MAX;
	read_manifest(again, sizeof(again));
	assert_string_equal(text, again);
	assert_int_equal(access(file_name("manifest.json.new"), F_OK), -1);
	destroy(p);
}

static void without_memory_no_file_of_the_program_is_closed(void **state)
{
	struct lc_profile *p = NULL;
	char error[1024];

	no_copies = true;
	assert_int_equal(lc_profile_create("/tmp/locus-none", &p, error, sizeof(error)), -ENOMEM);
	no_copies = false;
	assert_null(p);
	assert_int_not_equal(fcntl(0, F_GETFD), -1);
}

/* ---- definitions of other blocks ---- */

static uint8_t file_bytes[1 << 20];
static size_t file_len;

static void load_file(const char *name)
{
	FILE *f = fopen(file_name(name), "rb");

	assert_non_null(f);
	file_len = fread(file_bytes, 1, sizeof(file_bytes), f);
	fclose(f);
}

static void save_file(const char *name, size_t from)
{
	FILE *f = fopen(file_name(name), "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(file_bytes + from, 1, file_len - from, f), file_len - from);
	fclose(f);
}

/* The offset at which block `n` of the file begins. */
static size_t block_at(unsigned n, struct lc_block_header *h)
{
	size_t at = 0;

	for (;; n--) {
		assert_int_equal(lc_block_header_get(file_bytes + at, file_len - at, h), 0);
		if (!n)
			return at;
		at += (size_t)h->header_len + h->stored_len;
	}
}

static void damage_block(const char *name, unsigned n)
{
	struct lc_block_header h;

	load_file(name);
	file_bytes[block_at(n, &h) + h.header_len] ^= 0x40;
	save_file(name, 0);
}

static void names_are_written_once(void **state)
{
	struct lc_profile *p = create();
	struct lc_block_input in = input();
	struct lc_block_header first, second;

	for (int i = 0; i < 3; i++)
		assert_int_equal(lc_profile_append(p, &in), 0);
	load_file("thread-0.lcb");
	block_at(0, &first);
	block_at(1, &second);
	assert_true(second.raw_len * 2 < first.raw_len);
	assert_int_equal(second.generation, 0);
	assert_int_equal(second.sequence, 1);
	read_back("thread-0.lcb");
	assert_int_equal(stats.blocks, 3);
	assert_int_equal(damage.blocks + damage.bytes, 0);
	assert_int_equal(tree.accesses.count, 3);
	assert_int_equal(tree.buckets[0][LC_BUCKET_OBJECT], 27);
	assert_int_equal(lc_table_values(&tree.sites, 1)[LC_SITE_BYTES], 3000);
	lc_tree_free(&tree);
	destroy(p);
}

static void a_lost_block_costs_those_that_use_its_names_and_no_others(void **state)
{
	static const struct lc_block_alloc one = { 1, 10, 1000 }, two = { 2, 3, 72 };
	struct lc_profile *p = create();
	struct lc_block_input a = { .name = "t", .allocs = &one, .allocs_len = 1 };
	struct lc_block_input b = { .name = "t", .allocs = &two, .allocs_len = 1 };
	const struct lc_block_input *const in[] = { &a, &b, &a, &b, &a };

	for (size_t i = 0; i < 5; i++)
		assert_int_equal(lc_profile_append(p, in[i]), 0);
	damage_block("thread-0.lcb", 1);
	read_back("thread-0.lcb");
	assert_int_equal(stats.blocks, 3); /* all of `a` */
	assert_int_equal(damage.blocks, 2);
	assert_int_equal(damage.undefined, 1);
	assert_int_equal(lc_table_values(&tree.sites, 1)[LC_SITE_BYTES], 3000);
	for (uint32_t i = 2; i < tree.sites.count; i++)
		assert_int_equal(lc_table_values(&tree.sites, i)[LC_SITE_BYTES], 0);
	lc_tree_free(&tree);
	damage_block("thread-0.lcb", 0); /* the thread's name was in it */
	read_back("thread-0.lcb");
	assert_int_equal(stats.blocks, 0);
	assert_int_equal(damage.blocks, 5);
	assert_int_equal(damage.undefined, 3);
	assert_true(lc_tree_empty(&tree));
	lc_tree_free(&tree);
	destroy(p);
}

static void a_generation_ends_and_the_next_one_needs_nothing_of_it(void **state)
{
	enum { BLOCKS = 600 };
	struct lc_profile *p = create();
	struct lc_block_input in = input();
	struct lc_block_header h = { 0 };
	unsigned begin = 0;

	for (unsigned i = 0; i < BLOCKS; i++)
		assert_int_equal(lc_profile_append(p, &in), 0);
	load_file("thread-0.lcb");
	for (unsigned i = 1; i < BLOCKS; i++) {
		block_at(i, &h);
		if (h.generation == h.sequence) {
			begin = i;
			break;
		}
	}
	assert_in_range(begin, 2, BLOCKS - 1);
	save_file("thread-0.lcb", block_at(begin, &h));
	read_back("thread-0.lcb");
	assert_int_equal(stats.blocks, BLOCKS - begin);
	assert_int_equal(damage.undefined, 0);
	lc_tree_free(&tree);
	destroy(p);
}

static void near_the_limit_of_memory_each_block_names_all_again(void **state)
{
	struct lc_profile *p = create();
	struct lc_block_input in = input();
	struct lc_block_header h = { 0 };

	lc_memory_limit(1 << 20);
	for (unsigned i = 0; i < 6; i++) {
		if (i == 2)
			lc_memory_add(15 << 16);
		if (i == 4)
			lc_memory_add(-(15 << 16));
		assert_int_equal(lc_profile_append(p, &in), 0);
	}
	lc_memory_limit(UINT64_MAX);
	load_file("thread-0.lcb");
	for (unsigned i = 0; i < 6; i++) {
		static const uint64_t generations[] = { 0, 0, 2, 3, 3, 3 };

		block_at(i, &h);
		assert_int_equal(h.generation, generations[i]);
	}
	read_back("thread-0.lcb");
	assert_int_equal(stats.blocks, 6);
	assert_int_equal(tree.buckets[0][LC_BUCKET_OBJECT], 6 * 9);
	lc_tree_free(&tree);
	destroy(p);
}

static void a_file_that_was_removed_is_begun_with_all_names(void **state)
{
	struct lc_profile *p = create();
	struct lc_block_input in = input();

	assert_int_equal(lc_profile_append(p, &in), 0);
	assert_int_equal(unlink(file_name("thread-0.lcb")), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(lc_profile_append(p, &in), 0);
	read_back("thread-0.lcb");
	assert_int_equal(stats.blocks, 2);
	assert_int_equal(damage.undefined, 0);
	assert_int_equal(tree.buckets[0][LC_BUCKET_OBJECT], 18);
	lc_tree_free(&tree);
	/* Cut short by somebody. */
	assert_int_equal(truncate(file_name("thread-0.lcb"), 100), 0);
	assert_int_equal(lc_profile_append(p, &in), 0);
	read_back("thread-0.lcb");
	assert_int_equal(stats.blocks, 1);
	lc_tree_free(&tree);
	destroy(p);
}

/* Texts of threads come and go: another one may be where one was. */
static void another_text_at_the_same_place_is_another_name(void **state)
{
	struct lc_profile *p = create();
	struct lc_block_input in = input();
	char name[16] = "first";

	in.name = name;
	assert_int_equal(lc_profile_append(p, &in), 0);
	strcpy(name, "other");
	in.index = 3;
	assert_int_equal(lc_profile_append(p, &in), 0);
	read_back("thread-0.lcb");
	assert_int_equal(tree.threads.count, 2);
	assert_true(text_is((uint32_t)lc_table_values(&tree.threads, 0)[LC_THREAD_NAME], "first"));
	assert_true(text_is((uint32_t)lc_table_values(&tree.threads, 1)[LC_THREAD_NAME], "other"));
	lc_tree_free(&tree);
	destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_says_what_went_into_it),
		cmocka_unit_test(names_are_written_once),
		cmocka_unit_test(a_lost_block_costs_those_that_use_its_names_and_no_others),
		cmocka_unit_test(a_generation_ends_and_the_next_one_needs_nothing_of_it),
		cmocka_unit_test(near_the_limit_of_memory_each_block_names_all_again),
		cmocka_unit_test(a_file_that_was_removed_is_begun_with_all_names),
		cmocka_unit_test(another_text_at_the_same_place_is_another_name),
		cmocka_unit_test(rows_beyond_an_access_come_back),
		cmocka_unit_test(a_large_input_of_each_kind_becomes_several_blocks),
		cmocka_unit_test(a_frame_without_bci_has_neither_bci_nor_line),
		cmocka_unit_test(unknown_numbers_are_written_as_unknown),
		cmocka_unit_test(numbers_out_of_range_are_refused_and_counted),
		cmocka_unit_test(a_long_path_is_written_once),
		cmocka_unit_test(a_large_input_becomes_several_blocks),
		cmocka_unit_test(a_full_disk_leaves_the_file_as_it_was_and_is_said_once),
		cmocka_unit_test(many_threads_share_a_few_files),
		cmocka_unit_test(a_file_that_is_removed_is_made_again),
		cmocka_unit_test(blocks_need_no_more_memory_as_they_go),
		cmocka_unit_test(a_directory_with_a_profile_is_refused),
		cmocka_unit_test(what_is_no_file_of_its_own_is_not_written_to),
		cmocka_unit_test(a_directory_of_another_user_is_refused),
		cmocka_unit_test(a_directory_that_is_a_link_is_refused),
		cmocka_unit_test(a_profile_is_its_owners_alone),
		cmocka_unit_test(a_directory_that_cannot_be_made_is_named),
		cmocka_unit_test(the_manifest_is_replaced_whole_or_not_at_all),
		cmocka_unit_test(without_memory_no_file_of_the_program_is_closed),
	};

	return cmocka_run_group_tests(tests, make_nodes, NULL);
}
