/* uses: src/heap/context.c src/heap/site_counters.c src/base/slab.c src/stack/place.c src/stack/words.c src/stack/walker.c src/core/jvmti.c src/stack/generated.c */
/*
 * bench_place.c - measures what it costs to recognise a place on the stack: ns per look-up of an
 * allocation's context, a stream's location and a task's place, which each have their own kind of
 * table. CPU time; each line is the best of several runs, since other work on the machine only
 * adds.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "src/heap/context.h"
#include "src/span/location.h"
#include "src/span/task_place.h"
#include "src/stack/generated.h"

#define CODE_LOW UINT64_C(0x7f0000000000)
#define CODE_HIGH UINT64_C(0x7f0000100000)
#define INTERPRETER_HIGH UINT64_C(0x7f0000010000)

enum { REPEATS = 15, LOOKUPS = 2000000, STACK_WORDS = 4096, PLACES = 64 };

static uint64_t stack[STACK_WORDS];

/* Places are read by guessed words here, whatever their kind. */
struct lc_frame_words lc_frames_words(const struct lc_native_frame *at, uint64_t end,
                                      unsigned frames_max, unsigned words_max, uint64_t *value,
                                      uint16_t *offset)
{
	(void)at;
	(void)end;
	(void)frames_max;
	(void)words_max;
	(void)value;
	(void)offset;
	return (struct lc_frame_words){ 0 };
}

static uint64_t address(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "bench_place: %s failed\n", what);
	exit(1);
}

/* `frames` return addresses, with four words of locals between them, from each of PLACES frames. */
static void lay_out(unsigned frames)
{
	for (unsigned i = 0; i < STACK_WORDS; i++)
		stack[i] = i % 5 == 2 && i / 5 < frames + PLACES ? INTERPRETER_HIGH + i * 16 : i;
	for (unsigned i = (frames + PLACES) * 5; i < STACK_WORDS; i++)
		stack[i] = i;
}

/* The hook's frame at place number `i`: at each, the stack above begins with a return address. */
static uint64_t frame(unsigned i)
{
	return address(stack) + (uint64_t)(i % PLACES) * 40;
}

static void report(const char *what, unsigned frames, double best)
{
	printf("  %-44s %2u words %8.2f ns\n", what, frames < 20 ? frames : 20, best / LOOKUPS);
}

static void bench_context(unsigned frames, unsigned places)
{
	const uint64_t end = address(stack) + (uint64_t)frames * 40;
	struct lc_contexts *c = NULL;
	double best = 1e18;
	uint64_t found = 0;

	lay_out(frames);
	if (lc_contexts_create(&c))
		die("the contexts");
	/* Until none pushes another out any more: the table grows meanwhile. */
	for (unsigned n = 0; n < 100 * places; n++) {
		unsigned i = n % places;

		if (!lc_contexts_find(c, frame(i), 7 + i, 0))
			lc_contexts_learn(c, frame(i), end + (uint64_t)i * 40, 7 + i, 0, 1 + i);
	}
	for (int r = 0; r < REPEATS; r++) {
		double begin = now_ns();

		for (unsigned i = 0; i < LOOKUPS; i++)
			found += lc_contexts_find(c, frame(i & (places - 1)),
			                          7 + (i & (places - 1)), 0) != NULL;
		begin = now_ns() - begin;
		best = begin < best ? begin : best;
	}
	if (found != (uint64_t)REPEATS * LOOKUPS)
		die("finding a context");
	report(places > 1 ? "context of an allocation, 64 in turn" : "context of an allocation",
	       frames, best);
	lc_contexts_destroy(c);
}

static void bench_location(unsigned frames)
{
	const uint64_t end = address(stack) + (uint64_t)frames * 40;
	struct lc_location new = { .place = { .frame = address(stack), .key = 7 } };
	struct lc_locations l = { 0 };
	double best = 1e18;
	uint64_t found = 0;

	lay_out(frames);
	lc_places_init(&l.places, &lc_location_kind, NULL);
	lc_words_guess(&new.place.words, address(stack), end, UINT32_MAX);
	if (!lc_places_keep(&l.places, &new.place))
		die("the locations");
	for (int r = 0; r < REPEATS; r++) {
		double begin = now_ns();

		for (unsigned i = 0; i < LOOKUPS; i++) {
			found += lc_location_find(&l, address(stack), 7) != NULL;
			__asm__ volatile("" ::: "memory");
		}
		begin = now_ns() - begin;
		best = begin < best ? begin : best;
	}
	if (found != (uint64_t)REPEATS * LOOKUPS)
		die("finding a location");
	report("location of a stream", frames, best);
	lc_places_free(&l.places);
}

static void bench_task(unsigned frames)
{
	const uint64_t end = address(stack) + (uint64_t)frames * 40;
	struct lc_task_place new = { .place = { .key = 7 } };
	struct lc_task_places p = { 0 };
	double best = 1e18;
	uint64_t found = 0;

	lay_out(frames);
	lc_places_init(&p.table, &lc_task_place_kind, NULL);
	lc_words_guess(&new.place.words, address(stack), end, UINT32_MAX);
	if (!lc_places_keep(&p.table, &new.place))
		die("the places of tasks");
	for (int r = 0; r < REPEATS; r++) {
		double begin = now_ns();

		for (unsigned i = 0; i < LOOKUPS; i++) {
			found += lc_task_place_find(&p, address(stack), 7, UINT64_MAX) != NULL;
			__asm__ volatile("" ::: "memory");
		}
		begin = now_ns() - begin;
		best = begin < best ? begin : best;
	}
	if (found != (uint64_t)REPEATS * LOOKUPS)
		die("finding a task's place");
	report("place of a task", frames, best);
	lc_places_free(&p.table);
}

int main(void)
{
	static const unsigned frames[] = { 3, 8, 20 };

	lc_generated_init(
	    &(struct lc_generated){ CODE_LOW, CODE_HIGH, CODE_LOW, INTERPRETER_HIGH });
	printf("recognising a place\n");
	for (unsigned i = 0; i < 3; i++) {
		bench_context(frames[i], 1);
		bench_context(frames[i], PLACES);
		bench_location(frames[i]);
		bench_task(frames[i]);
	}
	return 0;
}
