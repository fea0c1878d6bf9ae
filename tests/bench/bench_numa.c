/* uses: src/numa/numa.c src/base/say.c src/numa/topology.c src/numa/pages.c src/profile/tally.c tests/unit/event_root.c src/format/section.c -lnuma */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_numa.c - measures what finding the nodes of samples costs. The attribution thread asks the
 * kernel for the owners of pages in batches, and remembers them; a sample notes its CPU in the
 * signal handler, and is queued without a call of the kernel, which is counted here. CPU time;
 * medians of several runs, and the range in which the middle half of them lies.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "src/core/thread.h"
#include "src/numa/numa.h"
#include "src/numa/pages.h"
#include "src/profile/tally.h"
#include "tests/unit/event_root.h"

enum {
	ROUNDS = 25,
	PAGES = 1 << 15,
	STRIDE = 7919,
	SAMPLES = 4000, /* fit in the queue */
	GETCPUS = 100000,
};

static size_t calls; /* of the kernel, where it is counted */

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int order(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* ns, of ROUNDS runs; sorts them. */
static void report(const char *what, double *ns, bool rate)
{
	qsort(ns, ROUNDS, sizeof(*ns), order);
	printf("  %-50s %8.2f ns [%.2f .. %.2f]", what, ns[ROUNDS / 2], ns[ROUNDS / 4],
	       ns[3 * ROUNDS / 4]);
	if (rate)
		printf(", %.2f million in a second [%.2f .. %.2f]", 1e3 / ns[ROUNDS / 2],
		       1e3 / ns[3 * ROUNDS / 4], 1e3 / ns[ROUNDS / 4]);
	putchar('\n');
}

static void die(const char *what)
{
	fprintf(stderr, "bench_numa: %s failed\n", what);
	exit(1);
}

/* ---- owners of pages ---- */

/* ns per page, in the order of samples: all over the place. Negative: the kernel refuses. */
static double time_pages(struct lc_pages *p, uint32_t generation, struct lc_pages_query *q)
{
	double start = now_ns();

	if (lc_pages_resolve(p, generation, q, PAGES))
		return -1;
	return (now_ns() - start) / PAGES;
}

static void bench_pages(const char *what, int advice)
{
	const size_t bytes = (size_t)PAGES << LC_PAGE_SHIFT;
	char *memory =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct lc_pages_query *q = calloc(PAGES, sizeof(*q));
	struct lc_pages *p = lc_pages_create(lc_pages_ask_kernel, PAGES * 4);
	double asked[ROUNDS], kept[ROUNDS];
	char text[64];

	if (memory == MAP_FAILED || !q || !p)
		die("memory");
	madvise(memory, bytes, advice);
	memset(memory, 1, bytes);
	for (size_t i = 0; i < PAGES; i++)
		q[i].addr = (uintptr_t)memory + ((i * STRIDE % PAGES) << LC_PAGE_SHIFT);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		asked[i] = time_pages(p, i + 1, q);
		kept[i] = time_pages(p, i + 1, q);
	}
	if (lc_pages_error(p)) {
		printf("  %s: not measured, %s\n", what, lc_pages_error(p));
	} else {
		snprintf(text, sizeof(text), "move_pages, %d %s in a call: a page", LC_PAGES_BATCH,
		         what);
		report(text, asked, true);
		snprintf(text, sizeof(text), "owner of one of %s that is remembered", what);
		report(text, kept, false);
	}
	lc_pages_destroy(p);
	free(q);
	munmap(memory, bytes);
}

/* ---- samples ---- */

static int count_calls(size_t n, void **pages, int *status)
{
	calls++;
	memset(status, 0, n * sizeof(*status));
	return 0;
}

/* A machine of two nodes below a directory that is removed again, since this one may have one. */
static void begin_two_nodes(void)
{
	const char *root = root_make();

	root_put("sys/devices/system/node/online", "0-1");
	root_put_node(0, "0", 1024, "10 21");
	root_put_node(1, "1", 1024, "21 10");
	if (lc_numa_init(root, count_calls) != 1)
		die("a machine of two nodes");
	root_remove();
}

/* One round of samples in 512 pages; ns of each. */
static double queue_samples(struct lc_thread *t)
{
	struct lc_numa_access a = {
		.thread = t,
		.at = { .site = 1, .path = 1, .samples = 1, .pairs = lc_block_pairs(1) }
	};
	double start = now_ns();

	for (uint64_t i = 0; i < SAMPLES; i++) {
		a.addr = 0x700000000 + (i * STRIDE % 512 << LC_PAGE_SHIFT);
		a.cpu = i & 1;
		lc_numa_sample(&a);
	}
	return (now_ns() - start) / SAMPLES;
}

static void bench_samples(void)
{
	static struct lc_thread thread;
	double queued[ROUNDS], resolved[ROUNDS], off[ROUNDS], cpu[ROUNDS];
	volatile int sink = 0;
	size_t in_queue = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		double start = now_ns();

		for (unsigned k = 0; k < GETCPUS; k++)
			sink += sched_getcpu();
		cpu[i] = (now_ns() - start) / GETCPUS;
		off[i] = queue_samples(&thread);
	}
	begin_two_nodes();
	for (unsigned i = 0; i < ROUNDS; i++) {
		const size_t before = calls;
		double start;

		queued[i] = queue_samples(&thread);
		in_queue += calls - before;
		start = now_ns();
		lc_numa_resolve(i + 1, 0);
		resolved[i] = (now_ns() - start) / SAMPLES;
	}
	if (calls == 0)
		die("finding the owners of what was queued");
	report("in the signal handler: the sample's CPU", cpu, false);
	report("a sample queued, attribution thread", queued, false);
	printf("  %-50s %8zu in %d samples\n", "calls of the kernel while they were queued",
	       in_queue, ROUNDS * SAMPLES);
	report("a sample counted, but for the kernel's part", resolved, false);
	report("a sample where there is one node", off, false);
	lc_numa_end();
	lc_tally_destroy(thread.tally);
	lc_numa_thread_free(&thread);
	if (in_queue)
		die("queueing without the kernel");
}

int main(void)
{
	bench_pages("small pages", MADV_NOHUGEPAGE);
	bench_pages("parts of huge pages", MADV_HUGEPAGE);
	bench_samples();
	return 0;
}
