/* uses: src/perf/perf.c src/base/file.c src/perf/ring.c -lpthread */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_perf.c - checks perf events of this kernel: page faults, breakpoints, signals, refusals.
 *
 * Needs no PMU. If the kernel refuses software events, the tests that need them are skipped.
 * The file is longer than 600 lines: refusals are forced one by one.
 */
#include <asm/perf_regs.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/hw_breakpoint.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/perf/perf.h"

/* Faults beside those of the test's own touches: the shadow memory of a sanitizer has its own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { EXTRA = 20000 };
#elif defined(__has_feature)
enum { EXTRA = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ? 20000 : 20 };
#else
enum { EXTRA = 20 };
#endif

enum { PAGE = 4096, TEXT = 512 };

static struct perf_event_attr fault_attr(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ADDR,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

static struct perf_event_attr watch_attr(const volatile void *what, unsigned type)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_BREAKPOINT,
		.bp_type = type,
		.bp_addr = (uint64_t)(uintptr_t)what,
		.bp_len = 8,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

/* Open, or skip the test where this machine cannot. */
static struct lc_perf open_or_skip(const struct perf_event_attr *attr, size_t pages, int sig)
{
	const struct lc_perf_config config = { .attr = attr, .data_pages = pages, .signal = sig };
	struct lc_perf p = LC_PERF_NONE;
	const int err = lc_perf_open(&p, &config, 0);
	char why[TEXT];

	if (err) {
		lc_perf_explain(err, "", why, sizeof(why));
		print_message("cannot be tested here: %s\n", why);
		skip();
	}
	return p;
}

static uint8_t *fresh_pages(size_t n)
{
	void *p = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	madvise(p, n * PAGE, MADV_NOHUGEPAGE);
	return p;
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* -- faults ------------------------------------------------------------------------------- */

static void each_first_touch_is_one_sample_with_its_page(void **state)
{
	enum { PAGES = 100 };
	const struct perf_event_attr attr = fault_attr();
	struct lc_perf p = open_or_skip(&attr, 16, 0);
	uint8_t *memory = fresh_pages(PAGES);
	struct lc_ring_record record;
	struct lc_ring ring;
	unsigned seen = 0;
	uint64_t count = 0;

	memory[0] = 1; /* while it is disabled */
	assert_int_equal(lc_perf_enable(&p), 0);
	for (unsigned i = 1; i < PAGES; i++)
		((volatile uint8_t *)memory)[i * PAGE + i] = 1;
	assert_int_equal(lc_perf_disable(&p), 0);
	lc_perf_read_begin(&p, &ring);
	while (lc_ring_next(&ring, &record)) {
		assert_int_equal(record.type, LC_RING_SAMPLE);
		assert_int_equal(record.tid, syscall(SYS_gettid));
		assert_int_equal(record.pid, getpid());
		if (record.addr < (uintptr_t)memory ||
		    record.addr >= (uintptr_t)memory + (uintptr_t)PAGES * PAGE)
			continue; /* of the stack, say */
		seen++;
		assert_int_equal(record.addr, (uintptr_t)memory + (uintptr_t)seen * (PAGE + 1));
	}
	lc_perf_read_end(&p, &ring);
	assert_int_equal(seen, PAGES - 1);
	assert_int_equal(lc_perf_count(&p, &count), 0);
	assert_in_range(count, PAGES - 1, PAGES + EXTRA);
	lc_perf_read_begin(&p, &ring); /* the room was given back */
	assert_int_equal(ring.tail, ring.head);
	assert_false(lc_ring_next(&ring, &record));
	lc_perf_close(&p);
	assert_int_equal(p.fd, -1);
	munmap(memory, (size_t)PAGES * PAGE);
}

/* The order of the fields as this kernel has it, checked by what each must be. */
static void all_sample_types_of_this_kernel(void **state)
{
	struct perf_event_attr attr = fault_attr();
	const struct lc_perf_config config = { .attr = &attr, .data_pages = 64 };
	struct lc_perf p = LC_PERF_NONE;
	struct lc_ring_record record;
	struct lc_ring ring;
	uint64_t begin, end, id = 0;
	unsigned seen = 0;
	uint8_t *memory;
	cpu_set_t before, one;

	attr.sample_type =
	    PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
	    PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
	    PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
	    PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT_STRUCT |
	    PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_REGS_INTR |
	    PERF_SAMPLE_CGROUP | PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE;
	attr.sample_regs_user = 1 << PERF_REG_X86_IP | 1 << PERF_REG_X86_SP;
	attr.sample_regs_intr = attr.sample_regs_user | 1 << PERF_REG_X86_BX;
	attr.sample_stack_user = 256;
	attr.read_format = PERF_FORMAT_ID;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	attr.exclude_callchain_kernel = 1;
	if (lc_perf_open(&p, &config, 0))
		skip(); /* a kernel before 5.12 does not have them all */
	assert_int_equal(ioctl(p.fd, PERF_EVENT_IOC_ID, &id), 0);
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&one);
	for (unsigned i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
		if (CPU_ISSET(i, &before) && (i || CPU_COUNT(&before) == 1))
			CPU_SET(i, &one); /* not 0, where there is another */
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	memory = fresh_pages(4);
	begin = now_ns(CLOCK_MONOTONIC);
	assert_int_equal(lc_perf_enable(&p), 0);
	memory[3 * PAGE + 5] = 1;
	assert_int_equal(lc_perf_disable(&p), 0);
	end = now_ns(CLOCK_MONOTONIC);
	lc_perf_read_begin(&p, &ring);
	while (lc_ring_next(&ring, &record)) {
		assert_int_equal(record.type, LC_RING_SAMPLE);
		assert_int_equal(record.id, id);
		assert_in_range(record.time_ns, begin, end);
		assert_int_equal(record.tid, syscall(SYS_gettid));
		assert_true(CPU_ISSET(record.cpu, &one));
		assert_int_equal(record.period, 1);
		assert_int_equal(record.regs_intr_abi, PERF_SAMPLE_REGS_ABI_64);
		assert_int_equal(record.regs_intr[PERF_REG_X86_IP], record.ip);
		assert_in_range(record.regs_intr[PERF_REG_X86_SP], (uintptr_t)&one - 65536,
		                (uintptr_t)&one + 65536);
		assert_int_equal(record.regs_intr[PERF_REG_X86_AX], 0);
		seen += record.addr == (uintptr_t)memory + 3 * PAGE + 5;
	}
	assert_int_equal(seen, 1);
	sched_setaffinity(0, sizeof(before), &before);
	munmap(memory, 4 * PAGE);
	lc_perf_close(&p);
}

/* A buffer of one page fills; what was lost is told, and reading makes room again. */
static void full_buffer_counts_what_it_lost(void **state)
{
	enum { PAGES = 2000 };
	const struct perf_event_attr attr = fault_attr();
	struct lc_perf p = open_or_skip(&attr, 1, 0);
	uint8_t *memory = fresh_pages(PAGES);
	struct lc_ring_record record;
	uint64_t samples = 0, lost = 0, count;
	struct lc_ring ring;

	assert_int_equal(lc_perf_enable(&p), 0);
	for (unsigned i = 0; i < PAGES; i++) {
		((volatile uint8_t *)memory)[i * PAGE] = 1;
		if (i != PAGES / 2 && i != PAGES - 1)
			continue;
		lc_perf_read_begin(&p, &ring);
		while (lc_ring_next(&ring, &record)) {
			assert_true(record.type == LC_RING_SAMPLE || record.type == LC_RING_LOST);
			samples += record.type == LC_RING_SAMPLE;
			lost += record.lost;
		}
		lc_perf_read_end(&p, &ring);
	}
	lc_perf_disable(&p);
	assert_int_equal(lc_perf_count(&p, &count), 0);
	assert_in_range(samples, 2 * 100, 2 * 4096 / 32);
	/* The first half's count; the record that tells of the second is yet to come. */
	assert_in_range(lost, PAGES / 2 - 200, PAGES / 2 + EXTRA);
	assert_in_range(count, PAGES, PAGES + EXTRA);
	lc_perf_close(&p);
	munmap(memory, (size_t)PAGES * PAGE);
}

/* -- breakpoints -------------------------------------------------------------------------- */

static volatile uint64_t watched[4] __attribute__((aligned(64)));

static void writes_to_a_variable_are_counted_with_its_address(void **state)
{
	enum { WRITES = 500 };
	const struct perf_event_attr attr = watch_attr(&watched[1], HW_BREAKPOINT_W);
	struct lc_perf p = open_or_skip(&attr, 16, 0);
	struct lc_ring_record record;
	struct lc_ring ring;
	uint64_t count = 0;
	unsigned seen = 0;

	assert_int_equal(lc_perf_enable(&p), 0);
	for (unsigned i = 0; i < WRITES; i++) {
		watched[0] = i;
		watched[1] = i;
		watched[2] = watched[1];
	}
	assert_int_equal(lc_perf_disable(&p), 0);
	watched[1] = 0;
	assert_int_equal(lc_perf_count(&p, &count), 0);
	assert_int_equal(count, WRITES);
	lc_perf_read_begin(&p, &ring);
	while (lc_ring_next(&ring, &record)) {
		if (record.type != LC_RING_SAMPLE)
			continue; /* throttled, perhaps */
		assert_int_equal(record.addr, (uintptr_t)&watched[1]);
		seen++;
	}
	assert_in_range(seen, 1, WRITES);
	lc_perf_close(&p);
}

/* -- signals ------------------------------------------------------------------------------ */

static struct lc_perf handled;
static volatile sig_atomic_t signals, samples_in_handler, wrong_thread;
static volatile uint64_t sampled[64];
static pid_t expected_tid;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	const int kept = errno;
	struct lc_ring_record record;
	struct lc_ring ring;

	signals++;
	wrong_thread += syscall(SYS_gettid) != expected_tid;
	lc_perf_read_begin(&handled, &ring);
	while (lc_ring_next(&ring, &record)) {
		sampled[samples_in_handler % 64] = record.addr;
		samples_in_handler += record.type == LC_RING_SAMPLE;
	}
	lc_perf_read_end(&handled, &ring);
	errno = kept;
}

struct signal_test {
	pthread_barrier_t opened;
	_Atomic pid_t tid;
	uint8_t *memory;
};

/* Opened for this thread by another, as for threads that are older than the agent. */
static void *touching_thread(void *argument)
{
	struct signal_test *t = argument;

	t->tid = (pid_t)syscall(SYS_gettid);
	pthread_barrier_wait(&t->opened);
	pthread_barrier_wait(&t->opened);
	if (handled.fd >= 0)
		lc_perf_enable(&handled);
	for (unsigned i = 0; i < 10; i++) {
		t->memory[i * PAGE] = 1;
		for (unsigned j = 0; j < 1000 && signals < (int)i + 1; j++)
			sched_yield(); /* the signal comes by an interrupt to this CPU */
	}
	if (handled.fd >= 0)
		lc_perf_disable(&handled);
	return NULL;
}

static void each_sample_signals_its_own_thread(void **state)
{
	const struct perf_event_attr attr = fault_attr();
	const struct lc_perf_config config = { .attr = &attr,
		                               .data_pages = 8,
		                               .signal = SIGSTKFLT };
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	struct sigaction before;
	struct signal_test t = { .memory = fresh_pages(10) };
	unsigned seen = 0;
	pthread_t thread;
	int err;

	handled = LC_PERF_NONE;
	assert_int_equal(sigaction(SIGSTKFLT, &action, &before), 0);
	pthread_barrier_init(&t.opened, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, touching_thread, &t), 0);
	pthread_barrier_wait(&t.opened);
	expected_tid = t.tid;
	err = lc_perf_open(&handled, &config, t.tid);
	pthread_barrier_wait(&t.opened);
	pthread_join(thread, NULL);
	lc_perf_close(&handled);
	sigaction(SIGSTKFLT, &before, NULL);
	pthread_barrier_destroy(&t.opened);
	if (err)
		skip();
	assert_int_equal(wrong_thread, 0);
	assert_in_range(signals, 1, 10 + EXTRA); /* those that come at once are one */
	assert_in_range(samples_in_handler, 10, 10 + EXTRA);
	if (samples_in_handler > 64)
		return; /* a sanitizer's: they overwrote ours */
	for (unsigned i = 0; i < 10; i++)
		for (unsigned j = 0; j < 64; j++)
			seen += sampled[j] == (uintptr_t)t.memory + (uintptr_t)i * PAGE;
	assert_int_equal(seen, 10);
	munmap(t.memory, 10 * PAGE);
}

static void bad_settings_are_refused(void **state)
{
	struct perf_event_attr attr = fault_attr();
	struct lc_perf_config config = { .attr = &attr, .data_pages = 3 };
	struct lc_perf p = LC_PERF_NONE;

	assert_int_equal(lc_perf_open(&p, &config, 0), -EINVAL);
	config.data_pages = 8;
	config.signal = SIGRTMIN; /* its queue may overflow: then SIGIO ends the program */
	assert_int_equal(lc_perf_open(&p, &config, 0), -EINVAL);
	config.signal = 0;
	assert_int_equal(lc_perf_open(&p, &config, 0x3fffffff), -ESRCH);
	assert_int_equal(p.fd, -1);
	assert_null(p.map);
	lc_perf_close(&p); /* nothing is allowed */
}

/* -- probing ------------------------------------------------------------------------------ */

static void probe_finds_page_faults_and_breakpoints(void **state)
{
	struct perf_event_attr fault = fault_attr();
	struct perf_event_attr watch = watch_attr(NULL, HW_BREAKPOINT_RW);
	struct perf_event_attr execute = watch_attr(NULL, HW_BREAKPOINT_X);
	const struct perf_event_attr *const attrs[] = { &fault, &watch, &execute };
	struct lc_perf_config config;
	struct lc_perf p;

	fault.sample_period = 100000; /* a probe does not wait for so many */
	p = open_or_skip(&fault, 0, 0);
	lc_perf_close(&p);
	for (size_t i = 0; i < 3; i++) {
		config = (struct lc_perf_config){ .attr = attrs[i], .signal = SIGSTKFLT };
		assert_int_equal(lc_perf_probe(&config, 2000), 0);
	}
}

static void probe_tells_samples_without_address_from_none(void **state)
{
	struct perf_event_attr attr = fault_attr();
	const struct lc_perf_config config = { .attr = &attr };
	struct lc_perf p = open_or_skip(&attr, 0, 0);
	uint64_t begin;

	lc_perf_close(&p);
	attr.sample_type = PERF_SAMPLE_IP;
	assert_int_equal(lc_perf_probe(&config, 20), -EADDRNOTAVAIL);
	attr.config = PERF_COUNT_SW_EMULATION_FAULTS; /* never happen */
	begin = now_ns(CLOCK_MONOTONIC);
	assert_int_equal(lc_perf_probe(&config, 30), -ETIMEDOUT);
	assert_in_range(now_ns(CLOCK_MONOTONIC) - begin, 30000000u, 3000000000u);
}

static void absent_hardware_gives_the_kernels_reason(void **state)
{
	struct perf_event_attr attr = fault_attr();
	const struct lc_perf_config config = { .attr = &attr };
	char text[TEXT];
	int err;

	attr.type = 4711; /* no PMU has this number */
	err = lc_perf_probe(&config, 10);
	assert_int_equal(err, -ENOENT);
	attr.type = PERF_TYPE_HARDWARE;
	attr.config = PERF_COUNT_HW_CPU_CYCLES;
	if (access("/sys/bus/event_source/devices/cpu", F_OK) == 0 ||
	    access("/sys/bus/event_source/devices/cpu_core", F_OK) == 0)
		skip(); /* it is not absent here */
	err = lc_perf_probe(&config, 10);
	assert_true(err == -ENOENT || err == -ENODEV || err == -EOPNOTSUPP);
	lc_perf_explain(err, "", text, sizeof(text));
	assert_non_null(strstr(text, "no PMU here"));
}

/* -- refusals, for real ------------------------------------------------------------------- */

/* Run `body` in a child; returns its exit status, 77 meaning that it cannot be tested here. */
static int in_child(int (*body)(void))
{
	const pid_t pid = fork();
	int status = 0;

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(body());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Become a user without rights. */
static bool drop_rights(void)
{
	if (geteuid() == 0)
		return setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0;
	return true;
}

static int expect_seccomp(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { .len = 4, .filter = code };
	struct perf_event_attr attr = fault_attr();
	const struct lc_perf_config config = { .attr = &attr, .data_pages = 1 };
	struct lc_perf p = LC_PERF_NONE;
	char text[TEXT];

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 77;
	if (lc_perf_open(&p, &config, 0) != -EPERM || p.fd != -1)
		return 1;
	lc_perf_explain(-EPERM, "", text, sizeof(text));
	return strstr(text, "seccomp filter") && strstr(text, "--cap-add PERFMON") ? 0 : 2;
}

static void seccomp_filter_is_named(void **state)
{
	const int status = in_child(expect_seccomp);

	if (status == 77)
		skip();
	assert_int_equal(status, 0);
}

/* The user's limit of mapped memory is used up: the kernel's EPERM becomes an error of its own. */
static int expect_mlock(void)
{
	const struct rlimit none = { 0, 0 };
	struct perf_event_attr attr = fault_attr();
	const struct lc_perf_config config = { .attr = &attr, .data_pages = 4096 };
	struct lc_perf p = LC_PERF_NONE;
	char text[TEXT];

	if (setrlimit(RLIMIT_MEMLOCK, &none) || !drop_rights())
		return 77;
	if (lc_perf_open(&p, &config, 0) != -EMLINK || p.fd != -1 || p.map)
		return 1;
	lc_perf_explain(-EMLINK, "", text, sizeof(text));
	return strstr(text, "perf_event_mlock_kb") && strstr(text, "ulimit -l") ? 0 : 2;
}

static void mlock_limit_is_named(void **state)
{
	const int status = in_child(expect_mlock);
	struct perf_event_attr attr = fault_attr();
	struct lc_perf p = open_or_skip(&attr, 0, 0);

	lc_perf_close(&p);
	if (status == 77)
		skip();
	assert_int_equal(status, 0);
}

/* The kernel's side is left out where it is not for users; nothing else is changed. */
static int expect_user_only(void)
{
	struct perf_event_attr attr = fault_attr();
	const struct lc_perf_config config = { .attr = &attr, .data_pages = 1 };
	struct lc_perf p = LC_PERF_NONE;

	attr.exclude_kernel = 0;
	if (!drop_rights())
		return 77;
	if (lc_perf_open(&p, &config, 0) || !p.user_only)
		return 1;
	lc_perf_close(&p);
	attr.type = PERF_TYPE_TRACEPOINT; /* not for users, with the kernel or without */
	attr.config = 1;
	return lc_perf_open(&p, &config, 0) < 0 && p.fd == -1 ? 0 : 2;
}

static long paranoid(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	long value = 99;

	if (f) {
		if (fscanf(f, "%ld", &value) != 1)
			value = 99;
		fclose(f);
	}
	return value;
}

static void event_falls_back_to_user_code(void **state)
{
	int status;

	if (paranoid() != 2)
		skip();
	status = in_child(expect_user_only);
	if (status == 77)
		skip();
	assert_int_equal(status, 0);
}

/* -- refusals, in a tree of our own ------------------------------------------------------- */

static char root[] = "/tmp/locus-test-perf-XXXXXX";

static void lay_out(const char *name, const char *text)
{
	char path[TEXT];
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", root, name);
	for (char *p = path + sizeof(root); *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static int make_root(void **state)
{
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char command[TEXT];

	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

static void assert_explained(int err, const char *what)
{
	char text[TEXT];

	memset(text, 'x', sizeof(text));
	lc_perf_explain(err, root, text, sizeof(text));
	if (!strstr(text, what))
		fail_msg("%d: '%s' is not in: %s", err, what, text);
	assert_null(strchr(text, '\n'));
	assert_true(strlen(text) < 250);
}

static void reasons_follow_what_the_machine_says(void **state)
{
	assert_explained(-EACCES, "is unreadable");
	assert_explained(-EPERM, "CAP_PERFMON is needed");
	assert_explained(-EMLINK, "(now unknown, per CPU)");
	assert_explained(-ENODEV, "this kernel has no driver");
	lay_out("/proc/sys/kernel/perf_event_paranoid", "4\n");
	assert_explained(-EACCES, "perf_event_paranoid is 4");
	assert_explained(-EACCES, "kernel.perf_event_paranoid=2");
	lay_out("/proc/sys/kernel/perf_event_paranoid", "2\n");
	assert_explained(-EACCES, "kernel.perf_event_paranoid=1");
	lay_out("/proc/sys/kernel/perf_event_paranoid", "-1\n");
	assert_explained(-EACCES, "perf_event_paranoid is -1, which would allow it");
	lay_out("/proc/self/status",
	        "Name:\tx\nNoNewPrivs:\t0\nSeccomp:\t0\nSeccomp_filters:\t0\n");
	assert_explained(-EPERM, "no seccomp filter forbids it (perf_event_paranoid is -1)");
	lay_out("/proc/self/status",
	        "Name:\tx\nNoNewPrivs:\t0\nSeccomp:\t2\nSeccomp_filters:\t1\n");
	assert_explained(-EPERM, "--cap-add PERFMON");
	lay_out("/proc/sys/kernel/perf_event_mlock_kb", "516\n");
	assert_explained(-EMLINK, "used up: raise 'sysctl kernel.perf_event_mlock_kb' (now 516");
	assert_explained(-ENOMEM, "no memory for a sample buffer");
	lay_out("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme sse2\n");
	assert_explained(-ENODEV, "this kernel has no driver");
	lay_out("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme hypervisor sse2\n");
	assert_explained(-ENODEV, "the hypervisor gives this virtual machine none");
	assert_explained(-ENOENT, "no PMU here");
	assert_explained(-EOPNOTSUPP, "no PMU here");
	lay_out("/sys/bus/event_source/devices/cpu/type", "4\n");
	assert_explained(-ENOENT, "the PMU here (cpu) lacks this event");
	assert_explained(-EOPNOTSUPP, "addresses in a virtual machine");
}

static void other_reasons(void **state)
{
	assert_explained(-EMFILE, "ulimit -n");
	assert_explained(-ENFILE, "fs.file-max");
	assert_explained(-EBUSY, "nmi_watchdog");
	assert_explained(-ENOSPC, "debug registers");
	assert_explained(-EINVAL, "period");
	assert_explained(-ENODATA, "mem-loads-aux");
	assert_explained(-ETIMEDOUT, "delivered no sample");
	assert_explained(-EADDRNOTAVAIL, "no address");
	assert_explained(-E2BIG, "too old");
	assert_explained(-ENOSYS, "without perf events");
	assert_explained(-ESRCH, "ended");
	assert_explained(-EIO, "Input/output error");
	assert_explained(EMFILE, "ulimit -n"); /* the sign does not matter */
}

static void short_room_is_not_overrun(void **state)
{
	char text[16] = "###############";

	lc_perf_explain(-EACCES, "", text, 8);
	assert_int_equal(strlen(text), 7);
	assert_int_equal(text[8], '#');
	lc_perf_explain(-EACCES, "", text, 0);
	assert_int_equal(strlen(text), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_first_touch_is_one_sample_with_its_page),
		cmocka_unit_test(all_sample_types_of_this_kernel),
		cmocka_unit_test(full_buffer_counts_what_it_lost),
		cmocka_unit_test(writes_to_a_variable_are_counted_with_its_address),
		cmocka_unit_test(each_sample_signals_its_own_thread),
		cmocka_unit_test(bad_settings_are_refused),
		cmocka_unit_test(probe_finds_page_faults_and_breakpoints),
		cmocka_unit_test(probe_tells_samples_without_address_from_none),
		cmocka_unit_test(absent_hardware_gives_the_kernels_reason),
		cmocka_unit_test(seccomp_filter_is_named),
		cmocka_unit_test(mlock_limit_is_named),
		cmocka_unit_test(event_falls_back_to_user_code),
		cmocka_unit_test_setup_teardown(reasons_follow_what_the_machine_says, make_root,
		                                remove_root),
		cmocka_unit_test(other_reasons),
		cmocka_unit_test(short_room_is_not_overrun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
