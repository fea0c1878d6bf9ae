/* uses: analyzer/model/ analyzer/base/ src/format/ src/base/options.c src/base/nearest.c src/base/redact.c -lzstd -ljansson -lm */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge_inputs.c - makes the inputs of scripts/bench_merge.py: profiles of one thread each, out of
 *recorded ones or out of nothing.
 *
 *	merge_inputs DIR COUNT NODES SEED [PROFILE]...
 *
 * Each of the COUNT profiles in DIR, 0 and so on, has about NODES call paths. With profiles, these
 *are call paths, sites and counts that were recorded, a part of them chosen at random for each
 *thread, below one of a few entry points where the recorded ones are too few. Without, paths grow
 *at random below each other in a universe of 50 times NODES. Counts are at random. The same
 *arguments make the same profiles.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/base/memory.h"
#include "analyzer/model/load.h"
#include "analyzer/model/merge_writer.h"

enum { ENTRIES = 12, UNIVERSE = 50, METHODS = 4000, CLASSES = 600 };

static uint64_t state;

static uint64_t draw(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state * UINT64_C(0x2545f4914f6cdd1d) >> 11) % below;
}

static uint32_t text(struct lc_tree *t, const char *format, unsigned number)
{
	char name[64];

	return lc_tree_string(t, name, (size_t)snprintf(name, sizeof(name), format, number));
}

static uint32_t method(struct lc_tree *t, unsigned number)
{
	const uint32_t key[LC_METHOD_KEY] = {
		text(t, "com.example.service.module%u.Handler", number % CLASSES),
		text(t, "process%u", number / CLASSES), text(t, "(Ljava/lang/Object;I)V", 0),
		text(t, "Handler%u.java", number % CLASSES)
	};

	return lc_table_put(&t->methods, key);
}

static uint32_t child(struct lc_tree *t, uint32_t parent, unsigned number, uint32_t line)
{
	const uint32_t frame[LC_FRAME_KEY] = { method(t, number), 3 * line, line };
	const uint32_t key[LC_PATH_KEY] = { parent, lc_table_put(&t->frames, frame) };

	return lc_table_put(&t->paths, key);
}

/* ---- out of recorded ones ---- */

/* A name of the recorded tree in the new one. */
struct copy {
	struct lc_tree *to;
	const struct lc_tree *from;
	uint32_t *paths, entry; /* of this entry point: number + 1, or 0 */
};

static uint32_t copy_text(const struct copy *c, uint32_t string)
{
	const struct lc_text x = lc_tree_text(c->from, string);

	return lc_tree_string(c->to, x.bytes, x.len);
}

static uint32_t copy_path(struct copy *c, uint32_t path)
{
	const uint32_t *frame, *names;
	uint32_t method_key[LC_METHOD_KEY], frame_key[LC_FRAME_KEY], key[LC_PATH_KEY];

	if (!path)
		return c->entry;
	if (c->paths[path])
		return c->paths[path] - 1;
	key[LC_PATH_PARENT] = copy_path(c, lc_tree_parent(c->from, path));
	frame = lc_tree_frame(c->from, path);
	names = lc_tree_method(c->from, path);
	for (unsigned i = 0; i < LC_METHOD_KEY; i++)
		method_key[i] = copy_text(c, names[i]);
	memcpy(frame_key, frame, sizeof(frame_key));
	frame_key[LC_FRAME_METHOD] = lc_table_put(&c->to->methods, method_key);
	key[LC_PATH_FRAME] = lc_table_put(&c->to->frames, frame_key);
	c->paths[path] = lc_table_put(&c->to->paths, key) + 1;
	return c->paths[path] - 1;
}

static uint32_t copy_site(struct copy *c, uint32_t site)
{
	const uint32_t *from = lc_table_key(&c->from->sites, site);
	uint32_t key[LC_SITE_KEY];

	if (!site)
		return 0;
	key[LC_SITE_CLASS] = copy_text(c, from[LC_SITE_CLASS]);
	key[LC_SITE_PATH] = from[LC_SITE_PATH] ? copy_path(c, from[LC_SITE_PATH]) : 0;
	return lc_table_put(&c->to->sites, key);
}

static void copy_row(struct copy *c, const struct lc_section_spec *s, uint32_t row)
{
	const struct lc_table *from = lc_tree_table(c->from, s->number);
	struct lc_table *to = lc_tree_table(c->to, s->number);
	const uint32_t *old = lc_table_key(from, row);
	uint32_t key[1 + 2 * LC_COLUMNS_MAX], at = 0;
	uint64_t *values;

	if (s->merged)
		key[at++] = 0;
	for (unsigned i = 0; i < s->keys_len; i++, at++) {
		switch (s->columns[i].type) {
		case LC_COLUMN_SITE:
		case LC_COLUMN_SITE_OR_0:
			key[at] = copy_site(c, old[at]);
			break;
		case LC_COLUMN_PATH:
			key[at] = old[at] ? copy_path(c, old[at]) : 0;
			break;
		case LC_COLUMN_STRING:
			key[at] = copy_text(c, old[at]);
			break;
		default:
			key[at] = old[at];
		}
		if (lc_tree_is_wide(s->columns[i].type)) {
			at++;
			key[at] = old[at];
		}
	}
	values = lc_table_values(to, lc_table_put(to, key));
	for (unsigned i = s->keys_len; i < s->columns_len; i++)
		lc_section_column_add(&s->columns[i], &values[i - s->keys_len],
		                      lc_table_values(from, row)[i - s->keys_len]);
	if (s->number == LC_SECTION_ACCESSES)
		lc_sum_add(&c->to->buckets[key[LC_ACCESS_ENGINE]][key[LC_ACCESS_BUCKET]],
		           lc_table_values(from, row)[0]);
}

static void copy_some(struct lc_tree *to, const struct lc_tree *from, uint32_t nodes)
{
	while (to->paths.count < nodes) {
		struct copy c = { .to = to, .from = from };

		c.paths = lc_mem_zeroed(from->paths.count, sizeof(*c.paths));
		c.entry = child(to, 0, (unsigned)draw(ENTRIES), 10);
		for (unsigned i = 0; i < LC_SECTION_COUNT; i++) {
			const struct lc_table *table = lc_tree_table(from, i);

			for (uint32_t row = 0; table && row < table->count; row++)
				if (to->paths.count < nodes && draw(10) < 7)
					copy_row(&c, lc_section_spec(i), row);
		}
		for (uint32_t site = 1; site < from->sites.count && to->paths.count < nodes;
		     site++) {
			const uint64_t *values = lc_table_values(&from->sites, site);
			uint64_t *sums;

			if (draw(10) >= 7)
				continue;
			sums = lc_table_values(&to->sites, copy_site(&c, site));
			for (unsigned i = 0; i < LC_SITE_VALUES; i++)
				lc_sum_add(&sums[i], values[i]);
		}
		free(c.paths);
	}
}

/* ---- out of nothing ---- */

/* The parent of a node of the universe is one before it; its frame is as good as any. */
static uint32_t grow(struct lc_tree *t, uint32_t node)
{
	const uint64_t h = (node + 1) * UINT64_C(0x9e3779b97f4a7c15);
	const uint32_t up = 1 + (uint32_t)(h >> 40) % (node < 1000 ? node + 1 : 1000);
	const uint32_t parent = up > node ? 0 : grow(t, node - up);

	return child(t, parent, (unsigned)(h >> 16) % METHODS, 1 + (uint32_t)(h >> 8) % 400);
}

static void invent(struct lc_tree *t, uint32_t nodes)
{
	const uint32_t all = UNIVERSE * nodes;

	while (t->paths.count < nodes) {
		/* A few places are met by all threads, most by few. */
		const uint64_t a = draw(all), b = draw(all);
		const uint32_t path = grow(t, (uint32_t)(a * b / all));
		const uint32_t site_key[LC_SITE_KEY] = { text(t, "com.example.Type%u", path % 300),
			                                 lc_tree_parent(t, path) };
		const uint32_t site = lc_table_put(&t->sites, site_key);
		const uint32_t key[LC_ACCESS_KEY] = { 0, LC_BUCKET_OBJECT, site, path };
		const uint64_t samples = 1 + draw(20);

		lc_sum_add(lc_table_values(&t->accesses, lc_table_put(&t->accesses, key)), samples);
		t->buckets[0][LC_BUCKET_OBJECT] += samples;
		lc_sum_add(lc_table_values(&t->sites, site), 1 + draw(100));
	}
}

/* ---- profiles ---- */

static int write_profile(const char *dir, unsigned number, const struct lc_tree *t,
                         struct lc_merge_writer *w, const struct lc_load *l)
{
	char *path = lc_mem_text("%s/%u", dir, number), *file;
	FILE *out;
	int status;

	if (mkdir(path, 0777) && errno != EEXIST)
		return 1;
	file = lc_mem_text("%s/thread-0.lcb", path);
	out = fopen(file, "w");
	if (!out)
		return 1;
	status = lc_merge_write(w, t, true, out) < 0;
	status |= fclose(out);
	free(file);
	file = lc_mem_text("%s/manifest.json", path);
	out = fopen(file, "w");
	if (!out)
		return 1;
	fputs("{\"format\":1,\"blocks\":1,\"engines\":[", out);
	for (uint32_t i = 0; i < l->engines_len; i++)
		fprintf(out,
		        "%s{\"name\":\"%s\",\"event\":\"%s\",\"interval_ns\":%llu,\"unit\":\"%s\"}",
		        i ? "," : "", l->engines[i].name, l->engines[i].event,
		        (unsigned long long)l->engines[i].interval_ns, l->engines[i].unit);
	if (!l->engines_len)
		fputs("{\"name\":\"timer\",\"event\":\"thread-cpu-time\",\"interval_ns\":5000000,"
		      "\"unit\":\"ns of thread CPU time\"}",
		      out);
	fprintf(out,
	        "],\"processes\":[{\"pid\":%u,\"complete\":true,\"command\":\"bench\",\"jdk\":"
	        "\"17\",\"gc\":\"g1\",\"start_wall_ns\":%u000000001,\"start_monotonic_ns\":1000,"
	        "\"end_wall_ns\":%u900000000,\"end_monotonic_ns\":2000000000,"
	        "\"options\":{\"interval\":\"5ms\"},\"counters\":{\"samples\":%u}}]}\n",
	        1000 + number, 1700000000 + number, 1700000000 + number, number);
	status |= fclose(out);
	free(file);
	free(path);
	return status;
}

int main(int argc, char **argv)
{
	struct lc_merge_writer *w = lc_merge_writer_create();
	const unsigned long count = argc > 4 ? strtoul(argv[2], NULL, 10) : 0;
	const unsigned long nodes = argc > 4 ? strtoul(argv[3], NULL, 10) : 0;
	struct lc_tree from;
	struct lc_load load;

	if (!count || !nodes)
		return fputs("usage: merge_inputs DIR COUNT NODES SEED [PROFILE]...\n", stderr), 2;
	lc_tree_init(&from);
	lc_load_init(&load);
	load.tree = &from;
	for (int i = 5; i < argc; i++)
		if (lc_load_profile(&load, argv[i]))
			return 1;
	if (mkdir(argv[1], 0777) && errno != EEXIST)
		return perror(argv[1]), 1;
	for (unsigned i = 0; i < count; i++) {
		struct lc_tree t;
		const uint32_t thread[LC_THREAD_KEY] = { 0, 0 };

		state = (strtoull(argv[4], NULL, 10) + i + 1) * UINT64_C(0x9e3779b97f4a7c15);
		lc_tree_init(&t);
		lc_tree_thread_seen(&t, lc_table_put(&t.threads, thread), 1000 + i,
		                    text(&t, "worker-%u", i), 1000, 2000000000);
		if (argc > 5)
			copy_some(&t, &from, (uint32_t)nodes);
		else
			invent(&t, (uint32_t)nodes);
		if (write_profile(argv[1], i, &t, w, &load))
			return perror("cannot write"), 1;
		lc_tree_free(&t);
	}
	lc_load_free(&load);
	lc_tree_free(&from);
	lc_merge_writer_free(w);
	return 0;
}
