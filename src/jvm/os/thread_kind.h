/* SPDX-License-Identifier: Apache-2.0 */
/* jvm/os/thread_kind.h - tells what a thread of the JVM's own is for by the name the kernel has of
 * it.
 */
#ifndef LC_JVM_OS_THREAD_KIND_H
#define LC_JVM_OS_THREAD_KIND_H

enum lc_thread_kind {
	LC_THREAD_PROGRAM, /* runs Java code, or is not the JVM's */
	LC_THREAD_JIT,     /* compiles */
	LC_THREAD_GC,      /* collects garbage */
	LC_THREAD_JVM,     /* does the JVM's other work; the VM Thread, which collects at times */
	LC_THREAD_KINDS
};

/*
 * `name` is what HotSpot names a native thread, whole or cut to the 15 characters that the kernel
 * keeps. A program may name its Java threads so: they are told apart by their records, not here.
 * Context: any.
 */
enum lc_thread_kind lc_thread_kind(const char *name);

#endif
