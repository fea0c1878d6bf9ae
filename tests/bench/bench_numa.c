/* uses: src/numa/pages.c -lnuma */
/*
 * bench_numa.c - what finding the owners of pages costs the attribution thread: asked of the
 * kernel in batches, and remembered. CPU time; each number is the best of several runs, since other
 * work on the machine only adds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "numa/pages.h"

enum { ROUNDS = 15, PAGES = 1 << 15, STRIDE = 7919 };

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ns per page, in the order of samples: all over the place. */
static double time_pages(struct lc_pages *p, uint32_t generation, struct lc_pages_query *q)
{
	double start = now_ns();

	if (lc_pages_resolve(p, generation, q, PAGES)) {
		printf("%s\n", lc_pages_error(p));
		exit(0);
	}
	return (now_ns() - start) / PAGES;
}

static void measure(const char *what, int advice)
{
	const size_t bytes = (size_t)PAGES << LC_PAGE_SHIFT;
	char *memory =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct lc_pages_query *q = calloc(PAGES, sizeof(*q));
	struct lc_pages *p = lc_pages_create(lc_pages_ask_kernel, PAGES * 4);
	double asked = 1e9, kept = 1e9;

	if (memory == MAP_FAILED || !q || !p)
		exit(1);
	madvise(memory, bytes, advice);
	memset(memory, 1, bytes);
	for (size_t i = 0; i < PAGES; i++)
		q[i].addr = (uintptr_t)memory + ((i * STRIDE % PAGES) << LC_PAGE_SHIFT);
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		double t = time_pages(p, i, q);

		asked = t < asked ? t : asked;
		t = time_pages(p, i, q);
		kept = t < kept ? t : kept;
	}
	printf("owners of %-13s asked %7.1f ns per page, %9.0f pages per second; remembered %5.1f "
	       "ns\n",
	       what, asked, 1e9 / asked, kept);
	lc_pages_destroy(p);
	free(q);
	munmap(memory, bytes);
}

int main(void)
{
	measure("small pages:", MADV_NOHUGEPAGE);
	measure("huge pages:", MADV_HUGEPAGE);
	return 0;
}
