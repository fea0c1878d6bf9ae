/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numa/numa.c - adds up samples and allocations by NUMA node for the tallies of their threads.
 *
 * Everything but the topology belongs to the attribution thread; the topology is complete before
 * the first sample is taken and does not change afterwards.
 */
#include "src/numa/numa.h"

#include <errno.h>
#include <numa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/say.h"
#include "src/core/thread.h"
#include "src/numa/topology.h"
#include "src/profile/profile_writer.h"
#include "src/profile/tally.h"

#define SECOND_NS UINT64_C(1000000000)

enum {
	QUEUE_LEN = 4096,       /* accesses; when it is full the kernel is asked at once */
	PAGES_KEPT = 1 << 15,   /* 512 KiB */
	CPU_LIST_MAX = 4 << 10, /* in the manifest */
	ADDR_BITS = 47,         /* addresses above are the kernel's */
};

/* Nodes that a thread's samples were on. */
struct lc_numa_thread {
	/* Per engine, the node of its last sample whose node is known; -1: none yet. */
	int16_t last[LC_TALLY_ENGINES];
	int16_t now; /* node of its last sample of any engine; -1: none yet, or unknown */
	bool seen;   /* it has samples in this window */
	bool mixed; /* they and the sample before them are of several nodes, or of an unknown one */
};

static struct {
	bool active;
	char root[256];
	struct lc_topology *topology;
	struct lc_pages *pages;
	struct lc_numa_access *queue;
	struct lc_pages_query *queries;
	size_t queue_len;
	uint32_t epoch, generation;
	uint64_t generation_ns;
	uint64_t dropped;
	uint64_t migrated_before;
	bool error_printed;
	char error[LC_TOPOLOGY_ERROR + 64];
	/* The manifest's view of the topology. */
	struct lc_manifest_numa manifest;
	struct lc_manifest_node *nodes;
	uint16_t *distances;
	char *cpus;
} numa = { .manifest.balancing = -1 };

static int describe_nodes(const struct lc_topology *t)
{
	const size_t len = t->nodes_len;

	numa.nodes = calloc(len, sizeof(*numa.nodes));
	numa.distances = calloc(len * len, sizeof(*numa.distances));
	numa.cpus = calloc(len, CPU_LIST_MAX);
	if (!numa.nodes || !numa.distances || !numa.cpus)
		return -ENOMEM;
	for (size_t i = 0; i < len; i++) {
		uint16_t *distances = numa.distances + i * len;
		char *cpus = numa.cpus + i * CPU_LIST_MAX;

		memcpy(distances, t->distance[i], len * sizeof(*distances));
		lc_topology_cpu_list(t, t->nodes[i].number, cpus, CPU_LIST_MAX);
		numa.nodes[i] = (struct lc_manifest_node){
			.number = t->nodes[i].number,
			.memory_bytes = t->nodes[i].memory_bytes,
			.cpus = cpus,
			.memory_allowed = t->nodes[i].memory_allowed,
			.distances = distances,
		};
	}
	numa.manifest.nodes = numa.nodes;
	numa.manifest.nodes_len = len;
	return 0;
}

/* Why everything here has to stay off; NULL: it need not. */
static const char *obstacle(const struct lc_topology *t, int err, lc_pages_ask *ask)
{
	if (err)
		return t->error[0] ? t->error : "no memory for the NUMA topology";
	if (t->nodes_len > 1 && t->usable < 2)
		return "this process may use only one of the machine's NUMA nodes (cpuset or CPU "
		       "affinity)";
	if (t->nodes_len > 1 && !ask && numa_available() < 0)
		return "libnuma: the kernel does not allow this process to use NUMA";
	return t->error[0] ? t->error : NULL;
}

static int allocate(lc_pages_ask *ask)
{
	numa.pages = lc_pages_create(ask ? ask : lc_pages_ask_kernel, PAGES_KEPT);
	numa.queue = calloc(QUEUE_LEN, sizeof(*numa.queue));
	numa.queries = calloc(QUEUE_LEN, sizeof(*numa.queries));
	return numa.pages && numa.queue && numa.queries ? 0 : -ENOMEM;
}

int lc_numa_init(const char *root, lc_pages_ask *ask)
{
	struct lc_topology *t = calloc(1, sizeof(*t));
	const char *why;
	int err = -ENOMEM;

	lc_numa_end();
	if (!t) {
		snprintf(numa.error, sizeof(numa.error), "no memory for the NUMA topology");
		return 0;
	}
	snprintf(numa.root, sizeof(numa.root), "%s", root);
	err = lc_topology_read(root, t);
	numa.manifest.balancing = t->balancing;
	if (!err && t->nodes_len)
		err = describe_nodes(t);
	why = obstacle(t, err, ask);
	if (why)
		snprintf(numa.error, sizeof(numa.error), "%s", why);
	/* A file that could not be understood costs only the facts in it. */
	if (!err && t->usable > 1 && (!why || why == t->error) && !allocate(ask)) {
		numa.migrated_before = lc_topology_pages_migrated(root);
		numa.topology = t;
		numa.active = true;
		return 1;
	}
	/* A kernel without NUMA, or a machine with one node, is worth no line on stderr. */
	if (numa.error[0] && err != -ENOENT && (err || t->nodes_len > 1))
		lc_say("%s; continuing without NUMA nodes", numa.error);
	free(t);
	return 0;
}

void lc_numa_end(void)
{
	free(numa.topology);
	lc_pages_destroy(numa.pages);
	free(numa.queue);
	free(numa.queries);
	free(numa.nodes);
	free(numa.distances);
	free(numa.cpus);
	memset(&numa, 0, sizeof(numa));
	numa.manifest.balancing = -1;
}

int lc_numa_node_of_cpu(uint32_t cpu)
{
	return numa.active ? lc_topology_node_of(numa.topology, cpu) : -1;
}

static struct lc_numa_thread *thread_of(struct lc_thread *t)
{
	if (!t->numa) {
		t->numa = calloc(1, sizeof(*t->numa));
		if (!t->numa)
			return NULL;
		memset(t->numa->last, 0xff, sizeof(t->numa->last));
		t->numa->now = -1;
	}
	return t->numa;
}

void lc_numa_ran(struct lc_thread *t, uint16_t engine, uint32_t cpu, uint64_t samples)
{
	struct lc_block_node row = { .engine = engine, .samples = samples };
	struct lc_numa_thread *n;
	int node;

	if (!numa.active || engine >= LC_TALLY_ENGINES)
		return;
	node = lc_numa_node_of_cpu(cpu);
	row.node = (uint16_t)(node + 1);
	n = thread_of(t);
	if (n && node >= 0) {
		/* Engines log when they can, so only the samples of one engine are in order. */
		row.migrations = n->last[engine] >= 0 && n->last[engine] != node && samples;
		n->last[engine] = (int16_t)node;
	}
	if (n) {
		n->mixed |= node < 0 || (n->now >= 0 && n->now != node);
		n->now = (int16_t)node;
		n->seen = true;
	}
	if (!lc_tally_made(&t->tally) || lc_tally_node(t->tally, &row))
		numa.dropped += samples;
}

static void count(const struct lc_numa_access *a, int owner)
{
	const struct lc_block_placement row = {
		.engine = a->at.engine,
		.bucket = a->at.bucket,
		.site = a->at.site,
		.path = a->at.path,
		.accessing = (uint16_t)(lc_numa_node_of_cpu(a->cpu) + 1),
		.owning = (uint16_t)(owner >= 0 && owner < LC_NODE_NUMBERS ? owner + 1 : 0),
		.source = a->source,
		.samples = a->at.samples,
		.pairs = a->at.pairs,
	};

	if (!lc_tally_made(&a->thread->tally) || lc_tally_placement(a->thread->tally, &row))
		numa.dropped += a->at.samples;
}

static void resolve_queue(void)
{
	for (size_t i = 0; i < numa.queue_len; i++)
		numa.queries[i].addr = numa.queue[i].addr;
	lc_pages_resolve(numa.pages, numa.generation, numa.queries, numa.queue_len);
	for (size_t i = 0; i < numa.queue_len; i++)
		count(&numa.queue[i], numa.queries[i].node);
	numa.queue_len = 0;
	if (lc_pages_error(numa.pages) && !numa.error_printed) {
		numa.error_printed = true;
		lc_say("%s; continuing without the nodes of pages", lc_pages_error(numa.pages));
	}
}

void lc_numa_sample(const struct lc_numa_access *a)
{
	if (!numa.active || !a->addr || a->addr >> ADDR_BITS)
		return;
	numa.queue[numa.queue_len++] = *a;
	if (numa.queue_len == QUEUE_LEN)
		resolve_queue();
}

void lc_numa_resolve(uint32_t epoch, uint64_t now_ns)
{
	if (!numa.active)
		return;
	if (epoch != numa.epoch || now_ns - numa.generation_ns >= SECOND_NS) {
		numa.epoch = epoch;
		numa.generation++;
		numa.generation_ns = now_ns;
	}
	if (numa.queue_len)
		resolve_queue();
}

bool lc_numa_window_seen(const struct lc_thread *t)
{
	return numa.active && t->numa && t->numa->seen;
}

void lc_numa_allocated(struct lc_thread *t, uint32_t site, uint64_t objects, uint64_t bytes)
{
	struct lc_block_home row = { .site = site, .objects = objects, .bytes = bytes };

	if (!numa.active)
		return;
	if (lc_numa_window_seen(t) && !t->numa->mixed)
		row.node = (uint16_t)(t->numa->now + 1);
	if (lc_tally_made(&t->tally))
		lc_tally_home(t->tally, &row);
}

void lc_numa_window_ends(struct lc_thread *t)
{
	if (!numa.active || !t->numa)
		return;
	t->numa->seen = false;
	t->numa->mixed = false;
}

void lc_numa_thread_free(struct lc_thread *t)
{
	free(t->numa);
	t->numa = NULL;
}

const struct lc_manifest_numa *lc_numa_manifest(void)
{
	struct lc_manifest_numa *m = &numa.manifest;
	struct lc_pages_stats s = { 0 };
	const char *pages_error = NULL;
	uint64_t migrated;

	m->active = numa.active;
	if (numa.active) {
		lc_pages_stats(numa.pages, &s);
		pages_error = lc_pages_error(numa.pages);
		migrated = lc_topology_pages_migrated(numa.root);
		m->pages_migrated =
		    migrated > numa.migrated_before ? migrated - numa.migrated_before : 0;
	}
	m->error = pages_error ? pages_error : numa.error[0] ? numa.error : NULL;
	m->pages_asked = s.asked;
	m->pages_unknown = s.unknown;
	m->owner_changes = s.changes;
	m->dropped = numa.dropped;
	return m;
}
