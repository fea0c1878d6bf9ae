/*
 * classfile/span_plan.h - which methods of a class get what hooks of spans, by names alone.
 *
 * Pure functions; private to classfile/span_*.c.
 */
#ifndef LC_CLASSFILE_SPAN_PLAN_H
#define LC_CLASSFILE_SPAN_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "src/classfile/reader.h"
#include "src/classfile/span_rewrite.h"

/* Methods of LocusSpan. */
enum lc_span_call {
	LC_SPAN_NO_CALL,
	LC_SPAN_STREAM_BEGIN,
	LC_SPAN_HEAD_BEGIN,
	LC_SPAN_FOREIGN_BEGIN,
	LC_SPAN_PULL,
	LC_SPAN_END,
	LC_SPAN_STREAM_TASK,
	LC_SPAN_SUPPORT_BEGIN,
	LC_SPAN_CREATED,
	LC_SPAN_SUBMITTED,
	LC_SPAN_SUBMITTED_ALL,
	LC_SPAN_TASK_BEGIN,
	LC_SPAN_MOUNT,
	LC_SPAN_UNMOUNT,
	LC_SPAN_RUN,
	LC_SPAN_CALL,
	LC_SPAN_CALL_COUNT
};

/* What is known of a class. */
struct lc_span_class {
	const struct lc_class *cls;
	struct lc_class_text name, super;
	unsigned what;
	uint32_t is;        /* LC_SPAN_IS_ */
	bool super_created; /* constructors of a superclass have the hook that its own would get */
	bool wrapper;       /* LC_TASK_WRAPPER */
	bool worker;        /* its run() is the loop of a pool's thread */
	bool stream;        /* one of java/util/stream */
	bool calls;         /* calls in it are hooked */
	bool async;         /* what it gives to an Executor is asynchronous */
};

/* What a method gets. */
struct lc_span_plan {
	enum lc_span_call prologue;
	int argument;         /* of SUBMITTED, SUBMITTED_ALL, TASK_BEGIN: kind, or traits */
	uint8_t local;        /* the object that the prologue is about */
	bool both;            /* and the next local too */
	bool wrapped;         /* the prologue begins what each way out ends */
	bool created;         /* before it returns, */
	bool stream_task;     /* likewise */
	bool carries_virtual; /* virtual threads are mounted and unmounted in it */
};

/* `is` as for lc_span_rewrite(); what the class file tells itself is added. */
void lc_span_classify(const struct lc_class *c, unsigned what, uint32_t is,
                      struct lc_span_class *out);

/* All 0 where nothing is to be done but for calls in it. */
struct lc_span_plan lc_span_plan_method(const struct lc_span_class *k, const struct lc_member *m);

#endif
