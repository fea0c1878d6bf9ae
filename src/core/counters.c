/* SPDX-License-Identifier: Apache-2.0 */
/* core/counters.c - reads the counters of all modules. */
#include "src/core/counters.h"

#include <errno.h>

#include "src/base/limit.h"

/* The bounds of the section, by the linker. */
extern const struct lc_counter_table __start_lc_counters[] __attribute__((visibility("hidden")));
extern const struct lc_counter_table __stop_lc_counters[] __attribute__((visibility("hidden")));

static void take(struct lc_counters *out, const struct lc_counter *c)
{
	const uint64_t value = lc_counter_value(c);

	lc_counters_put(out, c->name, value);
	if (value && c->limit && !(c->refusable && lc_memory_refused(c->use)))
		(void)lc_limit_reached(c->limit, "%s", c->text);
}

int lc_counters_take(const struct lc_options *options, struct lc_counters *out)
{
	const struct lc_counter_table *t = __start_lc_counters;
	const uintptr_t bytes = (uintptr_t)__stop_lc_counters - (uintptr_t)t;

	for (size_t n = bytes / sizeof(*t); n; n--, t++) {
		if (t->begin && !t->begin(options))
			continue;
		for (size_t i = 0; i < t->len; i++)
			take(out, &t->rows[i]);
		if (t->put)
			t->put(out);
	}
	return out->failed ? -ENOMEM : 0;
}
