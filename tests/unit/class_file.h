/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class_file.h - makes class files by hand, for tests of the rewriter. It asserts instead of
 * returning errors.
 */
#ifndef LC_TESTS_CLASS_FILE_H
#define LC_TESTS_CLASS_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "src/classfile/big_endian.h"
#include "src/classfile/class_file.h"
#include "src/classfile/method_code.h"
#include "src/classfile/rewrite.h"

struct class_file {
	uint16_t minor, major;
	const char *name;
	const char *super;         /* NULL: none */
	const char *interfaces[4]; /* as far as not NULL */
	uint16_t flags;            /* of the class, beside "public" */
	uint16_t method_flags;     /* of the methods to come */
	uint16_t pool_count;
	uint16_t fields_len, methods_len;
	struct lc_bytes pool, fields, methods;
	struct lc_bytes
	    bootstraps; /* body of BootstrapMethods; empty: there is no such attribute */
};

/* The parts of a Code attribute. */
struct code_spec {
	const uint8_t *code;
	uint32_t len;
	uint16_t max_stack;      /* 0: 10 */
	const uint8_t *handlers; /* entries of 8 bytes */
	uint16_t handlers_len;
	struct lc_bytes attributes; /* made with class_attribute() */
	uint16_t attributes_len;
};

/* Start a class of version 61.0, whose methods are static. */
void class_begin(struct class_file *c, const char *name);
void class_free(struct class_file *c);

/* Constants; each call adds new ones and returns the number. */
uint16_t class_utf8(struct class_file *c, const char *s);
uint16_t class_class(struct class_file *c, const char *name);
uint16_t class_integer(struct class_file *c, int32_t value);
uint16_t class_method_ref(struct class_file *c, const char *holder, const char *name,
                          const char *descriptor);

uint16_t class_field_ref(struct class_file *c, const char *holder, const char *name,
                         const char *descriptor);
uint16_t class_interface_ref(struct class_file *c, const char *holder, const char *name,
                             const char *descriptor);
uint16_t class_method_handle(struct class_file *c, uint8_t kind, uint16_t ref);
uint16_t class_invoke_dynamic(struct class_file *c, const char *descriptor);

/* A field whose name is "f", or another one. */
void class_field(struct class_file *c, uint16_t flags, const char *descriptor);
void class_named_field(struct class_file *c, uint16_t flags, const char *name,
                       const char *descriptor);
void class_attribute(struct class_file *c, struct code_spec *spec, const char *name,
                     const uint8_t *body, size_t len);
/* Add a method; it has no code if `spec` is NULL. Frees spec->attributes. */
void class_method(struct class_file *c, const char *name, const char *descriptor,
                  struct code_spec *spec);

/* The whole class file, malloc'ed. */
uint8_t *class_end(const struct class_file *c, size_t *len);

/* A class after the rewriter, opened. */
struct rewritten {
	enum lc_rewrite_status status;
	struct lc_rewrite_result result;
	struct lc_class cls; /* of result.bytes; only for LC_REWRITE_DONE */
};

/* Ends the class, rewrites it, frees it and all that was made on the way but *out. */
void class_rewrite(struct class_file *c, struct lc_rewrite_options options, struct rewritten *out);
void rewritten_free(struct rewritten *r);

/* Code of the method that is the i-th of the class. */
struct lc_method_code rewritten_code(const struct rewritten *r, unsigned i);
/* An attribute of that code by name: its info[], or NULL. */
const uint8_t *rewritten_attribute(const struct rewritten *r, unsigned i, const char *name,
                                   uint32_t *len);
/* The descriptor of the hook method that the invokestatic at `insn` calls; asserts it is one. */
const char *rewritten_hook(const struct rewritten *r, const uint8_t *insn);

#endif
