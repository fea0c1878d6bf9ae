/* uses: src/core/memory.c src/core/stand_back.c src/core/epoch.c src/core/wake.c src/heap/alloc_log.c src/heap/map.c src/heap/map_store.c src/heap/map_close.c src/heap/map_resolve.c -lJudy */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_heap.c - measures what the allocation log and the object map cost: ns per append, per
 * nursery record streamed, per survivor moved, per query; bytes per survivor. CPU time; each line
 * is the best of several runs, since other work on the machine only adds.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "src/heap/alloc_log.h"
#include "src/heap/map.h"

#define LOW UINT64_C(0x700000000)
#define MIB UINT64_C(0x100000)
#define OLD_END (LOW + 4096 * MIB)
#define HIGH (LOW + 8192 * MIB)

enum { RECORDS = 1000000, SURVIVORS = 500000, QUERIES = 200, MOVES = 10000, REPEATS = 7 };
enum { OBJECT = 1536 };

static struct lc_alloc records[RECORDS];
static struct lc_move moves[SURVIVORS];
static struct lc_query queries[100 * QUERIES];
static uint64_t random_state = 1;

static uint64_t random_below(uint64_t n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1;
	return (random_state >> 20) % n;
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void report(const char *what, double best, double n)
{
	printf("  %-58s %8.2f ns\n", what, best / n);
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

static void die(const char *what)
{
	fprintf(stderr, "bench_heap: %s failed\n", what);
	exit(1);
}

/* Append and trim, as a thread and the attribution thread do, `batch` records at a time. */
static void bench_append(const char *what, uint64_t batch)
{
	struct lc_alloc_log *log = NULL;
	double best = 1e18;

	if (lc_alloc_pool_init(256 * MIB) || lc_alloc_log_create(&log))
		die("the log");
	for (int r = 0; r < REPEATS; r++) {
		double begin, ns = 0;

		for (uint64_t n = 0; n < RECORDS; n += batch) {
			begin = now_ns();
			for (uint64_t i = 0; i < batch; i++) {
				lc_alloc_log_put(log, (struct lc_alloc){ LOW + i, 192, 1 });
				__asm__ volatile("" ::: "memory");
			}
			ns += now_ns() - begin;
			lc_alloc_log_trim(log, lc_alloc_log_position(log));
		}
		best = least(best, ns);
	}
	report(what, best, RECORDS);
	lc_alloc_log_destroy(log);
	lc_alloc_pool_destroy();
}

/* A nursery of RECORDS objects, allocated by two threads in buffers of 64 KiB. */
static void fill_nursery(void)
{
	for (uint64_t i = 0; i < RECORDS; i++) {
		uint64_t buffer = i / 42, at = i % 42;

		records[i] =
		    (struct lc_alloc){ OLD_END + buffer * 65536 + at * OBJECT, OBJECT / 8, 1 };
	}
}

static void close_epoch(struct lc_map *map, size_t records_len, size_t moves_len,
                        const struct lc_area *areas)
{
	struct lc_nursery_run run = { records, records_len };
	struct lc_nursery nursery = { &run, 1, 0 };
	struct lc_map_close c = { .nursery = &nursery,
		                  .moves = moves,
		                  .moves_len = moves_len,
		                  .areas = areas,
		                  .areas_len = 2,
		                  .heap_low = LOW,
		                  .complete = true };

	if (lc_map_close_epoch(map, &c))
		die("closing an epoch");
}

static void layout(struct lc_area *areas, uint64_t old_top)
{
	areas[0] = (struct lc_area){ LOW, old_top, OLD_END, LC_AREA_OLD, 0 };
	areas[1] = (struct lc_area){ OLD_END, OLD_END, HIGH, LC_AREA_EDEN, 0 };
}

/* Moves of `n` nursery objects, evenly spread, to `dst`. */
static void move_from_nursery(size_t n, uint64_t dst)
{
	for (size_t i = 0; i < n; i++)
		moves[i] = (struct lc_move){ records[i * (RECORDS / n)].tagged_addr,
			                     dst + i * OBJECT, OBJECT };
}

static void bench_stream(struct lc_map *map)
{
	struct lc_nursery_run run = { records, RECORDS };
	struct lc_nursery nursery = { &run, 1, 0 };
	double best = 1e18, few = 1e18, many = 1e18;
	struct lc_area areas[2];

	layout(areas, LOW);
	for (int r = 0; r < REPEATS; r++) {
		double begin = now_ns();

		close_epoch(map, RECORDS, 0, areas);
		best = least(best, now_ns() - begin);
	}
	report("per nursery record, collection without survivors", best, RECORDS);
	for (int r = 0; r < REPEATS; r++) {
		double begin;

		for (int i = 0; i < QUERIES; i++)
			queries[i].addr = OLD_END + random_below(1488 * MIB);
		begin = now_ns();
		lc_map_resolve(map, &nursery, queries, QUERIES);
		few = least(few, now_ns() - begin);
		for (int i = 0; i < 100 * QUERIES; i++)
			queries[i].addr = OLD_END + random_below(1488 * MIB);
		begin = now_ns();
		lc_map_resolve(map, &nursery, queries, 100 * QUERIES);
		many = least(many, now_ns() - begin);
	}
	report("per nursery record, 200 queries into it", few, RECORDS);
	report("per nursery record, 20,000 queries into it", many, RECORDS);
}

static void bench_moves(struct lc_map *map)
{
	struct lc_area areas[2];
	double promote = 1e18, slide = 1e18, idle = 1e18;
	uint64_t empty = lc_map_bytes(map);

	layout(areas, LOW);
	for (int r = 0; r < REPEATS; r++) {
		double begin;

		areas[0].top = LOW;
		close_epoch(map, 0, 0, areas); /* all die */
		move_from_nursery(SURVIVORS, LOW);
		areas[0].top = LOW + (uint64_t)SURVIVORS * OBJECT;
		begin = now_ns();
		close_epoch(map, RECORDS, SURVIVORS, areas);
		promote = least(promote, now_ns() - begin);
	}
	report("per survivor of a nursery twice as large, 500,000 of them", promote, SURVIVORS);
	printf("  %-58s %8.1f bytes\n", "per survivor in the map",
	       (double)(lc_map_bytes(map) - empty) / (double)lc_map_count(map));
	for (int r = 0; r < REPEATS; r++) {
		uint64_t from = r % 2 ? LOW + 1024 * MIB : LOW, to = r % 2 ? LOW : LOW + 1024 * MIB;
		double begin;

		for (uint64_t i = 0; i < SURVIVORS; i++)
			moves[i] = (struct lc_move){ from + i * OBJECT, to + i * OBJECT, OBJECT };
		areas[0].top = to + (uint64_t)SURVIVORS * OBJECT;
		begin = now_ns();
		close_epoch(map, 0, SURVIVORS, areas);
		slide = least(slide, now_ns() - begin);
	}
	report("per old survivor moved, 500,000 of them", slide, SURVIVORS);
	areas[0].top = OLD_END;
	close_epoch(map, 0, 0, areas);
	for (int r = 0; r < REPEATS; r++) {
		double begin = now_ns();

		close_epoch(map, 0, 0, areas);
		idle = least(idle, now_ns() - begin);
	}
	report("per collection that touches none of 500,000 survivors", idle, 1);
}

static void bench_young(struct lc_map *map)
{
	struct lc_area areas[2];
	double best = 1e18;

	layout(areas, OLD_END);
	for (int r = 0; r < REPEATS; r++) {
		double begin;

		move_from_nursery(MOVES, OLD_END - (uint64_t)MOVES * OBJECT * (uint64_t)(r + 1));
		begin = now_ns();
		close_epoch(map, RECORDS, MOVES, areas);
		best = least(best, now_ns() - begin);
	}
	report("per nursery record, 1% of them survive", best, RECORDS);
}

static void bench_queries(struct lc_map *map)
{
	struct lc_nursery none = { NULL, 0, 0 };
	double best = 1e18;

	for (int r = 0; r < REPEATS; r++) {
		double begin;

		for (int i = 0; i < 100 * QUERIES; i++)
			queries[i].addr = LOW + 1024 * MIB * (REPEATS % 2) +
			                  random_below((uint64_t)SURVIVORS * OBJECT);
		begin = now_ns();
		lc_map_resolve(map, &none, queries, 100 * QUERIES);
		best = least(best, now_ns() - begin);
	}
	report("per query, 20,000 at once into 500,000 survivors", best, 100 * QUERIES);
}

int main(void)
{
	struct lc_map *map = NULL;

	if (lc_map_create(&map))
		die("the map");
	printf("allocation log\n");
	bench_append("per append, epochs of 10,000 records", 10000);
	bench_append("per append, epochs of 1,000,000 records", RECORDS);
	printf("object map\n");
	fill_nursery();
	bench_stream(map);
	bench_moves(map);
	bench_young(map);
	bench_queries(map);
	lc_map_destroy(map);
	return 0;
}
