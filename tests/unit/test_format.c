/* uses: */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_format.c - checks the encoders and decoders of src/format/block.h and utf8.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/format/block.h"
#include "src/format/kinds.h"
#include "src/format/utf8.h"

static void varints_come_back_and_take_no_more_bytes_than_they_need(void **state)
{
	static const struct {
		uint64_t value;
		size_t len;
	} cases[] = { { 0, 1 },          { 127, 1 },       { 128, 2 },
		      { 16383, 2 },      { 16384, 3 },     { UINT32_MAX, 5 },
		      { 1, 1 },          { INT64_MAX, 9 }, { (uint64_t)INT64_MAX + 1, 10 },
		      { UINT64_MAX, 10 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t bytes[LC_VARINT_MAX];
		const uint8_t *at = bytes;
		uint64_t value = 7;

		assert_int_equal(lc_varint_put(bytes, cases[i].value), cases[i].len);
		assert_int_equal(lc_varint_get(&at, bytes + cases[i].len, &value), 0);
		assert_true(value == cases[i].value);
		assert_ptr_equal(at, bytes + cases[i].len);
		at = bytes;
		assert_int_equal(lc_varint_get(&at, bytes + cases[i].len - 1, &value), -EBADMSG);
		assert_ptr_equal(at, bytes);
	}
}

static void varints_over_64_bits_are_refused(void **state)
{
	static const uint8_t too_large[] = { 0xff, 0xff, 0xff, 0xff, 0xff,
		                             0xff, 0xff, 0xff, 0xff, 0x02 };
	static const uint8_t too_long[] = { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
		                            0x80, 0x80, 0x80, 0x80, 0x00 };
	const uint8_t *at = too_large;
	uint64_t value;

	assert_int_equal(lc_varint_get(&at, too_large + sizeof(too_large), &value), -EBADMSG);
	at = too_long;
	assert_int_equal(lc_varint_get(&at, too_long + sizeof(too_long), &value), -EBADMSG);
}

static const struct lc_block_header sample = {
	.process = 3,
	.tid = 4711,
	.thread_index = 9,
	.sequence = UINT64_C(0x123456789),
	.t_begin_ns = 1000,
	.t_end_ns = UINT64_C(1) << 60,
	.raw_len = 500,
	.stored_len = 400,
	.checksum = UINT64_C(0xfedcba9876543210),
};

static void headers_come_back(void **state)
{
	uint8_t bytes[LC_BLOCK_HEADER_LEN];
	struct lc_block_header h = { 0 };

	lc_block_header_put(bytes, &sample);
	assert_int_equal(lc_block_header_get(bytes, sizeof(bytes), &h), 0);
	assert_int_equal(h.version, LC_BLOCK_VERSION_ALONE);
	assert_int_equal(h.header_len, LC_BLOCK_HEADER_LEN);
	assert_int_equal(h.process, 3);
	assert_int_equal(h.tid, 4711);
	assert_int_equal(h.thread_index, 9);
	assert_true(h.sequence == sample.sequence && h.t_begin_ns == 1000);
	assert_true(h.t_end_ns == sample.t_end_ns && h.checksum == sample.checksum);
	assert_int_equal(h.raw_len, 500);
	assert_int_equal(h.stored_len, 400);
}

static void every_flipped_bit_of_a_header_is_noticed(void **state)
{
	uint8_t bytes[LC_BLOCK_HEADER_LEN];
	struct lc_block_header h;

	for (unsigned bit = 0; bit < sizeof(bytes) * 8; bit++) {
		int err;

		lc_block_header_put(bytes, &sample);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		err = lc_block_header_get(bytes, sizeof(bytes), &h);
		assert_true(err == -EBADMSG || err == -EAGAIN);
	}
}

static void a_header_that_is_cut_asks_for_more(void **state)
{
	uint8_t bytes[LC_BLOCK_HEADER_LEN];
	struct lc_block_header h;

	lc_block_header_put(bytes, &sample);
	for (size_t len = 0; len < sizeof(bytes); len++)
		assert_int_equal(lc_block_header_get(bytes, len, &h), -EAGAIN);
}

/* Write version and lengths over a header and give it its checksum again. */
static int changed(uint16_t version, uint32_t raw_len, uint32_t stored_len)
{
	uint8_t bytes[LC_BLOCK_HEADER_LEN];
	struct lc_block_header h;

	lc_block_header_put(bytes, &sample);
	lc_put_u16(bytes + 8, version);
	lc_put_u32(bytes + 48, raw_len);
	lc_put_u32(bytes + 52, stored_len);
	lc_put_u64(bytes + 64, XXH64(bytes, 64, 0));
	return lc_block_header_get(bytes, sizeof(bytes), &h);
}

static void a_newer_version_is_told_from_damage(void **state)
{
	assert_int_equal(changed(1, 1, 1), 0);
	assert_int_equal(changed(LC_BLOCK_VERSION + 1, 1, 1), -ENOTSUP);
	assert_int_equal(changed(0, 1, 1), -EBADMSG);
	assert_int_equal(changed(2, 1, 1), -EBADMSG); /* shorter than its header is */
}

static void a_header_of_version_2_comes_back(void **state)
{
	uint8_t bytes[LC_BLOCK_HEADER2_LEN];
	struct lc_block_header h, two = sample;

	two.version = 2;
	two.generation = UINT64_C(1) << 40;
	for (uint32_t i = 0; i < LC_BLOCK_DEFINITIONS; i++)
		two.first[i] = 1000 + i;
	lc_block_header_put(bytes, &two);
	assert_int_equal(lc_block_header_get(bytes, LC_BLOCK_HEADER_LEN, &h), -EAGAIN);
	assert_int_equal(lc_block_header_get(bytes, sizeof(bytes), &h), 0);
	assert_int_equal(h.version, 2);
	assert_int_equal(h.header_len, sizeof(bytes));
	assert_true(h.sequence == two.sequence && h.checksum == two.checksum);
	assert_true(h.generation == two.generation);
	assert_memory_equal(h.first, two.first, sizeof(h.first));
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] ^= 1;
		assert_int_not_equal(lc_block_header_get(bytes, sizeof(bytes), &h), 0);
		bytes[i] ^= 1;
	}
}

static void lengths_above_the_limits_are_refused(void **state)
{
	assert_int_equal(changed(1, LC_BLOCK_RAW_MAX, LC_BLOCK_STORED_MAX), 0);
	assert_int_equal(changed(1, LC_BLOCK_RAW_MAX + 1u, 1), -EBADMSG);
	assert_int_equal(changed(1, 1, LC_BLOCK_STORED_MAX + 1u), -EBADMSG);
}

static void characters(const char *bytes, size_t len, const uint32_t *expected, size_t count)
{
	const uint8_t *at = (const uint8_t *)bytes, *end = at + len;

	for (size_t i = 0; i < count; i++) {
		assert_true(at < end);
		assert_int_equal(lc_utf8_next(&at, end), expected[i]);
	}
	assert_ptr_equal(at, end);
}

#define CHARACTERS(bytes, ...)                                                                     \
	do {                                                                                       \
		static const uint32_t expected_[] = { __VA_ARGS__ };                               \
		characters(bytes, sizeof(bytes) - 1, expected_,                                    \
		           sizeof(expected_) / sizeof(expected_[0]));                              \
	} while (0)

static void utf8_and_modified_utf8_are_read(void **state)
{
	CHARACTERS("a\xc3\xa9\xe2\x82\xac", 'a', 0xe9, 0x20ac);
	CHARACTERS("\xf0\x9f\x98\x80", 0x1f600);
	CHARACTERS("\xed\xa0\xbd\xed\xb8\x80", 0x1f600); /* a pair of surrogates */
	CHARACTERS("\xc0\x80", 0);
	CHARACTERS("\0", 0);
}

static void what_is_no_character_is_replaced(void **state)
{
	CHARACTERS("\xed\xa0\xbd", LC_UTF8_REPLACEMENT);       /* high alone */
	CHARACTERS("\xed\xa0\xbdx", LC_UTF8_REPLACEMENT, 'x'); /* high, then a letter */
	CHARACTERS("\xed\xb8\x80", LC_UTF8_REPLACEMENT);       /* low alone */
	CHARACTERS("\xed\xa0\xbd\xed\xa0\xbd\xed\xb8\x80", LC_UTF8_REPLACEMENT, 0x1f600);
	CHARACTERS("\xff\x80", LC_UTF8_REPLACEMENT, LC_UTF8_REPLACEMENT);
	CHARACTERS("\xc3", LC_UTF8_REPLACEMENT);
	CHARACTERS("\xc1\x81", LC_UTF8_REPLACEMENT, LC_UTF8_REPLACEMENT); /* overlong */
	CHARACTERS("\xe0\x80\x80", LC_UTF8_REPLACEMENT, LC_UTF8_REPLACEMENT, LC_UTF8_REPLACEMENT);
	CHARACTERS("\xf4\x90\x80\x80", LC_UTF8_REPLACEMENT, LC_UTF8_REPLACEMENT,
	           LC_UTF8_REPLACEMENT, LC_UTF8_REPLACEMENT); /* above U+10FFFF */
}

static void json_characters_are_escaped(void **state)
{
	static const struct {
		uint32_t c;
		const char *text;
	} cases[] = { { 'a', "a" },          { '"', "\\\"" },
		      { '\\', "\\\\" },      { '\n', "\\u000a" },
		      { 0, "\\u0000" },      { '<', "\\u003c" },
		      { 0x7f, "\\u007f" },   { 0x20ac, "\xe2\x82\xac" },
		      { 0x9b, "\\u009b" },   { 0x202e, "\\u202e" },
		      { 0x2028, "\\u2028" }, { 0x1f600, "\xf0\x9f\x98\x80" } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t out[8] = { 0 };

		assert_int_equal(lc_utf8_json_put(out, cases[i].c), strlen(cases[i].text));
		assert_string_equal((char *)out, cases[i].text);
	}
}

static void every_number_has_a_name_of_its_own(void **state)
{
	static const struct {
		const char *(*name)(unsigned);
		unsigned count;
	} kinds[] = {
		{ lc_bucket_name, LC_BUCKET_COUNT },
		{ lc_detail_where_name, LC_WHERE_COUNT },
		{ lc_detail_how_name, LC_HOW_COUNT },
		{ lc_data_source_name, LC_SOURCE_COUNT },
	};

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		for (unsigned i = 0; i < kinds[k].count; i++) {
			assert_non_null(kinds[k].name(i));
			for (unsigned other = 0; other < i; other++)
				assert_string_not_equal(kinds[k].name(i), kinds[k].name(other));
		}
		assert_string_equal(kinds[k].name(kinds[k].count), "unknown");
	}
}

static void live_columns_ask_for_powers_of_two(void **state)
{
	assert_int_equal(lc_live_collections(0), 1);
	assert_int_equal(lc_live_collections(LC_LIVE_COLUMNS - 1), 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(varints_come_back_and_take_no_more_bytes_than_they_need),
		cmocka_unit_test(varints_over_64_bits_are_refused),
		cmocka_unit_test(headers_come_back),
		cmocka_unit_test(every_flipped_bit_of_a_header_is_noticed),
		cmocka_unit_test(a_header_that_is_cut_asks_for_more),
		cmocka_unit_test(a_newer_version_is_told_from_damage),
		cmocka_unit_test(a_header_of_version_2_comes_back),
		cmocka_unit_test(lengths_above_the_limits_are_refused),
		cmocka_unit_test(utf8_and_modified_utf8_are_read),
		cmocka_unit_test(what_is_no_character_is_replaced),
		cmocka_unit_test(json_characters_are_escaped),
		cmocka_unit_test(every_number_has_a_name_of_its_own),
		cmocka_unit_test(live_columns_ask_for_powers_of_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
