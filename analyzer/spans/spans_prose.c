/* SPDX-License-Identifier: Apache-2.0 */
/* spans/spans_prose.c - writes the warnings and places of `locus spans`. */
#include "analyzer/spans/spans_command.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/out/emit.h"
#include "analyzer/spans/spans_impl.h"

void lc_spans_emit_place(FILE *out, const struct lc_span_place *p)
{
	if (!p || !p->number) {
		fputs("(unknown)", out);
		return;
	}
	if (!p->method_name.len) { /* stands for places without a slot */
		lc_emit_text(out, p->class_name);
		return;
	}
	lc_emit_place(out, p->class_name, p->method_name, p->file, (uint32_t)(p->line + 1));
}

char *lc_spans_place_text(const struct lc_span_place *p)
{
	char *text = NULL;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	lc_spans_emit_place(out, p);
	lc_mem_close_text(out);
	return text;
}

const struct lc_span_info *lc_spans_info(const struct lc_spans *s)
{
	for (size_t p = 0; p < s->load->processes_len; p++)
		if (s->rows->infos[p].recorded)
			return &s->rows->infos[p];
	return NULL;
}

double lc_spans_stream_cycles(const struct lc_spans *s)
{
	return (double)s->streams_sum.cycles + (double)s->support_sum.cycles;
}

double lc_spans_task_cycles(const struct lc_spans *s)
{
	return (double)s->tasks_sum.cycles + (double)s->threads_sum.cycles;
}

uint64_t lc_spans_executed(const struct lc_spans_sum *tasks, const struct lc_spans_sum *threads)
{
	return tasks->executions + tasks->folded + threads->executions + threads->folded;
}

uint64_t lc_spans_stream_count(const struct lc_spans *s)
{
	return s->streams_sum.executions;
}

uint64_t lc_spans_duration(const struct lc_spans *s)
{
	uint64_t longest = 0;

	for (uint32_t p = 0; p < s->load->processes_len; p++) {
		uint64_t ns = lc_spans_since(s, p, lc_load_end_ns(&s->load->processes[p]));

		if (ns > longest)
			longest = ns;
	}
	return longest;
}

/* A growing list of warnings. */
struct list {
	char **texts;
	size_t len, cap;
};

__attribute__((format(printf, 2, 3))) static void warn(struct list *w, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		lc_no_memory();
	va_end(args);
	w->texts = lc_mem_grow(w->texts, &w->cap, w->len + 1, sizeof(*w->texts));
	w->texts[w->len++] = text;
}

static void warn_of_process(struct list *w, const struct lc_spans *s, uint32_t number)
{
	const struct lc_load_process *p = &s->load->processes[number];
	const struct lc_span_info *info = &s->rows->infos[number];
	const struct lc_span_info *first = lc_spans_info(s);
	char text[32];

	if (info->streams_error)
		warn(w, "streams are not recorded in pid %" PRId64 ": %s", p->pid,
		     info->streams_error);
	if (info->tasks_error)
		warn(w, "tasks are not recorded in pid %" PRId64 ": %s", p->pid, info->tasks_error);
	if (info->calibration_warning)
		warn(w, "calibration of pid %" PRId64 ": %s", p->pid, info->calibration_warning);
	if (info->recorded && !info->costs_len)
		warn(w,
		     "pid %" PRId64
		     " has no calibration: compensated cycles include the cost of measuring",
		     p->pid);
	if (info->clock && !strcmp(info->clock, "tsc_coarse"))
		warn(w,
		     "the clock of pid %" PRId64 " is updated only every millisecond with the time "
		     "that a thread was off its CPU",
		     p->pid);
	if (info->recorded && info->clock && first->clock && strcmp(info->clock, first->clock))
		warn(w, "pid %" PRId64 " was recorded with another clock: %s", p->pid, info->clock);
	if (!p->complete)
		warn(w, "pid %" PRId64 " %s: the profile ends %s after its start", p->pid,
		     p->disk_full ? "found the disk full" : "is still running, or was killed",
		     lc_emit_duration(text, sizeof(text),
		                      lc_spans_since(s, number, lc_load_end_ns(p))));
}

/* Warn of losses because the agent's memory is limited. */
static void warn_of_bounds(struct list *w, const struct lc_spans *s)
{
	uint64_t all = 0, other = 0, n;

	for (size_t i = 0; i < s->rows->rows_len; i++) {
		const struct lc_span_row *r = &s->rows->rows[i];

		all += r->executions + r->folded;
		if (lc_spans_is_other(r->place->class_name))
			other += r->executions + r->folded;
	}
	if (other)
		warn(w,
		     "%" PRIu64 " of %" PRIu64 " executions are in one row, " LC_SPAN_OTHER_CLASS
		     ", with their cycles: there were more pairs of place and thread than the "
		     "agent keeps apart",
		     other, all);
	n = lc_load_counter(s->load, "spans_other_place");
	if (n && !other) /* an agent that did not name these places */
		warn(w,
		     "the places of some executions are unknown: the agent had no room for them");
	n = lc_load_counter(s->load, "spans_rows_lost");
	if (n)
		warn(w, "%" PRIu64 " rows of counts could not be written and are missing here", n);
	n = lc_load_counter(s->load, "spans_links_forgotten");
	if (n)
		warn(w,
		     "for %" PRIu64
		     " tasks it is unknown where they were created and whether they were executed: "
		     "more tasks waited than the agent remembers, or two had one identity hash; "
		     "\"never executed\" is a lower bound",
		     n);
	n = lc_load_counter(s->load, "spans_task_unwalked");
	if (n)
		warn(w,
		     "the place of %" PRIu64
		     " creations and submissions is unknown, since walking the stack for each "
		     "would have exceeded --budget; \"never executed\" is a lower bound",
		     n);
	n = lc_load_counter(s->load, "spans_too_deep");
	if (n)
		warn(w,
		     "%" PRIu64 " executions are missing here: they were nested too deeply, or "
		     "there was no memory",
		     n);
}

static void warn_of_figures(struct list *w, const struct lc_spans *s)
{
	uint64_t executions = s->streams_sum.executions + s->support_sum.executions +
	                      s->tasks_sum.executions + s->threads_sum.executions;
	uint64_t negative = s->streams_sum.negative + s->support_sum.negative +
	                    s->tasks_sum.negative + s->threads_sum.negative;

	if (100 * (double)negative > (double)executions)
		warn(w,
		     "%" PRIu64 " of %" PRIu64
		     " executions have negative compensated cycles: they are shorter than the cost "
		     "of measuring, so only their sums are meaningful",
		     negative, executions);
	if (!s->trace.rows || s->load->filter)
		return;
	if (s->trace.rows < s->trace.rows_online)
		warn(w,
		     "of %" PRIu64 " counted executions, %" PRIu64
		     " are single spans in the trace; %s",
		     s->trace.rows_online, s->trace.rows,
		     lc_load_counter(s->load, "spans_trace_lost")
		         ? "the others came too fast to be written"
		         : "the others were not written");
	else if (s->trace.folded != s->trace.folded_online)
		warn(w,
		     "by the single spans, %" PRIu64
		     " task executions belong to another task; the agent counted %" PRIu64,
		     s->trace.folded, s->trace.folded_online);
}

char **lc_spans_warnings(const struct lc_spans *s, size_t *len)
{
	const struct lc_load *l = s->load;
	struct list w = { 0 };

	for (uint32_t p = 0; p < l->processes_len; p++)
		warn_of_process(&w, s, p);
	if (lc_load_damaged(l))
		warn(&w,
		     "the profile is damaged: %" PRIu64 " blocks and %" PRIu64
		     " bytes could not be read; all figures cover the rest",
		     l->damage.blocks, l->damage.bytes);
	if (l->new_sections)
		warn(&w, "%" PRIu64 " sections of a newer Locus were skipped", l->new_sections);
	if (l->filter)
		warn(&w, "only the threads chosen by --thread are counted, for creations and "
		         "submissions, too");
	warn_of_bounds(&w, s);
	warn_of_figures(&w, s);
	*len = w.len;
	return w.texts;
}
