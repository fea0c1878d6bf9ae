/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/resident.c - reads the snapshots of resident memory out of the tree. */
#include "analyzer/objects/analysis/resident.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "src/base/order.h"
#include "src/base/sum.h"

#define STANDS_OUT_BYTES (UINT64_C(256) << 20)

static const struct {
	const char *title, *name;
} parts[LC_RESIDENT_PARTS] = {
	[LC_RESIDENT_ALL] = { "all", "all" },
	[LC_RESIDENT_PEAK] = { "peak", "peak" },
	[LC_RESIDENT_HEAP] = { "Java heap", "heap" },
	[LC_RESIDENT_CLASS_SPACE] = { "class space", "class_space" },
	[LC_RESIDENT_METASPACE] = { "metaspace", "metaspace" },
	[LC_RESIDENT_CODE] = { "code cache", "code_cache" },
	[LC_RESIDENT_GC] = { "collector", "gc" },
	[LC_RESIDENT_STACKS] = { "thread stacks", "stacks" },
	[LC_RESIDENT_CDS] = { "class archive", "cds" },
	[LC_RESIDENT_LIBRARIES] = { "libraries and jars", "libraries" },
	[LC_RESIDENT_FILES] = { "mapped files", "files" },
	[LC_RESIDENT_BLOCKS] = { "blocks outside the heap", "blocks" },
	[LC_RESIDENT_MALLOC] = { "other malloc()", "malloc" },
	[LC_RESIDENT_LOCUS] = { "Locus", "locus" },
	[LC_RESIDENT_REST] = { "rest", "rest" },
	[LC_RESIDENT_FREE] = { "free", "free" },
};

const char *lc_resident_part_title(unsigned part)
{
	return part < LC_RESIDENT_PARTS ? parts[part].title : "";
}

const char *lc_resident_part_name(unsigned part)
{
	return part < LC_RESIDENT_PARTS ? parts[part].name : "";
}

static uint32_t process_of(const struct lc_tree *t, uint32_t row)
{
	const uint32_t thread = lc_table_key(&t->memory, row)[LC_MEMORY_THREAD];

	return lc_table_key(&t->threads, thread)[LC_THREAD_PROCESS];
}

static uint64_t number_of(const struct lc_tree *t, uint32_t row)
{
	return lc_tree_wide(lc_table_key(&t->memory, row) + LC_MEMORY_NUMBER);
}

static uint64_t time_of(const struct lc_tree *t, uint32_t row)
{
	return lc_table_values(&t->memory, row)[LC_MEMORY_TIME];
}

/* Periods of a loop have numbers of their own, so the time tells snapshots apart. */
static int by_snapshot(const void *a, const void *b, void *tree)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = lc_order_u64(process_of(tree, x), process_of(tree, y));

	if (!order)
		order = lc_order_u64(time_of(tree, x), time_of(tree, y));
	return order ? order : lc_order_u64(number_of(tree, x), number_of(tree, y));
}

static int by_bytes(const void *a, const void *b)
{
	const struct lc_resident_name *x = a, *y = b;
	int order = (x->part > y->part) - (x->part < y->part);

	if (!order)
		order = lc_order_u64(y->resident_bytes, x->resident_bytes);
	if (!order)
		order = lc_order_u64(y->size_bytes, x->size_bytes);
	if (!order)
		order = lc_order_u64(x->name.len, y->name.len);
	return order ? order : memcmp(x->name.bytes, y->name.bytes, x->name.len);
}

static void add_row(struct lc_resident *r, const struct lc_tree *t, uint32_t row)
{
	const uint32_t *key = lc_table_key(&t->memory, row);
	const uint64_t *values = lc_table_values(&t->memory, row);
	const uint32_t part = key[LC_MEMORY_PART];
	struct lc_text name = lc_tree_text(t, key[LC_MEMORY_NAME]);

	lc_sum_add(&r->resident_bytes[part], values[LC_MEMORY_RESIDENT]);
	lc_sum_add(&r->size_bytes[part], values[LC_MEMORY_SIZE]);
	r->divided |= part > LC_RESIDENT_PEAK && part != LC_RESIDENT_FREE;
	r->free_known |= part == LC_RESIDENT_FREE;
	if (part != LC_RESIDENT_FILES && part != LC_RESIDENT_BLOCKS)
		return;
	if (lc_text_ends(name, LC_OFFHEAP_SUFFIX))
		name.len -= (uint32_t)strlen(LC_OFFHEAP_SUFFIX);
	r->names[r->names_len++] =
	    (struct lc_resident_name){ (uint8_t)part, name, values[LC_MEMORY_RESIDENT],
		                       values[LC_MEMORY_SIZE] };
}

static int by_committed(const void *a, const void *b)
{
	const struct lc_resident_nmt *x = a, *y = b;
	int order = (x->name.len != 0) - (y->name.len != 0);

	if (!order)
		order = lc_order_u64(y->committed_bytes, x->committed_bytes);
	if (!order)
		order = lc_order_u64(x->name.len, y->name.len);
	return order ? order : memcmp(x->name.bytes, y->name.bytes, x->name.len);
}

/* Is that row of what the JVM counts of the snapshot with this row of MEMORY? */
static bool is_counted_at(const struct lc_tree *t, uint32_t nmt, uint32_t row)
{
	const uint32_t *key = lc_table_key(&t->nmt, nmt);
	const uint32_t process = lc_table_key(&t->threads, key[LC_NMT_THREAD])[LC_THREAD_PROCESS];

	return process == process_of(t, row) &&
	       lc_tree_wide(key + LC_NMT_NUMBER) == number_of(t, row) &&
	       lc_table_values(&t->nmt, nmt)[LC_NMT_TIME] == time_of(t, row);
}

static void add_nmt(struct lc_resident *r, const struct lc_tree *t, uint32_t row)
{
	r->nmt = lc_mem_zeroed(t->nmt.count + 1, sizeof(*r->nmt));
	for (uint32_t i = 0; i < t->nmt.count; i++) {
		const uint64_t *values = lc_table_values(&t->nmt, i);

		if (is_counted_at(t, i, row))
			r->nmt[r->nmt_len++] = (struct lc_resident_nmt){
				lc_tree_text(t, lc_table_key(&t->nmt, i)[LC_NMT_NAME]),
				values[LC_NMT_RESERVED], values[LC_NMT_COMMITTED],
				values[LC_NMT_MALLOC]
			};
	}
	qsort(r->nmt, r->nmt_len, sizeof(*r->nmt), by_committed);
	if (r->nmt_len && r->nmt[0].name.len)
		r->nmt_len = 0; /* a damaged profile has no sum */
}

uint64_t lc_resident_jvm(const struct lc_resident *r)
{
	uint64_t bytes = r->nmt_len ? r->nmt[0].malloc_bytes : 0;

	for (size_t i = 1; i < r->nmt_len; i++)
		if (lc_text_is(r->nmt[i].name, "Other") && r->nmt[i].malloc_bytes <= bytes)
			bytes -= r->nmt[i].malloc_bytes;
	return bytes;
}

bool lc_resident_libraries(const struct lc_resident *r, uint64_t *bytes)
{
	const uint64_t all = r->resident_bytes[LC_RESIDENT_MALLOC];

	if (!r->free_known || !r->nmt_len)
		return false;
	*bytes = r->size_bytes[LC_RESIDENT_FREE];
	lc_sum_add(bytes, lc_resident_jvm(r));
	*bytes = all > *bytes ? all - *bytes : 0;
	return true;
}

/* Rows from..to of the list are a snapshot. */
static struct lc_resident snapshot(const struct lc_tree *t, const uint32_t *rows, size_t len)
{
	struct lc_resident r = {
		.number = number_of(t, *rows),
		.time_ns = time_of(t, *rows),
		.names = lc_mem_zeroed(len, sizeof(*r.names)),
	};

	for (size_t i = 0; i < len; i++)
		add_row(&r, t, rows[i]);
	qsort(r.names, r.names_len, sizeof(*r.names), by_bytes);
	add_nmt(&r, t, *rows);
	return r;
}

/* Bytes of a row of LC_RESIDENT_ALL or LC_RESIDENT_PEAK; 0: it is another one. */
static uint64_t bytes_of(const struct lc_tree *t, uint32_t row, unsigned part)
{
	return lc_table_key(&t->memory, row)[LC_MEMORY_PART] == part
	           ? lc_table_values(&t->memory, row)[LC_MEMORY_RESIDENT]
	           : 0;
}

/* `rows` are those of one process, by snapshot. */
static struct lc_resident_process process(const struct lc_tree *t, const uint32_t *rows, size_t len)
{
	struct lc_resident_process p = { .process = process_of(t, *rows) };
	size_t last = 0, last_len = 0, highest = 0, highest_len = 0;
	uint64_t most = 0;

	for (size_t i = 0, end; i < len; i = end) {
		uint64_t all = 0;

		for (end = i; end < len && !by_snapshot(&rows[i], &rows[end], (void *)(uintptr_t)t);
		     end++) {
			const uint64_t peak = bytes_of(t, rows[end], LC_RESIDENT_PEAK);

			all += bytes_of(t, rows[end], LC_RESIDENT_ALL);
			p.peak_bytes = peak > p.peak_bytes ? peak : p.peak_bytes;
		}
		last = i;
		last_len = end - i;
		if (all < most)
			continue;
		most = all;
		highest = i;
		highest_len = end - i;
	}
	p.last = snapshot(t, rows + last, last_len);
	p.highest = snapshot(t, rows + highest, highest_len);
	return p;
}

struct lc_resident_process *lc_resident_list(const struct lc_load *load, size_t *len)
{
	const struct lc_tree *t = load->tree;
	const uint32_t count = t->memory.count;
	uint32_t *rows = lc_mem_zeroed(count + 1, sizeof(*rows));
	struct lc_resident_process *list = lc_mem_zeroed(load->processes_len + 1, sizeof(*list));

	for (uint32_t i = 0; i < count; i++)
		rows[i] = i;
	qsort_r(rows, count, sizeof(*rows), by_snapshot, (void *)(uintptr_t)t);
	*len = 0;
	for (uint32_t i = 0, end; i < count; i = end) {
		for (end = i + 1;
		     end < count && process_of(t, rows[end]) == process_of(t, rows[i]);)
			end++;
		if (process_of(t, rows[i]) < load->processes_len)
			list[(*len)++] = process(t, rows + i, end - i);
	}
	free(rows);
	return list;
}

void lc_resident_free(struct lc_resident_process *list, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		free(list[i].last.names);
		free(list[i].last.nmt);
		free(list[i].highest.names);
		free(list[i].highest.nmt);
	}
	free(list);
}

bool lc_resident_stands_out(const struct lc_resident *r)
{
	const uint64_t all = r->resident_bytes[LC_RESIDENT_ALL];
	const uint64_t heap = r->resident_bytes[LC_RESIDENT_HEAP];

	return r->divided && all > heap && all - heap > STANDS_OUT_BYTES && all - heap > all / 2;
}
