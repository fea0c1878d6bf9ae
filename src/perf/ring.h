/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf/ring.h - decodes the records of a perf ring buffer.
 *
 * Pure: the mapped pages go in, structures come out; nothing here makes a system call.
 * Source: perf_event_open(2), linux/perf_event.h.
 */
#ifndef LC_PERF_RING_H
#define LC_PERF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Types of records that lc_ring_next() knows. */
enum lc_ring_type {
	LC_RING_SAMPLE = 1,
	LC_RING_LOST,         /* `lost` records found no room */
	LC_RING_LOST_SAMPLES, /* `lost` samples found no room in the PMU's own buffer */
	LC_RING_THROTTLE,     /* the kernel stopped the event until its next tick */
	LC_RING_UNTHROTTLE,
	LC_RING_SWITCH_IN,
	LC_RING_SWITCH_OUT,
	/* a record of another type, which is passed over: no field but `misc` is set */
	LC_RING_OTHER,
	/* a record that cannot have this layout: no field but `misc` is set. If its size is
	 * impossible, the rest of the buffer is given up. */
	LC_RING_DAMAGED
};

/* How the records of an event are laid out. */
struct lc_ring_layout {
	uint64_t sample_type; /* PERF_SAMPLE_* */
	uint64_t read_format; /* PERF_FORMAT_*, for PERF_SAMPLE_READ */
	uint64_t branch_type; /* PERF_SAMPLE_BRANCH_*, for PERF_SAMPLE_BRANCH_STACK */
	uint64_t regs_user;   /* masks of PERF_SAMPLE_REGS_* */
	uint64_t regs_intr;
	bool sample_id_all; /* other records end in the identifying fields */
};

enum { LC_RING_REGISTERS = 24 }; /* of x86-64, as asm/perf_regs.h numbers them (AX .. R15) */

/*
 * A record. Fields that the layout or the record's type does not have are 0. Records other
 * than samples have pid, tid, cpu, time_ns and id from what `sample_id_all` appends to them.
 */
struct lc_ring_record {
	enum lc_ring_type type;
	uint32_t pid, tid;
	uint32_t cpu;
	uint16_t misc; /* PERF_RECORD_MISC_* */
	uint64_t time_ns;
	uint64_t ip;
	uint64_t addr;
	uint64_t id; /* PERF_SAMPLE_IDENTIFIER or _ID; with LC_RING_LOST the event that lost */
	uint64_t period;
	uint64_t lost;
	uint64_t data_src;
	uint64_t weight;  /* PERF_SAMPLE_WEIGHT, or var1 of the structured one */
	uint32_t weight2; /* var2, var3 of PERF_SAMPLE_WEIGHT_STRUCT */
	uint32_t weight3;
	uint64_t phys_addr;
	uint64_t regs_intr_abi;                /* PERF_SAMPLE_REGS_ABI_*; 0: no registers */
	uint64_t regs_intr[LC_RING_REGISTERS]; /* at the place of their number */
};

/*
 * A reader of a ring: `data` has `size` bytes, a power of two (with any other there is nothing to
 * read). `tail` and `head` count bytes from the ring's birth; what is in between is to be read.
 */
struct lc_ring {
	const uint8_t *data;
	uint64_t size;
	uint64_t tail, head;
	struct lc_ring_layout layout;
};

/*
 * Decode the record at the tail and pass over it. Returns false, *out untouched, where none is
 * left. Reads nothing outside data[0, size) whatever the bytes are, and no field from beyond its
 * record's end. A sample is believed only if the layout accounts for each of its bytes; other
 * records may be longer, as those of newer kernels are. The work is bounded: about 100 fields of 8
 * bytes; parts of variable length are stepped over. Context: [signal] or any.
 */
bool lc_ring_next(struct lc_ring *r, struct lc_ring_record *out);

#endif
