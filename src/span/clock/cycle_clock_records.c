/* SPDX-License-Identifier: Apache-2.0 */
/* span/clock/cycle_clock_records.c - reads what the kernel writes for the clocks. */
#include "src/perf/ring.h"
#include "src/span/clock/cycle_clock_impl.h"

_Static_assert(offsetof(struct perf_event_mmap_page, lock) % 8 == 0 &&
                   offsetof(struct perf_event_mmap_page, index) ==
                       offsetof(struct perf_event_mmap_page, lock) + 4,
               "lock and index are one word");

const _Atomic uint64_t *lc_cycles_page_word(const struct perf_event_mmap_page *page)
{
	return (const _Atomic uint64_t *)(const void *)&page->lock;
}

/*
 * The kernel changes the page on the CPU of the thread that reads it, between two of its
 * instructions: what keeps the compiler from moving them is enough.
 */
bool lc_cycles_page_read(const struct perf_event_mmap_page *page, uint64_t (*rdpmc)(uint32_t),
                         struct lc_cycles_page *out)
{
	const volatile struct perf_event_mmap_page *p = page;
	const _Atomic uint64_t *word = lc_cycles_page_word(page);
	struct lc_cycles_page now;
	bool readable;

	do {
		now.word = atomic_load_explicit(word, memory_order_relaxed);
		atomic_signal_fence(memory_order_seq_cst);
		readable = p->cap_user_rdpmc;
		now.counter = (uint32_t)(now.word >> 32);
		now.offset = (uint64_t)p->offset;
		now.shift = 64u - p->pmc_width;
		now.count = now.offset;
		readable = readable && (!now.counter || now.shift < 64);
		if (readable && now.counter)
			now.count += lc_cycles_sign_extend(rdpmc(now.counter - 1), now.shift);
		atomic_signal_fence(memory_order_seq_cst);
	} while (atomic_load_explicit(word, memory_order_relaxed) != now.word);
	if (readable)
		*out = now;
	return readable;
}

void lc_cycles_switches_read(const uint8_t *data, uint64_t size, uint64_t from, uint64_t to,
                             struct lc_cycles_switches *s)
{
	struct lc_ring ring = {
		.data = data,
		.size = size,
		.tail = from,
		.head = to,
		.layout = { .sample_type = PERF_SAMPLE_TIME, .sample_id_all = true },
	};
	struct lc_ring_record r;

	while (lc_ring_next(&ring, &r)) {
		if (r.type == LC_RING_SWITCH_OUT) {
			s->out_ns = r.time_ns;
			s->outs++;
		} else if (r.type == LC_RING_SWITCH_IN) {
			if (s->out_ns && r.time_ns > s->out_ns)
				s->off_ns += r.time_ns - s->out_ns;
			s->out_ns = 0;
		}
	}
}
