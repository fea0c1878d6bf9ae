/* SPDX-License-Identifier: Apache-2.0 */
/* classfile/tables.c - relocates the positions in debug tables and in type annotations. */
#include "src/classfile/tables.h"

#include "src/classfile/stackmap.h"

enum table { UNKNOWN, STACKMAP, LINES, VARIABLES, ANNOTATIONS };

enum { NESTING_MAX = 32, LINE_BYTES = 4, VARIABLE_BYTES = 10 };

static enum table table_of(const struct lc_class *c, uint32_t name)
{
	struct lc_class_text t = lc_class_utf8(c, name);

	switch (t.data ? t.len : 0) {
	case 13:
		return c->major >= LC_CLASS_MAJOR_STACKMAP && lc_class_text_is(t, "StackMapTable")
		           ? STACKMAP
		           : UNKNOWN;
	case 15:
		return lc_class_text_is(t, "LineNumberTable") ? LINES : UNKNOWN;
	case 18:
		return lc_class_text_is(t, "LocalVariableTable") ? VARIABLES : UNKNOWN;
	case 22:
		return lc_class_text_is(t, "LocalVariableTypeTable") ? VARIABLES : UNKNOWN;
	case 29:
		return lc_class_text_is(t, "RuntimeVisibleTypeAnnotations") ? ANNOTATIONS : UNKNOWN;
	case 31:
		return lc_class_text_is(t, "RuntimeInvisibleTypeAnnotations") ? ANNOTATIONS
		                                                              : UNKNOWN;
	default:
		return UNKNOWN;
	}
}

/* Relocate the position at `p` in place; the end of the code counts as one. */
static bool move_position(const struct lc_method_code *code, uint8_t *p)
{
	uint32_t at = lc_be_get2(p);

	if (at > code->len)
		return false;
	lc_be_put2(p, code->moved[at]);
	return true;
}

/* The new position of `at`; a range that begins with the code now begins with the prologue. */
static uint32_t moved_start(const struct lc_method_code *code, uint32_t at)
{
	return at ? code->moved[at] : 0;
}

static bool move_line(const struct lc_method_code *code, uint8_t *p)
{
	uint32_t at = lc_be_get2(p);

	if (at > code->len)
		return false;
	lc_be_put2(p, moved_start(code, at));
	return true;
}

/* Relocate the range at `p`, a position and a length, in place. */
static bool move_range(const struct lc_method_code *code, uint8_t *p)
{
	uint32_t start = lc_be_get2(p), end = start + lc_be_get2(p + 2);

	if (end > code->len)
		return false;
	lc_be_put2(p, moved_start(code, start));
	lc_be_put2(p + 2, end ? code->moved[end] - moved_start(code, start) : 0);
	return true;
}

/* Relocate a table whose entries begin with a position, or with a range. */
static bool move_table(const struct lc_method_code *code, uint8_t *body, uint32_t len,
                       uint32_t step)
{
	if (len < 2 || len - 2 != step * lc_be_get2(body))
		return false;
	for (uint32_t at = 2; at < len; at += step)
		if (!(step == LINE_BYTES ? move_line(code, body + at)
		                         : move_range(code, body + at)))
			return false;
	return true;
}

/* A cursor over type annotations; a read beyond their end gives 0 and sets failed. */
struct cursor {
	uint8_t *at;
	uint8_t *end;
	bool failed;
};

static uint8_t *step_over(struct cursor *r, uint32_t bytes)
{
	static uint8_t zeros[4];
	uint8_t *p = r->at;

	if ((size_t)(r->end - r->at) < bytes) {
		r->failed = true;
		r->at = r->end;
		return zeros;
	}
	r->at += bytes;
	return p;
}

static void skip_annotation(struct cursor *r, int nesting);

static void skip_value(struct cursor *r, int nesting)
{
	uint32_t count;

	if (nesting >= NESTING_MAX)
		r->failed = true;
	if (r->failed)
		return;
	switch (*step_over(r, 1)) {
	case 'e':
		step_over(r, 4);
		break;
	case '@':
		skip_annotation(r, nesting + 1);
		break;
	case '[':
		for (count = lc_be_get2(step_over(r, 2)); count && !r->failed; count--)
			skip_value(r, nesting + 1);
		break;
	default:
		step_over(r, 2); /* a constant, or a class */
	}
}

static void skip_annotation(struct cursor *r, int nesting)
{
	uint32_t pairs = lc_be_get2(step_over(r, 4) + 2);

	for (; pairs && !r->failed; pairs--) {
		step_over(r, 2);
		skip_value(r, nesting);
	}
}

/* Relocate the target of an annotation. Only the kinds of targets that code has may appear here. */
static bool move_target(const struct lc_method_code *code, struct cursor *r)
{
	uint8_t type = *step_over(r, 1);
	uint32_t count;

	switch (type) {
	case 0x40: /* local variable */
	case 0x41: /* resource */
		for (count = lc_be_get2(step_over(r, 2)); count && !r->failed; count--) {
			uint8_t *range = step_over(r, 6);

			if (r->failed || !move_range(code, range))
				return false;
		}
		return !r->failed;
	case 0x42: /* exception handler: an index */
		step_over(r, 2);
		return !r->failed;
	case 0x43: /* instanceof, new, ::new, :: */
	case 0x44:
	case 0x45:
	case 0x46:
	case 0x47: /* cast and type arguments: an index follows */
	case 0x48:
	case 0x49:
	case 0x4A:
	case 0x4B: {
		uint8_t *position = step_over(r, type >= 0x47 ? 3 : 2);

		return !r->failed && move_position(code, position);
	}
	default:
		return false;
	}
}

static bool move_annotations(const struct lc_method_code *code, struct cursor r)
{
	uint32_t count = lc_be_get2(step_over(&r, 2));

	for (; count && !r.failed; count--) {
		if (!move_target(code, &r))
			return false;
		step_over(&r, 2 * (uint32_t)*step_over(&r, 1)); /* the type path */
		skip_annotation(&r, 0);
	}
	return !r.failed && r.at == r.end;
}

enum emitted { KEPT, LEFT_OUT, BROKEN };

static enum emitted emit_body(const struct lc_class *c, const struct lc_method_code *code,
                              const struct lc_attribute *a, enum table table, struct lc_bytes *out)
{
	const uint8_t *body = c->bytes + a->body;
	size_t at = out->len;
	bool moved;

	if (table == STACKMAP)
		return lc_stackmap_emit(code, body, a->len, out) ? KEPT : BROKEN;
	if (!a->len)
		return table == ANNOTATIONS ? LEFT_OUT : BROKEN;
	lc_bytes_add(out, body, a->len);
	if (out->failed)
		return KEPT; /* the failure is found at the end */
	if (table == ANNOTATIONS) {
		moved = move_annotations(
		    code, (struct cursor){ .at = out->data + at, .end = out->data + out->len });
		return moved ? KEPT : LEFT_OUT;
	}
	moved =
	    move_table(code, out->data + at, a->len, table == LINES ? LINE_BYTES : VARIABLE_BYTES);
	return moved ? KEPT : BROKEN;
}

/* Append the lines of the tail to the LineNumberTable whose info[] begins at `start`. */
static bool add_lines(const struct lc_method_code *code, size_t start, struct lc_bytes *out)
{
	uint32_t count;

	if (out->failed)
		return true;
	count = lc_be_get2(out->data + start) + code->tail_lines_len;
	if (count > UINT16_MAX)
		return false;
	lc_be_put2(out->data + start, count);
	for (uint32_t i = 0; i < code->tail_lines_len; i++) {
		lc_be_add2(out, code->moved[code->len] + code->tail_lines[i].at);
		lc_be_add2(out, code->tail_lines[i].line);
	}
	return true;
}

/* Append a StackMapTable that holds the frames of the tail alone. */
static void emit_new_stackmap(const struct lc_method_code *code, struct lc_bytes *out)
{
	static const uint8_t no_frames[2];
	size_t start = out->len;

	lc_be_add2(out, code->stackmap_name);
	lc_be_add4(out, 0);
	(void)lc_stackmap_emit(code, no_frames, sizeof(no_frames), out);
	if (!out->failed)
		lc_be_put4(out->data + start + 2, (uint32_t)(out->len - start - 6));
}

bool lc_tables_emit(const struct lc_class *c, const struct lc_method_code *code,
                    struct lc_bytes *out)
{
	uint32_t at = code->attributes + 2, kept = 0;
	size_t head = out->len;
	struct lc_attribute a;
	bool mapped = false, lines = false;

	lc_be_add2(out, 0); /* the count, which is known at the end */
	for (; lc_class_attribute(c, at, code->end, &a); at = a.body + a.len) {
		enum table table = table_of(c, a.name);
		size_t start = out->len;
		enum emitted emitted;

		if (table == UNKNOWN)
			continue;
		lc_be_add2(out, a.name);
		lc_be_add4(out, 0);
		emitted = emit_body(c, code, &a, table, out);
		if (emitted == BROKEN)
			return false;
		if (table == LINES && !lines && !add_lines(code, start + 6, out))
			return false;
		lines |= table == LINES;
		if (out->failed)
			return true;
		if (emitted == LEFT_OUT) {
			out->len = start;
			continue;
		}
		lc_be_put4(out->data + start + 2, (uint32_t)(out->len - start - 6));
		kept++;
		mapped |= table == STACKMAP;
	}
	if ((code->tail_type || code->tail_frames_len) && !mapped &&
	    c->major >= LC_CLASS_MAJOR_STACKMAP) {
		emit_new_stackmap(code, out);
		kept++;
	}
	if (!out->failed)
		lc_be_put2(out->data + head, kept);
	return true;
}

static bool find_stackmap(const struct lc_class *c, const struct lc_method_code *code,
                          struct lc_attribute *out)
{
	uint32_t at = code->attributes + 2;

	for (; lc_class_attribute(c, at, code->end, out); at = out->body + out->len)
		if (table_of(c, out->name) == STACKMAP)
			return true;
	return false;
}

/* Count the arguments in a method descriptor. */
static uint32_t count_arguments(struct lc_class_text descriptor)
{
	uint32_t count = 0;

	for (size_t i = 1; i < descriptor.len && descriptor.data[i] != ')'; i++, count++) {
		while (i + 1 < descriptor.len && descriptor.data[i] == '[')
			i++;
		if (descriptor.data[i] == 'L')
			while (i + 1 < descriptor.len && descriptor.data[i] != ';')
				i++;
	}
	return count;
}

bool lc_tables_keep_local0(const struct lc_class *c, const struct lc_member *method,
                           const struct lc_method_code *code)
{
	struct lc_attribute frames;

	if (!find_stackmap(c, code, &frames))
		return true;
	return lc_stackmap_keeps_local0(c->bytes + frames.body, frames.len,
	                                1 + count_arguments(lc_class_utf8(c, method->descriptor)));
}
