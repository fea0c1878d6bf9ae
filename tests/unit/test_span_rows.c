/* uses: src/profile/block_encoder.c src/format/encode.c src/format/section.c src/profile/names.c src/core/memory.c src/profile/manifest.c analyzer/spans/span_rows.c analyzer/spans/span_running.c analyzer/model/tree_spans.c analyzer/model/merge_writer.c analyzer/model/canonical.c analyzer/model/load.c analyzer/model/load_groups.c analyzer/model/groups.c analyzer/model/facts.c analyzer/model/program_name.c analyzer/model/load_process.c analyzer/model/redacted.c analyzer/model/load_range.c analyzer/model/periods.c analyzer/model/manifest_file.c analyzer/model/blockfile.c analyzer/base/file.c analyzer/model/frame_filter.c analyzer/model/block_decoder.c analyzer/model/block_decoder_definitions.c analyzer/model/block_decoder_rows.c analyzer/model/group_filter.c analyzer/model/where.c analyzer/model/slices.c analyzer/model/block_decoder_spans.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/plain.c analyzer/base/progress.c src/base/options.c src/base/nearest.c src/base/redact.c -lzstd -ljansson -lm */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_span_rows.c - follows spans from the agent's writer to the rows that `locus spans` reads,
 * and through a merged profile, and compares the totals with sums made here.
 *
 * The file is longer than 600 lines: the model and the names serve all tests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/base/fail.h"
#include "analyzer/model/merge_writer.h"
#include "analyzer/spans/span_rows.h"
#include "src/core/path.h"
#include "src/core/record.h"
#include "src/profile/block_encoder.h"
#include "src/profile/manifest.h"
#include "src/profile/profile_writer.h"

/*
 * ---- names that the writer asks for: node n is line 100 + n, site s is class Ts, made at node s +
 * 1 ----
 */

enum { NODES = 12, SITES = 6, THREADS = 3, BLOCKS = 20, ROWS = 25, MODEL = 4000, LINE = 100 };

static const struct lc_method method = {
	.class_name = "A", .name = "m", .signature = "()V", .source_file = "A.java"
};
static struct lc_path_node nodes[NODES];
static struct lc_site sites[SITES];

const struct lc_method *lc_method_get(uint32_t number)
{
	return number ? NULL : &method;
}

const struct lc_path_node *lc_path_get(uint32_t node)
{
	return node < NODES ? &nodes[node] : NULL;
}

const struct lc_site *lc_site_get(uint32_t site)
{
	return site && site < SITES ? &sites[site] : NULL;
}

int lc_method_line(const struct lc_method *m, unsigned bci)
{
	return (int)bci + LINE;
}

static int make_names(void **state)
{
	static char classes[SITES][8];

	for (uint32_t i = 1; i < NODES; i++)
		nodes[i] = (struct lc_path_node){ i / 2, 0, (uint16_t)i, (uint16_t)(i / 2 + 1), 0 };
	for (uint32_t i = 1; i < SITES; i++) {
		snprintf(classes[i], sizeof(classes[i]), "T%u", i);
		sites[i] = (struct lc_site){ .class_name = classes[i], .path = i + 1 };
	}
	return 0;
}

/* ---- what was written, as it must come back ---- */

struct model_row {
	uint32_t thread;
	struct lc_block_span sum; /* key and sums */
	uint64_t histogram[LC_SPAN_BUCKETS];
	struct lc_span_interval intervals[BLOCKS * ROWS]; /* earliest first */
	uint32_t intervals_len;
};

static struct model_row *model;
static size_t model_len;

static bool same_key(const struct lc_block_span *a, const struct lc_block_span *b)
{
	return a->kind == b->kind && a->level == b->level && a->submit_kind == b->submit_kind &&
	       a->site == b->site && a->submit_path == b->submit_path && a->path == b->path;
}

static void model_add(uint32_t thread, const struct lc_block_span *s)
{
	struct model_row *m = model;

	while (m < model + model_len && !(m->thread == thread && same_key(&m->sum, s)))
		m++;
	if (m == model + model_len) {
		assert_true(model_len++ < MODEL);
		memset(m, 0, sizeof(*m));
		m->thread = thread;
		m->sum = (struct lc_block_span){ .kind = s->kind,
			                         .level = s->level,
			                         .submit_kind = s->submit_kind,
			                         .site = s->site,
			                         .submit_path = s->submit_path,
			                         .path = s->path };
	}
	m->sum.executions += s->executions;
	m->sum.folded += s->folded;
	m->sum.cycles += s->cycles;
	m->sum.compensated += s->compensated;
	m->sum.negative += s->negative;
	m->sum.switches += s->switches;
	m->sum.gc_count += s->gc_count;
	m->sum.gc_ns += s->gc_ns;
	m->sum.wait_ns += s->wait_ns;
	m->sum.waits += s->waits;
	m->sum.wall_ns += s->wall_ns;
	for (unsigned i = 0; i < LC_SPAN_NESTED; i++)
		m->sum.nested[i] += s->nested[i];
	for (unsigned i = 0; i < LC_SPAN_BUCKETS; i++)
		m->histogram[i] += s->histogram[i];
	if (s->first_ns)
		m->intervals[m->intervals_len++] =
		    (struct lc_span_interval){ s->first_ns, s->last_ns };
}

static uint64_t below(uint64_t limit)
{
	return ((uint64_t)random() << 31 ^ (uint64_t)random()) % limit;
}

static struct lc_block_span random_span(uint64_t now_ns)
{
	struct lc_block_span s = { .kind = (uint8_t)below(LC_SPAN_KINDS),
		                   .level = (uint8_t)(below(2) * LC_SPAN_LEVEL_MAX) };

	if (s.kind < LC_SPAN_TASK) {
		s.path = (uint32_t)below(NODES);
	} else {
		s.submit_kind = (uint8_t)below(LC_SUBMIT_KINDS);
		s.site = (uint32_t)below(SITES);
		s.submit_path = (uint32_t)below(3);
	}
	s.executions = below(1000);
	s.folded = below(3);
	s.cycles = below(UINT64_C(1) << below(50));
	s.compensated = (int64_t)below(UINT64_C(1) << 40) - (INT64_C(1) << 39);
	s.negative = below(7);
	s.switches = below(100);
	s.gc_count = below(2);
	s.gc_ns = below(1000000);
	s.wait_ns = below(1000000000);
	s.waits = below(10);
	s.wall_ns = below(1000000000);
	for (unsigned i = 0; i < LC_SPAN_NESTED; i++)
		s.nested[i] = below(5 * i + 1);
	for (unsigned i = 0; i < 5; i++)
		s.histogram[below(LC_SPAN_BUCKETS)] += (uint32_t)below(UINT32_MAX / 5);
	s.histogram[0] |= 1;
	s.histogram[LC_SPAN_BUCKETS - 1] |= 1;
	if (below(4)) {
		s.first_ns = now_ns + below(5 * LC_TIMELINE_NS);
		s.last_ns = s.first_ns + below(LC_TIMELINE_NS);
	}
	return s;
}

/* ---- trees ---- */

static struct lc_tree tree;
static struct lc_load_process process;
static struct lc_load load;
static struct lc_span_rows rows;

static uint64_t end_ns; /* of the process */

static void tree_begin(void)
{
	lc_tree_init(&tree);
	memset(&process, 0, sizeof(process));
	process.end_monotonic_ns = end_ns;
	load = (struct lc_load){
		.tree = &tree, .processes = &process, .processes_len = 1, .engines_len = 2
	};
}

static void tree_read(const void *data, size_t len)
{
	struct lc_block_target target = {
		.tree = &tree, .process_count = 1, .engines = { 0, 1 }, .engines_len = 2
	};
	struct lc_blockfile *f = lc_blockfile_create();
	struct lc_blockfile_stats stats = { 0 };
	struct lc_damage damage = { 0 };

	lc_blockfile_read_memory(f, data, len, &target, &damage, &stats);
	lc_blockfile_free(f);
	assert_int_equal(damage.blocks + damage.bytes, 0);
}

static void encode_and_read(const struct lc_block_input *in)
{
	struct lc_block_encoder *e = lc_block_encoder_create();

	assert_true(lc_block_encode(e, in, 0, 0) > 0);
	tree_read(lc_block_encoded(e)->data, lc_block_encoded(e)->len);
	lc_block_encoder_free(e);
}

static void tree_end(void)
{
	lc_span_rows_free(&rows);
	lc_tree_free(&tree);
}

/* Read the tree back from what `locus merge` would write of it. */
static void merge_and_read(bool keep_thread)
{
	struct lc_merge_writer *w = lc_merge_writer_create();
	char *data = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&data, &len);

	assert_true(lc_merge_write(w, &tree, keep_thread, out) > 0);
	fclose(out);
	lc_merge_writer_free(w);
	tree_end();
	tree_begin();
	tree_read(data, len);
	free(data);
	lc_span_rows_build(&rows, &load);
}

static bool text_is(struct lc_text text, const char *expected)
{
	return text.len == strlen(expected) && !memcmp(text.bytes, expected, text.len);
}

static bool place_is(const struct lc_span_place *p, uint32_t node)
{
	if (!node)
		return p->number == 0 && p->line == -1 && !p->class_name.len && !p->file.len;
	return p->line == (int32_t)(LINE + node) && text_is(p->class_name, "A") &&
	       text_is(p->method_name, "m") && text_is(p->signature, "()V") &&
	       text_is(p->file, "A.java") && rows.places[p->number] == p;
}

/* The frames of a whole path, from its place to the root. */
static bool path_is(uint32_t path, uint32_t node)
{
	for (; node; node = nodes[node].parent, path = lc_tree_parent(&tree, path))
		if (!path || !place_is(lc_span_rows_place(&rows, path), node))
			return false;
	return !path;
}

static bool row_is_of(const struct lc_span_row *row, const struct model_row *m)
{
	const struct lc_block_span *s = &m->sum;
	const char *type = s->site ? sites[s->site].class_name : "";

	return rows.threads[row->thread].index == m->thread && row->kind == s->kind &&
	       row->level == s->level && row->submit_kind == s->submit_kind &&
	       text_is(row->type, type) && place_is(row->submitted, s->submit_path) &&
	       place_is(row->place, s->site ? sites[s->site].path : s->path) &&
	       path_is(row->place_path, s->site ? sites[s->site].path : s->path) &&
	       path_is(row->submit_path, s->submit_path);
}

static void row_is_equal(const struct lc_span_row *row, struct model_row *m)
{
	const struct lc_block_span *s = &m->sum;
	const struct lc_span_bucket *bucket = row->histogram;
	uint32_t interval = 0;

	assert_int_equal(row->executions, s->executions);
	assert_int_equal(row->folded, s->folded);
	assert_int_equal(row->cycles, s->cycles);
	assert_int_equal(row->compensated, s->compensated);
	assert_int_equal(row->negative, s->negative);
	assert_int_equal(row->switches, s->switches);
	assert_int_equal(row->gc_count, s->gc_count);
	assert_int_equal(row->gc_ns, s->gc_ns);
	assert_int_equal(row->wait_ns, s->wait_ns);
	assert_int_equal(row->waits, s->waits);
	assert_int_equal(row->wall_ns, s->wall_ns);
	assert_memory_equal(row->nested, s->nested, sizeof(s->nested));
	for (unsigned i = 0; i < LC_SPAN_BUCKETS; i++) {
		if (!m->histogram[i])
			continue;
		assert_true(bucket < row->histogram + row->histogram_len);
		assert_int_equal(bucket->bucket, i);
		assert_int_equal(bucket++->count, m->histogram[i]);
	}
	assert_ptr_equal(bucket, row->histogram + row->histogram_len);
	/* Each written one lies in one of the row's, and these are apart. */
	for (uint32_t i = 0; i < m->intervals_len; i++) {
		const struct lc_span_interval *v = row->intervals;

		while (v < row->intervals + row->intervals_len &&
		       v->last_ns < m->intervals[i].last_ns)
			v++;
		assert_true(v < row->intervals + row->intervals_len);
		assert_true(v->first_ns <= m->intervals[i].first_ns);
	}
	for (interval = 1; interval < row->intervals_len; interval++)
		assert_true(row->intervals[interval].first_ns -
		                row->intervals[interval - 1].last_ns >
		            LC_TIMELINE_NS);
	assert_int_equal(row->intervals_len != 0, m->intervals_len != 0);
}

static int by_first(const void *a, const void *b)
{
	const struct lc_span_interval *x = a, *y = b;

	return x->first_ns < y->first_ns ? -1 : x->first_ns > y->first_ns;
}

/*
 * Nothing lies in the row's intervals but what was written: their total length is that of the
 * union.
 */
static void intervals_are_no_longer(const struct lc_span_row *row, struct model_row *m)
{
	uint64_t total = 0, expected = 0, end = 0;

	qsort(m->intervals, m->intervals_len, sizeof(*m->intervals), by_first);
	for (uint32_t i = 0; i < m->intervals_len; i++) {
		const struct lc_span_interval *v = &m->intervals[i];
		uint64_t from = end && v->first_ns <= end + LC_TIMELINE_NS ? end : v->first_ns;

		if (v->last_ns > from)
			expected += v->last_ns - from;
		end = v->last_ns > end ? v->last_ns : end;
	}
	for (uint32_t i = 0; i < row->intervals_len; i++)
		total += row->intervals[i].last_ns - row->intervals[i].first_ns;
	assert_int_equal(total, expected);
}

/* The rows are those of the model, of one thread or all. */
static void rows_are_the_model(uint32_t thread)
{
	size_t expected = 0;

	for (size_t k = 0; k < model_len; k++) {
		const struct lc_span_row *row = rows.rows;

		if (thread != LC_THREAD_ALL && model[k].thread != thread)
			continue;
		expected++;
		while (row < rows.rows + rows.rows_len && !row_is_of(row, &model[k]))
			row++;
		assert_true(row < rows.rows + rows.rows_len);
		row_is_equal(row, &model[k]);
		intervals_are_no_longer(row, &model[k]);
	}
	assert_int_equal(rows.rows_len, expected);
}

/* ---- tests ---- */

/* Random rows in blocks of a thread, as the agent writes them. */
static void write_random(uint32_t thread)
{
	for (uint64_t block = 0; block < BLOCKS; block++) {
		struct lc_block_span spans[ROWS];
		struct lc_block_input in = { .tid = 10 + thread,
			                     .index = thread,
			                     .name = "worker",
			                     .spans = spans,
			                     .spans_len = ROWS };

		for (unsigned i = 0; i < ROWS; i++) {
			spans[i] = random_span(1000000000 + block * 3 * LC_TIMELINE_NS);
			model_add(thread, &spans[i]);
		}
		encode_and_read(&in);
	}
}

static void random_rows_come_back_added_up(void **state)
{
	model = calloc(MODEL, sizeof(*model));
	srandom(17);
	for (unsigned round = 0; round < 3; round++) {
		model_len = 0;
		tree_begin();
		for (uint32_t thread = 0; thread < THREADS; thread++)
			write_random(thread);
		lc_span_rows_build(&rows, &load);
		rows_are_the_model(LC_THREAD_ALL);
		merge_and_read(false);
		rows_are_the_model(LC_THREAD_ALL);
		assert_int_equal(rows.threads_len, THREADS);
		assert_true(text_is(rows.threads[1].name, "worker"));
		tree_end();
	}
	tree_begin();
	model_len = 0;
	write_random(2);
	lc_span_rows_build(&rows, &load);
	merge_and_read(true);
	rows_are_the_model(2);
	tree_end();
	free(model);
}

static const struct lc_block_task_made made[] = { { 1, 0, 0, 7 }, { 1, LC_SUBMIT_ASYNC, 4, 5 } };
static const struct lc_block_span_access span_accesses[] = {
	{ LC_SPAN_SUPPORT, 0, 3, 1, LC_BUCKET_OBJECT, 2, 5, 11 },
	{ LC_SPAN_TASK, 4, 0, 0, LC_BUCKET_JVM, 0, 0, 12 },
};
static const struct lc_block_timeline timeline[] = {
	{ 7 * LC_TIMELINE_NS, 90, 3, 4 },
	{ 5 * LC_TIMELINE_NS, 80, 1, 2 },
	{ 7 * LC_TIMELINE_NS, 5, 1, 1 },
};
static const struct lc_block_pause pauses[] = { { 900, 10 }, { 100, 30 }, { 100, 20 } };
static const struct lc_block_trace trace[] = {
	{ 8, 7, 5, LC_SPAN_TASK, 2, LC_SUBMIT_FORK, LC_TRACE_FORK_JOIN, 3, 2, 0, 2, 500, 40, 30, -9,
	  2, 6 },
	{ 7, 0, 0, LC_SPAN_PRIMORDIAL, 0, 0, 0, 0, 0, 6, 0, 400, 200, UINT64_MAX, INT64_MAX, 0, 0 },
	{ 9, 7, 0, LC_SPAN_THREAD, 0, 0, LC_TRACE_FLAGS_END - 1, 0, 0, 0, 77, 400, 1, 1, INT64_MIN,
	  0, 0 },
};

static void check_others(uint64_t times)
{
	assert_int_equal(rows.made_len, 2);
	for (unsigned i = 0; i < 2; i++) {
		const struct lc_span_made *m = &rows.made[rows.made[0].submit_kind ? 1 - i : i];

		assert_int_equal(m->submit_kind, made[i].submit_kind);
		assert_int_equal(m->count, times * made[i].count);
		assert_true(text_is(m->type, "T1") && place_is(m->place, 2));
		assert_true(place_is(m->submitted, made[i].submit_path));
		assert_int_equal(rows.threads[m->thread].index, 1);
	}
	assert_int_equal(rows.accesses_len, 2);
	assert_int_equal(rows.accesses[0].samples, times * 11);
	assert_int_equal(rows.accesses[0].engine, 1);
	assert_true(place_is(rows.accesses[0].place, 3) && !rows.accesses[0].type.len);
	assert_true(text_is(rows.accesses[0].object, "T2"));
	assert_true(place_is(rows.accesses[0].allocated, 3));
	assert_true(place_is(lc_span_rows_place(&rows, rows.accesses[0].path), 5));
	assert_true(text_is(rows.accesses[1].type, "T4") && place_is(rows.accesses[1].place, 5));
	assert_int_equal(rows.accesses[1].bucket, LC_BUCKET_JVM);
	assert_int_equal(rows.slices_len, 2);
	assert_int_equal(rows.slices[0].start_ns, 5 * LC_TIMELINE_NS);
	assert_int_equal(rows.slices[1].start_ns, 7 * LC_TIMELINE_NS);
	assert_int_equal(rows.slices[1].cpu_ns, times * 95);
	assert_int_equal(rows.slices[1].voluntary, times * 4);
	assert_int_equal(rows.slices[1].involuntary, times * 5);
	assert_int_equal(rows.pauses_len, 2);
	assert_int_equal(rows.pauses[0].start_ns, 100);
	assert_int_equal(rows.pauses[0].duration_ns, 30);
	assert_int_equal(rows.pauses[1].start_ns, 900);
}

static void check_trace(void)
{
	static const unsigned order[] = { 1, 2, 0 }; /* by begin, then ID */

	assert_int_equal(rows.traces_len, 3);
	for (unsigned i = 0; i < 3; i++) {
		const struct lc_block_trace *t = &trace[order[i]];
		const struct lc_span_trace *r = &rows.traces[i];

		assert_int_equal(r->id, t->id);
		assert_int_equal(r->outer, t->outer);
		assert_int_equal(r->logical, t->logical);
		assert_int_equal(r->kind, t->kind);
		assert_int_equal(r->level, t->level);
		assert_int_equal(r->submit_kind, t->submit_kind);
		assert_int_equal(r->flags, t->flags);
		assert_true(text_is(r->type, t->site ? sites[t->site].class_name : ""));
		assert_true(place_is(r->place, t->site ? sites[t->site].path : t->path));
		assert_true(place_is(r->submitted, t->submit_path));
		assert_int_equal(r->start_ns, t->start_ns);
		assert_int_equal(r->duration_ns, t->duration_ns);
		assert_int_equal(r->cycles, t->cycles);
		assert_int_equal(r->compensated, t->compensated);
		assert_int_equal(r->switches, t->switches);
		assert_int_equal(r->wait_ns, t->wait_ns);
		assert_int_equal(rows.threads[r->thread].index, 1);
	}
	assert_int_equal(rows.threads[rows.traces[2].creator].index, 1);
	assert_int_equal(rows.traces[0].creator, LC_SPAN_NO_THREAD);
	assert_int_equal(rows.traces[1].creator, LC_SPAN_NO_THREAD); /* it has no block */
}

static struct lc_block_input others(void)
{
	return (struct lc_block_input){ .index = 1,
		                        .name = "w",
		                        .tasks_made = made,
		                        .tasks_made_len = 2,
		                        .span_accesses = span_accesses,
		                        .span_accesses_len = 2,
		                        .timeline = timeline,
		                        .timeline_len = 3,
		                        .pauses = pauses,
		                        .pauses_len = 3,
		                        .trace = trace,
		                        .trace_len = 3 };
}

static void tasks_timelines_pauses_and_traces_come_back(void **state)
{
	struct lc_block_input in = others();

	for (int keep_thread = 0; keep_thread < 2; keep_thread++) {
		tree_begin();
		encode_and_read(&in);
		lc_span_rows_build(&rows, &load);
		assert_true(lc_span_rows_any(&rows));
		check_others(1);
		check_trace();
		merge_and_read(keep_thread);
		check_others(1);
		check_trace();
		in.trace_len = 0;
		encode_and_read(&in);
		in.trace_len = 3;
		lc_span_rows_free(&rows);
		lc_span_rows_build(&rows, &load);
		check_others(2);
		tree_end();
	}
}

/* A pause in the blocks of two threads is one. */
static void a_pause_of_two_threads_is_one(void **state)
{
	struct lc_block_input in = others();

	tree_begin();
	encode_and_read(&in);
	in.index = 4;
	encode_and_read(&in);
	lc_span_rows_build(&rows, &load);
	assert_int_equal(rows.pauses_len, 2);
	assert_int_equal(rows.slices_len, 4);
	assert_int_equal(rows.threads[rows.slices[0].thread].index, 1);
	assert_int_equal(rows.threads[rows.slices[3].thread].index, 4);
	tree_end();
}

/* Number; kind; level; submit kind; site; submit path; path; begin; cycles, compensated; folded;
 * ended. */
static const struct lc_block_running running_first[] = {
	{ 5, LC_SPAN_ANONYMOUS, 1, 0, 0, 0, 3, 100, 700, 600, 0, 0 },
	{ 6, LC_SPAN_TASK, 0, LC_SUBMIT_ASYNC, 1, 4, 0, 150, 1000, 900, 0, 0 },
	{ 7, LC_SPAN_TASK, 0, 0, 2, 0, 0, 160, 0, 0, 1, 0 },
	{ 8, LC_SPAN_ANONYMOUS, 0, 0, 0, 0, 2, 170, 50, 40, 0, 0 },
	{ 9, LC_SPAN_ANONYMOUS, 0, 0, 0, 0, 2, 180, 60, 50, 0, 0 },
};
/* 5 has used more, 6 is on another thread, 8 has ended, 9 was so far only on this one. */
static const struct lc_block_running running_later[] = {
	{ 5, LC_SPAN_ANONYMOUS, 1, 0, 0, 0, 3, 101, 1700, 1600, 0, 0 },
	{ 8, LC_SPAN_ANONYMOUS, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1 },
};
static const struct lc_block_running running_elsewhere[] = {
	{ 6, LC_SPAN_TASK, 0, LC_SUBMIT_ASYNC, 1, 4, 0, 150, 3000, 2900, 0, 0 },
	{ 9, LC_SPAN_ANONYMOUS, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1 },
};

static void check_running(void)
{
	const struct lc_span_row *r = rows.rows;

	assert_int_equal(rows.rows_len, 3);
	for (unsigned i = 0; i < 3; i++)
		assert_true(r[i].running == 1 && !r[i].executions && !r[i].folded &&
		            !r[i].histogram_len);
	assert_true(r[0].kind == LC_SPAN_ANONYMOUS && r[0].level == 1 && place_is(r[0].place, 3));
	assert_int_equal(r[0].cycles, 1700);
	assert_int_equal(r[0].compensated, 1600);
	assert_int_equal(r[0].wall_ns, 2000 - 101);
	assert_int_equal(r[0].intervals_len, 1);
	assert_int_equal(r[0].intervals[0].first_ns, 101);
	assert_int_equal(r[0].intervals[0].last_ns, 2000);
	assert_int_equal(rows.threads[r[0].thread].index, 1);
	assert_true(r[1].kind == LC_SPAN_TASK && r[1].submit_kind == LC_SUBMIT_ASYNC);
	assert_true(text_is(r[1].type, "T1") && place_is(r[1].place, 2));
	assert_true(place_is(r[1].submitted, 4));
	assert_int_equal(r[1].cycles, 3000);
	assert_int_equal(r[1].compensated, 2900);
	assert_int_equal(rows.threads[r[1].thread].index, 2); /* where it has used most */
	assert_true(text_is(r[2].type, "T2"));
	assert_int_equal(r[2].cycles, 0);
}

static void spans_that_have_not_ended_are_rows_of_their_own(void **state)
{
	struct lc_block_input in = { .index = 1, .name = "w", .t_end_ns = 1000 };

	end_ns = 2000;
	for (int order = 0; order < 2; order++) {
		tree_begin();
		for (int i = 0; i < 2; i++) {
			in.running = i == order ? running_first : running_later;
			in.running_len = i == order ? 5 : 2;
			encode_and_read(&in);
		}
		in.index = 2;
		in.running = running_elsewhere;
		in.running_len = 2;
		encode_and_read(&in);
		in.index = 1;
		lc_span_rows_build(&rows, &load);
		assert_true(lc_span_rows_any(&rows));
		check_running();
		merge_and_read(order);
		check_running();
		tree_end();
	}
	end_ns = 0;
}

/* One span with two inside; of the first line twice, in two blocks. */
static const struct lc_block_span with_inside[] = {
	{ .kind = LC_SPAN_ANONYMOUS, .path = 3, .compensated = -5, .nested = { 2 } },
	{ .kind = LC_SPAN_ANONYMOUS, .path = 2, .compensated = 7 },
	{ .kind = LC_SPAN_TASK,
	  .site = 1,
	  .submit_path = 4,
	  .compensated = 11,
	  .nested = { 0, 1 } },
};
static const struct lc_block_nested inside_them[] = {
	{ LC_SPAN_ANONYMOUS, 0, 0, 0, 0, 3, 100 },
	{ LC_SPAN_TASK, 0, 0, 1, 4, 0, UINT64_MAX },
};
static const struct lc_block_running_nested inside_running[] = { { 5, 30 } };

static void check_totals(bool told)
{
	assert_int_equal(rows.rows_len, 8);
	for (size_t i = 0; i < rows.rows_len; i++) {
		const struct lc_span_row *r = &rows.rows[i];
		const bool first = r->kind == LC_SPAN_ANONYMOUS && place_is(r->place, 3);

		assert_int_equal(r->total_unknown,
		                 !told && (r->nested[0] | r->nested[1] || r->running));
		if (!told)
			assert_int_equal(r->total, r->compensated);
		else if (r->running)
			assert_int_equal(r->total, r->compensated + (first ? 30 : 0));
		else if (r->kind == LC_SPAN_TASK)
			assert_int_equal(r->total, INT64_MAX); /* damaged */
		else
			assert_int_equal(r->total, first ? -10 + 200 : 14);
	}
}

static void totals_are_with_the_cycles_inside(void **state)
{
	struct lc_block_input in = { .index = 1,
		                     .spans = with_inside,
		                     .spans_len = 3,
		                     .nested = inside_them,
		                     .nested_len = 2,
		                     .running = running_first,
		                     .running_len = 5,
		                     .running_nested = inside_running,
		                     .running_nested_len = 1 };
	json_t *spans = json_pack("{s:b}", "nested", 1);

	tree_begin();
	for (unsigned i = 0; i < 2; i++)
		encode_and_read(&in);
	lc_span_rows_build(&rows, &load);
	check_totals(false);
	for (unsigned i = 0; i < 3; i++) {
		lc_span_rows_free(&rows);
		process.spans = spans;
		lc_span_rows_build(&rows, &load);
		check_totals(true);
		merge_and_read(i);
	}
	tree_end();
	json_decref(spans);
}

static void traces_of_several_blocks_keep_their_times(void **state)
{
	enum { COUNT = 700000 };
	struct lc_block_trace *many = calloc(COUNT, sizeof(*many));
	struct lc_block_input in = { .name = "t", .trace = many, .trace_len = COUNT };

	for (uint64_t i = 0; i < COUNT; i++) {
		many[i].id = i + 1;
		many[i].start_ns = UINT64_C(1000000000000) + 1000 * i;
		many[i].cycles = UINT64_MAX - i;
	}
	tree_begin();
	encode_and_read(&in);
	for (unsigned pass = 0; pass < 2; pass++) {
		lc_span_rows_free(&rows);
		lc_span_rows_build(&rows, &load);
		assert_int_equal(rows.traces_len, COUNT);
		for (uint64_t i = 0; i < COUNT; i++)
			if (rows.traces[i].id != i + 1 ||
			    rows.traces[i].start_ns != many[i].start_ns)
				fail();
		if (!pass)
			merge_and_read(false);
	}
	tree_end();
	free(many);
}

static void rows_out_of_range_are_not_written(void **state)
{
	struct lc_block_encoder *e = lc_block_encoder_create();
	struct lc_block_span span = { 0 };
	struct lc_block_task_made task = { .submit_kind = LC_SUBMIT_KINDS };
	struct lc_block_span_access access = { .bucket = LC_BUCKET_COUNT };
	struct lc_block_pause pause = { UINT64_MAX, 1 };
	struct lc_block_trace t = { .flags = LC_TRACE_FLAGS_END };
	struct lc_block_input in = { .spans = &span, .spans_len = 1 };

	assert_int_equal(lc_block_encode(e, &in, 0, 0), 1);
	span.kind = LC_SPAN_KINDS;
	assert_int_equal(lc_block_encode(e, &in, 0, 0), -EINVAL);
	span = (struct lc_block_span){ .submit_kind = LC_SUBMIT_KINDS };
	assert_int_equal(lc_block_encode(e, &in, 0, 0), -EINVAL);
#define REFUSED(member, row)                                                                       \
	in = (struct lc_block_input){ .member = &(row), .member##_len = 1 };                       \
	assert_int_equal(lc_block_encode(e, &in, 0, 0), -EINVAL)
	REFUSED(tasks_made, task);
	REFUSED(span_accesses, access);
	REFUSED(pauses, pause);
	REFUSED(trace, t);
#undef REFUSED
	lc_block_encoder_free(e);
}

static void without_spans_there_are_no_rows(void **state)
{
	static const struct lc_block_bucket bucket = { 0, LC_BUCKET_LOST, 1 };
	struct lc_block_input in = { .name = "t", .buckets = &bucket, .buckets_len = 1 };

	tree_begin();
	encode_and_read(&in);
	lc_span_rows_build(&rows, &load);
	assert_false(lc_span_rows_any(&rows));
	assert_int_equal(rows.rows_len + rows.made_len + rows.accesses_len + rows.slices_len +
	                     rows.pauses_len + rows.traces_len,
	                 0);
	assert_int_equal(rows.threads_len, 1);
	tree_end();
}

static void the_manifest_tells_of_clock_and_calibration(void **state)
{
	static const struct lc_manifest_cost costs[] = { { "inner", 37.1254, 0.0123456 },
		                                         { "task", NAN, -0.5 } };
	const struct lc_manifest_spans spans = { .streams = true,
		                                 .tasks_error = "no \"task\" hooks",
		                                 .clock = "tsc_switches",
		                                 .clock_hz = 2500000000,
		                                 .calibration = "measured",
		                                 .costs = costs,
		                                 .costs_len = 2 };
	const struct lc_manifest m = { .spans = &spans };
	char directory[64] = "/tmp/test_span_rows.XXXXXX", name[96];
	struct lc_bytes text = { 0 };
	const struct lc_span_info *info;
	FILE *out;

	assert_non_null(mkdtemp(directory));
	snprintf(name, sizeof(name), "%s/" LC_MANIFEST_NAME, directory);
	lc_manifest_encode(&text, &m, 0);
	out = fopen(name, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(text.data, 1, text.len, out), text.len);
	fclose(out);
	free(text.data);
	lc_tree_init(&tree);
	lc_load_init(&load);
	load.tree = &tree;
	assert_int_equal(lc_load_profile(&load, directory), 0);
	assert_false(load.bad_manifest);
	lc_span_rows_build(&rows, &load);
	info = &rows.infos[0];
	assert_true(lc_span_rows_any(&rows) && info->recorded && info->streams && !info->tasks);
	assert_null(info->streams_error);
	assert_string_equal(info->tasks_error, "no \"task\" hooks");
	assert_string_equal(info->clock, "tsc_switches");
	assert_null(info->clock_reason);
	assert_int_equal(info->clock_hz, 2500000000);
	assert_string_equal(info->calibration, "measured");
	assert_null(info->calibration_warning);
	assert_int_equal(info->costs_len, 2);
	assert_string_equal(info->costs[0].name, "inner");
	assert_true(fabs(info->costs[0].mean_cycles - 37.125) < 1e-9);
	assert_true(fabs(info->costs[0].variation - 0.012346) < 1e-9);
	assert_true(info->costs[1].mean_cycles == 0 && info->costs[1].variation == -0.5);
	tree_end();
	lc_load_free(&load);
	unlink(name);
	rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_rows_come_back_added_up),
		cmocka_unit_test(tasks_timelines_pauses_and_traces_come_back),
		cmocka_unit_test(a_pause_of_two_threads_is_one),
		cmocka_unit_test(spans_that_have_not_ended_are_rows_of_their_own),
		cmocka_unit_test(totals_are_with_the_cycles_inside),
		cmocka_unit_test(traces_of_several_blocks_keep_their_times),
		cmocka_unit_test(rows_out_of_range_are_not_written),
		cmocka_unit_test(without_spans_there_are_no_rows),
		cmocka_unit_test(the_manifest_tells_of_clock_and_calibration),
	};

	return cmocka_run_group_tests(tests, make_names, NULL);
}
