/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/rewrite.h - inserts the hooks of allocations into the bytecode of a class.
 *
 * Pure functions over bytes: no JVM, no global state. Context: [java] (ClassFileLoadHook).
 * Behind each allocation that may reach the threshold, straight-line code calls a static method of
 * the hook class: `dup; <site>; invokestatic`. No branch is added, so no stack map frame is.
 */
#ifndef LC_CLASSFILE_REWRITE_H
#define LC_CLASSFILE_REWRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/track.h"
#include "src/classfile/status.h"

/* Internal name of the hook class, a member of java.base. */
#define LC_HOOK_CLASS "java/lang/LocusHook"

/*
 * An intrinsic is a method that the JIT may replace by an allocation of its own (Arrays.copyOf
 * and the like): then no bytecode of it runs. Interpreted, or compiled as it is, it does run, and
 * the hooks inside report the object. So that it is counted once either way, the site numbers of
 * two more hooks have a bit on top:
 *  - LC_SITE_IN_BODY: at the end of an intrinsic. Everything it allocated was reported. Count
 *    nothing; remember that this object was reported on this thread.
 *  - LC_SITE_AFTER_CALL: behind a call of an intrinsic. If the object is the one remembered,
 *    forget that and count nothing; else the JIT has allocated it: count it.
 * The number itself is below LC_SITE_LIMIT.
 */
#define LC_SITE_IN_BODY (UINT32_C(1) << 31)
#define LC_SITE_AFTER_CALL (UINT32_C(1) << 30)
#define LC_SITE_INTRINSIC_SHIFT 27
/* The object may be of another class each time; the bytecode does not say of which. */
#define LC_SITE_ANY_CLASS (UINT32_C(1) << 26)
/*
 * The object is of a class of `tracked`; with LC_SITE_ANY_CLASS: it may be of one, and native code
 * asks for its class.
 */
#define LC_SITE_TRACKED (UINT32_C(1) << 25)
#define LC_SITE_LIMIT (UINT32_C(1) << 25)
/* The number of the intrinsic, in a site with LC_SITE_IN_BODY or LC_SITE_AFTER_CALL. */
#define LC_SITE_INTRINSIC(site) ((site) >> LC_SITE_INTRINSIC_SHIFT & 7)

enum { LC_INTRINSICS = 7 };

struct lc_intrinsic {
	const char *class_name; /* internal form: java/util/Arrays */
	const char *name;
	const char *descriptor;
	bool is_static;
};

/* 0 <= i < LC_INTRINSICS. Not every JDK has each of them. */
const struct lc_intrinsic *lc_rewrite_intrinsic(unsigned i);

struct lc_rewrite_options {
	uint64_t min_size_bytes;
	uint32_t array_header_bytes; /* largest that this JVM may use: decides constant lengths */
	uint32_t reference_bytes;    /* 4 or 8 */
	bool force_object; /* hook constructors, however small the class's own fields are */
	bool exact;        /* hook arrays of internal classes, and strings that C2 joins */
	bool objects;      /* hook each `new`, not constructors; and calls that make an object */
	bool no_memory;    /* no hook where memory outside the heap is allocated or freed */
	bool constructed;  /* hook the object of a `new` again, behind its constructor */
	bool initialized;  /* the class is: its initializer never runs again, and gets no hook */
	/* The classes of the watched objects, named as Class constants name them ("com/acme/Node",
	 * "[F"). Objects that their constructors and clone() make are shown to watched() of the
	 * hook class, and their arrays are hooked whatever their length. Owner: the caller. */
	const char *const *watched;
	size_t watched_len;
	/* The classes whose objects are hooked whatever their size: behind each `new` and each
	 * other place that may make one. NULL: none. Owner: the caller. */
	const struct lc_track *tracked;
	/* For lc_rewrite_look(): only the hooks count that a tracked class needs. */
	bool tracked_only;
	uint32_t (*next_site)(void *user); /* a fresh number for each hook, 1..LC_SITE_LIMIT - 1 */
	void *user;
};

struct lc_rewrite_result {
	uint8_t *bytes; /* malloc'ed; owner: the caller; NULL unless LC_REWRITE_DONE */
	size_t len;
	uint32_t sites;            /* hooks inserted */
	uint32_t skipped_constant; /* sites whose constant length stays below the threshold */
	uint32_t methods_left;     /* methods left alone because they would not fit */
	uint64_t own_field_bytes;  /* sum of the instance fields that the class declares itself */
	uint64_t code_sum;         /* sum of lc_rewrite_code_sum(), if the class has no hooks */
};

/*
 * Insert the hooks into the class file `in`, which is untouched. Methods that have no site keep
 * their bytes. *out is overwritten: its counts always (0 if the class did not parse), its bytes
 * only for LC_REWRITE_DONE. Nothing is inserted into the hook class itself (LC_REWRITE_NOTHING).
 */
enum lc_rewrite_status lc_rewrite_class(const uint8_t *in, size_t len,
                                        const struct lc_rewrite_options *options,
                                        struct lc_rewrite_result *out);

/*
 * Would lc_rewrite_class() insert a hook? Returns LC_REWRITE_NOTHING where that does, with the same
 * counts; LC_REWRITE_DONE, without bytes, at the first hook; else what is wrong with the class.
 */
enum lc_rewrite_status lc_rewrite_look(const uint8_t *in, size_t len,
                                       const struct lc_rewrite_options *options,
                                       struct lc_rewrite_result *out);

/*
 * The part of a method with `code_bytes` bytes of code in `code_sum`. Two classes with equal sums
 * have methods of the same lengths, but for a chance of 1 in 2^64.
 */
uint64_t lc_rewrite_code_sum(uint64_t code_bytes);

/* The status's name in counters and tools; static storage. */
const char *lc_rewrite_status_name(enum lc_rewrite_status s);

#endif
