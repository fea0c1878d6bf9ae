/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/os/thread_cpu.c - reads the CPU clocks of threads that have no record.
 *
 * A list of threads takes time in proportion to their number. So after a list has taken t of CPU
 * time, the next is not made before LIST_REST times t have passed, unless the program ends. A
 * thread of the JVM that starts and ends between two lists is counted as the program's.
 *
 * The JVM ends G1's concurrent threads before it announces its own end. So their CPU time between
 * the last look and their end also counts as the program's.
 *
 * Order: `own` and `pauses` are sums to which any thread adds. Thread-local data belongs to its
 * thread. All else is the attribution thread's, after lc_thread_cpu_start().
 */
#include "src/jvm/os/thread_cpu.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "src/base/limit.h"
#include "src/base/time.h"
#include "src/base/vector.h"
#include "src/core/counters.h"
#include "src/core/own_cost.h"
#include "src/core/thread.h"
#include "src/jvm/os/thread_kind.h"

#define OWN __thread __attribute__((tls_model("initial-exec")))

enum {
	NAME_BYTES = 16,  /* of the kernel's names, with the 0 */
	LIST_REST = 4000, /* so lists take 0.025% of the time */
	NEW_LISTS = 3,    /* lists in which a thread may still get its name */
	KIND_UNKNOWN = LC_THREAD_KINDS
};

/* A thread without a record. */
struct known {
	int32_t tid;
	enum lc_thread_kind kind;
	unsigned lists; /* that it was in */
	uint64_t ns;    /* its clock when it was last read */
};

static struct {
	/* By kind. Written by: any thread. */
	_Atomic uint64_t own[LC_THREAD_KINDS];
	_Atomic uint64_t pauses[LC_THREAD_KINDS]; /* CPU time of threads in pauses */
	_Atomic uint64_t pauses_len, pauses_ns;   /* on the clock on the wall */

	struct lc_vector known;           /* of struct known, by tid */
	struct lc_vector listed, records; /* of int32_t, sorted */
	uint64_t ended[LC_THREAD_KINDS];  /* used by threads that have ended */
	uint64_t before[LC_THREAD_KINDS]; /* used before the start */
	uint64_t process_before_ns;
	uint64_t faults_before; /* major ones, before the start */
	uint64_t process_ns;    /* at the last look */
	uint64_t next_list_ns;
	uint64_t looks_ns; /* CPU time of all looks */
	bool incomplete;   /* the last list, or the names in it */
} cpu = {
	.known = { .element_bytes = sizeof(struct known) },
	.listed = { .element_bytes = sizeof(int32_t) },
	.records = { .element_bytes = sizeof(int32_t) },
};

static OWN uint64_t pause_cpu_ns, pause_wall_ns; /* when its pause began */
static OWN unsigned own_kind = KIND_UNKNOWN;

/* -- on the threads themselves -------------------------------------------------------------- */

static enum lc_thread_kind kind_of_self(void)
{
	char name[NAME_BYTES + 1] = { 0 };

	if (lc_thread_self())
		return LC_THREAD_PROGRAM;
	if (own_kind == KIND_UNKNOWN)
		own_kind = prctl(PR_GET_NAME, name) ? LC_THREAD_PROGRAM : lc_thread_kind(name);
	return (enum lc_thread_kind)own_kind;
}

void lc_thread_cpu_pause_begin(void)
{
	pause_wall_ns = lc_time_now_ns();
	pause_cpu_ns = lc_own_cost_clock();
}

void lc_thread_cpu_pause_end(void)
{
	if (!pause_wall_ns)
		return; /* it began before the agent was there */
	atomic_fetch_add_explicit(&cpu.pauses[kind_of_self()], lc_own_cost_clock() - pause_cpu_ns,
	                          memory_order_relaxed);
	atomic_fetch_add_explicit(&cpu.pauses_ns, lc_time_now_ns() - pause_wall_ns,
	                          memory_order_relaxed);
	lc_count(&cpu.pauses_len);
	pause_wall_ns = 0;
}

void lc_thread_cpu_own(uint64_t ns)
{
	atomic_fetch_add_explicit(&cpu.own[kind_of_self()], ns, memory_order_relaxed);
}

/* -- looking at them ------------------------------------------------------------------------ */

static int by_number(const void *a, const void *b)
{
	const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

static bool has(const struct lc_vector *sorted, int32_t tid)
{
	return sorted->len &&
	       bsearch(&tid, sorted->data, sorted->len, sorted->element_bytes, by_number);
}

static bool read_clock(int32_t tid, uint64_t *ns)
{
	struct timespec t;

	if (clock_gettime(lc_time_thread_clock(tid), &t))
		return false;
	*ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	return true;
}

/* Could it have been read, had there been a descriptor or memory? */
static bool is_refused(void)
{
	return errno != ENOENT && errno != ESRCH;
}

static enum lc_thread_kind read_kind(int32_t tid)
{
	char path[64], name[NAME_BYTES + 1] = { 0 };
	int file;
	ssize_t n = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", (int)tid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file >= 0)
		n = read(file, name, NAME_BYTES);
	if (file < 0 || n < 0)
		cpu.incomplete |= is_refused();
	if (file >= 0)
		close(file);
	name[n > 0 ? n : 0] = '\0';
	return lc_thread_kind(name);
}

/* A record of a JVMCI compiler thread counts as the JVM's, though the thread runs Java code. */
static bool is_program(const struct lc_thread *t)
{
	return strncmp(t->name, "JVMCI", strlen("JVMCI")) != 0 ||
	       lc_thread_kind(t->name) != LC_THREAD_JIT;
}

static bool list_records(void)
{
	cpu.records.len = 0;
	for (const struct lc_thread *t = lc_threads_walk(); t; t = t->next)
		if (!atomic_load_explicit(&t->ended, memory_order_acquire) && is_program(t) &&
		    lc_vector_push(&cpu.records, &t->tid))
			return false;
	if (cpu.records.len)
		qsort(cpu.records.data, cpu.records.len, sizeof(int32_t), by_number);
	return true;
}

static bool list_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *entry;
	bool ok = dir != NULL;

	cpu.listed.len = 0;
	while (ok && (entry = readdir(dir))) {
		const int32_t tid = (int32_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && !lc_thread_tid_is_ours(tid) && !has(&cpu.records, tid))
			ok = !lc_vector_push(&cpu.listed, &tid);
	}
	if (dir)
		closedir(dir);
	if (ok && cpu.listed.len)
		qsort(cpu.listed.data, cpu.listed.len, sizeof(int32_t), by_number);
	return ok;
}

static struct known *known_at(size_t i)
{
	return (struct known *)cpu.known.data + i;
}

static void end(struct known *k)
{
	cpu.ended[k->kind] += k->ns;
	k->ns = 0;
}

/* Threads that are not listed any more have ended. */
static void forget_ended(void)
{
	size_t kept = 0;

	for (size_t i = 0; i < cpu.known.len; i++) {
		if (has(&cpu.listed, known_at(i)->tid))
			*known_at(kept++) = *known_at(i);
		else
			end(known_at(i));
	}
	cpu.known.len = kept;
}

static void add_new(void)
{
	const size_t before = cpu.known.len;

	for (size_t i = 0, at = 0; i < cpu.listed.len; i++) {
		struct known k = { .tid = ((const int32_t *)cpu.listed.data)[i] };

		while (at < before && known_at(at)->tid < k.tid)
			at++;
		if (at < before && known_at(at)->tid == k.tid)
			continue;
		if (lc_vector_push(&cpu.known, &k))
			break; /* the next time */
	}
	if (cpu.known.len)
		qsort(cpu.known.data, cpu.known.len, sizeof(struct known), by_number);
}

/* A thread has the name of the one that started it until it gives itself one. */
static void name_new(void)
{
	for (size_t i = 0; i < cpu.known.len; i++) {
		struct known *k = known_at(i);

		if (k->kind == LC_THREAD_PROGRAM && k->lists < NEW_LISTS)
			k->kind = read_kind(k->tid);
		k->lists++;
	}
}

static void list(void)
{
	/* Records first: a thread whose record is made meanwhile has none here, and its name
	 * counts. */
	cpu.incomplete = !list_records() || !list_threads();
	if (cpu.incomplete)
		return;
	forget_ended();
	add_new();
	name_new();
}

static void read_clocks(void)
{
	for (size_t i = 0; i < cpu.known.len; i++) {
		struct known *k = known_at(i);
		uint64_t ns;

		if (k->kind == LC_THREAD_PROGRAM || !read_clock(k->tid, &ns))
			continue;
		if (ns >= k->ns) {
			k->ns = ns;
			continue;
		}
		end(k); /* its number is another thread's now */
		k->kind = LC_THREAD_PROGRAM;
		k->lists = 0;
	}
}

void lc_thread_cpu_look(bool last)
{
	const uint64_t begin_ns = lc_own_cost_clock(), now_ns = lc_time_now_ns();

	if (lc_own_cost_ended()) { /* the other threads' time counts no more */
		cpu.process_ns = lc_own_cost_process();
		return;
	}
	if (last || now_ns >= cpu.next_list_ns) {
		list();
		cpu.next_list_ns = now_ns + LIST_REST * (lc_own_cost_clock() - begin_ns);
	}
	/* The process last, so that it has used no less than its threads. */
	read_clocks();
	cpu.process_ns = lc_own_cost_process();
	cpu.looks_ns += lc_own_cost_clock() - begin_ns;
}

/* -- sums ----------------------------------------------------------------------------------- */

static uint64_t used(enum lc_thread_kind kind)
{
	uint64_t ns = cpu.ended[kind];

	for (size_t i = 0; i < cpu.known.len; i++)
		if (known_at(i)->kind == kind)
			ns += known_at(i)->ns;
	return ns;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Page faults of the process that waited for a disk. */
static uint64_t major_faults(void)
{
	struct rusage use;

	return getrusage(RUSAGE_SELF, &use) ? 0 : (uint64_t)use.ru_majflt;
}

void lc_thread_cpu_start(bool all)
{
	if (all)
		return;
	lc_thread_cpu_look(true);
	cpu.next_list_ns = 0;
	for (int kind = 0; kind < LC_THREAD_KINDS; kind++)
		cpu.before[kind] = used((enum lc_thread_kind)kind);
	cpu.process_before_ns = cpu.process_ns;
	cpu.faults_before = major_faults();
}

/* CPU time of the kind's threads since the start, without the agent's work in them. */
static uint64_t sum(enum lc_thread_kind kind)
{
	return less(used(kind), cpu.before[kind] + atomic_load(&cpu.own[kind]));
}

static void put_counters(struct lc_counters *out)
{
	const uint64_t vm = atomic_load(&cpu.pauses[LC_THREAD_JVM]);
	/* The collector's work on a thread of the program, which no known collector does. */
	const uint64_t elsewhere =
	    atomic_load(&cpu.pauses[LC_THREAD_PROGRAM]) + atomic_load(&cpu.pauses[LC_THREAD_JIT]);
	const uint64_t jvm = sum(LC_THREAD_JVM);
	/* The VM Thread may be in a pause that began after its clock was read. */
	const uint64_t gc = (vm < jvm ? vm : jvm) + elsewhere;

	if (cpu.incomplete)
		(void)lc_limit_note("threads_unnamed",
		                    "cannot tell the JVM's own threads from the program's: their "
		                    "CPU time counts as the program's");
	lc_counters_put(out, "cpu_process_ns", less(cpu.process_ns, cpu.process_before_ns));
	lc_counters_put(out, "major_faults", less(major_faults(), cpu.faults_before));
	lc_counters_put(out, "cpu_jit_ns", sum(LC_THREAD_JIT));
	lc_counters_put(out, "cpu_gc_ns", sum(LC_THREAD_GC) + gc);
	lc_counters_put(out, "cpu_jvm_ns", less(jvm, vm));
	lc_counters_put(out, "gc_pauses", atomic_load(&cpu.pauses_len));
	lc_counters_put(out, "gc_pauses_ns", atomic_load(&cpu.pauses_ns));
	lc_counters_put(out, "own_threads_ns", cpu.looks_ns);
}

LC_COUNTER_TABLE(.put = put_counters);
