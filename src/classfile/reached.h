/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/reached.h - tells which object an instruction accesses, and through which references
 * the method came to it: fields, parameters, results of calls.
 *
 * A forward analysis over all ways through the method, up to a fixed point. A word of the stack or
 * of a local variable is the set of references that it may come from. A set is complete: where one
 * way brings something that is not known, or the ways bring too much, the word is not known. null
 * adds nothing to a set, because nobody accesses an object through it. Code with subroutines (jsr)
 * is not analysed. A method without an exception table may have lost it (method_file.h): code to
 * which nothing leads is then a handler of exceptions from anywhere.
 *
 * Pure functions over bytes. Context: any but [signal].
 */
#ifndef LC_CLASSFILE_REACHED_H
#define LC_CLASSFILE_REACHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/classfile/class_file.h"

enum lc_reached_kind {
	LC_REACHED_FIELD = 1, /* index: of the Fieldref in the pool */
	LC_REACHED_STATIC,    /* likewise */
	LC_REACHED_PARAMETER, /* index: the local variable in which it arrives */
	LC_REACHED_RESULT,    /* index: position of the call */
	LC_REACHED_NEW,       /* index: position of the instruction that made it */
	LC_REACHED_CONSTANT,  /* index: position of the instruction that loaded it */
	LC_REACHED_CLASS,     /* the class that holds a static field; index: of the Fieldref */
	LC_REACHED_CAUGHT,    /* an exception that was caught; index: 0 */
};

enum {
	LC_REACHED_SOURCES = 4, /* of one word at most */
	LC_REACHED_ELEMENTS = 7,
};

struct lc_reached_source {
	uint8_t kind;     /* enum lc_reached_kind */
	uint8_t elements; /* 1: the object is an element of the array that came from there; 2: of an
	                     array in it; at most LC_REACHED_ELEMENTS */
	uint16_t index;
};

/* Sources of a reference. Known and of length 0: it is always null. */
struct lc_reached_sources {
	bool known;
	uint8_t len;
	struct lc_reached_source of[LC_REACHED_SOURCES];
};

/* An instruction that accesses an object. */
struct lc_reached_access {
	uint8_t op;     /* its opcode */
	uint16_t index; /* of the field, method or class in the pool; 0: none */
	struct lc_reached_sources object;
	struct lc_reached_sources value; /* aastore: the element, whose class is checked */
};

struct lc_reached; /* an analysed method */

/*
 * Analyse the code of a method. The class must stay until lc_reached_close(). Returns NULL without
 * memory, and for code that is not analysed, or that the JVM would not accept.
 */
struct lc_reached *lc_reached_open(const struct lc_class *c, const struct lc_member *method);
void lc_reached_close(struct lc_reached *r); /* NULL is fine */

/* The access of the instruction at `at`. False: there is none, or no way leads there. */
bool lc_reached_access(struct lc_reached *r, uint32_t at, struct lc_reached_access *out);

/*
 * Sources of the argument that arrives in local variable `slot` of the method that is called at
 * `at`. False: no such call, no such argument, or no way leads there.
 */
bool lc_reached_argument(struct lc_reached *r, uint32_t at, uint32_t slot,
                         struct lc_reached_sources *out);

/*
 * Sources of the reference that the instruction at `at` loads from an object, a class or an array,
 * and its opcode; 0: it loads none, or no way leads there.
 */
uint8_t lc_reached_loaded(struct lc_reached *r, uint32_t at, struct lc_reached_sources *out);

/* Sources of all that the method returns; false: it returns no reference. */
bool lc_reached_returned(struct lc_reached *r, struct lc_reached_sources *out);

/* Add `from` to `to`. */
void lc_reached_join(struct lc_reached_sources *to, const struct lc_reached_sources *from);

/* The method that is called at `at`, a Methodref or an InterfaceMethodref; its opcode, or 0. */
uint8_t lc_reached_called(const struct lc_reached *r, uint32_t at, struct lc_class_ref *out);

/* The code: positions of instructions from 0 on; the opcode at a position, or LC_REACHED_END. */
enum { LC_REACHED_END = 256 };
unsigned lc_reached_opcode(const struct lc_reached *r, uint32_t at);
uint32_t lc_reached_next(const struct lc_reached *r, uint32_t at);

/* The class that the `new` or the like at `at` makes: "com/acme/A", "[[I"; "" with `element` of a
 * newarray, 'I' and so on. */
struct lc_class_text lc_reached_made(const struct lc_reached *r, uint32_t at, bool *array,
                                     char *element);

#endif
