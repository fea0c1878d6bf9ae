/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/insn_role.h - sorts instructions by their part in the flow of values between the
 * operand stack, local variables, fields and arrays.
 *
 * Pure functions. Context: any but [signal].
 */
#ifndef LC_CLASSFILE_INSN_ROLE_H
#define LC_CLASSFILE_INSN_ROLE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/classfile/class_file.h"
#include "src/classfile/method_code.h"

enum lc_insn_role {
	LC_ROLE_OTHER,
	LC_ROLE_LOAD,    /* of a local variable */
	LC_ROLE_STORE,   /* to a local variable */
	LC_ROLE_SHUFFLE, /* dup and the like, and swap */
	LC_ROLE_FIELD,
	LC_ROLE_CALL,
	LC_ROLE_NEW,
	LC_ROLE_AALOAD,
	LC_ROLE_AASTORE,
	LC_ROLE_CAST,
	LC_ROLE_ARETURN,
};

enum lc_insn_role lc_insn_role(const uint8_t *insn);

/* The local variable of an LC_ROLE_LOAD or LC_ROLE_STORE. */
struct lc_insn_local {
	uint32_t slot;
	bool is_reference;
	bool is_wide; /* of two words */
};

struct lc_insn_local lc_insn_local(const uint8_t *insn);

/*
 * The words that an LC_ROLE_SHUFFLE takes off the stack, and those that it puts there, each as the
 * digit of its distance from the lowest that was taken.
 */
struct lc_insn_shuffle {
	uint8_t takes;
	const char *puts;
};

struct lc_insn_shuffle lc_insn_shuffle(uint8_t op);

/* Behind the type at `d` in a descriptor, or `end`. */
const char *lc_insn_skip_type(const char *d, const char *end);

#endif
