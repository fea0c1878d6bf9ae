/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/export/report_jfr.c - writes a recording for JDK Mission Control, IntelliJ and the JDK's
 * `jfr`: samples and allocations as the JDK's own events, and objects as events of Locus.
 *
 * The profile counts samples by thread, stretch of time and call path. Each sample becomes an
 * event; the events of a thread are spread evenly over the stretch.
 */
#include "analyzer/objects/analysis/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/model/slices.h"
#include "analyzer/objects/analysis/analysis.h"
#include "analyzer/objects/analysis/offheap.h"
#include "analyzer/objects/analysis/stacks.h"
#include "analyzer/objects/export/jfr_names.h"
#include "analyzer/objects/export/pprof_nodes.h"
#include "analyzer/out/jfr.h"
#include "src/base/order.h"

enum { EVENTS_MAX = 10000000 }; /* jdk.ExecutionSample has no weight: more are joined */
enum { NS_PER_MS = 1000000 };

/* In the table of what --top shows: a bucket of sites, or estimates. */
enum { SHOWN_ESTIMATE = LC_BUCKET_COUNT };

struct report {
	struct lc_jfr_names names;
	const struct lc_report *r;
	const struct lc_tree *tree;
	struct lc_table shown;       /* bucket or SHOWN_ESTIMATE, site; if not all are */
	struct lc_table groups;      /* LC_SLICE_WHO; values: */
	uint64_t begin_ns, end_ns;   /* since 1970 */
	uint64_t per_event, carried; /* samples */
};

enum { GROUP_SAMPLES, GROUP_WRITTEN, GROUP_VALUES };

/* Samples of one thread, stretch, place and call path. */
struct sampled {
	const uint32_t *who; /* LC_SLICE_WHO */
	uint32_t bucket, site, path;
	uint64_t samples, latency, placed, remote;
};

struct stretch {
	uint64_t at_ns, duration_ns; /* from the begin of the file on */
};

static void put(struct report *f, enum lc_jfr_type type, const struct lc_jfr_value *values)
{
	lc_jfr_event(&f->names.jfr, type, values);
}

/* ---- time ---- */

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a < INT64_MAX && b < INT64_MAX - a ? a + b : INT64_MAX;
}

/* A time of CLOCK_MONOTONIC as one since 1970, where processes of several machines meet. */
static uint64_t wall(const struct lc_load_process *p, uint64_t ns)
{
	const uint64_t before = p->start_monotonic_ns > ns ? p->start_monotonic_ns - ns : 0;

	if (before)
		return p->start_wall_ns > before ? p->start_wall_ns - before : 0;
	return sum(p->start_wall_ns, ns - p->start_monotonic_ns);
}

static void cover(struct report *f, uint64_t begin_ns, uint64_t end_ns)
{
	f->begin_ns = begin_ns < f->begin_ns ? begin_ns : f->begin_ns;
	f->end_ns = end_ns > f->end_ns ? end_ns : f->end_ns;
}

static const struct lc_load_process *process_of(const struct report *f, uint32_t row)
{
	const struct lc_load *l = f->r->view->load;

	return &l->processes[row < l->processes_len ? row : 0];
}

/* Set begin and end of what the report shows. */
static void find_time(struct report *f)
{
	const struct lc_load *l = f->r->view->load;
	const struct lc_table *epochs = &f->tree->slices->epochs;

	f->begin_ns = INT64_MAX;
	for (size_t i = 0; i < l->processes_len; i++) {
		const struct lc_load_process *p = &l->processes[i];

		cover(f, wall(p, p->shown_begin_ns ? p->shown_begin_ns : p->start_monotonic_ns),
		      wall(p, lc_load_shown_end_ns(p)));
	}
	for (uint32_t i = 0; i < epochs->count; i++) {
		const uint32_t *key = lc_table_key(epochs, i);
		const struct lc_load_process *p = process_of(f, key[LC_EPOCH_PROCESS]);

		cover(f, wall(p, lc_table_values(epochs, i)[LC_EPOCH_BEGIN_NS]),
		      wall(p, lc_tree_wide(key + LC_EPOCH_END)));
	}
	if (f->end_ns <= f->begin_ns)
		f->end_ns = sum(f->begin_ns, 1);
}

/* The stretch of a slice; of one without, all of the time. */
static struct stretch stretch_of(const struct report *f, const uint32_t *who)
{
	const struct lc_table *epochs = &f->tree->slices->epochs;
	const struct lc_load_process *p;
	uint64_t begin, end;

	if (!who[LC_SLICE_EPOCH1])
		return (struct stretch){ 0, f->end_ns - f->begin_ns };
	p = process_of(f, lc_table_key(epochs, who[LC_SLICE_EPOCH1] - 1)[LC_EPOCH_PROCESS]);
	begin = wall(p, lc_table_values(epochs, who[LC_SLICE_EPOCH1] - 1)[LC_EPOCH_BEGIN_NS]);
	end = wall(p, lc_tree_wide(lc_table_key(epochs, who[LC_SLICE_EPOCH1] - 1) + LC_EPOCH_END));
	return (struct stretch){ begin - f->begin_ns, end > begin ? end - begin : 0 };
}

/* ---- what is shown ---- */

static void show(struct report *f, uint32_t what, uint32_t site)
{
	lc_table_put(&f->shown, (const uint32_t[]){ what, site });
}

static bool is_shown(const struct report *f, uint32_t what, uint32_t site)
{
	return f->r->top == SIZE_MAX || !site ||
	       lc_table_find(&f->shown, (const uint32_t[]){ what, site }) != UINT32_MAX;
}

static void find_shown(struct report *f)
{
	const struct lc_view *v = f->r->view;

	for (size_t i = 0; i < v->sites_len && i < f->r->top; i++)
		show(f, v->sites[i].bucket, v->sites[i].site);
	for (size_t i = 0; i < v->classes_len && i < f->r->top; i++)
		show(f, v->classes[i].bucket, v->classes[i].site);
	for (size_t i = 0; i < v->estimates_len && i < f->r->top; i++)
		show(f, SHOWN_ESTIMATE, v->estimates[i].site);
}

/* ---- samples ---- */

static uint64_t class_of(struct report *f, uint32_t site)
{
	if (!site)
		return 0;
	return lc_jfr_names_class(&f->names, lc_table_key(&f->tree->sites, site)[LC_SITE_CLASS]);
}

static uint64_t allocated_at(struct report *f, uint32_t bucket, uint32_t site)
{
	const uint32_t path =
	    bucket == LC_BUCKET_OBJECT ? lc_table_key(&f->tree->sites, site)[LC_SITE_PATH] : 0;

	return path ? lc_jfr_names_stack(&f->names, path) : 0;
}

static void put_access(struct report *f, const struct sampled *s)
{
	const struct stretch time = stretch_of(f, s->who);
	size_t names;
	const struct lc_view_name *name = lc_view_names(f->r->view, s->site, &names);

	put(f, LC_JFR_OBJECT_ACCESS,
	    (const struct lc_jfr_value[]){
	        LC_JFR_NUMBER(time.at_ns),
	        LC_JFR_NUMBER(lc_jfr_names_thread(&f->names, s->who[LC_SLICE_THREAD1])),
	        LC_JFR_NUMBER(lc_jfr_names_stack(&f->names, s->path)),
	        LC_JFR_NUMBER(class_of(f, s->site)),
	        LC_JFR_NUMBER(lc_jfr_names_bucket(&f->names, s->bucket)),
	        LC_JFR_NUMBER(names ? lc_jfr_names_text(&f->names, name->name) : 0),
	        LC_JFR_NUMBER(allocated_at(f, s->bucket, s->site)), LC_JFR_NUMBER(time.duration_ns),
	        LC_JFR_NUMBER(s->samples), LC_JFR_NUMBER(s->latency), LC_JFR_NUMBER(s->placed),
	        LC_JFR_NUMBER(s->remote) });
}

static void put_samples(struct report *f, const struct sampled *s)
{
	uint64_t *group = lc_table_values(&f->groups, lc_table_put(&f->groups, s->who));
	const struct stretch time = stretch_of(f, s->who);
	const uint64_t thread = lc_jfr_names_thread(&f->names, s->who[LC_SLICE_THREAD1]);
	const uint64_t stack = lc_jfr_names_stack(&f->names, s->path);
	const uint64_t state = lc_jfr_names_running(&f->names);
	uint64_t events = (f->carried + s->samples) / f->per_event;

	f->carried = (f->carried + s->samples) % f->per_event;
	for (; events; events--) {
		const double part = ((double)group[GROUP_WRITTEN] + 0.5 * (double)f->per_event) /
		                    (double)group[GROUP_SAMPLES];
		const uint64_t at = (uint64_t)((part < 1 ? part : 1) * (double)time.duration_ns);

		group[GROUP_WRITTEN] += f->per_event;
		put(f, LC_JFR_EXECUTION_SAMPLE,
		    (const struct lc_jfr_value[]){ LC_JFR_NUMBER(time.at_ns + at),
		                                   LC_JFR_NUMBER(thread), LC_JFR_NUMBER(stack),
		                                   LC_JFR_NUMBER(state) });
	}
}

static void count(struct report *f, const struct sampled *s)
{
	uint64_t *group = lc_table_values(&f->groups, lc_table_put(&f->groups, s->who));

	group[GROUP_SAMPLES] = sum(group[GROUP_SAMPLES], s->samples);
}

static void put_sampled(struct report *f, const struct sampled *s)
{
	put_access(f, s);
	put_samples(f, s);
}

/* Call `take` with each row of samples that the report shows. */
static void each_sampled(struct report *f, void (*take)(struct report *, const struct sampled *))
{
	enum { KNOWN_BUCKET = LC_SLICE_WHO, KNOWN_KEY };
	const struct lc_slices *slices = f->tree->slices;
	const uint32_t engine = f->r->view->engine;
	struct lc_table known;

	lc_table_init(&known, KNOWN_KEY, 1);
	for (uint32_t i = 0; i < slices->sampled.count; i++) {
		const uint32_t *key = lc_table_key(&slices->sampled, i);
		const uint64_t *values = lc_table_values(&slices->sampled, i);
		const struct sampled s = { .who = key,
			                   .bucket = key[LC_TOTAL_BUCKET],
			                   .site = key[LC_SAMPLED_SITE],
			                   .path = key[LC_SAMPLED_PATH],
			                   .samples = values[LC_SAMPLED_SAMPLES],
			                   .latency = values[LC_SAMPLED_LATENCY],
			                   .placed = values[LC_SAMPLED_PLACED],
			                   .remote = values[LC_SAMPLED_REMOTE] };
		const uint32_t place[KNOWN_KEY] = { key[0], key[1], s.bucket };

		if (key[LC_TOTAL_ENGINE] != engine || !s.samples)
			continue;
		*lc_table_values(&known, lc_table_put(&known, place)) += s.samples;
		if (is_shown(f, s.bucket, s.site))
			take(f, &s);
	}
	for (uint32_t i = 0; i < slices->totals.count; i++) {
		const uint32_t *key = lc_table_key(&slices->totals, i);
		const uint32_t place[KNOWN_KEY] = { key[0], key[1], key[LC_TOTAL_BUCKET] };
		const uint64_t all = *lc_table_values(&slices->totals, i);
		const uint64_t rest = *lc_table_values(&known, lc_table_put(&known, place));
		const struct sampled s = { .who = key,
			                   .bucket = key[LC_TOTAL_BUCKET],
			                   .samples = all > rest ? all - rest : 0 };

		if (key[LC_TOTAL_ENGINE] == engine && s.samples)
			take(f, &s);
	}
	lc_table_free(&known);
}

static void put_fields(struct report *f)
{
	const struct lc_view *v = f->r->view;

	for (size_t i = 0; i < v->accesses_len; i++) {
		const struct lc_view_access *a = &v->accesses[i];
		size_t len;
		const struct lc_view_field *fields =
		    lc_view_fields(v, a->bucket, a->site, a->path, &len);

		for (size_t k = 0; k < len && is_shown(f, a->bucket, a->site); k++)
			put(f, LC_JFR_FIELD_ACCESS,
			    (const struct lc_jfr_value[]){
			        LC_JFR_NUMBER(0),
			        LC_JFR_NUMBER(lc_jfr_names_stack(&f->names, a->path)),
			        LC_JFR_NUMBER(class_of(f, a->site)),
			        LC_JFR_NUMBER(lc_jfr_names_bucket(&f->names, a->bucket)),
			        LC_JFR_NUMBER(fields[k].name
			                          ? lc_jfr_names_text(&f->names, fields[k].name)
			                          : 0),
			        LC_JFR_NUMBER(allocated_at(f, a->bucket, a->site)),
			        LC_JFR_NUMBER(fields[k].first), LC_JFR_NUMBER(fields[k].last),
			        LC_JFR_NUMBER(fields[k].samples), LC_JFR_NUMBER(fields[k].loads),
			        LC_JFR_NUMBER(fields[k].stores) });
	}
}

static void put_nodes(struct report *f)
{
	struct lc_pprof_nodes nodes;

	lc_pprof_nodes_build(&nodes, f->r->view);
	for (size_t i = 0; i < nodes.accesses_len; i++) {
		const struct lc_pprof_part *p = &nodes.accesses[i];

		if (!is_shown(f, p->bucket, p->site))
			continue;
		put(f, LC_JFR_NODE_ACCESS,
		    (const struct lc_jfr_value[]){
		        LC_JFR_NUMBER(0),
		        LC_JFR_NUMBER(lc_jfr_names_thread(&f->names, p->thread + 1)),
		        LC_JFR_NUMBER(lc_jfr_names_stack(&f->names, p->path)),
		        LC_JFR_NUMBER(class_of(f, p->site)),
		        LC_JFR_NUMBER(lc_jfr_names_bucket(&f->names, p->bucket)),
		        LC_JFR_NUMBER(allocated_at(f, p->bucket, p->site)),
		        LC_JFR_NUMBER(p->node1 - 1), LC_JFR_NUMBER(p->cpu_node1 - 1),
		        LC_JFR_NUMBER(p->samples) });
	}
	lc_pprof_nodes_free(&nodes);
}

/* ---- objects ---- */

/* The stack of a site's allocation. */
static uint64_t stack_of(struct report *f, uint32_t site)
{
	return lc_jfr_names_stack(&f->names, lc_table_key(&f->tree->sites, site)[LC_SITE_PATH]);
}

static void put_allocated(struct report *f, const uint32_t *key, uint64_t bytes)
{
	const struct stretch time = stretch_of(f, key);

	if (bytes)
		put(f, LC_JFR_ALLOCATION_SAMPLE,
		    (const struct lc_jfr_value[]){
		        LC_JFR_NUMBER(time.at_ns + time.duration_ns / 2),
		        LC_JFR_NUMBER(lc_jfr_names_thread(&f->names, key[LC_SLICE_THREAD1])),
		        LC_JFR_NUMBER(stack_of(f, key[LC_MADE_AT_SITE])),
		        LC_JFR_NUMBER(class_of(f, key[LC_MADE_AT_SITE])), LC_JFR_NUMBER(bytes) });
}

static void put_allocation_samples(struct report *f)
{
	const struct lc_table *made = &f->tree->slices->made;

	for (uint32_t i = 0; i < made->count; i++) {
		const uint32_t *key = lc_table_key(made, i);
		const uint64_t *values = lc_table_values(made, i);

		if (is_shown(f, LC_BUCKET_OBJECT, key[LC_MADE_AT_SITE]))
			put_allocated(f, key, values[LC_MADE_AT_BYTES]);
		if (is_shown(f, SHOWN_ESTIMATE, key[LC_MADE_AT_SITE]))
			put_allocated(f, key, values[LC_MADE_AT_ESTIMATED_BYTES]);
	}
}

static void put_allocation(struct report *f, uint32_t site, uint64_t objects, uint64_t bytes,
                           bool estimated)
{
	if (objects || bytes)
		put(f, LC_JFR_ALLOCATION,
		    (const struct lc_jfr_value[]){
		        LC_JFR_NUMBER(0), LC_JFR_NUMBER(stack_of(f, site)),
		        LC_JFR_NUMBER(class_of(f, site)), LC_JFR_NUMBER(objects),
		        LC_JFR_NUMBER(bytes), LC_JFR_NUMBER(estimated) });
}

static void put_allocations(struct report *f)
{
	const struct lc_view *v = f->r->view;

	for (size_t i = 0; i < v->sites_len && i < f->r->top; i++)
		if (v->sites[i].bucket == LC_BUCKET_OBJECT)
			put_allocation(f, v->sites[i].site, v->sites[i].allocations,
			               v->sites[i].bytes, false);
	for (size_t i = 0; i < v->estimates_len && i < f->r->top; i++)
		put_allocation(f, v->estimates[i].site, lc_stacks_whole(v->estimates[i].objects),
		               lc_stacks_whole(v->estimates[i].bytes), true);
}

static void put_held(struct report *f, uint32_t site, uint64_t objects, uint64_t bytes,
                     bool estimated)
{
	if (objects || bytes)
		put(f, LC_JFR_LIVE,
		    (const struct lc_jfr_value[]){
		        LC_JFR_NUMBER(f->end_ns - f->begin_ns), LC_JFR_NUMBER(stack_of(f, site)),
		        LC_JFR_NUMBER(class_of(f, site)), LC_JFR_NUMBER(objects),
		        LC_JFR_NUMBER(bytes), LC_JFR_NUMBER(estimated) });
}

static void put_live(struct report *f)
{
	const struct lc_live *live = &f->r->analysis->live_by_line;

	for (size_t i = 0; i < live->sites_len; i++) {
		const struct lc_live_site *s = &live->sites[i];

		if (s->off_heap)
			continue;
		put_held(f, s->site, s->now.objects, s->now.bytes, false);
		put_held(f, s->site, lc_stacks_whole(s->now.estimated.value),
		         lc_stacks_whole(s->now.estimated_bytes.value), true);
	}
}

static void put_offheap(struct report *f)
{
	size_t len;
	struct lc_offheap_site *sites = lc_offheap_sites(f->tree, &len);

	for (size_t i = 0; i < len; i++) {
		const struct lc_rank_offheap *o = &sites[i].counts;

		put(f, LC_JFR_OFFHEAP,
		    (const struct lc_jfr_value[]){
		        LC_JFR_NUMBER(0), LC_JFR_NUMBER(stack_of(f, sites[i].site)),
		        LC_JFR_NUMBER(class_of(f, sites[i].site)), LC_JFR_NUMBER(o->allocated),
		        LC_JFR_NUMBER(o->allocated_bytes), LC_JFR_NUMBER(lc_offheap_live(o)),
		        LC_JFR_NUMBER(lc_offheap_live_bytes(o)) });
	}
	free(sites);
}

/* ---- the process and the recording ---- */

/* "OpenJDK 64-Bit Server VM 17.0.15+6" is a name and a version. */
static void put_jvm(struct report *f, const struct lc_load_process *p)
{
	char *name = lc_mem_text("%s", p->jdk), *space = strrchr(name, ' ');
	const uint64_t start = p->attached ? LC_JFR_NONE : p->start_wall_ns / NS_PER_MS;

	if (space)
		*space++ = '\0';
	put(f, LC_JFR_JVM_INFORMATION,
	    (const struct lc_jfr_value[]){ LC_JFR_NUMBER(0), LC_JFR_TEXT(name), LC_JFR_TEXT(space),
	                                   LC_JFR_TEXT(NULL), LC_JFR_TEXT(NULL),
	                                   LC_JFR_TEXT(p->command), LC_JFR_NUMBER(start),
	                                   LC_JFR_NUMBER((uint64_t)p->pid) });
	free(name);
	if (p->cpus)
		put(f, LC_JFR_CPU_INFORMATION,
		    (const struct lc_jfr_value[]){ LC_JFR_NUMBER(0), LC_JFR_NUMBER(p->cpus) });
}

static void put_pauses(struct report *f)
{
	const struct lc_span_rows *rows = &f->r->analysis->span_rows;

	for (size_t i = 0; i < rows->pauses_len; i++) {
		const struct lc_span_pause *p = &rows->pauses[i];
		const uint64_t at = wall(process_of(f, p->process), p->start_ns);

		if (at >= f->begin_ns)
			put(f, LC_JFR_GC_PAUSE,
			    (const struct lc_jfr_value[]){
			        LC_JFR_NUMBER(at - f->begin_ns), LC_JFR_NUMBER(p->duration_ns),
			        LC_JFR_NUMBER(0), LC_JFR_NUMBER(i + 1), LC_JFR_TEXT("GC Pause") });
	}
}

static void put_setting(struct report *f, enum lc_jfr_type of, const char *name, const char *value)
{
	put(f, LC_JFR_ACTIVE_SETTING,
	    (const struct lc_jfr_value[]){ LC_JFR_NUMBER(0), LC_JFR_NUMBER(lc_jfr_type_id(of)),
	                                   LC_JFR_TEXT(name), LC_JFR_TEXT(value) });
}

static void put_recording(struct report *f)
{
	const struct lc_load *l = f->r->view->load;
	const struct lc_load_engine *e = f->r->engine;
	uint64_t period_ns;
	char period[48];

	put(f, LC_JFR_ACTIVE_RECORDING,
	    (const struct lc_jfr_value[]){ LC_JFR_NUMBER(0), LC_JFR_NUMBER(f->end_ns - f->begin_ns),
	                                   LC_JFR_NUMBER(1), LC_JFR_TEXT("Locus"),
	                                   LC_JFR_NUMBER(f->begin_ns / NS_PER_MS) });
	put_setting(f, LC_JFR_EXECUTION_SAMPLE, "enabled", "true");
	put_setting(f, LC_JFR_ALLOCATION_SAMPLE, "enabled", "true");
	if (__builtin_mul_overflow(e->interval_ns, f->per_event, &period_ns))
		period_ns = UINT64_MAX;
	snprintf(period, sizeof(period), "%" PRIu64 " ns", period_ns);
	if (strncmp(e->unit, "ns ", 3) == 0)
		put_setting(f, LC_JFR_EXECUTION_SAMPLE, "period", period);
	put(f, LC_JFR_ENGINE,
	    (const struct lc_jfr_value[]){
	        LC_JFR_NUMBER(0), LC_JFR_TEXT(e->name), LC_JFR_TEXT(e->event), LC_JFR_TEXT(e->unit),
	        LC_JFR_NUMBER(e->interval_ns), LC_JFR_NUMBER(f->r->view->total),
	        LC_JFR_NUMBER(f->per_event) });
	for (size_t i = 0; i < l->processes_len; i++)
		put_jvm(f, &l->processes[i]);
	put_pauses(f);
}

void lc_report_jfr(FILE *out, const struct lc_report *r)
{
	const uint64_t total = r->view->total;
	struct report f = { .r = r, .tree = r->view->tree };

	f.per_event = total / EVENTS_MAX + (total % EVENTS_MAX != 0);
	f.per_event += !f.per_event;
	lc_table_init(&f.shown, 2, 0);
	lc_table_init(&f.groups, LC_SLICE_WHO, GROUP_VALUES);
	lc_jfr_names_init(&f.names, r->view->load);
	find_time(&f);
	find_shown(&f);
	put_recording(&f);
	each_sampled(&f, count);
	each_sampled(&f, put_sampled);
	put_fields(&f);
	put_nodes(&f);
	put_allocation_samples(&f);
	put_allocations(&f);
	put_live(&f);
	put_offheap(&f);
	lc_jfr_finish(&f.names.jfr, out, f.begin_ns, f.end_ns - f.begin_ns);
	lc_jfr_names_free(&f.names);
	lc_table_free(&f.groups);
	lc_table_free(&f.shown);
}
