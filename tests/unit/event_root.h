/* SPDX-License-Identifier: Apache-2.0 */
/* event_root.h - makes the /proc and /sys of another machine in a temporary directory. */
#ifndef LC_TEST_EVENT_ROOT_H
#define LC_TEST_EVENT_ROOT_H

/* A new directory, removed by root_remove(). Static storage: one at a time. */
const char *root_make(void);
/* Write `text` to `path` in it, with the directories on the way; root_put(): and a newline. */
void root_write(const char *path, const char *text);
void root_put(const char *path, const char *text);
/* /sys of a NUMA node; lists as the kernel writes them. */
void root_put_node(unsigned number, const char *cpus, unsigned long memory_kib,
                   const char *distances);
/* /proc/cpuinfo of a machine with two such CPUs. */
void root_put_cpu(const char *vendor, unsigned family, unsigned model, unsigned stepping);
void root_remove(void);

#endif
