/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/block_decoder_rows.c - reads the rows of flat sections fast, if no filter must see them.
 * Nearly all rows are read here.
 *
 * sections.def generates two functions per section, so that the compiler knows the columns. One
 * checks the rows of a block. The other one adds them in batches that the table looks up together.
 */
#include "analyzer/model/block_decoder_impl.h"

/* Properties of a column that are known at compile time. */
struct known {
	enum lc_column_type type;
	bool key, max;
	uint64_t below; /* limit of BELOW and TENTH columns */
};

#define ALWAYS static inline __attribute__((always_inline))

/* The column with the path of the access; `len`: there is none. */
ALWAYS unsigned access_path_of(enum lc_section_filter filter, const struct known *columns,
                               unsigned len)
{
	unsigned found = len;

#pragma GCC unroll 13
	for (unsigned i = 0; i < len; i++)
		if (filter == LC_FILTER_ACCESS && columns[i].key &&
		    columns[i].type == LC_COLUMN_PATH)
			found = i;
	return found;
}

/* ---- checking ---- */

/* Does the column allow the number, and is its definition not lost? */
ALWAYS bool good(struct lc_pass *p, const struct known *c, uint64_t v, uint64_t before)
{
	switch (c->type) {
	case LC_COLUMN_U64:
	case LC_COLUMN_PAIRS:
		return true;
	case LC_COLUMN_FROM:
		return v >= before;
	case LC_COLUMN_PART:
		return v <= before;
	case LC_COLUMN_LENGTH:
		return v <= UINT64_MAX - before;
	case LC_COLUMN_BELOW:
	case LC_COLUMN_TENTH:
		return v < c->below;
	case LC_COLUMN_SUBMIT:
		return lc_submit_of_tasks(v);
	case LC_COLUMN_ENGINE:
		return v < p->limits.below[LC_COLUMN_ENGINE];
	default:
		if (v >= p->limits.below[c->type])
			return false;
		if (lc_tree_number(p, c->type, v) != LC_LOST_DEFINITION)
			return true;
		p->d->lost = true;
		return false;
	}
}

/* Rows of ACCESSES are also counted against those of BUCKETS. */
ALWAYS void check(struct lc_pass *p, struct lc_reader *r, uint32_t n, bool owned, bool accesses,
                  const struct known *columns, unsigned len, unsigned keys)
{
	for (; n && !r->bad; n--) {
		uint64_t v[LC_COLUMNS_MAX];

		if (owned)
			lc_take_owner(r, p);
#pragma GCC unroll 13
		for (unsigned i = 0; i < len; i++) {
			if (columns[i].type == LC_COLUMN_PAIRS && !p->has_pairs)
				continue;
			v[i] = lc_take(r);
			if (!good(p, &columns[i], v[i], i ? v[i - 1] : 0))
				lc_reader_fail(r);
		}
		if (accesses && !r->bad)
			lc_sum_add(&p->seen[v[0]][v[1]], v[keys]);
	}
}

/* ---- adding ---- */

/*
 * Add rows that were checked. Rows of ACCESSES are counted against those of BUCKETS again, for
 * add_pathless() in block_decoder.c.
 */
ALWAYS void add(struct lc_pass *p, struct lc_reader *r, uint32_t n, bool owned,
                enum lc_section section, enum lc_section_filter filter, struct lc_table *table,
                const struct known *columns, unsigned len, unsigned keys, bool has_owner,
                unsigned key_len)
{
	const unsigned access_path = access_path_of(filter, columns, len);
	uint64_t engine = 0, bucket = 0, samples = 0;
	uint32_t key[LC_TABLE_BATCH * (1 + 2 * LC_COLUMNS_MAX)], rows[LC_TABLE_BATCH];
	uint64_t values[LC_TABLE_BATCH * LC_COLUMNS_MAX];

	while (n) {
		const uint32_t batch = n < LC_TABLE_BATCH ? n : LC_TABLE_BATCH;

		for (uint32_t k = 0; k < batch; k++) {
			uint32_t *to = key + (size_t)k * key_len;

			if (has_owner)
				*to++ = owned ? lc_take_owner(r, p) : p->thread;
#pragma GCC unroll 13
			for (unsigned i = 0; i < len; i++) {
				const bool guess =
				    columns[i].type == LC_COLUMN_PAIRS && !p->has_pairs;
				const uint64_t v =
				    guess ? lc_guess_pairs(p, engine, samples) : lc_take(r);

				if (columns[i].type == LC_COLUMN_ENGINE)
					engine = v;
				if (section == LC_SECTION_ACCESSES && i == 1)
					bucket = v;
				if (i == keys)
					samples = v;
				if (section == LC_SECTION_ACCESSES && i == keys)
					lc_sum_add(&p->seen[engine][bucket], v);
				if (!columns[i].key) {
					values[k * LC_COLUMNS_MAX + i] = v;
				} else if (lc_tree_is_wide(columns[i].type)) {
					lc_tree_wide_put(to, v);
					to += 2;
				} else if (columns[i].type == LC_COLUMN_PATH && !v &&
				           i != access_path) {
					*to++ = 0;
				} else {
					*to++ = lc_tree_number(p, columns[i].type, v);
				}
			}
		}
		lc_table_put_batch(table, key, batch, rows);
		for (uint32_t k = 0; section == LC_SECTION_ACCESSES && k < batch; k++)
			lc_path_times_seen(&p->target->tree->times,
			                   key[(size_t)k * key_len + LC_ACCESS_PATH]);
		for (uint32_t k = 0; k < batch; k++) {
			uint64_t *to = lc_table_values(table, rows[k]);

#pragma GCC unroll 13
			for (unsigned i = keys; i < len; i++) {
				const uint64_t v = values[k * LC_COLUMNS_MAX + i];

				if (!columns[i].max)
					lc_sum_add(&to[i - keys], v);
				else if (v > to[i - keys])
					to[i - keys] = v;
			}
		}
		n -= batch;
	}
}

/* ---- the sections ---- */

#define TYPE_SITE LC_COLUMN_SITE, .below = 0
#define TYPE_SITE_OR_0 LC_COLUMN_SITE_OR_0, .below = 0
#define TYPE_PATH LC_COLUMN_PATH, .below = 0
#define TYPE_STRING LC_COLUMN_STRING, .below = 0
#define TYPE_ENGINE LC_COLUMN_ENGINE, .below = 0
#define TYPE_BUCKET LC_COLUMN_BELOW, .below = LC_BUCKET_COUNT
#define TYPE_NODE LC_COLUMN_BELOW, .below = LC_NODE_END
#define TYPE_BELOW(n) LC_COLUMN_BELOW, .below = (n)
#define TYPE_SUBMIT LC_COLUMN_SUBMIT, .below = 0
#define TYPE_TENTH LC_COLUMN_TENTH, .below = UINT64_MAX / LC_TIMELINE_NS + 1
#define TYPE_U64 LC_COLUMN_U64, .below = 0
#define TYPE_PAIRS LC_COLUMN_PAIRS, .below = 0
#define TYPE_FROM LC_COLUMN_FROM, .below = 0
#define TYPE_PART LC_COLUMN_PART, .below = 0
#define TYPE_LENGTH LC_COLUMN_LENGTH, .below = 0

#define PLAIN_SUM { .type = LC_COLUMN_U64 },
_Static_assert(LC_LIVE_COLUMNS == 5, "LC_SUMS() lists them");

#define LC_KEY(id, member, kind, text) { .type = TYPE_##kind, .key = true },
#define LC_KEY_BELOW(id, member, n, text) { .type = TYPE_BELOW(n), .key = true },
#define LC_SUM(id, member, kind, text) { .type = TYPE_##kind },
#define LC_SUMS(id, member, text) PLAIN_SUM PLAIN_SUM PLAIN_SUM PLAIN_SUM PLAIN_SUM
#define LC_MAX(id, member, kind, text) { .type = TYPE_##kind, .max = true },
#define LC_OWNER(prefix, number) true
#define LC_NOBODY false
#define LC_SECTION_APART(name, number, prefix, noun, list, owner, by, columns)
#define LC_SECTION(name, number, prefix, noun, list, owner, by, columns)                           \
	static void rows_##list(struct lc_pass *p, struct lc_reader *r, uint32_t n, bool owned)    \
	{                                                                                          \
		static const struct known known[] = { columns };                                   \
		enum {                                                                             \
			LEN = sizeof(known) / sizeof(known[0]),                                    \
			KEYS = LEN - LC_##prefix##_VALUES                                          \
		};                                                                                 \
                                                                                                   \
		if (p->add)                                                                        \
			add(p, r, n, owned, LC_SECTION_##name, LC_FILTER_##by,                     \
			    &p->target->tree->list, known, LEN, KEYS, owner, LC_##prefix##_KEY);   \
		else                                                                               \
			check(p, r, n, owned, LC_SECTION_##name == LC_SECTION_ACCESSES, known,     \
			      LEN, KEYS);                                                          \
	}
#include "src/format/sections.def"

bool lc_block_rows(struct lc_pass *p, struct lc_reader *r, uint32_t n, bool owned,
                   enum lc_section section)
{
	const struct lc_frame_filter *frames = p->target->frames;

	if ((frames && lc_frame_filter_on(frames)) || p->target->tree->slices ||
	    (p->all && p->target->groups))
		return false; /* groups may exclude processes */
	switch (section) {
#define LC_SECTION_APART(name, number, prefix, noun, list, owner, by, columns)
#define LC_SECTION(name, number, prefix, noun, list, owner, by, columns)                           \
	case LC_SECTION_##name:                                                                    \
		rows_##list(p, r, n, owned);                                                       \
		return true;
#include "src/format/sections.def"
	default:
		return false;
	}
}
