/* uses: src/classfile/ src/base/track.c tests/unit/class_file.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_span_plan.c - checks which methods and calls get the hooks of spans. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/format/kinds.h"
#include "tests/unit/span_file.h"

#define EXECUTOR "java/util/concurrent/Executor"

enum { ENTERS = LC_SUBMIT_ENTERS, ENTERS_ALL = LC_SUBMIT_ENTERS_ALL };

static void calls_of_tasks_go_by_way_of_the_class(void **state)
{
	struct class_file c;
	struct rewritten r;
	struct lc_method_code code;
	uint16_t run, call, other, execute;

	class_begin(&c, "A");
	run = class_interface_ref(&c, "java/lang/Runnable", "run", "()V");
	call = class_interface_ref(&c, "java/util/concurrent/Callable", "call",
	                           "()Ljava/lang/Object;");
	other = class_interface_ref(&c, "com/acme/Job", "run", "()V");
	execute = class_interface_ref(&c, EXECUTOR, "execute", "(Ljava/lang/Runnable;)V");
	/* 0 aload_0; 1 run; 6 goto 1 (never mind its stack); 9, 14, 19 the others; 24 return */
	struct code_spec spec =
	    CODE(42, 185, 0, (uint8_t)run, 1, 0, GOTO, 255, 251, 185, 0, (uint8_t)call, 1, 0, 185,
	         0, (uint8_t)other, 1, 0, 185, 0, (uint8_t)execute, 2, 0, RETURN);
	class_method(&c, "m", "()V", &spec);
	rewrite_as(&c, LC_SPAN_TASKS, 0, &r);
	code = rewritten_code(&r, 0);
	assert_int_equal(code.len, 25); /* what is replaced keeps its length */
	assert_string_equal(called(&r, code.insns + 1), "run(Ljava/lang/Runnable;)V");
	assert_int_equal(lc_be_get2(code.insns + 4), 0);
	assert_int_equal(lc_be_get2s(code.insns + 7), -5);
	assert_string_equal(called(&r, code.insns + 9),
	                    "call(Ljava/util/concurrent/Callable;)Ljava/lang/Object;");
	assert_int_equal(code.insns[14], 185);
	assert_int_equal(lc_be_get2(code.insns + 15), other);
	assert_string_equal(called(&r, code.insns + 19),
	                    "execute(Ljava/util/concurrent/Executor;Ljava/lang/Runnable;)V");
	assert_int_equal(r.result.sites, 3);
	rewritten_free(&r);
}

static void calls_of_executors_stay_where_no_hook_may_run(void **state)
{
	static const char *const names[] = { "java/util/concurrent/CompletableFuture$UniCompletion",
		                             "A", "jdk/internal/vm/A", LC_SPAN_CLASS };

	for (int i = 0; i < 4; i++) {
		struct class_file c;
		struct rewritten r;
		uint16_t execute;

		class_begin(&c, names[i]);
		execute = class_interface_ref(&c, EXECUTOR, "execute", "(Ljava/lang/Runnable;)V");
		struct code_spec spec = CODE(185, 0, (uint8_t)execute, 2, 0, RETURN);
		class_method(&c, "m", "()V", &spec);
		rewrite_as(&c, BOTH, 0, &r);
		assert_int_equal(r.status, i < 2 ? LC_REWRITE_DONE : LC_REWRITE_NOTHING);
		rewritten_free(&r);
	}
}

static void lambda_is_created(void **state)
{
	static const char *const descriptors[] = { "(I)Ljava/lang/Runnable;",
		                                   "()Ljava/util/concurrent/Callable;",
		                                   "(Ljava/lang/Runnable;)Ljava/lang/Object;" };

	for (int i = 0; i < 3; i++) {
		struct class_file c;
		struct rewritten r;
		uint16_t make;

		class_begin(&c, "A");
		make = class_invoke_dynamic(&c, descriptors[i]);
		struct code_spec spec = CODE(186, 0, (uint8_t)make, 0, 0, POP, RETURN);
		class_method(&c, "m", "()V", &spec);
		rewrite_as(&c, LC_SPAN_TASKS, 0, &r);
		assert_int_equal(r.status, i < 2 ? LC_REWRITE_DONE : LC_REWRITE_NOTHING);
		if (i < 2) {
			assert_int_equal(rewritten_code(&r, 0).insns[5], LC_OP_DUP);
			assert_string_equal(called(&r, rewritten_code(&r, 0).insns + 6),
			                    "created(Ljava/lang/Object;)V");
			assert_int_equal(rewritten_code(&r, 0).insns[9], POP);
		}
		rewritten_free(&r);
	}
}

/* How many hooks a constructor gets that calls the constructor of `callee`, with what follows. */
static uint32_t constructor_sites(const char *name, const char *super, const char *interface,
                                  const char *callee, uint8_t last, unsigned what)
{
	struct class_file c;
	struct rewritten r;
	uint32_t sites;
	uint16_t init;

	class_begin(&c, name);
	c.super = super;
	c.interfaces[0] = interface;
	c.method_flags = PUBLIC;
	init = class_method_ref(&c, callee, "<init>", "()V");
	struct code_spec spec = CODE(42, 183, 0, (uint8_t)init, 1, last, RETURN);
	class_method(&c, "<init>", "()V", &spec);
	rewrite_as(&c, what, 0, &r);
	sites = r.result.sites;
	if (sites)
		assert_int_equal(rewritten_code(&r, 0).insns[6], LC_OP_ALOAD_0);
	rewritten_free(&r);
	return sites;
}

static void constructor_creates_once(void **state)
{
	static const char object[] = "java/lang/Object", runnable[] = "java/lang/Runnable";
	static const char future[] = "java/util/concurrent/FutureTask";
	static const char completer[] = "java/util/concurrent/CountedCompleter";

	assert_int_equal(constructor_sites("A", object, runnable, object, NOP, BOTH), 1);
	assert_int_equal(constructor_sites("A", object, NULL, object, NOP, BOTH), 0);
	assert_int_equal(constructor_sites("A", object, runnable, object, NOP, LC_SPAN_STREAMS), 0);
	assert_int_equal(constructor_sites("A", object, runnable, "A", NOP, BOTH), 0); /* this() */
	assert_int_equal(constructor_sites("A", object, runnable, object, 75, BOTH),
	                 0); /* astore_0 */
	/* The superclass's constructor does it; a wrapper's does not. */
	assert_int_equal(
	    constructor_sites("A", "java/lang/Thread", runnable, "java/lang/Thread", NOP, BOTH), 0);
	assert_int_equal(constructor_sites("A", future, NULL, future, NOP, BOTH), 1);
	assert_int_equal(constructor_sites(future, object, runnable, object, NOP, BOTH), 0);
	/* streamTask() */
	assert_int_equal(constructor_sites("java/util/stream/AbstractTask", completer, NULL,
	                                   completer, NOP, BOTH),
	                 1);
	assert_int_equal(constructor_sites("A", completer, NULL, completer, NOP, BOTH), 0);
}

/* The argument of the prologue of that method, or -1. With a tail for each task's body only. */
static int prologue(const char *class, const char *super, uint32_t is, uint16_t flags,
                    const char *name, const char *descriptor, const char *call)
{
	struct code_spec spec = CODE(RETURN);
	struct class_file c;
	struct rewritten r;
	struct lc_method_code code;
	const char *tail;
	int argument = -1;
	bool first = strstr(call, "taskBegin") || descriptor[1] == ')';
	/* The first parameter of an instance method; asyncRunStage(Executor, Runnable). */
	int local = strcmp(name, "asyncRunStage") ? !first && !(flags & STATIC) : 1;

	class_begin(&c, class);
	c.super = super;
	c.method_flags = flags;
	class_method(&c, name, descriptor, &spec);
	rewrite_as(&c, BOTH, is, &r);
	if (r.status == LC_REWRITE_DONE) {
		code = rewritten_code(&r, 0);
		assert_string_equal(called(&r, code.insns + 4), call);
		argument = lc_be_get2(code.insns + 2);
		assert_int_equal(code.insns[0], LC_OP_ALOAD_0 + (uint32_t)local);
		tail = strstr(call, "taskBegin") ? "end()V"
		       : argument & (ENTERS | ENTERS_ALL) || strstr(descriptor, "Task;Ljava")
		           ? "refused()V"
		           : NULL;
		assert_int_equal(code.handlers_len, tail != NULL);
		if (tail)
			assert_string_equal(called(&r, code.insns + code.len - 4), tail);
		if (tail && *tail == 'r')
			assert_string_equal(called(&r, code.insns + code.len - 8), "left()V");
	}
	rewritten_free(&r);
	return argument;
}

#define TASK(class, super, is, flags, name, descriptor)                                            \
	prologue(class, super, is, flags, name, descriptor, "taskBegin(Ljava/lang/Object;I)V")
#define SUBMIT(class, super, is, flags, name, descriptor)                                          \
	prologue(class, super, is, flags, name, descriptor, "submitted(Ljava/lang/Object;I)V")
#define SUBMIT_ALL(class, super, is, flags, name, descriptor)                                      \
	prologue(class, super, is, flags, name, descriptor, "submittedAll(Ljava/lang/Object;I)V")

static void bodies_of_tasks_have_their_traits(void **state)
{
	const char *o = "java/lang/Object", *thread = "java/lang/Thread";

	assert_int_equal(TASK("A", o, 0, PUBLIC, "run", "()V"), -1);
	assert_int_equal(TASK("A", o, LC_SPAN_IS_RUNNABLE, PUBLIC, "run", "()V"), 0);
	assert_int_equal(TASK("A", o, LC_SPAN_IS_RUNNABLE, PUBLIC | STATIC, "run", "()V"), -1);
	assert_int_equal(TASK("A", o, LC_SPAN_IS_RUNNABLE, 2, "run", "()V"), -1);
	assert_int_equal(TASK("A", o, LC_SPAN_IS_RUNNABLE, PUBLIC, "run", "(I)V"), -1);
	assert_int_equal(TASK("A", o, LC_SPAN_IS_RUNNABLE, PUBLIC, "call", "()LA;"), -1);
	assert_int_equal(TASK("A", o, LC_SPAN_IS_CALLABLE, PUBLIC, "call", "()LA;"), 0);
	assert_int_equal(TASK("A", o, LC_SPAN_IS_CALLABLE, PUBLIC, "call", "()[I"), 0);
	assert_int_equal(TASK("A", o, LC_SPAN_IS_CALLABLE, PUBLIC, "call", "(I)LA;"), -1);
	assert_int_equal(TASK("A", o, LC_SPAN_IS_CALLABLE, BRIDGE, "call", "()LA;"), 0);
	assert_int_equal(TASK("A", o, LC_SPAN_IS_FORK_JOIN, 4, "exec", "()Z"), LC_TASK_FORK_JOIN);
	assert_int_equal(TASK("A", thread, 0, PUBLIC, "run", "()V"), LC_TASK_THREAD);
	assert_int_equal(TASK("A", "B", LC_SPAN_IS_THREAD, PUBLIC, "run", "()V"), LC_TASK_THREAD);
	assert_int_equal(TASK(thread, o, 0, PUBLIC, "run", "()V"),
	                 LC_TASK_THREAD | LC_TASK_TARGETED);
	assert_int_equal(TASK("java/util/concurrent/ThreadPoolExecutor$Worker", o,
	                      LC_SPAN_IS_RUNNABLE, PUBLIC, "run", "()V"),
	                 LC_TASK_THREAD);
	/* Wrappers: whether the task is a ForkJoin task is all that they tell. */
	assert_int_equal(
	    TASK("java/util/concurrent/FutureTask", o, LC_SPAN_IS_RUNNABLE, PUBLIC, "run", "()V"),
	    -1);
	assert_int_equal(TASK("java/util/concurrent/ForkJoinTask$AdaptedRunnable",
	                      "java/util/concurrent/ForkJoinTask", 0, PUBLIC, "exec", "()Z"),
	                 LC_TASK_WRAPPER | LC_TASK_FORK_JOIN);
	assert_int_equal(
	    TASK("java/lang/VirtualThread", thread, 0, 2, "run", "(Ljava/lang/Runnable;)V"),
	    LC_TASK_THREAD | LC_TASK_TARGETED);
	assert_int_equal(TASK("java/lang/VirtualThread", thread, 0, PUBLIC, "run", "()V"), -1);
}

/* Each execution has one hook: exec() of these classes does nothing but call compute(). */
static void what_computes_is_hooked_where_the_program_calls_it(void **state)
{
	static const char *const roots[] = { "java/util/concurrent/RecursiveTask",
		                             "java/util/concurrent/RecursiveAction",
		                             "java/util/concurrent/CountedCompleter" };
	const char *task = "java/util/concurrent/ForkJoinTask", *o = "java/lang/Object";
	enum { FORK_JOIN = LC_TASK_FORK_JOIN };

	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(TASK(roots[i], task, 0, 4, "exec", "()Z"), -1);
		assert_int_equal(TASK("A", roots[i], 0, 4, "compute", "()V"), FORK_JOIN);
		assert_int_equal(TASK("A", roots[i], 0, 4, "compute", "()LA;"), FORK_JOIN);
		assert_int_equal(TASK("A", roots[i], 0, 4, "compute", "()[I"), FORK_JOIN);
		assert_int_equal(TASK("A", roots[i], 0, 4, "compute", "()I"), -1);
		assert_int_equal(TASK("A", roots[i], 0, 4, "compute", "(I)V"), -1);
		assert_int_equal(TASK("A", roots[i], 0, STATIC, "compute", "()V"), -1);
	}
	assert_int_equal(TASK("A", "B", LC_SPAN_IS_FORK_JOIN, 4, "compute", "()V"), FORK_JOIN);
	assert_int_equal(TASK("A", o, LC_SPAN_IS_RUNNABLE, PUBLIC, "compute", "()V"), -1);
}

static void submissions_have_their_kinds(void **state)
{
	const char *o = "java/lang/Object", *pool = "java/util/concurrent/ForkJoinPool";
	const char *task = "java/util/concurrent/ForkJoinTask", *e = EXECUTOR "Service";
	const char *run = "(Ljava/lang/Runnable;)V";

	assert_int_equal(SUBMIT("A", o, 0, PUBLIC, "execute", run), -1);
	assert_int_equal(SUBMIT("A", e, 0, PUBLIC, "execute", run), LC_SUBMIT_EXECUTE | ENTERS);
	assert_int_equal(SUBMIT("A", e, 0, PUBLIC | STATIC, "execute", run), -1);
	assert_int_equal(SUBMIT("A", e, 0, BRIDGE, "execute", run), -1);
	assert_int_equal(SUBMIT("A", e, 0, PUBLIC, "execute", "(Ljava/lang/String;)V"), -1);
	assert_int_equal(SUBMIT("A", o, LC_SPAN_IS_EXECUTOR, PUBLIC, "submit",
	                        "(Ljava/util/concurrent/Callable;)LA;"),
	                 LC_SUBMIT_SUBMIT | ENTERS);
	assert_int_equal(
	    SUBMIT("A", e, 0, PUBLIC, "scheduleAtFixedRate", "(Ljava/lang/Runnable;JJLA;)LA;"),
	    LC_SUBMIT_SCHEDULE | ENTERS);
	assert_int_equal(
	    SUBMIT("java/util/Timer", o, 0, PUBLIC, "schedule", "(Ljava/util/TimerTask;J)V"),
	    LC_SUBMIT_SCHEDULE);
	assert_int_equal(SUBMIT(pool, e, 0, PUBLIC, "execute", run), LC_SUBMIT_FORK_JOIN);
	assert_int_equal(
	    SUBMIT(pool, e, 0, PUBLIC, "invoke", "(Ljava/util/concurrent/ForkJoinTask;)LA;"),
	    LC_SUBMIT_FORK_JOIN);
	assert_int_equal(SUBMIT(task, o, 0, PUBLIC, "fork", "()LA;"), LC_SUBMIT_FORK);
	assert_int_equal(SUBMIT("java/util/concurrent/CompletableFuture", o, 0, STATIC,
	                        "asyncRunStage",
	                        "(Ljava/util/concurrent/Executor;Ljava/lang/Runnable;)LA;"),
	                 LC_SUBMIT_ASYNC);
	assert_int_equal(SUBMIT("java/lang/Thread", o, 0, PUBLIC, "start", "()V"), LC_SUBMIT_START);
	assert_int_equal(SUBMIT("java/util/concurrent/StructuredTaskScopeImpl", o, 0, PUBLIC,
	                        "fork", "(Ljava/util/concurrent/Callable;)LA;"),
	                 LC_SUBMIT_SUBMIT | ENTERS);
	assert_int_equal(
	    SUBMIT("java/util/concurrent/ThreadPoolExecutor", e, 0, PUBLIC, "execute", run),
	    LC_SUBMIT_EXECUTE);
	assert_int_equal(SUBMIT("java/util/concurrent/ThreadPoolExecutor", e, 0, 0, "reject", run),
	                 LC_SUBMIT_AGAIN | ENTERS);
	assert_int_equal(SUBMIT_ALL("A", e, 0, PUBLIC, "invokeAny", "(Ljava/util/Collection;)LA;"),
	                 LC_SUBMIT_INVOKE_ALL | ENTERS_ALL);
	assert_int_equal(SUBMIT_ALL(task, o, 0, PUBLIC | STATIC, "invokeAll",
	                            "([Ljava/util/concurrent/ForkJoinTask;)V"),
	                 LC_SUBMIT_INVOKE_ALL | ENTERS_ALL);
	assert_int_equal(
	    SUBMIT(task, o, 0, PUBLIC | STATIC, "invokeAll",
	           "(Ljava/util/concurrent/ForkJoinTask;Ljava/util/concurrent/ForkJoinTask;)V"),
	    LC_SUBMIT_INVOKE_ALL);
}

/* The first call in the method's prologue, or "". */
static const char *stream_hook(const char *class, const char *super, uint16_t flags, uint32_t is,
                               const char *name, const char *descriptor)
{
	static char text[128];
	struct code_spec spec = CODE(RETURN);
	struct class_file c;
	struct rewritten r;
	struct lc_method_code code;

	class_begin(&c, class);
	c.super = super;
	c.method_flags = flags;
	class_method(&c, name, descriptor, &spec);
	rewrite_as(&c, LC_SPAN_STREAMS, is, &r);
	text[0] = 0;
	if (r.status == LC_REWRITE_DONE) {
		uint32_t at = 0;

		code = rewritten_code(&r, 0);
		if (code.insns[0] == LC_OP_ALOAD_0)
			at = code.insns[1] == LC_OP_DUP             ? 5
			     : code.insns[1] == LC_OP_INVOKEVIRTUAL ? 4
			                                            : 1;
		(void)snprintf(text, sizeof(text), "%s", called(&r, code.insns + at));
		if (code.handlers_len)
			assert_ends(&r, 0, at + 3);
		else
			assert_string_equal(text, "pulled()V");
	}
	rewritten_free(&r);
	return text;
}

static void streams_are_hooked_by_name(void **state)
{
	const char *pipeline = "java/util/stream/AbstractPipeline";
	const char *completer = "java/util/concurrent/CountedCompleter";
	const char *evaluate = "(Ljava/util/stream/TerminalOp;)Ljava/lang/Object;";

	assert_string_equal(stream_hook(pipeline, NULL, 0x10, 0, "evaluate", evaluate),
	                    "streamBegin(Ljava/lang/Object;Z)V");
	assert_string_equal(
	    stream_hook("com/acme/AbstractPipeline", NULL, 1, 0, "evaluate", evaluate), "");
	assert_string_equal(stream_hook(pipeline, NULL, 1, 0, "evaluate",
	                                "(Ljava/util/Spliterator;ZLjava/util/function/IntFunction;)"
	                                "Ljava/util/stream/Node;"),
	                    "");
	assert_string_equal(
	    stream_hook(pipeline, NULL, 1, 0, "spliterator", "()Ljava/util/Spliterator;"),
	    "pulled()V");
	assert_string_equal(stream_hook("java/util/stream/LongPipeline$Head", pipeline, 1, 0,
	                                "forEach", "(Ljava/util/function/LongConsumer;)V"),
	                    "headBegin(Z)V");
	assert_string_equal(stream_hook("java/util/stream/GathererOp", pipeline, 1, 0, "collect",
	                                "(Ljava/util/stream/Collector;)Ljava/lang/Object;"),
	                    "streamBegin(Ljava/lang/Object;Z)V");
	assert_string_equal(
	    stream_hook("java/util/stream/Some$1Task", completer, 1, 0, "compute", "()V"),
	    "supportBegin(Ljava/lang/Object;)V");
	assert_string_equal(stream_hook("A", completer, 1, 0, "compute", "()V"), "");
	assert_string_equal(stream_hook("A", NULL, 1, LC_SPAN_IS_FOREIGN, "count", "()J"),
	                    "foreignBegin()V");
	assert_string_equal(stream_hook("A", NULL, BRIDGE, LC_SPAN_IS_FOREIGN, "count", "()J"), "");
	assert_string_equal(stream_hook("A", NULL, 1, LC_SPAN_IS_FOREIGN, "map", "(LA;)LA;"), "");
	assert_string_equal(stream_hook("A", NULL, 1, 0, "count", "()J"), "");
	assert_string_equal(
	    stream_hook("java/util/stream/Stream", NULL, 1, LC_SPAN_IS_FOREIGN, "toList", "()LA;"),
	    "");
}

static void virtual_thread_is_carried(void **state)
{
	struct class_file c;
	struct rewritten r;
	struct lc_method_code code;
	uint16_t mount, unmount;

	class_begin(&c, "java/lang/VirtualThread");
	c.method_flags = 2;
	mount = class_method_ref(&c, "java/lang/VirtualThread", "mount", "()V");
	unmount = class_method_ref(&c, "java/lang/VirtualThread", "unmount", "()V");
	struct code_spec spec =
	    CODE(42, 182, 0, (uint8_t)mount, 42, 183, 0, (uint8_t)unmount, RETURN);
	class_method(&c, "runContinuation", "()V", &spec);
	rewrite_as(&c, LC_SPAN_TASKS, 0, &r);
	code = rewritten_code(&r, 0);
	assert_int_equal(code.len, 9 + 8);
	assert_string_equal(called(&r, code.insns + 2), "mount(Ljava/lang/Object;)V");
	assert_int_equal(code.insns[5], 182);
	assert_int_equal(code.insns[9], 183);
	assert_int_equal(code.insns[12], LC_OP_ALOAD_0);
	assert_string_equal(called(&r, code.insns + 13), "unmount(Ljava/lang/Object;)V");
	assert_int_equal(code.handlers_len, 0);
	rewritten_free(&r);
}

/* The plan of a class with that superclass and interface, and one method. */
static uint32_t matters(const char *super, const char *interface, const char *name,
                        const char *descriptor, uint32_t *known)
{
	struct code_spec spec = CODE(RETURN);
	struct class_file c;
	uint8_t *bytes;
	uint32_t is;
	size_t len;

	class_begin(&c, "A");
	c.super = super;
	c.interfaces[0] = interface;
	c.method_flags = PUBLIC;
	class_method(&c, name, descriptor, &spec);
	bytes = class_end(&c, &len);
	class_free(&c);
	is = lc_span_matters(bytes, len, BOTH, known);
	free(bytes);
	return is;
}

static void only_unknown_supertypes_are_asked_for(void **state)
{
	const char *o = "java/lang/Object";
	uint32_t known = 77;

	assert_int_equal(matters(o, "B", "run", "()V", &known),
	                 LC_SPAN_IS_RUNNABLE | LC_SPAN_IS_THREAD | LC_SPAN_CREATED_HERE);
	assert_int_equal(known, 0);
	/* It may inherit the body that its interface asks for, or that its interface has. */
	assert_int_equal(matters("B", "C", "other", "()V", &known),
	                 LC_SPAN_CREATED_HERE | LC_SPAN_BODY_ABOVE);
	assert_int_equal(matters(o, "C", "other", "()V", &known), LC_SPAN_CREATED_HERE);
	assert_int_equal(matters("java/util/concurrent/FutureTask", "C", "other", "()V", &known),
	                 0);
	assert_int_equal(matters("B", NULL, "call", "()LA;", &known), LC_SPAN_IS_CALLABLE);
	assert_int_equal(matters("B", NULL, "exec", "()Z", &known), LC_SPAN_IS_FORK_JOIN);
	assert_int_equal(matters("B", NULL, "count", "()J", &known), LC_SPAN_IS_FOREIGN);
	assert_int_equal(matters("B", NULL, "submit", "(Ljava/lang/Runnable;)LA;", &known),
	                 LC_SPAN_IS_EXECUTOR);
	assert_int_equal(matters("B", NULL, "other", "()V", &known), 0);
	assert_int_equal(matters(o, "java/util/Collection", "iterator", "()LA;", &known), 0);
	assert_int_equal(known, 0);
	assert_int_equal(matters(o, "java/lang/Runnable", "run", "()V", &known), 0);
	assert_int_equal(known, LC_SPAN_IS_RUNNABLE);
	assert_int_equal(matters("B", "java/lang/Runnable", "run", "()V", &known),
	                 LC_SPAN_IS_THREAD | LC_SPAN_BODY_ABOVE);
	assert_int_equal(matters("java/lang/Thread", "B", "run", "()V", &known), 0);
	assert_int_equal(known, LC_SPAN_IS_RUNNABLE | LC_SPAN_IS_THREAD);
	assert_int_equal(lc_span_matters((const uint8_t *)"x", 1, BOTH, &known), 0);
	assert_int_equal(known, 0);
}

static void missing_method_of_a_stream_is_told(void **state)
{
	static const char *const names[] = { "java/util/stream/AbstractTask", "com/AbstractTask" };

	for (int i = 0; i < 4; i++) {
		struct code_spec spec = CODE(RETURN);
		const char *missing;
		struct class_file c;
		uint8_t *bytes;
		size_t len;

		class_begin(&c, names[i / 2]);
		c.method_flags = i & 1 ? ABSTRACT : PUBLIC;
		class_method(&c, "compute", "()V", &spec);
		bytes = class_end(&c, &len);
		class_free(&c);
		missing = lc_span_stream_mismatch(bytes, len);
		if (i == 1)
			assert_string_equal(missing, "compute");
		else
			assert_null(missing);
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_of_tasks_go_by_way_of_the_class),
		cmocka_unit_test(calls_of_executors_stay_where_no_hook_may_run),
		cmocka_unit_test(lambda_is_created),
		cmocka_unit_test(constructor_creates_once),
		cmocka_unit_test(bodies_of_tasks_have_their_traits),
		cmocka_unit_test(what_computes_is_hooked_where_the_program_calls_it),
		cmocka_unit_test(submissions_have_their_kinds),
		cmocka_unit_test(streams_are_hooked_by_name),
		cmocka_unit_test(virtual_thread_is_carried),
		cmocka_unit_test(only_unknown_supertypes_are_asked_for),
		cmocka_unit_test(missing_method_of_a_stream_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
