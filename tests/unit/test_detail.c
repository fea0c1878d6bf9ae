/* uses: src/attribute/detail.c src/jvm/layout/field_layout.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_detail.c - checks the decoding of data sources bit by bit, and the rows that a sample makes.
 * The file is longer than 600 lines: the tests share the neighbours that keep rows.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/attribute/cache_lines.h"
#include "src/attribute/detail.h"
#include "src/attribute/lines.h"
#include "src/attribute/reach.h"
#include "src/core/record.h"
#include "src/core/thread.h"
#include "src/format/kinds.h"
#include "src/jvm/layout/field.h"
#include "src/jvm/layout/field_layout.h"
#include "src/jvm/layout/klass.h"
#include "src/profile/tally.h"

/* The neighbours, that keep what they are given. */

static struct {
	struct lc_block_field field;
	struct lc_block_metric metric;
	struct lc_block_line line;
	uint64_t line_addr;
	struct lc_block_step step;
	struct lc_block_wait wait;
	struct lc_block_reach reach;
	struct lc_reach_ask ask;
	struct lc_block_layout layout[3];
	struct lc_block_cache_line cached; /* the address instead of the line */
	unsigned fields, metrics, lines, steps, waits, layouts, drawn, reaches;
	bool learnt, incomplete;
	bool headers;        /* an object has a header of 16 bytes, behind which are fields */
	uint64_t size_bytes; /* of the object; 0: 160 */
	bool any_size;       /* its size is not checked */
	bool unknown;
	bool named; /* it is a field of an object, and no element */
} got;

struct lc_tally *lc_tally_create(void)
{
	return (struct lc_tally *)&got;
}

int lc_tally_field(struct lc_tally *t, const struct lc_block_field *row)
{
	assert_ptr_equal(t, &got);
	got.field = *row;
	got.fields++;
	return 0;
}

int lc_tally_step(struct lc_tally *t, const struct lc_block_step *row)
{
	assert_ptr_equal(t, &got);
	got.step = *row;
	got.steps++;
	return 0;
}

int lc_tally_wait(struct lc_tally *t, const struct lc_block_wait *row)
{
	assert_ptr_equal(t, &got);
	got.wait = *row;
	got.waits++;
	return 0;
}

int lc_tally_reach(struct lc_tally *t, const struct lc_block_reach *row)
{
	assert_ptr_equal(t, &got);
	got.reach = *row;
	got.reaches++;
	return 0;
}

struct lc_reach lc_reach_of(JNIEnv *jni, const struct lc_reach_ask *ask)
{
	got.ask = *ask;
	return (struct lc_reach){ "a.B.c[]", LC_REFERENCE_STATIC, LC_WHY_VIRTUAL };
}

const char *lc_klass_signature(uint64_t klass)
{
	return klass == 0x7000 ? "[J" : NULL;
}

int lc_tally_metric(struct lc_tally *t, const struct lc_block_metric *row)
{
	assert_ptr_equal(t, &got);
	got.metric = *row;
	got.metrics++;
	return 0;
}

void lc_cache_lines_draw(struct lc_thread *t, uint16_t engine, uint32_t path, uint64_t addr)
{
	assert_non_null(t);
	got.cached = (struct lc_block_cache_line){ engine, path, addr, 1 };
	got.drawn++;
}

void lc_lines_touch(struct lc_thread *t, uint64_t addr, const struct lc_block_line *row)
{
	assert_non_null(t);
	got.line = *row;
	got.line_addr = addr;
	got.lines++;
}

int lc_field_find(JNIEnv *jni, uint64_t klass, uint64_t size_bytes, uint64_t offset,
                  struct lc_field *out)
{
	assert_int_equal(klass, 0x7000);
	assert_int_equal(size_bytes, got.any_size     ? size_bytes
	                             : got.size_bytes ? got.size_bytes
	                                              : 160);
	if (got.unknown)
		return -ENOENT;
	if (got.headers && offset < 16) {
		*out =
		    (struct lc_field){ .name = lc_field_part_name(offset < 8    ? LC_PART_MARK
			                                          : offset < 12 ? LC_PART_CLASS
			                                                        : LC_PART_LENGTH) };
		return 0;
	}
	if (got.headers && got.size_bytes == 24) {
		*out = (struct lc_field){ .name = "f" };
		return 0;
	}
	*out = (struct lc_field){
		.name = got.named ? "f" : "", .first = offset, .last = offset + 1, .element = offset
	};
	return 0;
}

const struct lc_field_table *lc_field_learnt(uint64_t klass)
{
	static struct lc_field_entry entries[] = { { 12, 4, "a" }, { 16, 8, "b" } };
	static struct lc_field_table table = { .entries = entries, .len = 2, .instance_bytes = 24 };

	table.incomplete = got.incomplete;
	assert_int_equal(klass, 0x7000);
	return got.learnt ? &table : NULL;
}

int lc_tally_layout(struct lc_tally *t, const struct lc_block_layout *row)
{
	assert_ptr_equal(t, &got);
	assert_true(got.layouts < 3);
	got.layout[got.layouts++] = *row;
	return 0;
}

static int reset(void **state)
{
	memset(&got, 0, sizeof(got));
	return 0;
}

/* data_src */

#define OP(x) PERF_MEM_S(OP, x)
#define LVL(x) PERF_MEM_S(LVL, x)
#define NUM(x) PERF_MEM_S(LVLNUM, x)
#define SNOOP(x) PERF_MEM_S(SNOOP, x)
#define TLB(x) PERF_MEM_S(TLB, x)
#define LOCK(x) PERF_MEM_S(LOCK, x)
#define REMOTE ((uint64_t)PERF_MEM_REMOTE_REMOTE << PERF_MEM_REMOTE_SHIFT)
#define HOPS(x) ((uint64_t)(x) << 43)

static void check(uint64_t data_src, uint8_t source, uint8_t flags)
{
	const struct lc_data_src is = lc_detail_data_src(data_src);

	assert_int_equal(is.known, data_src != 0);
	if (is.source != source || is.flags != flags)
		fail_msg("%#llx: %s, flags %u; wanted %s, %u", (unsigned long long)data_src,
		         lc_data_source_name(is.source), is.flags, lc_data_source_name(source),
		         flags);
}

static void old_levels_are_decoded(void **state)
{
	check(OP(LOAD) | LVL(HIT) | LVL(L1), LC_SOURCE_L1, 0);
	check(OP(LOAD) | LVL(HIT) | LVL(LFB), LC_SOURCE_FILL_BUFFER, 0);
	check(OP(LOAD) | LVL(HIT) | LVL(L2), LC_SOURCE_L2, 0);
	check(OP(LOAD) | LVL(HIT) | LVL(L3), LC_SOURCE_L3, 0);
	check(OP(LOAD) | LVL(HIT) | LVL(LOC_RAM), LC_SOURCE_LOCAL_DRAM, 0);
	check(OP(LOAD) | LVL(HIT) | LVL(REM_RAM1), LC_SOURCE_REMOTE_DRAM, 0);
	check(OP(LOAD) | LVL(HIT) | LVL(REM_RAM2), LC_SOURCE_REMOTE_DRAM, 0);
	check(OP(LOAD) | LVL(HIT) | LVL(REM_CCE1), LC_SOURCE_REMOTE_CACHE, 0);
	check(OP(LOAD) | LVL(HIT) | LVL(REM_CCE2), LC_SOURCE_REMOTE_CACHE, 0);
	check(OP(LOAD) | LVL(HIT) | LVL(IO), LC_SOURCE_OTHER, 0);
	check(OP(LOAD) | LVL(HIT) | LVL(UNC), LC_SOURCE_OTHER, 0);
	check(OP(LOAD) | LVL(NA), LC_SOURCE_UNKNOWN, 0);
	/* A store that missed L1: not known where its line came from. */
	check(OP(STORE) | LVL(MISS) | LVL(L1), LC_SOURCE_UNKNOWN, LC_METRIC_STORE);
}

static void new_levels_are_decoded(void **state)
{
	check(OP(LOAD) | NUM(L1), LC_SOURCE_L1, 0);
	check(OP(LOAD) | NUM(LFB), LC_SOURCE_FILL_BUFFER, 0);
	check(OP(LOAD) | NUM(L2), LC_SOURCE_L2, 0);
	check(OP(LOAD) | NUM(L3), LC_SOURCE_L3, 0);
	check(OP(LOAD) | NUM(L4), LC_SOURCE_L3, 0);
	check(OP(LOAD) | NUM(RAM), LC_SOURCE_LOCAL_DRAM, 0);
	check(OP(LOAD) | NUM(RAM) | REMOTE, LC_SOURCE_REMOTE_DRAM, 0);
	check(OP(LOAD) | NUM(RAM) | REMOTE | HOPS(2), LC_SOURCE_REMOTE_DRAM, 0);
	check(OP(LOAD) | NUM(RAM) | REMOTE | HOPS(1), LC_SOURCE_LOCAL_DRAM, 0);
	check(OP(LOAD) | NUM(L3) | REMOTE, LC_SOURCE_REMOTE_CACHE, 0);
	check(OP(LOAD) | NUM(L2) | HOPS(1), LC_SOURCE_REMOTE_CACHE, 0);
	check(OP(LOAD) | NUM(ANY_CACHE) | REMOTE | HOPS(1), LC_SOURCE_REMOTE_CACHE, 0);
	check(OP(LOAD) | NUM(PMEM), LC_SOURCE_OTHER, 0);
	check(OP(LOAD) | PERF_MEM_S(LVLNUM, NA), LC_SOURCE_UNKNOWN, 0);
	/* Both: the new one where it says something, else the old one. */
	check(OP(LOAD) | LVL(HIT) | LVL(L3) | NUM(L3), LC_SOURCE_L3, 0);
	check(OP(LOAD) | LVL(HIT) | LVL(L2) | PERF_MEM_S(LVLNUM, NA), LC_SOURCE_L2, 0);
	check(OP(LOAD) | LVL(HIT) | LVL(L1) | NUM(ANY_CACHE), LC_SOURCE_L1, 0);
	check(0, LC_SOURCE_UNKNOWN, 0);
}

static void the_bits_are_where_the_kernel_puts_them(void **state)
{
	/* Load, L3 hit, HITM, not locked, TLB hit in L1 or L2: Skylake's 0x3 << ... by hand. */
	check(UINT64_C(2) | UINT64_C(0x42) << 5 | UINT64_C(0x10) << 19 | UINT64_C(1) << 24 |
	          UINT64_C(0x1a) << 26 | UINT64_C(3) << 33,
	      LC_SOURCE_L3, LC_METRIC_HITM);
	check(UINT64_C(2) | UINT64_C(0xd) << 33 | UINT64_C(1) << 37 | UINT64_C(3) << 43,
	      LC_SOURCE_REMOTE_DRAM, 0);
}

static void flags_are_decoded(void **state)
{
	check(OP(LOAD) | SNOOP(HITM) | NUM(L3), LC_SOURCE_L3, LC_METRIC_HITM);
	check(OP(LOAD) | SNOOP(HIT) | NUM(L3), LC_SOURCE_L3, 0);
	check(OP(LOAD) | LOCK(LOCKED) | NUM(L1), LC_SOURCE_L1, LC_METRIC_LOCKED);
	check(OP(STORE) | NUM(L1), LC_SOURCE_L1, LC_METRIC_STORE);
	check(OP(LOAD) | OP(STORE) | NUM(L1), LC_SOURCE_L1, LC_METRIC_STORE);
	check(OP(PFETCH) | NUM(L1), LC_SOURCE_L1, 0);
	/* The second level hit or missed: what a miss of the first one becomes. */
	check(TLB(HIT) | TLB(L1), LC_SOURCE_UNKNOWN, 0);
	check(TLB(HIT) | TLB(L1) | TLB(L2), LC_SOURCE_UNKNOWN, 0);
	check(TLB(MISS) | TLB(L1), LC_SOURCE_UNKNOWN, 0);
	check(TLB(MISS) | TLB(L2), LC_SOURCE_UNKNOWN, LC_METRIC_TLB_MISS);
	check(TLB(HIT) | TLB(WK), LC_SOURCE_UNKNOWN, LC_METRIC_TLB_MISS);
	check(TLB(NA), LC_SOURCE_UNKNOWN, 0);
}

static void every_bit_pattern_has_a_name(void **state)
{
	uint64_t x = 88172645463325252u;

	for (unsigned i = 0; i < 1000000; i++) {
		struct lc_data_src is;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		is = lc_detail_data_src(x);
		assert_in_range(is.source, 0, LC_SOURCE_COUNT - 1);
		assert_in_range(is.flags, 0, LC_METRIC_FLAGS_END - 1);
	}
}

/* Rows */

static struct lc_thread thread;

static struct lc_detail sample(void)
{
	return (struct lc_detail){
		.thread = &thread,
		.at.engine = 1,
		.at.bucket = LC_BUCKET_OBJECT,
		.how = LC_HOW_DIRECT,
		.access = LC_TOUCH_STORE | 3 << LC_ACCESS_WIDTH_SHIFT,
		.at.site = 7,
		.at.path = 9,
		.addr = 0x10048,
		.object = 0x10000,
		.size_bytes = 160,
		.klass = 0x7000,
		.at.samples = 3,
		.at.pairs = lc_block_pairs(3),
	};
}

/* A sample of an object that is too large to be told from the one before. */
static struct lc_detail large_sample(void)
{
	struct lc_detail d = sample();

	d.size_bytes = got.size_bytes = LC_WAIT_SAME_BYTES + 8;
	return d;
}

static void a_sample_makes_a_row_of_its_field_and_of_its_line(void **state)
{
	struct lc_detail d = sample();

	lc_detail_sample(NULL, &d);
	assert_int_equal(got.fields, 1);
	assert_int_equal(got.field.engine, 1);
	assert_int_equal(got.field.site, 7);
	assert_int_equal(got.field.path, 9);
	assert_int_equal(got.field.first, 0x48);
	assert_int_equal(got.field.last, 0x49);
	assert_int_equal(got.field.access, LC_TOUCH_STORE);
	assert_int_equal(got.field.samples, 3);
	assert_int_equal(got.lines, 1);
	assert_int_equal(got.line_addr, 0x10048);
	assert_int_equal(got.line.byte, 8);
	assert_int_equal(got.line.bytes, 8);
	assert_int_equal(got.line.first, 0x48);
	assert_int_equal(got.line.samples, 3);
	assert_int_equal(got.line.hitm, 0);
	assert_int_equal(got.metrics, 0); /* nothing was measured */
	assert_int_equal(got.drawn, 1);
	assert_int_equal(got.cached.engine, 1);
	assert_int_equal(got.cached.path, 9);
	assert_int_equal(got.cached.line, 0x10048);
}

static void what_the_hardware_measured_makes_a_row_and_marks_the_line(void **state)
{
	struct lc_detail d = sample();

	d.access = 0;
	d.latency = 300;
	d.measured = lc_detail_data_src(OP(STORE) | SNOOP(HITM) | NUM(L3));
	lc_detail_sample(NULL, &d);
	assert_int_equal(got.metrics, 1);
	assert_int_equal(got.metric.source, LC_SOURCE_L3);
	assert_int_equal(got.metric.flags, LC_METRIC_HITM | LC_METRIC_STORE);
	assert_int_equal(got.metric.samples, 3);
	assert_int_equal(got.metric.latency_sum, 900);
	assert_int_equal(got.metric.latency_max, 300);
	assert_int_equal(got.line.hitm, 3);
	assert_int_equal(got.line.access, LC_TOUCH_STORE);
	assert_int_equal(got.line.bytes, 0); /* the hardware does not say */
}

static void an_unknown_field_is_no_field_but_still_a_touch_of_the_line(void **state)
{
	struct lc_detail d = sample();

	got.unknown = true;
	lc_detail_sample(NULL, &d);
	assert_int_equal(got.fields, 0);
	assert_int_equal(got.lines, 1);
	assert_int_equal(got.drawn, 1);
	assert_ptr_equal(got.line.name, lc_field_part_name(LC_PART_UNKNOWN));
}

static void a_sample_of_java_code_says_how_the_object_was_reached(void **state)
{
	struct lc_detail d = sample();

	lc_detail_sample(NULL, &d);
	assert_int_equal(got.reaches, 0); /* of other code */
	d.in_java = true;
	d.load.bci = 42;
	lc_detail_sample(NULL, &d);
	assert_int_equal(got.reaches, 1);
	assert_string_equal(got.ask.part, "");
	assert_string_equal(got.ask.signature, "[J");
	assert_int_equal(got.ask.path, 9);
	assert_int_equal(got.ask.touch, LC_TOUCH_STORE);
	assert_int_equal(got.ask.load.bci, 42);
	assert_string_equal(got.reach.name, "a.B.c[]");
	assert_int_equal(got.reach.kind, LC_REFERENCE_STATIC);
	assert_int_equal(got.reach.why, LC_WHY_VIRTUAL);
	assert_int_equal(got.reach.site, 7);
	assert_int_equal(got.reach.samples, 3);
	d.how = LC_HOW_BASE; /* somewhere in the object */
	lc_detail_sample(NULL, &d);
	assert_int_equal(got.reaches, 2);
	assert_null(got.ask.part);
}

/* Code has the block's address as a number. */
static void a_block_outside_the_heap_is_reached_through_no_reference(void **state)
{
	struct lc_detail d = sample();

	d.in_java = true;
	d.off_heap = true;
	lc_detail_sample(NULL, &d);
	assert_int_equal(got.lines, 1);
	d.how = LC_HOW_BASE;
	lc_detail_sample(NULL, &d);
	assert_int_equal(got.reaches, 0);
}

static void an_address_that_is_not_the_exact_one_names_no_field(void **state)
{
	struct lc_detail d = sample();

	d.how = LC_HOW_BASE;
	d.measured = lc_detail_data_src(OP(LOAD) | NUM(L1));
	lc_detail_sample(NULL, &d);
	assert_int_equal(got.fields, 0);
	assert_int_equal(got.lines, 0);
	assert_int_equal(got.metrics, 1);
}

static void a_known_step_makes_a_row_and_so_does_the_end_of_an_array(void **state)
{
	struct lc_detail d = sample();

	lc_detail_sample(NULL, &d);
	assert_int_equal(got.steps, 0); /* neither is known: the array is short */
	d.step = 4096;
	lc_detail_sample(NULL, &d);
	assert_int_equal(got.steps, 1);
	assert_int_equal(got.step.step, 4096);
	assert_int_equal(got.step.end, LC_END_NONE);
	assert_int_equal(got.step.site, 7);
	assert_int_equal(got.step.samples, 3);
	d.how = LC_HOW_BASE; /* the step holds, wherever in the object the access was */
	lc_detail_sample(NULL, &d);
	assert_int_equal(got.steps, 2);
	d.at.bucket = LC_BUCKET_HEAP_UNKNOWN;
	lc_detail_sample(NULL, &d);
	assert_int_equal(got.steps, 2);
}

static void an_access_that_nothing_waited_for_makes_a_row(void **state)
{
	struct lc_detail d = large_sample();

	lc_detail_sample(NULL, &d);
	assert_int_equal(got.waits, 0);
	d.elsewhere = true;
	lc_detail_sample(NULL, &d);
	assert_int_equal(got.waits, 1);
	assert_int_equal(got.wait.engine, 1);
	assert_int_equal(got.wait.bucket, LC_BUCKET_OBJECT);
	assert_int_equal(got.wait.site, 7);
	assert_int_equal(got.wait.flags, LC_WAIT_ELSEWHERE);
	assert_int_equal(got.wait.samples, 3);
	d.how = LC_HOW_BASE;
	lc_detail_sample(NULL, &d);
	assert_int_equal(got.waits, 2);
	d.at.bucket = LC_BUCKET_HEAP_UNKNOWN;
	lc_detail_sample(NULL, &d);
	assert_int_equal(got.waits, 2);
}

static void a_store_of_no_known_part_is_a_store_all_the_same(void **state)
{
	struct lc_detail d = large_sample();

	d.how = LC_HOW_BASE;
	d.access = LC_TOUCH_LOAD | LC_TOUCH_STORE;
	lc_detail_sample(NULL, &d);
	d.access = LC_TOUCH_LOAD;
	lc_detail_sample(NULL, &d);
	assert_int_equal(got.waits, 0);
	d.access = LC_TOUCH_STORE;
	lc_detail_sample(NULL, &d);
	assert_int_equal(got.waits, 1);
	assert_int_equal(got.wait.flags, LC_WAIT_STORES_SOMEWHERE);
	d.how = LC_HOW_DIRECT;
	lc_detail_sample(NULL, &d); /* a field has it */
	assert_int_equal(got.waits, 1);
	assert_int_equal(got.fields, 1);
	got.unknown = true;
	lc_detail_sample(NULL, &d);
	assert_int_equal(got.waits, 2);
	assert_int_equal(got.fields, 1);
}

/* Is the sample taken for one of the object of the thread's last sample? */
static bool same_object(const struct lc_detail *d)
{
	got.waits = 0;
	lc_detail_sample(NULL, d);
	return got.waits && (got.wait.flags & LC_WAIT_SAME_OBJECT);
}

static void a_small_object_is_known_again_by_its_thread(void **state)
{
	struct lc_detail d = sample();

	got.any_size = true;
	d.at.site = 77;
	d.size_bytes = LC_WAIT_SAME_BYTES;
	assert_false(same_object(&d));
	d.addr += 8;
	assert_true(same_object(&d));
	d.how = LC_HOW_BASE;
	assert_true(same_object(&d));
	d.object += 8;
	assert_false(same_object(&d)); /* it has moved, or is another one */
	assert_true(same_object(&d));
	d.at.bucket = LC_BUCKET_HEAP_CLASS;
	assert_false(same_object(&d));
	d.at.site = 78;
	assert_false(same_object(&d));
	d.size_bytes += 8;
	assert_false(same_object(&d));
	assert_false(same_object(&d)); /* it is large */
	d.size_bytes = 0;
	assert_false(same_object(&d));
}

/* A sample of the class word, where the code reads so many bytes behind it next. */
static bool reads_on(uint64_t object, uint64_t size_bytes, uint64_t offset, uint8_t next)
{
	struct lc_detail d = sample();

	got.waits = 0;
	got.headers = true;
	d.object = object;
	d.addr = object + offset;
	d.size_bytes = got.size_bytes = size_bytes;
	d.read_on = next;
	lc_detail_sample(NULL, &d);
	return got.waits && (got.wait.flags & LC_WAIT_READS_ON);
}

static void a_header_is_read_on_in_its_own_cache_line(void **state)
{
	assert_true(reads_on(0x10000, 24, 8, 8));
	assert_false(reads_on(0x10000, 24, 8, 0));  /* nothing is read */
	assert_false(reads_on(0x10000, 24, 8, 4));  /* the length is of the header */
	assert_false(reads_on(0x10000, 24, 16, 4)); /* what was accessed is a field */
	/* From 0x10030 on the field is in the next line. */
	assert_true(reads_on(0x10028, 24, 8, 8));
	assert_false(reads_on(0x10030, 24, 8, 8));
	/* Nobody knows which element: it is in the line where the array is. */
	assert_true(reads_on(0x10000, 64, 12, 4));
	assert_false(reads_on(0x10000, 72, 12, 4));
	assert_false(reads_on(0x10020, 48, 12, 4));
}

static void ends_of_an_array_are_its_first_and_last_sixteenth(void **state)
{
	static const struct {
		uint64_t offset;
		uint8_t end;
	} cases[] = { { 16, LC_END_FIRST },         { 16 + 1023, LC_END_FIRST },
		      { 16 + 1024, LC_END_MIDDLE }, { 16 + 15359, LC_END_MIDDLE },
		      { 16 + 15360, LC_END_LAST },  { 16 + 16383, LC_END_LAST } };
	struct lc_detail d = sample();

	got.size_bytes = d.size_bytes = 16 + 16384;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		d.addr = d.object + cases[i].offset;
		lc_detail_sample(NULL, &d);
		assert_int_equal(got.steps, i + 1);
		assert_int_equal(got.step.end, cases[i].end);
		assert_int_equal(got.step.step, 0);
	}
	got.steps = 0;
	got.named = true; /* a large object */
	lc_detail_sample(NULL, &d);
	assert_int_equal(got.steps, 0);
}

static void outside_objects_there_are_only_metrics(void **state)
{
	struct lc_detail d = sample();

	d.at.bucket = LC_BUCKET_HEAP_UNKNOWN;
	lc_detail_sample(NULL, &d);
	d = sample();
	d.object = 0;
	lc_detail_sample(NULL, &d);
	d = sample();
	d.addr = d.object - 8;
	lc_detail_sample(NULL, &d);
	assert_int_equal(got.fields + got.lines + got.metrics, 0);
}

static void an_unknown_width_stays_unknown(void **state)
{
	struct lc_detail d = sample();

	d.access = LC_TOUCH_LOAD | LC_ACCESS_WIDTH_UNKNOWN << LC_ACCESS_WIDTH_SHIFT;
	lc_detail_sample(NULL, &d);
	assert_int_equal(got.line.bytes, 0);
	assert_int_equal(got.line.access, LC_TOUCH_LOAD);
	d.access = LC_TOUCH_LOAD;
	lc_detail_sample(NULL, &d);
	assert_int_equal(got.line.bytes, 1);
}

/* Once, when the class has been learnt: each field, and the size. */
static void where_fields_lie_is_told(void **state)
{
	struct lc_detail d = { .thread = &thread,
		               .at.bucket = LC_BUCKET_OBJECT,
		               .at.site = 5,
		               .klass = 0x7000,
		               .object = 0x1000,
		               .addr = 0x1010,
		               .size_bytes = 160,
		               .at.samples = 1 };

	lc_detail_sample(NULL, &d);
	assert_int_equal(got.layouts, 0);
	got.learnt = true;
	lc_detail_sample(NULL, &d);
	assert_int_equal(got.layouts, 3);
	assert_int_equal(got.layout[1].site, 5);
	assert_int_equal(got.layout[1].offset, 16);
	assert_int_equal(got.layout[1].bytes, 8);
	assert_string_equal(got.layout[1].name, "b");
	assert_int_equal(got.layout[2].offset, 24);
	assert_int_equal(got.layout[2].bytes, 0);
	assert_string_equal(got.layout[2].name, "");
	got.layouts = 0;
	got.incomplete = true; /* what the fields leave of the size is no padding */
	lc_detail_sample(NULL, &d);
	assert_int_equal(got.layouts, 2);
	assert_string_equal(got.layout[1].name, "b");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(where_fields_lie_is_told, reset),
		cmocka_unit_test_setup(a_sample_of_java_code_says_how_the_object_was_reached,
		                       reset),
		cmocka_unit_test_setup(a_block_outside_the_heap_is_reached_through_no_reference,
		                       reset),
		cmocka_unit_test(old_levels_are_decoded),
		cmocka_unit_test(new_levels_are_decoded),
		cmocka_unit_test(the_bits_are_where_the_kernel_puts_them),
		cmocka_unit_test(flags_are_decoded),
		cmocka_unit_test(every_bit_pattern_has_a_name),
		cmocka_unit_test_setup(a_sample_makes_a_row_of_its_field_and_of_its_line, reset),
		cmocka_unit_test_setup(what_the_hardware_measured_makes_a_row_and_marks_the_line,
		                       reset),
		cmocka_unit_test_setup(an_unknown_field_is_no_field_but_still_a_touch_of_the_line,
		                       reset),
		cmocka_unit_test_setup(an_address_that_is_not_the_exact_one_names_no_field, reset),
		cmocka_unit_test_setup(a_known_step_makes_a_row_and_so_does_the_end_of_an_array,
		                       reset),
		cmocka_unit_test_setup(an_access_that_nothing_waited_for_makes_a_row, reset),
		cmocka_unit_test_setup(a_store_of_no_known_part_is_a_store_all_the_same, reset),
		cmocka_unit_test_setup(a_small_object_is_known_again_by_its_thread, reset),
		cmocka_unit_test_setup(a_header_is_read_on_in_its_own_cache_line, reset),
		cmocka_unit_test_setup(ends_of_an_array_are_its_first_and_last_sixteenth, reset),
		cmocka_unit_test_setup(outside_objects_there_are_only_metrics, reset),
		cmocka_unit_test_setup(an_unknown_width_stays_unknown, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
