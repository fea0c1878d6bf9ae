/* uses: src/core/memory.c src/gc/copy_log.c src/jvm/os/peek.c tests/unit/imports_model.c src/gc/move_log.c src/base/say.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_moves.c - measures what the log of copies costs: a copy beside the log, and a copy into it.
 * CPU time; each number is the best of several runs, since other work on the machine only adds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/gc/copy_log.h"
#include "tests/unit/imports_model.h"

enum { ROUNDS = 15, CALLS = 500000, HEAP = 8 << 20, CHUNKS = 1024 };

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ns per call of `f`, copying `n` bytes; `f` is what the caller of memcpy would reach. */
static double time_calls(void *(*volatile f)(void *, const void *, size_t), unsigned char *heap,
                         size_t n)
{
	double start = now_ns();

	for (size_t i = 0; i < CALLS; i++) {
		if (i % (LC_COPY_CHUNK_CAP * (size_t)CHUNKS) == 0) {
			atomic_store(&lc_copy_log.fresh, 0);
			atomic_store(&lc_copy_log.head, 0);
			atomic_fetch_add(&lc_copy_log.generation, 1);
		}
		f(heap + HEAP / 2 + (i & 15) * 4096, heap + (i & 15) * 4096, n);
	}
	return (now_ns() - start) / CALLS;
}

static void compare_calls(const char *what, bool log, unsigned char *heap, size_t n)
{
	double plain = 1e9, ours = 1e9, t;

	for (size_t i = 0; i < ROUNDS; i++) {
		lc_copy_log_arm(false);
		t = time_calls(memmove, heap, n);
		plain = t < plain ? t : plain;
		lc_copy_log_arm(log);
		t = time_calls(model_memcpy, heap, n);
		ours = t < ours ? t : ours;
	}
	lc_copy_log_arm(false);
	printf("%-20s %5zu bytes: libc %6.2f ns, through the log %+6.2f ns\n", what, n, plain,
	       ours - plain);
}

int main(void)
{
	static uint32_t links[CHUNKS];
	unsigned char *heap = calloc(1, HEAP);
	struct lc_copy_chunk *chunks = calloc(CHUNKS, sizeof(*chunks));

	if (!heap || !chunks || lc_copy_log_init())
		return 1;
	memset(chunks, 1, CHUNKS * sizeof(*chunks)); /* the kernel's work is not the question */
	lc_copy_log.low = (uintptr_t)heap;
	lc_copy_log.span = HEAP;
	lc_copy_log.min_bytes = 1024;
	lc_copy_log.chunks = chunks;
	lc_copy_log.link = links;
	lc_copy_log.chunks_len = CHUNKS;
	compare_calls("closed", false, heap, 16);
	compare_calls("closed", false, heap, 1500);
	compare_calls("open, below min-size", true, heap, 128);
	compare_calls("open, logged", true, heap, 1500);
	free(chunks);
	free(heap);
	return 0;
}
