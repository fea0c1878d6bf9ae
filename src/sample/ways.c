/* SPDX-License-Identifier: Apache-2.0 */
/* sample/ways.c - collects branches, and proves which registers no way to a place has changed. */
#include "src/sample/ways.h"

#include "src/sample/insn.h"

enum {
	NEAR_BYTES = 1024,   /* behind the sample; the window is as much before it */
	FAR_BYTES = 1 << 14, /* of a method, so much is looked at before and behind the sample */
	SPAN_MAX = 2048, /* bytes in which writes are looked for: the decoding in full is slow */
};

/* Add the branches in [from, to), as far as it can be decoded. */
static void add(const struct lc_code_bytes *code, size_t from, size_t to, struct lc_ways *w)
{
	size_t length;

	for (size_t at = from; at < to; at += length) {
		int64_t target;
		size_t led;

		length = lc_insn_step(code->bytes + at, code->len - at, &target);
		if (!length)
			return;
		led = (size_t)((int64_t)at + target);
		if (!target || led > UINT32_MAX ||
		    ((at < w->near_from || at >= w->near_to) &&
		     (led < w->near_from || led >= w->near_to)))
			continue;
		if (w->len == LC_WAYS_MAX) {
			w->full = true;
			return;
		}
		w->of[w->len].at = (uint32_t)at;
		w->of[w->len++].to = (uint32_t)led;
	}
}

static size_t at_most(size_t a, size_t b)
{
	return a < b ? a : b;
}

void lc_ways_find(const struct lc_code_bytes *code, size_t from, size_t pc_at, struct lc_ways *out)
{
	out->near_from = from;
	out->near_to = at_most(code->len, pc_at + NEAR_BYTES);
	out->full = false;
	out->len = 0;
	add(code, from, pc_at, out);
	add(code, pc_at, code->native ? out->near_to : at_most(code->len, pc_at + FAR_BYTES), out);
	if (!code->native)
		add(code, 0, at_most(from, FAR_BYTES), out);
}

bool lc_ways_came_by(const struct lc_ways *ways, size_t at, bool loop, size_t *source)
{
	unsigned found = 0;

	for (size_t i = 0; i < ways->len; i++) {
		const size_t by = ways->of[i].at;

		if (ways->of[i].to != at || by < ways->near_from || by >= ways->near_to ||
		    (loop && by < at))
			continue;
		*source = by;
		found++;
	}
	return found == 1;
}

bool lc_ways_lead_to(const struct lc_ways *ways, size_t at)
{
	for (size_t i = 0; i < ways->len; i++)
		if (ways->of[i].to == at)
			return true;
	return ways->full;
}

static void stretch(struct lc_ways_span *span, size_t at)
{
	span->from = at_most(span->from, at);
	span->to = at > span->to ? at : span->to;
}

void lc_ways_meet(const struct lc_ways *ways, size_t at, bool falls, struct lc_ways_span *span)
{
	struct lc_ways_span met = *span;
	size_t n = falls;

	for (size_t i = 0; i < ways->len; i++)
		if (ways->of[i].to == at) {
			stretch(&met, ways->of[i].at);
			n++;
		}
	if (n > 1 || ways->full) {
		stretch(&met, ways->full ? SIZE_MAX : at);
		*span = met;
	}
}

uint16_t lc_ways_written(const struct lc_code_bytes *code, struct lc_ways_span span, size_t at)
{
	uint16_t written = 0;
	struct lc_insn in;

	if (span.from > span.to)
		return 0;
	stretch(&span, at);
	if (span.to - span.from > SPAN_MAX)
		return UINT16_MAX;
	for (at = span.from; at < span.to; at += in.length) {
		if (!lc_insn_decode(code->bytes + at, code->len - at, code->native, &in) ||
		    in.calls)
			return UINT16_MAX;
		written |= in.written;
	}
	return written;
}
