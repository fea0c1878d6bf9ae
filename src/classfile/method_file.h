/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/method_file.h - makes a class file of one method out of what the JVM tells about a
 * loaded class, so that the functions for class files can read it.
 *
 * The JVM gives the constant pool as its class file has it, and the bytecode of each method as it
 * runs, with hooks. It does not give exception tables, so the method has none. Pure functions.
 * Context: any but [signal].
 */
#ifndef LC_CLASSFILE_METHOD_FILE_H
#define LC_CLASSFILE_METHOD_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/local_variable.h"
#include "src/classfile/class_file.h"
#include "src/classfile/method_code.h"

/* The source of the file. Owner of all that it refers to: the caller. */
struct lc_method_source {
	const uint8_t *pool;
	size_t pool_bytes;
	uint32_t pool_count;    /* one more than there are constants */
	const char *class_name; /* internal form */
	const char *name, *descriptor;
	uint16_t access_flags, max_locals;
	const uint8_t *code;
	uint32_t code_bytes; /* 0: the class gets no method */
	const struct lc_local_variable *locals;
	size_t locals_len;
};

struct lc_method_file {
	struct lc_class cls;
	struct lc_member method;
	struct lc_method_code code; /* flags has LC_AT_START and LC_AT_TARGET */
	uint8_t *bytes, *flags;     /* malloc'ed; cls and code refer to them */
};

/*
 * Returns false, with *out all zero, when that is no class or no code, or there is no memory. Close
 * it otherwise.
 */
bool lc_method_file_open(struct lc_method_file *out, const struct lc_method_source *s);
void lc_method_file_close(struct lc_method_file *f);

#endif
