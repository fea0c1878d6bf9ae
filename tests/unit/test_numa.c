/* uses: src/numa/numa.c src/base/say.c src/numa/topology.c src/numa/pages.c src/profile/tally.c tests/unit/event_root.c src/format/section.c -lnuma */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_numa.c - checks what samples and allocations become on machines that are laid out in a
 * directory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/thread.h"
#include "src/numa/numa.h"
#include "src/profile/tally.h"
#include "tests/unit/event_root.h"

static const char *root;
static struct lc_thread thread;
static struct lc_block_input in;
static int owner, refusal;
static size_t calls;

static int ask(size_t n, void **pages, int *status)
{
	calls++;
	errno = refusal;
	for (size_t i = 0; i < n && !refusal; i++)
		status[i] = owner;
	return refusal ? -1 : 0;
}

#define NODES "/sys/devices/system/node/"

/* Nodes 0 (CPUs 0 and 1) and 5 (CPUs 2 and 3). */
static void put_two_nodes(void)
{
	root_write(NODES "online", "0,5\n");
	root_put_node(0, "0-1", 1024, "10 21");
	root_put_node(5, "2-3", 2048, "21 10");
	root_write("/proc/sys/kernel/numa_balancing", "1\n");
	root_write("/proc/vmstat", "a 1\nnuma_pages_migrated 100\n");
}

static int setup(void **state)
{
	root = root_make();
	owner = refusal = 0;
	calls = 0;
	memset(&in, 0, sizeof(in));
	memset(&thread, 0, sizeof(thread));
	put_two_nodes();
	return lc_numa_init(root, ask) == 1 ? 0 : -1;
}

static int teardown(void **state)
{
	lc_numa_end();
	lc_tally_destroy(thread.tally);
	lc_numa_thread_free(&thread);
	root_remove();
	return 0;
}

static void sample(uint32_t cpu, uint64_t addr, uint64_t samples)
{
	lc_numa_sample(&(struct lc_numa_access){ .thread = &thread,
	                                         .at = { .engine = 1,
	                                                 .bucket = LC_BUCKET_OBJECT,
	                                                 .site = 7,
	                                                 .path = 8,
	                                                 .samples = samples,
	                                                 .pairs = lc_block_pairs(samples) },
	                                         .addr = addr,
	                                         .cpu = cpu,
	                                         .source = LC_SOURCE_REMOTE_DRAM });
}

static void a_sample_has_both_nodes(void **state)
{
	owner = 5;
	sample(1, 0x7000, 2);
	assert_int_equal(calls, 0); /* off the path of whoever tells */
	lc_numa_resolve(1, 1);
	assert_true(lc_tally_block(thread.tally, &in));
	assert_int_equal(in.placements_len, 1);
	assert_int_equal(in.placements[0].engine, 1);
	assert_int_equal(in.placements[0].site, 7);
	assert_int_equal(in.placements[0].path, 8);
	assert_int_equal(in.placements[0].accessing, 0 + 1);
	assert_int_equal(in.placements[0].owning, 5 + 1);
	assert_int_equal(in.placements[0].source, LC_SOURCE_REMOTE_DRAM);
	assert_int_equal(in.placements[0].samples, 2);
}

static void what_is_not_known_is_unknown_and_what_has_no_address_is_left_out(void **state)
{
	owner = -ENOENT;
	sample(99, 0x7000, 3); /* no such CPU, no such page */
	sample(0, 0, 1);
	sample(0, UINT64_C(0xffffffff81000000), 1); /* the kernel's */
	lc_numa_resolve(1, 1);
	assert_true(lc_tally_block(thread.tally, &in));
	assert_int_equal(in.placements_len, 1);
	assert_int_equal(in.placements[0].accessing, 0);
	assert_int_equal(in.placements[0].owning, 0);
	assert_int_equal(in.placements[0].samples, 3);
	assert_int_equal(lc_numa_manifest()->pages_asked, 1);
	assert_int_equal(lc_numa_manifest()->pages_unknown, 1);
}

static void owners_are_asked_for_again_per_epoch_and_second(void **state)
{
	static const struct {
		uint32_t epoch;
		uint64_t now_ns;
		size_t calls;
	} steps[] = { { 1, 5, 1 }, { 1, 6, 1 }, { 2, 7, 2 }, { 2, 8, 2 }, { 2, 1000000007, 3 } };

	for (size_t i = 0; i < 5; i++) {
		owner = i < 4 ? 0 : 5;
		lc_numa_resolve(steps[i].epoch, steps[i].now_ns);
		sample(0, 0x7000, 1);
		lc_numa_resolve(steps[i].epoch, steps[i].now_ns);
		assert_int_equal(calls, steps[i].calls);
	}
	assert_int_equal(lc_numa_manifest()->owner_changes, 1);
}

static void a_full_queue_loses_nothing(void **state)
{
	for (unsigned i = 0; i < 20000; i++)
		sample(i % 4, 0x10000 + 4096 * (i % 100), 1);
	lc_numa_resolve(1, 1);
	assert_true(lc_tally_block(thread.tally, &in));
	assert_int_equal(in.placements_len, 2);
	assert_int_equal(in.placements[0].samples, 10000);
	assert_int_equal(in.placements[1].samples, 10000);
}

static void threads_are_seen_to_move(void **state)
{
	static const uint32_t cpus[] = { 0, 1, 2, 77, 2, 0 };

	for (size_t i = 0; i < 6; i++)
		lc_numa_ran(&thread, 0, cpus[i], 2);
	lc_numa_ran(&thread, 1, 3, 1); /* another engine's first one tells of no move */
	assert_true(lc_tally_block(thread.tally, &in));
	assert_int_equal(in.nodes_len, 4);
	assert_int_equal(in.nodes[0].node, 0);
	assert_int_equal(in.nodes[0].samples, 2);
	assert_int_equal(in.nodes[0].migrations, 0);
	assert_int_equal(in.nodes[1].node, 0 + 1);
	assert_int_equal(in.nodes[1].samples, 6);
	assert_int_equal(in.nodes[1].migrations, 1);
	assert_int_equal(in.nodes[2].node, 5 + 1);
	assert_int_equal(in.nodes[2].samples, 4);
	assert_int_equal(in.nodes[2].migrations, 1);
	assert_int_equal(in.nodes[3].engine, 1);
	assert_int_equal(in.nodes[3].migrations, 0);
}

static void allocations_are_of_the_one_node_that_was_seen(void **state)
{
	assert_false(lc_numa_window_seen(&thread));
	lc_numa_allocated(&thread, 1, 10, 100); /* seen nowhere */
	lc_numa_ran(&thread, 0, 3, 1);
	lc_numa_ran(&thread, 0, 2, 1);
	assert_true(lc_numa_window_seen(&thread));
	lc_numa_allocated(&thread, 2, 20, 200);
	lc_numa_window_ends(&thread);
	assert_false(lc_numa_window_seen(&thread));
	lc_numa_allocated(&thread, 3, 30, 300); /* not seen since */
	lc_numa_ran(&thread, 0, 0, 1);
	lc_numa_allocated(&thread, 4, 40, 400); /* on another node before */
	lc_numa_window_ends(&thread);
	lc_numa_ran(&thread, 0, 1, 1);
	lc_numa_allocated(&thread, 5, 50, 500);
	lc_numa_window_ends(&thread);
	lc_numa_ran(&thread, 0, 99, 1);
	lc_numa_ran(&thread, 0, 1, 1);
	lc_numa_allocated(&thread, 6, 60, 600); /* one of an unknown node */
	assert_true(lc_tally_block(thread.tally, &in));
	assert_int_equal(in.homes_len, 6);
	for (uint32_t i = 0; i < 6; i++) {
		static const uint16_t nodes[] = { 0, 5 + 1, 0, 0, 0 + 1, 0 };

		assert_int_equal(in.homes[i].site, i + 1);
		assert_int_equal(in.homes[i].node, nodes[i]);
		assert_int_equal(in.homes[i].objects, 10 * (i + 1));
		assert_int_equal(in.homes[i].bytes, 100 * (i + 1));
	}
}

static void a_refusal_leaves_the_threads_nodes_and_says_why(void **state)
{
	refusal = EPERM;
	sample(2, 0x7000, 1);
	lc_numa_resolve(1, 1);
	sample(2, 0x9000, 1);
	lc_numa_resolve(2, 2);
	assert_int_equal(calls, 1);
	assert_true(lc_tally_block(thread.tally, &in));
	assert_int_equal(in.placements[0].accessing, 5 + 1);
	assert_int_equal(in.placements[0].owning, 0);
	assert_true(lc_numa_manifest()->active);
	assert_non_null(strstr(lc_numa_manifest()->error, "move_pages"));
}

static void the_manifest_tells_of_the_machine(void **state)
{
	const struct lc_manifest_numa *m = lc_numa_manifest();

	assert_true(m->active);
	assert_null(m->error);
	assert_int_equal(m->balancing, 1);
	assert_int_equal(m->nodes_len, 2);
	assert_int_equal(m->nodes[1].number, 5);
	assert_string_equal(m->nodes[1].cpus, "2-3");
	assert_int_equal(m->nodes[1].memory_bytes, 2 << 20);
	assert_int_equal(m->nodes[1].distances[0], 21);
	assert_int_equal(m->nodes[1].distances[1], 10);
	assert_int_equal(m->pages_migrated, 0);
	root_write("/proc/vmstat", "a 1\nnuma_pages_migrated 142\n");
	assert_int_equal(lc_numa_manifest()->pages_migrated, 42);
}

static void nothing_is_done(void)
{
	lc_numa_ran(&thread, 0, 0, 1);
	sample(0, 0x7000, 1);
	lc_numa_allocated(&thread, 1, 1, 1);
	assert_false(lc_numa_window_seen(&thread));
	lc_numa_window_ends(&thread);
	lc_numa_resolve(1, 1);
	assert_null(thread.tally);
	assert_null(thread.numa);
	assert_int_equal(calls, 0);
	assert_int_equal(lc_numa_node_of_cpu(0), -1);
	assert_false(lc_numa_manifest()->active);
}

static void one_node_is_left_alone(void **state)
{
	root_write(NODES "online", "0\n");
	root_write(NODES "node0/distance", "10\n");
	assert_int_equal(lc_numa_init(root, ask), 0);
	nothing_is_done();
	assert_int_equal(lc_numa_manifest()->nodes_len, 1);
	assert_null(lc_numa_manifest()->error);
}

static void a_cpuset_of_one_node_is_left_alone_and_named(void **state)
{
	root_write("/proc/self/status", "Cpus_allowed_list:\t2\nMems_allowed_list:\t5\n");
	assert_int_equal(lc_numa_init(root, ask), 0);
	nothing_is_done();
	assert_int_equal(lc_numa_manifest()->nodes_len, 2);
	assert_non_null(strstr(lc_numa_manifest()->error, "only one"));
}

static void a_kernel_without_numa_is_left_alone_and_named(void **state)
{
	assert_int_equal(lc_numa_init("/nowhere", ask), 0);
	nothing_is_done();
	assert_int_equal(lc_numa_manifest()->nodes_len, 0);
	assert_int_equal(lc_numa_manifest()->balancing, -1);
	assert_non_null(strstr(lc_numa_manifest()->error, "no NUMA nodes"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_sample_has_both_nodes),
		TEST(what_is_not_known_is_unknown_and_what_has_no_address_is_left_out),
		TEST(owners_are_asked_for_again_per_epoch_and_second),
		TEST(a_full_queue_loses_nothing),
		TEST(threads_are_seen_to_move),
		TEST(allocations_are_of_the_one_node_that_was_seen),
		TEST(a_refusal_leaves_the_threads_nodes_and_says_why),
		TEST(the_manifest_tells_of_the_machine),
		TEST(one_node_is_left_alone),
		TEST(a_cpuset_of_one_node_is_left_alone_and_named),
		TEST(a_kernel_without_numa_is_left_alone_and_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
