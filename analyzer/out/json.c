/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out/json.c - writes JSON and keeps track of what is open. Two bits for each level say whether it
 * is an object, and whether it holds a value.
 */
#include "analyzer/out/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "src/format/utf8.h"

static uint64_t level(const struct lc_json *j)
{
	return 1ull << j->depth;
}

/* Most characters stand for themselves; these go out many at a time. */
static bool is_plain(uint8_t c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\' && c != '<';
}

static void quoted(FILE *out, const char *bytes, size_t len)
{
	const uint8_t *at = (const uint8_t *)bytes, *end = at + len;
	uint8_t buffer[8];

	putc('"', out);
	while (at < end) {
		const uint8_t *run = at;

		while (at < end && is_plain(*at))
			at++;
		fwrite(run, 1, (size_t)(at - run), out);
		if (at < end) {
			size_t n = lc_utf8_json_put(buffer, lc_utf8_next(&at, end));

			fwrite(buffer, 1, n, out);
		}
	}
	putc('"', out);
}

/* All that stands before a value: comma, line, name. */
static void begin(struct lc_json *j, const char *name)
{
	assert(!name == !(j->objects & level(j)));
	assert(j->depth || !(j->filled & level(j)));
	if (j->filled & level(j)) {
		putc(',', j->out);
		if (j->line != LC_JSON_INLINE)
			fprintf(j->out, "\n%*s", j->line, "");
	}
	j->line = LC_JSON_INLINE;
	j->filled |= level(j);
	if (name) {
		quoted(j->out, name, strlen(name));
		putc(':', j->out);
	}
}

static void open_level(struct lc_json *j, const char *name, bool object)
{
	begin(j, name);
	assert(j->depth < LC_JSON_DEPTH);
	j->depth++;
	j->filled &= ~level(j);
	j->objects = object ? j->objects | level(j) : j->objects & ~level(j);
	putc(object ? '{' : '[', j->out);
}

static void close_level(struct lc_json *j, bool object)
{
	assert(j->depth && !(j->objects & level(j)) == !object);
	j->depth--;
	j->line = LC_JSON_INLINE;
	putc(object ? '}' : ']', j->out);
}

void lc_json_init(struct lc_json *j, FILE *out)
{
	*j = (struct lc_json){ .out = out, .line = LC_JSON_INLINE };
}

void lc_json_finish(const struct lc_json *j)
{
	assert(!j->depth && j->filled);
}

void lc_json_line(struct lc_json *j, unsigned spaces)
{
	j->line = (int)spaces;
}

void lc_json_object(struct lc_json *j, const char *name)
{
	open_level(j, name, true);
}

void lc_json_end_object(struct lc_json *j)
{
	close_level(j, true);
}

void lc_json_array(struct lc_json *j, const char *name)
{
	open_level(j, name, false);
}

void lc_json_end_array(struct lc_json *j)
{
	close_level(j, false);
}

void lc_json_text(struct lc_json *j, const char *name, struct lc_text text)
{
	begin(j, name);
	quoted(j->out, text.bytes, text.len);
}

void lc_json_string(struct lc_json *j, const char *name, const char *text)
{
	if (!text) {
		lc_json_null(j, name);
		return;
	}
	begin(j, name);
	quoted(j->out, text, strlen(text));
}

void lc_json_null(struct lc_json *j, const char *name)
{
	begin(j, name);
	fputs("null", j->out);
}

void lc_json_bool(struct lc_json *j, const char *name, bool v)
{
	begin(j, name);
	fputs(v ? "true" : "false", j->out);
}

void lc_json_u64(struct lc_json *j, const char *name, uint64_t v)
{
	begin(j, name);
	fprintf(j->out, "%" PRIu64, v);
}

void lc_json_i64(struct lc_json *j, const char *name, int64_t v)
{
	begin(j, name);
	fprintf(j->out, "%" PRId64, v);
}

void lc_json_real(struct lc_json *j, const char *name, double v)
{
	begin(j, name);
	if (isfinite(v))
		fprintf(j->out, "%.17g", v);
	else
		fputs("null", j->out);
}

void lc_json_known(struct lc_json *j, const char *name, double v)
{
	if (v < 0)
		lc_json_null(j, name);
	else
		lc_json_real(j, name, v);
}

void lc_json_fixed(struct lc_json *j, const char *name, double v, int decimals)
{
	begin(j, name);
	if (isfinite(v))
		fprintf(j->out, "%.*f", decimals, v);
	else
		fputs("null", j->out);
}

void lc_json_thousandths(struct lc_json *j, const char *name, int64_t v)
{
	uint64_t size = v < 0 ? -(uint64_t)v : (uint64_t)v;

	begin(j, name);
	fprintf(j->out, "%s%" PRIu64 ".%03u", v < 0 ? "-" : "", size / 1000,
	        (unsigned)(size % 1000));
}

void lc_json_id(struct lc_json *j, const char *name, uint64_t id)
{
	begin(j, name);
	fprintf(j->out, "\"%016" PRIx64 "\"", id);
}

void lc_json_code(struct lc_json *j, const struct lc_tree *t, uint32_t method, uint32_t line1)
{
	const uint32_t *m = lc_table_key(&t->methods, method);

	lc_json_text(j, "class", lc_tree_text(t, m[LC_METHOD_CLASS]));
	lc_json_text(j, "method", lc_tree_text(t, m[LC_METHOD_NAME]));
	lc_json_i64(j, "line", (int64_t)line1 - 1);
	lc_json_text(j, "file", lc_tree_text(t, m[LC_METHOD_FILE]));
}

void lc_json_path(struct lc_json *j, const char *name, const struct lc_tree *t, uint32_t path)
{
	lc_json_array(j, name);
	for (; path; path = lc_tree_parent(t, path)) {
		const uint32_t *frame = lc_tree_frame(t, path);

		lc_json_object(j, NULL);
		lc_json_code(j, t, frame[LC_FRAME_METHOD], frame[LC_FRAME_LINE1]);
		lc_json_i64(j, "bci", (int64_t)frame[LC_FRAME_BCI1] - 1);
		if (lc_tree_recursion(t, path))
			lc_json_u64(j, "recursion", lc_tree_recursion(t, path));
		lc_json_end_object(j);
	}
	lc_json_end_array(j);
}
