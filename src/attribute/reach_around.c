/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/reach_around.c - finds an access in the code around the sampled place.
 *
 * The signal comes when an instruction behind the access has the program counter. The compiler
 * inlines methods and orders their instructions anew, so that this one may be another method's.
 */
#include <string.h>

#include "src/attribute/reach_impl.h"
#include "src/classfile/method_code.h"
#include "src/classfile/rewrite.h"
#include "src/core/counters.h"
#include "src/core/path.h"
#include "src/format/kinds.h"
#include "src/jvm/layout/field_layout.h"

enum {
	CALLS_DEEP = 3,      /* inlined in one another */
	STEPS_ALL = 1 << 14, /* of one recording: the search may take some 50 us for each */
};

static uint64_t steps; /* of the recording so far */

/* Is the part told apart well enough, so that what fits is the access? */
static bool is_special(const struct lc_reach_ask *ask)
{
	const char *part = ask->part;

	return part && ask->signature && part != lc_field_part_name(LC_PART_MARK) &&
	       part != lc_field_part_name(LC_PART_CLASS) &&
	       part != lc_field_part_name(LC_PART_STATICS) &&
	       part != lc_field_part_name(LC_PART_PADDING) &&
	       part != lc_field_part_name(LC_PART_INTERNAL) &&
	       part != lc_field_part_name(LC_PART_UNKNOWN);
}

static bool look(struct lc_reach_search *s, const struct lc_reach_place *p,
                 const struct lc_reach_ask *ask, uint8_t *why)
{
	struct lc_reach_fit fit;

	if (!lc_reach_fit_any(p->code, ask, &fit))
		return false;
	*why = fit.why;
	lc_reach_follow(s, p, &fit.sources);
	return true;
}

/* In methods that the code calls, and in those that they call. */
static bool look_in_called(struct lc_reach_search *s, const struct lc_reach_place *p,
                           const struct lc_reach_ask *ask, unsigned deep, uint8_t *why)
{
	bool found = false;

	for (uint32_t at = 0; lc_reached_opcode(p->code->reached, at) != LC_REACHED_END;
	     at = lc_reached_next(p->code->reached, at)) {
		struct lc_reach_place callee = { .caller = p, .call = at, .depth = p->depth };
		struct lc_class_ref ref;
		const uint8_t op = lc_reached_called(p->code->reached, at, &ref);
		jmethodID method;

		if (!op || op == LC_OP_INVOKEDYNAMIC || lc_class_text_is(ref.holder, LC_HOOK_CLASS))
			continue;
		if (++s->steps > LC_REACH_STEPS) { /* the access may be in what is left */
			s->out->known = false;
			return found;
		}
		method = lc_reach_called(s, p, &ref, op);
		callee.code = method ? lc_reach_open(s->jni, method, LC_REACH_ANY_BYTES) : NULL;
		if (!callee.code)
			continue;
		found |= look(s, &callee, ask, why);
		if (deep > 1)
			found |= look_in_called(s, &callee, ask, deep - 1, why);
		lc_reach_release(callee.code);
	}
	return found;
}

/* From a frame on outwards, until there is an access that fits. */
static bool look_from(struct lc_reach_search *s, const struct lc_reach_place *p,
                      const struct lc_reach_ask *ask, uint8_t *why)
{
	const struct lc_path_node *node = lc_path_get(p->node);
	const struct lc_path_node *up = node && node->parent ? lc_path_get(node->parent) : NULL;
	const struct lc_method *method = up ? lc_method_get(up->method) : NULL;
	struct lc_reach_place caller = { .depth = p->depth + 1 };
	bool found = look(s, p, ask, why);

	found |= look_in_called(s, p, ask, CALLS_DEEP, why);
	if (found || !method || caller.depth > LC_REACH_FRAMES)
		return found;
	caller.node = node->parent;
	caller.code = lc_reach_open(s->jni, lc_method_id(method), method->code_bytes);
	found = caller.code && look_from(s, &caller, ask, why);
	lc_reach_release(caller.code);
	return found;
}

bool lc_reach_around(struct lc_reach_search *s, const struct lc_reach_place *p,
                     const struct lc_reach_ask *ask, uint8_t *why)
{
	struct lc_reach_ask own = *ask;
	bool found;

	own.own = true;
	if (!is_special(ask) || steps > STEPS_ALL)
		return false;
	found = look_from(s, p, &own, why);
	steps += s->steps;
	return found;
}

static const struct lc_counter counters[] = {
	LC_COUNTER("reach_steps", &steps),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
