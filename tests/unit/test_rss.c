/* uses: src/offheap/rss.c src/offheap/smaps.c src/offheap/resident.c src/offheap/resident_anonymous.c -Wl,--wrap=open */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_rss.c - takes snapshots of this process: when one is due, that none is lost, and what is
 * left where the kernel refuses files of /proc.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/core/own_memory.h"
#include "src/core/path.h"
#include "src/jvm/layout/ranges.h"
#include "src/jvm/os/peek.h"
#include "src/offheap/blocks.h"
#include "src/offheap/nmt.h"
#include "src/offheap/rss.h"

#define SECOND UINT64_C(1000000000)
#define MIB (UINT64_C(1) << 20)

/* ---- what the agent would give ---- */

struct lc_range lc_ranges_objects(void)
{
	return (struct lc_range){ 0 };
}

struct lc_range lc_ranges_code(void)
{
	return (struct lc_range){ 0 };
}

struct lc_range lc_ranges_library(void)
{
	return (struct lc_range){ 0 };
}

struct lc_range lc_ranges_cards(void)
{
	return (struct lc_range){ 0 };
}

void lc_ranges_class_space(uint64_t *base, uint64_t *bytes)
{
	*base = *bytes = 0;
}

size_t lc_own_memory_ranges(struct lc_own_memory_range *out, size_t cap)
{
	return 0;
}

size_t lc_blocks_copy(uint64_t from, struct lc_blocks_block *out, size_t cap)
{
	return 0;
}

const struct lc_site *lc_site_get(uint32_t site)
{
	return NULL;
}

bool lc_peek(uint64_t at, void *out, size_t bytes)
{
	const struct iovec into = { out, bytes }, from = lc_peek_part(at, bytes);

	return process_vm_readv(getpid(), &into, 1, &from, 1, 0) == (ssize_t)bytes;
}

static bool counts; /* the JVM does */

void lc_nmt_begin(void)
{
}

size_t lc_nmt_ask(JNIEnv *jni, struct lc_nmt_row *out, size_t cap)
{
	if (!counts)
		return 0;
	out[0] = (struct lc_nmt_row){ "", 90, 60, 30 };
	out[1] = (struct lc_nmt_row){ "Symbol", 9, 6, 3 };
	return 2;
}

/* ---- /proc ---- */

static const char *refused; /* the ends of paths that cannot be opened */
static const char *status;  /* instead of /proc/self/status */

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);

int __wrap_open(const char *path, int flags, ...)
{
	const char *end = strrchr(path, '/');

	if (refused && end && strstr(refused, end)) {
		errno = EACCES;
		return -1;
	}
	return __real_open(status && !strcmp(path, "/proc/self/status") ? status : path, flags);
}

/* ---- what was written ---- */

static struct {
	unsigned blocks; /* snapshots */
	uint64_t number, bytes[LC_RESIDENT_PARTS], sum;
	struct lc_block_nmt nmt[2];
	char names[2][LC_NMT_NAME_LEN]; /* those of the rows go away with the snapshot */
	size_t nmt_len;
	bool fails;
} written;

static bool append(const struct lc_block_input *in)
{
	if (written.fails)
		return false;
	written.sum = 0;
	memset(written.bytes, 0, sizeof(written.bytes));
	written.nmt_len = in->nmt_len;
	for (size_t i = 0; i < in->nmt_len && i < 2; i++) {
		written.nmt[i] = in->nmt[i];
		snprintf(written.names[i], LC_NMT_NAME_LEN, "%s", in->nmt[i].name);
	}
	for (size_t i = 0; i < in->memory_len; i++) {
		const struct lc_block_memory *m = &in->memory[i];

		written.blocks += m->part == LC_RESIDENT_ALL;
		written.number = m->number;
		written.bytes[m->part] += m->resident_bytes;
		if (m->part >= LC_RESIDENT_HEAP && m->part <= LC_RESIDENT_REST)
			written.sum += m->resident_bytes;
	}
	return true;
}

/* The block is of a thread that has something else to write, or of one that has not. */
static void write_block(bool any)
{
	struct lc_block_input in = { 0 };

	if (lc_rss_block(&in, any) && append(&in))
		lc_rss_clear(&in);
}

/* Look, and write. Returns whether there is a new snapshot. */
static bool look(uint64_t seconds, enum lc_rss_why why)
{
	const unsigned before = written.blocks;

	lc_rss_look(NULL, seconds * SECOND, why);
	write_block(true);
	return written.blocks > before;
}

static int setup(void **state)
{
	memset(&written, 0, sizeof(written));
	refused = status = NULL;
	lc_rss_again();
	lc_rss_begin();
	return 0;
}

static void the_end_is_divided_and_adds_up(void **state)
{
	uint64_t now, peak;

	assert_true(look(1, LC_RSS_END));
	lc_rss_now(&now, &peak);
	assert_true(peak >= now && now > MIB);
	assert_in_range(written.bytes[LC_RESIDENT_ALL], now - now / 8, now + now / 8);
	assert_int_equal(written.sum, written.bytes[LC_RESIDENT_ALL]);
	assert_true(written.bytes[LC_RESIDENT_PEAK] >= written.sum);
	assert_true(written.bytes[LC_RESIDENT_LIBRARIES] > 0);
}

static void a_snapshot_that_is_not_written_comes_again(void **state)
{
	written.fails = true;
	assert_false(look(100, LC_RSS_ASKED));
	assert_false(look(120, LC_RSS_ASKED));
	written.fails = false;
	write_block(false); /* no thread of its own */
	assert_int_equal(written.blocks, 0);
	write_block(true);
	assert_int_equal(written.blocks, 2);
	assert_int_equal(written.number, 1);
	write_block(true);
	assert_int_equal(written.blocks, 2);
	assert_false(lc_rss_left());
	written.fails = true;
	assert_false(look(140, LC_RSS_END));
	written.fails = false;
	assert_true(lc_rss_left());
	write_block(false); /* the last one */
	assert_int_equal(written.blocks, 3);
	assert_false(lc_rss_left());
}

/* Ten seconds lie between two of them, and their number has a bound; the end always has one. */
static void requests_are_bounded(void **state)
{
	assert_true(look(1000, LC_RSS_ASKED));
	assert_false(look(1009, LC_RSS_ASKED));
	assert_true(look(1010, LC_RSS_ASKED));
	for (uint64_t i = 0; i < 100; i++)
		(void)look(2000 + i * 20, LC_RSS_ASKED);
	assert_int_equal(written.blocks, LC_RSS_SNAPSHOTS - 1);
	assert_true(look(5000, LC_RSS_END));
	assert_int_equal(written.blocks, LC_RSS_SNAPSHOTS);
	lc_rss_again();
	assert_true(look(5001, LC_RSS_ASKED));
	assert_int_equal(written.number, 0);
}

/* A look alone takes a snapshot of a new high, and no second one of the same. */
static void only_a_new_high_is_worth_a_look(void **state)
{
	(void)look(10000, LC_RSS_LOOK);
	assert_true(look(10020, LC_RSS_LOOK));
	assert_false(look(10025, LC_RSS_LOOK));
	assert_false(look(10040, LC_RSS_LOOK));
}

/* It is asked for if somebody waits for the profile, and written with the snapshot. */
static void what_the_jvm_counts_is_in_the_block_of_the_snapshot(void **state)
{
	counts = true;
	(void)look(20000, LC_RSS_LOOK);
	(void)look(20020, LC_RSS_LOOK); /* one of them is due */
	assert_int_equal(written.blocks, 1);
	assert_int_equal(written.nmt_len, 0);
	assert_true(look(20040, LC_RSS_ASKED));
	counts = false;
	assert_int_equal(written.nmt_len, 2);
	assert_string_equal(written.names[0], "");
	assert_int_equal(written.nmt[0].reserved_bytes, 90);
	assert_string_equal(written.names[1], "Symbol");
	assert_int_equal(written.nmt[1].number, written.number);
	assert_int_equal(written.nmt[1].time_ns, 20040 * SECOND);
	assert_int_equal(written.nmt[1].committed_bytes, 6);
	assert_int_equal(written.nmt[1].malloc_bytes, 3);
	assert_true(look(20060, LC_RSS_END));
	assert_int_equal(written.nmt_len, 0);
}

static void without_smaps_the_total_is_left(void **state)
{
	refused = "/smaps";
	assert_true(look(1, LC_RSS_END));
	assert_true(written.bytes[LC_RESIDENT_ALL] > MIB);
	assert_int_equal(written.sum, 0);
	refused = "/smaps /status";
	assert_false(look(2, LC_RSS_END));
}

/* The status claims that 2 GiB are resident, so pages would be counted; but nobody tells them. */
static void a_large_process_without_pagemap_is_read_from_smaps(void **state)
{
	const char *path = "test_rss.status";
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs("Name: x\nVmHWM:  2097152 kB\nVmRSS:  2097152 kB\n", f);
	fclose(f);
	status = path;
	refused = "/pagemap";
	assert_true(look(1, LC_RSS_END));
	unlink(path);
	assert_int_equal(written.bytes[LC_RESIDENT_PEAK], 2048 * MIB);
	assert_in_range(written.sum, MIB, 1024 * MIB);
	assert_true(written.bytes[LC_RESIDENT_LIBRARIES] > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_end_is_divided_and_adds_up, setup),
		cmocka_unit_test_setup(a_snapshot_that_is_not_written_comes_again, setup),
		cmocka_unit_test_setup(requests_are_bounded, setup),
		cmocka_unit_test_setup(only_a_new_high_is_worth_a_look, setup),
		cmocka_unit_test_setup(what_the_jvm_counts_is_in_the_block_of_the_snapshot, setup),
		cmocka_unit_test_setup(without_smaps_the_total_is_left, setup),
		cmocka_unit_test_setup(a_large_process_without_pagemap_is_read_from_smaps, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
