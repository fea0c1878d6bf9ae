/* SPDX-License-Identifier: Apache-2.0 */
/* span/clock/timeline_rows.c - cuts readings into rows of stretches. */
#include "src/span/clock/timeline_impl.h"

#include <string.h>

static int add_row(struct lc_vector *rows, uint64_t start_ns, const struct lc_timeline_amount *a)
{
	struct lc_block_timeline *row;
	size_t i = rows->len;

	if (!a->cpu_ns && !a->voluntary && !a->involuntary)
		return 0;
	while (i > 0 && ((struct lc_block_timeline *)rows->data)[i - 1].start_ns > start_ns)
		i--;
	if (!i || ((struct lc_block_timeline *)rows->data)[i - 1].start_ns != start_ns) {
		if (lc_vector_push(rows, &(struct lc_block_timeline){ .start_ns = start_ns }))
			return -ENOMEM;
		row = (struct lc_block_timeline *)rows->data + i;
		memmove(row + 1, row, (rows->len - 1 - i) * sizeof(*row));
		*row = (struct lc_block_timeline){ .start_ns = start_ns };
	} else {
		row = (struct lc_block_timeline *)rows->data + i - 1;
	}
	row->cpu_ns += a->cpu_ns;
	row->voluntary += a->voluntary;
	row->involuntary += a->involuntary;
	return 0;
}

static uint64_t share(uint64_t amount, uint64_t part, uint64_t whole)
{
	return (uint64_t)((double)amount * (double)part / (double)whole);
}

int lc_timeline_spread(struct lc_vector *rows, uint64_t from_ns, uint64_t to_ns,
                       const struct lc_timeline_amount *a)
{
	struct lc_timeline_amount left = *a;
	uint64_t at = from_ns;
	int err = 0;

	if (to_ns <= from_ns)
		at = from_ns = to_ns ? to_ns - 1 : 0;
	while (!err) {
		uint64_t start = at / LC_TIMELINE_NS * LC_TIMELINE_NS;
		uint64_t end = start + LC_TIMELINE_NS;
		struct lc_timeline_amount part;

		if (end >= to_ns)
			return add_row(rows, start, &left);
		part = (struct lc_timeline_amount){
			.cpu_ns = share(a->cpu_ns, end - at, to_ns - from_ns),
			.voluntary = share(a->voluntary, end - at, to_ns - from_ns),
			.involuntary = share(a->involuntary, end - at, to_ns - from_ns),
		};
		left.cpu_ns -= part.cpu_ns;
		left.voluntary -= part.voluntary;
		left.involuntary -= part.involuntary;
		err = add_row(rows, start, &part);
		at = end;
	}
	return err;
}

/* The number behind `name`, which stands at the beginning of a line. */
static bool number_after(const char *text, const char *name, uint64_t *out)
{
	const char *at = strstr(text, name);
	uint64_t value = 0;
	unsigned digits = 0;

	if (!at)
		return false;
	at += strlen(name);
	at += strspn(at, " \t");
	for (; *at >= '0' && *at <= '9' && digits < 19; at++, digits++)
		value = value * 10 + (uint64_t)(*at - '0');
	if (!digits)
		return false;
	*out = value;
	return true;
}

bool lc_timeline_parse(const char *text, uint64_t *voluntary, uint64_t *involuntary)
{
	uint64_t first, second;

	/* A thread may have any name, but no newline in it: /proc writes "\n". */
	if (!number_after(text, "\nvoluntary_ctxt_switches:", &first) ||
	    !number_after(text, "\nnonvoluntary_ctxt_switches:", &second))
		return false;
	*voluntary = first;
	*involuntary = second;
	return true;
}

uint64_t lc_timeline_rest(uint64_t total, uint64_t part, uint64_t *debt)
{
	uint64_t taken = part + *debt;

	if (total >= taken) {
		*debt = 0;
		return total - taken;
	}
	*debt = taken - total;
	return 0;
}
