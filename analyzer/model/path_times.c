/* SPDX-License-Identifier: Apache-2.0 */
/* model/path_times.c - see path_times.h. */
#include "analyzer/model/path_times.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"

enum { STRETCHES = 64 };

void lc_path_times_free(struct lc_path_times *t)
{
	free(t->bits);
	*t = (struct lc_path_times){ 0 };
}

/* Join stretches by twos. */
static void widen(struct lc_path_times *t)
{
	for (size_t i = 0; i < t->cap; i++) {
		uint64_t joined = 0;

		for (unsigned k = 0; t->bits[i] && k < STRETCHES; k++)
			joined |= (t->bits[i] >> k & 1) << k / 2;
		t->bits[i] = joined;
	}
	t->stretch_ns *= 2;
}

/* A block may be older than the first one that was read: of another thread or process. */
void lc_path_times_block(struct lc_path_times *t, uint64_t end_ns)
{
	uint64_t since;

	t->now = 0;
	if (!end_ns)
		return;
	if (!t->stretch_ns) {
		t->stretch_ns = 1000000000;
		t->begin_ns = end_ns;
	}
	since = end_ns > t->begin_ns ? end_ns - t->begin_ns : 0;
	while (since / t->stretch_ns >= STRETCHES)
		widen(t);
	t->now = UINT64_C(1) << since / t->stretch_ns;
}

void lc_path_times_seen(struct lc_path_times *t, uint32_t path)
{
	const size_t had = t->cap;

	if (!t->now)
		return;
	if (path >= had) {
		t->bits = lc_mem_grow(t->bits, &t->cap, (size_t)path + 1, sizeof(*t->bits));
		memset(t->bits + had, 0, (t->cap - had) * sizeof(*t->bits));
	}
	t->bits[path] |= t->now;
}

uint64_t lc_path_times_of(const struct lc_path_times *t, uint32_t path)
{
	return path < t->cap ? t->bits[path] : 0;
}

void lc_path_times_renumber(struct lc_path_times *t, const uint32_t *paths, uint32_t count)
{
	struct lc_path_times to = *t;

	to.bits = NULL;
	to.cap = 0;
	for (uint32_t i = 0; i < count && i < t->cap; i++) {
		to.now = t->bits[i];
		lc_path_times_seen(&to, paths[i]);
	}
	to.now = 0;
	free(t->bits);
	*t = to;
}
