/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp/mcp_next.c - derives from a report which options of `locus run` and `locus attach` would tell
 * more: each suggestion names the number that it comes from.
 */
#include "analyzer/mcp/mcp_next.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"

enum { SAMPLES_FEW = 1000, NATIVE_PERCENT = 10, ESTIMATED_PERCENT = 20 };

static json_int_t number_of(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

static void suggest(json_t *list, char *option, char *why)
{
	json_array_append_new(list, json_pack("{s:s,s:s}", "option", option, "why", why));
	free(option);
	free(why);
}

/* The value of an option of the recording; "" where the profile does not have it. */
static const char *option_of(const json_t *report, const char *name)
{
	const json_t *process = json_array_get(json_object_get(report, "processes"), 0);
	const char *text =
	    json_string_value(json_object_get(json_object_get(process, "options"), name));

	return text ? text : "";
}

/* Samples in ranked objects whose line is only an estimate. */
static json_int_t estimated_in(const json_t *ranking)
{
	json_int_t sum = 0;
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(ranking, "rows"), i, row)
	{
		sum += number_of(row, "estimated");
	}
	return sum;
}

json_t *lc_mcp_next(const json_t *report, const char *profile)
{
	const json_t *samples = json_object_get(report, "samples");
	const json_t *ranking = json_object_get(report, "ranking");
	const json_int_t total = number_of(samples, "total"), native = number_of(samples, "native");
	const json_int_t estimated = estimated_in(ranking);
	const size_t lineless = json_array_size(json_object_get(ranking, "track_from"));
	json_t *list = json_array();

	if (lineless)
		suggest(
		    list, lc_mem_text("--track-from=%s", profile),
		    lc_mem_text("%zu classes of the first rows have no allocation line", lineless));
	if (total && estimated * 100 >= total * ESTIMATED_PERCENT &&
	    strcmp(option_of(report, "min-size"), "0") != 0)
		suggest(list, lc_mem_text("--min-size=0"),
		        lc_mem_text("%d%% of the samples have an estimated line",
		                    (int)(estimated * 100 / total)));
	if (total && native * 100 >= total * NATIVE_PERCENT &&
	    strcmp(option_of(report, "offheap"), "native") != 0)
		suggest(list, lc_mem_text("--offheap=native"),
		        lc_mem_text("%d%% of the samples are in memory outside the heap",
		                    (int)(native * 100 / total)));
	if (total < SAMPLES_FEW)
		suggest(list, lc_mem_text("--interval=1ms"),
		        lc_mem_text("the profile has only %d samples; a longer recording has "
		                    "narrower intervals, too",
		                    (int)total));
	return json_pack("{s:o}", "suggestions", list);
}
