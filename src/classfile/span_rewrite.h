/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/span_rewrite.h - inserts into the bytecode of a class the calls that begin and end
 * spans.
 *
 * Pure functions over bytes: no JVM, no global state. They run before lc_rewrite_class().
 * Context: [java] (ClassFileLoadHook).
 *
 * A method that is a span gets a call at its start (never reached by a jump back to the first
 * instruction), `invokestatic end` before each return, and at the end of its code a handler for
 * all of it, last in the table: `invokestatic end; athrow`. The frame of the handler has no locals,
 * so that it is right wherever the exception came from. No local variable, method or field is
 * added.
 */
#ifndef LC_CLASSFILE_SPAN_REWRITE_H
#define LC_CLASSFILE_SPAN_REWRITE_H

#include <stddef.h>
#include <stdint.h>

#include "src/classfile/rewrite.h"

#define LC_SPAN_CLASS "java/lang/LocusSpan"

/*
 * The types that a class is of. The caller learns them from the JVM or from the direct interfaces.
 * Classes of the JDK that are known by name (java.util.stream, FutureTask, VirtualThread ...) need
 * none of the bits.
 */
enum {
	LC_SPAN_IS_RUNNABLE = 1,
	LC_SPAN_IS_CALLABLE = 2,
	LC_SPAN_IS_FORK_JOIN = 4, /* ForkJoinTask */
	LC_SPAN_IS_THREAD = 8,
	LC_SPAN_IS_EXECUTOR = 16, /* Executor, ExecutorService, ScheduledExecutorService */
	LC_SPAN_IS_FOREIGN = 32,  /* BaseStream, but not AbstractPipeline */
	LC_SPAN_TYPES = 6,
	/* Questions of lc_span_matters() beside types, for classes that are tasks: */
	LC_SPAN_CREATED_HERE = 64, /* is it the first class of its kind that has constructors? */
	LC_SPAN_BODY_ABOVE = 128   /* is its body inherited from a class that is no task? */
};

/*
 * The spans to hook. LC_SPAN_CARRIERS: carriers of virtual threads tell LocusHook whom they carry,
 * for request contexts.
 */
enum { LC_SPAN_STREAMS = 1, LC_SPAN_TASKS = 2, LC_SPAN_CARRIERS = 4 };

/* Traits of a task's class, passed to LocusSpan.taskBegin(). */
enum {
	/* a Thread, or a worker's loop (ThreadPoolExecutor$Worker, ForkJoinWorkerThread) */
	LC_TASK_THREAD = 1,
	/* a task that only runs another task: FutureTask, adapters */
	LC_TASK_WRAPPER = 2,
	/* exec() or compute() of a ForkJoinTask */
	LC_TASK_FORK_JOIN = 4,
	/* Thread.run() itself, which runs the thread's target */
	LC_TASK_TARGETED = 8,
};

/* Bits beside the kind (format/kinds.h) that LocusSpan.submitted() gets. */
enum {
	LC_SUBMIT_KIND_MASK = 0xff,
	/* the method may submit the same object once more, and tells when it is left */
	LC_SUBMIT_ENTERS = 0x100,
	/* likewise, any of the objects that wait to be executed: it was given several */
	LC_SUBMIT_ENTERS_ALL = 0x200,
	/* the hook is where the method is called, not in it */
	LC_SUBMIT_CALLED = 0x400,
	/* no submission, but the begin of a method that may repeat the one that it is called in */
	LC_SUBMIT_AGAIN = 0x800,
};

/* Is the class of that name (internal form, `len` bytes) a wrapper of tasks, LC_TASK_WRAPPER? */
bool lc_span_is_wrapper(const char *name, size_t len);

/*
 * Which types does the caller have to find out? Returns the LC_SPAN_IS_ bits that would give the
 * class hooks beyond those that it gets anyway, since it declares a method that would be hooked. 0
 * means that rewriting the class once, with no bits, is enough; a class file that does not parse
 * gives 0 too. *known gets the bits that the class file itself tells: its direct supertypes have
 * names of the JDK's types, which nobody else can define. lc_span_rewrite() finds those by itself.
 * If all direct supertypes are called java/..., nothing is left to find out.
 */
uint32_t lc_span_matters(const uint8_t *in, size_t len, unsigned what, uint32_t *known);

/*
 * Insert the hooks. *out is overwritten as by lc_rewrite_class(): its bytes are malloc'ed for
 * LC_REWRITE_DONE only, and LC_REWRITE_NOTHING means that there is nothing to hook. `sites` are the
 * calls of LocusSpan; a method that would outgrow its limits stays as it is and is counted in
 * `methods_left`.
 *
 * One object may be submitted several times in a row, if one method that takes it calls another: a
 * program's own Executor hands it on to a pool, invokeAll() forks. So such a method also reports
 * that it is left, by return (LocusSpan.left()) or exception (refused()). Submissions of the object
 * in between are the same submission; the outermost report counts. Calls of Executor.execute() go
 * through LocusSpan.execute(), since a lambda expression's class has no hook of its own.
 */
enum lc_rewrite_status lc_span_rewrite(const uint8_t *in, size_t len, unsigned what, uint32_t is,
                                       struct lc_rewrite_result *out);

/*
 * Check a class file of the boot loader: returns NULL, or the name of a method of java.util.stream
 * that the class ought to have and does not have. Streams of such a JDK cannot be recognised, so
 * the caller turns spans of streams off.
 */
const char *lc_span_stream_mismatch(const uint8_t *in, size_t len);

#endif
