/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/class_file.c - parses the outline of a class file; it checks each length against the
 * bytes left.
 */
#include "src/classfile/class_file.h"

#include <stdlib.h>
#include <string.h>

#include "src/classfile/big_endian.h"

enum { CLASS_HEADER_BYTES = 10, MAGIC = 0xCAFEBABE, MEMBER_BYTES = 8, ATTRIBUTE_BYTES = 6 };

/*
 * Bytes of a constant with its tag, by tag; 0: there is no such tag. A Utf8 has its text besides.
 */
static const uint8_t constant_bytes[] = { 0, 3, 0, 5, 5, 9, 9, 3, 3, 5, 5,
	                                  5, 5, 0, 0, 4, 3, 5, 5, 3, 3 };

bool lc_class_text_is(struct lc_class_text t, const char *s)
{
	return t.data && strlen(s) == t.len && memcmp(t.data, s, t.len) == 0;
}

bool lc_class_text_begins(struct lc_class_text t, const char *s)
{
	return t.data && strlen(s) <= t.len && memcmp(t.data, s, strlen(s)) == 0;
}

bool lc_class_text_ends(struct lc_class_text t, const char *s)
{
	size_t len = strlen(s);

	return t.data && len <= t.len && memcmp(t.data + t.len - len, s, len) == 0;
}

static enum lc_rewrite_status read_pool(struct lc_class *c)
{
	uint32_t at = CLASS_HEADER_BYTES;

	for (uint32_t i = 1; i < c->pool_count; i++) {
		size_t left = c->len - at;
		uint8_t tag = left ? c->bytes[at] : 0;
		uint32_t size = tag < sizeof(constant_bytes) ? constant_bytes[tag] : 0;

		if (!size || size > left)
			return LC_REWRITE_MALFORMED;
		if (tag == LC_POOL_UTF8) {
			size += lc_be_get2(c->bytes + at + 1);
			if (size > left)
				return LC_REWRITE_MALFORMED;
		}
		c->pool[i] = at;
		/* It takes two numbers, and the second one is void. */
		if ((tag == LC_POOL_LONG || tag == LC_POOL_DOUBLE) && ++i == c->pool_count)
			return LC_REWRITE_MALFORMED;
		at += size;
	}
	c->pool_end = at;
	return LC_REWRITE_DONE;
}

/* Step over `count` attributes; returns the offset behind them, 0 if they do not fit. */
static uint32_t skip_attributes(const struct lc_class *c, uint32_t at)
{
	struct lc_attribute a;
	uint32_t count;

	if (c->len - at < 2)
		return 0;
	count = lc_be_get2(c->bytes + at);
	at += 2;
	for (; count; count--) {
		if (!lc_class_attribute(c, at, (uint32_t)c->len, &a))
			return 0;
		at = a.body + a.len;
	}
	return at;
}

/* Step over a table of members; returns the offset behind it, 0 if it does not fit. */
static uint32_t skip_members(const struct lc_class *c, uint32_t at)
{
	uint32_t count;

	if (c->len - at < 2)
		return 0;
	count = lc_be_get2(c->bytes + at);
	at += 2;
	for (; count; count--) {
		if (c->len - at < MEMBER_BYTES)
			return 0;
		at = skip_attributes(c, at + MEMBER_BYTES - 2);
		if (!at)
			return 0;
	}
	return at;
}

static enum lc_rewrite_status read_outline(struct lc_class *c)
{
	enum lc_rewrite_status status = read_pool(c);
	size_t interfaces;

	if (status != LC_REWRITE_DONE)
		return status;
	if (c->len - c->pool_end < 8)
		return LC_REWRITE_MALFORMED;
	c->access_flags = lc_be_get2(c->bytes + c->pool_end);
	c->this_class = lc_be_get2(c->bytes + c->pool_end + 2);
	c->super_class = lc_be_get2(c->bytes + c->pool_end + 4);
	c->interfaces = c->pool_end + 6;
	interfaces = 2 * (size_t)lc_be_get2(c->bytes + c->pool_end + 6);
	if (c->len - c->pool_end - 8 < interfaces)
		return LC_REWRITE_MALFORMED;
	c->fields = c->pool_end + 8 + (uint32_t)interfaces;
	c->methods = skip_members(c, c->fields);
	if (!c->methods)
		return LC_REWRITE_MALFORMED;
	interfaces = skip_members(c, c->methods);
	c->attributes = (uint32_t)interfaces;
	if (!interfaces || skip_attributes(c, (uint32_t)interfaces) != c->len)
		return LC_REWRITE_MALFORMED;
	return lc_class_name(c, c->this_class).data ? LC_REWRITE_DONE : LC_REWRITE_MALFORMED;
}

enum lc_rewrite_status lc_class_open(const uint8_t *bytes, size_t len, struct lc_class *out)
{
	struct lc_class c = { .bytes = bytes, .len = len };
	enum lc_rewrite_status status;
	uint16_t minor;

	if (len < CLASS_HEADER_BYTES || len > INT32_MAX || lc_be_get4(bytes) != MAGIC)
		return LC_REWRITE_MALFORMED;
	minor = lc_be_get2(bytes + 4);
	c.major = lc_be_get2(bytes + 6);
	if (c.major < LC_CLASS_MAJOR_MIN || c.major > LC_CLASS_MAJOR_MAX ||
	    (c.major == LC_CLASS_MAJOR_MIN && minor < LC_CLASS_MINOR_MIN))
		return LC_REWRITE_UNSUPPORTED;
	c.pool_count = lc_be_get2(bytes + 8);
	if (!c.pool_count)
		return LC_REWRITE_MALFORMED;
	c.pool = calloc(c.pool_count, sizeof(*c.pool));
	if (!c.pool)
		return LC_REWRITE_NO_MEMORY;
	status = read_outline(&c);
	if (status == LC_REWRITE_DONE)
		*out = c;
	else
		free(c.pool);
	return status;
}

void lc_class_close(struct lc_class *c)
{
	free(c->pool);
	c->pool = NULL;
}

struct lc_member lc_class_member(const struct lc_class *c, uint32_t at)
{
	return (struct lc_member){
		.access_flags = lc_be_get2(c->bytes + at),
		.name = lc_be_get2(c->bytes + at + 2),
		.descriptor = lc_be_get2(c->bytes + at + 4),
		.attributes = at + MEMBER_BYTES - 2,
		.end = skip_attributes(c, at + MEMBER_BYTES - 2),
	};
}

bool lc_class_attribute(const struct lc_class *c, uint32_t at, uint32_t limit,
                        struct lc_attribute *out)
{
	uint32_t len;

	if (limit < at || limit - at < ATTRIBUTE_BYTES)
		return false;
	len = lc_be_get4(c->bytes + at + 2);
	if (len > limit - at - ATTRIBUTE_BYTES)
		return false;
	out->name = lc_be_get2(c->bytes + at);
	out->body = at + ATTRIBUTE_BYTES;
	out->len = len;
	return true;
}

/* The bytes of constant `index` after its tag; NULL if the tag differs. */
static const uint8_t *constant(const struct lc_class *c, uint32_t index, uint8_t tag)
{
	uint32_t at = index < c->pool_count ? c->pool[index] : 0;

	return at && c->bytes[at] == tag ? c->bytes + at + 1 : NULL;
}

struct lc_class_text lc_class_utf8(const struct lc_class *c, uint32_t index)
{
	const uint8_t *p = constant(c, index, LC_POOL_UTF8);

	return p ? (struct lc_class_text){ (const char *)p + 2, lc_be_get2(p) }
	         : (struct lc_class_text){ 0 };
}

struct lc_class_text lc_class_name(const struct lc_class *c, uint32_t index)
{
	const uint8_t *p = constant(c, index, LC_POOL_CLASS);

	return p ? lc_class_utf8(c, lc_be_get2(p)) : (struct lc_class_text){ 0 };
}

static bool member_ref(const struct lc_class *c, uint32_t index, uint8_t tag,
                       struct lc_class_ref *out)
{
	const uint8_t *ref = constant(c, index, tag);
	const uint8_t *pair = ref ? constant(c, lc_be_get2(ref + 2), LC_POOL_NAME_AND_TYPE) : NULL;

	if (!pair)
		return false;
	out->holder_index = lc_be_get2(ref);
	out->holder = lc_class_name(c, out->holder_index);
	out->name = lc_class_utf8(c, lc_be_get2(pair));
	out->descriptor = lc_class_utf8(c, lc_be_get2(pair + 2));
	return out->holder.data && out->name.data && out->descriptor.data;
}

bool lc_class_field_ref(const struct lc_class *c, uint32_t index, struct lc_class_ref *out)
{
	return member_ref(c, index, LC_POOL_FIELDREF, out);
}

bool lc_class_method_ref(const struct lc_class *c, uint32_t index, struct lc_class_ref *out)
{
	return member_ref(c, index, LC_POOL_METHODREF, out);
}

bool lc_class_interface_ref(const struct lc_class *c, uint32_t index, struct lc_class_ref *out)
{
	return member_ref(c, index, LC_POOL_INTERFACE_METHODREF, out);
}

unsigned lc_class_method_handle(const struct lc_class *c, uint32_t index, uint16_t *ref)
{
	const uint8_t *p = constant(c, index, LC_POOL_METHOD_HANDLE);

	if (!p)
		return 0;
	*ref = lc_be_get2(p + 1);
	return *p;
}

struct lc_class_text lc_class_dynamic_descriptor(const struct lc_class *c, uint32_t index)
{
	const uint8_t *p = constant(c, index, LC_POOL_INVOKE_DYNAMIC);

	p = p ? constant(c, lc_be_get2(p + 2), LC_POOL_NAME_AND_TYPE) : NULL;
	return p ? lc_class_utf8(c, lc_be_get2(p + 2)) : (struct lc_class_text){ 0 };
}
