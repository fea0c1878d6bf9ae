/* SPDX-License-Identifier: Apache-2.0 */
/* model/tree.c - keeps the merged profile in memory. */
#include "analyzer/model/tree.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "src/base/order.h"
#include "src/format/block.h"

enum { HIDDEN_SUFFIX = 3 + 16 }; /* "/0x" and 16 digits */

void lc_tree_init(struct lc_tree *t)
{
	static const uint32_t zero[LC_METHOD_KEY];
	static const uint32_t none[2] = { UINT32_MAX, UINT32_MAX }; /* is no other's key */

	memset(t, 0, sizeof(*t));
	lc_table_init(&t->strings, 4, 0);
	lc_table_init(&t->methods, LC_METHOD_KEY, LC_METHOD_VALUES);
	lc_table_init(&t->frames, LC_FRAME_KEY, 0);
	lc_table_init(&t->paths, LC_PATH_KEY, 0);
	lc_table_init(&t->sites, LC_SITE_KEY, LC_SITE_VALUES);
	lc_table_init(&t->threads, LC_THREAD_KEY, LC_THREAD_VALUES);
	lc_table_init(&t->shares, LC_SHARE_KEY, 1);
	lc_table_init(&t->stretch_samples, LC_STRETCH_SAMPLES_KEY, 1);
	lc_table_init(&t->executions, LC_EXECUTION_KEY, LC_EXECUTION_VALUES);
	lc_table_init(&t->span_buckets, 2, 1);
#define LC_SECTION_APART(name, number, prefix, noun, list, owner, by, columns)
#define LC_SECTION(name, number, prefix, noun, list, owner, by, columns)                           \
	lc_table_init(&t->list, LC_##prefix##_KEY, LC_##prefix##_VALUES);
#include "src/format/sections.def"
	lc_tree_string(t, "", 0);
	lc_table_put(&t->methods, zero);
	lc_table_put(&t->frames, zero);
	lc_table_put(&t->paths, none);
	lc_table_put(&t->sites, none);
}

void lc_tree_free(struct lc_tree *t)
{
	free(t->bytes);
	free(t->starts);
	free(t->classes);
	lc_table_free(&t->strings);
	lc_table_free(&t->methods);
	lc_table_free(&t->frames);
	lc_table_free(&t->paths);
	lc_table_free(&t->sites);
	lc_table_free(&t->threads);
	lc_table_free(&t->shares);
	lc_table_free(&t->stretch_samples);
	lc_table_free(&t->executions);
	lc_table_free(&t->span_buckets);
	for (unsigned i = 0; i < LC_SECTION_COUNT; i++)
		if (lc_tree_table(t, i))
			lc_table_free(lc_tree_table(t, i));
	for (size_t i = 0; i < t->own.len; i++)
		free(t->own.patterns[i]);
	free(t->own.patterns);
	free(t->own.why);
	free(t->span_intervals);
	free(t->traces);
	free(t->stretches);
	lc_path_times_free(&t->times);
}

struct lc_table *lc_tree_table(const struct lc_tree *t, enum lc_section section)
{
	switch (section) {
#define LC_SECTION_APART(name, number, prefix, noun, list, owner, by, columns)
#define LC_SECTION(name, number, prefix, noun, list, owner, by, columns)                           \
	case LC_SECTION_##name:                                                                    \
		return (struct lc_table *)&t->list;
#include "src/format/sections.def"
	default:
		return NULL;
	}
}

void lc_tree_stretch(struct lc_tree *t, uint32_t thread, uint64_t begin_ns, uint64_t end_ns)
{
	if (t->no_stretches)
		return;
	t->stretches = lc_mem_grow(t->stretches, &t->stretches_cap, t->stretches_len + 1,
	                           sizeof(*t->stretches));
	t->stretches[t->stretches_len++] = (struct lc_tree_stretch){
		.thread = thread,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
	};
}

void lc_tree_stretch_allocated(struct lc_tree *t, uint64_t allocations, uint64_t bytes)
{
	struct lc_tree_stretch *last;

	if (t->no_stretches)
		return;
	last = &t->stretches[t->stretches_len - 1];
	lc_sum_add(&last->allocations, allocations);
	lc_sum_add(&last->bytes, bytes);
}

void lc_tree_stretch_sampled(struct lc_tree *t, uint32_t engine, uint32_t bucket, uint64_t samples)
{
	const uint32_t key[LC_STRETCH_SAMPLES_KEY] = { (uint32_t)t->stretches_len - 1, engine,
		                                       bucket };

	if (!t->no_stretches)
		lc_sum_add(
		    lc_table_values(&t->stretch_samples, lc_table_put(&t->stretch_samples, key)),
		    samples);
}

void lc_tree_thread_seen(struct lc_tree *t, uint32_t row, uint32_t tid, uint32_t name,
                         uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t *v = lc_table_values(&t->threads, row);
	int order = lc_order_u64(end_ns, v[LC_THREAD_END_NS]);

	if (!order)
		order = lc_order_u64(tid, v[LC_THREAD_TID]);
	if (!order && name != v[LC_THREAD_NAME])
		order = lc_tree_order_text(t, name, (uint32_t)v[LC_THREAD_NAME]);
	if (order > 0) {
		v[LC_THREAD_TID] = tid;
		v[LC_THREAD_NAME] = name;
	}
	if (end_ns && (!v[LC_THREAD_END_NS] || begin_ns < v[LC_THREAD_BEGIN_NS]))
		v[LC_THREAD_BEGIN_NS] = begin_ns;
	if (end_ns > v[LC_THREAD_END_NS])
		v[LC_THREAD_END_NS] = end_ns;
}

enum { STRING_KEY = 4 };

static void string_key(uint32_t *key, const char *bytes, size_t len)
{
	const uint64_t hash = lc_checksum(bytes, len);

	key[0] = (uint32_t)len;
	key[1] = (uint32_t)hash;
	key[2] = (uint32_t)(hash >> 32);
	key[3] = 0;
}

/* The bytes of a new string. */
static void keep_text(struct lc_tree *t, uint32_t id, const char *bytes, size_t len)
{
	t->starts = lc_mem_grow(t->starts, &t->starts_cap, (size_t)id + 1, sizeof(*t->starts));
	t->bytes = lc_mem_grow(t->bytes, &t->bytes_cap, t->bytes_len + len + 1, 1);
	t->starts[id] = t->bytes_len;
	if (len)
		memcpy(t->bytes + t->bytes_len, bytes, len);
	t->bytes_len += len;
}

static bool has_text(const struct lc_tree *t, uint32_t id, const char *bytes, size_t len)
{
	return !len || memcmp(t->bytes + t->starts[id], bytes, len) == 0;
}

uint32_t lc_tree_string(struct lc_tree *t, const char *bytes, size_t len)
{
	uint32_t key[STRING_KEY];

	string_key(key, bytes, len);
	for (;; key[3]++) {
		const uint32_t before = t->strings.count;
		const uint32_t id = lc_table_put(&t->strings, key);

		if (id == before)
			keep_text(t, id, bytes, len);
		if (has_text(t, id, bytes, len))
			return id;
	}
}

/*
 * Try the strings behind the last found one, as lc_table_put_batch() does for keys. Returns
 * UINT32_MAX if none is equal.
 */
static uint32_t expected_string(const struct lc_tree *t, uint32_t next, const struct lc_text *text)
{
	for (uint32_t id = next; id < next + LC_TABLE_AHEAD && id < t->strings.count; id++)
		if (lc_table_key(&t->strings, id)[0] == text->len &&
		    has_text(t, id, text->bytes, text->len))
			return id;
	return UINT32_MAX;
}

void lc_tree_strings(struct lc_tree *t, const struct lc_text *texts, uint32_t n, uint32_t *ids)
{
	uint32_t keys[LC_TABLE_BATCH * STRING_KEY] = { 0 }, others[LC_TABLE_BATCH];
	uint32_t found[LC_TABLE_BATCH], len = 0, expected = t->strings.next, next;

	for (uint32_t i = 0; i < n; i++) {
		ids[i] = expected_string(t, expected, &texts[i]);
		if (ids[i] != UINT32_MAX) {
			expected = ids[i] + 1;
			continue;
		}
		string_key(keys + len * STRING_KEY, texts[i].bytes, texts[i].len);
		others[len++] = i;
	}
	next = t->strings.count;
	lc_table_put_batch(&t->strings, keys, len, found);
	for (uint32_t k = 0; k < len; k++) {
		const struct lc_text *text = &texts[others[k]];

		ids[others[k]] = found[k];
		if (found[k] == next)
			keep_text(t, next++, text->bytes, text->len);
	}
	for (uint32_t k = 0; k < len; k++) { /* another text with that hash */
		const struct lc_text *text = &texts[others[k]];

		if (!has_text(t, found[k], text->bytes, text->len))
			ids[others[k]] = lc_tree_string(t, text->bytes, text->len);
	}
	if (n)
		t->strings.next = ids[n - 1] + 1;
}

static bool is_hidden_suffix(const char *p)
{
	if ((p[0] != '/' && p[0] != '.') || p[1] != '0' || p[2] != 'x')
		return false;
	for (int i = 3; i < HIDDEN_SUFFIX; i++)
		if (!strchr("0123456789abcdef", p[i]) || !p[i])
			return false;
	return true;
}

uint32_t lc_tree_class(struct lc_tree *t, const char *bytes, size_t len)
{
	for (size_t i = 0; i + HIDDEN_SUFFIX <= len; i++) {
		char *shorter;
		uint32_t id;

		if (!is_hidden_suffix(bytes + i))
			continue;
		shorter = lc_mem_zeroed(len, 1);
		memcpy(shorter, bytes, i);
		memcpy(shorter + i, bytes + i + HIDDEN_SUFFIX, len - i - HIDDEN_SUFFIX);
		id = lc_tree_string(t, shorter, len - HIDDEN_SUFFIX);
		free(shorter);
		return id;
	}
	return lc_tree_string(t, bytes, len);
}

struct lc_text lc_tree_text(const struct lc_tree *t, uint32_t string)
{
	return (struct lc_text){ t->bytes + t->starts[string],
		                 lc_table_key(&t->strings, string)[0] };
}

uint32_t lc_tree_depth(const struct lc_tree *t, uint32_t path)
{
	uint32_t depth = 0;

	for (; path; path = lc_tree_parent(t, path))
		depth++;
	return depth;
}

/* Bytes that are hashed together: many short pieces would take several times as long. */
struct hashed {
	XXH64_state_t state;
	size_t len;
	char bytes[2048];
};

static void flush_hashed(struct hashed *h)
{
	XXH64_update(&h->state, h->bytes, h->len);
	h->len = 0;
}

static void hash_bytes(struct hashed *h, const void *bytes, size_t len)
{
	if (len > sizeof(h->bytes) - h->len)
		flush_hashed(h);
	if (len > sizeof(h->bytes)) {
		XXH64_update(&h->state, bytes, len);
		return;
	}
	memcpy(h->bytes + h->len, bytes, len);
	h->len += len;
}

static void hash_text(const struct lc_tree *t, struct hashed *h, uint32_t string)
{
	struct lc_text text = lc_tree_text(t, string);

	hash_bytes(h, text.bytes, text.len);
	hash_bytes(h, "", 1);
}

uint64_t lc_tree_site_id(const struct lc_tree *t, uint32_t site)
{
	const uint32_t *key = lc_table_key(&t->sites, site);
	struct hashed h;

	h.len = 0;
	XXH64_reset(&h.state, 0);
	hash_text(t, &h, key[LC_SITE_CLASS]);
	for (uint32_t path = key[LC_SITE_PATH]; path; path = lc_tree_parent(t, path)) {
		const uint32_t *frame = lc_tree_frame(t, path);
		const uint32_t *method = lc_tree_method(t, path);
		uint8_t numbers[8];

		hash_text(t, &h, method[LC_METHOD_CLASS]);
		hash_text(t, &h, method[LC_METHOD_NAME]);
		hash_text(t, &h, method[LC_METHOD_SIGNATURE]);
		lc_put_u32(numbers, frame[LC_FRAME_BCI1]);
		lc_put_u32(numbers + 4, frame[LC_FRAME_LINE1]);
		hash_bytes(&h, numbers, sizeof(numbers));
	}
	flush_hashed(&h);
	return XXH64_digest(&h.state);
}

uint64_t lc_tree_recursion(const struct lc_tree *t, uint32_t path)
{
	uint32_t row = t->recursions.count ? lc_table_find(&t->recursions, &path) : UINT32_MAX;

	return row == UINT32_MAX ? 0 : lc_table_values(&t->recursions, row)[LC_RECURSION_FRAMES];
}

bool lc_tree_empty(const struct lc_tree *t)
{
	for (unsigned e = 0; e < LC_ENGINES_MAX; e++)
		for (unsigned b = 0; b < LC_BUCKET_COUNT; b++)
			if (t->buckets[e][b])
				return false;
	for (uint32_t site = 1; site < t->sites.count; site++)
		if (lc_table_values(&t->sites, site)[LC_SITE_ALLOCATIONS])
			return false;
	for (uint32_t row = 0; row < t->estimates.count; row++)
		if (lc_table_values(&t->estimates, row)[LC_ESTIMATE_SAMPLED])
			return false;
	return !t->offheap.count && !t->offheap_before.count;
}

bool lc_tree_has_spans(const struct lc_tree *t)
{
	return t->executions.count || t->tasks_made.count || t->span_accesses.count ||
	       t->timeline.count || t->traces_len ||
	       t->running.count; /* pauses are of all profiles */
}

int lc_tree_order_text(const struct lc_tree *t, uint32_t a, uint32_t b)
{
	struct lc_text x = lc_tree_text(t, a), y = lc_tree_text(t, b);
	int order = memcmp(x.bytes, y.bytes, x.len < y.len ? x.len : y.len);

	return order ? order : lc_order_u64(x.len, y.len);
}

int lc_tree_order_methods(const struct lc_tree *t, uint32_t a, uint32_t b)
{
	const uint32_t *x = lc_table_key(&t->methods, a), *y = lc_table_key(&t->methods, b);

	for (unsigned i = 0; i < LC_METHOD_KEY; i++) {
		int order = x[i] == y[i] ? 0 : lc_tree_order_text(t, x[i], y[i]);

		if (order)
			return order;
	}
	return 0;
}

/* By the names in them, from the leaf: numbers depend on the order of the inputs. */
int lc_tree_order_paths(const struct lc_tree *t, uint32_t a, uint32_t b)
{
	while (a != b) {
		const uint32_t *x, *y;
		int order;

		if (!a || !b)
			return a ? 1 : -1;
		x = lc_tree_frame(t, a);
		y = lc_tree_frame(t, b);
		order = lc_tree_order_methods(t, x[LC_FRAME_METHOD], y[LC_FRAME_METHOD]);
		if (!order)
			order = lc_order_u64(x[LC_FRAME_LINE1], y[LC_FRAME_LINE1]);
		if (!order)
			order = lc_order_u64(x[LC_FRAME_BCI1], y[LC_FRAME_BCI1]);
		if (order)
			return order;
		a = lc_tree_parent(t, a);
		b = lc_tree_parent(t, b);
	}
	return 0;
}
