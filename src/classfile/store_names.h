/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/store_names.h - finds where a method stores the arrays and objects that it makes: in a
 * field, a local variable, an array, or as an argument.
 *
 * The search follows the operand stack in the order of the code, word by word, and through local
 * variables. A forward jump carries the words of its stack along; a word at a meeting point is what
 * it is on any of the ways. Results of backward jumps are not followed. A local variable with
 * several assignments is followed up to the next target of a jump. So the search may miss a store,
 * but the code makes each store that it finds. Hooks in the code are no stores. Pure functions over
 * bytes. Context: any but [signal].
 */
#ifndef LC_CLASSFILE_STORE_NAMES_H
#define LC_CLASSFILE_STORE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"
#include "src/base/vector.h"
#include "src/classfile/class_file.h"
#include "src/classfile/method_code.h"
#include "src/classfile/status.h"

enum lc_store_kind {
	LC_STORE_FIELD,    /* of an object or of a class */
	LC_STORE_LOCAL,    /* a local variable whose name is known */
	LC_STORE_ARGUMENT, /* passed to a method */
	LC_STORE_RETURNED, /* to the caller; it has no name */
};

/* Sources of the value of a row. */
enum lc_store_source {
	LC_STORE_OF_ARRAY,     /* newarray, anewarray, multianewarray */
	LC_STORE_OF_OBJECT,    /* new */
	LC_STORE_OF_CALL,      /* a method that returns an array, or may do so, or a buffer */
	LC_STORE_OF_PARAMETER, /* the caller: an array is passed in */
};

/* One place that one value is stored in. */
struct lc_store {
	uint16_t at;    /* position of the instruction that makes it; the number of the local
	                   variable in which a parameter arrives */
	uint8_t bytes;  /* of the instruction, and of the hook behind it */
	uint8_t source; /* enum lc_store_source */
	uint8_t kind;   /* enum lc_store_kind */
	int8_t levels;  /* 1: the value is an element of the array that is stored there; 2: of an
	                   array in it; -1: its element is stored there */
	uint8_t arrays; /* of the value's class, "[[I" has 2; 0: not known */
	uint8_t slot;   /* LC_STORE_ARGUMENT: the local variable in which it arrives there */
	uint32_t name;  /* begin of its name in `text`; LC_STORE_ARGUMENT: the number of a call */
};

/* A method that takes a value as an argument. */
struct lc_store_call {
	uint32_t name;       /* in `text`: "com.acme.Spectrum.<init>" */
	uint32_t descriptor; /* in `text`: "([D)V" */
	uint32_t exact; /* not 0: it is the method that runs: static, a constructor and so on */
};

/* The rows of methods. Free with lc_store_names_free(). */
struct lc_store_names {
	struct lc_vector rows;  /* struct lc_store */
	struct lc_vector calls; /* struct lc_store_call */
	struct lc_bytes text;   /* names, each ended by a 0: "com.acme.Spectrum.re", "buffer" */
};

void lc_store_names_free(struct lc_store_names *s);

/* State of the search in one class, shared by its methods. All zero; free with _close(). */
struct lc_store_names_scan {
	const struct lc_class *cls;
	struct lc_store_names *out;
	uint32_t *names; /* by pool index: offset of a name in out->text, + 1 */
	struct lc_store_names_member *members; /* by pool index */
	uint64_t *words;                       /* of the stack and of the local variables */
	size_t words_cap;
	uint8_t *assigned; /* by local variable: how often, at most 2 */
	size_t assigned_cap;
	struct lc_vector values, events, pending, carried; /* of store_names.c */
};

/* Does a program hold a block outside the heap by such an object: "java/nio/ByteBuffer"? */
bool lc_store_names_is_buffer(struct lc_class_text class);

/* Begin a class; *out is all zero. Returns false without memory. */
bool lc_store_names_open(struct lc_store_names_scan *s, const struct lc_class *c,
                         struct lc_store_names *out);
void lc_store_names_close(struct lc_store_names_scan *s);

/*
 * Add the rows of a method. code->flags has LC_AT_START and LC_AT_TARGET except for handlers, which
 * are added: those of its table, and what only an exception can lead to. Code that the JVM will not
 * accept adds nothing. Returns LC_REWRITE_DONE or LC_REWRITE_NO_MEMORY.
 */
enum lc_rewrite_status lc_store_names_find(struct lc_store_names_scan *s,
                                           const struct lc_member *method,
                                           struct lc_method_code *code);

#endif
