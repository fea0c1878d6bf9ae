/* SPDX-License-Identifier: Apache-2.0 */
/* classfile/method_file.c - writes the class file and reads it again. */
#include "src/classfile/method_file.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/classfile/big_endian.h"

enum {
	MAJOR = 52,
	OWN_CONSTANTS = 6,
	POOL_MAX = 65535,
	CODE_HEAD_BYTES = 8, /* max_stack, max_locals, code_length */
	CODE_TAIL_BYTES = 4, /* no handlers; the count of attributes */
	LOCAL_BYTES = 10,
	LOCALS_MAX = 6000,
	REST_BYTES = 256, /* of a file without names, pool, bytecode and local variables */
};

static void add_utf8(struct lc_bytes *b, const char *text)
{
	const uint8_t tag = LC_POOL_UTF8;

	lc_bytes_add(b, &tag, 1);
	lc_be_add2(b, (uint32_t)strlen(text));
	lc_bytes_add(b, text, strlen(text));
}

/* The pool with constants of our own behind the class's. */
static void add_pool(struct lc_bytes *b, const struct lc_method_source *s)
{
	static const uint8_t head[] = { 0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, MAJOR };
	const uint8_t tag = LC_POOL_CLASS;

	lc_bytes_add(b, head, sizeof(head));
	lc_be_add2(b, s->pool_count + OWN_CONSTANTS);
	lc_bytes_add(b, s->pool, s->pool_bytes);
	add_utf8(b, s->class_name);
	lc_bytes_add(b, &tag, 1);
	lc_be_add2(b, s->pool_count);
	add_utf8(b, s->name);
	add_utf8(b, s->descriptor);
	add_utf8(b, "Code");
	add_utf8(b, "LocalVariableTable");
}

static void add_locals(struct lc_bytes *b, const struct lc_method_source *s)
{
	lc_be_add2(b, s->pool_count + 5);
	lc_be_add4(b, (uint32_t)(2 + LOCAL_BYTES * s->locals_len));
	lc_be_add2(b, (uint32_t)s->locals_len);
	for (size_t i = 0; i < s->locals_len; i++) {
		lc_be_add2(b, s->locals[i].from);
		lc_be_add2(b, s->locals[i].len);
		lc_be_add2(b, s->locals[i].name);
		lc_be_add2(b, s->locals[i].descriptor);
		lc_be_add2(b, s->locals[i].slot);
	}
}

static void add_method(struct lc_bytes *b, const struct lc_method_source *s)
{
	/* The JVM does not tell the size of the stack. No instruction adds more than two words. */
	const uint32_t stack = s->code_bytes < UINT16_MAX / 2 ? s->code_bytes * 2 : UINT16_MAX;
	const uint32_t locals = s->locals_len ? (uint32_t)(8 + LOCAL_BYTES * s->locals_len) : 0;

	lc_be_add2(b, s->access_flags);
	lc_be_add2(b, s->pool_count + 2);
	lc_be_add2(b, s->pool_count + 3);
	lc_be_add2(b, 1); /* attribute */
	lc_be_add2(b, s->pool_count + 4);
	lc_be_add4(b, CODE_HEAD_BYTES + s->code_bytes + CODE_TAIL_BYTES + locals);
	lc_be_add2(b, stack);
	lc_be_add2(b, s->max_locals);
	lc_be_add4(b, s->code_bytes);
	lc_bytes_add(b, s->code, s->code_bytes);
	lc_be_add2(b, 0); /* handlers */
	lc_be_add2(b, locals > 0);
	if (locals)
		add_locals(b, s);
}

static bool mark(struct lc_method_code *code)
{
	uint32_t bytes;

	for (uint32_t at = 0; at < code->len; at += bytes) {
		bytes = lc_method_insn_bytes(code, at);
		code->flags[at] |= LC_AT_START;
		if (!bytes || !lc_method_code_mark_targets(code, at))
			return false;
	}
	return true;
}

static bool read_method(struct lc_method_file *f)
{
	struct lc_attribute a;

	f->method = lc_class_member(&f->cls, f->cls.methods + 2);
	if (!lc_class_attribute(&f->cls, f->method.attributes + 2, f->method.end, &a) ||
	    !lc_method_code_read(&f->cls, &a, &f->code))
		return false;
	f->flags = calloc(f->code.len + 1, 1);
	f->code.flags = f->flags;
	return f->flags && mark(&f->code);
}

static bool fits(const struct lc_method_source *s)
{
	return s->pool_count && s->pool_count + OWN_CONSTANTS <= POOL_MAX &&
	       s->locals_len <= LOCALS_MAX && s->code_bytes <= LC_CODE_MAX_BYTES &&
	       strlen(s->class_name) <= UINT16_MAX && strlen(s->name) <= UINT16_MAX &&
	       strlen(s->descriptor) <= UINT16_MAX;
}

/* Files are kept, so they have no room to spare. At most so many bytes are added. */
static struct lc_bytes room_for(const struct lc_method_source *s)
{
	const size_t names = strlen(s->class_name) + strlen(s->name) + strlen(s->descriptor);
	struct lc_bytes b = { .cap = REST_BYTES + names + s->pool_bytes + s->code_bytes +
		                     LOCAL_BYTES * s->locals_len };

	b.data = malloc(b.cap);
	b.failed = !b.data;
	return b;
}

bool lc_method_file_open(struct lc_method_file *out, const struct lc_method_source *s)
{
	struct lc_bytes b;

	*out = (struct lc_method_file){ 0 };
	if (!fits(s))
		return false;
	b = room_for(s);
	add_pool(&b, s);
	lc_be_add2(&b, 0); /* access flags */
	lc_be_add2(&b, s->pool_count + 1);
	lc_be_add4(&b, 0); /* super class, interfaces */
	lc_be_add2(&b, 0); /* fields */
	lc_be_add2(&b, s->code_bytes > 0);
	if (s->code_bytes)
		add_method(&b, s);
	lc_be_add2(&b, 0); /* attributes */
	out->bytes = b.data;
	if (!b.failed && lc_class_open(b.data, b.len, &out->cls) == LC_REWRITE_DONE &&
	    (!s->code_bytes || read_method(out)))
		return true;
	lc_method_file_close(out);
	return false;
}

void lc_method_file_close(struct lc_method_file *f)
{
	lc_class_close(&f->cls);
	free(f->bytes);
	free(f->flags);
	*f = (struct lc_method_file){ 0 };
}
