/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/stack/call_trace.c - finds the frame to walk from, and walks: by itself, or through
 * AsyncGetCallTrace.
 *
 * The file is longer than 600 lines because all that reads or writes a thread's anchor shares the
 * offsets that are found and proved here.
 */
#include "src/jvm/stack/call_trace.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/core/counters.h"
#include "src/core/jvmti.h"
#include "src/core/record.h"
#include "src/core/version.h"
#include "src/jvm/code/blob.h"
#include "src/jvm/code/code_cache.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/layout/vmstructs.h"
#include "src/jvm/os/guard.h"
#include "src/jvm/os/peek.h"
#include "src/jvm/stack/call_trace_impl.h"
#include "src/jvm/stack/cfi.h"
#include "src/jvm/stack/frames.h"
#include "src/jvm/stack/stack_walk.h"
#include "src/jvm/stack/walk_proof.h"

enum { THREAD_BYTES_MAX = 16 << 10, STACK_BYTES_MAX = 1 << 20 };
static const uint64_t STACK_MAX = UINT64_C(16) << 30; /* -Xss goes up to 1 GiB */

/* The JVM's own declaration of these is in no installed header. */
struct call_trace {
	JNIEnv *env;
	jint frames_len;
	struct lc_call_trace_frame *frames;
};

typedef void async_get_call_trace(struct call_trace *trace, jint depth, void *ucontext);

/* Set once by lc_call_trace_init(), before there are samples. */
static async_get_call_trace *get_call_trace;
static jint (*get_created_vms)(JavaVM **vms, jsize len, jsize *count);

/* Offsets of a thread's last Java frame, from its JNIEnv; anchor_sp is 0 if unknown. */
static int64_t anchor_sp, anchor_pc;
static int64_t anchor_fp;    /* likewise of its rbp, or 0 */
static int64_t stack_base;   /* likewise of the end of its stack, or 0 */
static int64_t stack_size;   /* likewise of its stack's size, or 0 */
static int64_t thread_state; /* likewise of its state */
static int64_t in_java;      /* the state in Java code */
static int64_t in_vm;        /* the state in the JVM (on the way out: one more); or -1 */
static bool anchor_known;    /* the JVM is one whose use of the anchor is known */
static int64_t in_native;    /* the state in native code */

/*
 * How many anchors were seen that led to generated code and the thread's own stack, and whether one
 * did not. Nothing is written to an anchor before ANCHOR_PROOFS. Relaxed: a thread that sees an old
 * value writes nothing.
 */
static _Atomic uint32_t anchors_right;
static _Atomic bool anchor_refuted;
enum { ANCHOR_PROOFS = 4 };

/* Do the thread's state and the end of its stack make sense for the calling thread, which is ours?
 */
static bool is_this_thread(JNIEnv *env)
{
	const int64_t at = (int64_t)(uintptr_t)env;
	const uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	uint64_t end = 0;
	uint32_t state = 0;

	return lc_peek((uint64_t)(at + stack_base), &end, sizeof(end)) && end > here &&
	       end - here <= STACK_MAX && !(end & 7) &&
	       lc_peek((uint64_t)(at + thread_state), &state, sizeof(state)) &&
	       (int64_t)state == in_native;
}

/* A JNIEnv is part of its JavaThread: how far in, this thread tells. */
static void find_anchor(JNIEnv *env)
{
	const long anchor = lc_vm_offset("JavaThread", "_anchor");
	const long sp = lc_vm_offset("JavaFrameAnchor", "_last_Java_sp");
	const long pc = lc_vm_offset("JavaFrameAnchor", "_last_Java_pc");
	const long fp = lc_vm_offset("JavaFrameAnchor", "_last_Java_fp");
	const long base = lc_vm_offset("JavaThread", "_stack_base");
	const long size = lc_vm_offset("JavaThread", "_stack_size");
	const long state = lc_vm_offset("JavaThread", "_thread_state");
	jclass class = (*env)->FindClass(env, "java/lang/Thread");
	jmethodID current =
	    class ? (*env)->GetStaticMethodID(env, class, "currentThread", "()Ljava/lang/Thread;")
	          : NULL;
	jfieldID eetop = current ? (*env)->GetFieldID(env, class, "eetop", "J") : NULL;
	jobject self = eetop ? (*env)->CallStaticObjectMethod(env, class, current) : NULL;
	/* -Xcheck:jni wants this before the next call. */
	const bool thrown = (*env)->ExceptionCheck(env);
	int64_t thread = self && !thrown ? (*env)->GetLongField(env, self, eetop) : 0;
	const int64_t env_at = (int64_t)(uintptr_t)env - thread;

	if (thrown)
		(*env)->ExceptionClear(env);
	if (!thread || anchor < 0 || sp < 0 || pc < 0 || env_at <= 0 || env_at > THREAD_BYTES_MAX ||
	    lc_layout_thread_tid((uint64_t)thread) != (int)syscall(SYS_gettid))
		return;
	anchor_known = lc_tracing_version_tried();
	anchor_sp = anchor + sp - env_at;
	anchor_pc = anchor + pc - env_at;
	anchor_fp = fp < 0 ? 0 : anchor + fp - env_at;
	if (base < 0 || state < 0 || lc_vm_constant("_thread_in_Java", &in_java) ||
	    lc_vm_constant("_thread_in_native", &in_native))
		return;
	if (lc_vm_constant("_thread_in_vm", &in_vm))
		in_vm = -1;
	stack_base = base - env_at;
	stack_size = size < 0 ? 0 : size - env_at;
	thread_state = state - env_at;
	if (!is_this_thread(env)) {
		stack_base = 0;
		return;
	}
	lc_cfi_init();
}

int lc_call_trace_init(JNIEnv *env)
{
	/* The launcher has opened libjvm locally, so the name alone does not find it. */
	void *libjvm = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
	void *walk = libjvm ? dlsym(libjvm, "AsyncGetCallTrace") : NULL;
	void *vms = libjvm ? dlsym(libjvm, "JNI_GetCreatedJavaVMs") : NULL;

	if (walk && vms)
		lc_tracing_catch_faults(libjvm);
	if (libjvm)
		dlclose(libjvm); /* it stays: the JVM is running */
	if (!walk || !vms)
		return -ENOENT;
	memcpy(&get_call_trace, &walk, sizeof(walk));
	memcpy(&get_created_vms, &vms, sizeof(vms));
	find_anchor(env);
	return 0;
}

JNIEnv *lc_call_trace_env(void)
{
	JavaVM *vm = NULL;
	void *env = NULL;
	jsize len = 0;

	/* Two loads and a thread-local: signal-safe, if not by its specification. */
	if (get_created_vms(&vm, 1, &len) != JNI_OK || len < 1)
		return NULL;
	return (*vm)->GetEnv(vm, &env, JNI_VERSION_1_6) == JNI_OK ? env : NULL;
}

/* The end of the calling thread's stack; 0: unknown. */
static uint64_t stack_end(JNIEnv *env)
{
	return stack_base ? lc_peek_load64((uint64_t)((int64_t)(uintptr_t)env + stack_base)) : 0;
}

/* The calling thread's state. */
static int64_t state_of(JNIEnv *env)
{
	return (int64_t)lc_peek_load32((uint64_t)((int64_t)(uintptr_t)env + thread_state));
}

/* The frame that the thread's anchor names. */
static bool anchor_frame(JNIEnv *env, struct lc_unwound *out)
{
	const char *at = (const char *)env;

	if (!anchor_sp || !anchor_fp)
		return false;
	*out = (struct lc_unwound){ 0 };
	memcpy(&out->pc, at + anchor_pc, sizeof(out->pc));
	memcpy(&out->sp, at + anchor_sp, sizeof(out->sp));
	memcpy(&out->fp, at + anchor_fp, sizeof(out->fp));
	return out->pc && out->sp;
}

static bool anchor_writable(void)
{
	return anchor_known &&
	       atomic_load_explicit(&anchors_right, memory_order_relaxed) >= ANCHOR_PROOFS &&
	       !atomic_load_explicit(&anchor_refuted, memory_order_relaxed);
}

/* Learn from the thread's anchor whether anchors are what they are taken for. */
static void look_at_anchor(JNIEnv *env, uint64_t sp)
{
	const uint64_t end = stack_end(env);
	struct lc_unwound anchor;

	if (!end || !anchor_frame(env, &anchor))
		return;
	/* Until a stub calls the JVM, and behind that call, its stack pointer is the anchor's. */
	if ((anchor.sp & 7) || anchor.sp < sp || anchor.sp > end ||
	    !lc_code_cache_in_cache(anchor.pc))
		atomic_store_explicit(&anchor_refuted, true, memory_order_relaxed);
	else if (!anchor_writable())
		atomic_fetch_add_explicit(&anchors_right, 1, memory_order_relaxed);
}

static bool audited; /* set before there are samples */

/* AsyncGetCallTrace, to frames[0..depth), from t->copy. */
static int ask(struct lc_tracing *t, uint64_t *frames, int depth)
{
	struct call_trace trace = { .env = t->env, .frames_len = 0, .frames = t->scratch };

	get_call_trace(&trace, depth, &t->copy);
	for (int i = 0; i < trace.frames_len; i++)
		frames[i] = lc_version_frame(t->scratch[i].method, t->scratch[i].bci);
	return trace.frames_len;
}

/*
 * The frame at which AsyncGetCallTrace would begin: the anchor if there is one, else, in Java code,
 * the registers. Returns false if it would refuse.
 */
static bool begin_at(const struct lc_tracing *t, struct lc_stack_at *out)
{
	const greg_t *g = t->copy.uc_mcontext.gregs;
	struct lc_unwound anchor;

	if (t->ask || !anchor_sp || !stack_base)
		return false;
	*out = (struct lc_stack_at){ .pc = (uint64_t)g[REG_RIP],
		                     .sp = (uint64_t)g[REG_RSP],
		                     .rbp = (uint64_t)g[REG_RBP] };
	if (!lc_peek_load64((uint64_t)((int64_t)(uintptr_t)t->env + anchor_sp)))
		return state_of(t->env) == in_java;
	if (!anchor_frame(t->env, &anchor))
		return false;
	*out = (struct lc_stack_at){ anchor.pc, anchor.sp, anchor.fp, .anchor = true };
	return true;
}

/* With --audit the JVM walks, too. */
static void compare(struct lc_tracing *t, const uint64_t *frames, int n, int depth)
{
	struct call_trace trace = { .env = t->env, .frames_len = 0, .frames = t->scratch };
	bool same = true;

	get_call_trace(&trace, depth, &t->copy);
	for (int i = 0; i < n && i < trace.frames_len; i++)
		same &= lc_version_same(frames[i], t->scratch[i].method, t->scratch[i].bci);
	lc_stack_walk_compared(!same || trace.frames_len > n ? LC_STACK_DIFFERS
	                       : trace.frames_len == n       ? LC_STACK_AGREES
	                                                     : LC_STACK_ALONE);
}

enum { PROOF_FRAMES = 48 };

/* A walk that proves; see jvm/stack/walk_proof.h. */
struct proof {
	struct lc_stack_at at;
	uint64_t stack_end;
	struct lc_walk_steps steps;
	int depth, n;
	uint64_t frames[PROOF_FRAMES];
};

static void walk_to_prove(void *arg)
{
	struct proof *p = arg;

	p->n = lc_stack_walk(&p->at, p->stack_end, p->frames, p->depth);
}

/* How many of the walk's frames are those that AsyncGetCallTrace found? */
static int common_frames(const struct lc_tracing *t, const struct proof *p, int n)
{
	int same = 0;

	while (same < p->n && same < n &&
	       lc_version_same(p->frames[same], t->scratch[same].method, t->scratch[same].bci))
		same++;
	return same;
}

/* Frames of a kind that is not proved yet: the JVM walks, and a walk of ours is compared. */
static int ask_and_prove(struct lc_tracing *t, const struct lc_stack_at *at, uint64_t *frames,
                         int depth)
{
	struct lc_walk_proof *proof = lc_walk_proof_signal();
	struct proof p = { .at = *at,
		           .stack_end = stack_end(t->env),
		           .depth = depth < PROOF_FRAMES ? depth : PROOF_FRAMES };
	bool whole;
	int n;

	p.at.proves = &p.steps;
	whole = lc_guard_prove(walk_to_prove, &p);
	n = ask(t, frames, depth);
	if (!whole)
		lc_walk_proof_fault(proof);
	else if (p.n > 0 && n > 0)
		t->doubted |= lc_walk_proof_compare(proof, &p.steps, p.n, n < p.depth ? n : p.depth,
		                                    common_frames(t, &p, n));
	return n;
}

/*
 * Walk from t->copy to frames[0..depth). Returns how many, or 0 or less. `framed`: see
 * struct lc_stack_at.
 */
static int walk(struct lc_tracing *t, bool framed, uint64_t *frames, int depth)
{
	struct lc_stack_at at;
	int n;

	if (!begin_at(t, &at))
		return ask(t, frames, depth);
	at.framed = framed;
	n = lc_stack_walk(&at, stack_end(t->env), frames, depth);
	if (n == -1 - (int)LC_STACK_UNPROVED)
		return ask_and_prove(t, &at, frames, depth);
	if (n < 0)
		return ask(t, frames, depth);
	if (audited)
		compare(t, frames, n, depth);
	return n;
}

/*
 * Code that enters the JVM leaves its stack pointer in the thread, and the JVM fills in the program
 * counter, which is the word below, when somebody first walks that stack. AsyncGetCallTrace does
 * not, so it is done here in the same way, for good.
 */
static bool complete_anchor(JNIEnv *env, uint64_t stack)
{
	char *const at = (char *)env;
	uint64_t sp, pc;

	if (!anchor_sp || !anchor_writable())
		return false;
	memcpy(&sp, at + anchor_sp, sizeof(sp));
	memcpy(&pc, at + anchor_pc, sizeof(pc));
	if (pc || sp % 8 || sp <= stack || sp - stack > STACK_BYTES_MAX)
		return false;
	memcpy(&pc, (const char *)(uintptr_t)sp - 8, sizeof(pc)); /* NOLINT */
	if (!lc_code_cache_in_cache(pc))
		return false;
	memcpy(at + anchor_pc, &pc, sizeof(pc));
	return true;
}

/* The stub through which the thread entered the JVM, and whose caller the JVM does not look for. */
static bool leave_by_stub(JNIEnv *env)
{
	uint64_t pc;

	if (!anchor_sp)
		return false;
	memcpy(&pc, (const char *)env + anchor_pc, sizeof(pc));
	return pc && lc_blob_make_whole(pc);
}

/* Is the calling thread in native code that counts as Java code, since it left no anchor? */
static bool in_leaf_call(JNIEnv *env)
{
	const uint64_t at = (uint64_t)(uintptr_t)env;

	return stack_base && (int64_t)lc_peek_load32(at + (uint64_t)thread_state) == in_java &&
	       !lc_peek_load64(at + (uint64_t)anchor_sp);
}

/*
 * A stub that has just come back from the JVM has not cleared the anchor yet, and then
 * AsyncGetCallTrace looks at nothing else: put it out of sight. No other thread looks at the anchor
 * of one in Java code.
 */
static void hide_anchor(struct lc_tracing *t)
{
	char *const at = (char *)t->env + anchor_sp;
	const uint64_t none = 0;
	uint64_t sp;

	if (!stack_base || !anchor_writable() || state_of(t->env) != in_java)
		return;
	memcpy(&sp, at, sizeof(sp));
	t->hidden = sp;
	memcpy(at, &none, sizeof(none));
}

static void show_anchor(struct lc_tracing *t)
{
	const uint64_t sp = t->hidden;

	if (sp)
		memcpy((char *)t->env + anchor_sp, &sp, sizeof(sp));
	t->hidden = 0;
}

/* Walk from the frame that was found; the path begins with its leaf, if there is one. */
static int walk_from(struct lc_tracing *t, const struct lc_unwound *from)
{
	greg_t *g = t->copy.uc_mcontext.gregs;
	int n, leaf = 0;

	if (from->leaf)
		t->frames[leaf++] = from->leaf;
	g[REG_RIP] = (greg_t)from->pc;
	g[REG_RSP] = (greg_t)from->sp;
	g[REG_RBP] = (greg_t)from->fp;
	hide_anchor(t);
	n = t->depth > leaf ? walk(t, true, t->frames + leaf, t->depth - leaf) : 0;
	show_anchor(t);
	if (n < 0 || (!n && !lc_frames_entry(from->pc)))
		return n;
	return leaf + n;
}

static int walk_unwound(struct lc_tracing *t, enum lc_unwind_kind kind, struct lc_unwound *from)
{
	int n = 0;

	/* How much was pushed is a guess at times, which AsyncGetCallTrace judges by more. */
	t->ask |= kind == LC_UNWIND_PUSHED;
	if ((kind == LC_UNWIND_EPILOGUE || kind == LC_UNWIND_PUSHED) &&
	    t->pc) { /* a frame of its own, as it was */
		const uint64_t pc = from->pc;

		from->pc = t->pc;
		n = walk_from(t, from);
		from->pc = pc;
	}
	return n > 0 ? n : walk_from(t, from);
}

/* Walk like AsyncGetCallTrace itself, with the pretended pc first. */
static int walk_plain(struct lc_tracing *t)
{
	int n = 0;

	/* The floating-point state stays where the copy's pointer says: nothing here reads it. */
	memcpy(&t->copy, t->context, sizeof(t->copy));
	if (t->pc) {
		t->copy.uc_mcontext.gregs[REG_RIP] = (greg_t)t->pc;
		n = walk(t, false, t->frames, t->depth);
	}
	if (n <= 0) {
		t->copy.uc_mcontext.gregs[REG_RIP] = t->context->uc_mcontext.gregs[REG_RIP];
		n = walk(t, false, t->frames, t->depth);
	}
	return n;
}

bool lc_call_trace_last_java(JNIEnv *env, struct lc_last_java *out)
{
	const char *at = (const char *)env;

	if (!anchor_sp || !anchor_fp)
		return false;
	memcpy(&out->sp, at + anchor_sp, sizeof(out->sp));
	memcpy(&out->pc, at + anchor_pc, sizeof(out->pc));
	memcpy(&out->rbp, at + anchor_fp, sizeof(out->rbp));
	if (!out->sp || out->sp % 8)
		return false;
	if (!out->pc)
		out->pc = lc_peek_load64(out->sp - 8);
	return true;
}

bool lc_call_trace_in_native(JNIEnv *env)
{
	return thread_state && state_of(env) == in_native;
}

bool lc_call_trace_own_stack(JNIEnv *env, uint64_t low, uint64_t high)
{
	const uint64_t end = stack_end(env);
	const uint64_t size =
	    stack_size ? lc_peek_load64((uint64_t)((int64_t)(uintptr_t)env + stack_size)) : 0;

	return size && size < end && low >= end - size && low <= high && high < end;
}

static void write_anchor(JNIEnv *env, const struct lc_unwound *to)
{
	char *const at = (char *)env;

	memcpy(at + anchor_sp, &to->sp, sizeof(to->sp));
	memcpy(at + anchor_fp, &to->fp, sizeof(to->fp));
	memcpy(at + anchor_pc, &to->pc, sizeof(to->pc));
}

/*
 * A thread that a stub has led into the JVM. From a stub's caller AsyncGetCallTrace may walk
 * as if the thread was behind the call, so it names a later line. Let the anchor lead to the call
 * itself, for the walk. Other threads look at it only while this one is in native code, blocked, or
 * on its way out of there.
 */
static int walk_anchored(struct lc_tracing *t, struct lc_unwound *caller)
{
	const int64_t state = state_of(t->env) & ~INT64_C(1); /* odd: it is about to leave it */
	struct lc_unwound stub;
	int n;

	if (!anchor_writable() || (state != in_vm && state != in_java) ||
	    !anchor_frame(t->env, &stub))
		return 0;
	t->stub = stub;
	t->moved = true;
	write_anchor(t->env, caller);
	memcpy(&t->copy, t->context, sizeof(t->copy));
	n = walk(t, true, t->frames, t->depth);
	write_anchor(t->env, &stub);
	t->moved = false;
	return n;
}

/* If the line may be wrong: keep only the method of the compiled caller, without a line. */
static int drop_line(struct lc_tracing *t, const struct lc_unwound *caller, int n)
{
	const uint64_t method = lc_code_cache_method(caller->pc);

	for (int i = 0; method && i < n; i++) {
		if (lc_version_method(t->frames[i] & LC_ADDR_MASK) != method)
			continue;
		t->frames[i] |= (uint64_t)LC_BCI_NONE << LC_ADDR_BITS;
		memmove(t->frames, t->frames + i, (size_t)(n - i) * sizeof(*t->frames));
		return n - i;
	}
	return n;
}

/* A thread in the JVM, by way of a stub that compiled code called, or else as it stands. */
static int walk_by_anchor(struct lc_tracing *t)
{
	const uint64_t end = stack_end(t->env);
	struct lc_unwound stub, caller;
	int n;

	if (!end || in_vm < 0 || !anchor_frame(t->env, &stub) ||
	    !lc_unwind_stub(&stub, end, &caller))
		return walk_plain(t);
	n = walk_anchored(t, &caller);
	return n > 0 ? n : drop_line(t, &caller, walk_plain(t));
}

/* Find the frame to walk from, and walk. Returns 0 or less where there is none. */
static int walk_found(struct lc_tracing *t, bool generated, struct lc_repair *repair)
{
	const greg_t *g = t->context->uc_mcontext.gregs;
	const uint64_t end = stack_end(t->env);
	struct lc_unwound *from = &repair->from;
	struct lc_unwound caller;
	int n;

	repair->kind =
	    generated ? lc_unwind_generated(g, end, from) : lc_unwind_native(g, end, from);
	if (!repair->kind)
		return 0;
	memcpy(&t->copy, t->context, sizeof(t->copy));
	n = walk_unwound(t, repair->kind, from);
	if (n <= 0 && lc_unwind_caller(from, end, &caller)) {
		*from = caller;
		n = walk_from(t, from);
	}
	if (n <= 0)
		repair->kind = LC_UNWIND_NONE;
	return n;
}

/*
 * A thread in the JVM: where its anchor is not whole, or leads to a stub, mend that. Returns
 * whether walking is worth a try.
 */
static bool mend_anchor(JNIEnv *env, uint64_t sp)
{
	const bool completed = complete_anchor(env, sp);

	return leave_by_stub(env) || completed;
}

/* Is the thread in code that rebuilds its frames, or has such code called the JVM? */
static bool unpacks(JNIEnv *env, uint64_t pc)
{
	struct lc_unwound anchor;
	struct lc_blob blob;

	return (lc_blob_find(pc, &blob) && lc_blob_unpacks(&blob)) ||
	       (anchor_frame(env, &anchor) && lc_blob_find(anchor.pc, &blob) &&
	        lc_blob_unpacks(&blob));
}

void lc_tracing_walk(void *arg)
{
	struct lc_tracing *t = arg;
	const greg_t *g = t->context->uc_mcontext.gregs;
	const uint64_t at = (uint64_t)g[REG_RIP];
	const bool generated = lc_code_cache_in_cache(at), interpreted = lc_frames_interpreted(at);
	int n = 0;

	look_at_anchor(t->env, (uint64_t)g[REG_RSP]);
	t->ask = unpacks(t->env, at);
	if (generated ? !interpreted : in_leaf_call(t->env))
		n = walk_found(t, generated, t->repair);
	else if (!generated && mend_anchor(t->env, (uint64_t)g[REG_RSP]))
		t->repair->kind = LC_UNWIND_ANCHOR;
	if (n <= 0) {
		n = t->repair->kind == LC_UNWIND_ANCHOR ? walk_by_anchor(t) : walk_plain(t);
		if (n <= 0 && interpreted) {
			const int again = walk_found(t, true, t->repair);

			n = again > 0 ? again : n;
		}
	}
	t->walked = t->doubted ? LC_WALK_DOUBTED : n;
}

void lc_tracing_ask(void *arg)
{
	struct lc_tracing *t = arg;

	t->walked = ask(t, t->frames, t->depth);
}

void lc_tracing_put_back(struct lc_tracing *t)
{
	struct lc_unwound stub;

	show_anchor(t);
	if (!t->moved)
		return;
	stub = t->stub;
	write_anchor(t->env, &stub);
	t->moved = false;
}

/* -- where the thread goes on --------------------------------------------------------------- */

/* Go on behind the frame that the path begins in: at the return address above it. */
static bool resume_behind(const struct lc_unwound *from, uint64_t end, struct lc_resume *out)
{
	struct lc_blob blob;

	out->method = 0;
	out->gone = 1;
	if (lc_frames_interpreted(from->pc)) {
		out->slot = from->fp + 8;
	} else if (lc_blob_find(from->pc, &blob) && blob.frame_words > 1) {
		out->slot = from->sp + (uint64_t)blob.frame_words * 8 - 8;
		if (blob.kind != LC_BLOB_METHOD)
			out->gone = 0;
		else
			out->method = lc_code_cache_method(from->pc);
	} else {
		return false;
	}
	if (out->slot < from->sp || out->slot + 8 > end || (out->slot & 7))
		return false;
	out->pc = lc_peek_load64(out->slot);
	out->sp = out->slot + 8;
	out->fp = lc_peek_load64(out->slot - 8);
	return true;
}

bool lc_tracing_resume(JNIEnv *env, const struct lc_repair *repair, struct lc_resume *out)
{
	const uint64_t end = stack_end(env);
	struct lc_unwound from = repair->from;
	struct lc_blob blob;

	*out = (struct lc_resume){ 0 };
	if (!end || !repair->kind ||
	    (repair->kind == LC_UNWIND_ANCHOR && !anchor_frame(env, &from)))
		return false;
	if (!from.resume_pc)
		return resume_behind(&from, end, out) && lc_blob_find(out->pc, &blob) &&
		       !lc_blob_is_deopt(&blob, out->pc);
	/* A frame that is deoptimized is another one when the thread goes on, and one with
	 * arguments on it is not whole. */
	if (from.sp != from.resume_sp ||
	    (lc_blob_find(from.resume_pc, &blob) && lc_blob_is_deopt(&blob, from.resume_pc)))
		return false;
	out->pc = from.resume_pc;
	out->sp = from.resume_sp;
	out->fp = from.fp;
	out->gone = from.leaf ? 1 : 0;
	/* Adapters, stubs of exceptions and the interpreter have read it, and may put it elsewhere.
	 */
	if (repair->kind != LC_UNWIND_INTERPRETER && repair->kind != LC_UNWIND_STUB &&
	    (repair->kind != LC_UNWIND_NATIVE || !lc_frames_interpreted(out->pc)) &&
	    out->sp <= end && lc_peek_load64(out->sp - 8) == out->pc)
		out->slot = out->sp - 8;
	return true;
}

bool lc_tracing_key(JNIEnv *env, const struct lc_resume *at, unsigned frames_max, uint64_t *key)
{
	return lc_frames_key(at->pc, at->sp, at->fp, stack_end(env), frames_max, key);
}

void lc_call_trace_audit(void)
{
	audited = true;
}

static const struct lc_counter counters[] = {
	/* 1: an anchor was seen that was not what anchors are taken for. */
	LC_COUNTER("engine_anchors_refuted", &anchor_refuted),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
