/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/timer.c - samples by a CPU-time timer per thread: the engine that needs no hardware.
 *
 * The kernel checks CPU timers only at its tick (every 4 ms at HZ=250). So the timers here expire
 * at once, and each tick that finds a thread running sends a signal. sample/timer_account.h
 * computes the CPU time that a tick stands for, and its number of samples, most often one or none.
 *
 * Invariant: sampler.c has the rules for a sampler's fields. An engine's row here is written by
 *            its start, before there are threads.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "src/base/options.h"
#include "src/base/time.h"
#include "src/core/epoch.h"
#include "src/core/own_cost.h"
#include "src/core/thread.h"
#include "src/jvm/code/code_cache.h"
#include "src/sample/chain.h"
#include "src/sample/sampler.h"
#include "src/sample/signals.h"
#include "src/sample/timer_account.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { PENDING_SAMPLES_MAX = 2 /* a breakpoint that was not hit in so many samples never is */ };

static struct {
	uint64_t interval_ns;
	bool jitter;
} rows[LC_EVENTS_MAX];

/* -- a sample ---------------------------------------------------------------------------- */

/* Complete the pending sample without the address: its breakpoint was not hit. */
static void give_up_pending(struct lc_sampler *s)
{
	lc_trap_disarm(&s->trap);
	s->pending = false;
	lc_sampler_add(LC_SAMPLER_TRAPS_MISSED, 1);
	lc_sampler_append(s, &s->head, s->pending_frames);
}

/* Let a breakpoint find the address of a sample. Returns false where that is impossible. */
static bool arm(struct lc_sampler *s, const void *context, const struct lc_access *access)
{
	const ucontext_t *c = context;

	if (s->pending)
		give_up_pending(s);
	/* A SIGTRAP that is blocked, or somebody else's, could end the program. */
	if (sigismember(&c->uc_sigmask, SIGTRAP) == 1 || !lc_signals_installed(LC_SIGNAL_TRAP) ||
	    lc_trap_arm(&s->trap, access->recipe.pc)) {
		lc_sampler_add(LC_SAMPLER_TRAP_ERRORS, 1);
		return false;
	}
	lc_sampler_add(LC_SAMPLER_TRAPS_ARMED, 1);
	s->pending = true;
	s->pending_age = 0;
	s->access = *access;
	return true;
}

/* A sample that counts `weight` times. */
static void take_sample(struct lc_sampler *s, size_t engine, uint32_t weight, const void *context)
{
	struct lc_access access;
	struct lc_registers regs;
	struct lc_sample head;
	bool same_frame;

	lc_sampler_registers(context, &regs);
	lc_decode_sample(&regs, &access);
	lc_sampler_begin(&head, engine, regs.pc, access.kind);
	head.addr = access.addr;
	head.how = access.how;
	head.access = access.access;
	head.step = access.step;
	head.read_on = access.recipe.read_on;
	head.elsewhere = access.recipe.how == LC_HOW_NEARBY;
	lc_sampler_find(&head, &regs, &access);
	lc_sampler_find_newest(&head, &regs, &access);
	lc_sampler_loaded(&head, &access);
	head.overrun = weight - 1;
	lc_engine_add(engine, LC_ENGINE_SAMPLES, 1);
	if (head.overrun)
		lc_engine_add(engine, LC_ENGINE_OVERRUNS, head.overrun);
	if (s->pending && ++s->pending_age >= PENDING_SAMPLES_MAX)
		give_up_pending(s);
	same_frame = access.kind == LC_CODE_METHOD && access.recipe.same_frame;
	if (head.how == LC_HOW_DESTROYED && arm(s, context, &access)) {
		lc_sampler_walk(s, context, same_frame ? access.recipe.pc : 0, &head,
		                s->pending_frames);
		s->head = head;
		return;
	}
	lc_sampler_walk(s, context, same_frame ? access.recipe.pc : 0, &head, s->frames);
	lc_sampler_fenced(&head, &regs, &access, s->frames);
	lc_sampler_append(s, &head, s->frames);
}

/*
 * Complete the pending sample: the thread is about to run the instruction whose address is wanted.
 */
static void finish_pending(struct lc_sampler *s, const void *context)
{
	struct lc_registers regs;
	uint64_t addr, base;

	lc_sampler_registers(context, &regs);
	lc_trap_disarm(&s->trap);
	if (!s->pending)
		return;
	if (!lc_decode_before(&regs, &s->access.recipe, s->access.life, &addr, &base)) {
		give_up_pending(s);
		return;
	}
	s->pending = false;
	lc_sampler_add(LC_SAMPLER_TRAPS_HIT, 1);
	s->head.addr = addr;
	s->head.how = LC_HOW_TRAP;
	s->head.access = s->access.recipe.access;
	s->access.addr = addr;
	s->access.how = LC_HOW_TRAP;
	s->access.access = s->head.access;
	lc_sampler_find(&s->head, &regs, &s->access);
	lc_sampler_loaded(&s->head, &s->access);
	s->head.epoch = lc_epoch_now();
	lc_sampler_walk(s, context, s->access.kind == LC_CODE_METHOD ? regs.pc : 0, &s->head,
	                s->pending_frames);
	lc_sampler_append(s, &s->head, s->pending_frames);
}

/* -- signals ----------------------------------------------------------------------------- */

/* How many samples the signal is, 0 or more. `*clock_ns` is what the thread's CPU clock says. */
static uint32_t weigh(const struct lc_sampler *s, struct lc_sampler_slot *slot,
                      const siginfo_t *info, uint64_t *clock_ns)
{
	const bool tick = !lc_timer_delay_sent(&slot->delay, info);
	const uint64_t before_ns = slot->account.tick_ns, few_ns = 2 * lc_timer_account_tick_ns();
	uint64_t to_point_ns;
	uint32_t weight;

	if (tick) {
		weight = lc_timer_account_tick(&slot->account);
		*clock_ns = slot->account.tick_ns;
	} else {
		*clock_ns = lc_own_cost_clock();
		weight = lc_timer_account_points(&slot->account, *clock_ns);
	}
	to_point_ns = lc_timer_account_to_point(&slot->account, *clock_ns,
	                                        tick && *clock_ns - before_ns < few_ns);
	if (to_point_ns && (tick || weight || !lc_timer_delay_waited(&slot->delay)))
		lc_timer_delay_set(&slot->delay, to_point_ns, s->tid, info);
	return weight;
}

static bool on_timer(const siginfo_t *info, void *context)
{
	struct lc_sampler *s;
	size_t engine;

	if (info->si_code != SI_TIMER)
		return false;
	s = lc_sampler_of_slot(info->si_value.sival_ptr, &engine);
	if (!s)
		return false;
	if (lc_sampler_enter(s, context)) {
		const uint64_t begin_ns = lc_time_now_ns();
		uint64_t clock_ns;
		const uint32_t weight = weigh(s, &s->slot[engine], info, &clock_ns);

		if (weight && !lc_sampler_has_stack(context))
			lc_sampler_no_stack(s, engine, weight);
		else if (weight)
			take_sample(s, engine, weight, context);
		lc_sampler_add(LC_SAMPLER_HANDLER_NS, lc_time_now_ns() - begin_ns);
		if (weight || s->slot[engine].account.point_ns)
			lc_own_cost_add(LC_OWN_SAMPLES, lc_own_cost_clock() - clock_ns);
		lc_sampler_leave(s);
	}
	return true;
}

/* Is the thread at the instruction that its pending sample waits for? */
static bool at_pending(const struct lc_sampler *s, const void *context)
{
	struct lc_registers regs;

	if (!s || !s->pending)
		return false;
	lc_sampler_registers(context, &regs);
	return regs.pc == s->access.recipe.pc;
}

static bool on_sigtrap(const siginfo_t *info, void *context)
{
	enum lc_trap_use use = LC_TRAP_FOR_ADDRESS;
	struct lc_sampler *s = lc_sampler_self();

	if (!lc_trap_is_ours(info, &use) &&
	    !(lc_trap_has_no_cause(info, context) && at_pending(s, context)))
		return false;
	if (s && lc_sampler_enter(s, context)) {
		if (use == LC_TRAP_FOR_ADDRESS)
			finish_pending(s, context);
		else if (s->audit)
			lc_walk_audit_hit(s->audit, s->env, context, s->scratch, s->frames);
		lc_sampler_leave(s);
	}
	return true;
}

/* -- life cycle -------------------------------------------------------------------------- */

static int start(size_t engine, const struct lc_event *event, const struct lc_options *options)
{
	int err;

	rows[engine].interval_ns = event->period ? event->period : options->interval_ns;
	rows[engine].jitter = options->jitter == LC_JITTER_ON;
	if (!rows[engine].interval_ns)
		return -EINVAL;
	lc_timer_account_init();
	err = lc_signals_use(LC_SIGNAL_TIMER, on_timer);
	if (!err)
		err = lc_signals_use(LC_SIGNAL_TRAP, on_sigtrap);
	return err ? err : lc_signals_use(LC_SIGNAL_CAUSELESS, lc_trap_on_causeless);
}

static int thread_open(struct lc_sampler *s, size_t engine)
{
	struct lc_sampler_slot *slot = &s->slot[engine];
	struct sigevent event;

	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = lc_signals_number(LC_SIGNAL_TIMER);
	event.sigev_value.sival_ptr = slot;
	event.sigev_notify_thread_id = s->tid;
	if (timer_create(lc_time_thread_clock(s->tid), &event, &slot->timer))
		return errno == EINVAL ? -ESRCH : -errno;
	slot->open = true;
	return 0;
}

static int thread_begin(struct lc_sampler *s, size_t engine)
{
	/* Never 0 ns, which would disarm it; after each signal the kernel arms it again. */
	const struct itimerspec at_each_tick = { .it_value = { .tv_nsec = 1 },
		                                 .it_interval = { .tv_nsec = 1 } };
	struct lc_sampler_slot *slot = &s->slot[engine];

	lc_timer_account_begin(&slot->account, s->tid, s->thread->name, rows[engine].interval_ns,
	                       rows[engine].jitter);
	return timer_settime(slot->timer, 0, &at_each_tick, NULL) ? -errno : 0;
}

static void thread_pause(struct lc_sampler *s, size_t engine)
{
	struct lc_sampler_slot *slot = &s->slot[engine];

	if (!slot->open)
		return;
	timer_delete(slot->timer);
	slot->open = false;
}

static uint64_t thread_counted(const struct lc_sampler *s, size_t engine)
{
	const struct lc_sampler_slot *slot = &s->slot[engine];

	return slot->open ? lc_timer_account_cpu_ns(&slot->account, s->tid) : 0;
}

static void thread_finish(struct lc_sampler *s, size_t engine)
{
	if (s->pending && s->head.engine == engine)
		give_up_pending(s);
	lc_trap_close(&s->trap);
	lc_timer_delay_end(&s->slot[engine].delay);
	/* Not before: a handler that the pause has met still reads the account. */
	lc_engine_add(engine, LC_ENGINE_COUNTED,
	              lc_timer_account_end(&s->slot[engine].account, s->tid));
}

const struct lc_backend *lc_backend_timer(void)
{
	static const struct lc_backend timer = {
		.start = start,
		.thread_open = thread_open,
		.thread_begin = thread_begin,
		.thread_pause = thread_pause,
		.thread_finish = thread_finish,
		.thread_counted = thread_counted,
	};

	return &timer;
}
