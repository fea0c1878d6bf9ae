/* SPDX-License-Identifier: Apache-2.0 */
/* objects/page/page_layouts.c - writes the field offsets of classes. */
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/page/page.h"
#include "analyzer/out/json.h"
#include "src/base/order.h"

/* Order rows of tree.layouts by site, offset and bytes. */
static int order_rows(const void *a, const void *b, void *context)
{
	const struct lc_table *t = context;
	const uint32_t *x = lc_table_key(t, *(const uint32_t *)a);
	const uint32_t *y = lc_table_key(t, *(const uint32_t *)b);
	int order = lc_order_u64(x[LC_LAYOUT_SITE], y[LC_LAYOUT_SITE]);

	if (!order)
		order = lc_order_u64(lc_tree_wide(x + LC_LAYOUT_OFFSET),
		                     lc_tree_wide(y + LC_LAYOUT_OFFSET));
	return order ? order : lc_order_u64(x[LC_LAYOUT_BYTES], y[LC_LAYOUT_BYTES]);
}

/* Write the rows of one site, whose objects are of one class. */
static void put(struct lc_json *j, const struct lc_tree *t, const uint32_t *rows, size_t len)
{
	const uint32_t site = lc_table_key(&t->layouts, rows[0])[LC_LAYOUT_SITE];
	uint64_t size = 0;

	lc_json_object(j, NULL);
	lc_json_u64(j, "class", lc_table_key(&t->sites, site)[LC_SITE_CLASS]);
	lc_json_array(j, "fields");
	for (size_t i = 0; i < len; i++) {
		const uint32_t *key = lc_table_key(&t->layouts, rows[i]);

		if (!key[LC_LAYOUT_BYTES]) {
			size = lc_tree_wide(key + LC_LAYOUT_OFFSET);
			continue;
		}
		lc_json_array(j, NULL);
		lc_json_u64(j, NULL, key[LC_LAYOUT_NAME]);
		lc_json_u64(j, NULL, lc_tree_wide(key + LC_LAYOUT_OFFSET));
		lc_json_u64(j, NULL, key[LC_LAYOUT_BYTES]);
		lc_json_end_array(j);
	}
	lc_json_end_array(j);
	lc_json_u64(j, "bytes", size);
	lc_json_end_object(j);
}

void lc_page_layouts(struct lc_json *j, const struct lc_tree *t)
{
	const uint32_t count = t->layouts.count;
	uint32_t *rows = lc_mem_zeroed(count, sizeof(*rows));

	for (uint32_t i = 0; i < count; i++)
		rows[i] = i;
	qsort_r(rows, count, sizeof(*rows), order_rows, (void *)(uintptr_t)&t->layouts);
	lc_json_line(j, 0);
	lc_json_array(j, "layouts");
	for (size_t from = 0, to; from < count; from = to) {
		const uint32_t site = lc_table_key(&t->layouts, rows[from])[LC_LAYOUT_SITE];

		for (to = from + 1;
		     to < count && lc_table_key(&t->layouts, rows[to])[LC_LAYOUT_SITE] == site;
		     to++)
			;
		put(j, t, rows + from, to - from);
	}
	lc_json_end_array(j);
	free(rows);
}
