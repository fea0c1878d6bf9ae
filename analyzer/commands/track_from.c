/* SPDX-License-Identifier: Apache-2.0 */
/* commands/track_from.c - reads the profile as `locus report` does, and takes the rows' classes. */
#include "analyzer/commands/track_from.h"

#include <stdlib.h>

#include "analyzer/base/fail.h"
#include "analyzer/base/memory.h"
#include "analyzer/base/progress.h"
#include "analyzer/model/load.h"
#include "analyzer/model/tree_lines.h"
#include "analyzer/objects/analysis/no_line.h"
#include "analyzer/objects/analysis/report.h"
#include "analyzer/out/emit.h"

/* Append the classes. *said: what to say of them, which the caller frees. */
static int add(struct lc_options *o, const struct lc_ranking *rank, char **said)
{
	const struct lc_tree *t = rank->view->tree;
	uint32_t classes[LC_TRACK_FROM_ROWS];
	const size_t len = lc_no_line_classes(rank, classes);
	char error[256];
	size_t said_len;
	int status = 0;
	FILE *out = lc_text_open(said, &said_len);

	fputs(len           ? "tracks "
	      : rank->shown ? "each of the first eight rows has its line; no class is tracked"
	                    : "the report has no row; no class is tracked",
	      out);
	for (size_t i = 0; i < len && !status; i++) {
		const struct lc_text name = lc_tree_text(t, classes[i]);
		char *pattern = lc_mem_text("%.*s", (int)name.len, name.bytes);

		fputs(i ? ", " : "", out);
		lc_emit_text(out, name);
		if (lc_options_set(o, "track", pattern, error, sizeof(error)))
			status = lc_usage("--track-from: %s", error);
		free(pattern);
	}
	lc_mem_close_text(out);
	return status;
}

struct tracked {
	struct lc_options *options;
	char *said; /* what add() says */
};

static int track_rows(void *context, const struct lc_load *l)
{
	struct tracked *to = context;
	struct lc_view view;
	struct lc_ranking ranking;
	int status;

	lc_progress_end();
	lc_tree_fold_lines(l->tree);
	lc_view_build(&view, l, lc_report_busiest_engine(l), LC_SORT_SAMPLES);
	lc_ranking_build(&ranking, &view, LC_GROUP_LINE, NULL);
	status = add(to->options, &ranking, &to->said);
	lc_ranking_free(&ranking);
	lc_view_free(&view);
	return status;
}

int lc_track_from(const char *profile, struct lc_options *o)
{
	struct tracked to = { o, NULL };
	int status;

	lc_load_expect(profile);
	status = lc_load_one(profile, NULL, track_rows, &to);
	lc_progress_end();
	if (!status)
		fprintf(stderr, "locus: --track-from: %s\n", to.said);
	free(to.said);
	return status;
}
