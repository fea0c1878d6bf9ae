/* profile/profile_spans.c - the sections of spans: executions, tasks, timelines, pauses, traces. */
#include "src/format/block.h"
#include "src/profile/profile_block_impl.h"
#include "src/profile/writer.h"

/* site; submit path; path: what a span is of. */
static void put_names(struct lc_block_encoder *e, enum lc_section section, uint32_t site,
                      uint32_t submit_path, uint32_t path)
{
	lc_block_put(e, section, lc_names_site(e->names, site));
	lc_block_put(e, section, lc_names_path(e->names, submit_path));
	lc_block_put(e, section, lc_names_path(e->names, path));
}

bool lc_block_span_is_valid(const void *row)
{
	const struct lc_block_span *s = row;

	return s->kind < LC_SPAN_KINDS && s->submit_kind < LC_SUBMIT_KINDS;
}

/* One interval, or none; where the thread was just between the two times, it has no length. */
static void put_interval(struct lc_block_encoder *e, const struct lc_block_span *s)
{
	lc_block_put(e, LC_SECTION_SPANS, s->first_ns != 0);
	if (!s->first_ns)
		return;
	lc_block_put(e, LC_SECTION_SPANS, s->first_ns);
	lc_block_put(e, LC_SECTION_SPANS, s->last_ns > s->first_ns ? s->last_ns - s->first_ns : 0);
}

/* Number of buckets that are not empty; for each: how many were skipped, and its count. */
static void put_histogram(struct lc_block_encoder *e, const uint32_t *counts)
{
	unsigned used = 0, next = 0;

	for (unsigned i = 0; i < LC_SPAN_BUCKETS; i++)
		used += counts[i] != 0;
	lc_block_put(e, LC_SECTION_SPANS, used);
	for (unsigned i = 0; i < LC_SPAN_BUCKETS; i++) {
		if (!counts[i])
			continue;
		lc_block_put(e, LC_SECTION_SPANS, i - next);
		lc_block_put(e, LC_SECTION_SPANS, counts[i]);
		next = i + 1;
	}
}

void lc_block_put_span(struct lc_block_encoder *e, const void *row)
{
	const struct lc_block_span *s = row;
	const uint64_t sums[] = {
		s->executions, s->folded,   s->cycles,   lc_zigzag(s->compensated),
		s->negative,   s->switches, s->gc_count, s->gc_ns,
		s->wait_ns,    s->waits,    s->wall_ns,
	};

	lc_block_put(e, LC_SECTION_SPANS, s->kind);
	lc_block_put(e, LC_SECTION_SPANS, s->level);
	lc_block_put(e, LC_SECTION_SPANS, s->submit_kind);
	put_names(e, LC_SECTION_SPANS, s->site, s->submit_path, s->path);
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		lc_block_put(e, LC_SECTION_SPANS, sums[i]);
	for (unsigned i = 0; i < LC_SPAN_NESTED; i++)
		lc_block_put(e, LC_SECTION_SPANS, s->nested[i]);
	put_interval(e, s);
	put_histogram(e, s->histogram);
	e->out.rows[LC_SECTION_SPANS]++;
}

bool lc_block_made_is_valid(const void *row)
{
	const struct lc_block_task_made *m = row;

	return m->submit_kind < LC_SUBMIT_KINDS || m->submit_kind == LC_SUBMIT_FIRST;
}

void lc_block_put_made(struct lc_block_encoder *e, const void *row)
{
	const struct lc_block_task_made *m = row;

	lc_block_put(e, LC_SECTION_TASKS, lc_names_site(e->names, m->site));
	lc_block_put(e, LC_SECTION_TASKS, m->submit_kind);
	lc_block_put(e, LC_SECTION_TASKS, lc_names_path(e->names, m->submit_path));
	lc_block_put(e, LC_SECTION_TASKS, m->count);
	e->out.rows[LC_SECTION_TASKS]++;
}

bool lc_block_span_access_is_valid(const void *row)
{
	const struct lc_block_span_access *a = row;

	return a->kind < LC_SPAN_KINDS && a->engine < LC_ENGINES_MAX && a->bucket < LC_BUCKET_COUNT;
}

void lc_block_put_span_access(struct lc_block_encoder *e, const void *row)
{
	const struct lc_block_span_access *a = row;

	lc_block_put(e, LC_SECTION_SPAN_ACCESSES, a->kind);
	lc_block_put(e, LC_SECTION_SPAN_ACCESSES, lc_names_site(e->names, a->span_site));
	lc_block_put(e, LC_SECTION_SPAN_ACCESSES, lc_names_path(e->names, a->span_path));
	lc_block_put_place(e, LC_SECTION_SPAN_ACCESSES, a->engine, a->bucket, a->site, a->path);
	lc_block_put(e, LC_SECTION_SPAN_ACCESSES, a->samples);
	e->out.rows[LC_SECTION_SPAN_ACCESSES]++;
}

void lc_block_put_timeline(struct lc_block_encoder *e, const void *row)
{
	const struct lc_block_timeline *t = row;

	lc_block_put(e, LC_SECTION_TIMELINE, t->start_ns / LC_TIMELINE_NS);
	lc_block_put(e, LC_SECTION_TIMELINE, t->cpu_ns);
	lc_block_put(e, LC_SECTION_TIMELINE, t->voluntary);
	lc_block_put(e, LC_SECTION_TIMELINE, t->involuntary);
	e->out.rows[LC_SECTION_TIMELINE]++;
}

bool lc_block_pause_is_valid(const void *row)
{
	const struct lc_block_pause *p = row;

	return p->start_ns <= UINT64_MAX - p->duration_ns;
}

void lc_block_put_pause(struct lc_block_encoder *e, const void *row)
{
	const struct lc_block_pause *p = row;

	lc_block_put(e, LC_SECTION_PAUSES, p->start_ns);
	lc_block_put(e, LC_SECTION_PAUSES, p->duration_ns);
	e->out.rows[LC_SECTION_PAUSES]++;
}

bool lc_block_trace_is_valid(const void *row)
{
	const struct lc_block_trace *t = row;

	return t->kind < LC_SPAN_KINDS && t->submit_kind < LC_SUBMIT_KINDS &&
	       t->flags < LC_TRACE_FLAGS_END && t->start_ns <= UINT64_MAX - t->duration_ns;
}

/* Starts are differences to the row before: spans of a thread end soon after each other. */
void lc_block_put_trace(struct lc_block_encoder *e, const void *row)
{
	const struct lc_block_trace *t = row;
	const uint64_t head[] = {
		lc_zigzag((int64_t)(t->start_ns - e->trace_start_ns)),
		t->id,
		t->outer,
		t->logical,
		t->kind,
		t->level,
		t->submit_kind,
		t->flags,
	};
	const uint64_t tail[] = {
		t->creator,  t->duration_ns, t->cycles, lc_zigzag(t->compensated),
		t->switches, t->wait_ns,
	};

	e->trace_start_ns = t->start_ns;
	for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++)
		lc_block_put(e, LC_SECTION_TRACE, head[i]);
	put_names(e, LC_SECTION_TRACE, t->site, t->submit_path, t->path);
	for (size_t i = 0; i < sizeof(tail) / sizeof(tail[0]); i++)
		lc_block_put(e, LC_SECTION_TRACE, tail[i]);
	e->out.rows[LC_SECTION_TRACE]++;
}
