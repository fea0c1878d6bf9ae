/*
 * model/decode_rows.c - the sections that tell more of what ACCESSES and ALLOCATIONS count: parts of
 * objects, measurements of the hardware, shared cache lines, estimates, NUMA nodes.
 */
#include "analyzer/model/decode_impl.h"
#include "src/format/block.h"
#include "src/format/kinds.h"

void lc_take_place(struct lc_reader *r, const struct lc_pass *p, uint32_t *columns)
{
	columns[0] = lc_take_engine(r, p);
	columns[1] = lc_take_below(r, LC_BUCKET_COUNT);
	columns[2] = lc_take_id(r, p->d, LC_SECTION_SITES);
	columns[3] = lc_take_id(r, p->d, LC_SECTION_PATHS);
}

_Static_assert(LC_FIELD_ENGINE == 0 && LC_FIELD_PATH == 3, "lc_take_place() fills them");
_Static_assert(LC_METRIC_ENGINE == 0 && LC_METRIC_PATH == 3, "lc_take_place() fills them");
_Static_assert(LC_LINE_PATH == LC_LINE_ENGINE + 3, "lc_take_place() fills them");
_Static_assert(LC_PLACEMENT_PATH == LC_PLACEMENT_ENGINE + 3, "lc_take_place() fills them");

int lc_block_fields(struct lc_pass *p)
{
	struct lc_reader r = lc_reader_of(p->d, LC_SECTION_FIELDS);
	struct lc_table *fields = &p->target->tree->fields;

	for (uint32_t n = lc_take_count(&r, 9); n && !r.bad; n--) {
		uint32_t key[LC_FIELD_KEY];
		uint64_t first, last, samples;

		lc_take_place(&r, p, key);
		key[LC_FIELD_NAME] = lc_take_id(&r, p->d, LC_SECTION_STRINGS);
		first = lc_take(&r);
		last = lc_take(&r);
		key[LC_FIELD_TOUCH] = lc_take_below(&r, LC_TOUCH_END);
		samples = lc_take(&r);
		if (last < first)
			lc_reader_fail(&r);
		if (!p->add || r.bad)
			continue;
		key[LC_FIELD_ENGINE] = p->target->engines[key[LC_FIELD_ENGINE]];
		lc_tree_wide_put(key + LC_FIELD_FIRST, first);
		lc_tree_wide_put(key + LC_FIELD_LAST, last);
		lc_sum_add(lc_table_values(fields, lc_table_put(fields, key)), samples);
	}
	return lc_reader_finish(&r);
}

int lc_block_metrics(struct lc_pass *p)
{
	struct lc_reader r = lc_reader_of(p->d, LC_SECTION_METRICS);
	struct lc_table *metrics = &p->target->tree->metrics;

	for (uint32_t n = lc_take_count(&r, 9); n && !r.bad; n--) {
		uint32_t key[LC_METRIC_KEY];
		uint64_t samples, latency, latency_max, *values;

		lc_take_place(&r, p, key);
		key[LC_METRIC_SOURCE] = lc_take_below(&r, LC_SOURCE_COUNT);
		key[LC_METRIC_FLAGS] = lc_take_below(&r, LC_METRIC_FLAGS_END);
		samples = lc_take(&r);
		latency = lc_take(&r);
		latency_max = lc_take(&r);
		if (!p->add || r.bad)
			continue;
		key[LC_METRIC_ENGINE] = p->target->engines[key[LC_METRIC_ENGINE]];
		values = lc_table_values(metrics, lc_table_put(metrics, key));
		lc_sum_add(&values[LC_METRIC_SAMPLES], samples);
		lc_sum_add(&values[LC_METRIC_LATENCY], latency);
		if (latency_max > values[LC_METRIC_LATENCY_MAX])
			values[LC_METRIC_LATENCY_MAX] = latency_max;
	}
	return lc_reader_finish(&r);
}

uint32_t lc_take_thread(struct lc_reader *r, const struct lc_pass *p)
{
	uint32_t process = lc_take_below(r, p->target->process_count);
	uint32_t index = lc_take_below(r, LC_THREAD_ALL);
	const uint32_t key[LC_THREAD_KEY] = { p->target->process_first + process, index };

	/* THREADS may be in a later block. */
	return p->add && !r->bad ? lc_table_put(&p->target->tree->threads, key) : 0;
}

/* One touch, of the tree's thread `thread`. */
static void take_line(struct lc_reader *r, struct lc_pass *p, uint32_t thread)
{
	struct lc_table *lines = &p->target->tree->lines;
	uint64_t number = lc_take(r), first, samples, hitm, *values;
	uint32_t key[LC_LINE_KEY];

	lc_take_place(r, p, key + LC_LINE_ENGINE);
	key[LC_LINE_BYTE] = lc_take_below(r, LC_LINE_BYTES_MAX);
	key[LC_LINE_WIDTH] = lc_take_below(r, UINT8_MAX + 1);
	key[LC_LINE_TOUCH] = lc_take_below(r, LC_TOUCH_END);
	key[LC_LINE_NAME] = lc_take_id(r, p->d, LC_SECTION_STRINGS);
	first = lc_take(r);
	samples = lc_take(r);
	hitm = lc_take(r);
	if (hitm > samples)
		lc_reader_fail(r);
	if (!p->add || r->bad)
		return;
	key[LC_LINE_THREAD] = thread;
	key[LC_LINE_ENGINE] = p->target->engines[key[LC_LINE_ENGINE]];
	lc_tree_wide_put(key + LC_LINE_NUMBER, number);
	lc_tree_wide_put(key + LC_LINE_FIRST, first);
	values = lc_table_values(lines, lc_table_put(lines, key));
	lc_sum_add(&values[LC_LINE_SAMPLES], samples);
	lc_sum_add(&values[LC_LINE_HITM], hitm);
}

int lc_block_lines(struct lc_pass *p)
{
	struct lc_reader r = lc_reader_of(p->d, LC_SECTION_LINES);

	if (p->all)
		return -EBADMSG;
	for (uint32_t n = lc_take_count(&r, 12); n && !r.bad; n--)
		take_line(&r, p, p->thread);
	return lc_reader_finish(&r);
}

int lc_block_merged_lines(struct lc_pass *p)
{
	struct lc_reader r = lc_reader_of(p->d, LC_SECTION_MERGED_LINES);

	if (!p->all)
		return -EBADMSG;
	for (uint32_t n = lc_take_count(&r, 14); n && !r.bad; n--) {
		uint32_t thread = lc_take_thread(&r, p);

		take_line(&r, p, thread);
	}
	return lc_reader_finish(&r);
}

int lc_block_estimates(struct lc_pass *p)
{
	struct lc_reader r = lc_reader_of(p->d, LC_SECTION_ESTIMATES);
	struct lc_table *estimates = &p->target->tree->estimates;

	for (uint32_t n = lc_take_count(&r, 1 + LC_ESTIMATE_VALUES); n && !r.bad; n--) {
		uint32_t site = lc_take_id(&r, p->d, LC_SECTION_SITES);
		uint64_t values[LC_ESTIMATE_VALUES];

		for (unsigned i = 0; i < LC_ESTIMATE_VALUES; i++)
			values[i] = lc_take(&r);
		if (!p->add || r.bad)
			continue;
		for (unsigned i = 0, row = lc_table_put(estimates, &site); i < LC_ESTIMATE_VALUES;
		     i++)
			lc_sum_add(&lc_table_values(estimates, row)[i], values[i]);
	}
	return lc_reader_finish(&r);
}

int lc_block_splits(struct lc_pass *p)
{
	struct lc_reader r = lc_reader_of(p->d, LC_SECTION_SPLITS);
	struct lc_table *splits = &p->target->tree->splits;

	for (uint32_t n = lc_take_count(&r, 6); n && !r.bad; n--) {
		uint32_t key[LC_SPLIT_KEY];
		uint64_t samples, variance, *values;

		key[LC_SPLIT_ENGINE] = lc_take_engine(&r, p);
		key[LC_SPLIT_METHOD] = lc_take_below(&r, LC_SPLIT_COUNT);
		key[LC_SPLIT_CLASS] = lc_take_id(&r, p->d, LC_SECTION_SITES);
		key[LC_SPLIT_SITE] = lc_take_id(&r, p->d, LC_SECTION_SITES);
		samples = lc_take(&r);
		variance = lc_take(&r);
		if (!p->add || r.bad)
			continue;
		key[LC_SPLIT_ENGINE] = p->target->engines[key[LC_SPLIT_ENGINE]];
		values = lc_table_values(splits, lc_table_put(splits, key));
		lc_sum_add(&values[LC_SPLIT_SAMPLES], samples);
		lc_sum_add(&values[LC_SPLIT_VARIANCE], variance);
	}
	return lc_reader_finish(&r);
}

int lc_block_placements(struct lc_pass *p)
{
	struct lc_reader r = lc_reader_of(p->d, LC_SECTION_PLACEMENTS);
	struct lc_table *placements = &p->target->tree->placements;

	for (uint32_t n = lc_take_count(&r, p->all ? 10 : 8); n && !r.bad; n--) {
		uint32_t key[LC_PLACEMENT_KEY] = { p->all ? lc_take_thread(&r, p) : p->thread };
		uint64_t samples;

		lc_take_place(&r, p, key + LC_PLACEMENT_ENGINE);
		key[LC_PLACEMENT_ACCESSING] = lc_take_below(&r, LC_NODE_END);
		key[LC_PLACEMENT_OWNING] = lc_take_below(&r, LC_NODE_END);
		key[LC_PLACEMENT_SOURCE] = lc_take_below(&r, LC_SOURCE_COUNT);
		samples = lc_take(&r);
		if (!p->add || r.bad)
			continue;
		key[LC_PLACEMENT_ENGINE] = p->target->engines[key[LC_PLACEMENT_ENGINE]];
		lc_sum_add(lc_table_values(placements, lc_table_put(placements, key)), samples);
	}
	return lc_reader_finish(&r);
}

int lc_block_nodes(struct lc_pass *p)
{
	struct lc_reader r = lc_reader_of(p->d, LC_SECTION_NODES);
	struct lc_table *nodes = &p->target->tree->nodes;

	for (uint32_t n = lc_take_count(&r, p->all ? 6 : 4); n && !r.bad; n--) {
		uint32_t key[LC_NODE_KEY] = { p->all ? lc_take_thread(&r, p) : p->thread };
		uint64_t samples, migrations, *values;

		key[LC_NODE_ENGINE] = lc_take_engine(&r, p);
		key[LC_NODE_NODE] = lc_take_below(&r, LC_NODE_END);
		samples = lc_take(&r);
		migrations = lc_take(&r);
		if (migrations > samples)
			lc_reader_fail(&r);
		if (!p->add || r.bad)
			continue;
		key[LC_NODE_ENGINE] = p->target->engines[key[LC_NODE_ENGINE]];
		values = lc_table_values(nodes, lc_table_put(nodes, key));
		lc_sum_add(&values[LC_NODE_SAMPLES], samples);
		lc_sum_add(&values[LC_NODE_MIGRATIONS], migrations);
	}
	return lc_reader_finish(&r);
}

int lc_block_homes(struct lc_pass *p)
{
	struct lc_reader r = lc_reader_of(p->d, LC_SECTION_HOMES);
	struct lc_table *homes = &p->target->tree->homes;

	for (uint32_t n = lc_take_count(&r, p->all ? 6 : 4); n && !r.bad; n--) {
		uint32_t key[LC_HOME_KEY] = { p->all ? lc_take_thread(&r, p) : p->thread };
		uint64_t objects, bytes, *values;

		key[LC_HOME_SITE] = lc_take_id(&r, p->d, LC_SECTION_SITES);
		key[LC_HOME_NODE] = lc_take_below(&r, LC_NODE_END);
		objects = lc_take(&r);
		bytes = lc_take(&r);
		if (!p->add || r.bad)
			continue;
		values = lc_table_values(homes, lc_table_put(homes, key));
		lc_sum_add(&values[LC_HOME_OBJECTS], objects);
		lc_sum_add(&values[LC_HOME_BYTES], bytes);
	}
	return lc_reader_finish(&r);
}
