/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/export/report_speedscope.c - writes the stacks of a report for speedscope, each kind as a
 * profile of one file: samples by access and by code, bytes and objects by allocation.
 */
#include "analyzer/objects/analysis/report.h"

#include <stdlib.h>

#include "analyzer/base/table.h"
#include "analyzer/objects/analysis/stacks.h"
#include "analyzer/objects/text/report_brief.h"
#include "analyzer/out/json.h"

static const struct {
	enum lc_stacks_kind kind;
	const char *name, *unit;
} profiles[] = {
	{ LC_STACKS_ACCESS, "samples by access", "none" },
	{ LC_STACKS_CODE, "samples by code", "none" },
	{ LC_STACKS_ALLOC_BYTES, "bytes by allocation", "bytes" },
	{ LC_STACKS_ALLOC_COUNT, "objects by allocation", "none" },
};

enum { PROFILES = sizeof(profiles) / sizeof(profiles[0]) };

/* Two arrays beside each other: the stacks' frames, which get a row of `frames`, and the numbers.
 */
static uint64_t put_stacks(struct lc_json *j, const struct lc_report *r, enum lc_stacks_kind kind,
                           struct lc_table *frames)
{
	struct lc_stacks stacks;
	struct lc_stack stack;
	uint64_t sum = 0;

	lc_stacks_build(&stacks, r, kind);
	lc_json_array(j, "samples");
	while (!lc_stacks_next(&stacks, &stack)) {
		lc_json_line(j, 2);
		lc_json_array(j, NULL);
		for (size_t i = 0; i < stack.len; i++)
			lc_json_u64(j, NULL,
			            lc_table_put(frames, stack.frames + i * LC_STACK_FRAME));
		lc_json_end_array(j);
	}
	lc_json_end_array(j);
	stacks.next = 0;
	lc_json_line(j, 1);
	lc_json_array(j, "weights");
	while (!lc_stacks_next(&stacks, &stack)) {
		lc_json_u64(j, NULL, stack.value);
		sum += stack.value;
	}
	lc_json_end_array(j);
	lc_stacks_free(&stacks);
	return sum;
}

static void put_profile(struct lc_json *j, const struct lc_report *r, unsigned i,
                        struct lc_table *frames)
{
	uint64_t sum;

	lc_json_line(j, 0);
	lc_json_object(j, NULL);
	lc_json_string(j, "type", "sampled");
	lc_json_string(j, "name", profiles[i].name);
	lc_json_string(j, "unit", profiles[i].unit);
	lc_json_u64(j, "startValue", 0);
	sum = put_stacks(j, r, profiles[i].kind, frames);
	lc_json_u64(j, "endValue", sum);
	lc_json_end_object(j);
}

static void put_frame(struct lc_json *j, const struct lc_tree *t, const uint32_t *frame)
{
	char *name = lc_stack_name(t, frame);

	lc_json_line(j, 1);
	lc_json_object(j, NULL);
	lc_json_string(j, "name", name);
	free(name);
	if (frame[LC_STACK_WHAT] == LC_STACK_METHOD) {
		const struct lc_text file =
		    lc_tree_text(t, lc_table_key(&t->methods, frame[LC_STACK_ROW])[LC_METHOD_FILE]);

		if (file.len)
			lc_json_text(j, "file", file);
		if (frame[LC_STACK_LINE1])
			lc_json_u64(j, "line", frame[LC_STACK_LINE1] - 1);
	}
	lc_json_end_object(j);
}

void lc_report_speedscope(FILE *out, const struct lc_report *r)
{
	char *name = lc_report_brief_head(r);
	struct lc_table frames;
	struct lc_json j;

	lc_table_init(&frames, LC_STACK_FRAME, 0);
	lc_json_init(&j, out);
	lc_json_object(&j, NULL);
	lc_json_string(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
	lc_json_string(&j, "exporter", "locus");
	lc_json_string(&j, "name", name);
	lc_json_u64(&j, "activeProfileIndex", r->view->total ? 0 : 2);
	lc_json_line(&j, 0);
	lc_json_array(&j, "profiles");
	for (unsigned i = 0; i < PROFILES; i++)
		put_profile(&j, r, i, &frames);
	lc_json_end_array(&j);
	lc_json_line(&j, 0);
	lc_json_object(&j, "shared");
	lc_json_array(&j, "frames");
	for (uint32_t i = 0; i < frames.count; i++)
		put_frame(&j, r->view->tree, lc_table_key(&frames, i));
	lc_json_end_array(&j);
	lc_json_end_object(&j);
	lc_json_end_object(&j);
	lc_json_finish(&j);
	putc('\n', out);
	lc_table_free(&frames);
	free(name);
}
