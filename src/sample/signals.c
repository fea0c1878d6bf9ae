/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/signals.c - hands each signal of an engine to the engine's function, or to the old
 * handler.
 *
 * All fields are written at attach, before a signal of ours can come; a handler that is there
 * before (SIGTRAP) finds either no function, and passes the signal on, or a whole one.
 */
#include "src/sample/signals.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "src/core/reset.h"
#include "src/jvm/os/guard.h"
#include "src/sample/chain.h"
#include "src/sample/sampler.h"

/* Kept: who has put a handler in front of ours goes on calling it. */
static LC_KEPT struct {
	bool chosen;
	int number[LC_SIGNAL_COUNT];
	_Atomic(lc_signal_fn *) fn[LC_SIGNAL_COUNT];
	struct lc_chain chain[LC_SIGNAL_COUNT]; /* signals of one number use the first one's */
} signals = { .chosen = false };

/* Two signals share a number if the program has left no other free: the first has the chain. */
static size_t first_of(int number)
{
	size_t i = 0;

	while (i < LC_SIGNAL_COUNT - 1 && signals.number[i] != number)
		i++;
	return i;
}

/* Is the signal one of ours? If so, it is handled here. */
static bool take(int number, siginfo_t *info, void *context)
{
	const void *interrupted = lc_guard_interrupt();
	bool taken = false;

	for (size_t i = 0; i < LC_SIGNAL_COUNT && !taken; i++) {
		lc_signal_fn *fn = atomic_load_explicit(&signals.fn[i], memory_order_acquire);

		taken = fn && signals.number[i] == number && fn(info, context);
	}
	lc_guard_go_on(interrupted);
	return taken;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	const int kept = errno;
	const bool taken = take(number, info, context);

	errno = kept;
	if (taken)
		return;
	lc_sampler_add(LC_SAMPLER_FOREIGN, 1);
	lc_chain_call(&signals.chain[first_of(number)], number, info, context);
}

static void choose(void)
{
	if (signals.chosen)
		return;
	signals.number[LC_SIGNAL_TIMER] = lc_chain_free_signal();
	signals.number[LC_SIGNAL_PERF] = lc_chain_free_standard_signal();
	signals.number[LC_SIGNAL_TRAP] = signals.number[LC_SIGNAL_CAUSELESS] = SIGTRAP;
	signals.chosen = true;
}

int lc_signals_use(enum lc_signal which, lc_signal_fn *fn)
{
	sigset_t ours;
	int err = 0;

	choose();
	if (atomic_load_explicit(&signals.fn[which], memory_order_relaxed)) /* attach only */
		return 0;
	sigemptyset(&ours);
	for (size_t i = 0; i < LC_SIGNAL_COUNT; i++)
		sigaddset(&ours, signals.number[i]);
	if (!lc_chain_installed(signals.number[which], on_signal))
		err = lc_chain_install(&signals.chain[first_of(signals.number[which])],
		                       signals.number[which], on_signal, &ours);
	if (!err)
		atomic_store_explicit(&signals.fn[which], fn, memory_order_release);
	return err;
}

void lc_signals_release(void)
{
	const int timer = signals.number[LC_SIGNAL_TIMER];

	for (size_t i = 0; i < LC_SIGNAL_COUNT; i++) {
		const int number = signals.number[i];

		if (!atomic_load(&signals.fn[i]) || first_of(number) != i)
			continue;
		/* Signals that are on their way would end the program. */
		if (number == timer && lc_chain_installed(number, on_signal))
			lc_chain_flush(number);
		lc_chain_remove(&signals.chain[i], number, on_signal);
	}
	for (size_t i = 0; i < LC_SIGNAL_COUNT; i++)
		atomic_store(&signals.fn[i], NULL);
	signals.chosen = false;
}

int lc_signals_number(enum lc_signal which)
{
	return signals.number[which];
}

bool lc_signals_installed(enum lc_signal which)
{
	return lc_chain_installed(signals.number[which], on_signal);
}
