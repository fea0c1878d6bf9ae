/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/reach.h - tells through which reference the code of a sample reached the object, and
 * why it read a header.
 *
 * The answer follows from the bytecode at the method and position of the sample, once for each
 * place. A parameter is the argument that the caller passes, in up to LC_REACH_FRAMES frames of the
 * call path; a result is what the method returns, if it is sure which method was called.
 */
#ifndef LC_ATTRIBUTE_REACH_H
#define LC_ATTRIBUTE_REACH_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

struct lc_method;

enum { LC_REACH_FRAMES = 4 };

/* The load of the reference through which an object was accessed. */
struct lc_reach_load {
	const struct lc_method *method; /* core/path.h; NULL: not known */
	uint32_t bci;
	int32_t disp; /* constant part of the load's operand */
};

/* An access of Java code to an object. */
struct lc_reach_ask {
	uint32_t path;         /* of the access: core/path.h */
	const char *part;      /* struct lc_field's name; NULL: not known */
	const char *signature; /* of the object's class; NULL: not known */
	uint8_t touch;         /* LC_TOUCH_* bits */
	struct lc_reach_load load;
	bool own; /* for reach_around.c: the field is one that the class declares */
};

struct lc_reach {
	const char *name; /* "" where unknown; equal names have equal addresses */
	uint8_t kind;     /* enum lc_reference */
	uint8_t why;      /* enum lc_why */
};

/* Context: [writer]; some 100 us for a new place. */
struct lc_reach lc_reach_of(JNIEnv *jni, const struct lc_reach_ask *ask);

#endif
