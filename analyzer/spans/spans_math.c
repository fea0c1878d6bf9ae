/* SPDX-License-Identifier: Apache-2.0 */
/* spans/spans_math.c - computes quantiles, shares and balances for the spans analysis. */
#include "analyzer/base/wilson.h"
#include "analyzer/spans/spans_impl.h"
#include "src/base/order.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char *lc_spans_number(char *out, double v, const char *gap)
{
	static const char units[] = " kMGTPE";
	unsigned unit = 0;

	for (; fabs(v) >= 999.5 && unit + 2 < sizeof(units); unit++)
		v /= 1000;
	if (unit)
		snprintf(out, LC_SPANS_NUMBER_LEN, "%.3g%s%c", v, gap, units[unit]);
	else
		snprintf(out, LC_SPANS_NUMBER_LEN, "%.0f", v);
	return out;
}

double lc_spans_share(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

uint64_t lc_spans_bucket_end(unsigned bucket)
{
	return bucket + 1 < LC_SPAN_BUCKETS ? lc_span_bucket_low(bucket + 1) : UINT64_MAX;
}

double lc_spans_middle(unsigned bucket)
{
	double low = (double)lc_span_bucket_low(bucket);

	if (bucket + 1 == LC_SPAN_BUCKETS)
		return low; /* has no upper end */
	return (low + (double)lc_spans_bucket_end(bucket) - 1) / 2;
}

uint64_t lc_spans_count(const uint64_t *histogram)
{
	uint64_t n = 0;

	for (unsigned b = 0; b < LC_SPAN_BUCKETS; b++)
		n += histogram[b];
	return n;
}

double lc_spans_quantile(const uint64_t *histogram, double q)
{
	const uint64_t n = lc_spans_count(histogram);
	uint64_t rank = (uint64_t)ceil(q * (double)n), below = 0;

	if (!n)
		return -1;
	if (!rank)
		rank = 1;
	for (unsigned b = 0; b < LC_SPAN_BUCKETS; b++) {
		below += histogram[b];
		if (below >= rank)
			return lc_spans_middle(b);
	}
	return lc_spans_middle(LC_SPAN_BUCKETS - 1);
}

unsigned lc_spans_column(unsigned bucket)
{
	uint64_t low = lc_span_bucket_low(bucket);

	return low ? 64u - (unsigned)__builtin_clzll(low) : 0;
}

double lc_spans_column_low(unsigned column)
{
	return column ? ldexp(1, (int)column - 1) : 0;
}

static int order_workers(const void *a, const void *b)
{
	const struct lc_spans_worker *x = a, *y = b;
	int order = lc_spans_order_i64(y->total, x->total);

	return order ? order : lc_order_u64(x->thread, y->thread);
}

void lc_spans_weigh(struct lc_spans_balance *b)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < b->workers_len; i++)
		sum += (double)b->workers[i].total;
	b->mean = b->workers_len ? sum / (double)b->workers_len : 0;
	for (size_t i = 0; i < b->workers_len; i++) {
		double d = (double)b->workers[i].total - b->mean;

		squares += d * d;
	}
	b->variation = b->workers_len > 1 && b->mean > 0
	                   ? sqrt(squares / (double)b->workers_len) / b->mean
	                   : -1;
	if (b->workers_len)
		qsort(b->workers, b->workers_len, sizeof(*b->workers), order_workers);
}

size_t lc_spans_pool(const char *name, size_t len)
{
	while (len && name[len - 1] >= '0' && name[len - 1] <= '9')
		len--;
	return len;
}

bool lc_spans_same_pool(const struct lc_spans *s, uint32_t thread, uint32_t other)
{
	const struct lc_span_thread_row *x = &s->rows->threads[thread],
	                                *y = &s->rows->threads[other];
	size_t len = lc_spans_pool(x->name.bytes, x->name.len);

	return x->process == y->process && len == lc_spans_pool(y->name.bytes, y->name.len) &&
	       len < x->name.len && len < y->name.len && !memcmp(x->name.bytes, y->name.bytes, len);
}

static int order_intervals(const void *a, const void *b)
{
	const struct lc_span_interval *x = a, *y = b;
	int order = lc_order_u64(x->first_ns, y->first_ns);

	return order ? order : lc_order_u64(x->last_ns, y->last_ns);
}

size_t lc_spans_join(struct lc_span_interval *list, size_t len)
{
	size_t kept = 0;

	if (len)
		qsort(list, len, sizeof(*list), order_intervals);
	for (size_t i = 0; i < len; i++) {
		if (kept && list[i].first_ns <= list[kept - 1].last_ns) {
			if (list[i].last_ns > list[kept - 1].last_ns)
				list[kept - 1].last_ns = list[i].last_ns;
			continue;
		}
		list[kept++] = list[i];
	}
	return kept;
}

struct lc_spans_mean lc_spans_mean(const struct lc_spans *s, uint64_t from_ns, uint64_t to_ns,
                                   bool outside, double cores)
{
	struct lc_spans_mean m = { 0 };
	double cpu = 0, switches = 0;

	for (size_t i = 0; i < s->timeline_len; i++) {
		const struct lc_spans_point *p = &s->timeline[i];
		int64_t middle = p->start_ns + (int64_t)(LC_TIMELINE_NS / 2);
		bool in = middle >= (int64_t)from_ns && middle < (int64_t)to_ns;

		if (in == outside || (double)p->cpu_ns < cores * (double)LC_TIMELINE_NS)
			continue;
		m.points++;
		cpu += (double)p->cpu_ns;
		switches += (double)(p->voluntary + p->involuntary);
	}
	if (m.points) {
		m.cores = cpu / (double)LC_TIMELINE_NS / (double)m.points;
		m.switches = switches / (double)m.points;
	}
	return m;
}

static unsigned cpus_of_list(const char *list)
{
	unsigned count = 0;

	while (*list) {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (end == list)
			return 0;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (last < first || last - first > 65536)
			return 0;
		count += (unsigned)(last - first) + 1;
		list = *end == ',' ? end + 1 : end;
		if (*end && *end != ',')
			return 0;
	}
	return count;
}

unsigned lc_spans_cpus(const struct lc_load *l)
{
	unsigned cpus = 0;

	for (size_t p = 0; p < l->processes_len; p++) {
		json_t *nodes = json_object_get(l->processes[p].numa, "nodes"), *node;
		unsigned count = 0;
		size_t i;

		json_array_foreach(nodes, i, node)
		{
			const char *list = json_string_value(json_object_get(node, "cpus"));

			count += list ? cpus_of_list(list) : 0;
		}
		if (p && count != cpus)
			return 0;
		cpus = count;
	}
	return cpus;
}

double lc_spans_hz(const struct lc_spans *s)
{
	uint64_t hz = 0;

	for (size_t p = 0; p < s->load->processes_len; p++) {
		const struct lc_span_info *info = &s->rows->infos[p];

		if (info->recorded && !hz)
			hz = info->clock_hz;
	}
	return (double)hz;
}

struct lc_spans_between lc_spans_between(uint64_t part, uint64_t n)
{
	struct lc_spans_between out;

	lc_wilson(n ? (double)part / (double)n : 0, (double)n, 1.96, &out.low, &out.high);
	return out;
}

const char *lc_spans_pattern_name(enum lc_spans_pattern p)
{
	static const char *const names[LC_SPANS_PATTERNS] = {
		"fine-grained",       "coarse-grained",    "unbalanced",
		"tiny-inner-streams", "invariant-streams",
	};

	return names[p];
}

const char *lc_spans_verdict_name(enum lc_spans_verdict v)
{
	static const char *const names[] = { "no-verdict", "suspicion", "finding" };

	return names[v];
}
