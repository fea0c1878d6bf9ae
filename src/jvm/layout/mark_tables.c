/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/layout/mark_tables.c - reads the bitmaps and the summary of Parallel's full collection.
 *
 * The layouts are those of ParMarkBitMap and ParallelCompactData of JDK 17 to 21, which have not
 * changed since JDK 9 but for what stands behind the fields that are used. The rule for a new
 * address: the destination of the object's region, and what lives in the region before the object.
 * That is the part of an object that reaches into the region from the one before, and the objects
 * that begin in it. In a region that stays as it is (a dense prefix) the collector has set what
 * lives to all of it.
 *
 * All state is used by the thread that posts the GC events, which starts after init.
 */
#include "src/jvm/layout/mark_tables.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "src/jvm/layout/ranges.h"
#include "src/jvm/os/peek.h"

enum {
	REGION_WORDS_LOG2 = 16,
	REGION_WORDS = 1 << REGION_WORDS_LOG2,
	BLOCK_WORDS_LOG2 = 7,
	BLOCKS = REGION_WORDS >> BLOCK_WORDS_LOG2,
	LIVE_MASK = (1 << 27) - 1, /* of `counts`: above is how many regions await this one */
	CHUNK_BYTES = 64 << 10,
	PAGE_BYTES = 4096,
};

/* ParMarkBitMap. */
struct marks {
	uint64_t start;       /* bottom of the heap */
	uint64_t words;       /* size of the heap */
	uint64_t begin_map;   /* one bit for each granule: an object begins there */
	uint64_t begin_bits;  /* bits in it */
	uint64_t end_map;     /* an object's last granule; right behind the other */
	uint64_t end_bits;    /* as many */
	uint64_t space;       /* not used */
	uint64_t space_bytes; /* memory of both */
};

/* ParallelCompactData. */
struct summary {
	uint64_t start;
	uint64_t region_space, space_bytes; /* not used */
	uint64_t regions;                   /* struct region_summary, one for each region */
	uint64_t regions_len;
	uint64_t block_space; /* not used */
	uint64_t blocks;
	uint64_t blocks_len;
};

/* ParallelCompactData::RegionData. */
struct region_summary {
	uint64_t destination;  /* 0: not computed yet */
	uint64_t source;       /* not used */
	uint64_t partial;      /* not used */
	uint32_t partial_size; /* words that an object before reaches into the region */
	uint32_t counts;       /* words of the objects that begin here, by LIVE_MASK */
	uint64_t state;        /* not used */
};
_Static_assert(sizeof(struct region_summary) == 40, "as the JVM has it");

/* Sums over a region. */
struct region {
	uint64_t destination;
	uint32_t partial_size, live; /* as the summary had them */
	bool believed;               /* the bitmaps say the same */
	uint16_t before[BLOCKS];     /* words that live before the first object of the block */
};

static struct {
	struct marks marks; /* start 0: not found. Written by: init */
	uint64_t summaries;
	uint64_t regions_len;
	unsigned granule_log2; /* words of a granule */
	struct region **regions;
} tables;

static bool are_marks(const struct marks *m, uint64_t words)
{
	uint64_t bits = m->begin_bits;

	return m->words == words && bits && words % bits == 0 &&
	       (words / bits & (words / bits - 1)) == 0 && m->end_bits == bits && m->begin_map &&
	       m->begin_map % PAGE_BYTES == 0 && m->end_map == m->begin_map + bits / 8 &&
	       m->space_bytes >= bits / 4;
}

static bool is_summary(const struct summary *s, uint64_t words)
{
	return s->regions_len == (words + REGION_WORDS - 1) >> REGION_WORDS_LOG2 &&
	       s->blocks_len == s->regions_len * BLOCKS && s->regions &&
	       s->regions % PAGE_BYTES == 0 && s->blocks && s->blocks % PAGE_BYTES == 0;
}

/* Candidates found in the JVM's data. */
struct found {
	struct marks marks;
	struct summary summary;
	unsigned marks_len, summaries_len;
};

/* Look at each word of `bytes` that could be the start of a table. Both are of one size. */
static void look_in(const unsigned char *bytes, size_t len, struct lc_range heap, struct found *f)
{
	const uint64_t words = (heap.high - heap.low) / 8;

	_Static_assert(sizeof(struct marks) == sizeof(struct summary), "looked at alike");
	for (size_t i = 0; i + sizeof(struct marks) <= len; i += 8) {
		struct marks m;
		struct summary s;

		if (lc_peek_get64(bytes + i) != heap.low)
			continue;
		memcpy(&m, bytes + i, sizeof(m));
		memcpy(&s, bytes + i, sizeof(s));
		if (are_marks(&m, words)) {
			f->marks = m;
			f->marks_len++;
		}
		if (is_summary(&s, words)) {
			f->summary = s;
			f->summaries_len++;
		}
	}
}

/* Look through the library's mappings, some of which may not be readable. */
static int search(struct lc_range library, struct lc_range heap, struct found *f)
{
	/* Chunks overlap by a table less a word, so that each table is whole in just one. */
	const size_t step = CHUNK_BYTES - sizeof(struct marks) + 8;
	unsigned char *bytes = malloc(CHUNK_BYTES);

	if (!bytes)
		return -ENOMEM;
	for (uint64_t at = library.low; at < library.high; at += step) {
		uint64_t left = library.high - at;
		size_t len = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
		struct iovec into = { bytes, len }, from = lc_peek_part(at, len);

		look_in(bytes, lc_peek_parts(&into, 1, &from, 1), heap, f);
	}
	free(bytes);
	return 0;
}

/* Can the first and the last word of [at, at + bytes) be read? */
static bool ends_readable(uint64_t at, uint64_t bytes)
{
	uint64_t word;

	return lc_peek(at, &word, sizeof(word)) && lc_peek(at + bytes - 8, &word, sizeof(word));
}

int lc_mark_tables_init(void)
{
	const struct lc_range heap = lc_ranges_heap(), library = lc_ranges_library();
	struct found f = { 0 };
	int err;

	lc_mark_tables_forget();
	free(tables.regions); /* of an earlier init */
	tables.regions = NULL;
	tables.regions_len = 0;
	tables.marks.start = 0;
	if (heap.low >= heap.high || library.low >= library.high)
		return -ENOENT;
	err = search(library, heap, &f);
	if (err)
		return err;
	if (f.marks_len != 1 || f.summaries_len != 1 ||
	    !ends_readable(f.marks.begin_map, f.marks.begin_bits / 4) ||
	    !ends_readable(f.summary.regions,
	                   f.summary.regions_len * sizeof(struct region_summary)))
		return -ENOENT;
	tables.regions = calloc(f.summary.regions_len, sizeof(struct region *));
	if (!tables.regions)
		return -ENOMEM;
	tables.summaries = f.summary.regions;
	tables.regions_len = f.summary.regions_len;
	tables.granule_log2 = (unsigned)__builtin_ctzll(f.marks.words / f.marks.begin_bits);
	tables.marks = f.marks;
	return 0;
}

bool lc_mark_tables_known(void)
{
	return tables.marks.start;
}

void lc_mark_tables_forget(void)
{
	for (uint64_t i = 0; i < tables.regions_len; i++) {
		free(tables.regions[i]);
		tables.regions[i] = NULL;
	}
}

/* Is the bit set? The maps are the JVM's, and stay where they are. */
static bool is_set(uint64_t map, uint64_t bit)
{
	return lc_peek_load64(map + bit / 64 * 8) >> bit % 64 & 1;
}

/* The first bit in [from, to) that is set, or `to`. */
static uint64_t next_set(uint64_t map, uint64_t from, uint64_t to)
{
	while (from < to) {
		uint64_t bits = lc_peek_load64(map + from / 64 * 8) >> from % 64;

		if (bits) {
			from += (uint64_t)__builtin_ctzll(bits);
			break;
		}
		from = (from / 64 + 1) * 64;
	}
	return from < to ? from : to;
}

/*
 * Add up the objects that begin in [from, to), both in granules: their words up to `limit`. `each`,
 * if it is not NULL, is told of every object, with the sum before it.
 */
static uint64_t add_up(uint64_t from, uint64_t to, uint64_t limit, struct region *each,
                       uint64_t sum)
{
	const unsigned log2 = tables.granule_log2;
	uint64_t block = UINT64_MAX;

	while ((from = next_set(tables.marks.begin_map, from, to)) < to) {
		uint64_t end = next_set(tables.marks.end_map, from, limit);
		uint64_t in = from << log2 >> BLOCK_WORDS_LOG2;

		if (each && in != block) {
			block = in;
			each->before[in % BLOCKS] = (uint16_t)sum;
		}
		end = end < limit ? end + 1 : limit;
		sum += (end - from) << log2;
		from = end;
	}
	return sum;
}

/* Add up a region, and compare the sums with its summary. */
static void build(struct region *r, uint64_t index)
{
	const unsigned log2 = tables.granule_log2;
	const uint64_t first = index << REGION_WORDS_LOG2 >> log2;
	const uint64_t end = first + (REGION_WORDS >> log2);
	const uint64_t start = tables.marks.start + (index << REGION_WORDS_LOG2) * 8;
	const uint64_t said = (uint64_t)r->partial_size + r->live;
	uint64_t sum;

	if (r->partial_size > REGION_WORDS || said > REGION_WORDS)
		return;
	sum = add_up(first + (r->partial_size >> log2), end, end, r, r->partial_size);
	r->believed = sum == said || (said == REGION_WORDS && r->destination == start);
}

/* The region as it is summed up now; NULL where the collector has not computed it, or no memory. */
static const struct region *region_of(uint64_t index)
{
	const uint64_t at = tables.summaries + index * sizeof(struct region_summary);
	const uint64_t destination =
	    lc_peek_load64(at + offsetof(struct region_summary, destination));
	const uint32_t partial = lc_peek_load32(at + offsetof(struct region_summary, partial_size));
	const uint32_t live =
	    lc_peek_load32(at + offsetof(struct region_summary, counts)) & LIVE_MASK;
	struct region *r = tables.regions[index];

	if (!destination)
		return NULL;
	if (r && r->destination == destination && r->partial_size == partial && r->live == live)
		return r;
	if (!r)
		r = tables.regions[index] = malloc(sizeof(*r));
	if (!r)
		return NULL;
	*r = (struct region){ .destination = destination, .partial_size = partial, .live = live };
	build(r, index);
	return r;
}

enum lc_mark_fate lc_mark_tables_find(uint64_t addr, uint64_t *to)
{
	const uint64_t word = (addr - tables.marks.start) / 8;
	const uint64_t index = word >> REGION_WORDS_LOG2;
	const uint64_t in_region = word % REGION_WORDS;
	const uint64_t bit = word >> tables.granule_log2;
	const uint64_t block = word >> BLOCK_WORDS_LOG2 << BLOCK_WORDS_LOG2;
	const struct region *r;
	uint64_t words = in_region;

	if (!tables.marks.start || addr < tables.marks.start || word >= tables.marks.words)
		return LC_MARK_UNSAID;
	r = region_of(index);
	if (!r || !r->believed)
		return LC_MARK_UNSAID;
	if (!is_set(tables.marks.begin_map, bit))
		return LC_MARK_DEAD;
	if (r->partial_size + r->live != REGION_WORDS)
		words = add_up(block >> tables.granule_log2, bit, bit, NULL,
		               r->before[in_region >> BLOCK_WORDS_LOG2]);
	*to = r->destination + words * 8;
	return LC_MARK_LIVES;
}
