/* SPDX-License-Identifier: Apache-2.0 */
/* numa/numa_machine.c - reads the machine's nodes from the manifests of all processes. */
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/numa/numa_impl.h"

static uint64_t number_of(const json_t *object, const char *name)
{
	json_int_t v = json_integer_value(json_object_get(object, name));

	return v < 0 ? 0 : (uint64_t)v;
}

static void read_process(struct lc_numa *n, const json_t *numa, bool *active)
{
	const json_t *balancing = json_object_get(numa, "balancing");
	const char *error = json_string_value(json_object_get(numa, "error"));

	*active |= json_is_true(json_object_get(numa, "active"));
	n->pages_migrated += number_of(numa, "pages_migrated");
	n->pages_asked += number_of(numa, "pages_asked");
	n->pages_unknown += number_of(numa, "pages_unknown");
	n->owner_changes += number_of(numa, "owner_changes");
	n->dropped += number_of(numa, "samples_dropped");
	if (json_is_true(balancing))
		n->balancing = 1;
	else if (json_is_false(balancing) && n->balancing < 0)
		n->balancing = 0;
	if (error && !n->error)
		n->error = error;
}

static void note_number(uint32_t *row_of, uint64_t number)
{
	if (number < LC_NODE_NUMBERS)
		row_of[number] = 1;
}

/* Which numbers there are: in the manifests, and in the samples of those that tell of no nodes. */
static void number_nodes(struct lc_numa *n, uint32_t *row_of)
{
	const struct lc_table *placements = &n->tree->placements, *nodes = &n->tree->nodes;

	for (size_t i = 0; i < n->load->processes_len; i++) {
		const json_t *list = json_object_get(n->load->processes[i].numa, "nodes");

		for (size_t k = 0; k < json_array_size(list); k++)
			note_number(row_of, number_of(json_array_get(list, k), "node"));
	}
	for (uint32_t i = 0; i < placements->count; i++) {
		const uint32_t *key = lc_table_key(placements, i);

		note_number(row_of, (uint64_t)key[LC_PLACEMENT_ACCESSING] - 1);
		note_number(row_of, (uint64_t)key[LC_PLACEMENT_OWNING] - 1);
	}
	for (uint32_t i = 0; i < nodes->count; i++)
		note_number(row_of, (uint64_t)lc_table_key(nodes, i)[LC_NODE_NODE] - 1);
	for (uint32_t i = 0; i < n->tree->homes.count; i++)
		note_number(row_of, (uint64_t)lc_table_key(&n->tree->homes, i)[LC_HOME_NODE] - 1);
	n->nodes = lc_arena_zeroed(&n->arena, LC_NODE_NUMBERS, sizeof(*n->nodes));
	for (uint32_t i = 0; i < LC_NODE_NUMBERS; i++) {
		if (!row_of[i])
			continue;
		n->nodes[n->nodes_len++] =
		    (struct lc_numa_node){ .number = i, .memory = true, .cpus = "" };
		row_of[i] = (uint32_t)n->nodes_len;
	}
}

/* A distance that two machines do not agree on is unknown for good: UINT16_MAX until the end. */
static void note_distance(struct lc_numa *n, size_t at, uint64_t distance)
{
	if (distance < LC_NUMA_LOCAL || distance >= UINT16_MAX)
		return;
	if (n->distances[at] && n->distances[at] != distance) {
		n->distances[at] = UINT16_MAX;
		n->mixed = true;
	} else {
		n->distances[at] = (uint16_t)distance;
	}
}

static void describe_nodes(struct lc_numa *n, const uint32_t *row_of, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *node = json_array_get(list, i);
		const json_t *distances = json_object_get(node, "distances");
		const char *cpus = json_string_value(json_object_get(node, "cpus"));
		uint64_t number = number_of(node, "node");
		size_t row;

		if (number >= LC_NODE_NUMBERS)
			continue;
		row = row_of[number] - 1;
		n->nodes[row].memory_bytes = number_of(node, "memory_bytes");
		n->nodes[row].memory = !json_is_false(json_object_get(node, "memory_allowed"));
		if (cpus)
			n->nodes[row].cpus = cpus;
		for (size_t k = 0; k < json_array_size(distances); k++) {
			uint64_t to = number_of(json_array_get(list, k), "node");

			if (to < LC_NODE_NUMBERS && k < json_array_size(list))
				note_distance(
				    n, row * n->nodes_len + row_of[to] - 1,
				    (uint64_t)json_integer_value(json_array_get(distances, k)));
		}
	}
}

void lc_numa_read_machine(struct lc_numa *n, uint32_t *row_of)
{
	bool told = false, active = false;

	n->balancing = -1;
	for (size_t i = 0; i < n->load->processes_len; i++) {
		if (!n->load->processes[i].numa)
			continue;
		told = true;
		read_process(n, n->load->processes[i].numa, &active);
	}
	number_nodes(n, row_of);
	n->distances =
	    lc_arena_zeroed(&n->arena, n->nodes_len * n->nodes_len, sizeof(*n->distances));
	for (size_t i = 0; i < n->load->processes_len; i++)
		describe_nodes(n, row_of, json_object_get(n->load->processes[i].numa, "nodes"));
	for (size_t i = 0; i < n->nodes_len * n->nodes_len; i++)
		if (n->distances[i] == UINT16_MAX)
			n->distances[i] = 0;
	if (n->tree->placements.count || n->tree->nodes.count || active)
		n->state = LC_NUMA_ON;
	else if (told && n->nodes_len == 1 && !n->error)
		n->state = LC_NUMA_ONE_NODE;
	else if (told)
		n->state = LC_NUMA_OFF;
}

uint32_t lc_numa_distance(const struct lc_numa *n, uint32_t from, uint32_t to)
{
	return n->distances[from * n->nodes_len + to];
}

static uint64_t engine_counter(const struct lc_numa *n, const char *what)
{
	uint64_t sum = 0;
	char name[64];

	snprintf(name, sizeof(name), "engine_%s_%s", n->load->engines[n->engine].name, what);
	for (size_t i = 0; i < n->load->processes_len; i++)
		sum += number_of(n->load->processes[i].counters, name);
	return sum;
}

double lc_numa_read_folded(const struct lc_numa *n)
{
	uint64_t samples, overruns;

	if (n->engine >= n->load->engines_len)
		return 1;
	samples = engine_counter(n, "samples");
	overruns = engine_counter(n, "overruns");
	return samples ? 1 + (double)overruns / (double)samples : 1;
}
