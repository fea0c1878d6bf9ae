/* SPDX-License-Identifier: Apache-2.0 */
/* agent/holder_chain.c - follows the referrers of an object up to a root. */
#include "src/agent/holder_chain.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/agent/holder_table.h"

enum { ROOT_END = 4, OBJECT_END = LC_HOLDER_HOPS - ROOT_END }; /* hops of a long chain */

static uint32_t edge_of(const struct lc_holder *o)
{
	return (uint32_t)o->kind << 20 | (uint32_t)o->index;
}

static uint32_t edge_kind(uint32_t edge)
{
	return edge >> 20;
}

static uint32_t edge_index(uint32_t edge)
{
	return edge & ((1U << 20) - 1);
}

/* If there are several classes of a name, a chain goes on to what holds this one. */
static bool is_root(const struct lc_holder_table *t, const struct lc_holder *o)
{
	return !o->parent ||
	       (o->kind == JVMTI_HEAP_REFERENCE_STATIC_FIELD && lc_holder_is_alone(t, o->parent));
}

static bool is_class(const struct lc_holder_table *t, uint32_t number)
{
	return number && number <= t->class_count;
}

/* The hop that leads to `object`. */
static struct lc_holder_hop hop_to(const struct lc_holder_table *t, uint32_t object)
{
	const struct lc_holder *o = &t->objects[object];
	struct lc_holder_hop hop = { .edge = edge_of(o) };

	if (o->parent)
		hop.class = is_class(t, o->parent) ? o->parent : t->objects[o->parent].class;
	else if (is_class(t, object))
		hop.class = object;
	return hop;
}

/* Is the hop to `object` the same field as the next one towards the object of the chain? */
static bool repeats(const struct lc_holder_hop *hop, const struct lc_holder_hop *next)
{
	return edge_kind(hop->edge) == JVMTI_HEAP_REFERENCE_FIELD && hop->edge == next->edge &&
	       hop->class == next->class;
}

/*
 * Go from the object to the root, and keep the hops [0, OBJECT_END) and those from `from` on, in
 * this order, in `kept`. Returns how many hops there are.
 */
static uint32_t follow(const struct lc_holder_table *t, uint32_t object, uint32_t from,
                       struct lc_holder_hop *kept)
{
	struct lc_holder_hop last = { 0 };
	uint32_t hops = 0, len = 0;

	for (;; object = t->objects[object].parent) {
		const struct lc_holder_hop hop = hop_to(t, object);
		const bool again = hops && repeats(&hop, &last);

		if (!again && (hops < OBJECT_END || hops >= from))
			kept[len++] = hop;
		else if (again && (hops <= OBJECT_END || hops > from))
			kept[len - 1].repeated = 1;
		hops += !again;
		last = hop;
		if (is_root(t, &t->objects[object]))
			return hops;
	}
}

void lc_holder_chain_of(const struct lc_holder_table *t, uint32_t object,
                        struct lc_holder_chain *out)
{
	struct lc_holder_hop kept[LC_HOLDER_HOPS];
	uint32_t hops = follow(t, object, UINT32_MAX, kept);
	const bool cut = hops > LC_HOLDER_HOPS;

	memset(out, 0, sizeof(*out));
	(void)follow(t, object, cut ? hops - ROOT_END : OBJECT_END, kept);
	out->len = cut ? LC_HOLDER_HOPS : hops;
	out->cut = cut ? ROOT_END : 0;
	out->count = 1;
	for (uint32_t i = 0; i < out->len; i++)
		out->hops[i] = kept[out->len - 1 - i];
}

void lc_holder_chains_add(struct lc_holder_chain *chains, size_t *len,
                          const struct lc_holder_chain *chain)
{
	for (size_t i = 0; i < *len; i++)
		if (chains[i].len == chain->len && chains[i].cut == chain->cut &&
		    !memcmp(chains[i].hops, chain->hops, sizeof(chain->hops))) {
			chains[i].count += chain->count;
			return;
		}
	chains[(*len)++] = *chain;
}

static void sort(struct lc_holder_chain *chains, size_t len)
{
	/* There are few, and equal counts stay in their order. */
	for (size_t i = 1; i < len; i++) {
		const struct lc_holder_chain moved = chains[i];
		size_t k = i;

		for (; k && chains[k - 1].count < moved.count; k--)
			chains[k] = chains[k - 1];
		chains[k] = moved;
	}
}

void lc_holder_chains_join(struct lc_holder_chain *chains, size_t *len,
                           const struct lc_holder_names *names)
{
	char text[LC_HOLDER_TEXT_MAX], other[LC_HOLDER_TEXT_MAX];

	for (size_t i = 0; i < *len; i++) {
		size_t kept = i + 1;

		lc_holder_chain_text(&chains[i], names, text, sizeof(text));
		for (size_t k = i + 1; k < *len; k++) {
			lc_holder_chain_text(&chains[k], names, other, sizeof(other));
			if (!strcmp(text, other))
				chains[i].count += chains[k].count;
			else
				chains[kept++] = chains[k];
		}
		*len = kept;
	}
	sort(chains, *len);
}

/* ---- text ---- */

struct text {
	char *out;
	size_t len, cap;
};

static void append(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(struct text *t, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->out + t->len, t->cap - t->len, format, args);
	va_end(args);
	t->len += n > 0 ? (size_t)n : 0;
	if (t->len >= t->cap)
		t->len = t->cap - 1;
}

static void write_root(struct text *t, const struct lc_holder_hop *hop,
                       const struct lc_holder_names *names)
{
	char name[LC_HOLDER_NAME_MAX] = "";
	const uint32_t index = edge_index(hop->edge);

	switch (edge_kind(hop->edge)) {
	case JVMTI_HEAP_REFERENCE_STATIC_FIELD:
		names->field(names->context, hop->class, index, name);
		append(t, "static %s", name);
		return;
	case JVMTI_HEAP_REFERENCE_STACK_LOCAL:
		names->method(names->context, index, name);
		append(t, "local variable of %s", name);
		return;
	case LC_HOLDER_VIRTUAL_LOCAL:
		names->method(names->context, index, name);
		append(t, "virtual thread, local variable of %s", name);
		return;
	case JVMTI_HEAP_REFERENCE_JNI_LOCAL:
		names->method(names->context, index, name);
		append(t, "JNI local reference of %s", name);
		return;
	case JVMTI_HEAP_REFERENCE_JNI_GLOBAL:
		append(t, "JNI global reference");
		break;
	case JVMTI_HEAP_REFERENCE_SYSTEM_CLASS:
		append(t, hop->class ? "system class" : "the JVM");
		break;
	case JVMTI_HEAP_REFERENCE_MONITOR:
		append(t, "locked monitor");
		break;
	case JVMTI_HEAP_REFERENCE_THREAD:
		append(t, "thread");
		break;
	default:
		append(t, "the JVM");
		break;
	}
	if (hop->class) {
		names->class(names->context, hop->class, name);
		append(t, " (class %s)", name);
	}
}

/* How a class refers to others; NULL: it is no such reference. */
static const char *class_part(uint32_t kind)
{
	switch (kind) {
	case JVMTI_HEAP_REFERENCE_CLASS:
		return "class";
	case JVMTI_HEAP_REFERENCE_CLASS_LOADER:
		return "class loader";
	case JVMTI_HEAP_REFERENCE_SIGNERS:
		return "signers";
	case JVMTI_HEAP_REFERENCE_PROTECTION_DOMAIN:
		return "protection domain";
	case JVMTI_HEAP_REFERENCE_INTERFACE:
		return "interface";
	case JVMTI_HEAP_REFERENCE_CONSTANT_POOL:
		return "constant";
	case JVMTI_HEAP_REFERENCE_SUPERCLASS:
		return "superclass";
	default:
		return "other";
	}
}

static void write_hop(struct text *t, const struct lc_holder_hop *hop,
                      const struct lc_holder_names *names)
{
	const uint32_t kind = edge_kind(hop->edge);
	char name[LC_HOLDER_NAME_MAX] = "";

	if (kind == JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT) {
		append(t, "[]");
	} else if (kind == JVMTI_HEAP_REFERENCE_STATIC_FIELD) {
		names->field(names->context, hop->class, edge_index(hop->edge), name);
		append(t, " -> static %s", name);
	} else if (kind == JVMTI_HEAP_REFERENCE_FIELD) {
		names->field(names->context, hop->class, edge_index(hop->edge), name);
		append(t, " -> %s%s", name, hop->repeated ? " (repeated)" : "");
	} else {
		names->class(names->context, hop->class, name);
		append(t, " -> %s.(%s)", name, class_part(kind));
	}
}

void lc_holder_chain_text(const struct lc_holder_chain *chain, const struct lc_holder_names *names,
                          char *out, size_t out_len)
{
	struct text t = { .out = out, .cap = out_len };

	*out = '\0';
	for (uint32_t i = 0; i < chain->len; i++) {
		if (i && i == chain->cut)
			append(&t, " -> ...");
		if (i)
			write_hop(&t, &chain->hops[i], names);
		else
			write_root(&t, &chain->hops[i], names);
	}
}
