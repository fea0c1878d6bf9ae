/* uses: src/numa/topology.c tests/unit/event_root.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_topology.c - checks how the nodes of machines that are laid out in a directory are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/numa/topology.h"
#include "tests/unit/event_root.h"

static const char *root;
static struct lc_topology topology;

static int setup(void **state)
{
	root = root_make();
	return 0;
}

static int teardown(void **state)
{
	root_remove();
	return 0;
}

__attribute__((format(printf, 2, 3))) static void put(const char *name, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	assert_true(vasprintf(&text, format, args) >= 0);
	va_end(args);
	root_write(name, text);
	free(text);
}

static void put_online(const char *list)
{
	put("/sys/devices/system/node/online", "%s\n", list);
}

static void put_limits(const char *cpus, const char *nodes)
{
	put("/proc/self/status",
	    "Name:\tjava\nCpus_allowed:\tff\nCpus_allowed_list:\t%s\nMems_allowed:\t1\n"
	    "Mems_allowed_list:\t%s\nvoluntary_ctxt_switches:\t1\n",
	    cpus, nodes);
}

static void one_node(void **state)
{
	put_online("0");
	root_put_node(0, "0-3", 1024, "10");
	put_limits("0-3", "0");
	assert_int_equal(lc_topology_read(root, &topology), 0);
	assert_int_equal(topology.nodes_len, 1);
	assert_int_equal(topology.usable, 1);
	assert_int_equal(topology.nodes[0].cpus, 4);
	assert_int_equal(topology.nodes[0].memory_bytes, 1 << 20);
	assert_int_equal(topology.distance[0][0], 10);
	assert_int_equal(topology.balancing, -1);
	assert_string_equal(topology.error, "");
}

static void two_nodes_with_interleaved_cpus(void **state)
{
	char list[64];

	put_online("0-1");
	root_put_node(0, "0,2,4-5,8", 4096, "10 21");
	root_put_node(1, "1,3,6-7", 4096, "31 10");
	put("/proc/sys/kernel/numa_balancing", "1\n");
	put("/proc/vmstat", "nr_free_pages 7\nnuma_pages_migrated 4711\nnuma_other 3\n");
	assert_int_equal(lc_topology_read(root, &topology), 0);
	assert_int_equal(topology.nodes_len, 2);
	assert_int_equal(topology.usable, 2);
	assert_int_equal(lc_topology_node_of(&topology, 0), 0);
	assert_int_equal(lc_topology_node_of(&topology, 3), 1);
	assert_int_equal(lc_topology_node_of(&topology, 5), 0);
	assert_int_equal(lc_topology_node_of(&topology, 9), -1);
	assert_int_equal(lc_topology_node_of(&topology, UINT32_MAX), -1);
	assert_int_equal(topology.distance[0][1], 21);
	assert_int_equal(topology.distance[1][0], 31);
	assert_int_equal(topology.balancing, 1);
	assert_int_equal(lc_topology_pages_migrated(root), 4711);
	lc_topology_cpu_list(&topology, 0, list, sizeof(list));
	assert_string_equal(list, "0,2,4-5,8");
	lc_topology_cpu_list(&topology, 0, list, 4);
	assert_string_equal(list, "0,2");
	lc_topology_cpu_list(&topology, 5, list, sizeof(list));
	assert_string_equal(list, "");
}

static void eight_nodes_in_a_ladder(void **state)
{
	put_online("0-7");
	for (unsigned n = 0; n < 8; n++) {
		char cpus[32], distances[64] = "";

		snprintf(cpus, sizeof(cpus), "%u-%u", 128 * n, 128 * n + 127);
		for (unsigned m = 0; m < 8; m++)
			sprintf(distances + strlen(distances), "%u ", m == n ? 10 : 16 + (n ^ m));
		root_put_node(n, cpus, 1000, distances);
	}
	put("/proc/sys/kernel/numa_balancing", "0\n");
	assert_int_equal(lc_topology_read(root, &topology), 0);
	assert_int_equal(topology.nodes_len, 8);
	assert_int_equal(lc_topology_node_of(&topology, 1023), 7);
	assert_int_equal(lc_topology_node_of(&topology, 1024), -1);
	assert_int_equal(topology.distance[2][5], 16 + 7);
	assert_int_equal(topology.balancing, 0);
	assert_string_equal(topology.error, "");
}

static void sixty_four_nodes_with_gaps_in_their_numbers(void **state)
{
	char online[512] = "", distances[256] = "";

	for (unsigned n = 0; n < 64; n++) {
		sprintf(online + strlen(online), "%s%u", n ? "," : "", 3 * n);
		strcat(distances, n ? " 20" : "10");
	}
	put_online(online);
	for (unsigned n = 0; n < 64; n++) {
		char cpus[32];

		snprintf(cpus, sizeof(cpus), "%u-%u", 16 * n, 16 * n + 15);
		root_put_node(3 * n, cpus, 1000, distances);
	}
	assert_int_equal(lc_topology_read(root, &topology), 0);
	assert_int_equal(topology.nodes_len, 64);
	assert_int_equal(topology.usable, 64);
	assert_int_equal(topology.nodes[63].number, 189);
	assert_int_equal(topology.rows[189], 63);
	assert_int_equal(topology.rows[188], -1);
	assert_int_equal(lc_topology_node_of(&topology, 1023), 189);
}

static void a_node_that_is_offline_does_not_count(void **state)
{
	put_online("0,2");
	root_put_node(0, "0", 1000, "10 20");
	root_put_node(1, "1", 1000, "20 10 20"); /* its directory may stay for a while */
	root_put_node(2, "2", 1000, "20 10");
	assert_int_equal(lc_topology_read(root, &topology), 0);
	assert_int_equal(topology.nodes_len, 2);
	assert_int_equal(lc_topology_node_of(&topology, 1), -1);
	assert_int_equal(topology.nodes[topology.rows[2]].cpus, 1);
	assert_string_equal(topology.error, "");
}

static void nodes_without_memory_or_cpus_are_nodes(void **state)
{
	put_online("0-2");
	root_put_node(0, "0-1", 1000, "10 20 17");
	root_put_node(1, "2-3", 0, "20 10 28"); /* no memory */
	root_put_node(2, "", 9000, "17 28 10"); /* no CPUs */
	put_limits("0-1", "0-2");
	assert_int_equal(lc_topology_read(root, &topology), 0);
	assert_int_equal(topology.nodes[1].memory_bytes, 0);
	assert_false(topology.nodes[1].memory_allowed);
	assert_false(topology.nodes[1].cpus_allowed);
	assert_int_equal(lc_topology_node_of(&topology, 3), 1);
	assert_int_equal(topology.nodes[2].cpus, 0);
	assert_true(topology.nodes[2].memory_allowed);
	assert_int_equal(topology.usable, 2);
	assert_string_equal(topology.error, "");
}

static void a_cpuset_with_one_node_leaves_one(void **state)
{
	put_online("0-1");
	root_put_node(0, "0-3", 1000, "10 20");
	root_put_node(1, "4-7", 1000, "20 10");
	put_limits("4-5", "1");
	assert_int_equal(lc_topology_read(root, &topology), 0);
	assert_int_equal(topology.nodes_len, 2);
	assert_int_equal(topology.usable, 1);
	assert_false(topology.nodes[0].memory_allowed);
	assert_true(topology.nodes[1].memory_allowed);
	put_limits("0-7", "1"); /* memory of one node, CPUs of both: there is a far side */
	assert_int_equal(lc_topology_read(root, &topology), 0);
	assert_int_equal(topology.usable, 2);
}

static void broken_files_cost_what_they_tell(void **state)
{
	put_online("0-1");
	root_put_node(0, "0-3", 1000, "10 20");
	root_put_node(1, "4-x", 1000, "20");
	put("/sys/devices/system/node/node1/meminfo", "nothing\n");
	put_limits("0-", "what");
	assert_int_equal(lc_topology_read(root, &topology), 0);
	assert_int_equal(topology.nodes_len, 2);
	assert_int_equal(topology.nodes[1].cpus, 0);
	assert_int_equal(lc_topology_node_of(&topology, 4), -1);
	assert_int_equal(topology.nodes[1].memory_bytes, 0);
	assert_int_equal(topology.distance[1][0], 0);
	assert_int_equal(topology.distance[0][1], 20);
	assert_string_equal(topology.error, "the CPUs of node 1 are unknown");
	root_put_node(1, "4-5", 1000, "20 10 20");
	lc_topology_read(root, &topology);
	assert_string_equal(topology.error, "the distances of node 1 are unknown");
	root_put_node(1, "4-5", 1000, "20 9");
	lc_topology_read(root, &topology);
	assert_int_equal(topology.distance[1][1], 0);
}

static void a_list_that_makes_no_sense_is_an_error(void **state)
{
	static const char *const bad[] = { "x",     "0-",   "1-0",          "0,,1",
		                           "0-1 2", "1024", "0-99999999999" };

	assert_int_equal(lc_topology_read(root, &topology), -ENOENT);
	assert_non_null(strstr(topology.error, "shows no NUMA nodes"));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put_online(bad[i]);
		assert_int_equal(lc_topology_read(root, &topology), -EINVAL);
		assert_int_equal(topology.nodes_len, 0);
		assert_true(topology.error[0]);
	}
	put_online("");
	assert_int_equal(lc_topology_read(root, &topology), -EINVAL);
	put_online("0-128");
	assert_int_equal(lc_topology_read(root, &topology), -E2BIG);
	assert_int_equal(topology.nodes_len, 0);
}

static void this_machine_is_understood(void **state)
{
	if (access("/sys/devices/system/node/online", R_OK))
		skip();
	assert_int_equal(lc_topology_read("", &topology), 0);
	assert_true(topology.nodes_len >= 1);
	assert_string_equal(topology.error, "");
	assert_true(topology.nodes[0].cpus + topology.nodes[0].memory_bytes > 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_node),
		TEST(two_nodes_with_interleaved_cpus),
		TEST(eight_nodes_in_a_ladder),
		TEST(sixty_four_nodes_with_gaps_in_their_numbers),
		TEST(a_node_that_is_offline_does_not_count),
		TEST(nodes_without_memory_or_cpus_are_nodes),
		TEST(a_cpuset_with_one_node_leaves_one),
		TEST(broken_files_cost_what_they_tell),
		TEST(a_list_that_makes_no_sense_is_an_error),
		TEST(this_machine_is_understood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
