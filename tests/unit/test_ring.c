/* uses: src/perf/ring.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ring.c - checks that perf records are decoded as perf_event_open(2) lays them out.
 *
 * Records are made here byte by byte, from a table in the order of that manual page, each field
 * with a value of its own; the decoder's code is not used for that. The file is
 * longer than 600 lines: all tests share that table.
 */
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/perf/ring.h"

enum {
	RECORD_MAX = 16 << 10,
	RING_BYTES = 16 << 10,
	SAMPLE_TYPES = 25,
	BRANCH_COUNTERS = 1 << 19 /* absent from older headers */
};

#define ALL_SAMPLE_TYPES ((UINT64_C(1) << SAMPLE_TYPES) - 1)

/* The parts of a record beside its layout: the sizes of variable ones. */
struct shape {
	struct lc_ring_layout layout;
	unsigned readings;  /* of a group */
	unsigned frames;    /* of the call chain */
	unsigned raw_words; /* the raw field is 4 bytes longer */
	unsigned branches;
	bool no_branch_stack; /* the kernel had none: its number only */
	unsigned stack_words, aux_words;
	uint64_t user_abi, intr_abi;
};

struct record {
	uint8_t bytes[RECORD_MAX];
	size_t len;
	struct lc_ring_record want;
};

/* -- building ----------------------------------------------------------------------------- */

static uint64_t random_state = 88172645463325252u;

static uint64_t random64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void put(struct record *r, uint64_t value, unsigned bytes)
{
	assert_true(r->len + bytes <= RECORD_MAX);
	for (unsigned i = 0; i < bytes; i++)
		r->bytes[r->len++] = (uint8_t)(value >> (8 * i));
}

static uint64_t put64(struct record *r)
{
	const uint64_t value = random64();

	put(r, value, 8);
	return value;
}

static uint32_t put32(struct record *r)
{
	const uint32_t value = (uint32_t)random64();

	put(r, value, 4);
	return value;
}

static void put_noise(struct record *r, unsigned words)
{
	for (unsigned i = 0; i < words; i++)
		put64(r);
}

/* A header; finish() writes the length. */
static void start(struct record *r, uint32_t type, uint16_t misc)
{
	memset(r, 0, sizeof(*r));
	put(r, type, 4);
	put(r, misc, 2);
	put(r, 0, 2);
	r->want.misc = misc;
}

static void set_length(struct record *r, size_t len)
{
	r->bytes[6] = (uint8_t)len;
	r->bytes[7] = (uint8_t)(len >> 8);
}

static void put_identifier(struct record *r, const struct shape *s)
{
	r->want.id = put64(r);
}

static void put_ip(struct record *r, const struct shape *s)
{
	r->want.ip = put64(r);
}

static void put_tid(struct record *r, const struct shape *s)
{
	r->want.pid = put32(r);
	r->want.tid = put32(r);
}

static void put_time(struct record *r, const struct shape *s)
{
	r->want.time_ns = put64(r);
}

static void put_addr(struct record *r, const struct shape *s)
{
	r->want.addr = put64(r);
}

/* Both say the same in a real record. */
static void put_id(struct record *r, const struct shape *s)
{
	if (s->layout.sample_type & PERF_SAMPLE_IDENTIFIER)
		put(r, r->want.id, 8);
	else
		r->want.id = put64(r);
}

static void put_ignored(struct record *r, const struct shape *s)
{
	put64(r);
}

static void put_cpu(struct record *r, const struct shape *s)
{
	r->want.cpu = put32(r);
	put32(r); /* res */
}

static void put_period(struct record *r, const struct shape *s)
{
	r->want.period = put64(r);
}

static void put_read(struct record *r, const struct shape *s)
{
	const uint64_t f = s->layout.read_format;
	const unsigned n = f & PERF_FORMAT_GROUP ? s->readings : 1;

	if (f & PERF_FORMAT_GROUP)
		put(r, s->readings, 8);
	else
		put64(r); /* value */
	if (f & PERF_FORMAT_TOTAL_TIME_ENABLED)
		put64(r);
	if (f & PERF_FORMAT_TOTAL_TIME_RUNNING)
		put64(r);
	for (unsigned i = 0; i < n; i++) {
		if (f & PERF_FORMAT_GROUP)
			put64(r); /* value */
		if (f & PERF_FORMAT_ID)
			put64(r);
		if (f & PERF_FORMAT_LOST)
			put64(r);
	}
}

static void put_callchain(struct record *r, const struct shape *s)
{
	put(r, s->frames, 8);
	put_noise(r, s->frames);
}

static void put_raw(struct record *r, const struct shape *s)
{
	put(r, 4 + 8 * s->raw_words, 4);
	put32(r);
	put_noise(r, s->raw_words);
}

static void put_branches(struct record *r, const struct shape *s)
{
	put(r, s->no_branch_stack ? 0 : s->branches, 8);
	if (s->no_branch_stack)
		return;
	if (s->layout.branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		put64(r);
	put_noise(r, 3 * s->branches);
	if (s->layout.branch_type & BRANCH_COUNTERS)
		put_noise(r, s->branches);
}

static void put_user_registers(struct record *r, const struct shape *s)
{
	put(r, s->user_abi, 8);
	for (unsigned i = 0; i < 64 && s->user_abi; i++)
		if (s->layout.regs_user >> i & 1)
			put64(r);
}

static void put_stack(struct record *r, const struct shape *s)
{
	put(r, 8 * s->stack_words, 8);
	put_noise(r, s->stack_words);
	if (s->stack_words)
		put64(r); /* dyn_size */
}

static void put_weight(struct record *r, const struct shape *s)
{
	r->want.weight = put64(r);
}

static void put_weight_struct(struct record *r, const struct shape *s)
{
	r->want.weight = put32(r);
	r->want.weight2 = 0xa000 | (uint32_t)(random64() & 0xfff);
	r->want.weight3 = 0xb000 | (uint32_t)(random64() & 0xfff);
	put(r, r->want.weight2, 2);
	put(r, r->want.weight3, 2);
}

static void put_data_src(struct record *r, const struct shape *s)
{
	r->want.data_src = put64(r);
}

static void put_intr_registers(struct record *r, const struct shape *s)
{
	uint64_t value;

	put(r, s->intr_abi, 8);
	r->want.regs_intr_abi = s->intr_abi;
	for (unsigned i = 0; i < 64 && s->intr_abi; i++) {
		if (!(s->layout.regs_intr >> i & 1))
			continue;
		value = put64(r);
		if (i < LC_RING_REGISTERS)
			r->want.regs_intr[i] = value;
	}
}

static void put_phys_addr(struct record *r, const struct shape *s)
{
	r->want.phys_addr = put64(r);
}

static void put_aux(struct record *r, const struct shape *s)
{
	put(r, 8 * s->aux_words, 8);
	put_noise(r, s->aux_words);
}

/* The order of perf_event_open(2), "struct { ... } PERF_RECORD_SAMPLE". */
static const struct {
	uint64_t type;
	void (*put)(struct record *r, const struct shape *s);
} sample_fields[] = {
	{ PERF_SAMPLE_IDENTIFIER, put_identifier },
	{ PERF_SAMPLE_IP, put_ip },
	{ PERF_SAMPLE_TID, put_tid },
	{ PERF_SAMPLE_TIME, put_time },
	{ PERF_SAMPLE_ADDR, put_addr },
	{ PERF_SAMPLE_ID, put_id },
	{ PERF_SAMPLE_STREAM_ID, put_ignored },
	{ PERF_SAMPLE_CPU, put_cpu },
	{ PERF_SAMPLE_PERIOD, put_period },
	{ PERF_SAMPLE_READ, put_read },
	{ PERF_SAMPLE_CALLCHAIN, put_callchain },
	{ PERF_SAMPLE_RAW, put_raw },
	{ PERF_SAMPLE_BRANCH_STACK, put_branches },
	{ PERF_SAMPLE_REGS_USER, put_user_registers },
	{ PERF_SAMPLE_STACK_USER, put_stack },
	{ PERF_SAMPLE_WEIGHT, put_weight },
	{ PERF_SAMPLE_WEIGHT_STRUCT, put_weight_struct },
	{ PERF_SAMPLE_DATA_SRC, put_data_src },
	{ PERF_SAMPLE_TRANSACTION, put_ignored },
	{ PERF_SAMPLE_REGS_INTR, put_intr_registers },
	{ PERF_SAMPLE_PHYS_ADDR, put_phys_addr },
	{ PERF_SAMPLE_CGROUP, put_ignored },
	{ PERF_SAMPLE_DATA_PAGE_SIZE, put_ignored },
	{ PERF_SAMPLE_CODE_PAGE_SIZE, put_ignored },
	{ PERF_SAMPLE_AUX, put_aux },
};

enum { SAMPLE_FIELDS = sizeof(sample_fields) / sizeof(sample_fields[0]) };

static void build_sample(struct record *r, const struct shape *s)
{
	start(r, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP);
	r->want.type = LC_RING_SAMPLE;
	for (size_t i = 0; i < SAMPLE_FIELDS; i++)
		if (s->layout.sample_type & sample_fields[i].type)
			sample_fields[i].put(r, s);
	set_length(r, r->len);
}

/* "struct sample_id" of the same page. */
static void put_trailer(struct record *r, const struct shape *s)
{
	static const uint64_t types[] = { PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
		                          PERF_SAMPLE_ID,  PERF_SAMPLE_STREAM_ID,
		                          PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER };
	static void (*const puts[])(struct record *,
	                            const struct shape *) = { put_tid,     put_time, put_identifier,
		                                              put_ignored, put_cpu,  NULL };

	if (!s->layout.sample_id_all)
		return;
	for (size_t i = 0; i < 6; i++) {
		if (!(s->layout.sample_type & types[i]))
			continue;
		if (puts[i])
			puts[i](r, s);
		else if (s->layout.sample_type & PERF_SAMPLE_ID)
			put(r, r->want.id, 8); /* says the same again */
		else
			put_identifier(r, s);
	}
}

/* Records that are not samples; `words`: those that follow what is known of it, none as yet. */
static void build_other(struct record *r, const struct shape *s, uint32_t type, uint16_t misc,
                        unsigned words)
{
	uint64_t id = 0, time_ns = 0;

	start(r, type, misc);
	switch (type) {
	case PERF_RECORD_LOST:
		r->want.type = LC_RING_LOST;
		id = put64(r);
		r->want.lost = put64(r);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		r->want.type = LC_RING_LOST_SAMPLES;
		r->want.lost = put64(r);
		break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		r->want.type = type == PERF_RECORD_THROTTLE ? LC_RING_THROTTLE : LC_RING_UNTHROTTLE;
		time_ns = put64(r);
		id = put64(r);
		put64(r); /* stream_id */
		break;
	case PERF_RECORD_SWITCH_CPU_WIDE:
		put64(r); /* next_prev_pid, next_prev_tid */
		          /* fall through */
	case PERF_RECORD_SWITCH:
		r->want.type =
		    misc & PERF_RECORD_MISC_SWITCH_OUT ? LC_RING_SWITCH_OUT : LC_RING_SWITCH_IN;
		break;
	default:
		r->want.type = LC_RING_OTHER;
		put_noise(r, words);
		set_length(r, r->len);
		return;
	}
	put_noise(r, words);
	put_trailer(r, s);
	if (id)
		r->want.id = id;
	if (time_ns)
		r->want.time_ns = time_ns;
	set_length(r, r->len);
}

/* -- reading ------------------------------------------------------------------------------ */

/* A ring in memory of its own, so that reading outside is noticed under a sanitizer. */
static uint8_t *ring_memory(void)
{
	uint8_t *data = malloc(RING_BYTES);

	assert_non_null(data);
	memset(data, 0xee, RING_BYTES);
	return data;
}

static void store(uint8_t *data, uint64_t at, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		data[(at + i) % RING_BYTES] = bytes[i];
}

static struct lc_ring reader(const uint8_t *data, uint64_t tail, uint64_t len,
                             const struct lc_ring_layout *layout)
{
	return (struct lc_ring){ .data = data,
		                 .size = RING_BYTES,
		                 .tail = tail,
		                 .head = tail + len,
		                 .layout = *layout };
}

static void assert_record(const struct lc_ring_record *got, const struct lc_ring_record *want)
{
	assert_int_equal(got->type, want->type);
	assert_int_equal(got->pid, want->pid);
	assert_int_equal(got->tid, want->tid);
	assert_int_equal(got->cpu, want->cpu);
	assert_int_equal(got->misc, want->misc);
	assert_int_equal(got->time_ns, want->time_ns);
	assert_int_equal(got->ip, want->ip);
	assert_int_equal(got->addr, want->addr);
	assert_int_equal(got->id, want->id);
	assert_int_equal(got->period, want->period);
	assert_int_equal(got->lost, want->lost);
	assert_int_equal(got->data_src, want->data_src);
	assert_int_equal(got->weight, want->weight);
	assert_int_equal(got->weight2, want->weight2);
	assert_int_equal(got->weight3, want->weight3);
	assert_int_equal(got->phys_addr, want->phys_addr);
	assert_int_equal(got->regs_intr_abi, want->regs_intr_abi);
	for (unsigned i = 0; i < LC_RING_REGISTERS; i++)
		assert_int_equal(got->regs_intr[i], want->regs_intr[i]);
}

static const struct lc_ring_record damaged = { .type = LC_RING_DAMAGED };

static void assert_damaged(const struct lc_ring_record *got)
{
	struct lc_ring_record want = damaged;

	want.misc = got->misc;
	assert_record(got, &want);
}

/* The record alone, at `at`, comes out as wanted, and nothing after it. */
static void check_at(const struct record *r, const struct lc_ring_layout *layout, uint64_t at)
{
	uint8_t *data = ring_memory();
	struct lc_ring ring = reader(data, at, r->len, layout);
	struct lc_ring_record got;

	store(data, at, r->bytes, r->len);
	memset(&got, 0x55, sizeof(got));
	assert_true(lc_ring_next(&ring, &got));
	assert_record(&got, &r->want);
	assert_int_equal(ring.tail, ring.head);
	memset(&got, 0x55, sizeof(got));
	assert_false(lc_ring_next(&ring, &got));
	assert_int_equal(got.pid, 0x55555555);
	free(data);
}

static struct shape usual(uint64_t sample_type)
{
	/* The two forms of weight are one field: the kernel takes only one of them. */
	if (sample_type & PERF_SAMPLE_WEIGHT_STRUCT)
		sample_type &= ~(uint64_t)PERF_SAMPLE_WEIGHT;
	return (struct shape){
		.layout = { .sample_type = sample_type,
		            .read_format =
		                PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		            .branch_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_HW_INDEX,
		            .regs_user = 0xff0fff,
		            .regs_intr = 0xff0fff,
		            .sample_id_all = true },
		.readings = 3,
		.frames = 4,
		.raw_words = 2,
		.branches = 2,
		.stack_words = 3,
		.aux_words = 2,
		.user_abi = PERF_SAMPLE_REGS_ABI_64,
		.intr_abi = PERF_SAMPLE_REGS_ABI_64,
	};
}

static struct shape random_shape(void)
{
	struct shape s = usual(random64() & ALL_SAMPLE_TYPES);

	s.layout.read_format = random64() & 31;
	s.layout.branch_type = random64() & ((UINT64_C(1) << 20) - 1);
	s.layout.regs_user = random64() & random64();
	s.layout.regs_intr = random64();
	s.layout.sample_id_all = random64() & 1;
	s.readings = (unsigned)(random64() % 5);
	s.frames = (unsigned)(random64() % 30);
	s.raw_words = (unsigned)(random64() % 9);
	s.branches = 1 + (unsigned)(random64() % 33);
	s.stack_words = (unsigned)(random64() % 40);
	s.aux_words = (unsigned)(random64() % 40);
	s.user_abi = random64() % 3;
	s.intr_abi = random64() % 3;
	return s;
}

/* -- tests -------------------------------------------------------------------------------- */

/* One record written out in full, so that not even the tables above are trusted. */
static void hand_written_sample_is_decoded(void **state)
{
	static const uint8_t bytes[] = {
		9,    0,    0,    0,    2,    0x40, 64,   0,    /* SAMPLE, USER | EXACT_IP, size */
		0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x08, /* ip */
		0xd2, 0x04, 0,    0,    0xd3, 0x04, 0,    0,    /* pid 1234, tid 1235 */
		0x40, 0xb0, 0,    0xf0, 0x7f, 0x7f, 0,    0,    /* addr */
		3,    0,    0,    0,    0xff, 0xff, 0xff, 0xff, /* cpu, res */
		0xa3, 0x86, 1,    0,    0,    0,    0,    0,    /* period 99,999 + 4 */
		0x2c, 1,    0,    0,    7,    0,    9,    0,    /* weights 300, 7, 9 */
		0x21, 0x48, 0,    0,    0,    0,    0,    0x80, /* data_src */
	};
	const struct lc_ring_layout layout = {
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ADDR |
		               PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_WEIGHT_STRUCT |
		               PERF_SAMPLE_DATA_SRC,
	};
	struct record r = { .len = sizeof(bytes),
		            .want = { .type = LC_RING_SAMPLE,
		                      .misc = 0x4002,
		                      .ip = 0x0877665544332211,
		                      .pid = 1234,
		                      .tid = 1235,
		                      .addr = 0x7f7ff000b040,
		                      .cpu = 3,
		                      .period = 100003,
		                      .weight = 300,
		                      .weight2 = 7,
		                      .weight3 = 9,
		                      .data_src = 0x8000000000004821 } };

	memcpy(r.bytes, bytes, sizeof(bytes));
	check_at(&r, &layout, 0);
}

static void table_of_fields_has_each_type_once(void **state)
{
	uint64_t seen = 0;

	for (size_t i = 0; i < SAMPLE_FIELDS; i++) {
		assert_int_equal(seen & sample_fields[i].type, 0);
		seen |= sample_fields[i].type;
	}
	assert_int_equal(seen, ALL_SAMPLE_TYPES);
}

static void each_single_sample_type_and_none(void **state)
{
	struct record r;
	struct shape s;

	for (unsigned bit = 0; bit <= SAMPLE_TYPES; bit++) {
		s = usual(bit < SAMPLE_TYPES ? UINT64_C(1) << bit : 0);
		build_sample(&r, &s);
		check_at(&r, &s.layout, 0);
	}
}

static void each_pair_and_each_but_one(void **state)
{
	struct record r;
	struct shape s;

	for (unsigned i = 0; i < SAMPLE_TYPES; i++) {
		for (unsigned j = 0; j < i; j++) {
			s = usual(UINT64_C(1) << i | UINT64_C(1) << j);
			build_sample(&r, &s);
			check_at(&r, &s.layout, 8 * j);
		}
		s = usual(ALL_SAMPLE_TYPES & ~(UINT64_C(1) << i));
		build_sample(&r, &s);
		check_at(&r, &s.layout, 8 * i);
	}
}

static void combinations_of_all_kinds_with_wrap(void **state)
{
	struct record r;
	struct shape s;

	for (unsigned i = 0; i < 60000; i++) {
		s = random_shape();
		build_sample(&r, &s);
		check_at(&r, &s.layout, random64() % (4 * RING_BYTES) & ~UINT64_C(7));
	}
}

static void each_read_format(void **state)
{
	struct record r;
	struct shape s = usual(PERF_SAMPLE_READ | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_IP);

	for (unsigned format = 0; format < 32; format++) {
		s.layout.read_format = format;
		for (s.readings = 0; s.readings < 4; s.readings++) {
			build_sample(&r, &s);
			check_at(&r, &s.layout, 0);
		}
	}
}

/* With no branches the word of HW_INDEX may be there or not: the record's length tells. */
static void sample_without_branch_stack_has_no_index_either(void **state)
{
	struct record r;
	struct shape s = usual(PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |
	                       PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_REGS_INTR);

	s.layout.branch_type |= BRANCH_COUNTERS;
	s.branches = 0;
	for (unsigned i = 0; i < 2; i++) {
		s.no_branch_stack = i;
		build_sample(&r, &s);
		check_at(&r, &s.layout, 0);
	}
}

/* Both readings account for every byte: what follows the branches is not made up. */
static void ambiguous_sample_yields_no_doubtful_field(void **state)
{
	const struct lc_ring_layout layout = {
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_WEIGHT |
		               PERF_SAMPLE_AUX,
		.branch_type = PERF_SAMPLE_BRANCH_HW_INDEX,
	};
	struct record r;

	start(&r, PERF_RECORD_SAMPLE, 0);
	r.want.type = LC_RING_SAMPLE;
	r.want.ip = put64(&r);
	put(&r, 0, 8);  /* branches */
	put(&r, 77, 8); /* the index, or the weight */
	put(&r, 8, 8);  /* the weight, or the size of the AUX area */
	put(&r, 0, 8);  /* the size of the AUX area, or what is in it */
	set_length(&r, r.len);
	check_at(&r, &layout, 0);
}

static void unknown_sample_type_is_not_believed(void **state)
{
	struct record r;
	struct shape s = usual(PERF_SAMPLE_IP | PERF_SAMPLE_ADDR);

	build_sample(&r, &s);
	s.layout.sample_type |= UINT64_C(1) << SAMPLE_TYPES;
	r.want = (struct lc_ring_record){ .type = LC_RING_DAMAGED, .misc = r.want.misc };
	check_at(&r, &s.layout, 0);
}

static void other_records_with_and_without_trailer(void **state)
{
	struct record r;
	struct shape s;
	uint16_t misc;

	for (uint32_t type = 0; type < 30; type++) {
		if (type == PERF_RECORD_SAMPLE)
			continue;
		for (unsigned i = 0; i < 400; i++) {
			s = random_shape();
			misc = (uint16_t)(random64() & 0x6000); /* SWITCH_OUT, and its PREEMPT */
			build_other(&r, &s, type, misc, (unsigned)(random64() % 3));
			check_at(&r, &s.layout, random64() % (2 * RING_BYTES) & ~UINT64_C(7));
		}
	}
}

/* One record of each kind, one after the other, the ring's end at each byte of them. */
static void mixed_records_wrap_at_each_byte(void **state)
{
	enum { KINDS = 8, WINDOW = 1600 };
	static struct record records[KINDS];
	struct shape s = usual(ALL_SAMPLE_TYPES);
	uint8_t *data = ring_memory();
	struct lc_ring_record got;
	struct lc_ring ring;
	uint64_t len = 0, at, end;

	build_sample(&records[0], &s);
	build_other(&records[1], &s, PERF_RECORD_LOST, 0, 0);
	build_other(&records[2], &s, PERF_RECORD_THROTTLE, 0, 0);
	build_other(&records[3], &s, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, 0);
	build_other(&records[4], &s, PERF_RECORD_MMAP, 0, 9);
	build_other(&records[5], &s, PERF_RECORD_SWITCH_CPU_WIDE, 0, 0);
	build_other(&records[6], &s, PERF_RECORD_LOST_SAMPLES, 0, 0);
	build_other(&records[7], &s, PERF_RECORD_UNTHROTTLE, 0, 0);
	for (unsigned i = 0; i < KINDS; i++)
		len += records[i].len;
	assert_in_range(len, 600, WINDOW);
	for (at = 5 * RING_BYTES - WINDOW; at <= 5 * RING_BYTES; at++) {
		end = at;
		for (unsigned i = 0; i < KINDS; i++) {
			store(data, end, records[i].bytes, records[i].len);
			end += records[i].len;
		}
		ring = reader(data, at, len, &s.layout);
		for (unsigned i = 0; i < KINDS; i++) {
			assert_true(lc_ring_next(&ring, &got));
			assert_record(&got, &records[i].want);
		}
		assert_false(lc_ring_next(&ring, &got));
	}
	/* Counters of the kernel may themselves wrap. */
	at = UINT64_MAX - 99;
	at &= ~UINT64_C(7);
	store(data, at, records[0].bytes, records[0].len);
	ring = reader(data, at, records[0].len, &s.layout);
	assert_true(lc_ring_next(&ring, &got));
	assert_record(&got, &records[0].want);
	free(data);
}

/* A record whose own length is too short or too long for its layout: alone passed over. */
static void sample_of_any_other_length_is_damaged(void **state)
{
	struct shape s = usual(ALL_SAMPLE_TYPES);
	struct record r, next;
	uint8_t *data = ring_memory();
	struct lc_ring_record got;
	struct lc_ring ring;

	build_sample(&r, &s);
	build_other(&next, &s, PERF_RECORD_SWITCH, 0, 0);
	for (size_t len = 8; len <= r.len + 32; len++) {
		if (len == r.len)
			continue;
		set_length(&r, len);
		store(data, 0, r.bytes, RING_BYTES < len ? RING_BYTES : len);
		store(data, len, next.bytes, next.len);
		ring = reader(data, 0, len + next.len, &s.layout);
		assert_true(lc_ring_next(&ring, &got));
		assert_damaged(&got);
		if (len % 8 == 0) {
			assert_true(lc_ring_next(&ring, &got));
			assert_record(&got, &next.want);
		}
		assert_false(lc_ring_next(&ring, &got));
		assert_int_equal(ring.tail, ring.head);
	}
	free(data);
}

static void other_record_that_is_too_short_is_damaged(void **state)
{
	static const uint32_t types[] = { PERF_RECORD_LOST,     PERF_RECORD_LOST_SAMPLES,
		                          PERF_RECORD_THROTTLE, PERF_RECORD_UNTHROTTLE,
		                          PERF_RECORD_SWITCH,   PERF_RECORD_SWITCH_CPU_WIDE };
	struct shape s = usual(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
	                       PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER);
	struct record r;
	uint8_t *data = ring_memory();
	struct lc_ring_record got;
	struct lc_ring ring;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		build_other(&r, &s, types[i], 0, 0);
		for (size_t len = 8; len < r.len; len += 8) {
			set_length(&r, len);
			store(data, 0, r.bytes, len);
			ring = reader(data, 0, len, &s.layout);
			assert_true(lc_ring_next(&ring, &got));
			assert_damaged(&got);
			assert_false(lc_ring_next(&ring, &got));
		}
	}
	free(data);
}

/* The kernel's head in the middle of a record: nothing of it is believed. */
static void head_cut_at_each_byte_gives_up_the_rest(void **state)
{
	struct shape s = usual(ALL_SAMPLE_TYPES);
	struct record r;
	uint8_t *data;
	struct lc_ring_record got;
	struct lc_ring ring;

	build_sample(&r, &s);
	for (size_t len = 1; len < r.len; len++) {
		data = ring_memory();
		store(data, RING_BYTES - 40, r.bytes, len);
		ring = reader(data, RING_BYTES - 40, len, &s.layout);
		assert_true(lc_ring_next(&ring, &got));
		assert_damaged(&got);
		assert_int_equal(ring.tail, ring.head);
		assert_false(lc_ring_next(&ring, &got));
		free(data);
	}
}

static void impossible_sizes_and_rings(void **state)
{
	struct shape s = usual(PERF_SAMPLE_IP);
	struct record r;
	uint8_t *data = ring_memory();
	struct lc_ring_record got;
	struct lc_ring ring;

	build_sample(&r, &s);
	for (unsigned size = 0; size < 8; size++) { /* shorter than a header */
		set_length(&r, size);
		store(data, 0, r.bytes, r.len);
		ring = reader(data, 0, 4096, &s.layout);
		assert_true(lc_ring_next(&ring, &got));
		assert_damaged(&got);
		assert_int_equal(ring.tail, ring.head);
	}
	set_length(&r, r.len);
	store(data, 0, r.bytes, r.len);
	ring = reader(data, 0, RING_BYTES + 8, &s.layout); /* overwritten */
	assert_true(lc_ring_next(&ring, &got));
	assert_damaged(&got);
	assert_int_equal(ring.tail, ring.head);
	for (unsigned size = 0; size < 8; size++) { /* no header fits */
		ring = reader(data, 0, size, &s.layout);
		ring.size = size;
		assert_false(lc_ring_next(&ring, &got));
	}
	ring = reader(data, 0, r.len, &s.layout);
	ring.size = 12288; /* no power of two */
	assert_false(lc_ring_next(&ring, &got));
	free(data);
}

/* Counts inside a record that lie: the largest there are, and those that overflow a product. */
static void lying_counts_are_damaged(void **state)
{
	static const uint64_t types[] = { PERF_SAMPLE_READ,       PERF_SAMPLE_CALLCHAIN,
		                          PERF_SAMPLE_RAW,        PERF_SAMPLE_BRANCH_STACK,
		                          PERF_SAMPLE_STACK_USER, PERF_SAMPLE_AUX };
	static const uint64_t counts[] = { UINT64_MAX,
		                           UINT64_MAX / 8 + 1,
		                           UINT64_MAX / 8,
		                           UINT64_MAX / 24 + 1,
		                           UINT64_C(1) << 61,
		                           UINT64_C(1) << 60,
		                           UINT32_MAX,
		                           9,
		                           1000 };
	struct lc_ring_layout layout = { .read_format = PERF_FORMAT_GROUP };
	struct lc_ring_record got;
	struct lc_ring ring;
	struct record r;
	uint8_t *data = ring_memory();

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		for (size_t j = 0; j < sizeof(counts) / sizeof(counts[0]); j++) {
			for (unsigned words = 1; words <= 3; words++) {
				start(&r, PERF_RECORD_SAMPLE, 0);
				put(&r, counts[j], 8);
				put_noise(&r, words - (types[i] != PERF_SAMPLE_RAW));
				set_length(&r, r.len);
				store(data, 0, r.bytes, r.len);
				layout.sample_type = types[i];
				ring = reader(data, 0, r.len, &layout);
				assert_true(lc_ring_next(&ring, &got));
				assert_damaged(&got);
			}
		}
	}
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hand_written_sample_is_decoded),
		cmocka_unit_test(table_of_fields_has_each_type_once),
		cmocka_unit_test(each_single_sample_type_and_none),
		cmocka_unit_test(each_pair_and_each_but_one),
		cmocka_unit_test(combinations_of_all_kinds_with_wrap),
		cmocka_unit_test(each_read_format),
		cmocka_unit_test(sample_without_branch_stack_has_no_index_either),
		cmocka_unit_test(ambiguous_sample_yields_no_doubtful_field),
		cmocka_unit_test(unknown_sample_type_is_not_believed),
		cmocka_unit_test(other_records_with_and_without_trailer),
		cmocka_unit_test(mixed_records_wrap_at_each_byte),
		cmocka_unit_test(sample_of_any_other_length_is_damaged),
		cmocka_unit_test(other_record_that_is_too_short_is_damaged),
		cmocka_unit_test(head_cut_at_each_byte_gives_up_the_rest),
		cmocka_unit_test(impossible_sizes_and_rings),
		cmocka_unit_test(lying_counts_are_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
