/* uses: analyzer/model/load.c analyzer/model/load_groups.c analyzer/model/groups.c analyzer/model/facts.c analyzer/model/program_name.c analyzer/model/load_process.c analyzer/model/redacted.c analyzer/model/load_range.c analyzer/model/periods.c analyzer/model/manifest_file.c analyzer/model/tree_spans.c analyzer/model/blockfile.c analyzer/model/frame_filter.c analyzer/model/block_decoder.c analyzer/model/block_decoder_definitions.c analyzer/model/block_decoder_rows.c analyzer/model/group_filter.c analyzer/model/where.c analyzer/model/slices.c analyzer/model/block_decoder_spans.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/numa/numa.c analyzer/numa/numa_machine.c analyzer/numa/numa_diagnose.c analyzer/numa/numa_prose.c analyzer/spans/span_rows.c analyzer/spans/span_running.c analyzer/objects/analysis/cpu_breakdown.c analyzer/objects/analysis/view.c analyzer/objects/analysis/view_rows.c analyzer/out/own.c analyzer/out/json.c analyzer/out/emit.c analyzer/base/table.c analyzer/base/arena.c analyzer/base/memory.c analyzer/base/file.c analyzer/base/plain.c analyzer/base/progress.c src/format/section.c src/base/options.c src/base/nearest.c src/base/redact.c -lzstd -ljansson -lm */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_manifest.c - gives arbitrary manifests to the reader of profiles, and to what reads more of
 * them: nodes, spans, the bill.
 *
 * The first byte chooses whether the rest is a manifest as it stands, or edits of a true one, as
 * few mutations are JSON: each edit is a number that says which value it replaces, and one that
 * says by what.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/base/fail.h"
#include "analyzer/model/facts.h"
#include "analyzer/model/load.h"
#include "analyzer/numa/numa.h"
#include "analyzer/objects/analysis/cpu_breakdown.h"
#include "analyzer/out/json.h"
#include "analyzer/out/own.h"
#include "analyzer/spans/span_rows.h"
#include "src/format/block.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* In place of analyzer/base/fail.c: nearly each input costs a line. */
int lc_fail(const char *format, ...)
{
	return 1;
}

void lc_note(const char *format, ...)
{
}

static const char sample[] =
    "{\"format\":1,\"blocks\":3,\"engines\":[{\"name\":\"timer\",\"event\":\"\",\"unit\":"
    "\"samples\",\"reason\":\"no "
    "counters\",\"interval_ns\":5000000,\"tick_ns\":4000000},{\"name\":\"watch\",\"event\":\"w\","
    "\"unit\":\"hits\"}],"
    "\"by\":[\"host\",\"team\"],\"processes\":[{\"host\":\"web1\",\"labels\":{\"team\":\"core\","
    "\"zone\":\"eu\"},\"command\":\"java "
    "A\",\"jdk\":\"17\",\"gc\":\"G1\",\"pid\":7,\"complete\":true,\"limited\":"
    "false,\"start_wall_ns\":1,\"start_monotonic_ns\":2,\"end_wall_ns\":3,\"end_monotonic_ns\":9,"
    "\"last_block_ns\":8,"
    "\"options\":{\"interval\":\"5ms\"},\"counters\":{\"own_process_ns\":9,\"own_alloc_ns\":5,\"gc_"
    "collections\":4,"
    "\"spans_other_place\":1},\"limits\":[{\"kind\":\"memory\",\"text\":\"full\"}],\"intervals\":[{"
    "\"since_ns\":3,"
    "\"interval_ns\":5000000}],\"numa\":{\"error\":\"no\",\"balancing\":1,\"pages_migrated\":3,"
    "\"nodes\":[{\"node\":"
    "0,\"cpus\":\"0-1\",\"memory_bytes\":1024,\"memory\":true,\"distances\":[10,21]},{\"node\":1,"
    "\"cpus\":\"2\","
    "\"memory_bytes\":0,\"memory\":false,\"distances\":[21,10]}]},\"spans\":{\"streams\":true,"
    "\"tasks\":true,"
    "\"clock\":\"tsc\",\"clock_hz\":2000000000,\"costs\":[{\"name\":\"inner\",\"mean_cycles\":26.5,"
    "\"variation\":"
    "0.01}],\"pool_bytes\":[1,2],\"warnings\":[\"w\"]}},{}]}";

/* Values of each kind, small, large, negative, and of the wrong kind. */
static json_t *value(uint8_t what)
{
	static const json_int_t numbers[] = { 0,     1,         -1,         2,         64,
		                              65535, INT32_MAX, UINT32_MAX, INT64_MAX, INT64_MIN };
	static const char *const texts[] = { "",           "0-99999999999", "0,,1", "\x1b[2J",
		                             "tsc_coarse", "5ms",           "%s%n" };
	static const double reals[] = { 0.0, -1.5, 1e308, 1e-308 };

	switch (what % 8) {
	case 0:
	case 1:
		return json_integer(numbers[what / 8 % 10]);
	case 2:
		return json_string(texts[what / 8 % 7]);
	case 3:
		return json_real(reals[what / 8 % 4]);
	case 4:
		return what & 8 ? json_true() : json_false();
	case 5:
		return what & 8 ? json_object() : json_array();
	case 6:
		return json_pack("[[i,s],{s:i},i]", what, "x", "node", what, -1);
	default:
		return json_null();
	}
}

/* Replace the value that is `*nth` after this one, in the order of the text. Returns whether it was
 * here. */
static bool edit(json_t *at, unsigned *nth, uint8_t what)
{
	const char *key;
	json_t *child;
	void *next;
	size_t i;

	json_object_foreach_safe(at, next, key, child)
	{
		if (!(*nth)--)
			return !json_object_set_new(at, key, value(what));
		if (edit(child, nth, what))
			return true;
	}
	json_array_foreach(at, i, child)
	{
		if (!(*nth)--)
			return !(what & 128 ? json_array_append_new(at, value(what))
			                    : json_array_set_new(at, i, value(what)));
		if (edit(child, nth, what))
			return true;
	}
	return false;
}

static char *edited(const uint8_t *data, size_t len)
{
	json_t *m = json_loads(sample, 0, NULL);
	char *text;

	for (size_t i = 0; i + 1 < len && i < 64; i += 2) {
		unsigned nth = data[i];

		(void)edit(m, &nth, data[i + 1]);
	}
	text = json_dumps(m, 0);
	json_decref(m);
	if (!text)
		abort();
	return text;
}

static char path[64], file[96];

static void remove_directory(void)
{
	unlink(file);
	rmdir(path);
}

/* A directory of this process's with one file, which is written anew. */
static const char *directory(const void *text, size_t len)
{
	int fd;

	if (!*path) {
		snprintf(path, sizeof(path), "/dev/shm/fuzz_manifest-XXXXXX");
		if (!mkdtemp(path))
			abort();
		snprintf(file, sizeof(file), "%s/" LC_MANIFEST_NAME, path);
		atexit(remove_directory);
	}
	fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, text, len) != (ssize_t)len)
		abort();
	close(fd);
	return path;
}

/* The questions of reports to manifests beside the loader. */
static void ask(const struct lc_load *l)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	struct lc_span_rows rows;
	struct lc_own own;

	lc_cpu_breakdown_text(out, l, LC_CPU_BREAKDOWN_FULL);
	if (lc_own_read(l, &own))
		lc_own_text(out, l);
	for (uint32_t engine = 0; engine < l->engines_len; engine++) {
		struct lc_numa numa;

		lc_numa_build(&numa, l, engine);
		lc_numa_free(&numa);
	}
	lc_span_rows_build(&rows, l);
	lc_span_rows_free(&rows);
	(void)lc_load_counter(l, "gc_collections");
	fclose(out);
	free(text);
}

/* The choice of processes, and their groups. */
static void ask_facts(const struct lc_load *l)
{
	static const char *const keys[] = { "host",    "pid", "process", "start",
		                            "command", "jdk", "team",    "" };

	for (size_t i = 0; i < l->processes_len; i++)
		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
			free(lc_fact(&l->processes[i], keys[k]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct lc_where_terms where = { .list = NULL };
	struct lc_load load;
	struct lc_tree tree;
	const char *path;

	if (!len)
		return 0;
	if (data[0] & 1) {
		path = directory(data + 1, len - 1);
	} else {
		char *text = edited(data + 1, len - 1);

		path = directory(text, strlen(text));
		free(text);
	}
	lc_tree_init(&tree);
	lc_load_init(&load);
	load.tree = &tree;
	load.where = &where;
	if (data[0] & 2)
		(void)lc_where_add(&where, "host=web*;(none)");
	if (data[0] & 4)
		(void)lc_by_add(&load.by, "team");
	if (data[0] & 8)
		load.labels = json_pack("{s:s}", "team", "a");
	if (!lc_load_profile(&load, path)) {
		if (!load.left_out && (!load.engines_len || !load.processes_len))
			abort(); /* there is one of each, if only unknown */
		ask_facts(&load);
		if (load.processes_len)
			ask(&load);
	}
	json_decref(load.labels);
	lc_where_free(&where);
	lc_load_free(&load);
	lc_tree_free(&tree);
	return 0;
}
