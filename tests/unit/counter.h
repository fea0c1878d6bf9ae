/* SPDX-License-Identifier: Apache-2.0 */
/* counter.h - the counters of the modules that a test is linked with, by name. */
#ifndef LC_TESTS_COUNTER_H
#define LC_TESTS_COUNTER_H

#include <string.h>

#include "src/core/counters.h"

extern const struct lc_counter_table __start_lc_counters[] __attribute__((visibility("hidden")));
extern const struct lc_counter_table __stop_lc_counters[] __attribute__((visibility("hidden")));

static inline bool counter_of_table(const struct lc_counter_table *t, const char *name,
                                    uint64_t *value)
{
	static const struct lc_options all = { .spans = ~0u, .audit = true };
	static struct lc_counters made_up;

	for (size_t i = 0; i < t->len; i++)
		if (!strcmp(t->rows[i].name, name)) {
			assert_true(!t->begin || t->begin(&all));
			*value = lc_counter_value(&t->rows[i]);
			return true;
		}
	made_up.len = 0;
	if (t->put)
		t->put(&made_up);
	for (size_t i = 0; i < made_up.len; i++)
		if (!strcmp(made_up.rows[i].name, name)) {
			*value = made_up.rows[i].value;
			return true;
		}
	return false;
}

/* The counter's value as the manifest would have it. Fails the test if there is none. */
static inline uint64_t counter(const char *name)
{
	const struct lc_counter_table *t = __start_lc_counters;
	const uintptr_t bytes = (uintptr_t)__stop_lc_counters - (uintptr_t)t;
	uint64_t value = 0;

	for (size_t n = bytes / sizeof(*t); n; n--, t++)
		if (counter_of_table(t, name, &value))
			return value;
	fail_msg("no counter '%s'", name);
	return 0;
}

#endif
