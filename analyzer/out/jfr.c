/* SPDX-License-Identifier: Apache-2.0 */
/* out/jfr.c - encodes events and constants, and puts a chunk together. See jfr.h for the norm. */
#include "analyzer/out/jfr.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"

enum { MAJOR = 2, MINOR = 1, HEADER_LEN = 68 };
enum { FIRST_TYPE = 100 };            /* numbers below are not for the types of a file */
enum { METADATA_EVENT, POOLS_EVENT }; /* types that each file has */
enum { POOLS_OF_ALL = 1 };            /* the pools do not belong to a part of the chunk */
enum { FLAGS_PACKED = 1, FLAGS_LAST = 2 };
enum { TEXT_NULL, TEXT_EMPTY, TEXT_UTF8 = 3 };
enum { STRINGS_CAP = 1024 };

static const uint64_t ticks_per_second = 1000000000; /* a tick is a ns */

static void put_byte(struct lc_bytes *b, unsigned v)
{
	const uint8_t byte = (uint8_t)v;

	lc_bytes_add(b, &byte, 1);
}

/*
 * Seven bits to a byte, low ones first, as a varint; but of nine bytes the last one has eight bits,
 * so that the numbers end there. Java's have a sign.
 */
static void put_number(struct lc_bytes *b, uint64_t v)
{
	if (v > INT64_MAX && v != LC_JFR_NONE)
		v = INT64_MAX;
	for (unsigned i = 0; i < 8 && v >= 0x80; i++, v >>= 7)
		put_byte(b, (v & 0x7f) | 0x80);
	put_byte(b, (unsigned)v);
}

static void put_big(struct lc_bytes *b, uint64_t v, unsigned bytes)
{
	while (bytes--)
		put_byte(b, (unsigned)(v >> 8 * bytes) & 0xff);
}

static void put_text(struct lc_bytes *b, const char *text)
{
	if (!text || !*text) {
		put_byte(b, text ? TEXT_EMPTY : TEXT_NULL);
		return;
	}
	put_byte(b, TEXT_UTF8);
	put_number(b, strlen(text));
	lc_bytes_add(b, text, strlen(text));
}

void lc_jfr_put(struct lc_bytes *b, enum lc_jfr_type type, const struct lc_jfr_value *values)
{
	for (const struct lc_jfr_field *f = lc_jfr_types[type].fields; f->name; f++, values++) {
		if (f->array) {
			put_number(b, values->number);
			if (values->number)
				lc_bytes_add(b, values->elements->data, values->elements->len);
		} else if (!f->constant && f->type == LC_JFR_STRING) {
			put_text(b, values->text);
		} else if (f->type == LC_JFR_BOOLEAN) {
			put_byte(b, values->number != 0);
		} else {
			put_number(b, values->number);
		}
	}
}

/* An event has its length first, and the length counts itself. */
static void put_event(struct lc_bytes *to, const struct lc_bytes *event)
{
	size_t bytes = 1;

	while ((event->len + bytes) >> 7 * bytes)
		bytes++;
	put_number(to, event->len + bytes);
	lc_bytes_add(to, event->data, event->len);
}

uint64_t lc_jfr_type_id(enum lc_jfr_type type)
{
	return FIRST_TYPE + (uint64_t)type;
}

void lc_jfr_event(struct lc_jfr *j, enum lc_jfr_type type, const struct lc_jfr_value *values)
{
	lc_bytes_empty(&j->scratch);
	put_number(&j->scratch, lc_jfr_type_id(type));
	lc_jfr_put(&j->scratch, type, values);
	put_event(&j->events, &j->scratch);
	j->counts[type]++;
}

uint64_t lc_jfr_constant(struct lc_jfr *j, enum lc_jfr_type type, uint32_t what, uint32_t row,
                         bool *fresh)
{
	struct lc_table *keys = &j->pools[type].keys;
	const uint32_t before = keys->count;
	const uint64_t key = (uint64_t)lc_table_put(keys, (const uint32_t[]){ what, row }) + 1;

	*fresh = key > before;
	return key;
}

void lc_jfr_define(struct lc_jfr *j, enum lc_jfr_type type, uint64_t key,
                   const struct lc_jfr_value *values)
{
	struct lc_bytes *constants = &j->pools[type].constants;

	put_number(constants, key);
	lc_jfr_put(constants, type, values);
}

void lc_jfr_init(struct lc_jfr *j)
{
	*j = (struct lc_jfr){ .events = { .data = NULL } };
	for (unsigned i = 0; i < LC_JFR_POOLS_END; i++)
		lc_table_init(&j->pools[i].keys, 2, 0);
}

void lc_jfr_free(struct lc_jfr *j)
{
	free(j->events.data);
	free(j->scratch.data);
	for (unsigned i = 0; i < LC_JFR_POOLS_END; i++) {
		lc_table_free(&j->pools[i].keys);
		free(j->pools[i].constants.data);
	}
}

/* ---- metadata: a tree of elements with attributes, whose words are numbers of strings ---- */

struct metadata {
	struct lc_bytes strings, tree;
	char *known[STRINGS_CAP];
	uint32_t len;
};

static void word(struct metadata *m, const char *text)
{
	uint32_t i = 0;

	while (i < m->len && strcmp(m->known[i], text) != 0)
		i++;
	if (i == STRINGS_CAP)
		abort(); /* the table of types has fewer words, whatever the profile */
	if (i == m->len) {
		m->known[m->len++] = lc_mem_text("%s", text);
		put_text(&m->strings, text);
	}
	put_number(&m->tree, i);
}

static void attribute(struct metadata *m, const char *name, const char *value)
{
	word(m, name);
	word(m, value);
}

static void attribute_number(struct metadata *m, const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	attribute(m, name, text);
}

static void element(struct metadata *m, const char *name, int attributes)
{
	word(m, name);
	put_number(&m->tree, (uint64_t)attributes);
}

static void children(struct metadata *m, int count)
{
	put_number(&m->tree, (uint64_t)count);
}

/* An annotation with one value; NULL: with none. */
static void annotation(struct metadata *m, enum lc_jfr_type type, const char *value)
{
	element(m, "annotation", 1 + (value != NULL));
	attribute_number(m, "class", lc_jfr_type_id(type));
	if (value)
		attribute(m, "value", value);
	children(m, 0);
}

static void category(struct metadata *m, const char *const *names)
{
	int len = 0;
	char name[24];

	while (names[len])
		len++;
	element(m, "annotation", 1 + len);
	attribute_number(m, "class", lc_jfr_type_id(LC_JFR_CATEGORY));
	for (int i = 0; i < len; i++) {
		snprintf(name, sizeof(name), "value-%d", i);
		attribute(m, name, names[i]);
	}
	children(m, 0);
}

static void field(struct metadata *m, const struct lc_jfr_field *f)
{
	static const struct {
		enum lc_jfr_type type;
		const char *value;
	} units[] = {
		[LC_JFR_TICKS] = { LC_JFR_TIMESTAMP, "TICKS" },
		[LC_JFR_TICKS_LONG] = { LC_JFR_TIMESPAN, "TICKS" },
		[LC_JFR_EPOCH_MS] = { LC_JFR_TIMESTAMP, "MILLISECONDS_SINCE_EPOCH" },
		[LC_JFR_BYTES] = { LC_JFR_DATA_AMOUNT, "BYTES" },
	};

	element(m, "field", 2 + f->constant + f->array);
	attribute(m, "name", f->name);
	attribute_number(m, "class", lc_jfr_type_id(f->type));
	if (f->constant)
		attribute(m, "constantPool", "true");
	if (f->array)
		attribute(m, "dimension", "1");
	children(m, (f->label != NULL) + (f->unit != LC_JFR_PLAIN));
	if (f->label)
		annotation(m, LC_JFR_LABEL, f->label);
	if (f->unit != LC_JFR_PLAIN)
		annotation(m, units[f->unit].type, units[f->unit].value);
}

static void type(struct metadata *m, enum lc_jfr_type number)
{
	const struct lc_jfr_info *t = &lc_jfr_types[number];
	const bool unit = number >= LC_JFR_TIMESTAMP && number <= LC_JFR_DATA_AMOUNT;
	int fields = 0;

	while (t->fields[fields].name)
		fields++;
	element(m, "class", 2 + (t->super != NULL) + t->simple);
	attribute_number(m, "id", lc_jfr_type_id(number));
	attribute(m, "name", t->name);
	if (t->super)
		attribute(m, "superType", t->super);
	if (t->simple)
		attribute(m, "simpleType", "true");
	children(m, fields + (t->label != NULL) + (t->description != NULL) +
	                (t->category[0] != NULL) + unit);
	for (int i = 0; i < fields; i++)
		field(m, &t->fields[i]);
	if (t->label)
		annotation(m, LC_JFR_LABEL, t->label);
	if (t->description)
		annotation(m, LC_JFR_DESCRIPTION, t->description);
	if (t->category[0])
		category(m, t->category);
	if (unit)
		annotation(m, LC_JFR_CONTENT_TYPE, NULL);
}

static void put_metadata(struct lc_bytes *to, uint64_t duration_ns)
{
	struct metadata m = { .len = 0 };
	struct lc_bytes event = { .data = NULL };

	element(&m, "root", 0);
	children(&m, 2);
	element(&m, "metadata", 0);
	children(&m, LC_JFR_TYPES);
	for (unsigned i = 0; i < LC_JFR_TYPES; i++)
		type(&m, (enum lc_jfr_type)i);
	element(&m, "region", 2);
	attribute(&m, "locale", "en_US");
	attribute(&m, "gmtOffset", "0");
	children(&m, 0);
	put_number(&event, METADATA_EVENT);
	put_number(&event, 0); /* begin */
	put_number(&event, duration_ns);
	put_number(&event, 1); /* of the first metadata */
	put_number(&event, m.len);
	lc_bytes_add(&event, m.strings.data, m.strings.len);
	lc_bytes_add(&event, m.tree.data, m.tree.len);
	if (m.strings.failed || m.tree.failed || event.failed)
		lc_no_memory();
	put_event(to, &event);
	for (uint32_t i = 0; i < m.len; i++)
		free(m.known[i]);
	free(m.strings.data);
	free(m.tree.data);
	free(event.data);
}

/* ---- the chunk ---- */

static void put_pools(const struct lc_jfr *j, struct lc_bytes *to)
{
	struct lc_bytes event = { .data = NULL };
	unsigned count = 0;

	for (unsigned i = 0; i < LC_JFR_POOLS_END; i++)
		count += j->pools[i].keys.count != 0;
	put_number(&event, POOLS_EVENT);
	put_number(&event, 0); /* begin */
	put_number(&event, 0); /* duration */
	put_number(&event, 0); /* there are no others before it */
	put_byte(&event, POOLS_OF_ALL);
	put_number(&event, count);
	for (unsigned i = 0; i < LC_JFR_POOLS_END; i++) {
		const struct lc_jfr_pool *p = &j->pools[i];

		if (!p->keys.count)
			continue;
		put_number(&event, lc_jfr_type_id((enum lc_jfr_type)i));
		put_number(&event, p->keys.count);
		lc_bytes_add(&event, p->constants.data, p->constants.len);
		event.failed |= p->constants.failed;
	}
	if (event.failed)
		lc_no_memory();
	put_event(to, &event);
	free(event.data);
}

void lc_jfr_finish(struct lc_jfr *j, FILE *out, uint64_t begin_ns, uint64_t duration_ns)
{
	struct lc_bytes tail = { .data = NULL }, head = { .data = NULL };
	const uint64_t metadata_at = HEADER_LEN + j->events.len;
	uint64_t pools_at;

	put_metadata(&tail, duration_ns);
	pools_at = metadata_at + tail.len;
	put_pools(j, &tail);
	lc_bytes_add(&head, "FLR", 4);
	put_big(&head, MAJOR, 2);
	put_big(&head, MINOR, 2);
	put_big(&head, metadata_at + tail.len, 8);
	put_big(&head, pools_at, 8);
	put_big(&head, metadata_at, 8);
	put_big(&head, begin_ns < INT64_MAX ? begin_ns : INT64_MAX, 8);
	put_big(&head, duration_ns < INT64_MAX ? duration_ns : INT64_MAX, 8);
	put_big(&head, 0, 8); /* ticks at the begin */
	put_big(&head, ticks_per_second, 8);
	put_big(&head, FLAGS_PACKED | FLAGS_LAST, 4);
	if (head.failed || tail.failed || j->events.failed || j->scratch.failed)
		lc_no_memory();
	fwrite(head.data, 1, head.len, out);
	if (j->events.len)
		fwrite(j->events.data, 1, j->events.len, out);
	fwrite(tail.data, 1, tail.len, out);
	free(head.data);
	free(tail.data);
}
