/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/detail.h - records what a sample tells beyond its bucket: the field, the cache line,
 * and what the hardware measured.
 */
#ifndef LC_ATTRIBUTE_DETAIL_H
#define LC_ATTRIBUTE_DETAIL_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/attribute/reach.h"
#include "src/profile/profile_writer.h"

struct lc_thread;

/* PERF_SAMPLE_DATA_SRC of a sample, decoded; all 0 for engines without it. */
struct lc_data_src {
	bool known;
	uint8_t source; /* enum lc_data_source */
	uint8_t flags;  /* LC_METRIC_* */
	uint8_t touch;  /* LC_TOUCH_LOAD or LC_TOUCH_STORE of core/record.h; 0: it does not say */
};

/* A sample whose bucket is known. */
struct lc_detail {
	struct lc_thread *thread;
	struct lc_block_access at;
	uint8_t how;    /* enum lc_how */
	uint8_t access; /* LC_ACCESS_* of core/record.h */
	uint64_t addr;
	uint64_t object;     /* where the object begins; 0: unknown */
	uint64_t size_bytes; /* of the object; 0: unknown */
	uint64_t klass;      /* of the object, a Klass *; 0: unknown */
	struct lc_data_src measured;
	uint32_t latency; /* cycles */
	uint32_t step;    /* bytes from one access of the loop to the next; 0: unknown */
	struct lc_reach_load load;
	uint8_t read_on; /* as in lc_sample */
	bool elsewhere;  /* likewise */
	bool in_java;    /* the sample was taken in Java code */
	bool off_heap;   /* the object is a block outside the heap */
};

/* Add rows to the tally of d->thread, and to lines.h. Context: [writer]; `jni` is that thread's. */
void lc_detail_sample(JNIEnv *jni, const struct lc_detail *d);

/* Decode PERF_SAMPLE_DATA_SRC; 0 is what a sample without it has. Pure. Context: any. */
struct lc_data_src lc_detail_data_src(uint64_t data_src);

#endif
