/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format/section.c - makes one description of each flat section of sections.def, and works by it.
 */
#include "src/format/section.h"

#include <string.h>

#include "src/format/block.h"
#include "src/format/rows.h"

/* NOLINTBEGIN(bugprone-macro-parentheses): what these macros take and yield are names and lists */

/* ---- orders ---- */

static int order_texts(const char *x, const char *y)
{
	return x == y ? 0 : strcmp(x ? x : "", y ? y : "");
}

/* Leave the function with the order of x and y where their numbers differ. */
#define LC_ORDER(member)                                                                           \
	if (x->member != y->member)                                                                \
		return x->member < y->member ? -1 : 1;
#define LC_ORDER_SITE(member) LC_ORDER(member)
#define LC_ORDER_SITE_OR_0(member) LC_ORDER(member)
#define LC_ORDER_PATH(member) LC_ORDER(member)
#define LC_ORDER_STRING(member) texts = texts ? texts : order_texts(x->member, y->member);
#define LC_ORDER_ENGINE(member) LC_ORDER(member)
#define LC_ORDER_BUCKET(member) LC_ORDER(member)
#define LC_ORDER_NODE(member) LC_ORDER(member)
#define LC_ORDER_BELOW(member) LC_ORDER(member)
#define LC_ORDER_SUBMIT(member) LC_ORDER(member)
#define LC_ORDER_TENTH(member) LC_ORDER(member)
#define LC_ORDER_U64(member) LC_ORDER(member)
#define LC_ORDER_FROM(member) LC_ORDER(member)

#define LC_KEY(id, member, type, text) LC_ORDER_##type(member)
#define LC_SUM(id, member, type, text)
#define LC_SUMS(id, member, text)
#define LC_MAX(id, member, type, text)
#define LC_SECTION(name, number, prefix, noun, list, owner, by, columns)                           \
	static int order_##list(const void *a, const void *b)                                      \
	{                                                                                          \
		const struct lc_block_##noun *x = a, *y = b;                                       \
		int texts = 0;                                                                     \
                                                                                                   \
		columns return texts;                                                              \
	}
#include "src/format/sections.def"

/* ---- limits ---- */

/*
 * Leave the function where a number is not such as its column allows; `before` is the column
 * before.
 */
#define LC_LIMIT(member, good)                                                                     \
	if (!(good))                                                                               \
		return false;                                                                      \
	before = x->member;
#define LC_LIMIT_SITE(member) before = x->member;
#define LC_LIMIT_SITE_OR_0(member) before = x->member;
#define LC_LIMIT_PATH(member) before = x->member;
#define LC_LIMIT_STRING(member)
#define LC_LIMIT_ENGINE(member) LC_LIMIT(member, x->member < engines)
#define LC_LIMIT_BUCKET(member) LC_LIMIT(member, x->member < LC_BUCKET_COUNT)
#define LC_LIMIT_NODE(member) LC_LIMIT(member, x->member < LC_NODE_END)
#define LC_LIMIT_SUBMIT(member) LC_LIMIT(member, lc_submit_of_tasks(x->member))
#define LC_LIMIT_TENTH(member) before = x->member / LC_TIMELINE_NS;
#define LC_LIMIT_U64(member) before = x->member;
#define LC_LIMIT_PAIRS(member) before = x->member;
#define LC_LIMIT_FROM(member) LC_LIMIT(member, x->member >= before)
#define LC_LIMIT_PART(member) LC_LIMIT(member, x->member <= before)
#define LC_LIMIT_LENGTH(member) LC_LIMIT(member, x->member <= UINT64_MAX - before)

#define LC_KEY(id, member, type, text) LC_LIMIT_##type(member)
#define LC_KEY_BELOW(id, member, n, text) LC_LIMIT(member, (uint64_t)x->member < (n))
#define LC_SUM(id, member, type, text) LC_LIMIT_##type(member)
#define LC_SUMS(id, member, text)
#define LC_MAX(id, member, type, text) LC_LIMIT_##type(member)
#define LC_SECTION(name, number, prefix, noun, list, owner, by, columns)                           \
	static bool valid_##list(const void *row, unsigned engines)                                \
	{                                                                                          \
		const struct lc_block_##noun *x = row;                                             \
		uint64_t before = 0;                                                               \
                                                                                                   \
		columns(void) before;                                                              \
		(void)engines;                                                                     \
		return true;                                                                       \
	}
#include "src/format/sections.def"

/* ---- sums ---- */

#define LC_KEY(id, member, type, text)
#define LC_SUM(id, member, type, text) lc_sum_add(&x->member, y->member);
#define LC_SUMS(id, member, text)                                                                  \
	for (unsigned i = 0; i < LC_LIVE_COLUMNS; i++)                                             \
		lc_sum_add(&x->member[i], y->member[i]);
#define LC_MAX(id, member, type, text) x->member = y->member > x->member ? y->member : x->member;
#define LC_SECTION(name, number, prefix, noun, list, owner, by, columns)                           \
	static void add_##list(void *to, const void *from)                                         \
	{                                                                                          \
		struct lc_block_##noun *x = to;                                                    \
		const struct lc_block_##noun *y = from;                                            \
                                                                                                   \
		columns(void) x;                                                                   \
		(void)y;                                                                           \
	}
#include "src/format/sections.def"

/* ---- descriptions ---- */

#define LC_KEY(id, member, type, text) +1
#define LC_SUM(id, member, type, text)
#define LC_SUMS(id, member, text)
#define LC_MAX(id, member, type, text)
#define LC_SECTION(name, number, prefix, noun, list, owner, by, columns) KEYS_##name = 0 columns,
enum {
#include "src/format/sections.def"
};

#define LC_TYPE_SITE .type = LC_COLUMN_SITE
#define LC_TYPE_SITE_OR_0 .type = LC_COLUMN_SITE_OR_0
#define LC_TYPE_PATH .type = LC_COLUMN_PATH
#define LC_TYPE_STRING .type = LC_COLUMN_STRING
#define LC_TYPE_ENGINE .type = LC_COLUMN_ENGINE
#define LC_TYPE_BUCKET LC_TYPE_BELOW(LC_BUCKET_COUNT)
#define LC_TYPE_NODE LC_TYPE_BELOW(LC_NODE_END)
#define LC_TYPE_BELOW(n) .type = LC_COLUMN_BELOW, .below = (n)
#define LC_TYPE_SUBMIT .type = LC_COLUMN_SUBMIT
#define LC_TYPE_TENTH .type = LC_COLUMN_TENTH, .below = UINT64_MAX / LC_TIMELINE_NS + 1
#define LC_TYPE_U64 .type = LC_COLUMN_U64
#define LC_TYPE_PAIRS .type = LC_COLUMN_PAIRS
#define LC_TYPE_FROM .type = LC_COLUMN_FROM
#define LC_TYPE_PART .type = LC_COLUMN_PART
#define LC_TYPE_LENGTH .type = LC_COLUMN_LENGTH

/* `row` is the struct of the section in whose function a column stands. */
#define LC_COLUMN(member, is_max, type)                                                            \
	{ LC_TYPE_##type, .offset = offsetof(row, member), .bytes = sizeof(((row *)0)->member),    \
	  .max = (is_max) },
#define LC_KEY(id, member, type, text) LC_COLUMN(member, false, type)
#define LC_KEY_BELOW(id, member, n, text) LC_COLUMN(member, false, BELOW(n))
#define LC_SUM(id, member, type, text) LC_COLUMN(member, false, type)
#define LC_SUMS(id, member, text)                                                                  \
	LC_COLUMN(member[0], false, U64)                                                           \
	LC_COLUMN(member[1], false, U64)                                                           \
	LC_COLUMN(member[2], false, U64)                                                           \
	LC_COLUMN(member[3], false, U64)                                                           \
	LC_COLUMN(member[4], false, U64)
#define LC_MAX(id, member, type, text) LC_COLUMN(member, true, type)
_Static_assert(LC_LIVE_COLUMNS == 5, "LC_SUMS() lists them");
_Static_assert(sizeof(const char *) == 8, "a string's address is a number of a row");

#define LC_OWNER(prefix, number) number
#define LC_NOBODY 0
#define LC_SECTION(name, section, prefix, noun, rows, owner, by, fields)                           \
	static const struct lc_section_spec *spec_##rows(void)                                     \
	{                                                                                          \
		typedef struct lc_block_##noun row;                                                \
		static const struct lc_column columns[] = { fields };                              \
		static const struct lc_section_spec spec = {                                       \
			.number = LC_SECTION_##name,                                               \
			.filter = LC_FILTER_##by,                                                  \
			.merged = owner,                                                           \
			.columns_len = sizeof(columns) / sizeof(columns[0]),                       \
			.keys_len = KEYS_##name,                                                   \
			.columns = columns,                                                        \
			.row_bytes = sizeof(row),                                                  \
			.list = offsetof(struct lc_block_input, rows),                             \
			.list_len = offsetof(struct lc_block_input, rows##_len),                   \
			.order = order_##rows,                                                     \
			.valid = valid_##rows,                                                     \
			.add = add_##rows,                                                         \
		};                                                                                 \
                                                                                                   \
		_Static_assert(sizeof(columns) / sizeof(columns[0]) <= LC_COLUMNS_MAX,             \
		               "arrays of columns have room");                                     \
		return &spec;                                                                      \
	}
#include "src/format/sections.def"

const struct lc_section_spec *lc_section_spec(unsigned section)
{
	switch (section) {
#define LC_SECTION(name, number, prefix, noun, list, owner, by, columns)                           \
	case LC_SECTION_##name:                                                                    \
		return spec_##list();
#include "src/format/sections.def"
	default:
		return NULL;
	}
}

/* NOLINTEND(bugprone-macro-parentheses) */

/* ---- rows ---- */

void lc_section_load(const struct lc_section_spec *s, const void *row, uint64_t *v)
{
	for (unsigned i = 0; i < s->columns_len; i++) {
		const struct lc_column *c = &s->columns[i];
		const char *member = (const char *)row + c->offset;
		uint16_t two;
		uint32_t four;

		switch (c->bytes) {
		case 1:
			v[i] = *(const uint8_t *)member;
			break;
		case 2:
			memcpy(&two, member, sizeof(two));
			v[i] = two;
			break;
		case 4:
			memcpy(&four, member, sizeof(four));
			v[i] = four;
			break;
		default:
			memcpy(&v[i], member, sizeof(v[i]));
		}
		if (c->type == LC_COLUMN_TENTH)
			v[i] /= LC_TIMELINE_NS;
	}
}

bool lc_section_valid(const struct lc_section_spec *s, const struct lc_section_limits *limits,
                      const uint64_t *v)
{
	for (unsigned i = 0; i < s->columns_len; i++) {
		const struct lc_column *c = &s->columns[i];
		uint64_t before = i ? v[i - 1] : 0;
		bool good = true;

		switch (c->type) {
		case LC_COLUMN_U64:
		case LC_COLUMN_PAIRS:
			break;
		case LC_COLUMN_FROM:
			good = v[i] >= before;
			break;
		case LC_COLUMN_PART:
			good = v[i] <= before;
			break;
		case LC_COLUMN_LENGTH:
			good = v[i] <= UINT64_MAX - before;
			break;
		case LC_COLUMN_BELOW:
		case LC_COLUMN_TENTH:
			good = v[i] < c->below;
			break;
		case LC_COLUMN_SUBMIT:
			good = lc_submit_of_tasks(v[i]);
			break;
		default:
			good = v[i] < limits->below[c->type];
		}
		if (!good)
			return false;
	}
	return true;
}
