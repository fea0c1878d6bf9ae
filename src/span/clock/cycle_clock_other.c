/* SPDX-License-Identifier: Apache-2.0 */
/* span/clock/cycle_clock_other.c - reads the clock of another thread. */
#include <time.h>
#include <unistd.h>

#include "src/base/time.h"
#include "src/span/clock/cycle_clock_impl.h"

bool lc_cycles_of_other(const struct lc_cycle_clock *c, int32_t tid, uint64_t *out)
{
	const struct lc_cycle_source *s = c->source;
	uint64_t value, cpu_ns, count;
	struct timespec t;

	if (!s)
		return false;
	if (atomic_load_explicit(&s->kind, memory_order_acquire) == LC_CYCLES_RDPMC) { /* C2 */
		if (read(s->fd, &count, sizeof(count)) != sizeof(count))
			return false;
		*out = count - s->base;
		return true;
	}
	value = atomic_load_explicit(&s->cpu_value, memory_order_acquire); /* C1 */
	cpu_ns = atomic_load_explicit(&s->cpu_ns, memory_order_relaxed);
	if (clock_gettime(lc_time_thread_clock(tid), &t))
		return false;
	*out = value +
	       lc_cycles_of_ns((uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec - cpu_ns);
	return true;
}
