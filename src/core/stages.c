/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/stages.c - keeps the stage with its parts in one word: see stages.h.
 *
 * Order: none. A reader sees a stage with its own parts, because they are in one word.
 */
#include "src/core/stages.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#include "src/base/attach_answer.h"
#include "src/base/say.h"
#include "src/base/time.h"

#define SECOND_NS UINT64_C(1000000000)

enum { PARTS_BITS = 28 };

#define PARTS_MAX ((UINT64_C(1) << PARTS_BITS) - 1)

/* At most 30 bytes each, so that parts fit into a line of the terminal. */
static const char *const names[LC_STAGES] = {
	[LC_STAGE_NONE] = "beginning",
	[LC_STAGE_JVM] = "reading the JVM's structures",
	[LC_STAGE_PROFILE] = "opening the profile",
	[LC_STAGE_ENGINES] = "starting the samplers",
	[LC_STAGE_HOOK_CLASS] = "linking the hook class",
	[LC_STAGE_COSTS] = "measuring the cost of a span",
	[LC_STAGE_THREADS] = "looking at threads",
	[LC_STAGE_CLASSES] = "instrumenting classes",
	[LC_STAGE_OLDER] = "looking for older objects",
	[LC_STAGE_STOP] = "stopping the samplers",
	[LC_STAGE_WRITE] = "writing the profile",
	[LC_STAGE_RESTORE] = "restoring classes",
	[LC_STAGE_LEAVE] = "waiting for threads in hooks",
};

static _Atomic uint64_t now;     /* stage, done, total */
static _Atomic uint64_t told_ns; /* when the client last got a line; a time */
static _Atomic bool stopped;

static void format(uint64_t word, char *out, size_t out_len)
{
	const uint64_t done = word >> PARTS_BITS & PARTS_MAX, total = word & PARTS_MAX;
	const char *name = names[word >> 2 * PARTS_BITS];

	if (total)
		snprintf(out, out_len, "%s: %" PRIu64 " of %" PRIu64, name, done, total);
	else
		snprintf(out, out_len, "%s", name);
}

static void tell(uint64_t word, uint64_t time_ns)
{
	char text[LC_STAGE_TEXT_MAX];

	atomic_store_explicit(&told_ns, time_ns, memory_order_relaxed);
	format(word, text, sizeof(text));
	lc_say_answer(LC_ATTACH_PROGRESS "%s", text);
}

void lc_stages_begin(enum lc_stage stage)
{
	const uint64_t word = (uint64_t)stage << 2 * PARTS_BITS;

	atomic_store_explicit(&now, word, memory_order_relaxed);
	tell(word, lc_time_now_ns());
}

void lc_stages_parts(enum lc_stage stage, uint32_t done, uint32_t total)
{
	const uint64_t word = (uint64_t)stage << 2 * PARTS_BITS | (done & PARTS_MAX) << PARTS_BITS |
	                      (total & PARTS_MAX);
	uint64_t before = atomic_load_explicit(&now, memory_order_relaxed);
	uint64_t time_ns;

	/* A thread that is late does not bring back a stage that is over. */
	if (before >> 2 * PARTS_BITS != stage ||
	    !atomic_compare_exchange_strong_explicit(&now, &before, word, memory_order_relaxed,
	                                             memory_order_relaxed))
		return;
	time_ns = lc_time_now_ns();
	if (time_ns - atomic_load_explicit(&told_ns, memory_order_relaxed) >= SECOND_NS)
		tell(word, time_ns);
}

void lc_stages_text(char *out, size_t out_len)
{
	format(atomic_load_explicit(&now, memory_order_relaxed), out, out_len);
}

void lc_stages_stop(void)
{
	atomic_store(&stopped, true);
}

bool lc_stages_stopped(void)
{
	return atomic_load(&stopped);
}
