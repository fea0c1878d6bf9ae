/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delay/delay_rewrite.h - puts a loop of known length before the returns of chosen methods.
 *
 * A return becomes a jump to the end of the method's code, where the loop stands for that return
 * and the value is returned behind it. The loop is x = x * MULTIPLIER ^ INCREMENT: each iteration
 * waits for the one before, and no compiler makes one step of several. The first x is read of a
 * static field, so that no compiler knows it; a last x that never occurs would be stored there, so
 * that none leaves the loop out. The loop has the line of its return.
 *
 * Each execution adds one to a static field, c0 for the first delay. The loop runs at each N-th
 * execution, N being a power of two, and adds one to the field d0. So a small method that runs a
 * billion times can be delayed, too. The fields are not atomic. Threads that run the method at the
 * same time lose executions, but hardly a loop, since two loops of a thread are far apart.
 *
 * The number of iterations is a static field, n0 for the first delay, and N a constant of the
 * class. So the machine code is the same for all numbers of iterations from one. With none,
 * compilers would leave out the loop, which never ran.
 *
 * Loops of fewer than 100 iterations may be unrolled as a whole, and then be computed once for
 * several executions of the method, where it is inlined into a loop.
 *
 * Pure functions over bytes. Context: any but [signal].
 */
#ifndef LC_DELAY_REWRITE_H
#define LC_DELAY_REWRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/classfile/status.h"

#define LC_DELAY_CLASS "java/lang/LocusDelay"
#define LC_DELAY_MULTIPLIER UINT64_C(6364136223846793005)
#define LC_DELAY_INCREMENT UINT64_C(1442695040888963407)

/* A method that is delayed: all overloads if `descriptor` is NULL; any class, any method likewise
 */
struct lc_delay {
	const char *class_name; /* "java/lang/String" */
	const char *method;
	const char *descriptor;
	uint32_t iterations; /* for the caller, who sets the field */
	uint32_t every;      /* the loop runs at each such execution: a power of two, 0 is 1 */
};

/* If a delay's methods differ, the later one of two states is reported. */
enum lc_delay_state {
	LC_DELAY_NO_CLASS,
	LC_DELAY_NO_METHOD,
	LC_DELAY_ABSTRACT,
	LC_DELAY_NATIVE,
	LC_DELAY_CONSTRUCTOR,
	LC_DELAY_NO_RETURN, /* reached with nothing below the value on the operand stack */
	LC_DELAY_MALFORMED,
	LC_DELAY_TOO_LARGE,
	LC_DELAY_NO_MEMORY,
	LC_DELAY_REFUSED, /* by the JVM; the agent's */
	LC_DELAY_IN_PLACE,
	LC_DELAY_STATES
};

struct lc_delay_result {
	enum lc_delay_state state;         /* the best one of its methods */
	uint32_t methods[LC_DELAY_STATES]; /* how many overloads are in each */
	uint32_t returns;                  /* that have loops */
};

/*
 * Rewrite the class for those of `delays` that are of it; the first one of a method counts. The
 * fields c0, d0, n0, c1 ... of LC_DELAY_CLASS are numbered by place in `delays`. results[] is
 * overwritten for all delays; LC_DELAY_NO_CLASS says that a delay is of another class.
 * Returns LC_REWRITE_DONE and sets *out, malloc'ed; or another status, and leaves *out alone.
 */
enum lc_rewrite_status lc_delay_rewrite(const uint8_t *in, size_t len,
                                        const struct lc_delay *delays, size_t delays_len,
                                        struct lc_delay_result *results, uint8_t **out,
                                        size_t *out_len);

#endif
