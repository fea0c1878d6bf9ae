/* SPDX-License-Identifier: Apache-2.0 */
/* classfile/hook_calls.c - makes a class file of the constant pool, and looks at each call. */
#include "src/classfile/hook_calls.h"

#include <stdlib.h>
#include <string.h>

#include "src/classfile/big_endian.h"
#include "src/classfile/method_code.h"
#include "src/classfile/rewrite.h"
#include "src/classfile/span_rewrite.h"

enum { HEAD_BYTES = 10, OWN_CONSTANTS = 2, MAJOR = 52, POOL_MAX = 65535 };

/* A class named "x", which stands behind the others, and then no member. */
static const uint8_t name_of_class[] = { LC_POOL_UTF8, 0, 1, 'x' };
enum { TAIL_BYTES = sizeof(name_of_class) + 3 + 14 };

static uint8_t *put2(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
	return at + 2;
}

bool lc_hook_calls_open(struct lc_hook_calls *out, const uint8_t *pool, size_t len, uint32_t count)
{
	static const uint8_t magic[] = { 0xca, 0xfe, 0xba, 0xbe, 0, 0 };
	uint8_t *bytes, *at;

	if (!count || count + OWN_CONSTANTS > POOL_MAX)
		return false;
	bytes = calloc(1, HEAD_BYTES + len + TAIL_BYTES);
	if (!bytes)
		return false;
	memcpy(bytes, magic, sizeof(magic));
	at = put2(put2(bytes + sizeof(magic), MAJOR), count + OWN_CONSTANTS);
	memcpy(at, pool, len);
	memcpy(at + len, name_of_class, sizeof(name_of_class));
	at += len + sizeof(name_of_class);
	*at = LC_POOL_CLASS;
	at = put2(at + 1, count);
	put2(at + 2, count + 1); /* behind access_flags */
	if (lc_class_open(bytes, HEAD_BYTES + len + TAIL_BYTES, &out->class) != LC_REWRITE_DONE) {
		free(bytes);
		return false;
	}
	out->bytes = bytes;
	return true;
}

void lc_hook_calls_close(struct lc_hook_calls *h)
{
	lc_class_close(&h->class);
	free(h->bytes);
}

static bool is_ours(const struct lc_class *c, uint32_t index)
{
	struct lc_class_ref ref;

	return lc_class_method_ref(c, index, &ref) &&
	       (lc_class_text_is(ref.holder, LC_HOOK_CLASS) ||
	        lc_class_text_is(ref.holder, LC_SPAN_CLASS));
}

bool lc_hook_calls_in(const struct lc_hook_calls *h, const uint8_t *code, size_t len)
{
	const struct lc_method_code method = { .insns = code, .len = (uint32_t)len };
	uint32_t bytes;

	for (uint32_t at = 0; at < len && (bytes = lc_method_insn_bytes(&method, at)); at += bytes)
		if (code[at] == LC_OP_INVOKESTATIC && is_ours(&h->class, lc_be_get2(code + at + 1)))
			return true;
	return false;
}
