/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offheap/resident.c - cuts areas into pieces with one owner each, and adds the pieces up.
 *
 * The kernel counts the resident memory of an area. If an area has several owners, its resident
 * pages are looked up one by one. The parts add up to the sum of the areas in any case.
 */
#include "src/offheap/resident.h"
#include "src/base/ends.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/order.h"
#include "src/base/vector.h"
#include "src/offheap/resident_impl.h"

#define PAGE UINT64_C(4096)
#define ARCHIVE_ALIGNMENT (UINT64_C(16) << 20)

enum { PAGES_LOOKED_INTO = 1 << 18 };

/* Memory of one name; small ones are put together in the end. */
struct named {
	const char *name;
	uint64_t resident_bytes, size_bytes;
	uint8_t part;
};

bool lc_resident_page(struct lc_resident_division *d, uint64_t at)
{
	const uint64_t page = at / PAGE;

	if (page < d->window || page >= d->window + d->window_len) {
		d->window = page;
		d->window_len =
		    d->given->pages(page, d->resident, LC_RESIDENT_WINDOW) ? LC_RESIDENT_WINDOW : 0;
	}
	return page < d->window + d->window_len && d->resident[page - d->window];
}

/* ---- owners ---- */

/* The owner of a mapped file, or of memory to which the kernel has given a name. */
static uint8_t part_of_name(const char *name)
{
	const char *file = strrchr(name, '/');

	file = file ? file + 1 : name;
	if (!strncmp(file, "liblocus", 8))
		return LC_RESIDENT_LOCUS;
	if (lc_ends_with(file, strlen(file), ".jsa"))
		return LC_RESIDENT_CDS;
	if (strstr(file, ".so") || lc_ends_with(name, strlen(name), "/bin/java") ||
	    lc_ends_with(name, strlen(name), "/lib/modules") ||
	    lc_ends_with(file, strlen(file), ".jar") || *name != '/')
		return LC_RESIDENT_LIBRARIES;
	return LC_RESIDENT_FILES;
}

/* Memory of the kernel's that has no file: "[heap]", "[stack]", "[anon:...]". */
static bool part_of_word(const char *name, uint8_t *out)
{
	if (!strcmp(name, "[heap]"))
		*out = LC_RESIDENT_MALLOC;
	else if (!strcmp(name, "[stack]"))
		*out = LC_RESIDENT_STACKS;
	else if (*name && strncmp(name, "[anon", 5) != 0)
		*out = LC_RESIDENT_LIBRARIES; /* [vdso] */
	else
		return false;
	return true;
}

/* Add what is left of an area's piece, which no range holds. */
static int add_unknown(struct lc_resident_division *d, struct lc_resident_piece p)
{
	const struct lc_smaps *maps = d->given->maps;
	const char *name = lc_smaps_name(maps, lc_smaps_areas(maps) + p.area);

	if (p.is_file)
		p.part = part_of_name(name);
	else if (!part_of_word(name, &p.part))
		return lc_resident_add_anonymous(d, p);
	return lc_vector_push(&d->pieces, &p);
}

/* A range owns what it holds of an area. An archive of classes is mapped into classes and heap. */
static int split_area(struct lc_resident_division *d, uint32_t area, size_t *at)
{
	const struct lc_resident_given *g = d->given;
	const struct lc_smaps_area *a = lc_smaps_areas(g->maps) + area;
	struct lc_resident_piece p = { a->low,           a->high,     0,         area,
		                       LC_RESIDENT_REST, a->reserved, a->is_file };
	int err = 0;

	while (*at < g->known_len && g->known[*at].high <= a->low)
		++*at;
	for (size_t i = *at; !err && i < g->known_len && g->known[i].low < a->high; i++) {
		const struct lc_resident_range *r = &g->known[i];
		struct lc_resident_piece before = p, owned = p;

		if (r->high <= p.low)
			continue;
		if (r->low > p.low) {
			before.high = p.low = r->low;
			err = add_unknown(d, before);
		}
		owned.low = p.low;
		owned.high = p.low = r->high < a->high ? r->high : a->high;
		owned.part = r->part;
		if (!err && owned.low < owned.high)
			err = lc_vector_push(&d->pieces, &owned);
	}
	return !err && p.low < p.high ? add_unknown(d, p) : err;
}

/*
 * Classes lie behind the archive, if there is one, and the space for them begins at a multiple of
 * 16 MiB.
 */
static void find_class_space(struct lc_resident_division *d)
{
	const struct lc_resident_given *g = d->given;
	const struct lc_smaps_area *a = lc_smaps_areas(g->maps);
	uint64_t low = g->classes;

	for (size_t i = 0; g->classes && i < g->maps->areas.len; i++)
		if (a[i].is_file && a[i].low >= low && a[i].low < low + ARCHIVE_ALIGNMENT &&
		    part_of_name(lc_smaps_name(g->maps, &a[i])) == LC_RESIDENT_CDS)
			low = (a[i].high + ARCHIVE_ALIGNMENT - 1) / ARCHIVE_ALIGNMENT *
			      ARCHIVE_ALIGNMENT;
	if (g->classes)
		d->class_space = (struct lc_range){ g->classes, low + g->class_space_bytes };
}

/* ---- resident memory ---- */

static uint64_t count_pages(struct lc_resident_division *d, uint64_t low, uint64_t high)
{
	uint64_t bytes = 0;

	for (uint64_t at = low / PAGE * PAGE; at < high; at += PAGE) {
		const uint64_t from = at < low ? low : at;
		const uint64_t to = at + PAGE < high ? at + PAGE : high;

		bytes += lc_resident_page(d, at) ? to - from : 0;
	}
	return bytes;
}

/*
 * Pieces from..to are those of an area. The kernel's count is divided among them; the largest
 * one has what is left, so that nobody looks at each page of a heap.
 */
static void count_area(struct lc_resident_division *d, size_t from, size_t to)
{
	struct lc_resident_piece *p = lc_resident_pieces(d);
	uint64_t left = lc_smaps_areas(d->given->maps)[p[from].area].resident_bytes;
	size_t largest = from;

	for (size_t i = from + 1; i < to; i++)
		if (p[i].high - p[i].low > p[largest].high - p[largest].low)
			largest = i;
	for (size_t i = from; i < to && left; i++) {
		const uint64_t bytes = i == largest ? 0 : count_pages(d, p[i].low, p[i].high);

		p[i].resident_bytes = bytes < left ? bytes : left;
		left -= p[i].resident_bytes;
	}
	p[largest].resident_bytes += left;
}

static void count_pieces(struct lc_resident_division *d)
{
	struct lc_resident_piece *p = lc_resident_pieces(d);

	for (size_t i = 0, end; i < d->pieces.len; i = end) {
		for (end = i + 1; end < d->pieces.len && p[end].area == p[i].area;)
			end++;
		count_area(d, i, end);
	}
}

/* ---- blocks ---- */

static int add_named(struct lc_vector *named, uint8_t part, const char *name, uint64_t resident,
                     uint64_t size)
{
	struct named n = { name, resident, size, part };

	return lc_vector_push(named, &n);
}

/* A small block counts as touched. */
static uint64_t block_resident(struct lc_resident_division *d, uint64_t low, uint64_t high,
                               const struct lc_resident_piece *p)
{
	const bool whole = p->resident_bytes >= p->high - p->low;

	return whole || high - low < PAGE ? high - low : count_pages(d, low, high);
}

/* Blocks take what they hold out of memory of malloc(), and of memory that nobody knows. */
static int take_blocks(struct lc_resident_division *d, struct lc_vector *named)
{
	const struct lc_resident_given *g = d->given;
	struct lc_resident_piece *p = lc_resident_pieces(d);
	size_t at = 0;
	int err = 0;

	for (size_t i = 0; i < g->blocks_len && !err; i++) {
		const uint64_t low = g->blocks[i].addr, high = low + g->blocks[i].size_bytes;
		const char *name = g->block_name(g->blocks[i].site);
		uint64_t left = 0;

		while (at < d->pieces.len && p[at].high <= low)
			at++;
		for (size_t k = at; name && k < d->pieces.len && p[k].low < high; k++) {
			const uint64_t from = low > p[k].low ? low : p[k].low;
			const uint64_t to = high < p[k].high ? high : p[k].high;
			uint64_t bytes;

			if ((p[k].part != LC_RESIDENT_MALLOC && p[k].part != LC_RESIDENT_REST) ||
			    p[k].is_file || from >= to)
				continue;
			bytes = block_resident(d, from, to, &p[k]);
			bytes = bytes < p[k].resident_bytes ? bytes : p[k].resident_bytes;
			p[k].resident_bytes -= bytes;
			left += bytes;
		}
		if (name)
			err = add_named(named, LC_RESIDENT_BLOCKS, name, left, high - low);
	}
	return err;
}

/* ---- sums ---- */

static int by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	const int order = (x->part > y->part) - (x->part < y->part);

	return order ? order : strcmp(x->name, y->name);
}

static int by_bytes(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	const int order = (x->part > y->part) - (x->part < y->part);

	return order ? order : lc_order_u64(y->resident_bytes, x->resident_bytes);
}

static struct lc_resident_row *new_row(struct lc_resident_rows *out, uint8_t part, const char *name)
{
	struct lc_resident_row *r = &out->rows[out->len++];

	memset(r, 0, sizeof(*r));
	r->part = part;
	snprintf(r->name, sizeof(r->name), "%s", name);
	return r;
}

/* A row for each of the names with most resident memory, and one for the other names of a part. */
static void add_rows(struct lc_resident_rows *out, struct lc_vector *named)
{
	struct named *n = named->data;
	struct lc_resident_row *r = NULL;
	size_t kept = 0, of_part = 0;

	if (!named->len)
		return;
	qsort(n, named->len, sizeof(*n), by_name);
	for (size_t i = 1; i < named->len; i++) {
		if (!by_name(&n[kept], &n[i])) {
			n[kept].resident_bytes += n[i].resident_bytes;
			n[kept].size_bytes += n[i].size_bytes;
		} else {
			n[++kept] = n[i];
		}
	}
	named->len = kept + 1;
	qsort(n, named->len, sizeof(*n), by_bytes);
	for (size_t i = 0; i < named->len; i++) {
		of_part = i && n[i].part == n[i - 1].part ? of_part + 1 : 0;
		if (of_part <= LC_RESIDENT_NAMES)
			r = new_row(out, n[i].part, of_part < LC_RESIDENT_NAMES ? n[i].name : "");
		r->resident_bytes += n[i].resident_bytes;
		r->size_bytes += n[i].size_bytes;
	}
}

/* The last directory of a path is not part of the name, nor that the file was deleted. */
static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int add_up(struct lc_resident_division *d, struct lc_vector *named,
                  struct lc_resident_rows *out)
{
	const struct lc_smaps *maps = d->given->maps;
	const struct lc_resident_piece *p = lc_resident_pieces(d);
	struct lc_resident_row parts[LC_RESIDENT_PARTS] = { { 0 } };
	int err = 0;

	parts[LC_RESIDENT_REST].resident_bytes = maps->beyond_bytes;
	for (size_t i = 0; i < d->pieces.len && !err; i++) {
		const uint64_t size = p[i].reserved ? 0 : p[i].high - p[i].low;
		const struct lc_smaps_area *a = lc_smaps_areas(maps) + p[i].area;

		parts[p[i].part].resident_bytes += p[i].resident_bytes;
		parts[p[i].part].size_bytes += size;
		if (p[i].part == LC_RESIDENT_FILES)
			err = add_named(named, LC_RESIDENT_FILES, file_name(lc_smaps_name(maps, a)),
			                p[i].resident_bytes, size);
	}
	if (err)
		return err;
	out->len = 1; /* for all of it */
	for (uint8_t part = LC_RESIDENT_HEAP; part <= LC_RESIDENT_REST; part++) {
		struct lc_resident_row *r;

		if (part == LC_RESIDENT_FILES || part == LC_RESIDENT_BLOCKS)
			continue;
		/* Reserved memory has no size, but may have pages from before it was reserved. */
		if (!parts[part].size_bytes && !parts[part].resident_bytes &&
		    part != LC_RESIDENT_REST)
			continue;
		r = new_row(out, part, "");
		r->resident_bytes = parts[part].resident_bytes;
		r->size_bytes = parts[part].size_bytes;
	}
	add_rows(out, named);
	memset(&out->rows[0], 0, sizeof(out->rows[0]));
	for (size_t i = 1; i < out->len; i++) {
		out->rows[0].resident_bytes += out->rows[i].resident_bytes;
		out->rows[0].size_bytes += out->rows[i].size_bytes;
	}
	return 0;
}

int lc_resident_divide(const struct lc_resident_given *given, struct lc_resident_rows *out)
{
	struct lc_resident_division *d = calloc(1, sizeof(*d));
	struct lc_vector named = { .element_bytes = sizeof(struct named) };
	size_t at = 0;
	int err = d && !given->maps->broken ? 0 : -ENOMEM;

	if (!d)
		return err;
	d->given = given;
	d->pages_left = PAGES_LOOKED_INTO;
	d->pieces.element_bytes = sizeof(struct lc_resident_piece);
	find_class_space(d);
	for (uint32_t i = 0; i < given->maps->areas.len && !err; i++)
		err = split_area(d, i, &at);
	if (!err) {
		lc_resident_find_gc(d);
		count_pieces(d);
		err = take_blocks(d, &named);
	}
	if (!err)
		err = add_up(d, &named, out);
	free(named.data);
	free(d->pieces.data);
	free(d);
	return err;
}
