/* SPDX-License-Identifier: Apache-2.0 */
/* attribute/resolve_impl.h - declares what resolve.c and resolve_order.c share; private to them. */
#ifndef LC_ATTRIBUTE_RESOLVE_IMPL_H
#define LC_ATTRIBUTE_RESOLVE_IMPL_H

#include "src/attribute/detail.h"
#include "src/attribute/resolve.h"
#include "src/base/vector.h"
#include "src/core/record.h"
#include "src/heap/map.h"

/* So long before its object is known, Java code touches a page for the first time. */
#define LC_FIRST_TOUCH_NS UINT64_C(1000000000)

/* A sample taken from its log, until its address is resolved. */
struct lc_pending {
	struct lc_thread *thread; /* NULL: counted */
	uint64_t addr;
	uint64_t now_at; /* where a collection has put what lay at `addr`; else `addr` */
	uint64_t time_ns;
	/* Position of the thread's allocation log when the sample was taken from the sample log. */
	uint64_t position;
	uint64_t object;
	uint64_t klass;
	uint64_t samples; /* expirations of the timer that the signal stood for */
	uint32_t object_words;
	uint32_t latency;
	uint32_t epoch;
	uint32_t path;
	uint32_t span;             /* as in lc_sample */
	uint32_t step;             /* likewise */
	struct lc_reach_load load; /* of s->loaded */
	uint8_t read_on;           /* as in lc_sample */
	bool elsewhere;            /* likewise */
	uint16_t cpu;
	struct lc_data_src measured;
	uint8_t engine;
	uint8_t where;
	uint8_t how;
	uint8_t access;
	bool waits; /* for its object's record */

	/* With collectors that move objects while the program runs. */
	struct lc_alloc next;  /* what its thread has recorded next; site 0: not known yet */
	struct lc_object then; /* what was at its address in the map; site 0: nothing */
	bool looked_up;

	/* In lc_resolve_carry(). */
	bool overwritten;
	uint64_t moved_to;
};

struct lc_resolve_work {
	struct lc_vector pending, queries;
	size_t ordered;          /* samples in order that lc_resolve_until() has passed */
	uint64_t min_size_bytes; /* of lc_resolve_ordered_init() */
	struct {
		uint64_t carried;    /* times that a sample waited over a collection */
		uint64_t unresolved; /* samples counted without their path, for want of memory */
		uint64_t
		    classes_checked;     /* samples whose object both the map and the header told */
		uint64_t headers_inside; /* ... of them: what looked like a header lay inside a live
		                          * object
		                          */
		uint64_t class_disagreements; /* samples whose object they told differently */
		uint64_t dead_met; /* in order: ... since an untracked one had come to lie in its
		                      place */
	} stats;
};

extern struct lc_resolve_work lc_resolve_work;

/* Was the sample taken in Java code? */
bool lc_resolve_in_java(const struct lc_pending *p);

/* Count a sample: the query tells what is at its address. It waits no more. */
void lc_resolve_finish(JNIEnv *jni, struct lc_pending *p, const struct lc_query *q);

/* Take out the samples that are counted. The others wait, unless `give_up` counts them as lost. */
void lc_resolve_keep(bool give_up);

#endif
