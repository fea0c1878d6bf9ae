/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numa/numa_diagnose.c - classifies a site's matrix, and computes it for other placements.
 *
 * The limits below say when a pattern's sentence is true of most samples. None of them hides a
 * number: the report shows the matrix itself.
 */
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/base/wilson.h"
#include "analyzer/numa/numa.h"
#include "src/base/order.h"

enum {
	/* Observations: */
	SAMPLES_LEAST = 30,   /* with both nodes known: below it, nothing is said */
	SAMPLES_MEDIUM = 100, /* the 95% interval of a share is 10 points to each side or less */
	SAMPLES_HIGH = 400,   /* 5 points */
};

/* Parts of the known samples of a site. */
#define FINE_REMOTE 0.1 /* at most: fine */
#define MOST 0.8        /* at least: "all" pages on a node, "only" used from one, by one thread */
#define SOME 0.1        /* at least, of all nodes but the busiest: it is used from several */
#define PLACED 0.9      /* at least: one thread "placed" it */
#define USER 0.01       /* at least, or half of an even part: a thread counts as a user */

const char *lc_numa_pattern_name(enum lc_numa_pattern pattern)
{
	static const char *const names[LC_NUMA_PATTERNS] = {
		[LC_NUMA_FEW] = "not-enough-evidence",
		[LC_NUMA_FINE] = "fine",
		[LC_NUMA_MASTER] = "master-initialised",
		[LC_NUMA_ELSEWHERE] = "used-from-another-node",
		[LC_NUMA_MIGRATED] = "thread-migrated",
		[LC_NUMA_ONE] = "all-on-one-node",
		[LC_NUMA_SPREAD] = "spread",
	};

	return names[pattern];
}

const char *lc_numa_confidence_name(enum lc_numa_confidence confidence)
{
	static const char *const names[] = { "low", "medium", "high" };

	return names[confidence];
}

/* Row + 1 of the node with most known samples, as owner or as user, and its part. */
static uint32_t busiest(const struct lc_numa *n, const struct lc_numa_group *g, bool owning,
                        double *part)
{
	uint64_t *sums = lc_mem_zeroed(n->nodes_len + 1, sizeof(*sums));
	uint32_t best = 0;

	for (size_t i = 0; i < g->cells_len; i++)
		if (g->cells[i].accessing && g->cells[i].owning)
			sums[owning ? g->cells[i].owning : g->cells[i].accessing] +=
			    g->cells[i].samples;
	for (uint32_t i = 1; i <= n->nodes_len; i++)
		if (sums[i] > sums[best])
			best = i;
	*part = lc_share(sums[best], g->sum.known);
	free(sums);
	return best;
}

/*
 * Runs of one program that were merged look like one run: the share of its busiest thread is that
 * of the busiest of each process, and the users are those of the process that has most.
 */
static void find_users(const struct lc_numa *n, const struct lc_numa_site *s,
                       struct lc_numa_diagnosis *d)
{
	struct process {
		uint64_t samples, most;
		uint32_t threads, users;
	} *processes = lc_mem_zeroed(n->load->processes_len + 1, sizeof(*processes));
	uint64_t busiest_samples = 0;

	for (size_t i = 0; i < s->threads_len; i++) {
		const uint32_t *key = lc_table_key(&n->tree->threads, s->threads[i].thread);
		struct process *p = &processes[key[LC_THREAD_PROCESS]];

		p->samples += s->threads[i].samples;
		p->threads++;
		if (s->threads[i].samples > p->most)
			p->most = s->threads[i].samples;
	}
	for (size_t i = 0; i < s->threads_len; i++) {
		const uint32_t *key = lc_table_key(&n->tree->threads, s->threads[i].thread);
		struct process *p = &processes[key[LC_THREAD_PROCESS]];

		double part = lc_share(s->threads[i].samples, p->samples);

		p->users += part >= USER || part >= 0.5 / p->threads;
		d->users = p->users > d->users ? p->users : d->users;
	}
	for (size_t i = 0; i <= n->load->processes_len; i++)
		busiest_samples += processes[i].most;
	d->thread = s->threads_len ? s->threads[0].thread : 0;
	d->thread_share = lc_share(busiest_samples, s->all.sum.samples);
	free(processes);
}

/*
 * First touches decide where pages are; where none were seen, who allocated is the best guess. The
 * kernel's NUMA balancing makes page faults that are no first touches.
 */
static void find_placer(const struct lc_numa *n, const struct lc_numa_site *s,
                        struct lc_numa_diagnosis *d)
{
	const struct lc_numa_origin *o =
	    s->touched.total && n->balancing != 1 ? &s->touched : &s->allocated;

	d->by_touch = o == &s->touched;
	d->placer = o->thread;
	d->has_placer = o->total && lc_share(o->thread_part, o->total) >= PLACED;
}

/* Was the thread seen on node `node1` (row + 1), and did it move? */
static bool moved_from(const struct lc_numa *n, uint32_t thread, uint32_t node1)
{
	for (size_t i = 0; i < n->threads_len; i++)
		if (n->threads[i].thread == thread)
			return n->threads[i].migrations && n->threads[i].nodes[node1];
	return false;
}

static enum lc_numa_pattern pattern_of(const struct lc_numa *n, const struct lc_numa_site *s,
                                       const struct lc_numa_diagnosis *d)
{
	if (d->observations < SAMPLES_LEAST)
		return LC_NUMA_FEW;
	if (s->all.sum.remote_share <= FINE_REMOTE)
		return LC_NUMA_FINE;
	if (d->owner_share < MOST)
		return LC_NUMA_SPREAD;
	if (d->one_thread && d->has_placer && d->placer == d->thread &&
	    moved_from(n, d->thread, d->owner))
		return LC_NUMA_MIGRATED;
	if (d->user != d->owner && d->used_from_one)
		return LC_NUMA_ELSEWHERE;
	if (d->user_share > 1 - SOME)
		return LC_NUMA_SPREAD; /* a little from each of many nodes */
	return d->has_placer && d->users > 1 ? LC_NUMA_MASTER : LC_NUMA_ONE;
}

/* From the number of samples, less where a part of the reasoning rests on what was not seen. */
static enum lc_numa_confidence confidence_of(const struct lc_numa_site *s,
                                             const struct lc_numa_diagnosis *d)
{
	const struct lc_numa_sum *sum = &s->all.sum;
	int level = d->observations >= SAMPLES_HIGH     ? LC_NUMA_HIGH
	            : d->observations >= SAMPLES_MEDIUM ? LC_NUMA_MEDIUM
	                                                : LC_NUMA_LOW;

	if (2 * sum->known < sum->samples)
		level--; /* most owners are unknown */
	if ((d->pattern == LC_NUMA_MASTER || d->pattern == LC_NUMA_MIGRATED) && !d->by_touch)
		level--; /* who touched it first was not seen */
	if (d->pattern == LC_NUMA_ONE || d->pattern == LC_NUMA_SPREAD)
		level--; /* whether it hurts depends on what was not measured */
	if (d->pattern == LC_NUMA_FEW || level < LC_NUMA_LOW)
		level = LC_NUMA_LOW;
	return (enum lc_numa_confidence)level;
}

struct lc_numa_diagnosis lc_numa_diagnose(const struct lc_numa *n, const struct lc_numa_site *s)
{
	struct lc_numa_diagnosis d = { .pattern = LC_NUMA_FEW };

	d.observations =
	    lc_wilson_effective((struct lc_weighted){ s->all.sum.known, s->all.sum.known_pairs });
	d.owner = busiest(n, &s->all, true, &d.owner_share);
	d.user = busiest(n, &s->all, false, &d.user_share);
	d.used_from_one = d.user_share >= MOST;
	find_users(n, s, &d);
	d.one_thread = d.thread_share >= MOST;
	find_placer(n, s, &d);
	d.pattern = pattern_of(n, s, &d);
	d.confidence = confidence_of(s, &d);
	return d;
}

/* ---- what if ---- */

/* The node that takes a page which should be on `node`: itself, or the nearest with memory. */
static uint32_t with_memory(const struct lc_numa *n, uint32_t node)
{
	uint32_t best = node, best_distance = UINT32_MAX;

	if (n->nodes[node].memory)
		return node;
	for (uint32_t i = 0; i < n->nodes_len; i++) {
		uint32_t distance = lc_numa_distance(n, node, i);

		if (!n->nodes[i].memory)
			continue;
		distance = distance ? distance : UINT16_MAX;
		if (distance < best_distance) {
			best = i;
			best_distance = distance;
		}
	}
	return best;
}

static void place_row(const struct lc_numa *n, struct lc_numa_whatif *w, uint32_t accessing,
                      double samples, enum lc_numa_policy policy, uint32_t node)
{
	double *row = w->matrix + (size_t)accessing * n->nodes_len;
	unsigned takers = 0;

	switch (policy) {
	case LC_NUMA_INTERLEAVE:
		for (uint32_t i = 0; i < n->nodes_len; i++)
			takers += n->nodes[i].memory;
		for (uint32_t i = 0; i < n->nodes_len; i++)
			if (n->nodes[i].memory)
				row[i] += samples / takers;
		break;
	case LC_NUMA_FIRST_TOUCH_BY_READER:
		row[with_memory(n, accessing)] += samples;
		break;
	case LC_NUMA_BIND:
		row[with_memory(n, node)] += samples;
		break;
	}
}

static void sum_matrix(const struct lc_numa *n, struct lc_numa_whatif *w)
{
	double remote = 0, all_distance = 0, remote_distance = 0;
	bool measured = w->known > 0;

	for (uint32_t a = 0; a < n->nodes_len; a++) {
		for (uint32_t o = 0; o < n->nodes_len; o++) {
			double samples = w->matrix[(size_t)a * n->nodes_len + o];
			uint32_t distance = lc_numa_distance(n, a, o);

			if (samples <= 0)
				continue;
			measured &= distance > 0;
			all_distance += samples * distance;
			remote += a == o ? 0 : samples;
			remote_distance += a == o ? 0 : samples * distance;
		}
	}
	w->remote_share = w->known > 0 ? remote / w->known : 0;
	w->weighted = measured ? remote_distance / all_distance : -1;
	w->mean_distance = measured ? all_distance / w->known : -1;
}

/* All threads use all pages: each page is on the node of whichever came first. */
static double shared_remote(const struct lc_numa *n, const double *users, double known)
{
	double local = 0;

	for (uint32_t a = 0; a < n->nodes_len; a++)
		for (uint32_t first = 0; first < n->nodes_len; first++)
			if (with_memory(n, first) == a)
				local += users[a] * users[first];
	return known > 0 ? 1 - local / (known * known) : 0;
}

void lc_numa_simulate(const struct lc_numa *n, const struct lc_numa_group *g,
                      enum lc_numa_policy policy, uint32_t node, struct lc_numa_whatif *w)
{
	double *users = lc_mem_zeroed(n->nodes_len + 1, sizeof(*users));

	*w = (struct lc_numa_whatif){ 0 };
	w->matrix = lc_mem_zeroed(n->nodes_len * n->nodes_len + 1, sizeof(*w->matrix));
	for (size_t i = 0; i < g->cells_len; i++)
		if (g->cells[i].accessing && g->cells[i].owning)
			users[g->cells[i].accessing - 1] += (double)g->cells[i].samples;
	for (uint32_t a = 0; a < n->nodes_len; a++) {
		w->known += users[a];
		if (users[a] > 0)
			place_row(n, w, a, users[a], policy, node);
	}
	sum_matrix(n, w);
	w->remote_share_shared = policy == LC_NUMA_FIRST_TOUCH_BY_READER
	                             ? shared_remote(n, users, w->known)
	                             : w->remote_share;
	free(users);
}
