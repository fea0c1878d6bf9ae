/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/canonical.c - sorts the rows of a tree by ranks of their names. Columns are numbers below
 * the number of rows that they name, so that a sort by digits takes a few passes over each.
 */
#include "analyzer/model/canonical.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "src/base/order.h"

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, DIGITS_OF_NUMBER = 3, COLUMNS_MAX = 32 };

/* ---- sorting by columns ---- */

static void *array(size_t count, size_t size)
{
	return lc_mem_zeroed(count, size);
}

/* One column of a table, and the rank of each number in it; NULL: the number itself. */
struct column {
	uint32_t at;
	const uint32_t *ranks;
};

static inline uint32_t number_in(const struct lc_table *t, const struct column *c, uint32_t row)
{
	const uint32_t v = lc_table_key(t, row)[c->at];

	return c->ranks ? c->ranks[v] : v;
}

/* Order `rows` by one digit of `numbers`, which are those of the rows in their order so far. */
static void sort_by_digit(uint32_t *rows, uint32_t *other_rows, uint32_t *numbers,
                          uint32_t *other_numbers, uint32_t len, unsigned shift,
                          const uint32_t *counts)
{
	uint32_t at[DIGITS], sum = 0;

	for (unsigned i = 0; i < DIGITS; i++) {
		at[i] = sum;
		sum += counts[i];
	}
	for (uint32_t i = 0; i < len; i++) {
		const uint32_t to = at[numbers[i] >> shift & (DIGITS - 1)]++;

		other_rows[to] = rows[i];
		other_numbers[to] = numbers[i];
	}
	memcpy(rows, other_rows, len * sizeof(*rows));
	memcpy(numbers, other_numbers, len * sizeof(*numbers));
}

struct scratch {
	uint32_t *rows, *numbers, *other;
	uint32_t counts[DIGITS_OF_NUMBER][DIGITS];
};

static void sort_by_column(const struct lc_table *t, const struct column *c, uint32_t *rows,
                           struct scratch *s)
{
	const uint32_t len = t->count;

	memset(s->counts, 0, sizeof(s->counts));
	for (uint32_t i = 0; i < len; i++) {
		const uint32_t v = s->numbers[i] = number_in(t, c, rows[i]);

		for (unsigned d = 0; d < DIGITS_OF_NUMBER; d++)
			s->counts[d][v >> d * DIGIT_BITS & (DIGITS - 1)]++;
	}
	for (unsigned d = 0; d < DIGITS_OF_NUMBER; d++) {
		const unsigned shift = d * DIGIT_BITS;

		if (s->counts[d][s->numbers[0] >> shift & (DIGITS - 1)] != len)
			sort_by_digit(rows, s->rows, s->numbers, s->other, len, shift,
			              s->counts[d]);
	}
}

/* The rows of a table, ordered by the columns, the first one before all. */
static uint32_t *sorted(const struct lc_table *t, const struct column *columns, unsigned len)
{
	uint32_t *rows = array(t->count, sizeof(*rows));
	struct scratch *s = array(1, sizeof(*s));

	s->rows = array(t->count, sizeof(*rows));
	s->numbers = array(t->count, sizeof(*rows));
	s->other = array(t->count, sizeof(*rows));
	for (uint32_t i = 0; i < t->count; i++)
		rows[i] = i;
	for (unsigned i = len; i-- && t->count;)
		sort_by_column(t, &columns[i], rows, s);
	free(s->rows);
	free(s->numbers);
	free(s->other);
	free(s);
	return rows;
}

static uint32_t *ranks_of(uint32_t *rows, uint32_t count)
{
	uint32_t *ranks = array(count, sizeof(*ranks));

	for (uint32_t i = 0; i < count; i++)
		ranks[rows[i]] = i;
	free(rows);
	return ranks;
}

/* ---- ranks ---- */

static int by_text(const void *a, const void *b, void *tree)
{
	return lc_tree_order_text(tree, *(const uint32_t *)a, *(const uint32_t *)b);
}

static uint32_t *rank_strings(const struct lc_tree *t)
{
	uint32_t *rows = array(t->strings.count, sizeof(*rows));

	for (uint32_t i = 0; i < t->strings.count; i++)
		rows[i] = i;
	qsort_r(rows, t->strings.count, sizeof(*rows), by_text, (void *)(uintptr_t)t);
	return ranks_of(rows, t->strings.count);
}

static uint32_t *rank_frames(const struct lc_tree *t, const uint32_t *strings)
{
	const struct column names[LC_METHOD_KEY] = {
		{ 0, strings }, { 1, strings }, { 2, strings }, { 3, strings }
	};
	uint32_t *methods = ranks_of(sorted(&t->methods, names, LC_METHOD_KEY), t->methods.count);
	const struct column columns[LC_FRAME_KEY] = { { LC_FRAME_METHOD, methods },
		                                      { LC_FRAME_LINE1, NULL },
		                                      { LC_FRAME_BCI1, NULL } };
	uint32_t *frames = ranks_of(sorted(&t->frames, columns, LC_FRAME_KEY), t->frames.count);

	free(methods);
	return frames;
}

/* Site 0 and path 0 are first, and their keys are no other's. */
static struct lc_table without_first(const struct lc_table *t)
{
	return (struct lc_table){ .key_len = t->key_len,
		                  .count = t->count - 1,
		                  .keys = t->keys + t->key_len };
}

/*
 * A path is followed by all that is below it, so that its rank and the sizes of the trees of its
 * first children give the rank of the next child. A parent has a smaller number than its children.
 */
static uint32_t *rank_paths(const struct lc_tree *t, const uint32_t *frames)
{
	const struct lc_table below = without_first(&t->paths);
	const struct column columns[LC_PATH_KEY] = { { LC_PATH_PARENT, NULL },
		                                     { LC_PATH_FRAME, frames } };
	uint32_t *rows = sorted(&below, columns, LC_PATH_KEY);
	uint32_t *sizes = array(t->paths.count, sizeof(*sizes));
	uint32_t *ranks = array(t->paths.count, sizeof(*ranks));
	uint32_t parent = UINT32_MAX, next = 0;

	for (uint32_t path = below.count; path; path--)
		sizes[lc_tree_parent(t, path)] += ++sizes[path];
	for (uint32_t i = 0; i < below.count; i++) {
		const uint32_t path = rows[i] + 1;

		if (lc_tree_parent(t, path) != parent) {
			parent = lc_tree_parent(t, path);
			next = ranks[parent] + 1;
		}
		ranks[path] = next;
		next += sizes[path];
	}
	free(rows);
	free(sizes);
	return ranks;
}

uint32_t *lc_canonical_sites(const struct lc_canonical *c)
{
	const struct lc_table rest = without_first(&c->tree->sites);
	const struct column columns[LC_SITE_KEY] = { { LC_SITE_CLASS, c->strings },
		                                     { LC_SITE_PATH, c->paths } };
	uint32_t *rows = sorted(&rest, columns, LC_SITE_KEY);
	uint32_t *all = array(c->tree->sites.count, sizeof(*all));

	for (uint32_t i = 0; i < rest.count; i++)
		all[i + 1] = rows[i] + 1;
	free(rows);
	return all;
}

uint32_t *lc_canonical_threads(const struct lc_canonical *c)
{
	const struct column columns[LC_THREAD_KEY] = { { LC_THREAD_PROCESS, NULL },
		                                       { LC_THREAD_INDEX, NULL } };

	return sorted(&c->tree->threads, columns, LC_THREAD_KEY);
}

void lc_canonical_init(struct lc_canonical *c, const struct lc_tree *t)
{
	*c = (struct lc_canonical){ .tree = t };
	c->strings = rank_strings(t);
	c->frames = rank_frames(t, c->strings);
	c->paths = rank_paths(t, c->frames);
	c->sites = ranks_of(lc_canonical_sites(c), t->sites.count);
	c->threads = ranks_of(lc_canonical_threads(c), t->threads.count);
}

void lc_canonical_free(struct lc_canonical *c)
{
	free(c->strings);
	free(c->frames);
	free(c->paths);
	free(c->sites);
	free(c->threads);
	*c = (struct lc_canonical){ 0 };
}

/* ---- rows ---- */

static const uint32_t *ranks_for(const struct lc_canonical *c, enum lc_column_type type)
{
	switch (type) {
	case LC_COLUMN_SITE:
	case LC_COLUMN_SITE_OR_0:
		return c->sites;
	case LC_COLUMN_PATH:
		return c->paths;
	case LC_COLUMN_STRING:
		return c->strings;
	default:
		return NULL;
	}
}

uint32_t *lc_canonical_section(const struct lc_canonical *c, enum lc_section section)
{
	const struct lc_section_spec *s = lc_section_spec(section);
	struct column columns[COLUMNS_MAX];
	unsigned len = 0;
	uint32_t at = 0;

	_Static_assert(1 + 2 * LC_COLUMNS_MAX <= COLUMNS_MAX, "a thread, and wide columns");
	if (s->merged)
		columns[len++] = (struct column){ at++, c->threads };
	for (unsigned i = 0; i < s->keys_len; i++) {
		const bool wide = lc_tree_is_wide(s->columns[i].type);

		if (wide) /* its high half is behind the low one */
			columns[len++] = (struct column){ at + 1, NULL };
		columns[len++] = (struct column){ at, ranks_for(c, s->columns[i].type) };
		at += wide ? 2 : 1;
	}
	return sorted(lc_tree_table(c->tree, section), columns, len);
}

uint32_t *lc_canonical_shares(const struct lc_canonical *c)
{
	const struct column columns[LC_SHARE_KEY] = { { LC_SHARE_THREAD, c->threads },
		                                      { LC_SHARE_ENGINE, NULL },
		                                      { LC_SHARE_BUCKET, NULL } };

	return sorted(&c->tree->shares, columns, LC_SHARE_KEY);
}

uint32_t *lc_canonical_executions(const struct lc_canonical *c)
{
	const struct column columns[LC_EXECUTION_KEY] = {
		{ LC_EXECUTION_THREAD, c->threads }, { LC_EXECUTION_KIND, NULL },
		{ LC_EXECUTION_LEVEL, NULL },        { LC_EXECUTION_SUBMIT, NULL },
		{ LC_EXECUTION_SITE, c->sites },     { LC_EXECUTION_SUBMIT_PATH, c->paths },
		{ LC_EXECUTION_PATH, c->paths },
	};

	return sorted(&c->tree->executions, columns, LC_EXECUTION_KEY);
}

static int by_trace(const void *a, const void *b, void *of)
{
	const struct lc_canonical *c = of;
	const struct lc_tree_trace *x = &c->tree->traces[*(const uint32_t *)a];
	const struct lc_tree_trace *y = &c->tree->traces[*(const uint32_t *)b];
	const struct lc_block_trace *p = &x->row, *q = &y->row;
	const uint64_t columns[][2] = {
		{ c->threads[x->thread], c->threads[y->thread] },
		{ p->start_ns, q->start_ns },
		{ p->id, q->id },
		{ p->outer, q->outer },
		{ p->logical, q->logical },
		{ p->kind, q->kind },
		{ p->level, q->level },
		{ p->submit_kind, q->submit_kind },
		{ p->flags, q->flags },
		{ c->sites[p->site], c->sites[q->site] },
		{ c->paths[p->submit_path], c->paths[q->submit_path] },
		{ c->paths[p->path], c->paths[q->path] },
		{ p->creator, q->creator },
		{ p->duration_ns, q->duration_ns },
		{ p->cycles, q->cycles },
		{ (uint64_t)p->compensated, (uint64_t)q->compensated },
		{ p->switches, q->switches },
		{ p->wait_ns, q->wait_ns },
	};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		if (columns[i][0] != columns[i][1])
			return lc_order_u64(columns[i][0], columns[i][1]);
	return 0;
}

uint32_t *lc_canonical_traces(const struct lc_canonical *c)
{
	uint32_t *rows = array(c->tree->traces_len, sizeof(*rows));

	for (size_t i = 0; i < c->tree->traces_len; i++)
		rows[i] = (uint32_t)i;
	qsort_r(rows, c->tree->traces_len, sizeof(*rows), by_trace, (void *)(uintptr_t)c);
	return rows;
}
