/* SPDX-License-Identifier: Apache-2.0 */
/* sample/ways.c - collects branches, and proves that a register is the same on all ways. */
#include "src/sample/ways.h"

#include <string.h>

#include "src/sample/insn.h"

enum {
	BEFORE_BYTES = 2048, /* instructions are noted so far before the sample, */
	NEAR_BYTES = 1024,   /* and branches decoded so far behind it */
	FAR_BYTES = 1 << 14, /* in a method, branches that lead near are looked for so far away */
	LENGTH_MAX = 15,     /* of an instruction */
	SLOW_PATH_BYTES = 512,
	AHEAD_MAX = 48, /* instructions in which a use of a register is looked for */
	LINES_MAX = 24,
	STEPS_MAX = 400, /* instructions that are decoded in full for one register */
	HEAP_BASE = 12,  /* number of the register that holds the heap's base, if one does */
};

static void add_branch(struct lc_ways *w, size_t at, size_t to)
{
	if (to > UINT32_MAX) /* it leaves the code */
		return;
	w->full |= w->len == LC_WAYS_MAX;
	if (w->full)
		return;
	w->of[w->len].at = (uint32_t)at;
	w->of[w->len++].to = (uint32_t)to;
}

/* Note the code in [at, to), as far as it can be decoded. Returns where that ends. */
static size_t note(const struct lc_code_bytes *code, size_t at, size_t to, struct lc_ways *w)
{
	while (at < to) {
		int64_t target;
		const size_t length = lc_insn_step(code->bytes + at, code->len - at, &target);

		if (!length)
			break;
		if (at >= w->from && at - w->from < LC_WAYS_BYTES)
			w->starts[(at - w->from) / 8] |= (uint8_t)(1u << (at - w->from) % 8);
		if (target)
			add_branch(w, at, (size_t)((int64_t)at + target));
		at += length;
	}
	return at;
}

/*
 * Add the branches in [at, to) that lead to [low, high), which is too far away for short ones. The
 * code is not decoded, which would take four times as long: bytes that are no branch but look like
 * one are added, too.
 */
static void look_far(const struct lc_code_bytes *code, size_t at, size_t to, size_t low,
                     size_t high, struct lc_ways *w)
{
	enum { JUMP = 0xe9, CONDITIONAL = 0x0f, FIRST_CONDITION = 0x80 };
	const uint8_t *bytes = code->bytes;
	uint32_t distance; /* from where the branch ends; negative ones wrap around, as sums do */

	for (size_t i = at + 2; i + sizeof(distance) <= to; i++) {
		uint32_t led;

		memcpy(&distance, bytes + i, sizeof(distance));
		led = (uint32_t)(i + sizeof(distance)) + distance;
		if (led - (uint32_t)low >= (uint32_t)(high - low))
			continue;
		if (bytes[i - 1] == JUMP)
			add_branch(w, i - 1, led);
		else if (bytes[i - 2] == CONDITIONAL && (bytes[i - 1] & 0xf0) == FIRST_CONDITION)
			add_branch(w, i - 2, led);
	}
}

static size_t at_most(size_t a, size_t b)
{
	return a < b ? a : b;
}

void lc_ways_find(const struct lc_code_bytes *code, size_t from, size_t pc_at, struct lc_ways *out)
{
	size_t end;

	out->from = pc_at > BEFORE_BYTES ? pc_at - BEFORE_BYTES : 0;
	out->full = false;
	out->len = 0;
	memset(out->starts, 0, sizeof(out->starts));
	(void)note(code, from, pc_at, out);
	end = note(code, pc_at, at_most(code->len, pc_at + NEAR_BYTES), out);
	out->near = out->len;
	if (code->native)
		return;
	look_far(code, from > FAR_BYTES ? from - FAR_BYTES : 0, from, from, end, out);
	look_far(code, end, at_most(code->len, pc_at + FAR_BYTES), from, end, out);
}

/* Decode the instruction before `at` in memory. */
static bool decode_before(const struct lc_code_bytes *code, const struct lc_ways *ways, size_t at,
                          size_t *before, struct lc_insn *in)
{
	const size_t from = ways->from;

	for (size_t back = 1; back <= LENGTH_MAX && back + from <= at; back++) {
		const size_t bit = at - back - from;

		if (bit >= LC_WAYS_BYTES || !(ways->starts[bit / 8] >> bit % 8 & 1))
			continue;
		*before = at - back;
		return lc_insn_decode(code->bytes + *before, code->len - *before, code->native,
		                      in) &&
		       *before + in->length == at;
	}
	return false;
}

/*
 * Does the branch at `by` end a slow path that was left for before `at`? Only branches lead to a
 * slow path: the code before it goes elsewhere.
 */
static bool ends_slow_path(const struct lc_code_bytes *code, const struct lc_ways *ways, size_t at,
                           size_t by)
{
	size_t entry = 0, before;
	struct lc_insn in;

	for (size_t i = 0; i < ways->near; i++)
		if (ways->of[i].at < at && ways->of[i].to > at && ways->of[i].to <= by &&
		    ways->of[i].to > entry)
			entry = ways->of[i].to;
	return entry && by - entry <= SLOW_PATH_BYTES &&
	       decode_before(code, ways, entry, &before, &in) && !in.falls && !in.calls;
}

bool lc_ways_came_by(const struct lc_code_bytes *code, const struct lc_ways *ways, size_t at,
                     bool loop, size_t *source)
{
	unsigned found = 0;

	for (size_t i = 0; i < ways->near; i++) {
		const size_t by = ways->of[i].at;

		if (ways->of[i].to != at ||
		    (loop && (by < at || ends_slow_path(code, ways, at, by))))
			continue;
		*source = by;
		found++;
	}
	return found == 1;
}

bool lc_ways_around(const struct lc_ways *ways, size_t at, size_t pc_at, size_t *source)
{
	bool found = false;

	for (size_t i = 0; i < ways->near; i++) {
		const size_t by = ways->of[i].at, to = ways->of[i].to;

		if (by >= at || to <= at || to > pc_at || (found && by <= *source))
			continue;
		*source = by;
		found = true;
	}
	return found;
}

bool lc_ways_lead_to(const struct lc_ways *ways, size_t at)
{
	for (size_t i = 0; i < ways->len; i++)
		if (ways->of[i].to == at)
			return true;
	return ways->full;
}

/*
 * All ways to a place, walked backwards together. A line is a stretch of code in which control goes
 * on from one instruction to the next; lines never overlap. Always the line that has come least far
 * down goes on: where control forks and meets again, all lines but one have then ended at the fork.
 */
struct walk {
	const struct lc_code_bytes *code;
	const struct lc_ways *ways;
	size_t access_at;
	uint8_t reg;
	bool in_use; /* as is_in_use() says */
	bool passes; /* additions of constants to the register do not count as writes */
	bool passed; /* there were some */
	bool met_access;
	bool has_origin;
	size_t origin; /* where the register was written, or where it is not known how control came
	                */
	unsigned steps, open;
	size_t len;
	struct {
		size_t low, high; /* walked from `high` down to `low` */
		bool ended;
	} lines[LINES_MAX];
};

/* Does a line other than `self` hold the place? */
static bool is_walked(const struct walk *w, size_t self, size_t at)
{
	for (size_t i = 0; i < w->len; i++)
		if (i != self && at >= w->lines[i].low && at <= w->lines[i].high)
			return true;
	return false;
}

static bool add_line(struct walk *w, size_t at)
{
	if (is_walked(w, SIZE_MAX, at))
		return true;
	if (w->len == LINES_MAX)
		return false;
	w->lines[w->len].low = w->lines[w->len].high = at;
	w->lines[w->len++].ended = false;
	w->open++;
	return true;
}

/* Note where the register comes from on some way. Returns false if it is another place. */
static bool add_origin(struct walk *w, size_t origin)
{
	const bool differs = w->has_origin && w->origin != origin;

	w->has_origin = true;
	w->origin = origin;
	return !differs;
}

/*
 * Does the instruction write the register? A call does, unless the code from the sample on uses the
 * register: compiled code keeps nothing in registers while it calls Java code, so the call is one
 * to a slow path of the JVM, which keeps all registers that are in use.
 */
static bool writes(const struct walk *w, const struct lc_insn *in)
{
	return (in->written & lc_decode_register_bit(w->reg)) ||
	       (in->calls && !w->in_use && w->reg != HEAP_BASE);
}

/* Does the instruction add a constant to the register? */
static bool moves_on(const struct lc_insn *in, uint8_t reg)
{
	return (in->add_to == reg && in->add_from == LC_NO_REGISTER) ||
	       (in->sub_to == reg && in->sub_from == LC_NO_REGISTER);
}

/* The begin of the code that ends with a branch far away, or SIZE_MAX. */
static size_t far_entry(const struct walk *w, size_t branch)
{
	size_t entry = SIZE_MAX;

	for (size_t i = 0; i < w->ways->near; i++) {
		const size_t to = w->ways->of[i].to;

		if (to <= branch && branch - to <= SLOW_PATH_BYTES &&
		    (entry == SIZE_MAX || to > entry))
			entry = to;
	}
	return entry;
}

/*
 * Add the way by a branch far away, as a slow path ends with one. A branch from near leads to a
 * slow path, which goes straight on, and back.
 */
static bool add_far(struct walk *w, size_t branch)
{
	const size_t entry = far_entry(w, branch);
	struct lc_insn in;

	for (size_t at = entry; at != branch; at += in.length) {
		if (at > branch ||
		    !lc_insn_decode(w->code->bytes + at, w->code->len - at, false, &in) ||
		    (!in.falls && !in.calls))
			return add_origin(w, branch); /* it is not known how control came there */
		if (writes(w, &in))
			return add_origin(w, at);
	}
	for (size_t i = 0; i < w->ways->near; i++)
		if (w->ways->of[i].to == entry && !add_line(w, w->ways->of[i].at))
			return false;
	return true;
}

/* Add the ways by branches to `at`; *n is their number. */
static bool add_branches(struct walk *w, size_t at, unsigned *n)
{
	*n = 0;
	for (size_t i = 0; i < w->ways->len; i++) {
		const size_t by = w->ways->of[i].at;

		if (w->ways->of[i].to != at)
			continue;
		(*n)++;
		if (!(i < w->ways->near ? add_line(w, by) : add_far(w, by)))
			return false;
	}
	return true;
}

static bool end_line(struct walk *w, size_t line)
{
	w->lines[line].ended = true;
	w->open--;
	return true;
}

/* Go one instruction back on the line. Returns false if the register is not the same on all. */
static bool go_back(struct walk *w, size_t line)
{
	const size_t at = w->lines[line].low;
	struct lc_insn in;
	size_t before;
	unsigned branches;

	if (is_walked(w, line, at)) {
		w->lines[line].low++; /* the place is the other line's */
		return end_line(w, line);
	}
	if (++w->steps > STEPS_MAX || !add_branches(w, at, &branches))
		return false;
	if (!decode_before(w->code, w->ways, at, &before, &in))
		return end_line(w, line) && add_origin(w, at);
	if (!in.falls && !in.calls)
		return end_line(w, line) && (branches || add_origin(w, at));
	w->met_access |= before == w->access_at;
	if (writes(w, &in)) {
		if (!w->passes || !moves_on(&in, w->reg))
			return end_line(w, line) && add_origin(w, before);
		w->passed = true;
	}
	w->lines[line].low = before;
	return true;
}

/* The line that has come least far down; or SIZE_MAX. */
static size_t next_line(const struct walk *w)
{
	size_t next = SIZE_MAX;

	for (size_t i = 0; i < w->len; i++)
		if (!w->lines[i].ended &&
		    (next == SIZE_MAX || w->lines[i].low > w->lines[next].low))
			next = i;
	return next;
}

/* Does the code from the sample on read the register before it writes it? */
static bool is_in_use(const struct lc_code_bytes *code, size_t at, uint8_t reg)
{
	struct lc_insn in;

	for (unsigned i = 0; i < AHEAD_MAX && at < code->len; i++, at += in.length) {
		if (!lc_insn_decode(code->bytes + at, code->len - at, code->native, &in))
			return false;
		if (in.base == reg || in.index == reg || in.copy_from == reg ||
		    in.store_from == reg || in.sub_from == reg)
			return true;
		if (!in.falls || (in.written & lc_decode_register_bit(reg)))
			return false;
	}
	return false;
}

bool lc_ways_agree(const struct lc_code_bytes *code, const struct lc_ways *ways, size_t access_at,
                   size_t pc_at, uint8_t reg)
{
	struct walk w = { .code = code, .ways = ways, .access_at = access_at, .reg = reg };

	w.in_use = is_in_use(code, pc_at, reg);
	if (ways->full || !add_line(&w, pc_at))
		return false;
	/* If one line is left, all ways lead by its end, and none has written the register since.
	 */
	while (w.open > 1 || (w.open && (w.has_origin || !w.met_access)))
		if (!go_back(&w, next_line(&w)))
			return false;
	return w.met_access;
}

/* Find the one instruction that has written what w->reg holds at `at`. */
static bool find_written(struct walk *w, size_t at, size_t *by)
{
	struct lc_insn in;

	w->in_use = is_in_use(w->code, at, w->reg);
	if (w->ways->full || !add_line(w, at))
		return false;
	while (w->open)
		if (!go_back(w, next_line(w)))
			return false;
	if (!w->has_origin || w->origin == at ||
	    !lc_insn_decode(w->code->bytes + w->origin, w->code->len - w->origin, w->code->native,
	                    &in) ||
	    !(in.written & lc_decode_register_bit(w->reg)))
		return false; /* the method's entry, or a branch of which nothing is known */
	*by = w->origin;
	return true;
}

bool lc_ways_written(const struct lc_code_bytes *code, const struct lc_ways *ways, size_t at,
                     uint8_t reg, size_t *by)
{
	struct walk w = { .code = code, .ways = ways, .access_at = SIZE_MAX, .reg = reg };

	return find_written(&w, at, by);
}

bool lc_ways_pointed(const struct lc_code_bytes *code, const struct lc_ways *ways, size_t at,
                     uint8_t reg, size_t *by, bool *moved)
{
	struct walk w = {
		.code = code, .ways = ways, .access_at = SIZE_MAX, .reg = reg, .passes = true
	};

	if (!find_written(&w, at, by))
		return false;
	*moved = w.passed;
	return true;
}
