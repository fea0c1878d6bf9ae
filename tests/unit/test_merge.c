/* uses: analyzer/model/merge_writer.c analyzer/model/canonical.c analyzer/model/tree_spans.c analyzer/objects/analysis/view.c analyzer/objects/analysis/view_rows.c analyzer/objects/analysis/sharing.c analyzer/model/load.c analyzer/model/load_groups.c analyzer/model/groups.c analyzer/model/facts.c analyzer/model/program_name.c analyzer/model/load_process.c analyzer/model/redacted.c analyzer/model/load_range.c analyzer/model/periods.c analyzer/model/manifest_file.c analyzer/model/blockfile.c analyzer/base/file.c analyzer/model/frame_filter.c analyzer/model/block_decoder.c analyzer/model/block_decoder_definitions.c analyzer/model/block_decoder_rows.c analyzer/model/group_filter.c analyzer/model/where.c analyzer/model/slices.c analyzer/model/block_decoder_spans.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/plain.c analyzer/base/progress.c src/format/encode.c src/format/section.c src/base/options.c src/base/nearest.c src/base/redact.c -lzstd -ljansson -lm */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_merge.c - checks that profiles are merged into trees, that the trees are written, and what
 * damage to the file costs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/fail.h"
#include "analyzer/model/blockfile.h"
#include "analyzer/model/merge_writer.h"
#include "analyzer/objects/analysis/view.h"
#include "src/format/block.h"
#include "src/format/kinds.h"

/* ---- trees to test with ---- */

static uint32_t add_path(struct lc_tree *t, uint32_t parent, unsigned frame)
{
	char name[32];
	uint32_t method[LC_METHOD_KEY], key[LC_FRAME_KEY], path[LC_PATH_KEY] = { parent };
	int len = snprintf(name, sizeof(name), "C%u", frame);

	method[LC_METHOD_CLASS] = lc_tree_string(t, name, (size_t)len);
	method[LC_METHOD_NAME] = lc_tree_string(t, "m", 1);
	method[LC_METHOD_SIGNATURE] = lc_tree_string(t, "()V", 3);
	method[LC_METHOD_FILE] = 0;
	key[LC_FRAME_METHOD] = lc_table_put(&t->methods, method);
	key[LC_FRAME_BCI1] = frame;
	key[LC_FRAME_LINE1] = frame;
	path[LC_PATH_FRAME] = lc_table_put(&t->frames, key);
	return lc_table_put(&t->paths, path);
}

/* `sites` sites, each with 3 accesses, of two threads. */
static void fill(struct lc_tree *t, unsigned sites)
{
	uint32_t threads[2], leaf = 0;

	lc_tree_init(t);
	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t key[LC_THREAD_KEY] = { 0, i };

		threads[i] = lc_table_put(&t->threads, key);
		lc_table_values(&t->threads, threads[i])[LC_THREAD_TID] = 10 + i;
	}
	for (unsigned i = 0; i < sites; i++) {
		uint32_t key[LC_SITE_KEY], share[LC_SHARE_KEY] = { threads[i % 2] }, site;

		leaf = add_path(t, i % 50 ? leaf : 0, i);
		key[LC_SITE_CLASS] = lc_tree_string(t, "byte[]", 6);
		key[LC_SITE_PATH] = leaf;
		site = lc_table_put(&t->sites, key);
		lc_table_values(&t->sites, site)[LC_SITE_ALLOCATIONS] = i + 1;
		lc_table_values(&t->sites, site)[LC_SITE_BYTES] = 100 * i;
		for (unsigned a = 0; a < 3; a++) {
			const uint32_t access[LC_ACCESS_KEY] = { 0, LC_BUCKET_OBJECT, site,
				                                 add_path(t, 0, 7 * i + a) };

			*lc_table_values(&t->accesses, lc_table_put(&t->accesses, access)) += 2;
		}
		t->buckets[0][LC_BUCKET_OBJECT] += 6;
		*lc_table_values(&t->shares, lc_table_put(&t->shares, share)) += 6;
	}
	t->buckets[0][LC_BUCKET_LOST] = 5;
}

struct file {
	char *data;
	size_t len;
	int blocks;
};

static struct file written(const struct lc_tree *t)
{
	struct lc_merge_writer *w = lc_merge_writer_create();
	struct file f = { 0 };
	FILE *out = open_memstream(&f.data, &f.len);

	f.blocks = lc_merge_write(w, t, false, out);
	fclose(out);
	lc_merge_writer_free(w);
	return f;
}

static void read_into(struct lc_tree *t, const char *data, size_t len, struct lc_damage *damage,
                      struct lc_blockfile_stats *stats)
{
	struct lc_block_target target = { .tree = t, .process_count = 1, .engines_len = 1 };
	struct lc_blockfile *f = lc_blockfile_create();

	lc_blockfile_read_memory(f, (const uint8_t *)data, len, &target, damage, stats);
	lc_blockfile_free(f);
}

static uint64_t object_samples(const struct lc_tree *t)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < t->accesses.count; i++)
		sum += *lc_table_values(&t->accesses, i);
	return sum;
}

/* ---- tests ---- */

static void a_tree_comes_back(void **state)
{
	struct lc_damage damage = { 0 };
	struct lc_blockfile_stats stats = { 0 };
	struct lc_tree a, b;
	struct file f;

	fill(&a, 1000);
	f = written(&a);
	lc_tree_init(&b);
	read_into(&b, f.data, f.len, &damage, &stats);
	assert_int_equal(damage.bytes + damage.blocks, 0);
	assert_int_equal(stats.blocks, 1);
	assert_int_equal(b.sites.count, a.sites.count);
	assert_int_equal(b.paths.count, a.paths.count);
	assert_int_equal(b.accesses.count, a.accesses.count);
	assert_int_equal(object_samples(&b), object_samples(&a));
	assert_int_equal(b.buckets[0][LC_BUCKET_LOST], 5);
	assert_int_equal(b.threads.count, 2);
	assert_int_equal(*lc_table_values(&b.shares, 0) + *lc_table_values(&b.shares, 1), 6000);
	lc_tree_free(&a);
	lc_tree_free(&b);
	free(f.data);
}

static void fill_nodes(struct lc_tree *t, uint32_t thread)
{
	const uint32_t placement[LC_PLACEMENT_KEY] = {
		thread, 0, 0, 1, 1, 2, 3 + thread, LC_SOURCE_REMOTE_DRAM
	};
	const uint32_t node[LC_NODE_KEY] = { thread, 0, 5 + thread };
	const uint32_t home[LC_HOME_KEY] = { thread, 2, thread };
	uint64_t *values;

	*lc_table_values(&t->placements, lc_table_put(&t->placements, placement)) = 70 + thread;
	values = lc_table_values(&t->nodes, lc_table_put(&t->nodes, node));
	values[LC_NODE_SAMPLES] = 80 + thread;
	values[LC_NODE_MIGRATIONS] = 9;
	values = lc_table_values(&t->homes, lc_table_put(&t->homes, home));
	values[LC_HOME_OBJECTS] = 90 + thread;
	values[LC_HOME_BYTES] = 95;
}

/* A row of each kind beyond accesses, of site 1; lines and nodes of both threads. */
static void fill_rows(struct lc_tree *t)
{
	uint32_t field[LC_FIELD_KEY] = { 0, 0, 1, 1, 0, 1, 2, 3, 4, LC_TOUCH_LOAD };
	const uint32_t metric[LC_METRIC_KEY] = { 0, 0, 1, 1, LC_SOURCE_L2, LC_METRIC_STORE };
	const uint32_t estimate = 1;
	const uint32_t split[LC_SPLIT_KEY] = { 0, LC_SPLIT_HITS, 1, 2 };

	fill(t, 5);
	field[LC_FIELD_NAME] = lc_tree_string(t, "next", 4);
	*lc_table_values(&t->fields, lc_table_put(&t->fields, field)) = 11;
	for (unsigned i = 0; i < LC_METRIC_VALUES; i++)
		lc_table_values(&t->metrics, lc_table_put(&t->metrics, metric))[i] = 20 + i;
	for (uint32_t thread = 0; thread < 2; thread++) {
		const uint32_t line[LC_LINE_KEY] = { thread, 7, 8,          0, 0,
			                             1,      1, 8 * thread, 8, LC_TOUCH_STORE,
			                             0,      5, 6 };
		uint64_t *values = lc_table_values(&t->lines, lc_table_put(&t->lines, line));

		values[LC_LINE_SAMPLES] = 30 + thread;
		values[LC_LINE_HITM] = thread;
		fill_nodes(t, thread);
	}
	for (unsigned i = 0; i < LC_ESTIMATE_VALUES; i++)
		lc_table_values(&t->estimates, lc_table_put(&t->estimates, &estimate))[i] = 40 + i;
	for (unsigned i = 0; i < LC_SPLIT_VALUES; i++)
		lc_table_values(&t->splits, lc_table_put(&t->splits, split))[i] = 60 + i;
}

static void nodes_came_back_twice(const struct lc_tree *t)
{
	assert_int_equal(t->placements.count, 2);
	assert_int_equal(t->nodes.count, 2);
	assert_int_equal(t->homes.count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t *placement = lc_table_key(&t->placements, i);
		const uint32_t *node = lc_table_key(&t->nodes, i);
		const uint32_t *home = lc_table_key(&t->homes, i);
		uint32_t index = lc_table_key(&t->threads, placement[0])[LC_THREAD_INDEX];

		assert_int_equal(placement[LC_PLACEMENT_ACCESSING], 2);
		assert_int_equal(placement[LC_PLACEMENT_OWNING], 3 + index);
		assert_int_equal(placement[LC_PLACEMENT_SOURCE], LC_SOURCE_REMOTE_DRAM);
		assert_int_equal(*lc_table_values(&t->placements, i), 2 * (70 + index));
		index = lc_table_key(&t->threads, node[LC_NODE_THREAD])[LC_THREAD_INDEX];
		assert_int_equal(node[LC_NODE_NODE], 5 + index);
		assert_int_equal(lc_table_values(&t->nodes, i)[LC_NODE_SAMPLES], 2 * (80 + index));
		assert_int_equal(lc_table_values(&t->nodes, i)[LC_NODE_MIGRATIONS], 18);
		index = lc_table_key(&t->threads, home[LC_HOME_THREAD])[LC_THREAD_INDEX];
		assert_int_equal(home[LC_HOME_NODE], index);
		assert_int_equal(lc_table_key(&t->sites, home[LC_HOME_SITE])[LC_SITE_CLASS],
		                 lc_table_key(&t->sites, 2)[LC_SITE_CLASS]);
		assert_int_equal(lc_table_values(&t->homes, i)[LC_HOME_OBJECTS], 2 * (90 + index));
		assert_int_equal(lc_table_values(&t->homes, i)[LC_HOME_BYTES], 190);
	}
}

static void rows_of_every_kind_come_back(void **state)
{
	struct lc_damage damage = { 0 };
	struct lc_blockfile_stats stats = { 0 };
	struct lc_tree a, b;
	struct file f;

	fill_rows(&a);
	f = written(&a);
	lc_tree_init(&b);
	read_into(&b, f.data, f.len, &damage, &stats);
	read_into(&b, f.data, f.len, &damage, &stats);
	assert_int_equal(damage.bytes, 0);
	assert_int_equal(b.fields.count, 1);
	assert_int_equal(*lc_table_values(&b.fields, 0), 22);
	assert_true(lc_tree_wide(lc_table_key(&b.fields, 0) + LC_FIELD_LAST) ==
	            (UINT64_C(4) << 32 | 3));
	assert_int_equal(b.metrics.count, 1);
	assert_int_equal(lc_table_values(&b.metrics, 0)[LC_METRIC_LATENCY], 42);
	assert_int_equal(lc_table_values(&b.metrics, 0)[LC_METRIC_LATENCY_MAX], 22);
	assert_int_equal(b.lines.count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t *key = lc_table_key(&b.lines, i);
		uint32_t index = lc_table_key(&b.threads, key[LC_LINE_THREAD])[LC_THREAD_INDEX];

		assert_int_equal(key[LC_LINE_BYTE], 8 * index);
		assert_true(lc_tree_wide(key + LC_LINE_NUMBER) == (UINT64_C(8) << 32 | 7));
		assert_int_equal(lc_table_values(&b.lines, i)[LC_LINE_SAMPLES], 60 + 2 * index);
	}
	nodes_came_back_twice(&b);
	assert_int_equal(lc_table_values(&b.threads, 0)[LC_THREAD_TID], 10);
	for (unsigned i = 0; i < LC_ESTIMATE_VALUES; i++)
		assert_int_equal(lc_table_values(&b.estimates, 0)[i], 2 * (40 + i));
	assert_int_equal(lc_table_values(&b.splits, 0)[LC_SPLIT_VARIANCE], 122);
	assert_int_equal(lc_table_key(&b.splits, 0)[LC_SPLIT_CLASS], 1);
	lc_tree_free(&a);
	lc_tree_free(&b);
	free(f.data);
}

/* Sums stay at the top instead of wrapping, which would turn a large share into a small one. */
static void sums_do_not_wrap(void **state)
{
	struct lc_damage damage = { 0 };
	struct lc_blockfile_stats stats = { 0 };
	struct lc_tree a, b;
	struct file f;

	fill_rows(&a);
	*lc_table_values(&a.fields, 0) = UINT64_MAX - 1;
	f = written(&a);
	lc_tree_init(&b);
	read_into(&b, f.data, f.len, &damage, &stats);
	read_into(&b, f.data, f.len, &damage, &stats);
	assert_true(*lc_table_values(&b.fields, 0) == UINT64_MAX);
	lc_tree_free(&a);
	lc_tree_free(&b);
	free(f.data);
}

static void reading_twice_doubles_the_counts_and_not_the_tree(void **state)
{
	struct lc_damage damage = { 0 };
	struct lc_blockfile_stats stats = { 0 };
	struct lc_tree a, b;
	struct file f;

	fill(&a, 300);
	f = written(&a);
	lc_tree_init(&b);
	read_into(&b, f.data, f.len, &damage, &stats);
	read_into(&b, f.data, f.len, &damage, &stats);
	assert_int_equal(b.paths.count, a.paths.count);
	assert_int_equal(b.sites.count, a.sites.count);
	assert_int_equal(object_samples(&b), 2 * object_samples(&a));
	assert_int_equal(b.buckets[0][LC_BUCKET_OBJECT], 2 * a.buckets[0][LC_BUCKET_OBJECT]);
	lc_tree_free(&a);
	lc_tree_free(&b);
	free(f.data);
}

static void a_large_tree_becomes_several_blocks(void **state)
{
	struct lc_damage damage = { 0 };
	struct lc_blockfile_stats stats = { 0 };
	struct lc_tree a, b;
	struct file f;

	fill(&a, 150000); /* 100,000 are one block */
	f = written(&a);
	assert_true(f.blocks > 1);
	lc_tree_init(&b);
	read_into(&b, f.data, f.len, &damage, &stats);
	assert_int_equal(stats.blocks, f.blocks);
	assert_int_equal(damage.bytes, 0);
	assert_int_equal(object_samples(&b), object_samples(&a));
	assert_int_equal(b.buckets[0][LC_BUCKET_OBJECT], a.buckets[0][LC_BUCKET_OBJECT]);
	assert_int_equal(b.threads.count, 2);
	lc_tree_free(&a);
	lc_tree_free(&b);
	free(f.data);
}

static void any_flipped_byte_costs_its_block_and_no_other(void **state)
{
	struct lc_tree a;
	struct file f;
	char *two;

	fill(&a, 5);
	f = written(&a);
	lc_tree_free(&a);
	two = malloc(2 * f.len);
	for (size_t at = 0; at < f.len; at++) {
		struct lc_damage damage = { 0 };
		struct lc_blockfile_stats stats = { 0 };
		struct lc_tree b;

		memcpy(two, f.data, f.len);
		memcpy(two + f.len, f.data, f.len);
		two[at] ^= 0x21;
		lc_tree_init(&b);
		read_into(&b, two, 2 * f.len, &damage, &stats);
		assert_int_equal(stats.blocks, 1);
		assert_int_equal(damage.blocks, 1);
		assert_int_equal(damage.bytes, f.len);
		assert_int_equal(object_samples(&b), 30);
		lc_tree_free(&b);
	}
	free(two);
	free(f.data);
}

static void any_cut_costs_the_last_block(void **state)
{
	struct lc_tree a;
	struct file f;

	fill(&a, 5);
	f = written(&a);
	lc_tree_free(&a);
	for (size_t len = 1; len < f.len; len++) {
		struct lc_damage damage = { 0 };
		struct lc_blockfile_stats stats = { 0 };
		struct lc_tree b;

		lc_tree_init(&b);
		read_into(&b, f.data, len, &damage, &stats);
		assert_int_equal(stats.blocks, 0);
		assert_int_equal(damage.blocks, 1);
		assert_int_equal(damage.bytes, len);
		assert_true(lc_tree_empty(&b));
		lc_tree_free(&b);
	}
	free(f.data);
}

static void a_failed_write_is_reported(void **state)
{
	struct lc_merge_writer *w = lc_merge_writer_create();
	FILE *full = fopen("/dev/full", "w");
	struct lc_tree a;

	if (!full)
		skip();
	setbuf(full, NULL);
	fill(&a, 10);
	assert_int_equal(lc_merge_write(w, &a, false, full), -ENOSPC);
	lc_tree_free(&a);
	fclose(full);
	lc_merge_writer_free(w);
}

/* Decode a payload of sections as they are given: type, bytes. */
static int decode(const uint8_t *payload, size_t len, struct lc_tree *t)
{
	struct lc_block_target target = { .tree = t, .process_count = 1, .engines_len = 1 };
	struct lc_block_decoder d = { 0 };
	struct lc_block_header h = { 0 };
	int err;

	lc_tree_init(t);
	err = lc_block_decode(&d, &h, payload, len, &target);
	lc_block_decoder_free(&d);
	return err;
}

#define DECODE(t, ...)                                                                             \
	decode((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }), t)

static void payloads_that_break_the_format_are_refused(void **state)
{
	struct lc_tree t;

	assert_int_equal(DECODE(&t, 9, 4, 1, 0, 0, 7), 0);
	assert_int_equal(t.buckets[0][0], 7);
	lc_tree_free(&t);
#define REFUSED(...)                                                                               \
	do {                                                                                       \
		assert_int_equal(DECODE(&t, __VA_ARGS__), -EBADMSG);                               \
		assert_true(lc_tree_empty(&t));                                                    \
		lc_tree_free(&t);                                                                  \
	} while (0)
	REFUSED(9, 5, 1, 0, 0, 7);                         /* longer than the payload */
	REFUSED(9, 5, 1, 0, 0, 7, 0);                      /* bytes after the rows */
	REFUSED(9, 4, 2, 0, 0, 7);                         /* more rows than bytes */
	REFUSED(9, 4, 1, 1, 0, 7);                         /* no such engine */
	REFUSED(9, 4, 1, 0, 7, 7);                         /* no such bucket */
	REFUSED(9, 4, 1, 0, 0, 7, 9, 4, 1, 0, 0, 7);       /* a type twice */
	REFUSED(9, 4, 1, 0, 0, 7, 8, 6, 1, 0, 0, 0, 0, 8); /* accesses above the bucket */
	REFUSED(9, 4, 1, 0, 0, 7, 8, 6, 1, 0, 0, 0, 1, 7); /* no such path */
	REFUSED(9, 4, 1, 0, 0, 7, 8, 6, 1, 0, 0, 1, 0, 7); /* no such site */
	REFUSED(1, 2, 1, 9, 9, 4, 1, 0, 0, 7);             /* string beyond its section */
	REFUSED(5, 3, 1, 1, 0, 9, 4, 1, 0, 0, 7);          /* no such frame */
	REFUSED(11, 1, 0, 9, 4, 1, 0, 0, 7);               /* THREADS in a thread's block */
	REFUSED(9, 4, 1, 0, 0, 7, 2, 1, 1);                /* no such string */
	/* FIELDS: no such access, last before first; LINES: no such byte, more HITM than
	 * samples. */
	REFUSED(9, 4, 1, 0, 0, 7, 12, 10, 1, 0, 0, 0, 0, 0, 0, 0, 4, 1);
	REFUSED(9, 4, 1, 0, 0, 7, 12, 10, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1);
	REFUSED(9, 4, 1, 0, 0, 7, 14, 13, 1, 1, 0, 0, 0, 0, 64, 0, 0, 0, 0, 1, 0);
	REFUSED(9, 4, 1, 0, 0, 7, 14, 13, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2);
	/* METRICS: no such source; ESTIMATES: a column too few; SPLITS: no such method. */
	REFUSED(9, 4, 1, 0, 0, 7, 13, 10, 1, 0, 0, 0, 0, 9, 0, 1, 1, 1);
	REFUSED(9, 4, 1, 0, 0, 7, 15, 11, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	REFUSED(9, 4, 1, 0, 0, 7, 16, 7, 1, 0, 4, 0, 0, 1, 1);
	REFUSED(9, 4, 1, 0, 0, 7, 17, 1, 0); /* MERGED_LINES in a thread's block */
	/* PLACEMENTS: no such node, no such source; NODES: more moves than samples; HOMES: no
	 * node. */
	REFUSED(9, 4, 1, 0, 0, 7, 18, 10, 1, 0, 0, 0, 0, 0x81, 8, 0, 0, 1);
	REFUSED(9, 4, 1, 0, 0, 7, 18, 10, 1, 0, 0, 0, 0, 0, 0x81, 8, 0, 1);
	REFUSED(9, 4, 1, 0, 0, 7, 18, 9, 1, 0, 0, 0, 0, 0, 0, 9, 1);
	REFUSED(9, 4, 1, 0, 0, 7, 19, 5, 1, 0, 0, 1, 2);
	REFUSED(9, 4, 1, 0, 0, 7, 20, 6, 1, 0, 0x81, 8, 1, 1);
	/* A path that is its own parent, and one below a later one. */
	REFUSED(3, 5, 1, 0, 0, 0, 0, 4, 4, 1, 0, 0, 0, 5, 3, 1, 0, 0, 9, 4, 1, 0, 0, 7);
	REFUSED(3, 5, 1, 0, 0, 0, 0, 4, 4, 1, 0, 0, 0, 5, 3, 1, 2, 0, 9, 4, 1, 0, 0, 7);
#undef REFUSED
}

static void hidden_classes_lose_their_address_and_nothing_else_does(void **state)
{
	static const struct {
		const char *name;
		const char *kept;
	} cases[] = {
		{ "A$$Lambda/0x00007f01c4000a00", "A$$Lambda" },
		{ "A$$Lambda$14.0x000000080011ab00[]", "A$$Lambda$14[]" },
		{ "A/0x123", "A/0x123" },
		{ "A0x00007f01c4000a00", "A0x00007f01c4000a00" },
		{ "A/0x00007f01c4000aZZ", "A/0x00007f01c4000aZZ" },
	};
	struct lc_tree t;

	lc_tree_init(&t);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t id = lc_tree_class(&t, cases[i].name, strlen(cases[i].name));

		assert_int_equal(id, lc_tree_string(&t, cases[i].kept, strlen(cases[i].kept)));
	}
	lc_tree_free(&t);
}

static void tenths_add_up_to_100_percent(void **state)
{
	static const uint64_t cases[][4] = {
		{ 1, 1, 1, 0 },
		{ 1, 0, 0, 0 },
		{ UINT64_MAX, UINT64_MAX, UINT64_MAX, 1 },
		{ 1, 2, 3, 1000000000000 },
		{ 333, 333, 334, 7 },
	};
	unsigned tenths[4];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		lc_view_tenths(cases[i], 4, tenths);
		assert_int_equal(tenths[0] + tenths[1] + tenths[2] + tenths[3], 1000);
	}
	lc_view_tenths((const uint64_t[4]){ 0, 0, 0, 0 }, 4, tenths);
	assert_int_equal(tenths[0] + tenths[1] + tenths[2] + tenths[3], 0);
}

static void a_table_finds_each_of_many_rows(void **state)
{
	struct lc_table t;

	lc_table_init(&t, 2, 1);
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 100000; i++)
			*lc_table_values(&t, lc_table_put(&t, (uint32_t[]){ i, i % 7 })) += i;
	assert_int_equal(t.count, 100000);
	for (uint32_t i = 0; i < t.count; i++)
		assert_int_equal(*lc_table_values(&t, i), 2 * i);
	lc_table_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tree_comes_back),
		cmocka_unit_test(rows_of_every_kind_come_back),
		cmocka_unit_test(sums_do_not_wrap),
		cmocka_unit_test(reading_twice_doubles_the_counts_and_not_the_tree),
		cmocka_unit_test(a_large_tree_becomes_several_blocks),
		cmocka_unit_test(any_flipped_byte_costs_its_block_and_no_other),
		cmocka_unit_test(any_cut_costs_the_last_block),
		cmocka_unit_test(a_failed_write_is_reported),
		cmocka_unit_test(payloads_that_break_the_format_are_refused),
		cmocka_unit_test(hidden_classes_lose_their_address_and_nothing_else_does),
		cmocka_unit_test(tenths_add_up_to_100_percent),
		cmocka_unit_test(a_table_finds_each_of_many_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
