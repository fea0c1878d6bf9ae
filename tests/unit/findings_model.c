/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/findings_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "src/format/kinds.h"
#include "src/format/rows.h"

struct findings_model model;

uint32_t findings_text(const char *s)
{
	return lc_tree_string(&model.tree, s, strlen(s));
}

void findings_sample(uint32_t bucket, uint32_t site, uint32_t path, uint64_t samples)
{
	const uint32_t key[LC_ACCESS_KEY] = {
		[LC_ACCESS_BUCKET] = bucket, [LC_ACCESS_SITE] = site, [LC_ACCESS_PATH] = path
	};

	lc_table_values(&model.tree.accesses,
	                lc_table_put(&model.tree.accesses, key))[LC_ACCESS_SAMPLES] += samples;
	model.tree.buckets[0][bucket] += samples;
}

void findings_calculate(uint64_t samples)
{
	model.tree.buckets[0][LC_BUCKET_JVM] += samples;
}

void findings_step(uint32_t site, uint64_t bytes, uint64_t samples)
{
	uint32_t key[LC_STEP_KEY] = { [LC_STEP_BUCKET] = LC_BUCKET_OBJECT, [LC_STEP_SITE] = site };

	lc_tree_wide_put(key + LC_STEP_BYTES, bytes);
	*lc_table_values(&model.tree.steps, lc_table_put(&model.tree.steps, key)) += samples;
}

void findings_flags(uint32_t bucket, uint32_t site, uint32_t flags, uint64_t samples)
{
	const uint32_t key[LC_WAIT_KEY] = {
		[LC_WAIT_BUCKET] = bucket, [LC_WAIT_SITE] = site, [LC_WAIT_FLAGS] = flags
	};

	*lc_table_values(&model.tree.waits, lc_table_put(&model.tree.waits, key)) += samples;
}

void findings_share(uint32_t bucket, uint32_t thread, uint32_t site, uint32_t byte, uint32_t touch,
                    uint64_t samples)
{
	const uint32_t thread_key[LC_THREAD_KEY] = { 0, thread };
	const uint32_t key[LC_LINE_KEY] = {
		[LC_LINE_THREAD] = lc_table_put(&model.tree.threads, thread_key),
		[LC_LINE_NUMBER] = 1,
		[LC_LINE_BUCKET] = bucket,
		[LC_LINE_SITE] = site,
		[LC_LINE_BYTE] = byte,
		[LC_LINE_WIDTH] = 8,
		[LC_LINE_TOUCH] = touch,
	};

	lc_table_values(&model.tree.lines, lc_table_put(&model.tree.lines, key))[LC_LINE_SAMPLES] +=
	    samples;
}

int findings_begin(void **state)
{
	lc_tree_init(&model.tree);
	model.range = (struct lc_load_range){ 0 };
	model.process =
	    (struct lc_load_process){ .options = json_object(), .counters = json_object() };
	model.load = (struct lc_load){ .tree = &model.tree,
		                       .range = &model.range,
		                       .engines_len = 1,
		                       .processes = &model.process,
		                       .processes_len = 1 };
	model.load.engines[0] = (struct lc_load_engine){ .name = (char *)"timer",
		                                         .unit = (char *)"ns of CPU time",
		                                         .interval_ns = 5000000 };
	return 0;
}

static void forget(void)
{
	lc_findings_free(&model.found);
	lc_sharing_free(&model.sharing);
	lc_ranking_free(&model.ranking);
	lc_view_free(&model.view);
	model.sharing = (struct lc_sharing){ 0 };
	model.view = (struct lc_view){ 0 };
}

int findings_end(void **state)
{
	forget();
	json_decref(model.process.options);
	json_decref(model.process.counters);
	lc_tree_free(&model.tree);
	return 0;
}

void findings_find(void)
{
	forget();
	lc_view_build(&model.view, &model.load, 0, LC_SORT_SAMPLES);
	lc_ranking_build(&model.ranking, &model.view, LC_GROUP_LINE, NULL);
	lc_sharing_find(&model.sharing, &model.view);
	lc_findings_find(&model.found, &(struct lc_findings_of){ .ranking = &model.ranking,
	                                                         .sharing = &model.sharing });
}

const struct lc_finding *findings_only(enum lc_finding_kind kind)
{
	findings_find();
	assert_int_equal(model.found.len, 1);
	assert_string_equal(lc_finding_name(model.found.list->kind), lc_finding_name(kind));
	return model.found.list;
}

void findings_none(void)
{
	findings_find();
	assert_int_equal(model.found.len, 0);
	assert_non_null(model.found.none);
}
