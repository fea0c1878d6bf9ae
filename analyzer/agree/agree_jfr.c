/* SPDX-License-Identifier: Apache-2.0 */
/* agree/agree_jfr.c - reads the execution samples of JFR, as `jfr print --json` writes them. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

#include "analyzer/agree/agree_counts.h"
#include "analyzer/base/memory.h"

static void add_event(struct lc_agree_counts *c, const json_t *event)
{
	const json_t *values = json_object_get(event, "values");
	const json_t *trace = json_object_get(values, "stackTrace");
	const json_t *frame = json_array_get(json_object_get(trace, "frames"), 0);
	const json_t *method = json_object_get(frame, "method");
	const char *class =
	    json_string_value(json_object_get(json_object_get(method, "type"), "name"));
	const char *called = json_string_value(json_object_get(method, "name"));
	char *text, *name;

	if (!class || !called) {
		lc_agree_counts_add(c, "", 1);
		return;
	}
	text = lc_mem_text("%s.%s", class, called);
	name = lc_agree_name(text);
	lc_agree_counts_add(c, name, 1);
	free(name);
	free(text);
}

int lc_agree_read_jfr(struct lc_agree_counts *c, FILE *in)
{
	json_t *root = json_loadf(in, 0, NULL), *event;
	const json_t *events = json_object_get(json_object_get(root, "recording"), "events");
	const int err = json_is_array(events) ? 0 : -EINVAL;
	size_t i;

	json_array_foreach(events, i, event)
	{
		add_event(c, event);
	}
	json_decref(root);
	return err;
}
