/* SPDX-License-Identifier: Apache-2.0 */
/* classfile/alloc_emit.c - writes the bytecode that calls the methods of the hook class. */
#include "src/classfile/alloc_plan.h"

#include "src/base/without.h"
#include "src/classfile/pool.h"

enum { SITE_BYTES = 3, CALL_BYTES = 3 };

static const struct {
	const char *name;
	const char *descriptor;
} methods[LC_HOOK_METHOD_COUNT] = {
	[LC_HOOK_BOOLEANS] = { "array", "([ZI)V" },
	[LC_HOOK_BYTES] = { "array", "([BI)V" },
	[LC_HOOK_CHARS] = { "array", "([CI)V" },
	[LC_HOOK_SHORTS] = { "array", "([SI)V" },
	[LC_HOOK_INTS] = { "array", "([II)V" },
	[LC_HOOK_LONGS] = { "array", "([JI)V" },
	[LC_HOOK_FLOATS] = { "array", "([FI)V" },
	[LC_HOOK_DOUBLES] = { "array", "([DI)V" },
	[LC_HOOK_OBJECTS] = { "array", "([Ljava/lang/Object;I)V" },
	[LC_HOOK_ANY] = { "any", "(Ljava/lang/Object;I)V" },
	[LC_HOOK_MULTI] = { "multi", "(Ljava/lang/Object;I)V" },
	[LC_HOOK_STRING] = { "string", "(Ljava/lang/String;I)V" },
	[LC_HOOK_GROWN] = { "grown", "([I[II)V" },
	[LC_HOOK_OBJECT] = { "allocObject", "(Ljava/lang/Object;I)V" },
	[LC_HOOK_MADE] = { "made", "(Ljava/lang/Class;I)V" },
	[LC_HOOK_BUILT] = { "constructed", "(Ljava/lang/Object;)V" },
	[LC_HOOK_WATCHED] = { "watched", "(Ljava/lang/Object;)V" },
	[LC_HOOK_WATCHED_OBJECTS] = { "watchedArray", "([Ljava/lang/Object;I)V" },
	[LC_HOOK_MEMORY_ALLOCATED] = { "memoryAllocated", "(JJ)V" },
	[LC_HOOK_MEMORY_MAPPED] = { "memoryMapped", "(JJ)V" },
	[LC_HOOK_MEMORY_FREED] = { "memoryFreed", "(J)V" },
	[LC_HOOK_MEMORY_ASKED] = { "memoryAsked", "(J)V" },
	[LC_HOOK_MEMORY_MOVING] = { "memoryMoving", "(J)V" },
	[LC_HOOK_MEMORY_MOVED] = { "memoryMoved", "(JJ)V" },
};

const char *lc_alloc_plan_method_name(enum lc_hook_method m)
{
	return methods[m].name;
}

const char *lc_alloc_plan_method_descriptor(enum lc_hook_method m)
{
	return methods[m].descriptor;
}

uint8_t lc_alloc_plan_bytes(const struct lc_hook *hook)
{
	switch (hook->shape) {
	case LC_HOOK_CAST:
	case LC_HOOK_CAST_OBJECTS:
		return 1 + 3 + SITE_BYTES + CALL_BYTES;
	case LC_HOOK_WITH_LOCAL:
		return (uint8_t)(1 + (hook->operand > UINT8_MAX ? 4 : 2) + SITE_BYTES + CALL_BYTES);
	case LC_HOOK_TWICE:
		return 2 * (1 + SITE_BYTES + CALL_BYTES);
	case LC_HOOK_OF_CLASS:
		return 3 + SITE_BYTES + CALL_BYTES;
	case LC_HOOK_PLAIN:
	case LC_HOOK_THIS_PLAIN:
	case LC_HOOK_LONG:
		return 1 + CALL_BYTES;
	case LC_HOOK_LONG_BELOW:
		return 3 + CALL_BYTES;
	case LC_HOOK_LONG_LOCAL:
		return 2 + CALL_BYTES;
	case LC_HOOK_LONGS_LOCAL:
		return 1 + 2 + CALL_BYTES;
	default:
		return (uint8_t)(1 + SITE_BYTES + CALL_BYTES +
		                 (hook->watched ? 1 + CALL_BYTES : 0));
	}
}

static uint16_t objects_class(struct lc_hook_constants *k)
{
	if (!k->objects_class)
		k->objects_class = lc_pool_class(k->pool, "[Ljava/lang/Object;");
	return k->objects_class;
}

static uint16_t method_number(struct lc_hook_constants *k, enum lc_hook_method method)
{
	if (k->methods[method])
		return k->methods[method];
	if (!k->hook_class)
		k->hook_class = lc_pool_class(k->pool, LC_HOOK_CLASS);
	k->methods[method] =
	    lc_pool_method(k->pool, k->hook_class, lc_alloc_plan_method_name(method),
	                   lc_alloc_plan_method_descriptor(method));
	return k->methods[method];
}

static uint8_t *assemble_operand(uint8_t *p, const struct lc_hook *hook,
                                 struct lc_hook_constants *k)
{
	if (hook->shape == LC_HOOK_CAST || hook->shape == LC_HOOK_CAST_OBJECTS) {
		*p = LC_OP_CHECKCAST;
		lc_be_put2(p + 1, hook->shape == LC_HOOK_CAST ? hook->operand : objects_class(k));
		return p + 3;
	}
	if (hook->shape != LC_HOOK_WITH_LOCAL)
		return p;
	if (hook->operand > UINT8_MAX) {
		*p++ = LC_OP_WIDE;
		*p++ = LC_OP_ALOAD;
		lc_be_put2(p, hook->operand);
		return p + 2;
	}
	*p++ = LC_OP_ALOAD;
	*p++ = (uint8_t)hook->operand;
	return p;
}

static bool left_out(const struct lc_hook *hook)
{
	return lc_without("calls") ||
	       lc_without(hook->method == LC_HOOK_STRING ? "string-calls" : "array-calls");
}

/* The site always takes SITE_BYTES, so that the layout is known before the number is. */
static uint8_t *assemble_call(uint8_t *p, const struct lc_hook *hook, uint32_t site,
                              struct lc_hook_constants *k)
{
	*p++ = site <= INT16_MAX ? LC_OP_SIPUSH : LC_OP_LDC_W;
	lc_be_put2(p, site <= INT16_MAX ? site : lc_pool_integer(k->pool, site));
	p[2] = LC_OP_INVOKESTATIC;
	lc_be_put2(p + 3, method_number(k, hook->method));
	if (left_out(hook)) {
		p[2] = LC_OP_POP2;
		p[3] = hook->shape == LC_HOOK_WITH_LOCAL ? LC_OP_POP : LC_OP_NOP;
		p[4] = LC_OP_NOP;
	}
	return p + 5;
}

/* Push the object again, or `this`, and call. */
static uint8_t *assemble_plain(uint8_t *p, bool of_this, enum lc_hook_method method,
                               struct lc_hook_constants *k)
{
	*p++ = of_this ? LC_OP_ALOAD_0 : LC_OP_DUP;
	*p++ = LC_OP_INVOKESTATIC;
	lc_be_put2(p, method_number(k, method));
	return p + 2;
}

/* Push the numbers of a block outside the heap, and call. Returns false for other hooks. */
static bool assemble_memory(uint8_t *p, const struct lc_hook *hook, struct lc_hook_constants *k)
{
	switch (hook->shape) {
	case LC_HOOK_LONG:
		*p++ = LC_OP_DUP2;
		break;
	case LC_HOOK_LONG_BELOW:
		*p++ = LC_OP_DUP2_X2;
		*p++ = LC_OP_POP2;
		*p++ = LC_OP_DUP2_X2;
		break;
	case LC_HOOK_LONGS_LOCAL:
		*p++ = LC_OP_DUP2;
		/* fall through */
	case LC_HOOK_LONG_LOCAL:
		*p++ = LC_OP_LLOAD;
		*p++ = (uint8_t)hook->operand;
		break;
	default:
		return false;
	}
	*p++ = LC_OP_INVOKESTATIC;
	lc_be_put2(p, method_number(k, hook->method));
	return true;
}

void lc_alloc_plan_assemble(struct lc_alloc_plan *h, struct lc_hook_constants *k,
                            const struct lc_rewrite_options *options)
{
	for (size_t i = 0; i < h->len; i++) {
		const struct lc_hook *hook = &h->hooks[i];
		uint8_t *p = h->inserts[i].bytes;
		uint32_t site;

		if (assemble_memory(p, hook, k))
			continue;
		if (hook->shape == LC_HOOK_PLAIN || hook->shape == LC_HOOK_THIS_PLAIN) {
			assemble_plain(p, hook->shape == LC_HOOK_THIS_PLAIN, hook->method, k);
			continue;
		}
		if (hook->watched)
			p = assemble_plain(p, hook->shape == LC_HOOK_THIS, LC_HOOK_WATCHED, k);
		site = options->next_site(options->user);
		if (hook->shape == LC_HOOK_OF_CLASS) {
			*p++ = LC_OP_LDC_W;
			lc_be_put2(p, hook->operand);
			assemble_call(p + 2, hook, site | hook->site_bits, k);
			continue;
		}
		*p++ = hook->shape == LC_HOOK_THIS ? LC_OP_ALOAD_0 : LC_OP_DUP;
		p = assemble_operand(p, hook, k);
		if (hook->shape == LC_HOOK_TWICE) {
			p = assemble_call(p, hook, site | (hook->site_bits & LC_SITE_TRACKED), k);
			*p++ = LC_OP_DUP;
		}
		assemble_call(p, hook, site | hook->site_bits, k);
	}
}
