/* SPDX-License-Identifier: Apache-2.0 */
/* jvm/layout/local_variables.c - goes through the tables from the end of a ConstMethod. */
#include "src/jvm/layout/local_variables.h"

#include <stdio.h>
#include <stdlib.h>

#include "src/jvm/layout/vmstructs.h"
#include "src/jvm/os/peek.h"

/* A table or a pointer that a ConstMethod may have, from the end on. */
enum part {
	/* Pointers to annotations, and one number. */
	TYPE_ANNOTATIONS,
	DEFAULT_ANNOTATIONS,
	PARAMETER_ANNOTATIONS,
	METHOD_ANNOTATIONS,
	GENERIC_SIGNATURE,
	/* Tables. */
	METHOD_PARAMETERS,
	CHECKED_EXCEPTIONS,
	EXCEPTION_TABLE,
	LOCAL_VARIABLES,
	PARTS,
};

static const struct {
	const char *name;
	uint8_t bytes; /* of the part, or of a table's element */
} parts[PARTS] = {
	[TYPE_ANNOTATIONS] = { "has_type_annotations", 8 },
	[DEFAULT_ANNOTATIONS] = { "has_default_annotations", 8 },
	[PARAMETER_ANNOTATIONS] = { "has_parameter_annotations", 8 },
	[METHOD_ANNOTATIONS] = { "has_method_annotations", 8 },
	[GENERIC_SIGNATURE] = { "has_generic_signature", 2 },
	[METHOD_PARAMETERS] = { "has_method_parameters", 4 },
	[CHECKED_EXCEPTIONS] = { "has_checked_exceptions", 2 },
	[EXCEPTION_TABLE] = { "has_exception_table", 8 },
	[LOCAL_VARIABLES] = { "has_localvariable_table", 12 },
};

/* An element of the table. */
enum { FROM, LEN, NAME, DESCRIPTOR, SIGNATURE, SLOT, NUMBERS };

static struct {
	bool known;
	long const_method; /* in a Method */
	long size, flags;  /* in a ConstMethod; the size in words */
	long head_bytes;   /* of a ConstMethod: the bytecode follows */
	uint32_t flag[PARTS];
} at;

/* The bit of the flags that says that there is such a part: by its name since JDK 21, or before. */
static bool find_flag(enum part part)
{
	static const char *const prefixes[] = { "ConstMethodFlags::_misc_", "ConstMethod::_" };
	int64_t bit = 0;
	char name[80];

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		snprintf(name, sizeof(name), "%s%s", prefixes[i], parts[part].name);
		if (!lc_vm_constant(name, &bit) && bit > 0 && bit <= UINT16_MAX &&
		    !(bit & (bit - 1)))
			break;
		bit = 0;
	}
	at.flag[part] = (uint32_t)bit;
	return bit;
}

void lc_local_variables_init(void)
{
	bool found = lc_vm_sizeof("LocalVariableTableElement") == NUMBERS * 2;

	for (enum part part = 0; part < PARTS; part++)
		found = find_flag(part) && found;
	at.const_method = lc_vm_offset("Method", "_constMethod");
	at.size = lc_vm_offset("ConstMethod", "_constMethod_size");
	at.flags = lc_vm_offset("ConstMethod", "_flags._flags");
	if (at.flags < 0)
		at.flags = lc_vm_offset("ConstMethod", "_flags");
	at.head_bytes = lc_vm_sizeof("ConstMethod");
	at.known =
	    found && at.const_method >= 0 && at.size >= 0 && at.flags >= 0 && at.head_bytes > 0;
}

bool lc_local_variables_known(void)
{
	return at.known;
}

/* The part of a ConstMethod between the bytecode and `end`. */
struct rest {
	uint64_t begin, end;
	bool bad;
};

/* Take `bytes` from the end; returns where they are. */
static uint64_t take(struct rest *r, uint64_t bytes)
{
	r->bad = r->bad || r->end - r->begin < bytes;
	if (!r->bad)
		r->end -= bytes;
	return r->end;
}

static uint16_t take2(struct rest *r)
{
	const uint64_t from = take(r, 2);
	uint16_t value = 0;

	r->bad = r->bad || !lc_peek(from, &value, sizeof(value));
	return value;
}

/* Go through the parts behind the table of local variables. Returns where that is, or 0. */
static uint64_t find_table(struct rest *r, uint16_t flags, uint16_t *len)
{
	if (!(flags & at.flag[LOCAL_VARIABLES]))
		return 0;
	for (enum part part = 0; part < PARTS; part++) {
		if (!(flags & at.flag[part]))
			continue;
		*len = part >= METHOD_PARAMETERS ? take2(r) : 1;
		take(r, (uint64_t)*len * parts[part].bytes);
	}
	return r->bad ? 0 : r->end;
}

static bool find_rest(uint64_t method, uint32_t code_bytes, struct rest *r, uint16_t *flags)
{
	uint64_t const_method;
	int32_t words;

	if (!at.known || !method ||
	    !lc_peek(method + (uint64_t)at.const_method, &const_method, sizeof(const_method)) ||
	    !lc_peek(const_method + (uint64_t)at.size, &words, sizeof(words)) || words <= 0 ||
	    !lc_peek(const_method + (uint64_t)at.flags, flags, sizeof(*flags)))
		return false;
	*r = (struct rest){ const_method + (uint64_t)at.head_bytes + code_bytes,
		            const_method + (uint64_t)words * 8, false };
	return r->begin <= r->end;
}

/* Does the number of bytes and of variables that JVMTI tells allow the element? */
static bool fits(const uint16_t *n, uint32_t code_bytes, uint32_t max_locals)
{
	return (uint32_t)n[FROM] + n[LEN] <= code_bytes && n[SLOT] < max_locals && n[NAME] &&
	       n[DESCRIPTOR];
}

size_t lc_local_variables_of(uint64_t method, uint32_t code_bytes, uint32_t max_locals,
                             struct lc_local_variable **out)
{
	struct lc_local_variable *variables;
	uint16_t numbers[NUMBERS], flags, len = 0;
	struct rest rest;
	uint64_t table;
	bool good = true;

	*out = NULL;
	if (!find_rest(method, code_bytes, &rest, &flags))
		return 0;
	table = find_table(&rest, flags, &len);
	variables = table && len ? malloc(len * sizeof(*variables)) : NULL;
	if (!variables)
		return 0;
	for (uint16_t i = 0; good && i < len; i++) {
		good = lc_peek(table + (uint64_t)i * sizeof(numbers), numbers, sizeof(numbers)) &&
		       fits(numbers, code_bytes, max_locals);
		if (good)
			variables[i] =
			    (struct lc_local_variable){ numbers[FROM], numbers[LEN], numbers[NAME],
				                        numbers[DESCRIPTOR], numbers[SLOT] };
	}
	if (!good) {
		free(variables);
		return 0;
	}
	*out = variables;
	return len;
}
