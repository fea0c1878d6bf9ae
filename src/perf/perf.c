/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf/perf.c - opens, runs, probes and explains perf events through perf_event_open(2).
 *
 * Order: P1  the kernel writes records, then data_head -> data_head is loaded (acquire), then the
 *            records are read.
 *        P2  records are read, then data_tail is stored (release) -> the kernel loads it and
 *            writes over them.
 */
#include "src/perf/perf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/file.h"
#include "src/base/time.h"

/* -- opening ------------------------------------------------------------------------------ */

static int perf_event_open(struct perf_event_attr *attr, int32_t tid, int group_fd)
{
	const long fd = syscall(SYS_perf_event_open, attr, tid, -1, group_fd, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static void complete(struct perf_event_attr *attr, const struct lc_perf_config *config,
                     bool user_only)
{
	attr->size = sizeof(*attr);
	attr->disabled = 1;
	attr->inherit = 0; /* the kernel maps no buffer for an event that is inherited */
	attr->watermark = 0;
	attr->wakeup_events = config->data_pages ? 1 : 0;
	attr->read_format &= ~(uint64_t)PERF_FORMAT_GROUP;
	attr->read_format |= PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (user_only) {
		attr->exclude_kernel = 1;
		attr->exclude_hv = 1;
	}
}

static int map_buffer(struct lc_perf *p, size_t data_pages)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *map;

	if (!data_pages)
		return 0;
	map = mmap(NULL, (1 + data_pages) * page, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
	if (map == MAP_FAILED)
		return errno == EPERM ? -EMLINK : -errno;
	p->map = map;
	p->map_bytes = (1 + data_pages) * page;
	return 0;
}

/*
 * Ask for the signal `sig` to thread `tid` at each wakeup, whatever thread signals usually go to.
 */
static int ask_for_signal(int fd, int sig, int32_t tid)
{
	const struct f_owner_ex owner = { .type = F_OWNER_TID,
		                          .pid = tid ? tid : (pid_t)syscall(SYS_gettid) };
	const int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETSIG, sig) < 0 || fcntl(fd, F_SETOWN_EX, &owner) < 0 ||
	    fcntl(fd, F_SETFL, flags | O_ASYNC) < 0)
		return -errno;
	return 0;
}

static int open_all(struct lc_perf *p, const struct lc_perf_config *config, int32_t tid,
                    bool user_only)
{
	struct perf_event_attr attr = *config->attr;
	struct perf_event_attr aux;
	int fd, err = 0;

	if (config->aux) {
		aux = *config->aux;
		complete(&aux, config, user_only);
		fd = perf_event_open(&aux, tid, -1);
		if (fd < 0)
			return fd;
		p->aux_fd = fd;
	}
	complete(&attr, config, user_only);
	fd = perf_event_open(&attr, tid, p->aux_fd);
	if (fd < 0) {
		err = fd;
		goto out;
	}
	p->fd = fd;
	err = map_buffer(p, config->data_pages);
	if (!err && config->signal)
		err = ask_for_signal(fd, config->signal, tid);
out:
	if (err) {
		lc_perf_close(p);
		return err;
	}
	p->user_only = attr.exclude_kernel;
	p->layout = (struct lc_ring_layout){ .sample_type = attr.sample_type,
		                             .read_format = attr.read_format,
		                             .branch_type = attr.branch_sample_type,
		                             .regs_user = attr.sample_regs_user,
		                             .regs_intr = attr.sample_regs_intr,
		                             .sample_id_all = attr.sample_id_all };
	return 0;
}

int lc_perf_open(struct lc_perf *p, const struct lc_perf_config *config, int32_t tid)
{
	struct lc_perf made = LC_PERF_NONE;
	const size_t pages = config->data_pages;
	int err;

	if (pages & (pages - 1) || config->signal < 0 || config->signal >= SIGRTMIN)
		return -EINVAL;
	err = open_all(&made, config, tid, false);
	if ((err == -EACCES || err == -EPERM) && !config->attr->exclude_kernel &&
	    open_all(&made, config, tid, true) == 0)
		err = 0;
	if (!err)
		*p = made;
	return err;
}

void lc_perf_close(struct lc_perf *p)
{
	if (p->map)
		munmap(p->map, p->map_bytes);
	if (p->fd >= 0)
		close(p->fd);
	if (p->aux_fd >= 0)
		close(p->aux_fd);
	*p = LC_PERF_NONE;
}

/* -- running ------------------------------------------------------------------------------ */

/* Control the event; an event with a leader is controlled together with it, as a group. */
static int control(const struct lc_perf *p, unsigned long request)
{
	const int kept = errno;
	int err = 0;

	if (p->aux_fd >= 0 ? ioctl(p->aux_fd, request, PERF_IOC_FLAG_GROUP)
	                   : ioctl(p->fd, request, 0))
		err = -errno;
	errno = kept;
	return err;
}

int lc_perf_enable(struct lc_perf *p)
{
	return control(p, PERF_EVENT_IOC_ENABLE);
}

int lc_perf_disable(struct lc_perf *p)
{
	return control(p, PERF_EVENT_IOC_DISABLE);
}

int lc_perf_set_period(struct lc_perf *p, uint64_t period)
{
	const int kept = errno;
	int err = 0;

	if (ioctl(p->fd, PERF_EVENT_IOC_PERIOD, &period))
		err = -errno;
	errno = kept;
	return err;
}

int lc_perf_count(const struct lc_perf *p, uint64_t *out)
{
	enum { VALUE, ENABLED, RUNNING, WORDS = 5 }; /* id and lost may follow */
	const int kept = errno;
	uint64_t word[WORDS];
	ssize_t n = read(p->fd, word, sizeof(word));
	int err = 0;

	if (n < 0)
		err = -errno;
	else if (n < (ssize_t)((RUNNING + 1) * sizeof(word[0])))
		err = -ENODATA; /* the event is in an error state: its group has lost the PMU */
	else if (word[RUNNING] == 0 && word[ENABLED] != 0)
		err = -EAGAIN;
	errno = kept;
	if (err)
		return err;
	if (word[RUNNING] && word[RUNNING] < word[ENABLED])
		*out = (uint64_t)((unsigned __int128)word[VALUE] * word[ENABLED] / word[RUNNING]);
	else
		*out = word[VALUE];
	return 0;
}

void lc_perf_read_begin(const struct lc_perf *p, struct lc_ring *out)
{
	struct perf_event_mmap_page *page = p->map;

	*out = (struct lc_ring){ .layout = p->layout };
	if (!page)
		return;
	/* Kernels before 4.1 leave data_offset and data_size 0, but lack much else that is
	 * needed. */
	out->data = (const uint8_t *)p->map + page->data_offset;
	out->size = page->data_size;
	out->tail = page->data_tail;                                     /* ours */
	out->head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE); /* P1 */
}

void lc_perf_read_end(const struct lc_perf *p, const struct lc_ring *r)
{
	struct perf_event_mmap_page *page = p->map;

	if (page)
		__atomic_store_n(&page->data_tail, r->tail, __ATOMIC_RELEASE); /* P2 */
}

/* -- probing ------------------------------------------------------------------------------ */

enum {
	PROBE_ROUND = 32,   /* accesses between two looks at the buffer */
	PROBE_STRIDE = 4160 /* the next page, and another line of it */
};

struct probe {
	uint8_t *memory; /* LC_PERF_PROBE_BYTES */
	size_t at;
	bool executes; /* the event is a breakpoint on execution, aimed at landmark() */
};

/* The function that a breakpoint on execution is aimed at. */
static __attribute__((noinline)) void landmark(void)
{
	__asm__ volatile("");
}

static void flush(volatile void *line)
{
#ifdef __x86_64__
	__asm__ volatile("clflush %0\n\tmfence" : "+m"(*(volatile char *)line));
#else
#endif
}

/*
 * Load and store lines that are in no cache, in pages that are not in the TLB, or not mapped yet.
 */
static void touch(struct probe *p)
{
	volatile uint64_t *first = (volatile uint64_t *)(void *)p->memory;
	volatile uint64_t *word;

	for (unsigned i = 0; i < PROBE_ROUND; i++) {
		word = (volatile uint64_t *)(void *)(p->memory + p->at);
		*word += 1;
		flush(word);
		*word += 1;
		*first += 1;
		if (p->executes)
			landmark();
		p->at += PROBE_STRIDE;
		if (p->at > LC_PERF_PROBE_BYTES - sizeof(*word)) {
			p->at %= 4096;
			madvise(p->memory, LC_PERF_PROBE_BYTES, MADV_DONTNEED);
		}
	}
}

/*
 * Read the buffer. Returns 0 if a sample has an address, -EADDRNOTAVAIL if samples have none, and
 * `before` if there is no sample.
 */
static int look(const struct lc_perf *perf, int before)
{
	struct lc_ring_record record;
	struct lc_ring ring;
	int result = before;

	lc_perf_read_begin(perf, &ring);
	while (result && lc_ring_next(&ring, &record))
		if (record.type == LC_RING_SAMPLE)
			result = record.addr ? 0 : -EADDRNOTAVAIL;
	lc_perf_read_end(perf, &ring);
	return result;
}

/* Change *attr so that samples come soon. */
static void aim(struct probe *p, struct perf_event_attr *attr)
{
	if (attr->type != PERF_TYPE_SOFTWARE && attr->type != PERF_TYPE_BREAKPOINT)
		return; /* hardware may refuse other periods than the one asked for */
	attr->freq = 0;
	attr->sample_period = 1;
	if (attr->type != PERF_TYPE_BREAKPOINT)
		return;
	p->executes = attr->bp_type & HW_BREAKPOINT_X;
	attr->bp_addr = p->executes ? (uint64_t)(uintptr_t)landmark : (uintptr_t)p->memory;
}

int lc_perf_probe(const struct lc_perf_config *config, unsigned budget_ms)
{
	struct perf_event_attr attr = *config->attr;
	struct lc_perf_config mine = *config;
	struct lc_perf perf = LC_PERF_NONE;
	struct probe p = { .at = 0 };
	uint64_t end_ns;
	void *memory;
	int err;

	memory = mmap(NULL, LC_PERF_PROBE_BYTES, PROT_READ | PROT_WRITE,
	              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return -ENOMEM;
	madvise(memory, LC_PERF_PROBE_BYTES, MADV_NOHUGEPAGE);
	p.memory = memory;
	aim(&p, &attr);
	mine.attr = &attr;
	mine.signal = 0;
	if (!mine.data_pages)
		mine.data_pages = LC_PERF_RING_PAGES;
	err = lc_perf_open(&perf, &mine, 0);
	if (err)
		goto out;
	err = lc_perf_enable(&perf);
	if (err)
		goto out;
	end_ns = lc_time_now_ns() + budget_ms * UINT64_C(1000000);
	err = -ETIMEDOUT;
	do {
		touch(&p);
		err = look(&perf, err);
	} while (err && lc_time_now_ns() < end_ns);
	lc_perf_disable(&perf);
out:
	lc_perf_close(&perf);
	munmap(memory, LC_PERF_PROBE_BYTES);
	return err;
}

/* -- explaining --------------------------------------------------------------------------- */

static void explain_eacces(const char *root, char *out, size_t out_len)
{
	long paranoid;

	if (!lc_file_number(root, "/proc/sys/kernel/perf_event_paranoid", &paranoid))
		snprintf(out, out_len,
		         "the kernel does not allow it (perf_event_paranoid is unreadable): give "
		         "the program CAP_PERFMON");
	else if (paranoid > 2)
		snprintf(
		    out, out_len,
		    "perf_event_paranoid is %ld, which forbids perf events to users: run 'sysctl "
		    "kernel.perf_event_paranoid=2' as root, or give the program CAP_PERFMON",
		    paranoid);
	else if (paranoid == 2)
		snprintf(out, out_len,
		         "perf_event_paranoid is 2, but this event cannot exclude the kernel: run "
		         "'sysctl kernel.perf_event_paranoid=1' as root, or give the program "
		         "CAP_PERFMON");
	else
		snprintf(out, out_len,
		         "perf_event_paranoid is %ld, which would allow it, but a security module "
		         "(SELinux, AppArmor) forbids it; its log says which rule",
		         paranoid);
}

static void explain_eperm(const char *root, char *out, size_t out_len)
{
	char status[4096];
	const char *line = NULL;
	long paranoid;

	if (lc_file_text(root, "/proc/self/status", status, sizeof(status)))
		line = strstr(status, "\nSeccomp:");
	if (line && strtol(line + strlen("\nSeccomp:"), NULL, 10) > 0)
		snprintf(out, out_len,
		         "a seccomp filter, as containers have, forbids perf_event_open: start the "
		         "container with --cap-add PERFMON, or with a seccomp profile that allows "
		         "perf_event_open");
	else if (lc_file_number(root, "/proc/sys/kernel/perf_event_paranoid", &paranoid))
		snprintf(out, out_len,
		         "not permitted, though no seccomp filter forbids it (perf_event_paranoid "
		         "is %ld): kernel lockdown or a security module forbids it, or CAP_PERFMON "
		         "is needed",
		         paranoid);
	else
		snprintf(out, out_len,
		         "not permitted: kernel lockdown or a security module forbids it, or "
		         "CAP_PERFMON is needed");
}

static void explain_memory(const char *what, const char *root, char *out, size_t out_len)
{
	char now[32] = "unlimited", kernel[32] = "unknown";
	struct rlimit limit;
	long kb;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		snprintf(now, sizeof(now), "%llu", (unsigned long long)limit.rlim_cur / 1024);
	if (lc_file_number(root, "/proc/sys/kernel/perf_event_mlock_kb", &kb))
		snprintf(kernel, sizeof(kernel), "%ld", kb);
	snprintf(out, out_len,
	         "%s: raise 'sysctl kernel.perf_event_mlock_kb' (now %s, per CPU) or 'ulimit -l' "
	         "(now %s), or sample fewer events",
	         what, kernel, now);
}

static void explain_missing(const char *root, char *out, size_t out_len)
{
	static const char *const pmus[] = { "cpu", "cpu_core", "cpu_atom" };
	char path[64], cpuinfo[4096];
	bool guest;

	guest = lc_file_text(root, "/proc/cpuinfo", cpuinfo, sizeof(cpuinfo)) &&
	        strstr(cpuinfo, " hypervisor");
	for (size_t i = 0; i < sizeof(pmus) / sizeof(pmus[0]); i++) {
		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s", pmus[i]);
		if (!lc_file_exists(root, path))
			continue;
		snprintf(out, out_len,
		         "the PMU here (%s) lacks this event, or cannot sample its addresses%s: "
		         "choose another event",
		         pmus[i], guest ? " in a virtual machine" : "");
		return;
	}
	snprintf(out, out_len,
	         guest ? "no PMU here: the hypervisor gives this virtual machine none; run on bare "
	                 "metal, or let the host expose its PMU"
	               : "no PMU here: this kernel has no driver for this CPU's PMU");
}

static void explain_files(int err, char *out, size_t out_len)
{
	struct rlimit limit = { .rlim_cur = 0 };

	getrlimit(RLIMIT_NOFILE, &limit);
	if (err == EMFILE)
		snprintf(out, out_len,
		         "too many open files: each event needs one per thread; raise 'ulimit -n' "
		         "(now %llu)",
		         (unsigned long long)limit.rlim_cur);
	else
		snprintf(out, out_len,
		         "too many open files in the system: raise 'sysctl fs.file-max'");
}

/* Explain an error that needs nothing of this machine to be explained; NULL for other errors. */
static const char *plain_reason(int err)
{
	switch (err) {
	case EBUSY:
		return "the counters are in use (by the NMI watchdog, or another profiler): end "
		       "that, or run 'sysctl kernel.nmi_watchdog=0' as root";
	case ENOSPC:
		return "all debug registers are in use: x86 has four per thread, and a debugger or "
		       "another profiler has some";
	case EINVAL:
		return "this kernel or PMU does not accept the event with these settings (period, "
		       "precision, filter)";
	case ENODATA:
		return "on this CPU load latency needs the event mem-loads-aux to lead its group: "
		       "write -e pebs:latency, which adds it";
	case ETIMEDOUT:
		return "the event can be opened, but delivered no sample; virtual machines may "
		       "count an event without sampling it";
	case EADDRNOTAVAIL:
		return "the event's samples have no address: choose a precise memory event";
	case E2BIG:
		return "this kernel is too old for the event's settings";
	case ENOSYS:
		return "this kernel is built without perf events";
	case ESRCH:
		return "the thread has ended";
	default:
		return NULL;
	}
}

void lc_perf_explain(int err, const char *root, char *out, size_t out_len)
{
	const char *reason;
	char text[128];

	if (!out_len)
		return;
	err = err < 0 ? -err : err;
	switch (err) {
	case EACCES:
		explain_eacces(root, out, out_len);
		break;
	case EPERM:
		explain_eperm(root, out, out_len);
		break;
	case EMLINK:
		explain_memory("the memory for sample buffers is used up", root, out, out_len);
		break;
	case ENOMEM:
		explain_memory("no memory for a sample buffer", root, out, out_len);
		break;
	case ENODEV:
	case ENOENT:
	case ENXIO:
	case EOPNOTSUPP:
		explain_missing(root, out, out_len);
		break;
	case EMFILE:
	case ENFILE:
		explain_files(err, out, out_len);
		break;
	default:
		reason = plain_reason(err);
		if (!reason)
			reason = strerror_r(err, text, sizeof(text));
		snprintf(out, out_len, "%s", reason);
		break;
	}
}
