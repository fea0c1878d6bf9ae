/*
 * tally.c - see tally.h. Samples are appended as they come and coalesced when a block is made: a
 * second holds a few hundred of them.
 */
#include "tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct lc_tally {
	struct lc_block_access *accesses;
	size_t accesses_len, accesses_cap;
	struct lc_block_alloc *allocs;
	size_t allocs_len, allocs_cap;
	uint64_t detail[LC_WHERE_COUNT][LC_HOW_COUNT];
	uint64_t pathless[LC_BUCKET_COUNT]; /* samples that have no access of their own */
	struct lc_block_bucket bucket_rows[LC_BUCKET_COUNT];
	struct lc_block_detail detail_rows[LC_WHERE_COUNT * LC_HOW_COUNT];
};

_Static_assert((int)LC_WHERE_COUNT == (int)LC_DETAIL_WHERE_COUNT, "format.h names each place");
_Static_assert((int)LC_HOW_COUNT == (int)LC_DETAIL_HOW_COUNT, "format.h names each way");

struct lc_tally *lc_tally_create(void)
{
	return calloc(1, sizeof(struct lc_tally));
}

void lc_tally_destroy(struct lc_tally *t)
{
	if (!t)
		return;
	free(t->accesses);
	free(t->allocs);
	free(t);
}

/* Room for one more element of `element_bytes`. Returns the array, or NULL and leaves it as it was. */
static void *reserve(void *array, size_t len, size_t *cap, size_t element_bytes)
{
	size_t bigger = *cap ? *cap * 2 : 64;
	void *grown;

	if (len < *cap)
		return array;
	grown = realloc(array, bigger * element_bytes);
	if (grown)
		*cap = bigger;
	return grown;
}

int lc_tally_sample(struct lc_tally *t, uint16_t engine, enum lc_bucket bucket, uint32_t site,
                    uint32_t path, enum lc_where where, enum lc_how how, uint64_t samples)
{
	struct lc_block_access *grown =
	    reserve(t->accesses, t->accesses_len, &t->accesses_cap, sizeof(*t->accesses));

	t->detail[where][how] += samples;
	if (!grown) {
		t->pathless[bucket] += samples;
		return -ENOMEM;
	}
	t->accesses = grown;
	t->accesses[t->accesses_len++] = (struct lc_block_access){
		.engine = engine,
		.bucket = (uint8_t)bucket,
		.site = site,
		.path = path,
		.samples = samples,
	};
	return 0;
}

void lc_tally_lost(struct lc_tally *t, uint64_t samples)
{
	t->pathless[LC_BUCKET_LOST] += samples;
}

int lc_tally_allocations(struct lc_tally *t, uint32_t site, uint64_t count, uint64_t bytes)
{
	struct lc_block_alloc *grown =
	    reserve(t->allocs, t->allocs_len, &t->allocs_cap, sizeof(*t->allocs));

	if (!grown)
		return -ENOMEM;
	t->allocs = grown;
	t->allocs[t->allocs_len++] =
	    (struct lc_block_alloc){ .site = site, .count = count, .bytes = bytes };
	return 0;
}

static int by_key(const void *a, const void *b)
{
	const struct lc_block_access *x = a, *y = b;

	if (x->engine != y->engine)
		return x->engine < y->engine ? -1 : 1;
	if (x->bucket != y->bucket)
		return x->bucket < y->bucket ? -1 : 1;
	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return (x->path > y->path) - (x->path < y->path);
}

static void coalesce(struct lc_tally *t)
{
	size_t kept = 0;

	if (t->accesses_len < 2)
		return;
	qsort(t->accesses, t->accesses_len, sizeof(*t->accesses), by_key);
	for (size_t i = 1; i < t->accesses_len; i++) {
		if (!by_key(&t->accesses[kept], &t->accesses[i]))
			t->accesses[kept].samples += t->accesses[i].samples;
		else
			t->accesses[++kept] = t->accesses[i];
	}
	t->accesses_len = kept + 1;
}

bool lc_tally_block(struct lc_tally *t, struct lc_block_input *in)
{
	size_t buckets = 0, details = 0;

	coalesce(t);
	/* All samples of bucket and engine, those with an access included; one engine has pathless. */
	for (uint8_t b = 0; b < LC_BUCKET_COUNT; b++) {
		uint64_t samples = t->pathless[b];

		for (size_t i = 0; i < t->accesses_len; i++)
			if (t->accesses[i].bucket == b)
				samples += t->accesses[i].samples;
		if (samples)
			t->bucket_rows[buckets++] =
			    (struct lc_block_bucket){ .bucket = b, .samples = samples };
	}
	for (uint8_t w = 0; w < LC_WHERE_COUNT; w++)
		for (uint8_t h = 0; h < LC_HOW_COUNT; h++)
			if (t->detail[w][h])
				t->detail_rows[details++] = (struct lc_block_detail){
					.where = w, .how = h, .samples = t->detail[w][h]
				};
	in->accesses = t->accesses;
	in->accesses_len = t->accesses_len;
	in->allocs = t->allocs;
	in->allocs_len = t->allocs_len;
	in->buckets = t->bucket_rows;
	in->buckets_len = buckets;
	in->details = t->detail_rows;
	in->details_len = details;
	return t->accesses_len || t->allocs_len || buckets;
}

void lc_tally_clear(struct lc_tally *t)
{
	t->accesses_len = 0;
	t->allocs_len = 0;
	memset(t->detail, 0, sizeof(t->detail));
	memset(t->pathless, 0, sizeof(t->pathless));
}
