/* SPDX-License-Identifier: Apache-2.0 */
/* classfile/store_names_impl.h - declares values and events, shared by store_names.c and
 * store_names_rows.c. */
#ifndef LC_CLASSFILE_STORE_NAMES_IMPL_H
#define LC_CLASSFILE_STORE_NAMES_IMPL_H

#include "src/classfile/store_names.h"

/*
 * A word of the stack or of a local variable: 0 where nothing is known; else its kind, and two
 * numbers.
 */
enum word_kind {
	WORD_NONE,
	WORD_VALUE, /* a: number of a value */
	WORD_FIELD, /* a: pool index of the field that it was loaded from */
	WORD_LOCAL, /* a: local variable, b: position of the instruction that loaded it */
};

static inline uint64_t word_make(enum word_kind kind, uint32_t a, uint32_t b)
{
	return (uint64_t)kind << 60 | (uint64_t)b << 32 | a;
}

static inline enum word_kind word_kind(uint64_t w)
{
	return (enum word_kind)(w >> 60);
}

static inline uint32_t word_a(uint64_t w)
{
	return (uint32_t)w;
}

static inline uint32_t word_b(uint64_t w)
{
	return (uint32_t)(w >> 32) & 0xfffffff;
}

enum { VALUES_MAX = 1 << 16, NO_EVENT = UINT32_MAX };

enum value_kind {
	VALUE_MADE,    /* by the instruction at `at`; `source` says by which kind */
	VALUE_EITHER,  /* `one` or `other`, words */
	VALUE_ELEMENT, /* of the array `one` */
};

struct value {
	uint64_t one, other;
	uint32_t at;
	uint32_t built; /* a `new`: position of the constructor's call; else UINT32_MAX */
	uint32_t event; /* its last one in `events`, or NO_EVENT */
	uint8_t kind;   /* enum value_kind */
	uint8_t source; /* enum lc_store_source */
	uint8_t arrays;
	bool is_buffer;
	bool other_class; /* a cast says that it is neither an array nor a buffer */
};

enum event_kind { EVENT_FIELD, EVENT_LOCAL, EVENT_ARGUMENT, EVENT_RETURNED, EVENT_ELEMENT };

/* A value is stored. */
struct event {
	uint64_t into; /* EVENT_ELEMENT: the array's word */
	uint32_t next; /* the event of the same value before this one, or NO_EVENT */
	uint32_t a;    /* pool index of a field or method; a local variable */
	uint32_t at;   /* position of the instruction that stores */
	uint8_t kind;  /* enum event_kind */
	uint8_t slot;  /* EVENT_ARGUMENT */
	bool exact;    /* EVENT_ARGUMENT */
	uint8_t taken; /* an element of the value is stored, so many arrays deep */
};

static inline struct value *value_at(const struct lc_store_names_scan *s, uint32_t number)
{
	return (struct value *)s->values.data + number;
}

/* Add the method's rows, of what its values and events are. */
enum lc_rewrite_status lc_store_names_put(struct lc_store_names_scan *s,
                                          const struct lc_method_code *code);

#endif
