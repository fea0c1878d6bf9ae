/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/stackmap.c - reads stack map frames one by one and writes them with new positions.
 *
 * A frame holds its distance from the one before, less one, except for the first. Positions
 * grow with what is inserted between them, so a frame whose distance no longer fits its short
 * form takes the long one: same_frame becomes same_frame_extended, and
 * same_locals_1_stack_item_frame becomes same_locals_1_stack_item_frame_extended.
 */
#include "src/classfile/stackmap.h"

enum frame_type {
	SAME_MAX = 63,
	SAME_LOCALS_1 = 64,
	SAME_LOCALS_1_MAX = 127,
	SAME_LOCALS_1_EXTENDED = 247,
	CHOP_3 = 248,
	SAME_EXTENDED = 251,
	APPEND_1 = 252,
	FULL = 255,
};

enum { TYPE_UNINITIALIZED_THIS = 6, TYPE_OBJECT = 7, TYPE_UNINITIALIZED = 8 };

struct reader {
	const uint8_t *at;
	const uint8_t *end;
	bool failed;
};

static uint32_t take(struct reader *r, uint32_t bytes)
{
	uint32_t v;

	if ((size_t)(r->end - r->at) < bytes) {
		r->failed = true;
		r->at = r->end;
		return 0;
	}
	v = bytes == 1 ? r->at[0] : lc_be_get2(r->at);
	r->at += bytes;
	return v;
}

/* Set *to to the new position of `at`; false if no instruction begins at `at`. */
static bool moved(const struct lc_method_code *code, uint32_t at, uint32_t *to)
{
	if (at >= code->len || !(code->flags[at] & LC_AT_START))
		return false;
	*to = code->moved[at];
	return true;
}

/*
 * Copy `count` verification types, or only step over them if `code` is NULL. Returns the tag of the
 * first one, or 0.
 */
static uint32_t copy_types(const struct lc_method_code *code, struct reader *r, uint32_t count,
                           struct lc_bytes *out)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < count && !r->failed; i++) {
		uint32_t tag = take(r, 1), operand;

		if (tag > TYPE_UNINITIALIZED)
			r->failed = true;
		if (i == 0)
			first = tag;
		operand = tag >= TYPE_OBJECT ? take(r, 2) : 0;
		if (!code || r->failed)
			continue;
		if (tag == TYPE_UNINITIALIZED && !moved(code, operand, &operand))
			r->failed = true;
		lc_be_add1(out, tag);
		if (tag >= TYPE_OBJECT)
			lc_be_add2(out, operand);
	}
	return first;
}

static bool is_short(uint32_t type)
{
	return type <= SAME_LOCALS_1_MAX;
}

/* Read the type and the distance of the next frame. */
static uint32_t take_head(struct reader *r, uint32_t *distance)
{
	uint32_t type = take(r, 1);

	if (is_short(type)) {
		*distance = type & SAME_MAX;
		return type & ~(uint32_t)SAME_MAX;
	}
	if (type < SAME_LOCALS_1_EXTENDED)
		r->failed = true;
	*distance = take(r, 2);
	return type;
}

/*
 * Write a frame's head; a short form whose distance no longer fits becomes the long form. `type` is
 * from take_head().
 */
static void emit_head(uint32_t type, uint32_t distance, struct lc_bytes *out)
{
	if (is_short(type) && distance <= SAME_MAX) {
		lc_be_add1(out, type | distance);
		return;
	}
	if (is_short(type))
		type = type == SAME_LOCALS_1 ? SAME_LOCALS_1_EXTENDED : SAME_EXTENDED;
	lc_be_add1(out, type);
	lc_be_add2(out, distance);
}

static void copy_frame_types(const struct lc_method_code *code, uint32_t type, struct reader *r,
                             struct lc_bytes *out)
{
	if (type == SAME_LOCALS_1 || type == SAME_LOCALS_1_EXTENDED) {
		copy_types(code, r, 1, out);
	} else if (type >= APPEND_1 && type < FULL) {
		copy_types(code, r, type - SAME_EXTENDED, out);
	} else if (type == FULL) {
		for (int lists = 0; lists < 2; lists++) { /* locals, stack */
			uint32_t count = take(r, 2);

			lc_be_add2(out, count);
			copy_types(code, r, count, out);
		}
	}
}

/* The frames of the tail. `before` is the position of the last frame, if there is `any`. */
static void emit_tail_frames(const struct lc_method_code *code, uint32_t before, bool any,
                             struct lc_bytes *out)
{
	const uint32_t tail = code->moved[code->len];

	if (code->tail_type) { /* no locals; the exception is on the stack */
		emit_head(FULL, tail - before - any, out);
		lc_be_add2(out, 0);
		lc_be_add2(out, 1);
		lc_be_add1(out, TYPE_OBJECT);
		lc_be_add2(out, code->tail_type);
		return;
	}
	for (uint32_t i = 0; i < code->tail_frames_len; i++) {
		const struct lc_tail_frame *f = &code->tail_frames[i];

		emit_head(f->type, tail + f->at - before - any, out);
		lc_bytes_add(out, f->types, f->types_len);
		before = tail + f->at;
		any = true;
	}
}

bool lc_stackmap_emit(const struct lc_method_code *code, const uint8_t *body, uint32_t len,
                      struct lc_bytes *out)
{
	struct reader r = { .at = body, .end = body + len };
	uint32_t frames = take(&r, 2), position = 0, before = 0, distance, to;
	const uint32_t more = code->tail_type ? 1 : code->tail_frames_len;

	if (more > UINT16_MAX - frames)
		return false;
	lc_be_add2(out, frames + more);
	for (uint32_t i = 0; i < frames && !r.failed; i++) {
		uint32_t type = take_head(&r, &distance);

		position += distance + (i > 0);
		if (r.failed || !moved(code, position, &to))
			return false;
		emit_head(type, to - before - (i > 0), out);
		before = to;
		copy_frame_types(code, type, &r, out);
	}
	emit_tail_frames(code, before, frames > 0, out);
	return !r.failed && r.at == r.end;
}

bool lc_stackmap_keeps_local0(const uint8_t *body, uint32_t len, uint32_t locals)
{
	struct reader r = { .at = body, .end = body + len };
	uint32_t frames = take(&r, 2), distance;

	for (uint32_t i = 0; i < frames && !r.failed; i++) {
		uint32_t type = take_head(&r, &distance);
		uint32_t first = TYPE_OBJECT;

		if (type == SAME_LOCALS_1 || type == SAME_LOCALS_1_EXTENDED) {
			copy_types(NULL, &r, 1, NULL);
		} else if (type >= CHOP_3 && type < SAME_EXTENDED) {
			uint32_t chopped = SAME_EXTENDED - type;

			locals = locals > chopped ? locals - chopped : 0;
		} else if (type >= APPEND_1 && type < FULL) {
			locals += type - SAME_EXTENDED;
			copy_types(NULL, &r, type - SAME_EXTENDED, NULL);
		} else if (type == FULL) {
			locals = take(&r, 2);
			first = copy_types(NULL, &r, locals, NULL);
			copy_types(NULL, &r, take(&r, 2), NULL);
		}
		if (!locals || (first != TYPE_OBJECT && first != TYPE_UNINITIALIZED_THIS))
			return false;
	}
	return !r.failed;
}
