/* SPDX-License-Identifier: Apache-2.0 */
/* objects/export/jfr_names.c - puts names, call paths and threads into the pools of a JFR file. */
#include "analyzer/objects/export/jfr_names.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/base/plain.h"
#include "analyzer/model/load.h"
#include "analyzer/out/emit.h"
#include "src/format/kinds.h"

/* Columns `what` and `row` of the pools' keys. */
enum { OF_STRING, OF_CLASS, OF_PACKAGE, OF_SIGNATURE, OF_BUCKET, OF_NOTHING };

/* The class of the outermost frame of a cut path, docs/FORMAT.md. */
static const char cut_class[] = "[cut]";
static const char no_path[] = "(no call path)", no_signature[] = "()V";

void lc_jfr_names_init(struct lc_jfr_names *n, const struct lc_load *load)
{
	lc_jfr_init(&n->jfr);
	n->load = load;
}

void lc_jfr_names_free(struct lc_jfr_names *n)
{
	lc_jfr_free(&n->jfr);
}

/* Write the text with each character of `from` replaced by that of `to`. */
static void put_replaced(FILE *out, struct lc_text text, const char *from, const char *to)
{
	char *copy = lc_mem_zeroed((size_t)text.len + 1, 1);

	for (uint32_t i = 0; i < text.len; i++) {
		const char *found = text.bytes[i] ? strchr(from, text.bytes[i]) : NULL;

		copy[i] = found ? to[found - from] : text.bytes[i];
	}
	lc_plain_put(out, copy, text.len);
	free(copy);
}

/* Split "int[][]" into "int" and 2. */
static struct lc_text element_type(struct lc_text name, uint32_t *dimensions)
{
	*dimensions = 0;
	while (name.len > 2 && lc_text_ends(name, "[]")) {
		name.len -= 2;
		++*dimensions;
	}
	return name;
}

static void put_class(FILE *out, struct lc_text text)
{
	static const char *const primitives[][2] = {
		{ "boolean", "Z" }, { "byte", "B" }, { "char", "C" }, { "double", "D" },
		{ "float", "F" },   { "int", "I" },  { "long", "J" }, { "short", "S" },
	};
	uint32_t dimensions;
	const struct lc_text name = element_type(text, &dimensions);

	if (!dimensions) {
		put_replaced(out, name, lc_text_begins(name, "[") ? ".[]" : ".",
		             lc_text_begins(name, "[") ? "/()" : "/");
		return;
	}
	while (dimensions--)
		putc('[', out);
	for (size_t i = 0; i < sizeof(primitives) / sizeof(primitives[0]); i++) {
		if (lc_text_is(name, primitives[i][0])) {
			fputs(primitives[i][1], out);
			return;
		}
	}
	putc('L', out);
	put_replaced(out, name, ".;[]", "/_()");
	putc(';', out);
}

/* Bytes of the package in a class's name; 0: it has none, as an array. */
static uint32_t package_len(struct lc_text name)
{
	uint32_t len = lc_text_ends(name, "[]") ? 0 : name.len;

	while (len && name.bytes[len - 1] != '.')
		len--;
	return len ? len - 1 : 0;
}

/* Bytes of the first type of a descriptor; 0: it is none. */
static uint32_t type_len(const char *at, uint32_t len)
{
	uint32_t i = 0;

	while (i < len && at[i] == '[')
		i++;
	if (i == len)
		return 0;
	if (at[i] == 'L') {
		const char *end = memchr(at + i, ';', len - i);

		return end ? (uint32_t)(end - at) + 1 : 0;
	}
	return at[i] && strchr("ZBCDFIJSV", at[i]) ? i + 1 : 0;
}

/* Is it "(ILjava/lang/String;)V"? Readers take it apart and trust it. */
static bool is_signature(struct lc_text s)
{
	uint32_t at = 1;

	if (!lc_text_begins(s, "("))
		return false;
	while (at < s.len && s.bytes[at] != ')') {
		const uint32_t len = type_len(s.bytes + at, s.len - at);

		if (!len)
			return false;
		at += len;
	}
	return at < s.len && type_len(s.bytes + at + 1, s.len - at - 1) == s.len - at - 1;
}

static uint64_t symbol(struct lc_jfr_names *n, uint32_t what, uint32_t row)
{
	const struct lc_tree *t = n->load->tree;
	struct lc_text text = { "", 0 };
	bool fresh;
	const uint64_t key = lc_jfr_constant(&n->jfr, LC_JFR_SYMBOL, what, row, &fresh);
	char *made;
	size_t len;
	FILE *out;

	if (!fresh)
		return key;
	if (what <= OF_SIGNATURE)
		text = lc_tree_text(t, row);
	out = lc_text_open(&made, &len);
	if (what == OF_CLASS)
		put_class(out, text);
	else if (what == OF_PACKAGE)
		put_replaced(out, (struct lc_text){ text.bytes, package_len(text) }, ".", "/");
	else if (what == OF_SIGNATURE && !is_signature(text))
		fputs(no_signature, out);
	else if (what == OF_BUCKET)
		fputs(lc_bucket_name(row), out);
	else if (what == OF_NOTHING)
		fputs(no_path, out);
	else
		lc_emit_text(out, text);
	lc_mem_close_text(out);
	lc_jfr_define(&n->jfr, LC_JFR_SYMBOL, key, &(const struct lc_jfr_value)LC_JFR_TEXT(made));
	free(made);
	return key;
}

uint64_t lc_jfr_names_text(struct lc_jfr_names *n, uint32_t string)
{
	return symbol(n, OF_STRING, string);
}

uint64_t lc_jfr_names_bucket(struct lc_jfr_names *n, uint32_t bucket)
{
	return symbol(n, OF_BUCKET, bucket);
}

static uint64_t package(struct lc_jfr_names *n, uint32_t string)
{
	uint64_t key;
	bool fresh;

	if (!package_len(lc_tree_text(n->load->tree, string)))
		return 0;
	key = lc_jfr_constant(&n->jfr, LC_JFR_PACKAGE, OF_PACKAGE, string, &fresh);
	if (fresh)
		lc_jfr_define(
		    &n->jfr, LC_JFR_PACKAGE, key,
		    &(const struct lc_jfr_value)LC_JFR_NUMBER(symbol(n, OF_PACKAGE, string)));
	return key;
}

/* OF_CLASS and a string, or OF_NOTHING. */
static uint64_t class(struct lc_jfr_names *n, uint32_t what, uint32_t string)
{
	bool fresh;
	const uint64_t key = lc_jfr_constant(&n->jfr, LC_JFR_CLASS, what, string, &fresh);

	if (fresh)
		lc_jfr_define(&n->jfr, LC_JFR_CLASS, key,
		              (const struct lc_jfr_value[]){
		                  LC_JFR_NUMBER(symbol(n, what, string)),
		                  LC_JFR_NUMBER(what == OF_CLASS ? package(n, string) : 0),
		                  LC_JFR_NUMBER(0) });
	return key;
}

uint64_t lc_jfr_names_class(struct lc_jfr_names *n, uint32_t string)
{
	return class(n, OF_CLASS, string);
}

static uint64_t method(struct lc_jfr_names *n, uint32_t what, uint32_t row)
{
	const uint32_t *m = lc_table_key(&n->load->tree->methods, row);
	const bool nothing = what == OF_NOTHING;
	bool fresh;
	const uint64_t key = lc_jfr_constant(&n->jfr, LC_JFR_METHOD, what, row, &fresh);

	if (fresh)
		lc_jfr_define(
		    &n->jfr, LC_JFR_METHOD, key,
		    (const struct lc_jfr_value[]){
		        LC_JFR_NUMBER(nothing ? class(n, OF_NOTHING, 0)
		                              : class(n, OF_CLASS, m[LC_METHOD_CLASS])),
		        LC_JFR_NUMBER(symbol(n, OF_STRING, nothing ? 0 : m[LC_METHOD_NAME])),
		        LC_JFR_NUMBER(
		            symbol(n, OF_SIGNATURE, nothing ? 0 : m[LC_METHOD_SIGNATURE])),
		        LC_JFR_NUMBER(0), LC_JFR_NUMBER(0) });
	return key;
}

/* The profile does not tell which code was compiled. */
static uint64_t frame_type(struct lc_jfr_names *n)
{
	bool fresh;
	const uint64_t key = lc_jfr_constant(&n->jfr, LC_JFR_FRAME_TYPE, 0, 0, &fresh);

	if (fresh)
		lc_jfr_define(&n->jfr, LC_JFR_FRAME_TYPE, key,
		              &(const struct lc_jfr_value)LC_JFR_TEXT("Unknown"));
	return key;
}

static void push(struct lc_jfr_names *n, struct lc_bytes *frames, uint64_t method_key,
                 const uint32_t *frame)
{
	const uint32_t line = frame ? frame[LC_FRAME_LINE1] - 1 : UINT32_MAX;
	const uint32_t bci = frame ? frame[LC_FRAME_BCI1] - 1 : UINT32_MAX;

	lc_jfr_put(frames, LC_JFR_FRAME,
	           (const struct lc_jfr_value[]){ LC_JFR_NUMBER(method_key), LC_JFR_NUMBER(line),
	                                          LC_JFR_NUMBER(bci),
	                                          LC_JFR_NUMBER(frame_type(n)) });
}

uint64_t lc_jfr_names_stack(struct lc_jfr_names *n, uint32_t path)
{
	const struct lc_tree *t = n->load->tree;
	struct lc_bytes frames = { .data = NULL };
	uint64_t len = 0;
	bool fresh, cut = false;
	const uint64_t key = lc_jfr_constant(&n->jfr, LC_JFR_STACK, 0, path, &fresh);

	if (!fresh)
		return key;
	if (!path) {
		push(n, &frames, method(n, OF_NOTHING, 0), NULL);
		len = 1;
	}
	for (; path; path = lc_tree_parent(t, path)) {
		const uint32_t *frame = lc_tree_frame(t, path);

		if (lc_text_is(lc_tree_text(t, lc_tree_method(t, path)[LC_METHOD_CLASS]),
		               cut_class)) {
			cut = true;
			continue;
		}
		push(n, &frames, method(n, OF_STRING, frame[LC_FRAME_METHOD]), frame);
		len++;
	}
	if (frames.failed)
		lc_no_memory();
	lc_jfr_define(&n->jfr, LC_JFR_STACK, key,
	              (const struct lc_jfr_value[]){ LC_JFR_NUMBER(cut),
	                                             { .number = len, .elements = &frames } });
	free(frames.data);
	return key;
}

/* The group of a thread is its process: "4711@web1". */
static uint64_t thread_group(struct lc_jfr_names *n, uint32_t process)
{
	bool fresh;
	const uint64_t key = lc_jfr_constant(&n->jfr, LC_JFR_THREAD_GROUP, 0, process, &fresh);

	if (fresh) {
		const struct lc_load_process *p = &n->load->processes[process];
		char *name = *p->host ? lc_mem_text("%lld@%s", (long long)p->pid, p->host)
		                      : lc_mem_text("%lld", (long long)p->pid);

		lc_jfr_define(&n->jfr, LC_JFR_THREAD_GROUP, key,
		              (const struct lc_jfr_value[]){ LC_JFR_NUMBER(0), LC_JFR_TEXT(name) });
		free(name);
	}
	return key;
}

uint64_t lc_jfr_names_thread(struct lc_jfr_names *n, uint32_t thread1)
{
	const struct lc_tree *t = n->load->tree;
	const uint32_t *of;
	const uint64_t *values;
	uint64_t key;
	bool fresh;
	char *name;
	size_t len;
	FILE *out;

	if (!thread1)
		return 0;
	key = lc_jfr_constant(&n->jfr, LC_JFR_THREAD, 0, thread1, &fresh);
	if (!fresh)
		return key;
	of = lc_table_key(&t->threads, thread1 - 1);
	values = lc_table_values(&t->threads, thread1 - 1);
	out = lc_text_open(&name, &len);
	lc_emit_text(out, lc_tree_text(t, (uint32_t)values[LC_THREAD_NAME]));
	lc_mem_close_text(out);
	lc_jfr_define(&n->jfr, LC_JFR_THREAD, key,
	              (const struct lc_jfr_value[]){
	                  LC_JFR_TEXT(name), LC_JFR_NUMBER(values[LC_THREAD_TID]),
	                  LC_JFR_TEXT(name), LC_JFR_NUMBER(thread1),
	                  LC_JFR_NUMBER(of[LC_THREAD_PROCESS] < n->load->processes_len
	                                    ? thread_group(n, of[LC_THREAD_PROCESS])
	                                    : 0) });
	free(name);
	return key;
}

uint64_t lc_jfr_names_running(struct lc_jfr_names *n)
{
	bool fresh;
	const uint64_t key = lc_jfr_constant(&n->jfr, LC_JFR_THREAD_STATE, 0, 0, &fresh);

	if (fresh)
		lc_jfr_define(&n->jfr, LC_JFR_THREAD_STATE, key,
		              &(const struct lc_jfr_value)LC_JFR_TEXT("STATE_RUNNABLE"));
	return key;
}
