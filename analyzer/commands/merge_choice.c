/* SPDX-License-Identifier: Apache-2.0 */
/* commands/merge_choice.c - chooses what a merge reads. */
#include "analyzer/commands/merge_choice.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "src/base/label.h"

static int set_label(struct lc_merge_choice *in, const char *text)
{
	const char *wrong = lc_label_wrong(text, strlen(text));
	json_t *value;
	char *key;
	int status = 0;

	if (wrong)
		return lc_usage("--label: '%.64s' %s", text, wrong);
	if (!in->labels)
		in->labels = json_object();
	key = lc_mem_text("%.*s", (int)strcspn(text, "="), text);
	value = json_string(strchr(text, '=') + 1);
	if (!value)
		status = lc_usage("--label: '%.64s' is not UTF-8", text);
	else if (json_object_get(in->labels, key))
		status = lc_usage("--label: '%.64s' repeats the key of another label", text);
	else
		json_object_set(in->labels, key, value);
	json_decref(value);
	free(key);
	return status;
}

bool lc_merge_choice_set(struct lc_merge_choice *in, const struct lc_option_info *row,
                         const char *value, int *status)
{
	*status = 0;
	if (!in->now_ns)
		in->now_ns = lc_choose_now();
	if (!strcmp(row->name, "label"))
		*status = set_label(in, value);
	else if (!strcmp(row->name, "since"))
		*status = lc_choose_time(row, value, in->now_ns, &in->range.since_wall_ns);
	else if (!strcmp(row->name, "until"))
		*status = lc_choose_time(row, value, in->now_ns, &in->range.until_wall_ns);
	else
		return lc_choose_processes(&in->where, &in->by, row->name, value, status);
	return true;
}

struct lc_merge_asked lc_merge_choice_asked(const struct lc_merge_choice *in)
{
	return (struct lc_merge_asked){ &in->where, &in->by, in->labels, &in->range };
}

void lc_merge_choice_free(struct lc_merge_choice *in)
{
	lc_where_free(&in->where);
	lc_by_free(&in->by);
	json_decref(in->labels);
}
