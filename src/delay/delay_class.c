/* SPDX-License-Identifier: Apache-2.0 */
/* delay/delay_class.c - writes a class file of a constant pool and some fields. */
#include "src/delay/delay_class.h"

#include <stdio.h>
#include <stdlib.h>

#include "src/classfile/pool.h"
#include "src/delay/delay_rewrite.h"

enum { MAGIC = 0xcafebabe, MAJOR = 50, NAME_MAX_BYTES = 24, FIELDS = 3 };
enum { ACC_PUBLIC_STATIC = 0x9, ACC_PUBLIC_FINAL_SUPER = 0x31 };

static void add_field(struct lc_bytes *fields, struct lc_pool *p, const char *name, uint16_t type)
{
	lc_be_add2(fields, ACC_PUBLIC_STATIC);
	lc_be_add2(fields, lc_pool_utf8(p, name));
	lc_be_add2(fields, type);
	lc_be_add2(fields, 0); /* attributes */
}

bool lc_delay_class_create(size_t delays, uint8_t **out, size_t *len)
{
	struct lc_pool p = { .next = 1 };
	struct lc_bytes fields = { 0 }, file = { 0 };
	const uint16_t self = lc_pool_class(&p, LC_DELAY_CLASS);
	const uint16_t above = lc_pool_class(&p, "java/lang/Object"), type = lc_pool_utf8(&p, "J");
	const uint16_t number = lc_pool_utf8(&p, "I");
	char name[NAME_MAX_BYTES];

	add_field(&fields, &p, "seed", type);
	for (size_t i = 0; i < FIELDS * delays; i++) {
		snprintf(name, sizeof(name), "%c%zu", "cdn"[i % FIELDS], i / FIELDS);
		add_field(&fields, &p, name, "cdn"[i % FIELDS] == 'n' ? number : type);
	}
	lc_be_add4(&file, (uint32_t)MAGIC);
	lc_be_add4(&file, MAJOR);
	lc_be_add2(&file, p.next);
	lc_bytes_add(&file, p.bytes.data, p.bytes.len);
	lc_be_add2(&file, ACC_PUBLIC_FINAL_SUPER);
	lc_be_add2(&file, self);
	lc_be_add2(&file, above);
	lc_be_add2(&file, 0); /* interfaces */
	lc_be_add2(&file, (uint32_t)(FIELDS * delays + 1));
	lc_bytes_add(&file, fields.data, fields.len);
	lc_be_add4(&file, 0); /* methods, attributes */
	file.failed |= p.bytes.failed || p.full || fields.failed;
	free(p.bytes.data);
	free(fields.data);
	if (file.failed) {
		free(file.data);
		return false;
	}
	*out = file.data;
	*len = file.len;
	return true;
}
