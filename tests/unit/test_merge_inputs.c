/* uses: analyzer/merge/ analyzer/model/ analyzer/base/ src/format/ src/base/options.c src/base/nearest.c src/base/redact.c -lzstd -ljansson -lm */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_merge_inputs.c - checks which profiles a merge uses where they have processes in common, and
 * what stands for all of those that it uses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/base/memory.h"
#include "analyzer/merge/inputs.h"

enum { PROFILES = 3, PROCESSES = 2 };

static char dir[] = "/tmp/test_merge_inputs.XXXXXX";
static struct lc_merge_inputs in;
static char *paths[PROFILES];

/* A manifest; a process whose pid is 0 is none. */
struct profile {
	struct {
		int pid;
		const char *host;
		bool complete;
		unsigned end_s;
	} processes[PROCESSES];
	unsigned interval_us, tick_us;
	double pruned;
	unsigned missing;
};

static void write_manifest(const char *path, const struct profile *p)
{
	char *file = lc_mem_text("%s/manifest.json", path);
	FILE *out = fopen(file, "w");

	assert_non_null(out);
	fprintf(out,
	        "{\"format\":1,\"blocks\":0,\"pruned\":%f,\"missing\":{\"inputs\":%u,\"blocks\":2},"
	        "\"engines\":[{\"name\":\"timer\",\"interval_ns\":%u,\"tick_ns\":%u}],"
	        "\"processes\":[",
	        p->pruned, p->missing, 1000 * p->interval_us, 1000 * p->tick_us);
	for (unsigned i = 0; i < PROCESSES && p->processes[i].pid; i++)
		fprintf(out,
		        "%s{\"pid\":%d,\"host\":\"%s\",\"complete\":%s,\"start_wall_ns\":1000,"
		        "\"start_monotonic_ns\":500,\"end_wall_ns\":%u000000000}",
		        i ? "," : "", p->processes[i].pid, p->processes[i].host,
		        p->processes[i].complete ? "true" : "false", p->processes[i].end_s);
	fputs("]}\n", out);
	fclose(out);
	free(file);
}

static void plan(const struct profile *profiles, size_t len)
{
	const struct lc_merge_asked asked = { 0 };

	for (size_t i = 0; i < len; i++)
		write_manifest(paths[i], &profiles[i]);
	lc_merge_inputs_free(&in);
	lc_merge_inputs_init(&in, &asked, paths, len);
	for (size_t i = 0; i < len; i++)
		lc_merge_inputs_scan(&in, i);
	lc_merge_inputs_plan(&in);
}

static int set_up(void **state)
{
	if (!mkdtemp(dir))
		return 1;
	for (unsigned i = 0; i < PROFILES; i++) {
		paths[i] = lc_mem_text("%s/%u", dir, i);
		if (mkdir(paths[i], 0700))
			return 1;
	}
	return 0;
}

static int tear_down(void **state)
{
	lc_merge_inputs_free(&in);
	for (unsigned i = 0; i < PROFILES; i++) {
		char *file = lc_mem_text("%s/manifest.json", paths[i]);

		unlink(file);
		free(file);
		rmdir(paths[i]);
		free(paths[i]);
	}
	return rmdir(dir);
}

static void a_process_counts_once_by_what_was_written_last(void **state)
{
	const struct profile early = { .processes = { { 5, "h1", true, 10 } }, .interval_us = 1 };
	const struct profile late = { .processes = { { 5, "h1", true, 20 } }, .interval_us = 1 };
	const struct profile cut = { .processes = { { 5, "h1", false, 30 } }, .interval_us = 1 };

	plan((struct profile[]){ early, late, cut }, 3);
	assert_int_equal(in.inputs[0].state, LC_MERGE_DUPLICATE);
	assert_int_equal(in.inputs[1].state, LC_MERGE_USED);
	assert_int_equal(in.inputs[2].state, LC_MERGE_DUPLICATE);
	assert_int_equal(in.processes_len, 1);
	assert_int_equal(in.missing.inputs, 0);
}

static void processes_of_two_known_hosts_are_two(void **state)
{
	const struct profile first = { .processes = { { 5, "h1", true, 10 } }, .interval_us = 1 };
	const struct profile other = { .processes = { { 5, "h2", true, 20 } }, .interval_us = 1 };
	const struct profile any = { .processes = { { 5, "", true, 5 } }, .interval_us = 1 };

	plan((struct profile[]){ first, other }, 2);
	assert_int_equal(in.inputs[0].state, LC_MERGE_USED);
	assert_int_equal(in.inputs[1].state, LC_MERGE_USED);
	assert_int_equal(in.processes_len, 2);
	plan((struct profile[]){ first, any }, 2);
	assert_int_equal(in.inputs[0].state, LC_MERGE_USED);
	assert_int_equal(in.inputs[1].state, LC_MERGE_DUPLICATE);
}

static void a_profile_with_some_of_anothers_processes_is_left_out_and_missing(void **state)
{
	const struct profile both = { .processes = { { 5, "h1", true, 10 }, { 6, "h1", true, 10 } },
		                      .interval_us = 1 };
	const struct profile some = {
		.processes = { { 6, "h1", true, 20 }, { 7, "h1", false, 20 } }, .interval_us = 1
	};
	const struct profile one = { .processes = { { 6, "h1", true, 90 } }, .interval_us = 1 };

	plan((struct profile[]){ some, one, both }, 3);
	assert_int_equal(in.inputs[0].state, LC_MERGE_OVERLAPS); /* one of it is not whole */
	assert_int_equal(in.inputs[1].state, LC_MERGE_DUPLICATE);
	assert_int_equal(in.inputs[2].state, LC_MERGE_USED);
	assert_int_equal(in.missing.inputs, 1);
	assert_int_equal(in.processes_len, 2);
	assert_int_equal(in.inputs[2].numbers[0], 0);
	assert_int_equal(in.inputs[2].numbers[1], 1);
}

/* Each sample may stand for as many as the slowest tick says. */
static void the_longest_tick_and_the_largest_lack_stand_for_all(void **state)
{
	const struct profile slow = { .processes = { { 5, "h1", true, 10 } },
		                      .interval_us = 5000,
		                      .tick_us = 10000,
		                      .pruned = 0.25,
		                      .missing = 3 };
	const struct profile fast = { .processes = { { 6, "h1", true, 10 } },
		                      .interval_us = 5000,
		                      .tick_us = 4000,
		                      .pruned = 0.125,
		                      .missing = 4 };
	const struct profile other = { .processes = { { 7, "h1", true, 10 } },
		                       .interval_us = 1000 };

	plan((struct profile[]){ fast, slow, other }, 3);
	assert_int_equal(in.engines_len, 2);
	assert_int_equal(in.engines[0]->interval_ns, 1000000);
	assert_int_equal(in.engines[1]->interval_ns, 5000000);
	assert_int_equal(in.engines[1]->tick_ns, 10000000);
	assert_true(in.pruned == 0.25);
	assert_int_equal(in.missing.inputs, 7);
	assert_int_equal(in.missing.blocks, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_counts_once_by_what_was_written_last),
		cmocka_unit_test(processes_of_two_known_hosts_are_two),
		cmocka_unit_test(a_profile_with_some_of_anothers_processes_is_left_out_and_missing),
		cmocka_unit_test(the_longest_tick_and_the_largest_lack_stand_for_all),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
