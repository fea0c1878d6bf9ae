/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/clock/cycle_clock.c - chooses one of three clocks and opens it for a thread.
 *
 * The buffer of switch records is mapped read-only. Only for such a mapping does the kernel
 * overwrite the oldest records and move the head on for ever; a writable buffer that nobody empties
 * would stop. All its records have one length, so the oldest remaining one is found, and switches
 * are counted even if records are gone. The mapping keeps the event alive, so its file is closed at
 * once.
 *
 * If records are gone, the thread's CPU clock tells how long it ran since a checkpoint. A
 * checkpoint is a pair of readings of the CPU clock and this one. It costs a system call, so only
 * the slow path takes one, at most every CHECKPOINT_NS.
 *
 * Opening the event and its mapping costs some 20 us, more than all the work of a thread that ends
 * after one task. So at its first readings a young clock asks the kernel for the thread's number of
 * switches and, if that has changed, for its CPU time. The clock stands still meanwhile. The file
 * is longer than 600 lines for that.
 *
 * Invariants: all of a clock belongs to its thread; the kernel writes the mapped pages while that
 *             thread is not running, or between two of its instructions. Only lc_cycles_init()
 *             writes the choice of a clock, before there are clocks. Counts are atomic, relaxed.
 */
#include "src/span/clock/cycle_clock.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "src/core/counters.h"
#include "src/perf/perf.h"
#include "src/span/clock/cycle_clock_impl.h"

#define CHECKPOINT_NS UINT64_C(10000000)
#define NARROW_NS UINT64_C(5000)

enum {
	DATA_PAGES = 1, /* 128 switches with pages of 4 KB */
	CPU_TRIES = 4,
	PROBE_MS = 10,
	YOUNG_READINGS = 16, /* a system call each */
};

static struct {
	enum lc_cycles_kind kind;
	bool user_only; /* rdpmc: the kernel's cycles may not be counted */
	size_t page;
	uint64_t coarse_cycles, checkpoint_cycles, narrow_cycles;
	char reason[512];
	bool told_unstable; /* it is in the reason */
	_Atomic uint64_t threads, coarse, switches, wrapped;
} clocks;

static const _Atomic uint64_t never_moves;

static void add(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed); /* a count */
}

/* -- the thread's CPU clock ----------------------------------------------------------------- */

/* CPU time of the calling thread, and the TSC at that moment: as good as a few attempts give. */
static uint64_t cpu_time(uint64_t *tsc)
{
	uint64_t best_width = UINT64_MAX, best_ns = 0;

	for (unsigned i = 0; i < CPU_TRIES && best_width > clocks.narrow_cycles; i++) {
		struct timespec t = { 0 };
		uint64_t before = __rdtsc(), width;

		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		width = __rdtsc() - before;
		if (width < best_width) {
			best_width = width;
			best_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
			*tsc = before + width / 2;
		}
	}
	return best_ns;
}

static uint64_t rusage_switches(void)
{
	struct rusage r = { 0 };

	getrusage(RUSAGE_THREAD, &r);
	return (uint64_t)r.ru_nvcsw + (uint64_t)r.ru_nivcsw;
}

static uint64_t get(const _Atomic uint64_t *own)
{
	return atomic_load_explicit(own, memory_order_relaxed);
}

static void set_checkpoint(struct lc_cycle_source *s, uint64_t cpu_ns, uint64_t value)
{
	atomic_store_explicit(&s->cpu_ns, cpu_ns, memory_order_relaxed);
	atomic_store_explicit(&s->cpu_value, value, memory_order_release); /* C1 */
}

/*
 * The clock goes on from `value` with the CPU time since the last checkpoint, and this is the next.
 */
static void take_cpu_time(struct lc_cycle_clock *c)
{
	struct lc_cycle_source *s = c->source;
	uint64_t tsc, cpu = cpu_time(&tsc);
	const uint64_t value = get(&s->cpu_value) + lc_cycles_of_ns(cpu - get(&s->cpu_ns));

	s->cpu_tsc = tsc;
	set_checkpoint(s, cpu, value);
	c->off = tsc - value;
}

static void take_rusage_switches(struct lc_cycle_clock *c)
{
	uint64_t now = rusage_switches() - c->source->rusage_switches;

	add(&clocks.switches, now - c->switches);
	c->switches = now;
}

static void checkpoint(struct lc_cycle_clock *c)
{
	struct lc_cycle_source *s = c->source;
	const uint64_t cpu = cpu_time(&s->cpu_tsc);

	set_checkpoint(s, cpu, s->cpu_tsc - c->off);
}

/* -- coarse --------------------------------------------------------------------------------- */

static void become_coarse(struct lc_cycle_clock *c, uint64_t value)
{
	struct lc_cycle_source *s = c->source;
	const uint64_t cpu = cpu_time(&s->cpu_tsc);

	set_checkpoint(s, cpu, value);
	atomic_store_explicit(&s->kind, LC_CYCLES_TSC_COARSE, memory_order_release); /* C2 */
	s->rusage_switches = rusage_switches() - c->switches;
	c->head = &never_moves;
	c->seen = 0;
	c->counter = 0;
	c->off = s->cpu_tsc - value;
	c->check = s->cpu_tsc + clocks.coarse_cycles;
}

static uint64_t read_coarse(struct lc_cycle_clock *c, uint64_t *tsc)
{
	take_cpu_time(c);
	take_rusage_switches(c);
	*tsc = __rdtsc();
	c->check = *tsc + clocks.coarse_cycles;
	return *tsc - c->off;
}

/* -- switches ------------------------------------------------------------------------------- */

static uint64_t load_head(const struct lc_cycle_clock *c)
{
	return atomic_load_explicit(c->head,
	                            memory_order_acquire); /* records before it are there */
}

/* Take the records up to `head` into account. */
static void take_records(struct lc_cycle_clock *c, uint64_t head)
{
	struct lc_cycle_source *s = c->source;
	struct lc_cycles_switches now = { .out_ns = s->switches.out_ns };
	const uint64_t size = (uint64_t)DATA_PAGES * clocks.page;
	const uint64_t off = c->off, seen = c->seen;

	if (head - c->seen <= size)
		lc_cycles_switches_read((const uint8_t *)s->map + clocks.page, size, c->seen, head,
		                        &now);
	/* The records are valid only if they were not overwritten meanwhile. */
	if (load_head(c) - c->seen <= size) {
		c->off += lc_cycles_of_ns(now.off_ns);
		s->switches.out_ns = now.out_ns;
		c->seen = head;
	} else {
		s->switches.out_ns = 0;
		do {
			c->seen = load_head(c);
			take_cpu_time(c);
		} while (load_head(c) != c->seen);
		if ((int64_t)(c->off - off) < 0)
			c->off = off; /* it cannot have run longer than time has passed */
		now.outs = (c->seen - seen) / LC_CYCLES_RECORD_BYTES / 2;
		add(&clocks.wrapped, 1);
	}
	c->switches += now.outs;
	add(&clocks.switches, now.outs);
}

static uint64_t read_switches(struct lc_cycle_clock *c, uint64_t *tsc)
{
	const bool due = __rdtsc() - c->source->cpu_tsc > clocks.checkpoint_cycles;
	uint64_t head;

	do {
		head = load_head(c);
		if (head != c->seen)
			take_records(c, head);
		if (due)
			checkpoint(c); /* again, if the thread was switched just now */
		*tsc = __rdtsc();
		atomic_signal_fence(memory_order_seq_cst);
	} while (load_head(c) != c->seen);
	return *tsc - c->off;
}

/*
 * Open an event on the calling thread and map `pages` behind its first page. Returns 0 or -errno.
 */
static int open_event(struct perf_event_attr *attr, size_t pages, struct lc_cycle_source *s)
{
	const size_t bytes = (pages + 1) * clocks.page;
	int fd;
	void *map;

	attr->size = sizeof(*attr);
	fd = (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		int err = errno == EPERM ? -EMLINK : -errno;

		close(fd);
		return err;
	}
	s->fd = fd;
	s->map = map;
	s->map_bytes = bytes;
	return 0;
}

static int open_switches(struct lc_cycle_source *s)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.context_switch = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int err = open_event(&attr, DATA_PAGES, s);

	if (err)
		return err;
	close(s->fd);
	s->fd = -1;
	return 0;
}

static void begin_switches(struct lc_cycle_clock *c)
{
	const struct perf_event_mmap_page *page = c->source->map;

	c->head = (const _Atomic uint64_t *)(const void *)&page->data_head;
	c->off = 0;
	do {
		c->seen = load_head(c);
		checkpoint(c);
	} while (load_head(c) != c->seen);
}

/* -- young ---------------------------------------------------------------------------------- */

/* Take switches since the last reading into account. */
static void settle_young(struct lc_cycle_clock *c)
{
	struct lc_cycle_source *s = c->source;
	uint64_t now = rusage_switches() - s->rusage_switches;

	if (now == c->switches)
		return;
	do {
		now = rusage_switches() - s->rusage_switches;
		add(&clocks.switches, now - c->switches);
		c->switches = now;
		take_cpu_time(c);
		/* It holds what the readings since the last checkpoint have cost. */
		c->off += s->young_cost;
		set_checkpoint(s, get(&s->cpu_ns), get(&s->cpu_value) - s->young_cost);
		s->young_cost = 0;
	} while (rusage_switches() - s->rusage_switches != now);
}

/* Leave the CPU time since `*from_ns` out of the clock, and set a checkpoint. */
static void leave_out(struct lc_cycle_clock *c, uint64_t *from_ns)
{
	struct lc_cycle_source *s = c->source;
	const uint64_t cpu = cpu_time(&s->cpu_tsc);

	c->off += lc_cycles_of_ns(cpu - *from_ns);
	*from_ns = cpu;
	set_checkpoint(s, cpu, s->cpu_tsc - c->off);
}

/*
 * Switch to the records. If they cannot be opened, the clock becomes a coarse one. The thread may
 * be switched meanwhile, so only its CPU clock knows the cost of this.
 */
static void grow_up(struct lc_cycle_clock *c)
{
	struct lc_cycle_source *s = c->source;
	const struct perf_event_mmap_page *page;
	uint64_t unused, from_ns = cpu_time(&unused);

	if (open_switches(s)) {
		settle_young(c);
		leave_out(c, &from_ns);
		add(&clocks.coarse, 1);
		become_coarse(c, s->cpu_tsc - c->off);
		return;
	}
	page = s->map;
	c->check = UINT64_MAX;
	c->head = (const _Atomic uint64_t *)(const void *)&page->data_head;
	do {
		c->seen = load_head(c);
		settle_young(c);
		leave_out(c, &from_ns);
	} while (load_head(c) != c->seen);
}

/* *tsc: when the reading began. */
static uint64_t read_young(struct lc_cycle_clock *c, uint64_t *tsc)
{
	struct lc_cycle_source *s = c->source;
	const uint64_t begin = *tsc;
	uint64_t cost;

	if (s->young_readings++ == YOUNG_READINGS) {
		grow_up(c);
		return lc_cycles_read_slowly(c, tsc);
	}
	settle_young(c);
	*tsc = __rdtsc();
	cost = *tsc - begin;
	if (cost < 2 * clocks.narrow_cycles) {
		s->young_cost += cost;
	} else {
		/*
		 * The thread was switched meanwhile. That is no CPU time, which settle_young() may
		 * have taken off already.
		 */
		cost = s->cpu_tsc > begin ? *tsc - s->cpu_tsc : cost;
	}
	c->off += cost;
	return *tsc - c->off;
}

/* -- rdpmc ---------------------------------------------------------------------------------- */

static int open_counter(struct lc_cycle_source *s, bool user_only)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_REF_CPU_CYCLES,
		.pinned = 1, /* it shares its counter with nobody */
		.exclude_kernel = user_only,
		.exclude_hv = 1,
	};

	return open_event(&attr, 0, s);
}

static uint64_t read_counter(struct lc_cycle_clock *c, uint64_t *tsc)
{
	struct lc_cycle_source *s = c->source;
	struct lc_cycles_page now;
	uint64_t count = s->base;

	if (lc_cycles_page_read(s->map, s->rdpmc, &now) && now.counter) {
		c->seen = now.word;
		c->counter = now.counter;
		c->shift = now.shift;
		c->off = s->base - now.offset;
		take_rusage_switches(c);
		*tsc = __rdtsc();
		return now.count - s->base;
	}
	/* Somebody has taken the counter away. */
	if (read(s->fd, &count, sizeof(count)) != sizeof(count) || count < s->base)
		count = s->base;
	add(&clocks.coarse, 1);
	become_coarse(c, count - s->base);
	*tsc = __rdtsc();
	return *tsc - c->off;
}

static bool begin_counter(struct lc_cycle_clock *c)
{
	struct lc_cycle_source *s = c->source;
	struct lc_cycles_page now;

	if (!lc_cycles_page_read(s->map, s->rdpmc, &now) || !now.counter)
		return false;
	s->base = now.count;
	s->rusage_switches = rusage_switches();
	c->head = lc_cycles_page_word(s->map);
	c->seen = ~now.word; /* the first reading takes the rest from the page */
	c->check = UINT64_MAX;
	return true;
}

/* -- any ------------------------------------------------------------------------------------ */

uint64_t lc_cycles_read_slowly(struct lc_cycle_clock *c, uint64_t *tsc)
{
	switch (atomic_load_explicit(&c->source->kind, memory_order_relaxed)) { /* ours */
	case LC_CYCLES_RDPMC:
		return read_counter(c, tsc);
	case LC_CYCLES_TSC_SWITCHES:
		return c->check ? read_switches(c, tsc) : read_young(c, tsc);
	default:
		return read_coarse(c, tsc);
	}
}

static void release(struct lc_cycle_source *s)
{
	if (s->map_bytes)
		munmap(s->map, s->map_bytes);
	if (s->fd >= 0)
		close(s->fd);
	s->map = NULL;
	s->fd = -1;
}

static bool open_kind(struct lc_cycle_clock *c, enum lc_cycles_kind kind, int *err)
{
	struct lc_cycle_source *s = c->source;

	atomic_store_explicit(&s->kind, kind, memory_order_relaxed); /* nobody else knows it yet */
	c->check = UINT64_MAX;
	*err = kind == LC_CYCLES_RDPMC ? open_counter(s, clocks.user_only) : open_switches(s);
	if (*err)
		return false;
	if (kind == LC_CYCLES_RDPMC) {
		if (begin_counter(c))
			return true;
		*err = -EOPNOTSUPP;
		release(s);
		return false;
	}
	begin_switches(c);
	return true;
}

static int make(struct lc_cycle_clock *c)
{
	*c = (struct lc_cycle_clock){ .source = calloc(1, sizeof(*c->source)) };
	if (!c->source)
		return -ENOMEM;
	c->source->fd = -1;
	c->source->rdpmc = lc_cycles_rdpmc;
	return 0;
}

int lc_cycles_open_page(struct lc_cycle_clock *c, struct perf_event_mmap_page *page,
                        uint64_t (*rdpmc)(uint32_t))
{
	int err = make(c);

	if (err)
		return err;
	atomic_store_explicit(&c->source->kind, LC_CYCLES_RDPMC, memory_order_relaxed);
	c->source->rdpmc = rdpmc;
	c->source->map = page;
	return begin_counter(c) ? 0 : -EOPNOTSUPP;
}

int lc_cycles_open(struct lc_cycle_clock *c)
{
	int err = make(c), unused;

	if (err)
		return err;
	add(&clocks.threads, 1);
	if (clocks.kind != LC_CYCLES_TSC_COARSE && open_kind(c, clocks.kind, &unused))
		return 0;
	if (clocks.kind != LC_CYCLES_TSC_COARSE)
		add(&clocks.coarse, 1);
	become_coarse(c, 0);
	return 0;
}

int lc_cycles_open_young(struct lc_cycle_clock *c)
{
	int err;

	if (clocks.kind != LC_CYCLES_TSC_SWITCHES)
		return lc_cycles_open(c);
	err = make(c);
	if (err)
		return err;
	add(&clocks.threads, 1);
	atomic_store_explicit(&c->source->kind, LC_CYCLES_TSC_SWITCHES,
	                      memory_order_relaxed); /* nobody else knows it yet */
	c->head = &never_moves;
	c->source->rusage_switches = rusage_switches();
	c->off = __rdtsc();
	checkpoint(c);
	return 0;
}

void lc_cycles_close(struct lc_cycle_clock *c)
{
	struct lc_cycle_source *source = c->source;

	if (!source)
		return;
	*c = (struct lc_cycle_clock){ 0 };
	/* A handler of this thread may look at c->head. */
	atomic_signal_fence(memory_order_seq_cst);
	release(source);
	free(source);
}

/* -- which one ------------------------------------------------------------------------------ */

static __attribute__((format(printf, 1, 2))) void because(const char *format, ...)
{
	size_t len = strlen(clocks.reason);
	va_list args;

	if (len)
		len += (size_t)snprintf(clocks.reason + len, sizeof(clocks.reason) - len, "; ");
	if (len >= sizeof(clocks.reason))
		return;
	va_start(args, format);
	vsnprintf(clocks.reason + len, sizeof(clocks.reason) - len, format, args);
	va_end(args);
}

static void explain(const char *what, int err)
{
	char text[256] = "";

	lc_perf_explain(err, "", text, sizeof(text));
	because("%s: %s", what, text);
}

/* Does the counter count as fast as the TSC? */
static bool probe_counter(void)
{
	struct lc_cycle_clock c;
	uint64_t begin, tsc_begin, end, tsc_end;
	bool ok;
	int err = make(&c);

	if (err)
		return false;
	clocks.user_only = false;
	ok = open_kind(&c, LC_CYCLES_RDPMC, &err);
	if (!ok && (err == -EACCES || err == -EPERM)) {
		clocks.user_only = true;
		ok = open_kind(&c, LC_CYCLES_RDPMC, &err);
	}
	if (!ok) {
		explain("no reference-cycle counter is readable by programs", err);
		lc_cycles_close(&c);
		return false;
	}
	begin = lc_cycles_read(&c, &tsc_begin);
	do
		end = lc_cycles_read(&c, &tsc_end);
	while (tsc_end - tsc_begin < lc_cycles_of_ns(PROBE_MS * UINT64_C(1000000)));
	/* Preempted meanwhile it counts less; a frequency that is another one is further off. */
	ok = end - begin > (tsc_end - tsc_begin) / 4 &&
	     end - begin < (tsc_end - tsc_begin) + (tsc_end - tsc_begin) / 20 &&
	     atomic_load_explicit(&c.source->kind, memory_order_relaxed) == LC_CYCLES_RDPMC;
	if (!ok)
		because("the reference-cycle counter does not count as the TSC does");
	else if (clocks.user_only)
		because("without the kernel's cycles, which perf_event_paranoid hides");
	lc_cycles_close(&c);
	return ok;
}

static bool probe_switches(void)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	struct lc_cycle_clock c;
	uint64_t before;
	int err = make(&c);
	bool ok;

	if (err)
		return false;
	ok = open_kind(&c, LC_CYCLES_TSC_SWITCHES, &err);
	if (!ok) {
		explain("no records of context switches", err);
	} else {
		before = c.seen;
		nanosleep(&moment, NULL);
		ok = load_head(&c) - before >= 2 * LC_CYCLES_RECORD_BYTES;
		if (!ok)
			because("the kernel writes no records of context switches");
	}
	lc_cycles_close(&c);
	return ok;
}

static enum lc_cycles_kind choose(unsigned wanted)
{
	if (wanted != LC_CYCLES_TSC_SWITCHES && wanted != LC_CYCLES_TSC_COARSE && probe_counter())
		return LC_CYCLES_RDPMC;
	if (wanted == LC_CYCLES_TSC_SWITCHES)
		because("asked for");
	if (wanted != LC_CYCLES_TSC_COARSE && probe_switches())
		return LC_CYCLES_TSC_SWITCHES;
	if (wanted == LC_CYCLES_TSC_COARSE)
		because("asked for");
	return LC_CYCLES_TSC_COARSE;
}

int lc_cycles_init(unsigned wanted)
{
	int err = lc_cycles_rate_init();

	if (err)
		return err;
	clocks.page = (size_t)sysconf(_SC_PAGESIZE);
	clocks.coarse_cycles = lc_cycles_of_ns(LC_CYCLES_COARSE_NS);
	clocks.checkpoint_cycles = lc_cycles_of_ns(CHECKPOINT_NS);
	clocks.narrow_cycles = lc_cycles_of_ns(NARROW_NS);
	clocks.reason[0] = '\0';
	clocks.told_unstable = false;
	clocks.kind = choose(wanted);
	if (!lc_cycles_tsc_invariant())
		because("the CPU does not guarantee a constant TSC rate");
	/* The attempts are none of the program's threads. */
	atomic_store_explicit(&clocks.switches, 0, memory_order_relaxed);
	return 0;
}

enum lc_cycles_kind lc_cycles_kind(void)
{
	return clocks.kind;
}

uint64_t lc_cycles_hz(void)
{
	return lc_cycles_tsc_hz();
}

const char *lc_cycles_reason(void)
{
	if (lc_cycles_rate_unstable() && !clocks.told_unstable) {
		clocks.told_unstable = true;
		because("the TSC's rate has changed while the program ran");
	}
	return clocks.reason[0] ? clocks.reason : NULL;
}

static const struct lc_counter counters[] = {
	LC_COUNTER("span_clocks", &clocks.threads), /* opened */
	/* Without the buffer or counter of their kind. */
	LC_COUNTER("span_clocks_coarse", &clocks.coarse),
	LC_COUNTER("span_clock_switches", &clocks.switches), /* off the CPU, that were seen */
	/* Buffers overwritten before a reading. */
	LC_COUNTER("span_clock_wrapped", &clocks.wrapped),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters), .begin = lc_counters_with_spans);
