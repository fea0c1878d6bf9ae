/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/own_cost.h - adds up the CPU time that Locus itself uses in the program's process.
 *
 * Hooks are too short to be timed: samples that were taken in them count for them. All else is
 * timed by the CPU clock of the thread that does the work; see lc_own_cost_begin_often() for
 * frequent work.
 */
#ifndef LC_CORE_OWN_COST_H
#define LC_CORE_OWN_COST_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum lc_own_kind {
	LC_OWN_HOOKS, /* samples of the timer in the native code of hooks, each for its interval */
	LC_OWN_SAMPLES, /* signal handlers, and events of sampled allocations */
	LC_OWN_EVENTS,  /* classes that are rewritten, compiled methods that are announced */
	LC_OWN_THREAD,  /* the attribution thread */
	LC_OWN_PAUSES,  /* events of collections */
	LC_OWN_WALKS,   /* the JVM walks a stack for a hook */
	LC_OWN_STARTUP, /* from load until the program runs */
	LC_OWN_KINDS
};

/* CPU time of the calling thread in ns. Context: any. */
uint64_t lc_own_cost_clock(void);

/* Add to a kind. Context: any. */
void lc_own_cost_add(enum lc_own_kind kind, uint64_t ns);

/* Samples of this engine stand for so many ns of CPU time each. Context: [writer]. */
void lc_own_cost_engine(unsigned engine, uint64_t interval_ns);

/* Samples of the engine were taken in hooks. Context: [writer]. */
void lc_own_cost_hook(unsigned engine, uint64_t samples);

/* The kind has used so much in all. Context: [writer]. */
void lc_own_cost_set(enum lc_own_kind kind, uint64_t ns);

/*
 * Work begins on the calling thread and ends; of pairs inside each other the outermost counts. The
 * end returns what it has counted. Context: any but [signal].
 */
uint64_t lc_own_cost_begin(void);
uint64_t lc_own_cost_end(enum lc_own_kind kind, uint64_t begin);

/*
 * The same for short and frequent work. Reading the clock takes a microsecond, so only one piece of
 * work in LC_OWN_OFTEN is timed, and counts for all of them. The end returns what it has counted.
 */
enum { LC_OWN_OFTEN = 16 };
uint64_t lc_own_cost_begin_often(void);
uint64_t lc_own_cost_end_often(enum lc_own_kind kind, uint64_t begin);

uint64_t lc_own_cost_of(enum lc_own_kind kind); /* Context: any. */

/* CPU time of the whole process in ns, until the recording's end. Context: any. */
uint64_t lc_own_cost_process(void);

/*
 * The recording ends, and the program goes on: what the program uses from now on counts no more.
 * lc_own_cost_process() is for the attribution thread alone then, whose clock is `writer`, and
 * grows by what that thread uses. Context: any but [signal].
 */
void lc_own_cost_end_process(clockid_t writer);
bool lc_own_cost_ended(void); /* Was that called? Context: any. */

#endif
