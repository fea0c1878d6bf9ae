/*
 * sample/timer.c - the engine that needs no hardware: a CPU-time timer per thread.
 *
 * The kernel looks at CPU timers at its tick, so at HZ=250 samples come 4 or 8 ms apart for an
 * interval of 5 ms; what it folds into one signal is in the overrun count. The first expiry of
 * each thread is random, lest it run in step with the program.
 *
 * Samplers live in an arena that is never unmapped, so that a signal that comes late finds one:
 * the timer's value is the sampler's address, which also tells our signals from others'.
 *
 * Invariant: a sampler's fields other than the atomic ones are written by its own thread (in
 *            thread_start, before the timer exists, by the starter), and after it has ended by
 *            the one who frees it. The handler touches them only between enter() and leave().
 * Order:     T1  state STOPPED (seq_cst), then in_handler is read (seq_cst), against in_handler
 *                set, then state read: either the handler sees STOPPED or stop() sees it inside.
 *            T2  fields before state ACTIVE (release) -> the handler reads ACTIVE (acquire).
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "clock.h"
#include "epoch.h"
#include "options.h"
#include "sample/chain.h"
#include "sample/code.h"
#include "sample/decode.h"
#include "sample/engine.h"
#include "sample/sample_log.h"
#include "sample/trap.h"
#include "sample/walk.h"
#include "thread.h"
#include "vmstructs.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum {
	SAMPLERS_MAX = 1 << 16, /* threads at a time */
	LOG_BYTES = 64 << 10,
	PENDING_SAMPLES_MAX = 2 /* a breakpoint that was not hit in so many samples never is */
};

enum state { FREE, ACTIVE, STOPPED };

struct lc_sampler {
	_Atomic int state;
	_Atomic bool in_handler; /* written by: owner thread */
	_Atomic bool timer_made; /* whoever takes it away deletes the timer */
	timer_t timer;
	int32_t tid;
	struct lc_thread *thread;
	JNIEnv *env; /* owner thread; NULL until its first sample */

	/* The sample that waits for its breakpoint. Owner thread only. */
	bool pending;
	unsigned pending_age; /* samples since */
	struct lc_trap trap;
	struct lc_access access; /* and `head`, at the end */

	/* One map of buffers_bytes, `depth` elements each; touched only as they are used. */
	size_t buffers_bytes;
	struct lc_walk_frame *scratch;
	uint64_t *frames;
	uint64_t *pending_frames;
	struct lc_sampler *next_free; /* under lock */

	struct lc_sample head; /* last, for its open end */
};

static struct {
	struct lc_sampler *arena; /* set once */
	uint64_t interval_ns;     /* set before there are threads */
	int depth;
	uint64_t jvm_low, jvm_high;
	int signal; /* of the timers; set before there are threads */
	struct lc_chain prof, trap;

	pthread_mutex_t lock; /* of the four below; never taken in a handler */
	bool running;
	uint32_t used;
	struct lc_sampler *free;

	_Atomic(void (*)(void)) wake; /* relaxed: set before there are threads */

	/* Counts, written by all handlers, relaxed: nothing hangs on them. */
	_Atomic uint64_t samples, lost, overruns, handler_ns;
	_Atomic uint64_t armed, hit, missed, trap_errors, foreign;
	_Atomic uint64_t walk_errors[16];
} engine = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void count(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

void lc_sampler_wakeup_set(void (*wake)(void))
{
	atomic_store_explicit(&engine.wake, wake, memory_order_relaxed);
}

/* -- a sample ---------------------------------------------------------------------------- */

static void read_registers(const ucontext_t *context, struct lc_registers *out)
{
	static const unsigned char number[LC_REGISTERS] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX,
		                                            REG_RSP, REG_RBP, REG_RSI, REG_RDI,
		                                            REG_R8,  REG_R9,  REG_R10, REG_R11,
		                                            REG_R12, REG_R13, REG_R14, REG_R15 };

	out->pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
	for (unsigned i = 0; i < LC_REGISTERS; i++)
		out->r[i] = (uint64_t)context->uc_mcontext.gregs[number[i]];
}

static void append(struct lc_sampler *s, const struct lc_sample *head, const uint64_t *frames)
{
	struct lc_sample_log *log = s->thread->samples;
	void (*wake)(void);

	if (lc_sample_log_put(log, head, frames))
		count(&engine.lost, 1);
	wake = atomic_load_explicit(&engine.wake, memory_order_relaxed);
	if (wake && lc_sample_log_half_full(log))
		wake();
}

/* Walk to `frames` for *head, as if at the instruction at `pc` (0: where the context is). */
static void walk(struct lc_sampler *s, const void *context, uint64_t pc, struct lc_sample *head,
                 uint64_t *frames)
{
	int n;

	if (!s->env)
		s->env = lc_walk_env();
	n = lc_walk(s->env, context, pc, s->scratch, frames, engine.depth);
	head->frames_len = (int16_t)n;
	if (n <= 0)
		count(&engine.walk_errors[n > -15 ? -n : 15], 1);
}

/* The breakpoint of the pending sample will not tell any more. */
static void give_up_pending(struct lc_sampler *s)
{
	lc_trap_disarm(&s->trap);
	s->pending = false;
	count(&engine.missed, 1);
	append(s, &s->head, s->pending_frames);
}

static uint8_t where_of(uint64_t pc, const struct lc_access *access)
{
	if (!lc_code_in_cache(pc))
		return pc >= engine.jvm_low && pc < engine.jvm_high ? LC_WHERE_JVM
		                                                    : LC_WHERE_NATIVE;
	switch (access->kind) {
	case LC_CODE_STUB:
		return LC_WHERE_STUB;
	case LC_CODE_INTERPRETER:
		return LC_WHERE_INTERPRETER;
	case LC_CODE_RUNTIME:
		return LC_WHERE_JVM;
	default: /* a method whose event has not come yet, if not known */
		return LC_WHERE_COMPILED;
	}
}

static void begin(const siginfo_t *info, const struct lc_registers *regs,
                  const struct lc_access *access, struct lc_sample *head)
{
	const int cpu = sched_getcpu();

	memset(head, 0, sizeof(*head));
	head->time_ns = lc_clock_now_ns();
	head->addr = access->addr;
	head->pc = regs->pc;
	head->epoch = lc_epoch_now();
	head->overrun = info->si_overrun > 0 ? (uint32_t)info->si_overrun : 0;
	head->cpu = (uint16_t)(cpu >= 0 ? cpu : 0);
	head->where = where_of(regs->pc, access);
	head->how = access->how;
}

static void on_sigtrap(int sig, siginfo_t *info, void *context);

/* Let a breakpoint find the address of *head. Returns false where that is impossible. */
static bool arm(struct lc_sampler *s, const void *context, const struct lc_access *access)
{
	const ucontext_t *c = context;

	if (s->pending)
		give_up_pending(s);
	/* A SIGTRAP that is blocked, or somebody else's, could end the program. */
	if (sigismember(&c->uc_sigmask, SIGTRAP) == 1 || !lc_chain_installed(SIGTRAP, on_sigtrap) ||
	    lc_trap_arm(&s->trap, access->recipe.pc)) {
		count(&engine.trap_errors, 1);
		return false;
	}
	count(&engine.armed, 1);
	s->pending = true;
	s->pending_age = 0;
	s->access = *access;
	return true;
}

static void take_sample(struct lc_sampler *s, const siginfo_t *info, const void *context)
{
	struct lc_access access = { .how = LC_HOW_NOT_JAVA };
	struct lc_registers regs;
	struct lc_sample head;
	bool same_frame;

	read_registers(context, &regs);
	if (lc_code_in_cache(regs.pc))
		lc_decode_sample(&regs, &access);
	begin(info, &regs, &access, &head);
	count(&engine.samples, 1);
	if (head.overrun)
		count(&engine.overruns, head.overrun);
	if (s->pending && ++s->pending_age >= PENDING_SAMPLES_MAX)
		give_up_pending(s);
	same_frame = access.kind == LC_CODE_METHOD && access.recipe.same_frame;
	if (head.how == LC_HOW_DESTROYED && arm(s, context, &access)) {
		walk(s, context, same_frame ? access.recipe.pc : 0, &head, s->pending_frames);
		s->head = head;
		return;
	}
	walk(s, context, same_frame ? access.recipe.pc : 0, &head, s->frames);
	append(s, &head, s->frames);
}

/* The calling thread is about to run the instruction whose address is wanted. */
static void finish_pending(struct lc_sampler *s, const void *context)
{
	struct lc_registers regs;
	uint64_t addr, base;

	read_registers(context, &regs);
	lc_trap_disarm(&s->trap);
	if (!s->pending)
		return;
	if (!lc_decode_before(&regs, &s->access.recipe, s->access.life, &addr, &base)) {
		give_up_pending(s);
		return;
	}
	s->pending = false;
	count(&engine.hit, 1);
	s->head.addr = addr;
	s->head.how = LC_HOW_TRAP;
	s->head.epoch = lc_epoch_now();
	walk(s, context, s->access.kind == LC_CODE_METHOD ? regs.pc : 0, &s->head,
	     s->pending_frames);
	append(s, &s->head, s->pending_frames);
}

/* -- signals ----------------------------------------------------------------------------- */

/* The sampler whose timer sent this signal, or NULL where it is not one of ours. */
static struct lc_sampler *sampler_of(const siginfo_t *info)
{
	const uintptr_t first = (uintptr_t)engine.arena;
	const uintptr_t value = (uintptr_t)info->si_value.sival_ptr;

	if (info->si_code != SI_TIMER || value < first ||
	    value >= first + SAMPLERS_MAX * sizeof(struct lc_sampler) ||
	    (value - first) % sizeof(struct lc_sampler))
		return NULL;
	return info->si_value.sival_ptr;
}

/* May the calling thread's handler use `s`? Then leave() must follow. */
static bool enter(struct lc_sampler *s)
{
	if (atomic_load_explicit(&s->state, memory_order_acquire) != ACTIVE) /* T2 */
		return false;
	if (!lc_thread_self() && s->tid == (int32_t)syscall(SYS_gettid))
		lc_thread_bind(s->thread); /* registered by another thread */
	if (s->thread != lc_thread_self() || !s->thread)
		return false;               /* sent by a timer of a thread that is gone */
	atomic_store(&s->in_handler, true); /* T1 */
	if (atomic_load(&s->state) == ACTIVE)
		return true;
	atomic_store_explicit(&s->in_handler, false, memory_order_release);
	return false;
}

static void leave(struct lc_sampler *s)
{
	atomic_store_explicit(&s->in_handler, false, memory_order_release);
}

static void on_timer(int sig, siginfo_t *info, void *context)
{
	const int kept = errno;
	struct lc_sampler *s = sampler_of(info);

	if (!s) {
		count(&engine.foreign, 1);
		lc_chain_call(&engine.prof, sig, info, context);
		return;
	}
	if (enter(s)) {
		const uint64_t begin_ns = lc_clock_now_ns();

		take_sample(s, info, context);
		count(&engine.handler_ns, lc_clock_now_ns() - begin_ns);
		leave(s);
	}
	errno = kept;
}

static void on_sigtrap(int sig, siginfo_t *info, void *context)
{
	const int kept = errno;
	const struct lc_thread *t = lc_thread_self();

	if (!lc_trap_is_ours(info)) {
		count(&engine.foreign, 1);
		lc_chain_call(&engine.trap, sig, info, context);
		return;
	}
	if (t && t->sampler && enter(t->sampler)) {
		finish_pending(t->sampler, context);
		leave(t->sampler);
	}
	errno = kept;
}

/* -- life cycle -------------------------------------------------------------------------- */

/* Where the JVM exports it; without, an operand that lost one register is always trapped. */
static void find_heap(void)
{
	const uint64_t *heap = lc_vm_static("Universe", "_collectedHeap");
	const long reserved = lc_vm_offset("CollectedHeap", "_reserved");
	const long start = lc_vm_offset("MemRegion", "_start");
	const long words = lc_vm_offset("MemRegion", "_word_size");
	uint64_t low, size_words;

	if (!heap || !*heap || reserved < 0 || start < 0 || words < 0)
		return;
	memcpy(&low, (const void *)(uintptr_t)(*heap + (uint64_t)(reserved + start)), sizeof(low));
	memcpy(&size_words, (const void *)(uintptr_t)(*heap + (uint64_t)(reserved + words)),
	       sizeof(size_words));
	lc_decode_heap_range(low, low + size_words * 8);
}

static int start(const struct lc_options *options)
{
	void *arena;
	int err;

	if (engine.arena)
		return -EALREADY;
	engine.interval_ns = options->interval_ns;
	engine.depth = options->depth < LC_FRAMES_MAX ? (int)options->depth : LC_FRAMES_MAX;
	if (engine.interval_ns == 0 || engine.depth < 1)
		return -EINVAL;
	err = lc_walk_init();
	if (!err)
		err = lc_code_init();
	if (!err)
		err = lc_decode_init();
	if (err)
		return err;
	lc_vm_library_range(&engine.jvm_low, &engine.jvm_high);
	find_heap();
	arena = mmap(NULL, SAMPLERS_MAX * sizeof(struct lc_sampler), PROT_READ | PROT_WRITE,
	             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (arena == MAP_FAILED)
		return -ENOMEM;
	engine.arena = arena;
	engine.signal = lc_chain_free_signal();
	err = lc_chain_install(&engine.prof, engine.signal, on_timer, SIGTRAP);
	if (!err)
		err = lc_chain_install(&engine.trap, SIGTRAP, on_sigtrap, engine.signal);
	pthread_mutex_lock(&engine.lock);
	engine.running = !err;
	pthread_mutex_unlock(&engine.lock);
	return err;
}

static int buffers_create(struct lc_sampler *s)
{
	const size_t depth = (size_t)engine.depth;
	unsigned char *p;

	s->buffers_bytes = depth * (sizeof(*s->scratch) + 2 * sizeof(*s->frames));
	p = mmap(NULL, s->buffers_bytes, PROT_READ | PROT_WRITE,
	         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return -ENOMEM;
	s->scratch = (void *)p;
	s->frames = (void *)(p + depth * sizeof(*s->scratch));
	s->pending_frames = s->frames + depth;
	return 0;
}

/* The kernel's number for a thread's CPU-time clock: ~tid, per thread (4), scheduler time (2). */
static clockid_t thread_clock(int32_t tid)
{
	return (clockid_t)(~(uint32_t)tid << 3 | 6);
}

static int timer_start(struct lc_sampler *s)
{
	const uint64_t first_ns = 1 + lc_clock_random(engine.interval_ns, s->tid);
	const struct itimerspec when = {
		.it_value = { .tv_sec = (time_t)(first_ns / 1000000000u),
		              .tv_nsec = (long)(first_ns % 1000000000u) },
		.it_interval = { .tv_sec = (time_t)(engine.interval_ns / 1000000000u),
		                 .tv_nsec = (long)(engine.interval_ns % 1000000000u) },
	};
	struct sigevent event;
	int err;

	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = engine.signal;
	event.sigev_value.sival_ptr = s;
	event.sigev_notify_thread_id = s->tid;
	if (timer_create(thread_clock(s->tid), &event, &s->timer))
		return errno == EINVAL ? -ESRCH : -errno;
	atomic_store_explicit(&s->timer_made, true, memory_order_release);
	if (!timer_settime(s->timer, 0, &when, NULL))
		return 0;
	err = -errno;
	if (atomic_exchange(&s->timer_made, false))
		timer_delete(s->timer);
	return err;
}

static void timer_stop(struct lc_sampler *s)
{
	atomic_store(&s->state, STOPPED); /* T1 */
	if (atomic_exchange(&s->timer_made, false))
		timer_delete(s->timer);
}

/* With the lock held. */
static struct lc_sampler *sampler_take(void)
{
	struct lc_sampler *s = engine.free;

	if (s)
		engine.free = s->next_free;
	else if (engine.used < SAMPLERS_MAX)
		s = &engine.arena[engine.used++];
	return s;
}

/* With the lock held. */
static void sampler_give(struct lc_sampler *s)
{
	atomic_store(&s->state, FREE);
	lc_trap_close(&s->trap);
	if (s->scratch)
		munmap(s->scratch, s->buffers_bytes);
	s->scratch = NULL;
	s->next_free = engine.free;
	engine.free = s;
}

static int sampler_start(struct lc_sampler *s, struct lc_thread *t)
{
	int err;

	s->tid = t->tid;
	s->thread = t;
	s->env = NULL;
	s->pending = false;
	s->trap = LC_TRAP_NONE;
	s->scratch = NULL;
	err = buffers_create(s);
	if (!err)
		err = lc_sample_log_create(LOG_BYTES, &t->samples);
	if (err)
		return err;
	t->sampler = s;
	atomic_store_explicit(&s->state, ACTIVE, memory_order_release); /* T2 */
	err = timer_start(s);
	if (err) {
		timer_stop(s);
		t->sampler = NULL;
		lc_sample_log_destroy(t->samples);
		t->samples = NULL;
	}
	return err;
}

static int thread_start(struct lc_thread *t)
{
	struct lc_sampler *s;
	int err = -ECANCELED;

	pthread_mutex_lock(&engine.lock);
	if (engine.running) {
		s = sampler_take();
		err = s ? sampler_start(s, t) : -EAGAIN;
		if (err && s)
			sampler_give(s);
	}
	pthread_mutex_unlock(&engine.lock);
	return err;
}

static void thread_stop(struct lc_thread *t)
{
	struct lc_sampler *s = t->sampler;

	if (!s)
		return;
	timer_stop(s); /* from here on our handlers return at once on this thread */
	if (s->pending)
		give_up_pending(s);
	lc_trap_close(&s->trap);
}

static void thread_free(struct lc_thread *t)
{
	struct lc_sampler *s = t->sampler;

	if (s) {
		timer_stop(s);
		t->sampler = NULL;
		pthread_mutex_lock(&engine.lock);
		sampler_give(s);
		pthread_mutex_unlock(&engine.lock);
	}
	lc_sample_log_destroy(t->samples);
	t->samples = NULL;
}

static void stop(void)
{
	const struct timespec moment = { .tv_nsec = 100000 };

	pthread_mutex_lock(&engine.lock);
	engine.running = false;
	for (uint32_t i = 0; i < engine.used; i++)
		if (atomic_load(&engine.arena[i].state) == ACTIVE)
			timer_stop(&engine.arena[i]);
	for (uint32_t i = 0; i < engine.used; i++)
		while (atomic_load(&engine.arena[i].in_handler)) /* T1 */
			nanosleep(&moment, NULL);
	pthread_mutex_unlock(&engine.lock);
}

static void stats(struct lc_engine_stats *out)
{
	out->samples = atomic_load_explicit(&engine.samples, memory_order_relaxed);
	out->lost = atomic_load_explicit(&engine.lost, memory_order_relaxed);
	out->overruns = atomic_load_explicit(&engine.overruns, memory_order_relaxed);
	out->handler_ns = atomic_load_explicit(&engine.handler_ns, memory_order_relaxed);
	out->traps_armed = atomic_load_explicit(&engine.armed, memory_order_relaxed);
	out->traps_hit = atomic_load_explicit(&engine.hit, memory_order_relaxed);
	out->traps_missed = atomic_load_explicit(&engine.missed, memory_order_relaxed);
	out->trap_errors = atomic_load_explicit(&engine.trap_errors, memory_order_relaxed);
	out->foreign_signals = atomic_load_explicit(&engine.foreign, memory_order_relaxed);
	for (unsigned i = 0; i < 16; i++)
		out->walk_errors[i] =
		    atomic_load_explicit(&engine.walk_errors[i], memory_order_relaxed);
}

const struct lc_engine *lc_engine_timer(void)
{
	static const struct lc_engine timer = {
		.name = "timer",
		.event = "thread-cpu-time",
		.unit = "ns of thread CPU time",
		.start = start,
		.thread_start = thread_start,
		.thread_stop = thread_stop,
		.thread_free = thread_free,
		.stop = stop,
		.stats = stats,
	};

	return &timer;
}
