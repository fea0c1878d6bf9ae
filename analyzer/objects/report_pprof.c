/*
 * objects/report_pprof.c - writes a profile for pprof: a message of its profile.proto, compressed
 * as gzip does. The stacks are those of the collapsed format: from the leaf the access path, the
 * class in brackets, the allocation path.
 */
#include "analyzer/objects/report.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/base/table.h"
#include "analyzer/out/text.h"

/* Numbers of fields in profile.proto. */
enum { VALUE_TYPE = 1, VALUE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES };
enum { LOCATION_ID = 1, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION,
	PROFILE_STRING,
	PROFILE_TIME_NS = 9,
	PROFILE_DURATION_NS,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD
};

enum { WIRE_VARINT, WIRE_BYTES = 2 };

/* What a frame of a stack is; the first column of a location's and of a function's key. */
enum { OF_METHOD, OF_CLASS, OF_BUCKET };

struct bytes {
	uint8_t *at;
	size_t len, cap;
};

struct pprof {
	const struct lc_tree *tree;
	struct bytes message;       /* the profile, as far as it is made */
	uint32_t strings;           /* in it so far; number 0 is empty */
	struct lc_table functions;  /* key: what, method, string or bucket; row: ID - 1 */
	struct lc_table locations;  /* key: as functions, line + 1; row: ID - 1 */
	struct lc_table file_names; /* key: string of the tree; value: number here + 1 */
	struct bytes stack;         /* of the sample that is being made: IDs of locations */
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

static uint32_t add_file(struct pprof *p, uint32_t string)
{
	uint64_t *number = lc_table_values(&p->file_names, lc_table_put(&p->file_names, &string));
	char *text;
	size_t len;
	FILE *out;

	if (*number)
		return (uint32_t)*number - 1;
	out = lc_text_open(&text, &len);
	lc_emit_text(out, lc_tree_text(p->tree, string));
	lc_text_close(out);
	*number = add_string(p, text) + 1;
	free(text);
	return (uint32_t)*number - 1;
}

static uint64_t add_function(struct pprof *p, uint32_t what, uint32_t row)
{
	const uint32_t key[2] = { what, row }, before = p->functions.count;
	const uint32_t id = lc_table_put(&p->functions, key) + 1;
	struct bytes message = { .at = NULL };
	uint32_t name, file = 0;
	char *text;
	size_t len;
	FILE *out;

	if (id <= before)
		return id;
	out = lc_text_open(&text, &len);
	if (what == OF_METHOD) {
		const uint32_t *method = lc_table_key(&p->tree->methods, row);

		lc_emit_text(out, lc_tree_text(p->tree, method[LC_METHOD_CLASS]));
		putc('.', out);
		lc_emit_text(out, lc_tree_text(p->tree, method[LC_METHOD_NAME]));
		file = add_file(p, method[LC_METHOD_FILE]);
	} else {
		putc('[', out);
		if (what == OF_CLASS)
			lc_emit_text(out, lc_tree_text(p->tree, row));
		else
			fputs(lc_bucket_name(row), out);
		putc(']', out);
	}
	lc_text_close(out);
	name = add_string(p, text);
	free(text);
	field_number(&message, FUNCTION_ID, id);
	field_number(&message, FUNCTION_NAME, name);
	field_number(&message, FUNCTION_SYSTEM_NAME, name);
	field_number(&message, FUNCTION_FILE, file);
	field_message(&p->message, PROFILE_FUNCTION, &message);
	return id;
}

static void push(struct pprof *p, uint32_t what, uint32_t row, uint32_t line1)
{
	const uint32_t key[3] = { what, row, line1 }, before = p->locations.count;
	const uint32_t id = lc_table_put(&p->locations, key) + 1;

	if (id > before) {
		struct bytes line = { .at = NULL }, message = { .at = NULL };

		field_number(&line, LINE_FUNCTION, add_function(p, what, row));
		if (line1)
			field_number(&line, LINE_LINE, line1 - 1);
		field_number(&message, LOCATION_ID, id);
		field_message(&message, LOCATION_LINE, &line);
		field_message(&p->message, PROFILE_LOCATION, &message);
	}
	put_number(&p->stack, id);
}

static void push_path(struct pprof *p, uint32_t path)
{
	for (; path; path = lc_tree_parent(p->tree, path)) {
		const uint32_t *frame = lc_tree_frame(p->tree, path);

		push(p, OF_METHOD, frame[LC_FRAME_METHOD], frame[LC_FRAME_LINE1]);
	}
}

static void add_sample(struct pprof *p, uint64_t samples)
{
	struct bytes message = { .at = NULL }, value = { .at = NULL };

	field_bytes(&message, SAMPLE_LOCATIONS, p->stack.at, p->stack.len);
	put_number(&value, samples);
	field_message(&message, SAMPLE_VALUES, &value);
	field_message(&p->message, PROFILE_SAMPLE, &message);
	p->stack.len = 0;
}

static void add_site(struct pprof *p, const struct lc_view_site *s, uint32_t allocation_path)
{
	for (size_t i = 0; i < s->accesses_len; i++) {
		push_path(p, s->accesses[i].path);
		push(p, OF_CLASS, lc_table_key(&p->tree->sites, s->site)[LC_SITE_CLASS], 0);
		push_path(p, allocation_path);
		add_sample(p, s->accesses[i].samples);
	}
}

static void add_value_type(struct pprof *p, unsigned field, const char *type, const char *unit)
{
	struct bytes message = { .at = NULL };

	field_number(&message, VALUE_TYPE, add_string(p, type));
	field_number(&message, VALUE_UNIT, add_string(p, unit));
	field_message(&p->message, field, &message);
}

static void add_head(struct pprof *p, const struct lc_report *r)
{
	const struct lc_load_process *first = r->view->load->processes;
	const bool time = strncmp(r->engine->unit, "ns ", 3) == 0;

	add_string(p, "");
	add_value_type(p, PROFILE_SAMPLE_TYPE, "samples", "count");
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

void lc_report_pprof(FILE *out, const struct lc_report *r)
{
	const struct lc_view *v = r->view;
	struct pprof p = { .tree = v->tree };

	lc_table_init(&p.functions, 2, 0);
	lc_table_init(&p.locations, 3, 0);
	lc_table_init(&p.file_names, 1, 1);
	add_head(&p, r);
	for (size_t i = 0; i < v->sites_len && i < r->top; i++)
		add_site(&p, &v->sites[i],
		         lc_table_key(&v->tree->sites, v->sites[i].site)[LC_SITE_PATH]);
	for (size_t i = 0; i < v->classes_len && i < r->top; i++)
		add_site(&p, &v->classes[i], 0);
	for (size_t i = 0; i < v->accesses_len && !v->accesses[i].site; i++) {
		push_path(&p, v->accesses[i].path);
		push(&p, OF_BUCKET, v->accesses[i].bucket, 0);
		add_sample(&p, v->accesses[i].samples);
	}
	compress_to(out, &p.message);
	lc_table_free(&p.functions);
	lc_table_free(&p.locations);
	lc_table_free(&p.file_names);
	free(p.stack.at);
	free(p.message.at);
}
