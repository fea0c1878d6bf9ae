/* SPDX-License-Identifier: Apache-2.0 */
/* sample/read_on.c - follows the registers that hold an object along the code behind an access. */
#include "src/sample/read_on.h"

#include <stdbool.h>
#include <stdlib.h>

#include "src/core/record.h"
#include "src/format/kinds.h"
#include "src/sample/decode.h"
#include "src/sample/insn.h"

enum {
	HEADER_BYTES = 16,     /* of an array, the longest there is */
	LINE_BYTES = 64,       /* of a cache line */
	INSTRUCTIONS_MAX = 64, /* that are looked at */
	NEAR_BYTES = 128, /* so far a branch leads to code that runs as often as what follows */
	WAYS_MAX = 4,
	NAMES_MAX = 3, /* of one object */
};

/* An address that is `disp` bytes from the object: base + index * scale. */
struct name {
	uint8_t base, index, scale;
	int32_t disp;
};

struct follow {
	struct name names[NAMES_MAX];
	size_t len;
};

static bool uses(const struct name *n, uint16_t registers)
{
	return registers & (lc_decode_register_bit(n->base) | lc_decode_register_bit(n->index));
}

/* Names are gone whose registers are written. */
static void forget(struct follow *f, uint16_t written)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->len; i++)
		if (!uses(&f->names[i], written))
			f->names[kept++] = f->names[i];
	f->len = kept;
}

/* Is base + index * scale + disp in the object? *disp becomes the distance from its start. */
static bool is_in(const struct follow *f, const struct name *at, int32_t *disp)
{
	for (size_t i = 0; i < f->len; i++) {
		const struct name *n = &f->names[i];

		if (n->base == at->base && n->index == at->index && n->scale == at->scale) {
			*disp = at->disp + n->disp;
			return true;
		}
	}
	/* An element: the object's register with an index. */
	for (size_t i = 0; i < f->len; i++) {
		const struct name *n = &f->names[i];

		if (n->index == LC_NO_REGISTER && n->base == at->base &&
		    at->index != LC_NO_REGISTER) {
			*disp = at->disp + n->disp;
			return true;
		}
	}
	return false;
}

/* A register becomes one more name of the object, or no name. */
static void rename_to(struct follow *f, const struct lc_insn *in)
{
	struct name from = { .index = LC_NO_REGISTER, .scale = 1 };
	int32_t disp;
	uint8_t to;

	if (in->address_to != LC_NO_REGISTER) {
		to = in->address_to;
		from = (struct name){ in->base, in->index, in->scale, in->disp };
	} else {
		to = in->copy_to;
		from.base = in->copy_from;
	}
	if (to == LC_NO_REGISTER || !is_in(f, &from, &disp)) {
		forget(f, in->written);
		return;
	}
	forget(f, in->written);
	if (f->len < NAMES_MAX)
		f->names[f->len++] = (struct name){ to, LC_NO_REGISTER, 1, disp };
}

/* A place that the code may come to, with the names that the object has there. */
struct way {
	struct follow f;
	size_t at;
};

struct search {
	const struct lc_code_bytes *code;
	struct way ways[WAYS_MAX]; /* still to follow */
	size_t len;
	unsigned left;         /* instructions that may still be looked at */
	int32_t header, found; /* bytes from the object's start; found: 0 is nothing */
};

/* A branch that is taken: its target is a way too, where it is near. */
static void branch(struct search *s, const struct follow *f, size_t at, int64_t target)
{
	const int64_t to = (int64_t)at + target;

	if (to >= 0 && llabs(target) <= NEAR_BYTES && s->len < WAYS_MAX)
		s->ways[s->len++] = (struct way){ *f, (size_t)to };
}

/* Note what the instruction reads of the object. Returns whether the search is at its end. */
static bool note(struct search *s, const struct follow *f, const struct lc_insn *in)
{
	const struct name operand = { in->base, in->index, in->scale, in->disp };
	int32_t disp;

	if (!in->memory || in->vector || !(in->access & LC_TOUCH_LOAD) ||
	    !is_in(f, &operand, &disp) || disp <= s->header || disp - s->header >= LINE_BYTES)
		return false;
	s->found = disp;
	return disp >= HEADER_BYTES; /* else it may be the length, and an element follows */
}

/* Returns whether the search is at its end. */
static bool follow_way(struct search *s, struct way *w)
{
	struct lc_insn in;

	for (; s->left && w->f.len && w->at < s->code->len; w->at += in.length) {
		s->left--;
		if (!lc_insn_decode(s->code->bytes + w->at, s->code->len - w->at, s->code->native,
		                    &in))
			return false;
		if (in.control && in.target && !in.calls)
			branch(s, &w->f, w->at, in.target);
		if (!in.falls || in.calls)
			return false;
		if (note(s, &w->f, &in))
			return true;
		rename_to(&w->f, &in);
	}
	return false;
}

uint8_t lc_read_on(const struct lc_code_bytes *code, size_t at)
{
	struct search s = { .code = code, .left = INSTRUCTIONS_MAX };
	struct lc_insn in;
	struct way way;

	if (at >= code->len ||
	    !lc_insn_decode(code->bytes + at, code->len - at, code->native, &in) || !in.memory ||
	    in.vector || !(in.access & LC_TOUCH_LOAD) || in.disp < 0 || in.disp >= HEADER_BYTES)
		return 0;
	s.header = in.disp;
	s.ways[s.len++] =
	    (struct way){ { .names = { { in.base, in.index, in.scale, 0 } }, .len = 1 },
		          at + in.length };
	forget(&s.ways[0].f, in.written);
	while (s.len) {
		way = s.ways[--s.len];
		if (follow_way(&s, &way))
			break;
	}
	return (uint8_t)(s.found ? s.found - s.header : 0);
}
