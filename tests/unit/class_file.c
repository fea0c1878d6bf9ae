/* SPDX-License-Identifier: Apache-2.0 */
/* class_file.c - writes class files by hand, for tests of the rewriter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/class_file.h"

void class_begin(struct class_file *c, const char *name)
{
	*c = (struct class_file){ .major = 61, .name = name, .method_flags = 8, .pool_count = 1 };
}

void class_free(struct class_file *c)
{
	free(c->pool.data);
	free(c->fields.data);
	free(c->methods.data);
	free(c->bootstraps.data);
	*c = (struct class_file){ 0 };
}

static uint16_t number(struct class_file *c)
{
	assert_true(c->pool_count < UINT16_MAX);
	return c->pool_count++;
}

uint16_t class_utf8(struct class_file *c, const char *s)
{
	lc_be_add1(&c->pool, LC_POOL_UTF8);
	lc_be_add2(&c->pool, (uint32_t)strlen(s));
	lc_bytes_add(&c->pool, s, strlen(s));
	return number(c);
}

uint16_t class_class(struct class_file *c, const char *name)
{
	uint16_t text = class_utf8(c, name);

	lc_be_add1(&c->pool, LC_POOL_CLASS);
	lc_be_add2(&c->pool, text);
	return number(c);
}

uint16_t class_integer(struct class_file *c, int32_t value)
{
	lc_be_add1(&c->pool, LC_POOL_INTEGER);
	lc_be_add4(&c->pool, (uint32_t)value);
	return number(c);
}

static uint16_t name_and_type(struct class_file *c, const char *name, const char *descriptor)
{
	uint16_t n = class_utf8(c, name), d = class_utf8(c, descriptor);

	lc_be_add1(&c->pool, LC_POOL_NAME_AND_TYPE);
	lc_be_add2(&c->pool, n);
	lc_be_add2(&c->pool, d);
	return number(c);
}

static uint16_t with_pair(struct class_file *c, uint8_t tag, uint16_t first, const char *name,
                          const char *descriptor)
{
	uint16_t pair = name_and_type(c, name, descriptor);

	lc_be_add1(&c->pool, tag);
	lc_be_add2(&c->pool, first);
	lc_be_add2(&c->pool, pair);
	return number(c);
}

uint16_t class_method_ref(struct class_file *c, const char *holder, const char *name,
                          const char *descriptor)
{
	return with_pair(c, LC_POOL_METHODREF, class_class(c, holder), name, descriptor);
}

uint16_t class_field_ref(struct class_file *c, const char *holder, const char *name,
                         const char *descriptor)
{
	return with_pair(c, LC_POOL_FIELDREF, class_class(c, holder), name, descriptor);
}

uint16_t class_interface_ref(struct class_file *c, const char *holder, const char *name,
                             const char *descriptor)
{
	return with_pair(c, LC_POOL_INTERFACE_METHODREF, class_class(c, holder), name, descriptor);
}

uint16_t class_method_handle(struct class_file *c, uint8_t kind, uint16_t ref)
{
	const uint16_t n = number(c);

	lc_bytes_add(&c->pool, (const uint8_t[]){ 15, kind }, 2);
	lc_be_add2(&c->pool, ref);
	return n;
}

uint16_t class_invoke_dynamic(struct class_file *c, const char *descriptor)
{
	return with_pair(c, LC_POOL_INVOKE_DYNAMIC, 0, "make", descriptor);
}

void class_field(struct class_file *c, uint16_t flags, const char *descriptor)
{
	class_named_field(c, flags, "f", descriptor);
}

void class_named_field(struct class_file *c, uint16_t flags, const char *name,
                       const char *descriptor)
{
	uint16_t n = class_utf8(c, name), d = class_utf8(c, descriptor);

	lc_be_add2(&c->fields, flags);
	lc_be_add2(&c->fields, n);
	lc_be_add2(&c->fields, d);
	lc_be_add2(&c->fields, 0);
	c->fields_len++;
}

void class_attribute(struct class_file *c, struct code_spec *spec, const char *name,
                     const uint8_t *body, size_t len)
{
	lc_be_add2(&spec->attributes, class_utf8(c, name));
	lc_be_add4(&spec->attributes, (uint32_t)len);
	lc_bytes_add(&spec->attributes, body, len);
	spec->attributes_len++;
}

void class_method(struct class_file *c, const char *name, const char *descriptor,
                  struct code_spec *spec)
{
	uint16_t n = class_utf8(c, name), d = class_utf8(c, descriptor),
	         code = class_utf8(c, "Code");

	c->methods_len++;
	lc_be_add2(&c->methods, c->method_flags);
	lc_be_add2(&c->methods, n);
	lc_be_add2(&c->methods, d);
	lc_be_add2(&c->methods, spec != NULL);
	if (!spec)
		return;
	lc_be_add2(&c->methods, code);
	lc_be_add4(&c->methods, 12 + spec->len + LC_HANDLER_BYTES * spec->handlers_len +
	                            (uint32_t)spec->attributes.len);
	lc_be_add2(&c->methods, spec->max_stack ? spec->max_stack : 10);
	lc_be_add2(&c->methods, 10);
	lc_be_add4(&c->methods, spec->len);
	lc_bytes_add(&c->methods, spec->code, spec->len);
	lc_be_add2(&c->methods, spec->handlers_len);
	lc_bytes_add(&c->methods, spec->handlers, LC_HANDLER_BYTES * (size_t)spec->handlers_len);
	lc_be_add2(&c->methods, spec->attributes_len);
	lc_bytes_add(&c->methods, spec->attributes.data, spec->attributes.len);
	free(spec->attributes.data);
}

uint8_t *class_end(const struct class_file *c, size_t *len)
{
	struct class_file copy = *c;
	struct lc_bytes out = { 0 };
	uint16_t this_class, super, interfaces[4], n = 0, bootstraps;

	copy.pool = (struct lc_bytes){ 0 };
	lc_bytes_add(&copy.pool, c->pool.data, c->pool.len);
	this_class = class_class(&copy, c->name);
	super = c->super ? class_class(&copy, c->super) : 0;
	bootstraps = c->bootstraps.len ? class_utf8(&copy, "BootstrapMethods") : 0;
	for (; n < 4 && c->interfaces[n]; n++)
		interfaces[n] = class_class(&copy, c->interfaces[n]);
	lc_be_add4(&out, 0xCAFEBABE);
	lc_be_add2(&out, c->minor);
	lc_be_add2(&out, c->major);
	lc_be_add2(&out, copy.pool_count);
	lc_bytes_add(&out, copy.pool.data, copy.pool.len);
	lc_be_add2(&out, 1 | c->flags); /* public */
	lc_be_add2(&out, this_class);
	lc_be_add2(&out, super);
	lc_be_add2(&out, n);
	for (uint16_t i = 0; i < n; i++)
		lc_be_add2(&out, interfaces[i]);
	lc_be_add2(&out, c->fields_len);
	lc_bytes_add(&out, c->fields.data, c->fields.len);
	lc_be_add2(&out, c->methods_len);
	lc_bytes_add(&out, c->methods.data, c->methods.len);
	lc_be_add2(&out, bootstraps != 0);
	if (bootstraps) {
		lc_be_add2(&out, bootstraps);
		lc_be_add4(&out, (uint32_t)c->bootstraps.len);
		lc_bytes_add(&out, c->bootstraps.data, c->bootstraps.len);
	}
	free(copy.pool.data);
	assert_false(out.failed);
	*len = out.len;
	return out.data;
}

/* To look finds nothing exactly where nothing is inserted, and counts the same then. */
static void check_look(const uint8_t *bytes, size_t len, const struct lc_rewrite_options *options,
                       const struct rewritten *done)
{
	struct lc_rewrite_result seen;
	enum lc_rewrite_status status = lc_rewrite_look(bytes, len, options, &seen);

	assert_null(seen.bytes);
	assert_int_equal(status == LC_REWRITE_NOTHING, done->status == LC_REWRITE_NOTHING);
	if (status != LC_REWRITE_NOTHING)
		return;
	assert_int_equal(seen.sites, 0);
	assert_int_equal(seen.skipped_constant, done->result.skipped_constant);
	assert_int_equal(seen.own_field_bytes, done->result.own_field_bytes);
	assert_int_equal(seen.code_sum, done->result.code_sum);
}

void class_rewrite(struct class_file *c, struct lc_rewrite_options options, struct rewritten *out)
{
	size_t len;
	uint8_t *bytes = class_end(c, &len);
	uint8_t *before = malloc(len);

	assert_non_null(before);
	memcpy(before, bytes, len);
	*out = (struct rewritten){ 0 };
	out->status = lc_rewrite_class(bytes, len, &options, &out->result);
	check_look(bytes, len, &options, out);
	assert_memory_equal(before, bytes, len); /* the input is untouched */
	free(before);
	free(bytes);
	class_free(c);
	if (out->status != LC_REWRITE_DONE) {
		assert_null(out->result.bytes);
		return;
	}
	assert_int_equal(lc_class_open(out->result.bytes, out->result.len, &out->cls),
	                 LC_REWRITE_DONE);
}

void rewritten_free(struct rewritten *r)
{
	if (r->status == LC_REWRITE_DONE)
		lc_class_close(&r->cls);
	free(r->result.bytes);
}

struct lc_method_code rewritten_code(const struct rewritten *r, unsigned i)
{
	struct lc_member method;
	struct lc_attribute a;
	struct lc_method_code code;

	assert_int_equal(r->status, LC_REWRITE_DONE);
	method = lc_class_member(&r->cls, r->cls.methods + 2);
	for (; i; i--)
		method = lc_class_member(&r->cls, method.end);
	assert_true(lc_class_attribute(&r->cls, method.attributes + 2, method.end, &a));
	assert_true(lc_method_code_read(&r->cls, &a, &code));
	return code;
}

const uint8_t *rewritten_attribute(const struct rewritten *r, unsigned i, const char *name,
                                   uint32_t *len)
{
	struct lc_method_code code = rewritten_code(r, i);
	uint32_t at = code.attributes + 2;
	struct lc_attribute a;

	for (; lc_class_attribute(&r->cls, at, code.end, &a); at = a.body + a.len) {
		if (lc_class_text_is(lc_class_utf8(&r->cls, a.name), name)) {
			*len = a.len;
			return r->cls.bytes + a.body;
		}
	}
	return NULL;
}

const char *rewritten_hook(const struct rewritten *r, const uint8_t *insn)
{
	static char text[128];
	struct lc_class_ref ref;

	assert_int_equal(*insn, LC_OP_INVOKESTATIC);
	assert_true(lc_class_method_ref(&r->cls, lc_be_get2(insn + 1), &ref));
	assert_true(lc_class_text_is(ref.holder, LC_HOOK_CLASS));
	assert_true(ref.name.len + ref.descriptor.len < sizeof(text));
	memcpy(text, ref.name.data, ref.name.len);
	memcpy(text + ref.name.len, ref.descriptor.data, ref.descriptor.len);
	text[ref.name.len + ref.descriptor.len] = 0;
	return text;
}
