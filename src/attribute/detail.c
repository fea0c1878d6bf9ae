/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/detail.c - makes the rows of fields, steps, cache lines and hardware metrics from
 * samples.
 *
 * Source for data_src: union perf_mem_data_src in linux/perf_event.h. Old kernels fill mem_lvl
 * alone, newer ones mem_lvl_num with mem_remote and mem_hops beside it.
 */
#include "src/attribute/detail.h"

#include <stdbool.h>

#include "src/attribute/cache_lines.h"
#include "src/attribute/lines.h"
#include "src/base/hash.h"
#include "src/core/record.h"
#include "src/core/thread.h"
#include "src/format/kinds.h"
#include "src/jvm/layout/field.h"
#include "src/jvm/layout/field_layout.h"
#include "src/jvm/layout/klass.h"
#include "src/profile/profile_writer.h"
#include "src/profile/tally.h"

/* The bits of the fields, shifted down. Older kernel headers lack some of them. */
enum {
	OP_SHIFT = 0,
	OP_BITS = 5,
	OP_LOAD = 2,
	OP_STORE = 4,
	LVL_SHIFT = 5,
	LVL_BITS = 14,
	LVL_NA = 1,
	LVL_HIT = 2,
	LVL_MISS = 4,
	LVL_L1 = 8,
	LVL_LFB = 0x10,
	LVL_L2 = 0x20,
	LVL_L3 = 0x40,
	LVL_LOCAL_RAM = 0x80,
	LVL_REMOTE_RAM = 0x100 | 0x200,   /* one hop, two hops */
	LVL_REMOTE_CACHE = 0x400 | 0x800, /* one hop, two hops */
	LVL_OTHER = 0x1000 | 0x2000,      /* I/O, uncached */
	SNOOP_SHIFT = 19,
	SNOOP_BITS = 5,
	SNOOP_HITM = 0x10,
	LOCK_SHIFT = 24,
	LOCK_BITS = 2,
	LOCK_LOCKED = 2,
	TLB_SHIFT = 26,
	TLB_BITS = 7,
	TLB_MISS = 4,
	TLB_L2 = 0x10,
	TLB_WALK = 0x20 | 0x40, /* by hardware, by the system */
	NUM_SHIFT = 33,
	NUM_BITS = 4,
	REMOTE_SHIFT = 37,
	REMOTE_BITS = 1,
	HOPS_SHIFT = 43,
	HOPS_BITS = 3,
};

/* mem_lvl_num */
enum {
	NUM_L1 = 1,
	NUM_L2 = 2,
	NUM_L3 = 3,
	NUM_L4 = 4,
	NUM_L2_MHB = 5, /* buffer of misses of L2 */
	NUM_MSC = 6,    /* cache on the memory's side */
	NUM_L0 = 7,
	NUM_UNCACHED = 8,
	NUM_CXL = 9,
	NUM_IO = 10,
	NUM_ANY_CACHE = 11,
	NUM_LFB = 12,
	NUM_RAM = 13,
	NUM_PMEM = 14,
	NUM_NA = 15,
};

static unsigned bits(uint64_t data_src, unsigned shift, unsigned len)
{
	return (unsigned)(data_src >> shift) & ((1u << len) - 1);
}

/*
 * The source by mem_lvl_num and mem_hops. mem_hops: 0 the very place, 1 another core of the node, 2
 * another node of the socket, 3 another socket, 4 another board. A cache is remote when it belongs
 * to another core or core complex, memory when it belongs to another node.
 */
static uint8_t source_of_number(uint64_t data_src)
{
	unsigned hops = bits(data_src, HOPS_SHIFT, HOPS_BITS);
	bool remote = hops || bits(data_src, REMOTE_SHIFT, REMOTE_BITS);

	switch (bits(data_src, NUM_SHIFT, NUM_BITS)) {
	case NUM_L0:
	case NUM_L1:
		return remote ? LC_SOURCE_REMOTE_CACHE : LC_SOURCE_L1;
	case NUM_LFB:
	case NUM_L2_MHB:
		return LC_SOURCE_FILL_BUFFER;
	case NUM_L2:
		return remote ? LC_SOURCE_REMOTE_CACHE : LC_SOURCE_L2;
	case NUM_L3:
	case NUM_L4:
	case NUM_MSC:
		return remote ? LC_SOURCE_REMOTE_CACHE : LC_SOURCE_L3;
	case NUM_ANY_CACHE:
		/* It is some cache of this core; mem_lvl may tell which. */
		return remote ? LC_SOURCE_REMOTE_CACHE : LC_SOURCE_UNKNOWN;
	case NUM_RAM:
		return remote && hops != 1 ? LC_SOURCE_REMOTE_DRAM : LC_SOURCE_LOCAL_DRAM;
	case NUM_UNCACHED:
	case NUM_CXL:
	case NUM_IO:
	case NUM_PMEM:
		return LC_SOURCE_OTHER;
	default:
		return LC_SOURCE_UNKNOWN;
	}
}

/* Several bits may be set: the farthest one is where the data came from. */
static uint8_t source_of_level(unsigned level)
{
	if (level & LVL_NA)
		return LC_SOURCE_UNKNOWN;
	if (level & LVL_OTHER)
		return LC_SOURCE_OTHER;
	if (level & LVL_REMOTE_RAM)
		return LC_SOURCE_REMOTE_DRAM;
	if (level & LVL_REMOTE_CACHE)
		return LC_SOURCE_REMOTE_CACHE;
	if (level & LVL_LOCAL_RAM)
		return LC_SOURCE_LOCAL_DRAM;
	/* "missed L3" and no more does not say where it was found. */
	if (!(level & LVL_HIT))
		return LC_SOURCE_UNKNOWN;
	if (level & LVL_L3)
		return LC_SOURCE_L3;
	if (level & LVL_L2)
		return LC_SOURCE_L2;
	if (level & LVL_LFB)
		return LC_SOURCE_FILL_BUFFER;
	return level & LVL_L1 ? LC_SOURCE_L1 : LC_SOURCE_UNKNOWN;
}

static bool tlb_missed(unsigned tlb)
{
	/* A miss of the first level that the second level answered is reported as a hit of L2. */
	return tlb & TLB_WALK || (tlb & TLB_MISS && tlb & TLB_L2);
}

struct lc_data_src lc_detail_data_src(uint64_t data_src)
{
	unsigned number = bits(data_src, NUM_SHIFT, NUM_BITS);
	unsigned op = bits(data_src, OP_SHIFT, OP_BITS);
	uint8_t from = LC_SOURCE_UNKNOWN;
	unsigned set = 0;

	if (!data_src)
		return (struct lc_data_src){ .source = LC_SOURCE_UNKNOWN };
	if (number && number != NUM_NA)
		from = source_of_number(data_src);
	if (from == LC_SOURCE_UNKNOWN)
		from = source_of_level(bits(data_src, LVL_SHIFT, LVL_BITS));
	if (bits(data_src, SNOOP_SHIFT, SNOOP_BITS) & SNOOP_HITM)
		set |= LC_METRIC_HITM;
	if (tlb_missed(bits(data_src, TLB_SHIFT, TLB_BITS)))
		set |= LC_METRIC_TLB_MISS;
	if (bits(data_src, LOCK_SHIFT, LOCK_BITS) & LOCK_LOCKED)
		set |= LC_METRIC_LOCKED;
	if (op & OP_STORE)
		set |= LC_METRIC_STORE;
	return (struct lc_data_src){
		.known = true,
		.source = from,
		.flags = (uint8_t)set,
		.touch = op & OP_STORE  ? LC_TOUCH_STORE
		         : op & OP_LOAD ? LC_TOUCH_LOAD
		                        : 0,
	};
}

enum {
	HEADER_BYTES = 16, /* of an array, about */
	ENDS_BYTES =
	    1024, /* shorter arrays have no ends: a sixteenth would be a cache line or less */
};

/* Load or store: from the instruction, or else from the hardware. */
static uint8_t access_of(const struct lc_detail *d)
{
	uint8_t access = d->access & (LC_TOUCH_LOAD | LC_TOUCH_STORE);

	return access ? access : d->measured.touch;
}

static uint8_t width_of(const struct lc_detail *d)
{
	unsigned width = d->access >> LC_ACCESS_WIDTH_SHIFT;

	return (uint8_t)(!d->access || width > 6 ? 0 : 1u << width);
}

static void add_metric(const struct lc_detail *d)
{
	struct lc_block_metric row = {
		.engine = d->at.engine,
		.bucket = d->at.bucket,
		.site = d->at.site,
		.path = d->at.path,
		.samples = d->at.samples,
		.latency_sum = (uint64_t)d->latency * d->at.samples,
		.latency_max = d->latency,
		.source = d->measured.source,
		.flags = d->measured.flags,
	};

	lc_tally_metric(d->thread->tally, &row);
}

/* Is the element in the first sixteenth of its array, or in the last one? */
static uint8_t end_of(const struct lc_field *field, uint64_t offset, uint64_t size_bytes)
{
	const uint64_t elements_bytes = size_bytes > HEADER_BYTES ? size_bytes - HEADER_BYTES : 0;
	const uint64_t at = offset > HEADER_BYTES ? offset - HEADER_BYTES : 0;

	if (*field->name || elements_bytes < ENDS_BYTES)
		return LC_END_NONE;
	if (at / (elements_bytes / 16) == 0)
		return LC_END_FIRST;
	return at / (elements_bytes / 16) < 15 ? LC_END_MIDDLE : LC_END_LAST;
}

static void add_step(const struct lc_detail *d, uint8_t end)
{
	if (d->step || end)
		lc_tally_step(d->thread->tally, &(struct lc_block_step){
		                                    .engine = d->at.engine,
		                                    .bucket = d->at.bucket,
		                                    .site = d->at.site,
		                                    .step = d->step,
		                                    .end = end,
		                                    .samples = d->at.samples,
		                                    .pairs = d->at.pairs,
		                                });
}

static bool is_header(const struct lc_field *field)
{
	return field->name == lc_field_part_name(LC_PART_MARK) ||
	       field->name == lc_field_part_name(LC_PART_CLASS) ||
	       field->name == lc_field_part_name(LC_PART_LENGTH);
}

/*
 * A header was accessed. Does the code read a field next that came with the header's cache line, or
 * an element, wherever it is, of an array that is whole in that line?
 */
static bool reads_on(JNIEnv *jni, const struct lc_detail *d)
{
	const uint64_t line = d->addr / LC_LINE_BYTES, next = d->addr + d->read_on;
	struct lc_field field;

	if (!d->read_on || next / LC_LINE_BYTES != line ||
	    lc_field_find(jni, d->klass, d->size_bytes, next - d->object, &field) ||
	    is_header(&field) || field.name == lc_field_part_name(LC_PART_PADDING))
		return false;
	return *field.name ||
	       (d->size_bytes && (d->object + d->size_bytes - 1) / LC_LINE_BYTES == line);
}

/*
 * Remember the object of the sample. Returns whether the object is small, and the thread's last
 * sample of this bucket and site had the same one. Samples may overwrite each other's entries: an
 * object whose entry is lost counts as a new one.
 */
static bool is_same_object(const struct lc_detail *d)
{
	static struct {
		const struct lc_thread *thread;
		uint64_t object;
		uint32_t site;
		uint8_t bucket;
	} last[1024], *l; /* the attribution thread's */
	bool same;

	if (!d->size_bytes || d->size_bytes > LC_WAIT_SAME_BYTES)
		return false;
	l = &last[lc_hash_add((uintptr_t)d->thread, d->at.site) % (sizeof(last) / sizeof(*last))];
	same = l->thread == d->thread && l->site == d->at.site && l->bucket == d->at.bucket &&
	       l->object == d->object;
	l->thread = d->thread;
	l->site = d->at.site;
	l->bucket = d->at.bucket;
	l->object = d->object;
	return same;
}

/* Add the sample to WAITS, with `flags` and what the access itself tells. */
static void add_wait(const struct lc_detail *d, uint8_t flags)
{
	if (d->elsewhere)
		flags |= LC_WAIT_ELSEWHERE;
	if (is_same_object(d))
		flags |= LC_WAIT_SAME_OBJECT;
	if (flags)
		lc_tally_wait(d->thread->tally, &(struct lc_block_wait){
		                                    .engine = d->at.engine,
		                                    .bucket = d->at.bucket,
		                                    .site = d->at.site,
		                                    .flags = flags,
		                                    .samples = d->at.samples,
		                                });
}

/* Add the layout of the object's class, if its fields have just been learnt. */
static void add_layout(const struct lc_detail *d)
{
	const struct lc_field_table *t = lc_field_learnt(d->klass);
	struct lc_block_layout row = { .site = d->at.site, .name = "" };

	if (!t || !d->at.site || t->mirror)
		return;
	for (size_t i = 0; i < t->len; i++) {
		row.offset = t->entries[i].offset;
		row.bytes = t->entries[i].bytes;
		row.name = t->entries[i].name;
		lc_tally_layout(d->thread->tally, &row);
	}
	if (t->instance_bytes && !t->incomplete) {
		row = (struct lc_block_layout){ d->at.site, t->instance_bytes, 0, "" };
		lc_tally_layout(d->thread->tally, &row);
	}
}

/*
 * Add the reference through which the code reached the object. `part`: NULL is unknown. Code
 * reaches a block outside the heap by a number.
 */
static void add_reach(JNIEnv *jni, const struct lc_detail *d, const char *part)
{
	struct lc_reach reach;

	if (!d->in_java || d->off_heap || d->access & LC_ACCESS_FENCE)
		return;
	reach = lc_reach_of(jni, &(struct lc_reach_ask){
	                             .path = d->at.path,
	                             .part = part,
	                             .signature = d->klass ? lc_klass_signature(d->klass) : NULL,
	                             .touch = access_of(d),
	                             .load = d->load,
	                         });
	lc_tally_reach(d->thread->tally, &(struct lc_block_reach){
	                                     .engine = d->at.engine,
	                                     .bucket = d->at.bucket,
	                                     .site = d->at.site,
	                                     .path = d->at.path,
	                                     .why = reach.why,
	                                     .kind = reach.kind,
	                                     .name = reach.name,
	                                     .samples = d->at.samples,
	                                     .pairs = d->at.pairs,
	                                 });
}

/* The bits of WAITS of an access to an unknown part of the object. */
static uint8_t somewhere(const struct lc_detail *d)
{
	return access_of(d) == LC_TOUCH_STORE ? LC_WAIT_STORES_SOMEWHERE : 0;
}

static int find_field(JNIEnv *jni, const struct lc_detail *d, struct lc_field *out)
{
	const uint64_t offset = d->addr - d->object;

	return d->off_heap ? lc_field_in_block(d->size_bytes, offset, out)
	                   : lc_field_find(jni, d->klass, d->size_bytes, offset, out);
}

/* Returns bits of WAITS. */
static uint8_t add_place(JNIEnv *jni, const struct lc_detail *d)
{
	uint8_t end = LC_END_NONE, flags = somewhere(d);
	struct lc_field field = { .name = lc_field_part_name(LC_PART_UNKNOWN) };
	struct lc_block_line line = {
		.engine = d->at.engine,
		.bucket = d->at.bucket,
		.site = d->at.site,
		.path = d->at.path,
		.byte = (uint8_t)(d->addr % LC_LINE_BYTES),
		.bytes = width_of(d),
		.access = access_of(d),
		.samples = d->at.samples,
		.hitm = d->measured.flags & LC_METRIC_HITM ? d->at.samples : 0,
		.pairs = d->at.pairs,
	};

	if (!find_field(jni, d, &field)) {
		end = end_of(&field, d->addr - d->object, d->size_bytes);
		lc_tally_field(d->thread->tally, &(struct lc_block_field){
		                                     .engine = d->at.engine,
		                                     .bucket = d->at.bucket,
		                                     .site = d->at.site,
		                                     .path = d->at.path,
		                                     .name = field.name,
		                                     .first = field.first,
		                                     .last = field.last,
		                                     .access = line.access,
		                                     .samples = d->at.samples,
		                                     .pairs = line.pairs,
		                                 });
		add_layout(d);
		flags = is_header(&field) && reads_on(jni, d) ? LC_WAIT_READS_ON : 0;
	}
	add_reach(jni, d, field.name);
	add_step(d, end);
	lc_cache_lines_draw(d->thread, d->at.engine, d->at.path, d->addr);
	line.name = field.name;
	line.first = field.element;
	lc_lines_touch(d->thread, d->addr, &line);
	return flags;
}

void lc_detail_sample(JNIEnv *jni, const struct lc_detail *d)
{
	if (!lc_tally_made(&d->thread->tally))
		return;
	if (d->measured.known)
		add_metric(d);
	/* If the index is lost (LC_HOW_BASE), the object is known and the place in it is not. */
	if ((d->at.bucket != LC_BUCKET_OBJECT && d->at.bucket != LC_BUCKET_HEAP_CLASS) ||
	    !d->object || d->addr < d->object)
		return;
	if (d->how != LC_HOW_BASE) {
		add_wait(d, add_place(jni, d));
	} else {
		add_reach(jni, d, NULL);
		add_step(d, LC_END_NONE);
		add_wait(d, somewhere(d));
	}
}
