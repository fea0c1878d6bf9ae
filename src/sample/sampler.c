/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/sampler.c - keeps the samplers of all threads, and does what every engine does for a
 * sample.
 *
 * Samplers live in an arena that is never unmapped, so that a signal that comes late finds one:
 * a timer's value is the address of its slot, which also tells our signals from others'.
 *
 * Invariant: a sampler's fields other than the atomic ones are written by its own thread (in
 *            create and by thread_start, before its first signal, by the starter), and after it
 *            was shut by the one who holds the engines' lock. A handler touches them only between
 *            enter and leave.
 * Order:     T1  state STOPPED (seq_cst), then in_handler is read (seq_cst), against in_handler
 *                set, then state read: either the handler sees STOPPED or wait() sees it inside.
 *            T2  fields before state ACTIVE (release) -> the handler reads ACTIVE (acquire).
 */
#include "src/sample/sampler.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "src/base/limit.h"
#include "src/base/options.h"
#include "src/base/time.h"
#include "src/core/counters.h"
#include "src/core/epoch.h"
#include "src/core/own.h"
#include "src/core/thread.h"
#include "src/core/wake.h"
#include "src/format/kinds.h"
#include "src/jvm/code/blob.h"
#include "src/jvm/code/code_cache.h"
#include "src/jvm/code/code_frames.h"
#include "src/jvm/code/scopes.h"
#include "src/jvm/layout/ranges.h"
#include "src/jvm/os/peek.h"
#include "src/jvm/stack/stack_walk.h"
#include "src/jvm/stack/walk_proof.h"
#include "src/offheap/blocks.h"
#include "src/sample/find.h"
#include "src/sample/native_code.h"
#include "src/sample/sample_log.h"

enum {
	SAMPLERS_MAX = 1 << 16, /* threads at a time */
	LOG_BYTES = 64 << 10,   /* a few hundred samples */
	/* If every object is tracked, closing an epoch takes seconds. */
	PATIENT_LOG_BYTES = 1 << 20,
	KEPT_MAX = 1024, /* free samplers that keep their memory */
	/* For a handler and all its callees, which need 14.5 KB. */
	STACK_BYTES = 24 << 10,
};

static struct {
	struct lc_sampler *arena; /* set once */
	int depth;                /* set before there are threads, as are the next fields */
	bool audit;
	size_t log_bytes;
	uint64_t jvm_low, jvm_high;

	_Atomic uint32_t used;   /* grows under the engines' lock; a sampler below it is readable */
	struct lc_sampler *free; /* under the engines' lock, as the next */
	uint32_t kept;           /* free samplers that keep their memory */

	_Atomic uint64_t counts[LC_SAMPLER_COUNTS];
	_Atomic uint64_t engine_counts[LC_EVENTS_MAX][LC_ENGINE_COUNTS];
	_Atomic uint64_t walk_errors[16];
	_Atomic uint64_t walk_repaired[LC_UNWIND_KINDS];
} samplers = { .log_bytes = LOG_BYTES };

void lc_engine_add(size_t engine, enum lc_engine_count what, uint64_t n)
{
	atomic_fetch_add_explicit(&samplers.engine_counts[engine][what], n, memory_order_relaxed);
}

uint64_t lc_engine_counted(size_t engine, enum lc_engine_count what)
{
	return atomic_load_explicit(&samplers.engine_counts[engine][what], memory_order_relaxed);
}

void lc_sampler_add(enum lc_sampler_count what, uint64_t n)
{
	atomic_fetch_add_explicit(&samplers.counts[what], n, memory_order_relaxed);
}

static void put_walk_errors(struct lc_counters *out)
{
	for (unsigned i = 0; i < sizeof(samplers.walk_errors) / sizeof(samplers.walk_errors[0]);
	     i++) {
		const uint64_t n =
		    atomic_load_explicit(&samplers.walk_errors[i], memory_order_relaxed);
		char name[LC_COUNTER_NAME_MAX];

		if (!n)
			continue;
		snprintf(name, sizeof(name), "engine_walk_error_%s%u", i ? "minus_" : "", i);
		lc_counters_put(out, name, n);
	}
}

static const struct lc_counter counters[] = {
	LC_COUNTER("engine_handler_us", &samplers.counts[LC_SAMPLER_HANDLER_NS], .unit = 1000),
	LC_COUNTER("engine_traps_armed", &samplers.counts[LC_SAMPLER_TRAPS_ARMED]),
	LC_COUNTER("engine_traps_hit", &samplers.counts[LC_SAMPLER_TRAPS_HIT]),
	/* Not hit within a few samples of their thread. */
	LC_COUNTER("engine_traps_missed", &samplers.counts[LC_SAMPLER_TRAPS_MISSED]),
	/* Breakpoints that could not be set. */
	LC_COUNTER("engine_trap_errors", &samplers.counts[LC_SAMPLER_TRAP_ERRORS]),
	/* Handed on to the handler that was there before. */
	LC_COUNTER("engine_foreign_signals", &samplers.counts[LC_SAMPLER_FOREIGN]),
	/* Hit, and nothing was told of them. */
	LC_COUNTER("engine_traps_causeless", &samplers.counts[LC_SAMPLER_CAUSELESS]),
	/* Handlers had no room on their stack. */
	LC_COUNTER("engine_no_stack", &samplers.counts[LC_SAMPLER_NO_STACK]),
	LC_COUNTER("engine_walk_repaired_prologue", &samplers.walk_repaired[LC_UNWIND_PROLOGUE]),
	LC_COUNTER("engine_walk_repaired_epilogue", &samplers.walk_repaired[LC_UNWIND_EPILOGUE]),
	LC_COUNTER("engine_walk_repaired_pushed", &samplers.walk_repaired[LC_UNWIND_PUSHED]),
	LC_COUNTER("engine_walk_repaired_interpreter",
	           &samplers.walk_repaired[LC_UNWIND_INTERPRETER]),
	LC_COUNTER("engine_walk_repaired_stub", &samplers.walk_repaired[LC_UNWIND_STUB]),
	LC_COUNTER("engine_walk_repaired_native", &samplers.walk_repaired[LC_UNWIND_NATIVE]),
	LC_COUNTER("engine_walk_repaired_anchor", &samplers.walk_repaired[LC_UNWIND_ANCHOR]),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters), .put = put_walk_errors);

/* -- arena ------------------------------------------------------------------------------- */

int lc_sampler_init(JNIEnv *jni, const struct lc_options *options)
{
	const struct lc_range heap = lc_ranges_objects(), library = lc_ranges_library();
	void *arena;
	int err;

	if (samplers.arena)
		return -EALREADY;
	samplers.depth = options->depth < LC_FRAMES_MAX ? (int)options->depth : LC_FRAMES_MAX;
	if (samplers.depth < 1)
		return -EINVAL;
	samplers.audit = options->audit;
	if (samplers.audit)
		lc_call_trace_audit();
	err = lc_call_trace_init(jni);
	if (!err)
		err = lc_code_cache_init();
	if (!err)
		err = lc_decode_init();
	if (err)
		return err;
	if (!options->min_size_bytes)
		lc_sampler_log_at_least(PATIENT_LOG_BYTES);
	samplers.jvm_low = library.low;
	samplers.jvm_high = library.high;
	lc_native_code_refresh();
	/* If the range is unknown, an operand that lost one register is always trapped. */
	lc_decode_heap_range(heap.low, heap.high);
	arena = mmap(NULL, SAMPLERS_MAX * sizeof(struct lc_sampler), PROT_READ | PROT_WRITE,
	             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (arena == MAP_FAILED)
		return -ENOMEM;
	samplers.arena = arena;
	return 0;
}

void lc_sampler_log_at_least(size_t bytes)
{
	if (samplers.log_bytes < bytes)
		samplers.log_bytes = bytes;
}

uint32_t lc_samplers_used(void)
{
	return atomic_load_explicit(&samplers.used, memory_order_acquire);
}

struct lc_sampler *lc_samplers_at(uint32_t i)
{
	return &samplers.arena[i];
}

static struct lc_sampler *take(void)
{
	const uint32_t used = atomic_load_explicit(&samplers.used, memory_order_relaxed); /* lock */
	struct lc_sampler *s = samplers.free;

	if (s) {
		samplers.free = s->next_free;
	} else if (used < SAMPLERS_MAX) {
		s = &samplers.arena[used];
		atomic_store_explicit(&samplers.used, used + 1, memory_order_release);
	}
	return s;
}

/*
 * To map and unmap memory costs a short thread more than its samples, and stops all other threads
 * of the process that do so; the audit begins with clean memory. `log`: NULL where none was made.
 */
static void give(struct lc_sampler *s, struct lc_sample_log *log)
{
	atomic_store(&s->state, LC_SAMPLER_FREE);
	lc_trap_close(&s->trap);
	if (s->scratch && s->audit)
		lc_walk_audit_close(s->audit);
	s->audit = NULL;
	if (s->scratch && log && !samplers.audit && samplers.kept < KEPT_MAX) {
		samplers.kept++;
		s->log = log;
	} else {
		if (s->scratch)
			munmap(s->scratch, s->buffers_bytes);
		s->scratch = NULL;
		lc_sample_log_destroy(log);
	}
	s->next_free = samplers.free;
	samplers.free = s;
}

/* Use the memory that the sampler has kept. Returns false where it has none. */
static bool use_kept(struct lc_sampler *s, struct lc_thread *t)
{
	if (!s->log)
		return false;
	samplers.kept--;
	t->samples = s->log;
	s->log = NULL;
	lc_sample_log_reset(t->samples);
	return true;
}

static int buffers_create(struct lc_sampler *s)
{
	const size_t depth = (size_t)samplers.depth;
	unsigned char *p;

	s->buffers_bytes = depth * (sizeof(*s->scratch) + 2 * sizeof(*s->frames)) +
	                   (samplers.audit ? lc_walk_audit_bytes(samplers.depth) : 0);
	p = mmap(NULL, s->buffers_bytes, PROT_READ | PROT_WRITE,
	         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return -ENOMEM;
	s->scratch = (void *)p;
	s->frames = (void *)(p + depth * sizeof(*s->scratch));
	s->pending_frames = s->frames + depth;
	s->audit = samplers.audit ? (void *)(s->pending_frames + depth) : NULL;
	if (s->audit)
		lc_walk_audit_init(s->audit, samplers.depth);
	return 0;
}

int lc_sampler_create(struct lc_thread *t)
{
	struct lc_sampler *s = take();
	int err;

	if (!s)
		return -EAGAIN;
	s->tid = t->tid;
	s->thread = t;
	s->env = NULL;
	s->pending = false;
	s->trap = LC_TRAP_NONE;
	for (size_t i = 0; i < LC_EVENTS_MAX; i++) {
		struct lc_sampler_slot *slot = &s->slot[i];

		atomic_store_explicit(&slot->lost, 0, memory_order_relaxed); /* T2 */
		slot->lost_taken = 0;
		slot->read = 0;
		atomic_store_explicit(&slot->own, 0, memory_order_relaxed); /* T2 */
		slot->open = false;
		slot->perf = LC_PERF_NONE;
		slot->account = (struct lc_timer_account){ .begin_ns = 0 };
		slot->delay = (struct lc_timer_delay){ .made = false };
	}
	err = use_kept(s, t) ? 0 : buffers_create(s);
	if (!err && !t->samples)
		err = lc_sample_log_create(samplers.log_bytes, &t->samples);
	if (err) {
		give(s, NULL);
		return err;
	}
	t->sampler = s;
	return 0;
}

void lc_sampler_activate(struct lc_sampler *s)
{
	atomic_store_explicit(&s->state, LC_SAMPLER_ACTIVE, memory_order_release); /* T2 */
}

void lc_sampler_destroy(struct lc_thread *t)
{
	if (t->sampler)
		give(t->sampler, t->samples);
	else
		lc_sample_log_destroy(t->samples);
	t->sampler = NULL;
	t->samples = NULL;
}

void lc_sampler_shut(struct lc_sampler *s)
{
	atomic_store(&s->state, LC_SAMPLER_STOPPED); /* T1 */
}

void lc_sampler_wait(const struct lc_sampler *s)
{
	const struct timespec moment = { .tv_nsec = 100000 };

	while (atomic_load(&s->in_handler)) /* T1 */
		nanosleep(&moment, NULL);
}

/* -- handlers ---------------------------------------------------------------------------- */

struct lc_sampler *lc_sampler_of_slot(const void *value, size_t *engine)
{
	const uintptr_t first = (uintptr_t)samplers.arena, at = (uintptr_t)value;
	uintptr_t in;

	if (at < first || at >= first + SAMPLERS_MAX * sizeof(struct lc_sampler))
		return NULL;
	in = (at - first) % sizeof(struct lc_sampler);
	if (in < offsetof(struct lc_sampler, slot))
		return NULL;
	in -= offsetof(struct lc_sampler, slot);
	if (in % sizeof(struct lc_sampler_slot) ||
	    in / sizeof(struct lc_sampler_slot) >= LC_EVENTS_MAX)
		return NULL;
	*engine = in / sizeof(struct lc_sampler_slot);
	return &samplers.arena[(at - first) / sizeof(struct lc_sampler)];
}

struct lc_sampler *lc_sampler_self(void)
{
	const struct lc_thread *t = lc_thread_self();
	uint32_t used;
	int32_t tid;

	if (t)
		return t->sampler;
	/* Another thread registered it: this search runs once per thread, which is then bound. */
	used = lc_samplers_used();
	tid = (int32_t)syscall(SYS_gettid);
	for (uint32_t i = 0; i < used; i++) {
		struct lc_sampler *s = &samplers.arena[i];

		if (atomic_load_explicit(&s->state, memory_order_acquire) ==
		        LC_SAMPLER_ACTIVE && /* T2 */
		    s->tid == tid)
			return s;
	}
	return NULL;
}

bool lc_sampler_enter(struct lc_sampler *s, const void *context)
{
	if (atomic_load_explicit(&s->state, memory_order_acquire) != LC_SAMPLER_ACTIVE) /* T2 */
		return false;
	if (!lc_thread_self() && s->tid == (int32_t)syscall(SYS_gettid))
		lc_thread_bind(s->thread); /* registered by another thread */
	if (s->thread != lc_thread_self() || !s->thread)
		return false; /* an engine sent the signal to a thread that has ended */
	atomic_store(&s->in_handler, true); /* T1 */
	if (atomic_load(&s->state) == LC_SAMPLER_ACTIVE) {
		lc_perf_engine_enter(s);
		s->peek_before = lc_peek_begin(&((const ucontext_t *)context)->uc_sigmask);
		lc_span_interrupted(s->thread, &s->interrupt);
		if (s->audit)
			lc_walk_audit_enter(s->audit);
		return true;
	}
	atomic_store_explicit(&s->in_handler, false, memory_order_release);
	return false;
}

void lc_sampler_leave(struct lc_sampler *s)
{
	lc_span_resumed(s->thread, &s->interrupt);
	if (s->audit)
		lc_walk_audit_leave(s->audit);
	lc_peek_end(s->peek_before);
	lc_perf_engine_leave(s);
	atomic_store_explicit(&s->in_handler, false, memory_order_release);
}

bool lc_sampler_has_stack(const void *context)
{
	const stack_t *own = &((const ucontext_t *)context)->uc_stack;
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	const uintptr_t low = (uintptr_t)own->ss_sp;

	return here - low >= own->ss_size || here - low >= STACK_BYTES;
}

void lc_sampler_no_stack(struct lc_sampler *s, size_t engine, uint64_t n)
{
	lc_sampler_add(LC_SAMPLER_NO_STACK, n);
	lc_engine_add(engine, LC_ENGINE_LOST, n);
	atomic_fetch_add_explicit(&s->slot[engine].lost, n, memory_order_relaxed); /* a count */
}

void lc_sampler_tell(void)
{
	const uint64_t n =
	    atomic_load_explicit(&samplers.counts[LC_SAMPLER_NO_STACK], memory_order_relaxed);

	if (n)
		(void)lc_limit_note(
		    "small_stacks",
		    "samples of threads with a signal stack below %u KB (sigaltstack) were lost",
		    STACK_BYTES >> 10);
}

void lc_sampler_registers(const void *context, struct lc_registers *out)
{
	static const unsigned char number[LC_REGISTERS] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX,
		                                            REG_RSP, REG_RBP, REG_RSI, REG_RDI,
		                                            REG_R8,  REG_R9,  REG_R10, REG_R11,
		                                            REG_R12, REG_R13, REG_R14, REG_R15 };
	const ucontext_t *c = context;

	out->pc = (uint64_t)c->uc_mcontext.gregs[REG_RIP];
	for (unsigned i = 0; i < LC_REGISTERS; i++)
		out->r[i] = (uint64_t)c->uc_mcontext.gregs[number[i]];
}

static uint8_t where_of(uint64_t pc, uint8_t kind)
{
	if (!lc_code_cache_in_cache(pc))
		return pc >= samplers.jvm_low && pc < samplers.jvm_high ? LC_WHERE_JVM
		                                                        : LC_WHERE_NATIVE;
	switch (kind) {
	case LC_CODE_STUB:
		return LC_WHERE_STUB;
	case LC_CODE_INTERPRETER:
		return LC_WHERE_INTERPRETER;
	case LC_CODE_RUNTIME:
		return LC_WHERE_JVM;
	default: /* also a method whose CompiledMethodLoad has not come yet */
		return LC_WHERE_COMPILED;
	}
}

void lc_sampler_begin(struct lc_sample *head, size_t engine, uint64_t pc, uint8_t kind)
{
	const struct lc_thread *self = lc_thread_self();
	const int cpu = sched_getcpu();

	memset(head, 0, sizeof(*head));
	head->time_ns = lc_time_now_ns();
	lc_blocks_sampled(head->time_ns);
	head->pc = pc;
	head->epoch = lc_epoch_now();
	head->cpu = (uint16_t)(cpu >= 0 ? cpu : 0);
	head->where = where_of(pc, kind);
	head->engine = (uint8_t)engine;
	head->span = lc_span_current(self);
	head->root = self ? atomic_load_explicit(&self->root, memory_order_relaxed) : 0; /* ours */
}

void lc_sampler_find(struct lc_sample *head, const struct lc_registers *regs,
                     const struct lc_access *access)
{
	struct lc_object_seen object;

	if ((head->where != LC_WHERE_COMPILED && head->where != LC_WHERE_STUB && !access->native) ||
	    !access->addr || !lc_find_object(regs, access, &object))
		return;
	if (access->addr - object.start >=
	    object.size_bytes) { /* a cursor that has come to the end of the object */
		head->addr = object.start;
		head->how = LC_HOW_BASE;
	}
	head->object = object.start;
	head->klass = object.klass;
	head->object_words = (uint32_t)(object.size_bytes / 8);
}

void lc_sampler_find_newest(struct lc_sample *head, const struct lc_registers *regs,
                            const struct lc_access *access)
{
	struct lc_object_seen object;

	if (head->how != LC_HOW_DESTROYED || head->where != LC_WHERE_COMPILED ||
	    !lc_find_newest(regs, access, &object))
		return;
	head->addr = head->object = object.start;
	head->how = LC_HOW_BASE;
	head->klass = object.klass;
	head->object_words = (uint32_t)(object.size_bytes / 8);
}

void lc_sampler_loaded(struct lc_sample *head, const struct lc_access *access)
{
	const struct lc_code_frames *code;
	struct lc_blob blob;
	uint64_t near;

	if (!access->loaded || !head->object || !lc_code_frames_known() ||
	    !lc_blob_find(access->loaded, &blob) || blob.kind != LC_BLOB_METHOD)
		return;
	/* The debug information holds for the instructions before the address. */
	near = lc_scopes_near(blob.at, access->loaded + 1);
	code = near ? lc_code_frames_compiled(near) : NULL;
	if (!code || code->blob != blob.at)
		return;
	head->loaded = code->frames[0];
	head->loaded_disp = access->loaded_disp;
}

void lc_sampler_fenced(struct lc_sample *head, const struct lc_registers *regs,
                       const struct lc_access *access, const uint64_t *frames)
{
	const size_t len = head->frames_len > 0 ? (size_t)head->frames_len : 0;
	const bool in_hook = lc_own_frames(frames, len < 1 ? len : 1);
	uint64_t array = 0;

	if (!access->fenced || lc_epoch_gc_sequence_moving(lc_epoch_gc_sequence()))
		return;
	if (head->where == LC_WHERE_JVM)
		array = lc_find_array_in_registers(regs);
	else if (head->where == LC_WHERE_COMPILED && in_hook)
		array = lc_find_array_on_stack(regs);
	if (!array || lc_epoch_now() != head->epoch)
		return;
	head->addr = array;
	head->access =
	    LC_TOUCH_STORE | LC_ACCESS_FENCE | LC_ACCESS_WIDTH_UNKNOWN << LC_ACCESS_WIDTH_SHIFT;
	head->how = LC_HOW_BASE;
}

void lc_sampler_walk(struct lc_sampler *s, const void *context, uint64_t pc, struct lc_sample *head,
                     uint64_t *frames)
{
	struct lc_repair repair;
	int n;

	if (!s->env)
		s->env = lc_call_trace_env();
	n = lc_call_trace(s->env, context, pc, s->scratch, frames, samplers.depth, &repair);
	head->frames_len = (int16_t)n;
	if (n <= 0)
		atomic_fetch_add_explicit(&samplers.walk_errors[n > -15 ? -n : 15], 1,
		                          memory_order_relaxed);
	else if (repair.kind)
		atomic_fetch_add_explicit(&samplers.walk_repaired[repair.kind], 1,
		                          memory_order_relaxed);
	if (s->audit)
		lc_walk_audit_note(s->audit, s->env, context, &repair, frames, n);
}

void lc_sampler_append(struct lc_sampler *s, const struct lc_sample *head, const uint64_t *frames)
{
	struct lc_sample_log *log = s->thread->samples;

	if (lc_sample_log_put(log, head, frames)) {
		lc_engine_add(head->engine, LC_ENGINE_LOST, 1);
		atomic_fetch_add_explicit(&s->slot[head->engine].lost, 1 + (uint64_t)head->overrun,
		                          memory_order_relaxed); /* a count */
	}
	if (lc_sample_log_half_full(log))
		lc_wake();
}
