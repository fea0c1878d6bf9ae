/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/export/report_pprof.c - writes a profile for pprof: a message of its profile.proto,
 * compressed as gzip does. A sample of it is an access path with samples and latency, or the path
 * of an allocation with objects and bytes; labels say what else is known.
 */
#include "analyzer/objects/analysis/report.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/base/table.h"
#include "analyzer/objects/analysis/analysis.h"
#include "analyzer/objects/analysis/offheap.h"
#include "analyzer/objects/analysis/process_labels.h"
#include "analyzer/objects/analysis/stacks.h"
#include "analyzer/objects/export/pprof_nodes.h"
#include "analyzer/out/emit.h"

/* Numbers of fields in profile.proto. */
enum { VALUE_TYPE = 1, VALUE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT };
enum { LOCATION_ID = 1, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_FILE = 4 };
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION,
	PROFILE_STRING,
	PROFILE_TIME_NS = 9,
	PROFILE_DURATION_NS,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD,
	PROFILE_DEFAULT_TYPE = 14
};

enum { WIRE_VARINT, WIRE_BYTES = 2 };

/* Values of a sample, in the order in which the profile names them. */
enum {
	VALUE_SAMPLES,
	VALUE_BYTES,
	VALUE_ALLOCATIONS,
	VALUE_LATENCY,
	VALUE_OFFHEAP_BYTES,
	VALUE_OFFHEAP_LIVE,
	VALUE_LIVE_OBJECTS,
	VALUE_LIVE_BYTES,
	VALUE_CPU, /* follows from the samples */
	VALUES
};

/* The source of a label's text; the first column of its key. */
enum { TEXT_STRING, TEXT_KEY, TEXT_BUCKET, TEXT_NODE, TEXT_LINE, TEXT_WORD };

enum {
	WORD_CLASS,
	WORD_BUCKET,
	WORD_ALLOCATED,
	WORD_THREAD,
	WORD_NODE,
	WORD_CPU_NODE,
	WORD_ESTIMATED,
	WORD_YES
};

struct bytes {
	uint8_t *at;
	size_t len, cap;
};

struct pprof {
	const struct lc_tree *tree;
	struct bytes message;      /* the profile, as far as it is made */
	uint32_t strings;          /* in it so far; number 0 is empty */
	struct lc_table functions; /* key: what and row of lc_stack.frames; row: ID - 1 */
	struct lc_table locations; /* key: a frame of lc_stack.frames; row: ID - 1 */
	struct lc_table texts;     /* key: TEXT_*, what of; value: number of the string + 1 */
	struct lc_process_labels processes;
	struct bytes stack, labels; /* of the sample that is being made */
	unsigned values;            /* bits of those that a sample has */
	uint64_t sample_ns;         /* of CPU time that a sample stands for; 0: none */
};

static void put_bytes(struct bytes *b, const void *from, size_t len)
{
	b->at = lc_mem_grow(b->at, &b->cap, b->len + len, 1);
	if (len)
		memcpy(b->at + b->len, from, len);
	b->len += len;
}

static void put_number(struct bytes *b, uint64_t v)
{
	uint8_t byte;

	do {
		byte = (uint8_t)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
		put_bytes(b, &byte, 1);
		v >>= 7;
	} while (v);
}

static void field_number(struct bytes *b, unsigned field, uint64_t v)
{
	put_number(b, field << 3 | WIRE_VARINT);
	put_number(b, v);
}

static void field_bytes(struct bytes *b, unsigned field, const void *from, size_t len)
{
	put_number(b, field << 3 | WIRE_BYTES);
	put_number(b, len);
	put_bytes(b, from, len);
}

/* A message as a field of another one; its memory is freed. */
static void field_message(struct bytes *b, unsigned field, struct bytes *message)
{
	field_bytes(b, field, message->at, message->len);
	free(message->at);
	*message = (struct bytes){ .at = NULL };
}

/* Returns the number of the string. */
static uint32_t add_string(struct pprof *p, const char *text)
{
	field_bytes(&p->message, PROFILE_STRING, text, strlen(text));
	return p->strings++;
}

/* "com.acme.Main.load:20" */
static void put_line(FILE *out, const struct lc_tree *t, uint32_t path)
{
	const uint32_t *frame = lc_tree_frame(t, path);
	char *name = lc_stack_name(
	    t, (const uint32_t[LC_STACK_FRAME]){ LC_STACK_METHOD, frame[LC_FRAME_METHOD], 0 });

	fputs(name, out);
	if (frame[LC_FRAME_LINE1])
		fprintf(out, ":%u", frame[LC_FRAME_LINE1] - 1);
	free(name);
}

static const char *const words[] = {
	[WORD_CLASS] = "class",         [WORD_BUCKET] = "bucket", [WORD_ALLOCATED] = "allocated",
	[WORD_THREAD] = "thread",       [WORD_NODE] = "node",     [WORD_CPU_NODE] = "cpu_node",
	[WORD_ESTIMATED] = "estimated", [WORD_YES] = "yes",
};

/* The key of a process's label; where a sample's own label has that key: "label_class". */
static void put_key(FILE *out, struct lc_text key)
{
	for (size_t i = 0; i < WORD_YES; i++)
		if (lc_text_is(key, words[i]))
			fputs("label_", out);
	lc_emit_text(out, key);
}

/* The number of a text, which is in the profile once. */
static uint32_t add_text(struct pprof *p, uint32_t what, uint32_t of)
{
	const uint32_t key[2] = { what, of };
	uint64_t *number = lc_table_values(&p->texts, lc_table_put(&p->texts, key));
	char *text;
	size_t len;
	FILE *out;

	if (*number)
		return (uint32_t)*number - 1;
	out = lc_text_open(&text, &len);
	if (what == TEXT_STRING)
		lc_emit_text(out, lc_tree_text(p->tree, of));
	else if (what == TEXT_KEY)
		put_key(out, lc_tree_text(p->tree, of));
	else if (what == TEXT_BUCKET)
		fputs(lc_bucket_name(of), out);
	else if (what == TEXT_NODE)
		fprintf(out, "%u", of);
	else if (what == TEXT_LINE)
		put_line(out, p->tree, of);
	else
		fputs(words[of], out);
	lc_mem_close_text(out);
	*number = add_string(p, text) + 1;
	free(text);
	return (uint32_t)*number - 1;
}

static uint64_t add_function(struct pprof *p, const uint32_t *frame)
{
	const uint32_t before = p->functions.count;
	const uint32_t id = lc_table_put(&p->functions, frame) + 1; /* the line is behind its key */
	struct bytes message = { .at = NULL };
	uint32_t name, file = 0;
	char *text;

	if (id <= before)
		return id;
	if (frame[LC_STACK_WHAT] == LC_STACK_METHOD)
		file =
		    add_text(p, TEXT_STRING,
		             lc_table_key(&p->tree->methods, frame[LC_STACK_ROW])[LC_METHOD_FILE]);
	text = lc_stack_name(p->tree, frame);
	name = add_string(p, text);
	free(text);
	field_number(&message, FUNCTION_ID, id);
	/*
	 * Leave the system name empty: if it equals the name, pprof takes "<init>" for C++ and
	 * drops it.
	 */
	field_number(&message, FUNCTION_NAME, name);
	field_number(&message, FUNCTION_FILE, file);
	field_message(&p->message, PROFILE_FUNCTION, &message);
	return id;
}

static void push(struct pprof *p, uint32_t what, uint32_t row, uint32_t line1)
{
	const uint32_t frame[LC_STACK_FRAME] = { what, row, line1 }, before = p->locations.count;
	const uint32_t id = lc_table_put(&p->locations, frame) + 1;

	if (id > before) {
		struct bytes line = { .at = NULL }, message = { .at = NULL };

		field_number(&line, LINE_FUNCTION, add_function(p, frame));
		if (line1)
			field_number(&line, LINE_LINE, line1 - 1);
		field_number(&message, LOCATION_ID, id);
		field_message(&message, LOCATION_LINE, &line);
		field_message(&p->message, PROFILE_LOCATION, &message);
	}
	put_number(&p->stack, id);
}

static void put_label(struct pprof *p, uint32_t key, uint32_t text)
{
	struct bytes message = { .at = NULL };

	field_number(&message, LABEL_KEY, key);
	field_number(&message, LABEL_TEXT, text);
	field_message(&p->labels, SAMPLE_LABEL, &message);
}

static void label(struct pprof *p, uint32_t word, uint32_t what, uint32_t of)
{
	const uint32_t key = add_text(p, TEXT_WORD, word);

	put_label(p, key, add_text(p, what, of));
}

/* Write the facts about a path's processes as labels. */
static void label_processes(struct pprof *p, uint32_t path)
{
	const struct lc_process_group *g = lc_process_labels_of(&p->processes, path);

	for (size_t i = 0; i < g->len; i++) {
		const uint32_t key = add_text(p, TEXT_KEY, g->labels[i].key);

		put_label(p, key, add_text(p, TEXT_STRING, g->labels[i].value));
	}
}

/*
 * The stack of the samples to come, and the labels of its processes; one without a path has a frame
 * that says so.
 */
static void set_stack(struct pprof *p, uint32_t path)
{
	p->stack.len = p->labels.len = 0;
	label_processes(p, path);
	if (!path)
		push(p, LC_STACK_NONE, 0, 0);
	for (; path; path = lc_tree_parent(p->tree, path)) {
		const uint32_t *frame = lc_tree_frame(p->tree, path);

		push(p, LC_STACK_METHOD, frame[LC_FRAME_METHOD], frame[LC_FRAME_LINE1]);
	}
}

static uint64_t cpu_ns(const struct pprof *p, uint64_t samples)
{
	uint64_t ns;

	if (__builtin_mul_overflow(samples, p->sample_ns, &ns) || ns > INT64_MAX)
		return INT64_MAX;
	return ns;
}

/* A sample with that stack and the labels so far. */
static void add_sample(struct pprof *p, const uint64_t *values)
{
	struct bytes message = { .at = NULL }, numbers = { .at = NULL };
	uint64_t any = 0;

	for (unsigned i = 0; i < VALUES; i++) {
		if (!(p->values >> i & 1))
			continue;
		put_number(&numbers, i == VALUE_CPU ? cpu_ns(p, values[VALUE_SAMPLES]) : values[i]);
		any |= values[i];
	}
	if (any) {
		field_bytes(&message, SAMPLE_LOCATIONS, p->stack.at, p->stack.len);
		field_message(&message, SAMPLE_VALUES, &numbers);
		put_bytes(&message, p->labels.at, p->labels.len);
		field_message(&p->message, PROFILE_SAMPLE, &message);
	}
	free(numbers.at);
}

/* The parts whose thread or nodes are known, each a sample; they are taken off `values`. */
static void add_parts(struct pprof *p, const struct lc_pprof_part *parts, size_t len,
                      uint64_t *values)
{
	const size_t labels = p->labels.len;

	for (size_t i = 0; i < len; i++) {
		uint64_t of_part[VALUES] = { 0 };

		for (unsigned k = VALUE_SAMPLES; k <= VALUE_ALLOCATIONS; k++) {
			const uint64_t part = k == VALUE_SAMPLES ? parts[i].samples
			                      : k == VALUE_BYTES ? parts[i].bytes
			                                         : parts[i].objects;

			of_part[k] = part < values[k] ? part : values[k];
			values[k] -= of_part[k];
		}
		label(p, WORD_THREAD, TEXT_STRING, parts[i].name);
		if (parts[i].node1)
			label(p, WORD_NODE, TEXT_NODE, parts[i].node1 - 1);
		if (parts[i].cpu_node1)
			label(p, WORD_CPU_NODE, TEXT_NODE, parts[i].cpu_node1 - 1);
		add_sample(p, of_part);
		p->labels.len = labels;
	}
}

static void label_object(struct pprof *p, uint32_t site, bool known)
{
	const uint32_t *key = lc_table_key(&p->tree->sites, site);

	label(p, WORD_CLASS, TEXT_STRING, key[LC_SITE_CLASS]);
	if (known && key[LC_SITE_PATH])
		label(p, WORD_ALLOCATED, TEXT_LINE, key[LC_SITE_PATH]);
}

static void add_access(struct pprof *p, const struct lc_report *r, const struct lc_pprof_nodes *n,
                       const struct lc_view_access *a)
{
	const struct lc_view_metric *m = lc_view_metric(r->view, a->bucket, a->site, a->path);
	uint64_t values[VALUES] = { [VALUE_SAMPLES] = a->samples };
	const struct lc_pprof_part *parts;
	size_t len;

	set_stack(p, a->path);
	label(p, WORD_BUCKET, TEXT_BUCKET, a->bucket);
	if (a->site)
		label_object(p, a->site, a->bucket == LC_BUCKET_OBJECT);
	parts = lc_pprof_accesses(n, a->bucket, a->site, a->path, &len);
	add_parts(p, parts, len, values);
	if (m)
		values[VALUE_LATENCY] = m->latency_sum;
	add_sample(p, values);
}

static void add_site(struct pprof *p, const struct lc_report *r, const struct lc_pprof_nodes *n,
                     const struct lc_view_site *s)
{
	uint64_t values[VALUES] = {
		[VALUE_BYTES] = s->bytes, [VALUE_ALLOCATIONS] = s->allocations
	};
	const struct lc_pprof_part *parts;
	size_t len;

	for (size_t i = 0; i < s->accesses_len; i++)
		add_access(p, r, n, &s->accesses[i]);
	if (s->bucket != LC_BUCKET_OBJECT)
		return;
	set_stack(p, lc_table_key(&p->tree->sites, s->site)[LC_SITE_PATH]);
	label_object(p, s->site, true);
	parts = lc_pprof_allocations(n, s->site, &len);
	add_parts(p, parts, len, values);
	add_sample(p, values);
}

static void add_estimate(struct pprof *p, const struct lc_view_estimate *e)
{
	const uint64_t values[VALUES] = { [VALUE_BYTES] = lc_stacks_whole(e->bytes),
		                          [VALUE_ALLOCATIONS] = lc_stacks_whole(e->objects) };

	set_stack(p, lc_table_key(&p->tree->sites, e->site)[LC_SITE_PATH]);
	label_object(p, e->site, true);
	label(p, WORD_ESTIMATED, TEXT_WORD, WORD_YES);
	add_sample(p, values);
}

static void add_offheap(struct pprof *p)
{
	size_t len;
	struct lc_offheap_site *sites = lc_offheap_sites(p->tree, &len);

	for (size_t i = 0; i < len; i++) {
		const struct lc_rank_offheap *o = &sites[i].counts;
		const uint64_t values[VALUES] = { [VALUE_OFFHEAP_BYTES] = o->allocated_bytes,
			                          [VALUE_OFFHEAP_LIVE] = lc_offheap_live_bytes(o) };

		set_stack(p, lc_table_key(&p->tree->sites, sites[i].site)[LC_SITE_PATH]);
		label_object(p, sites[i].site, true);
		add_sample(p, values);
	}
	free(sites);
}

/* Objects that were live after the last collection: counted ones, and estimated ones. */
static void add_live(struct pprof *p, const struct lc_live *live)
{
	for (size_t i = 0; i < live->sites_len; i++) {
		const struct lc_live_site *s = &live->sites[i];
		const uint64_t counted[VALUES] = {
			[VALUE_LIVE_OBJECTS] = s->now.objects, [VALUE_LIVE_BYTES] = s->now.bytes
		};
		const uint64_t estimated[VALUES] = {
			[VALUE_LIVE_OBJECTS] = lc_stacks_whole(s->now.estimated.value),
			[VALUE_LIVE_BYTES] = lc_stacks_whole(s->now.estimated_bytes.value)
		};

		if (s->off_heap)
			continue;
		set_stack(p, lc_table_key(&p->tree->sites, s->site)[LC_SITE_PATH]);
		label_object(p, s->site, true);
		add_sample(p, counted);
		label(p, WORD_ESTIMATED, TEXT_WORD, WORD_YES);
		add_sample(p, estimated);
	}
}

static void add_value_type(struct pprof *p, unsigned field, const char *type, const char *unit)
{
	struct bytes message = { .at = NULL };

	field_number(&message, VALUE_TYPE, add_string(p, type));
	field_number(&message, VALUE_UNIT, add_string(p, unit));
	field_message(&p->message, field, &message);
}

/* Which number pprof shows when it is not told: samples, unless there are none. */
static void add_types(struct pprof *p, const struct lc_report *r)
{
	const struct lc_view_metric *m = lc_view_metric_all(r->view);

	static const char *const types[VALUES][2] = {
		[VALUE_SAMPLES] = { "samples", "count" },
		[VALUE_BYTES] = { "bytes", "bytes" },
		[VALUE_ALLOCATIONS] = { "allocations", "count" },
		[VALUE_LATENCY] = { "latency", "cycles" },
		[VALUE_OFFHEAP_BYTES] = { "offheap_bytes", "bytes" },
		[VALUE_OFFHEAP_LIVE] = { "offheap_live", "bytes" },
		[VALUE_LIVE_OBJECTS] = { "inuse_objects", "count" },
		[VALUE_LIVE_BYTES] = { "inuse_space", "bytes" },
		[VALUE_CPU] = { "cpu", "nanoseconds" },
	};

	p->values = 1u << VALUE_SAMPLES | 1u << VALUE_BYTES | 1u << VALUE_ALLOCATIONS;
	if (m && m->timed)
		p->values |= 1u << VALUE_LATENCY;
	if (p->tree->offheap.count || p->tree->offheap_before.count)
		p->values |= 1u << VALUE_OFFHEAP_BYTES | 1u << VALUE_OFFHEAP_LIVE;
	if (p->sample_ns)
		p->values |= 1u << VALUE_CPU;
	if (!r->analysis->live_by_line.none)
		p->values |= 1u << VALUE_LIVE_OBJECTS | 1u << VALUE_LIVE_BYTES;
	add_string(p, "");
	for (unsigned i = 0; i < VALUES; i++)
		if (p->values >> i & 1)
			add_value_type(p, PROFILE_SAMPLE_TYPE, types[i][0], types[i][1]);
	field_number(&p->message, PROFILE_DEFAULT_TYPE,
	             add_string(p, r->view->total ? "samples" : "bytes"));
}

static void add_head(struct pprof *p, const struct lc_report *r)
{
	const struct lc_load_process *first = r->view->load->processes;
	const bool time = strncmp(r->engine->unit, "ns ", 3) == 0;

	p->sample_ns = time ? r->engine->interval_ns : 0;
	add_types(p, r);
	add_value_type(p, PROFILE_PERIOD_TYPE, time ? "cpu" : r->engine->name,
	               time ? "nanoseconds" : "count");
	field_number(&p->message, PROFILE_PERIOD, r->engine->interval_ns);
	field_number(&p->message, PROFILE_TIME_NS, first->start_wall_ns);
	if (lc_load_end_ns(first) > first->start_monotonic_ns)
		field_number(&p->message, PROFILE_DURATION_NS,
		             lc_load_end_ns(first) - first->start_monotonic_ns);
}

static void compress_to(FILE *out, const struct bytes *message)
{
	enum { GZIP = 16 + MAX_WBITS, MEMORY = 8 };
	z_stream z = { .next_in = message->at };
	uint8_t buffer[16384];
	size_t left = message->len;
	int status;

	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		abort(); /* no memory, which ends the analyzer wherever it happens */
	do {
		if (!z.avail_in) {
			z.avail_in = left < UINT32_MAX ? (uInt)left : UINT32_MAX;
			left -= z.avail_in;
		}
		z.next_out = buffer;
		z.avail_out = sizeof(buffer);
		status = deflate(&z, left ? Z_NO_FLUSH : Z_FINISH);
		fwrite(buffer, 1, sizeof(buffer) - z.avail_out, out);
	} while (status != Z_STREAM_END);
	deflateEnd(&z);
}

static void add_all(struct pprof *p, const struct lc_report *r, const struct lc_pprof_nodes *n)
{
	const struct lc_view *v = r->view;

	for (size_t i = 0; i < v->sites_len && i < r->top; i++)
		add_site(p, r, n, &v->sites[i]);
	for (size_t i = 0; i < v->classes_len && i < r->top; i++)
		add_site(p, r, n, &v->classes[i]);
	for (size_t i = 0; i < v->estimates_len && i < r->top; i++)
		add_estimate(p, &v->estimates[i]);
	add_offheap(p);
	add_live(p, &r->analysis->live_by_line);
	for (size_t i = 0; i < v->accesses_len && !v->accesses[i].site; i++)
		add_access(p, r, n, &v->accesses[i]);
	for (unsigned b = 0; b < LC_BUCKET_COUNT; b++) {
		set_stack(p, 0);
		label(p, WORD_BUCKET, TEXT_BUCKET, b);
		add_sample(p, (const uint64_t[VALUES]){ lc_stacks_bare(r, b) });
	}
}

void lc_report_pprof(FILE *out, const struct lc_report *r)
{
	struct pprof p = { .tree = r->view->tree };
	struct lc_pprof_nodes nodes;

	lc_table_init(&p.functions, LC_STACK_LINE1, 0);
	lc_table_init(&p.locations, LC_STACK_FRAME, 0);
	lc_table_init(&p.texts, 2, 1);
	lc_process_labels_build(&p.processes, r->view->load);
	lc_pprof_nodes_build(&nodes, r->view);
	add_head(&p, r);
	add_all(&p, r, &nodes);
	compress_to(out, &p.message);
	lc_pprof_nodes_free(&nodes);
	lc_process_labels_free(&p.processes);
	lc_table_free(&p.functions);
	lc_table_free(&p.locations);
	lc_table_free(&p.texts);
	free(p.stack.at);
	free(p.labels.at);
	free(p.message.at);
}
