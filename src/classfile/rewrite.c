/*
 * classfile/rewrite.c - one class file in, one with hooks out.
 *
 * Everything but the changed Code attributes is copied as it is. New constants are appended to
 * the pool, so that no index changes. A method whose code would not fit keeps its bytes.
 */
#include "classfile/rewrite.h"

#include "classfile/bytes.h"
#include "classfile/code.h"
#include "classfile/hook.h"
#include "classfile/pool.h"
#include "classfile/reader.h"
#include "classfile/tables.h"

enum { POOL_COUNT_AT = 8, ATTRIBUTE_HEAD_BYTES = 6 };

struct rewrite {
	struct lc_class cls;
	const struct lc_rewrite_options *options;
	struct lc_rewrite_result counts;
	struct lc_hook_scan scan;
	struct lc_hooks hooks;
	struct lc_pool pool;
	struct lc_buf out; /* what follows the constant pool */
	size_t copied;     /* the class is in `out` up to this offset */
	/* Scratch for one method's code, scratch_len positions. */
	uint8_t *flags;
	uint32_t *moved;
	size_t scratch_len;
};

static bool lend_scratch(struct rewrite *r, struct lc_code *code)
{
	size_t len = (size_t)code->len + 1;

	if (len > r->scratch_len) {
		free(r->flags);
		free(r->moved);
		r->scratch_len = len < 4096 ? 4096 : LC_CODE_MAX_BYTES + 1;
		r->flags = malloc(r->scratch_len);
		r->moved = malloc(r->scratch_len * sizeof(*r->moved));
		if (!r->flags || !r->moved) {
			r->scratch_len = 0;
			return false;
		}
	}
	memset(r->flags, 0, len);
	code->flags = r->flags;
	code->moved = r->moved;
	return true;
}

/* Append the Code attribute `a` with its hooks in. */
static enum lc_rewrite_status emit_code(struct rewrite *r, const struct lc_attribute *a,
                                        const struct lc_code *code)
{
	size_t head;

	lc_hook_assemble(&r->hooks, &r->pool, r->options);
	lc_buf_add(&r->out, r->cls.bytes + r->copied, a->body - ATTRIBUTE_HEAD_BYTES - r->copied);
	r->copied = (size_t)a->body + a->len;
	head = r->out.len;
	lc_buf_add2(&r->out, a->name);
	lc_buf_add4(&r->out, 0);
	lc_buf_add2(&r->out, (uint32_t)code->max_stack + LC_HOOK_STACK);
	lc_buf_add2(&r->out, code->max_locals);
	lc_buf_add4(&r->out, code->new_len);
	lc_code_emit(code, r->hooks.inserts, r->hooks.len, &r->out);
	lc_code_emit_handlers(code, &r->out);
	if (!lc_tables_emit(&r->cls, code, &r->out))
		return LC_REWRITE_MALFORMED;
	if (r->out.failed || r->pool.bytes.failed)
		return LC_REWRITE_NO_MEMORY;
	if (r->pool.full)
		return LC_REWRITE_TOO_LARGE;
	lc_be_put4(r->out.data + head + 2, (uint32_t)(r->out.len - head - ATTRIBUTE_HEAD_BYTES));
	r->counts.sites += (uint32_t)r->hooks.len;
	return LC_REWRITE_DONE;
}

static enum lc_rewrite_status rewrite_code(struct rewrite *r, const struct lc_member *method,
                                           const struct lc_attribute *a)
{
	enum lc_rewrite_status status;
	struct lc_code code;

	if (!lc_code_read(&r->cls, a, &code))
		return LC_REWRITE_MALFORMED;
	if (!lend_scratch(r, &code))
		return LC_REWRITE_NO_MEMORY;
	status = lc_hook_find(&r->scan, method, &code, &r->hooks);
	if (status != LC_REWRITE_DONE || !r->hooks.len)
		return status;
	status = lc_code_layout(&code, r->hooks.inserts, r->hooks.len);
	if (status == LC_REWRITE_TOO_LARGE || code.max_stack > UINT16_MAX - LC_HOOK_STACK) {
		r->counts.methods_left++;
		return LC_REWRITE_DONE;
	}
	return status == LC_REWRITE_DONE ? emit_code(r, a, &code) : status;
}

static enum lc_rewrite_status rewrite_method(struct rewrite *r, const struct lc_member *method)
{
	const struct lc_class *c = &r->cls;
	uint32_t at = method->attributes + 2, codes = 0;
	enum lc_rewrite_status status;
	struct lc_attribute a;

	for (; lc_class_attribute(c, at, method->end, &a); at = a.body + a.len) {
		if (!lc_text_is(lc_class_utf8(c, a.name), "Code"))
			continue;
		if (codes++)
			return LC_REWRITE_MALFORMED;
		status = rewrite_code(r, method, &a);
		if (status != LC_REWRITE_DONE)
			return status;
	}
	return LC_REWRITE_DONE;
}

static enum lc_rewrite_status rewrite_methods(struct rewrite *r)
{
	const struct lc_class *c = &r->cls;
	uint32_t count = lc_be_get2(c->bytes + c->methods), at = c->methods + 2;

	for (; count; count--) {
		struct lc_member method = lc_class_member(c, at);
		enum lc_rewrite_status status = rewrite_method(r, &method);

		if (status != LC_REWRITE_DONE)
			return status;
		at = method.end;
	}
	r->counts.skipped_constant = r->scan.skipped_constant;
	r->counts.own_field_bytes = r->scan.own_bytes;
	if (r->counts.sites)
		return LC_REWRITE_DONE;
	return r->counts.methods_left ? LC_REWRITE_TOO_LARGE : LC_REWRITE_NOTHING;
}

/* Put the parts together: the class up to its pool, the new constants, the rest. */
static enum lc_rewrite_status join(struct rewrite *r)
{
	const struct lc_class *c = &r->cls;
	size_t rest = c->len - r->copied;
	size_t len = c->pool_end + r->pool.bytes.len + r->out.len + rest;
	uint8_t *p = malloc(len);

	if (!p)
		return LC_REWRITE_NO_MEMORY;
	r->counts.bytes = p;
	r->counts.len = len;
	memcpy(p, c->bytes, c->pool_end);
	lc_be_put2(p + POOL_COUNT_AT, r->pool.next);
	p += c->pool_end;
	memcpy(p, r->pool.bytes.data, r->pool.bytes.len);
	p += r->pool.bytes.len;
	memcpy(p, r->out.data, r->out.len);
	memcpy(p + r->out.len, c->bytes + r->copied, rest);
	return LC_REWRITE_DONE;
}

enum lc_rewrite_status lc_rewrite_class(const uint8_t *in, size_t len,
                                        const struct lc_rewrite_options *options,
                                        struct lc_rewrite_result *out)
{
	struct rewrite r = { .options = options };
	enum lc_rewrite_status status = lc_class_open(in, len, &r.cls);

	*out = (struct lc_rewrite_result){ 0 };
	if (status != LC_REWRITE_DONE)
		return status;
	r.copied = r.cls.pool_end;
	r.pool.next = r.cls.pool_count;
	if (lc_text_is(lc_class_name(&r.cls, r.cls.this_class), LC_HOOK_CLASS))
		status = LC_REWRITE_NOTHING;
	else if (!lc_hook_scan_open(&r.scan, &r.cls, options))
		status = LC_REWRITE_NO_MEMORY;
	else
		status = rewrite_methods(&r);
	if (status == LC_REWRITE_DONE)
		status = join(&r);
	*out = r.counts;
	lc_hook_scan_close(&r.scan);
	lc_hooks_close(&r.hooks);
	free(r.pool.bytes.data);
	free(r.out.data);
	free(r.flags);
	free(r.moved);
	lc_class_close(&r.cls);
	return status;
}

const char *lc_rewrite_status_name(enum lc_rewrite_status s)
{
	static const char *const names[LC_REWRITE_STATUS_COUNT] = {
		[LC_REWRITE_DONE] = "rewritten",
		[LC_REWRITE_NOTHING] = "no site",
		[LC_REWRITE_MALFORMED] = "malformed",
		[LC_REWRITE_UNSUPPORTED] = "unsupported version",
		[LC_REWRITE_TOO_LARGE] = "too large",
		[LC_REWRITE_NO_MEMORY] = "no memory",
	};

	return (unsigned)s < LC_REWRITE_STATUS_COUNT ? names[s] : "unknown";
}
