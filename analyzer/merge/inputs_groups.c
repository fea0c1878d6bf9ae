/* SPDX-License-Identifier: Apache-2.0 */
/* merge/inputs_groups.c - agrees on keys, and makes the frames of groups from rows of processes. */
#include "analyzer/merge/inputs_groups.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/merge/process_row.h"
#include "analyzer/model/groups.h"

/* ---- keys ---- */

/* Keys that inputs were merged by, and how many inputs. */
struct kept {
	const struct lc_by *by;
	char *text;
	size_t inputs;
};

static bool better(const struct kept *a, const struct kept *b)
{
	if (a->inputs != b->inputs)
		return a->inputs > b->inputs;
	return strcmp(a->text, b->text) < 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct kept *)a)->text, ((const struct kept *)b)->text);
}

/* The keys that most inputs have; NULL: none has any. */
static const struct lc_by *most(const struct lc_merge_inputs *in)
{
	struct kept *all = lc_mem_zeroed(in->len, sizeof(*all)), best = { .by = NULL };
	size_t len = 0;

	for (size_t i = 0; i < in->len; i++) {
		const struct lc_merge_input *x = &in->inputs[i];

		if (x->state == LC_MERGE_USED && x->kept.len)
			all[len++] = (struct kept){ &x->kept, lc_by_text(&x->kept), 0 };
	}
	qsort(all, len, sizeof(*all), by_text);
	for (size_t i = 0; i < len; i++) {
		all[i].inputs = i && !strcmp(all[i - 1].text, all[i].text) ? all[i - 1].inputs : 0;
		all[i].inputs++;
		if (!best.by || better(&all[i], &best))
			best = all[i];
	}
	for (size_t i = 0; i < len; i++)
		free(all[i].text);
	free(all);
	return best.by;
}

static void leave_out(struct lc_merge_inputs *in, struct lc_merge_input *x)
{
	char *of_profile = lc_by_text(&x->kept), *of_result = lc_by_text(&in->by);
	char **before = lc_fail_capture(&x->said);

	lc_note("'%s' was merged by %s and cannot be combined with profiles merged by %s", x->path,
	        of_profile, of_result);
	(void)lc_fail_capture(before);
	x->state = LC_MERGE_UNREADABLE;
	free(of_profile);
	free(of_result);
}

void lc_merge_groups_choose(struct lc_merge_inputs *in)
{
	const struct lc_by *by = in->asked.by && in->asked.by->len ? in->asked.by : most(in);

	if (by)
		lc_by_copy(&in->by, by);
	for (size_t i = 0; i < in->len; i++) {
		struct lc_merge_input *x = &in->inputs[i];

		if (x->state == LC_MERGE_USED && x->kept.len && !lc_by_equal(&x->kept, &in->by))
			leave_out(in, x);
	}
}

/* ---- groups ---- */

static void find_group(const struct lc_by *by, struct lc_merge_process *p)
{
	struct lc_load_process process;

	if (p->group)
		return;
	lc_merge_process_read(&process, p->row);
	p->group = lc_mem_zeroed(by->len, sizeof(*p->group));
	for (size_t i = 0; i < by->len; i++)
		p->group[i] = lc_group_frame(&process, by->keys[i]);
	lc_load_process_free(&process);
}

static bool same_group(const struct lc_by *by, char *const *a, char *const *b)
{
	for (size_t i = 0; i < by->len; i++)
		if (strcmp(a[i], b[i]) != 0)
			return false;
	return true;
}

/* Blocks of all threads can be kept apart where all processes of the part are of one group. */
static void find_groups(const struct lc_by *by, struct lc_merge_input *x, struct lc_merge_part *p)
{
	const struct lc_merge_process *first = NULL;

	for (uint32_t i = 0; i < p->process_count; i++) {
		const uint32_t row = p->rows ? p->rows[i] : p->process_first + i;

		if (row == LC_LEFT_OUT)
			continue;
		find_group(by, &x->processes[row]);
		if (!first)
			p->all_process = i;
		first = first ? first : &x->processes[row];
		p->mixed |= !same_group(by, first->group, x->processes[row].group);
	}
}

void lc_merge_groups_find(struct lc_merge_inputs *in)
{
	for (size_t i = 0; i < in->len && in->by.len; i++) {
		struct lc_merge_input *x = &in->inputs[i];

		for (size_t k = 0; k < x->parts_len && x->state == LC_MERGE_USED; k++)
			if (!x->parts[k].kept)
				find_groups(&in->by, x, &x->parts[k]);
	}
}
