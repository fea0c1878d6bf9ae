/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/reach_load.c - names the reference that the machine code loaded before it accessed the
 * object.
 *
 * The debug information tells for few instructions wrongly where they are. C2 gives those that it
 * makes last the position of the call that it inlined last. So the bytecode at the position of the
 * load must load a reference, from where the instruction does: from that offset.
 */
#include <string.h>

#include "src/attribute/reach_impl.h"
#include "src/classfile/method_code.h"
#include "src/core/counters.h"
#include "src/core/path.h"
#include "src/heap/loaded_code.h"
#include "src/jvm/layout/field.h"
#include "src/jvm/layout/klass.h"
#include "src/jvm/layout/layout.h"

enum { NAME_BYTES = 512 };

static uint64_t agreed, differed; /* loads whose bytecode loads from the same place, or not */

static bool copy_name(char to[NAME_BYTES], struct lc_class_text from)
{
	if (!from.len || from.len >= NAME_BYTES)
		return false;
	for (size_t i = 0; i < from.len; i++)
		to[i] = from.data[i] == '/' ? '.' : from.data[i];
	to[from.len] = '\0';
	return true;
}

/* Is the field at that offset? */
static bool field_is_at(JNIEnv *jni, const struct lc_reach_code *code, uint16_t index, int32_t disp)
{
	char holder[NAME_BYTES], name[NAME_BYTES];
	struct lc_class_ref ref;
	uint64_t offset;
	uint8_t bytes;
	jclass class;
	bool is;

	if (!lc_class_field_ref(&code->file.cls, index, &ref) || !copy_name(holder, ref.holder) ||
	    !copy_name(name, ref.name))
		return false;
	class = lc_loaded_code_class(jni, code->method, holder);
	if (!class)
		return false;
	is = !lc_field_offset(jni, class, name, &offset, &bytes) && disp >= 0 &&
	     offset == (uint64_t)disp;
	(*jni)->DeleteLocalRef(jni, class);
	return is;
}

/* May an element be at that offset? Unrolled loops add elements to it, or take them off. */
static bool element_may_be_at(int32_t disp)
{
	const int32_t bytes = (int32_t)lc_layout()->reference_bytes;

	return bytes > 0 && (disp - (int32_t)lc_klass_array_base(bytes == 8)) % bytes == 0;
}

static bool is_at(JNIEnv *jni, const struct lc_reach_code *code, uint8_t op,
                  const struct lc_reached_sources *from, int32_t disp)
{
	if (op == LC_OP_AALOAD)
		return element_may_be_at(disp);
	return from->len == 1 && field_is_at(jni, code, from->of[0].index, disp);
}

bool lc_reach_load(struct lc_reach_search *s, const struct lc_reach_ask *ask)
{
	const struct lc_method *method = ask->load.method;
	struct lc_reach_place place = { .code = NULL };
	struct lc_reached_sources from;
	bool found = false;
	uint8_t op;

	if (!method || ask->load.bci == LC_BCI_NONE)
		return false;
	place.code = lc_reach_open(s->jni, lc_method_id(method), method->code_bytes);
	if (!place.code)
		return false;
	op = lc_reached_loaded(place.code->reached, ask->load.bci, &from);
	if (op && from.known && lc_reach_sift(place.code, ask->signature, &from) &&
	    is_at(s->jni, place.code, op, &from, ask->load.disp)) {
		lc_reach_follow(s, &place, &from);
		found = s->out->known && s->out->len;
	}
	*(found ? &agreed : &differed) += 1;
	lc_reach_release(place.code);
	return found;
}

static const struct lc_counter counters[] = {
	LC_COUNTER("reach_load_agreed", &agreed),
	LC_COUNTER("reach_load_differed", &differed),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
