/* uses: analyzer/merge/ analyzer/model/ analyzer/base/ src/format/ src/base/options.c src/base/nearest.c src/base/redact.c -lzstd -ljansson -lm */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge_rates.c - measures a merge in one process: for scripts/bench_merge.py.
 *
 *	merge_rates JOBS OUTPUT PROFILE...
 *
 * Prints one line of JSON: what was read (profiles, files, call paths, bytes of the files and of
 *their payloads), seconds and CPU seconds of reading and of writing, CPU seconds that reading and
 * decompressing the same files takes alone, on one thread, and the largest memory of the process.
 *OUTPUT must not be there, and is the merged profile then.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <zstd.h>

#include "analyzer/base/memory.h"
#include "analyzer/merge/reduce.h"
#include "src/format/block.h"

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- decompressing alone ---- */

struct unpacking {
	ZSTD_DCtx *zstd;
	uint8_t *data, *payload;
	size_t data_cap, payload_cap;
	uint64_t raw; /* bytes of payloads */
};

static void unpack_file(struct unpacking *u, const char *name)
{
	FILE *in = fopen(name, "r");
	size_t len = 0, at = 0, n;
	struct lc_block_header h;

	if (!in)
		return;
	do {
		u->data = lc_mem_grow(u->data, &u->data_cap, len + (1 << 20), 1);
		n = fread(u->data + len, 1, 1 << 20, in);
		len += n;
	} while (n);
	fclose(in);
	while (at < len && !lc_block_header_get(u->data + at, len - at, &h)) {
		u->payload = lc_mem_grow(u->payload, &u->payload_cap, h.raw_len, 1);
		u->raw += ZSTD_decompressDCtx(u->zstd, u->payload, h.raw_len,
		                              u->data + at + h.header_len, h.stored_len);
		at += (size_t)h.header_len + h.stored_len;
	}
}

static void unpack_profile(struct unpacking *u, const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		char *name;

		if (!strstr(e->d_name, LC_BLOCK_SUFFIX))
			continue;
		name = lc_mem_text("%s/%s", path, e->d_name);
		unpack_file(u, name);
		free(name);
	}
	if (dir)
		closedir(dir);
}

int main(int argc, char **argv)
{
	struct unpacking u = { .zstd = ZSTD_createDCtx() };
	struct lc_reduce_options options = { .keep_threads = false };
	struct lc_reduce_stats stats;
	struct lc_reduce *r;
	struct rusage use;
	double wall[4], cpu[4], alone;
	int status;

	if (argc < 4)
		return fputs("usage: merge_rates JOBS OUTPUT PROFILE...\n", stderr), 2;
	options.jobs = (unsigned)strtoul(argv[1], NULL, 10);
	r = lc_reduce_create(&options, argv + 3, (size_t)argc - 3);
	wall[0] = now(CLOCK_MONOTONIC);
	cpu[0] = now(CLOCK_PROCESS_CPUTIME_ID);
	status = lc_reduce_open(r, argv[2]) || lc_reduce_scan(r);
	wall[1] = now(CLOCK_MONOTONIC);
	cpu[1] = now(CLOCK_PROCESS_CPUTIME_ID);
	status = status || lc_reduce_read(r, 0, 1);
	wall[2] = now(CLOCK_MONOTONIC);
	cpu[2] = now(CLOCK_PROCESS_CPUTIME_ID);
	status = status || lc_reduce_write(r);
	wall[3] = now(CLOCK_MONOTONIC);
	cpu[3] = now(CLOCK_PROCESS_CPUTIME_ID);
	status = lc_reduce_end(r, status);
	stats = lc_reduce_stats(r);
	lc_reduce_free(r);
	getrusage(RUSAGE_SELF, &use);
	alone = now(CLOCK_PROCESS_CPUTIME_ID);
	for (int i = 3; i < argc; i++)
		unpack_profile(&u, argv[i]);
	alone = now(CLOCK_PROCESS_CPUTIME_ID) - alone;
	printf("{\"profiles\":%d,\"files\":%llu,\"blocks\":%llu,\"paths\":%llu,\"bytes\":%llu,"
	       "\"payload_bytes\":%llu,\"manifests_s\":%.4f,\"manifests_cpu_s\":%.4f,"
	       "\"read_s\":%.4f,\"read_cpu_s\":%.4f,\"write_s\":%.4f,\"write_cpu_s\":%.4f,"
	       "\"decompress_cpu_s\":%.4f,\"max_rss_kb\":%ld}\n",
	       argc - 3, (unsigned long long)stats.files, (unsigned long long)stats.blocks,
	       (unsigned long long)stats.paths, (unsigned long long)stats.bytes,
	       (unsigned long long)u.raw, wall[1] - wall[0], cpu[1] - cpu[0], wall[2] - wall[1],
	       cpu[2] - cpu[1], wall[3] - wall[2], cpu[3] - cpu[2], alone, use.ru_maxrss);
	ZSTD_freeDCtx(u.zstd);
	free(u.data);
	free(u.payload);
	return status;
}
