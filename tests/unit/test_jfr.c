/* uses: analyzer/out/jfr.c analyzer/out/jfr_types.c analyzer/base/table.c analyzer/base/memory.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_jfr.c - walks through files that the writer of JFR made, by the lengths and numbers in them
 * alone: header, events, metadata and pools.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/out/jfr.h"

enum { HEADER_LEN = 68 };

static struct lc_jfr j;
static uint8_t *file;
static size_t len;

static void finish(uint64_t begin_ns, uint64_t duration_ns)
{
	FILE *out = lc_text_open((char **)&file, &len);

	lc_jfr_finish(&j, out, begin_ns, duration_ns);
	lc_mem_close_text(out);
	lc_jfr_free(&j);
}

static uint64_t big(size_t at, unsigned bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | file[at++];
	return v;
}

/* A number as the JDK reads it: at most nine bytes, the last one whole. */
static uint64_t number(size_t *at)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < 9; i++) {
		const uint8_t byte = file[(*at)++];

		assert_true(*at <= len);
		if (i == 8 || !(byte & 0x80))
			return v | (uint64_t)byte << 7 * i;
		v |= (uint64_t)(byte & 0x7f) << 7 * i;
	}
	return v;
}

/* Behind the length and the type of the event at *at; *end is where the next one begins. */
static uint64_t begin_event(size_t *at, size_t *end)
{
	const size_t begin = *at;
	const uint64_t length = number(at);

	assert_true(length > 1 && length <= len - begin);
	*end = begin + length;
	return number(at);
}

/* Header, then whole events up to the end, of which the last two are metadata and pools. */
static size_t assert_whole(void)
{
	size_t at = HEADER_LEN, end, events = 0;
	uint64_t type = 2, before = 2;

	assert_memory_equal(file, "FLR\0\0\2\0\1", 8);
	assert_int_equal(big(8, 8), len);
	for (; at < len; at = end, events++) {
		const size_t begin = at;

		before = type;
		type = begin_event(&at, &end);
		if (type == 0)
			assert_int_equal(begin, big(24, 8));
		if (type == 1)
			assert_int_equal(begin, big(16, 8));
	}
	assert_int_equal(at, len);
	assert_int_equal(before, 0);
	assert_int_equal(type, 1);
	return events - 2;
}

static void setting(const char *name, uint64_t id)
{
	lc_jfr_event(&j, LC_JFR_ACTIVE_SETTING,
	             (const struct lc_jfr_value[]){
	                 { .number = 0 }, { .number = id }, { .text = name }, { .text = NULL } });
}

static void an_empty_file_is_whole(void **state)
{
	lc_jfr_init(&j);
	finish(7, 9);
	assert_int_equal(assert_whole(), 0);
	assert_int_equal(big(32, 8), 7);
	assert_int_equal(big(40, 8), 9);
	assert_int_equal(big(56, 8), 1000000000);
	free(file);
}

static void the_length_of_an_event_counts_itself(void **state)
{
	enum { LONGEST = 17000 }; /* beyond 2^14, from where on a length takes three bytes */
	char *text = lc_mem_zeroed(LONGEST + 1, 1);

	memset(text, 'x', LONGEST);
	for (size_t i = 1; i<LONGEST; i += i> 100 && i < 16350 ? i < 140 ? 1 : 4000 : 3) {
		size_t at = HEADER_LEN, end;

		lc_jfr_init(&j);
		setting(text + LONGEST - i, 1);
		finish(0, 1);
		assert_int_equal(assert_whole(), 1);
		begin_event(&at, &end);
		assert_int_equal(number(&at), 0); /* time */
		assert_int_equal(number(&at), 1);
		assert_int_equal(file[at++], 3);
		assert_int_equal(number(&at), i);
		assert_int_equal(file[at + i], 0); /* no text */
		assert_int_equal(at + i + 1, end);
		free(file);
	}
	free(text);
}

static void numbers_fit_into_those_of_java(void **state)
{
	static const struct {
		uint64_t put, read;
	} numbers[] = {
		{ 0, 0 },
		{ 127, 127 },
		{ 128, 128 },
		{ ((uint64_t)1 << 56) - 1, ((uint64_t)1 << 56) - 1 },
		{ (uint64_t)1 << 56, (uint64_t)1 << 56 },
		{ INT64_MAX, INT64_MAX },
		{ UINT64_MAX, INT64_MAX }, /* not a negative one */
		{ LC_JFR_NONE, LC_JFR_NONE },
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		size_t at = HEADER_LEN, end;

		lc_jfr_init(&j);
		setting("", numbers[i].put);
		finish(0, 1);
		assert_int_equal(assert_whole(), 1);
		begin_event(&at, &end);
		assert_int_equal(number(&at), 0);
		assert_int_equal(number(&at), numbers[i].read);
		assert_int_equal(file[at++], 1); /* an empty text */
		assert_int_equal(file[at++], 0);
		assert_int_equal(at, end);
		free(file);
	}
}

static void a_constant_is_in_its_pool_once(void **state)
{
	bool fresh;
	size_t at, end;
	uint64_t key;

	lc_jfr_init(&j);
	key = lc_jfr_constant(&j, LC_JFR_SYMBOL, 4, 2, &fresh);
	assert_true(fresh);
	lc_jfr_define(&j, LC_JFR_SYMBOL, key, &(const struct lc_jfr_value){ .text = "one" });
	assert_int_equal(lc_jfr_constant(&j, LC_JFR_SYMBOL, 4, 2, &fresh), key);
	assert_false(fresh);
	assert_int_not_equal(lc_jfr_constant(&j, LC_JFR_SYMBOL, 2, 4, &fresh), key);
	assert_true(fresh);
	lc_jfr_define(&j, LC_JFR_SYMBOL, 2, &(const struct lc_jfr_value){ .text = "two" });
	finish(0, 1);
	assert_int_equal(assert_whole(), 0);
	at = big(16, 8);
	assert_int_equal(begin_event(&at, &end), 1);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(number(&at), 0); /* begin, duration, pools before */
	assert_int_equal(file[at++], 1);
	assert_int_equal(number(&at), 1); /* pools; an empty one would stop the JDK's reader */
	assert_int_equal(number(&at), lc_jfr_type_id(LC_JFR_SYMBOL));
	assert_int_equal(number(&at), 2);
	assert_memory_equal(file + at, "\1\3\3one\2\3\3two", 12);
	assert_int_equal(at + 12, end);
	free(file);
}

/* Readers find types by name, and fields by the number of their type. */
static void types_have_names_and_events_begin_with_a_time(void **state)
{
	for (unsigned i = 0; i < LC_JFR_TYPES; i++) {
		const struct lc_jfr_info *t = &lc_jfr_types[i];
		const bool event = t->super && strcmp(t->super, "jdk.jfr.Event") == 0;

		assert_non_null(t->name);
		assert_null(t->fields[LC_JFR_FIELDS_MAX].name);
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(t->name, lc_jfr_types[k].name);
		if (event)
			assert_string_equal(t->fields[0].name, "startTime");
		assert_int_equal(event, i >= LC_JFR_EXECUTION_SAMPLE);
		for (const struct lc_jfr_field *f = t->fields; f->name; f++)
			assert_true(!f->constant || f->type < LC_JFR_POOLS_END);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_file_is_whole),
		cmocka_unit_test(the_length_of_an_event_counts_itself),
		cmocka_unit_test(numbers_fit_into_those_of_java),
		cmocka_unit_test(a_constant_is_in_its_pool_once),
		cmocka_unit_test(types_have_names_and_events_begin_with_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
