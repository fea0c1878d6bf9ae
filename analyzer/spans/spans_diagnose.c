/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans/spans_diagnose.c - diagnoses streams and tasks by rules over the sums of spans.h.
 *
 * A rule is silent unless its first condition holds. If later proof is missing, the rule gives the
 * reason instead of a verdict.
 */
#include "analyzer/spans/spans_diagnose.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/spans/spans_impl.h"

static const char *cycles_text(char *out, double v)
{
	return lc_spans_number(out, v, " ");
}

static struct lc_spans_diagnosis *begin(struct lc_spans *s, enum lc_spans_pattern pattern,
                                        const struct lc_spans_type *t,
                                        const struct lc_spans_location *l, int64_t cycles)
{
	struct lc_spans_diagnosis *d = &s->diagnoses[s->diagnoses_len++];

	*d = (struct lc_spans_diagnosis){ .pattern = pattern, .type = t, .location = l };
	d->cycles = cycles;
	return d;
}

__attribute__((format(printf, 2, 3))) static void evidence(struct lc_spans_diagnosis *d,
                                                           const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (d->evidence_len == LC_SPANS_EVIDENCE || vasprintf(&text, format, args) < 0)
		lc_no_memory();
	va_end(args);
	d->evidence[d->evidence_len++] = text;
}

static double all_cycles(const struct lc_spans *s)
{
	return (double)s->streams_sum.cycles + (double)s->support_sum.cycles +
	       (double)s->tasks_sum.cycles + (double)s->threads_sum.cycles;
}

static void sizes(struct lc_spans_diagnosis *d, const struct lc_spans_sum *sum, const char *what)
{
	char a[16], b[16], c[16];

	evidence(d, "%llu %s; cycles of each: median %s, 90%% from %s to %s (within 12.5%%)",
	         (unsigned long long)lc_spans_count(sum->histogram), what,
	         cycles_text(b, lc_spans_quantile(sum->histogram, 0.5)),
	         cycles_text(a, lc_spans_quantile(sum->histogram, 0.05)),
	         cycles_text(c, lc_spans_quantile(sum->histogram, 0.95)));
}

static void share_of_all(const struct lc_spans *s, struct lc_spans_diagnosis *d)
{
	evidence(d, "%.1f%% of the cycles of all spans",
	         100 * lc_spans_share((double)d->cycles, all_cycles(s)));
}

/* The same for d->cycles that include spans inside, of which `own` are without. */
static void total_share_of_all(const struct lc_spans *s, struct lc_spans_diagnosis *d, double own)
{
	if ((double)d->cycles <= own + 1) {
		share_of_all(s, d);
		return;
	}
	evidence(d, "%.1f%% of the cycles of all spans, with the spans inside (%.1f%% without)",
	         100 * lc_spans_share((double)d->cycles, all_cycles(s)),
	         100 * lc_spans_share(own, all_cycles(s)));
}

/* ---- fine-grained ---- */

/* Do context switches rise while the spans run? Sets verdict, why and evidence. */
static void judge_switches(const struct lc_spans *s, struct lc_spans_diagnosis *d,
                           const struct lc_spans_sum *sum, uint64_t n)
{
	struct lc_spans_mean in = lc_spans_mean(s, sum->first_ns, sum->last_ns, false, 0);
	struct lc_spans_mean out =
	    lc_spans_mean(s, sum->first_ns, sum->last_ns, true, LC_SPANS_FINE_BUSY * in.cores);
	double each = in.switches * (double)in.points / (double)n;

	if (in.points < LC_SPANS_POINTS) {
		d->why = lc_mem_text("they ran in %zu tenths of a second of the timeline, too few "
		                     "to see whether context switches rise",
		                     in.points);
		return;
	}
	evidence(d, "while they run: %.1f context switches in 100 ms", in.switches);
	if (out.points < LC_SPANS_POINTS) {
		evidence(
		    d,
		    "one context switch per %.1f of them; there is no other time to compare with",
		    each > 0 ? 1 / each : 0);
		if (each >= LC_SPANS_FINE_SWITCHES_EACH)
			d->verdict = LC_SPANS_SUSPICION;
		else
			d->why = lc_mem_text("they run all the time, so a rise of context switches "
			                     "cannot be seen, and there are few");
		return;
	}
	evidence(d, "at other busy times: %.1f", out.switches);
	if (in.switches >= LC_SPANS_FINE_SWITCHES &&
	    in.switches >= LC_SPANS_FINE_RISE * out.switches)
		d->verdict = LC_SPANS_FINDING;
	else
		d->why = lc_mem_text("context switches do not rise while they run");
}

/*
 * Is more CPU time outside the tasks than in them while they run, and no more for each than handing
 * one over takes?
 */
static bool outside_of_fine(const struct lc_spans *s, struct lc_spans_diagnosis *d,
                            const struct lc_spans_sum *sum, uint64_t n)
{
	struct lc_spans_mean in = lc_spans_mean(s, sum->first_ns, sum->last_ns, false, 0);
	const double ns = in.cores * (double)in.points * (double)LC_TIMELINE_NS;
	const double inside = (double)(sum->total > sum->cycles ? sum->total : sum->cycles);
	const double during = ns * s->hz / 1e9;

	if (in.points < LC_SPANS_POINTS || during <= inside)
		return false;
	evidence(d,
	         "%.0f%% of the CPU time while they run is in them; outside, there are %.0f "
	         "cycles for each",
	         100 * inside / during, (during - inside) / (double)n);
	return during - inside > inside && during - inside <= LC_SPANS_FINE_HANDING * (double)n;
}

/*
 * Is this a class of tasks that streams create for themselves? Such tasks are judged as support
 * spans of their stream.
 */
static bool of_streams(const struct lc_spans_type *t)
{
	static const char package[] = "java.util.stream.";

	return t->name.len > sizeof(package) - 1 &&
	       !memcmp(t->name.bytes, package, sizeof(package) - 1);
}

/* Judge a type's tasks, or a location's support spans. */
static void fine(struct lc_spans *s, const struct lc_spans_type *t,
                 const struct lc_spans_location *l, const struct lc_spans_sum *sum)
{
	const uint64_t n = lc_spans_count(sum->histogram);
	double low = lc_spans_quantile(sum->histogram, 0.1);
	double median = lc_spans_quantile(sum->histogram, 0.5);
	double high = lc_spans_quantile(sum->histogram, 0.9);
	struct lc_spans_diagnosis *d;
	bool similar, outside;
	char text[16];

	if (n < LC_SPANS_FINE_COUNT || high > LC_SPANS_FINE_CYCLES)
		return;
	similar = high <= LC_SPANS_FINE_SPREAD * (low < 1 ? 1 : low);
	d = begin(s, LC_SPANS_FINE, t, l, sum->cycles);
	sizes(d, sum, t ? "executions" : "tasks of parallel executions");
	share_of_all(s, d);
	if (!similar)
		d->why = lc_mem_text("their sizes are small but not similar");
	else
		judge_switches(s, d, sum, n);
	outside = outside_of_fine(s, d, sum, n);
	if (similar && outside) {
		d->verdict = LC_SPANS_FINDING;
		free(d->why);
		d->why = NULL;
	}
	d->summary = lc_mem_text("%s are so small (median %s cycles) that handing one to a thread "
	                         "costs a good part of its work",
	                         t ? "these tasks" : "the tasks of this parallel stream",
	                         cycles_text(text, median));
	d->advice =
	    t ? lc_mem_text("merge them: let each task do the work of %.0f or more, or raise the "
	                    "threshold below which work is not split",
	                    ceil(fmin(1000, LC_SPANS_FINE_CYCLES / fmax(1, median))))
	      : lc_mem_text("execute it sequentially (without parallel()), or make the stream "
	                    "around it parallel instead");
}

/* ---- coarse-grained ---- */

/* The lowest bucket whose spans are all large, and at least LC_SPANS_COARSE_RATIO medians. */
static unsigned coarse_bucket(double median)
{
	const double least =
	    fmax(LC_SPANS_COARSE_CYCLES, LC_SPANS_COARSE_RATIO * (median < 1 ? 1 : median));
	unsigned b = 0;

	while (b < LC_SPAN_BUCKETS && (double)lc_span_bucket_low(b) < least)
		b++;
	return b;
}

static void judge_coarse(const struct lc_spans *s, struct lc_spans_diagnosis *d)
{
	const struct lc_spans_sum *sum = &d->type->sum;
	struct lc_spans_mean in = lc_spans_mean(s, sum->first_ns, sum->last_ns, false, 0);

	if (in.points < LC_SPANS_POINTS) {
		d->why = lc_mem_text("they ran in %zu tenths of a second of the timeline, too few "
		                     "to see how busy the CPUs were",
		                     in.points);
		return;
	}
	evidence(d, "while they run: %.2f CPUs in use, %.1f context switches in 100 ms", in.cores,
	         in.switches);
	if (!s->cpus) {
		d->why = lc_mem_text("the machine's number of CPUs is unknown");
		return;
	}
	evidence(d, "the machine has %u CPUs", s->cpus);
	if (in.cores > LC_SPANS_COARSE_CORES * s->cpus)
		d->why = lc_mem_text("the CPUs are busy while they run");
	else if (in.switches > LC_SPANS_COARSE_SWITCHES * s->cpus)
		d->why = lc_mem_text("there are many context switches while they run: threads wait "
		                     "for something other than work");
	else
		d->verdict = LC_SPANS_FINDING;
}

/* Judge whether a few tasks of a type, all or its largest, are far larger than all other tasks. */
static void coarse(struct lc_spans *s, const struct lc_spans_type *t)
{
	uint64_t others[LC_SPAN_BUCKETS], n = lc_spans_count(t->sum.histogram), large = 0, rest;
	uint64_t all = lc_spans_count(s->tasks_sum.histogram);
	double cycles = 0, total = 0;
	struct lc_spans_diagnosis *d;
	unsigned from;
	char a[16], b[16];

	/* Compare the whole type with the other tasks first, then its largest with all tasks. */
	for (unsigned i = 0; i < LC_SPAN_BUCKETS; i++)
		others[i] = s->tasks_sum.histogram[i] - t->sum.histogram[i];
	rest = all - n;
	from = coarse_bucket(lc_spans_quantile(others, 0.5));
	for (unsigned i = from; i < LC_SPAN_BUCKETS && rest; i++)
		large += t->sum.histogram[i];
	if (!n || !rest || 10 * large < 9 * n) {
		memcpy(others, s->tasks_sum.histogram, sizeof(others));
		from = coarse_bucket(lc_spans_quantile(others, 0.5));
		large = 0;
		for (unsigned i = from; i < LC_SPAN_BUCKETS; i++)
			large += t->sum.histogram[i];
		rest = all - large;
	}
	for (unsigned i = 0; i < LC_SPAN_BUCKETS; i++) {
		total += (double)t->sum.histogram[i] * lc_spans_middle(i);
		if (i >= from)
			cycles += (double)t->sum.histogram[i] * lc_spans_middle(i);
	}
	if (!large || (double)large > LC_SPANS_COARSE_PART * (double)all)
		return;
	cycles = total > 0 ? cycles / total * (double)t->sum.cycles : 0;
	if (lc_spans_share(cycles, all_cycles(s)) < LC_SPANS_WORTH_SHARE)
		return;
	d = begin(s, LC_SPANS_COARSE, t, NULL, (int64_t)cycles);
	evidence(d,
	         "%llu of %llu executed tasks have %s cycles or more each, half of the others at "
	         "most %s",
	         (unsigned long long)large, (unsigned long long)all,
	         cycles_text(a, (double)lc_span_bucket_low(from)),
	         cycles_text(b, lc_spans_quantile(others, 0.5)));
	share_of_all(s, d);
	if (rest < LC_SPANS_COARSE_REST)
		d->why = lc_mem_text("there are only %llu other tasks to compare with",
		                     (unsigned long long)rest);
	else
		judge_coarse(s, d);
	d->summary = lc_mem_text("a few tasks are so large that CPUs are idle while they run");
	d->advice =
	    lc_mem_text("split them, so that each CPU gets several parts: at least %u parts",
	                s->cpus ? 4 * s->cpus : 8);
}

/* ---- unbalanced ---- */

/* The workers of the pool that did most. A stream's caller counts as one of its workers. */
static struct lc_spans_balance one_pool(struct lc_spans *s, const struct lc_spans_balance *b)
{
	struct lc_spans_balance out = { .workers = lc_arena_zeroed(&s->arena, b->workers_len,
		                                                   sizeof(*b->workers)) };

	for (size_t i = 0; i < b->workers_len; i++)
		if (!i || lc_spans_same_pool(s, b->workers[0].thread, b->workers[i].thread))
			out.workers[out.workers_len++] = b->workers[i];
	lc_spans_weigh(&out);
	return out;
}

/* Count the threads of the same pools that executed nothing of it. */
static size_t idle_mates(const struct lc_spans *s, const struct lc_spans_balance *b)
{
	size_t idle = 0;

	for (uint32_t t = 0; t < s->rows->threads_len; t++) {
		bool mate = false, worker = false;

		for (size_t i = 0; i < b->workers_len; i++) {
			worker |= b->workers[i].thread == t;
			mate |= lc_spans_same_pool(s, b->workers[i].thread, t);
		}
		idle += mate && !worker;
	}
	return idle;
}

/* Judge the balance of a type's or a location's workers. */
static void unbalanced(struct lc_spans *s, const struct lc_spans_type *t,
                       const struct lc_spans_location *l, struct lc_spans_balance b)
{
	double cycles = b.mean * (double)b.workers_len;
	struct lc_spans_diagnosis *d;
	uint64_t executions = 0;
	double own = 0;
	size_t idle;
	char text[16], mean[16];

	if (b.variation < LC_SPANS_UNBALANCED_FROM || cycles < LC_SPANS_UNBALANCED_CYCLES ||
	    lc_spans_share(cycles, all_cycles(s)) < LC_SPANS_WORTH_SHARE)
		return;
	for (size_t i = 0; i < b.workers_len; i++) {
		executions += b.workers[i].executions;
		own += (double)b.workers[i].cycles;
	}
	d = begin(s, LC_SPANS_UNBALANCED, t, l, (int64_t)cycles);
	evidence(d, "coefficient of variation of the cycles of %zu workers: %.2f", b.workers_len,
	         b.variation);
	evidence(d, "the busiest has %s cycles, the mean is %s (%.1f times)",
	         cycles_text(text, (double)b.workers[0].total), cycles_text(mean, b.mean),
	         (double)b.workers[0].total / b.mean);
	evidence(d, "%llu executions", (unsigned long long)executions);
	total_share_of_all(s, d, own);
	idle = idle_mates(s, &b);
	if (idle)
		evidence(d, "%zu more threads of the same pool executed none", idle);
	if (executions < LC_SPANS_UNBALANCED_EACH * b.workers_len)
		d->why = lc_mem_text("with %llu executions on %zu workers this may be chance",
		                     (unsigned long long)executions, b.workers_len);
	else
		d->verdict = LC_SPANS_FINDING;
	d->summary = lc_mem_text("some workers do much more than others, which wait for them");
	d->advice =
	    t ? lc_mem_text(
	            "split the large tasks into more and smaller ones, or submit the largest first")
	      : lc_mem_text("give the stream a source that splits into equal parts (an array, an "
	                    "ArrayList, a range; not an iterator or a linked list), or split by "
	                    "cost instead of by count");
}

/* ---- inner streams ---- */

/*
 * Count the executions of LC_SPANS_TINY_CYCLES or less, and set *cycles to theirs. A few large
 * executions may have nearly all cycles, however small most are.
 */
static uint64_t tiny_ones(const struct lc_spans_sum *sum, double *cycles)
{
	double tiny = 0, all = 0;
	uint64_t n = 0;

	for (unsigned b = 0; b < LC_SPAN_BUCKETS; b++) {
		const double middle = lc_spans_middle(b);
		const double of_bucket = (double)sum->histogram[b] * middle;

		all += of_bucket;
		if (middle > LC_SPANS_TINY_CYCLES)
			continue;
		tiny += of_bucket;
		n += sum->histogram[b];
	}
	*cycles = all > 0 ? tiny / all * (double)sum->cycles : 0;
	return n;
}

static void tiny(struct lc_spans *s, const struct lc_spans_location *l)
{
	double cycles;
	const uint64_t n = tiny_ones(&l->inner, &cycles), all = lc_spans_count(l->inner.histogram);
	struct lc_spans_diagnosis *d;
	char text[16];

	if (n < LC_SPANS_TINY_COUNT)
		return;
	d = begin(s, LC_SPANS_TINY, NULL, l, (int64_t)cycles);
	evidence(d,
	         "%llu of %llu executions inside another stream take at most %s cycles each, "
	         "together %.1f%% of the cycles of all these executions",
	         (unsigned long long)n, (unsigned long long)all,
	         cycles_text(text, LC_SPANS_TINY_CYCLES),
	         100 * lc_spans_share(cycles, (double)l->inner.cycles));
	sizes(d, &l->inner, "executions inside another stream");
	share_of_all(s, d);
	if (lc_spans_share(cycles, all_cycles(s)) < LC_SPANS_WORTH_SHARE)
		d->why = lc_mem_text("they have less than %.0f%% of the cycles",
		                     100 * LC_SPANS_WORTH_SHARE);
	else
		d->verdict = LC_SPANS_FINDING;
	d->summary =
	    lc_mem_text("%s inner streams do so little (at most %s cycles each) that creating and "
	                "starting the pipeline is a good part of the work",
	                n < all ? "many" : "these", cycles_text(text, LC_SPANS_TINY_CYCLES));
	d->advice = lc_mem_text("with flatMap(): use mapMulti() (JDK 16 and later), which creates "
	                        "no stream per element; else use a loop");
}

double lc_spans_cpu_cycles(const struct lc_spans *s)
{
	double ns = 0;

	for (size_t i = 0; i < s->timeline_len; i++)
		ns += (double)s->timeline[i].cpu_ns;
	return ns * s->hz / 1e9;
}

/*
 * Judge by the sources and results that the agent compared. Returns true if that is conclusive, so
 * that sizes need no look.
 */
static bool repeated(struct lc_spans *s, const struct lc_spans_location *l)
{
	const struct lc_span_look *seen = l->look;
	const double n = (double)seen->comparable, part = lc_spans_share((double)seen->repeated, n);
	const struct lc_spans_between range = lc_spans_between(seen->repeated, seen->comparable);
	double cycles = part * (double)l->sum.total, cpu = lc_spans_cpu_cycles(s);
	struct lc_spans_diagnosis *d;

	if (n < LC_SPANS_REPEATED_LOOKS)
		return false;
	/* A result with few values proves little, whatever the source. */
	if (range.low < LC_SPANS_REPEATED_LOW || 2 * seen->plain > seen->comparable ||
	    (double)seen->changed > LC_SPANS_REPEATED_OTHER * n ||
	    l->streams < LC_SPANS_INVARIANT_COUNT ||
	    lc_spans_share(cycles, all_cycles(s)) < LC_SPANS_WORTH_SHARE)
		return true;
	d = begin(s, LC_SPANS_INVARIANT, NULL, l, (int64_t)cycles);
	d->verdict = LC_SPANS_FINDING;
	evidence(d,
	         "same source and same result as in the execution before: %llu of %llu compared "
	         "executions, %.1f%% (95%% interval %.1f%% to %.1f%%)",
	         (unsigned long long)seen->repeated, (unsigned long long)seen->comparable,
	         100 * part, 100 * range.low, 100 * range.high);
	evidence(d, "same source but another result: %llu of them",
	         (unsigned long long)seen->changed);
	total_share_of_all(s, d, part * (double)l->sum.cycles);
	if (cpu > 0)
		evidence(d, "about %.1f%% of the program's CPU time", 100 * fmin(1, cycles / cpu));
	d->summary = lc_mem_text("this stream computes the same result from the same source again "
	                         "and again");
	d->advice = lc_mem_text("hoist it: if the result depends on the source only, compute it "
	                        "once, before the code that repeats the stream");
	return true;
}

static void invariant(struct lc_spans *s, const struct lc_spans_location *l)
{
	const uint64_t n = l->inner.executions;
	double low = lc_spans_quantile(l->inner.histogram, 0.1);
	double median = lc_spans_quantile(l->inner.histogram, 0.5);
	double high = lc_spans_quantile(l->inner.histogram, 0.9);
	struct lc_spans_diagnosis *d;
	char text[16];

	if (repeated(s, l) || n < LC_SPANS_INVARIANT_COUNT || median <= LC_SPANS_TINY_CYCLES ||
	    high > LC_SPANS_INVARIANT_SPREAD * low ||
	    lc_spans_share((double)l->inner.total, all_cycles(s)) < LC_SPANS_WORTH_SHARE)
		return;
	d = begin(s, LC_SPANS_INVARIANT, NULL, l, l->inner.total);
	d->verdict = LC_SPANS_SUSPICION; /* only the duration was compared, not the data */
	sizes(d, &l->inner, "executions inside another stream");
	total_share_of_all(s, d, (double)l->inner.cycles);
	d->summary = lc_mem_text("an inner stream does the same amount of work (%s cycles) each "
	                         "time; it may be the same work",
	                         cycles_text(text, median));
	d->advice =
	    lc_mem_text("check whether its source or a lambda depends on the element of the outer "
	                "stream; if not, compute it once before the outer stream");
}

static int order_diagnoses(const void *a, const void *b)
{
	const struct lc_spans_diagnosis *x = a, *y = b;
	int order = (int)y->verdict - (int)x->verdict;

	if (!order)
		order = lc_spans_order_i64(y->cycles, x->cycles);
	if (!order)
		order = (int)x->pattern - (int)y->pattern;
	if (!order)
		order = !x->type - !y->type;
	if (!order && x->type && y->type)
		order = lc_spans_order_type(x->type->name, x->type->place, y->type->name,
		                            y->type->place);
	else if (!order && x->location && y->location)
		order = lc_spans_order_place(x->location->place, y->location->place);
	return order;
}

void lc_spans_diagnose(struct lc_spans *s)
{
	s->diagnoses = lc_arena_zeroed(&s->arena, 3 * s->types_len + 4 * s->locations_len,
	                               sizeof(*s->diagnoses));
	for (size_t i = 0; i < s->types_len; i++) {
		const struct lc_spans_type *t = &s->types[i];

		if (lc_spans_is_other(t->name))
			continue;
		coarse(s, t);
		if (of_streams(t))
			continue;
		fine(s, t, NULL, &t->sum);
		unbalanced(s, t, NULL, one_pool(s, &t->shared));
	}
	for (size_t i = 0; i < s->locations_len; i++) {
		if (lc_spans_is_other(s->locations[i].place->class_name))
			continue;
		fine(s, NULL, &s->locations[i], &s->locations[i].support);
		unbalanced(s, NULL, &s->locations[i], s->locations[i].shared);
		tiny(s, &s->locations[i]);
		invariant(s, &s->locations[i]);
	}
	qsort(s->diagnoses, s->diagnoses_len, sizeof(*s->diagnoses), order_diagnoses);
}
