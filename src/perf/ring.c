/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf/ring.c - decodes the records of a perf buffer field by field.
 *
 * The order of a sample's fields is that of perf_output_sample() in the kernel, which is also that
 * of perf_event_open(2): PERF_SAMPLE_AUX comes last, whatever the comment in the header says.
 *
 * Kernels write records at multiples of 8 bytes into a ring of whole pages, so a field never
 * wraps. Nothing here relies on that: a field is copied out in two parts where it does.
 */
#include "src/perf/ring.h"

#include <linux/perf_event.h>
#include <string.h>

/* Linux 6.8; newer than some of the headers that this is built with. */
#define BRANCH_COUNTERS (UINT64_C(1) << 19)

/* Any other bit is a field whose place is not known. */
#define KNOWN_SAMPLE_TYPES ((UINT64_C(1) << 25) - 1)

#define TRAILER_TYPES                                                                              \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |             \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

enum {
	WORD = 8,
	HEADER_BYTES = 8,
	BRANCH_WORDS = 3, /* from, to, flags */
};

/* The part of one record that is not decoded yet. */
struct cursor {
	const struct lc_ring *ring;
	uint64_t at;   /* counts as the ring's tail does */
	uint64_t left; /* bytes */
	bool bad;      /* a field reached beyond the record's end */
};

static void copy(const struct lc_ring *r, uint64_t at, void *out, size_t len)
{
	const uint64_t from = at & (r->size - 1);
	const uint64_t to_end = r->size - from;
	const size_t first = len < to_end ? len : (size_t)to_end;

	memcpy(out, r->data + from, first);
	if (first < len)
		memcpy((uint8_t *)out + first, r->data, len - first);
}

static void skip(struct cursor *c, uint64_t bytes)
{
	if (bytes > c->left) {
		c->bad = true;
		bytes = c->left;
	}
	c->at += bytes;
	c->left -= bytes;
}

/* Step over `count` items of `words` words each, `words` not being 0. */
static void skip_items(struct cursor *c, uint64_t count, uint64_t words)
{
	if (count > c->left / WORD / words) {
		c->bad = true;
		count = 0;
	}
	skip(c, count * words * WORD);
}

static void get(struct cursor *c, void *out, size_t len)
{
	if (len <= c->left)
		copy(c->ring, c->at, out, len);
	skip(c, len);
}

static uint64_t get64(struct cursor *c)
{
	uint64_t value = 0;

	get(c, &value, sizeof(value));
	return value;
}

static uint32_t get32(struct cursor *c)
{
	uint32_t value = 0;

	get(c, &value, sizeof(value));
	return value;
}

static unsigned bits(uint64_t value)
{
	return (unsigned)__builtin_popcountll(value);
}

/* -- fields that a sample shares with the trailer of other records -------------------------- */

static inline __attribute__((always_inline)) void
get_thread_and_time(struct cursor *c, uint64_t type, struct lc_ring_record *out)
{
	if (type & PERF_SAMPLE_TID) {
		out->pid = get32(c);
		out->tid = get32(c);
	}
	if (type & PERF_SAMPLE_TIME)
		out->time_ns = get64(c);
}

static inline __attribute__((always_inline)) void get_id_and_cpu(struct cursor *c, uint64_t type,
                                                                 struct lc_ring_record *out)
{
	if (type & PERF_SAMPLE_ID)
		out->id = get64(c);
	if (type & PERF_SAMPLE_STREAM_ID)
		skip(c, WORD);
	if (type & PERF_SAMPLE_CPU) {
		out->cpu = get32(c);
		skip(c, sizeof(uint32_t));
	}
}

/* -- samples ------------------------------------------------------------------------------ */

static void skip_read(struct cursor *c, uint64_t format)
{
	const uint64_t times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	const uint64_t of_each = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	uint64_t count = 1;

	if (format & PERF_FORMAT_GROUP)
		count = get64(c);
	skip(c, (uint64_t)bits(format & times) * WORD);
	skip_items(c, count, 1 + bits(format & of_each));
}

/* Returns false where it cannot be told whether PERF_SAMPLE_BRANCH_HW_INDEX's word follows. */
static bool skip_branches(struct cursor *c, uint64_t branch_type)
{
	const uint64_t count = get64(c);

	/* The kernel leaves the index out of a sample that has no branch stack at all. */
	if (count == 0 && branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		return false;
	if (branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		skip(c, WORD);
	skip_items(c, count, BRANCH_WORDS + (branch_type & BRANCH_COUNTERS ? 1 : 0));
	return true;
}

/* Returns the ABI. `out`: LC_RING_REGISTERS of them, or NULL. */
static uint64_t get_registers(struct cursor *c, uint64_t mask, uint64_t *out)
{
	const uint64_t abi = get64(c);

	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return abi;
	for (; mask; mask &= mask - 1) {
		const unsigned number = (unsigned)__builtin_ctzll(mask);
		const uint64_t value = get64(c);

		if (out && number < LC_RING_REGISTERS)
			out[number] = value;
	}
	return abi;
}

static void get_weight(struct cursor *c, uint64_t type, struct lc_ring_record *out)
{
	const uint64_t weight = get64(c);

	if (!(type & PERF_SAMPLE_WEIGHT_STRUCT)) {
		out->weight = weight;
		return;
	}
	out->weight = (uint32_t)weight;
	out->weight2 = (uint16_t)(weight >> 32);
	out->weight3 = (uint16_t)(weight >> 48);
}

static void get_stack(struct cursor *c)
{
	const uint64_t size = get64(c);

	if (!size)
		return; /* the size that was really dumped is then absent too */
	skip(c, size);
	skip(c, WORD);
}

/* The fields before the branch stack. */
static void get_front(struct cursor *c, const struct lc_ring_layout *l, struct lc_ring_record *out)
{
	const uint64_t type = l->sample_type;

	if (type & PERF_SAMPLE_IDENTIFIER)
		out->id = get64(c);
	if (type & PERF_SAMPLE_IP)
		out->ip = get64(c);
	get_thread_and_time(c, type, out);
	if (type & PERF_SAMPLE_ADDR)
		out->addr = get64(c);
	get_id_and_cpu(c, type, out);
	if (type & PERF_SAMPLE_PERIOD)
		out->period = get64(c);
	if (type & PERF_SAMPLE_READ)
		skip_read(c, l->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN)
		skip_items(c, get64(c), 1);
	if (type & PERF_SAMPLE_RAW)
		skip(c, get32(c));
}

/* The fields behind the branch stack. */
static void get_back(struct cursor *c, const struct lc_ring_layout *l, struct lc_ring_record *out)
{
	const uint64_t type = l->sample_type;

	if (type & PERF_SAMPLE_REGS_USER)
		get_registers(c, l->regs_user, NULL);
	if (type & PERF_SAMPLE_STACK_USER)
		get_stack(c);
	if (type & PERF_SAMPLE_WEIGHT_TYPE)
		get_weight(c, type, out);
	if (type & PERF_SAMPLE_DATA_SRC)
		out->data_src = get64(c);
	if (type & PERF_SAMPLE_TRANSACTION)
		skip(c, WORD);
	if (type & PERF_SAMPLE_REGS_INTR)
		out->regs_intr_abi = get_registers(c, l->regs_intr, out->regs_intr);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		out->phys_addr = get64(c);
	if (type & PERF_SAMPLE_CGROUP)
		skip(c, WORD);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		skip(c, WORD);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		skip(c, WORD);
	if (type & PERF_SAMPLE_AUX)
		skip(c, get64(c));
}

/* Does the layout account for each byte of the record? */
static bool exact(const struct cursor *c)
{
	return !c->bad && c->left == 0;
}

static bool get_sample(struct cursor *c, const struct lc_ring_layout *l, struct lc_ring_record *out)
{
	struct lc_ring_record other;
	struct cursor with_index;

	if (l->sample_type & ~KNOWN_SAMPLE_TYPES)
		return false;
	get_front(c, l, out);
	if (!(l->sample_type & PERF_SAMPLE_BRANCH_STACK) || skip_branches(c, l->branch_type)) {
		get_back(c, l, out);
		return exact(c);
	}
	/* Only one reading can be right; where both fit, the fields in question stay 0. */
	with_index = *c;
	other = *out;
	skip(&with_index, WORD);
	get_back(&with_index, l, &other);
	if (!exact(&with_index)) {
		get_back(c, l, out);
		return exact(c);
	}
	get_back(c, l, &(struct lc_ring_record){ .type = LC_RING_SAMPLE });
	if (!exact(c))
		*out = other;
	return true;
}

/* -- other records ------------------------------------------------------------------------ */

static void get_trailer(struct cursor *c, uint64_t type, struct lc_ring_record *out)
{
	get_thread_and_time(c, type, out);
	get_id_and_cpu(c, type, out);
	if (type & PERF_SAMPLE_IDENTIFIER)
		out->id = get64(c);
}

/* A record with `words` words of its own, then perhaps the trailer, which ends with the record. */
static bool get_other(struct cursor *c, const struct lc_ring_layout *l, unsigned words,
                      struct lc_ring_record *out)
{
	const uint64_t trailer_bytes =
	    l->sample_id_all ? (uint64_t)bits(l->sample_type & TRAILER_TYPES) * WORD : 0;
	struct cursor trailer = *c;

	if (c->left < words * (uint64_t)WORD + trailer_bytes)
		return false;
	skip(&trailer, c->left - trailer_bytes);
	if (trailer_bytes)
		get_trailer(&trailer, l->sample_type, out);
	switch (out->type) {
	case LC_RING_LOST:
		out->id = get64(c);
		out->lost = get64(c);
		break;
	case LC_RING_LOST_SAMPLES:
		out->lost = get64(c);
		break;
	case LC_RING_THROTTLE:
	case LC_RING_UNTHROTTLE:
		out->time_ns = get64(c);
		out->id = get64(c);
		break;
	default:
		break;
	}
	return true;
}

static bool get_body(struct cursor *c, const struct perf_event_header *header,
                     struct lc_ring_record *out)
{
	const struct lc_ring_layout *l = &c->ring->layout;
	unsigned words = 0;

	switch (header->type) {
	case PERF_RECORD_SAMPLE:
		out->type = LC_RING_SAMPLE;
		return get_sample(c, l, out);
	case PERF_RECORD_LOST: /* id, lost */
		out->type = LC_RING_LOST;
		words = 2;
		break;
	case PERF_RECORD_LOST_SAMPLES: /* lost */
		out->type = LC_RING_LOST_SAMPLES;
		words = 1;
		break;
	case PERF_RECORD_THROTTLE: /* time, id, stream_id */
	case PERF_RECORD_UNTHROTTLE:
		out->type =
		    header->type == PERF_RECORD_THROTTLE ? LC_RING_THROTTLE : LC_RING_UNTHROTTLE;
		words = 3;
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE: /* pid and tid of the other task */
		out->type = header->misc & PERF_RECORD_MISC_SWITCH_OUT ? LC_RING_SWITCH_OUT
		                                                       : LC_RING_SWITCH_IN;
		words = header->type == PERF_RECORD_SWITCH_CPU_WIDE;
		break;
	default:
		out->type = LC_RING_OTHER;
		return true;
	}
	return get_other(c, l, words, out);
}

bool lc_ring_next(struct lc_ring *r, struct lc_ring_record *out)
{
	const uint64_t available = r->head - r->tail;
	struct perf_event_header header;
	struct cursor c;

	if (available == 0 || r->size < HEADER_BYTES || r->size & (r->size - 1))
		return false;
	memset(out, 0, sizeof(*out));
	out->type = LC_RING_DAMAGED;
	if (available < HEADER_BYTES || available > r->size) {
		r->tail = r->head;
		return true;
	}
	copy(r, r->tail, &header, sizeof(header));
	if (header.size < HEADER_BYTES || header.size % WORD || header.size > available) {
		r->tail = r->head;
		return true;
	}
	c = (struct cursor){ .ring = r,
		             .at = r->tail + HEADER_BYTES,
		             .left = header.size - (uint64_t)HEADER_BYTES };
	r->tail += header.size;
	if (!get_body(&c, &header, out)) {
		memset(out, 0, sizeof(*out));
		out->type = LC_RING_DAMAGED;
	}
	out->misc = header.misc;
	return true;
}
