/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/new_object.c - finds the class of an object that is still being constructed.
 *
 * A sample may hit the store to a new object's mark word, before its class word is written. This
 * file simulates the following instructions up to the store of the class word. It returns the value
 * that will be stored there, as a constant or as a function of the sample's registers.
 */
#include "src/sample/new_object.h"

#include <stdatomic.h>

#include "src/sample/decode.h"
#include "src/sample/insn.h"

enum {
	HEADER_CODE_BYTES = 96 /* limit from the store of the mark word to that of the class */
};

static _Atomic uint32_t class_offset = 8; /* relaxed: set before there are samples */

void lc_new_object_class_offset(uint32_t offset)
{
	atomic_store_explicit(&class_offset, offset, memory_order_relaxed);
}

/* Is it `mov [base+disp],...`, and nothing more? */
static bool stores_to(const struct lc_insn *in, uint8_t base, uint32_t disp)
{
	return in->memory && in->base == base && in->index == LC_NO_REGISTER &&
	       in->disp == (int32_t)disp &&
	       ((in->constant && in->constant_to == LC_NO_REGISTER) ||
	        in->store_from != LC_NO_REGISTER);
}

/* A register's value: a constant, computed from a register, or unknown. */
struct value {
	enum { UNKNOWN, CONSTANT, REDUCED } kind;
	uint8_t from; /* REDUCED: the value is (old value of this register - constant) >> shift */
	uint8_t shift;
	uint64_t constant; /* CONSTANT: the value; REDUCED: see `from` */
};

/*
 * Simulate an instruction that copies, loads a constant, subtracts or shifts. Registers that
 * another instruction writes become unknown.
 */
static void follow(struct value *v, const struct lc_insn *in)
{
	struct value result = { .kind = UNKNOWN };
	uint8_t to = LC_NO_REGISTER;

	if (in->copy_to != LC_NO_REGISTER && in->copy_from != LC_NO_REGISTER) {
		to = in->copy_to;
		result = v[in->copy_from];
	} else if (in->constant_to != LC_NO_REGISTER) {
		to = in->constant_to;
		result = (struct value){ .kind = CONSTANT, .constant = in->value };
	} else if (in->sub_to != LC_NO_REGISTER && v[in->sub_to].kind == REDUCED &&
	           !v[in->sub_to].shift &&
	           (in->sub_from == LC_NO_REGISTER || v[in->sub_from].kind == CONSTANT)) {
		to = in->sub_to;
		result = v[to];
		result.constant +=
		    in->sub_from == LC_NO_REGISTER ? in->value : v[in->sub_from].constant;
	} else if (in->shr_to != LC_NO_REGISTER && v[in->shr_to].kind == REDUCED) {
		to = in->shr_to;
		result = v[to];
		result.shift = (uint8_t)((result.shift + in->value) & 0x3f);
	}
	for (uint8_t i = 0; i < LC_REGISTERS; i++)
		if (in->written & lc_decode_register_bit(i))
			v[i].kind = UNKNOWN;
	if (to != LC_NO_REGISTER)
		v[to] = result;
}

static void set_made(struct lc_recipe *r, const struct value *v)
{
	if (v->kind == CONSTANT) {
		r->made = LC_MADE_VALUE;
		r->made_value = v->constant;
	} else if (v->kind == REDUCED && !(v->constant >> 48)) {
		r->made = LC_MADE_REGISTER;
		r->made_value = v->constant | (uint64_t)v->from << 48 | (uint64_t)v->shift << 52;
	}
}

void lc_new_object_find(const struct lc_code_bytes *code, size_t from, size_t store,
                        struct lc_recipe *r)
{
	const uint32_t offset = atomic_load_explicit(&class_offset, memory_order_relaxed);
	struct value values[LC_REGISTERS];
	struct lc_insn in;

	/* Native code gets classes in other ways; a class in the mark word is stored with it. */
	if (code->native || (!offset && !r->ahead))
		return;
	for (uint8_t i = 0; i < LC_REGISTERS; i++)
		values[i] = (struct value){ .kind = REDUCED, .from = i };
	for (size_t at = from, end = store; at < code->len && at <= end; at += in.length) {
		if (!lc_insn_decode(code->bytes + at, code->len - at, false, &in) || in.control ||
		    (at == store && !stores_to(&in, r->base, 0)))
			return;
		if (at == store)
			end = store + HEADER_CODE_BYTES;
		if (at >= store && stores_to(&in, r->base, offset)) {
			const struct value constant = { .kind = CONSTANT, .constant = in.value };

			set_made(r, in.constant ? &constant : &values[in.store_from]);
			return;
		}
		if (in.written & lc_decode_register_bit(r->base))
			return;
		follow(values, &in);
	}
}
