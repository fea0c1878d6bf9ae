/* SPDX-License-Identifier: Apache-2.0 */
/* classfile/pool.c - appends constants to a class file and numbers them. */
#include "src/classfile/pool.h"

#include "src/classfile/class_file.h"

enum { COUNT_MAX = 65535 }; /* of constant_pool_count, one more than the last number */

static uint16_t number(struct lc_pool *p)
{
	if (p->next >= COUNT_MAX) {
		p->full = true;
		return 0;
	}
	return (uint16_t)p->next++;
}

uint16_t lc_pool_utf8(struct lc_pool *p, const char *s)
{
	lc_be_add1(&p->bytes, LC_POOL_UTF8);
	lc_be_add2(&p->bytes, (uint32_t)strlen(s));
	lc_bytes_add(&p->bytes, s, strlen(s));
	return number(p);
}

uint16_t lc_pool_class(struct lc_pool *p, const char *name)
{
	uint16_t text = lc_pool_utf8(p, name);

	lc_be_add1(&p->bytes, LC_POOL_CLASS);
	lc_be_add2(&p->bytes, text);
	return number(p);
}

static uint16_t add_pair(struct lc_pool *p, uint8_t tag, uint16_t first, uint16_t second)
{
	lc_be_add1(&p->bytes, tag);
	lc_be_add2(&p->bytes, first);
	lc_be_add2(&p->bytes, second);
	return number(p);
}

static uint16_t add_member(struct lc_pool *p, uint8_t tag, uint16_t class, const char *name,
                           const char *descriptor)
{
	uint16_t n = lc_pool_utf8(p, name), d = lc_pool_utf8(p, descriptor);

	n = add_pair(p, LC_POOL_NAME_AND_TYPE, n, d);
	return add_pair(p, tag, class, n);
}

uint16_t lc_pool_method(struct lc_pool *p, uint16_t class, const char *name, const char *descriptor)
{
	return add_member(p, LC_POOL_METHODREF, class, name, descriptor);
}

uint16_t lc_pool_field(struct lc_pool *p, uint16_t class, const char *name, const char *descriptor)
{
	return add_member(p, LC_POOL_FIELDREF, class, name, descriptor);
}

uint16_t lc_pool_integer(struct lc_pool *p, uint32_t value)
{
	lc_be_add1(&p->bytes, LC_POOL_INTEGER);
	lc_be_add4(&p->bytes, value);
	return number(p);
}

/* A constant of 8 bytes has two numbers; the second one is never used. */
uint16_t lc_pool_long(struct lc_pool *p, uint64_t value)
{
	uint16_t first = number(p);

	lc_be_add1(&p->bytes, LC_POOL_LONG);
	lc_be_add4(&p->bytes, (uint32_t)(value >> 32));
	lc_be_add4(&p->bytes, (uint32_t)value);
	(void)number(p);
	return first;
}
