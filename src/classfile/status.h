/* SPDX-License-Identifier: Apache-2.0 */
/* classfile/status.h - tells how the reading or the rewriting of a class file ended. */
#ifndef LC_CLASSFILE_STATUS_H
#define LC_CLASSFILE_STATUS_H

/* LC_REWRITE_DONE, or why a class was left as it is. The agent counts each. */
enum lc_rewrite_status {
	LC_REWRITE_DONE = 0,
	LC_REWRITE_NOTHING,     /* no site: keep the JVM's bytes */
	LC_REWRITE_MALFORMED,   /* a structure does not parse */
	LC_REWRITE_UNSUPPORTED, /* newer than JDK 25's, or older than JDK 1.0.2's */
	LC_REWRITE_TOO_LARGE,   /* constant pool full, or no method with a site would fit */
	LC_REWRITE_NO_MEMORY,
	LC_REWRITE_STATUS_COUNT
};

#endif
