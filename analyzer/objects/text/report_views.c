/* SPDX-License-Identifier: Apache-2.0 */
/* objects/text/report_views.c - writes the views of --view: one screen, one part in detail, or all.
 */
#include <stdlib.h>

#include "analyzer/cli/report_command.h"
#include "analyzer/numa/numa_command.h"
#include "analyzer/objects/text/report_brief.h"
#include "analyzer/objects/text/report_text.h"
#include "analyzer/spans/spans_command.h"

static void print_numa(FILE *out, const struct lc_report *r)
{
	const struct lc_numa_report report = { .numa = r->numa, .top = r->top };

	lc_numa_text(out, &report);
}

static void print_spans(FILE *out, const struct lc_report *r)
{
	struct lc_spans_report report = { .spans = r->spans, .top = r->top };

	if (!r->spans) {
		fputs("no streams or tasks were recorded; 'locus run --spans=streams,tasks' does\n",
		      out);
		return;
	}
	report.warnings = lc_spans_warnings(r->spans, &report.warnings_len);
	lc_spans_text(out, &report);
	for (size_t i = 0; i < report.warnings_len; i++)
		free(report.warnings[i]);
	free(report.warnings);
}

static const struct {
	const char *title;
	void (*print)(FILE *out, const struct lc_report *r);
} views[] = {
	[LC_VIEW_BRIEF] = { "Summary", lc_report_brief },
	[LC_VIEW_OBJECTS] = { "Objects", lc_report_text_objects },
	[LC_VIEW_CODE] = { "Code", lc_report_text_code },
	[LC_VIEW_ALLOC] = { "Allocations, by bytes", lc_report_text_allocations },
	[LC_VIEW_LIVE] = { "Live objects, by bytes", lc_report_text_live },
	[LC_VIEW_FOOTPRINT] = { "Footprint of live objects, by bytes of a class",
	                        lc_report_text_footprint },
	[LC_VIEW_OFFHEAP] = { "Outside the heap, by live bytes", lc_report_text_offheap },
	[LC_VIEW_SHARING] = { "False sharing", lc_report_text_sharing },
	[LC_VIEW_NUMA] = { "NUMA", print_numa },
	[LC_VIEW_SPANS] = { "Streams and tasks", print_spans },
	[LC_VIEW_THREADS] = { "Threads", lc_report_text_threads },
	[LC_VIEW_RECORDING] = { "Recording", lc_report_text_recording },
};

void lc_report_text(FILE *out, const struct lc_report *r)
{
	if (r->show != LC_VIEW_BRIEF && r->show != LC_VIEW_FULL)
		lc_report_filters(out, r->view->load, r->view->engine);
	if (r->show != LC_VIEW_FULL) {
		views[r->show].print(out, r);
		if (r->verbose && r->show != LC_VIEW_RECORDING) {
			fprintf(out, "\n== %s\n", views[LC_VIEW_RECORDING].title);
			views[LC_VIEW_RECORDING].print(out, r);
		}
		return;
	}
	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++) {
		fprintf(out, "%s== %s\n", i ? "\n" : "", views[i].title);
		views[i].print(out, r);
	}
}
