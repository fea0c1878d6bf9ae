/* uses: */
/*
 * bench_moves.c - measures what the interposer costs: a copy beside the log, and a copy into it.
 * CPU time; each number is the best of several runs, since other work on the machine only adds.
 */
#include "src/preload/copies.c"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 15, CALLS = 500000, HEAP = 8 << 20, CHUNKS = 1024 };

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ns per call of `f`, copying `n` bytes; `f` is what the caller of memcpy would reach. */
static double time_calls(copy_fn *volatile f, unsigned char *heap, size_t n)
{
	double start = now_ns();

	for (size_t i = 0; i < CALLS; i++) {
		if (i % (LC_COPY_CHUNK_CAP * (size_t)CHUNKS) == 0) {
			atomic_store(&lc_preload_v1.fresh, 0);
			atomic_store(&lc_preload_v1.head, 0);
			atomic_fetch_add(&lc_preload_v1.generation, 1);
		}
		f(heap + HEAP / 2 + (i & 15) * 4096, heap + (i & 15) * 4096, n);
	}
	return (now_ns() - start) / CALLS;
}

static void compare_calls(const char *what, bool log, unsigned char *heap, size_t n)
{
	double plain = 1e9, ours = 1e9, t;

	for (size_t i = 0; i < ROUNDS; i++) {
		arm(false);
		t = time_calls(libc_move, heap, n);
		plain = t < plain ? t : plain;
		arm(log);
		t = time_calls(memcpy, heap, n);
		ours = t < ours ? t : ours;
	}
	arm(false);
	printf("%-20s %5zu bytes: libc %6.2f ns, with the interposer %+6.2f ns\n", what, n, plain,
	       ours - plain);
}

int main(void)
{
	static uint32_t links[CHUNKS];
	unsigned char *heap = calloc(1, HEAP);
	struct lc_copy_chunk *chunks = calloc(CHUNKS, sizeof(*chunks));

	if (!heap || !chunks)
		return 1;
	memset(chunks, 1, CHUNKS * sizeof(*chunks)); /* the kernel's work is not the question */
	lc_preload_v1.low = (uintptr_t)heap;
	lc_preload_v1.span = HEAP;
	lc_preload_v1.min_bytes = 1024;
	lc_preload_v1.chunks = chunks;
	lc_preload_v1.link = links;
	lc_preload_v1.chunks_len = CHUNKS;
	compare_calls("closed", false, heap, 16);
	compare_calls("closed", false, heap, 1500);
	compare_calls("open, below min-size", true, heap, 128);
	compare_calls("open, logged", true, heap, 1500);
	free(chunks);
	free(heap);
	return 0;
}
