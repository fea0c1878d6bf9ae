/* SPDX-License-Identifier: Apache-2.0 */
/* classfile/hook_calls.c - looks at each call. */
#include "src/classfile/hook_calls.h"

#include "src/classfile/big_endian.h"
#include "src/classfile/method_code.h"
#include "src/classfile/rewrite.h"
#include "src/classfile/span_rewrite.h"

bool lc_hook_calls_is_ours(const struct lc_class *c, uint32_t index)
{
	struct lc_class_ref ref;

	return lc_class_method_ref(c, index, &ref) &&
	       (lc_class_text_is(ref.holder, LC_HOOK_CLASS) ||
	        lc_class_text_is(ref.holder, LC_SPAN_CLASS));
}

bool lc_hook_calls_in(const struct lc_class *c, const uint8_t *code, size_t len)
{
	const struct lc_method_code method = { .insns = code, .len = (uint32_t)len };
	uint32_t bytes;

	for (uint32_t at = 0; at < len && (bytes = lc_method_insn_bytes(&method, at)); at += bytes)
		if (code[at] == LC_OP_INVOKESTATIC &&
		    lc_hook_calls_is_ours(c, lc_be_get2(code + at + 1)))
			return true;
	return false;
}
