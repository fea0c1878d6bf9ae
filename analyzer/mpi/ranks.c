/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi/ranks.c - divides a merge into shares and reduces them in a tree of ranks.
 *
 * In step 0 each rank whose number fan_in divides takes the results of the next fan_in - 1 ranks.
 * In step 1 each rank whose number fan_in * fan_in divides takes the results of those, and so on
 * until rank 0 has all. If the fan-in is the number of ranks, the tree is flat.
 *
 * A message begins with a byte that says whether the sender could do its part. If not, the sender
 * sends nothing else, and the ranks above pass that on, so all ranks end in the same way.
 */
#include "analyzer/mpi/ranks.h"

#include <stdlib.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/mpi/wire.h"

/* ---- manifests ---- */

/* Tell all others what this rank has scanned, and take what they have. */
static int share_scans(struct lc_ranks *x, struct lc_reduce *r)
{
	struct lc_bytes mine = { 0 }, theirs = { 0 };
	int status = lc_wire_most(lc_reduce_pack_scan(r, &mine));

	if (status)
		goto out;
	for (int from = 0; from < x->size; from++) {
		struct lc_bytes *of = from == x->rank ? &mine : &theirs;

		if (of == &theirs)
			lc_bytes_empty(of);
		lc_wire_share(from, of);
		x->timings.plan_bytes += of->len;
		if (of == &theirs && of->len)
			status |= lc_reduce_add_scan(r, of->data, of->len);
	}
out:
	free(mine.data);
	free(theirs.data);
	return status;
}

/* Each rank finds the same; rank 0 says it. */
static int plan(struct lc_ranks *x, struct lc_reduce *r)
{
	char *said = NULL, **before = NULL;
	int status;

	if (x->rank)
		before = lc_fail_capture(&said);
	status = lc_reduce_plan(r);
	if (x->rank)
		(void)lc_fail_capture(before);
	free(said);
	return status;
}

/* ---- the tree ---- */

static void prune(const struct lc_ranks *x, struct lc_reduce *r)
{
	if (x->prune_each)
		lc_reduce_prune(r);
}

static int take(struct lc_ranks *x, struct lc_reduce *r, int from, int status)
{
	struct lc_timings *t = &x->timings;
	struct lc_bytes message = { 0 };
	struct lc_received *row;

	t->received =
	    lc_mem_grow(t->received, &t->received_cap, t->received_len + 1, sizeof(*t->received));
	row = &t->received[t->received_len++];
	*row = (struct lc_received){ .from = from };
	lc_timings_begin(t);
	row->waited_s = lc_wire_receive(from, &message);
	row->receive_cpu_s = lc_timings_end(t, LC_PHASE_RECEIVE);
	t->wall_s[LC_PHASE_RECEIVE] -= row->waited_s;
	row->bytes = message.len;
	lc_timings_begin(t);
	if (message.data[0])
		status = 1; /* it has said why */
	else if (!status)
		status = lc_reduce_add(r, message.data + 1, message.len - 1);
	row->merge_cpu_s = lc_timings_end(t, LC_PHASE_MERGE);
	free(message.data);
	return status;
}

static void give(struct lc_ranks *x, struct lc_reduce *r, int to, int status)
{
	struct lc_timings *t = &x->timings;
	struct lc_bytes message = { 0 };
	uint8_t failed = 0;

	lc_timings_begin(t);
	lc_bytes_add(&message, &failed, 1);
	if (status || lc_reduce_pack(r, &message) || message.failed) {
		failed = 1;
		lc_bytes_empty(&message);
		lc_bytes_add(&message, &failed, 1);
	}
	lc_timings_end(t, LC_PHASE_SERIALISE);
	t->to = to;
	t->sent_bytes = message.len;
	lc_timings_begin(t);
	lc_wire_send(to, message.data, message.len);
	lc_timings_end(t, LC_PHASE_SEND);
	free(message.data);
}

static int add_up(struct lc_ranks *x, struct lc_reduce *r, int status)
{
	const int64_t fan_in = x->fan_in;

	prune(x, r);
	for (int64_t step = 1; step < x->size; step *= fan_in) {
		const int64_t above = x->rank / (step * fan_in) * (step * fan_in);

		if (x->rank != above) {
			give(x, r, (int)above, status);
			return status;
		}
		for (int64_t i = 1; i < fan_in && x->rank + i * step < x->size; i++)
			status = take(x, r, (int)(x->rank + i * step), status);
		prune(x, r);
	}
	return status;
}

int lc_ranks_reduce(struct lc_ranks *x, struct lc_reduce *r)
{
	struct lc_timings *t = &x->timings;
	const unsigned rank = (unsigned)x->rank, size = (unsigned)x->size;
	char *origin = lc_mem_text("rank %d", x->rank);
	int status;

	t->to = -1;
	lc_fail_origin(origin);
	lc_timings_begin(t);
	status = lc_reduce_scan_share(r, rank, size);
	lc_timings_end(t, LC_PHASE_SCAN);
	lc_timings_begin(t);
	status = lc_wire_most(status) || lc_wire_most(share_scans(x, r));
	lc_fail_origin(NULL);
	if (!status)
		status = plan(x, r);
	lc_timings_end(t, LC_PHASE_PLAN);
	if (!status) {
		lc_fail_origin(origin);
		lc_timings_begin(t);
		status = lc_reduce_read(r, rank, size);
		lc_timings_end(t, LC_PHASE_READ);
		x->read = lc_reduce_stats(r);
		status = lc_wire_most(add_up(x, r, status));
		lc_fail_origin(NULL);
	}
	free(origin);
	return status;
}
