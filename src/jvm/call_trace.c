/* jvm/call_trace.c - walks call paths through AsyncGetCallTrace. */
#include "src/jvm/call_trace.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "src/core/record.h"
#include "src/jvm/code_cache.h"
#include "src/jvm/layout.h"
#include "src/jvm/vmstructs.h"

enum { STUB_FRAME_BYTES_MAX = 512, THREAD_BYTES_MAX = 16 << 10, STACK_BYTES_MAX = 1 << 20 };

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

/* Where a thread's last Java frame is, from its JNIEnv; anchor_sp is 0 where that is not known. */
static int64_t anchor_sp, anchor_pc;

enum { NOT_WALKABLE = -3 /* AsyncGetCallTrace: in the JVM, last Java frame not whole */ };

/* A JNIEnv is part of its JavaThread: how far in, this thread tells. */
static void find_anchor(JNIEnv *env)
{
	const long anchor = lc_vm_offset("JavaThread", "_anchor");
	const long sp = lc_vm_offset("JavaFrameAnchor", "_last_Java_sp");
	const long pc = lc_vm_offset("JavaFrameAnchor", "_last_Java_pc");
	jclass class = (*env)->FindClass(env, "java/lang/Thread");
	jmethodID current =
	    class ? (*env)->GetStaticMethodID(env, class, "currentThread", "()Ljava/lang/Thread;")
	          : NULL;
	jfieldID eetop = current ? (*env)->GetFieldID(env, class, "eetop", "J") : NULL;
	jobject self = eetop ? (*env)->CallStaticObjectMethod(env, class, current) : NULL;
	int64_t thread = self ? (*env)->GetLongField(env, self, eetop) : 0;
	const int64_t env_at = (int64_t)(uintptr_t)env - thread;

	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env);
	if (!thread || anchor < 0 || sp < 0 || pc < 0 || env_at <= 0 || env_at > THREAD_BYTES_MAX ||
	    lc_layout_thread_tid((uint64_t)thread) != (int)syscall(SYS_gettid))
		return;
	anchor_sp = anchor + sp - env_at;
	anchor_pc = anchor + pc - env_at;
}

int lc_call_trace_init(JNIEnv *env)
{
	/* The launcher has opened libjvm locally, so the name alone does not find it. */
	void *libjvm = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
	void *walk = libjvm ? dlsym(libjvm, "AsyncGetCallTrace") : NULL;
	void *vms = libjvm ? dlsym(libjvm, "JNI_GetCreatedJavaVMs") : NULL;

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

static int walk(JNIEnv *env, ucontext_t *context, struct lc_call_trace_frame *scratch, int depth)
{
	struct call_trace trace = { .env = env, .frames_len = 0, .frames = scratch };

	get_call_trace(&trace, depth, context);
	return trace.frames_len;
}

/* Do the bytes before `pc`, in a compiled method, say that a call returns there? */
static bool follows_call(uint64_t pc)
{
	const uint8_t *at = (const uint8_t *)(uintptr_t)pc;
	struct lc_code_cache_piece code;

	if (!lc_code_cache_find(pc, &code) || code.kind != LC_CODE_METHOD || pc - code.start < 5)
		return false;
	return at[-5] == 0xe8 ||                            /* call rel32 */
	       (at[-2] == 0xff && (at[-1] & 0xf8) == 0xd0); /* call register */
}

/*
 * Stubs have frames that the JVM does not walk: none at all, or a saved rbp that rbp points to.
 * Step out to the compiled caller where the stack holds a return address of one.
 */
static bool leave_stub(ucontext_t *context)
{
	greg_t *g = context->uc_mcontext.gregs;
	const uint64_t sp = (uint64_t)g[REG_RSP], fp = (uint64_t)g[REG_RBP];
	struct lc_code_cache_piece code;
	const uint64_t *at;

	if (!lc_code_cache_find((uint64_t)g[REG_RIP], &code) || code.kind != LC_CODE_STUB || sp % 8)
		return false;
	if (fp >= sp && fp - sp < STUB_FRAME_BYTES_MAX && fp % 8 == 0) {
		at = (const uint64_t *)(uintptr_t)fp;
		if (follows_call(at[1])) {
			g[REG_RIP] = (greg_t)(at[1] - 1);
			g[REG_RSP] = (greg_t)(fp + 16);
			g[REG_RBP] = (greg_t)at[0];
			return true;
		}
	}
	at = (const uint64_t *)(uintptr_t)sp;
	if (!follows_call(at[0]))
		return false;
	g[REG_RIP] = (greg_t)(at[0] - 1);
	g[REG_RSP] = (greg_t)(sp + 8);
	return true;
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

	if (!anchor_sp)
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

int lc_call_trace(JNIEnv *env, const void *ucontext, uint64_t pc,
                  struct lc_call_trace_frame *scratch, uint64_t *frames, int depth)
{
	ucontext_t copy;
	int n = 0;

	if (!env)
		return -8; /* "thread exit": the code for a thread that the JVM does not know */
	/* The floating-point state stays where the copy's pointer says: nothing here reads it. */
	memcpy(&copy, ucontext, sizeof(copy));
	if (pc) {
		copy.uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
		n = walk(env, &copy, scratch, depth);
	}
	if (n <= 0) {
		memcpy(&copy, ucontext, sizeof(copy));
		n = walk(env, &copy, scratch, depth);
	}
	if (n == NOT_WALKABLE && complete_anchor(env, (uint64_t)copy.uc_mcontext.gregs[REG_RSP]))
		n = walk(env, &copy, scratch, depth);
	if (n <= 0 && leave_stub(&copy)) {
		const int out = walk(env, &copy, scratch, depth);

		n = out > 0 ? out : n;
	}
	for (int i = 0; i < n; i++)
		frames[i] = lc_frame_pack(scratch[i].method, scratch[i].bci);
	return n;
}
