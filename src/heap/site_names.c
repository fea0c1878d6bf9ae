/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/site_names.c - keeps the stores of each class in one block, found by a hash of the class's
 * name.
 *
 * A block is never changed or freed once it is in the table. The same class may come again, changed
 * or in another loader. The length of a method's code tells whose rows are meant. If the rows of
 * two classes differ, the look-up finds no names.
 *
 * Order: D1  lc_site_names_add() puts a block at the head of its list (release) -> find() loads the
 * head (acquire): a block is whole before it is seen. Names that are made up are the attribution
 * thread's own.
 */
#include "src/heap/site_names.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/descriptor.h"
#include "src/base/options.h"
#include "src/core/counters.h"
#include "src/core/path.h"
#include "src/core/record.h"

enum {
	LISTS = 1 << 12,
	BYTES_MAX = 64 << 20,
	CALLERS_MAX = 32, /* frames that hand a result on */
	PASSED_MAX = 4,   /* methods that pass an argument on */
	NAME_BYTES = 1024,
};

struct kept {
	struct kept *next;
	uint64_t class;
	uint32_t methods_len, calls_len, rows_len, text_len;
	struct lc_store_method methods[];
	/* Followed by calls, rows and text. */
};

static struct {
	_Atomic(struct kept *) lists[LISTS];
	_Atomic uint64_t bytes, classes, dropped;
	lc_site_names_find *source; /* set once */
	struct lc_vector made_up;   /* char *: names of elements */
} stored = { .made_up = { .element_bytes = sizeof(char *) } };

static const struct lc_store_call *calls_of(const struct kept *k)
{
	return (const struct lc_store_call *)(k->methods + k->methods_len);
}

static const struct lc_store *rows_of(const struct kept *k)
{
	return (const struct lc_store *)(calls_of(k) + k->calls_len);
}

static const char *text_of(const struct kept *k)
{
	return (const char *)(rows_of(k) + k->rows_len);
}

static size_t bytes_of(const struct kept *k)
{
	return (size_t)(text_of(k) - (const char *)k) + k->text_len;
}

/* Two blocks of one class file differ only in `next`. */
static bool is_same(const struct kept *a, const struct kept *b)
{
	const size_t from = offsetof(struct kept, class);

	return bytes_of(a) == bytes_of(b) &&
	       !memcmp((const char *)a + from, (const char *)b + from, bytes_of(a) - from);
}

static _Atomic(struct kept *) *list_of(uint64_t class)
{
	return &stored.lists[class >> 32 & (LISTS - 1)];
}

/* The lists' parts in one block; NULL without memory. */
static struct kept *copy(const struct lc_store_names *s)
{
	const size_t methods = s->methods.len * sizeof(struct lc_store_method);
	const size_t calls = s->calls.len * sizeof(struct lc_store_call);
	const size_t rows = s->rows.len * sizeof(struct lc_store);
	struct kept *k = malloc(sizeof(*k) + methods + calls + rows + s->text.len);
	char *at;

	if (!k)
		return NULL;
	*k = (struct kept){
		.class = s->class,
		.methods_len = (uint32_t)s->methods.len,
		.calls_len = (uint32_t)s->calls.len,
		.rows_len = (uint32_t)s->rows.len,
		.text_len = (uint32_t)s->text.len,
	};
	at = (char *)k->methods;
	memcpy(at, s->methods.data, methods);
	at += methods;
	if (calls)
		memcpy(at, s->calls.data, calls);
	at += calls;
	if (rows)
		memcpy(at, s->rows.data, rows);
	at += rows;
	if (s->text.len)
		memcpy(at, s->text.data, s->text.len);
	return k;
}

void lc_site_names_source(lc_site_names_find *find)
{
	stored.source = find;
}

void lc_site_names_add(const struct lc_store_names *stores)
{
	_Atomic(struct kept *) *list = list_of(stores->class);
	struct kept *k, *head;

	if (stores->lost)
		atomic_fetch_add_explicit(&stored.dropped, 1, memory_order_relaxed);
	if (!stores->methods.len)
		return;
	k = atomic_load_explicit(&stored.bytes, memory_order_relaxed) < BYTES_MAX ? copy(stores)
	                                                                          : NULL;
	if (!k) {
		atomic_fetch_add_explicit(&stored.dropped, 1, memory_order_relaxed);
		return;
	}
	head = atomic_load_explicit(list, memory_order_acquire); /* D1 */
	for (const struct kept *old = head; old; old = old->next) {
		if (is_same(old, k)) {
			free(k);
			return;
		}
	}
	do
		k->next = head;
	while (!atomic_compare_exchange_weak_explicit(list, &head, k, memory_order_release,
	                                              memory_order_acquire)); /* D1 */
	/* Counts. */
	atomic_fetch_add_explicit(&stored.bytes, bytes_of(k), memory_order_relaxed);
	atomic_fetch_add_explicit(&stored.classes, 1, memory_order_relaxed);
}

/* ---- a method's rows ---- */

struct found {
	const struct kept *kept;
	const struct lc_store *rows;
	size_t len;
};

static const char *name_of(const struct kept *k, const struct lc_store *row)
{
	if (row->kind == LC_STORE_RETURNED)
		return "";
	return text_of(k) +
	       (row->kind == LC_STORE_ARGUMENT ? calls_of(k)[row->name].name : row->name);
}

static bool agree(const struct found *a, const struct found *b)
{
	bool same = a->len == b->len;

	for (size_t i = 0; same && i < a->len; i++) {
		const struct lc_store *x = &a->rows[i], *y = &b->rows[i];

		same = x->at == y->at && x->bytes == y->bytes && x->source == y->source &&
		       x->kind == y->kind && x->levels == y->levels && x->slot == y->slot &&
		       !strcmp(name_of(a->kept, x), name_of(b->kept, y));
	}
	return same;
}

enum answer { NOT_KNOWN, KNOWN, DOUBTFUL };

/* Find the rows of a method whose code has `code_bytes` bytes; 0: of any length. */
static enum answer find_kept(uint64_t class, uint64_t method, uint32_t code_bytes,
                             struct found *out)
{
	const struct kept *k = atomic_load_explicit(list_of(class), memory_order_acquire); /* D1 */
	enum answer answer = NOT_KNOWN;

	for (; k; k = k->next) {
		for (uint32_t i = 0; k->class == class && i < k->methods_len; i++) {
			const struct lc_store_method *m = &k->methods[i];
			const struct found f = { k, rows_of(k) + m->first, m->len };

			if (m->method != method)
				continue;
			if (answer == NOT_KNOWN)
				answer = KNOWN;
			if (!m->len || (code_bytes && m->code_bytes != code_bytes))
				continue;
			if (out->kept && !agree(out, &f))
				return DOUBTFUL;
			*out = f;
		}
	}
	return answer;
}

/* Ask the source, once: a method of which it knows nothing is kept without rows. */
static void ask_source(uint64_t class, uint64_t method, const char *class_name, const char *name,
                       const char *descriptor)
{
	const struct lc_store_method none = { .method = method };
	struct lc_store_names s = { 0 };

	if (!stored.source(class_name, name, descriptor, &s)) {
		const bool lost = s.lost;

		lc_store_names_free(&s);
		s = (struct lc_store_names){ .lost = lost };
	}
	s.class = class;
	s.methods.element_bytes = sizeof(none);
	if (s.methods.len || !lc_vector_push(&s.methods, &none))
		lc_site_names_add(&s);
	lc_store_names_free(&s);
}

/* Find the rows of a method. Returns false if they are unknown or uncertain. */
static bool find(const char *class_name, size_t class_len, const char *name, const char *descriptor,
                 uint32_t code_bytes, struct found *out)
{
	const uint64_t class = lc_store_names_hash(0, class_name, class_len);
	const uint64_t method =
	    lc_store_names_method(name, strlen(name), descriptor, strlen(descriptor));
	enum answer answer;
	char text[NAME_BYTES];

	*out = (struct found){ 0 };
	answer = find_kept(class, method, code_bytes, out);
	if (answer == NOT_KNOWN && stored.source && class_len < sizeof(text)) {
		memcpy(text, class_name, class_len);
		text[class_len] = '\0';
		ask_source(class, method, text, name, descriptor);
		answer = find_kept(class, method, code_bytes, out);
	}
	return answer == KNOWN && out->kept;
}

/* ---- a site's names ---- */

struct look {
	struct lc_site_names_one *out;
	size_t len, first; /* of the names that may give way to others: those from `first` on */
	uint32_t arrays;   /* of the site's class */
	uint32_t levels;   /* of arrays that the object is an element of, as it is followed */
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

/* Fields in which the method that is called keeps its argument. Returns whether there is one. */
static bool add_passed(struct look *l, const struct kept *k, const struct lc_store *passed,
                       unsigned depth)
{
	const struct lc_store_call *call = &calls_of(k)[passed->name];
	const char *name = text_of(k) + call->name, *method = strrchr(name, '.');
	const size_t before = l->len;
	struct found f;

	if (!call->exact || depth == PASSED_MAX || !method ||
	    !find(name, (size_t)(method - name), method + 1, text_of(k) + call->descriptor, 0, &f))
		return false;
	for (size_t i = 0; i < f.len; i++) {
		const struct lc_store *row = &f.rows[i];

		if (row->source != LC_STORE_OF_PARAMETER || row->at != passed->slot)
			continue;
		if (row->kind == LC_STORE_FIELD)
			add(l, LC_NAME_FIELD, name_of(f.kept, row), l->levels + row->levels);
		else if (row->kind == LC_STORE_ARGUMENT)
			add_passed(l, f.kept, row, depth + 1);
	}
	return l->len > before;
}

static void add_row(struct look *l, const struct found *f, const struct lc_store *row)
{
	const uint32_t levels = l->levels + row->levels;

	if (row->kind == LC_STORE_FIELD)
		add(l, LC_NAME_FIELD, name_of(f->kept, row), levels);
	else if (row->kind == LC_STORE_LOCAL)
		add(l, LC_NAME_LOCAL, name_of(f->kept, row), levels);
	else if (row->kind == LC_STORE_ARGUMENT && !levels && !add_passed(l, f->kept, row, 0))
		add(l, LC_NAME_ARGUMENT, name_of(f->kept, row), 0);
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

static bool may_return_array(const struct lc_method *m)
{
	const char *result = strrchr(m->signature, ')');

	return result && (result[1] == '[' || !strcmp(result + 1, "Ljava/lang/Object;"));
}

/* A lambda's own class has no file; it passes on the result of its body. */
static bool is_lambda(const struct lc_method *m)
{
	return strstr(m->class_name, "$$Lambda");
}

/*
 * Add the object's stores in one frame. Returns whether the frame returns the object. `leaf`: the
 * frame allocated it, else one of its callees did.
 */
static bool look_at_frame(struct look *l, const struct lc_path_node *node,
                          const struct lc_method *m, bool leaf)
{
	uint32_t returned = UINT32_MAX;
	struct found f;

	if (node->bci == LC_BCI_NONE || is_lambda(m)) /* native, or replaced by the JIT */
		return l->arrays && may_return_array(m);
	if (!find(m->class_name, strlen(m->class_name), m->name, m->signature, m->code_bytes, &f))
		return false;
	for (size_t i = 0; i < f.len; i++) {
		const struct lc_store *row = &f.rows[i];

		if (!is_row_at(row, node->bci) ||
		    !(leaf ? is_row_of_leaf(l, row) : row->source == LC_STORE_OF_CALL))
			continue;
		/* multianewarray makes the arrays in its array, too. */
		if (leaf && row->arrays > l->arrays)
			l->levels = (uint32_t)row->arrays - l->arrays;
		if (row->kind == LC_STORE_RETURNED)
			returned = l->levels + row->levels;
		else
			add_row(l, &f, row);
	}
	if (returned == UINT32_MAX)
		return false;
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

size_t lc_site_names_of(uint32_t site, struct lc_site_names_one out[LC_SITE_NAMES_MAX])
{
	const struct lc_site *s = lc_site_get(site);
	struct look l = { .out = out };
	size_t frames_end[CALLERS_MAX];
	unsigned frames = 0;
	uint32_t path = s ? s->path : 0;
	bool on = path;

	for (const char *at = s ? strchr(s->class_name, '[') : NULL; at; at = strchr(at + 1, '['))
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
	LC_COUNTER("names_classes", &stored.classes),
	LC_COUNTER("names_bytes", &stored.bytes),
	LC_COUNTER(
	    "names_dropped", &stored.dropped, .limit = "names_lost",
	    .text = "there was no room for the names of some sites' objects: they have no names"),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
