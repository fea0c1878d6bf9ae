/* uses: src/offheap/smaps.c src/offheap/resident.c src/offheap/resident_anonymous.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_smaps.c - reads arbitrary text as /proc/PID/smaps, cut anywhere, and divides what it tells.
 * Memory that is read has arbitrary words, too. The parts must add up.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/offheap/resident.h"
#include "src/offheap/smaps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const uint8_t *bytes;
static size_t bytes_len;

static bool read_bytes(uint64_t at, void *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((uint8_t *)out)[i] = bytes_len ? bytes[(at + i) % bytes_len] : 0;
	return !bytes_len || bytes[at / 4096 % bytes_len] % 8;
}

static bool some_pages(uint64_t page, bool *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = bytes_len && bytes[(page + i) % bytes_len] & 1;
	return true;
}

static const char *name_of(uint32_t site)
{
	return site ? "block" : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const size_t cut = len ? data[0] * len / 256 : 0;
	const struct lc_resident_range known[] = { { 0x1000, 0x3000, LC_RESIDENT_HEAP },
		                                   { 0x2000, 0x8000, LC_RESIDENT_LOCUS } };
	const struct lc_blocks_block blocks[] = { { 0x5010, 0x3000, 1 }, { 0x9000, 0x10, 0 } };
	struct lc_smaps maps;
	const struct lc_resident_given given = {
		.maps = &maps,
		.known = known,
		.known_len = 2,
		.blocks = blocks,
		.blocks_len = 2,
		.block_name = name_of,
		.heap = { 0x1000, 0x3000 },
		.classes = 0x100000,
		.class_space_bytes = 0x10000,
		.library = { 0x7000, 0x70000000 },
		.read = read_bytes,
		.pages = some_pages,
	};
	struct lc_resident_rows *out = malloc(sizeof(*out));
	uint64_t sum = 0, expected;

	bytes = data;
	bytes_len = len;
	lc_smaps_init(&maps);
	lc_smaps_feed(&maps, (const char *)data, cut);
	lc_smaps_feed(&maps, (const char *)data + cut, len - cut);
	expected = maps.beyond_bytes;
	for (size_t i = 0; i < maps.areas.len; i++)
		expected += lc_smaps_areas(&maps)[i].resident_bytes;
	if (!out || lc_resident_divide(&given, out))
		abort();
	for (size_t i = 1; i < out->len; i++)
		sum += out->rows[i].resident_bytes;
	if (sum != expected || out->rows[0].resident_bytes != sum)
		abort();
	lc_smaps_free(&maps);
	free(out);
	return 0;
}
