/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/span_plan.c - knows the classes of the JDK that matter to spans, by their names.
 *
 * The names were taken from the class files of JDK 17 and 25. Nobody but the JDK can define a class
 * in java.*, so such a name means the same class in every loader, and a class called java/... that
 * is not listed here is of none of the types. The file is longer than 600 lines because of the
 * names.
 */
#include "src/classfile/span_plan.h"

#include <string.h>

#include "src/classfile/big_endian.h"
#include "src/format/kinds.h"

enum {
	ACC_PRIVATE = 2,
	ACC_STATIC = 8,
	ACC_BRIDGE = 0x40,
	ACC_INTERFACE = 0x200,
	ACC_ABSTRACT = 0x400
};
enum { ACC_PUBLIC = 1 };

#define CONCURRENT "java/util/concurrent/"
#define STREAM "java/util/stream/"

enum {
	RUNNABLE = LC_SPAN_IS_RUNNABLE,
	CALLABLE = LC_SPAN_IS_CALLABLE,
	FORK_JOIN = LC_SPAN_IS_FORK_JOIN,
	THREAD = LC_SPAN_IS_THREAD,
	EXECUTOR = LC_SPAN_IS_EXECUTOR,
	FOREIGN = LC_SPAN_IS_FOREIGN,
	TASK = RUNNABLE | CALLABLE | FORK_JOIN,
};

/*
 * The types that other classes extend or implement. A CompletionService hands tasks on as an
 * Executor does. The stream interfaces make a class foreign; the JDK's own implementations of them
 * are not looked at.
 */
static const struct {
	const char *name;
	uint32_t is;
} types[] = {
	{ "java/lang/Runnable", RUNNABLE },
	{ "java/lang/Thread", RUNNABLE | THREAD },
	{ "java/lang/BaseVirtualThread", RUNNABLE | THREAD },
	{ "java/util/TimerTask", RUNNABLE },
	{ CONCURRENT "Callable", CALLABLE },
	{ CONCURRENT "RunnableFuture", RUNNABLE },
	{ CONCURRENT "RunnableScheduledFuture", RUNNABLE },
	{ CONCURRENT "FutureTask", RUNNABLE },
	{ CONCURRENT "ForkJoinWorkerThread", RUNNABLE | THREAD },
	{ CONCURRENT "ForkJoinTask", FORK_JOIN },
	{ CONCURRENT "ForkJoinTask$InterruptibleTask", FORK_JOIN | RUNNABLE },
	{ CONCURRENT "RecursiveAction", FORK_JOIN },
	{ CONCURRENT "RecursiveTask", FORK_JOIN },
	{ CONCURRENT "CountedCompleter", FORK_JOIN },
	{ CONCURRENT "CompletableFuture$Completion", FORK_JOIN | RUNNABLE },
	{ CONCURRENT "CompletableFuture$UniCompletion", FORK_JOIN | RUNNABLE },
	{ CONCURRENT "CompletableFuture$BiCompletion", FORK_JOIN | RUNNABLE },
	{ CONCURRENT "ConcurrentHashMap$BulkTask", FORK_JOIN },
	{ "java/math/BigInteger$RecursiveOp", FORK_JOIN },
	{ STREAM "AbstractTask", FORK_JOIN },
	{ STREAM "AbstractShortCircuitTask", FORK_JOIN },
	{ STREAM "Nodes$CollectorTask", FORK_JOIN },
	{ STREAM "Nodes$SizedCollectorTask", FORK_JOIN },
	{ STREAM "Nodes$ToArrayTask", FORK_JOIN },
	{ STREAM "Nodes$ToArrayTask$OfPrimitive", FORK_JOIN },
	{ CONCURRENT "Executor", EXECUTOR },
	{ CONCURRENT "ExecutorService", EXECUTOR },
	{ CONCURRENT "ScheduledExecutorService", EXECUTOR },
	{ CONCURRENT "CompletionService", EXECUTOR },
	{ CONCURRENT "AbstractExecutorService", EXECUTOR },
	{ CONCURRENT "ThreadPoolExecutor", EXECUTOR },
	{ CONCURRENT "ScheduledThreadPoolExecutor", EXECUTOR },
	{ CONCURRENT "ForkJoinPool", EXECUTOR },
	{ CONCURRENT "Executors$DelegatedExecutorService", EXECUTOR },
	{ STREAM "BaseStream", FOREIGN },
	{ STREAM "Stream", FOREIGN },
	{ STREAM "IntStream", FOREIGN },
	{ STREAM "LongStream", FOREIGN },
	{ STREAM "DoubleStream", FOREIGN },
};

/*
 * The tasks that only run another task, which has a hook of its own or is seen at its call. A '*'
 * stands for any end of the name. CompletableFuture$AsyncSupply and the completions are not listed,
 * nor are Executors$1 and $2 and SubmissionPublisher$ConsumerTask: what they run (suppliers and
 * functions, privileged actions, a subscriber) is no task by itself.
 */
static const char *const wrappers[] = {
	CONCURRENT "FutureTask",                                      /* call() */
	CONCURRENT "ScheduledThreadPoolExecutor$ScheduledFutureTask", /* FutureTask.run() */
	CONCURRENT "ExecutorCompletionService$QueueingFuture",        /* FutureTask.run() */
	CONCURRENT "ThreadPerTaskExecutor$*",                         /* FutureTask.run(), run() */
	CONCURRENT "StructuredTaskScope*",      /* call() of subtasks, JDK 21+ */
	CONCURRENT "Executors$RunnableAdapter", /* run() */
	CONCURRENT "Executors$Privileged*",     /* call(), and run() in a factory's threads */
	CONCURRENT "ForkJoinTask$Adapted*",     /* run(), call() */
	CONCURRENT "ForkJoinTask$RunnableExecuteAction", /* run() */
	CONCURRENT "ForkJoinTask$InterruptibleTask",     /* all of these in JDK 22+ */
	CONCURRENT "ForkJoinPool$InvokeAny*",            /* call(); waits for the tasks */
	CONCURRENT "CompletableFuture$AsyncRun",         /* run() */
	CONCURRENT "CompletableFuture$TaskSubmitter",    /* hands it on when its time has come */
	"java/lang/VirtualThread$*",                     /* what carries a virtual thread */
};

/* The methods that execute a stream or ask for its elements. */
static const struct {
	const char *class_name;
	const char *name;
	const char *descriptor; /* NULL: any */
	enum lc_span_call prologue;
} executions[] = {
	{ "AbstractPipeline", "evaluate", "(Ljava/util/stream/TerminalOp;)Ljava/lang/Object;",
	  LC_SPAN_STREAM_BEGIN },
	{ "AbstractPipeline", "evaluateToArrayNode",
	  "(Ljava/util/function/IntFunction;)Ljava/util/stream/Node;", LC_SPAN_STREAM_BEGIN },
	{ "AbstractPipeline", "spliterator", "()Ljava/util/Spliterator;", LC_SPAN_PULL },
	{ "ReferencePipeline$Head", "forEach", "(Ljava/util/function/Consumer;)V",
	  LC_SPAN_HEAD_BEGIN },
	{ "ReferencePipeline$Head", "forEachOrdered", "(Ljava/util/function/Consumer;)V",
	  LC_SPAN_HEAD_BEGIN },
	{ "IntPipeline$Head", "forEach", "(Ljava/util/function/IntConsumer;)V",
	  LC_SPAN_HEAD_BEGIN },
	{ "IntPipeline$Head", "forEachOrdered", "(Ljava/util/function/IntConsumer;)V",
	  LC_SPAN_HEAD_BEGIN },
	{ "LongPipeline$Head", "forEach", "(Ljava/util/function/LongConsumer;)V",
	  LC_SPAN_HEAD_BEGIN },
	{ "LongPipeline$Head", "forEachOrdered", "(Ljava/util/function/LongConsumer;)V",
	  LC_SPAN_HEAD_BEGIN },
	{ "DoublePipeline$Head", "forEach", "(Ljava/util/function/DoubleConsumer;)V",
	  LC_SPAN_HEAD_BEGIN },
	{ "DoublePipeline$Head", "forEachOrdered", "(Ljava/util/function/DoubleConsumer;)V",
	  LC_SPAN_HEAD_BEGIN },
	/* Both call a private evaluate(), which a stateful stage inside a stream calls as well. */
	{ "GathererOp", "collect", "(Ljava/util/stream/Collector;)Ljava/lang/Object;",
	  LC_SPAN_STREAM_BEGIN },
	{ "GathererOp", "collect",
	  "(Ljava/util/function/Supplier;Ljava/util/function/BiConsumer;Ljava/util/function/"
	  "BiConsumer;)Ljava/lang/Object;",
	  LC_SPAN_STREAM_BEGIN },
	{ "AbstractTask", "compute", "()V", LC_SPAN_SUPPORT_BEGIN },
	{ "ForEachOps$ForEachTask", "compute", "()V", LC_SPAN_SUPPORT_BEGIN },
	{ "ForEachOps$ForEachOrderedTask", "compute", "()V", LC_SPAN_SUPPORT_BEGIN },
	{ "Nodes$SizedCollectorTask", "compute", "()V", LC_SPAN_SUPPORT_BEGIN },
	{ "Nodes$ToArrayTask", "compute", "()V", LC_SPAN_SUPPORT_BEGIN },
};

static const char *const terminals[] = {
	"forEach",     "forEachOrdered",
	"toArray",     "reduce",
	"collect",     "toList",
	"min",         "max",
	"count",       "sum",
	"average",     "anyMatch",
	"allMatch",    "noneMatch",
	"findFirst",   "findAny",
	"iterator",    "summaryStatistics",
	"spliterator",
};

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static bool is_one_of(struct lc_class_text name, const char *const *list, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (lc_class_text_is(name, list[i]))
			return true;
	return false;
}

bool lc_span_is_wrapper(const char *name, size_t len)
{
	for (size_t i = 0; i < LEN(wrappers); i++) {
		size_t part = strcspn(wrappers[i], "*");

		if ((wrappers[i][part] ? len >= part : len == part) &&
		    !memcmp(name, wrappers[i], part))
			return true;
	}
	return false;
}

/* The types of a class named java/...; *unknown is set for a class with any other name. */
static uint32_t types_of(struct lc_class_text name, bool *unknown)
{
	if (!lc_class_text_begins(name, "java/")) {
		*unknown |= name.data != NULL;
		return 0;
	}
	for (size_t i = 0; i < LEN(types); i++)
		if (lc_class_text_is(name, types[i].name))
			return types[i].is;
	return 0;
}

/* The types that the direct supertypes are, by their names. */
static uint32_t known_types(const struct lc_class *c, bool *unknown)
{
	const uint8_t *interfaces = c->bytes + c->interfaces;
	uint32_t is = types_of(lc_class_name(c, c->super_class), unknown);

	for (uint32_t i = lc_be_get2(interfaces); i; i--)
		is |= types_of(lc_class_name(c, lc_be_get2(interfaces + 2 * i)), unknown);
	return is;
}

void lc_span_classify(const struct lc_class *c, unsigned what, uint32_t is, struct lc_span_class *k)
{
	bool unknown = false;
	uint32_t super;

	*k = (struct lc_span_class){ .cls = c, .what = what };
	k->name = lc_class_name(c, c->this_class);
	k->super = lc_class_name(c, c->super_class);
	super = types_of(k->super, &unknown);
	k->is = is | known_types(c, &unknown);
	/* These classes are the root of their type, or no subtype of the tasks that they hand
	 * on. */
	if (lc_class_text_is(k->name, "java/lang/Thread"))
		k->is |= THREAD;
	if (lc_class_text_is(k->name, CONCURRENT "ForkJoinTask"))
		k->is |= FORK_JOIN;
	if (lc_class_text_is(k->name, "java/util/Timer"))
		k->is |= EXECUTOR;
	if (k->is & THREAD)
		k->is |= RUNNABLE;
	k->stream = lc_class_text_begins(k->name, STREAM);
	if (lc_class_text_begins(k->name, "java/"))
		k->is &= ~(uint32_t)FOREIGN;
	k->wrapper = k->name.data && lc_span_is_wrapper(k->name.data, k->name.len);
	k->worker = lc_class_text_is(k->name, CONCURRENT "ThreadPoolExecutor$Worker");
	/* FutureTask has no such hook: most of its objects wrap a task that has. */
	k->super_created = super & TASK && !lc_class_text_is(k->super, CONCURRENT "FutureTask");
	/* No hook may run where a continuation begins, or while a virtual thread changes its
	 * carrier. */
	k->calls = what & LC_SPAN_TASKS && !lc_class_text_begins(k->name, "jdk/internal/vm/") &&
	           !lc_class_text_begins(k->name, "java/lang/VirtualThread");
}

static bool same_text(struct lc_class_text a, struct lc_class_text b)
{
	return a.len == b.len && !memcmp(a.data, b.data, a.len);
}

static bool returns_object(struct lc_class_text descriptor)
{
	return lc_class_text_begins(descriptor, "()L") || lc_class_text_begins(descriptor, "()[");
}

/*
 * Does the class's exec() only call compute()? These are hooked in compute(), which the program
 * calls itself as well: `left.fork(); right.compute();`.
 */
static bool only_computes(struct lc_class_text name)
{
	static const char *const names[] = { CONCURRENT "RecursiveTask",
		                             CONCURRENT "RecursiveAction",
		                             CONCURRENT "CountedCompleter" };

	return is_one_of(name, names, LEN(names));
}

/* Has the class another method of that name without parameters, which a bridge would call? */
static bool has_typed(const struct lc_class *c, struct lc_class_text name)
{
	uint32_t count = lc_be_get2(c->bytes + c->methods), at = c->methods + 2;

	for (; count; count--) {
		struct lc_member m = lc_class_member(c, at);

		if (!(m.access_flags & (ACC_BRIDGE | ACC_STATIC | ACC_ABSTRACT)) &&
		    same_text(lc_class_utf8(c, m.name), name) &&
		    returns_object(lc_class_utf8(c, m.descriptor)))
			return true;
		at = m.end;
	}
	return false;
}

/* The LC_SPAN_IS_ bit that would make the method the body of a task, or 0. */
static uint32_t task_body(const struct lc_span_class *k, const struct lc_member *m,
                          struct lc_class_text name, struct lc_class_text descriptor)
{
	uint32_t body = 0;

	if (m->access_flags & (ACC_STATIC | ACC_PRIVATE | ACC_ABSTRACT))
		return 0;
	if (lc_class_text_is(name, "run"))
		return lc_class_text_is(descriptor, "()V") ? RUNNABLE : 0;
	if (lc_class_text_is(name, "exec"))
		return lc_class_text_is(descriptor, "()Z") && !only_computes(k->name) ? FORK_JOIN
		                                                                      : 0;
	if (lc_class_text_is(name, "compute")) {
		/* If streams are recorded, their tasks are support spans. */
		if (k->stream && k->what & LC_SPAN_STREAMS)
			return 0;
		if (lc_class_text_is(descriptor, "()V"))
			return FORK_JOIN;
		body = FORK_JOIN;
	} else if (lc_class_text_is(name, "call")) {
		body = CALLABLE;
	}
	if (!body || !returns_object(descriptor))
		return 0;
	return m->access_flags & ACC_BRIDGE && has_typed(k->cls, name) ? 0 : body;
}

static bool is_task(struct lc_class_text descriptor)
{
	return lc_class_text_begins(descriptor, "(Ljava/lang/Runnable;") ||
	       lc_class_text_begins(descriptor, "(L" CONCURRENT "Callable;") ||
	       lc_class_text_begins(descriptor, "(L" CONCURRENT "ForkJoinTask;") ||
	       lc_class_text_begins(descriptor, "(Ljava/util/TimerTask;");
}

/* How the method of an executor submits its first parameter. */
static enum lc_submit_kind submit_kind(const struct lc_member *m, struct lc_class_text name,
                                       struct lc_class_text descriptor)
{
	if (m->access_flags & (ACC_STATIC | ACC_BRIDGE | ACC_PRIVATE | ACC_ABSTRACT))
		return LC_SUBMIT_NONE;
	if (lc_class_text_is(name, "invokeAll") || lc_class_text_is(name, "invokeAny") ||
	    lc_class_text_is(name, "invokeAllUninterruptibly"))
		return lc_class_text_begins(descriptor, "(Ljava/util/Collection;")
		           ? LC_SUBMIT_INVOKE_ALL
		           : LC_SUBMIT_NONE;
	if (!is_task(descriptor))
		return LC_SUBMIT_NONE;
	if (lc_class_text_is(name, "execute"))
		return LC_SUBMIT_EXECUTE;
	if (lc_class_text_is(name, "submit"))
		return LC_SUBMIT_SUBMIT;
	return lc_class_text_begins(name, "schedule") ? LC_SUBMIT_SCHEDULE : LC_SUBMIT_NONE;
}

/*
 * May the method hand on the object itself that it is given, to another method that submits? These
 * methods of the JDK may not: what they hand on is a FutureTask or the like, or they put the object
 * into a queue.
 */
static bool may_repeat(const struct lc_span_class *k, struct lc_class_text name)
{
	static const char *const last[] = {
		"java/lang/Thread",
		"java/lang/VirtualThread",
		"java/util/Timer",
		CONCURRENT "AbstractExecutorService",
		CONCURRENT "CompletableFuture",
		CONCURRENT "ExecutorCompletionService",
		CONCURRENT "ForkJoinPool",
		CONCURRENT "ForkJoinTask",
		CONCURRENT "ThreadPerTaskExecutor",
		CONCURRENT "ThreadPoolExecutor", /* but for reject() */
	};

	if (lc_class_text_is(k->name, CONCURRENT "ScheduledThreadPoolExecutor"))
		return !lc_class_text_begins(name, "schedule");
	return !is_one_of(k->name, last, LEN(last));
}

/* Plan the hook of a method that hands on the tasks that are in its local variable `local`. */
static void plan_handing_on(const struct lc_span_class *k, struct lc_class_text name,
                            enum lc_submit_kind kind, uint8_t local, struct lc_span_plan *p)
{
	bool all = kind == LC_SUBMIT_INVOKE_ALL;

	p->prologue = all ? LC_SPAN_SUBMITTED_ALL : LC_SPAN_SUBMITTED;
	p->entered = all || may_repeat(k, name);
	p->argument = (int)kind | (all ? LC_SUBMIT_ENTERS_ALL : p->entered ? LC_SUBMIT_ENTERS : 0);
	p->local = local;
}

static void plan_submission(const struct lc_span_class *k, const struct lc_member *m,
                            struct lc_class_text name, struct lc_class_text descriptor,
                            struct lc_span_plan *p)
{
	enum lc_submit_kind kind = submit_kind(m, name, descriptor);

	/* A TaskSubmitter submits a delayed task when its time has come. */
	if (lc_class_text_is(k->name, CONCURRENT "CompletableFuture$DelayedExecutor"))
		return;
	if (lc_class_text_is(k->name, CONCURRENT "ForkJoinPool") &&
	    !(m->access_flags & (ACC_STATIC | ACC_BRIDGE | ACC_PRIVATE)) && is_task(descriptor) &&
	    (kind == LC_SUBMIT_EXECUTE || kind == LC_SUBMIT_SUBMIT ||
	     lc_class_text_is(name, "invoke") || lc_class_text_is(name, "externalSubmit") ||
	     lc_class_text_is(name, "lazySubmit")))
		kind = LC_SUBMIT_FORK_JOIN;
	if (kind != LC_SUBMIT_NONE) {
		plan_handing_on(k, name, kind, 1, p);
	} else if (lc_class_text_is(k->name, CONCURRENT "ThreadPoolExecutor") &&
	           lc_class_text_is(name, "reject") &&
	           lc_class_text_is(descriptor, "(Ljava/lang/Runnable;)V")) {
		/* The program's handler may hand it on, or execute it. */
		p->prologue = LC_SPAN_SUBMITTED;
		p->entered = true;
		p->argument = LC_SUBMIT_AGAIN | LC_SUBMIT_ENTERS;
		p->local = 1;
	}
}

/* Plan the methods that hand a task on in classes that are no executors. */
static void plan_special_submission(const struct lc_span_class *k, const struct lc_member *m,
                                    struct lc_class_text name, struct lc_class_text descriptor,
                                    struct lc_span_plan *p)
{
	bool fork_join = lc_class_text_is(k->name, CONCURRENT "ForkJoinTask");

	if (m->access_flags & ACC_STATIC) {
		/* runAsync() has the task itself; the Executor is given a wrapper of it. */
		if (lc_class_text_is(k->name, CONCURRENT "CompletableFuture") &&
		    lc_class_text_is(name, "asyncRunStage")) {
			plan_handing_on(k, name, LC_SUBMIT_ASYNC, 1, p);
			return;
		}
		if (!fork_join || !lc_class_text_is(name, "invokeAll"))
			return;
		p->both = lc_class_text_begins(
		    descriptor, "(L" CONCURRENT "ForkJoinTask;L" CONCURRENT "ForkJoinTask;)");
		plan_handing_on(k, name, LC_SUBMIT_INVOKE_ALL, 0, p);
		if (p->both)
			p->prologue = LC_SPAN_SUBMITTED;
	} else if (fork_join && lc_class_text_is(name, "fork")) {
		plan_handing_on(k, name, LC_SUBMIT_FORK, 0, p);
	} else if (lc_class_text_begins(k->name, CONCURRENT "StructuredTaskScope") &&
	           lc_class_text_is(name, "fork") &&
	           !(m->access_flags & (ACC_BRIDGE | ACC_ABSTRACT)) && is_task(descriptor)) {
		plan_handing_on(k, name, LC_SUBMIT_SUBMIT, 1, p);
	} else if (lc_class_text_is(name, "start") &&
	           (lc_class_text_is(k->name, "java/lang/Thread") ||
	            /* start() of VirtualThread calls its
	             * start(...). */
	            (lc_class_text_is(k->name, "java/lang/VirtualThread") &&
	             !lc_class_text_is(descriptor, "()V")))) {
		plan_handing_on(k, name, LC_SUBMIT_START, 0, p);
	}
}

static void plan_task(const struct lc_span_class *k, const struct lc_member *m,
                      struct lc_class_text name, struct lc_class_text descriptor,
                      struct lc_span_plan *p)
{
	bool of_virtual = lc_class_text_is(k->name, "java/lang/VirtualThread");
	uint32_t body = task_body(k, m, name, descriptor) & k->is;

	if (of_virtual) {
		/* The public run() does nothing. */
		body = lc_class_text_is(name, "run") &&
		               lc_class_text_is(descriptor, "(Ljava/lang/Runnable;)V")
		           ? RUNNABLE
		           : 0;
	} else if (lc_class_text_begins(k->name, "java/lang/VirtualThread$") ||
	           (k->wrapper && body != FORK_JOIN)) {
		/* The first runs while the thread is being mounted. A wrapper is no execution; of a
		 * ForkJoin task, what it wraps is one as well. */
		body = 0;
	}
	if (body) {
		p->prologue = LC_SPAN_TASK_BEGIN;
		p->wrapped = true;
		p->argument =
		    (body == FORK_JOIN ? LC_TASK_FORK_JOIN : 0) |
		    (k->wrapper ? LC_TASK_WRAPPER : 0) |
		    (body == RUNNABLE && (k->worker || k->is & THREAD) ? LC_TASK_THREAD : 0) |
		    (of_virtual || lc_class_text_is(k->name, "java/lang/Thread") ? LC_TASK_TARGETED
		                                                                 : 0);
	} else if (k->is & EXECUTOR) {
		plan_submission(k, m, name, descriptor, p);
	}
	if (!p->prologue)
		plan_special_submission(k, m, name, descriptor, p);
	p->created =
	    lc_class_text_is(name, "<init>") && k->is & TASK && !k->super_created && !k->wrapper;
}

static bool is_terminal(const struct lc_member *m, struct lc_class_text name,
                        struct lc_class_text descriptor)
{
	if (!(m->access_flags & ACC_PUBLIC) ||
	    m->access_flags & (ACC_STATIC | ACC_BRIDGE | ACC_ABSTRACT) ||
	    !is_one_of(name, terminals, LEN(terminals)))
		return false;
	return !lc_class_text_ends(name, "iterator") || lc_class_text_begins(descriptor, "()");
}

static void plan_stream(const struct lc_span_class *k, const struct lc_member *m,
                        struct lc_class_text name, struct lc_class_text descriptor,
                        struct lc_span_plan *p)
{
	struct lc_class_text rest = k->name;

	if (k->is & FOREIGN && is_terminal(m, name, descriptor)) {
		p->prologue = LC_SPAN_FOREIGN_BEGIN;
		p->wrapped = true;
	}
	if (!k->stream || m->access_flags & (ACC_STATIC | ACC_BRIDGE | ACC_ABSTRACT))
		return;
	rest.data += strlen(STREAM);
	rest.len -= strlen(STREAM);
	for (size_t i = 0; i < LEN(executions); i++)
		if (lc_class_text_is(rest, executions[i].class_name) &&
		    lc_class_text_is(name, executions[i].name) &&
		    lc_class_text_is(descriptor, executions[i].descriptor))
			p->prologue = executions[i].prologue;
	/* In every JDK, none of these methods calls compute() of another class on the same task. */
	if (k->is & FORK_JOIN && lc_class_text_is(name, "compute") &&
	    lc_class_text_is(descriptor, "()V"))
		p->prologue = LC_SPAN_SUPPORT_BEGIN;
	p->wrapped = p->prologue && p->prologue != LC_SPAN_PULL;
	p->stream_task = lc_class_text_is(name, "<init>") &&
	                 lc_class_text_is(k->super, CONCURRENT "CountedCompleter");
}

struct lc_span_plan lc_span_plan_method(const struct lc_span_class *k, const struct lc_member *m)
{
	struct lc_class_text name = lc_class_utf8(k->cls, m->name);
	struct lc_class_text descriptor = lc_class_utf8(k->cls, m->descriptor);
	struct lc_span_plan p = { 0 };

	/* Spans of streams move with their virtual thread as well, so this hook is always there. */
	p.carries_virtual = lc_class_text_is(k->name, "java/lang/VirtualThread") &&
	                    lc_class_text_is(name, "runContinuation");
	if (k->what & LC_SPAN_TASKS)
		plan_task(k, m, name, descriptor, &p);
	if (k->what & LC_SPAN_STREAMS && !p.prologue)
		plan_stream(k, m, name, descriptor, &p);
	return p;
}

/*
 * May the class be a task by an interface, while no superclass is one? If so, its constructors need
 * hooks, and its body may be a method of a superclass.
 */
static uint32_t first_task(const struct lc_span_class *k)
{
	const struct lc_class *c = k->cls;
	const uint8_t *interfaces = c->bytes + c->interfaces;
	bool unknown = false, of_super = false;
	uint32_t count = lc_be_get2(interfaces), is = 0;

	if (!count || c->access_flags & ACC_INTERFACE || types_of(k->super, &of_super) & TASK)
		return 0;
	for (; count; count--)
		is |= types_of(lc_class_name(c, lc_be_get2(interfaces + 2 * count)), &unknown);
	if (!unknown && !(is & TASK))
		return 0;
	return (unknown ? (uint32_t)LC_SPAN_CREATED_HERE : 0) |
	       (of_super ? (uint32_t)LC_SPAN_BODY_ABOVE : 0);
}

uint32_t lc_span_matters(const uint8_t *in, size_t len, unsigned what, uint32_t *known)
{
	struct lc_span_class k;
	struct lc_class c;
	bool unknown = false;
	uint32_t is = 0, count, at;

	*known = 0;
	if (lc_class_open(in, len, &c) != LC_REWRITE_DONE)
		return 0;
	*known = known_types(&c, &unknown);
	lc_span_classify(&c, what, 0, &k);
	if (what & LC_SPAN_TASKS && !lc_class_text_begins(k.name, "java/"))
		is = first_task(&k);
	count =
	    unknown && !lc_class_text_begins(k.name, "java/") ? lc_be_get2(c.bytes + c.methods) : 0;
	for (at = c.methods + 2; count; count--) {
		struct lc_member m = lc_class_member(&c, at);
		struct lc_class_text name = lc_class_utf8(&c, m.name);
		struct lc_class_text descriptor = lc_class_utf8(&c, m.descriptor);

		if (what & LC_SPAN_TASKS) {
			uint32_t body = task_body(&k, &m, name, descriptor);

			is |= body | (body == RUNNABLE ? THREAD : 0);
			if (submit_kind(&m, name, descriptor) != LC_SUBMIT_NONE)
				is |= EXECUTOR;
		}
		if (what & LC_SPAN_STREAMS && is_terminal(&m, name, descriptor))
			is |= FOREIGN;
		at = m.end;
	}
	lc_class_close(&c);
	return is & ~*known;
}

static bool has_method(const struct lc_class *c, const char *name, const char *descriptor)
{
	uint32_t count = lc_be_get2(c->bytes + c->methods), at = c->methods + 2;

	for (; count; count--) {
		struct lc_member m = lc_class_member(c, at);

		if (!(m.access_flags & (ACC_STATIC | ACC_ABSTRACT)) &&
		    lc_class_text_is(lc_class_utf8(c, m.name), name) &&
		    lc_class_text_is(lc_class_utf8(c, m.descriptor), descriptor))
			return true;
		at = m.end;
	}
	return false;
}

const char *lc_span_stream_mismatch(const uint8_t *in, size_t len)
{
	const char *missing = NULL;
	struct lc_class_text name;
	struct lc_class c;

	if (lc_class_open(in, len, &c) != LC_REWRITE_DONE)
		return NULL;
	name = lc_class_name(&c, c.this_class);
	for (size_t i = 0; !missing && i < LEN(executions); i++)
		if (lc_class_text_begins(name, STREAM) &&
		    lc_class_text_ends(name, executions[i].class_name) &&
		    name.len == strlen(STREAM) + strlen(executions[i].class_name) &&
		    !has_method(&c, executions[i].name, executions[i].descriptor))
			missing = executions[i].name;
	if (!missing && lc_class_text_is(name, STREAM "AbstractPipeline") &&
	    !has_method(&c, "isParallel", "()Z"))
		missing = "isParallel";
	lc_class_close(&c);
	return missing;
}
