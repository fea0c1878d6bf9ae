/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/sampler.h - holds what the engines share on one thread: its log, its buffers for walking,
 * and the rule that one handler runs at a time.
 *
 * Private to src/sample. A thread has one sampler, with a slot for each engine. Every handler of
 * every engine enters the sampler before it touches anything of it, and blocks the signals of the
 * other engines while it runs, so that none is interrupted by another.
 */
#ifndef LC_SAMPLE_SAMPLER_H
#define LC_SAMPLE_SAMPLER_H

#include <jni.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "src/core/jitter.h"
#include "src/core/record.h"
#include "src/jvm/stack/call_trace.h"
#include "src/perf/event.h"
#include "src/perf/perf.h"
#include "src/sample/decode.h"
#include "src/sample/engine.h"
#include "src/sample/timer_account.h"
#include "src/sample/timer_delay.h"
#include "src/sample/trap.h"
#include "src/sample/walk_audit.h"
#include "src/span/frames/interrupt.h"

enum lc_sampler_state { LC_SAMPLER_FREE, LC_SAMPLER_ACTIVE, LC_SAMPLER_STOPPED };

/* The state of one engine on one thread. An engine uses the fields of its kind. */
struct lc_sampler_slot {
	_Atomic uint64_t lost; /* samples without a record; written by: the owner thread's handlers,
	                          or whoever finishes the stopped sampler */
	uint64_t lost_taken;   /* attribution thread only */
	uint64_t read; /* occurrences in the buffer's records, lost ones too; written as `lost` */
	_Atomic uint64_t own; /* occurrences that handlers caused; written by: the owner thread's */
	uint64_t entered_at;  /* the buffer's head when the handler that runs was entered */
	bool open;            /* changed under the engines' lock, never in a handler */
	timer_t timer;
	struct lc_timer_account account;
	struct lc_timer_delay delay;
	struct lc_perf perf;
	uint64_t period;         /* of `perf`, now; written by: the owner thread's handlers */
	struct lc_jitter jitter; /* of the periods; begun by the opening thread, then as before */
};

struct lc_sampler {
	_Atomic int state;       /* enum lc_sampler_state; see sampler.c */
	_Atomic bool in_handler; /* written by: owner thread */
	int32_t tid;
	struct lc_thread *thread;
	JNIEnv *env;                        /* owner thread; NULL until its first sample */
	struct lc_span_interrupt interrupt; /* belongs to the handler that runs */
	unsigned peek_before;               /* likewise: for lc_peek_end() */

	/* One mapping of buffers_bytes holds all four, of --depth elements each; pages are
	 * touched as used. A free sampler may keep them for the next thread. */
	size_t buffers_bytes;
	struct lc_call_trace_frame *scratch;
	uint64_t *frames;
	struct lc_walk_audit *audit;  /* NULL without --audit */
	struct lc_sampler *next_free; /* under the engines' lock */
	struct lc_sample_log *log;    /* of a free sampler that keeps its memory; else NULL */

	struct lc_sampler_slot slot[LC_EVENTS_MAX];

	/* The timer's sample that waits for a breakpoint to find its address. Owner thread only. */
	bool pending;
	unsigned pending_age; /* samples taken since that one */
	struct lc_trap trap;
	struct lc_access access; /* the waiting sample is this, `pending_frames` and `head` */
	uint64_t *pending_frames;
	struct lc_sample head; /* must be last: struct lc_sample ends in a flexible array */
};

/* -- arena: all but init under the engines' lock ------------------------------------------- */

/* Prepare walking, decoding and the judging of addresses. Returns 0 or -errno. [attach] */
int lc_sampler_init(JNIEnv *jni, const struct lc_options *options);

/* Threads that start from now on have a log of at least so many bytes, a power of two. [attach] */
void lc_sampler_log_at_least(size_t bytes);

/*
 * Make a sampler for `t`, with all slots closed, and set t->samples and t->sampler. No handler
 * enters it before lc_sampler_activate(). Returns 0, or -errno with nothing created. Context:
 * [attach] [java].
 */
int lc_sampler_create(struct lc_thread *t);
void lc_sampler_activate(struct lc_sampler *s);

/* Give back what lc_sampler_create() made; no handler runs in it and its slots are closed. */
void lc_sampler_destroy(struct lc_thread *t);

/* The number of samplers ever used, and each sampler, whatever its state. Context: any. */
uint32_t lc_samplers_used(void);
struct lc_sampler *lc_samplers_at(uint32_t i);

/*
 * Let no handler enter from now on. A handler that runs on another thread may go on;
 * lc_sampler_wait() waits for it.
 */
void lc_sampler_shut(struct lc_sampler *s);
void lc_sampler_wait(const struct lc_sampler *s);

/* -- in handlers: context [signal], errno kept by the caller ------------------------------- */

/*
 * The sampler and engine of the slot that `value` points to, or NULL where it points to none
 * (a signal that is somebody else's).
 */
struct lc_sampler *lc_sampler_of_slot(const void *value, size_t *engine);

/* The calling thread's sampler, also where another thread registered it; or NULL. */
struct lc_sampler *lc_sampler_self(void);

/*
 * May the calling thread's handler, which got the ucontext_t `context`, use `s`? If so,
 * lc_sampler_leave() must follow.
 */
bool lc_sampler_enter(struct lc_sampler *s, const void *context);
void lc_sampler_leave(struct lc_sampler *s);

/*
 * Has the stack that the handler runs on room for a sample? A thread may have given its handlers
 * one of its own (sigaltstack), of 8 KB or less.
 */
bool lc_sampler_has_stack(const void *context);

/* There was none for a sample that stands for `n`: they are lost. */
void lc_sampler_no_stack(struct lc_sampler *s, size_t engine, uint64_t n);

/* The registers of the interrupted thread. */
void lc_sampler_registers(const void *context, struct lc_registers *out);

/* Begin a sample: time, epoch, processor, and where `pc` is; `kind` as in struct lc_access. */
void lc_sampler_begin(struct lc_sample *head, size_t engine, uint64_t pc, uint8_t kind);

/*
 * Put into *head the object that its access was in, if the registers prove it; only in Java code,
 * where no collection can move the object meanwhile.
 */
void lc_sampler_find(struct lc_sample *head, const struct lc_registers *regs,
                     const struct lc_access *access);

/*
 * The same where the address is not known, but the access can only be to the object that the thread
 * allocated last: lc_find_newest().
 */
void lc_sampler_find_newest(struct lc_sample *head, const struct lc_registers *regs,
                            const struct lc_access *access);

/* Put into *head where the reference to the object that was found was loaded, if that is known. */
void lc_sampler_loaded(struct lc_sample *head, const struct lc_access *access);

/*
 * After the walk: where the thread was behind a fence, put into *head the array that it had just
 * made, whose stores the fence waited for. These are two places: in the JVM, on the way back to the
 * Java code that makes the array; and in Java code, behind the hook that has recorded it.
 */
void lc_sampler_fenced(struct lc_sample *head, const struct lc_registers *regs,
                       const struct lc_access *access, const uint64_t *frames);

/* Walk to `frames` for *head, as if at the instruction at `pc` (0: where the context is). */
void lc_sampler_walk(struct lc_sampler *s, const void *context, uint64_t pc, struct lc_sample *head,
                     uint64_t *frames);

/* Append the sample to the log; one that finds no room is counted as lost. */
void lc_sampler_append(struct lc_sampler *s, const struct lc_sample *head, const uint64_t *frames);

/* -- counts: any context, relaxed: nothing hangs on them ------------------------------------ */

enum lc_engine_count {
	LC_ENGINE_SAMPLES,
	LC_ENGINE_LOST,
	LC_ENGINE_OVERRUNS,
	LC_ENGINE_RING_LOST,
	LC_ENGINE_THROTTLED,
	LC_ENGINE_COUNTED,
	LC_ENGINE_OWN,
	LC_ENGINE_NO_THREAD,
	LC_ENGINE_COUNTS
};

void lc_engine_add(size_t engine, enum lc_engine_count what, uint64_t n);
uint64_t lc_engine_counted(size_t engine, enum lc_engine_count what);

enum lc_sampler_count {
	LC_SAMPLER_HANDLER_NS,
	LC_SAMPLER_TRAPS_ARMED,
	LC_SAMPLER_TRAPS_HIT,
	LC_SAMPLER_TRAP_ERRORS,
	LC_SAMPLER_TRAPS_MISSED,
	LC_SAMPLER_FOREIGN,
	LC_SAMPLER_CAUSELESS,
	LC_SAMPLER_NO_STACK,
	LC_SAMPLER_COUNTS
};

void lc_sampler_add(enum lc_sampler_count what, uint64_t n);

/* -- engines -------------------------------------------------------------------------------- */

/* How one kind of engine does its work. */
struct lc_backend {
	/* Install what engine number `engine` needs; may be called for several engines. 0 or
	 * -errno. *event and *options live for ever. Context: [attach]. */
	int (*start)(size_t engine, const struct lc_event *event, const struct lc_options *options);

	/* Make what the sampler's thread needs, bringing no signal yet. The sampler is not ACTIVE.
	 * Returns 0, or -errno with the slot closed (-ESRCH: the thread has ended). Under the
	 * engines' lock. Context: [attach] [java]. */
	int (*thread_open)(struct lc_sampler *s, size_t engine);

	/* Begin, where the slot is open and the sampler ACTIVE. Returns 0, or -errno; then the slot
	 * stays open, and silent. Under the engines' lock. Context: [attach] [java]. */
	int (*thread_begin)(struct lc_sampler *s, size_t engine);

	/* Bring no more signals. The sampler is shut. Under the engines' lock, any thread. */
	void (*thread_pause)(struct lc_sampler *s, size_t engine);

	/* Take what is left and close the slot. After the pause, no handler running. Under the
	 * engines' lock; the owner thread, or another one when the owner can enter no more. */
	void (*thread_finish)(struct lc_sampler *s, size_t engine);

	/* The count of an open slot's thread in the engine's unit (accesses, ns of CPU time), if
	 * the engine counts them beside samples; else 0. NULL: never. Under the engines' lock.
	 * Context: [writer]. */
	uint64_t (*thread_counted)(const struct lc_sampler *s, size_t engine);
};

const struct lc_backend *lc_backend_timer(void);
const struct lc_backend *lc_backend_perf(void);

/*
 * Open *event for `tid` (0: the calling thread), disabled, with as large a buffer as the limit of
 * locked memory leaves. Returns 0, or -errno as lc_perf_open(). Context: [attach] [java].
 */
int lc_perf_engine_open(struct lc_perf *perf, const struct lc_event *event, int signal,
                        int32_t tid);

/*
 * thread_open() for a backend on perf events: open *event for the sampler's thread, with its
 * signal. Context: that of thread_open() in struct lc_backend.
 */
int lc_perf_engine_thread_open(struct lc_sampler *s, size_t engine, const struct lc_event *event);

/*
 * For lc_sampler_enter() and lc_sampler_leave(): records of the events in between are no samples,
 * for an event that samples each occurrence. Context: [signal].
 */
void lc_perf_engine_enter(struct lc_sampler *s);
void lc_perf_engine_leave(struct lc_sampler *s);

#endif
