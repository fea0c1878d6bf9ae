/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/os/thread_cpu.h - adds up the CPU time of the JVM's own threads, by what they are for.
 *
 * Garbage collector, compilers and the JVM's other threads are no Java threads, so nothing tells
 * when one starts or ends. The attribution thread lists the process's threads, leaves out those
 * with a record (core/thread.h), and reads the CPU clocks of the rest at each of its ticks. A
 * thread's last reading stays in the sum after the thread has ended.
 *
 * Some collectors work in the VM Thread. Its CPU time from the end of GarbageCollectionStart to
 * GarbageCollectionFinish is garbage collection.
 *
 * The sums are disjoint, and exclude all that core/own_cost.h counts: the agent's work in callbacks
 * on the JVM's threads is taken out. The rest of the process's CPU time is the program's and
 * Locus's.
 */
#ifndef LC_JVM_OS_THREAD_CPU_H
#define LC_JVM_OS_THREAD_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Count from now on. `all`: what was used until now counts too, since the JVM has just started.
 * Context: [attach].
 */
void lc_thread_cpu_start(bool all);

/* A stop-the-world pause begins and ends, on one thread. Context: [gc]. */
void lc_thread_cpu_pause_begin(void);
void lc_thread_cpu_pause_end(void);

/* The agent has used so much of the calling thread's CPU time in a callback. Context: any. */
void lc_thread_cpu_own(uint64_t ns);

/*
 * Read the clocks of the threads. They are listed as well unless that took long lately; `last`: in
 * any case, for threads that have started since. Context: [writer].
 */
void lc_thread_cpu_look(bool last);

/* The sums of the last look, and of now what needs no look. Context: [writer]. */

#endif
