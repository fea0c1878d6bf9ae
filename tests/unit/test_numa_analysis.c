/* uses: analyzer/numa/numa.c analyzer/numa/numa_machine.c analyzer/numa/numa_diagnose.c analyzer/objects/analysis/view.c analyzer/objects/analysis/view_rows.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/arena.c analyzer/base/memory.c src/format/section.c -ljansson -lm */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_numa_analysis.c - checks matrices, shares and diagnoses against numbers worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/numa/numa.h"

enum { TIMER, FAULT };

static struct lc_tree tree;
static struct lc_load load;
static struct lc_load_process processes[2];
static struct lc_numa n;

#define TWO_NODES(balancing)                                                                       \
	"{\"active\":true,\"balancing\":" balancing                                                \
	",\"pages_migrated\":7,\"error\":null,\"nodes\":["                                         \
	"{\"node\":0,\"memory_bytes\":1024,\"cpus\":\"0-1\",\"memory_allowed\":true,"              \
	"\"distances\":[10,20]},"                                                                  \
	"{\"node\":1,\"memory_bytes\":1024,\"cpus\":\"2-3\",\"memory_allowed\":true,"              \
	"\"distances\":[20,10]}]}"

static void machine(unsigned process, const char *text)
{
	json_decref(processes[process].numa);
	processes[process].numa = json_loads(text, 0, NULL);
	assert_non_null(processes[process].numa);
	load.processes_len = process + 1;
}

static uint32_t process_now;

static int setup(void **state)
{
	static const char *const names[] = { "timer", "fault" };

	memset(&load, 0, sizeof(load));
	memset(&n, 0, sizeof(n));
	lc_tree_init(&tree);
	load.tree = &tree;
	load.processes = processes;
	load.engines_len = 2;
	for (unsigned i = 0; i < 2; i++)
		load.engines[i].name = strdup(names[i]);
	process_now = 0;
	machine(0, TWO_NODES("false"));
	return 0;
}

static int teardown(void **state)
{
	lc_numa_free(&n);
	for (unsigned i = 0; i < 2; i++) {
		free(load.engines[i].name);
		json_decref(processes[i].numa);
		processes[i].numa = NULL;
	}
	lc_tree_free(&tree);
	return 0;
}

static uint32_t thread(uint32_t index)
{
	const uint32_t key[LC_THREAD_KEY] = { process_now, index };
	uint32_t row = lc_table_put(&tree.threads, key);

	lc_table_values(&tree.threads, row)[LC_THREAD_TID] = 100 + index;
	return row;
}

static uint32_t path(unsigned line)
{
	uint32_t method[LC_METHOD_KEY] = { 0 }, frame[LC_FRAME_KEY] = { 0, 1, line };
	uint32_t key[LC_PATH_KEY] = { 0 };

	frame[LC_FRAME_METHOD] = lc_table_put(&tree.methods, method);
	key[LC_PATH_FRAME] = lc_table_put(&tree.frames, frame);
	return lc_table_put(&tree.paths, key);
}

static uint32_t site(const char *class)
{
	const uint32_t key[LC_SITE_KEY] = { lc_tree_string(&tree, class, strlen(class)), path(9) };

	return lc_table_put(&tree.sites, key);
}

/* Nodes as numbers; -1 is unknown. */
static void place(unsigned engine, uint32_t of, uint32_t s, uint32_t p, int accessing, int owning,
                  uint64_t samples)
{
	const uint32_t key[LC_PLACEMENT_KEY] = { thread(of),
		                                 engine,
		                                 LC_BUCKET_OBJECT,
		                                 s,
		                                 p,
		                                 (uint32_t)(accessing + 1),
		                                 (uint32_t)(owning + 1) };

	*lc_table_values(&tree.placements, lc_table_put(&tree.placements, key)) += samples;
}

/* In all placements, each interrupt counts as `weight` samples. */
static void weigh(uint64_t weight)
{
	for (uint32_t i = 0; i < tree.placements.count; i++) {
		uint64_t *values = lc_table_values(&tree.placements, i);

		values[LC_PLACEMENT_PAIRS] =
		    values[LC_PLACEMENT_SAMPLES] / weight * lc_block_pairs(weight);
	}
}

static void ran(uint32_t of, int node, uint64_t samples, uint64_t migrations)
{
	const uint32_t key[LC_NODE_KEY] = { thread(of), TIMER, (uint32_t)(node + 1) };
	uint64_t *values = lc_table_values(&tree.nodes, lc_table_put(&tree.nodes, key));

	values[LC_NODE_SAMPLES] += samples;
	values[LC_NODE_MIGRATIONS] += migrations;
}

static void allocated(uint32_t of, uint32_t s, int node, uint64_t bytes)
{
	const uint32_t key[LC_HOME_KEY] = { thread(of), s, (uint32_t)(node + 1) };

	lc_table_values(&tree.homes, lc_table_put(&tree.homes, key))[LC_HOME_BYTES] += bytes;
}

static const struct lc_numa_site *analyse(void)
{
	lc_numa_free(&n);
	lc_numa_build(&n, &load, UINT32_MAX);
	return n.sites;
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

static uint64_t cell(const struct lc_numa_group *g, int accessing, int owning)
{
	for (size_t i = 0; i < g->cells_len; i++)
		if (g->cells[i].accessing == (uint32_t)(accessing + 1) &&
		    g->cells[i].owning == (uint32_t)(owning + 1))
			return g->cells[i].samples;
	return 0;
}

/*
 *            to 0   to 1   unknown
 * from 0      30     10      5
 * from 1      40     20      0         known 100, remote 50; distance 10 * 50 + 20 * 50 = 1500
 */
static void a_matrix_and_its_shares(void **state)
{
	uint32_t s = site("long[]"), a = path(1), b = path(2);
	const struct lc_numa_site *found;

	place(TIMER, 0, s, a, 0, 0, 30);
	place(TIMER, 0, s, a, 0, 1, 10);
	place(TIMER, 0, s, a, 0, -1, 5);
	place(TIMER, 1, s, b, 1, 0, 15);
	place(TIMER, 2, s, b, 1, 0, 25);
	place(TIMER, 1, s, b, 1, 1, 20);
	place(FAULT, 1, s, b, 1, 1, 1000); /* another engine's are not added up */
	found = analyse();
	assert_int_equal(n.state, LC_NUMA_ON);
	assert_int_equal(n.engine, TIMER);
	assert_int_equal(n.sites_len, 1);
	assert_int_equal(found->all.cells_len, 5);
	assert_int_equal(cell(&found->all, 0, -1), 5);
	assert_int_equal(cell(&found->all, 1, 0), 40);
	assert_int_equal(found->all.sum.samples, 105);
	assert_int_equal(found->all.sum.known, 100);
	assert_int_equal(found->all.sum.remote, 50);
	assert_true(near(found->all.sum.remote_share, 0.5));
	assert_true(near(found->all.sum.weighted, 1000.0 / 1500));
	assert_true(near(found->all.sum.mean_distance, 15));
	assert_int_equal(found->paths_len, 2);
	assert_int_equal(found->paths[0].path, b);
	assert_int_equal(found->paths[0].sum.samples, 60);
	assert_true(near(found->paths[0].sum.remote_share, 40.0 / 60));
	assert_int_equal(cell(&found->paths[1], 0, 1), 10);
	assert_true(near(found->paths[1].sum.remote_share, 0.25));
	assert_int_equal(found->threads_len, 3);
	assert_int_equal(found->threads[0].samples, 45);
	assert_int_equal(found->threads[0].nodes[1], 45);
	assert_int_equal(found->threads[2].sum.remote, 25);
	assert_int_equal(n.all.sum.samples, 105);
	assert_int_equal(n.balancing, 0);
	assert_int_equal(n.pages_migrated, 7);
}

/* On a slow machine most samples are where the allocating thread zeroes and fills the memory. */
static void remote_accesses_come_before_those_of_the_allocating_line(void **state)
{
	uint32_t s = site("double[]"), allocates = path(20), relaxes = path(34), stops = path(40);
	const struct lc_numa_site *found;

	place(TIMER, 0, s, allocates, 0, 0, 900);
	place(TIMER, 0, s, relaxes, 0, 0, 250);
	place(TIMER, 1, s, relaxes, 1, 0, 250);
	place(TIMER, 1, s, stops, 1, 0, 10);
	found = analyse();
	assert_int_equal(found->paths_len, 3);
	assert_int_equal(found->paths[0].path, relaxes);
	assert_int_equal(found->paths[1].path, stops);
	assert_int_equal(found->paths[2].path, allocates);
	/* The busiest accesses come first if all are local. */
	s = site("byte[]");
	place(TIMER, 0, s, relaxes, 0, 0, 10);
	place(TIMER, 0, s, allocates, 0, 0, 20);
	analyse();
	found = &n.sites[1];
	assert_int_equal(found->all.site, s);
	assert_int_equal(found->paths[0].path, allocates);
}

static void what_if(void **state)
{
	struct lc_numa_whatif w;
	const struct lc_numa_site *found;
	uint32_t s = site("long[]");

	place(TIMER, 0, s, path(1), 0, 0, 25);
	place(TIMER, 1, s, path(1), 1, 0, 75);
	place(TIMER, 1, s, path(1), 1, -1, 1000); /* says nothing of where pages are */
	found = analyse();
	lc_numa_simulate(&n, &found->all, LC_NUMA_INTERLEAVE, 0, &w);
	assert_true(near(w.known, 100));
	assert_true(near(w.matrix[0 * 2 + 0], 12.5));
	assert_true(near(w.matrix[0 * 2 + 1], 12.5));
	assert_true(near(w.matrix[1 * 2 + 0], 37.5));
	assert_true(near(w.remote_share, 0.5));
	assert_true(near(w.remote_share_shared, 0.5));
	assert_true(near(w.weighted, 1000.0 / 1500));
	free(w.matrix);
	lc_numa_simulate(&n, &found->all, LC_NUMA_FIRST_TOUCH_BY_READER, 0, &w);
	assert_true(near(w.matrix[0 * 2 + 0], 25));
	assert_true(near(w.matrix[1 * 2 + 1], 75));
	assert_true(near(w.remote_share, 0));
	assert_true(near(w.mean_distance, 10));
	/* Shared: node 0 owns a quarter of the pages, node 1 three: 1 - (1/16 + 9/16). */
	assert_true(near(w.remote_share_shared, 0.375));
	free(w.matrix);
	lc_numa_simulate(&n, &found->all, LC_NUMA_BIND, 1, &w);
	assert_true(near(w.matrix[0 * 2 + 1], 25));
	assert_true(near(w.remote_share, 0.25));
	assert_true(near(w.mean_distance, 12.5));
	free(w.matrix);
	lc_numa_simulate(&n, &found->all, LC_NUMA_BIND, 0, &w);
	assert_true(near(w.remote_share, found->all.sum.remote_share));
	free(w.matrix);
}

/* Four nodes, sparse numbers; node 7 has no memory and lies nearest to node 2. */
static void nodes_without_memory_own_nothing(void **state)
{
	struct lc_numa_whatif w;
	const struct lc_numa_site *found;
	uint32_t s = site("long[]");

	machine(0, "{\"active\":true,\"nodes\":["
	           "{\"node\":0,\"memory_allowed\":true,\"distances\":[10,21,22,23]},"
	           "{\"node\":2,\"memory_allowed\":true,\"distances\":[21,10,24,15]},"
	           "{\"node\":5,\"memory_allowed\":true,\"distances\":[22,24,10,25]},"
	           "{\"node\":7,\"memory_allowed\":false,\"distances\":[23,15,25,10]}]}");
	place(TIMER, 0, s, path(1), 7, 0, 40);
	place(TIMER, 1, s, path(1), 5, 5, 60);
	found = analyse();
	assert_int_equal(n.nodes_len, 4);
	assert_int_equal(n.nodes[3].number, 7);
	assert_false(n.nodes[3].memory);
	assert_true(near(found->all.sum.mean_distance, (40 * 23 + 60 * 10) / 100.0));
	lc_numa_simulate(&n, &found->all, LC_NUMA_FIRST_TOUCH_BY_READER, 0, &w);
	assert_true(near(w.matrix[3 * 4 + 1], 40));
	assert_true(near(w.remote_share, 0.4));
	assert_true(near(w.mean_distance, (40 * 15 + 60 * 10) / 100.0));
	free(w.matrix);
	lc_numa_simulate(&n, &found->all, LC_NUMA_INTERLEAVE, 0, &w);
	assert_true(near(w.matrix[2 * 4 + 2], 20));
	assert_true(near(w.matrix[3 * 4 + 3], 0));
	assert_true(near(w.remote_share, 0.4 + 0.6 * 2 / 3));
	free(w.matrix);
	lc_numa_simulate(&n, &found->all, LC_NUMA_BIND, 3, &w);
	assert_true(near(w.matrix[2 * 4 + 1], 60));
	free(w.matrix);
}

static enum lc_numa_pattern pattern(void)
{
	return analyse()->diagnosis.pattern;
}

static void initialised_by_one_and_read_by_all(void **state)
{
	uint32_t s = site("double[]");
	const struct lc_numa_diagnosis *d;

	for (uint32_t i = 1; i <= 4; i++)
		place(TIMER, i, s, path(1), i % 2 ? 1 : 0, 0, 250);
	allocated(0, s, 0, 4096);
	d = &analyse()->diagnosis;
	assert_int_equal(d->pattern, LC_NUMA_MASTER);
	assert_int_equal(d->confidence, LC_NUMA_MEDIUM); /* who touched it first was not seen */
	assert_int_equal(d->owner, 0 + 1);
	assert_true(near(d->owner_share, 1));
	assert_int_equal(d->users, 4);
	assert_false(d->by_touch);
	assert_int_equal(lc_table_key(&tree.threads, d->placer)[LC_THREAD_INDEX], 0);
	place(FAULT, 0, s, path(2), 0, 0, 50);
	d = &analyse()->diagnosis;
	assert_int_equal(d->pattern, LC_NUMA_MASTER);
	assert_int_equal(d->confidence, LC_NUMA_HIGH);
	assert_true(d->by_touch);
	assert_int_equal(n.sites[0].touched.total, 50);
	assert_int_equal(n.sites[0].touched.nodes[1], 50);
	assert_int_equal(n.sites[0].allocated.total, 4096);
	machine(0, TWO_NODES("true")); /* which makes faults of its own */
	d = &analyse()->diagnosis;
	assert_int_equal(n.balancing, 1);
	assert_int_equal(d->pattern, LC_NUMA_MASTER);
	assert_int_equal(d->confidence, LC_NUMA_MEDIUM);
	assert_false(d->by_touch);
}

/* On a large machine no node has much of the accesses, and no thread. */
static void read_by_many_nodes_and_threads(void **state)
{
	uint32_t s = site("double[]");
	char text[16384];
	size_t len = 0;

	len += (size_t)snprintf(text, sizeof(text),
	                        "{\"active\":true,\"balancing\":false,"
	                        "\"pages_migrated\":0,\"error\":null,\"nodes\":[");
	for (int i = 0; i < 16; i++) {
		len += (size_t)snprintf(text + len, sizeof(text) - len,
		                        "%s{\"node\":%d,\"memory_bytes\":1024,\"cpus\":\"%d\","
		                        "\"memory_allowed\":true,\"distances\":[",
		                        i ? "," : "", i, i);
		for (int j = 0; j < 16; j++)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%d",
			                        j ? "," : "", i == j ? 10 : 20);
		len += (size_t)snprintf(text + len, sizeof(text) - len, "]}");
	}
	snprintf(text + len, sizeof(text) - len, "]}");
	machine(0, text);
	for (uint32_t i = 1; i <= 160; i++)
		place(TIMER, i, s, path(1), (int)(i % 16), 0, 10);
	allocated(0, s, 0, 4096);
	assert_int_equal(pattern(), LC_NUMA_MASTER);
	assert_int_equal(n.sites[0].diagnosis.users, 160);
}

static void used_from_one_node_or_from_more(void **state)
{
	uint32_t s = site("byte[]");

	place(TIMER, 0, s, path(1), 1, 0, 50);
	place(TIMER, 0, s, path(1), 1, 1, 50);
	assert_int_equal(pattern(), LC_NUMA_SPREAD);
	assert_true(n.sites[0].diagnosis.used_from_one);
	place(TIMER, 0, s, path(1), 0, 1, 50);
	assert_int_equal(pattern(), LC_NUMA_SPREAD);
	assert_false(n.sites[0].diagnosis.used_from_one);
}

/* Two processes, each with its own master: one run seen twice. */
static void merged_runs_look_like_one(void **state)
{
	uint32_t s = site("double[]");
	const struct lc_numa_diagnosis *d;

	machine(1, TWO_NODES("false"));
	for (uint32_t process = 0; process < 2; process++) {
		process_now = process;
		for (uint32_t i = 1; i <= 4; i++)
			place(TIMER, i, s, path(1), i % 2 ? 1 : 0, 0, 250);
		place(FAULT, 0, s, path(2), 0, 0, 50);
	}
	d = &analyse()->diagnosis;
	assert_int_equal(d->pattern, LC_NUMA_MASTER);
	assert_int_equal(d->users, 4);
	assert_true(near(d->thread_share, 0.25));
	assert_int_equal(n.sites[0].touched.threads, 2);
	assert_int_equal(n.sites[0].touched.thread_part, 100);
}

static void on_one_node_but_placed_by_many(void **state)
{
	uint32_t s = site("double[]");

	for (uint32_t i = 0; i < 4; i++) {
		place(TIMER, i, s, path(1), i % 2 ? 1 : 0, 0, 250);
		allocated(i, s, 0, 4096);
	}
	assert_int_equal(pattern(), LC_NUMA_ONE);
	assert_int_equal(n.sites[0].diagnosis.confidence, LC_NUMA_MEDIUM);
}

static void placed_on_one_node_and_used_from_another(void **state)
{
	uint32_t s = site("byte[]");

	place(TIMER, 1, s, path(1), 1, 0, 300);
	place(TIMER, 2, s, path(1), 1, 0, 300);
	allocated(0, s, 0, 4096);
	assert_int_equal(pattern(), LC_NUMA_ELSEWHERE);
	assert_int_equal(n.sites[0].diagnosis.confidence, LC_NUMA_HIGH);
	assert_int_equal(n.sites[0].diagnosis.user, 1 + 1);
	place(TIMER, 3, s, path(1), 0, 0, 200); /* a quarter from home: no longer "only" */
	assert_int_equal(pattern(), LC_NUMA_MASTER);
}

static void a_thread_that_moved_away(void **state)
{
	uint32_t s = site("byte[]");

	place(TIMER, 0, s, path(1), 0, 0, 100);
	place(TIMER, 0, s, path(1), 1, 0, 500);
	place(FAULT, 0, s, path(1), 0, 0, 9);
	ran(0, 0, 200, 0);
	ran(0, 1, 600, 0);
	assert_int_equal(pattern(), LC_NUMA_ELSEWHERE); /* it was not seen to move */
	ran(0, 1, 1, 1);
	assert_int_equal(pattern(), LC_NUMA_MIGRATED);
	assert_int_equal(n.sites[0].diagnosis.confidence, LC_NUMA_HIGH);
	assert_int_equal(n.threads_len, 1);
	assert_int_equal(n.threads[0].migrations, 1);
	assert_int_equal(n.threads[0].samples, 801);
	assert_int_equal(n.threads[0].nodes[2], 601);
	place(FAULT, 1, s, path(1), 0, 0, 9); /* another placed half of it */
	assert_int_equal(pattern(), LC_NUMA_ELSEWHERE);
}

static void fine_spread_and_too_little(void **state)
{
	uint32_t s = site("byte[]");

	place(TIMER, 0, s, path(1), 0, 0, 14);
	place(TIMER, 1, s, path(1), 1, 1, 15);
	assert_int_equal(pattern(), LC_NUMA_FEW);
	assert_int_equal(n.sites[0].diagnosis.confidence, LC_NUMA_LOW);
	place(TIMER, 1, s, path(1), 1, 1, 81);
	place(TIMER, 1, s, path(1), 1, 0, 10); /* 10 of 120 */
	assert_int_equal(pattern(), LC_NUMA_FINE);
	assert_int_equal(n.sites[0].diagnosis.confidence, LC_NUMA_MEDIUM);
	place(TIMER, 0, s, path(1), 0, -1, 121); /* more unknown than known */
	assert_int_equal(pattern(), LC_NUMA_FINE);
	assert_int_equal(n.sites[0].diagnosis.confidence, LC_NUMA_LOW);
	place(TIMER, 1, s, path(1), 1, 0, 180);
	place(TIMER, 0, s, path(1), 0, 1, 180);
	assert_int_equal(pattern(), LC_NUMA_SPREAD);
	assert_int_equal(n.sites[0].diagnosis.confidence, LC_NUMA_MEDIUM);
	assert_false(n.sites[0].diagnosis.one_thread);
	place(TIMER, 1, s, path(1), 0, 1, 3000); /* it runs on both */
	place(TIMER, 1, s, path(1), 1, 0, 3000);
	place(TIMER, 1, s, path(1), 0, 0, 3000);
	place(TIMER, 1, s, path(1), 1, 1, 3000);
	assert_int_equal(pattern(), LC_NUMA_SPREAD);
	assert_true(n.sites[0].diagnosis.one_thread);
}

static void samples_of_one_signal_are_one_observation(void **state)
{
	uint32_t s = site("byte[]");

	place(TIMER, 0, s, path(1), 0, 0, 400);
	assert_int_equal(pattern(), LC_NUMA_FINE);
	assert_true(near(n.folded, 1));
	assert_int_equal(n.sites[0].diagnosis.confidence, LC_NUMA_HIGH);
	processes[0].counters =
	    json_loads("{\"engine_timer_samples\":1000,\"engine_timer_overruns\":1000}", 0, NULL);
	weigh(2);
	assert_int_equal(pattern(), LC_NUMA_FINE);
	assert_true(near(n.folded, 2));
	assert_int_equal(n.sites[0].diagnosis.confidence, LC_NUMA_MEDIUM);
	weigh(20);
	assert_int_equal(pattern(), LC_NUMA_FEW);
	json_decref(processes[0].counters);
	processes[0].counters = NULL;
}

static void sites_come_by_their_remote_samples(void **state)
{
	uint32_t a = site("A[]"), b = site("B[]");

	place(TIMER, 0, a, path(1), 0, 0, 900);
	place(TIMER, 0, a, path(1), 1, 0, 10);
	place(TIMER, 0, b, path(1), 1, 0, 20);
	analyse();
	assert_int_equal(n.sites_len, 2);
	assert_int_equal(n.sites[0].all.site, b);
	assert_int_equal(n.sites[1].all.site, a);
}

static void machines_that_tell_of_nothing(void **state)
{
	machine(0, "{\"active\":false,\"error\":null,\"nodes\":[{\"node\":0,\"distances\":[10]}]}");
	analyse();
	assert_int_equal(n.state, LC_NUMA_ONE_NODE);
	assert_int_equal(n.sites_len, 0);
	machine(0, "{\"active\":false,\"error\":\"cpuset\",\"nodes\":[{\"node\":0},{\"node\":1}]}");
	analyse();
	assert_int_equal(n.state, LC_NUMA_OFF);
	assert_string_equal(n.error, "cpuset");
	json_decref(processes[0].numa);
	processes[0].numa = NULL;
	analyse();
	assert_int_equal(n.state, LC_NUMA_NO_DATA);
}

static void manifests_that_are_missing_or_disagree(void **state)
{
	uint32_t s = site("A[]");

	place(TIMER, 0, s, path(1), 1, 0, 50);
	place(TIMER, 0, s, path(1), 3, 0, 50); /* a node that no manifest knows */
	analyse();
	assert_int_equal(n.nodes_len, 3);
	assert_int_equal(n.nodes[2].number, 3);
	assert_int_equal(lc_numa_distance(&n, 1, 0), 20);
	assert_int_equal(lc_numa_distance(&n, 2, 0), 0);
	assert_int_equal(n.sites[0].all.sum.remote, 100);
	assert_true(n.sites[0].all.sum.weighted < 0);
	assert_true(n.sites[0].paths[0].sum.mean_distance < 0);
	assert_false(n.mixed);
	machine(
	    1,
	    "{\"active\":true,\"balancing\":true,\"nodes\":[{\"node\":0,\"distances\":[10,32,9]},"
	    "{\"node\":1,\"distances\":[20]},{\"node\":99999}]}");
	analyse();
	assert_true(n.mixed);
	assert_int_equal(lc_numa_distance(&n, 0, 1), 0);
	assert_int_equal(lc_numa_distance(&n, 1, 0), 20);
	assert_int_equal(n.balancing, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_matrix_and_its_shares),
		TEST(remote_accesses_come_before_those_of_the_allocating_line),
		TEST(what_if),
		TEST(nodes_without_memory_own_nothing),
		TEST(initialised_by_one_and_read_by_all),
		TEST(read_by_many_nodes_and_threads),
		TEST(merged_runs_look_like_one),
		TEST(on_one_node_but_placed_by_many),
		TEST(placed_on_one_node_and_used_from_another),
		TEST(a_thread_that_moved_away),
		TEST(fine_spread_and_too_little),
		TEST(used_from_one_node_or_from_more),
		TEST(samples_of_one_signal_are_one_observation),
		TEST(sites_come_by_their_remote_samples),
		TEST(machines_that_tell_of_nothing),
		TEST(manifests_that_are_missing_or_disagree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
