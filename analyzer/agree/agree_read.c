/* SPDX-License-Identifier: Apache-2.0 */
/* agree/agree_read.c - reads runs' files of methods, a column of a table for each run. */
#include "analyzer/agree/agree_read.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/agree/agree_counts.h"
#include "analyzer/base/memory.h"

/* Data about one table's runs that is not in its columns. */
struct sums {
	double *samples, *java;
};

static void take(struct lc_agree *a, struct lc_repeat_table *t, struct sums *s,
                 const struct lc_agree_counts *c)
{
	for (size_t i = 0; i < c->texts_len; i++) {
		const char *name = c->texts[i];
		const uint32_t key = lc_tree_string(&a->names, name, strlen(name));
		struct lc_repeat_entry *e = lc_repeat_entry_of(t, key);

		if (!e->name.label)
			e->name.label = lc_mem_text("%s", name);
		e->values[t->columns] = (double)*lc_table_values(&c->names, (uint32_t)i);
	}
	t->totals[t->columns] = (double)c->java;
	s->samples[t->columns] = (double)c->samples;
	s->java[t->columns] = c->samples ? (double)c->java / (double)c->samples : 0;
	t->columns++;
}

static void read_run(struct lc_agree *a, struct lc_repeat_run *run, struct lc_agree_methods *m,
                     size_t round, struct sums *s)
{
	char *path = lc_mem_text("%s/" LC_AGREE_METHODS_FILE, run->directory);
	FILE *in = fopen(path, "re");
	struct lc_agree_counts counts;
	int err;

	lc_agree_counts_init(&counts);
	err = in ? lc_agree_read_methods(&counts, in) : -errno;
	if (err) {
		lc_repeat_leave_out(
		    run, LC_REPEAT_NO_PROFILE,
		    lc_mem_text("cannot read its methods from '%s': %s", path, strerror(-err)));
	} else if (!counts.java) {
		lc_repeat_leave_out(run, LC_REPEAT_NO_PROFILE,
		                    lc_mem_text("no sample in '%s' has a method", path));
	} else {
		m->rounds[m->table.columns] = round;
		take(a, &m->table, s, &counts);
	}
	lc_agree_counts_free(&counts);
	if (in)
		fclose(in);
	free(path);
}

/* All runs of a side with one set of delays. */
static void read_methods(struct lc_agree *a, size_t side, int delay, struct lc_agree_methods *m)
{
	const size_t room = a->all.runs_len + 1;
	struct sums s = { .samples = lc_mem_zeroed(room, sizeof(double)),
		          .java = lc_mem_zeroed(room, sizeof(double)) };

	lc_repeat_table_init(&m->table, LC_REPEAT_METHODS, a->all.runs_len);
	m->rounds = lc_mem_zeroed(room, sizeof(*m->rounds));
	for (size_t i = 0; i < a->all.runs_len && a->sides[side].kind != LC_AGREE_BARE; i++)
		if (a->runs[i].side == side && a->runs[i].delay == delay &&
		    a->all.runs[i].state == LC_REPEAT_COUNTED)
			read_run(a, &a->all.runs[i], m, a->runs[i].round, &s);
	m->samples = lc_repeat_number(s.samples, m->table.columns, 0, HUGE_VAL);
	m->java = lc_repeat_number(s.java, m->table.columns, 0, 1);
	free(s.samples);
	free(s.java);
}

void lc_agree_read(struct lc_agree *a)
{
	for (size_t side = 0; side < a->sides_len; side++) {
		read_methods(a, side, -1, &a->sides[side].methods);
		for (size_t d = 0; d <= a->delays_len && a->delays_len; d++)
			read_methods(a, side, (int)d, &a->sides[side].delayed[d]);
	}
}
