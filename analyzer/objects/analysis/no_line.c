/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/no_line.c - derives the reason from the options and counters of the processes.
 */
#include "analyzer/objects/analysis/no_line.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/headers.h"
#include "src/base/track.h"
#include "src/format/kinds.h"

static const char *option(const struct lc_load_process *p, const char *name)
{
	const char *text = json_string_value(json_object_get(p->options, name));

	return text ? text : "";
}

/* Did the process track each object of the class? */
static bool is_tracked(const struct lc_load_process *p, const char *class)
{
	const char *patterns = option(p, "track");
	struct lc_track track;

	if (!strcmp(option(p, "min-size"), "0"))
		return true;
	if (!*patterns)
		return false;
	(void)lc_track_parse(patterns, &track);
	return lc_track_matches(&track, lc_track_written(class));
}

static bool is_counted(const struct lc_load_process *p, const char *name)
{
	return json_integer_value(json_object_get(p->counters, name)) > 0;
}

/* May objects that were made since the class is tracked have lost their line, or never had one? */
static bool may_lack_line(const struct lc_load_process *p)
{
	static const char *const counters[] = {
		"classes_running",        "classes_retransform_failed",
		"classes_no_hook_loader", "classes_hooks_overwritten",
		"classes_malformed",      "classes_unsupported_version",
		"classes_too_large",      "small_forgotten",
		"small_unheld",           "small_passes_limited",
		"alloc_records_lost",     "gc_incomplete",
	};

	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		if (is_counted(p, counters[i]))
			return true;
	return lc_load_has_limit(p, "unchanged");
}

/* Has --track hot chosen the class? */
static bool was_chosen(const struct lc_load_process *p, const char *class)
{
	const json_t *row;
	size_t i;

	json_array_foreach(p->tracked_hot, i, row)
	{
		const char *name = json_string_value(json_object_get(row, "name"));

		if (name && !strcmp(name, class))
			return true;
	}
	return false;
}

static enum lc_no_line why_of(const struct lc_load_process *p, const char *class)
{
	const bool chosen = was_chosen(p, class);

	if (!chosen && !is_tracked(p, class))
		return LC_LINE_UNKNOWN;
	if (lc_load_is_concurrent(p))
		return LC_LINE_COLLECTOR;
	return (chosen || p->attached) && !may_lack_line(p) ? LC_LINE_BEFORE : LC_LINE_UNKNOWN;
}

/* Is the row of objects that moved after an attach that is younger than they are? */
static bool is_before_attach(const struct lc_tree *t, const struct lc_rank_row *row)
{
	const uint32_t *frame = lc_tree_frame(t, row->path);
	const struct lc_text class =
	    lc_tree_text(t, lc_table_key(&t->methods, frame[LC_FRAME_METHOD])[LC_METHOD_CLASS]);

	return lc_text_is(class, LC_BEFORE_CLASS);
}

enum lc_no_line lc_no_line_of(const struct lc_ranking *rank, const struct lc_rank_row *row)
{
	const struct lc_tree *t = rank->view->tree;
	const struct lc_load *l = rank->view->load;
	const struct lc_text name = lc_tree_text(t, row->class);
	enum lc_no_line why = LC_LINE_UNKNOWN;
	char *class;

	if (!lc_rank_by_allocation(rank->group))
		return LC_LINE_KNOWN;
	if (row->path)
		return is_before_attach(t, row) ? LC_LINE_BEFORE : LC_LINE_KNOWN;
	class = lc_mem_text("%.*s", (int)name.len, name.bytes);
	for (size_t i = 0; i < l->processes_len; i++) {
		const enum lc_no_line next = why_of(&l->processes[i], class);

		if (i && next != why)
			why = LC_LINE_UNKNOWN; /* not one reason for all */
		else
			why = next;
		if (why == LC_LINE_UNKNOWN)
			break;
	}
	free(class);
	return why;
}

const char *lc_no_line_word(enum lc_no_line why)
{
	static const char *const words[] = {
		[LC_LINE_KNOWN] = NULL,
		[LC_LINE_UNKNOWN] = "unknown",
		[LC_LINE_BEFORE] = "before",
		[LC_LINE_COLLECTOR] = "collector",
	};

	return words[why];
}

const char *lc_no_line_text(const struct lc_ranking *rank, const struct lc_rank_row *row)
{
	switch (row->path ? LC_LINE_KNOWN : lc_no_line_of(rank, row)) {
	case LC_LINE_BEFORE:
		return "made before tracking";
	case LC_LINE_COLLECTOR:
		return "line not known: collector";
	default:
		return NULL;
	}
}

size_t lc_no_line_classes(const struct lc_ranking *rank, uint32_t out[LC_TRACK_FROM_ROWS])
{
	size_t len = 0;

	for (size_t i = 0; i < rank->shown && i < LC_TRACK_FROM_ROWS; i++) {
		const uint32_t class = rank->rows[i].class;
		size_t k = 0;

		while (k < len && out[k] != class)
			k++;
		if (k == len && lc_no_line_of(rank, &rank->rows[i]) != LC_LINE_KNOWN)
			out[len++] = class;
	}
	return len;
}
