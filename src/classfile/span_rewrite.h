/*
 * classfile/span_rewrite.h - begins and ends of spans in Java bytecode.
 *
 * Pure functions over bytes, a pass of its own before lc_rewrite_class(): no JVM, no global state.
 * Context: [java] (ClassFileLoadHook).
 *
 * A method that is a span gets a call at its start (never reached by a jump back to the first
 * instruction), `invokestatic end` before each return, and at the end of its code a handler for
 * all of it, last in the table: `invokestatic end; athrow`, whose frame has no locals, so that it
 * holds wherever the exception came from. No local variable is added and no method or field.
 */
#ifndef LC_CLASSFILE_SPAN_REWRITE_H
#define LC_CLASSFILE_SPAN_REWRITE_H

#include <stddef.h>
#include <stdint.h>

#include "src/classfile/alloc_rewrite.h"

#define LC_SPAN_CLASS "java/lang/LocusSpan"

/*
 * What a class is, as its supertypes tell; the caller knows, by the JVM or by direct interfaces. JDK
 * classes that are special by name (java.util.stream, FutureTask, VirtualThread ...) need none.
 */
enum {
	LC_SPAN_IS_RUNNABLE = 1,
	LC_SPAN_IS_CALLABLE = 2,
	LC_SPAN_IS_FORK_JOIN = 4, /* ForkJoinTask */
	LC_SPAN_IS_THREAD = 8,
	LC_SPAN_IS_EXECUTOR = 16, /* Executor, ExecutorService, ScheduledExecutorService */
	LC_SPAN_IS_FOREIGN = 32,  /* BaseStream, but not AbstractPipeline */
	LC_SPAN_TYPES = 6
};

/* What to hook. */
enum { LC_SPAN_STREAMS = 1, LC_SPAN_TASKS = 2 };

/* Traits of a task's class, passed to LocusSpan.taskBegin(). */
enum {
	LC_TASK_THREAD =
	    1, /* a Thread, or a worker's loop (ThreadPoolExecutor$Worker, ForkJoinWorkerThread) */
	LC_TASK_WRAPPER = 2,   /* transparent: FutureTask, adapters */
	LC_TASK_FORK_JOIN = 4, /* exec() of a ForkJoinTask */
};

/* Is the class of that name (internal form, `len` bytes) one of LC_TASK_WRAPPER by itself? */
bool lc_span_is_wrapper(const char *name, size_t len);

/*
 * Does it matter what the class is? The LC_SPAN_IS_ bits that would give it hooks beyond those it has
 * anyway: it declares a method that would be one. 0: rewriting it once, with no bits, is enough.
 * Bits whose answer the class file itself holds (direct supertypes that are named like the JDK's types, which nobody
 * else can define) are returned in *known; lc_span_rewrite() finds them by itself. A class whose direct supertypes are
 * all called java/... is known through and through. Returns 0 for what does not parse.
 */
uint32_t lc_span_matters(const uint8_t *in, size_t len, unsigned what, uint32_t *known);

/*
 * Insert the hooks. As lc_rewrite_class(): *out is overwritten, its bytes malloc'ed for
 * LC_REWRITE_DONE only; LC_REWRITE_NOTHING where there is nothing to hook. `sites` are the calls of
 * LocusSpan; a method that would outgrow its limits stays as it is and is counted in `methods_left`.
 *
 * Several submissions of one object follow each other where one method that takes it calls another: CompletableFuture
 * tells ASYNC at its call of Executor.execute(), whose body then tells EXECUTE; submit(), schedule() or invokeAll()
 * may do likewise with the task itself. The first counts, until the object is executed.
 */
enum lc_rewrite_status lc_span_rewrite(const uint8_t *in, size_t len, unsigned what, uint32_t is,
                                       struct lc_rewrite_result *out);

/*
 * For class files of the boot loader: NULL, or the name of a method of java.util.stream that the class ought to have and
 * does not. Streams of such a JDK cannot be told: spans of streams are to be off.
 */
const char *lc_span_stream_mismatch(const uint8_t *in, size_t len);

#endif
