/* uses: tests/unit/findings_model.c analyzer/objects/analysis/findings.c analyzer/objects/analysis/findings_grows.c analyzer/objects/analysis/findings_contents.c analyzer/objects/analysis/contents.c analyzer/objects/analysis/findings_other.c analyzer/objects/analysis/findings_offheap.c analyzer/objects/analysis/offheap.c analyzer/objects/analysis/findings_rows.c analyzer/objects/analysis/advice.c analyzer/objects/analysis/advice_calls.c analyzer/objects/analysis/advice_users.c analyzer/objects/analysis/advice_block.c analyzer/objects/analysis/own_code.c analyzer/objects/analysis/reaches.c analyzer/objects/analysis/findings_rules.c analyzer/objects/analysis/saving.c analyzer/objects/analysis/row_set.c analyzer/objects/analysis/cpu_breakdown.c analyzer/objects/analysis/gc_model.c analyzer/objects/analysis/headers.c analyzer/objects/analysis/object_names.c analyzer/objects/analysis/deal.c analyzer/objects/analysis/ranking.c analyzer/objects/analysis/known_lines.c analyzer/objects/analysis/roll_up.c analyzer/objects/analysis/sharing.c analyzer/objects/analysis/touch.c analyzer/objects/analysis/view.c analyzer/objects/analysis/view_rows.c analyzer/numa/numa.c analyzer/numa/numa_diagnose.c analyzer/numa/numa_machine.c analyzer/numa/numa_prose.c analyzer/spans/spans_math.c analyzer/spans/spans_diagnose.c analyzer/out/json.c analyzer/out/screen.c analyzer/out/emit.c analyzer/model/load.c analyzer/model/load_groups.c analyzer/model/load_process.c analyzer/model/redacted.c analyzer/model/load_range.c analyzer/model/periods.c analyzer/model/manifest_file.c analyzer/model/blockfile.c analyzer/base/file.c analyzer/model/frame_filter.c analyzer/model/block_decoder.c analyzer/model/block_decoder_definitions.c analyzer/model/block_decoder_rows.c analyzer/model/slices.c analyzer/model/block_decoder_spans.c analyzer/model/tree_spans.c analyzer/model/group_filter.c analyzer/model/where.c analyzer/model/groups.c analyzer/model/facts.c analyzer/model/program_name.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/arena.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/plain.c analyzer/base/progress.c src/base/options.c src/base/nearest.c src/format/section.c src/base/redact.c analyzer/objects/analysis/findings_paths.c analyzer/objects/analysis/findings_calls.c analyzer/objects/analysis/findings_again.c -lm -lzstd -ljansson */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_findings_offheap.c - checks the findings of blocks outside the heap, and that no rule for
 * objects says of a block what only holds for objects.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/format/kinds.h"
#include "src/format/rows.h"
#include "tests/unit/findings_model.h"

#define DIRECT "java.nio.DirectByteBuffer" LC_OFFHEAP_SUFFIX
#define SEGMENT "java.lang.foreign.MemorySegment" LC_OFFHEAP_SUFFIX
#define MAPPED LC_OFFHEAP_MAPPED "a.dat" LC_OFFHEAP_SUFFIX
#define ALLOCATE "java.nio.ByteBuffer.allocateDirect"
#define FREE "java.nio.DirectByteBuffer$Deallocator.run"

/* ---- a profile ---- */

/* A path that ends in "Class.method", at a bytecode and a line, both + 1; 0 is unknown. */
static uint32_t below_at(uint32_t parent, const char *name, uint32_t bci1, uint32_t line1)
{
	const char *dot = strrchr(name, '.');
	const uint32_t method[LC_METHOD_KEY] = {
		lc_tree_string(&model.tree, name, (size_t)(dot - name)), findings_text(dot + 1),
		findings_text("()V"), findings_text("A.java")
	};
	const uint32_t frame[LC_FRAME_KEY] = { lc_table_put(&model.tree.methods, method), bci1,
		                               line1 };
	const uint32_t path[LC_PATH_KEY] = { parent, lc_table_put(&model.tree.frames, frame) };

	return lc_table_put(&model.tree.paths, path);
}

static uint32_t below(uint32_t parent, const char *name, uint32_t number)
{
	return below_at(parent, name, number, number + 1);
}

/* Blocks of a class that a path allocates. */
static uint32_t blocks(const char *class, uint32_t path, uint64_t count, uint64_t freed,
                       uint64_t bytes_each)
{
	const uint32_t key[LC_SITE_KEY] = { findings_text(class), path };
	const uint32_t site = lc_table_put(&model.tree.sites, key);
	const uint32_t row[] = { [LC_OFFHEAP_SITE] = site };
	uint64_t *values =
	    lc_table_values(&model.tree.offheap, lc_table_put(&model.tree.offheap, row));

	values[LC_OFFHEAP_ALLOCATED] += count;
	values[LC_OFFHEAP_ALLOCATED_BYTES] += count * bytes_each;
	values[LC_OFFHEAP_FREED] += freed;
	values[LC_OFFHEAP_FREED_BYTES] += freed * bytes_each;
	return site;
}

/* Samples at elements here and there in the blocks of the site. */
static void use(uint32_t site, uint32_t path, uint32_t touch, uint64_t samples)
{
	static const uint32_t starts[] = { 0, 4096, 8192, 12288 };

	findings_sample(LC_BUCKET_OBJECT, site, path, samples);
	for (size_t i = 0; i < 4; i++) {
		uint32_t key[LC_FIELD_KEY] = { [LC_FIELD_BUCKET] = LC_BUCKET_OBJECT,
			                       [LC_FIELD_SITE] = site,
			                       [LC_FIELD_PATH] = path,
			                       [LC_FIELD_TOUCH] = touch,
			                       [LC_FIELD_NAME] = findings_text("") };

		lc_tree_wide_put(key + LC_FIELD_FIRST, starts[i]);
		lc_tree_wide_put(key + LC_FIELD_LAST, starts[i] + 4095);
		lc_table_values(&model.tree.fields,
		                lc_table_put(&model.tree.fields, key))[LC_FIELD_SAMPLES] +=
		    samples / 4;
	}
}

static void counter(const char *name, uint64_t value)
{
	json_object_set_new(model.process.counters, name, json_integer((json_int_t)value));
}

static void says(const struct lc_finding *f, const char *words)
{
	if (!strstr(f->text, words))
		fail_msg("\"%s\" is not in: %s", words, f->text);
}

static void advises(const struct lc_finding *f, const char *words)
{
	if (!f->change || !strstr(f->change, words))
		fail_msg("\"%s\" is not in: %s", words, f->change ? f->change : "nothing");
}

/* ---- accesses ---- */

static uint32_t large(const char *class)
{
	return blocks(class, below(0, "A.make", 1), 1, 0, 64 << 20);
}

static void a_block_is_hot_as_an_object_is(void **state)
{
	const struct lc_finding *f;

	use(large(MAPPED), below(0, "A.read", 2), LC_TOUCH_LOAD, 400);
	findings_calculate(600);
	f = findings_only(LC_FINDING_HOT);
	says(f, "40.0% of the samples");
	says(f, "A.make:1");
	says(f, "A.read:2");
	advises(f, "in the order of their places in the file");
}

/* A collector neither clears nor copies blocks, whatever it costs. */
static void the_collector_is_no_part_of_a_gain(void **state)
{
	const uint32_t array[LC_SITE_KEY] = { findings_text("byte[]"), below(0, "A.make", 1) };
	const struct lc_finding *f;

	lc_table_values(&model.tree.sites, lc_table_put(&model.tree.sites, array))[LC_SITE_BYTES] =
	    1 << 30;
	counter("cpu_process_ns", 5000000000);
	counter("cpu_gc_ns", 2000000000);
	counter("gc_collected", 50);
	use(large(DIRECT), below(0, "A.read", 2), LC_TOUCH_LOAD, 400);
	findings_sample(LC_BUCKET_JVM, 0, below(0, "A.make", 1), 200);
	findings_calculate(400);
	f = findings_only(LC_FINDING_HOT);
	assert_true(f->saves.all.share == f->saves.accesses.share);
	assert_null(strstr(f->text, "collects"));
}

/* The kernel writes it to a file or a socket: that is no load of the program's. */
static void a_block_that_is_only_written_may_be_read_by_the_kernel(void **state)
{
	const struct lc_finding *f;

	use(large(DIRECT), below(0, "A.fill", 2), LC_TOUCH_STORE, 400);
	findings_calculate(600);
	f = findings_only(LC_FINDING_HOT);
	assert_null(strstr(f->text, "read in none"));
	assert_null(f->change);
}

static void steps_over_cache_lines_are_told_of_a_block_or_a_file(void **state)
{
	const uint32_t direct = large(DIRECT);
	uint32_t mapped;

	use(direct, below(0, "A.read", 2), LC_TOUCH_LOAD, 400);
	findings_step(direct, 4096, 400);
	findings_calculate(600);
	advises(findings_only(LC_FINDING_STRIDE), "runs along the block");
	mapped = blocks(MAPPED, below(0, "A.map", 3), 1, 0, 64 << 20);
	use(mapped, below(0, "A.read", 4), LC_TOUCH_LOAD, 600);
	findings_step(mapped, 8192, 600);
	findings_find();
	assert_int_equal(model.found.len, 2);
	advises(model.found.list, "read the file in the order of its addresses");
}

static void a_block_that_is_cleared_where_it_is_made_is_kept(void **state)
{
	const struct lc_finding *f;
	const uint32_t segment = large(SEGMENT);

	use(segment, below(0, "A.make", 1), LC_TOUCH_STORE, 400);
	findings_calculate(600);
	f = findings_only(LC_FINDING_HOT);
	advises(f, "prefixAllocator");
	assert_null(strstr(f->change, "allocate fewer"));
}

static void blocks_that_fit_the_first_cache_are_no_finding(void **state)
{
	const uint32_t at = blocks(DIRECT, below(0, "A.make", 1), 4, 0, 8192);

	use(at, below(0, "A.read", 2), LC_TOUCH_LOAD, 400);
	findings_calculate(600);
	findings_none();
	(void)blocks(DIRECT, below(0, "A.make", 1), 1, 0, 8192);
	findings_only(LC_FINDING_HOT);
}

static void a_block_beside_calculations_is_no_finding(void **state)
{
	const uint32_t at = large(DIRECT);

	use(at, below(0, "A.read", 2), LC_TOUCH_LOAD, 700);
	findings_flags(LC_BUCKET_OBJECT, at, LC_WAIT_ELSEWHERE, 600);
	findings_calculate(300);
	findings_none();
}

/* No annotation lays a block out. */
static void false_sharing_in_a_block_is_mended_without_an_annotation(void **state)
{
	const uint32_t at = large(DIRECT);
	const struct lc_finding *f;

	findings_share(LC_BUCKET_OBJECT, 1, at, 0, LC_TOUCH_STORE, 200);
	findings_share(LC_BUCKET_OBJECT, 2, at, 32, LC_TOUCH_STORE, 200);
	use(at, below(0, "A.count", 2), LC_TOUCH_STORE, 400);
	findings_calculate(600);
	f = findings_only(LC_FINDING_FALSE_SHARING);
	advises(f, "a block of its own");
	assert_null(strstr(f->change, "@Contended"));
}

/* ---- blocks that are made and freed again and again ---- */

/* Samples below a line that makes blocks, and where they are freed. */
static uint32_t made_again(uint64_t count, uint64_t freed, uint64_t making, uint64_t freeing)
{
	const uint32_t line = below(0, "A.send", 1);
	const uint32_t at = blocks(DIRECT, line, count, freed, 65536);

	findings_sample(LC_BUCKET_JVM, 0,
	                below(below(line, ALLOCATE, 9), "java.nio.Bits.reserveMemory", 8), making);
	findings_sample(LC_BUCKET_NATIVE, 0,
	                below(below(0, FREE, 7), "jdk.internal.misc.Unsafe.freeMemory", 6),
	                freeing);
	return at;
}

static void blocks_that_are_made_and_freed_all_the_time_are_a_finding(void **state)
{
	const struct lc_finding *f;

	model.process.start_monotonic_ns = 1;
	model.process.end_monotonic_ns = 10000000001;
	made_again(200000, 199990, 150, 50);
	findings_calculate(800);
	f = findings_only(LC_FINDING_SHORT_BLOCKS);
	assert_true(fabs(f->share - 0.2) < 1e-9 && f->low < 0.2 && f->high > 0.2);
	says(f, "A.send:1");
	says(f, "200000 blocks were allocated (20000 each second), 12.2 GB in all (64.0 KB each)");
	says(f, "15.0% at that line");
	says(f, "Without these: up to 1.25x");
	advises(f, "keep one direct buffer");
	model.range.since = "1m"; /* the counts are of that part, the time is not */
	f = findings_only(LC_FINDING_SHORT_BLOCKS);
	says(f, "200000 blocks were allocated, 12.2 GB in all");
}

/* A pool makes its blocks once, or they are cheap, or others free theirs. */
static void blocks_that_are_kept_or_cheap_are_none(void **state)
{
	made_again(LC_FINDING_BLOCKS_MIN - 1, LC_FINDING_BLOCKS_MIN - 1, 150, 50);
	findings_calculate(800);
	findings_none();
}

static void blocks_that_stay_are_not_short_lived(void **state)
{
	made_again(200000, 1000, 150, 50);
	findings_calculate(800);
	findings_none();
}

static void blocks_that_cost_nothing_are_no_finding(void **state)
{
	made_again(200000, 200000, 20, 5);
	findings_calculate(975); /* 2.5%, and 1.7% by the lower end */
	findings_none();
}

/* Freeing counts by bytes: nearly all of it is for the other line's blocks. */
static void freeing_is_divided_by_bytes(void **state)
{
	made_again(1000, 1000, 10, 200);
	(void)blocks(DIRECT, below(0, "B.other", 5), 1000, 1000, 64 << 20);
	findings_calculate(790);
	findings_find();
	for (size_t i = 0; i < model.found.len; i++)
		says(&model.found.list[i], "B.other:5");
	assert_int_equal(model.found.len, 1);
}

/* Netty calls Arena.allocate() by a method handle. */
static void a_call_by_a_method_handle_makes_blocks_too(void **state)
{
	const uint32_t line = below(0, "A.send", 1);
	const uint32_t handle =
	    below(below(line, "java.lang.invoke.LambdaForm$DMH.invokeInterface", 1),
	          "java.lang.invoke.LambdaForm$MH.invoke", 1);

	(void)blocks(SEGMENT, line, 1000, 1000, 65536);
	findings_sample(LC_BUCKET_JVM, 0,
	                below(handle, "jdk.internal.foreign.ArenaImpl.allocate", 9), 200);
	findings_calculate(800);
	says(findings_only(LC_FINDING_SHORT_BLOCKS), "20.0% at that line");
}

/* Without a line table, a method's calls are rows of their own. */
static void calls_of_a_method_without_lines_are_told_apart(void **state)
{
	const uint32_t sent = below_at(0, "A.send", 1, 0), kept = below_at(0, "A.send", 51, 0);

	(void)blocks(DIRECT, sent, 1000, 1000, 65536);
	(void)blocks(DIRECT, kept, 1000, 0, 65536);
	findings_sample(LC_BUCKET_JVM, 0, below(sent, ALLOCATE, 9), 200);
	findings_sample(LC_BUCKET_JVM, 0, below(kept, ALLOCATE, 9), 300);
	findings_calculate(500);
	says(findings_only(LC_FINDING_SHORT_BLOCKS), "20.0% at that line");
}

/* Clearing at the line that makes blocks is a part of making, not a second finding. */
static void clearing_is_a_part_of_making(void **state)
{
	const uint32_t at = made_again(200000, 200000, 100, 0);

	use(at, below(below(below(0, "A.send", 1), ALLOCATE, 9), "java.nio.Bits.setMemory", 8),
	    LC_TOUCH_STORE, 100);
	findings_calculate(800);
	assert_true(fabs(findings_only(LC_FINDING_SHORT_BLOCKS)->share - 0.2) < 1e-9);
}

/* ---- heap buffers that I/O copies ---- */

static uint32_t write_of(const char *method)
{
	return below(below(0, method, 30), "sun.nio.ch.IOUtil.write", 5);
}

static void temporary(uint64_t live, uint64_t bytes_each)
{
	(void)blocks(DIRECT,
	             below(write_of("a.Main.send"), "sun.nio.ch.Util.getTemporaryDirectBuffer", 4),
	             live, 0, bytes_each);
}

static void copied(uint32_t io, uint64_t samples)
{
	findings_sample(LC_BUCKET_JVM, 0,
	                below(below(io, "java.nio.ByteBuffer.put", 9),
	                      "jdk.internal.misc.Unsafe.copyMemory", 8),
	                samples);
}

static void heap_buffers_that_io_copies_are_a_finding(void **state)
{
	const struct lc_finding *f;

	temporary(4, 1 << 20);
	copied(write_of("a.Main.send"), 90);
	copied(write_of("a.Main.log"), 10);
	findings_calculate(900);
	f = findings_only(LC_FINDING_COPIED_BUFFERS);
	assert_true(fabs(f->share - 0.1) < 1e-9);
	says(f, "90% of them at a.Main.send:30");
	says(f, "4 of 4 blocks are live, 4.0 MB");
	says(f, "Copies alone: up to 1.11x");
	advises(f, "pass a direct buffer");
	assert_null(strstr(f->change, "maxCachedBufferSize"));
}

static void large_temporary_buffers_that_stay_are_a_finding_without_a_gain(void **state)
{
	const struct lc_finding *f;

	temporary(8, 16 << 20);
	copied(write_of("a.Main.send"), 5);
	findings_calculate(995);
	f = findings_only(LC_FINDING_COPIED_BUFFERS);
	says(f, "8 of 8 blocks are live, 128.0 MB");
	assert_null(strstr(f->text, "up to"));
	advises(f, "maxCachedBufferSize");
}

/* The program's own copies, and I/O of direct buffers. */
static void copies_of_the_program_are_no_finding(void **state)
{
	temporary(4, 1 << 20);
	findings_sample(LC_BUCKET_JVM, 0,
	                below(below(0, "a.Main.fill", 3), "java.nio.ByteBuffer.put", 9), 100);
	findings_sample(LC_BUCKET_NATIVE, 0,
	                below(write_of("a.Main.send"), "sun.nio.ch.FileDispatcherImpl.write0", 2),
	                100);
	findings_calculate(800);
	findings_none();
}

static void streams_of_sockets_have_no_buffer_to_pass(void **state)
{
	copied(below(below(0, "a.Main.send", 30), "sun.nio.ch.NioSocketImpl.tryWrite", 5), 100);
	findings_calculate(900);
	advises(findings_only(LC_FINDING_COPIED_BUFFERS), "use a SocketChannel");
}

/* ---- mapped files that accesses read in ---- */

static void page_faults_of_a_mapped_file_are_no_time(void **state)
{
	const struct lc_finding *f;

	model.load.engines[0].name = (char *)"fault";
	model.load.engines[0].unit = (char *)"page faults";
	counter("major_faults", 123);
	use(large(MAPPED), below(0, "A.read", 2), LC_TOUCH_LOAD, 400);
	findings_calculate(600);
	f = findings_only(LC_FINDING_READ_IN);
	says(f, "40.0% of the page faults");
	says(f, "A.read:2");
	says(f, "123 faults of the process waited for a disk");
	assert_null(strstr(f->text, "up to"));
	advises(f, "MappedByteBuffer.load()");
}

static void a_file_that_the_program_reads_in_is_no_finding(void **state)
{
	const uint32_t main = below(0, "A.read", 2);

	model.load.engines[0].name = (char *)"fault";
	use(large(MAPPED), below(main, "java.nio.MappedByteBuffer.load", 5), LC_TOUCH_LOAD, 400);
	findings_calculate(600);
	findings_find();
	for (size_t i = 0; i < model.found.len; i++)
		assert_int_not_equal(model.found.list[i].kind, LC_FINDING_READ_IN);
}

static void many_files_with_few_page_faults_are_one_finding(void **state)
{
	const struct lc_finding *f;

	model.load.engines[0].name = (char *)"fault";
	for (uint32_t i = 0; i < 100; i++) {
		char class[64];

		snprintf(class, sizeof(class), LC_OFFHEAP_MAPPED "%u.dat" LC_OFFHEAP_SUFFIX, i);
		use(large(class), below(0, "A.read", 2), LC_TOUCH_LOAD, 4);
	}
	findings_calculate(600);
	f = findings_only(LC_FINDING_READ_IN);
	says(f, "100 mapped files, such as mapped ");
	says(f, "40.0% of the page faults");
	says(f, "map their pages.");
}

static void page_faults_of_a_direct_buffer_read_no_file(void **state)
{
	model.load.engines[0].name = (char *)"fault";
	use(large(DIRECT), below(0, "A.read", 2), LC_TOUCH_LOAD, 400);
	findings_calculate(600);
	findings_find();
	for (size_t i = 0; i < model.found.len; i++)
		assert_int_not_equal(model.found.list[i].kind, LC_FINDING_READ_IN);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, findings_begin, findings_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_block_is_hot_as_an_object_is),
		TEST(the_collector_is_no_part_of_a_gain),
		TEST(a_block_that_is_only_written_may_be_read_by_the_kernel),
		TEST(steps_over_cache_lines_are_told_of_a_block_or_a_file),
		TEST(a_block_that_is_cleared_where_it_is_made_is_kept),
		TEST(blocks_that_fit_the_first_cache_are_no_finding),
		TEST(a_block_beside_calculations_is_no_finding),
		TEST(false_sharing_in_a_block_is_mended_without_an_annotation),
		TEST(blocks_that_are_made_and_freed_all_the_time_are_a_finding),
		TEST(blocks_that_are_kept_or_cheap_are_none),
		TEST(blocks_that_stay_are_not_short_lived),
		TEST(blocks_that_cost_nothing_are_no_finding),
		TEST(freeing_is_divided_by_bytes),
		TEST(clearing_is_a_part_of_making),
		TEST(a_call_by_a_method_handle_makes_blocks_too),
		TEST(calls_of_a_method_without_lines_are_told_apart),
		TEST(heap_buffers_that_io_copies_are_a_finding),
		TEST(large_temporary_buffers_that_stay_are_a_finding_without_a_gain),
		TEST(copies_of_the_program_are_no_finding),
		TEST(streams_of_sockets_have_no_buffer_to_pass),
		TEST(page_faults_of_a_mapped_file_are_no_time),
		TEST(a_file_that_the_program_reads_in_is_no_finding),
		TEST(many_files_with_few_page_faults_are_one_finding),
		TEST(page_faults_of_a_direct_buffer_read_no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
