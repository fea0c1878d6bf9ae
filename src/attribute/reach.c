/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/reach.c - answers for a sample, and remembers the answers and the code of methods.
 *
 * A place is the sampled frame and its callers, as many as an answer may depend on. Both memories
 * are bounded: a new entry takes the place of an old one. A method has a copy of its class's
 * constant pool, which may be long, so the bytes of all code are bounded too. All data is the
 * attribution thread's.
 */
#include "src/attribute/reach.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/attribute/reach_impl.h"
#include "src/base/hash.h"
#include "src/core/counters.h"
#include "src/core/path.h"
#include "src/core/record.h"
#include "src/format/kinds.h"
#include "src/heap/loaded_code.h"
#include "src/jvm/layout/field_layout.h"

enum {
	ANSWERS = 1 << 12,
	CODES = 1 << 8,
	CODES_BYTES = 1 << 20,
	WAYS = 32, /* entries in which a method may stand */
	NAMES = 1 << 10,
	NAMES_MAX = 1 << 16,
	SEVERAL_BYTES = 2048,
};

struct answer {
	uint64_t key; /* 0: none */
	struct lc_reach reach;
};

/* A name, of which there is one. */
struct name {
	struct name *next;
	char text[];
};

static struct {
	struct answer *answers; /* ANSWERS, once there is one */
	struct lc_reach_code codes[CODES];
	struct name *names[NAMES];
	size_t codes_bytes;
	uint64_t opened; /* calls of lc_reach_open() */
	uint64_t names_len, places, analysed, known, unknown;
} reach;

/* ---- names ---- */

static const char *intern(const char *text)
{
	const size_t len = strlen(text);
	struct name **list = &reach.names[lc_hash_text(0, text) % NAMES], *n;

	for (n = *list; n; n = n->next)
		if (!strcmp(n->text, text))
			return n->text;
	n = reach.names_len < NAMES_MAX ? malloc(sizeof(*n) + len + 1) : NULL;
	if (!n)
		return NULL;
	memcpy(n->text, text, len + 1);
	n->next = *list;
	*list = n;
	reach.names_len++;
	return n->text;
}

/* ---- code ---- */

/* Another version of the method mostly has another length. */
static bool has_bytes(const struct lc_reach_code *c, uint32_t code_bytes)
{
	return code_bytes == LC_REACH_ANY_BYTES || c->file.code.len == code_bytes;
}

/*
 * The method's entry, or the one that was used longest ago. One that is in use never gives way.
 * NULL if all are, which are more than a place has methods.
 */
static struct lc_reach_code *entry_of(jmethodID method, uint32_t code_bytes)
{
	const uint64_t first = lc_hash((uintptr_t)method) >> 32;
	struct lc_reach_code *other = NULL;

	for (unsigned i = 0; i < WAYS; i++) {
		struct lc_reach_code *c = &reach.codes[(first + i) % CODES];

		if (c->method == method && has_bytes(c, code_bytes))
			return c;
		if (!c->users && (!other || c->last < other->last))
			other = c;
	}
	return other;
}

static void forget(struct lc_reach_code *c)
{
	lc_reached_close(c->reached);
	if (c->method)
		lc_method_file_close(&c->file);
	reach.codes_bytes -= c->bytes;
	*c = (struct lc_reach_code){ 0 };
}

static struct lc_reach_code *oldest(void)
{
	struct lc_reach_code *found = NULL;

	for (struct lc_reach_code *c = reach.codes; c < reach.codes + CODES; c++)
		if (c->bytes && !c->users && (!found || c->last < found->last))
			found = c;
	return found;
}

static void read_code(JNIEnv *jni, jmethodID method, struct lc_reach_code *c)
{
	struct lc_reach_code *old;

	forget(c);
	c->method = method;
	reach.analysed++;
	if (!lc_loaded_code_open(jni, method, &c->file))
		return;
	c->bytes = c->file.cls.len + c->file.cls.pool_count * sizeof(*c->file.cls.pool);
	reach.codes_bytes += c->bytes;
	c->users++; /* it does not give way to itself */
	while (reach.codes_bytes > CODES_BYTES && (old = oldest()) != NULL)
		forget(old);
	c->users--;
	c->reached = lc_reached_open(&c->file.cls, &c->file.method);
}

struct lc_reach_code *lc_reach_open(JNIEnv *jni, jmethodID method, uint32_t code_bytes)
{
	struct lc_reach_code *c = method ? entry_of(method, code_bytes) : NULL;

	if (!c)
		return NULL;
	if (c->method != method || !has_bytes(c, code_bytes))
		read_code(jni, method, c);
	c->last = ++reach.opened;
	if (!c->reached || !has_bytes(c, code_bytes))
		return NULL;
	c->users++;
	return c;
}

void lc_reach_release(struct lc_reach_code *code)
{
	if (code)
		code->users--;
}

/* ---- answers ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* One name, or several as one. */
static void join_names(const struct lc_reach_names *names, struct lc_reach *out)
{
	const char *sorted[LC_REACHED_SOURCES];
	char all[SEVERAL_BYTES + 64] = "";
	size_t len = 0;

	if (!names->known || !names->len)
		return;
	for (unsigned i = 0; i < names->len; i++)
		sorted[i] = names->of[i].name;
	qsort(sorted, names->len, sizeof(*sorted), by_name);
	for (unsigned i = 0; i < names->len && len < sizeof(all); i++)
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s", i ? " or " : "",
		                        sorted[i]);
	out->name = intern(all);
	out->kind = names->len > 1 ? LC_REFERENCE_SEVERAL : names->of[0].kind;
	if (!out->name)
		*out = (struct lc_reach){ .name = "", .why = out->why };
}

/*
 * Name the references by the position of the sample. Returns whether the instruction there makes
 * such an access.
 */
static bool find_by_position(JNIEnv *jni, const struct lc_reach_ask *ask,
                             struct lc_reach_names *names, uint8_t *why)
{
	const struct lc_path_node *node = lc_path_get(ask->path);
	const struct lc_method *method = node ? lc_method_get(node->method) : NULL;
	struct lc_reach_search search = { .jni = jni, .out = names };
	struct lc_reach_place place = { .node = ask->path };
	struct lc_reach_fit fit = { 0 };
	bool fits;

	if (!method || node->bci == LC_BCI_NONE)
		return false;
	place.code = lc_reach_open(jni, lc_method_id(method), method->code_bytes);
	if (!place.code)
		return false;
	fits = lc_reach_fit(place.code, ask, node->bci, &fit);
	if (fits) {
		lc_reach_follow(&search, &place, &fit.sources);
		if (fit.string)
			lc_reach_add_name(names, "java.lang.String.value", LC_REFERENCE_FIELD);
	} else if (!lc_reach_around(&search, &place, ask, &fit.why)) {
		names->known = false;
	}
	*why = fit.why;
	lc_reach_release(place.code);
	return fits;
}

static bool has_all(const struct lc_reach_names *all, const struct lc_reach_names *some)
{
	for (unsigned i = 0; i < some->len; i++) {
		unsigned at = 0;

		while (at < all->len && strcmp(all->of[at].name, some->of[i].name) != 0)
			at++;
		if (at == all->len)
			return false;
	}
	return true;
}

static bool has_parameter(const struct lc_reach_names *names)
{
	for (unsigned i = 0; i < names->len; i++)
		if (names->of[i].kind == LC_REFERENCE_PARAMETER)
			return true;
	return false;
}

/*
 * The load names the reference exactly, the position all that there are. A header that is read
 * through another reference than those is read for another reason. The callers of the load are not
 * known: what they pass may be better known from around the position.
 */
static bool prefers_load(const struct lc_reach_ask *ask, const struct lc_reach_names *by_position,
                         const struct lc_reach_names *by_load, bool fits, uint8_t *why)
{
	if (!by_position->known || !by_position->len || has_all(by_position, by_load))
		return true;
	if (!fits)
		return !has_parameter(by_load);
	if (!lc_reach_of_header(ask))
		return false;
	*why = LC_WHY_UNKNOWN;
	return true;
}

static struct lc_reach find(JNIEnv *jni, const struct lc_reach_ask *ask)
{
	static struct lc_reach_names by_position, by_load; /* some 4 KB */
	struct lc_reach_search search = { .jni = jni, .out = &by_load };
	struct lc_reach out = { .name = "" };
	bool fits;

	by_position = (struct lc_reach_names){ .known = true };
	by_load = (struct lc_reach_names){ .known = true };
	fits = find_by_position(jni, ask, &by_position, &out.why);
	if (lc_reach_load(&search, ask) &&
	    prefers_load(ask, &by_position, &by_load, fits, &out.why))
		join_names(&by_load, &out);
	else
		join_names(&by_position, &out);
	return out;
}

static uint64_t key_of(const struct lc_reach_ask *ask)
{
	uint64_t h = lc_hash_add(
	    lc_hash_add(lc_hash_add(1, (uintptr_t)ask->part), (uintptr_t)ask->signature),
	    ask->touch);
	const struct lc_path_node *n = lc_path_get(ask->path);

	for (unsigned i = 0; n && n->depth && i <= LC_REACH_FRAMES; i++) {
		h = lc_hash_add(h, (uint64_t)n->method << 16 | n->bci);
		n = lc_path_get(n->parent);
	}
	h = lc_hash_add(h, (uintptr_t)ask->load.method);
	h = lc_hash_add(h, (uint64_t)ask->load.bci << 32 | (uint32_t)ask->load.disp);
	return h | 1;
}

static void count(const struct lc_reach *r)
{
	if (r->kind == LC_REFERENCE_UNKNOWN)
		reach.unknown++;
	else
		reach.known++;
}

struct lc_reach lc_reach_of(JNIEnv *jni, const struct lc_reach_ask *ask)
{
	const uint64_t key = key_of(ask);
	struct answer *a;

	if (!reach.answers)
		reach.answers = calloc(ANSWERS, sizeof(*reach.answers));
	if (!reach.answers)
		return (struct lc_reach){ .name = "" };
	a = &reach.answers[key >> 40 & (ANSWERS - 1)];
	if (a->key != key) {
		a->reach = find(jni, ask);
		a->key = key;
		reach.places++;
	}
	count(&a->reach);
	return a->reach;
}

static const struct lc_counter counters[] = {
	LC_COUNTER("reach_places", &reach.places),
	LC_COUNTER("reach_analysed", &reach.analysed),
	LC_COUNTER("reach_known", &reach.known),
	LC_COUNTER("reach_unknown", &reach.unknown),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
