/* uses: src/core/memory.c src/core/epoch.c src/core/own.c src/stack/shadow.c src/stack/call_tree.c src/core/recursion.c src/base/slab.c src/stack/place.c src/stack/words.c src/stack/walker.c src/stack/walk_credit.c src/core/own_cost.c src/core/jvmti.c src/stack/generated.c src/jvm/stack/walk_proof.c src/jvm/os/guard.c src/jvm/os/peek.c src/core/version.c src/core/method_number.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_place.c - measures what it costs to recognise a place on the stack: ns per look-up of an
 * allocation's context in the thread's shadow, and of a stream's location and a task's place, which
 * each have their own kind of table. CPU time; each line is the best of several runs, since other
 * work on the machine only adds.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "src/jvm/code/blob.h"
#include "src/jvm/code/code_frames.h"
#include "src/jvm/stack/walk_proof.h"
#include "src/span/streams/location.h"
#include "src/span/tasks/task_place.h"
#include "src/stack/generated.h"
#include "src/stack/shadow.h"
#include "src/stack/walker.h"

#define INTERPRETER_HIGH UINT64_C(0x7f0000010000)

enum { REPEATS = 15, LOOKUPS = 2000000, STACK_WORDS = 4096, PLACES = 64 };

static uint64_t stack[STACK_WORDS];

/* The frames that lay_out() lays out. */
struct lc_frame_words lc_frames_words(const struct lc_native_frame *at, uint64_t end,
                                      unsigned frames_max, unsigned words_max, uint64_t *value,
                                      uint16_t *offset)
{
	struct lc_frame_words w = { 0 };

	for (unsigned i = 2; w.len < frames_max && w.len < words_max; i += 5) {
		value[w.len] = stack[i];
		offset[w.len++] = (uint16_t)i;
	}
	w.frames = w.len;
	w.whole = w.complete = w.len == frames_max;
	return w;
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

static void report(const char *what, unsigned frames, double best)
{
	printf("  %-44s %2u words %8.2f ns\n", what, frames < 20 ? frames : 20, best / LOOKUPS);
}

/* Each return address is to a frame of five words; behind the last is what the JVM called. */
enum { FRAME_WORDS = 5 };
#define ENTRY UINT64_C(3)

static struct lc_code_frames *code[STACK_WORDS];

const struct lc_code_frames *lc_code_frames_compiled(uint64_t pc)
{
	return pc >= INTERPRETER_HIGH && pc < INTERPRETER_HIGH + STACK_WORDS
	           ? code[pc - INTERPRETER_HIGH]
	           : NULL;
}

const struct lc_code_frames *lc_code_frames_interpreted(uint64_t method, uint64_t bcp)
{
	return NULL;
}

bool lc_blob_find(uint64_t pc, struct lc_blob *out)
{
	return false;
}

uint64_t lc_blob_original_pc_at(const struct lc_blob *blob, uint64_t pc, uint64_t sp)
{
	return 0;
}

bool lc_frames_interpreted(uint64_t pc)
{
	return false;
}

bool lc_frames_entry(uint64_t pc)
{
	return pc == ENTRY;
}

/* The JVM called this first: there is nothing before. */
bool lc_frames_entry_frame(uint64_t rbp, uint64_t low, uint64_t high, struct lc_entry_frame *out)
{
	const uint64_t nothing = address(&stack[STACK_WORDS - 1]);

	*out = (struct lc_entry_frame){ nothing, nothing, nothing, nothing };
	return true;
}

static void lay_out_frames(unsigned frames)
{
	unsigned at = 6;

	for (unsigned i = 0; i < STACK_WORDS; i++)
		stack[i] = 0;
	stack[0] = address(&stack[4]);
	for (unsigned i = 0; i < frames; i++, at += FRAME_WORDS)
		stack[at - 1] = INTERPRETER_HIGH + i;
	stack[at - 1] = ENTRY;
}

static void bench_context(unsigned frames, unsigned places)
{
	const uint64_t end = address(stack + STACK_WORDS);
	struct lc_native_frame at;
	struct lc_shadow *s = NULL;
	double best = 1e18;
	uint64_t found = 0;

	lay_out_frames(frames);
	at = lc_frame_native(stack);
	if (lc_shadow_create(NULL, &s))
		die("the shadow");
	for (int r = 0; r < REPEATS; r++) {
		double begin = now_ns();

		for (unsigned i = 0; i < LOOKUPS; i++) {
			stack[5] = INTERPRETER_HIGH + (i & (places - 1));
			if (lc_shadow_again(lc_shadow_last(s), at.frame, 7)) {
				found++;
				continue;
			}
			if (!lc_shadow_walk(s, &at, end))
				die("walking");
			lc_shadow_remember(s, at.frame, 7, 1);
			lc_shadow_remember(s, at.frame, 7, 1); /* once is not enough */
		}
		begin = now_ns() - begin;
		best = begin < best ? begin : best;
	}
	report(places > 1 ? "context of an allocation, 64 in turn" : "context of an allocation",
	       frames, best);
	if (places == 1 && found < (uint64_t)REPEATS * LOOKUPS - 1)
		die("finding a context");
	lc_shadow_destroy(s);
}

static void bench_location(unsigned frames)
{
	struct lc_walker walker = { .stack_end = UINT64_MAX };
	struct lc_location new = { .place = { .frame = address(stack), .key = 7 } };
	struct lc_locations l = { 0 };
	double best = 1e18;
	uint64_t found = 0;

	lay_out(frames);
	lc_places_init(&l.places, &lc_location_kind, NULL);
	(void)lc_words_find_nearest(&new.place.words, &walker,
	                            &(struct lc_native_frame){ .frame = address(stack) }, frames);
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
	struct lc_walker walker = { .stack_end = UINT64_MAX };
	struct lc_task_place new = { .place = { .key = 7 } };
	struct lc_task_places p = { 0 };
	double best = 1e18;
	uint64_t found = 0;

	lay_out(frames);
	lc_places_init(&p.table, &lc_task_place_kind, NULL);
	(void)lc_words_find_nearest(&new.place.words, &walker,
	                            &(struct lc_native_frame){ .frame = address(stack) }, frames);
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
	enum { ALL_KINDS = (1 << LC_FRAME_KINDS) - 1, WALKS = 8 };

	for (unsigned i = 0; i < WALKS; i++)
		lc_walk_proof_take(lc_walk_proof_hook(), ALL_KINDS, true);
	static const unsigned frames[] = { 3, 8, 20 };

	for (unsigned i = 0; i < STACK_WORDS; i++) {
		code[i] = calloc(1, sizeof(*code[i]) + sizeof(code[i]->frames[0]));
		if (!code[i])
			die("memory");
		code[i]->blob = 1;
		code[i]->frame_words = FRAME_WORDS;
		code[i]->len = 1;
	}
	printf("recognising a place\n");
	for (unsigned i = 0; i < 3; i++) {
		bench_context(frames[i], 1);
		bench_context(frames[i], PLACES);
		bench_location(frames[i]);
		bench_task(frames[i]);
	}
	return 0;
}
