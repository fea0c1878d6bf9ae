/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/site_names.c - keeps the stores of each method that was looked at, by the JVM's ID of the
 * method and the length of its bytecode, which tells versions apart.
 */
#include "src/heap/site_names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/base/vector.h"
#include "src/classfile/store_names.h"
#include "src/core/counters.h"
#include "src/core/path.h"
#include "src/core/record.h"
#include "src/heap/loaded_code.h"

enum {
	LISTS = 1 << 10,
	BYTES_MAX = 64 << 20,
	CALLERS_MAX = 32, /* frames that hand a result on */
	PASSED_MAX = 4,   /* methods that pass an argument on, one to the next */
	CALLED_MAX = 64,  /* calls that arguments of a site are followed into */
	NAME_BYTES = 1024,
};

/* The stores of a method, one after the other with its calls and text. Never freed. */
struct found {
	struct found *next;
	jmethodID method;
	uint32_t code_bytes; /* that were asked for; 0: of any length */
	struct lc_store_names stores;
};

/* All is the writer's. */
static struct {
	struct found *lists[LISTS];
	uint64_t methods, bytes, dropped;
	struct lc_vector made_up; /* char *: names of elements */
} stored = { .made_up = { .element_bytes = sizeof(char *) } };

/* ---- a method's rows ---- */

static const struct lc_store *rows_of(const struct found *f)
{
	return f->stores.rows.data;
}

static const struct lc_store_call *calls_of(const struct found *f)
{
	return f->stores.calls.data;
}

static const char *text_of(const struct found *f)
{
	return (const char *)f->stores.text.data;
}

static const char *name_of(const struct found *f, const struct lc_store *row)
{
	if (row->kind == LC_STORE_RETURNED)
		return "";
	return text_of(f) +
	       (row->kind == LC_STORE_ARGUMENT ? calls_of(f)[row->name].name : row->name);
}

static size_t bytes_of(const struct found *f)
{
	const struct lc_store_names *s = &f->stores;

	return sizeof(*f) + s->rows.cap * s->rows.element_bytes +
	       s->calls.cap * s->calls.element_bytes + s->text.cap;
}

/* Read the method's bytecode. Without memory, or if that has another length, there are no rows. */
static void look(JNIEnv *jni, struct found *f)
{
	struct lc_store_names_scan scan = { 0 };
	struct lc_method_file file;

	if (!lc_loaded_code_open(jni, f->method, &file))
		return;
	if (!f->code_bytes || f->code_bytes == file.code.len) {
		if (!lc_store_names_open(&scan, &file.cls, &f->stores) ||
		    lc_store_names_find(&scan, &file.method, &file.code) != LC_REWRITE_DONE) {
			lc_store_names_free(&f->stores);
			stored.dropped++;
		}
		lc_store_names_close(&scan);
		lc_vector_trim(&f->stores.rows);
		lc_vector_trim(&f->stores.calls);
	}
	lc_method_file_close(&file);
}

/*
 * The rows of a method whose bytecode has `code_bytes` bytes; 0: of any length. NULL: nothing is
 * known of it.
 */
static const struct found *find(JNIEnv *jni, jmethodID method, uint32_t code_bytes)
{
	const uint64_t hash = lc_hash_add((uint64_t)(uintptr_t)method, code_bytes);
	struct found **list = &stored.lists[hash & (LISTS - 1)], *f = *list;

	if (!method)
		return NULL;
	while (f && (f->method != method || f->code_bytes != code_bytes))
		f = f->next;
	if (f)
		return f;
	f = stored.bytes < BYTES_MAX ? calloc(1, sizeof(*f)) : NULL;
	if (!f) {
		stored.dropped++;
		return NULL;
	}
	*f = (struct found){ .next = *list, .method = method, .code_bytes = code_bytes };
	look(jni, f);
	*list = f;
	stored.methods++;
	stored.bytes += bytes_of(f);
	return f;
}

/* ---- a site's names ---- */

struct look {
	JNIEnv *jni;
	struct lc_site_names_one *out;
	size_t len, first; /* of the names that may give way to others: those from `first` on */
	uint32_t arrays;   /* of the site's class */
	uint32_t levels;   /* of arrays that the object is an element of, as it is followed */
	bool is_block;     /* outside the heap: a buffer is what is followed */
	unsigned called;   /* calls that were followed */
};

/* The name with "[]" for each level; NULL without memory. */
static const char *element_name(const char *name, uint32_t levels)
{
	char *const *made_up = stored.made_up.data;
	char text[NAME_BYTES];
	const size_t len = strlen(name);
	char *kept;

	if (!levels)
		return name;
	if (len + 2 * (size_t)levels >= sizeof(text))
		return NULL;
	memcpy(text, name, len + 1);
	while (levels--)
		strcat(text, "[]");
	for (size_t i = 0; i < stored.made_up.len; i++)
		if (!strcmp(made_up[i], text))
			return made_up[i];
	kept = strdup(text);
	if (kept && lc_vector_push(&stored.made_up, &kept)) {
		free(kept);
		kept = NULL;
	}
	return kept;
}

static void add(struct look *l, enum lc_site_name kind, const char *name, uint32_t levels)
{
	const char *text = element_name(name, levels);

	for (size_t i = 0; text && i < l->len; i++)
		if (l->out[i].kind == kind && !strcmp(l->out[i].name, text))
			return;
	if (text && l->len < LC_SITE_NAMES_MAX)
		l->out[l->len++] = (struct lc_site_names_one){ text, kind };
}

/*
 * Does the row store the object, an element of its value so many levels deep? *there: levels where
 * it is stored. One array of many in an array would name all of them; buffers are few.
 */
static bool is_stored(const struct look *l, const struct lc_store *row, uint32_t levels,
                      uint32_t *there)
{
	const int at = (int)levels + row->levels;

	if (at < 0 || (row->levels < 0 && !l->is_block))
		return false;
	*there = (uint32_t)at;
	return true;
}

/*
 * Fields in which the method that `f` calls keeps its argument, of which the object is an element
 * so many levels deep. Returns whether there is one.
 */
static bool add_passed(struct look *l, const struct found *f, const struct lc_store *passed,
                       uint32_t levels, unsigned depth)
{
	const struct lc_store_call *call = &calls_of(f)[passed->name];
	const char *name = text_of(f) + call->name, *method = strrchr(name, '.');
	const size_t before = l->len;
	const struct found *called;
	uint32_t there;
	char class_name[NAME_BYTES];

	if (!call->exact || depth == PASSED_MAX || l->called++ >= CALLED_MAX || !method ||
	    (size_t)(method - name) >= sizeof(class_name))
		return false;
	memcpy(class_name, name, (size_t)(method - name));
	class_name[method - name] = '\0';
	called = find(l->jni,
	              lc_loaded_code_find(l->jni, f->method, class_name, method + 1,
	                                  text_of(f) + call->descriptor),
	              0);
	for (size_t i = 0; called && i < called->stores.rows.len; i++) {
		const struct lc_store *row = &rows_of(called)[i];

		if (row->source != LC_STORE_OF_PARAMETER || row->at != passed->slot ||
		    !is_stored(l, row, levels, &there))
			continue;
		if (row->kind == LC_STORE_FIELD)
			add(l, LC_NAME_FIELD, name_of(called, row), there);
		else if (row->kind == LC_STORE_ARGUMENT)
			add_passed(l, called, row, there, depth + 1);
	}
	return l->len > before;
}

static void add_row(struct look *l, const struct found *f, const struct lc_store *row)
{
	uint32_t levels;

	if (!is_stored(l, row, l->levels, &levels))
		return;
	if (row->kind == LC_STORE_FIELD)
		add(l, LC_NAME_FIELD, name_of(f, row), levels);
	else if (row->kind == LC_STORE_LOCAL)
		add(l, LC_NAME_LOCAL, name_of(f, row), levels);
	else if (row->kind == LC_STORE_ARGUMENT && !add_passed(l, f, row, levels, 0) && !levels &&
	         !l->is_block) /* what reads a buffer is no name of it */
		add(l, LC_NAME_ARGUMENT, name_of(f, row), 0);
}

/* Is the row of the bytecode at `bci`, or of the hook behind it? */
static bool is_row_at(const struct lc_store *row, uint32_t bci)
{
	return row->source != LC_STORE_OF_PARAMETER && bci >= row->at && bci - row->at < row->bytes;
}

/* Is the leaf's row about the allocated object? */
static bool is_row_of_leaf(const struct look *l, const struct lc_store *row)
{
	return l->arrays ? row->source != LC_STORE_OF_OBJECT : row->source == LC_STORE_OF_OBJECT;
}

static bool returns_buffer(const struct lc_method *m)
{
	const char *result = strrchr(m->signature, ')'); /* ")Ljava/nio/ByteBuffer;" */
	const size_t len = result ? strlen(result) : 0;

	return len > 3 && lc_store_names_is_buffer((struct lc_class_text){ result + 2, len - 3 });
}

/* May the method return the object, or what holds the block? */
static bool may_return(const struct look *l, const struct lc_method *m)
{
	const char *result = strrchr(m->signature, ')');

	if (l->is_block && returns_buffer(m))
		return true;
	return (l->is_block || l->arrays) && result &&
	       (result[1] == '[' || !strcmp(result + 1, "Ljava/lang/Object;"));
}

/* A lambda's own class has no file; it passes on the result of its body. */
static bool is_lambda(const struct lc_method *m)
{
	return strstr(m->class_name, "$$Lambda");
}

/*
 * Add the object's stores in one frame. Returns whether the frame returns the object. `leaf`: the
 * frame allocated it, or called the JDK for the block; else one of its callees did.
 */
static bool look_at_frame(struct look *l, const struct lc_path_node *node,
                          const struct lc_method *m, bool leaf)
{
	const bool made = leaf && !l->is_block;
	uint32_t returned = UINT32_MAX;
	const struct found *f;

	if (node->bci == LC_BCI_NONE || is_lambda(m)) /* native, or replaced by the JIT */
		return may_return(l, m);
	f = find(l->jni, lc_method_id(m), m->code_bytes);
	for (size_t i = 0; f && i < f->stores.rows.len; i++) {
		const struct lc_store *row = &rows_of(f)[i];

		if (!is_row_at(row, node->bci) ||
		    !(made ? is_row_of_leaf(l, row) : row->source == LC_STORE_OF_CALL))
			continue;
		/* multianewarray makes the arrays in its array, too. */
		if (made && row->arrays > l->arrays)
			l->levels = (uint32_t)row->arrays - l->arrays;
		if (row->kind != LC_STORE_RETURNED)
			add_row(l, f, row);
		else
			(void)is_stored(l, row, l->levels, &returned);
	}
	/* The JDK gave it an address, of which it makes a buffer. */
	if (returned == UINT32_MAX)
		return leaf && l->is_block && returns_buffer(m);
	l->levels = returned;
	return true;
}

/*
 * Fields are names in all frames. Without fields, local variables are names, and only those of the
 * outermost method that has any. Without these, methods that get the object as an argument are.
 */
static size_t choose(struct lc_site_names_one *names, size_t len, const size_t *frames_end,
                     unsigned frames)
{
	for (unsigned kind = LC_NAME_FIELD; kind < LC_NAME_KINDS; kind++) {
		size_t kept = 0, from = 0, to = len;

		for (unsigned i = frames; kind != LC_NAME_FIELD && i-- > 0;) {
			bool any = false;

			from = i ? frames_end[i - 1] : 0;
			to = frames_end[i];
			for (size_t k = from; k < to; k++)
				any |= names[k].kind == kind;
			if (any)
				break;
		}
		for (size_t i = from; i < to; i++)
			if (names[i].kind == kind)
				names[kept++] = names[i];
		if (kept)
			return kept;
	}
	return 0;
}

size_t lc_site_names_of(JNIEnv *jni, uint32_t site, struct lc_site_names_one out[LC_SITE_NAMES_MAX])
{
	const struct lc_site *s = lc_site_get(site);
	struct look l = { .jni = jni, .out = out };
	size_t frames_end[CALLERS_MAX];
	unsigned frames = 0;
	uint32_t path = s ? s->path : 0;
	bool on = path;

	l.is_block = s && strstr(s->class_name, LC_OFFHEAP_SUFFIX);
	for (const char *at = s && !l.is_block ? strchr(s->class_name, '[') : NULL; at;
	     at = strchr(at + 1, '['))
		l.arrays++;
	while (on && path && frames < CALLERS_MAX) {
		const struct lc_path_node *node = lc_path_get(path);
		const struct lc_method *m = node ? lc_method_get(node->method) : NULL;

		if (!m)
			break;
		on = look_at_frame(&l, node, m, !frames);
		frames_end[frames++] = l.len;
		path = node->parent;
	}
	return choose(out, l.len, frames_end, frames);
}

static const struct lc_counter counters[] = {
	LC_COUNTER("names_methods", &stored.methods),
	LC_COUNTER("names_bytes", &stored.bytes),
	LC_COUNTER(
	    "names_dropped", &stored.dropped, .limit = "names_lost",
	    .text = "there was no room for the names of some sites' objects: they have no names"),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
