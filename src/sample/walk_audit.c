/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/walk_audit.c - waits for the return that a repaired path predicts, and compares the paths.
 *
 * Other code than the return touches the word: the JVM reads it when it walks the stack, stubs read
 * it for an exception, and an epilogue of the interpreter pops it some instructions before the
 * jump. After such an access, a breakpoint on the return address itself takes over. The thread may
 * come there by another call later, so the words that lead from frame to frame above must be
 * unchanged.
 *
 * Ownership: a struct lc_walk_audit belongs to its thread's handlers, which do not interrupt each
 *            other; totals are counts, and relaxed.
 */
#include "src/sample/walk_audit.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <ucontext.h>

#include "src/core/counters.h"
#include "src/core/record.h"
#include "src/core/version.h"
#include "src/jvm/code/blob.h"
#include "src/jvm/code/code_cache.h"
#include "src/jvm/os/peek.h"
#include "src/jvm/stack/frames.h"
#include "src/sample/signals.h"
#include "src/sample/trap.h"

enum { HITS_MAX = 64 /* of a breakpoint that are not what it waits for */ };

enum stage { IDLE, SLOT /* watches the word */, RESUME /* watches the return address */ };

enum result { AGREED, WRONG, LEFT, UNREACHED, UNWALKED, RESULTS };

struct lc_walk_audit {
	struct lc_trap trap;
	enum stage stage;
	enum lc_unwind_kind kind;
	bool touched; /* somebody else has read the word */
	bool has_key;
	unsigned hits;
	uint64_t key;
	struct lc_resume resume;
	int depth, frames_len;
	uint64_t frames[];
};

static _Atomic uint64_t totals[RESULTS][LC_UNWIND_KINDS];

size_t lc_walk_audit_bytes(int depth)
{
	return sizeof(struct lc_walk_audit) + (size_t)depth * sizeof(uint64_t);
}

void lc_walk_audit_init(struct lc_walk_audit *a, int depth)
{
	a->trap = LC_TRAP_WALK;
	a->depth = depth;
}

static void end(struct lc_walk_audit *a, enum result result)
{
	a->stage = IDLE;
	atomic_fetch_add_explicit(&totals[result][a->kind], 1, memory_order_relaxed);
}

void lc_walk_audit_note(struct lc_walk_audit *a, JNIEnv *env, const void *context,
                        const struct lc_repair *repair, const uint64_t *frames, int frames_len)
{
	const ucontext_t *c = context;

	if (!repair->kind || frames_len <= 0)
		return;
	if (a->stage)
		end(a, UNREACHED);
	a->kind = repair->kind;
	a->touched = false;
	a->hits = 0;
	if (sigismember(&c->uc_sigmask, SIGTRAP) == 1 || !lc_signals_installed(LC_SIGNAL_TRAP) ||
	    !lc_call_trace_resume(env, repair, &a->resume)) {
		end(a, UNWALKED);
		return;
	}
	a->has_key = lc_call_trace_key(env, &a->resume, (unsigned)a->depth, &a->key);
	a->frames_len = frames_len;
	memcpy(a->frames, frames, (size_t)frames_len * sizeof(*frames));
	a->stage = a->resume.slot ? SLOT : RESUME;
}

void lc_walk_audit_enter(struct lc_walk_audit *a)
{
	if (a->stage)
		lc_trap_disarm(&a->trap);
}

void lc_walk_audit_leave(struct lc_walk_audit *a)
{
	if (a->stage && (a->stage == SLOT ? lc_trap_watch(&a->trap, a->resume.slot)
	                                  : lc_trap_arm(&a->trap, a->resume.pc)))
		end(a, UNWALKED);
}

/* -- comparing ------------------------------------------------------------------------------ */

/* Is it the same method? The JVM does not say which version of a method it means. */
static bool same_method(uint64_t frame, uint64_t other)
{
	return lc_version_method(frame & LC_ADDR_MASK) == lc_version_method(other & LC_ADDR_MASK);
}

static bool same_frames(const uint64_t *frames, const uint64_t *others, int len)
{
	for (int i = 0; i < len; i++)
		if ((frames[i] ^ others[i]) >> LC_ADDR_BITS || !same_method(frames[i], others[i]))
			return false;
	return true;
}

/* Is the path, without its first `gone` frames, the other one? Either may be cut at the depth. */
static bool is_rest(const struct lc_walk_audit *a, int gone, const uint64_t *frames, int len)
{
	const int rest = a->frames_len - gone;
	const int least = rest < len ? rest : len;

	if (rest < 0 || (rest > len && len < a->depth) || (rest < len && a->frames_len < a->depth))
		return false;
	return same_frames(a->frames + gone, frames, least);
}

/*
 * A path whose first method has no line names no methods that were inlined there: compare behind
 * that method.
 */
static bool agrees_without_line(const struct lc_walk_audit *a, const uint64_t *frames, int len)
{
	for (int i = 0; i < len; i++)
		if (same_method(frames[i], a->frames[0]))
			return is_rest(a, 1, frames + i + 1, len - i - 1);
	return false;
}

/* How many frames of one compiled method there were, only their last one's method tells. */
static bool agrees(const struct lc_walk_audit *a, const uint64_t *frames, int len)
{
	if (!a->resume.gone && a->frames[0] >> LC_ADDR_BITS == LC_BCI_NONE)
		return agrees_without_line(a, frames, len);
	if (!a->resume.method)
		return is_rest(a, (int)a->resume.gone, frames, len);
	for (int gone = (int)a->resume.gone; gone <= a->frames_len; gone++)
		if (lc_version_method(a->frames[gone - 1] & LC_ADDR_MASK) == a->resume.method &&
		    is_rest(a, gone, frames, len))
			return true;
	return false;
}

static void compare(struct lc_walk_audit *a, JNIEnv *env, const void *context,
                    struct lc_call_trace_frame *scratch, uint64_t *frames)
{
	const int n = lc_call_trace_resumed(env, context, scratch, frames, a->depth);

	/* Behind the frame that the JVM called there may be no Java code any more. */
	if (n <= 0 && !lc_frames_entry(a->resume.pc))
		end(a, UNWALKED);
	else
		end(a, agrees(a, frames, n > 0 ? n : 0) ? AGREED : WRONG);
}

static bool same_key(const struct lc_walk_audit *a, JNIEnv *env)
{
	uint64_t key;

	return a->has_key && lc_call_trace_key(env, &a->resume, (unsigned)a->depth, &key) &&
	       key == a->key;
}

/* Stubs put the address of an exception's handler there, or take the frame apart. */
static bool is_java(uint64_t pc)
{
	struct lc_blob blob;

	return lc_frames_interpreted(pc) ||
	       (lc_blob_find(pc, &blob) && blob.kind == LC_BLOB_METHOD);
}

/* The word was touched. Returns whether the thread is at the return address. */
static bool at_slot(struct lc_walk_audit *a, uint64_t pc, uint64_t sp)
{
	if (pc == a->resume.pc && sp == a->resume.sp)
		return true;
	if (lc_code_cache_in_cache(pc) && sp > a->resume.slot)
		a->stage = RESUME;
	else if (!lc_code_cache_in_cache(pc) || lc_peek_load64(a->resume.slot) == a->resume.pc)
		a->touched = true;
	else
		end(a, a->touched || !is_java(pc) ? LEFT : WRONG);
	return false;
}

void lc_walk_audit_hit(struct lc_walk_audit *a, JNIEnv *env, const void *context,
                       struct lc_call_trace_frame *scratch, uint64_t *frames)
{
	const greg_t *g = ((const ucontext_t *)context)->uc_mcontext.gregs;
	const uint64_t pc = (uint64_t)g[REG_RIP], sp = (uint64_t)g[REG_RSP];

	if (a->stage == SLOT) {
		if (at_slot(a, pc, sp))
			compare(a, env, context, scratch, frames);
	} else if (a->stage == RESUME && pc == a->resume.pc &&
	           (lc_frames_interpreted(pc) ? (uint64_t)g[REG_RBP] == a->resume.fp
	                                      : sp == a->resume.sp)) {
		if (same_key(a, env))
			compare(a, env, context, scratch, frames);
		else
			end(a, LEFT);
	}
	if (a->stage && ++a->hits > HITS_MAX)
		end(a, UNREACHED);
}

void lc_walk_audit_close(struct lc_walk_audit *a)
{
	lc_trap_close(&a->trap);
}

static void put_counters(struct lc_counters *out)
{
	static const char *const kinds[LC_UNWIND_KINDS] = {
		[LC_UNWIND_PROLOGUE] = "prologue", [LC_UNWIND_EPILOGUE] = "epilogue",
		[LC_UNWIND_PUSHED] = "pushed",     [LC_UNWIND_INTERPRETER] = "interpreter",
		[LC_UNWIND_STUB] = "stub",         [LC_UNWIND_NATIVE] = "native",
		[LC_UNWIND_ANCHOR] = "anchor"
	};
	static const char *const results[RESULTS] = { [AGREED] = "agreed",
		                                      [WRONG] = "wrong",
		                                      [LEFT] = "left",
		                                      [UNREACHED] = "unreached",
		                                      [UNWALKED] = "unwalked" };

	for (unsigned r = 0; r < RESULTS; r++)
		for (unsigned k = 0; k < LC_UNWIND_KINDS; k++) {
			const uint64_t n =
			    atomic_load_explicit(&totals[r][k], memory_order_relaxed);
			char name[LC_COUNTER_NAME_MAX];

			if (!n)
				continue;
			snprintf(name, sizeof(name), "audit_walk_%s_%s", results[r], kinds[k]);
			lc_counters_put(out, name, n);
		}
}

LC_COUNTER_TABLE(.put = put_counters);
