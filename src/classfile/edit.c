/* SPDX-License-Identifier: Apache-2.0 */
/* classfile/edit.c - copies a class file and puts changed code in the place of the old code. */
#include "src/classfile/edit.h"

#include <stdlib.h>
#include <string.h>

#include "src/classfile/tables.h"

enum { POOL_COUNT_AT = 8, ATTRIBUTE_HEAD_BYTES = 6 };

enum lc_rewrite_status lc_edit_open(struct lc_edit *e, const uint8_t *in, size_t len)
{
	enum lc_rewrite_status status;

	*e = (struct lc_edit){ 0 };
	status = lc_class_open(in, len, &e->cls);
	if (status == LC_REWRITE_DONE) {
		e->copied = e->cls.pool_end;
		e->pool.next = e->cls.pool_count;
	}
	return status;
}

void lc_edit_close(struct lc_edit *e)
{
	free(e->pool.bytes.data);
	free(e->out.data);
	free(e->flags);
	free(e->moved);
	lc_class_close(&e->cls);
}

enum lc_rewrite_status lc_edit_methods(struct lc_edit *e,
                                       enum lc_rewrite_status (*visit)(void *user,
                                                                       const struct lc_member *,
                                                                       const struct lc_attribute *),
                                       void *user)
{
	const struct lc_class *c = &e->cls;
	uint32_t count = lc_be_get2(c->bytes + c->methods), end = c->methods + 2;

	for (; count; count--) {
		struct lc_member method = lc_class_member(c, end);
		uint32_t at = method.attributes + 2, codes = 0;
		struct lc_attribute a;

		for (; lc_class_attribute(c, at, method.end, &a); at = a.body + a.len) {
			enum lc_rewrite_status status;

			if (!lc_class_text_is(lc_class_utf8(c, a.name), "Code"))
				continue;
			if (codes++)
				return LC_REWRITE_MALFORMED;
			status = visit(user, &method, &a);
			if (status != LC_REWRITE_DONE)
				return status;
		}
		end = method.end;
	}
	return LC_REWRITE_DONE;
}

static bool lend_scratch(struct lc_edit *e, struct lc_method_code *code)
{
	size_t len = (size_t)code->len + 1;

	if (len > e->scratch_len) {
		free(e->flags);
		free(e->moved);
		e->scratch_len = len < 4096 ? 4096 : LC_CODE_MAX_BYTES + 1;
		e->flags = malloc(e->scratch_len);
		e->moved = malloc(e->scratch_len * sizeof(*e->moved));
		if (!e->flags || !e->moved) {
			e->scratch_len = 0;
			return false;
		}
	}
	memset(e->flags, 0, len);
	code->flags = e->flags;
	code->moved = e->moved;
	return true;
}

enum lc_rewrite_status lc_edit_read(struct lc_edit *e, const struct lc_attribute *a,
                                    struct lc_method_code *code)
{
	if (!lc_method_code_read(&e->cls, a, code))
		return LC_REWRITE_MALFORMED;
	return lend_scratch(e, code) ? LC_REWRITE_DONE : LC_REWRITE_NO_MEMORY;
}

enum lc_rewrite_status lc_edit_put(struct lc_edit *e, const struct lc_attribute *a,
                                   const struct lc_method_code *code,
                                   const struct lc_insert *inserts, size_t len, uint32_t max_stack)
{
	size_t head;

	lc_bytes_add(&e->out, e->cls.bytes + e->copied, a->body - ATTRIBUTE_HEAD_BYTES - e->copied);
	e->copied = (size_t)a->body + a->len;
	head = e->out.len;
	lc_be_add2(&e->out, a->name);
	lc_be_add4(&e->out, 0);
	lc_be_add2(&e->out, max_stack);
	lc_be_add2(&e->out, code->max_locals);
	lc_be_add4(&e->out, code->new_len);
	lc_method_code_emit(code, inserts, len, &e->out);
	lc_method_code_emit_handlers(code, &e->out);
	if (!lc_tables_emit(&e->cls, code, &e->out))
		return LC_REWRITE_MALFORMED;
	if (e->out.failed || e->pool.bytes.failed)
		return LC_REWRITE_NO_MEMORY;
	if (e->pool.full)
		return LC_REWRITE_TOO_LARGE;
	lc_be_put4(e->out.data + head + 2, (uint32_t)(e->out.len - head - ATTRIBUTE_HEAD_BYTES));
	return LC_REWRITE_DONE;
}

enum lc_rewrite_status lc_edit_join(const struct lc_edit *e, uint8_t **bytes, size_t *len)
{
	const struct lc_class *c = &e->cls;
	size_t rest = c->len - e->copied;
	uint8_t *p = malloc(c->pool_end + e->pool.bytes.len + e->out.len + rest);

	if (!p)
		return LC_REWRITE_NO_MEMORY;
	*bytes = p;
	*len = c->pool_end + e->pool.bytes.len + e->out.len + rest;
	memcpy(p, c->bytes, c->pool_end);
	lc_be_put2(p + POOL_COUNT_AT, e->pool.next);
	for (unsigned i = 0; i < e->handles_len; i++) {
		p[e->handles[i].at + 1] = e->handles[i].kind;
		lc_be_put2(p + e->handles[i].at + 2, e->handles[i].ref);
	}
	p += c->pool_end;
	memcpy(p, e->pool.bytes.data, e->pool.bytes.len);
	p += e->pool.bytes.len;
	memcpy(p, e->out.data, e->out.len);
	memcpy(p + e->out.len, c->bytes + e->copied, rest);
	return LC_REWRITE_DONE;
}
