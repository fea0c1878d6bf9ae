/* SPDX-License-Identifier: Apache-2.0 */
/* numa/numa_prose.c - describes a diagnosis in prose. */
#include "analyzer/numa/numa_prose.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/base/wilson.h"
#include "analyzer/out/emit.h"
#include "src/base/order.h"

/* A string that is written through `out`; free() it. */
struct line {
	char *text;
	size_t len;
	FILE *out;
};

static void begin(struct line *l)
{
	l->out = lc_text_open(&l->text, &l->len);
}

static char *end(struct line *l)
{
	lc_mem_close_text(l->out);
	return l->text;
}

__attribute__((format(printf, 2, 3))) static void evidence(struct lc_numa_prose *w, const char *fmt,
                                                           ...)
{
	struct line l;
	va_list args;

	if (w->evidence_len == LC_NUMA_EVIDENCE)
		return;
	begin(&l);
	va_start(args, fmt);
	vfprintf(l.out, fmt, args);
	va_end(args);
	w->evidence[w->evidence_len++] = end(&l);
}

/* Both are taken over. */
static void advise(struct lc_numa_prose *w, char *action, char *cost)
{
	w->advice[w->advice_len].action = action;
	w->advice[w->advice_len++].cost = cost;
}

static char *thread_name(const struct lc_numa *n, uint32_t thread)
{
	struct line l;

	begin(&l);
	lc_emit_text(l.out, lc_tree_text(n->tree, (uint32_t)lc_table_values(
	                                              &n->tree->threads, thread)[LC_THREAD_NAME]));
	return end(&l);
}

static uint32_t number(const struct lc_numa *n, uint32_t node1)
{
	return node1 ? n->nodes[node1 - 1].number : 0;
}

static double percent(uint64_t part, uint64_t whole)
{
	return 100 * lc_share(part, whole);
}

/* ---- evidence ---- */

/* "node 0 51.2%, node 1 48.8%": parts of 0.1% or more. `nodes` by row + 1. */
static void list_nodes(FILE *out, const struct lc_numa *n, const uint64_t *nodes, uint64_t total)
{
	bool first = true;

	for (uint32_t i = 0; i <= n->nodes_len; i++) {
		uint32_t node = i < n->nodes_len ? i + 1 : 0; /* the unknown one last */

		if (!nodes[node] || percent(nodes[node], total) < 0.1)
			continue;
		if (node)
			fprintf(out, "%snode %u (%.1f%%)", first ? "" : ", ", number(n, node),
			        percent(nodes[node], total));
		else
			fprintf(out, "%sunknown (%.1f%%)", first ? "" : ", ",
			        percent(nodes[node], total));
		first = false;
	}
}

static char *known_nodes(const struct lc_numa *n, const struct lc_numa_group *g, bool owning)
{
	uint64_t *sums = lc_mem_zeroed(n->nodes_len + 1, sizeof(*sums));
	struct line l;

	for (size_t i = 0; i < g->cells_len; i++)
		if (g->cells[i].accessing && g->cells[i].owning)
			sums[owning ? g->cells[i].owning : g->cells[i].accessing] +=
			    g->cells[i].samples;
	begin(&l);
	list_nodes(l.out, n, sums, g->sum.known);
	free(sums);
	return end(&l);
}

static void say_nodes(const struct lc_numa *n, const struct lc_numa_site *s,
                      struct lc_numa_prose *w)
{
	const struct lc_numa_sum *sum = &s->all.sum;
	const double effective =
	    lc_wilson_effective((struct lc_weighted){ sum->known, sum->known_pairs });
	char *owners = known_nodes(n, &s->all, true), *users = known_nodes(n, &s->all, false);

	if (sum->known) {
		evidence(w, "the pages of %" PRIu64 " samples are on %s", sum->known, owners);
		evidence(w, "the accesses came from %s, by %u thread%s", users, s->diagnosis.users,
		         s->diagnosis.users == 1 ? "" : "s");
	}
	if (sum->mean_distance >= 0)
		evidence(w,
		         "%.1f%% of the accesses are remote; mean distance %.1f, where %d is local",
		         100 * sum->remote_share, sum->mean_distance, LC_NUMA_LOCAL);
	if (effective * 1.2 <= (double)sum->known)
		evidence(w,
		         "an interrupt counted as several samples; together they are as good as "
		         "%.0f independent samples",
		         effective);
	if (sum->known < sum->samples)
		evidence(w, "%.1f%% of the samples have an unknown page or CPU node",
		         percent(sum->samples - sum->known, sum->samples));
	free(owners);
	free(users);
}

static void say_origin(const struct lc_numa *n, const struct lc_numa_origin *o, const char *what,
                       struct lc_numa_prose *w)
{
	char *name;
	struct line l;

	if (!o->total)
		return;
	name = thread_name(n, o->thread);
	begin(&l);
	list_nodes(l.out, n, o->nodes, o->total);
	evidence(w, "%s by thread '%s': %.1f%%%s (%u thread%s in all), on %s", what, name,
	         percent(o->thread_part, o->total),
	         n->load->processes_len > 1 ? ", with the busiest thread of each other process"
	                                    : "",
	         o->threads, o->threads == 1 ? "" : "s", end(&l));
	free(l.text);
	free(name);
}

static void say_moves(const struct lc_numa *n, uint32_t thread, struct lc_numa_prose *w)
{
	for (size_t i = 0; i < n->threads_len; i++) {
		const struct lc_numa_thread_row *t = &n->threads[i];
		struct line l;
		char *name;

		if (t->thread != thread)
			continue;
		name = thread_name(n, thread);
		begin(&l);
		list_nodes(l.out, n, t->nodes, t->samples);
		evidence(w, "thread '%s' ran on %s and moved at least %" PRIu64 " time%s", name,
		         end(&l), t->migrations, t->migrations == 1 ? "" : "s");
		free(l.text);
		free(name);
	}
}

static void say_sources(const struct lc_numa_site *s, struct lc_numa_prose *w)
{
	const uint64_t *from = s->all.sources;
	uint64_t remote = from[LC_SOURCE_REMOTE_DRAM] + from[LC_SOURCE_REMOTE_CACHE];
	uint64_t all = remote + from[LC_SOURCE_LOCAL_DRAM];

	if (all)
		evidence(w,
		         "according to the hardware, memory or another socket served %" PRIu64
		         " samples, %.1f%% of them from a remote node",
		         all, percent(remote, all));
}

static void say_evidence(const struct lc_numa *n, const struct lc_numa_site *s,
                         struct lc_numa_prose *w)
{
	say_nodes(n, s, w);
	/* Balancing unmaps pages to see who uses them: then faults are not first touches only. */
	say_origin(n, &s->touched, n->balancing == 1 ? "page faults taken" : "first touched", w);
	say_origin(n, &s->allocated, "allocated", w);
	if (s->diagnosis.pattern == LC_NUMA_MIGRATED ||
	    (s->diagnosis.pattern == LC_NUMA_SPREAD && s->diagnosis.one_thread))
		say_moves(n, s->diagnosis.thread, w);
	say_sources(s, w);
	if (!s->touched.total && s->all.bucket == LC_BUCKET_OBJECT &&
	    s->diagnosis.pattern > LC_NUMA_FINE)
		evidence(w, "the recording lacks first touches; add --event=fault to another "
		            "--event to record them");
	if (n->balancing == 1)
		evidence(
		    w,
		    "the kernel's NUMA balancing was on and moved %" PRIu64
		    " pages of the machine during the run, so pages do not stay where they are",
		    n->pages_migrated);
}

/* ---- what to do ---- */

static void advise_first_touch(const struct lc_numa *n, const struct lc_numa_site *s,
                               struct lc_numa_prose *w)
{
	struct lc_numa_whatif to;

	lc_numa_simulate(n, &s->all, LC_NUMA_FIRST_TOUCH_BY_READER, 0, &to);
	advise(w,
	       lc_mem_text(
	           "let each thread initialise the part that it will use (parallel first touch)"),
	       lc_mem_text("a change to the program; %.1f%% remote if threads keep to their parts, "
	                   "%.1f%% if all threads use all parts; no help with -XX:+AlwaysPreTouch, "
	                   "which touches the heap first, or if parts are smaller than a page",
	                   100 * to.remote_share, 100 * to.remote_share_shared));
	free(to.matrix);
}

static void advise_interleave(const struct lc_numa *n, const struct lc_numa_site *s,
                              struct lc_numa_prose *w)
{
	struct lc_numa_whatif to;

	lc_numa_simulate(n, &s->all, LC_NUMA_INTERLEAVE, 0, &to);
	advise(w, lc_mem_text("interleave the memory: numactl --interleave=all java ..."),
	       lc_mem_text("no change to the program; %.1f%% of these accesses will be remote, but "
	                   "all memory controllers share the load; the same part of all other "
	                   "accesses of the JVM will be remote, too",
	                   100 * to.remote_share));
	free(to.matrix);
}

static void advise_numa_heap(struct lc_numa_prose *w)
{
	advise(w,
	       lc_mem_text("-XX:+UseNUMA with -XX:+UseParallelGC or G1: threads then allocate on "
	                   "their own node, in a part of the young generation"),
	       lc_mem_text("helps objects that their allocating thread uses, not objects that one "
	                   "thread allocates for all; each node's part may fill up sooner, so "
	                   "there may be more collections; G1 places objects of half a region or "
	                   "more (-XX:G1HeapRegionSize) separately"));
}

static void advise_bind(const struct lc_numa *n, const struct lc_numa_site *s, uint32_t node,
                        struct lc_numa_prose *w)
{
	struct lc_numa_whatif to;

	if (!n->nodes[node - 1].memory)
		return;
	lc_numa_simulate(n, &s->all, LC_NUMA_BIND, node - 1, &to);
	advise(
	    w,
	    lc_mem_text("allocate and initialise it in a thread of node %u, where it is used; "
	                "or bind all memory there: numactl --preferred=%u java ...",
	                number(n, node), number(n, node)),
	    lc_mem_text(
	        "%.1f%% of these accesses will be remote; a bound JVM has the memory and bandwidth "
	        "of one node only, and threads on other nodes access that memory remotely",
	        100 * to.remote_share));
	free(to.matrix);
}

static void advise_together(const struct lc_numa *n, uint32_t node, struct lc_numa_prose *w)
{
	if (!node || !*n->nodes[node - 1].cpus)
		return;
	advise(w,
	       lc_mem_text("run its users on its node: numactl --cpunodebind=%u, or taskset for "
	                   "single threads (taskset -p -c %s TID)",
	                   number(n, node), n->nodes[node - 1].cpus),
	       lc_mem_text("the scheduler cannot use idle CPUs of other nodes for these threads"));
}

static void advise_pin(const struct lc_numa *n, uint32_t node, struct lc_numa_prose *w)
{
	advise_together(n, node, w);
	advise(w,
	       lc_mem_text(
	           "let the kernel move the pages to the thread: sysctl kernel.numa_balancing=1"),
	       lc_mem_text("the kernel takes page faults in every process to see who uses which "
	                   "page; it needs seconds, so the thread must stay that long"));
}

static void say_advice(const struct lc_numa *n, const struct lc_numa_site *s,
                       struct lc_numa_prose *w)
{
	const struct lc_numa_diagnosis *d = &s->diagnosis;

	switch (d->pattern) {
	case LC_NUMA_MASTER:
		advise_first_touch(n, s, w);
		advise_interleave(n, s, w);
		advise_numa_heap(w);
		break;
	case LC_NUMA_ELSEWHERE:
		advise_bind(n, s, d->user, w);
		advise_together(n, d->owner, w);
		advise_numa_heap(w);
		break;
	case LC_NUMA_MIGRATED:
		advise_pin(n, d->owner, w);
		break;
	case LC_NUMA_ONE:
		advise_interleave(n, s, w);
		advise_first_touch(n, s, w);
		break;
	case LC_NUMA_SPREAD:
		if (d->used_from_one) {
			advise_bind(n, s, d->user, w);
			break;
		}
		if (d->one_thread) { /* it runs now here, now there */
			advise_pin(n, d->user, w);
			break;
		}
		advise_first_touch(n, s, w);
		advise_numa_heap(w);
		break;
	case LC_NUMA_FEW:
		advise(w, lc_mem_text("run it longer, or sample more often (--interval)"),
		       lc_mem_text("more samples cost more time"));
		break;
	case LC_NUMA_FINE:
	case LC_NUMA_PATTERNS:
		break;
	}
}

static char *summary_of(const struct lc_numa *n, const struct lc_numa_site *s)
{
	const struct lc_numa_diagnosis *d = &s->diagnosis;
	char *placer = d->has_placer ? thread_name(n, d->placer) : lc_mem_text("?");
	char *user = s->threads_len ? thread_name(n, d->thread) : lc_mem_text("?");
	const char *did = d->by_touch ? "initialised" : "allocated";
	char *text = NULL;

	switch (d->pattern) {
	case LC_NUMA_FEW:
		text = lc_mem_text("not enough samples with both nodes known (%" PRIu64 ")",
		                   s->all.sum.known);
		break;
	case LC_NUMA_FINE:
		text = lc_mem_text("fine: %.1f%% of the accesses are remote",
		                   100 * s->all.sum.remote_share);
		break;
	case LC_NUMA_MASTER:
		text = lc_mem_text("%s by thread '%s', so all its pages are on node %u, but %u "
		                   "threads on several nodes use it",
		                   did, placer, number(n, d->owner), d->users);
		break;
	case LC_NUMA_ELSEWHERE:
		text = lc_mem_text("its pages are on node %u, but it is used only from node %u",
		                   number(n, d->owner), number(n, d->user));
		break;
	case LC_NUMA_MIGRATED:
		text = lc_mem_text("thread '%s' placed it on node %u and moved away from it", user,
		                   number(n, d->owner));
		break;
	case LC_NUMA_ONE:
		text = lc_mem_text(
		    "all its pages are on node %u, but it is used from several nodes: that node's "
		    "memory may be the bottleneck (a suspicion: bandwidth is not measured)",
		    number(n, d->owner));
		break;
	case LC_NUMA_SPREAD:
		if (d->used_from_one)
			text = lc_mem_text(
			    "its pages are spread over the nodes, or moved during the run, but it "
			    "is used only from node %u: %.1f%% of the accesses are remote",
			    number(n, d->user), 100 * s->all.sum.remote_share);
		else if (d->one_thread)
			text = lc_mem_text(
			    "its pages are spread over the nodes, and thread '%s', with %.1f%% of "
			    "the accesses, ran on several nodes: %.1f%% of the accesses are remote",
			    user, 100 * d->thread_share, 100 * s->all.sum.remote_share);
		else
			text = lc_mem_text(
			    "its pages are spread over the nodes, and so are its users: "
			    "balanced, but %.1f%% of the accesses are remote",
			    100 * s->all.sum.remote_share);
		break;
	case LC_NUMA_PATTERNS:
		break;
	}
	free(placer);
	free(user);
	return text;
}

void lc_numa_say(const struct lc_numa *n, const struct lc_numa_site *s, struct lc_numa_prose *w)
{
	memset(w, 0, sizeof(*w));
	w->summary = summary_of(n, s);
	say_evidence(n, s, w);
	say_advice(n, s, w);
}

void lc_numa_prose_free(struct lc_numa_prose *w)
{
	free(w->summary);
	for (size_t i = 0; i < w->evidence_len; i++)
		free(w->evidence[i]);
	for (size_t i = 0; i < w->advice_len; i++) {
		free(w->advice[i].action);
		free(w->advice[i].cost);
	}
	memset(w, 0, sizeof(*w));
}

const char *lc_numa_say_nothing(const struct lc_numa *n)
{
	switch (n->state) {
	case LC_NUMA_NO_DATA:
		return "the profile has no data on NUMA nodes: an older Locus recorded it, or the "
		       "program was killed early";
	case LC_NUMA_ONE_NODE:
		return "the program ran on a machine with one NUMA node: all memory is local";
	case LC_NUMA_OFF:
		return n->error ? n->error : "NUMA nodes were not recorded";
	case LC_NUMA_ON:
		break;
	}
	return NULL;
}
