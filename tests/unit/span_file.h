/* SPDX-License-Identifier: Apache-2.0 */
/* span_file.h - passes class files made by hand through lc_span_rewrite(), for its unit tests. */
#ifndef LC_TESTS_SPAN_FILE_H
#define LC_TESTS_SPAN_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/classfile/span_rewrite.h"
#include "tests/unit/class_file.h"

#define CODE(...)                                                                                  \
	{                                                                                          \
		.code = (const uint8_t[]){ __VA_ARGS__ },                                          \
		.len = sizeof((const uint8_t[]){ __VA_ARGS__ })                                    \
	}

enum { PUBLIC = 1, STATIC = 8, BRIDGE = 0x41, ABSTRACT = 0x401 };
enum { BOTH = LC_SPAN_STREAMS | LC_SPAN_TASKS, NOP = 0, POP = 87, GOTO = 167, RETURN = 177 };
enum { BEGIN = 7, END = 3, TAIL = 4 }; /* bytes of aload_0; sipush; call, and so on */

static inline void rewrite_as(struct class_file *c, unsigned what, uint32_t is,
                              struct rewritten *out)
{
	size_t len;
	uint8_t *bytes = class_end(c, &len), *before = malloc(len);

	assert_non_null(before);
	memcpy(before, bytes, len);
	*out = (struct rewritten){ 0 };
	out->status = lc_span_rewrite(bytes, len, what, is, &out->result);
	assert_memory_equal(before, bytes, len); /* the input is untouched */
	free(before);
	free(bytes);
	class_free(c);
	if (out->status == LC_REWRITE_DONE)
		assert_int_equal(lc_class_open(out->result.bytes, out->result.len, &out->cls),
		                 LC_REWRITE_DONE);
	else
		assert_null(out->result.bytes);
}

/* The name and descriptor of the LocusSpan method that is called at `insn`. */
static inline const char *called(const struct rewritten *r, const uint8_t *insn)
{
	static char text[128];
	struct lc_class_ref ref;

	assert_int_equal(*insn, LC_OP_INVOKESTATIC);
	assert_true(lc_class_method_ref(&r->cls, lc_be_get2(insn + 1), &ref));
	assert_true(lc_class_text_is(ref.holder, LC_SPAN_CLASS));
	(void)snprintf(text, sizeof(text), "%.*s%.*s", (int)ref.name.len, ref.name.data,
	               (int)ref.descriptor.len, ref.descriptor.data);
	return text;
}

/* The tail is there, and the last handler leads to it from all but the prologue. */
static inline void assert_ends(const struct rewritten *r, unsigned method, uint32_t prologue)
{
	struct lc_method_code code = rewritten_code(r, method);
	const uint8_t *h = code.handlers + LC_HANDLER_BYTES * (code.handlers_len - 1);
	uint32_t tail = code.len - TAIL;

	assert_string_equal(called(r, code.insns + tail), "end()V");
	assert_int_equal(code.insns[tail + 3], LC_OP_ATHROW);
	assert_true(code.handlers_len > 0);
	assert_int_equal(lc_be_get2(h), prologue);
	assert_int_equal(lc_be_get2(h + 2), tail);
	assert_int_equal(lc_be_get2(h + 4), tail);
	assert_int_equal(lc_be_get2(h + 6), 0);
}

#endif
