/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reach_model.h - models the program's loaded code for tests of attribute/reach_*.c: methods whose
 * bytecode the test writes, call paths through them, and offsets of fields.
 *
 * Method number `i`, from 1, has the ID i. Its class is A, its name is "m" unless the test says
 * otherwise.
 */
#ifndef LC_TESTS_REACH_MODEL_H
#define LC_TESTS_REACH_MODEL_H

#include <jvmti.h>
#include <stddef.h>
#include <stdint.h>

#include "src/attribute/reach_impl.h"
#include "tests/unit/class_file.h"

#define REACH_BYTES(...)                                                                           \
	(const uint8_t[])                                                                          \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define REACH_CODE(...) REACH_BYTES(__VA_ARGS__), sizeof(REACH_BYTES(__VA_ARGS__))
#define REACH_BODY(...) .code = REACH_BYTES(__VA_ARGS__), .len = sizeof(REACH_BYTES(__VA_ARGS__))

/* Opcodes that src/ has no names for. */
enum {
	ACONST_NULL = 1,
	ICONST_0 = 3,
	LDC = 18,
	ALOAD_0 = 42,
	ALOAD_1 = 43,
	ALOAD_2 = 44,
	ASTORE_1 = 76,
	POP = 87,
	DUP = 89,
	BALOAD = 51,
};

struct reach_method {
	const char *class_name, *name, *descriptor;
	uint16_t flags; /* ACC_*; the class file's methods are static with 8 */
	jint class_flags;
	const uint8_t *code;
	size_t len;
};

/*
 * Forget everything, and begin a class file whose constants the methods use. reach_model_end()
 * frees it.
 */
struct class_file *reach_model_begin(void);
void reach_model_end(void);

/* Add a method; returns its number. Code that is not analysed makes a method without code. */
unsigned reach_model_add(const struct reach_method *m);

/* The code of a method; NULL where there is none. */
struct lc_reach_code *reach_model_code(unsigned number);

/* A node of the path tree: method `number` at `bci`, called by node `parent`; returns the node. */
uint32_t reach_model_path(uint32_t parent, unsigned number, uint16_t bci);

/* The field lies there, in each class. */
void reach_model_field(const char *name, uint64_t offset);

/* The environment of the thread that asks. */
JNIEnv *reach_model_jni(void);

/* How many methods are still open. */
unsigned reach_model_users(void);

/* Names of what was found, "a or b"; "" for none, "not known". Valid until the next call. */
const char *reach_model_names(const struct lc_reach_names *names);

/* The same of sources: "parameter 0", "field 5 []" with the constant's number, and so on. */
const char *reach_model_sources(const struct lc_reached_sources *s);

#endif
