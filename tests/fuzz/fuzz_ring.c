/* uses: src/perf/ring.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_ring.c - decodes any bytes as a perf ring: nothing outside it is read, the reader comes to
 * an end, and it makes no difference where the ring's memory begins.
 *
 * Input: a struct input, then the records; a record that is cut off is filled with zeros.
 */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/perf/ring.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	uint32_t sample_type;
	uint32_t branch_type;
	uint64_t regs_user, regs_intr;
	uint16_t start;  /* where the first record lies in the ring */
	uint16_t beyond; /* head is so many bytes further than there are records, less 16 */
	uint8_t read_format;
	uint8_t flags; /* 1: sample_id_all */
	uint8_t order; /* the ring has 2^(4 + order % 9) bytes at least */
	uint8_t unused;
};

static struct lc_ring make(const struct input *in, const uint8_t *records, size_t len,
                           uint8_t **memory, uint64_t start)
{
	uint64_t size = UINT64_C(16) << (in->order % 9);
	struct lc_ring r;

	while (size < len)
		size *= 2;
	*memory = malloc(size); /* exactly so long that reading on is noticed */
	if (!*memory)
		abort();
	for (uint64_t i = 0; i < size; i++)
		(*memory)[i] = 0xa5;
	for (size_t i = 0; i < len; i++)
		(*memory)[(start + i) % size] = records[i];
	memset(&r, 0, sizeof(r));
	r.data = *memory;
	r.size = size;
	r.tail = start;
	r.head = start + len + in->beyond % 32 - 16;
	r.layout.sample_type = in->sample_type;
	r.layout.read_format = in->read_format;
	r.layout.branch_type = in->branch_type;
	r.layout.regs_user = in->regs_user;
	r.layout.regs_intr = in->regs_intr;
	r.layout.sample_id_all = in->flags & 1;
	return r;
}

/* Invariants of a record, whatever its bytes are. */
static void check(const struct lc_ring_record *r, const struct lc_ring_layout *l)
{
	struct lc_ring_record empty;

	if (r->type < LC_RING_SAMPLE || r->type > LC_RING_DAMAGED)
		abort();
	if (r->type == LC_RING_DAMAGED || r->type == LC_RING_OTHER) {
		memset(&empty, 0, sizeof(empty));
		empty.type = r->type;
		empty.misc = r->misc;
		if (memcmp(&empty, r, sizeof(empty)) != 0)
			abort();
	}
	if (!(l->sample_type & PERF_SAMPLE_ADDR) && r->addr)
		abort();
	if (!(l->sample_type & PERF_SAMPLE_REGS_INTR) && r->regs_intr_abi)
		abort();
	if (r->type != LC_RING_SAMPLE && (r->ip || r->addr || r->period || r->data_src))
		abort();
	for (unsigned i = 0; i < LC_RING_REGISTERS; i++)
		if (r->regs_intr[i] && !(l->regs_intr >> i & 1))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lc_ring_record here, there;
	struct lc_ring wrapped, straight;
	uint8_t *first, *second;
	struct input in;
	uint64_t tail;
	bool more;

	if (size < sizeof(in) || size > 65536)
		return 0;
	memcpy(&in, data, sizeof(in));
	wrapped = make(&in, data + sizeof(in), size - sizeof(in), &first, in.start);
	straight = make(&in, data + sizeof(in), size - sizeof(in), &second, 0);
	for (;;) {
		memset(&here, 0, sizeof(here)); /* padding too */
		memset(&there, 0, sizeof(there));
		tail = wrapped.tail;
		more = lc_ring_next(&wrapped, &here);
		if (more != lc_ring_next(&straight, &there))
			abort();
		if (!more)
			break;
		check(&here, &wrapped.layout);
		if (memcmp(&here, &there, sizeof(here)) != 0)
			abort();
		if (wrapped.tail - tail != 0 && wrapped.tail - tail < 8 &&
		    wrapped.tail != wrapped.head)
			abort();
		if (wrapped.tail == tail)
			abort(); /* it would never end */
	}
	if (wrapped.tail != wrapped.head && wrapped.size >= 8)
		abort();
	free(first);
	free(second);
	return 0;
}
