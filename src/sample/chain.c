/* SPDX-License-Identifier: Apache-2.0 */
/* sample/chain.c - installs signal handlers, and calls the handler that was there before. */
#include "src/sample/chain.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

int lc_chain_install(struct lc_chain *chain, int sig,
                     void (*handler)(int sig, siginfo_t *info, void *context),
                     const sigset_t *also_blocked)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };

	action.sa_sigaction = handler;
	sigemptyset(&action.sa_mask);
	if (also_blocked)
		action.sa_mask = *also_blocked;
	/* The old handler must be known before ours can run. */
	if (sigaction(sig, NULL, &chain->before))
		return -errno;
	if ((chain->before.sa_flags & SA_SIGINFO) && chain->before.sa_sigaction == handler)
		return -EALREADY;
	return sigaction(sig, &action, NULL) ? -errno : 0;
}

/* Take the default action, which ends the process for every signal that is chained. */
static void take_default(int sig, siginfo_t *info)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = SIG_DFL;
	sigaction(sig, &action, NULL);
	/* The signal is blocked until our handler returns; its siginfo goes to the core file. */
	syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), sig, info);
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid),
	        sig); /* if the kernel refused the call above */
}

/* The signals that the kernel would have blocked around the old handler. */
static void own_mask(const struct sigaction *before, int sig, const ucontext_t *context,
                     sigset_t *mask)
{
	*mask = context->uc_sigmask;
	for (int s = 1; s < _NSIG; s++)
		if (sigismember(&before->sa_mask, s) == 1)
			sigaddset(mask, s);
	if (!(before->sa_flags & SA_NODEFER))
		sigaddset(mask, sig);
}

void lc_chain_call(struct lc_chain *chain, int sig, siginfo_t *info, void *context)
{
	const struct sigaction *before = &chain->before;
	sigset_t mask;

	if (before->sa_handler == SIG_IGN)
		return;
	/* Relaxed: the flag orders nothing, the exchange picks one caller. */
	if (before->sa_handler == SIG_DFL ||
	    ((before->sa_flags & (int)SA_RESETHAND) &&
	     atomic_exchange_explicit(&chain->spent, true, memory_order_relaxed))) {
		take_default(sig, info);
		return;
	}
	own_mask(before, sig, context, &mask);
	sigprocmask(SIG_SETMASK, &mask, NULL); /* returning to `context` undoes it */
	if (before->sa_flags & SA_SIGINFO)
		before->sa_sigaction(sig, info, context);
	else
		before->sa_handler(sig);
}

bool lc_chain_installed(int sig, void (*handler)(int sig, siginfo_t *info, void *context))
{
	struct sigaction now;

	return !sigaction(sig, NULL, &now) && (now.sa_flags & SA_SIGINFO) &&
	       now.sa_sigaction == handler;
}

void lc_chain_flush(int sig)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	sigaction(sig, &ignore, NULL);
}

void lc_chain_remove(struct lc_chain *chain, int sig,
                     void (*handler)(int sig, siginfo_t *info, void *context))
{
	struct sigaction now;

	if (sigaction(sig, NULL, &now))
		return;
	if (now.sa_handler == SIG_IGN || lc_chain_installed(sig, handler))
		sigaction(sig, &chain->before, NULL);
}

static bool nobody_handles(int sig)
{
	struct sigaction now;

	return !sigaction(sig, NULL, &now) && !(now.sa_flags & SA_SIGINFO) &&
	       now.sa_handler == SIG_DFL;
}

int lc_chain_free_signal(void)
{
	/* The last few are what libraries take first; the JDK has SIGRTMAX - 2. */
	for (int sig = SIGRTMAX - 8; sig > SIGRTMIN; sig--)
		if (nobody_handles(sig))
			return sig;
	return SIGPROF;
}

int lc_chain_free_standard_signal(void)
{
	/* No kernel on x86 sends the first; the second is meant for init. */
	static const int candidates[] = { SIGSTKFLT, SIGPWR };

	for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]); i++)
		if (nobody_handles(candidates[i]))
			return candidates[i];
	return SIGPROF;
}
