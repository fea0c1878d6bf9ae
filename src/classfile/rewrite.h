/*
 * classfile/rewrite.h - allocation hooks in Java bytecode.
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

/* Internal name of the hook class, a member of java.base. */
#define LC_HOOK_CLASS "java/lang/LocusHook"

/*
 * A site number is below LC_SITE_LIMIT; the hook method is given it with these bits on top. They
 * serve methods that the JIT may replace by an allocation of its own (Arrays.copyOf and the
 * like): then no bytecode of theirs runs. Interpreted, or compiled as they are, they do run and
 * their own hooks report the object. So that it is counted once either way:
 *  - LC_SITE_IN_BODY: at the end of such a method. Everything it allocated was reported. Count
 *    nothing; remember that this object was reported on this thread.
 *  - LC_SITE_AFTER_CALL: behind a call of such a method. If the object is the one remembered,
 *    forget that and count nothing; else the JIT has allocated it: count it.
 */
#define LC_SITE_IN_BODY (UINT32_C(1) << 31)
#define LC_SITE_AFTER_CALL (UINT32_C(1) << 30)
#define LC_SITE_LIMIT (UINT32_C(1) << 30)

/* Why a class was left alone; counted by the agent. */
enum lc_rewrite_status {
	LC_REWRITE_DONE = 0,
	LC_REWRITE_NOTHING,     /* no site: keep the JVM's bytes */
	LC_REWRITE_MALFORMED,   /* a structure does not parse */
	LC_REWRITE_UNSUPPORTED, /* newer than JDK 25's, or older than JDK 1.0.2's */
	LC_REWRITE_TOO_LARGE,   /* constant pool full, or no method with a site would fit */
	LC_REWRITE_NO_MEMORY,
	LC_REWRITE_STATUS_COUNT
};

struct lc_rewrite_options {
	uint64_t min_size_bytes;
	uint32_t array_header_bytes;  /* largest that this JVM may use: decides constant lengths */
	uint32_t reference_bytes;     /* 4 or 8 */
	bool force_object;            /* hook constructors whatever the class's own fields sum to */
	uint32_t (*next_site)(void *user); /* a fresh number for each hook, 1..LC_SITE_LIMIT - 1 */
	void *user;
};

struct lc_rewrite_result {
	uint8_t *bytes; /* malloc'ed; owner: the caller; NULL unless LC_REWRITE_DONE */
	size_t len;
	uint32_t sites;            /* hooks inserted */
	uint32_t skipped_constant; /* sites whose constant length stays below the threshold */
	uint32_t methods_left;     /* methods left alone because they would not fit */
};

/*
 * Insert the hooks into the class file `in`, which is untouched. Methods that have no site keep
 * their bytes. *out is overwritten: its counts whatever the status (0 where the class did not
 * parse), its bytes only for LC_REWRITE_DONE.
 * Nothing is inserted into the hook class itself (LC_REWRITE_NOTHING).
 */
enum lc_rewrite_status lc_rewrite_class(const uint8_t *in, size_t len,
					const struct lc_rewrite_options *options,
					struct lc_rewrite_result *out);

/*
 * What the instance fields that this class declares itself add up to, without header, padding
 * or superclasses. 0 where the class does not parse. Of the options, reference_bytes counts.
 */
uint64_t lc_rewrite_instance_bytes(const uint8_t *in, size_t len,
				   const struct lc_rewrite_options *options);

const char *lc_rewrite_status_name(enum lc_rewrite_status s);

#endif
