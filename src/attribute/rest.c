/* SPDX-License-Identifier: Apache-2.0 */
/* attribute/rest.c - compares the program's CPU time with what a look of the thread costs. */
#include "src/attribute/rest.h"

#define MS UINT64_C(1000000)

enum { BUSY_PARTS = 10 }; /* a program that uses 1 / this of a CPU is busy */

void lc_rest_begin(struct lc_rest *r, struct lc_rest_at at)
{
	*r = (struct lc_rest){
		.sleep_ns = LC_REST_SLEEP_MS * MS,
		.wake = at,
		.look = at,
		.block = at,
	};
}

/* Parts of the CPU time are read at slightly different times: no difference is negative. */
static struct lc_rest_at since(struct lc_rest_at at, struct lc_rest_at before)
{
	return (struct lc_rest_at){
		at.time_ns > before.time_ns ? at.time_ns - before.time_ns : 0,
		at.program_ns > before.program_ns ? at.program_ns - before.program_ns : 0,
	};
}

static bool worth_it(const struct lc_rest *r, struct lc_rest_at at)
{
	const struct lc_rest_at look = since(at, r->look), block = since(at, r->block);

	if (look.program_ns >= LC_REST_ENOUGH_MS * MS || look.time_ns >= LC_REST_IDLE_MS * MS)
		return true;
	return block.time_ns >= LC_REST_BLOCK_MS * MS && block.program_ns >= LC_REST_LITTLE_MS * MS;
}

bool lc_rest_wakes(struct lc_rest *r, struct lc_rest_at at, bool asked)
{
	const struct lc_rest_at slept = since(at, r->wake);
	const bool busy = slept.program_ns >= slept.time_ns / BUSY_PARTS;
	const uint64_t longer_ns = 2 * r->sleep_ns;

	if (busy)
		r->sleep_ns = LC_REST_SLEEP_MS * MS;
	else if (!asked)
		r->sleep_ns =
		    longer_ns < LC_REST_LONGEST_MS * MS ? longer_ns : LC_REST_LONGEST_MS * MS;
	r->wake = at;
	if (!asked && !worth_it(r, at))
		return false;
	r->look = at;
	return true;
}

void lc_rest_writes(struct lc_rest *r, struct lc_rest_at at)
{
	r->block = at;
}
