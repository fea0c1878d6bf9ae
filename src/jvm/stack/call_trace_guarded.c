/* SPDX-License-Identifier: Apache-2.0 */
/* jvm/stack/call_trace_guarded.c - walks so that a fault ends the walk only, and not the program.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/say.h"
#include "src/core/counters.h"
#include "src/core/jvmti.h"
#include "src/jvm/layout/ranges.h"
#include "src/jvm/layout/vmstructs.h"
#include "src/jvm/os/guard.h"
#include "src/jvm/os/peek.h"
#include "src/jvm/stack/call_trace_impl.h"
#include "src/jvm/stack/frames.h"

enum { FAULTS_MAX = 8 }; /* after so many, no stack is walked any more */

/* Ranges of the JVM's code; the code cache is reserved from VMInit on, before there are walks. */
static struct lc_range library, code;

static bool is_jvm(uint64_t pc)
{
	return pc - library.low < library.high - library.low ||
	       pc - code.low < code.high - code.low;
}

bool lc_tracing_version_tried(void)
{
	enum { OLDEST = 11, NEWEST = 28 };
	char *text = NULL;
	int version;

	if ((*lc_jvmti())->GetSystemProperty(lc_jvmti(), "java.vm.specification.version", &text) ||
	    !text)
		return false;
	version = atoi(text);
	(*lc_jvmti())->Deallocate(lc_jvmti(), (unsigned char *)text);
	return version >= OLDEST && version <= NEWEST;
}

/*
 * Handlers then read without the kernel, too. With -Xcheck:jni the JVM looks now and then whether
 * its signal handlers are still there, and would print a warning to the program's output.
 */
void lc_tracing_catch_faults(void *libjvm)
{
	const bool *checks = lc_vm_flag("CheckJNICalls");
	void *handle = dlsym(libjvm, "JVM_handle_linux_signal");
	lc_guard_jvm_handler *jvm;

	if (!checks || *checks) { /* the kernel reads, and nothing guards; the counters tell */
		if (!lc_tracing_version_tried())
			lc_guard_refuse_proofs();
		return;
	}
	memcpy(&jvm, &handle, sizeof(jvm));
	library = lc_ranges_library();
	code = lc_ranges_code();
	if (jvm) /* else a read of the JVM's own that may fault would end a walk */
		lc_guard_init(jvm, is_jvm);
	(void)lc_peek_catch_faults();
}

void lc_call_trace_catch_faults(void)
{
	void *libjvm = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);

	if (!libjvm)
		return;
	if (!lc_vm_init())
		lc_tracing_catch_faults(libjvm);
	dlclose(libjvm); /* it stays: the JVM is running */
}

/* Have so many walks faulted that there are to be no more? */
static bool has_stopped(void)
{
	return lc_guard_faults() >= FAULTS_MAX;
}

static int run(void (*fn)(void *arg), struct lc_tracing *t)
{
	if (lc_guard_run(fn, t))
		return t->walked;
	lc_tracing_put_back(t);
	return LC_WALK_FAULT;
}

int lc_call_trace(JNIEnv *env, const void *ucontext, uint64_t pc,
                  struct lc_call_trace_frame *scratch, uint64_t *frames, int depth,
                  struct lc_repair *repair)
{
	struct lc_tracing t; /* the copy in it is made where it is needed */
	int n;

	repair->kind = LC_UNWIND_NONE;
	if (!env)
		return -8; /* "thread exit": the code for a thread that the JVM does not know */
	if (has_stopped())
		return LC_WALK_FAULT;
	t.env = env;
	t.context = ucontext;
	t.pc = pc;
	t.scratch = scratch;
	t.frames = frames;
	t.depth = depth;
	t.repair = repair;
	t.hidden = 0;
	t.moved = false;
	t.doubted = false;
	n = run(lc_tracing_walk, &t);
	if (n == LC_WALK_FAULT || n == LC_WALK_DOUBTED)
		repair->kind = LC_UNWIND_NONE;
	return n;
}

int lc_call_trace_resumed(JNIEnv *env, const void *ucontext, struct lc_call_trace_frame *scratch,
                          uint64_t *frames, /* NOLINT(readability-non-const-parameter): filled */
                          int depth)
{
	struct lc_tracing t = { .env = env, .scratch = scratch, .frames = frames, .depth = depth };
	greg_t *pc = &t.copy.uc_mcontext.gregs[REG_RIP];

	if (has_stopped())
		return LC_WALK_FAULT;
	/* In compiled code AsyncGetCallTrace names the instruction whose end is past `pc`: use a
	 * call's last byte. */
	memcpy(&t.copy, ucontext, sizeof(t.copy));
	if (!lc_frames_interpreted((uint64_t)*pc) && !lc_frames_entry((uint64_t)*pc))
		*pc -= 1;
	return run(lc_tracing_ask, &t);
}

/* -- where the thread goes on --------------------------------------------------------------- */

/* Arguments that lc_guard_run() passes to the functions below. */
struct resuming {
	JNIEnv *env;
	const struct lc_repair *repair;
	struct lc_resume *out;
	const struct lc_resume *at;
	unsigned frames_max;
	uint64_t *key;
	bool found;
};

static void resume(void *arg)
{
	struct resuming *r = arg;

	r->found = lc_tracing_resume(r->env, r->repair, r->out);
}

bool lc_call_trace_resume(JNIEnv *env, const struct lc_repair *repair, struct lc_resume *out)
{
	struct resuming r = { .env = env, .repair = repair, .out = out };

	return lc_guard_run(resume, &r) && r.found;
}

static void find_key(void *arg)
{
	struct resuming *r = arg;

	r->found = lc_tracing_key(r->env, r->at, r->frames_max, r->key);
}

bool lc_call_trace_key(JNIEnv *env, const struct lc_resume *at, unsigned frames_max,
                       uint64_t *key) /* NOLINT(readability-non-const-parameter): filled */
{
	struct resuming r = { .env = env, .at = at, .frames_max = frames_max, .key = key };

	return lc_guard_run(find_key, &r) && r.found;
}

/* -- counters ------------------------------------------------------------------------------- */

static uint64_t stopped(void)
{
	return has_stopped();
}

static const struct lc_counter counters[] = {
	{ .name = "engine_walk_faults", .read = lc_guard_faults },
	{ .name = "engine_walks_stopped", .read = stopped },
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));

void lc_call_trace_tell(void)
{
	static bool told;

	if (told || !has_stopped())
		return;
	told = true;
	lc_say("%d stack walks ended in a fault, which Locus caught: it walks no more stacks, so "
	       "samples have no call path",
	       (int)FAULTS_MAX);
}
