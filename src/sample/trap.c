/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/trap.c - sets breakpoints on execution through perf_event_open(2), Linux 5.13 or newer.
 *
 * A breakpoint event with `sigtrap` interrupts its thread before the instruction runs; on return
 * from the handler the kernel lets the instruction pass. The event is made on the first need,
 * stays open while it is used now and then, and is re-aimed: that costs a microsecond where opening
 * costs fifty.
 */
#include "src/sample/trap.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "src/core/fds.h"
#include "src/jvm/os/peek.h"
#include "src/sample/sampler.h"

#define MAGIC UINT64_C(0x6c6f637573747270)

#ifndef TRAP_PERF
#define TRAP_PERF 6
#endif

enum { INT1 = 0xf1 };

/* Set once by whoever fails first, never cleared; relaxed: it guards nothing but the attempt. */
static _Atomic bool unusable;

/* The siginfo that the kernel writes for TRAP_PERF; glibc 2.35 and older do not declare it. */
struct perf_siginfo {
	int signo, error, code, pad;
	void *address;
	unsigned long data; /* si_perf_data */
	uint32_t type;
	uint32_t flags;
};

/* Fill in *attr as Linux 5.13 lays it out; older kernel headers lack `sigtrap` and `sig_data`. */
static void describe(const struct lc_trap *trap, struct perf_event_attr *attr, uint32_t type,
                     uint64_t address)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->type = PERF_TYPE_BREAKPOINT;
	attr->bp_type = type;
	attr->bp_addr = address;
	attr->bp_len = sizeof(long);
	attr->sample_period = 1;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	attr->remove_on_exec = 1;
	attr->sigtrap = 1;
	attr->sig_data = MAGIC + trap->use;
}

static bool passes(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOSPC ||
	       error == EINTR || error == EAGAIN || error == EBUSY;
}

/* Re-aim the event of *fd, or open one where that is -1. Returns 0 or -errno. */
static int aim(const struct lc_trap *trap, int *fd, uint32_t type, uint64_t address)
{
	struct perf_event_attr attr;
	int err;

	describe(trap, &attr, type, address);
	if (*fd >= 0)
		return ioctl(*fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr) ? -errno : 0;
	if (!lc_fds_take(LC_FDS_BREAKPOINT))
		return -EMFILE;
	*fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (*fd >= 0)
		return 0;
	err = -errno;
	lc_fds_give(LC_FDS_BREAKPOINT);
	return err;
}

/* Nobody else uses the descriptor until it is put back. */
static int take_out(struct lc_trap *trap)
{
	return atomic_exchange_explicit(&trap->fd, -1, memory_order_acquire);
}

static void put_back(struct lc_trap *trap, int fd)
{
	atomic_store_explicit(&trap->fd, fd, memory_order_release);
}

static int arm(struct lc_trap *trap, uint32_t type, uint64_t address)
{
	const int kept = errno;
	int err, fd;

	if (atomic_load_explicit(&unusable, memory_order_relaxed))
		return -ENOTSUP;
	/* Before the descriptor is put back: what closes idle ones sees it, or a breakpoint is
	 * missed. */
	atomic_store_explicit(&trap->armed, true, memory_order_relaxed);
	atomic_store_explicit(&trap->used, true, memory_order_relaxed);
	fd = take_out(trap);
	err = aim(trap, &fd, type, address);
	put_back(trap, fd);
	if (err)
		atomic_store_explicit(&trap->armed, false, memory_order_relaxed);
	if (err && !passes(-err))
		atomic_store_explicit(&unusable, true, memory_order_relaxed);
	errno = kept;
	return err;
}

int lc_trap_arm(struct lc_trap *trap, uint64_t pc)
{
	return arm(trap, HW_BREAKPOINT_X, pc);
}

int lc_trap_watch(struct lc_trap *trap, uint64_t address)
{
	return arm(trap, HW_BREAKPOINT_RW, address);
}

void lc_trap_disarm(struct lc_trap *trap)
{
	const int kept = errno, fd = take_out(trap);

	if (fd >= 0)
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	put_back(trap, fd);
	atomic_store_explicit(&trap->armed, false, memory_order_relaxed);
	errno = kept;
}

void lc_trap_close(struct lc_trap *trap)
{
	const int fd = take_out(trap);

	if (fd < 0)
		return;
	close(fd);
	lc_fds_give(LC_FDS_BREAKPOINT);
}

void lc_trap_close_idle(struct lc_trap *trap)
{
	if (!atomic_exchange_explicit(&trap->used, false, memory_order_relaxed) &&
	    !atomic_load_explicit(&trap->armed, memory_order_relaxed))
		lc_trap_close(trap);
}

bool lc_trap_is_ours(const siginfo_t *info, enum lc_trap_use *use)
{
	struct perf_siginfo perf;

	if (info->si_code != TRAP_PERF)
		return false;
	memcpy(&perf, info, sizeof(perf));
	if (perf.data != MAGIC + LC_TRAP_FOR_ADDRESS && perf.data != MAGIC + LC_TRAP_FOR_WALK)
		return false;
	*use = (enum lc_trap_use)(perf.data - MAGIC);
	return true;
}

/*
 * Linux (exc_debug_user) sends this code where the CPU's DR6 says nothing. INT3 has another one,
 * and so have steps and breakpoints.
 */
bool lc_trap_has_no_cause(const siginfo_t *info, const void *context)
{
	const ucontext_t *c = context;
	uint8_t before = INT1;

	if (info->si_code != TRAP_BRKPT)
		return false;
	return lc_peek((uint64_t)c->uc_mcontext.gregs[REG_RIP] - 1, &before, 1) && before != INT1;
}

bool lc_trap_on_causeless(const siginfo_t *info, void *context)
{
	if (!lc_trap_has_no_cause(info, context))
		return false;
	lc_sampler_add(LC_SAMPLER_CAUSELESS, 1);
	return true;
}
