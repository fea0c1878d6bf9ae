/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/span_plan.h - decides, by names alone, which methods of a class get which hooks of
 * spans.
 *
 * Pure functions; private to classfile/span_*.c.
 */
#ifndef LC_CLASSFILE_SPAN_PLAN_H
#define LC_CLASSFILE_SPAN_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "src/classfile/class_file.h"
#include "src/classfile/span_rewrite.h"

/* Methods of LocusSpan. */
enum lc_span_call {
	LC_SPAN_NO_CALL,
	LC_SPAN_STREAM_BEGIN,
	LC_SPAN_HEAD_BEGIN,
	LC_SPAN_FOREIGN_BEGIN,
	LC_SPAN_PULL,
	LC_SPAN_END,
	LC_SPAN_ENDED, /* with the object that is returned */
	LC_SPAN_STREAM_TASK,
	LC_SPAN_SUPPORT_BEGIN,
	LC_SPAN_CREATED,
	LC_SPAN_SUBMITTED,
	LC_SPAN_SUBMITTED_ALL,
	LC_SPAN_LEFT,
	LC_SPAN_REFUSED,
	LC_SPAN_TASK_BEGIN,
	LC_SPAN_MOUNT,
	LC_SPAN_UNMOUNT,
	LC_SPAN_CARRIES, /* of LocusHook, as the next one */
	LC_SPAN_CARRIED,
	LC_SPAN_RUN,
	LC_SPAN_EXECUTE,
	LC_SPAN_CALL,
	LC_SPAN_RUN_REFERRED,
	LC_SPAN_CALL_REFERRED,
	LC_SPAN_FLAT, /* of a Function; the next three in the order of flat_functions[] */
	LC_SPAN_FLAT_INT,
	LC_SPAN_FLAT_LONG,
	LC_SPAN_FLAT_DOUBLE,
	LC_SPAN_CALL_COUNT
};

/* Facts about a class. */
struct lc_span_class {
	const struct lc_class *cls;
	struct lc_class_text name, super;
	unsigned what;
	uint32_t is;        /* LC_SPAN_IS_ */
	bool super_created; /* a superclass's constructors have the hook that its own would get */
	bool wrapper;       /* LC_TASK_WRAPPER */
	bool worker;        /* its run() is the loop of a pool's thread */
	bool stream;        /* a class of java/util/stream */
	bool calls;         /* calls in its methods are hooked */
};

/* The hooks that a method gets. */
struct lc_span_plan {
	enum lc_span_call prologue;
	int argument;         /* of SUBMITTED, SUBMITTED_ALL, TASK_BEGIN: kind, or traits */
	uint8_t local;        /* local variable with the object that the prologue is about */
	bool both;            /* the prologue gets the next local variable too */
	bool wrapped;         /* the prologue begins a span that each way out ends */
	bool entered;         /* likewise a submission, in which others may be */
	bool created;         /* call CREATED before the method returns */
	bool stream_task;     /* call STREAM_TASK before the method returns */
	bool carries_virtual; /* virtual threads are mounted and unmounted in it */
};

/*
 * Set *out; `is` is that of lc_span_rewrite(), and the types that the class file itself names are
 * added.
 */
void lc_span_classify(const struct lc_class *c, unsigned what, uint32_t is,
                      struct lc_span_class *out);

/* The hooks of a method but those of calls in it; all 0 if it gets none. */
struct lc_span_plan lc_span_plan_method(const struct lc_span_class *k, const struct lc_member *m);

#endif
