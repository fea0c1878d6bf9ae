/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/alloc_plan.h - finds where a method gets hooks, and makes the code of each hook.
 *
 * A hook calls a static method of the hook class. Behind an instruction that leaves the new
 * object on the stack it is `dup; <site>; invokestatic`; at the end of a constructor
 * `aload_0; <site>; invokestatic`; behind `new`, where the object may not be passed to anybody yet,
 * `ldc_w <class>; <site>; invokestatic`. The stack grows by at most LC_HOOK_STACK.
 */
#ifndef LC_CLASSFILE_ALLOC_PLAN_H
#define LC_CLASSFILE_ALLOC_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/classfile/class_file.h"
#include "src/classfile/method_code.h"
#include "src/classfile/rewrite.h"

struct lc_pool;

enum { LC_HOOK_STACK = 4 };

/* Methods of the hook class. */
enum lc_hook_method {
	LC_HOOK_BOOLEANS,
	LC_HOOK_BYTES,
	LC_HOOK_CHARS,
	LC_HOOK_SHORTS,
	LC_HOOK_INTS,
	LC_HOOK_LONGS,
	LC_HOOK_FLOATS,
	LC_HOOK_DOUBLES,
	LC_HOOK_OBJECTS,         /* array of references */
	LC_HOOK_ANY,             /* any array */
	LC_HOOK_MULTI,           /* any array, with its sub-arrays */
	LC_HOOK_STRING,          /* a string: its array */
	LC_HOOK_GROWN,           /* a new int[], or the one that was passed in */
	LC_HOOK_OBJECT,          /* ordinary object; native */
	LC_HOOK_MADE,            /* ordinary object that `new` has made, told by its class */
	LC_HOOK_BUILT,           /* ordinary object that a hook behind its `new` has seen; native */
	LC_HOOK_WATCHED,         /* ordinary object that a watch may look for */
	LC_HOOK_WATCHED_OBJECTS, /* array of references that a watch may look for */
	LC_HOOK_MEMORY_ALLOCATED, /* a block outside the heap: address and size; native */
	LC_HOOK_MEMORY_MAPPED,    /* the same of a file that was mapped; native */
	LC_HOOK_MEMORY_FREED,     /* such a block is about to be freed; native */
	LC_HOOK_MEMORY_ASKED,     /* so many bytes are about to be rounded up and allocated */
	LC_HOOK_MEMORY_MOVING,    /* such a block is about to be reallocated; native */
	LC_HOOK_MEMORY_MOVED,     /* it was: address, or 0, and size; native */
	LC_HOOK_METHOD_COUNT
};

const char *lc_alloc_plan_method_name(enum lc_hook_method m);
const char *lc_alloc_plan_method_descriptor(enum lc_hook_method m);

enum lc_hook_shape {
	LC_HOOK_DUP,          /* dup; site; call */
	LC_HOOK_CAST,         /* dup; checkcast operand; site; call */
	LC_HOOK_CAST_OBJECTS, /* dup; checkcast Object[]; site; call */
	LC_HOOK_WITH_LOCAL,   /* dup; aload operand; site; call: (result, argument, site) */
	LC_HOOK_THIS,         /* aload_0; site; call */
	LC_HOOK_TWICE,        /* dup; site; call, without site_bits and once more with them */
	LC_HOOK_OF_CLASS,     /* ldc_w operand; site; call */
	LC_HOOK_PLAIN,        /* dup; call */
	LC_HOOK_THIS_PLAIN,   /* aload_0; call */
	LC_HOOK_LONG,         /* dup2; call */
	LC_HOOK_LONG_BELOW,   /* below another long: dup2_x2; pop2; dup2_x2; call */
	LC_HOOK_LONG_LOCAL,   /* lload operand; call */
	LC_HOOK_LONGS_LOCAL,  /* dup2; lload operand; call */
};

/* One hook of a method; the struct lc_insert at the same index says where it goes. */
struct lc_hook {
	enum lc_hook_method method;
	enum lc_hook_shape shape;
	uint16_t operand;   /* a class, or the number of a local variable */
	uint32_t site_bits; /* LC_SITE_* */
	bool watched;       /* call LC_HOOK_WATCHED first; for LC_HOOK_DUP and LC_HOOK_THIS only */
	/* Does a jump lead behind the instruction at `from`, up to the place of the hook? That is
	 * known only when all targets are. The hook is void unless one does (if_entered), or if one
	 * does (unless_entered). */
	bool if_entered;
	bool unless_entered;
	uint32_t from;
};

uint8_t lc_alloc_plan_bytes(const struct lc_hook *hook);

/* Hooks of one method, in the order of their positions; the arrays are reused for the next. */
struct lc_alloc_plan {
	struct lc_insert *inserts; /* malloc'ed; owner: the struct */
	struct lc_hook *hooks;     /* malloc'ed; owner: the struct */
	size_t len;
	size_t cap;
};

/* State of the search for hooks in one class. */
struct lc_alloc_plan_scan {
	const struct lc_class *cls;
	const struct lc_rewrite_options *options;
	uint8_t *calls;     /* by pool index: the kind of a Methodref that was looked up */
	uint64_t own_bytes; /* of the instance fields that the class declares itself */
	bool large;         /* objects of this class may reach the threshold */
	bool watched;       /* a watch looks for objects of this class */
	/* Is any class of the kind in options->tracked? A bit for each primitive type. */
	bool track_objects, track_references;
	uint8_t track_primitives;
	bool has_bodies; /* the class has intrinsics */
	bool arrays;     /* places that allocate arrays get hooks: not in internal classes */
	uint32_t skipped_constant;
};

/* Allocate `calls` and set the flags. Returns false without memory. */
bool lc_alloc_plan_scan_open(struct lc_alloc_plan_scan *s, const struct lc_class *c,
                             const struct lc_rewrite_options *options);
void lc_alloc_plan_scan_close(struct lc_alloc_plan_scan *s);

/*
 * Walk the instructions of `method`, set code->flags (lent by the caller, all 0) and collect the
 * hooks. Returns LC_REWRITE_DONE, LC_REWRITE_MALFORMED or LC_REWRITE_NO_MEMORY.
 */
enum lc_rewrite_status lc_alloc_plan_find(struct lc_alloc_plan_scan *s,
                                          const struct lc_member *method,
                                          struct lc_method_code *code, struct lc_alloc_plan *out);
void lc_alloc_plan_close(struct lc_alloc_plan *h);

/*
 * May code with the pool of `c` make an object of a class of options->tracked? If not, no method
 * needs to be searched. True without memory.
 */
bool lc_alloc_plan_may_track(const struct lc_class *c, const struct lc_rewrite_options *options);

/*
 * The constants that all hooks of one class share: their numbers in `pool`, 0 until the first hook
 * that needs one. The caller sets `pool` and leaves the numbers 0.
 */
struct lc_hook_constants {
	struct lc_pool *pool;
	uint16_t hook_class;
	uint16_t objects_class; /* Object[] */
	uint16_t methods[LC_HOOK_METHOD_COUNT];
};

/* Fill in the bytes of the inserts; each hook takes one fresh site. */
void lc_alloc_plan_assemble(struct lc_alloc_plan *h, struct lc_hook_constants *constants,
                            const struct lc_rewrite_options *options);

#endif
