/* SPDX-License-Identifier: Apache-2.0 */
/* attribute/reach_impl.h - declares what reach.c and the files reach_*.c share. */
#ifndef LC_ATTRIBUTE_REACH_IMPL_H
#define LC_ATTRIBUTE_REACH_IMPL_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/attribute/reach.h"
#include "src/classfile/method_file.h"
#include "src/classfile/reached.h"

/* The analysed code of a method. */
struct lc_reach_code {
	jmethodID method;
	struct lc_method_file file;
	struct lc_reached *reached; /* NULL: it could not be read, or not be analysed */
	unsigned users;
	uint64_t last; /* use */
	size_t bytes;  /* of the file and of the table of its constants */
};

/*
 * The code of a method, if it has `code_bytes` (or they are LC_REACH_ANY_BYTES); NULL where there
 * is none. lc_reach_release() it. Context of all functions: [writer].
 */
#define LC_REACH_ANY_BYTES UINT32_MAX
struct lc_reach_code *lc_reach_open(JNIEnv *jni, jmethodID method, uint32_t code_bytes);
void lc_reach_release(struct lc_reach_code *code); /* NULL is fine */

/* An instruction that an access fits. */
struct lc_reach_fit {
	uint8_t why; /* enum lc_why */
	bool made;   /* the instruction makes the object */
	bool string; /* the object may be the array in a String that is an argument */
	struct lc_reached_sources sources;
};

/*
 * Does the instruction at `bci`, or the method itself, make such an access? Sets out->why in any
 * case.
 */
bool lc_reach_fit(struct lc_reach_code *code, const struct lc_reach_ask *ask, uint32_t bci,
                  struct lc_reach_fit *out);

/* All instructions of a method that the access fits, but those that make objects. */
bool lc_reach_fit_any(struct lc_reach_code *code, const struct lc_reach_ask *ask,
                      struct lc_reach_fit *out);

/* Leave out the sources that the types rule out. Returns whether any is left. */
bool lc_reach_sift(const struct lc_reach_code *code, const char *signature,
                   struct lc_reached_sources *s);

/* Was the mark word or the class accessed, which any instruction might read? */
bool lc_reach_of_header(const struct lc_reach_ask *ask);

/* Names of references, in any order, each once. */
struct lc_reach_names {
	bool known;
	unsigned len;
	struct {
		char name[512];
		uint8_t kind; /* enum lc_reference */
	} of[LC_REACHED_SOURCES];
};

enum { LC_REACH_STEPS = 256 }; /* callers and called methods that are looked at for one place */

struct lc_reach_search {
	JNIEnv *jni;
	struct lc_reach_names *out;
	unsigned steps;
};

/* Code in which a source is: a frame of the path, or a method that such code calls. */
struct lc_reach_place {
	struct lc_reach_code *code;
	uint32_t node; /* of the path tree; 0: it was called by `caller` */
	const struct lc_reach_place *caller;
	uint32_t call;  /* position of that call */
	unsigned depth; /* frames, or calls, from the sampled code */
};

/* Name the sources of code. */
void lc_reach_follow(struct lc_reach_search *s, const struct lc_reach_place *p,
                     const struct lc_reached_sources *from);

/* The method that a call leads to, if it is sure which runs; or NULL. */
jmethodID lc_reach_called(struct lc_reach_search *s, const struct lc_reach_place *p,
                          const struct lc_class_ref *ref, uint8_t op);

/*
 * Find the access in the code around the sampled place, with which the compiler may have mixed it:
 * the rest of the method, the methods that it calls, its callers, and those that they call. All
 * accesses that fit in the nearest of these count. Returns false where there is none.
 */
bool lc_reach_around(struct lc_reach_search *s, const struct lc_reach_place *p,
                     const struct lc_reach_ask *ask, uint8_t *why);

/* Name the reference that ask->load loaded. Returns false where that is not sure. */
bool lc_reach_load(struct lc_reach_search *s, const struct lc_reach_ask *ask);

/* Add a name, unless it is there. */
void lc_reach_add_name(struct lc_reach_names *to, const char *name, uint8_t kind);

#endif
