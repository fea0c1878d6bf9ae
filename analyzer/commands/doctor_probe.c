/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands/doctor_probe.c - makes the checks of `locus doctor` that try something out: events,
 * timer, libraries, disk.
 *
 * Each check tries what the agent does, and leaves nothing behind.
 */
#include "analyzer/commands/doctor.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/cli/libraries.h"
#include "analyzer/out/emit.h"
#include "src/perf/event.h"
#include "src/perf/perf.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum {
	PROBE_MS = 300,
	DEBUG_REGISTERS = 4,
	LIBRARY_SECONDS = 10,
	TIMER_TICKS = 6,
	REASON_MAX = 400
};

#define DISK_LOW_BYTES (UINT64_C(256) << 20)
#define DISK_NONE_BYTES (UINT64_C(1) << 20)

int lc_doctor_refusal(void)
{
	/* The attributes are at no address: a kernel that is asked finds that out, a filter not. */
	return syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0) < 0 ? errno : 0;
}

/* -- events ------------------------------------------------------------------------------- */

static int probe(const struct lc_event *e)
{
	const struct lc_perf_config config = { .attr = &e->attr,
		                               .aux = e->has_aux ? &e->aux : NULL };

	return lc_perf_probe(&config, PROBE_MS);
}

void lc_doctor_memory_events(struct lc_doctor *d)
{
	static const struct lc_event_machine here;
	char reasons[4][160], why[REASON_MAX], advice[LC_DOCTOR_TEXT_MAX] = "";
	const struct lc_doctor_check *c;
	struct lc_events events;
	size_t reasons_len = 0, len;
	int err;

	snprintf(d->engine, sizeof(d->engine), "timer");
	lc_event_candidates(&here, &events, reasons, 4, &reasons_len);
	for (size_t i = 0; i < events.len; i++) {
		const struct lc_event *e = &events.event[i];

		if (e->kind == LC_KIND_TIMER)
			break;
		err = probe(e);
		if (!err) {
			snprintf(d->engine, sizeof(d->engine), "%s", lc_event_kind_name(e->kind));
			lc_doctor_add(d, "memory_events", LC_DOCTOR_OK, "%s samples addresses",
			              e->text);
			return;
		}
		lc_perf_explain(err, "", why, sizeof(why));
		len = strlen(advice);
		snprintf(advice + len, sizeof(advice) - len, "%s%s: %s", len ? "; " : "", e->text,
		         why);
	}
	for (size_t i = 0; i < reasons_len; i++) {
		len = strlen(advice);
		snprintf(advice + len, sizeof(advice) - len, "%s%s", len ? "; " : "", reasons[i]);
	}
	c = lc_doctor_find(d, "pmu");
	if (c && c->status == LC_DOCTOR_MISSING)
		snprintf(advice, sizeof(advice), "memory events need the missing PMU");
	lc_doctor_advise(lc_doctor_add(d, "memory_events", LC_DOCTOR_MISSING,
	                               "no memory event samples addresses: -e auto uses the timer"),
	                 "%s", advice);
}

void lc_doctor_software_events(struct lc_doctor *d)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
		                        .config = PERF_COUNT_SW_PAGE_FAULTS,
		                        .sample_period = 1,
		                        .sample_type = PERF_SAMPLE_ADDR,
		                        .exclude_kernel = 1,
		                        .exclude_hv = 1 };
	const int err = lc_perf_probe(&(struct lc_perf_config){ .attr = &attr }, PROBE_MS);
	struct lc_doctor_check *c;

	if (!err) {
		lc_doctor_add(d, "software_events", LC_DOCTOR_OK,
		              "page faults are sampled with addresses (-e fault)");
		return;
	}
	c = lc_doctor_add(d, "software_events", LC_DOCTOR_MISSING,
	                  "page faults cannot be sampled: -e fault will not work");
	lc_perf_explain(err, "", c->advice, sizeof(c->advice));
}

/* Breakpoints on four variables, as far as they go. Returns how many were free. */
static unsigned free_debug_registers(struct perf_event_attr attr)
{
	static uint64_t variables[DEBUG_REGISTERS];
	struct lc_perf perf[DEBUG_REGISTERS];
	unsigned n = 0;

	for (unsigned i = 0; i < DEBUG_REGISTERS; i++) {
		perf[i] = LC_PERF_NONE;
		attr.bp_addr = (uint64_t)(uintptr_t)&variables[i];
		n += lc_perf_open(&perf[i], &(struct lc_perf_config){ .attr = &attr }, 0) == 0;
	}
	for (unsigned i = 0; i < DEBUG_REGISTERS; i++)
		lc_perf_close(&perf[i]);
	return n;
}

void lc_doctor_debug_registers(struct lc_doctor *d)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_BREAKPOINT,
		                        .bp_type = HW_BREAKPOINT_RW,
		                        .bp_len = HW_BREAKPOINT_LEN_8,
		                        .sample_period = 1,
		                        .sample_type = PERF_SAMPLE_ADDR,
		                        .exclude_kernel = 1,
		                        .exclude_hv = 1 };
	int err = lc_perf_probe(&(struct lc_perf_config){ .attr = &attr }, PROBE_MS);
	struct lc_doctor_check *c;

	if (err) {
		c = lc_doctor_add(
		    d, "debug_registers", LC_DOCTOR_MISSING,
		    "breakpoints cannot be set: -e watch will not work, and the timer "
		    "finds fewer addresses");
		lc_perf_explain(err, "", c->advice, sizeof(c->advice));
		return;
	}
	c = lc_doctor_add(d, "debug_registers", LC_DOCTOR_OK, "breakpoints work; %u of %u are free",
	                  free_debug_registers(attr), DEBUG_REGISTERS);
	attr.sigtrap = 1;
	attr.remove_on_exec = 1;
	if (free_debug_registers(attr))
		return;
	c->status = LC_DOCTOR_LIMITED;
	lc_doctor_advise(c, "with Linux 5.13 or newer the timer can use them too");
}

/* -- timer -------------------------------------------------------------------------------- */

static uint64_t thread_ns(clockid_t clock)
{
	struct timespec t = { .tv_sec = 0 };

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* CPU time between expirations of a running timer, the shortest seen; 0 when none came. */
static uint64_t shortest_tick_ns(const sigset_t *set)
{
	static const struct timespec at_once;
	const uint64_t end_ns = thread_ns(CLOCK_MONOTONIC) + 1000000000u;
	uint64_t now, last = 0, shortest = 0;
	unsigned ticks = 0;

	while (ticks < TIMER_TICKS && thread_ns(CLOCK_MONOTONIC) < end_ns) {
		if (sigtimedwait(set, NULL, &at_once) < 0)
			continue;
		now = thread_ns(CLOCK_THREAD_CPUTIME_ID);
		if (last && (!shortest || now - last < shortest))
			shortest = now - last;
		last = now;
		ticks++;
	}
	return shortest;
}

void lc_doctor_timer(struct lc_doctor *d)
{
	const struct itimerspec each_ms = { .it_value = { .tv_nsec = 1000000 },
		                            .it_interval = { .tv_nsec = 1000000 } };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN };
	struct lc_doctor_check *c;
	sigset_t set, before;
	uint64_t tick_ns = 0;
	char text[32];
	timer_t timer;

	event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, &before);
	if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0) {
		if (timer_settime(timer, 0, &each_ms, NULL) == 0)
			tick_ns = shortest_tick_ns(&set);
		timer_delete(timer);
	}
	while (sigtimedwait(&set, NULL, &(struct timespec){ 0 }) > 0)
		;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (tick_ns) {
		lc_doctor_add(d, "timer", LC_DOCTOR_OK,
		              "thread CPU timers work, at least %s of CPU time apart",
		              lc_emit_duration(text, sizeof(text), tick_ns));
		return;
	}
	c = lc_doctor_add(d, "timer", LC_DOCTOR_MISSING, "thread CPU timers do not expire");
	lc_doctor_advise(c, "check whether 'ulimit -i' or a seccomp filter forbids timer_create");
}

/* -- system calls that containers forbid ------------------------------------------------------ */

void lc_doctor_calls(struct lc_doctor *d)
{
	char text[] = "x", copy[sizeof(text)];
	const struct iovec from = { text, sizeof(text) }, into = { copy, sizeof(copy) };
	struct lc_doctor_check *c;

	if (process_vm_readv(getpid(), &into, 1, &from, 1, 0) == sizeof(text)) {
		lc_doctor_add(d, "process_vm_readv", LC_DOCTOR_OK, "the heap can be read");
	} else {
		c = lc_doctor_add(d, "process_vm_readv", LC_DOCTOR_LIMITED,
		                  "refused (%s): Locus reads the heap directly and catches faults",
		                  strerror(errno));
		lc_doctor_advise(
		    c, "allow process_vm_readv in the container's seccomp filter; without "
		       "it, a JVM with -Xcheck:jni is not profiled");
	}
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0) {
		lc_doctor_add(d, "membarrier", LC_DOCTOR_OK, "threads can be synchronised cheaply");
	} else {
		c = lc_doctor_add(d, "membarrier", LC_DOCTOR_LIMITED,
		                  "refused (%s): Locus uses a fence in each collection instead",
		                  strerror(errno));
		lc_doctor_advise(c, "allow membarrier in the container's seccomp filter");
	}
}

/* -- libraries ---------------------------------------------------------------------------- */

/* The dynamic linker's complaint in `text`, as one line; NULL where there is none. */
static const char *linker_complaint(char *text)
{
	char *line = strstr(text, "ld.so: ");

	if (!line)
		return NULL;
	line += strlen("ld.so: ");
	line[strcspn(line, "\n")] = '\0';
	return line;
}

/* Preload it into this very program, as `locus run` does into others. */
static void check_launcher(struct lc_doctor *d)
{
	static char *const command[] = { "/proc/self/exe", "--version", NULL };
	char path[PATH_MAX], error[LC_LIBRARIES_ERROR_MAX];
	const char *complaint = NULL;
	struct lc_doctor_check *c;
	char *output;
	int status;

	if (lc_libraries_find("liblocus-preload.so", path, error)) {
		c = lc_doctor_add(d, "launcher", LC_DOCTOR_MISSING, "not usable");
		lc_doctor_advise(c, "%.1000s", error);
		return;
	}
	status = lc_doctor_capture(command, path, LIBRARY_SECONDS, &output);
	if (output)
		complaint = linker_complaint(output);
	if (status == 0 && !complaint) {
		lc_doctor_add(d, "launcher", LC_DOCTOR_OK, "%.900s", path);
	} else {
		c = lc_doctor_add(d, "launcher", LC_DOCTOR_MISSING, "%.900s cannot be preloaded",
		                  path);
		lc_doctor_advise(c, "%.900s",
		                 complaint ? complaint : "build or install Locus again");
	}
	free(output);
}

/* Load it in a child, so that nothing of it stays here. Returns its complaint, or "". */
static void try_to_load(const char *path, char *out, size_t out_len)
{
	int channel[2], status = 0;
	ssize_t n = 0;
	pid_t pid;

	snprintf(out, out_len, "cannot try to load it: %m");
	if (pipe2(channel, O_CLOEXEC) != 0)
		return;
	pid = fork();
	if (pid == 0) {
		const char *why;

		alarm(LIBRARY_SECONDS);
		why = dlopen(path, RTLD_NOW | RTLD_LOCAL) ? "" : dlerror();
		n = write(channel[1], why, strlen(why));
		_exit(n < 0);
	}
	close(channel[1]);
	if (pid > 0) {
		n = read(channel[0], out, out_len - 1);
		out[n > 0 ? n : 0] = '\0';
		waitpid(pid, &status, 0);
		if (status && !out[0])
			snprintf(out, out_len, "a process that loads it fails (status %d)", status);
	}
	close(channel[0]);
}

static void check_agent(struct lc_doctor *d)
{
	char path[PATH_MAX], error[LC_LIBRARIES_ERROR_MAX], why[512];
	struct lc_doctor_check *c;

	if (lc_libraries_find("liblocus.so", path, error)) {
		c = lc_doctor_add(d, "agent", LC_DOCTOR_MISSING, "not usable");
		lc_doctor_advise(c, "%.1000s", error);
		return;
	}
	try_to_load(path, why, sizeof(why));
	if (!why[0]) {
		lc_doctor_add(d, "agent", LC_DOCTOR_OK, "%.900s", path);
		return;
	}
	c = lc_doctor_add(d, "agent", LC_DOCTOR_MISSING, "%.900s cannot be loaded", path);
	lc_doctor_advise(c, "%s: install what is missing", why);
}

void lc_doctor_libraries(struct lc_doctor *d)
{
	check_launcher(d);
	check_agent(d);
}

/* -- disk --------------------------------------------------------------------------------- */

void lc_doctor_disk(struct lc_doctor *d, const char *output)
{
	char path[2 * PATH_MAX], directory[PATH_MAX], text[32];
	struct lc_doctor_check *c;
	struct statvfs fs;
	uint64_t bytes;

	if (output[0] == '/' || !getcwd(directory, sizeof(directory)))
		snprintf(path, sizeof(path), "%s", output);
	else if (strcmp(output, ".") == 0)
		snprintf(path, sizeof(path), "%s", directory);
	else
		snprintf(path, sizeof(path), "%s/%s", directory, output);
	errno = 0;
	if (!lc_libraries_deepest_directory(path, directory, sizeof(directory)) ||
	    !lc_libraries_writable(directory) || statvfs(directory, &fs) != 0) {
		c = lc_doctor_add(d, "disk", LC_DOCTOR_MISSING,
		                  "cannot write a profile to %.800s: %m", output);
		lc_doctor_advise(c, "choose another directory with --output");
		return;
	}
	bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	c = lc_doctor_add(d, "disk",
	                  bytes >= DISK_LOW_BYTES    ? LC_DOCTOR_OK
	                  : bytes >= DISK_NONE_BYTES ? LC_DOCTOR_LIMITED
	                                             : LC_DOCTOR_MISSING,
	                  "%s free for profiles in %.800s",
	                  lc_emit_bytes(text, sizeof(text), bytes), directory);
	if (c->status != LC_DOCTOR_OK)
		lc_doctor_advise(c, "long runs need more: choose another directory with --output");
}
